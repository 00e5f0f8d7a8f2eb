"""Questions to begin with, of `examples.sql`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ggn_store.resources import sql

_VALUE: Final = re.compile(r"--param ([a-z_]+=[^\s)]+)")


@dataclass(frozen=True, slots=True)
class SqlExample:
    """A question in words and in SQL; values for its `:names` are given in the words."""

    question: str
    query: str

    @property
    def values(self) -> tuple[str, ...]:
        """Such values, each as `name=value`."""
        return tuple(_VALUE.findall(self.question))


SQL_EXAMPLES: Final[tuple[SqlExample, ...]] = tuple(
    SqlExample(question.removeprefix("-- "), query)
    for part in sql(__package__, "examples").split("\n\n")
    for question, _, query in [part.partition("\n")]
)
