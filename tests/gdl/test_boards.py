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
from tests.oracles.boards import FOUR, Found, Place, Roads, alquerque, hourglass
from tests.support.games import Games
from tests.support.gdl_specifications import BOARDS
from tests.support.sampled import sampled

HOUR, GLASS = "a1 d1 g1 b3 d3 f3 c5 d5 e5", "a13 d13 g13 b11 d11 f11 c9 d9 e9"

HARE_LINES = (
    "b1 c1 d1, a2 b2 c2 d2 e2, b3 c3 d3, b1 b2 b3, c1 c2 c3, d1 d2 d3, a2 b1, a2 b3, b1 c2 d3, b3 c2 d1, d1 e2, d3 e2"
)


def row(rank: int, files: str = "abcde") -> str:
    return " ".join(f"{file}{rank}" for file in files)


def star_rows(first: int, step: int, count: int) -> str:
    """The holes of so many rows from the end of a point on."""
    files = "abcdefghijklmnopqrstuvwxy"
    return " ".join(f"{files[12 - n + 2 * i]}{first + step * n}" for n in range(count) for i in range(n + 1))


def war(lines: Any, army: dict[str, str]) -> Any:
    """A game of men who all jump, must, and go on, with its mutants."""
    usual = {"lines": lines, "army": army, "jumpers": "Mm", "goes_on": True, "must_take": True}
    return Roads, usual, [{"must_take": False}, {"goes_on": False}, {"lines": lines[1:]}]


def hunt(lines: Any, army: dict[str, str], jumpers: str, hands: tuple[int, int] = (0, 0)) -> Any:
    """A game of pieces, placed or not, that one of the sides jumps over, with its mutants."""
    usual = {"lines": lines, "army": army, "jumpers": jumpers, "hands": hands}
    mutants = [{"jumpers": ""}, {"goes_on": True}, {"lines": lines[1:]}, *([{"waits": False}] if any(hands) else [])]
    return Roads, usual, mutants


