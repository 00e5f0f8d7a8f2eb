"""Pictures as text, for terminals that show nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ggn_store.errors import printable
from ggn_store.model.documents.board import Board
from ggn_store.model.moves.position import Position
from ggn_store.model.pictures.picture import Diagram, HeatMap, Picture, Poster
from ggn_store.notation.board_text import MAX_DRAWN, grid, short_names
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.render import legend
from ggn_store.render.diagrams import mobility_summary


def to_text(picture: Picture) -> str:
    """The picture as lines of text: boards are drawn up to 32 by 32, larger and irregular ones listed by square."""
    match picture:
        case Diagram():
            found = _diagram(picture)
        case HeatMap():
            found = _heat_map(picture)
        case Poster():
            found = _poster(picture)
    return "".join(f"{printable(line).rstrip()}\n" for line in found)


def _board(board: Board, tokens: Mapping[str, str]) -> Iterator[str]:
    """The board with what `tokens` has of its squares."""
    box = board.extent
    if box is not None and max(box[1]) <= MAX_DRAWN:
        yield from grid(tokens, *box, board.numbers)
    else:
        yield from [f"{square} {token}" for square, token in tokens.items()] or ["(nothing)"]


def _diagram(picture: Diagram) -> Iterator[str]:
    if picture.caption:
        yield picture.caption
    yield from _marked(picture)
    yield from _hands(picture.position)
    if picture.last:
        yield f"last move: {', '.join(picture.last)}"
    if picture.checked:
        yield f"in check: {', '.join(picture.checked)}"
    if not picture.is_of_moves:
        yield f"{picture.position.side} to move"
        return
    yield ""
    yield from _legend([picture])


def _marked(picture: Diagram) -> Iterator[str]:
    tokens = short_names({square: piece for square, piece in picture.position.board.items() if piece is not None})
    for mark in picture.marks:
        if mark.square != HAND:
            tokens[mark.square] = legend.symbol(mark) + tokens.get(mark.square, "")
    yield from _board(picture.board, tokens)


def _hands(position: Position) -> Iterator[str]:
    for side in ("first", "second"):
        held = [f"{count} {piece}" for piece, count in (position.hands or {}).items() if side_of(piece) == side]
        if held:
            yield f"hand of {side}: {', '.join(held)}"


def _legend(pictures: list[Diagram]) -> Iterator[str]:
    is_drop = all(picture.source == HAND for picture in pictures)
    marks = [mark for picture in pictures for mark in picture.marks]
    for shape in legend.used(marks):
        yield f"{legend.symbol_of(shape):>3}  {legend.meaning(shape, is_drop)}"
    for mark in marks:
        if mark.square == HAND:
            yield f"     {mark.words}"
    if not marks:
        yield "no moves"


def _heat_map(picture: HeatMap) -> Iterator[str]:
    yield picture.title
    yield from _board(picture.board, {square: str(picture.counts.get(square, 0)) for square in picture.board.squares})
    yield mobility_summary(picture)


def _poster(picture: Poster) -> Iterator[str]:
    yield picture.title
    yield picture.subtitle
    for card in picture.cards:
        yield ""
        yield card.caption
        yield from _marked(card)
    yield ""
    yield from _legend([*picture.cards])
    yield from picture.notes
