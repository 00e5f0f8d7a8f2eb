"""`ggn-store draw`"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ggn_store.cli import options, printing, stores
from ggn_store.errors import GgnStoreError, printable
from ggn_store.model.pictures.picture import Picture
from ggn_store.model.pictures.style import STYLES
from ggn_store.output import STDOUT, is_stream
from ggn_store.render import png, terminal
from ggn_store.render.diagrams import to_svg
from ggn_store.render.picture_text import to_text

_SVG = ".svg"
_PNG = ".png"
_WIDEST = 1000  # pixels of a picture on a terminal, which does not scale it


@options.command("draw")
@options.ruleset_argument
@click.option("--piece", metavar="PIECE", help="The moves of this piece, on an empty board or in the position given.")
@click.option(
    "--source",
    metavar="SQUARE",
    help="From this square, or * for the hand. Default: where it has most destinations, or where it stands.",
)
@options.position_options
@click.option(
    "--last",
    nargs=2,
    metavar="SQUARE SQUARE",
    help="Colour the squares of the last move: where it came from, or * for the hand, and where it went.",
)
@click.option("--mobility", is_flag=True, help="How many squares the piece reaches from each square, as a heat map.")
@click.option("--poster", is_flag=True, help="The moves of all pieces, on one page.")
@click.option(
    "--style", type=options.OneOf([*STYLES]), help="How it is drawn. Default: chosen by the board and the pieces."
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to this file, .svg or .png. Default: shown on a terminal, SVG to standard output elsewhere.",
)
def draw(  # noqa: PLR0913  (its options)
    ruleset: str,
    piece: str | None,
    source: str | None,
    last: tuple[str, str] | None,
    mobility: bool,
    poster: bool,
    style: str | None,
    output: str | None,
    given: options.GivenPosition,
) -> None:
    """Draw a position, moves, mobility, or a poster of all pieces.

    Without options the start position. A piece without a position is drawn with all that it may ever do, whatever
    stands on the board: a disc, it moves or captures; a ring, it only moves; a cross, it only captures; dashed, over a
    piece in between; a square around, something else changes, too; a plus, it becomes another piece. A terminal that
    can show pictures (kitty, iTerm2) does, others show a board of text. PNG needs: pip install 'ggn-store[png]'.
    RULESET is a name, NAME@REVISION, or a
    proposal, NAME#NUMBER.
    """
    form = _form(output)
    has_position = bool(given.names)
    if mobility and poster:
        raise click.UsageError("--mobility and --poster are different pictures: ask for one of them")
    if poster and (piece or source or has_position):
        raise click.UsageError("--poster shows all pieces: leave --piece, --source and the position out")
    if mobility and (piece is None or source or has_position):
        raise click.UsageError("--mobility is of one piece on an empty board: give --piece, and nothing else")
    if given.side is not None and (mobility or poster or (piece is not None and not has_position)):
        raise click.UsageError("--side is the side to move of a position: give one, or leave --side out")
    if last is not None and (mobility or poster or (piece is not None and not has_position)):
        raise click.UsageError("--last is the last move of a position: give one, or leave --last out")
    found = stores.open_store().ruleset(ruleset)
    is_shown = has_position or given.side is not None
    position = options.position(found, given) if is_shown else None
    picture = found.pictures.picture(
        piece=piece,
        source=source,
        position=position,
        mobility=mobility,
        poster=poster,
        style=style,
        last=last or (),
    )
    if output is None and printing.is_terminal(sys.stdout):
        _show(picture)
    elif form == _PNG:
        printing.write_bytes([png.to_png(to_svg(picture))], str(output))
    else:
        printing.write([to_svg(picture)], output)


def _form(output: str | None) -> str:
    """The form to write, by the file's extension; wrong ones are refused before any work."""
    if output in (None, STDOUT):
        return _SVG
    extension = Path(str(output)).suffix.lower()
    if extension not in (_SVG, _PNG) and is_stream(str(output)):
        return _SVG
    if extension not in (_SVG, _PNG):
        raise click.UsageError(f"-o {printable(str(output))}: a picture's file ends in .svg or .png")
    return extension


def _show(picture: Picture) -> None:
    """The picture where the terminal can show one and PNG can be made, else as text."""
    way = terminal.protocol(os.environ)
    if way is None:
        click.echo(to_text(picture), nl=False)
        return
    try:
        image = png.to_png(to_svg(picture), widest=_WIDEST)
    except GgnStoreError as error:
        click.echo(to_text(picture), nl=False)
        click.echo(f"shown as text: {error}", err=True)
        return
    printing.write(terminal.shown(image, way))
