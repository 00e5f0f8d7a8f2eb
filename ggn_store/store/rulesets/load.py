"""Document -> rows, in one transaction: the whole document, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, Final, Self

from sqlalchemy import Connection, bindparam, insert, select

from ggn_store.errors import HeadMovedError
from ggn_store.model.documents import layout as layouts
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Dialect, Digests, Document, Envelope, Piece, Possibility, revision_digest
from ggn_store.model.documents.layout import PLAIN, Layout
from ggn_store.model.teams.proposal import Proposal
from ggn_store.model.teams.revision import Reference, Revision, Status, check_name, lineage
from ggn_store.movement import facts
from ggn_store.notation import qpi
from ggn_store.notation.hand import HAND
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog, lanes, piece_names, summaries
from ggn_store.store.rulesets.catalog import UNSTATED, Base, Unstated
from ggn_store.store.schema import tables as t

_ROWS_AT_ONCE = 100_000

# Of a small document, to make these statements anew took as long as to run them.
_HEAD = (
    select(
        t.ruleset.c.deleted_at.is_not(None),
        t.revision.c.id,
        t.revision.c.number,
        t.revision.c.digest,
        t.revision.c.lineage,
    )
    .join(t.revision, t.revision.c.ruleset_id == t.ruleset.c.id)
    .where(t.ruleset.c.name == bindparam("name"))
    .order_by(t.revision.c.number.desc())
    .limit(1)
)
_BOARD = select(t.board.c.id).where(t.board.c.digest == bindparam("digest"))
_PIECES = select(t.piece.c.digest, t.piece.c.id).where(t.piece.c.digest.in_(bindparam("digests", expanding=True)))


@dataclass(frozen=True, slots=True)
class Flat:
    """A piece as the rows that a store has of it: for each of its tables the columns, all but the first."""

    identifier: str
    tables: tuple[tuple[tuple[Any, ...], ...], ...]

    def rows(self, piece_id: int) -> Iterator[Iterator[tuple[Any, ...]]]:
        """The rows for each table."""
        *tables, lane = self.tables
        for columns in tables:
            yield zip(repeat(piece_id), *columns, strict=False) if columns else iter(())
        yield zip(map(lanes.key_of(piece_id, None).__add__, lane[0]), *lane[1:], strict=True) if lane else iter(())


@dataclass(frozen=True, slots=True)
class Ready:
    """What a store takes of a document, all worked out: to be made in one process and stored in another."""

    dialect: Dialect
    board: Board
    envelope: Envelope
    digest: str
    piece_digests: tuple[str, ...]
    pieces: tuple[Flat, ...]
    possibilities: int
    conditions: int


def ready(document: Document) -> Ready:
    """A document that only lacks the keys of its pieces."""
    dialect, board = document.dialect, document.board
    digests = Digests(dialect, board)
    encoder, deriver = lanes.Encoder(board), facts.Deriver(board, layouts.of(document.envelope))
    piece_digests = []
    pieces = []
    for piece in document.pieces:
        # Piece by piece, while the processor has it at hand.
        piece_digests.append(digests.of(piece))
        tables = [tuple(zip(*rows, strict=True))[1:] for rows in flatten(0, piece, board)]
        tables.append(tuple((each,) for each in deriver.of(piece).row()))
        # The first column of a lane has the key of the piece in it.
        tables.append(tuple(zip(*encoder.rows(piece), strict=True)))
        pieces.append(Flat(piece.identifier, tuple(tables)))
    return Ready(
        dialect,
        board,
        document.envelope,
        revision_digest(dialect, board, document.envelope, piece_digests),
        tuple(piece_digests),
        tuple(pieces),
        document.possibilities,
        document.conditions,
    )


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who makes a new revision and why, what it is based on, and what lets it pass."""

    author: str | None = None
    message: str | None = None
    base: Base = UNSTATED
    gate: Gate | None = None


NOTHING_SAID: Final = Provenance()


