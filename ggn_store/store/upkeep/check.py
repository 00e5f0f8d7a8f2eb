"""Does the store still hold what was put into it? Every digest is derived again from the rows.

Nothing that is looked at ever changes, so it is looked at in many short transactions: nobody who writes to a SQLite
file waits for the end of it all. What is removed or comes meanwhile is not taken for damage.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Final, cast

from sqlalchemy import Connection, Integer, Select, Table, func, literal, select, tuple_, union
from sqlalchemy.exc import NoResultFound

from ggn_store.errors import DamagedError, GgnStoreError, UnknownNameError, quote
from ggn_store.model.documents import layout as layouts
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Dialect, Piece, revision_digest
from ggn_store.model.documents.layout import Layout
from ggn_store.model.teams.care import Verification
from ggn_store.model.teams.revision import check_tag, lineage
from ggn_store.movement import facts
from ggn_store.store.database.engine import Database, Opening
from ggn_store.store.history import renames
from ggn_store.store.review import policies, proposals, records
from ggn_store.store.rulesets import catalog, damaged, declared, lanes, load, piece_names, summaries
from ggn_store.store.rulesets.damaged import Result
from ggn_store.store.rulesets.pieces import Reader, as_stored, reader_of, rows_of
from ggn_store.store.schema import tables as t
from ggn_store.store.server import guards
from ggn_store.store.upkeep import rebuild
from ggn_store.store.upkeep.memory import Memory

# How long a transaction goes on to the next piece or revision; one of them is always looked at.
_SECONDS: Final = 0.2
_ROWS_AT_ONCE: Final = 200


def verify(
    database: Database,
    opening: Opening,
    memory: Memory,
    names: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Verification:
    """Check all that the rulesets of these names need, or the whole store, in transactions that `opening` begins.

    That are contents, guards and audit. Of pieces that the memory knows nothing is derived again; where it knows all,
    their tables are left out of what the engine itself looks at. Raises UnknownNameError for a name that the store does
    not have.
    """
    walk = _Walk(memory, database, opening, names, progress or (lambda _: None))
    with opening() as connection:
        known = set(connection.execute(select(t.ruleset.c.name).where(t.ruleset.c.name.in_(names))).scalars())
        for name in names:
            if name not in known:
                raise UnknownNameError(f"the store has no ruleset {quote(name)}: see `ggn-store list`")
        found = guards.check(database, connection)
    fault = None
    contents: list[str] = []
    try:
        contents = walk.contents() + walk.audit()
    except DamagedError as error:  # of a value that nothing more can be looked at with
        fault = error.fault
    of_pieces = [table.name for table in (*t.PIECE_TABLES, t.lane)]  # whose values are looked at one by one
    if not names:
        with opening() as connection:
            found = database.integrity(connection, of_pieces if memory.knows_all and fault is None else ()) + found
    found += database.misfits(() if walk.has_unsound or fault is not None else of_pieces) + contents
    if fault is not None and not fault.endswith(tuple(found)):
        found.append(fault)
    return Verification(walk.pieces, walk.revisions, walk.tags, tuple(found))


class _Walk:
    """One way through a store; it counts what it meets."""

    def __init__(
        self,
        memory: Memory,
        database: Database,
        opening: Opening,
        names: Sequence[str],
        progress: Callable[[str], None],
    ) -> None:
        self._memory = memory
        self._database = database
        self._opening = opening
        self._names = names
        self._progress = progress
        self._boards: dict[int, Board] = {}
        self._reader: Reader | None = None
        self._encoders = lru_cache(1)(lanes.Encoder)
        self._derivers = lru_cache(1)(facts.Deriver)
        self._met: list[tuple[int, str]] = []
        self._moved: dict[str, str] = {}
        self.has_unsound = False
        self.pieces = self.revisions = self.tags = 0

    def contents(self) -> list[str]:
        """What is wrong with boards, pieces, revisions, histories, tags, states and rulesets."""
        found = [*self._check_boards(), *self._check_pieces(), *self._check_revisions()]
        with self._opening() as connection:
            found += [*self._check_moves(connection), *self._check_rulesets(connection)]
            found += [*self._check_policies(connection), *self._check_records(connection)]
            found += [] if self._names else self._check_lanes(connection)
        return found + self._check_proposals()

    def _attempt(self, work: Callable[[], Result]) -> Result | None:
        """The result of `work`; None where the rows are not what it expects, whatever way they are not."""
        errors = (AttributeError, GgnStoreError, LookupError, NoResultFound, TypeError, ValueError)
        return damaged.attempt(work, errors)

    def _each(
        self, table: Table, query: Select[Any], look: Callable[[Connection, Any], Iterable[str]], *key: Any
    ) -> list[str]:
        """What `look` finds wrong with the rows of `query`, one for each of `table`, in the order of their key.

        What comes after this has begun is left out: where others write, it might never come to an end.
        """
        with self._opening() as connection:
            newest = connection.execute(select(func.max(table.c.id))).scalar() or 0
        query = query.where(table.c.id <= newest)
        found: list[str] = []
        last: tuple[Any, ...] | None = None
        while True:
            with self._opening() as connection:
                rest = query if last is None else query.where(tuple_(*key) > tuple_(*last))
                rows = damaged.rows(connection, rest.order_by(*key).limit(_ROWS_AT_ONCE), *key)
                end = time.monotonic() + _SECONDS
                for values, row in rows.items():
                    if row is None:
                        found.append(f"table {table.description}: its row {', '.join(map(str, values))} cannot be read")
                    else:
                        found += look(connection, row)
                    last = values
                    if time.monotonic() > end:
                        break
            if not rows:
                return found

    def _named(self, query: Select[Any]) -> Select[Any]:
        """`query`, which the table `ruleset` is part of, for the rulesets that were named."""
        return query.where(t.ruleset.c.name.in_(self._names)) if self._names else query

    def _own_revisions(self) -> Select[Any]:
        return self._named(select(t.revision.c.id).join(t.ruleset))

    def _check_boards(self) -> list[str]:
        query = select(t.board.c.id, t.board.c.digest)
        if self._names:
            of_pieces = select(t.piece.c.board_id).where(t.piece.c.id.in_(self._own_pieces()))
            of_revisions = select(t.revision.c.board_id).where(t.revision.c.id.in_(self._own_revisions()))
            query = query.where(t.board.c.id.in_(of_pieces) | t.board.c.id.in_(of_revisions))
        return self._each(t.board, query, self._check_board, t.board.c.id)

    def _check_board(self, connection: Connection, row: Any) -> Iterator[str]:
        def is_sound() -> bool:
            board = self._board(connection, row.id)
            numbers = select(t.square.c.number).where(t.square.c.board_id == row.id).order_by(t.square.c.number)
            is_dense = list(connection.execute(numbers).scalars()) == list(range(len(board.squares)))
            return is_dense and board.digest == row.digest

        if not self._attempt(is_sound):
            yield f"board {row.id}: its squares and shape do not give its digest {row.digest}"
        elif not self._attempt(lambda: self._has_its_points(connection, row.id)):
            yield f"board {row.id}: file, rank and layer of its squares are not those of their labels"

    def _has_its_points(self, connection: Connection, board_id: int) -> bool:
        columns = t.square.c.file, t.square.c.rank, t.square.c.layer
        query = select(*columns).where(t.square.c.board_id == board_id).order_by(t.square.c.number)
        return [tuple(row) for row in connection.execute(query)] == load.points(self._board(connection, board_id))

    def _board(self, connection: Connection, board_id: int) -> Board:
        """A board; raises LookupError where there is none."""
        if board_id not in self._boards:
            if connection.execute(select(t.board.c.id).where(t.board.c.id == board_id)).first() is None:
                raise LookupError(f"no board {board_id}")
            self._boards[board_id] = catalog.read_board(connection, board_id)
        return self._boards[board_id]

    def _own_pieces(self) -> Select[Any]:
        return select(t.revision_piece.c.piece_id).where(t.revision_piece.c.revision_id.in_(self._own_revisions()))

    def _check_pieces(self) -> list[str]:
        query = select(t.piece)
        if self._names:
            query = query.where(t.piece.c.id.in_(self._own_pieces()))
        return self._each(t.piece, query, self._check_piece, t.piece.c.id)

    def _check_piece(self, connection: Connection, row: Any) -> Iterator[str]:
        self.pieces += 1
        self._progress(f"piece {row.identifier}")
        if self._memory.knows(connection, row.id):
            return
        fault = self._fault_of_piece(connection, row)
        if fault is None:
            self._memory.note(connection, row.id)
        else:
            self.has_unsound = True
            yield f"piece {row.id} ({row.identifier}): {fault}"

    def _fault_of_piece(self, connection: Connection, row: Any) -> str | None:
        piece = self._attempt(lambda: self._read(connection, row))
        if piece is None:
            return f"its rows do not give its digest {row.digest}"

        def is_derived() -> bool:
            stored = connection.execute(select(t.lane).where(lanes.is_of(row.id)).order_by(t.lane.c.key))
            derived = sorted(self._encoders(self._board(connection, row.board_id)).rows_of(row.id, piece))
            return row.lanes == lanes.VERSION and [tuple(each) for each in stored] == derived

        def is_told() -> bool:
            query = select(*as_stored(t.piece_facts)).where(t.piece_facts.c.piece_id == row.id)
            stored = connection.execute(query).one()
            layout = Layout(stored.layout, stored.named is not None)
            derived = self._derivers(self._board(connection, row.board_id), layout).of(piece)
            return tuple(stored) == (row.id, *derived.row())

        def is_counted() -> bool:
            stored = connection.execute(select(t.piece_summary).where(t.piece_summary.c.piece_id == row.id)).one()
            return stored == connection.execute(summaries.DERIVED.where(t.piece.c.id == row.id)).one()

        if not self._attempt(is_derived):
            return "its lanes are not those of its rows: run `ggn-store db rebuild`"
        if not self._attempt(is_told):
            return "its facts are not those of its rows: run `ggn-store db rebuild`"
        if not self._attempt(is_counted):
            return "its summary is not the one of its rows: run `ggn-store db rebuild`"
        return None

    def _check_lanes(self, connection: Connection) -> Iterator[str]:
        """No lane is of a piece that is not there: the next piece of this key would have it."""
        bits = literal(lanes.OF_PIECE, Integer)
        # The first of all lanes, and of each piece the first of those behind it: an index finds each at once.
        first = select(func.min(t.lane.c.key))
        behind = first.where(t.lane.c.key >= (t.piece.c.id + 1).bitwise_lshift(bits)).correlate(t.piece)
        keys = union(first, select(behind.scalar_subquery()).select_from(t.piece)).subquery().c[0]
        known = select(t.piece.c.id).where(t.piece.c.id == keys.bitwise_rshift(bits))
        for key in connection.execute(select(keys).where(keys.is_not(None), ~known.exists())).scalars():
            yield f"table lane: its row {key} is of no piece: run `ggn-store db rebuild`"

    def _read(self, connection: Connection, row: Any) -> Piece | None:
        """A piece, where its rows are those that were loaded; the digest says so."""
        board = self._board(connection, row.board_id)
        reader = self._reader = reader_of(self._reader, row.dialect, board, is_strict=True)
        piece = reader.piece(rows_of(connection, [row.id]), row.id, row.identifier)
        named = load.identified(row.identifier)
        is_sound = (
            reader.digests.of(piece) == row.digest
            and _has_turns_of(row.dialect, piece)
            and {name: row._mapping[name] for name in named} == named
        )
        return piece if is_sound else None

    def _check_revisions(self) -> list[str]:
        columns = [column for column in t.revision.columns if column.name != "created_at"]
        query = self._named(
            select(*columns, t.ruleset.c.name, t.revision_merge.c.parent_id.label("merged_id"))
            .join(t.ruleset)
            .outerjoin(t.revision_merge, t.revision_merge.c.revision_id == t.revision.c.id)
        )
        ruleset_id = None
        lineages: dict[int | None, str | None] = {}
        expected = 1

        def look(connection: Connection, row: Any) -> Iterator[str]:
            nonlocal ruleset_id, lineages, expected
            if row.ruleset_id != ruleset_id:
                ruleset_id, lineages, expected = row.ruleset_id, {None: None}, 1
            yield from self._check_revision(connection, row, lineages, expected)
            lineages[row.id] = row.lineage
            expected = row.number + 1

        return self._each(t.revision, query, look, t.revision.c.ruleset_id, t.revision.c.number)

    def _check_revision(
        self, connection: Connection, row: Any, lineages: Mapping[int | None, str | None], expected: int
    ) -> Iterator[str]:
        """A revision's digest, number, parents and lineage, which says that nothing before it was changed."""
        label = f"revision {row.name}@{row.number}"
        self.revisions += 1
        self._met.append((row.id, label))
        self._progress(label)
        yield from self._check_content(connection, row, label)
        created_at = select(t.revision.c.created_at).where(t.revision.c.id == row.id)
        at = self._attempt(lambda: catalog.utc(connection.execute(created_at).scalar_one()))

        def derived() -> str:
            parents = lineages[row.parent_id], lineages[row.merged_id]
            return lineage(*parents, row.digest, row.author, row.message, cast(datetime, at))

        if at is None:
            yield f"{label}: when it was made cannot be read"
        if row.number != expected:
            yield f"{label}: the revisions of its ruleset are not numbered without gaps"
        if row.parent_id not in lineages or row.merged_id not in lineages:
            yield f"{label}: a parent of it is not an earlier revision of its ruleset"
        elif at is not None and self._attempt(derived) != row.lineage:
            yield f"{label}: its content, author, message, time and parents do not give its lineage"

    def _check_content(self, connection: Connection, row: Any, label: str) -> Iterator[str]:
        listed = connection.execute(
            select(t.revision_piece.c.ordinal, t.revision_piece.c.piece_id, t.piece.c.digest)
            .outerjoin(t.piece, t.piece.c.id == t.revision_piece.c.piece_id)
            .where(t.revision_piece.c.revision_id == row.id)
            .order_by(t.revision_piece.c.ordinal)
        ).all()

        def of_state() -> str | None:
            envelope = catalog.envelope_of(row.envelope)
            return declared.fault(connection, row.dialect, envelope, [each.piece_id for each in listed])

        if (fault := self._attempt(of_state)) is not None:
            yield f"{label}: {fault}"
        if not self._attempt(lambda: self._is_named(connection, row)):
            yield f"{label}: the names of its pieces are not those that it gives: run `ggn-store db rebuild`"
        for piece in self._attempt(lambda: self._misplaced(connection, row)) or ():
            yield (
                f"{label}: the facts of {piece} are of a board that lies as nothing says that lists it: "
                "run `ggn-store db rebuild`"
            )
        if [each.ordinal for each in listed] != list(range(len(listed))):
            yield f"{label}: its pieces are not numbered without gaps"
        if self._attempt(lambda: self._digest(connection, row, [each.digest for each in listed])) != row.digest:
            yield f"{label}: its pieces and envelope do not give its digest {row.digest}"

    def _is_named(self, connection: Connection, row: Any) -> bool:
        stored = connection.execute(select(t.piece_name).where(t.piece_name.c.revision_id == row.id)).all()
        derived = piece_names.rows(self._database, connection, row.id, catalog.envelope_of(row.envelope))
        return sorted(tuple(each) for each in stored) == derived

    def _misplaced(self, connection: Connection, row: Any) -> list[str]:
        """The pieces whose facts are of a board that lies otherwise than here, and in all else that lists them."""
        said = layouts.of(catalog.envelope_of(row.envelope))
        of_board = t.piece_facts.c.layout, t.piece_facts.c.named.is_not(None).label("has_holes")
        query = (
            select(t.piece.c.id, t.piece.c.identifier, *of_board)
            .select_from(t.PIECES_OF_REVISIONS.join(t.piece_facts, t.piece_facts.c.piece_id == t.piece.c.id))
            .where(t.revision_piece.c.revision_id == row.id)
        )
        lying = [(piece, Layout(piece.layout, bool(piece.has_holes))) for piece in connection.execute(query).all()]
        others = [(piece, layout) for piece, layout in lying if layout != said]
        return [piece.identifier for piece, layout in others if layout not in rebuild.layouts_of(connection, piece.id)]

    def _digest(self, connection: Connection, row: Any, pieces: Sequence[str]) -> str:
        """The digest of what a revision or proposal says; raises whatever its rows make go wrong."""
        board = self._board(connection, row.board_id)
        return revision_digest(row.dialect, board, catalog.envelope_of(row.envelope), pieces)

    def _check_moves(self, connection: Connection) -> Iterator[str]:
        """Every tag, and every ruleset's states and renames: nothing is missing among their moves."""
        tag, owner = t.tag.c, t.revision.c.ruleset_id.label("owner")
        moves = (
            self._named(select(t.ruleset.c.name, tag.name, tag.ruleset_id, tag.number, tag.revision_id, owner))
            .select_from(t.tag.join(t.ruleset).outerjoin(t.revision, t.revision.c.id == tag.revision_id))
            .order_by(tag.ruleset_id, tag.name, tag.number)
        )
        count = Counter[tuple[str, str]]()

        def gaps(label: str, number: int, what: str) -> Iterator[str]:
            count[label, what] += 1
            if number != count[label, what]:
                yield f"{label}: its {what} are not numbered without gaps"
                count[label, what] = number

        for row in connection.execute(moves).all():
            label = f"tag {row.name}:{row.name_1}"
            yield from gaps(label, row.number, "moves")
            if not self._attempt(lambda row=row: check_tag(row.name_1)):  # type: ignore[misc]
                yield f"{label}: its name is not one of a tag"
            if row.revision_id is not None and row.owner != row.ruleset_id:
                yield f"{label}: it points to a revision of another ruleset"
        self.tags = len(count)
        states = (
            self._named(select(t.ruleset.c.name, t.ruleset_state.c.number))
            .select_from(t.ruleset_state.join(t.ruleset))
            .order_by(t.ruleset.c.name, t.ruleset_state.c.number)
        )
        for row in connection.execute(states).all():
            yield from gaps(f"ruleset {row.name}", row.number, "states")
        rename = t.ruleset_rename.c
        named = (
            self._named(select(t.ruleset.c.name, rename.number, rename.old_name, rename.new_name))
            .select_from(t.ruleset_rename.join(t.ruleset))
            .order_by(t.ruleset.c.name, rename.number)
        )
        before = connection.execute(named).all()
        for row, following in zip_longest(before, before[1:]):
            yield from gaps(f"ruleset {row.name}", row.number, "renames")
            is_last = following is None or following.name != row.name
            if row.new_name != (row.name if is_last else following.old_name):
                yield f"ruleset {row.name}: its rename {row.number} does not give it the name that it had then"
        for table in (t.tag, t.ruleset_state, t.ruleset_rename):
            yield from self._check_times(connection, table)

    def _check_times(self, connection: Connection, table: Table) -> Iterator[str]:
        """Of each move of a tag and each change of a state, when and by whom."""
        rulesets = connection.execute(self._named(select(t.ruleset.c.id, t.ruleset.c.name)))
        names_of = {row.id: row.name for row in rulesets}
        key = tuple(table.primary_key.columns)
        said = (table.c.created_at, table.c.author, table.c.message)
        query = self._named(select(*key, *said).select_from(table.join(t.ruleset)))
        for (ruleset_id, *names, number), row in damaged.rows(connection, query, *key).items():
            fault = "it cannot be read" if row is None else damaged.fault_of_time(row.created_at)
            if fault is not None:
                label = ":".join([names_of[ruleset_id], *names])
                yield f"{table.description} {label}: of its change {number}, {fault}"

    def _check_rulesets(self, connection: Connection) -> list[str]:
        revisions = select(t.revision.c.id).where(t.revision.c.ruleset_id == t.ruleset.c.id)
        proposals = select(t.proposal.c.id).where(t.proposal.c.ruleset_id == t.ruleset.c.id)
        is_empty = ~revisions.exists() & ~proposals.exists()
        empty = self._named(select(t.ruleset.c.name).where(is_empty).order_by(t.ruleset.c.name))
        names = connection.execute(empty).scalars()
        return [f"ruleset {name}: it has no revision: `ggn-store gc` removes it" for name in names]

    def _check_policies(self, connection: Connection) -> Iterator[str]:
        if self._names:
            return
        numbers: dict[str, list[object]] = defaultdict(list)
        found = policies.log(connection)
        for policy in found:
            numbers[policy.namespace].append(policy.number)
        last = {namespace: damaged.last(given) for namespace, given in numbers.items()}
        for policy in reversed(found):
            label = f"policy {policy.number} of {policy.namespace}"
            if policy.fault is not None:
                yield f"{label}: {policy.fault}"
            if not damaged.is_up_to(policy.number, last[policy.namespace]):
                yield f"{label}: its number does not follow those of the others, so that it never counts"

    def _check_proposals(self) -> list[str]:
        columns = (t.proposal.c.id, t.proposal.c.number, t.proposal.c.round, t.ruleset.c.name)
        places = self._named(select(*columns).join(t.ruleset))
        return self._each(t.proposal, places, self._check_proposal, t.proposal.c.id)

    def _check_proposal(self, connection: Connection, row: Any) -> Iterator[str]:
        label = f"proposal {row.name}#{row.number}" + (f".{row.round}" if row.round != 1 else "")
        fault = proposals.fault(connection, row.id)
        if fault is not None:
            yield f"{label}: {fault}"
        listed = (
            select(t.piece.c.digest)
            .select_from(t.proposal_piece.outerjoin(t.piece, t.piece.c.id == t.proposal_piece.c.piece_id))
            .where(t.proposal_piece.c.proposal_id == row.id)
            .order_by(t.proposal_piece.c.ordinal)
        )
        pieces = connection.execute(listed).scalars().all()
        said = select(t.proposal.c.digest, t.proposal.c.dialect, t.proposal.c.board_id, t.proposal.c.envelope)
        stored = self._attempt(lambda: connection.execute(said.where(t.proposal.c.id == row.id)).one())
        digest = None if stored is None else stored.digest
        if digest is None or self._attempt(lambda: self._digest(connection, stored, pieces)) != digest:
            yield f"{label}: its pieces and envelope do not give its digest {digest}"

    def _check_records(self, connection: Connection) -> Iterator[str]:
        """What was said in reviews elsewhere gives its keys."""
        query = self._named(select(t.review_record, t.ruleset.c.name).join(t.ruleset))
        for (_, key), row in damaged.rows(connection, query, *t.review_record.primary_key.columns).items():
            if (fault := records.fault(row)) is not None:
                yield f"review record {key}: {fault}"

    # --- the audit ---

    def audit(self) -> list[str]:
        """Where the audit and what it tells of do not agree."""
        with self._opening() as connection:
            self._moved = renames.moved(connection)
        found = [*self._check_told()]
        with self._opening() as connection:
            self._moved = renames.moved(connection)  # of the same moment as what is counted
            return [*found, *self._check_told_moves(connection)]

    def _check_told(self) -> list[str]:
        """Every revision that the audit tells of is there as it tells of it, and of every revision it tells.

        But for those that were there before there was an audit, which have the lowest keys.
        """
        told = select(t.audit.c.id, t.audit.c.action, t.audit.c.subject, t.audit.c.detail)
        if self._names:
            told = told.where(t.audit.c.subject.in_(renames.every_name(self._names, self._moved)))
        known = set()
        expected = 1

        def look(connection: Connection, row: Any) -> Iterator[str]:
            nonlocal expected
            # Where one writes at a time there are no gaps.
            if not self._names and not self._database.is_server and row.id != expected:
                yield f"table audit: {row.id - expected} of its rows before {row.id} are missing"
            expected = row.id + 1
            if row.action == "revision":
                label, found = self._check_telling(connection, row)
                known.add(label)
                yield from found

        found = self._each(t.audit, told, look, t.audit.c.id)
        audited = [revision_id for revision_id, label in self._met if label in known]
        return found + [
            f"{label}: the audit does not record it"
            for revision_id, label in self._met
            if audited and revision_id > min(audited) and label not in known
        ]

    def _check_telling(self, connection: Connection, row: Any) -> tuple[str, list[str]]:
        """Which revision a row of the audit tells of, and what is wrong with that."""
        detail = self._detail(row)
        if not isinstance(detail.get("revision"), int):
            return "", [f"table audit: the revision in row {row.id} cannot be read"]
        subject = self._moved.get(row.subject, row.subject)
        query = (
            select(t.revision.c.lineage)
            .join(t.ruleset)
            .where(t.ruleset.c.name == subject, t.revision.c.number == detail["revision"])
        )
        found = connection.execute(query).scalar()
        label = f"revision {subject}@{detail['revision']}"
        if found is None:
            return label, [f"{label}: it is not there, and the audit records that it was made"]
        if found != detail.get("lineage"):
            return label, [f"{label}: the audit records that it had the lineage {detail.get('lineage')}"]
        return label, []

    def _detail(self, row: Any) -> dict[str, Any]:
        """What a row of the audit tells; nothing where it cannot be read."""
        return self._attempt(lambda: dict(json.loads(row.detail))) or {}

    def _check_told_moves(self, connection: Connection) -> Iterator[str]:
        """Of what is only ever added to, the audit tells as many as there are."""
        audit, of, ruleset = t.audit.c, t.proposal.c, t.ruleset.c
        made = Counter[tuple[str, str]]()
        queries = {
            "moves": select(ruleset.name, t.tag.c.name).select_from(t.tag.join(t.ruleset)),
            "changes of state": select(ruleset.name).select_from(t.ruleset_state.join(t.ruleset)),
            "renames": select(ruleset.name).select_from(t.ruleset_rename.join(t.ruleset)),
            "records": select(ruleset.name).select_from(t.review_record.join(t.ruleset)),
            "rounds": select(ruleset.name, of.number).select_from(t.proposal.join(t.ruleset)),
            "verdicts": select(ruleset.name, of.number).select_from(t.verdict.join(t.proposal).join(t.ruleset)),
        }
        for what, query in queries.items():
            label, *_ = _KINDS[what]
            made.update((label.format(*row), what) for row in connection.execute(self._named(query)))
        told = select(audit.id, audit.action, audit.subject, audit.detail).where(audit.action.in_(_TOLD))
        if self._names:
            told = told.where(audit.subject.in_(renames.every_name(self._names, self._moved)), audit.action != "policy")
        else:
            made.update((f"namespace {each.namespace}", "policies") for each in policies.log(connection))
        known = Counter[tuple[str, str]]()
        for row in damaged.rows(connection, told, audit.id).values():
            if row is None:  # which is reported already
                continue
            label, key, *_ = _KINDS[_TOLD[row.action]]
            subject = row.subject if row.action == "policy" else self._moved.get(row.subject, row.subject)
            known[label.format(subject, self._detail(row).get(key)), _TOLD[row.action]] += 1
        for each in sorted(made | known):
            if made[each] != known[each]:
                yield f"{each[0]}: it has {made[each]} {each[1]}, and the audit records {known[each]}"


# What is only ever added to: of what, by which key of the audit's details, and by which actions.
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "moves": ("tag {}:{}", "tag", "tag"),
    "changes of state": ("ruleset {}", "", "state"),
    "renames": ("ruleset {}", "", "rename"),
    "records": ("reviews of {}", "", "record"),
    "rounds": ("proposal {}#{}", "proposal", "propose", "amend"),
    "verdicts": ("proposal {}#{}", "proposal", "approve", "reject", "withdraw", "merge", "comment"),
    "policies": ("namespace {}", "", "policy"),
}
_TOLD: Final = {action: what for what, (_, _, *actions) in _KINDS.items() for action in actions}


def _has_turns_of(dialect: Dialect, piece: Piece) -> bool:
    """Whether the turn passes where a dialect cannot say that it does not."""
    return dialect != "perform" or all(
        possibility.effects is not None and possibility.effects.toggle for *_, possibility in piece.entries()
    )
