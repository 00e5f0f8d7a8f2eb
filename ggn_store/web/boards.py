"""Positions in addresses, and what pieces and squares are called for those who do not see the board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ggn_store.api.positions.json_text import read_board
from ggn_store.api.positions.notations import DEFAULT, NOTATIONS
from ggn_store.api.ruleset import Ruleset
from ggn_store.errors import GgnStoreError, NotationError, PositionError
from ggn_store.model.moves.position import Position
from ggn_store.notation import qpi
from ggn_store.notation.hand import HAND
from ggn_store.render.records import compact

JSON: Final = "json"
# It counts moves, which FEEN does not.
_FIRST: Final = "fen"


def read_position(ruleset: Ruleset, text: str) -> Position:
    """The position that a text writes in any notation; raises PositionError, saying what each of them finds wrong."""
    if text.lstrip().startswith("{"):
        return ruleset.stated(read_board(text, ruleset.handle))
    wrong: list[str] = []
    names = [name for name, each in NOTATIONS.items() if ruleset.definition is not None or not each.needs_definition]
    for name in sorted(names, key=lambda name: name == DEFAULT):
        try:
            return ruleset.stated(ruleset.position(**{name: text}))
        except (NotationError, PositionError) as error:
            wrong.append(f"{name.upper()}: {error}")
    raise PositionError("\n".join(["this is no position in any notation:", *wrong]))


def written(ruleset: Ruleset, position: Position) -> dict[str, str]:
    """The position in all notations that can write it, by their names; JSON always can."""
    found = {}
    if not ruleset.handle.told_variables:
        for name in sorted(NOTATIONS, key=lambda name: name != _FIRST):
            try:
                found[name] = ruleset.notate(position, name)
            except GgnStoreError:
                continue
    return found | {JSON: compact(position.data())}


def names_of(ruleset: Ruleset) -> dict[str, str]:
    """What each piece is called, by identifier; the identifier where nothing says it."""
    return {piece: ruleset.handle.piece_names.get(piece, piece) for piece in ruleset.pieces}


def called(piece: str, square: str, names: Mapping[str, str]) -> str:
    """`first knight on g1`"""
    where = "in the hand" if square == HAND else f"on {square}"
    return f"{qpi.side_of(piece)} {names.get(piece, piece)} {where}"
