"""Document -> rows, in one transaction: the whole document, or nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from ggn_store.model.board import Board
from ggn_store.model.document import Document, Piece
from ggn_store.model.revision import Revision, Status, check_name
from ggn_store.notation import qpi
from ggn_store.notation.hand import HAND
from ggn_store.store import rulesets
from ggn_store.store import tables as t
from ggn_store.store.engine import Database

_LOOKUP = 500


def load(
    database: Database,
    connection: Connection,
    document: Document,
    name: str,
    *,
    author: str | None = None,
    message: str | None = None,
) -> Revision:
    """Store `document` as the next revision of the ruleset `name`, in the transaction that is open.

    Content that is equal to the newest revision's makes no new one (status "unchanged"; "restored" where the
    ruleset had been deleted). Pieces that the store already has, under whatever name, are shared.
    Locks are taken in one order (ruleset, board, pieces by digest), so that loads cannot block each other for
    good.
    """
    check_name(name)
    ruleset_id, deleted = _ruleset(database, connection, name)
    head = connection.execute(
        select(t.revision.c.id, t.revision.c.number, t.revision.c.digest)
        .where(t.revision.c.ruleset_id == ruleset_id)
        .order_by(t.revision.c.number.desc())
        .limit(1)
    ).first()
    if deleted:
        connection.execute(update(t.ruleset).where(t.ruleset.c.id == ruleset_id).values(deleted_at=None))
    status: Status = "new"
    if head is not None and head.digest == document.digest:
        status = "restored" if deleted else "unchanged"
    else:
        board_id = _board(database, connection, document.board)
        piece_ids = _pieces(database, connection, document, board_id)
        revision_id = connection.execute(
            insert(t.revision)
            .values(
                ruleset_id=ruleset_id,
                number=1 if head is None else head.number + 1,
                digest=document.digest,
                parent_id=None if head is None else head.id,
                dialect=document.dialect,
                board_id=board_id,
                envelope=json.dumps(document.envelope.data(), ensure_ascii=False, sort_keys=True),
                author=author,
                message=message,
                created_at=datetime.now(UTC),
            )
            .returning(t.revision.c.id)
        ).scalar_one()
        database.fill(
            connection,
            t.revision_piece,
            [(revision_id, ordinal, piece_ids[digest]) for ordinal, digest in enumerate(document.piece_digests)],
        )
    return replace(rulesets.find(connection, name), status=status)


def _ruleset(database: Database, connection: Connection, name: str) -> tuple[int, bool]:
    """Key of the ruleset `name`, locked until the transaction ends, and whether it had been deleted."""
    connection.execute(database.insert(t.ruleset).values(name=name).on_conflict_do_nothing(index_elements=["name"]))
    row = connection.execute(
        select(t.ruleset.c.id, t.ruleset.c.deleted_at).where(t.ruleset.c.name == name).with_for_update()
    ).one()
    return row.id, row.deleted_at is not None


def _board(database: Database, connection: Connection, board: Board) -> int:
    """Key of `board`, which is stored if it is new."""
    board_id = connection.execute(
        database.insert(t.board)
        .values(digest=board.digest, shape=board.shape_text)
        .on_conflict_do_nothing(index_elements=["digest"])
        .returning(t.board.c.id)
    ).scalar()
    if board_id is None:
        return int(connection.execute(select(t.board.c.id).where(t.board.c.digest == board.digest)).scalar_one())
    database.fill(connection, t.square, [(board_id, number, label) for number, label in enumerate(board.squares)])
    return int(board_id)


def _pieces(database: Database, connection: Connection, document: Document, board_id: int) -> dict[str, int]:
    """Keys of the document's pieces by digest; those that are new are stored."""
    known = _known(connection, document.piece_digests)
    for digest, piece in sorted(zip(document.piece_digests, document.pieces, strict=True), key=lambda pair: pair[0]):
        if digest in known:
            continue
        identifier = qpi.parse(piece.identifier)
        piece_id = connection.execute(
            database.insert(t.piece)
            .values(
                board_id=board_id,
                dialect=document.dialect,
                digest=digest,
                identifier=piece.identifier,
                style=identifier.style,
                letter=identifier.letter,
                side=identifier.side,
                state=identifier.state,
                terminal=identifier.terminal,
                derived=identifier.derived,
            )
            .on_conflict_do_nothing(index_elements=["digest"])
            .returning(t.piece.c.id)
        ).scalar()
        if piece_id is None:  # another load has just stored the same piece
            known |= _known(connection, [digest])
            continue
        known[digest] = piece_id
        for table, rows in zip(t.PIECE_TABLES, flatten(piece_id, piece, document.board), strict=True):
            if rows:
                database.fill(connection, table, rows)
    return known


def _known(connection: Connection, digests: Sequence[str]) -> dict[str, int]:
    known: dict[str, int] = {}
    for start in range(0, len(digests), _LOOKUP):
        chunk = digests[start : start + _LOOKUP]
        rows = connection.execute(select(t.piece.c.digest, t.piece.c.id).where(t.piece.c.digest.in_(chunk)))
        known |= {row.digest: row.id for row in rows}
    return known


def flatten(piece_id: int, piece: Piece, board: Board) -> tuple[list[tuple[Any, ...]], ...]:
    """The rows of a piece, one list for each of `tables.PIECE_TABLES`, in the order of their columns."""
    numbers: dict[str, int | None] = {**board.numbers, HAND: None}
    sources: list[tuple[Any, ...]] = []
    destinations: list[tuple[Any, ...]] = []
    variants: list[tuple[Any, ...]] = []
    conditions: list[tuple[Any, ...]] = []
    effects: list[tuple[Any, ...]] = []
    hand_effects: list[tuple[Any, ...]] = []
    for i, source in enumerate(piece.sources):
        sources.append((piece_id, i, numbers[source.square]))
        for j, destination in enumerate(source.destinations):
            destinations.append((piece_id, i, j, numbers[destination.square]))
            for ordinal, possibility in enumerate(destination.possibilities):
                number = len(variants)
                outcome = possibility.effects
                variants.append((piece_id, i, j, ordinal, number, None if outcome is None else outcome.toggle))
                for polarity, states in (("must", possibility.must), ("deny", possibility.deny)):
                    conditions.extend((piece_id, number, polarity, numbers[sq], state) for sq, state in states.items())
                if outcome is not None:
                    effects.extend((piece_id, number, numbers[sq], becomes) for sq, becomes in outcome.board.items())
                    hand_effects.extend((piece_id, number, held, delta) for held, delta in outcome.hands.items())
    return sources, destinations, variants, conditions, effects, hand_effects