@dataclass(frozen=True, slots=True)
class PieceStream:
    """A document that comes piece by piece, in any order, of which no more than one is ever in memory.

    `board` is the one that the whole document would have.
    """

    dialect: Dialect
    board: Board
    envelope: Envelope
    pieces: Iterable[Piece]


def load(
    database: Database,
    connection: Connection,
    document: Document | Ready | PieceStream,
    name: str,
    change: Provenance = NOTHING_SAID,
) -> Revision:
    """Store `document` as the next revision of the ruleset `name`, in the transaction that is open.

    Content that is equal to the newest revision's makes no new one (status "unchanged"; "restored" where the
    ruleset had been deleted). Pieces that the store already has, under whatever name, are shared.
    Raises HeadMovedError where its base is not the newest revision's lineage when the new one is about to follow it:
    who is first wins, and nobody waits for another's documents. Locks are taken in one order (all pieces, board, pieces
    by digest, ruleset), so that loads cannot block each other for good; the first of them also keeps what is found
    here from being collected before it is listed.
    """
    head = head_of(connection, check_name(name))
    head.require(change.base, name)
    if not isinstance(document, PieceStream) and head.digest == document.digest:
        return _unchanged(database, connection, name, head)
    made, listed = keep(database, connection, document, change)
    return append(database, connection, name, made, listed, change)


def keep(
    database: Database, connection: Connection, document: Document | Ready | PieceStream, change: Provenance
) -> tuple[Made, list[int]]:
    """Store what `document` consists of: what a revision of it says, and the keys of the pieces that it lists.

    Where pieces come in any order, no other load may write any meanwhile: where two have stored what the other waits
    for, neither could go on.
    """
    database.lock_pieces(connection, alone=isinstance(document, PieceStream))
    board_id = store_board(database, connection, document.board)
    layout = layouts.of(document.envelope)
    if isinstance(document, PieceStream):
        piece_ids = _stream(database, connection, document, board_id, layout)
        digests: Sequence[str] = list(piece_ids)
        digest = revision_digest(document.dialect, document.board, document.envelope, digests)
    else:
        piece_ids = _pieces(database, connection, document, board_id, layout)
        digests, digest = document.piece_digests, document.digest
    said = change.author, change.message, datetime.now(UTC)
    made = Made(document.dialect, board_id, document.envelope, digest, *said)
    return made, [piece_ids[each] for each in digests]


def _stream(
    database: Database, connection: Connection, stream: PieceStream, board_id: int, layout: Layout
) -> dict[str, int]:
    """Keys of the pieces by digest, in the order in which they come."""
    stored: dict[str, int] = {}
    for piece in stream.pieces:
        digest = piece.digest(stream.dialect, stream.board)
        known = known_pieces(connection, [digest])
        fresh = {} if known else {digest: piece}
        stored |= known | store_pieces(database, connection, fresh, stream.dialect, stream.board, board_id, layout)
    return stored


@dataclass(frozen=True, slots=True)
class Head:
    """A ruleset's newest revision, if there is one."""

    deleted: bool = False
    id: int | None = None
    number: int = 0
    digest: str | None = None
    lineage: str | None = None

    def require(self, base: Base, name: str) -> None:
        """Raise HeadMovedError unless this is what a new revision is based on."""
        if isinstance(base, Unstated) or base == self.lineage:
            return
        if self.lineage is None:
            raise HeadMovedError(f"{name} has no revision yet, and this is based on one")
        if base is None:
            raise HeadMovedError(f"{name} is there already: its newest revision is {name}@{self.number}")
        raise HeadMovedError(f"{name} has moved on: its newest revision is {name}@{self.number}")


