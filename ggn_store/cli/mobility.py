"""`ggn-store mobility`"""

from __future__ import annotations

import click

from ggn_store.cli import answers, options

_COLUMNS = ("piece", "squares", "total", "mean", "min", "max", "quiet", "capture", "reach", "colours")
_FLAT = (
    *_COLUMNS[:6],
    *(f"{kind}{number}" for kind in ("quiet", "capture") for number in ("", "_mean", "_min", "_max")),
    *_COLUMNS[8:],
)
_SQUARE_COLUMNS = ("piece", "source", "destinations", "quiet", "capture")


@click.command("mobility")
@options.ruleset_argument
@click.option("--piece", metavar="PIECE", help="Only this piece.")
@click.option("--by", type=click.Choice(("piece", "square")), default="piece", show_default=True, help="A row each.")
@answers.analysis_options
@click.pass_context
def command(ctx: click.Context, ruleset: str, piece: str | None, by: str, form: str | None, show_sql: bool) -> None:
    """Show how many squares each piece can go to, alone on the board.

    A destination is quiet if a possibility holds with nothing else on the board, and a capture if one holds with an
    enemy on it and nothing else, whatever the values of state variables. total, mean, min and max count destinations of
    either kind, over the squares that the piece has rules from; quiet and capture count one kind (JSON and CSV have
    mean, min and max of each). reach: the most squares that it gets to from one, in any number of moves. colours: bound
    as a bishop, alternating as a knight, or free. --by square lists the destinations from each square, and from the
    hand (*).
    """
    analysis = options.open_ruleset(ctx, ruleset).analysis(answers.sql_reporter(show_sql))
    if by == "square":
        options.print_records((each.data() for each in analysis.mobility_by_square(piece)), form, _SQUARE_COLUMNS)
        return
    columns = _FLAT if options.record_format(form) == "csv" else _COLUMNS
    options.print_records((each.data() for each in analysis.mobility(piece)), form, columns)
