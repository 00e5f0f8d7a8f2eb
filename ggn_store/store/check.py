"""Does the store still hold what was put into it? Every digest is derived again from the rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from ggn_store.errors import GgnStoreError
from ggn_store.model.board import Board
from ggn_store.model.document import Envelope, revision_digest
from ggn_store.model.policy import EVERYTHING, Rules
from ggn_store.model.revision import lineage
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
    found += _check_revisions(database, connection, boards, digests)
    found += _check_histories(database, connection)
    found += _check_tags(connection) + _check_rulesets(connection)
    return found + _check_policies(database, connection) + _check_proposals(database, connection, boards, digests)


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
    return found


def _check_histories(database: Database, connection: Connection) -> list[str]:
    """Every revision's number, parents and lineage, which says that nothing before it was changed."""
    found = []
    columns = [column for column in t.revision.columns if column.name not in ("created_at", "envelope")]
    query = (
        select(*columns, t.ruleset.c.name, t.revision_merge.c.parent_id.label("merged_id"))
        .join(t.ruleset)
        .outerjoin(t.revision_merge, t.revision_merge.c.revision_id == t.revision.c.id)
        .order_by(t.revision.c.ruleset_id, t.revision.c.number)
    )
    ruleset_id = None
    lineages: dict[int | None, str | None] = {}
    expected = 1
    for row in connection.execute(query).all():
        if row.ruleset_id != ruleset_id:
            ruleset_id, lineages, expected = row.ruleset_id, {None: None}, 1
        label = f"revision {row.name}@{row.number}"
        created_at = select(t.revision.c.created_at).where(t.revision.c.id == row.id)

        def derived(row: Any = row, lineages: Any = lineages, created_at: Any = created_at) -> str:
            at: datetime = connection.execute(created_at).scalar_one()
            at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
            return lineage(lineages[row.parent_id], lineages[row.merged_id], row.digest, row.author, row.message, at)

        if row.number != expected:
            found.append(f"{label}: the revisions of its ruleset are not numbered without gaps")
        if row.parent_id not in lineages or row.merged_id not in lineages:
            found.append(f"{label}: a parent of it is not an earlier revision of its ruleset")
        elif _attempt(database, derived) != row.lineage:
            found.append(f"{label}: its content, author, message, time and parents do not give its lineage")
        lineages[row.id] = row.lineage
        expected = row.number + 1
    return found


def _check_tags(connection: Connection) -> list[str]:
    found = []
    query = (
        select(t.ruleset.c.name, t.tag, t.revision.c.ruleset_id.label("owner"))
        .join(t.tag, t.tag.c.ruleset_id == t.ruleset.c.id)
        .outerjoin(t.revision, t.revision.c.id == t.tag.c.revision_id)
        .order_by(t.tag.c.ruleset_id, t.tag.c.name, t.tag.c.number)
    )
    previous = None
    for row in connection.execute(query).all():
        label = f"tag {row.name}:{row.name_1}"
        expected = previous[1] + 1 if previous is not None and previous[0] == label else 1
        if row.number != expected:
            found.append(f"{label}: its moves are not numbered without gaps")
        if row.revision_id is not None and row.owner != row.ruleset_id:
            found.append(f"{label}: it points to a revision of another ruleset")
        previous = (label, row.number)
    return found


def _check_rulesets(connection: Connection) -> list[str]:
    revisions = select(t.revision.c.id).where(t.revision.c.ruleset_id == t.ruleset.c.id)
    proposals = select(t.proposal.c.id).where(t.proposal.c.ruleset_id == t.ruleset.c.id)
    is_empty = ~revisions.exists() & ~proposals.exists()
    empty = select(t.ruleset.c.name).where(is_empty).order_by(t.ruleset.c.name)
    return [f"ruleset {name}: it has no revision" for name in connection.execute(empty).scalars()]


def _check_policies(database: Database, connection: Connection) -> list[str]:
    found = []
    for row in connection.execute(select(t.policy).order_by(t.policy.c.namespace, t.policy.c.number)).all():

        def rules(row: Any = row) -> bool:
            read = None if row.rules is None else Rules.from_data(json.loads(row.rules), row.positions)
            kept = None if read is None else read.compatible
            positions: str | None = row.positions
            return (None if kept is None else kept.text()) == positions

        if not _attempt(database, rules):
            found.append(f"policy {row.number} of {row.namespace or EVERYTHING}: its rules cannot be read")
    return found


def _check_proposals(
    database: Database, connection: Connection, boards: dict[int, Board], digests: dict[int, str]
) -> list[str]:
    found = []
    query = select(t.proposal, t.ruleset.c.name).join(t.ruleset).order_by(t.proposal.c.id)
    for row in connection.execute(query).all():
        listed = select(t.proposal_piece.c.piece_id).where(t.proposal_piece.c.proposal_id == row.id)
        pieces = connection.execute(listed.order_by(t.proposal_piece.c.ordinal)).scalars().all()

        def digest(row: Any = row, pieces: Any = pieces) -> str:
            envelope = Envelope(**json.loads(row.envelope))
            return revision_digest(row.dialect, boards[row.board_id], envelope, [digests[each] for each in pieces])

        if len(pieces) != row.pieces or _attempt(database, digest) != row.digest:
            found.append(
                f"proposal {row.name}#{row.number}: its pieces and envelope do not give its digest {row.digest}"
            )
    return found
