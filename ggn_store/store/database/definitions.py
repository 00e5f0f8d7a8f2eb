"""Definitions: what a database has beside rows (triggers, functions, views, ...), as values that can be compared."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

UPGRADE, ROLES_INIT = "db upgrade", "db roles init"

ObjectKey = tuple[str, str, str]
# The statements that seal a schema of a server with roles.
Seals = Callable[[str], Iterable[str]]


@dataclass(frozen=True, slots=True)
class SchemaObject:
    """A trigger, a function, a view, ... as it is to be, or as a database has it.

    Two that have one `text` do the same. `making` are the statements that make it, `removal` those that take away what
    is there, or change it into what it is to be; where there are none, nothing but a backup helps. `maker` is the
    command that makes it.
    """

    kind: str
    name: str
    text: Hashable
    table: str = ""
    making: tuple[str, ...] = ()
    removal: tuple[str, ...] = ()
    is_on: bool = True
    owner: str = ""
    maker: str = UPGRADE

    @property
    def key(self) -> ObjectKey:
        """What no two definitions of a database have in common."""
        return self.kind, self.table, self.name

    def __str__(self) -> str:
        return f"the {self.kind}" + f" {self.name}" * bool(self.name) + f" on {self.table}" * bool(self.table)


@dataclass(frozen=True, slots=True)
class Deviation:
    """What differs: as it is to be (None for what is not to be there), and as it is (None for what is missing)."""

    expected: SchemaObject | None
    found: SchemaObject | None

    @property
    def maker(self) -> str:
        """The command that puts it right."""
        return self.expected.maker if self.expected is not None else UPGRADE

    @property
    def can_be_mended(self) -> bool:
        """Whether its command can put it right."""
        if self.found is not None:
            return bool(self.found.removal)
        return self.maker == ROLES_INIT or bool(self.expected is not None and self.expected.making)

    def __str__(self) -> str:
        what = self.expected or self.found
        if self.found is None:
            return f"{what} is missing"
        if not self.found.is_on:
            return f"{what} is switched off"
        if self.expected is not None and self.expected.text == self.found.text:
            return f"{what} belongs to {self.found.owner}, and the tables to {self.expected.owner}"
        return f"{what} is not this program's"


@dataclass(frozen=True, slots=True)
class Definitions:
    """What a database is to have, and what it has."""

    expected: Mapping[ObjectKey, SchemaObject]
    found: Mapping[ObjectKey, SchemaObject]

    def deviations(self) -> Iterator[Deviation]:
        """What differs, in the order in which it is made; last what is not to be there."""
        for key, expected in self.expected.items():
            found = self.found.get(key)
            if found is None or (found.text, found.is_on, found.owner) != (expected.text, True, expected.owner):
                yield Deviation(expected, found)
        for key, found in self.found.items():
            if key not in self.expected:
                yield Deviation(None, found)


def by_key(definitions: Iterable[SchemaObject]) -> dict[ObjectKey, SchemaObject]:
    """Definitions by their keys, in their order."""
    return {each.key: each for each in definitions}


_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|[^\w\s]""")
_PLAIN = re.compile(r'"[a-z_][a-z0-9_]*"')


@functools.lru_cache(maxsize=1_000)  # a check reads those that it has read before
def tokens(statement: str) -> tuple[str, ...]:
    """A statement without what it does not depend on: white space, and quotes around plain names."""
    found = _TOKEN.findall(statement)
    return tuple(each[1:-1] if _PLAIN.fullmatch(each) else each for each in found)
