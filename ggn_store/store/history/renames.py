"""Renames: each is a row that stays, and the database moves the name with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, func, select

from ggn_store.errors import ConflictError, StoreError
from ggn_store.model.teams.transfer import SentRename
from ggn_store.store.database.engine import ADMIN, Database
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t


def log(connection: Connection, name: str) -> list[SentRename]:
    """How the ruleset that is called `name` came to that name, the first rename first."""
    table = t.ruleset_rename
    query = select(table).join(t.ruleset, t.ruleset.c.id == table.c.ruleset_id).where(t.ruleset.c.name == name)
    return [
        SentRename(row.old_name, row.new_name, row.author, row.message, catalog.utc(row.created_at))
        for row in connection.execute(query.order_by(table.c.number))
    ]


def moved(connection: Connection) -> dict[str, str]:
    """What the rulesets are called now, by every name that they once had."""
    query = select(t.ruleset_rename.c.old_name, t.ruleset.c.name).join(t.ruleset)
    return {row.old_name: row.name for row in connection.execute(query)}


def every_name(names: Iterable[str], moved: Mapping[str, str]) -> list[str]:
    """These names, and all that the rulesets have or had that they are or were names of; `moved` as above."""
    now = {moved.get(each, each) for each in names}
    return [*now, *(old for old, name in moved.items() if name in now)]


def add(database: Database, connection: Connection, rename: SentRename) -> None:
    """Rename a ruleset; raises ConflictError where the name is taken, and StoreError for who may not."""
    old, new = rename.old_name, rename.new_name
    if not database.may_insert(connection, t.ruleset_rename):
        raise StoreError(f"{database}: to rename {old} to {new} takes {ADMIN}: ask a member of it")
    if catalog.key_of(connection, new) is not None:
        raise ConflictError(f"{new} is there already (deleted rulesets keep their names, too): choose another name")
    key = catalog.key_of(connection, old)
    given_up = select(t.ruleset_rename.c.ruleset_id).where(t.ruleset_rename.c.old_name == new)
    if any(each != key for each in connection.execute(given_up).scalars()):
        raise ConflictError(f"{new} was the name of another ruleset, and is not given to {old}: choose another name")
    last = select(func.coalesce(func.max(t.ruleset_rename.c.number), 0)).where(t.ruleset_rename.c.ruleset_id == key)
    row = {name: getattr(rename, name) for name in SentRename.__slots__}
    row |= {"ruleset_id": key, "number": connection.execute(last).scalar_one() + 1}
    if database.add(connection, t.ruleset_rename, row, ("ruleset_id", "number"), "number").first() is None:
        raise ConflictError(f"somebody else has just renamed {old}: see what it is called now")
