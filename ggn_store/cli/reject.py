"""`ggn-store reject`"""

from __future__ import annotations

import click

from ggn_store.cli import options


@click.command("reject")
@click.argument("proposal", metavar="PROPOSAL")
@options.change_options
@click.pass_context
def command(ctx: click.Context, proposal: str, author: str | None, message: str | None) -> None:
    """Reject a proposal, such as chess#4: it is never merged.

    This also closes a broken proposal, which cannot be shown.
    """
    found = options.open_store(ctx).reviews.reject(proposal, author=author, message=message)
    click.echo(f"{found}: rejected")
