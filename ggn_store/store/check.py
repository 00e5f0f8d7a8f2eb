"""Does the store still hold what was put into it? Every digest is derived again from the rows."""

from __future__ import annotations

import json
from collections.abc import Callable

from sqlalchemy import Connection, select

from ggn_store.errors import GgnStoreError
from ggn_store.model.board import Board
from ggn_store.model.document import Envelope, revision_digest
from ggn_store.store import rulesets
from ggn_store.store import tables as t
from ggn_store.store.engine import Database


def check(database: Database, connection: Connection, progress: Callable[[str], None] | None = None) -> list[str]:
    """What differs, one sentence each; an empty list for a sound store."""
    say = progress or (lambda _: None)
    found = database.integrity(connection)
    boards: dict[int, Board] = {}
    for board_id, digest in connection.execute(select(t.board.c.id, t.board.c.digest).order_by(t.board.c.id)).all():
        boards[board_id] = rulesets.read_board(connection, board_id)
        if boards[board_id].digest != digest:
            found.append(f"board {board_id}: its squares do not give its digest {digest}")
    digests = {}
    pieces = select(t.piece.c.id, t.piece.c.digest, t.piece.c.identifier, t.piece.c.dialect, t.piece.c.board_id)
    for row in connection.execute(pieces.order_by(t.piece.c.id)).all():
        say(f"piece {row.identifier}")
        digests[row.id] = row.digest
        try:
            board = boards[row.board_id]
            actual = rulesets.read_piece(connection, row.id, row.identifier, board).digest(row.dialect, board)
        except (GgnStoreError, LookupError, TypeError):
            actual = None
        if actual != row.digest:
            found.append(f"piece {row.id} ({row.identifier}): its rows do not give its digest {row.digest}")
    found += _check_revisions(connection, boards, digests)
    return found


def _check_revisions(connection: Connection, boards: dict[int, Board], digests: dict[int, str]) -> list[str]:
    found = []
    revision = t.revision
    query = select(revision, t.ruleset.c.name).join(t.ruleset).order_by(revision.c.ruleset_id, revision.c.number)
    previous: tuple[int, int, int] | None = None
    for row in connection.execute(query).all():
        label = f"revision {row.name}@{row.number}"
        listed = select(t.revision_piece.c.piece_id, t.revision_piece.c.ordinal)
        rows = connection.execute(
            listed.where(t.revision_piece.c.revision_id == row.id).order_by(t.revision_piece.c.ordinal)
        ).all()
        if [each.ordinal for each in rows] != list(range(len(rows))):
            found.append(f"{label}: its pieces are not numbered without gaps")
        try:
            actual = revision_digest(
                row.dialect,
                boards[row.board_id],
                Envelope(**json.loads(row.envelope)),
                [digests[each.piece_id] for each in rows],
            )
        except (LookupError, TypeError, ValueError):
            actual = None
        if actual != row.digest:
            found.append(f"{label}: its pieces and envelope do not give its digest {row.digest}")
        expected: tuple[int, int, int | None] = (row.ruleset_id, 1, None)
        if previous is not None and previous[0] == row.ruleset_id:
            expected = (row.ruleset_id, previous[1] + 1, previous[2])
        if (row.ruleset_id, row.number, row.parent_id) != expected:
            found.append(f"{label}: it does not follow its parent in an unbroken line")
        previous = (row.ruleset_id, row.number, row.id)
    return found
