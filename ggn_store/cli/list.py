"""`ggn-store list`"""

from __future__ import annotations

import click

from ggn_store.api.games import library_games
from ggn_store.cli import options

_COLUMNS = ("name", "revision", "state", "dialect", "board", "pieces", "possibilities", "title")


_GAMES = ("name", "title", "board", "tier", "pieces", "possibilities")


@click.command("list")
@click.option(
    "--library", is_flag=True, help="List the games that come with ggn-store instead of the store's rulesets."
)
@click.option("--all", "everything", is_flag=True, help="List retired rulesets, too.")
@options.records_option
@click.pass_context
def command(ctx: click.Context, library: bool, everything: bool, form: str | None) -> None:
    """List the rulesets of the store, each in its newest revision, or the games of the library."""
    hidden = 0
    if library:
        found = [game.data() for game in library_games()]
    else:
        summaries = options.open_store(ctx).list()
        shown = [each for each in summaries if everything or each.revision.state != "retired"]
        found, hidden = [each.data() for each in shown], len(summaries) - len(shown)
    if hidden:
        click.echo(f"{hidden} retired ruleset{'s are' if hidden > 1 else ' is'} not listed (--all)", err=True)
    columns: tuple[str, ...] = _GAMES if library else _COLUMNS
    if options.record_format(form) == "table" and all(each.get("state") == "active" for each in found):
        columns = tuple(column for column in columns if column != "state")
    empty = None if hidden else "the store is empty: `ggn-store load --library` loads well-known games"
    options.print_records(found, form, columns, empty)
