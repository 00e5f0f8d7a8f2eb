"""Values whose JSON data are their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, ClassVar


class Record:
    """A base of dataclasses that are JSON objects of their fields.

    Tuples become lists, times those of `said_time`, and values that have data of their own these. `DATA` names other
    attributes instead, in their order, separated by blanks, as `key=attribute` where the key is another name.
    """

    __slots__ = ()
    DATA: ClassVar[str] = ""

    def data(self) -> dict[str, Any]:
        """As a JSON object."""
        names = self.DATA.split() or [field.name for field in fields(self)]  # type: ignore[arg-type]
        pairs = (name.partition("=") for name in names)
        return {key: _plain(attrgetter(attribute or key)(self)) for key, _, attribute in pairs}


def said_time(at: datetime, timespec: str = "seconds") -> str:
    """A time in UTC, as JSON and tables have it: 2026-01-31T12:00:00Z."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=timespec) + "Z"


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return said_time(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value.data() if hasattr(value, "data") else value
