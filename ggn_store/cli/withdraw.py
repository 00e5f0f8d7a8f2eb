"""`ggn-store withdraw`"""

from __future__ import annotations

import click

from ggn_store.cli import options


@click.command("withdraw")
@click.argument("proposal", metavar="PROPOSAL")
@options.change_options
@click.pass_context
def command(ctx: click.Context, proposal: str, author: str | None, message: str | None) -> None:
    """Withdraw your own proposal, such as chess#4."""
    found = options.open_store(ctx).reviews.withdraw(proposal, author=author, message=message)
    click.echo(f"{found}: withdrawn")
