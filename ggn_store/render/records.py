"""Records (flat or nested JSON objects) as a table, JSON, NDJSON or CSV."""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, Final, Literal, cast

from ggn_store.errors import printable

RecordFormat = Literal["table", "json", "ndjson", "csv"]
JsonRecord = Mapping[str, Any]

# Texts are not wrapped to less than this; words of up to this length are not broken while there is room elsewhere.
_NARROW: Final = 12
_WORD: Final = 32


def records(items: Iterable[JsonRecord], form: str, columns: Sequence[str], width: int | None = None) -> Iterator[str]:
    """`items` as text in parts. JSON forms hold every key; table and CSV hold `columns`.

    A table fits into `width` characters, for a terminal that would break its lines otherwise: long texts go on in
    further lines of their column, and columns that still have no room in a table below.
    """
    match cast(RecordFormat, form):
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
            rows = ([_listed(item.get(column)) for column in columns] for item in items)
            yield table(columns, rows, width)


def compact(value: object) -> str:
    """JSON on one line, with everything that could act on a terminal as an escape."""
    text = json_text(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def json_text(value: object, *, ensure_ascii: bool = False) -> str:
    """JSON on one line, in which a number that JSON cannot say, such as infinity, is null."""
    try:
        return json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=ensure_ascii, separators=(",", ":"), allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def _csv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)  # what is part of it is quoted
    return line.getvalue().removesuffix("\r\n") + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], width: int | None = None) -> str:
    """Aligned columns under a heading; numbers to the right. `width` is as in `records`."""
    lines = [[printable(cell) for cell in row] for row in rows]
    cells = [*zip(columns, *lines, strict=True)]
    widths = [max(map(len, column)) for column in cells]
    is_number = [bool(lines) and all(line[i].isdigit() for line in lines) for i in range(len(columns))]
    if width is None:
        return _table(columns, lines, widths, is_number, width)
    words = [min(_WORD, max(len(word) for cell in column for word in (cell.split() or [cell]))) for column in cells]
    widths = _narrowed(words, widths, is_number, width)
    if not _is_in(widths, width):
        widths = _narrowed([*map(len, columns)], widths, is_number, width)

    def part(chosen: Sequence[int]) -> str:
        def pick(row: Sequence[Any]) -> list[Any]:
            return [row[i] for i in chosen]

        room = _narrowed([len(columns[i]) for i in chosen], pick(widths), pick(is_number), width)
        return _table(pick(columns), map(pick, lines), room, pick(is_number), width)

    return "\n".join(map(part, _beside(widths, width)))


def labelled(label: str, lines: Sequence[str], room: int, width: int | None) -> str:
    """Lines beside a label, for which there is `room`, and below each other; `width` is as in `records`."""
    parts = (part for line in lines for part in _wrapped(printable(line), width and max(_NARROW, width - room)))
    return f"{label:{room}}" + f"\n{'':{room}}".join(parts)


def _wrapped(text: str, width: int | None) -> list[str]:
    return [text] if width is None or len(text) <= width else textwrap.wrap(text, width, break_on_hyphens=False)


def _table(
    columns: Sequence[str],
    lines: Iterable[Sequence[str]],
    widths: Sequence[int],
    is_number: Sequence[bool],
    width: int | None,
) -> str:
    def aligned(row: Sequence[str]) -> str:
        cells = (
            cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(row, widths, is_number, strict=True)
        )
        line = "  ".join(cells).rstrip()
        return (line if width is None or len(line) <= width else line[: width - 1] + "…") + "\n"

    def wrapped(row: Sequence[str]) -> Iterator[str]:
        yield from map(aligned, zip_longest(*map(_wrapped, row, widths), fillvalue=""))

    return "".join([aligned(columns), aligned(["-" * width for width in widths]), *chain(*map(wrapped, lines))])


def _beside(widths: Sequence[int], room: int) -> list[list[int]]:
    """The columns that have room beside each other, a list for each table; the first column is in all of them."""
    tables = [[0]]
    for column in range(1, len(widths)):
        shown = [widths[i] for i in (*tables[-1], column)]
        if not _is_in(shown, room) and len(tables[-1]) > 1:
            tables.append([0])
        tables[-1].append(column)
    return tables


def _is_in(widths: Sequence[int], room: int) -> bool:
    return sum(widths) + 2 * (len(widths) - 1) <= room


def _narrowed(least: Sequence[int], widths: Sequence[int], is_number: Sequence[bool], room: int) -> list[int]:
    """Widths with which a table fits: the widest texts get less, as few as need to. The same where none does."""

    def at_most(most: int) -> list[int]:
        return [
            each if right else min(each, max(most, few))
            for few, each, right in zip(least, widths, is_number, strict=True)
        ]

    tried = range(-max(widths), -_NARROW + 1)
    found = bisect_left(tried, True, key=lambda most: _is_in(at_most(-most), room))
    return list(widths) if found == len(tried) else at_most(-tried[found])


def _listed(value: object) -> str:
    """A value in a table, where a list of texts needs no quotes."""
    is_list = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    return ", ".join(cast(Sequence[str], value)) if is_list else _cell(value)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # inf, -inf or nan, which readers of CSV know: null would be a text
    return value if isinstance(value, str) else compact(value)
