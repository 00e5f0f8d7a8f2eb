"""Histories of rulesets: which revisions came before which, and what each of them changed, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Column, Connection, Select, Table, and_, literal, select, union_all

from ggn_store.model.changes.changes import FIELDS
from ggn_store.model.teams.history import Changes, LogEntry, fields_of
from ggn_store.model.teams.revision import Revision
from ggn_store.model.teams.transfer import SentRename
from ggn_store.store.database.engine import Database, RowSelect
from ggn_store.store.history import renames
from ggn_store.store.history.tags import pointing
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t

# Of each parent of a revision, by piece: its key in the revision, and its key in the parent.
Steps = Mapping[tuple[int, int | None], Mapping[str, tuple[int | None, int | None]]]


def ancestry(connection: Connection, revision: Revision) -> dict[int, tuple[int, ...]]:
    """The numbers of a revision and of all before it, newest first, each with those of its parents."""
    query = (
        select(t.revision.c.number, catalog.PARENT.c.number, catalog.MERGED.c.number)
        .select_from(catalog.PARENTS)
        .where(t.revision.c.ruleset_id == _ruleset(revision), t.revision.c.number <= revision.number)
        .order_by(t.revision.c.number.desc())
    )
    meant = {revision.number}
    found: dict[int, tuple[int, ...]] = {}
    for number, *others in connection.execute(query):
        if number in meant:
            found[number] = tuple(other for other in others if other is not None)
            meant.update(found[number])
    return found


def revisions(connection: Connection, revision: Revision, first: int, last: int) -> dict[int, Revision]:
    """The revisions of the same ruleset from one number to another, by number."""
    query = catalog.REVISIONS.where(
        t.revision.c.ruleset_id == _ruleset(revision), t.revision.c.number.between(first, last)
    )
    return {row.number: catalog.revision_of(row) for row in connection.execute(query)}


def steps(connection: Connection, revision: Revision, first: int, last: int) -> Steps:
    """What pieces the revisions from one number to another changed against each of their parents.

    By the numbers of the revision and of its parent, which is None for one that has none. Of a piece that was added or
    removed, one of the keys is None.
    """
    is_asked = and_(t.revision.c.ruleset_id == _ruleset(revision), t.revision.c.number.between(first, last))
    edge = union_all(
        select(t.revision.c.id.label("child_id"), t.revision.c.number, t.revision.c.parent_id).where(is_asked),
        select(t.revision.c.id, t.revision.c.number, t.revision_merge.c.parent_id)
        .join(t.revision_merge, t.revision_merge.c.revision_id == t.revision.c.id)
        .where(is_asked),
    ).subquery("edge")

    def lacking(one: Any, other: Any, is_new: bool) -> Select[Any]:
        there = t.revision_piece.alias()
        return (
            select(
                edge.c.number,
                catalog.PARENT.c.number.label("parent"),
                t.piece.c.identifier,
                t.piece.c.id,
                literal(is_new).label("is_new"),
                t.revision_piece.c.ordinal,
            )
            .select_from(edge)
            .outerjoin(catalog.PARENT, catalog.PARENT.c.id == edge.c.parent_id)
            .join(t.revision_piece, t.revision_piece.c.revision_id == one)
            .join(t.piece, t.piece.c.id == t.revision_piece.c.piece_id)
            .where(
                ~select(there.c.piece_id)
                .where(there.c.revision_id == other, there.c.piece_id == t.revision_piece.c.piece_id)
                .exists()
            )
        )

    query = union_all(
        lacking(edge.c.child_id, edge.c.parent_id, True), lacking(edge.c.parent_id, edge.c.child_id, False)
    ).order_by("ordinal")
    found: dict[tuple[int, int | None], dict[str, tuple[int | None, int | None]]] = {}
    for number, parent, identifier, piece_id, is_new, _ in connection.execute(query):
        step = found.setdefault((number, parent), {})
        new, old = step.get(identifier, (None, None))
        step[identifier] = (piece_id, old) if is_new else (new, piece_id)
    return found


def tags(connection: Connection, revision: Revision) -> dict[int, tuple[str, ...]]:
    """The tags of a revision's ruleset by the number of the revision that each points to now."""
    found: dict[int, tuple[str, ...]] = {}
    for name, number in pointing(connection, revision.name).get(revision.name, {}).items():
        found[number] = (*found.get(number, ()), name)
    return found


def log(connection: Connection, reference: str, limit: int | None = None) -> Iterator[LogEntry]:
    """The revision that a reference names and those before it, newest first, no more than `limit`."""
    revision = catalog.find(connection, reference)
    parents = ancestry(connection, revision)
    shown = list(islice(parents, limit))
    if not shown:
        return
    found = revisions(connection, revision, min(shown + [each for n in shown for each in parents[n]]), shown[0])
    taken = steps(connection, revision, shown[-1], shown[0])
    tagged = tags(connection, revision)
    named = _renames(connection, revision, [found[number] for number in shown])
    proposed = _proposals(connection, revision)
    for number in shown:
        parent = parents[number][0] if parents[number] else None
        step = taken.get((number, parent), {})
        before = None if parent is None else found[parent]
        changed = _changes(found[number], before, step)
        yield LogEntry(found[number], tagged.get(number, ()), changed, proposed.get(number), named[number])


