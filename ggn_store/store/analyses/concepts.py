"""The concepts of rulesets, as v_concepts has them; of all, of some, or of those that have what is asked."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Boolean, ColumnElement, Integer, TableClause, Text, column, not_, select, table

from ggn_store.errors import NotationError, UnknownNameError, did_you_mean, printable, quote
from ggn_store.model.teams.revision import Revision
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.schema.concepts import CONCEPTS, Concept

_TYPES: Final = {"integer": Integer, "boolean": Boolean}
_BY_NAME: Final = {each.name: each for each in CONCEPTS}
_COMPARISONS: Final[Mapping[str, Callable[[ColumnElement[Any], int], ColumnElement[bool]]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_WISH: Final = re.compile(rf"(\w+)(?:({'|'.join(_COMPARISONS)})([0-9]{{1,9}}))?", re.ASCII)


class Wish(NamedTuple):
    """A concept that is asked for: that a ruleset has it, or how a number of it compares with another."""

    concept: Concept
    comparison: str | None = None
    number: int = 0

    def condition(self, rows: TableClause) -> ColumnElement[bool]:
        """It in SQL, of the rows of v_concepts."""
        found = rows.c[self.concept.name]
        if self.comparison is not None:
            return _COMPARISONS[self.comparison](found, self.number)
        return found if self.concept.type == "boolean" else found > 0


class Wishes(NamedTuple):
    """All of `having` and none of `lacking`, on a board of this shape, or on any."""

    having: Sequence[Wish] = ()
    lacking: Sequence[Wish] = ()
    board: str | None = None


NO_WISHES: Final = Wishes()


def read_wish(text: str) -> Wish:
    """The wish that `hoppers` or `riders>=4` writes.

    Raises NotationError for another text, and UnknownNameError where there is no such concept.
    """
    match = _WISH.fullmatch(text.replace(" ", ""))
    if match is None:
        raise NotationError(f"{quote(text)} is not a concept such as hoppers, or a comparison such as riders>=4")
    name, comparison, number = match.groups()
    if name not in _BY_NAME:
        near = did_you_mean(name, _BY_NAME) or "; `ggn-store concepts` lists them"
        raise UnknownNameError(f"there is no concept {quote(name)}{near}")
    concept = _BY_NAME[name]
    if comparison is not None and concept.type == "boolean":
        raise NotationError(f"{printable(text)}: {name} is no number; a ruleset has it or not")
    return Wish(concept, comparison, int(number or 0))


def ask(
    asker: Asker,
    concepts: Sequence[Concept],
    revisions: Iterable[Revision] | None = None,
    wishes: Wishes = NO_WISHES,
    limit: int | None = None,
    after: str | None = None,
) -> Iterator[dict[str, Any]]:
    """A record for each revision that is as wished: ruleset, revision, board and these concepts.

    Of the newest revisions by name, no more than so many, the first ones `after` a name; or of those that are given, in
    their order.
    """
    every = "" if revisions is None else "_all"
    of, of_ruleset = (
        table(f"{view}{every}", column("ruleset", Text), column("revision", Integer), *columns)
        for view, columns in (
            ("v_concepts", [column(each.name, _TYPES[each.type]()) for each in CONCEPTS]),
            ("v_rulesets", [column("board", Text)]),
        )
    )
    query = (
        select(of.c.ruleset, of.c.revision, of_ruleset.c.board, *(of.c[each.name] for each in concepts))
        .join(of_ruleset, (of.c.ruleset == of_ruleset.c.ruleset) & (of.c.revision == of_ruleset.c.revision))
        .where(*(each.condition(of) for each in wishes.having), *(not_(each.condition(of)) for each in wishes.lacking))
        .order_by(of.c.ruleset)
    )
    if wishes.board is not None:
        query = query.where(of_ruleset.c.board == wishes.board)
    if revisions is None:
        page = query if after is None else query.where(of.c.ruleset > after)
        yield from (dict(row._mapping) for row in asker.rows(page.limit(limit)))
        return
    for each in revisions:
        of_one = query.where(of.c.ruleset == each.name, of.c.revision == each.number)
        yield from (dict(row._mapping) for row in asker.rows(of_one))
