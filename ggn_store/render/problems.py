"""Problems and findings, one a line as compilers write them, or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ggn_store.errors import Problem
from ggn_store.render.records import records


def problems(found: Iterable[Problem], form: str) -> Iterator[str]:
    """`found` as text in parts: lines of `file:line:column pointer: message`, or an array of JSON objects."""
    if form == "json":
        yield from records((problem.data() for problem in found), "json", ())
    else:
        yield from (f"{problem}\n" for problem in found)
