"""`ggn-store compare`"""

from __future__ import annotations

import click

from ggn_store.cli import answers, options

_COLUMNS = ("change", "sides", "piece", "other", "gained", "lost", "what")


@click.command("compare")
@click.argument("before", metavar="A", shell_complete=options.complete_ruleset)
@click.argument("after", metavar="B", shell_complete=options.complete_ruleset)
@answers.analysis_options
@click.pass_context
def command(ctx: click.Context, before: str, after: str, form: str | None, show_sql: bool) -> None:
    """Show in words how the pieces of two games differ: added, removed, renamed, changed.

    A and B are rulesets or revisions of them (NAME, NAME@REVISION, NAME:TAG). Pieces are matched by their identifiers,
    in any style, and others by how they move. gained and lost count moves, from a square to another, if the boards
    are equal; on different boards movement is compared as `same-movers` does, and state variables are not. Each piece
    is seen from its own side; what is true of both sides is one row. `diff` lists every possibility that differs.
    """
    store = options.open_store(ctx)
    references = [str(options.find_ruleset(store, each).revision) for each in (before, after)]
    found = store.analysis(answers.sql_reporter(show_sql)).compare(*references)
    options.print_records((each.data() for each in found), form, _COLUMNS)
    if not found:
        click.echo("no piece differs", err=True)
