"""Decoded values (tables, lists, texts, numbers) of two sides that came from one, made into one again, key by key.

A list is one value, except where each of its items has a `name` of its own: then it is merged by these, as a table is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ggn_store.model.changes import order
from ggn_store.model.changes.possibilities import ABSENT

TablePath = tuple[str, ...]
MergeSide = Literal["base", "ours", "theirs"]


_NAME: Final = "name"


@dataclass(frozen=True, slots=True)
class Clash:
    """A key to which both sides gave different values; ABSENT for a side that has none."""

    path: TablePath
    base: Any
    ours: Any
    theirs: Any


def merge(base: Any, ours: Any, theirs: Any, *, side: MergeSide = "theirs") -> tuple[Any, list[Clash]]:
    """What both sides changed together, and where they changed one value differently: there it is as `side` has it.

    A key that only one side changed is as that side has it. A table that one side removed and the other changed is a
    clash. The order of keys is theirs, with what only our side added or moved put after the neighbour it had there.
    """
    clashes: list[Clash] = []
    return _merge((), (base, ours, theirs), side, clashes), clashes


def same(one: Any, other: Any) -> bool:
    """Whether values are equal and of the same kinds, whatever the order of keys: 1 is neither 1.0 nor true."""
    if type(one) is not type(other):
        return isinstance(one, Mapping) and isinstance(other, Mapping) and same(dict(one), dict(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _merge(path: TablePath, values: tuple[Any, Any, Any], side: MergeSide, clashes: list[Clash]) -> Any:
    base, ours, theirs = values
    if same(ours, theirs) or same(base, ours):
        return theirs
    if same(base, theirs):
        return ours
    tables = [{} if base is ABSENT else base, ours, theirs]
    if all(isinstance(each, Mapping) for each in tables):
        return _tables(path, tables, side, clashes)
    lists = [[] if base is ABSENT else base, ours, theirs]
    named = [by_name(each) if isinstance(each, list) else None for each in lists]
    if None not in named:
        return list(_tables(path, named, side, clashes).values())  # type: ignore[arg-type]
    clashes.append(Clash(path, *values))
    return getattr(clashes[-1], side)


def _tables(
    path: TablePath, tables: Sequence[Mapping[str, Any]], side: MergeSide, clashes: list[Clash]
) -> dict[str, Any]:
    base, ours, theirs = tables
    merged = {}
    for key in dict.fromkeys((*theirs, *ours, *base)):
        was, own, their = (each.get(key, ABSENT) for each in tables)
        value = _merge((*path, key), (was, own, their), side, clashes)
        if value is not ABSENT:
            merged[key] = value
    return {key: merged[key] for key in order.merged(tuple(base), tuple(ours), tuple(theirs), merged)}


def by_name(value: Any) -> Mapping[str, Any] | None:
    """A table, or the items of a list by the names that all of them have; None where it is neither."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        return None
    names = [item.get(_NAME) for item in value]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        return None
    return dict(zip(names, value, strict=True))
