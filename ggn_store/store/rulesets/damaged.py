"""Rows that others have put into a store: those that cannot be read are told from those that can."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from sqlalchemy import Column, Connection, Select, and_
from sqlalchemy.exc import DBAPIError

from ggn_store.store.database.engine import is_about_a_value
from ggn_store.store.rulesets import catalog

Result = TypeVar("Result")

# How far another clock may be ahead.
_CLOCKS_DIFFER = timedelta(days=1)


def rows(
    connection: Connection, query: Select[Any], *key: Column[Any], values: Mapping[str, Any] | None = None
) -> Mapping[tuple[Any, ...], Any]:
    """The rows of a query by their key, in its order; None for one with a value that no driver can read."""
    every = attempt(lambda: connection.execute(query, values).all())
    if every is not None:
        return {tuple(getattr(row, each.name) for each in key): row for row in every}
    found: dict[tuple[Any, ...], Any] = {}
    for place in connection.execute(query.with_only_columns(*key, maintain_column_froms=True), values).all():
        row = query.where(and_(*(each == value for each, value in zip(key, place, strict=True))))
        found[tuple(place)] = attempt(lambda row=row: connection.execute(row, values).first())  # type: ignore[misc]
    return found


def attempt(work: Callable[[], Result], errors: tuple[type[Exception], ...] = (ValueError,)) -> Result | None:
    """The result of `work`; None where it meets a value that no driver can read, or one of `errors`."""
    try:
        return work()
    except errors:
        return None
    except DBAPIError as error:
        if not is_about_a_value(error):
            raise
        return None


def last(numbers: Iterable[object]) -> int:
    """The last of the numbers 1, 2, ... before a gap: what is far ahead of them keeps nothing from following them."""
    found = set(numbers)
    return next(number for number in count() if number + 1 not in found)


def is_up_to(number: object, last: int) -> bool:
    """Whether a number is one of 1, 2, ... to the last before a gap."""
    return isinstance(number, int) and 1 <= number <= last


def fault_of_time(at: datetime | None) -> str | None:
    """What is wrong with the time that a row says it was written at."""
    if at is None:
        return "it has no time"
    return "it was written in the future" if catalog.utc(at) > datetime.now(UTC) + _CLOCKS_DIFFER else None


def text(value: object) -> str | None:
    """A text of a row that may hold anything, where it is one."""
    return value if isinstance(value, str) else None
