"""`ggn-store uses`"""

from __future__ import annotations

import click

from ggn_store.cli import answers, options


@click.command("uses")
@options.ruleset_argument
@click.argument("state", metavar="STATE|PIECE|VARIABLE[=VALUE]")
@click.option("--by", type=click.Choice(("piece", "rule")), default="piece", show_default=True, help="A row each.")
@answers.analysis_options
@click.pass_context
def command(ctx: click.Context, ruleset: str, state: str, by: str, form: str | None, show_sql: bool) -> None:
    """Show which rules mention a piece (C:P), empty or enemy, or a state variable.

    The roles: rules, possibilities of the piece itself; must and deny, conditions; board and hand, effects. Of a state
    variable (ep), or of one of its values only (ep=4): when, a value that a possibility lets it have; state, its value
    after. --by piece counts the possibilities and mentions of each piece's rules in each role, --by rule lists them.
    """
    analysis = options.open_ruleset(ctx, ruleset).analysis(answers.sql_reporter(show_sql))
    if by == "piece":
        counted = (each.data() for each in analysis.uses(state))
        options.print_records(counted, form, ("piece", "role", "possibilities", "mentions"))
        return
    listed = (each.data() for each in analysis.each_use(state))
    options.print_records(listed, form, ("piece", "source", "destination", "ordinal", "role", "square"))
