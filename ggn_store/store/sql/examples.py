"""Questions to begin with, of `examples.sql`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ggn_store.resources import sql


@dataclass(frozen=True, slots=True)
class SqlExample:
    """A question in words and in SQL."""

    question: str
    query: str


SQL_EXAMPLES: Final[tuple[SqlExample, ...]] = tuple(
    SqlExample(question.removeprefix("-- "), query)
    for part in sql(__package__, "examples").split("\n\n")
    for question, _, query in [part.partition("\n")]
)
