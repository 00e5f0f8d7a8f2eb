"""Kinds of entities: owner, type and the values of the other attributes, which together are one piece."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ggn_store import limits
from ggn_store.errors import Problem
from ggn_store.gdl.domains import Domains
from ggn_store.gdl.problems import problem
from ggn_store.gdl.specification import Specification, SpecValue

OWNER: Final = "owner"
POS: Final = "pos"


@dataclass(frozen=True, slots=True)
class Kind:
    """What stands behind a piece identifier; `attributes` are all but the owner and the place."""

    owner: str
    schema: str
    attributes: Mapping[str, SpecValue]

    def __str__(self) -> str:
        told = ", ".join(f"{name}={text(value)}" for name, value in self.attributes.items())
        return f"{self.owner}'s {self.schema}" + (f" ({told})" if told else "")


def text(value: object) -> str:
    """A value as documents write it: `3`, `true`, `null`, a text and a player's name as they are."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def kinds(specification: Specification, domains: Domains, problems: list[Problem]) -> Iterator[Kind]:
    """Every kind of entity, the first player's before the second's; too many of a type are a problem and the end."""
    limit = limits.DESCRIPTION_KINDS
    for player in specification.players:
        for schema in specification.schemas.values():
            if OWNER not in schema.attributes or player.name not in domains.attributes[schema.name, OWNER]:
                continue
            names = [name for name in schema.attributes if name not in (OWNER, POS)]
            choices = [domains.attributes[schema.name, name] for name in names]
            if math.prod(map(len, choices)) > limit.most:
                message = f"{schema.name} has more than {limit.most} combinations of attributes"
                problems.append(
                    problem("entity_schemas", schema.place, f"{message}, each of which is a piece{limit.more}")
                )
                return
            for values in itertools.product(*choices):
                yield Kind(player.name, schema.name, dict(zip(names, values, strict=True)))


def identity(owner: object, schema: str, attributes: Mapping[str, object]) -> tuple[object, ...]:
    """What tells kinds apart; 1 and true are not the same."""
    return owner, schema, tuple((name, type(value), value) for name, value in sorted(attributes.items()) if name != POS)
