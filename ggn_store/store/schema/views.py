"""The views: what there is to ask with SQL, column by column, as `views.txt` beside this says it.

The migrations make the views (a test compares the two); help, the guide to SQL and `sql --schema` are made from this.
It is read for `--help`, and imports nothing that is slow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

from ggn_store.store.schema.concepts import CONCEPTS

Type = Literal["text", "integer", "boolean", "time"]


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of a view; booleans are 0 and 1 in SQLite, times texts there, in UTC."""

    name: str
    type: Type
    meaning: str


@dataclass(frozen=True, slots=True)
class View:
    """A view; `every` is the name of the one with the same columns for all revisions, None where it has them itself."""

    name: str
    row: str
    columns: tuple[ViewColumn, ...]
    every: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def of_pieces(self) -> View | None:
        """The rows of a piece once, however many revisions list it; None where a view has no rows of pieces."""
        if "possibility" not in self.names:
            return None
        return View(self._of_pieces, self.row, self.columns[2:], None)

    @property
    def joined(self) -> str:
        """The query for the rows of a view from those of pieces, in the SQL of any engine."""
        columns = ", ".join(f"rules.{name}" for name in self.names[2:])
        listed = f"v_pieces AS listed JOIN {self._of_pieces} AS rules ON rules.piece_id = listed.piece_id"
        return f"SELECT listed.ruleset, listed.revision, {columns} FROM {listed}"  # noqa: S608

    @property
    def _of_pieces(self) -> str:
        return self.name.replace("v_", "piece_", 1)


def _columns(lines: Sequence[str], shared: dict[str, tuple[ViewColumn, ...]]) -> Iterator[ViewColumn]:
    for line in lines:
        said, mark, meaning = line.partition(": ")
        if mark:
            name, kind = said.split()
            yield ViewColumn(name, cast(Type, kind), meaning)
        else:
            for name in said.split():
                yield from shared[name]


def _read() -> tuple[tuple[View, ...], dict[str, str]]:
    """The views, and the tables that they are made of."""
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.strip() for line in lines if not line.lstrip().startswith("#"))
    first, *blocks, last = (block.split("\n") for block in text.strip().split("\n\n"))
    shared = {"concepts": tuple(ViewColumn(each.name, each.type, each.meaning) for each in CONCEPTS)}
    shared |= {each.name: (each,) for each in _columns(first[1:], {})}
    found = []
    for head, *of_view in blocks:
        names, _, row = head.partition(": ")
        name, every = (*names.split(), None)[:2]
        found.append(View(str(name), row, tuple(_columns(of_view, shared)), every))
    return tuple(found), dict(line.split(": ", 1) for line in last[1:])


_ALL, SQL_TABLES = _read()
VIEWS: Final = tuple(each for each in _ALL if each.name.startswith("v_"))
# Of positions that are given with a query: no store has them.
POSITION_VIEWS: Final = tuple(each for each in _ALL if each not in VIEWS)
