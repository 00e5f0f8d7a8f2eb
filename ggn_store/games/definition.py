"""Reading a game's definition: TOML text -> Definition, or everything that is wrong with it, with its place.

The language is described in `ggn_store/guides/defining-games.md`.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import DocumentError, NotationError, offer
from ggn_store.games import estimate, playing
from ggn_store.games.rules import SIDES, Army, Definition, PieceRule
from ggn_store.games.squares import Squares, read_board, read_hexagons
from ggn_store.games.tables import GROUPS, Tables
from ggn_store.games.toml_text import TomlTable, TomlValues
from ggn_store.limits import TooManyError
from ggn_store.model.changes import like
from ggn_store.model.documents.board import Board
from ggn_store.notation import feen, qpi, toml
from ggn_store.notation.feen import Feen
from ggn_store.notation.json_text import Path
from ggn_store.notation.qpi import Side

__all__ = ["Definition", "DefinitionError", "PieceRule", "read"]

TIERS: Final = ("A", "B", "C", "D")
# In the order in which they are written.
KEYS: Final = (
    *("title", "source", "notes", "tier", "board", "squares", "cylinder", "hexagons", "turned", "style", "styles"),
    *("start", "host", "play", "hands", "zones", "pieces", "first", "second"),
)

# What each game says of itself.
OWN: Final = ("title", "source", "tier", "notes")

_STYLE = re.compile("[A-Z][A-Z0-9]{0,99}", re.ASCII)


class DefinitionError(DocumentError):
    """A definition is no game; `problems` lists everything that is wrong with it, each with the path of its key."""


def read(text: str | bytes, file: str | None = None, beside: FilePath | None = None) -> Definition:
    """The game that a definition says; raises DefinitionError with every problem, which carry the name `file`.

    It may be like a game of the library, or like one in the folder `beside`. Then its `text` says all of it.
    """
    values = TomlValues()
    data, source = values.load(text)
    definition: Definition | None = None
    others: tuple[like.LikeSource, ...] = ()
    if data is not None:
        with contextlib.suppress(TooManyError, like.LikeError):
            data, others = _whole(values, data, beside)
            definition = _definition(values, data, source)
            if others and definition is not None:
                definition = replace(definition, text=_written(values, data))
    if definition is None or values.complaints:
        raise DefinitionError(values.problems(source, file, others))
    _last[:] = [definition]
    return definition


_last: list[Definition] = []


def reread(text: str) -> Definition:
    """The game of a text that was read before, as a rule last: what was generated of it is being stored.

    Raises DefinitionError like `read`.
    """
    return next((last for last in _last if last.text == text), None) or read(text)


def _whole(
    values: TomlValues, data: dict[str, Any], beside: FilePath | None
) -> tuple[dict[str, Any], tuple[like.LikeSource, ...]]:
    """The tables of a definition with all that it is like, and what that is."""
    if like.LIKE not in data:
        return data, ()
    try:
        made, others = like.whole(LANGUAGE, data, beside)
    except like.LikeError as error:
        values.complain(error.path, error.message, error.found, error.allowed)
        raise
    return {key: made[key] for key in (*KEYS, *made) if key in made}, others


def written(data: TomlTable) -> str:
    """The text of a definition's tables, with a table for each piece."""
    return toml.written(data, GROUPS)


def _written(values: TomlValues, data: TomlTable) -> str:
    text, limit = written(data), limits.DEFINITION_BYTES
    if len(text.encode()) > limit.most:
        message = "with all that it is like the definition is too long"
        values.complain((like.LIKE,), message, f"{len(text):,} characters", limit.allowed)
    return text


def _load(data: bytes) -> tuple[str, TomlTable]:
    values = TomlValues()
    found, text = values.load(data)
    if found is None:
        raise ValueError(str(values.complaints[0]))
    return text, found


LANGUAGE: Final = like.LikeLanguage("games", "", ".toml", OWN, limits.DEFINITION_BYTES, _load)


def _definition(values: TomlValues, data: dict[str, Any], text: str) -> Definition | None:
    values.known_keys(data, (), "a definition", (*KEYS, like.LIKE))
    title = values.text(data, "title")
    if "title" not in data:
        values.complain(("title",), "a definition has a title", allowed='such as title = "My game"')
    board = read_board(values, data)
    styles = _styles(values, data)
    hexagons = read_hexagons(values, data, board)
    # Of the ways in which two sides can face each other on hexagons, one is for every board of them.
    turned = values.flag(data, "turned") or hexagons is not None
    squares = Squares(values, board, turned, hexagons)
    squares.read_zones(data)
    hands = values.table(data, "hands")
    values.known_keys(hands, ("hands",), "hands", ("captures",))
    captures = values.flag(hands, "captures", ("hands",))
    start = _start(values, data, board, styles)
    mixed = styles is not None and styles[0] != styles[1]
    tables = Tables(values, squares, captures, mixed)
    pieces = tables.read(data, start)
    head = {name: values.text(data, name) for name in ("source", "notes")}
    tier = values.choice(data, "tier", (), TIERS)
    cylinder = values.flag(data, "cylinder")
    said = playing.read(values, data, squares, tables.paths)
    if title is None or board is None or styles is None or values.complaints:
        return None
    definition = Definition(
        title=title,
        board=board,
        styles=styles,
        pieces=pieces,
        **head,
        tier=tier,
        start=None if start is None else data["start"],
        cylinder=cylinder,
        hexagons=hexagons,
        turned=turned,
        zones=squares.zones,
        said=said,
        captures=captures,
        text=text,
    )
    estimate.check(values, definition, tables.paths)
    if not values.complaints:
        _check(values, definition, tables, start)
    return definition


