"""Views whose rows go with a question, because no store has them: those of positions.

In SQLite they are temporary tables of the process that asks. On Postgres, where many may make none, they are relations
of the statement, and their rows are bound as arrays, one for each column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from ggn_store.store.schema.views import View

GivenRows = Sequence[tuple[str | int | None, ...]]

_TYPES: Final = {"text": "text", "integer": "int8"}


@dataclass(frozen=True, slots=True)
class Given:
    """A view and its rows; `note` is what whoever asks it should know."""

    view: View
    rows: GivenRows
    note: str | None = None

    def data(self) -> dict[str, Any]:
        """As JSON data, for SQLite."""
        columns = [(column.name, column.type) for column in self.view.columns]
        return {"name": self.view.name, "columns": columns, "rows": self.rows}


def as_relations(given: Iterable[Given], first: int) -> tuple[str, list[str]]:
    """What stands behind WITH on Postgres, and the values of it, which are numbered from `first`."""
    relations, values = [], []
    numbers = count(first)
    for each in given:
        types = [_TYPES[column.type] for column in each.view.columns]
        lists = [f"pg_catalog.unnest(${next(numbers)}::pg_catalog.{name}[])" for name in types]
        names = ", ".join(f'"{name}"' for name in each.view.names)
        relations.append(f'"{each.view.name}" ({names}) AS (SELECT * FROM ROWS FROM ({", ".join(lists)}))')  # noqa: S608
        values += [_array(row[place] for row in each.rows) for place in range(len(types))]
    return ", ".join(relations), values


def _array(values: Iterable[str | int | None]) -> str:
    return "{" + ",".join("NULL" if each is None else _quoted(str(each)) for each in values) + "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
