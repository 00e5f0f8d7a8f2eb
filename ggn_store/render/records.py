"""Records (flat or nested JSON objects) as a table, JSON, NDJSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from ggn_store.errors import printable

Form = Literal["table", "json", "ndjson", "csv"]
Record = Mapping[str, Any]


def records(items: Iterable[Record], form: str, columns: Sequence[str], width: int | None = None) -> Iterator[str]:
    """`items` as text in parts. JSON forms hold every key; table and CSV hold `columns`.

    A table's lines are cut to `width` characters, for a terminal that would break them otherwise.
    """
    match cast(Form, form):
        case "ndjson":
            for item in items:
                yield compact(item) + "\n"
        case "json":
            separator = "[\n"
            for item in items:
                yield f"{separator} {compact(item)}"
                separator = ",\n"
            yield "[]\n" if separator == "[\n" else "\n]\n"
        case "csv":
            yield _csv_line(columns)
            for item in items:
                yield _csv_line([_cell(item.get(column)) for column in columns])
        case "table":
            yield table(columns, ([_cell(item.get(column)) for column in columns] for item in items), width)


def compact(value: object) -> str:
    """JSON on one line, with everything that could act on a terminal as an escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _csv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], width: int | None = None) -> str:
    """Aligned columns under a heading; numbers to the right."""
    lines = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(columns, *lines, strict=True)]
    is_number = [bool(lines) and all(line[i].isdigit() for line in lines) for i in range(len(columns))]

    def aligned(row: Sequence[str]) -> str:
        cells = (
            cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(row, widths, is_number, strict=True)
        )
        line = "  ".join(cells).rstrip()
        return (line if width is None or len(line) <= width else line[: width - 1] + "…") + "\n"

    return "".join([aligned(columns), aligned(["-" * width for width in widths]), *map(aligned, lines)])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else compact(value)
