"""The rows of the views, all of them: as columns, some at a time, in an order that both databases agree on.

A view of rules is read some pieces at a time: what is in memory does not grow with the store, and nothing has to be
sorted but the rows of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Connection,
    DateTime,
    Integer,
    TableClause,
    Text,
    bindparam,
    column,
    func,
    select,
    table,
)
from sqlalchemy.types import TypeEngine

from ggn_store.errors import UnknownNameError, offer, quote
from ggn_store.model.teams.revision import Reference, is_proposal
from ggn_store.store.bulk.piece_columns import Column
from ggn_store.store.bulk.pieces import Pieces, grouped
from ggn_store.store.rulesets import catalog, stored_documents
from ggn_store.store.schema import tables as t
from ggn_store.store.schema.views import VIEWS, View

BATCH: Final = 20_000

_TYPES: Final[dict[str, type[TypeEngine[Any]]]] = {
    "text": Text,
    "integer": Integer,
    "boolean": Boolean,
    "time": DateTime,
}
# The order of the rows of a revision; of texts, it is the bytes that count.
_ORDER: Final = {
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
class WantedRevision:
    """A revision whose rows are wanted; of `v_history`, those of its whole ruleset are."""

    ruleset: str
    revision: int
    digest: str


def _quiet(_: WantedRevision) -> None:
    pass


def find_view(name: str) -> tuple[View, bool]:
    """The view of this name, and whether it shows every revision; raises UnknownNameError."""
    for view in VIEWS:
        if name in (view.name, view.every):
            return view, name == view.every
    names = [each for view in VIEWS for each in (view.name, view.every) if each is not None]
    raise UnknownNameError(f"there is no view {quote(name)}; there are {offer(names)}")


def choose(connection: Connection, references: Iterable[str] | None, every: bool) -> list[WantedRevision]:
    """The revisions that are meant, by name and number: of all rulesets for None, the newest ones unless `every`.

    `chess@2` means that revision, and `chess` what `every` says. Raises UnknownNameError.
    """
    names: list[str] = []
    found: set[WantedRevision] = set()
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
        found |= {WantedRevision(name, number, digest) for number, digest in connection.execute(query)}
    return sorted(found, key=lambda each: (each.ruleset.encode(), each.revision))


def require_sound(connection: Connection, wanted: Iterable[WantedRevision]) -> None:
    """Raise StoreError where revisions are not what was stored; their pieces are looked at as they are read."""
    for each in wanted:
        revision = catalog.find(connection, Reference(each.ruleset, each.revision))
        stored_documents.require_sound(connection, stored_documents.of_revision(connection, revision))


def _wanted(revision: Any) -> WantedRevision:
    return WantedRevision(revision.name, revision.number, revision.digest)


def of_revisions(
    connection: Connection,
    view: View,
    wanted: Sequence[WantedRevision],
    tell: Callable[[WantedRevision], None] = _quiet,
    size: int = BATCH,
) -> Iterator[list[Column]]:
    """The columns of a view that has no rows of pieces for these revisions, up to `size` rows at a time.

    Truth values are bools, times are of UTC and know it. `tell` gets each revision before it is read.
    """
    columns = _table(view).c
    query = select(*(columns[name] for name in view.names)).where(columns.ruleset == bindparam("ruleset"))
    if view.every is None:
        wanted = list({each.ruleset: each for each in wanted}.values())
    else:
        query = query.where(columns.revision == bindparam("revision"))
    query = query.order_by(*(columns[name] for name in _ORDER[view.name])).execution_options(yield_per=size)
    times = [at for at, each in enumerate(view.columns) if each.type == "time"]
    for each in wanted:
        tell(each)
        result = connection.execute(query, {"ruleset": each.ruleset, "revision": each.revision})
        for rows in result.partitions(size):
            found: list[Sequence[Any]] = list(zip(*rows, strict=True))
            for at in times:
                found[at] = [value and catalog.utc(value) for value in found[at]]
            yield [Column(values) for values in found]


def of_pieces(
    pieces: Pieces,
    views: Sequence[View],
    wanted: Sequence[WantedRevision],
    tell: Callable[[WantedRevision], None] = _quiet,
    size: int = BATCH,
    *,
    once: bool = False,
    is_checked: bool = False,
) -> Iterator[tuple[View, list[Column]]]:
    """The same of views that have, in the order of documents.

    With `once`, columns are those of `View.of_pieces`: a piece has rows where it is listed first. Raises DamagedError
    where a piece is not what was stored; all is looked at where it `is_checked`.
    """
    known: set[int] = set()

    def listed(each: WantedRevision) -> Iterator[Any]:
        tell(each)
        for key in pieces.listed(each.ruleset, each.revision):
            if not once or key.id not in known:
                yield key
            known.add(key.id)

    if once:
        for group in grouped(chain.from_iterable(map(listed, wanted))):
            yield from of_group(pieces, views, group, None, size, is_checked=is_checked)
        return
    for each in wanted:
        before = {*known}
        for group in grouped(listed(each)):
            is_new = not before.issuperset(key.id for key in group)
            yield from of_group(
                pieces, views, group, (each.ruleset, each.revision), size, is_checked=is_checked and is_new
            )


def of_group(
    pieces: Pieces,
    views: Sequence[View],
    group: Sequence[Any],
    begins: tuple[str, int] | None = None,
    size: int = BATCH,
    *,
    is_checked: bool = False,
) -> Iterator[tuple[View, list[Column]]]:
    """The same of a group of pieces, with ruleset and revision; without these, of `View.of_pieces`."""
    found = pieces.read(group, [view.name for view in views], is_checked=is_checked)
    for view, columns in zip(views, found, strict=True):
        if begins is not None:
            columns |= {
                name: pieces.constant(value, columns["piece"]) for name, value in zip(view.names, begins, strict=False)
            }
        shown = [columns[name] for name in view.names[2 if begins is None else 0 :]]
        for first in range(0, len(shown[0]), size):
            yield (view if begins else view.of_pieces or view), [column.cut(first, first + size) for column in shown]


def digests(connection: Connection) -> dict[int, str]:
    """The digests of all pieces that a revision of a ruleset lists which is not deleted, by their keys.

    Each with how its board lies, if that is told: moves go by it.
    """
    listed = t.PIECES_OF_REVISIONS.join(t.revision, t.revision.c.id == t.revision_piece.c.revision_id).join(t.ruleset)
    lying = func.coalesce(t.piece_facts.c.layout, "")
    query = select(t.piece.c.id, (t.piece.c.digest + lying).label("digest")).where(t.ruleset.c.deleted_at.is_(None))
    query = query.select_from(listed.outerjoin(t.piece_facts, t.piece_facts.c.piece_id == t.piece.c.id))
    return {row.id: row.digest for row in connection.execute(query.distinct())}


def _table(view: View) -> TableClause:
    """The view of every revision: which one is meant is said by its number."""
    columns = (column(each.name, _TYPES[each.type]) for each in view.columns)
    return table(view.every or view.name, *columns)
