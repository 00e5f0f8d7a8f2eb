"""`ggn-store same-movers`"""

from __future__ import annotations

import click

from ggn_store.cli import answers, options
from ggn_store.errors import printable

_COLUMNS = ("fingerprint", "ruleset", "revision", "piece", "relation")
_GROUP_COLUMNS = ("fingerprint", "pieces", "rulesets", "moves", "movers")


@click.command("same-movers")
@click.argument("rulesets", metavar="[RULESET]...", nargs=-1, shell_complete=options.complete_ruleset)
@click.option("--piece", metavar="PIECE", help="Only pieces that move like this one.")
@click.option(
    "--ruleset",
    metavar="RULESET",
    shell_complete=options.complete_ruleset,
    help="With --piece: whose piece it is. Default: any RULESET's that has it.",
)
@click.option("--rules", is_flag=True, help="Compare what moves change, too, and drops.")
@click.option("--exact", is_flag=True, help="Only on boards of one size, square by square.")
@click.option("--equal", is_flag=True, help="Distinguish mirrored and turned movement.")
@click.option(
    "--by", type=click.Choice(("group", "piece")), help="A row each. Default: piece with --piece, else group."
)
@answers.analysis_options
@click.pass_context
def command(
    ctx: click.Context,
    rulesets: tuple[str, ...],
    piece: str | None,
    ruleset: str | None,
    rules: bool,
    exact: bool,
    equal: bool,
    by: str | None,
    form: str | None,
    show_sql: bool,
) -> None:
    """Show which pieces of all games move alike, equal or mirrored.

    Without RULESET, all of the store in their newest revisions. The comparison covers where pieces go and what must
    stand where, not the names of pieces and squares, each seen from its own side; capturing a kind of piece counts as
    capturing an enemy. A ride over any number of empty squares is the same on boards of any size. Equal movement has
    an equal fingerprint, in any store. State variables may have any values, and are left out of it. relation: how a
    piece's movement comes from that of the first of its group.

    `same-movers --piece C:N --ruleset chess` shows all that move like a knight.
    """
    if ruleset is not None and piece is None:
        raise click.UsageError("--ruleset says whose piece it is: name the piece with --piece")
    analysis = options.open_store(ctx).analysis(answers.sql_reporter(show_sql))
    found = analysis.same_movers(rulesets, piece=piece, ruleset=ruleset, whole=rules, exact=exact, mirrored=not equal)
    if found.left_out:
        names = printable(", ".join(found.left_out))
        click.echo(f"note: squares without coordinates, so left out: {names}", err=True)
    if (by or ("group" if piece is None else "piece")) == "piece":
        records = [record for group in found.groups for record in group.records()]
        options.print_records(records, form, _COLUMNS)
    else:
        options.print_records((group.data() for group in found.groups), form, _GROUP_COLUMNS)
