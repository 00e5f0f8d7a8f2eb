"""Descriptions of board games against plain Python from their written rules."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ggn_store import Position, Ruleset
from tests.oracles import boards
from tests.oracles.boards import FOUR, Found, Place
from tests.support.games import Games
from tests.support.gdl_specifications import BOARDS

# Each game with its mutants, in which one rule is another.
GAMES: dict[str, tuple[Callable[..., Any], dict[str, Any], list[dict[str, Any]]]] = {
    "hex": (boards.Stones, {"size": 11}, [{"stays": False}]),
    "hex13": (boards.Stones, {"size": 13}, [{"stays": False}]),
    "six-mens-morris": (
        boards.Morris,
        {"rings": 2, "men": 6, "diagonals": False, "flies": False},
        [{"spares_mills": False}, {"takes": False}],
    ),
    "nine-mens-morris": (
        boards.Morris,
        {"rings": 3, "men": 9, "diagonals": False, "flies": True},
        [{"spares_mills": False}, {"takes": False}],
    ),
    "twelve-mens-morris": (
        boards.Morris,
        {"rings": 3, "men": 12, "diagonals": True, "flies": False},
        [{"spares_mills": False}, {"takes": False}],
    ),
    "konane": (boards.Konane, {}, [{"turns": True}, {"goes_on": False}]),
    "halma": (boards.Halma, {"size": 8, "depth": 4}, [{"ways": FOUR}, {"goes_on": False}]),
    "jungle": (
        boards.Jungle,
        {},
        [
            {"traps": False},
            {"rat_takes_elephant": False},
            {"elephant_fears": False},
            {"swimming_rats_block": False},
            {"shores_part": False},
        ],
    ),
    "alquerque": (boards.Alquerque, {}, [{"must_take": False}, {"diagonals": False}]),
    "fox-and-geese": (boards.FoxAndGeese, {}, [{"geese_go_back": True}, {"goes_on": False}]),
    "mu-torere": (
        functools.partial(boards.Star, ["d7", "f6", "g4", "f2", "d1", "b2", "a4", "b6"], "d4", "SSSSssss"),
        {"guarded": True, "open_ring": False},
        [{"guarded": False}, {"open_ring": True}],
    ),
    "pong-hau-ki": (
        functools.partial(boards.Star, ["a3", "a1", "c1", "c3"], "b2", "sSSs"),
        {"guarded": False, "open_ring": True},
        [{"guarded": True}, {"open_ring": False}],
    ),
    "bagh-chal": (boards.BaghChal, {}, [{"goats_wait": False}, {"tigers_jump": False}, {"diagonals": False}]),
}
assert GAMES.keys() == set(BOARDS)
# These take a minute to load.
LARGE = ("nine-mens-morris", "twelve-mens-morris")
FEW, MANY = 30, 600
# Games with long chains take longer.
MOST = {"halma": 100}


def oracle(name: str, **changes: Any) -> Any:
    make, usual, _ = GAMES[name]
    return make(**{**usual, **changes})


@functools.cache
def positions(name: str, count: int) -> tuple[Place, ...]:
    """Positions of games that are played by chance, some with pieces taken off so that what is rare is near."""
    rules, chance = oracle(name), random.Random(name)
    found: list[Place] = []
    while len(found) < count:
        at = rules.start()
        for ply in range(chance.choice((12, 40, 90))):
            moves = rules.moves(at)
            if not moves or len(found) >= count:
                break
            if ply == 0 or chance.random() < 0.3:
                found.append(thinned(at, chance, rules))
            taking = [after for _, after in moves if len(after.board) < len(at.board) or after.phase == "take"]
            at = chance.choice(taking) if taking and chance.random() < 0.5 else chance.choice(moves)[1]
    return tuple(found)


def thinned(at: Place, chance: random.Random, rules: Any) -> Place:
    """A position, perhaps without some of its pieces, or with others in their places."""
    if at.phase == "take" or not at.board or chance.random() < 0.5:
        return at
    kept = {square: piece for square, piece in at.board.items() if chance.random() < 0.6}
    if not at.hands[0] and chance.random() < 0.5:
        kept = dict(zip(kept, chance.sample(list(kept.values()), len(kept)), strict=True))
    is_possible = getattr(rules, "is_possible", lambda _: True)
    return replace(at, board=kept) if is_possible(kept) else at


def ends(found: Found) -> Sequence[object]:
    return sorted((path, sorted(after.board.items()), after.is_first, after.hands) for path, after in found)


@pytest.mark.parametrize("name", GAMES)
def test_the_positions_tell_every_rule_from_another(name: str) -> None:
    rules = oracle(name)
    for changes in GAMES[name][2]:
        mutant = oracle(name, **changes)
        is_same = (ends(rules.moves(at)) == ends(mutant.moves(at)) for at in positions(name, MOST.get(name, MANY)))
        assert not all(is_same), changes


def stored(rules: Ruleset, at: Place) -> Position:
    style = rules.pieces[0].partition(":")[0].upper()
    named = {square: f"{style if piece.isupper() else style.lower()}:{piece}" for square, piece in at.board.items()}
    assert rules.start is not None
    hands = {piece: at.hands[piece.islower()] for piece in rules.start.hands or {}}
    state = {"phase": at.phase} if at.phase else None
    if state is not None and "white" in rules.variables:
        for name, is_first in (("white", True), ("black", False)):
            count = at.hands[not is_first] + sum(piece.isupper() == is_first for piece in at.board.values())
            # The man that is about to be taken is counted already.
            state[name] = str(max(2, count - (at.phase == "take" and at.is_first != is_first)))
    return Position(named, hands=hands, side="first" if at.is_first else "second", state=state)


def told(position: Position) -> object:
    board = sorted((square, str(piece).partition(":")[2]) for square, piece in position.board.items())
    plain = [(square, piece if position.state else piece.strip("+-")) for square, piece in board]
    held = sorted((position.hands or {}).items())
    return plain, position.side, [count for _, count in held], (position.state or {}).get("phase")


def differences(rules: Ruleset, name: str, count: int) -> Iterator[str]:
    game = oracle(name)
    for at in positions(name, count):
        position = stored(rules, at)
        wanted = {path: told(stored(rules, after)) for path, after in game.moves(at)}
        found: dict[tuple[str, ...], Position] = {}
        found |= {(each.source, each.destination): rules.apply(position, each) for each in rules.legal_moves(position)}
        found |= {each.path: rules.apply(position, each) for each in rules.chains(position, legal=True)}
        if {path: told(after) for path, after in found.items()} != wanted:
            yield f"{position}: {sorted(found.keys() ^ wanted.keys())}"


@pytest.mark.parametrize("name", [name for name in GAMES if name not in LARGE])
def test_a_description_has_the_moves_of_the_written_rules(games: Games, name: str) -> None:
    assert list(differences(games[f"gdl/{name}"], name, FEW)) == []


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_a_description_has_the_moves_of_the_written_rules_in_many_positions(games: Games, name: str) -> None:
    assert list(differences(games[f"gdl/{name}"], name, MOST.get(name, MANY))) == []
