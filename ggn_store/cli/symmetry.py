"""`ggn-store symmetry`"""

from __future__ import annotations

from collections import Counter

import click

from ggn_store.cli import answers, options

_COLUMNS = ("of", "symmetry", "holds", "entries", "possibilities", "start", "where")
_ENTRY_COLUMNS = (
    *("of", "symmetry", "piece", "source", "destination", "possibilities"),
    *("other_piece", "other_source", "other_destination", "other_possibilities", "what"),
)
_SHOWN = 10


@click.command("symmetry")
@options.ruleset_argument
@click.option(
    "--by", type=click.Choice(("symmetry", "entry")), default="symmetry", show_default=True, help="A row each."
)
@click.option("--symmetry", metavar="NAME", help="With --by entry: only this one, as the other rows name it.")
@click.option("--all", "every", is_flag=True, help=f"With --by entry: all, not the first {_SHOWN} of each symmetry.")
@answers.analysis_options
@click.pass_context
def command(
    ctx: click.Context, ruleset: str, by: str, symmetry: str | None, every: bool, form: str | None, show_sql: bool
) -> None:
    """Show whether the two sides are mirror images of one another, and where not.

    sides: what one side can do, mirrored or turned, is what the other side can do; `equal` is on the same squares.
    first, second: the side is a mirror image of itself from left to right. All possibilities are compared, conditions
    and effects included, but for their order. entries: from where to where it is not so, an entry and its image counted
    once; possibilities: those without a counterpart. start: the start position is symmetric, too. --by entry lists
    where, and in what: of the sides, if there is no symmetry, that with the fewest entries, and of each side. State
    variables are left out of it: nothing says what their values become in a mirror.
    """
    if by != "entry" and (symmetry is not None or every):
        raise click.UsageError("--symmetry and --all go with --by entry: add it")
    found = options.open_ruleset(ctx, ruleset)
    analysis = found.analysis(answers.sql_reporter(show_sql))
    if by == "symmetry":
        options.print_records((each.data() for each in analysis.symmetries()), form, _COLUMNS)
    else:
        listed = analysis.asymmetries(symmetry, None if every else _SHOWN)
        options.print_records((each.data() for each in listed), form, _ENTRY_COLUMNS)
        if not every and _SHOWN in Counter((each.of, each.symmetry) for each in listed).values():
            click.echo(f"the first {_SHOWN} of each symmetry; --all lists all", err=True)
    answers.note_state_variables([found])
    if found.board.extent is None:
        click.echo("note: the squares have no coordinates, so nothing can be mirrored or turned", err=True)
