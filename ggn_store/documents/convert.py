"""A document in another dialect, wherever nothing is lost on the way.

`diff` can say all that `perform` says, where the squares are CELL labels. `perform` knows no hands, no markers
`^` and `'` and no turn that stays; `must-deny` knows no effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from ggn_store.errors import ConversionError, printable, quote
from ggn_store.model.document import (
    CONDITION_KEYS,
    EMPTY,
    ENEMY,
    Dialect,
    Document,
    Piece,
    Possibility,
    check_dialect,
)
from ggn_store.model.move import DISPLACEMENT, Assumption, displacement
from ggn_store.notation import cell, gan
from ggn_store.notation.hand import HAND
from ggn_store.notation.json_text import Path, pointer

_SHOWN: Final = 5


def convert(document: Document, dialect: Dialect, assume: Assumption | None = None) -> Document:
    """The document in `dialect`, saying the same; the envelope is kept.

    A `must-deny` document has no effects to write; `assume="displacement"` writes those of plain displacement.
    Raises ConversionError with everything that would be lost: every possibility that would lose something, and
    every square or piece that cannot be named, at the first of its places.
    """
    check_dialect(dialect)
    if dialect == document.dialect:
        return document
    require_lossless(document.dialect, document.pieces, dialect, assume)
    pieces = map(_displaced, document.pieces) if document.dialect == "must-deny" else document.pieces
    return Document(dialect, tuple(pieces), document.envelope)


def require_lossless(
    origin: Dialect,
    pieces: Iterable[Piece],
    dialect: Dialect,
    assume: Assumption | None = None,
    kept: int | None = None,
) -> None:
    """Raise ConversionError where pieces say what `dialect` cannot; all losses are counted, the first `kept` named.

    No more than one piece is in memory at a time, where they come so.
    """
    losses: list[str] = []
    count = 0
    for path, loss in _losses(origin, pieces, dialect, assume):
        count += 1
        if kept is None or count <= kept:
            losses.append(f"{printable(pointer(path))}: {loss}" if path else loss)
    if losses:
        raise ConversionError(_refusal(origin, dialect, losses, count), losses)


def _refusal(origin: Dialect, dialect: Dialect, losses: list[str], number: int) -> str:
    count = "1 thing" if number == 1 else f"{number:,} things"
    lines = [f"written as {dialect}, the {origin} document would lose {count}:", *losses[:_SHOWN]]
    if number > _SHOWN:
        lines.append(f"and {number - _SHOWN:,} more")
    return "\n  ".join(lines) + f"\nchange the document there first, or keep it as {origin}"


def _displaced(piece: Piece) -> Piece:
    """The piece with plain displacement as the effects of each possibility."""
    sources = []
    for source in piece.sources:
        destinations = []
        for destination in source.destinations:
            effects = displacement(piece.identifier, source.square, destination.square)
            possibilities = tuple(replace(each, effects=effects) for each in destination.possibilities)
            destinations.append(replace(destination, possibilities=possibilities))
        sources.append(replace(source, destinations=tuple(destinations)))
    return replace(piece, sources=tuple(sources))


def _losses(
    origin: Dialect, pieces: Iterable[Piece], dialect: Dialect, assume: Assumption | None
) -> Iterator[tuple[Path, str]]:
    """What pieces say and `dialect` cannot, with its place, in document order."""
    if origin == "must-deny" and assume != DISPLACEMENT:
        written = f"--assume {DISPLACEMENT}, in Python assume={DISPLACEMENT!r}, writes plain displacement"
        yield (), f"that the document leaves open what a move changes, which {dialect} cannot ({written})"
    seen: set[str] = set()
    for piece in pieces:
        # By path: the hand as a source or destination is met once for each possibility there.
        yield from dict(_piece_losses(origin, piece, dialect, seen)).items()


def _piece_losses(origin: Dialect, piece: Piece, dialect: Dialect, seen: set[str]) -> Iterator[tuple[Path, str]]:
    if origin == "perform":
        for path, square in _first(_squares(piece, with_effects=dialect == "diff"), cell.is_cell, seen):
            yield path, f"the square {quote(square)}, which is not a CELL label such as e4 or a1A"
    if dialect == "perform":
        for path, name in _first(_names(origin, piece), gan.is_gan, seen):
            yield path, f"the piece {quote(name)}, because perform has no markers ^ and '"
    for at, possibility in _places(piece):
        if dialect == "perform":
            yield from _board_losses(at, possibility)
        elif dialect == "must-deny":
            yield (*at, origin), "the effects, because must-deny has none"  # their key is the dialect's name


def _places(piece: Piece) -> Iterator[tuple[tuple[str, str, str, int], Possibility]]:
    for source, destination, ordinal, possibility in piece.entries():
        yield (piece.identifier, source.square, destination.square, ordinal), possibility


def _first(
    named: Iterator[tuple[Path, str]], fits: Callable[[str], bool], seen: set[str]
) -> Iterator[tuple[Path, str]]:
    """Each name that does not fit, at the first of its places."""
    for path, name in named:
        if name not in seen:
            seen.add(name)
            if not fits(name):
                yield path, name


def _squares(piece: Piece, with_effects: bool) -> Iterator[tuple[Path, str]]:
    """Every square that a piece of a `perform` document names."""
    must, deny = CONDITION_KEYS["perform"]
    for at, possibility in _places(piece):
        yield at[:2], at[1]
        yield at[:3], at[2]
        for key, squares in ((must, possibility.must), (deny, possibility.deny)):
            yield from (((*at, key, square), square) for square in squares)
        if with_effects and possibility.effects is not None:
            yield from (((*at, "perform", square), square) for square in possibility.effects.board)


def _names(origin: Dialect, piece: Piece) -> Iterator[tuple[Path, str]]:
    """Every piece that one of a `must-deny` or `diff` document names, on the board."""
    must, deny = CONDITION_KEYS[origin]
    for at, possibility in _places(piece):
        yield at[:1], at[0]
        for key, states in ((must, possibility.must), (deny, possibility.deny)):
            yield from (((*at, key, square), state) for square, state in states.items() if state not in (EMPTY, ENEMY))
        if possibility.effects is not None:
            for square, name in possibility.effects.board.items():
                if name is not None:
                    yield (*at, "diff", "board", square), name


def _board_losses(at: tuple[str, str, str, int], possibility: Possibility) -> Iterator[tuple[Path, str]]:
    """What `perform` cannot say because all it has is changes of the board."""
    if at[1] == HAND:
        yield at[:2], "the moves from the hand, because perform has no hands"
    if at[2] == HAND:
        yield at[:3], "the moves to the hand, because perform has no hands"
    effects = possibility.effects
    if effects is None:
        return
    if effects.hands:
        yield (*at, "diff", "hands"), "what changes in the hands, because perform has no hands"
    if not effects.toggle:
        yield (*at, "diff", "toggle"), "that the turn stays, because in perform it always passes"
    if not effects.board:
        yield (*at, "diff"), "a move that changes nothing on the board, because perform has to change something"