def newest_of(connection: Connection, references: Sequence[str], limit: int) -> list[str]:
    """Those of some references that the newest entries of all can be of, if these are no more than `limit`.

    Of rulesets that are named, those with the newest heads: each head comes before all else that its log has.
    """
    heads = select(t.ruleset.c.name, t.revision.c.created_at).join(t.revision).where(catalog.is_newest())
    times = {row.name: row.created_at for row in connection.execute(heads)}
    named = sorted((each for each in references if each in times), key=times.__getitem__, reverse=True)
    kept = {*named[:limit]}
    return [each for each in references if each in kept or each not in times]


def _proposals(connection: Connection, revision: Revision) -> dict[int, str]:
    """The proposals of a ruleset by the number of the revision that each was merged as."""
    query = (
        select(t.revision.c.number, t.proposal.c.number.label("proposal"))
        .select_from(t.proposal)
        .join(t.verdict, t.verdict.c.proposal_id == t.proposal.c.id)
        .join(t.revision, t.revision.c.id == t.verdict.c.revision_id)
        .where(t.proposal.c.ruleset_id == _ruleset(revision))
    )
    return {row.number: f"{revision.name}#{row.proposal}" for row in connection.execute(query)}


def _renames(
    connection: Connection, newest: Revision, shown: Sequence[Revision]
) -> Mapping[int, tuple[SentRename, ...]]:
    """The renames of a ruleset by the number of the revision that was its newest one then, of those `shown`."""
    said = renames.log(connection, newest.name)
    following = revisions(connection, newest, newest.number + 1, newest.number + 1) if said else {}
    times = [each.created_at for each in following.values()]
    found: dict[int, tuple[SentRename, ...]] = {each.number: () for each in shown}
    for each in said:
        before = [one.number for one in shown if one.created_at <= each.created_at or one.number == 1]
        if before and all(each.created_at < at for at in times):
            found[before[0]] += (each,)
    return found


def changes(revision: Revision, before: Revision | None, pieces: Mapping[str, str], old: Mapping[str, str]) -> Changes:
    """What one revision changes against another, by the digests of their pieces."""
    both = dict.fromkeys((*pieces, *old))
    keys = {digest: number for number, digest in enumerate({*pieces.values(), *old.values()})}
    step = {each: (keys.get(pieces.get(each, "")), keys.get(old.get(each, ""))) for each in both}
    return _changes(revision, before, {each: (new, was) for each, (new, was) in step.items() if new != was})


def _changes(revision: Revision, before: Revision | None, step: Mapping[str, tuple[int | None, int | None]]) -> Changes:
    if before is None:
        return Changes(is_first=True, added=tuple(step))
    fields = fields_of(revision)
    old = fields_of(before)
    others = [name for name in FIELDS if fields.get(name) != old.get(name)]
    if revision.board_id != before.board_id and "board" not in others:
        others.append("board")
    return Changes(
        added=tuple(piece for piece, (_, old) in step.items() if old is None),
        removed=tuple(piece for piece, (new, _) in step.items() if new is None),
        changed=tuple(piece for piece, (new, old) in step.items() if new is not None and old is not None),
        fields=tuple(others),
        order=revision.digest != before.digest and not step and not others,
    )


def _ruleset(revision: Revision) -> Any:
    return select(t.revision.c.ruleset_id).where(t.revision.c.id == revision.id).scalar_subquery()


# --- entries ---

# What a piece says of an entry, squares as numbers: for each possibility whether it passes the turn, conditions, ...
EntryRows = tuple[tuple[Any, ...], ...]
EntryKey = tuple[int | None, int | None]


def entries(database: Database, connection: Connection, piece_id: int) -> dict[EntryKey, EntryRows]:
    """What a piece says of each source and destination, in document order.

    Squares are numbers of the piece's board, None for the hand. It is for comparing: `pieces.read_piece` gives the
    words, and takes several times as long.
    """

    def said(table: Table) -> dict[int, tuple[Any, ...]]:
        rows = database.ask(_SAID[table.name], [(piece_id,)], connection)
        return {variant: tuple([row[1:] for row in each]) for variant, each in groupby(rows, itemgetter(0))}

    of_tables = [said(table).get for table in _SAYING]
    found: dict[EntryKey, EntryRows] = {}
    for place, group in groupby(database.ask(_PLACES, [(piece_id,)], connection), itemgetter(0, 1)):
        found[place] = tuple(
            [(toggle, *[of_table(number) for of_table in of_tables]) for _, _, number, toggle in group]
        )
    return found


_SAYING: Final = (t.condition, t.effect, t.hand_effect, t.variant_origin, t.guard, t.state_effect)


def _of_piece(query: Select[Any], piece_id: Column[int], *order: Column[Any]) -> RowSelect:
    """The rows of `query` that are of a piece, in an order."""
    return RowSelect(("piece",), lambda asked: query.join(asked, asked.c.piece == piece_id).order_by(*order))


_SAID: Final = {
    table.name: _of_piece(
        select(*(column for column in table.columns if column.name != "piece_id")),
        table.c.piece_id,
        *table.primary_key.columns,
    )
    for table in _SAYING
}
_PLACES: Final = _of_piece(
    select(t.source.c.square, t.destination.c.square, t.variant.c.number, t.variant.c.toggle)
    .select_from(t.variant)
    .join(t.destination, t.VARIANT_OF_DESTINATION)
    .join(t.source, t.VARIANT_OF_SOURCE),
    t.variant.c.piece_id,
    t.variant.c.piece_id,
    t.variant.c.number,
)
