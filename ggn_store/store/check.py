"""Does the store still hold what was put into it? Every digest is derived again from the rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from ggn_store.errors import GgnStoreError
from ggn_store.model.board import Board
from ggn_store.model.document import Envelope, revision_digest
from ggn_store.notation import qpi
from ggn_store.store import load, masks, rulesets
from ggn_store.store import tables as t
from ggn_store.store.engine import Database

Value = TypeVar("Value")


def check(database: Database, connection: Connection, progress: Callable[[str], None] | None = None) -> list[str]:
    """What differs, one sentence each; an empty list for a sound store."""
    found = database.integrity(connection)
    boards, problems = _check_boards(database, connection)
    found += problems
    digests, problems = _check_pieces(database, connection, boards, progress or (lambda _: None))
    found += problems
    return found + _check_revisions(database, connection, boards, digests) + _check_rulesets(connection)


def _attempt(database: Database, work: Callable[[], Value]) -> Value | None:
    """The result of `work`; None where the rows are not what it expects, whatever way they are not."""
    try:
        return work()
    except (GgnStoreError, LookupError, TypeError, ValueError):
        return None
    except DBAPIError as error:
        if not database.is_about_a_value(error):
            raise
        return None


def _check_boards(database: Database, connection: Connection) -> tuple[dict[int, Board], list[str]]:
    boards = {}
    found = []
    for row in connection.execute(select(t.board.c.id, t.board.c.digest).order_by(t.board.c.id)).all():

        def is_sound(board_id: int = row.id, digest: str = row.digest) -> bool:
            boards[board_id] = rulesets.read_board(connection, board_id)
            numbers = select(t.square.c.number).where(t.square.c.board_id == board_id).order_by(t.square.c.number)
            is_dense = list(connection.execute(numbers).scalars()) == list(range(len(boards[board_id].squares)))
            return is_dense and boards[board_id].digest == digest

        if not _attempt(database, is_sound):
            found.append(f"board {row.id}: its squares and shape do not give its digest {row.digest}")
    return boards, found


def _check_pieces(
    database: Database, connection: Connection, boards: dict[int, Board], progress: Callable[[str], None]
) -> tuple[dict[int, str], list[str]]:
    digests = {}
    found = []
    for row in connection.execute(select(t.piece).order_by(t.piece.c.id)).all():
        progress(f"piece {row.identifier}")
        digests[row.id] = row.digest

        def is_sound(row: Any = row) -> bool:
            board = boards[row.board_id]
            piece = rulesets.read_piece(connection, row.id, row.identifier, board)
            name = qpi.parse(row.identifier)
            # The digest says that the rules are those that were loaded; the rows say it a second time, and so that
            # nothing stands in them which reading a piece back does not look at.
            return (
                piece.digest(row.dialect, board) == row.digest
                and (row.style, row.letter, row.side, row.state) == (name.style, name.letter, name.side, name.state)
                and (row.terminal, row.derived) == (name.terminal, name.derived)
                and all(
                    rulesets.rows_of_piece(connection, table, row.id) == sorted(rows, key=rulesets.key_of(table))
                    for table, rows in zip(t.PIECE_TABLES, load.flatten(row.id, piece, board), strict=True)
                )
            )

        def is_derived(row: Any = row) -> bool:
            board = boards[row.board_id]
            piece = rulesets.read_piece(connection, row.id, row.identifier, board)
            words = masks.words(board)
            stored = connection.execute(select(t.mask).where(masks.is_of(row.id)).order_by(*t.mask.primary_key))
            unused = (None,) * (len(t.mask.columns) - len(masks.columns(words)))
            derived = [each + unused for each in masks.flatten(row.id, piece, board)]
            return row.words == words and [tuple(each) for each in stored] == derived

        if not _attempt(database, is_sound):
            found.append(f"piece {row.id} ({row.identifier}): its rows do not give its digest {row.digest}")
        elif not _attempt(database, is_derived):
            found.append(
                f"piece {row.id} ({row.identifier}): its masks are not those of its rows: run `ggn-store db rebuild`"
            )
    return digests, found


def _check_revisions(
    database: Database, connection: Connection, boards: dict[int, Board], digests: dict[int, str]
) -> list[str]:
    found = []
    revision = t.revision
    columns = [column for column in revision.columns if column.name != "created_at"]
    query = select(*columns, t.ruleset.c.name).join(t.ruleset).order_by(revision.c.ruleset_id, revision.c.number)
    previous: tuple[int, int, int] | None = None
    for row in connection.execute(query).all():
        label = f"revision {row.name}@{row.number}"
        listed = select(t.revision_piece.c.piece_id, t.revision_piece.c.ordinal)
        pieces = connection.execute(
            listed.where(t.revision_piece.c.revision_id == row.id).order_by(t.revision_piece.c.ordinal)
        ).all()
        if [each.ordinal for each in pieces] != list(range(len(pieces))):
            found.append(f"{label}: its pieces are not numbered without gaps")

        def digest(row: Any = row, pieces: Any = pieces) -> str:
            envelope = Envelope(**json.loads(row.envelope))
            listed = [digests[each.piece_id] for each in pieces]
            return revision_digest(row.dialect, boards[row.board_id], envelope, listed)

        if _attempt(database, digest) != row.digest:
            found.append(f"{label}: its pieces and envelope do not give its digest {row.digest}")
        created_at = select(revision.c.created_at).where(revision.c.id == row.id)
        if _attempt(database, lambda query=created_at: connection.execute(query).scalar_one()) is None:  # type: ignore[misc]
            found.append(f"{label}: when it was made cannot be read")
        expected: tuple[int, int, int | None] = (row.ruleset_id, 1, None)
        if previous is not None and previous[0] == row.ruleset_id:
            expected = (row.ruleset_id, previous[1] + 1, previous[2])
        if (row.ruleset_id, row.number, row.parent_id) != expected:
            found.append(f"{label}: it does not follow its parent in an unbroken line")
        previous = (row.ruleset_id, row.number, row.id)
    return found


def _check_rulesets(connection: Connection) -> list[str]:
    revisions = select(t.revision.c.id).where(t.revision.c.ruleset_id == t.ruleset.c.id)
    empty = select(t.ruleset.c.name).where(~revisions.exists()).order_by(t.ruleset.c.name)
    return [f"ruleset {name}: it has no revision" for name in connection.execute(empty).scalars()]
