"""Which ruleset is meant where one store has renamed it: the histories say that it is the same."""

from __future__ import annotations

from sqlalchemy import Connection, select

from ggn_store.model.teams.revision import check_name
from ggn_store.model.teams.transfer import RevisionSource, TransferWishes
from ggn_store.store.database.engine import Database
from ggn_store.store.history import renames
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t


def follow(
    database: Database, connection: Connection, source: RevisionSource, name: str, to: str, wishes: TransferWishes
) -> tuple[str, str | None]:
    """What the ruleset `name` of a source is called here, where it would be `to`, and what to say of that.

    One that the source has renamed is renamed here, too, as it was there; one that both have keeps its name here.
    """
    if catalog.key_of(connection, to) is not None:
        return to, None
    if (now := catalog.renamed(connection, to)) is not None:
        return now, f"{to} was renamed {wishes.place}: it is {now}"
    log = source.renames(name) if to == name else ()
    for number, rename in reversed(list(enumerate(log))):
        old = check_name(rename.old_name)
        here = old if catalog.key_of(connection, old) is not None else catalog.renamed(connection, old)
        if here is None or not _is_same(connection, here, source, name):
            continue
        if here != old:
            return here, f"{name} of the source is {here} {wishes.place}: both were {old}"
        for each in log[number:]:
            renames.add(database, connection, each)
        return to, f"{old} was renamed at the source, and is {to} {wishes.place}, too"
    return to, None


def _is_same(connection: Connection, here: str, source: RevisionSource, name: str) -> bool:
    """Whether both histories have a revision in common."""
    query = select(t.revision.c.lineage).join(t.ruleset).where(t.ruleset.c.name == here)
    return not {step.lineage for step in source.steps(name)}.isdisjoint(connection.execute(query).scalars())
