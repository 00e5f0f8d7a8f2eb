"""Which possibilities of a ruleset add nothing."""

from __future__ import annotations

from collections import defaultdict

from ggn_store.analysis import dead
from ggn_store.analysis.dead import Dead
from ggn_store.api import garbage
from ggn_store.model.board import Board
from ggn_store.model.contents import Condition
from ggn_store.model.revision import Revision
from ggn_store.store.analyses import contents, reach, rules
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.analyses.reach import IN_HAND, Standing


def find(asker: Asker, revision: Revision, board: Board, start: list[Standing] | None) -> list[Dead]:
    """The findings in document order; `start` is what stands at first, if that is known."""
    never = rules.impossible_conditions(asker, revision)
    of_piece: defaultdict[int, dict[int, Condition]] = defaultdict(dict)
    # One for each possibility: that of the first square.
    for each in sorted(never, key=lambda each: (each.square, each.polarity)):
        of_piece[each.piece_id].setdefault(each.variant, Condition(each.polarity, each.square, each.state))
    standing = None if start is None else reach.reached(asker, revision, start, never)
    with garbage.held_off():
        members = {each.piece_id: each.piece for each in contents.members(asker, [revision])}
        found = {
            rows.piece_id: dead.find(members[rows.piece_id], rows, board, of_piece[rows.piece_id], standing, IN_HAND)
            for rows in contents.contents(asker, [revision])
        }
    return [each for piece_id in members for each in found.get(piece_id, ())]
