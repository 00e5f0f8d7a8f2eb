"""Decoded values (tables, lists, texts, numbers) of two sides that came from one, made into one again, key by key.

A list is one value, except where each of its items has a `name` of its own: then it is merged by these, as a table is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from ggn_store.model import order

Path = tuple[str, ...]


class _Absent(Enum):
    ABSENT = "absent"


# What a key has that is not there.
ABSENT: Final = _Absent.ABSENT
Value = Any

_NAME: Final = "name"


@dataclass(frozen=True, slots=True)
class Clash:
    """A key to which both sides gave different values; ABSENT for a side that has none."""

    path: Path
    base: Value
    ours: Value
    theirs: Value


def merge(base: Value, ours: Value, theirs: Value) -> tuple[Value, list[Clash]]:
    """What both sides changed together, and where they changed one value differently: there it is as theirs.

    A key that only one side changed is as that side has it. A table that one side removed and the other changed is a
    clash. The order of keys is theirs, with what only our side added or moved put after the neighbour it had there.
    """
    clashes: list[Clash] = []
    return _merge((), base, ours, theirs, clashes), clashes


def same(one: Value, other: Value) -> bool:
    """Whether values are equal and of the same kinds, whatever the order of keys: 1 is neither 1.0 nor true."""
    if type(one) is not type(other):
        return isinstance(one, Mapping) and isinstance(other, Mapping) and same(dict(one), dict(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _merge(path: Path, base: Value, ours: Value, theirs: Value, clashes: list[Clash]) -> Value:
    if same(ours, theirs) or same(base, ours):
        return theirs
    if same(base, theirs):
        return ours
    tables = [{} if base is ABSENT else base, ours, theirs]
    if all(isinstance(each, Mapping) for each in tables):
        return _tables(path, tables, clashes)
    lists = [[] if base is ABSENT else base, ours, theirs]
    if all(map(_is_named, lists)):
        return list(_tables(path, [{item[_NAME]: item for item in each} for each in lists], clashes).values())
    clashes.append(Clash(path, base, ours, theirs))
    return theirs


def _tables(path: Path, tables: Sequence[Mapping[str, Any]], clashes: list[Clash]) -> dict[str, Any]:
    base, ours, theirs = tables
    merged = {}
    for key in dict.fromkeys((*theirs, *ours, *base)):
        was, own, their = (each.get(key, ABSENT) for each in tables)
        value = _merge((*path, key), was, own, their, clashes)
        if value is not ABSENT:
            merged[key] = value
    return {key: merged[key] for key in order.merged(tuple(base), tuple(ours), tuple(theirs), merged)}


def _is_named(value: Value) -> bool:
    """Whether it is a list of tables, each with a name of its own; an empty list is one."""
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        return False
    names = [item.get(_NAME) for item in value]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