def loa(army: dict[str, str]) -> Any:
    """Lines of action from a start, with its mutants."""
    return boards.LinesOfAction, {"army": army}, [{"blocked": False}, {"counts_all": False}]


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
    "five-mens-morris": (
        boards.Morris,
        {"rings": 2, "men": 5, "diagonals": False, "flies": False},
        [{"spares_mills": False}, {"takes": False}],
    ),
    "four-field-kono": (boards.FourFieldKono, {}, [{"over_own": False}, {"ways": boards.EIGHT}]),
    "dodgem": (boards.Dodgem, {}, [{"backs": True}, {"leaves": False}]),
    "lines-of-action": loa({"S": "b1 c1 d1 e1 f1 g1 b8 c8 d8 e8 f8 g8", "s": "a2 a3 a4 a5 a6 a7 h2 h3 h4 h5 h6 h7"}),
    "scrambled-eggs": loa({"S": "b1 d1 f1 h2 h4 h6 g8 e8 c8 a7 a5 a3", "s": "c1 e1 g1 h3 h5 h7 f8 d8 b8 a6 a4 a2"}),
    "brandubh": (
        boards.Tafl,
        {
            "army": {"M": "d1 d2 a4 b4 f4 g4 d6 d7", "m": "d3 c4 e4 d5", "k": "d4"},
            "throne": "d4",
            "corners": ("a1", "a7", "g1", "g7"),
        },
        [{"hostile": False}, {"king_takes": False}, {"throne_guards": False}, {"corners": ()}],
    ),
    "ard-ri": (
        boards.Tafl,
        {
            "army": {
                "M": "c1 d1 e1 d2 a3 g3 a4 b4 f4 g4 a5 g5 d6 c7 d7 e7",
                "m": "c3 d3 e3 c4 e4 c5 d5 e5",
                "k": "d4",
            },
        },
        [{"king_takes": False}, {"throne": "d4"}],
    ),
    "tablut": (
        boards.Tafl,
        {
            "army": {
                "M": "d1 e1 f1 e2 a4 a5 a6 b5 i4 i5 i6 h5 d9 e9 f9 e8",
                "m": "e3 e4 e6 e7 c5 d5 f5 g5",
                "k": "e5",
            },
            "throne": "e5",
            "size": 9,
        },
        [{"hostile": False}, {"king_takes": False}, {"throne_guards": False}, {"throne": ""}],
    ),
    "seega": (boards.Seega, {}, [{"middle_is_safe": False}, {"goes_on": False}, {"twice": False}]),
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
    "alquerque": war(
        alquerque(), {"M": "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2 d3 e3", "m": "a3 b3 a4 b4 c4 d4 e4 a5 b5 c5 d5 e5"}
    ),
    "felli": war(hourglass(2, 1), {"M": "a1 c1 e1 b2 c2 d2", "m": "b4 c4 d4 a5 c5 e5"}),
    "lau-kata-kati": war(hourglass(3, 2), {"M": HOUR, "m": GLASS}),
    "dash-guti": war(hourglass(3, 2, arms=True), {"M": f"{HOUR} g7", "m": f"{GLASS} a7"}),
    "sixteen-soldiers": war(
        alquerque("up", "down"),
        {"M": f"a1 c1 e1 b2 c2 d2 {row(3)} {row(4)}", "m": f"a9 c9 e9 b8 c8 d8 {row(6)} {row(7)}"},
    ),
    "peralikatuma": (
        Roads,
        {
            "lines": alquerque("up", "down", "left", "right"),
            "army": {
                "M": f"c1 e1 g1 d2 e2 f2 {row(3, 'cdefg')} {row(4, 'cdefg')} a3 a5 a7 b4 b5 b6 c5",
                "m": f"c9 e9 g9 d8 e8 f8 {row(7, 'cdefg')} {row(6, 'cdefg')} i3 i5 i7 h4 h5 h6 g5",
            },
            "jumpers": "Mm",
            "goes_on": True,
        },
        [{"goes_on": False}, {"must_take": True}, {"lines": alquerque("up", "down", "left", "right")[1:]}],
    ),
    "kolowis-awithlaknannai": war(
        boards.serpents(),
        {
            "M": f"{row(1, 'abcdefghijklmnop')} {row(2, 'jklmnop')}",
            "m": f"{row(3, 'abcdefghijklmnop')} {row(2, 'bcdefgh')}",
        },
    ),
    "chinese-checkers": (
        Roads,
        {
            "lines": boards.star(),
            "army": {"P": star_rows(1, 1, 4), "p": star_rows(17, -1, 4)},
            "jumpers": "",
            "goes_on": True,
            "leaps": True,
        },
        [{"leaps": False}, {"goes_on": False}],
    ),
    "tsoro-yematatu": (
        Roads,
        {
            "lines": hourglass(2, 1, halves=1),
            "army": {"S": "", "s": ""},
            "jumpers": "",
            "hands": (3, 3),
            "leaps": True,
        },
        [{"leaps": False}, {"waits": False}],
    ),
    "fox-and-geese": (
        Roads,
        {
            "lines": boards.cross(diagonals=False),
            "army": {"F": "d4", "g": f"{row(5, 'abcdefg')} c6 d6 e6 c7 d7 e7"},
            "jumpers": "F",
            "goes_on": True,
            "onward": {"g": (0, -1)},
        },
        [{"onward": {}}, {"goes_on": False}],
    ),
    "asalto": (
        Roads,
        {
            "lines": boards.cross(diagonals=True),
            "army": {
                "R": f"c1 d1 e1 c2 d2 e2 {row(3, 'abcdefg')} {row(4, 'abcdefg')} a5 b5 f5 g5",
                "o": "c5 e5",
            },
            "jumpers": "o",
            "goes_on": True,
            "must_take": True,
            "onward": {"R": (0, 1)},
        },
        [{"onward": {}}, {"goes_on": False}, {"must_take": False}, {"lines": boards.cross(diagonals=False)}],
    ),
    "adugo": hunt(alquerque("down"), {"J": "c5", "d": f"a5 b5 d5 e5 {row(6)} {row(7)}"}, "J"),
    "catch-the-hare": (
        Roads,
        {
            "lines": alquerque(),
            "army": {"H": f"{row(1)} {row(2)} a3 e3", "a": "c3"},
            "jumpers": "a",
            "goes_on": True,
        },
        [{"jumpers": ""}, {"goes_on": False}, {"lines": alquerque(diagonals=False)}],
    ),
    "hare-and-hounds": (
        Roads,
        {
            "lines": [line.split() for line in HARE_LINES.split(", ")],
            "army": {"H": "a2 b1 b3", "a": "e2"},
            "jumpers": "",
            "onward": {"H": (1, 0)},
        },
        [{"onward": {}}, {"onward": {"a": (-1, 0), "H": (1, 0)}}],
    ),
    "mu-torere": (
        functools.partial(boards.Star, ["d7", "f6", "g4", "f2", "d1", "b2", "a4", "b6"], "d4", "SSSSssss"),
        {"guarded": True, "open_ring": False},
        [{"guarded": False}, {"open_ring": True}],
    ),
    "shisima": (
        functools.partial(boards.Star, ["d7", "f6", "g4", "f2", "d1", "b2", "a4", "b6"], "d4", "ss.SSS.s"),
        {"guarded": False, "open_ring": False},
        [{"guarded": True}, {"open_ring": True}],
    ),
    "pong-hau-ki": (
        functools.partial(boards.Star, ["a3", "a1", "c1", "c3"], "b2", "sSSs"),
        {"guarded": False, "open_ring": True},
        [{"guarded": True}, {"open_ring": False}],
    ),
    "bagh-chal": hunt(alquerque(), {"G": "", "t": "a1 e1 a5 e5"}, "t", hands=(20, 0)),
    "len-choa": hunt(hourglass(3, 2, halves=1), {"L": "", "t": "d7"}, "t", hands=(6, 0)),
    "sua-ghin-gnua": hunt(alquerque(diagonals=False), {"O": "", "t": ""}, "t", hands=(12, 3)),
    "kaooa": hunt(boards.pentagram(), {"C": "", "v": ""}, "v", hands=(7, 1)),
}
assert GAMES.keys() == set(BOARDS)
# These take a quarter of a minute or more to load.
LARGE = ("ard-ri", "brandubh", "lines-of-action", "nine-mens-morris", "scrambled-eggs", "tablut", "twelve-mens-morris")
FEW, MANY = 12, 600
# Games with long chains take longer.
MOST = {"chinese-checkers": 60, "halma": 100}


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


