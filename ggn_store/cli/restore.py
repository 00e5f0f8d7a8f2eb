"""`ggn-store restore`"""

from __future__ import annotations

import click

from ggn_store.cli import options


@click.command("restore")
@options.ruleset_argument
@options.change_options
@click.pass_context
def command(ctx: click.Context, ruleset: str, author: str | None, message: str | None) -> None:
    """Make the content of an old revision the newest one again, as the next revision.

    RULESET is NAME@REVISION, NAME@sha256:DIGEST or NAME:TAG; what came since stays in the history. The NAME alone
    brings back a ruleset that was deleted.
    """
    revision = options.open_store(ctx).history.restore(ruleset, message=message, author=author)
    match revision.status:
        case "unchanged":
            click.echo(f"{revision}: unchanged, it has this content already")
        case "restored":
            click.echo(f"{revision}: brought back")
        case _:
            click.echo(f"{revision}: has the content of {ruleset} again")
