"""Values whose JSON data are their fields."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Any


class Record:
    """A base of dataclasses that are JSON objects of their fields: tuples as lists, times in ISO 8601 to the second."""

    __slots__ = ()

    def data(self) -> dict[str, Any]:
        """As a JSON object."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return [*value] if isinstance(value, tuple) else value
