"""`ggn-store approve`"""

from __future__ import annotations

import click

from ggn_store.cli import options


@click.command("approve")
@click.argument("proposal", metavar="PROPOSAL")
@options.change_options
@click.pass_context
def command(ctx: click.Context, proposal: str, author: str | None, message: str | None) -> None:
    """Approve of a proposal of somebody else's, such as chess#4.

    With the last approval that it needs it becomes the newest revision. Postgres knows people by the user that they
    connect as; a SQLite file has only their word for it.
    """
    found = options.open_store(ctx).approve(proposal, author=author, message=message)
    if found.revision is not None:
        click.echo(f"{found}: approved, it is {found.name}@{found.revision} now")
        return
    left = found.needed - len(found.approvals)
    click.echo(f"{found}: approved, it needs {left} more approval{'s' if left > 1 else ''}")
