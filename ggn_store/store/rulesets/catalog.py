"""Rulesets and their revisions: looking up, listing, reading back, hiding."""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from enum import Enum
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import Column, ColumnElement, Connection, Select, Table, and_, bindparam, func, select, update

from ggn_store.errors import (
    DamagedError,
    NotationError,
    StoreError,
    UnknownNameError,
    UnknownRulesetError,
    did_you_mean,
    quote,
)
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Envelope
from ggn_store.model.teams.revision import Reference, Revision, Summary, parse_reference
from ggn_store.model.teams.selection import is_pattern, only_one
from ggn_store.model.teams.selection import select as select_names
from ggn_store.store.database.engine import ADMIN, Database
from ggn_store.store.schema import tables as t

PARENT = t.revision.alias("parent")
MERGED = t.revision.alias("merged")
# Revisions with their parents.
PARENTS = (
    t.revision.outerjoin(PARENT, PARENT.c.id == t.revision.c.parent_id)
    .outerjoin(t.revision_merge, t.revision_merge.c.revision_id == t.revision.c.id)
    .outerjoin(MERGED, MERGED.c.id == t.revision_merge.c.parent_id)
)


class Unstated(Enum):
    """Of a base: a new revision follows whatever is the newest one."""

    UNSTATED = "unstated"


UNSTATED: Final = Unstated.UNSTATED
Item = TypeVar("Item")
# Of so many names, a statement asks for all rulesets.
_FEW: Final = 1_000
# The lineage of the revision that a new one is based on; None for none, where the ruleset must be new.
Base = str | Unstated | None


def batches(items: Iterable[Item], size: int = 500) -> Iterator[list[Item]]:
    """Items in parts, of which a statement can ask for all at once."""
    remaining = iter(items)
    while part := [*islice(remaining, size)]:
        yield part


def key_of(connection: Connection, name: str) -> int | None:
    """The key of a ruleset, also of one that is deleted; None where there is none of this name."""
    return connection.execute(_KEY, {"name": name}).scalar()


_KEY: Final = select(t.ruleset.c.id).where(t.ruleset.c.name == bindparam("name"))


def _said(column: Column[Any]) -> ColumnElement[Any]:
    """What the newest row of a ruleset's states says."""
    of_ruleset = select(column).where(t.ruleset_state.c.ruleset_id == t.ruleset.c.id).correlate(t.ruleset)
    return of_ruleset.order_by(t.ruleset_state.c.number.desc()).limit(1).scalar_subquery()


REVISIONS = select(
    t.revision.c.id,
    t.ruleset.c.name,
    t.revision.c.number,
    t.revision.c.digest,
    t.revision.c.dialect,
    t.revision.c.board_id,
    t.board.c.shape,
    t.revision.c.envelope,
    t.revision.c.author,
    t.revision.c.message,
    t.revision.c.created_at,
    t.revision.c.lineage,
    PARENT.c.number.label("parent"),
    MERGED.c.number.label("merged"),
    func.coalesce(_said(t.ruleset_state.c.state), "active").label("state"),
    _said(t.ruleset_state.c.successor).label("successor"),
).select_from(
    t.revision.join(t.ruleset, t.ruleset.c.id == t.revision.c.ruleset_id)
    .join(t.board, t.board.c.id == t.revision.c.board_id)
    .outerjoin(PARENT, PARENT.c.id == t.revision.c.parent_id)
    .outerjoin(t.revision_merge, t.revision_merge.c.revision_id == t.revision.c.id)
    .outerjoin(MERGED, MERGED.c.id == t.revision_merge.c.parent_id)
)


# Made once, since this is what is mostly asked for.
_NEWEST = (
    REVISIONS.where(t.ruleset.c.name == bindparam("name"), t.ruleset.c.deleted_at.is_(None))
    .order_by(t.revision.c.number.desc())
    .limit(1)
)


def find(connection: Connection, reference: str | Reference) -> Revision:
    """The revision that a reference names; raises UnknownNameError, with what there is instead."""
    named = reference if isinstance(reference, Reference) else parsed(connection, reference)
    found = connection.execute(_narrowed(_NEWEST, named), {"name": named.name}).first()
    if found is None:
        raise UnknownNameError(_missing(connection, named))
    if named.digest is not None:
        _require_one(connection, named)
    return revision_of(found)


