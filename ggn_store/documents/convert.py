"""A document in another dialect, wherever nothing is lost on the way.

`diff` can say all that `perform` says, where the squares are CELL labels. `perform` knows no hands, no markers
`^` and `'` and no turn that stays; `must-deny` knows no effects. `gdl` can say all that the others say; none of them
knows state variables, and they keep no names of actions, without which the moves are the same (`left_out`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from ggn_store.errors import ConversionError, counted, offer, printable, quote
from ggn_store.model.documents import variables
from ggn_store.model.documents.document import (
    CONDITION_KEYS,
    EMPTY,
    ENEMY,
    Dialect,
    Document,
    Piece,
    Possibility,
    check_dialect,
)
from ggn_store.model.moves.move import DISPLACEMENT, Assumption, displacement
from ggn_store.notation import cell, gan
from ggn_store.notation.hand import HAND
from ggn_store.notation.json_text import Path, pointer

_SHOWN: Final = 5
# The dialects whose squares have any labels, and the keys of the effects.
_LABELLED: Final = ("perform", "gdl")
_EFFECTS: Final = {"perform": "perform", "diff": "diff", "gdl": "diff"}


def convert(document: Document, dialect: Dialect, assume: Assumption | None = None) -> Document:
    """The document in `dialect`, saying the same; the envelope is kept, but for a game description.

    A `must-deny` document has no effects to write; `assume="displacement"` writes those of plain displacement.
    Raises ConversionError with everything that would be lost: every possibility that would lose something, and
    every square or piece that cannot be named, at the first of its places.
    """
    check_dialect(dialect)
    if dialect == document.dialect:
        return document
    require_lossless(document.dialect, document.pieces, dialect, assume)
    pieces = document.pieces
    if document.dialect == "must-deny":
        pieces = tuple(_changed(piece, lambda each, *at: replace(each, effects=displacement(*at))) for piece in pieces)
    elif document.dialect == "gdl":
        pieces = tuple(
            _changed(piece, lambda each, *_: Possibility(each.must, each.deny, each.effects)) for piece in pieces
        )
    envelope = replace(document.envelope, variables=None)
    if "gdl" in (dialect, document.dialect):
        # What a document of this dialect is made from is a game description, which one of no other dialect is.
        envelope = replace(envelope, definition=None)
    return Document(dialect, pieces, envelope)


def left_out(document: Document, dialect: Dialect) -> list[str]:
    """What the document says that is no part of its moves, and that `dialect` has no words for; one sentence each."""
    if document.dialect != "gdl" or dialect == "gdl":
        return []
    names = {each.origin.action for piece in document.pieces for *_, each in piece.entries() if each.origin is not None}
    found = []
    if names:
        found.append(f"{dialect} does not say which action a move comes from: {offer(sorted(names))}")
    if document.envelope.variables is not None:
        declared = offer(list(variables.parse(document.envelope.variables)))
        found.append(f"{dialect} declares no state variables, and no rule names these: {declared}")
    return found


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
    count = counted(number, "thing")
    lines = [f"written as {dialect}, the {origin} document would lose {count}:", *losses[:_SHOWN]]
    if number > _SHOWN:
        lines.append(f"and {number - _SHOWN:,} more")
    return "\n  ".join(lines) + f"\nchange the document there first, or keep it as {origin}"


def _changed(piece: Piece, change: Callable[[Possibility, str, str, str], Possibility]) -> Piece:
    """The piece with each of its possibilities changed; what changes it is also told where it stands."""
    sources = []
    for source in piece.sources:
        destinations = []
        for destination in source.destinations:
            at = piece.identifier, source.square, destination.square
            possibilities = tuple(change(each, *at) for each in destination.possibilities)
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
    if origin in _LABELLED and dialect not in _LABELLED:
        squares = _squares(origin, piece, dialect == "diff")
        for path, square in _first(squares, lambda square: square == HAND or cell.is_cell(square), seen):
            yield path, f"the square {quote(square)}, which is not a CELL label such as e4 or a1A"
    if dialect == "perform":
        for path, name in _first(_names(origin, piece), gan.is_gan, seen):
            yield path, f"the piece {quote(name)}, because perform has no markers ^ and '"
    for at, possibility in _places(piece):
        if origin == "gdl":
            yield from _state_losses(at, possibility, dialect)
        if dialect == "perform":
            yield from _board_losses(at, possibility)
        elif dialect == "must-deny":
            yield (*at, _EFFECTS[origin]), "the effects, because must-deny has none"


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


def _squares(origin: Dialect, piece: Piece, with_effects: bool) -> Iterator[tuple[Path, str]]:
    """Every square that a piece of a `perform` or `gdl` document names, and the hand where it may stand for one."""
    must, deny = CONDITION_KEYS[origin]
    board = ("perform",) if origin == "perform" else ("diff", "board")
    for at, possibility in _places(piece):
        yield at[:2], at[1]
        yield at[:3], at[2]
        for key, squares in ((must, possibility.must), (deny, possibility.deny)):
            yield from (((*at, key, square), square) for square in squares)
        if with_effects and possibility.effects is not None:
            yield from (((*at, *board, square), square) for square in possibility.effects.board)


def _names(origin: Dialect, piece: Piece) -> Iterator[tuple[Path, str]]:
    """Every piece that one of a `must-deny`, `diff` or `gdl` document names, on the board."""
    must, deny = CONDITION_KEYS[origin]
    for at, possibility in _places(piece):
        yield at[:1], at[0]
        for key, states in ((must, possibility.must), (deny, possibility.deny)):
            yield from (((*at, key, square), state) for square, state in states.items() if state not in (EMPTY, ENEMY))
        if possibility.effects is not None:
            for square, name in possibility.effects.board.items():
                if name is not None:
                    yield (*at, "diff", "board", square), name


def _state_losses(
    at: tuple[str, str, str, int], possibility: Possibility, dialect: Dialect
) -> Iterator[tuple[Path, str]]:
    """What only `gdl` can say, but for the names of actions."""
    for name in possibility.guards:
        yield (*at, "when", name), f"the guard on {quote(name)}, because {dialect} has no state variables"
    effects = possibility.effects
    for name in () if effects is None else effects.state:
        yield (*at, "diff", "state", name), f"the new value of {quote(name)}, because {dialect} has no state variables"


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
