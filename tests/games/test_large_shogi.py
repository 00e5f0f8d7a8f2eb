"""Large games of shogi, against an interpreter of the written rules, where anything may stand anywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from ggn_store import Position
from ggn_store.games import library
from ggn_store.games.definition import read
from ggn_store.games.rules import Definition
from ggn_store.notation import feen, qpi
from tests.oracles.large_shogi import GAMES, OVERLAPPING, Outcome, Point, Rules, text
from tests.oracles.play import Choice, Game
from tests.support.definitions import shipped
from tests.support.sampled import sampled

# A rule of each game changed: the interpreter has to notice.
MUTANTS = [
    ("chu-shogi", "KNADcaKcabK", "KNADcaK"),
    ("chu-shogi", "KNADcaKcabK", "KNADcabK"),
    ("chu-shogi", "fFfAfcafFfcabF", "fFfAfcafF"),
    ("chu-shogi", 'from = "near", to = ["+P"]', 'to = ["+P"]'),
    ("chu-shogi", '  { zone = "last", to = ["+P"] },\n', ""),
    ("chu-shogi", 'betza = "FsbW"', 'betza = "FsfW"'),
    ("dai-shogi", 'betza = "W2"', 'betza = "W3"'),
    ("dai-shogi", 'betza = "ffN"', 'betza = "fN"\nalso = [{ betza = "bbN" }]'),
    ("wa-shogi", "fF3", "fF2"),
    ("wa-shogi", 'forced = "immobile"', "forced = true"),
    ("heian-shogi", 'far = "a6:i8"', 'far = "a7:i8"'),
    ("tenjiku-shogi", "vjR", "vR"),
    ("tenjiku-shogi", "QADcaFcabF", "QADcaFcafF"),
]


def positions(definition: Definition, rules: Rules, seed: str, count: int) -> Iterator[dict[Point, tuple[int, str]]]:
    """Boards, sparse and crowded, on which each kind of piece is as likely as another; the first is the start."""
    start = feen.parse(str(definition.start)).board
    yield {point(square): man(piece) for square, piece in start.items()}
    chance = random.Random(seed)
    squares = [(x, y) for x in range(rules.files) for y in range(rules.ranks)]
    for _ in range(count):
        chosen = chance.sample(squares, chance.randrange(4, len(squares) // 2))
        yield {at: (chance.choice((1, -1)), chance.choice(sorted(rules.moves))) for at in chosen}


def point(square: str) -> Point:
    return ord(square[0]) - ord("a"), int(square[1:]) - 1


def man(piece: str) -> tuple[int, str]:
    found = qpi.parse(piece)
    return (1 if found.side == "first" else -1), found.state + found.letter


def told(game: Game, men: dict[Point, tuple[int, str]], move: Choice) -> Outcome:
    side = men[point(move.source)][0]
    board = move.board
    taken = {square for square in board if men.get(point(square), (side, ""))[0] != side}
    return move.source, move.destination, frozenset(taken), man(str(board[move.destination]))[1]


def differences(definition: Definition, name: str, count: int) -> Iterator[str]:
    game = Game(definition)
    assert definition.board.shape is not None
    rules = Rules.of(name, *definition.board.shape)
    names = {man(identifier): identifier for identifier in game.forms}
    for men in positions(definition, rules, name, count):
        board: dict[str, str | None] = {text(at): names[each] for at, each in men.items()}
        for side in (1, -1):
            position = Position(board, None, "first" if side == 1 else "second")
            found = sorted((told(game, men, move) for move in game.moves(position)), key=str)
            wanted = sorted(rules.outcomes(men, side), key=str)
            if name in OVERLAPPING:
                found, wanted = sorted(set(found), key=str), sorted(set(wanted), key=str)
            if found != wanted:
                yield f"{board}: {sorted({*found} ^ {*wanted}, key=str)}"


@pytest.mark.parametrize(
    "name", [name if name != "dai-shogi" else pytest.param(name, marks=pytest.mark.long) for name in sorted(GAMES)]
)
def test_pieces_of_large_shogi_move_by_their_written_rules(name: str) -> None:
    assert list(differences(library.read_game(name), name, 8 if name in OVERLAPPING else 20)) == []


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(GAMES))
def test_many_positions_of_large_shogi(name: str) -> None:
    assert list(differences(library.read_game(name), name, 500)) == []


@pytest.mark.parametrize(("name", "rule", "instead"), sampled(MUTANTS))
def test_a_changed_rule_is_noticed(name: str, rule: str, instead: str) -> None:
    written = shipped(name)
    assert rule in written
    assert any(True for _ in differences(read(written.replace(rule, instead)), name, 40))


def test_chu_shogi_begins_as_counted_by_others() -> None:
    """36 moves at the start, and 36 answers to each; a lion, a falcon and an eagle alone, without passes over nothing.

    Of the 88, 41 and 40 that are known for one of them in the middle of an empty board, 64, 2 and 4 are two steps.
    """
    game = Game(library.read_game("chu-shogi"))
    start = Position.from_feen(str(game.definition.start))
    first = list(game.moves(start))
    assert (len(first), sum(len(list(game.moves(move.after))) for move in first)) == (36, 1296)
    alone = [Position({"f6": piece}, None, "first") for piece in ("S:N", "S:+H", "S:+D")]
    assert [len(list(game.moves(position))) for position in alone] == [88 - 64, 41 - 2, 40 - 4]