def parsed(connection: Connection, reference: str) -> Reference:
    """What a reference names; raises NotationError, for a pattern with the rulesets that it matches."""
    if is_pattern(reference):
        raise NotationError(only_one(reference, names(connection)))
    return parse_reference(reference)


def names(connection: Connection) -> set[str]:
    """The rulesets that have a revision and are not deleted."""
    listed = select(t.ruleset.c.name).where(t.ruleset.c.deleted_at.is_(None))
    return set(connection.execute(listed.join(t.revision).distinct()).scalars())


def names_after(connection: Connection, wanted: Collection[str], after: str | None, limit: int | None) -> list[str]:
    """A page of the names of rulesets in their order, of all or of those that are wanted."""
    query = select(t.ruleset.c.name).where(t.ruleset.c.deleted_at.is_(None)).order_by(t.ruleset.c.name).limit(limit)
    query = query.where(select(1).where(t.revision.c.ruleset_id == t.ruleset.c.id).exists())
    if wanted:
        query = query.where(t.ruleset.c.name.in_(wanted))
    return [*connection.execute(query if after is None else query.where(t.ruleset.c.name > after)).scalars()]


def selected(connection: Connection, selectors: Iterable[str]) -> list[str]:
    """What names, references, namespaces and globs mean (`model.teams.selection`); raises UnknownNameError for nothing.

    What is no pattern is taken as it is: what reads it says that it is not there.
    """
    asked = [*selectors]
    return select_names(asked, names(connection)) if any(map(is_pattern, asked)) else [*dict.fromkeys(asked)]


def newest_of(connection: Connection, name: str) -> Revision | None:
    """The newest revision of a ruleset, hidden or not; None where there is none."""
    query = REVISIONS.where(t.ruleset.c.name == name).order_by(t.revision.c.number.desc()).limit(1)
    found = connection.execute(query).first()
    return None if found is None else revision_of(found)


def read_revision(connection: Connection, revision_id: int) -> Revision:
    """A revision by its key."""
    return revision_of(connection.execute(REVISIONS.where(t.revision.c.id == revision_id)).one())


def base(connection: Connection, name: str, stated: str | None) -> Base:
    """The lineage of the revision of the ruleset `name` that `stated` names: `3`, `sha256:0123abcd`, a tag.

    None for `0`, which is before the first revision. Raises UnknownNameError where there is no such revision.
    """
    if stated is None:
        return UNSTATED
    return None if stated == "0" else find(connection, within(name, stated)).lineage


def within(name: str, stated: str) -> str:
    """The reference to a revision of the ruleset `name` that may be written without it: `3`, `stable`."""
    if not isinstance(stated, str):
        raise NotationError(f'{quote(stated)} is no revision of {name}: write "3", "sha256:0123abcd" or a tag, as text')
    if stated.startswith((f"{name}@", f"{name}:")):
        return stated
    is_tag = not (stated[:1] in ("@", ":") or stated[:1].isdigit() or stated.startswith("sha256:"))
    mark = ":" if is_tag else "" if stated[:1] in ("@", ":") else "@"
    return f"{name}{mark}{stated}"


def _narrowed(query: Select[Any], named: Reference) -> Select[Any]:
    """`query` for the revisions that a reference of a ruleset may mean."""
    if named.number is not None:
        return query.where(t.revision.c.number == named.number)
    if named.digest is not None:
        return query.where(t.revision.c.digest.startswith(named.digest) | t.revision.c.lineage.startswith(named.digest))
    if named.tag is not None:
        newest = (
            select(t.tag.c.revision_id)
            .where(t.tag.c.ruleset_id == t.revision.c.ruleset_id, t.tag.c.name == named.tag)
            .order_by(t.tag.c.number.desc())
            .limit(1)
        )
        return query.where(t.revision.c.id == newest.scalar_subquery())
    return query


def _require_one(connection: Connection, named: Reference) -> None:
    """Raise UnknownNameError where a digest is too short to mean one content, or one revision."""
    query = _narrowed(REVISIONS.where(t.ruleset.c.name == named.name), named).order_by(t.revision.c.number)
    rows = connection.execute(query).all()
    begins = str(named.digest)
    meant = {row.digest for row in rows if row.digest.startswith(begins)}
    meant |= {row.lineage for row in rows if row.lineage.startswith(begins)}
    if len(meant) > 1:
        listed = ", ".join(f"{named.name}@{row.number}" for row in rows)
        raise UnknownNameError(f"{named} may be any of {listed}: write more of the digest")