def _styles(values: TomlValues, data: TomlTable) -> tuple[str, str] | None:
    if ("style" in data) == ("styles" in data):
        found = sorted(data.keys() & {"style", "styles"})
        values.complain(("style",), "a definition has style or styles, and not both", found, 'such as style = "C"')
        return None
    given = data.get("styles", {side: data.get("style") for side in SIDES})
    if not isinstance(given, dict) or given.keys() != set(SIDES):
        values.complain(("styles",), "styles names both players' styles", given, '{ first = "C", second = "X" }')
        return None
    for side, style in given.items():
        if not isinstance(style, str) or not _STYLE.fullmatch(style):
            path: Path = ("styles", side) if "styles" in data else ("style",)
            values.complain(path, "not a style", style, 'capital letters and digits, such as "C" or "SHOGI"')
            return None
    return given["first"], given["second"]


def _start(values: TomlValues, data: TomlTable, board: Board | None, styles: tuple[str, str] | None) -> Feen | None:
    text = values.text(data, "start")
    if text is None or board is None or styles is None:
        return None
    path: Path = ("start",)
    try:
        start = feen.parse(text)
    except NotationError as error:
        values.complain(path, str(error))
        return None
    if board.shape is not None and start.shape != board.shape:
        shape = "x".join(map(str, start.shape))
        values.complain(path, "the start position is on another board", shape, board.shape_text)
    elif outside := sorted(start.board.keys() - board.numbers.keys()):
        values.complain(path, "the start position has pieces off the board", offer(outside), "its squares")
    elif start.styles != styles:
        values.complain(path, "the start position has other styles", list(start.styles), " and ".join(styles))
    else:
        return start
    return None


# --- what only shows once everything is there ---


def _check(values: TomlValues, definition: Definition, tables: Tables, start: Feen | None) -> None:
    for piece in definition.pieces:
        before = values.complaints.total
        for side in piece.sides:
            if values.complaints.total == before:  # what is wrong with both sides' piece is said once
                _check_states(values, definition, tables, piece, side)
    if any(definition.army(side).marks for side in SIDES) and "clear-marks" not in definition.host:
        message = "pieces are marked for en passant, and nothing says that the marks are cleared"
        values.complain(("play", "duties"), message, list(definition.host), "clear-marks among the duties")
    for square, identifier in start.board.items() if start is not None else ():
        forms = {form.identifier: form for form in definition.army(qpi.side_of(identifier)).forms}
        if identifier not in forms:
            values.complain(("start",), f"{square} holds a piece that is not defined", identifier, offer(list(forms)))
        elif not forms[identifier].can_stand(square):
            places = sorted(forms[identifier].squares or (), key=definition.board.numbers.__getitem__)
            values.complain(("start",), f"{identifier} cannot be on this square", square, offer(places))
    for identifier in start.hands if start is not None else ():
        droppable = {form.identifier for form in definition.army(qpi.side_of(identifier)).forms if form.can_be_held}
        if identifier not in droppable:
            message = "a hand holds a piece that cannot be dropped"
            values.complain(("start",), message, identifier, "pieces with drop")


def _check_states(values: TomlValues, definition: Definition, tables: Tables, piece: PieceRule, side: Side) -> None:
    """Whether each state of a piece says one thing, and the things that states cannot say."""
    path, army = tables.paths[side][piece.token], definition.army(side)
    forms = [form for form in army.forms if form.piece == piece and not form.derived]
    for form in forms:
        token = qpi.parse(form.identifier).state + piece.letter
        if form.kind != "plain" and token in tables.paths[side]:
            meaning = "has not moved" if form.kind == "unmoved" else "can be captured in passing"
            message = f"{token} is a piece of its own and also the {piece.token} that {meaning}"
            values.complain(tables.paths[side][token], message, token, "one meaning a state")
    names = sorted(form.identifier for form in forms)
    if len(set(names)) < len(names):
        message = "the state + would say both that the piece has not moved and how it moved"
        values.complain(path, message, offer(names), "one meaning a state")
    if piece.en_passant is not None:
        both = [form for each in piece.sides for form in definition.army(each).forms if form.piece == piece]
        if not any(form.kind == "marked" for form in both):
            message = "nothing can be captured in passing: no move marked i goes over a square that must be empty"
            values.complain(
                (*path, "en_passant"), message, piece.moves.betza, "such as imfnD, and initial squares for it"
            )
        if ambiguous := army.ambiguous(piece):
            message = "first moves go to these squares over different squares, in more ways than states can tell"
            values.complain((*path, "en_passant"), message, offer(ambiguous), "at most two ways to a square")
    _check_counted(values, army, piece, path)


def _check_counted(values: TomlValues, army: Army, piece: PieceRule, path: Path) -> None:
    """Whether what a rule looks for on other squares has one identifier there."""

    def check(key: str, at: Path, token: str, are_marked: bool, allowed: str) -> None:
        forms = (form for form in army.forms if form.piece.token == token and not form.derived)
        found = sorted(form.identifier for form in forms if are_marked or form.kind != "marked")
        if len(found) > 1:
            message = f"{key} looks for one identifier on each square, and {token} has several"
            values.complain((*path, *at), message, ", ".join(found), allowed)

    # When its side moves or drops something, none of its pieces has a mark.
    if piece.drop is not None and piece.drop.file_limit is not None:
        check("nifu", ("drop", "nifu"), piece.token, False, "a piece without unmoved")
    if piece.drop is not None and piece.drop.other_colour:
        check("other_colour", ("drop", "other_colour"), piece.token, False, "a piece without unmoved")
    for token in {token: None for each in piece.promotions if each.unique for token in each.to}:
        check("unique", ("promotion",), token, False, "a piece without unmoved")
    if any(each.alone for each in piece.promotions):
        check("alone", ("promotion",), piece.token, True, "a piece without states")
