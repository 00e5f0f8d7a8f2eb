"""`ggn-store compile`"""

from __future__ import annotations

import click

from ggn_store.cli import options
from ggn_store.errors import printable


@click.command("compile")
@options.ruleset_argument
@click.option("-o", "--output", metavar="DIRECTORY", required=True, help="Where the files go; it must not hold any.")
@click.pass_context
def command(ctx: click.Context, ruleset: str, output: str) -> None:
    """Write a ruleset as Parquet files that DuckDB, Spark or any other engine can join.

    RULESET is a name, or NAME@REVISION. Needs pyarrow: pip install 'ggn-store[duckdb]'.
    """
    found = options.open_ruleset(ctx, ruleset)
    found.columns.compile(output)
    rows = found.columns.compiled.metadata["rows"]
    click.echo(f"{found.revision}: {rows['possibility']:,} possibilities compiled to {printable(output)}", err=True)