def renamed(connection: Connection, name: str) -> str | None:
    """What the ruleset that was called `name` is called now; None where there was none, or it is called so again."""
    query = select(t.ruleset.c.name).join(t.ruleset_rename).where(t.ruleset_rename.c.old_name == name)
    now = connection.execute(query.limit(1)).scalar()
    return None if now == name else now


def gone(name: str, now: str) -> UnknownNameError:
    """Why a name that was given up means nothing."""
    return UnknownNameError(f"the ruleset {name} was renamed: it is {now} now, and {name} is not given to another")


def _missing(connection: Connection, named: Reference) -> str:
    """Why there is no such revision, and what there is; raises UnknownRulesetError where no ruleset has that name."""
    known = names(connection)
    if named.name not in known:
        # A ruleset that was only proposed has no revision yet.
        listed = select(t.ruleset.c.name).where(t.ruleset.c.deleted_at.is_(None))
        if connection.execute(listed.where(t.ruleset.c.name == named.name)).first():
            return f"{named.name} has no revision yet, it was only proposed: see `ggn-store proposals {named.name}`"
        if key_of(connection, named.name) is not None:
            return (
                f"the ruleset {named.name} was deleted: `ggn-store restore {named.name}`, or loading it again, brings "
                "it back with its revisions"
            )
        if (now := renamed(connection, named.name)) is not None:
            return str(gone(named.name, now))
        raise UnknownRulesetError(
            f"the store has no ruleset {quote(named.name)}{_offer(named.name, known)}", named.name
        )
    if named.number is not None:
        return (
            f"{named.name} has no revision {named.number}: its revisions are 1 to {find(connection, named.name).number}"
        )
    if named.digest is not None:
        return f"{named.name} has no revision whose digest or lineage begins with {named.digest}: see `ggn-store log`"
    points = t.tag.c.revision_id.is_not(None)
    tagged = select(t.tag.c.name).join(t.ruleset).where(t.ruleset.c.name == named.name, points).distinct()
    tags = sorted(connection.execute(tagged).scalars())
    return f"{named.name} has no tag {quote(named.tag)}" + (f"; it has had {', '.join(tags)}" if tags else "")


def _offer(name: str, names: set[str]) -> str:
    if not names:
        return "; it is empty: `ggn-store load --library` loads well-known games"
    if hint := did_you_mean(name, sorted(names)):
        return f"{hint} (`ggn-store list` shows all)"
    shown = sorted(names)[:10]
    return f"; it has {', '.join(shown)}{' and more (`ggn-store list`)' if len(names) > len(shown) else ''}"


def is_newest() -> ColumnElement[bool]:
    """Whether a revision is the newest one of a ruleset that is not deleted."""
    other = t.revision.alias()
    head = select(func.max(other.c.number)).where(other.c.ruleset_id == t.revision.c.ruleset_id).scalar_subquery()
    return and_(t.ruleset.c.deleted_at.is_(None), t.revision.c.number == head)


def newest(connection: Connection, names: Collection[str] = ()) -> list[Revision]:
    """The newest revision of every ruleset that is not deleted, or of those of these names, by name."""
    query = REVISIONS.where(_is_newest_of(names)).order_by(t.ruleset.c.name)
    return [revision_of(row) for row in connection.execute(query)]


def _is_newest_of(names: Collection[str]) -> ColumnElement[bool]:
    return and_(is_newest(), t.ruleset.c.name.in_(names)) if 0 < len(names) < _FEW else is_newest()


_SUMMED = ("sources", "destinations", "possibilities", "conditions", "effects", "hand_effects")
_SUMMARIES = (
    select(
        t.revision.c.id,
        func.count(t.revision_piece.c.piece_id).label("pieces"),
        *(func.coalesce(func.sum(t.piece_summary.c[name]), 0).label(name) for name in _SUMMED),
    )
    .select_from(
        t.revision.join(t.ruleset)
        .outerjoin(t.revision_piece, t.revision_piece.c.revision_id == t.revision.c.id)
        .outerjoin(t.piece_summary, t.piece_summary.c.piece_id == t.revision_piece.c.piece_id)
    )
    .group_by(t.revision.c.id)
)


def _counts(row: Any) -> dict[str, int]:
    return {name: int(row._mapping[name]) for name in ("pieces", *_SUMMED)}


def summary(connection: Connection, revision: Revision) -> Summary:
    """A revision with the number of rows that it uses of each table."""
    return Summary(revision, _counts(connection.execute(_SUMMARIES.where(t.revision.c.id == revision.id)).one()))


