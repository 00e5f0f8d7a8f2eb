"""`ggn-store export`"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ggn_store.cli import options
from ggn_store.errors import printable


@click.command("export")
@options.ruleset_argument
@click.option("--dialect", type=click.Choice(options.DIALECTS), help="The dialect to write. Default: its own.")
@options.output_option
@click.pass_context
def command(ctx: click.Context, ruleset: str, dialect: Any, output: str | None) -> None:
    """Write the document of a ruleset back, in canonical form.

    RULESET is a name, or NAME@REVISION. Another dialect is refused where it would lose something (see `convert`).
    Title, source, start position and board, which a document cannot say of itself, are written into a TOML file
    beside a FILE that ends in .json, where `load` looks for them.
    """
    found = options.open_ruleset(ctx, ruleset)
    parts = found.export_parts(dialect)
    if dialect not in (None, found.dialect):
        options.tell_left_out(found.document(), dialect)
    options.write(parts, output)
    said = found.export_beside()
    if output is None or not output.endswith(".json") or not said:
        return
    beside = Path(output).with_suffix(".toml")
    if not beside.exists():
        options.write([said], str(beside))
        click.echo(f"what the document cannot say of itself is in {printable(str(beside))}", err=True)
    elif beside.read_bytes() != said.encode():
        click.echo(f"{printable(str(beside))} is there already, says otherwise, and was left as it is", err=True)
