"""What comes from another store, or from a bundle, becomes revisions of this one: checked, and all or nothing.

A ruleset is received in one transaction. Whoever inserts the next number of its history first has the head; another
who wanted the same begins again and finds how his history stands to the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, select

from ggn_store.errors import UNSTORABLE, DamagedError, RefusedError, StoreError, printable, quote
from ggn_store.model.changes.merge import Merge, noted
from ggn_store.model.documents import layout as layouts
from ggn_store.model.documents.board import Board, parse_shape
from ggn_store.model.documents.document import Digests
from ggn_store.model.documents.layout import Layout
from ggn_store.model.teams import ancestry
from ggn_store.model.teams.ancestry import Relation, Step
from ggn_store.model.teams.review import ReviewRecord
from ggn_store.model.teams.revision import check_name, check_tag
from ggn_store.model.teams.transfer import (
    DivergedError,
    RevisionSource,
    SentPiece,
    SentRevision,
    TransferOutcome,
    Transferred,
    TransferWishes,
)
from ggn_store.store.database.engine import AUTHOR, Database
from ggn_store.store.exchange import offer, stated
from ggn_store.store.exchange.here import Here, OvertakenError
from ggn_store.store.exchange.stated import Stated
from ggn_store.store.exchange.unite import Uniting, united
from ggn_store.store.history import tags
from ggn_store.store.review import policies, records, rights
from ggn_store.store.rulesets import catalog, declared, load, stored_documents
from ggn_store.store.schema import tables as t

_POSSIBILITIES_AT_ONCE: Final = 20_000
_SHORT: Final = 12

# Told of a ruleset how many pieces have come, and how many more are to come.
Progress = Callable[[str, int, int], None]


def plan(
    database: Database, connection: Connection, source: RevisionSource, name: str, to: str, wishes: TransferWishes
) -> Transferred:
    """What would come of receiving a ruleset, as far as that can be told without receiving it.

    Raises as `receive` does, but does not know of conflicts.
    """
    here = _here(connection, check_name(to))
    relation = ancestry.relate(here.steps, _steps(source, name))
    said = stated.compare(database, connection, name, to, source.states(name), wishes)
    _require_open(here, relation, said, wishes.place)
    _require_unreviewed(connection, relation, to, wishes)
    is_apart = relation.kind == "apart"
    if is_apart and united(here, relation) is None and not wishes.merge:
        raise DivergedError(f"{to}: the two histories have gone apart: leave --dry-run out to list how")
    coming = list(source.revisions(name, [step.lineage for step in relation.missing]))
    digests = {digest for revision in coming for digest in revision.pieces}
    fresh = digests - load.known_pieces(connection, sorted(digests)).keys()
    last = None if is_apart else coming[-1].lineage if coming else here.head.lineage
    count = len(coming) + is_apart
    status = _status(here, relation)
    done = Transferred(name, to, status, count, len(fresh), len(digests), here.number + count, last)
    return said.told(replace(done, reviews=len(_new_records(connection, source, name, to, wishes))))


def receive(
    database: Database,
    connection: Connection,
    source: RevisionSource,
    name: str,
    to: str,
    wishes: TransferWishes,
    progress: Progress | None = None,
) -> Transferred:
    """Take over a ruleset `name` as `to`, in the transaction that is open.

    Raises DivergedError where both have what the other has not and `wishes.merge` is not given, or does not help;
    OvertakenError where somebody else was quicker; StoreError where anything that comes does not give its digest.
    """
    here = _here(connection, check_name(to))
    coming = _steps(source, name)
    relation = ancestry.relate(here.steps, coming)
    said = stated.compare(database, connection, name, to, source.states(name), wishes)
    _require_open(here, relation, said, wishes.place)
    _require_unreviewed(connection, relation, to, wishes)
    if wishes.resolution is not None:
        heads = here.head.lineage if here.steps else None, coming[-1].lineage
        own, other = heads[::-1] if wishes.is_push else heads
        wishes.resolution.require(own, str(other), to)
    for state in said.fresh:
        if (fault := state.fault()) is not None:
            raise StoreError(f"{printable(wishes.source)}: a state of {name}: {fault}; nothing of it was stored")
    stated.take(database, connection, here, said, before=True)
    if relation.kind == "same":
        moved = _take_tags(database, connection, here, source, name) if wishes.tags else ()
        done = Transferred(name, to, "unchanged", head=here.head.number, lineage=here.head.lineage, tags=moved)
    else:
        told: Progress = progress or (lambda *_: None)
        try:
            done = _Receiving(database, connection, source, name, here, relation, wishes, told).all()
        except DamagedError as error:
            raise DamagedError(f"{error.fault}; nothing of {name} was stored") from None
    stated.take(database, connection, here, said)
    return said.told(_take_reviews(database, connection, source, done, wishes))


def _steps(source: RevisionSource, name: str) -> Sequence[Step]:
    steps = source.steps(name)
    if not steps:
        raise StoreError(f"{name}: it has no revision where it comes from")
    return steps


def _here(connection: Connection, name: str) -> Here:
    query = select(t.ruleset.c.id, t.ruleset.c.deleted_at).where(t.ruleset.c.name == name)
    found = connection.execute(query).first()
    if found is None:
        return Here(name)
    return Here(name, found.id, offer.steps(connection, found.id), found.deleted_at is not None)


def _require_open(here: Here, relation: Relation, said: Stated, place: str) -> None:
    """Raise StoreError where the ruleset takes nothing, or where what comes goes back to what nobody has."""
    if here.is_hidden:
        raise StoreError(
            f"{here.name}: it was deleted {place} and is hidden: `ggn-store restore {here.name}` brings it back; "
            "nothing was stored"
        )
    if relation.kind == "same":
        return
    if said.is_closed:
        raise RefusedError(
            f"{here.name}: it is retired {place} and takes no revisions; nothing was stored: `ggn-store state "
            f"{here.name} active` brings it back into use {place}"
        )
    if relation.needed:
        lineages = ", ".join(f"sha256:{lineage}" for lineage in relation.needed)
        raise StoreError(
            f"{here.name}: what comes goes on from revisions that are not {place}: {lineages}: take those first, or "
            "make the bundle with an earlier --since, or without it"
        )


def _require_unreviewed(connection: Connection, relation: Relation, to: str, wishes: TransferWishes) -> None:
    """Say early of what must be reviewed how to propose it; the database itself refuses it."""
    review = None if relation.kind == "same" else policies.review(policies.counting(connection, to))
    if review is not None:
        cure = "--propose proposes it" if wishes.is_push else "push it from a store of your own, with --propose"
        raise RefusedError(f"{to}: it {review}; nothing was stored: {cure}")


def _status(here: Here, relation: Relation) -> TransferOutcome:
    if relation.kind == "forward":
        return "forwarded" if here.steps else "new"
    return "merged" if relation.kind == "apart" else "unchanged"


@dataclass(slots=True)
class _Receiving:
    """One ruleset that is being received."""

    _database: Database
    _connection: Connection
    _source: RevisionSource
    _name: str
    _here: Here
    _relation: Relation
    _wishes: TransferWishes
    _progress: Progress
    _boards: dict[str, tuple[int, Board]] = field(default_factory=dict)
    _pieces: dict[str, Any] = field(default_factory=dict)  # rows, by digest
    _sent: int = 0
    _merge: Merge | None = None

    def all(self) -> Transferred:
        """Everything: boards, pieces by digest, revisions, what unites them with those that are here, tags."""
        here, relation = self._here, self._relation
        coming = list(self._source.revisions(self._name, [step.lineage for step in relation.missing]))
        self._check(coming)
        authors = {revision.author for revision in coming}
        for author in authors | ({self._wishes.author} if relation.kind == "apart" else set()):
            rights.require(self._database, self._connection, here.name, "proposers", author)
        # What is found here must not be collected before it is listed. Pieces of a merged document come after the
        # others, in no order with them.
        self._database.lock_pieces(self._connection, alone=relation.kind == "apart" and united(here, relation) is None)
        self._take_boards({revision.board for revision in coming})
        for revision in coming:
            self._check_content(revision)
        # The first of several revisions that list a piece says how its board lies.
        lying = {digest: layouts.of(each.envelope) for each in reversed(coming) for digest in each.pieces}
        digests = sorted(lying)
        self._take_pieces(digests, lying)
        ruleset_id = load.store_ruleset(self._database, self._connection, here.name)
        keys = self._append_all(ruleset_id, coming)
        number = here.number + len(coming)
        last = coming[-1].lineage
        if relation.kind == "apart":
            number += 1
            last = self._unite(ruleset_id, keys, number)
        now = Here(here.name, ruleset_id)
        moved = _take_tags(self._database, self._connection, now, self._source, self._name) if self._wishes.tags else ()
        status = _status(here, relation)
        count = number - here.number
        done = Transferred(self._name, here.name, status, count, self._sent, len(digests), number, last, moved)
        made = self._merge
        return done if made is None else replace(done, note=made.note, decided=made.decided)

    # --- checking ---

    def _refuse(self, what: str, why: str) -> StoreError:
        return StoreError(f"{printable(self._wishes.source)}: {what}: {why}; nothing of {self._name} was stored")

    def _check(self, coming: Sequence[SentRevision]) -> None:
        """Raise StoreError unless those came that were asked for, each after its parents."""
        before = {step.lineage for step in self._here.steps}
        missing = self._relation.missing
        if [revision.lineage for revision in coming] != [step.lineage for step in missing]:
            raise self._refuse(f"ruleset {self._name}", "other revisions came than those of its history")
        for step, revision in zip(missing, coming, strict=True):
            told = (step.digest, step.parent, step.merged)
            if (revision.digest, revision.parent, revision.merged) != told or not before.issuperset(step.parents):
                raise self._refuse(_named(revision), "its content or its parents are not those of its history")
            before.add(revision.lineage)
            for text in (revision.author, revision.message, *revision.envelope.data().values()):
                if text is not None and UNSTORABLE.search(text):
                    raise self._refuse(_named(revision), f"{quote(text)} has characters that no database can keep")

    def _check_content(self, revision: SentRevision) -> None:
        board = self._boards[revision.board][1]
        fault = revision.fault(board)
        if fault is not None:
            raise self._refuse(_named(revision), fault)
        shape = revision.envelope.board
        if shape is not None and parse_shape(shape).digest != board.digest:
            raise self._refuse(_named(revision), "its board is not the one that it declares")

    # --- taking ---

    def _take_boards(self, digests: Iterable[str]) -> None:
        wanted = sorted(digests)
        known = select(t.board.c.digest, t.board.c.id).where(t.board.c.digest.in_(wanted))
        keys = {row.digest: row.id for row in self._connection.execute(known)}
        for digest, key in keys.items():
            self._boards[digest] = key, catalog.read_board(self._connection, key)
        missing = [digest for digest in wanted if digest not in keys]
        for digest, board in zip(missing, self._source.boards(missing), strict=True):
            if board.digest != digest:
                raise self._refuse(f"board {digest}", "its squares and shape do not give its digest")
            self._boards[digest] = load.store_board(self._database, self._connection, board), board

    def _take_pieces(self, digests: Sequence[str], lying: Mapping[str, Layout]) -> None:
        """Store the pieces that are not here yet, in the order of their digests, as everybody does."""
        self._know(digests)
        fresh = [digest for digest in digests if digest not in self._pieces]
        self._progress(self._here.name, 0, len(fresh))
        arrived = iter(self._source.pieces(fresh))
        batch: list[SentPiece] = []
        size = 0
        for digest in fresh:
            sent = next(arrived, None)
            if sent is None or sent.digest != digest:
                raise self._refuse(f"piece {digest}", "it did not come")
            kind = (sent.dialect, sent.board, lying[digest])
            if batch and (
                kind != (batch[0].dialect, batch[0].board, lying[batch[0].digest]) or size > _POSSIBILITIES_AT_ONCE
            ):
                self._store(batch, lying[batch[0].digest])
                batch, size = [], 0
            batch.append(sent)
            size += sent.piece.possibilities
        if batch:
            self._store(batch, lying[batch[0].digest])
        self._know(fresh)

    def _store(self, batch: Sequence[SentPiece], layout: Layout) -> None:
        """Check and store pieces of one dialect, board and layout."""
        dialect = batch[0].dialect
        if batch[0].board not in self._boards:
            raise self._refuse(f"piece {batch[0].digest}", "it is written for another board than its revisions")
        board_id, board = self._boards[batch[0].board]
        digests = Digests(dialect, board)
        for sent in batch:
            if not sent.piece.squares() - {"*"} <= board.numbers.keys() or digests.of(sent.piece) != sent.digest:
                raise self._refuse(f"piece {sent.digest} ({sent.piece.identifier})", "it does not give its digest")
        pieces = {sent.digest: sent.piece for sent in batch}
        load.store_pieces(self._database, self._connection, pieces, dialect, board, board_id, layout)
        self._sent += len(batch)
        self._progress(self._here.name, len(batch), 0)

    def _know(self, digests: Sequence[str]) -> None:
        """Find the pieces that are here."""
        columns = [t.piece.c[name] for name in ("digest", "id", "identifier", "dialect", "board_id")]
        for some in catalog.batches(digests):
            rows = self._connection.execute(select(*columns).where(t.piece.c.digest.in_(some)))
            self._pieces |= {row.digest: row for row in rows}

    def _append_all(self, ruleset_id: int, coming: Sequence[SentRevision]) -> dict[str, int]:
        """Keys by lineage of the revisions that came, which now follow those that are here, and of their parents."""
        known = {step.lineage for step in self._here.steps}
        # Without what somebody else has added since.
        keys = {lineage: key for lineage, key in _keys(self._connection, ruleset_id).items() if lineage in known}
        for number, revision in enumerate(coming, start=self._here.number + 1):
            board_id = self._boards[revision.board][0]
            pieces = [self._pieces[digest] for digest in revision.pieces]
            if len({piece.identifier for piece in pieces}) < len(pieces) or any(
                (piece.dialect, piece.board_id) != (revision.dialect, board_id) for piece in pieces
            ):
                raise self._refuse(_named(revision), "its pieces are not of one document")
            found = declared.fault(
                self._connection, revision.dialect, revision.envelope, [piece.id for piece in pieces]
            )
            if found is not None:
                raise self._refuse(_named(revision), found)
            made = load.Made(
                revision.dialect,
                board_id,
                revision.envelope,
                revision.digest,
                revision.author,
                revision.message,
                revision.created_at,
                None if revision.merged is None else keys[revision.merged],
            )
            parent = None if revision.parent is None else keys[revision.parent]
            keys[revision.lineage] = self._append(ruleset_id, made, [piece.id for piece in pieces], number, parent)
        return keys

    def _append(self, ruleset_id: int, made: load.Made, pieces: Sequence[int], number: int, parent: int | None) -> int:
        key = load.append_after(
            self._database, self._connection, ruleset_id, made, pieces, number=number, parent=parent
        )
        if key is None:
            raise OvertakenError
        return key

    # --- uniting two histories ---

    def _unite(self, ruleset_id: int, keys: Mapping[str, int], number: int) -> str:
        """Give both histories one head; its lineage."""
        here, coming = self._here.head, self._relation.missing[-1]
        author, message = self._wishes.author, self._wishes.message
        if message is None:
            message = f"merge sha256:{coming.lineage[:_SHORT]} into sha256:{here.lineage[:_SHORT]}"
        digest = united(self._here, self._relation)
        if digest is not None:
            revision = catalog.read_revision(
                self._connection, keys[here.lineage if digest == here.digest else coming.lineage]
            )
            made, pieces = stored_documents.again(self._connection, revision, author, message)
        else:
            uniting = Uniting(self._connection, self._here, self._relation, self._wishes)
            document, self._merge = uniting.merged(keys)
            if self._merge.note is not None:
                message = noted(message, self._merge.note)
            change = load.Provenance(author, message)
            made, pieces = load.keep(self._database, self._connection, document, change)
        made = replace(made, merged=keys[coming.lineage])
        key = self._append(ruleset_id, made, pieces, number, keys[here.lineage])
        return str(self._connection.execute(select(t.revision.c.lineage).where(t.revision.c.id == key)).scalar_one())


def _keys(connection: Connection, ruleset_id: int | None) -> dict[str, int]:
    """The keys of a ruleset's revisions, by lineage."""
    query = select(t.revision.c.lineage, t.revision.c.id).where(t.revision.c.ruleset_id == ruleset_id)
    return {row.lineage: row.id for row in connection.execute(query)}


