"""Large games of shogi, against an interpreter of the written rules, where anything may stand anywhere."""

from __future__ import annotations

import random
from collections import Counter
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

TAI = "large/tai-shogi"
# Its boards are crowded, and an emperor goes anywhere: few positions take as long as many of others.
FEW = {TAI: (1, 25), "tenjiku-shogi": (8, 500)}
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
    (TAI, "[cD-bW]", "[cD-fW]"),
    (TAI, "fBfmasBbB2", "fBfmaB"),
    (TAI, """to = ["Y'"]""", 'to = ["Y"]'),
    (TAI, "fRflBbrBbW", "fRfrBblBbW"),
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
    return (1 if found.side == "first" else -1), found.state + found.letter + "'" * found.derived


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
            found = Counter(told(game, men, move) for move in game.moves(position))
            wanted = Counter(rules.outcomes(men, side))
            if found.keys() != wanted.keys() or (found != wanted and name not in OVERLAPPING):
                yield f"{board}: {sorted({*found} ^ {*wanted}, key=str)}"


@pytest.mark.parametrize(
    "name", [name if name != "dai-shogi" else pytest.param(name, marks=pytest.mark.long) for name in sorted(GAMES)]
)
def test_pieces_of_large_shogi_move_by_their_written_rules(name: str) -> None:
    assert list(differences(library.read_game(name), name, FEW.get(name, (20, 500))[0])) == []


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(GAMES))
def test_many_positions_of_large_shogi(name: str) -> None:
    assert list(differences(library.read_game(name), name, FEW.get(name, (20, 500))[1])) == []


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


# --- tai shogi ---


def test_tai_shogi_begins_with_177_pieces_of_93_kinds_and_looks_alike_from_both_sides() -> None:
    definition = library.read_game(TAI)
    start = {point(square): man(piece) for square, piece in feen.parse(str(definition.start)).board.items()}
    assert {(24 - x, 24 - y): (-side, token) for (x, y), (side, token) in start.items()} == start
    own = [token for side, token in start.values() if side == 1]
    assert (len(own), len(set(own))) == (177, 93)
    assert (len(definition.pieces), len({piece.name for piece in definition.pieces})) == (104, 101)
    become = [rule.to for piece in definition.pieces for rule in piece.promotions]
    assert (len(become), become.count(("G",))) == (36, 14)


def test_each_piece_of_tai_shogi_moves_alone_by_its_written_rule() -> None:
    game, rules = Game(library.read_game(TAI)), Rules.of(TAI, 25, 25)
    names = {man(identifier): identifier for identifier in game.forms}
    assert {token for _, token in names} == set(rules.moves)
    for side, token in names:
        men = {point("h12"): (side, token)}
        position = Position({"h12": names[side, token]}, None, "first" if side == 1 else "second")
        assert {told(game, men, move) for move in game.moves(position)} == set(rules.outcomes(men, side)), token


def tai_moves(board: dict[str, str | None]) -> set[tuple[str, tuple[str, ...], str]]:
    """Where the piece on m13 goes, what it takes on the way or there, and what it is then."""
    game = Game(library.read_game(TAI))
    men = {point(square): man(str(piece)) for square, piece in board.items()}
    moves = (move for move in game.moves(Position(board, None, "first")) if move.source == "m13")
    return {(to, tuple(sorted(taken)), after) for _, to, taken, after in (told(game, men, move) for move in moves)}


def test_a_hook_mover_turns_once_and_stops_where_it_takes() -> None:
    alone = tai_moves({"m13": "S:H'"})
    assert len(alone) == 624
    found = tai_moves({"m13": "S:H'", "m15": "S:P", "n13": "S:P", "k13": "s:p", "l20": "s:p"})
    # What is up to the right is out of reach by m15 and n13; to the left it comes as far as what it takes.
    assert {to for to, _, _ in found if to in ("m14", "m15", "n14", "n16", "l13", "k13", "j13", "l19", "l21")} == {
        *("m14", "n14", "l13", "k13", "l19")
    }
    assert {move for move in found if move[1]} == {("k13", ("k13",), "G"), ("l20", ("l20",), "G")}


def test_a_lion_dog_takes_up_to_three_pieces_on_a_line() -> None:
    found = tai_moves({"m13": "S:-L'", "m14": "s:p", "m15": "s:p", "m16": "s:p", "l12": "S:P", "k11": "S:P"})
    assert {move[:2] for move in found if move[1]} == {
        *(("m13", ("m14",)), ("m14", ("m14",)), ("m14", ("m14", "m15"))),
        *(("m15", ("m15",)), ("m15", ("m14", "m15"))),
        *(("m16", ("m16",)), ("m16", ("m14", "m16")), ("m16", ("m15", "m16")), ("m16", ("m14", "m15", "m16"))),
    }
    assert {after for _, taken, after in found if taken} == {"+L'"}
    assert {to for to, taken, _ in found if not taken and to[0] in "jkl" and int(to[1:]) < 13} == {"j10"}


def test_an_emperor_goes_anywhere_and_stays_an_emperor() -> None:
    found = tai_moves({"m13": "S:K^", "m14": "S:P", "a1": "s:p"})
    assert len(found) == 623
    assert [move for move in found if move[1]] == [("a1", ("a1",), "K")]
