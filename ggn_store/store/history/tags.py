"""Tags: each move is a row that stays, so who moved what where is never lost.

The row of the next number decides between several who move the same tag at once: only one of them can insert it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal

from sqlalchemy import Connection, Select, bindparam, func, select

from ggn_store.errors import ConflictError, UnknownNameError, quote
from ggn_store.model.teams.revision import Reference, Revision, check_tag
from ggn_store.model.teams.tag import Tag, TagStatus
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.load import Provenance
from ggn_store.store.schema import tables as t

# Of what is expected of a tag: nothing, or that it is not there.
Anything = Literal["anything"]
Expected = Revision | Anything | None

_MOVES: Select[Any] = (
    select(
        t.ruleset.c.name.label("ruleset"),
        t.tag.c.name,
        t.tag.c.number,
        t.revision.c.number.label("revision"),
        t.revision.c.digest,
        t.revision.c.lineage,
        t.tag.c.author,
        t.tag.c.message,
        t.tag.c.created_at,
    )
    .select_from(t.tag.join(t.ruleset).outerjoin(t.revision, t.revision.c.id == t.tag.c.revision_id))
    .order_by(t.tag.c.name, t.tag.c.number)
)
_OTHER = t.tag.alias()
_LAST = _MOVES.where(
    t.tag.c.number
    == select(func.max(_OTHER.c.number))
    .where(_OTHER.c.ruleset_id == t.tag.c.ruleset_id, _OTHER.c.name == t.tag.c.name)
    .scalar_subquery()
)
_LAST_OF = _LAST.where(t.ruleset.c.name == bindparam("name"))


def expected(connection: Connection, name: str, stated: str | None) -> Expected:
    """What `--expect` says of a tag of the ruleset `name`: `3`, `sha256:0123abcd`, another tag; `none` or `0`."""
    if stated is None:
        return "anything"
    if stated in ("none", "0"):
        return None
    return catalog.find(connection, catalog.within(name, stated))


def move(
    database: Database,
    connection: Connection,
    ruleset: str,
    tag: str,
    target: Revision | None,
    change: Provenance,
    expect: Expected = "anything",
) -> Tag:
    """Let a tag point to `target`, or to nothing; a tag that does already is unchanged.

    Raises ConflictError where it points elsewhere than `expect` says at the moment that it would move, and
    UnknownNameError where a tag is removed that is not there.
    """
    check_tag(tag)
    catalog.find(connection, ruleset)
    ruleset_id = catalog.key_of(connection, ruleset)
    while True:
        last = _last(connection, ruleset, tag)
        points = None if last is None else last.revision
        _require(ruleset, tag, points, expect)
        if last is not None and target is not None and points == target.number:
            return replace(last, status="unchanged")
        if target is None and points is None:
            raise UnknownNameError(_missing(connection, ruleset, tag))
        number = 1 if last is None else last.number + 1
        said = {
            "revision_id": None if target is None else target.id,
            "author": change.author,
            "message": change.message,
        }
        if add(database, connection, said | {"ruleset_id": ruleset_id, "name": tag, "number": number}):
            status: TagStatus = "removed" if target is None else "created" if points is None else "moved"
            moved = _last(connection, ruleset, tag)
            assert moved is not None  # noqa: S101  (it was inserted just now)
            return replace(moved, status=status)


def add(database: Database, connection: Connection, values: dict[str, Any]) -> bool:
    """Add a move of a tag to those that it has; False where somebody else has just added one."""
    key = ("ruleset_id", "name", "number")
    made = database.add(connection, t.tag, {"created_at": datetime.now(UTC)} | values, key, "number")
    return made.first() is not None


def _require(ruleset: str, tag: str, points: int | None, expect: Expected) -> None:
    if expect == "anything" or points == (None if expect is None else expect.number):
        return
    now = "is not there" if points is None else f"points to {ruleset}@{points}"
    wanted = "to be new" if expect is None else f"to point to {expect}"
    raise ConflictError(
        f"{ruleset}:{tag} {now}, and was expected {wanted}: `ggn-store tag {ruleset} {tag} --log` says who moved it"
    )


def newest(connection: Connection, ruleset: str) -> list[Tag]:
    """The last move of every tag of a ruleset, also of those that were removed, by name."""
    return [_tag_of(row) for row in connection.execute(_LAST_OF, {"name": ruleset})]


def listed(connection: Connection, reference: Reference) -> list[Tag]:
    """Where the tags of a ruleset point, by name; of a reference to one revision, the tags that point to it."""
    revision = catalog.find(connection, reference)
    wanted = None if reference.is_newest else revision.number
    found = newest(connection, reference.name)
    return [tag for tag in found if tag.revision is not None and wanted in (None, tag.revision)]


def log(connection: Connection, ruleset: str, tag: str | None = None) -> list[Tag]:
    """All moves of a tag, or of all tags of a ruleset, the newest first; raises UnknownNameError where it had none.

    A move that came from another store has the time that it had there, and comes after the moves that it followed here.
    """
    catalog.find(connection, Reference(ruleset))
    query = _MOVES.where(t.ruleset.c.name == ruleset)
    if tag is not None:
        query = query.where(t.tag.c.name == tag)
    found = [_tag_of(row) for row in connection.execute(query)]
    if tag is not None and not found:
        raise UnknownNameError(_missing(connection, ruleset, tag))
    moves = groupby(reversed(found), key=attrgetter("name"))
    return [*merge(*([*of] for _, of in moves), key=attrgetter("created_at"), reverse=True)]


def pointing(connection: Connection, ruleset: str | None = None) -> dict[str, dict[str, int]]:
    """For each ruleset that has tags, or for one, the numbers of the revisions that they point to."""
    found: dict[str, dict[str, int]] = {}
    query = _LAST.where(t.tag.c.revision_id.is_not(None))
    if ruleset is not None:
        query = query.where(t.ruleset.c.name == ruleset)
    # Nothing more of it: a row of another ruleset that cannot be read breaks nothing here.
    columns = t.ruleset.c.name.label("ruleset"), t.tag.c.name, t.revision.c.number.label("revision")
    for row in connection.execute(query.with_only_columns(*columns, maintain_column_froms=True)):
        found.setdefault(row.ruleset, {})[row.name] = row.revision
    return found


def _last(connection: Connection, ruleset: str, tag: str) -> Tag | None:
    query = _MOVES.where(t.ruleset.c.name == ruleset, t.tag.c.name == tag)
    row = connection.execute(query.order_by(None).order_by(t.tag.c.number.desc()).limit(1)).first()
    return None if row is None else _tag_of(row)


def _missing(connection: Connection, ruleset: str, tag: str) -> str:
    names = ", ".join(each.name for each in listed(connection, Reference(ruleset)))
    return f"{ruleset} has no tag {quote(tag)}" + (f"; it has {names}" if names else "")


def _tag_of(row: Any) -> Tag:
    values = dict(row._mapping)
    return Tag(**values | {"created_at": catalog.utc(values["created_at"])})
