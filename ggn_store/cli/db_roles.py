"""`ggn-store db roles`"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ggn_store.cli import options
from ggn_store.errors import printable
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from ggn_store.api.server import Roles


@click.group("roles", cls=options.Group)
def command() -> None:
    """Roles and rights on a Postgres server: ggn_reader, ggn_author, ggn_admin."""


@command.command("init")
@click.option("--sql", is_flag=True, help="Print the script that would be run, for a DBA, and change nothing.")
@click.pass_context
def init(ctx: click.Context, sql: bool) -> None:
    """Make the roles, grant them their rights, and put the guards up that rights cannot be.

    Run it again after each `db upgrade`: it leaves the same rights however often it is run, and takes those away that
    the roles were granted by hand. To be run by a superuser, or by the owner of database and tables with CREATEROLE.
    Exit code 1 where something could not be granted.
    """
    store = options.open_store(ctx)
    if sql:
        click.echo(f"BEGIN;\n\n{store.server.roles_script()}\nCOMMIT;")
        return
    found = store.server.init_roles()
    if not found.deviations:
        click.echo(
            "the roles are ready: ggn_reader reads, ggn_author loads, ggn_admin tags, hides and removes; "
            "make logins members of one (GRANT ggn_author TO ann)"
        )
    _deviate(ctx, found, "not everything was this user's to grant")


@command.command("show")
@options.text_or_json_option
@click.pass_context
def show(ctx: click.Context, form: str | None) -> None:
    """Show the roles, who is in them, what they may do, and what deviates from `init`. Exit code 1 where it does."""
    found = options.open_store(ctx).server.roles()
    if form == "json":
        click.echo(compact(asdict(found)))
        ctx.exit(1 if found.deviations else 0)
    owner = printable(found.owner) + (" (a superuser: better one who is not)" if found.owner_is_superuser else "")
    click.echo(f"database    {printable(found.database)}, schema {printable(found.schema)}\nowner       {owner}")
    for role in found.roles:
        members = ", ".join(map(printable, role.members)) or "nobody"
        click.echo(f"{role.name:11} {f'members: {members}' if role.exists else 'not made yet'}")
        for line in role.grants:
            click.echo(f"  {printable(line)}")
    _deviate(ctx, found, "run `ggn-store db roles init` as a superuser, or as the owner with CREATEROLE")


def _deviate(ctx: click.Context, found: Roles, cure: str) -> None:
    for sentence in found.deviations:
        click.echo(f"deviates: {printable(sentence)}", err=True)
    if found.deviations:
        click.echo(cure, err=True)
        ctx.exit(1)
