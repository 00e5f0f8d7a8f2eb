"""Which possibilities of a ruleset add nothing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any

from ggn_store.analysis import reach as reaches
from ggn_store.analysis.dead import Dead, Kind
from ggn_store.model.board import Board
from ggn_store.model.document import ENEMY
from ggn_store.model.revision import Revision
from ggn_store.notation.qpi import side_of
from ggn_store.store.analyses import dead, reach
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.analyses.dead import Pair, Rule
from ggn_store.store.analyses.reach import IN_HAND, Standing

# By the place in the document: ordinal of the piece, number of the possibility, and 0 for what is of the whole source.
_Found = dict[tuple[int, int, int], Dead]


def find(asker: Asker, revision: Revision, board: Board, start: list[Standing] | None) -> list[Dead]:
    """The findings in document order; `start` is what stands at first, if that is known.

    A possibility is told of once, as the first of `Dead`'s kinds that it is; and also with a source that is
    unreachable.
    """
    found: _Found = {}
    for impossible in dead.never(asker, revision):
        _add(found, "never", impossible.rule, board, square=board.squares[impossible.square], state=impossible.state)
    _add_needless(found, dead.needless(asker, revision), board)
    if start is not None:
        standing = reach.reached(asker, revision, start)
        lost = set()
        for source in dead.starts(asker, revision):
            if (source.piece, IN_HAND if source.source is None else source.source) not in standing:
                lost.add((source.piece, source.source))
                found[source.at_piece, source.number, 0] = Dead(
                    "unreachable", source.piece, reaches.label(source.source, board), possibilities=source.possibilities
                )
        # Whom somebody can meet as an enemy, and where.
        met = {(side_of(piece), square) for piece, square in standing}
        for rule, square, state in dead.wanted(asker, revision):
            other = "second" if side_of(rule.piece) == "first" else "first"
            is_there = (other, square) in met if state == ENEMY else (state, square) in standing
            if not is_there and (rule.piece, rule.source) not in lost:
                _add(found, "absent", rule, board, square=board.squares[square], state=state)
    return [each for _, each in sorted(found.items(), key=lambda item: item[0])]


def _add_needless(found: _Found, pairs: Iterable[Pair], board: Board) -> None:
    pairs = [*pairs]
    both = {(pair.rule.at_piece, pair.rule.number, pair.number) for pair in pairs}
    for rule, of_rule in groupby(pairs, key=attrgetter("rule")):
        # Of possibilities that hold together, all but the first are needless.
        others = [
            pair
            for pair in of_rule
            if pair.number < rule.number or (rule.at_piece, pair.number, rule.number) not in both
        ]
        same = [pair for pair in others if pair.is_same]
        if others:
            _add(found, "duplicate" if same else "shadowed", rule, board, by=(same or others)[0].ordinal)


def _add(found: _Found, kind: Kind, rule: Rule, board: Board, **more: Any) -> None:
    source, destination = reaches.label(rule.source, board), reaches.label(rule.destination, board)
    told = Dead(kind, rule.piece, source, destination, rule.ordinal, **more)
    found.setdefault((rule.at_piece, rule.number, 1), told)
