"""Stores as such: `db`, and the roles of a Postgres server."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import click

import ggn_store
from ggn_store.cli import options, printing, stores
from ggn_store.cli.progress import progress
from ggn_store.cli.upkeep import full_option, verify_store
from ggn_store.errors import counted, printable
from ggn_store.render.records import compact, labelled

if TYPE_CHECKING:
    from ggn_store.api.server import Roles


@click.group("db", cls=options.CommandGroup)
def db() -> None:
    """Make a store ready, look at it, check it."""


@db.group("roles", cls=options.CommandGroup)
def roles() -> None:
    """Make and show the roles of a Postgres server.

    They are ggn_reader, ggn_author and ggn_admin.
    """


@roles.command("init")
@click.option("--sql", is_flag=True, help="Print the script that would be run, for a DBA, and change nothing.")
def init(sql: bool) -> None:
    """Make the roles, and grant them their rights.

    It also puts up the guards that rights cannot be. Run it again after each `db upgrade`: it leaves the same rights
    however often it is run, and takes those away that the roles were granted by hand. To be run by a superuser, or by
    the owner of database and tables with CREATEROLE. Exit code 1 where something could not be granted.
    """
    store = stores.open_store()
    if sql:
        click.echo(f"BEGIN;\n\n{store.server.roles_script()}\nCOMMIT;")
        return
    found = store.server.init_roles()
    if not found.deviations:
        click.echo(
            "the roles are ready: ggn_reader reads, ggn_author loads, ggn_admin tags, hides and removes; "
            "make logins members of one (GRANT ggn_author TO ann)"
        )
    _deviate(found, f"not everything was this user's to grant, or to take back: {_BY_HAND}")


@roles.command("show")
@options.text_or_json_option
def show(form: str | None) -> None:
    """Show the roles, who is in them, and what they may do.

    It names what deviates from `init`, with exit code 1 where anything does.
    """
    found = stores.open_store().server.roles()
    if form == "json":
        click.echo(compact(asdict(found)))
        options.end(1 if found.deviations else 0)
    owner = printable(found.owner) + (" (a superuser: better one who is not)" if found.owner_is_superuser else "")
    click.echo(f"database    {printable(found.database)}, schema {printable(found.schema)}\nowner       {owner}")
    for role in found.roles:
        members = ", ".join(map(printable, role.members)) or "nobody"
        click.echo(f"{role.name:11} {f'members: {members}' if role.exists else 'not made yet'}")
        for line in role.grants:
            click.echo(labelled("  -", [line], 4, printing.terminal_width()))
    cure = "run `ggn-store db roles init` as a superuser, or as the owner with CREATEROLE"
    _deviate(found, f"{cure}; {_BY_HAND}")


_BY_HAND: Final = "what a login has of its own, only REVOKE takes back (REVOKE DELETE ON revision FROM bob)"


def _deviate(found: Roles, cure: str) -> None:
    for sentence in found.deviations:
        click.echo(f"deviates: {printable(sentence)}", err=True)
    if found.deviations:
        click.echo(cure, err=True)
        options.end(1)


@db.command("upgrade")
def upgrade() -> None:
    """Bring the store's tables to this program's version.

    Its guards become what this program makes. Triggers, functions and views that were removed, replaced or switched off
    are made again. Triggers, rules and settings of others that act on the store's tables are removed, since they may
    break its guarantees. Each is named. Safe to run at any time, and by several at once.
    """
    mended: list[str] = []
    with ggn_store.Store.at(stores.ready_address()) as store:
        before, after = store.upgrade(mended.append)
    for each in mended:
        click.echo(f"put right: {printable(each)}")
    if before == after:
        click.echo(f"the store is up to date: version {after}")
    else:
        click.echo(f"the store is ready: version {after}" + (f", before {before}" if before else ""))


@db.command("info")
@options.text_or_json_option
def info(form: str | None) -> None:
    """Show where the store is, what runs it, and its version.

    Also where its columnar copy is (see `sql --engine duckdb`) and how large, if it has one.
    """
    with ggn_store.Store.at(stores.address(click.get_current_context())) as store:
        found = store.info()
    if form == "json":
        click.echo(compact(asdict(found)))
        return
    state = found.version or "none: the store is not made ready yet"
    if found.version not in (None, found.needed):
        state += f" (this program needs {found.needed})"
    click.echo(f"address   {printable(found.address)}\nengine    {found.engine}\nversion   {state}")
    if found.rulesets is not None:
        click.echo(f"rulesets  {found.rulesets}")
    if found.columns is not None:
        click.echo(f"columns   {printable(found.columns)}: {found.columns_bytes:,} bytes")


@db.command("rebuild")
def rebuild() -> None:
    """Derive again what is kept beside the rules.

    That is what the fast query reads, how pieces move, and how much is in them. Loading does it by itself: this is for
    a store that `verify` finds damaged there.
    """
    with progress("rebuilding") as reporter:
        count = stores.open_store().upkeep.rebuild(reporter.add)
    click.echo(f"{counted(count, 'piece')} rebuilt")


@db.command("check")
@full_option
def check(full: bool) -> None:
    """Verify the whole store, as `ggn-store verify`. Exit code 1 if anything differs."""
    verify_store(full=full)
