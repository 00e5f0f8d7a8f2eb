"""Problems and findings of game descriptions: as text with carets, as a table, as JSON or NDJSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ggn_store.errors import SpecificationProblem
from ggn_store.render.records import records

COLUMNS = ("file", "line", "column", "severity", "code", "section", "action", "message")
_PLACES = 6


def specification_problems(found: Iterable[SpecificationProblem], form: str, width: int | None = None) -> Iterator[str]:
    """`found` as text in parts.

    As text, what is the same at several places of a file is said once, with the other places after it.
    """
    if form == "text":
        yield from _text(found)
    else:
        yield from records((problem.data() for problem in found), form, COLUMNS, width)


def _text(found: Iterable[SpecificationProblem]) -> Iterator[str]:
    same: dict[tuple[str | None, str], list[SpecificationProblem]] = defaultdict(list)
    for problem in found:
        same[problem.file, problem.message].append(problem)
    for first, *others in same.values():
        yield f"{first}\n"
        if others:
            places = [_place(problem) for problem in others[:_PLACES]]
            more = f" and {len(others) - _PLACES} more" if len(others) > _PLACES else ""
            yield f"  the same at {', '.join(places)}{more}\n"


def _place(problem: SpecificationProblem) -> str:
    return problem.pointer if problem.line is None else f"{problem.line}:{problem.column}"
