"""`ggn-store blame`"""

from __future__ import annotations

import click

from ggn_store.cli import options
from ggn_store.render import history


@click.command("blame")
@options.ruleset_argument
@click.option("--piece", metavar="PIECE", help="Only the entries of this piece.")
@click.option("--source", metavar="SQUARE", help="Only the entries from this square; * is the hand.")
@click.option("--destination", metavar="SQUARE", help="Only the entries to this square; * is the hand.")
@options.records_option
@click.pass_context
def command(
    ctx: click.Context,
    ruleset: str,
    piece: str | None,
    source: str | None,
    destination: str | None,
    form: str | None,
) -> None:
    """Show the revision that last changed each entry of a ruleset, and its author.

    An entry is everything that a piece may do from a source to a destination. Without a filter, title, start position
    and the like are listed, too. RULESET is a name, or NAME@REVISION, NAME@sha256:DIGEST, NAME:TAG.
    """
    found = options.open_store(ctx).history.blame(ruleset, piece, source, destination)
    if options.record_format(form) == "table":
        options.print_records(history.blame_rows(found), form, history.BLAME_COLUMNS)
    else:
        options.print_records((each.data() for each in found), form, history.BLAME_FIELDS)
