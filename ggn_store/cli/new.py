"""`ggn-store new`"""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem

import ggn_store
from ggn_store.cli import options, stores
from ggn_store.cli.export import write_definition
from ggn_store.errors import DamagedError, printable
from ggn_store.model.teams.revision import check_name
from ggn_store.output import STDOUT, is_stream


def _complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rulesets of the store, and games of the library."""
    from ggn_store.api import completion

    stored = options.complete_ruleset(ctx, parameter, incomplete)
    known = {each.value for each in stored}
    return [
        *stored,
        *(each for each in options.completed(completion.game_names(), incomplete) if each.value not in known),
    ]


@options.command("new")
@click.argument("game", metavar="GAME")
@click.option(
    "--like",
    metavar="RULESET",
    required=True,
    shell_complete=_complete,
    help="The game to begin with: a ruleset of the store, or a game of the library.",
)
@click.option("--title", metavar="TEXT", help="The title of the new game. Default: made of its name.")
@click.option("-o", "--output", metavar="FILE", help="The file to write; - is standard output. Default: GAME.toml.")
def new(game: str, like: str, title: str | None, output: str | None) -> None:
    """Begin the definition of a game with that of another one.

    The definition (TOML) or game description (JSON) of a ruleset of the store (a name, or NAME@REVISION), else of the
    library's game of that name, is written to a file with another title and nothing else changed, comments included: to
    be edited, and loaded. A file that is there already is left as it is.
    """
    from ggn_store.api.loading.games import begun

    name = check_name(game).rpartition("/")[2]
    source, found = _source(like)
    text, ending = begun(source, title or name.replace("-", " ").replace("_", " ").capitalize())
    output = f"{name}{ending}" if output is None else output
    is_file = output != STDOUT and not is_stream(output)
    if is_file and os.path.exists(output):
        raise ggn_store.InputError(f"{printable(output)}: there is such a file already: name another one with -o")
    write_definition(text, output)
    if is_file:
        named = "" if output == f"{game}{ending}" else f" --name {game}"
        shown = printable(output)
        click.echo(f"{shown} begins like {printable(found)}: edit it, then `ggn-store load {shown}{named}`", err=True)


def _source(like: str) -> tuple[str, str]:
    """What a ruleset of the store was made from, else a game of the library, and what that is called."""
    from ggn_store.api.loading.games import library_source

    try:
        store = stores.open_store()
        ruleset = stores.find_ruleset(store, like)
    except ggn_store.GgnStoreError as error:  # perhaps there is no store yet
        if isinstance(error, DamagedError):
            raise
        try:
            return library_source(like), f"{like} of the library"
        except ggn_store.UnknownNameError as unknown:
            raise (error if isinstance(error, ggn_store.UnknownNameError) else unknown) from None
    return ruleset.export_definition(), str(ruleset.revision)
