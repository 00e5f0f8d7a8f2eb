"""What a store has to give to another: histories, revisions, boards, pieces and tags, as values that travel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Connection, select

from ggn_store.errors import DamagedError, StoreError, UnknownNameError
from ggn_store.model.documents.board import Board
from ggn_store.model.teams.ancestry import Step
from ggn_store.model.teams.review import ReviewRecord
from ggn_store.model.teams.transfer import SentPiece, SentRename, SentRevision, SentState, SentTag
from ggn_store.store.database.engine import Database
from ggn_store.store.history import renames, states, tags
from ggn_store.store.review import records
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.pieces import NotOursError, Reader, reader_of, rows_of, verified
from ggn_store.store.schema import tables as t

# Pieces are read together as long as they have no more possibilities than this.
_POSSIBILITIES_AT_ONCE = 20_000


def heads(connection: Connection) -> dict[str, tuple[int, str]]:
    """Number and lineage of the newest revision of every ruleset that is not hidden, by name."""
    query = select(t.ruleset.c.name, t.revision.c.number, t.revision.c.lineage).join(t.revision)
    rows = connection.execute(query.where(catalog.is_newest()).order_by(t.ruleset.c.name))
    return {row.name: (row.number, row.lineage) for row in rows}


def steps(connection: Connection, ruleset_id: int) -> list[Step]:
    """The history of a ruleset, the head last."""
    query = (
        select(
            t.revision.c.lineage,
            t.revision.c.digest,
            catalog.PARENT.c.lineage.label("parent"),
            catalog.MERGED.c.lineage.label("merged"),
            t.revision.c.number,
        )
        .select_from(catalog.PARENTS)
        .where(t.revision.c.ruleset_id == ruleset_id)
        .order_by(t.revision.c.number)
    )
    return [Step(*row) for row in connection.execute(query)]


class StoreSource:
    """A store as a `RevisionSource`, in a transaction that sees one state of it throughout."""

    def __init__(self, database: Database, connection: Connection) -> None:
        self._database = database
        self._connection = connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What goes wrong within is told as this store's: two take part."""
        try:
            with self._database.explained():
                yield
        except DamagedError as error:
            raise DamagedError(f"{self._database}: {error.fault}") from None

    def heads(self) -> Mapping[str, str]:
        with self._explained():
            return {name: lineage for name, (_, lineage) in heads(self._connection).items()}

    def steps(self, name: str) -> Sequence[Step]:
        with self._explained():
            return steps(self._connection, self._ruleset_id(name))

    def _ruleset_id(self, name: str) -> int:
        try:
            found = catalog.find(self._connection, name)
        except UnknownNameError as error:
            raise UnknownNameError(f"{self._database}: {error}") from None
        query = select(t.revision.c.ruleset_id).where(t.revision.c.id == found.id)
        return int(self._connection.execute(query).scalar_one())

    def revisions(self, name: str, lineages: Collection[str]) -> Iterator[SentRevision]:
        with self._explained():
            revision = t.revision
            ruleset_id = self._ruleset_id(name)
            is_wanted = set(lineages).__contains__
            numbers = select(revision.c.lineage, revision.c.id).where(revision.c.ruleset_id == ruleset_id)
            rows = self._connection.execute(numbers.order_by(revision.c.number)).all()
            digests: dict[int, str] = {}
            boards: dict[int, Board] = {}
            for keys in catalog.batches([row.id for row in rows if is_wanted(row.lineage)]):
                listed = self._listed(keys, digests)
                query = (
                    select(
                        *(revision.c[name] for name in ("id", "lineage", "digest", "dialect", "envelope", "board_id")),
                        *(revision.c[name] for name in ("author", "message", "created_at")),
                        t.board.c.digest.label("board"),
                        catalog.PARENT.c.lineage.label("parent"),
                        catalog.MERGED.c.lineage.label("merged"),
                    )
                    .select_from(catalog.PARENTS.join(t.board, t.board.c.id == revision.c.board_id))
                    .where(revision.c.id.in_(keys))
                    .order_by(revision.c.number)
                )
                for row in self._connection.execute(query).all():
                    values: dict[str, Any] = dict(row._mapping)
                    pieces = tuple(listed[values.pop("id")])
                    board_id = values.pop("board_id")
                    if board_id not in boards:
                        boards[board_id] = catalog.read_board(self._connection, board_id)
                    values["envelope"] = catalog.envelope_of(row.envelope)
                    sent = SentRevision(**(values | {"created_at": catalog.utc(row.created_at), "pieces": pieces}))
                    if (fault := sent.fault(boards[board_id])) is not None:
                        raise DamagedError(f"{name}: the revision {sent.lineage} is damaged, {fault}")
                    yield sent

    def _listed(self, keys: Sequence[int], digests: dict[int, str]) -> dict[int, list[str]]:
        """The digests of the pieces of revisions; those of pieces that were not met before are added to `digests`."""
        table = t.revision_piece
        query = select(table.c.revision_id, table.c.piece_id).where(table.c.revision_id.in_(keys))
        rows = self._connection.execute(query.order_by(table.c.revision_id, table.c.ordinal)).all()
        for some in catalog.batches(sorted({row.piece_id for row in rows} - digests.keys())):
            named = select(t.piece.c.id, t.piece.c.digest).where(t.piece.c.id.in_(some))
            digests.update((row.id, row.digest) for row in self._connection.execute(named))
        listed: dict[int, list[str]] = {key: [] for key in keys}
        for row in rows:
            listed[row.revision_id].append(digests[row.piece_id])
        return listed

    def boards(self, digests: Collection[str]) -> Iterator[Board]:
        with self._explained():
            for digest in digests:
                board_id = self._connection.execute(select(t.board.c.id).where(t.board.c.digest == digest)).scalar_one()
                board = catalog.read_board(self._connection, board_id)
                if board.digest != digest:
                    raise DamagedError(f"the board {digest} is damaged")
                yield board

    def pieces(self, digests: Sequence[str]) -> Iterator[SentPiece]:
        with self._explained():
            boards: dict[int, Board] = {}
            reader: Reader | None = None
            for some in catalog.batches(digests):
                query = select(t.piece, t.board.c.digest.label("board")).join(t.board).where(t.piece.c.digest.in_(some))
                found = {row.digest: row for row in self._connection.execute(query)}
                rows = [found[digest] for digest in some if digest in found]
                if len(rows) < len(some):
                    lost = next(digest for digest in some if digest not in found)
                    raise StoreError(f"{self._database}: the piece {lost} is not there any more; try again")
                for row in rows:
                    if row.board_id not in boards:
                        boards[row.board_id] = catalog.read_board(self._connection, row.board_id)
                for part in self._batches(rows):
                    together = None
                    with suppress(NotOursError):  # of one of them: each alone tells of which
                        together = rows_of(self._connection, [row.id for row in part])
                    for row in part:
                        reader = reader_of(reader, row.dialect, boards[row.board_id])
                        piece = verified(self._connection, row, reader, together)
                        yield SentPiece(row.digest, row.dialect, row.board, piece)

    def _batches(self, rows: Sequence[Any]) -> Iterator[list[Any]]:
        """Rows of pieces in parts that can be in memory at once."""
        count = select(t.piece_summary.c.piece_id, t.piece_summary.c.possibilities)
        counted = self._connection.execute(count.where(t.piece_summary.c.piece_id.in_([row.id for row in rows])))
        sizes: dict[int, int] = {row[0]: row[1] for row in counted}
        part: list[Any] = []
        size = 0
        for row in rows:
            size += sizes.get(row.id, 0)
            if part and size > _POSSIBILITIES_AT_ONCE:
                yield part
                part, size = [], sizes.get(row.id, 0)
            part.append(row)
        if part:
            yield part

    def tags(self, name: str) -> Sequence[SentTag]:
        with self._explained():
            self._ruleset_id(name)
            return [
                SentTag(tag.name, tag.lineage, tag.author, tag.message, tag.created_at)
                for tag in tags.newest(self._connection, name)
                if tag.lineage is not None
            ]

    def states(self, *names: str) -> Mapping[str, Sequence[SentState]]:
        with self._explained():
            return states.said(self._connection, *names)

    def renames(self, name: str) -> Sequence[SentRename]:
        with self._explained():
            return renames.log(self._connection, name)

    def reviews(self, name: str) -> Sequence[ReviewRecord]:
        with self._explained():
            return records.said(self._connection, name)
