"""`ggn-store generate`"""

from __future__ import annotations

from typing import Any, cast

import click

import ggn_store
from ggn_store.api.games import generate_parts
from ggn_store.cli import options


@click.command("generate")
@click.argument("game", metavar="GAME|FILE", shell_complete=options.complete_game)
@click.option(
    "--dialect", type=click.Choice(options.DIALECTS), default="diff", show_default=True, help="The dialect to write."
)
@options.output_option
def command(game: str, dialect: str, output: str | None) -> None:
    """Write the document of a game that is defined by its boards, pieces and their moves.

    GAME is a name of the library (see `list --library`), FILE the path of a definition (.toml), or - for standard
    input. A dialect that cannot say all of it is refused, and what would be lost is listed.
    `ggn-store guide defining-games` describes definitions.
    """
    options.write(generate_parts(ggn_store.find_game(game), cast(Any, dialect)), output)