@dataclass(frozen=True, slots=True)
class Made:
    """What a new revision says beside its pieces; `merged` is the key of its second parent."""

    dialect: Dialect
    board_id: int
    envelope: Envelope
    digest: str
    author: str | None
    message: str | None
    created_at: datetime
    merged: int | None = None

    @classmethod
    def again(cls, content: Revision | Proposal, author: str | None, message: str | None) -> Self:
        """The content of a revision or a proposal, as it is stored now once more."""
        said = author, message, datetime.now(UTC)
        return cls(content.dialect, content.board_id, content.envelope, content.digest, *said)

    def row(self) -> dict[str, Any]:
        """What the rows of revisions and of proposals have of this."""
        names = ("dialect", "board_id", "digest", "author", "message", "created_at")
        return {name: getattr(self, name) for name in names} | {"envelope": envelope_text(self.envelope)}


def envelope_text(envelope: Envelope) -> str:
    """An envelope as it is stored."""
    return json.dumps(envelope.data(), ensure_ascii=False, sort_keys=True)


# What lets a revision pass that is about to follow the head of a ruleset, perhaps with more to say; or raises.
Gate = Callable[[Connection, str, Head, Made, Sequence[int]], Made]


def head_of(connection: Connection, name: str) -> Head:
    """The newest revision of a ruleset, deleted or not."""
    row = connection.execute(_HEAD, {"name": name}).first()
    return Head() if row is None else Head(*row)


def _unchanged(database: Database, connection: Connection, name: str, head: Head) -> Revision:
    if head.deleted:
        catalog.show(database, connection, name)
    status: Status = "restored" if head.deleted else "unchanged"
    return replace(catalog.find(connection, Reference(name)), status=status)


def append(
    database: Database,
    connection: Connection,
    name: str,
    made: Made,
    piece_ids: Sequence[int],
    change: Provenance = NOTHING_SAID,
) -> Revision:
    """Let a new revision, which lists these pieces, follow the newest one of the ruleset `name`.

    Its gate sees all of it before, and may raise. It is the row of the next number that decides between several who
    want to: only one of them can insert it.
    """
    ruleset_id = store_ruleset(database, connection, name)
    revision_id = None
    while revision_id is None:
        head = head_of(connection, name)
        head.require(change.base, name)
        if head.digest == made.digest and made.merged is None:
            return _unchanged(database, connection, name, head)
        passed = made if change.gate is None else change.gate(connection, name, head, made, piece_ids)
        revision_id = append_after(
            database, connection, ruleset_id, passed, piece_ids, number=head.number + 1, parent=head.id
        )
    if head.deleted:
        catalog.show(database, connection, name)
    return replace(catalog.find(connection, Reference(name)), status="new")


def append_after(
    database: Database,
    connection: Connection,
    ruleset_id: int,
    made: Made,
    piece_ids: Sequence[int],
    *,
    number: int,
    parent: int | None,
) -> int | None:
    """Key of a new revision of this number, which lists these pieces; None where there is one of this number."""
    lineages = _lineages(connection, [key for key in (parent, made.merged) if key is not None])
    parents = (None if parent is None else lineages[parent], None if made.merged is None else lineages[made.merged])
    said = made.row() | {"ruleset_id": ruleset_id, "number": number, "parent_id": parent}
    said["lineage"] = lineage(*parents, made.digest, made.author, made.message, made.created_at)
    revision_id = database.add(connection, t.revision, said, ("ruleset_id", "number"), "id").scalar()
    if revision_id is None:
        return None
    if made.merged is not None:
        connection.execute(insert(t.revision_merge).values(revision_id=revision_id, parent_id=made.merged))
    listed = [(revision_id, ordinal, piece_id) for ordinal, piece_id in enumerate(piece_ids)]
    database.fill(connection, t.revision_piece.columns, listed)
    piece_names.fill(database, connection, revision_id, made.envelope)
    return int(revision_id)


def _lineages(connection: Connection, keys: Sequence[int]) -> dict[int, str]:
    if not keys:
        return {}
    parents = select(t.revision.c.id, t.revision.c.lineage).where(t.revision.c.id.in_(keys))
    return {row.id: row.lineage for row in connection.execute(parents)}


