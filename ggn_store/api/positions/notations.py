"""How a position is written as one line of text, a row a notation.

`Ruleset.position` and `Ruleset.notate`, the options of commands and their --format are made from this. It is read for
`--help`, and imports nothing that is slow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from ggn_store.errors import PositionError, did_you_mean, offer, quote
from ggn_store.model.moves.position import Position

if TYPE_CHECKING:
    from ggn_store.api.handle import Handle
    from ggn_store.games.rules import Definition

DEFAULT: Final = "feen"


class Notation(NamedTuple):
    """A notation: `about` is the help of its option; `parse` and `text` raise PositionError, quoting what is wrong.

    Both may ask the ruleset, for how large the board is, and what letters mean, which with some only a definition says.
    """

    about: str
    parse: Callable[[str, Handle], Position]
    text: Callable[[Position, Handle], str]
    needs_definition: bool = False


def _feen(position: Position, ruleset: Handle) -> str:
    return position.to_feen(ruleset.revision.dimensions)


def _parse_fen(text: str, ruleset: Handle) -> Position:
    from ggn_store.games.fen import parse_fen

    return parse_fen(text, _letters(ruleset, "FEN"))


def fen(position: Position, ruleset: Handle, shredder: bool = False) -> str:
    """The position as FEN, as `games.fen` has it."""
    from ggn_store.games import fen as notation

    return notation.fen(ruleset.stated(position), _letters(ruleset, "FEN"), shredder)


def _parse_sfen(text: str, ruleset: Handle) -> Position:
    from ggn_store.games.fen import parse_sfen

    return parse_sfen(text, _letters(ruleset, "SFEN"))


def _sfen(position: Position, ruleset: Handle) -> str:
    from ggn_store.games.fen import sfen

    return sfen(ruleset.stated(position), _letters(ruleset, "SFEN"))


def _letters(ruleset: Handle, notation: str) -> Definition:
    if ruleset.definition is None:
        raise PositionError(
            f"{ruleset.revision} was not made from a definition, which says what the letters of {notation} mean: "
            "use FEEN (--feen, in Python feen=...), which can write the positions of any game"
        )
    return ruleset.definition


NOTATIONS: Final = {
    DEFAULT: Notation(
        "The position as one line of FEEN.",
        lambda text, ruleset: Position.from_feen(text),
        _feen,
    ),
    "fen": Notation("The position as FEN; for rulesets made from a definition.", _parse_fen, fen, True),
    "sfen": Notation("The position as SFEN; for rulesets made from a definition.", _parse_sfen, _sfen, True),
}


def find(name: str) -> Notation:
    """The notation of a name; raises PositionError where there is none."""
    if not isinstance(name, str) or name not in NOTATIONS:
        hint = did_you_mean(name, NOTATIONS) or f": there are {offer([*NOTATIONS])}"
        raise PositionError(f"{quote(name)} is not a notation of positions{hint}")
    return NOTATIONS[name]


def from_data(data: object, ruleset: Handle) -> Position:
    """The position that JSON data holds, as `Position.from_data` reads it, or by any notation: `{"fen", "state"}`."""
    if isinstance(data, dict):
        for name, notation in NOTATIONS.items():
            if isinstance(data.get(name), str) and data.keys() <= {name, "state"}:
                return notation.parse(data[name], ruleset).with_changes(state=data.get("state"))
    return Position.from_data(data)


def unnamed(text: str, ruleset: Handle) -> PositionError:
    """What is wrong with a text that came without its notation: that of those that can read it is to be named."""
    fitting = [name for name in NOTATIONS if isinstance(text, str) and _reads(name, text, ruleset)]
    ways = " or ".join(f"position({name}=...)" for name in fitting or NOTATIONS)
    return PositionError(f"{quote(text)}: name the notation of a position: {ways}")


def _reads(name: str, text: str, ruleset: Handle) -> bool:
    try:
        NOTATIONS[name].parse(text, ruleset)
    except PositionError:
        return False
    return True
