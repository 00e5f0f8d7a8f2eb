"""`ggn-store dead`"""

from __future__ import annotations

import click

from ggn_store.cli import answers, options

_COLUMNS = ("kind", "piece", "source", "destination", "ordinal", "by", "square", "state", "possibilities")


@click.command("dead")
@options.ruleset_argument
@answers.analysis_options
@click.pass_context
def command(ctx: click.Context, ruleset: str, form: str | None, show_sql: bool) -> None:
    """Show rules that can never apply, or that could be left out.

    never: the conditions contradict each other, or what stands on the source. duplicate: the same as an earlier
    possibility of the destination (by: its ordinal). shadowed: another one has the same effects, and holds whenever
    this one does. And where there is a start position, unreachable: the piece never comes to the source. absent: what
    must stand on a square never comes there; see `coverage`.
    """
    found = options.open_ruleset(ctx, ruleset).analysis(answers.sql_reporter(show_sql)).dead()
    options.print_records((each.data() for each in found), form, _COLUMNS)
    click.echo(options.counted(len(found), "finding") if found else "no dead rules", err=True)
