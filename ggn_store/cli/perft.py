"""`ggn-store perft`"""

from __future__ import annotations

from typing import Any

import click

from ggn_store.cli import options, printing, stores
from ggn_store.errors import counted
from ggn_store.model.moves.chain import Chain, path_of

_COLUMNS = ("piece", "source", "destination", "ordinal", "count")


@options.command("perft")
@options.ruleset_argument
@click.option("--depth", type=options.IntRange(1), metavar="N", required=True, help="How many moves each path has.")
@click.option("--divide", is_flag=True, help="Print the paths that begin with each move, too.")
@options.position_options
@click.option(
    "--engine",
    type=options.OneOf(("sqlite", "postgres", "duckdb")),
    help="Where to make the moves. Default: in the store's own database, or in sqlite where that lets you make no "
    "temporary tables. duckdb uses all cores (extra [duckdb]).",
)
@options.legal_option
@click.option(
    "--stop-at-end",
    is_flag=True,
    help="Go no further from positions in which a declared outcome has ended the game, as engines do.",
)
@options.assume_option
@options.output_format(options.RECORD_FORMATS, "Default: text on a terminal, NDJSON elsewhere.")
def perft(ruleset: str, depth: int, form: str | None, given: options.GivenPosition, **asked: Any) -> None:
    """Count the paths of N moves from a position.

    All moves of a ply are made in one statement of the database, every board being built, those after the last move
    too. Without a position, the ruleset's own start position. RULESET is a name, NAME@REVISION, or a
    proposal, NAME#NUMBER.
    """
    found = stores.open_ruleset(ruleset)
    position = options.position(found, given)
    result = found.perft(position, depth, **asked)
    if printing.record_format(form) != "table":
        rows = [result.data()] if result.by_move is None else result.data()["by_move"]
        columns = tuple(rows[0]) if rows and not asked["divide"] else _COLUMNS
        if any("path" in row for row in rows):
            columns = (*_COLUMNS[:-1], "path", "count")
        printing.print_records(rows, form, columns)
        return
    for move, count in result.by_move or ():
        which = "" if isinstance(move, Chain) else f" {move.ordinal}"
        click.echo(f"{move.piece} {' '.join(path_of(move))}{which}: {count:,}")
    click.echo(
        f"{found.revision}: {result.count:,} paths of {counted(depth, 'move')} "
        f"({result.engine}, {result.running:.3f} s, rules compiled in {result.compiling:.3f} s)"
    )
