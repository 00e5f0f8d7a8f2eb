"""Problems and findings of game descriptions: as text with carets, as a table, as JSON or NDJSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ggn_store.errors import SpecificationProblem, said_once
from ggn_store.render.records import records

COLUMNS = ("file", "line", "column", "severity", "code", "section", "action", "message")


def specification_problems(found: Iterable[SpecificationProblem], form: str, width: int | None = None) -> Iterator[str]:
    """`found` as text in parts.

    As text, what is the same at several places of a file is said once, with the other places after it.
    """
    if form == "text":
        yield from (f"{line}\n" for line in said_once(found))
    else:
        yield from records((problem.data() for problem in found), form, COLUMNS, width)