def newest_summaries(connection: Connection, names: Collection[str] = ()) -> list[Summary]:
    """What `summary` says of all that are `newest`, among them those of these names."""
    counts = {row.id: _counts(row) for row in connection.execute(_SUMMARIES.where(_is_newest_of(names)))}
    return [Summary(revision, counts[revision.id]) for revision in newest(connection, names)]


def piece_summaries(connection: Connection, revision: Revision) -> list[dict[str, Any]]:
    """For each piece of a revision, in document order: identifier, digest and how much is in it."""
    return [dict(row._mapping) for row in connection.execute(_piece_summaries(), {"revision": revision.id})]


@functools.cache
def _piece_summaries() -> Select[Any]:
    return (
        select(
            t.piece.c.identifier.label("piece"),
            t.piece.c.side,
            *(t.piece_summary.c[name] for name in ("sources", "destinations", "possibilities", "conditions")),
            t.piece.c.digest,
        )
        .select_from(t.PIECES_OF_REVISIONS.outerjoin(t.piece_summary, t.piece_summary.c.piece_id == t.piece.c.id))
        .where(t.revision_piece.c.revision_id == bindparam("revision"))
        .order_by(t.revision_piece.c.ordinal)
    )


def read_board(connection: Connection, board_id: int) -> Board:
    """A board by its key."""
    shape = connection.execute(select(t.board.c.shape).where(t.board.c.id == board_id)).scalar_one()
    labels = select(t.square.c.label).where(t.square.c.board_id == board_id).order_by(t.square.c.number)
    sizes = None if shape is None else tuple(map(int, shape.split("x")))
    return Board(tuple(connection.execute(labels).scalars()), sizes)


class Listed(NamedTuple):
    """A stored piece that a document lists."""

    id: int
    identifier: str
    digest: str


def listed(connection: Connection, list_of: Table, holder_id: int) -> tuple[Listed, ...]:
    """The pieces that `revision_piece` or `proposal_piece` lists for a revision or proposal, in document order."""
    holder, ordinal, piece_id = list_of.columns
    query = LISTED.join(list_of, piece_id == t.piece.c.id).where(holder == holder_id).order_by(ordinal)
    return tuple(Listed(*row) for row in connection.execute(query))


LISTED: Final = select(t.piece.c.id, t.piece.c.identifier, t.piece.c.digest)


def piece_keys(connection: Connection, revision: Revision) -> dict[str, Listed]:
    """The pieces of a revision by identifier, in document order."""
    return {each.identifier: each for each in listed(connection, t.revision_piece, revision.id)}


def delete(connection: Connection, name: str) -> int:
    """Hide a ruleset; how many revisions it keeps. Nothing is removed. Raises UnknownNameError."""
    number = find(connection, name).number
    hide = update(t.ruleset).where(t.ruleset.c.name == name).values(deleted_at=datetime.now(UTC))
    connection.execute(hide)
    return number


def show(database: Database, connection: Connection, name: str) -> bool:
    """Bring a ruleset that is hidden back; whether it was. Raises StoreError for who may not."""
    is_hidden = t.ruleset.c.name == name, t.ruleset.c.deleted_at.is_not(None)
    if connection.execute(select(t.ruleset.c.id).where(*is_hidden)).first() is None:
        return False
    if not database.may_restore(connection):
        raise StoreError(
            f"{database}: the ruleset {name} was deleted, and to bring it back takes {ADMIN}: ask a member of it, "
            "or load under another name; nothing was stored"
        )
    connection.execute(update(t.ruleset).where(*is_hidden).values(deleted_at=None))
    return True


def revision_of(row: Any) -> Revision:
    """A revision from a row of `REVISIONS`."""
    values: dict[str, Any] = dict(row._mapping)
    changed = {"envelope": envelope_of(values["envelope"]), "created_at": utc(values["created_at"])}
    return Revision(**values | changed)


def envelope_of(text: str) -> Envelope:
    """The envelope of a revision or proposal from its text; raises DamagedError where that is none."""
    try:
        values = json.loads(text)
        if all(isinstance(each, str) for each in values.values()):
            return Envelope(**values)
    except (AttributeError, TypeError, ValueError, RecursionError):
        pass
    raise DamagedError("the envelope of a revision or proposal is not as this program writes it")


def utc(at: datetime) -> datetime:
    """A time as it was stored: SQLite keeps no time zone, and what is written is always UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