def store_ruleset(database: Database, connection: Connection, name: str) -> int:
    """Key of the ruleset `name`, which is made if it is new; raises UnknownNameError where it was renamed."""
    known = catalog.key_of(connection, name)
    if known is None:
        if (now := catalog.renamed(connection, name)) is not None:
            raise catalog.gone(name, now)
        known = database.add(connection, t.ruleset, {"name": name}, ("name",), "id").scalar()
    if known is None:  # somebody else has just made it
        known = catalog.key_of(connection, name)
        assert known is not None  # noqa: S101  (rulesets stay)
    return known


def store_board(database: Database, connection: Connection, board: Board) -> int:
    """Key of `board`, which is stored if it is new."""
    known = connection.execute(_BOARD, {"digest": board.digest}).scalar()
    if known is not None:
        return int(known)
    said = {"digest": board.digest, "shape": board.shape_text}
    board_id = database.add(connection, t.board, said, ("digest",), "id").scalar()
    if board_id is None:  # somebody else has just stored it
        return int(connection.execute(_BOARD, {"digest": board.digest}).scalar_one())
    rows = zip(board.squares, points(board), strict=True)
    squares = [(board_id, number, label, *point) for number, (label, point) in enumerate(rows)]
    database.fill(connection, t.square.columns, squares)
    return int(board_id)


def points(board: Board) -> list[tuple[int | None, ...]]:
    """File, rank and layer of each square, from 1, as people count them; None for those that it has not."""
    if board.coordinates is None:
        return [(None, None, None)] * len(board.squares)
    return [(*(each + 1 for each in point), None, None)[:3] for point in board.coordinates]


def _pieces(
    database: Database, connection: Connection, document: Document | Ready, board_id: int, layout: Layout
) -> dict[str, int]:
    """Keys of the document's pieces by digest; those that are new are stored."""
    known = known_pieces(connection, document.piece_digests)
    pieces: list[tuple[str, Piece | Flat]] = list(zip(document.piece_digests, document.pieces, strict=True))
    if database.is_server:  # several that write the same pieces wait for each other in one order
        pieces.sort(key=itemgetter(0))
    fresh = {digest: piece for digest, piece in pieces if digest not in known}
    return known | store_pieces(database, connection, fresh, document.dialect, document.board, board_id, layout)


def store_pieces(
    database: Database,
    connection: Connection,
    pieces: Mapping[str, Piece | Flat],
    dialect: Dialect,
    board: Board,
    board_id: int,
    layout: Layout = PLAIN,
) -> dict[str, int]:
    """Keys by digest of pieces that are new, which are stored; or of the same, which another load has just stored.

    The layout is what their document says of the board; of a piece of several documents the first one's counts.
    """
    if not pieces:
        return {}
    same = {"board_id": board_id, "dialect": dialect, "lanes": lanes.VERSION}
    values = [same | {"digest": digest} | identified(piece.identifier) for digest, piece in pieces.items()]
    rows = database.add(connection, t.piece, values, ("digest",), "digest", "id")
    keys = {row.digest: row.id for row in rows}
    new = [(keys[digest], piece) for digest, piece in pieces.items() if digest in keys]
    _fill(database, connection, new, board, layout)
    summaries.fill(connection, [*keys.values()])
    return keys | known_pieces(connection, [digest for digest in pieces if digest not in keys])


def identified(identifier: str) -> dict[str, Any]:
    """The columns that say what piece an identifier is."""
    parsed = qpi.parse(identifier)
    names = ("style", "letter", "side", "state", "terminal", "derived")
    return {"identifier": identifier} | {name: getattr(parsed, name) for name in names}


