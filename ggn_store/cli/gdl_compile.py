"""`ggn-store gdl compile`"""

from __future__ import annotations

from typing import Any, Final, cast

import click

import ggn_store
from ggn_store.api.specifications import compile_specification, read_specification_file
from ggn_store.cli import options
from ggn_store.errors import printable

_DIALECTS: Final = ("gdl", "diff")


@click.command("compile")
@click.argument("path", type=click.Path(), metavar="SPEC")
@click.option(
    "--piece-map",
    "pieces",
    multiple=True,
    metavar="KIND=CODE",
    help="The piece of a kind of entities: king=K, or king,moved=true=+K; may be given several times. Case is "
    "ignored: the player determines it.",
)
@click.option("--style", metavar="STYLE", help="The style of all pieces. Default: the first word of the game's name.")
@click.option("--dialect", type=click.Choice(_DIALECTS), default="gdl", show_default=True, help="The dialect to write.")
@options.output_option
def command(path: str, pieces: tuple[str, ...], style: str | None, dialect: str, output: str | None) -> None:
    """Write the document that a game description compiles to.

    SPEC is a file, or - for standard input. Every move of every kind of piece becomes an entry that names its action.
    What cannot be compiled is refused with its place, as `gdl check` prints it; so is a dialect that cannot say all
    of it, with what would be lost.
    """
    piece_map = {}
    for each in pieces:
        kind, equals, code = each.rpartition("=")
        if not equals:
            raise click.UsageError(f"--piece-map {printable(each)}: name a kind and its piece, as in king=K")
        piece_map[kind] = code
    file, data = read_specification_file(path)
    compiled = compile_specification(data, piece_map=piece_map, style=style, file=file)
    document = compiled.document
    if dialect != document.dialect:
        document = ggn_store.convert(document, cast(Any, dialect))
    options.write(document.canonical_parts(), output)
    names = ", ".join(f"{identifier}: {kind}" for identifier, kind in compiled.kinds.items())
    click.echo(f"{document.possibilities:,} possibilities of {len(document.pieces)} pieces", err=True)
    click.echo(printable(names), err=True)
