"""`ggn-store db`"""

from __future__ import annotations

from dataclasses import asdict

import click

import ggn_store
from ggn_store.cli import db_roles, options
from ggn_store.cli.progress import progress
from ggn_store.cli.verify import verify
from ggn_store.errors import printable
from ggn_store.render.records import compact


@click.group("db", cls=options.Group)
def command() -> None:
    """Make a store ready, look at it, check it."""


command.add_command(db_roles.command)


@command.command("upgrade")
@click.pass_context
def upgrade(ctx: click.Context) -> None:
    """Bring the store's tables to this program's version, and its guards to what this program makes.

    Triggers, functions and views that were removed, replaced or switched off are made again. Triggers, rules and
    settings of others that act on the store's tables are removed, since they may break its guarantees. Each is
    named. Safe to run at any time, and by several at once.
    """
    mended: list[str] = []
    with ggn_store.Store.at(options.ready_address(ctx)) as store:
        before, after = store.upgrade(mended.append)
    for each in mended:
        click.echo(f"put right: {printable(each)}")
    if before == after:
        click.echo(f"the store is up to date: version {after}")
    else:
        click.echo(f"the store is ready: version {after}" + (f", before {before}" if before else ""))


@command.command("info")
@options.text_or_json_option
@click.pass_context
def info(ctx: click.Context, form: str | None) -> None:
    """Show where the store is, what runs it, and of which version its tables are."""
    with ggn_store.Store.at(options.address(ctx)) as store:
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


@command.command("rebuild")
@click.pass_context
def rebuild(ctx: click.Context) -> None:
    """Derive what the fast query reads from the stored rows again.

    Loading does it by itself: this is for a store that `verify` finds damaged there.
    """
    with progress("rebuilding") as reporter:
        count = options.open_store(ctx).upkeep.rebuild(reporter.add)
    click.echo(f"{options.counted(count, 'piece')} rebuilt")


@command.command("check")
@click.pass_context
def check(ctx: click.Context) -> None:
    """Verify the whole store, as `ggn-store verify`. Exit code 1 if anything differs."""
    verify(ctx)
