"""`ggn-store coverage`"""

from __future__ import annotations

import click

from ggn_store.cli import answers, options


@click.command("coverage")
@options.ruleset_argument
@click.option("--piece", metavar="PIECE", help="Only this piece.")
@click.option("--source", metavar="SQUARE", help="With --piece: as if it stood here alone, or were in the hand (*).")
@answers.analysis_options
@click.pass_context
def command(
    ctx: click.Context, ruleset: str, piece: str | None, source: str | None, form: str | None, show_sql: bool
) -> None:
    """Show which squares each piece can ever stand on.

    Every piece begins at the start position (without one, on every square that it has rules from) and goes on by its
    rules, promotions, drops and the moves of others, with anything else on the board: conditions count only if they
    can never hold together, and state variables may have any values. No game reaches more squares; it may reach fewer.
    """
    if source is not None and piece is None:
        raise click.UsageError("--source says where a piece stands: name it with --piece")
    analysis = options.open_ruleset(ctx, ruleset).analysis(answers.sql_reporter(show_sql))
    found = analysis.coverage(piece) if source is None else [analysis.coverage_from(str(piece), source)]
    form = options.record_format(form)
    rows = [each.data() for each in found]
    if form == "table":
        rows = [row | {"squares": "all"} if row["count"] == row["of"] else row for row in rows]
    options.print_records(rows, form, ("piece", "count", "of", "hand", "squares"))
