"""Policies: what a revision must be like before a ruleset takes it, for all rulesets of a namespace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import NotationError, PositionError, printable, quote
from ggn_store.model.moves.position import Position
from ggn_store.model.record import Record
from ggn_store.model.teams.revision import check_name

MAX_REVIEW: Final = 100
MAX_NAME: Final = 1_000
EVERYTHING: Final = "*"
# The lists of people that a policy may have, and what nobody else may do.
LISTS: Final = {
    "proposers": "propose changes, or load them where no review is asked for",
    "approvers": "approve or reject proposals",
    "taggers": "move tags or set states",
}
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class PositionSet:
    """Positions whose moves are to stay what they are, under a name; raises PositionError for more than 1,000."""

    name: str
    positions: tuple[Position, ...]

    def __post_init__(self) -> None:
        if not self.name or not self.name.isprintable():
            raise PositionError(f"{quote(self.name)} cannot name positions: one line of plain text can")
        most = limits.POLICY_POSITIONS
        if not 0 < len(self.positions) <= most.most:
            raise PositionError(
                f"a policy keeps 1 to {most.most:,} positions{most.more}, and {self.name} has {len(self.positions):,}"
            )

    def text(self) -> str:
        """The positions as NDJSON, a line each."""
        return "".join(json.dumps(each.data(), ensure_ascii=False, sort_keys=True) + "\n" for each in self.positions)

    @classmethod
    def from_text(cls, name: str, text: str) -> PositionSet:
        """The set that `text` was written for, of any size: whoever set it may have had another limit."""
        found = object.__new__(cls)
        object.__setattr__(found, "name", name)
        positions = tuple(Position.from_data(json.loads(line)) for line in text.split("\n")[:-1])
        object.__setattr__(found, "positions", positions)
        return found


@dataclass(frozen=True, slots=True)
class PolicyRules:
    """What a policy asks for beside valid documents, which is always asked for.

    `lint` has the codes of findings that a document must not have, or `all`; `compatible` positions whose moves must
    stay the same; `review` is how many others must approve of a change. `proposers`, `approvers` and `taggers` are the
    people who may do what `LISTS` says; None for everybody.
    """

    lint: tuple[str, ...] = ()
    compatible: PositionSet | None = None
    review: int = 0
    proposers: tuple[str, ...] | None = None
    approvers: tuple[str, ...] | None = None
    taggers: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.compatible is not None and not isinstance(self.compatible, PositionSet):
            raise NotationError(f"compatible takes a PositionSet, a name with positions, not {quote(self.compatible)}")
        if not isinstance(self.review, int) or isinstance(self.review, bool) or not 0 <= self.review <= MAX_REVIEW:
            raise NotationError(f"review is a number of people from 0 to {MAX_REVIEW}, not {quote(self.review)}")
        for key, names in self.people().items():
            if not names:
                raise NotationError(f"{key} without a name would be nobody: leave them out for everybody")
            for name in names:
                if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= MAX_NAME:
                    raise NotationError(f"{quote(name)} cannot be one of {key}: a name is one line of plain text")

    def __bool__(self) -> bool:
        return bool(self.lint or self.compatible or self.review or self.people())

    def people(self) -> dict[str, tuple[str, ...]]:
        """The lists of people that there are."""
        found = {key: getattr(self, key) for key in LISTS}
        return {key: names for key, names in found.items() if names is not None}

    def data(self) -> dict[str, Any]:
        """What is asked for, as JSON data without the positions."""
        data: dict[str, Any] = {}
        if self.lint:
            data["lint"] = list(self.lint)
        if self.compatible is not None:
            data["compatible"] = {"name": self.compatible.name, "positions": len(self.compatible.positions)}
        if self.review:
            data["review"] = self.review
        return data | {key: list(names) for key, names in self.people().items()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any], positions: str | None) -> PolicyRules:
        """The rules that `data` was written for."""
        kept = data.get("compatible")
        compatible = None if kept is None or positions is None else PositionSet.from_text(kept["name"], positions)
        people = {key: tuple(data[key]) for key in LISTS if key in data}
        return cls(tuple(data.get("lint", ())), compatible, data.get("review", 0), **people)


@dataclass(frozen=True, slots=True)
class Policy(Record):
    """A policy as it was set; `number` counts from 1 within the namespace, `created_at` is in UTC.

    The namespace `*` is the whole store. `rules` is None where the policy was removed: then that of the namespace
    around it counts. `fault` says what is wrong with a policy that this program has not written so; it has no rules
    either, and its namespace takes no revisions until it has another one.
    """

    namespace: str
    number: int
    rules: PolicyRules | None
    author: str | None
    message: str | None
    created_at: datetime | None
    fault: str | None = None

    def data(self) -> dict[str, Any]:
        """The policy as JSON data, without its positions."""
        data = Record.data(self) | ({} if self.rules is None else {"rules": {"valid": True, **self.rules.data()}})
        if self.fault is None:
            del data["fault"]
        return data


@dataclass(frozen=True, slots=True)
class MoveChange:
    """A move of a position of a named set that a change of a ruleset takes away, brings, or gives other effects.

    `line` counts the positions of the set from 1; `kind` is lost, new or changed.
    """

    positions: str
    line: int
    kind: str
    piece: str
    source: str
    destination: str

    def __str__(self) -> str:
        return printable(f"{self.positions}:{self.line}: {self.kind} {self.piece} {self.source} {self.destination}")


def check_namespace(namespace: str) -> str:
    """`namespace`, if it can be one: `*`, `team` for `team/...`, `team/chess`; raises NotationError if it cannot."""
    if namespace == EVERYTHING:
        return namespace
    try:
        return check_name(namespace)
    except NotationError as error:
        said = str(error).replace("cannot name a ruleset", "is no namespace")
        raise NotationError(f"{said}; '*' is the whole store") from None


def covering(name: str) -> list[str]:
    """The namespaces that cover the ruleset `name`, the widest first."""
    parts = name.split("/")
    return [EVERYTHING, *("/".join(parts[:count]) for count in range(1, len(parts) + 1))]
