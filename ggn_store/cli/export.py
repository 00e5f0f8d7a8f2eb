"""`ggn-store export`"""

from __future__ import annotations

import click

from ggn_store.cli import options


@click.command("export")
@options.ruleset_argument
@options.output_option
@click.pass_context
def command(ctx: click.Context, ruleset: str, output: str | None) -> None:
    """Write the document of a ruleset back, in canonical form.

    RULESET is a name, or NAME@REVISION.
    """
    options.write(options.open_ruleset(ctx, ruleset).export_parts(), output)
