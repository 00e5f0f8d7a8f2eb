"""The rows of the views, all of them: one after the other, in an order that both databases agree on.

A view is asked piece by piece: what is in memory at a time does not grow with the store, and nothing has to be sorted
but the rows of one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Connection,
    DateTime,
    Integer,
    Select,
    TableClause,
    Text,
    bindparam,
    column,
    select,
    table,
)
from sqlalchemy.types import TypeEngine

from ggn_store.errors import UnknownNameError, offer, quote
from ggn_store.model.proposal import is_proposal
from ggn_store.model.revision import Reference
from ggn_store.store.rulesets import catalog, stored_documents
from ggn_store.store.schema import tables as t
from ggn_store.store.schema.views import VIEWS, View

Row = tuple[Any, ...]

BATCH: Final = 20_000

_TYPES: Final[dict[str, type[TypeEngine[Any]]]] = {
    "text": Text,
    "integer": Integer,
    "boolean": Boolean,
    "time": DateTime,
}
# The order of the rows of a piece, of a revision, of a ruleset; - is the other way round. Of texts, it is the bytes
# that count.
_OF_PIECE: Final = {
    "v_moves": ("possibility",),
    "v_conditions": ("possibility", "-polarity", "square", "state"),
    "v_effects": ("possibility", "-kind", "square", "held"),
    "v_guards": ("possibility", "variable", "value"),
    "v_state_effects": ("possibility", "variable", "value"),
}
_OTHERS: Final = {
    "v_rulesets": (),
    "v_pieces": ("ordinal",),
    "v_squares": ("number",),
    "v_duties": ("duty", "piece"),
    "v_reverts": ("marked",),
    "v_crossings": ("piece", "source", "destination", "ordinal"),
    "v_outcomes": ("ordinal",),
    "v_concepts": (),
    "v_history": ("revision",),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A revision whose rows are wanted; of `v_history`, those of its whole ruleset are."""

    ruleset: str
    revision: int
    digest: str


def find_view(name: str) -> tuple[View, bool]:
    """The view of this name, and whether it shows every revision; raises UnknownNameError."""
    for view in VIEWS:
        if name in (view.name, view.every):
            return view, name == view.every
    names = [each for view in VIEWS for each in (view.name, view.every) if each is not None]
    raise UnknownNameError(f"there is no view {quote(name)}; there are {offer(names)}")


def choose(connection: Connection, references: Iterable[str] | None, every: bool) -> list[Wanted]:
    """The revisions that are meant, by name and number: of all rulesets for None, the newest ones unless `every`.

    `chess@2` means that revision, and `chess` what `every` says. Raises UnknownNameError.
    """
    names: list[str] = []
    found: set[Wanted] = set()
    if references is None:
        if not every:
            return [_wanted(revision) for revision in catalog.newest(connection)]
        names = [revision.name for revision in catalog.newest(connection)]
    else:
        for reference in catalog.selected(connection, references):
            revision = catalog.find(connection, Reference(reference) if is_proposal(reference) else reference)
            if every and reference == revision.name:
                names.append(reference)
            else:
                found.add(_wanted(revision))
    for name in names:
        query = (
            select(t.revision.c.number, t.revision.c.digest)
            .join(t.ruleset, t.ruleset.c.id == t.revision.c.ruleset_id)
            .where(t.ruleset.c.name == name)
        )
        found |= {Wanted(name, number, digest) for number, digest in connection.execute(query)}
    return sorted(found, key=lambda each: (each.ruleset.encode(), each.revision))


def require_sound(connection: Connection, wanted: Iterable[Wanted]) -> None:
    """Raise StoreError where revisions, or pieces of them, are not what was stored."""
    known: set[int] = set()
    for each in wanted:
        revision = catalog.find(connection, Reference(each.ruleset, each.revision))
        content = stored_documents.of_revision(connection, revision)
        stored_documents.require_sound(connection, content)
        board = catalog.read_board(connection, content.board_id)
        for piece in content.pieces:
            if piece.id not in known:
                catalog.read_piece(connection, piece.id, board)
                known.add(piece.id)


def _wanted(revision: Any) -> Wanted:
    return Wanted(revision.name, revision.number, revision.digest)


def batches(
    connection: Connection,
    view: View,
    wanted: Sequence[Wanted],
    size: int = BATCH,
    tell: Callable[[Wanted], None] = lambda _: None,
    *,
    once: bool = False,
) -> Iterator[list[Row]]:
    """The rows of a view for these revisions, up to `size` at a time, in the order of documents.

    Truth values are bools, times are of UTC and know it. `tell` gets each revision before it is read. With `once`,
    rows are those of `view.of_pieces`: a piece has them where it is listed first.
    """
    pending: list[Row] = []
    for rows in _parts(connection, view, wanted, size, tell, once):
        pending += rows
        while len(pending) >= size:
            yield pending[:size]
            del pending[:size]
    if pending:
        yield pending


def _parts(
    connection: Connection,
    view: View,
    wanted: Sequence[Wanted],
    size: int,
    tell: Callable[[Wanted], None],
    once: bool,
) -> Iterator[list[Row]]:
    columns = _table(view).c
    of_piece = _OF_PIECE.get(view.name)
    shown = view.of_pieces if once and view.of_pieces is not None else view
    query = select(*(columns[name] for name in shown.names)).where(columns.ruleset == bindparam("ruleset"))
    if view.every is None:
        wanted = list({each.ruleset: each for each in wanted}.values())
    else:
        query = query.where(columns.revision == bindparam("revision"))
    if of_piece is not None:
        query = query.where(columns.piece_id == bindparam("piece_id"))
    for name in of_piece or _OTHERS[view.name]:
        query = query.order_by(columns[name[1:]].desc() if name.startswith("-") else columns[name])
    known: set[int] = set()
    for each in wanted:
        tell(each)
        values: dict[str, Any] = {"ruleset": each.ruleset, "revision": each.revision}
        if of_piece is None:
            yield from _read(connection, shown, query, size, values)
            continue
        for piece_id in connection.execute(_PIECES, values).scalars().all():
            if piece_id not in known:
                yield from _read(connection, shown, query, size, values | {"piece_id": piece_id})
            if once:
                known.add(piece_id)


_PIECES: Final = (
    select(t.revision_piece.c.piece_id)
    .select_from(
        t.revision_piece.join(t.revision, t.revision.c.id == t.revision_piece.c.revision_id).join(
            t.ruleset, t.ruleset.c.id == t.revision.c.ruleset_id
        )
    )
    .where(t.ruleset.c.name == bindparam("ruleset"), t.revision.c.number == bindparam("revision"))
    .order_by(t.revision_piece.c.ordinal)
)


def _table(view: View) -> TableClause:
    """The view of every revision: which one is meant is said by its number."""
    columns = (column(each.name, _TYPES[each.type]) for each in view.columns)
    return table(view.every or view.name, *columns)


def _read(
    connection: Connection, view: View, query: Select[Any], size: int, values: dict[str, Any]
) -> Iterator[list[Row]]:
    times = [at for at, each in enumerate(view.columns) if each.type == "time"]
    result = connection.execute(query.execution_options(yield_per=size), values)
    for rows in result.partitions(size):
        found = [tuple(row) for row in rows]
        for at in times:
            found = [(*row[:at], row[at] and catalog.utc(row[at]), *row[at + 1 :]) for row in found]
        yield found
