"""`ggn-store list`"""

from __future__ import annotations

import shutil
import sys

import click

from ggn_store.cli import options
from ggn_store.render.records import records

_COLUMNS = ("name", "revision", "dialect", "board", "pieces", "possibilities", "title")


@click.command("list")
@options.output_format(options.RECORD_FORMATS, "Default: a table on a terminal, NDJSON elsewhere.")
@click.pass_context
def command(ctx: click.Context, form: str | None) -> None:
    """List the rulesets of the store, each in its newest revision."""
    found = [summary.data() for summary in options.open_store(ctx).list()]
    form = options.record_format(form)
    if not found and form == "table":
        click.echo("the store is empty: `ggn-store load --library` loads what comes with ggn-store", err=True)
        return
    width = shutil.get_terminal_size().columns if options.is_terminal(sys.stdout) else None
    for part in records(found, form, _COLUMNS, width):
        click.echo(part, nl=False)
