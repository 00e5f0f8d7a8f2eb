"""Problems and findings: one a line as compilers write them (with carets below), as a table, as JSON or NDJSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ggn_store.errors import Problem, said_once
from ggn_store.render.records import records

COLUMNS = ("file", "line", "column", "severity", "code", "section", "action", "message")


def problems(found: Iterable[Problem], form: str, width: int | None = None, *, once: bool = False) -> Iterator[str]:
    """`found` as text in parts.

    As text, what is the same at several places of a file may be said `once`, with the other places after it.
    """
    if form == "text":
        yield from (f"{problem}\n" for problem in (said_once(found) if once else found))
    else:
        yield from records((problem.data() for problem in found), form, COLUMNS, width)
