"""`ggn-store delete`"""

from __future__ import annotations

import click

from ggn_store.cli import options


@click.command("delete")
@options.ruleset_argument
@click.pass_context
def command(ctx: click.Context, ruleset: str) -> None:
    """Hide a ruleset. Its revisions are kept: loading it again brings it back with them."""
    kept = options.open_store(ctx).delete(ruleset)
    revisions = "its revision is" if kept == 1 else f"its {kept} revisions are"
    click.echo(f"{ruleset} is hidden; {revisions} kept, and loading it again brings it back")