def _fill(
    database: Database,
    connection: Connection,
    pieces: Sequence[tuple[int, Piece | Flat]],
    board: Board,
    layout: Layout,
) -> None:
    """Store the rows of new pieces, table by table for as many as may be in memory at once."""
    tables = [table.columns for table in (*t.PIECE_TABLES, t.piece_facts, t.lane)]
    waiting: list[Sequence[Iterable[tuple[Any, ...]]]] = []
    encoder, deriver = lanes.Encoder(board), facts.Deriver(board, layout)
    count = 0

    def store() -> None:
        for columns, parts in zip(tables, zip(*waiting, strict=True), strict=True):
            database.fill(connection, columns, chain.from_iterable(parts))
        waiting.clear()

    for piece_id, piece in pieces:
        if isinstance(piece, Flat):
            waiting.append(list(piece.rows(piece_id)))
            continue
        for part in _parts(piece_id, piece, board, _ROWS_AT_ONCE):
            waiting.append((*part, (), ()))
            count += sum(map(len, part))
            if count > _ROWS_AT_ONCE:
                store()
                count = 0
        derived = [(piece_id, *deriver.of(piece).row())], encoder.rows_of(piece_id, piece)
        waiting.append((*repeat((), len(t.PIECE_TABLES)), *derived))
        count += sum(map(len, derived))
    if waiting:
        store()


def known_pieces(connection: Connection, digests: Sequence[str]) -> dict[str, int]:
    known: dict[str, int] = {}
    for some in catalog.batches(digests):
        known |= {row.digest: row.id for row in connection.execute(_PIECES, {"digests": some})}
    return known


def flatten(piece_id: int, piece: Piece, board: Board) -> tuple[list[tuple[Any, ...]], ...]:
    """The rows of a piece, one list for each of `tables.PIECE_TABLES`, in the order of their columns."""
    [rows] = _parts(piece_id, piece, board, None)
    return rows


def _parts(piece_id: int, piece: Piece, board: Board, most: int | None) -> Iterator[tuple[list[tuple[Any, ...]], ...]]:
    """The rows of a piece as `flatten` gives them, source by source together while there are not more than `most`."""
    numbers: dict[str, int | None] = {**board.numbers, HAND: None}
    sources: list[tuple[Any, ...]] = []
    destinations: list[tuple[Any, ...]] = []
    variants: list[tuple[Any, ...]] = []
    conditions: list[tuple[Any, ...]] = []
    changes: list[tuple[Any, ...]] = []
    others: tuple[list[tuple[Any, ...]], ...] = ([], [], [], [])
    number = 0
    for i, source in enumerate(piece.sources):
        if most is not None and len(conditions) + len(changes) > most:
            yield sources, destinations, variants, conditions, changes, *others
            sources, destinations, variants, conditions, changes, others = [], [], [], [], [], ([], [], [], [])
        sources.append((piece_id, i, numbers[source.square]))
        for j, destination in enumerate(source.destinations):
            destinations.append((piece_id, i, j, numbers[destination.square]))
            for ordinal, possibility in enumerate(destination.possibilities):
                effects = possibility.effects
                variants.append((piece_id, i, j, ordinal, number, None if effects is None else effects.toggle))
                for square, state in possibility.must.items():
                    conditions.append((piece_id, number, "must", numbers[square], state))
                for square, state in possibility.deny.items():
                    conditions.append((piece_id, number, "deny", numbers[square], state))
                if effects is not None:
                    for square, becomes in effects.board.items():
                        changes.append((piece_id, number, numbers[square], becomes))
                # Most have nothing more, and a call for each would be felt.
                if possibility.guards or possibility.origin or (effects and (effects.hands or effects.state)):
                    _flatten_others(possibility, (piece_id, number), others)
                number += 1
    yield sources, destinations, variants, conditions, changes, *others


def _flatten_others(possibility: Possibility, key: tuple[int, int], others: tuple[list[tuple[Any, ...]], ...]) -> None:
    """Add the rows of a possibility's effects on hands, its origin, its guards and its effects on state."""
    hand_effects, origins, guards, state_effects = others
    if (effects := possibility.effects) is not None:
        hand_effects += [(*key, held, delta) for held, delta in effects.hands.items()]
        state_effects += [(*key, variable, value) for variable, value in effects.state.items()]
    for variable, values in possibility.guards.items():
        guards += [(*key, variable, value) for value in values]
    if (origin := possibility.origin) is not None:
        origins.append((*key, origin.action, origin.step, origin.chainable))