@pytest.mark.parametrize("name", sampled(GAMES, one_in=20))
def test_the_positions_tell_every_rule_from_another(name: str) -> None:
    rules = oracle(name)
    for changes in GAMES[name][2]:
        mutant = oracle(name, **changes)
        is_same = (ends(rules.moves(at)) == ends(mutant.moves(at)) for at in positions(name, MOST.get(name, MANY)))
        assert not all(is_same), changes


def test_lines_of_action_begins_with_the_moves_that_are_known() -> None:
    rules = oracle("lines-of-action")
    paths = [path for path, _ in rules.moves(rules.start())]
    assert (len(paths), {to for square, to in paths if square == "b1"}) == (36, {"b3", "d3", "h1"})


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
    if "again" in rules.variables:
        state = {"again": "true" if at.held() % 2 == 0 else "false"}
    return Position(named, hands=hands, side="first" if at.is_first else "second", state=state)


def told(position: Position) -> object:
    board = sorted((square, str(piece).partition(":")[2]) for square, piece in position.board.items())
    plain = [(square, piece if position.state else piece.strip("+-")) for square, piece in board]
    held = sorted((position.hands or {}).items())
    state = {name: value for name, value in (position.state or {}).items() if name in ("phase", "again")}
    return plain, position.side, [count for _, count in held], state


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


@pytest.mark.parametrize("name", sampled((name for name in GAMES if name not in LARGE), one_in=5))
def test_a_description_has_the_moves_of_the_written_rules(games: Games, name: str) -> None:
    assert list(differences(games[f"gdl/{name}"], name, FEW)) == []


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_a_description_has_the_moves_of_the_written_rules_in_many_positions(games: Games, name: str) -> None:
    assert list(differences(games[f"gdl/{name}"], name, MOST.get(name, MANY))) == []


@pytest.mark.both
def test_no_chain_comes_before_what_has_to_be_dropped(games: Games) -> None:
    rules = games["gdl/seega"]
    own, others = ("a2", "a3", "a5", "b4", "c1", "d3", "d5"), ("b2", "b3", "c5", "d4", "e3")
    board = {**dict.fromkeys(own, "SEEGA:S"), **dict.fromkeys(others, "seega:s")}
    for held, count in ((0, 4), (1, 0)):
        hands = {"SEEGA:S": held, "seega:s": held}
        at = Position(board, hands=hands, side="first", state={"again": "false"})
        assert len(rules.chains(at, legal=True)) == count
        moves = len(rules.legal_moves(at))
        assert held == 0 or moves == 25 - len(board) - 1
        assert rules.perft(at, 1, legal=True, engine="duckdb").count == moves + count