def _named(revision: SentRevision) -> str:
    return f"revision sha256:{revision.lineage}"


def _new_records(
    connection: Connection, source: RevisionSource, name: str, to: str, wishes: TransferWishes
) -> list[ReviewRecord]:
    """What was said in reviews, and nobody knows here."""
    found = source.reviews(name) if wishes.reviews else ()
    for each in found:
        if (fault := each.fault()) is not None:
            raise StoreError(f"{printable(wishes.source)}: a review of {name}: {fault}; nothing of it was stored")
    known = records.known(connection, to) if found else set()
    return [each for each in found if each.key not in known]


def _take_reviews(
    database: Database, connection: Connection, source: RevisionSource, done: Transferred, wishes: TransferWishes
) -> Transferred:
    """Keep what was said in reviews, if this user may; nothing of it counts here."""
    fresh = _new_records(connection, source, done.name, done.to, wishes)
    if fresh and not database.may_insert(connection, t.review_record):
        left = f"{done.to}: its reviews were left out: to keep them takes {AUTHOR} (`ggn-store db roles init`)"
        return replace(done, note="; ".join(each for each in (done.note, left) if each is not None))
    if fresh:
        records.add(database, connection, load.store_ruleset(database, connection, done.to), fresh)
    return replace(done, reviews=len(fresh))


def _take_tags(
    database: Database, connection: Connection, here: Here, source: RevisionSource, name: str
) -> tuple[str, ...]:
    """Let the tags point where those of the source do; the names of those that moved."""
    current = {tag.name: tag for tag in tags.newest(connection, here.name)}
    keys = _keys(connection, here.ruleset_id)
    moved = []
    for tag in source.tags(name):
        row = current.get(check_tag(tag.name))
        if (row is not None and row.lineage == tag.lineage) or tag.lineage not in keys:
            continue
        said = {"ruleset_id": here.ruleset_id, "name": tag.name, "number": 1 if row is None else row.number + 1}
        said |= {"revision_id": keys[tag.lineage], "author": tag.author, "message": tag.message}
        rights.require(database, connection, here.name, "taggers", tag.author)
        if not tags.add(database, connection, said | {"created_at": tag.created_at}):
            raise OvertakenError
        moved.append(tag.name)
    return tuple(moved)
