"""The style of a game's pictures: told by what its definition says, unless one is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Final

from ggn_store.api.handle import Handle
from ggn_store.errors import PictureError, did_you_mean, offer, quote
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.geometry import Geometry, Lattice, Network
from ggn_store.model.pictures.style import AREAS, PLAIN, STYLES, Ground, PieceSet, Style
from ggn_store.notation import cell, qpi
from ggn_store.notation.hand import HAND
from ggn_store.render.characters import SETS
from ggn_store.render.figures import FIGURES

if TYPE_CHECKING:
    from ggn_store.games.rules import Definition

# The styles of identifiers that a set of pieces is for, where it has something for one of their names at least.
_PIECES: Final[tuple[PieceSet, ...]] = ("chess", "shogi", "xiangqi", "janggi", "makruk", "dobutsu")
_OF: Final[dict[str, PieceSet]] = {style: pieces for pieces in _PIECES for style in (pieces[0].upper(), pieces.upper())}
_CELLS: Final[tuple[PieceSet, ...]] = ("shogi", "makruk", "dobutsu")
_POINTS: Final[tuple[PieceSet, ...]] = ("xiangqi", "janggi", "go")
_GROUNDS: Final[dict[PieceSet, Ground]] = {**dict.fromkeys(_CELLS, "cells"), **dict.fromkeys(_POINTS, "points")}
_KNOWN: Final[dict[PieceSet, frozenset[str]]] = {
    pieces: frozenset(known) for sets in (FIGURES, SETS) for pieces, known in sets.items()
}
_STONE: Final = "stone"
# Of a network that is drawn with its ways: how many places, and how far apart, in distances of the nearest.
_MOST_PLACES: Final = 64
_WIDEST: Final = 24
# Sizes of a board of go: the least that has dots, the largest with dots on the third line, that with dots on the sides.
_SMALLEST: Final = 9
_NEAR: Final = 11
_FULL: Final = 19
_PALACE: Final = "palace"
_HOMELAND: Final = "homeland"


def style_of(handle: Handle, asked: str | None = None) -> Style:
    """The style of a ruleset's pictures, or that which is asked for; raises PictureError where there is none such."""
    if asked is not None and asked not in STYLES:
        raise PictureError(
            f"there is no style {quote(asked)}{did_you_mean(asked, STYLES) or f'; there are {offer([*STYLES])}'}"
        )
    if asked not in handle.styles:
        found = PLAIN if asked == "plain" else replace(_style_of(handle, asked), areas=_areas(handle))
        handle.styles[asked] = found
    return handle.styles[asked]


def _style_of(handle: Handle, asked: str | None) -> Style:
    definition = handle.definition
    names = dict(handle.piece_names)
    lattice = _hexagons(handle)
    is_go = definition is not None and lattice is None and _has_only_stones(definition)
    own = "go" if is_go else _own(handle.pieces, names)
    known = _KNOWN.get(own, frozenset())
    names |= {piece: name for piece, name in _stateless(names).items() if names[piece] not in known}
    named: PieceSet = next((each for each in (*_KNOWN, *_GROUNDS) if each == asked), "letters")
    pieces = own if asked is None or asked == "letters" else named
    shown: PieceSet = "letters" if asked == "letters" else pieces
    if lattice is not None and pieces not in _GROUNDS:
        walls = _walls(definition) if definition is not None and asked != "letters" else frozenset()
        upright = definition is not None and str(definition.hexagons).startswith("files")
        return Style("hexagons", shown, names, walls=walls, labels=lattice.labels, upright=upright)
    ground = _GROUNDS.get(pieces, "squares")
    if (places := _places(handle)) and ground == "squares":
        network = geometry_of(handle)
        assert isinstance(network, Network)  # noqa: S101  (which alone has places)
        return Style("ways", shown, names, places=places, ways=network.edges, special_ways=network.special_edges)
    if ground == "squares" and definition is not None and (steps := _steps(handle, definition)):
        points = dict(zip(handle.board.squares, handle.board.coordinates or (), strict=True))
        places = {square: (float(point[0]), float(point[1])) for square, point in points.items()}
        return Style("ways", shown, names, places=places, ways=steps)
    if definition is None or ground != "points":
        return Style(ground, shown, names, walls=frozenset() if asked == "letters" else _walls(definition))
    return Style(ground, shown, names, _palaces(definition), _bank(definition), _stars(pieces, handle.board))


def _own(pieces: tuple[str, ...], names: Mapping[str, str]) -> PieceSet:
    """The set of pieces that a game is played with: of its one style, and for one of its names."""
    styles = {piece.partition(":")[0].upper() for piece in pieces if qpi.is_qpi(piece)}
    found = _OF.get(styles.pop(), "letters") if len(styles) == 1 else "letters"
    if _KNOWN.get(found, frozenset()) & set(names.values()):
        return found
    is_draughts = names.keys() >= set(pieces) and set(_stateless(names).values()) <= _KNOWN["draughts"]
    return "draughts" if pieces and is_draughts else "letters"


