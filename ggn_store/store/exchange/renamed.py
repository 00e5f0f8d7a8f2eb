"""Rulesets get other names, here or as another store says: then the histories say which one is meant."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from ggn_store.errors import GateError
from ggn_store.model.teams.revision import check_name
from ggn_store.model.teams.transfer import RevisionSource, SentRename, TransferWishes
from ggn_store.store.database.engine import Database
from ggn_store.store.history import renames
from ggn_store.store.review import policies
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t


def follow(
    database: Database, connection: Connection, source: RevisionSource, name: str, to: str, wishes: TransferWishes
) -> tuple[str, str | None]:
    """What the ruleset `name` of a source is called here, where it would be `to`, and what to say of that.

    One that the source has renamed is renamed here, too, as it was there; one that both have keeps its name here.
    """
    target, note, log = plan(connection, source, name, to, wishes)
    for each in log:
        rename(database, connection, each)
    return target, note


def plan(
    connection: Connection, source: RevisionSource, name: str, to: str, wishes: TransferWishes
) -> tuple[str, str | None, Sequence[SentRename]]:
    """What `follow` gives, and the renames that it makes."""
    if catalog.key_of(connection, to) is not None:
        return to, None, ()
    if (now := catalog.renamed(connection, to)) is not None:
        return now, f"{to} was renamed {wishes.place}: it is {now}", ()
    log = source.renames(name) if to == name else ()
    for number, past in reversed(list(enumerate(log))):
        old = check_name(past.old_name)
        here = old if catalog.key_of(connection, old) is not None else catalog.renamed(connection, old)
        if here is None or not _is_same(connection, here, source, name):
            continue
        if here != old:
            return here, f"{name} of the source is {here} {wishes.place}: both were {old}", ()
        return to, f"{old} was renamed at the source, and is {to} {wishes.place}, too", log[number:]
    return to, None, ()


def rename(database: Database, connection: Connection, wanted: SentRename) -> None:
    """Rename a ruleset, with a policy of its own; raises GateError where another policy counts for the new name."""
    old, new = wanted.old_name, wanted.new_name
    own = [each.rules for each in policies.newest(connection, old)]
    if own and not policies.newest(connection, new):
        policies.add(database, connection, new, own[0], wanted.author, wanted.message)
    else:
        own = []
    one, other = (policies.asked(policies.counting(connection, name)) for name in (old, new))
    if one != other:
        raise GateError(
            f"{old} is not renamed: another policy counts for {new}, and what it asks for has not been asked of this "
            f"ruleset: set the same policy for both (`ggn-store policy set`), or load or propose it as {new}"
        )
    renames.add(database, connection, wanted)
    if own:
        policies.add(database, connection, old, None, wanted.author, wanted.message)


def _is_same(connection: Connection, here: str, source: RevisionSource, name: str) -> bool:
    """Whether both histories have a revision in common."""
    query = select(t.revision.c.lineage).join(t.ruleset).where(t.ruleset.c.name == here)
    return not {step.lineage for step in source.steps(name)}.isdisjoint(connection.execute(query).scalars())
