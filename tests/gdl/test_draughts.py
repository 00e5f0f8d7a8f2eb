"""The games of draughts: descriptions against plain Python from the written rules, which has the published figures."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from ggn_store import MoveError, Position, Ruleset, StoreError
from ggn_store.api.play.game import Game
from ggn_store.model.pictures.picture import Diagram
from tests.oracles import draughts
from tests.oracles.draughts import GAMES, Board, Move, Piece, Rules, pdn, perft
from tests.oracles.gdl_interpreter import Game as Description
from tests.oracles.gdl_interpreter import Piece as Entity
from tests.oracles.gdl_interpreter import Position as Situation
from tests.support.games import Games
from tests.support.gdl_specifications import DRAUGHTS, game
from tests.support.sampled import sampled

assert {"checkers", *DRAUGHTS} == GAMES.keys()
# These take long to load: on every change they are played by the interpreter.
LARGE = ("international-draughts", "turkish-draughts")
FEW, MANY = 10, 400

# From the "Perft for all recognized draughts variants" of the forum of the FMJD, which programs are held to.
PERFT = {
    "checkers": [7, 49, 302, 1469, 7361, 36768, 179740, 845931],
    "international-draughts": [9, 81, 658, 4265, 27117, 167140, 1049442],
    "brazilian-draughts": [7, 49, 302, 1469, 7473, 37628, 187302, 907830],
    "russian-draughts": [7, 49, 302, 1469, 7482, 37986, 190146, 929899],
    "pool-checkers": [7, 49, 302, 1469, 7482, 37986, 190146, 929896],
    "czech-draughts": [7, 49, 302, 1469, 7361, 36768, 179740, 845931],
    "spanish-draughts": [7, 49, 302, 1469, 7361, 36473, 177532, 828783],
    "italian-draughts": [7, 49, 302, 1469, 7361, 36473, 177532, 828783],
}
WOLDOUBY = "W:B12,13,14,16,18,19,21,23,24,26:W25,27,28,30,32,33,34,35,37,38"
ALL_KINGS = (
    "W:WK31,K32,K33,K34,K35,K36,K37,K38,K39,K40,K41,K42,K43,K44,K45,K46,K47,K48,K49,K50"
    ":BK1,K2,K3,K4,K5,K6,K7,K8,K9,K10,K11,K12,K13,K14,K15,K16,K17,K18,K19,K20"
)
# Positions of the same threads.
POSITIONS = [
    ("international-draughts", WOLDOUBY, [6, 12, 30, 73, 215, 590, 1944, 6269, 22369, 88050]),
    ("international-draughts", ALL_KINGS, [17, 79, 352, 1399, 7062, 37589]),
    ("international-draughts", "W:W6,7,8,9,10:B41,42,43,44,45", [9, 81, 795, 7578, 86351]),
    (
        "international-draughts",
        "B:BK17,K24:W6,9,10,11,20,21,22,23,30,K31,33,37,41,42,43,44,46",
        [14, 55, 1168, 5432, 87195],
    ),
    ("italian-draughts", "W:W30,26,27,22,23,24,17,18,20:B14,15,16,9,11,5,6,1,3", [5, 13, 42, 107, 360, 1099, 3736]),
    ("italian-draughts", "B:W30,21,22,17,20,K6:B25,28,9,5,1,3", [6, 47, 271, 1916, 10810, 73137]),
    ("italian-draughts", "W:WK27,K28,17,20,9,K12,8:B21,24,K19,K13,14,K11,4", [13, 112, 828, 6756, 46241]),
]


def published(most: int) -> Iterator[tuple[list[int], list[int]]]:
    """The figures found and those published, up to so many positions."""
    for name, figures in PERFT.items():
        wanted = [each for each in figures if each <= most]
        yield perft(GAMES[name], GAMES[name].start(), 1, len(wanted), drops_duplicates=True), wanted
    for name, text, figures in POSITIONS:
        wanted = [each for each in figures if each <= most]
        yield perft(GAMES[name], *pdn(text, GAMES[name]), len(wanted), drops_duplicates=True), wanted


def test_the_oracle_has_the_published_figures() -> None:
    for found, wanted in published(2_000):
        assert found == wanted


@pytest.mark.long
def test_the_oracle_has_the_published_figures_of_deeper_searches() -> None:
    for found, wanted in published(1_000_000):
        assert found == wanted


# --- positions that hit the rules ---

# Two kings that are taken late count for more than one that is taken early.
RARE = {"italian-draughts": ["W:WK1,K29,K5,K16:BK25,17,26,27,K19,K20"]}


@functools.cache
def positions(name: str, count: int) -> tuple[tuple[Board, int], ...]:
    """Positions by chance: in most some game of draughts could take several pieces."""
    rules, chance = GAMES[name], random.Random(name)
    loose = replace(rules, men_capture_back=True, is_crowned_in_passing=True, flies=True, prefers=())
    squares = [(x, y) for x in range(rules.size) for y in range(rules.size)]
    if not rules.is_straight:
        squares = [(x, y) for x, y in squares if (x + y) % 2 == rules.colour]
    found: list[tuple[Board, int]] = [(rules.start(), 1), *(pdn(text, rules) for text in RARE.get(name, ()))]
    while len(found) < count:
        kings = chance.choice((0.1, 0.4, 0.7))
        board: Board = {}
        for square in chance.sample(squares, chance.randint(5, 14)):
            side = chance.choice((1, -1))
            is_king = chance.random() < kings or square[1] == rules.last(side)
            board[square] = Piece(side, is_king)
        side = chance.choice((1, -1))
        longest = max((len(move.taken) for move in loose.moves(board, side)), default=0)
        is_quiet = longest == 0 and len(found) % 6 == 0
        if is_quiet or (longest > len(found) % 2 + 1 and len(rules.moves(board, side)) < 40):
            found.append((board, side))
    return tuple(found)


def mutants(rules: Rules) -> Iterator[tuple[str, Rules]]:
    """Games with another rule in place of one; not those that come to the same."""
    if not rules.is_straight:
        yield "men capture", replace(rules, men_capture_back=not rules.men_capture_back)
    yield "kings fly", replace(rules, flies=not rules.flies)
    yield "men take kings", replace(rules, men_take_kings=not rules.men_take_kings)
    if rules.flies:  # what a king of short steps jumps is not in its way again
        yield "lands behind", replace(rules, lands_behind=not rules.lands_behind)
        yield "removes at once", replace(rules, removes_at_once=not rules.removes_at_once)
    yield "crowned in passing", replace(rules, is_crowned_in_passing=not rules.is_crowned_in_passing)
    for number, preference in enumerate(rules.prefers):
        yield f"without {preference}", replace(rules, prefers=rules.prefers[:number] + rules.prefers[number + 1 :])
    for preference in {"most", "kings", "king"}.difference(rules.prefers):
        yield f"with {preference}", replace(rules, prefers=(*rules.prefers, preference))


def ends(moves: list[Move]) -> Sequence[object]:
    return sorted((move.path, move.after) for move in moves)


@pytest.mark.parametrize("name", sampled(DRAUGHTS))
def test_the_positions_tell_every_rule_from_another(name: str) -> None:
    rules = GAMES[name]
    for changed, mutant in mutants(rules):
        is_same = (ends(rules.moves(*each)) == ends(mutant.moves(*each)) for each in positions(name, MANY))
        assert not all(is_same), changed


# --- descriptions ---


def played(rules: Description, board: Board, side: int) -> dict[tuple[str, ...], list[tuple[str, bool, bool]]]:
    """What the interpreter leads to by each path that captures most, to its end; by all, if none captures."""
    owners = list(rules.players)
    entities = {
        label(square): Entity(
            "Piece", (("owner", owners[piece.side == -1]), ("rank", "king" if piece.is_king else "man"))
        )
        for square, piece in board.items()
    }
    at = Situation(entities, {"phase": "main"}, owners[side == -1])
    paths: dict[tuple[str, ...], Situation] = {path: outcome.after for path, outcome in rules.moves(at).items()}
    paths |= {path: outcomes[-1].after for path, outcomes in rules.chains(at).items()}
    left = {}
    for path, after in paths.items():
        standing = {square: dict(each.attributes) for square, each in after.board.items()}
        left[path] = sorted(
            (square, each["owner"] == owners[0], each["rank"] != "man")
            for square, each in standing.items()
            if each["rank"] != "taken"
        )
    fewest = min(map(len, left.values()), default=0)
    return {path: standing for path, standing in left.items() if len(standing) == fewest}


@pytest.mark.parametrize("name", LARGE)
def test_the_interpreter_plays_a_description_by_the_written_rules(name: str) -> None:
    for board, side in positions(name, FEW):
        wanted = {tuple(map(label, move.path)): told(dict(move.after)) for move in GAMES[name].moves(board, side)}
        assert played(game(name), board, side) == wanted


def label(square: draughts.Square) -> str:
    return f"{'abcdefghij'[square[0]]}{square[1] + 1}"


def stored(ruleset: Ruleset, board: Board, side: int) -> Position:
    style = ruleset.pieces[0].partition(":")[0].upper()
    pieces = {}
    for square, piece in board.items():
        name = f"{style}:{'K' if piece.is_king else 'M'}"
        pieces[label(square)] = name if piece.side == 1 else name.lower()
    return Position(pieces, side="first" if side == 1 else "second")


def told(board: Board) -> list[tuple[str, bool, bool]]:
    return sorted((label(square), piece.side == 1, piece.is_king) for square, piece in board.items())


def told_of(position: Position) -> list[tuple[str, bool, bool]]:
    """What stands where: a man that has just been crowned is a king."""
    tokens = [(square, str(piece).partition(":")[2]) for square, piece in position.board.items()]
    assert "-M" not in {token.upper() for _, token in tokens}, "what is taken has left the board"
    return sorted((square, token.isupper(), token.upper() != "M") for square, token in tokens)


def differences(ruleset: Ruleset, name: str, count: int) -> Iterator[str]:
    for board, side in positions(name, count):
        position = stored(ruleset, board, side)
        wanted = {tuple(map(label, move.path)): told(dict(move.after)) for move in GAMES[name].moves(board, side)}
        moves = ruleset.legal_moves(position)
        found: dict[tuple[str, ...], Position] = {}
        found |= {(move.source, move.destination): ruleset.apply(position, move) for move in moves}
        found |= {chain.path: ruleset.apply(position, chain) for chain in ruleset.chains(position, legal=True)}
        if {path: told_of(after) for path, after in found.items()} != wanted:
            yield f"{position}: {sorted(found)}, not {sorted(wanted)}"
        if any(after.side == position.side for after in found.values()):
            yield f"{position}: the turn does not pass"


@pytest.mark.parametrize("name", sampled((name for name in DRAUGHTS if name not in LARGE), one_in=7))
def test_a_description_has_the_moves_of_the_written_rules(games: Games, name: str) -> None:
    assert list(differences(games[f"gdl/{name}"], name, FEW)) == []


@pytest.mark.long
@pytest.mark.parametrize("name", DRAUGHTS)
def test_a_description_has_the_moves_of_the_written_rules_in_many_positions(games: Games, name: str) -> None:
    assert list(differences(games[f"gdl/{name}"], name, MANY)) == []


def test_a_store_counts_by_these_duties_and_other_engines_know_nothing_of_them(games: Games) -> None:
    rules = games["gdl/brazilian-draughts"]
    assert rules.perft(rules.start, 3, legal=True).count == 302
    assert not rules.columns.judges
    with pytest.raises(StoreError, match="duties, chains or ends"):
        rules.perft(rules.start, 2, legal=True, engine="duckdb")


def test_what_is_taken_is_in_the_way_until_the_capture_is_over(games: Games) -> None:
    rules = games["gdl/brazilian-draughts"]
    at = Position({"a1": "BRAZILIAN:K", "b2": "brazilian:m", "d4": "brazilian:m", "h2": "BRAZILIAN:M"})
    [step] = rules.moves(at, source="a1")
    assert step.effects.board == {"a1": None, "b2": "brazilian:-m", "c3": "BRAZILIAN:K"}
    after = rules.apply(at, step)
    assert after.board == {"c3": "BRAZILIAN:K", "d4": "brazilian:m", "h2": "BRAZILIAN:M"}
    # It is counted and listed as it is made.
    assert after.board in [position.board for position, _ in rules.reached([at])[0]]
    assert rules.perft(at, 2).count == sum(len(rules.moves(position)) for position, _ in rules.reached([at])[0])
    assert rules.legal_moves(at) == []
    ways = {chain.path for chain in rules.chains(at, legal=True)}
    assert ways == {("a1", "c3", square) for square in ("e5", "f6", "g7", "h8")}


def test_they_are_drawn_as_draughtsmen_what_is_taken_as_a_man(games: Games) -> None:
    rules = games["gdl/brazilian-draughts"]
    picture = rules.pictures.picture()
    assert isinstance(picture, Diagram)
    assert (picture.style.pieces, picture.style.names["brazilian:-m"]) == ("draughts", "man")
    assert "BRAZILIAN:-M" not in rules.pieces


def test_a_shorter_capture_is_refused_with_the_duty_that_prefers_another(games: Games) -> None:
    rules = games["gdl/brazilian-draughts"]
    men = dict.fromkeys(("b2", "d4", "g3"), "brazilian:m")
    game = Game.begin(rules, Position({"a1": "BRAZILIAN:K", "h2": "BRAZILIAN:M", "a3": "BRAZILIAN:M", **men}))
    moves = {(move.source, move.destination): move for move in game.every[0]}
    with pytest.raises(MoveError, match="another capture comes first: most-captures"):
        game.play(moves["h2", "f4"])
    with pytest.raises(MoveError, match=r"captures come first$"):
        game.play(moves["a3", "b4"])
    with pytest.raises(MoveError, match=r"captures come first$"):
        game.play(moves["a1", "c3"])
    assert "d4" not in game.play("a1 c3 f6").position.board
