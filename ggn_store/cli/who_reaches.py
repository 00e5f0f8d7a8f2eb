"""`ggn-store who-reaches`"""

from __future__ import annotations

import click

from ggn_store.cli import answers, options


@click.command("who-reaches")
@options.ruleset_argument
@click.argument("square", metavar="SQUARE")
@answers.analysis_options
@click.pass_context
def command(ctx: click.Context, ruleset: str, square: str, form: str | None, show_sql: bool) -> None:
    """Show which pieces have rules that lead to SQUARE, and from where.

    quiet: it gets there on a board that is empty otherwise; capture: it takes an enemy who stands there alone. Where
    neither is so, other pieces have to stand somewhere, as for a cannon's jump or castling. State variables may have
    any values. * is the hand.
    """
    found = options.open_ruleset(ctx, ruleset).analysis(answers.sql_reporter(show_sql)).who_reaches(square)
    columns = ("piece", "source", "quiet", "capture", "possibilities")
    options.print_records((each.data() for each in found), form, columns)
