"""`ggn-store stats`"""

from __future__ import annotations

import click

from ggn_store.cli import answers, options

_COLUMNS = (
    *("ruleset", "revision", "dialect", "board", "squares", "pieces", "first", "second", "sources", "destinations"),
    *("possibilities", "drops", "conditions", "effects", "hand_effects", "keeps_turn"),
)
_PIECE_COLUMNS = ("piece", "side", *_COLUMNS[8:])


@click.command("stats")
@click.argument("rulesets", metavar="[RULESET]...", nargs=-1, shell_complete=options.complete_ruleset)
@click.option("--by", type=click.Choice(("ruleset", "piece")), default="ruleset", show_default=True, help="A row each.")
@answers.analysis_options
@click.pass_context
def command(ctx: click.Context, rulesets: tuple[str, ...], by: str, form: str | None, show_sql: bool) -> None:
    """Count what is in rulesets: pieces, sources, destinations, possibilities, conditions, effects.

    Without RULESET, all of the store in their newest revisions. Drops are possibilities from the hand; keeps_turn are
    those after which the same side moves again. --by piece is for one RULESET.
    """
    report = answers.sql_reporter(show_sql)
    if by == "piece":
        if len(rulesets) != 1:
            raise click.UsageError("--by piece counts the pieces of one ruleset: name one")
        found = options.open_ruleset(ctx, rulesets[0]).analysis(report).stats()
        options.print_records(found, form, _PIECE_COLUMNS)
        return
    options.print_records(options.open_store(ctx).analysis(report).stats(rulesets), form, _COLUMNS)
