"""`ggn-store show`"""

from __future__ import annotations

import click

from ggn_store.cli import options
from ggn_store.errors import printable
from ggn_store.render.records import compact, table

_PIECES = ("piece", "side", "sources", "destinations", "possibilities", "conditions")


@click.command("show")
@options.ruleset_argument
@options.output_format(("text", "json"), "Text (default), or one JSON object.")
@click.pass_context
def command(ctx: click.Context, ruleset: str, form: str | None) -> None:
    """Show a ruleset: where it comes from, its board and its pieces.

    RULESET is a name, or NAME@REVISION.
    """
    found = options.open_store(ctx).ruleset(ruleset)
    summary, pieces = found.summary().data(), found.piece_summaries()
    if form == "json":
        click.echo(compact(summary | {"pieces": pieces}))
        return
    for name, value in summary.items():
        if value is not None:
            click.echo(f"{name:14}{printable(str(value))}")
    click.echo()
    click.echo(table(_PIECES, [[str(piece[column]) for column in _PIECES] for piece in pieces]), nl=False)
