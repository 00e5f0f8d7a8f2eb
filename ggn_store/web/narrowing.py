"""Answers in SQL made narrower, to the rows that have some values, and the values of a column counted."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from ggn_store.api.questions.sql import statement
from ggn_store.errors import QueryError, quote

MOST_TEXT: Final = 1_000
MOST_COUNTED: Final = 30


def written(column: str, value: Any) -> str | None:
    """`["column", value]` in JSON, as addresses say it; None for what is too long, or neither a text nor a number."""
    text = json.dumps([column, value], ensure_ascii=False)
    # Infinity is no JSON.
    is_plain = value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    return text if is_plain and len(text) <= MOST_TEXT else None


def read(text: str) -> tuple[str, Any]:
    """The column and the value that an address says; raises QueryError for what is neither."""
    try:
        [column, value] = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        column = value = None
    if not isinstance(column, str) or written(column, value) is None:
        raise QueryError(f'{quote(text)}: write it as ["column", value], in JSON')
    return column, value


def narrowed(query: str, wanted: list[tuple[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The query for those rows of another one that have some values, and these values, all of which are bound."""
    if not wanted:
        return query, {}
    conditions, values = [], {}
    for number, (column, value) in enumerate(wanted):
        conditions.append(f"{_quoted(column)} {'IS NULL' if value is None else f'= :only_{number}'}")
        if value is not None:
            values[f"only_{number}"] = value
    return f"SELECT * FROM {_inner(query)} WHERE {' AND '.join(conditions)}", values  # noqa: S608


def counting(query: str, column: str) -> str:
    """The query for the commonest values of a column of another one, and how many rows have each."""
    values = f"SELECT {_quoted(column)}, count(*) AS number FROM {_inner(query)}"  # noqa: S608
    return f"{values} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST_COUNTED}"


def _inner(query: str) -> str:
    return f"({statement.read(query).text}) AS answer"  # without what follows its end


def _quoted(column: str) -> str:
    name = column.replace('"', '""')
    # Of the answer: SQLite takes a name alone that is none for a text.
    return f'answer."{name}"'
