"""Pictures as SVG: diagrams of positions and moves, heat maps of mobility, and posters of a game's pieces."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ggn_store.errors import PictureError
from ggn_store.model.changes.changes import ChangeKind
from ggn_store.model.moves.position import Position
from ggn_store.model.pictures.marks import Mark
from ggn_store.model.pictures.picture import ChangedMoves, Diagram, HeatMap, Link, Picture, Poster
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, side_of
from ggn_store.render import legend, svg
from ggn_store.render.layout import UNIT, BoardDrawing, lay_out
from ggn_store.render.svg import Font
from ggn_store.render.tokens import DARK, LIGHT, token

MAX_POSTER_SQUARES: Final = 60_000
_PAD: Final = 12.0
_SMALL: Final = 14.0
_NOTE: Final = Font(_SMALL, "start")
_CAPTION: Final = Font(18, is_bold=True)
_LINE: Final = 24.0
_HELD: Final = 0.86 * UNIT
_COUNT: Final = 0.74 * UNIT
_ROWS: Final = 2
_ABREAST: Final = 30 * UNIT  # two boards that are wider stand one below the other
_LONGEST: Final = 300  # of what a link is called


def to_svg(picture: Picture) -> str:
    """The picture as SVG; raises PictureError where it would be too large."""
    match picture:
        case Diagram():
            return _diagram(picture)
        case HeatMap():
            return _heat_map(picture)
        case Poster():
            return _poster(picture)
        case ChangedMoves():
            return _changed_moves(picture)


@dataclass(frozen=True, slots=True)
class _Part:
    """Elements with the size of what they cover."""

    parts: tuple[str, ...]
    width: float
    height: float


def _page(
    caption: str, board: _Part, below: _Part, name: str, description: str, role: Literal["img", "group"] = "img"
) -> str:
    width = max(board.width, below.width, min(svg.text_width(caption, 18, True), 640.0))
    top = _PAD
    parts = []
    if caption:
        parts.append(svg.text(caption, _PAD + width / 2, top + 13, width, _CAPTION))
        top += 34
    parts.append(svg.moved(board.parts, _PAD + (width - board.width) / 2, top))
    top += board.height
    if below.parts:
        parts.append(svg.moved(below.parts, _PAD, top + _PAD))
        top += _PAD + below.height
    return svg.document(parts, width + 2 * _PAD, top + _PAD, name, description, role=role)


# --- positions and moves ---


def _diagram(picture: Diagram) -> str:
    has_links = bool(picture.links or picture.hand_links)
    board = _board(picture, shows_turn=has_links or not picture.is_of_moves)
    marks = [*picture.marks, *(mark for each in picture.others for mark in each.marks if mark.square != HAND)]
    below = _legend(marks, picture.source == HAND) if picture.is_of_moves else _turn(picture.position)
    role: Literal["img", "group"] = "group" if has_links else "img"
    return _page(picture.caption, board, below, picture.title, described(picture), role)


def thumbnail(picture: Diagram) -> str:
    """The board and what stands on it as a small SVG, without anything around it; PictureError for a large one."""
    layout = lay_out(picture.board, picture.is_flipped, picture.style)
    left, top = (min(axis) for axis in zip(*layout.corners.values(), strict=True))
    right, bottom = (max(axis) + UNIT for axis in zip(*layout.corners.values(), strict=True))
    *ground, _ = layout.ground
    rim = 5 if layout.is_hexagonal else 1
    parts = svg.moved((*ground, *_pieces(picture, layout)), rim - left, rim - top)
    size = right - left + 2 * rim, bottom - top + 2 * rim
    return svg.document([parts], *size, picture.title, described(picture), paper="none")


def _pieces(picture: Diagram, layout: BoardDrawing) -> list[str]:
    position, has_style = picture.position, _has_styles(picture.position)
    return [
        token(piece, *layout.middle(square), UNIT, picture.style, has_style, picture.is_flipped)
        for square, piece in position.board.items()
        if piece is not None
    ]


def _has_styles(position: Position) -> bool:
    """Whether the pieces of a position are of several styles, which are shown then."""
    pieces = (*filter(None, position.board.values()), *(position.hands or {}))
    return len({piece.split(":")[0].upper() for piece in pieces}) > 1


def _board(picture: Diagram, shows_turn: bool) -> _Part:
    """The board, its pieces and marks, and the hands beside it."""
    layout = lay_out(picture.board, picture.is_flipped, picture.style)
    position = picture.position
    pieces = {square for square, piece in position.board.items() if piece is not None}
    parts = [*layout.ground, layout.cells(picture.last, fill="#e0a800", fill_opacity=0.4)]
    parts += [_checked(square, *layout.middle(square)) for square in picture.checked if square in layout.corners]
    standing = [_chosen(layout, picture.source)] if picture.source in layout.corners else []
    standing += _pieces(picture, layout)
    standing.append(
        svg.group(
            legend.drawn(mark, *layout.middle(mark.square), UNIT, mark.square in pieces)
            for mark in picture.marks
            if mark.square in layout.corners
        )
    )
    parts += _with_others(picture, layout, standing) if picture.others else standing
    inset = 3 if layout.is_hexagonal else 0
    parts.append(
        svg.group(
            _linked(link, x + inset, y + inset, UNIT - 2 * inset, data_square=square)
            for square, (x, y) in layout.corners.items()
            if (link := picture.links.get(square)) is not None
        )
    )
    width = layout.width
    if shows_turn:
        parts.append(_pointer(layout, position.side, picture.is_flipped))
        width += 22
    hands = _hands(position, layout, picture)
    if hands.parts:
        parts.append(svg.moved(hands.parts, width + _PAD, layout.top))
        width += _PAD + hands.width
    return _Part(tuple(parts), width, max(layout.height, layout.top + hands.height))


def _with_others(picture: Diagram, layout: BoardDrawing, standing: list[str]) -> list[str]:
    """The sources of a piece as groups, of which a style sheet shows the one that the address of the page names.

    What they share is drawn once: they are many.
    """
    shared = {"piece": token(str(picture.piece), 0, 0, UNIT, picture.style)}
    numbers: dict[tuple[str, ...], str] = {}
    groups = []
    for other in picture.others:
        source = str(other.source)
        places = [("piece", source)]
        for mark in other.marks:
            if mark.square in layout.corners:
                key = tuple(legend.shapes(mark))
                name = numbers.setdefault(key, f"mark-{len(numbers)}")
                shared.setdefault(name, legend.bare(mark, 0, 0, UNIT))
                places.append((name, mark.square))
        uses = [_used(name, *layout.middle(square)) for name, square in places]
        groups.append(svg.group([_chosen(layout, source), *uses], id=picture.anchor(source), class_="from"))
    # Of those that are siblings, a style sheet can hide what follows.
    groups.append(svg.group(standing, class_="chosen"))
    drawn = (svg.group([body], id=name) for name, body in shared.items())
    return [svg.element("defs", "".join(drawn)), svg.group(groups)]


def _used(name: str, x: float, y: float) -> str:
    return svg.element("use", href=f"#{name}", x=x, y=y)


def _chosen(layout: BoardDrawing, square: str) -> str:
    """A frame in the square whose moves are shown."""
    if layout.is_hexagonal:
        return layout.cells([square], fill="none", stroke=svg.INK, stroke_width=3)
    x, y = layout.middle(square)
    return svg.rectangle(x - 22, y - 22, 44, 44, fill="none", stroke=svg.INK, stroke_width=3)


def _checked(square: str, x: float, y: float) -> str:
    """A ring around a royal piece that is in check, and its square washed."""
    ring = svg.circle(x, y, 0.46 * UNIT, fill="#ff6b6b", fill_opacity=0.45, stroke="#b3001b", stroke_width=3)
    return svg.group([svg.title(f"{square}: in check"), ring], class_="checked", data_square=square)


def _linked(link: Link, x: float, y: float, size: float, **attributes: str) -> str:
    """A place that leads somewhere: nothing that is seen, above all that is."""
    words = svg.shortened(link.words, _LONGEST)
    body = svg.title(words) + _place(x + 1, y + 1, size - 2)
    return svg.element("a", body, class_="place", href=link.address, aria_label=words, **attributes)


@functools.lru_cache(maxsize=1_024)  # of boards, most are the same
def _place(x: float, y: float, size: float) -> str:
    return svg.rectangle(x, y, size, size, fill=svg.PAPER, fill_opacity=0)


def _pointer(layout: BoardDrawing, side: Side, is_flipped: bool) -> str:
    """A triangle beside the side to move."""
    x = layout.right + 6
    y = layout.bottom - UNIT / 2 if (side == "first") != is_flipped else layout.top + UNIT / 2
    fill = LIGHT if side == "first" else DARK
    corners = [(x, y), (x + 14, y - 9), (x + 14, y + 9)]
    return svg.polygon(corners, fill=fill, stroke=svg.INK, stroke_width=1.5)


def _hands(position: Position, layout: BoardDrawing, picture: Diagram) -> _Part:
    """The hands: the second side's at the top, the first side's at the bottom; on a flipped board the other way."""
    held = position.hands or {}
    if not held:
        return _Part((), 0, 0)
    most = max(_ROWS, int((layout.bottom - layout.top - 12) / 2 / _HELD))
    parts: list[str] = []
    ends = ("first", "second") if picture.is_flipped else ("second", "first")
    of_side = {side: [piece for piece in held if side_of(piece) == side] for side in ends}
    has_style = _has_styles(position)
    rows = {side: min(most, len(pieces)) for side, pieces in of_side.items()}
    height = max(layout.bottom - layout.top, sum(rows.values()) * _HELD + 12)
    columns = max([-(-len(pieces) // most) for pieces in of_side.values()])
    for side, pieces in of_side.items():
        if not pieces:
            continue
        top = 0 if side == ends[0] else height - rows[side] * _HELD
        across = -(-len(pieces) // most) * (_HELD + _COUNT)
        parts.append(
            svg.rectangle(0, top, across, rows[side] * _HELD, rx=6, fill="#f1f1f1", stroke=svg.FAINT, stroke_width=1)
        )
        for number, piece in enumerate(pieces):
            column, row = divmod(number, most)
            x = column * (_HELD + _COUNT) + _HELD / 2
            y = top + (row + 0.5) * _HELD
            if picture.source == HAND and piece == picture.piece:
                parts.append(svg.rectangle(x - 18, y - 18, 36, 36, rx=4, fill="none", stroke=svg.INK, stroke_width=2.5))
            parts.append(token(piece, x, y, 0.9 * _HELD, picture.style, has_style, picture.is_flipped))
            parts.append(svg.text(f"×{held[piece]}", x + _HELD / 2, y, _COUNT - 4, _NOTE._replace(smallest=6)))
            if (link := picture.hand_links.get(piece)) is not None:
                parts.append(_linked(link, x - _HELD / 2, y - _HELD / 2, _HELD, data_piece=piece))
    return _Part(tuple(parts), columns * (_HELD + _COUNT), height)


def _turn(position: Position) -> _Part:
    fill = LIGHT if position.side == "first" else DARK
    words = f"{position.side} to move"
    return _Part(
        (
            svg.circle(8, 8, 6.5, fill=fill, stroke=svg.INK, stroke_width=1.5),
            svg.text(words, 22, 8, 200, _NOTE),
        ),
        22 + svg.text_width(words, _SMALL),
        16,
    )


def _legend(marks: Sequence[Mark], is_drop: bool, columns: int = 1) -> _Part:
    """What the marks mean that are used; moves to the hand have no square and are told here."""
    entries = [(shape, legend.meaning(shape, is_drop)) for shape in legend.used(marks)]
    told = [("", mark.words) for mark in marks if mark.square == HAND]
    entries += told
    if not entries:
        entries = [("", "no moves")]
    column = max([svg.text_width(words, _SMALL) for _, words in entries]) + 34 + _PAD
    parts = []
    for number, (shape, words) in enumerate(entries):
        x, y = (number % columns) * column, (number // columns + 0.5) * _LINE
        parts.append(legend.sample(shape, x + 13, y, 30) if shape else "")
        parts.append(svg.text(words, x + 34, y, column, _NOTE))
    return _Part(tuple(parts), min(columns, len(entries)) * column - _PAD, -(-len(entries) // columns) * _LINE)


def described(picture: Diagram) -> str:
    """What a diagram shows, in words, for those who cannot see it."""
    position = picture.position
    parts = []
    for side in ("first", "second"):
        standing = [f"{piece} {square}" for square, piece in position.board.items() if piece and side_of(piece) == side]
        held = [f"{count} {piece}" for piece, count in (position.hands or {}).items() if side_of(piece) == side]
        if standing:
            parts.append(f"{side}: {', '.join(standing)}")
        if held:
            parts.append(f"in the hand of {side}: {', '.join(held)}")
    parts += [f"last move: {', '.join(picture.last)}"] if picture.last else []
    parts += [f"in check: {', '.join(picture.checked)}"] if picture.checked else []
    if picture.is_of_moves:
        parts += [f"{mark.square}: {mark.words}" for mark in picture.marks] or ["no moves"]
    else:
        parts.append(f"{position.side} to move")
    size = picture.board.shape_text
    return f"A board of {size or len(picture.board.squares)}{'' if size else ' squares'}. {'. '.join(parts)}."


# --- changes ---


def _changed_moves(picture: ChangedMoves) -> str:
    """The boards before and after, with frames around what was gained, lost and changed."""
    before, after = (
        _framed(picture, "before", picture.before, "added"),
        _framed(picture, "after", picture.after, "removed"),
    )
    both = _side_by_side(before, after)
    shown = [diagram for diagram in (picture.before, picture.after) if diagram is not None]
    marks = [mark for diagram in shown for mark in diagram.marks if mark.square != HAND]
    key = _legend(marks, any(diagram.source == HAND for diagram in shown)) if marks else _Part((), 0, 0)
    parts, height = [*key.parts], key.height
    for kind in dict.fromkeys(picture.marks.values()):
        parts.append(legend.frame(kind, 13, height + _LINE / 2, 20))
        parts.append(svg.text(legend.FRAMES[kind], 34, height + _LINE / 2, 400, _NOTE))
        height += _LINE
    to_hand = picture.marks.get(HAND)
    told = [f"to the hand: {legend.FRAMES[to_hand]}"] if to_hand is not None else []
    for text in (*told, *([] if picture.note is None else [picture.note])):
        parts.append(svg.text(text, 0, height + _LINE / 2, both.width, _NOTE))
        height += _LINE
    said = [f"{square} {legend.FRAMES[kind]}" for square, kind in picture.marks.items()]
    below = _Part(tuple(parts), max(key.width, 434 if picture.marks else 0), height)
    return _page(picture.title, both, below, picture.title, f"Before and after: {', '.join(said)}.")


def _side_by_side(before: _Part, after: _Part) -> _Part:
    """Two boards as one: the second to the right, or below where both are too wide for that, as layers are."""
    if before.width + after.width > _ABREAST:
        below = svg.moved(after.parts, 0, before.height + 2 * _PAD)
        height = before.height + 2 * _PAD + after.height
        return _Part((*before.parts, below), max(before.width, after.width), height)
    beside = svg.moved(after.parts, before.width + 2 * _PAD, 0)
    width = before.width + 2 * _PAD + after.width
    return _Part((*before.parts, beside), width, max(before.height, after.height))


def _framed(picture: ChangedMoves, name: str, diagram: Diagram | None, absent: ChangeKind) -> _Part:
    """One of the boards, with its name above it and frames around the squares that differ."""
    if diagram is None:
        words = f"{name}: no such moves"
        return _Part((svg.text(words, 0, 10, 200, _NOTE),), svg.text_width(words, _SMALL), _LINE)
    board, layout = _board(diagram, shows_turn=False), lay_out(diagram.board, style=diagram.style)
    frames = [
        legend.frame(kind, *layout.middle(square), UNIT)
        for square, kind in picture.marks.items()
        if kind != absent and square in layout.corners
    ]
    heading = svg.text(diagram.caption, 0, 10, max(board.width, 80), _NOTE)
    return _Part((heading, svg.moved((*board.parts, *frames), 0, _LINE)), max(board.width, 80), board.height + _LINE)


# --- heat maps ---


def _heat_map(picture: HeatMap) -> str:
    layout = lay_out(picture.board, style=picture.style)
    most = max(picture.counts.values(), default=0)
    shades: dict[str, list[str]] = {}
    texts = []
    for square in layout.corners:
        count = picture.counts.get(square, 0)
        shades.setdefault(shade(count, most), []).append(square)
        texts.append(svg.text(str(count), *layout.middle(square), UNIT - 6, Font(0.38 * UNIT)))
    parts = [*layout.ground]
    parts += [layout.cells(shades[fill], fill=fill, stroke="#3d3426", stroke_width=1) for fill in sorted(shades)]
    parts.append(svg.group(texts))
    summary = mobility_summary(picture)
    below = _Part((svg.text(summary, 0, 8, 600, _NOTE),), min(600.0, svg.text_width(summary, _SMALL)), 16)
    counts = ", ".join(f"{square} {picture.counts.get(square, 0)}" for square in picture.board.squares)
    description = f"Squares that {picture.piece} reaches in one move on an empty board, from each: {counts}. {summary}."
    return _page(picture.title, _Part(tuple(parts), layout.width, layout.height), below, picture.title, description)


def mobility_summary(picture: HeatMap) -> str:
    """The least, mean and greatest number of squares reached, and the sum."""
    counts = [picture.counts.get(square, 0) for square in picture.board.squares] or [0]
    mean = f"{sum(counts) / len(counts):.2f}".rstrip("0").rstrip(".")
    return f"least {min(counts)}, mean {mean}, most {max(counts)}, sum {sum(counts)}"


def shade(count: int, most: int) -> str:
    """The colour of a square, from nearly white for none to a blue on which black can still be read."""
    depth = count / most if most else 0.0
    light, dark = (0xF7, 0xFA, 0xFD), (0x5F, 0xA4, 0xD8)
    return "#" + "".join(f"{round(a + (b - a) * depth):02x}" for a, b in zip(light, dark, strict=True))


# --- posters ---

_PAGE: Final = (1240.0, 1754.0)  # A4 at 150 dots an inch
_EDGE: Final = 50.0
_CARD_HEAD: Final = 30.0
_GAP: Final = 22.0


def _poster(picture: Poster) -> str:
    squares = sum(len(card.board.squares) for card in picture.cards)
    if squares > MAX_POSTER_SQUARES:
        raise PictureError(
            f"a poster of {len(picture.cards)} pieces on such a board would have {squares:,} squares, and can have "
            f"{MAX_POSTER_SQUARES:,}: draw the pieces one by one"
        )
    boards = [_board(card, shows_turn=False) for card in picture.cards]
    width, height = _PAGE
    inner = width - 2 * _EDGE
    marks = [mark for card in picture.cards if card.source != HAND for mark in card.marks]
    dropped = [mark for card in picture.cards if card.source == HAND for mark in card.marks]
    key = _legend(marks or dropped, not marks, columns=2)
    bottom = height - _EDGE - key.height - len(picture.notes) * _LINE
    top = _EDGE + 86
    largest = (max([board.width for board in boards], default=1), max([board.height for board in boards], default=1))
    columns, scale = _grid(len(boards), largest, inner, bottom - _GAP - top)
    across = (inner + _GAP) / columns
    down = _CARD_HEAD + largest[1] * scale + _GAP
    rows = max(1, -(-len(boards) // columns))
    down += min(40.0, (bottom - _GAP - top - rows * down) / rows)
    parts = [
        svg.text(picture.title, _EDGE, _EDGE + 20, inner, Font(40, "start", is_bold=True, smallest=16)),
        svg.text(picture.subtitle, _EDGE, _EDGE + 60, inner, Font(18, "start", svg.FAINT)),
    ]
    for number, (card, board) in enumerate(zip(picture.cards, boards, strict=True)):
        row, column = divmod(number, columns)
        x, y = _EDGE + column * across, top + row * down
        room = across - _GAP
        parts.append(svg.text(card.caption, x + room / 2, y + _CARD_HEAD / 2 - 2, room, _CAPTION))
        parts.append(svg.moved(board.parts, x + (room - board.width * scale) / 2, y + _CARD_HEAD, scale))
    parts.append(svg.moved(key.parts, _EDGE, bottom))
    parts += [
        svg.text(note, _EDGE, bottom + key.height + (i + 0.5) * _LINE, inner, _NOTE)
        for i, note in enumerate(picture.notes)
    ]
    description = " ".join([picture.subtitle, *(f"{card.caption}: {described(card)}" for card in picture.cards)])
    return svg.document(parts, width, height, picture.title, description)


def _grid(count: int, largest: tuple[float, float], width: float, height: float) -> tuple[int, float]:
    """How many columns of cards a page has, and their scale, so that the cards are as large as they can be."""

    def scale(columns: int) -> float:
        rows = -(-count // columns)
        across = (width + _GAP) / columns - _GAP
        down = (height + _GAP) / rows - _GAP - _CARD_HEAD
        return min(across / largest[0], down / largest[1], 2.2)

    if not count:
        return 1, 1.0
    best = max(range(1, count + 1), key=lambda columns: (scale(columns), -columns))
    if scale(best) <= 0:
        raise PictureError(f"{count} pieces are too many for one poster: draw them one by one")
    return best, scale(best)