def _stateless(names: Mapping[str, str]) -> dict[str, str]:
    """For each piece the name of that without its state: of one that has been crowned, or taken, that of a man."""
    plain = {piece: str(replace(qpi.parse(piece), state="", derived=False)) for piece in names}
    return {piece: names.get(plain[piece], name) for piece, name in names.items()}


def geometry_of(handle: Handle) -> Geometry | None:
    """How the places of a game description lie; None for other games."""
    return None if handle.specification is None else handle.specification.topology.geometry


def _hexagons(handle: Handle) -> Lattice | None:
    """How the hexagons of a board lie; None where it has none."""
    found = geometry_of(handle) if handle.definition is None else handle.definition.lattice
    return found if isinstance(found, Lattice) and found.hexagonal else None


def _places(handle: Handle) -> dict[str, tuple[float, float]]:
    """Where the places of a network lie: by their labels, else in a circle; nothing of other boards, and of many."""
    network = geometry_of(handle)
    if not isinstance(network, Network) or not 1 < len(network.places) <= _MOST_PLACES:
        return {}
    points = Board(network.places).coordinates or ()
    if points and len(points[0]) == 2:
        nearest = min(math.dist(a, b) for a, b in combinations(points, 2))
        found = [(x / nearest, y / nearest) for x, y in points]
        if all(max(axis) - min(axis) <= _WIDEST for axis in zip(*found, strict=True)):
            return dict(zip(network.places, found, strict=True))
    radius = 0.5 / math.sin(math.pi / len(network.places))
    turns = {place: 2 * math.pi * number / len(network.places) for number, place in enumerate(network.places)}
    return {place: (radius * math.sin(turn), radius * math.cos(turn)) for place, turn in turns.items()}


def _steps(handle: Handle, definition: Definition) -> frozenset[tuple[str, str]]:
    """The lines between points on which men step that do so from some squares otherwise than from others.

    None where squares are no points: where a piece goes further, or from each square in the same way.
    """
    squares = handle.board.coordinates
    if not squares or len(squares[0]) != 2 or not any(way.start for rule in definition.pieces for way in rule.ways):
        return frozenset()
    points = dict(zip(handle.board.squares, squares, strict=True))
    found = frozenset(
        (source.square, destination.square)
        for piece in handle.pieces
        for source in handle.read_outline(piece).sources
        for destination in source.destinations
        if HAND not in (source.square, destination.square)
    )
    is_near = all(max(abs(a - b) for a, b in zip(points[one], points[other], strict=True)) == 1 for one, other in found)
    return found if is_near else frozenset()


def _has_only_stones(definition: Definition) -> bool:
    """Whether all pieces are stones, and stay where they were put."""
    rules = definition.pieces
    return bool(rules) and all(rule.name == _STONE and not any(way.moves.betza for way in rule.ways) for rule in rules)


def _walls(definition: Definition | None) -> frozenset[str]:
    """The pieces that stand in the way for good."""
    if definition is None:
        return frozenset()
    walls = [piece for piece in definition.pieces if piece.is_wall]
    return frozenset(piece.identifier(side, definition.style(side)) for piece in walls for side in piece.sides)


def _areas(handle: Handle) -> dict[str, frozenset[str]]:
    """The squares that have a colour of their own."""
    if handle.specification is not None:
        from ggn_store.gdl.compile import areas

        found = areas(handle.specification)
    else:
        zones = {} if handle.definition is None else handle.definition.zones
        found = {name: zone.first | zone.second for name, zone in zones.items()}
    return {name: squares for name, squares in found.items() if name in AREAS}


def _palaces(definition: Definition) -> tuple[frozenset[str], ...]:
    zone = definition.zones.get(_PALACE)
    return () if zone is None else (zone.first, zone.second)


def _bank(definition: Definition) -> frozenset[str]:
    """The first side's homeland where a river divides the board into both sides', else nothing."""
    zone = definition.zones.get(_HOMELAND)
    if zone is None or zone.first & zone.second or zone.first | zone.second != set(definition.board.squares):
        return frozenset()
    return zone.first


def _stars(pieces: PieceSet, board: Board) -> frozenset[str]:
    """The points of a board of go that have a dot."""
    if pieces != "go" or board.shape is None or board.coordinates is None:
        return frozenset()
    size = board.shape[0]
    if board.shape != (size, size) or size < _SMALLEST or size % 2 == 0:
        return frozenset()
    near = 3 if size > _NEAR else 2
    ends, middle = (near, size - 1 - near), size // 2
    lines = (*ends, middle)
    found = (cell.text(point) for point in product(lines, lines) if size == _FULL or point.count(middle) != 1)
    return frozenset(found) & frozenset(board.squares)
