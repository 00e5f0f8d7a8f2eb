"""CSV: a file for each view, in which NULL is nothing and an empty text is quoted."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from ggn_store.model.record import said_time
from ggn_store.store.bulk.piece_columns import Column
from ggn_store.store.bulk.vectors import Vectors
from ggn_store.store.schema.views import View

_QUOTED: Final = re.compile('^$|[",\r\n]|^\\s|\\s$')
# What spreadsheets take for a formula; a mark on its own (of a promoted piece) they do not.
_FORMULA: Final = re.compile("[=+\\-@\t\r].")
_MOST: Final = 50_000


class CsvFiles:
    """Writes the files; `formulas` names the columns with texts that a spreadsheet would take for formulas."""

    def __init__(self, directory: Path, vectors: Vectors) -> None:
        self._directory = directory
        self._vectors = vectors
        self._streams: dict[str, BinaryIO] = {}
        self._cells: dict[str, list[_Cells]] = {}
        self.formulas: list[str] = []

    def begin(self, view: View) -> str:
        name = f"{view.name}.csv"
        self._streams[view.name] = (self._directory / name).open("wb")
        cells = [_Cells(_WRITERS[column.type], ",") for column in view.columns[:-1]]
        self._cells[view.name] = [*cells, _Cells(_WRITERS[view.columns[-1].type], "\n")]
        self._streams[view.name].write((",".join(view.names) + "\n").encode())
        return name

    def add(self, view: View, columns: Sequence[Column]) -> None:
        parts: list[str] = []
        found = []
        for cells, column in zip(self._cells[view.name], columns, strict=True):
            values, at = column.different(self._vectors)
            found.append(self._vectors.each(functools.partial(operator.add, len(parts)), at))
            parts += map(cells.__getitem__, values)
            cells.forget()
        at = self._vectors.rows(*found)
        [text] = self._vectors.texts(parts, at, (0, len(at)))
        self._streams[view.name].write(text)

    def end(self, view: View) -> None:
        self._streams.pop(view.name).close()
        self.formulas += [
            f"{view.name}.{column.name}"
            for column, cells in zip(view.columns, self._cells[view.name], strict=True)
            if cells.has_formulas
        ]

    def finish(self, joined: Sequence[View]) -> list[str]:
        return []

    def close(self) -> None:
        while self._streams:
            _, stream = self._streams.popitem()
            with suppress(OSError):  # which has been told of already
                stream.close()


class _Cells(dict[Any, str]):
    """The cells of a column by value, each with what comes after it; the same few come again and again."""

    def __init__(self, write: Callable[[Any], str], after: str) -> None:
        super().__init__({None: after})
        self._write = write
        self._after = after
        self.has_formulas = False

    def __missing__(self, value: Any) -> str:
        cell = self[value] = self._write(value) + self._after
        self.has_formulas = self.has_formulas or (isinstance(value, str) and _FORMULA.match(value) is not None)
        return cell

    def forget(self) -> None:
        """Keep no more than a few of them."""
        if len(self) > _MOST:
            self.clear()
            self[None] = self._after


def _text(value: str) -> str:
    if _QUOTED.search(value) is None:
        return value
    doubled = value.replace('"', '""')
    return f'"{doubled}"'


def _time(value: datetime) -> str:
    return said_time(value, "microseconds")


_WRITERS: Final[dict[str, Callable[[Any], str]]] = {
    "text": _text,
    "integer": str,
    "boolean": lambda value: "true" if value else "false",
    "time": _time,
}
