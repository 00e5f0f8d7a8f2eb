"""The library's games: what Fairy-Stockfish says of them, hand counts for those that it does not know, and their form.

`python -m tests.oracles.fairy_stockfish` is the full sweep; here are its small fixtures, in tests/data/positions/games.
"""

from __future__ import annotations

import functools
import itertools
import random

import pytest

from ggn_store import Position, Store
from ggn_store.games import library
from ggn_store.games.definition import read
from ggn_store.games.fen import parse_fen
from ggn_store.games.generate import pieces
from ggn_store.games.rules import SIDES, Definition
from ggn_store.notation import cell, feen
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from tests.oracles import hexagonal, large_chess, large_shogi, reference
from tests.oracles.fairy_stockfish import FIXTURES, differences, fixture
from tests.oracles.play import Game
from tests.support.definitions import shipped_game
from tests.support.games import Games
from tests.support.sampled import sampled

FIXED = sorted(path.stem for path in FIXTURES.glob("*.txt"))
# Games that agree in their moves but not in what follows, with the class of difference.
AFTERWARDS = {
    "cambodian": "a king that a boat comes to face loses its leap",
    "karouk": "a king that a boat comes to face loses its leap",
}


@functools.cache
def game(name: str) -> Game:
    return Game(library.path_of(name).read_text("utf-8"), name)


def test_games_have_fixtures_or_an_interpreter_or_are_counted_by_hand() -> None:
    interpreted = hexagonal.STARTS.keys() | large_shogi.GAMES | large_chess.STARTS
    uncounted = set(library.names()) - set(FIXED) - {name for name, _ in COUNTED} - interpreted
    assert uncounted == set()
    assert len(library.names()) >= 100


# Games whose generation or comparison takes seconds.
LATER = ("ataxx", "gothhouse", "grandhouse", "janggihouse", "mansindam", "pandemonium")


@pytest.mark.parametrize(
    "name",
    [
        *sampled((name for name in FIXED if name not in LATER), one_in=9),
        *(pytest.param(name, marks=pytest.mark.long) for name in LATER),
    ],
)
def test_a_game_agrees_with_fairy_stockfish(name: str) -> None:
    played = Game(library.path_of(name).read_text("utf-8"), name)
    samples = fixture(name)
    assert len(samples) >= 20
    found = [line for sample in samples for line in differences(played, sample)]
    if name in AFTERWARDS:
        found = [line for line in found if ": after " not in line]
    assert found == []


def test_games_begin_as_fairy_stockfish_has_them() -> None:
    for name in FIXED:
        begun = shipped_game(name)
        assert parse_fen(fixture(name)[0].fen, begun).board == feen.parse(str(begun.start)).board, name


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("chess", "minishogi") else pytest.mark.long)
        for name in sorted(set(library.STARTER) & set(FIXED))
    ],
)
def test_a_store_answers_as_the_plain_evaluator_does(games: Games, name: str) -> None:
    played, rules = game(name), games[name]
    positions = [played.unmarked(played.parse(sample.fen)) for sample in fixture(name)]
    for position, moves in zip(positions, rules.moves_batch(positions), strict=True):
        expected = [(move.piece, move.source, move.destination, move.possibility) for move in played.moves(position)]
        found = [(move.piece, move.source, move.destination, (move.must, move.deny, move.transition)) for move in moves]
        wanted = [(*each[:3], (dict(each[3].must), dict(each[3].deny), each[3].effects)) for each in expected]
        assert sorted(found, key=str) == sorted(wanted, key=str)


@pytest.mark.parametrize(
    ("names", "one_in"),
    [
        (("chess", "minishogi", "minixiangqi"), 4),
        pytest.param(("chess", "crazyhouse", "janggi"), 1, marks=pytest.mark.long),
    ],
)
def test_the_fast_judge_of_conditions_judges_as_the_reference_does(names: tuple[str, ...], one_in: int) -> None:
    chance = random.Random(3)
    for name in names:
        played = game(name)
        sources = itertools.product(played.forms, (*played.definition.board.squares, HAND))
        rules = [(key, to, each) for key in sources for to, each in played.rules(*key)]
        for sample in fixture(name)[::one_in]:
            position = played.parse(sample.fen)
            board = {square: str(piece) for square, piece in position.board.items()}
            moves = {(move.piece, move.source, id(move.possibility)) for move in played.moves(position)}
            for (piece, source), _, possibility in chance.sample(rules, 400):
                if side_of(piece) == position.side and reference.available(piece, source, board, position.hands or {}):
                    data = possibility.data("diff")
                    expected = reference.permitted(data, board, position.side)
                    assert ((piece, source, id(possibility)) in moves) == expected


# --- games that Fairy-Stockfish does not know: pseudo-legal moves of the first side at the start, counted by hand ---

COUNTED = [
    # Sixteen pawn moves, four of the knights; on the cylinder, too, everything else is closed in.
    ("cylinder", 20),
    ("gomoku", 19 * 19),
    ("renju", 15 * 15),
    ("tapatan", 9),
    ("achi", 9),
    ("tic-tac-toe", 9),
    ("connect-four", 7),
    ("y", 13 * 14 // 2),
    ("havannah", 3 * 8 * 7 + 1),
    # Two steps for each of ten pawns, two leaps for each piece that leaps as a knight: four pieces.
    ("bird", 20 + 8),
    ("carrera", 20 + 8),
    # Ten pawns with three steps; two leaps of each champion and knight, one of each wizard.
    ("omega", 30 + 4 + 4 + 2),
    # Eleven pawns with three steps; knights, camels, and the wildebeest that is both.
    ("wildebeest", 33 + 4 + 4 + 4),
    # Knights; of the clobberers each FAD has three leaps, waffles and bedes one, the cardinal two; of the nutters
    # fibnifs, charging knights and the colonel have two.
    ("cwda-fide-clobberers", 16 + 4),
    ("cwda-fide-nutters", 16 + 4),
    ("cwda-fide-rookies", 16 + 4),
    ("cwda-clobberers-nutters", 16 + 6 + 2 + 2 + 2),
    ("cwda-clobberers-rookies", 16 + 6 + 2 + 2 + 2),
    ("cwda-nutters-rookies", 16 + 4 + 4 + 2),
    # Twelve pawns; rooks have two squares each, lions one leap, unicorns four leaps and one of them a square further,
    # giraffes two leaps, crocodiles two squares to either side; the aanca two corners and eleven squares from there;
    # the king three steps and three leaps.
    ("grant-acedrex", 12 + 4 + 2 + 10 + 4 + 8 + 13 + 6),
    # Each square of the cube; and one on each of the sixteen pins. A toad or a frog has one step at the start.
    ("qubic", 4**3),
    ("score-four", 4**2),
    ("toads-and-frogs", 1),
    # Each stone of the first rank over the one before it.
    ("four-field-kono", 4),
    # Dominoes on seven places of each of eight files; and on five of each of six files and six ranks.
    ("domineering", 7 * 8),
    ("cram", 2 * 5 * 6),
    # All ten pawns go forward, those of the second level up, too; six leaps of either knight; bishops, unicorns and
    # queen go up between the pawns until they meet the other side's, 6 + 7, 4 + 3 and 3 + 7 + 4.
    ("raumschach", 15 + 12 + 13 + 7 + 14),
]


@pytest.mark.parametrize(("name", "count"), COUNTED)
def test_a_start_has_as_many_moves_as_were_counted(name: str, count: int) -> None:
    played = game(name)
    assert played.definition.start is not None
    assert len(list(played.moves(Position.from_feen(played.definition.start)))) == count


@pytest.mark.parametrize("name", ["tapatan", "achi"])
def test_a_stone_goes_along_the_lines_of_its_board(name: str) -> None:
    for source, ends in (("a1", "a2 b1 b2"), ("b1", "a1 b2 c1"), ("b2", "a1 a2 a3 b1 b3 c1 c2 c3")):
        moves = game(name).moves(Position({source: "C:P"}, hands={}))
        assert sorted(move.destination for move in moves) == ends.split()


def test_knights_and_pawns_begin_raumschach_as_in_its_rules() -> None:
    played = game("raumschach")
    assert played.definition.start is not None
    moves = list(played.moves(Position.from_feen(played.definition.start)))
    by_piece: dict[str, set[tuple[str, str]]] = {}
    for move in moves:
        by_piece.setdefault(move.piece, set()).add((move.source, move.destination))
    # All ten pawns can go forward, and those of the second level up as well.
    assert len(by_piece["C:P"]) == 15
    # A knight of b1A leaps two and one: along files and ranks over its pawns, or up over what stands there.
    assert {to for source, to in by_piece["C:N"] if source == "b1A"} == {"a3A", "c3A", "b3B", "b2C", "a1C", "c1C"}


@pytest.mark.parametrize("name", ["qubic", "score-four"])
def test_a_cube_has_its_76_rows(store: Store, name: str) -> None:
    store.load(game(name).definition, name=name)
    rules, side = store.ruleset(name), range(4)
    ways = [way for way in itertools.product((-1, 0, 1), repeat=3) if any(way)]
    starts = itertools.product(itertools.product(side, repeat=3), ways)
    found = ([tuple(a + b * count for a, b in zip(at, way, strict=True)) for count in side] for at, way in starts)
    rows = {frozenset(row) for row in found if all(part in side for at in row for part in at)}
    assert len(rows) == 76
    for row in rows:
        board: dict[str, str | None] = {cell.text(at): "C:S" for at in row}
        assert rules.outcome(Position(board, {"C:S": 1, "c:s": 1}, "second")).winner == "first"
        board.popitem()
        assert not rules.outcome(Position(board, {"C:S": 1, "c:s": 1}, "second")).is_over


@pytest.mark.parametrize(("name", "size", "kinds"), [("domineering", 8, ("V", "H")), ("cram", 6, ("VH", "VH"))])
def test_a_domino_lies_where_there_is_room_for_both_halves(name: str, size: int, kinds: tuple[str, str]) -> None:
    played, chance = game(name), random.Random(name)
    for _ in range(4):
        position, empty = (
            Position.from_feen(str(played.definition.start)),
            set(itertools.product(range(size), repeat=2)),
        )
        for side in itertools.cycle((0, 1)):
            there = [(x, y, kind) for x, y in empty for kind in kinds[side]]
            halves = {
                frozenset({(x, y), other})
                for x, y, kind in there
                if (other := (x, y + 1) if kind == "V" else (x + 1, y)) in empty
            }
            moves = {frozenset(map(cell.parse, move.board)): move for move in played.moves(position)}
            assert moves.keys() == halves
            if not halves:
                break
            chosen = chance.choice(sorted(halves, key=sorted))
            position, empty = moves[chosen].after, empty - chosen


def test_a_stone_of_four_field_kono_takes_over_a_stone_of_its_own() -> None:
    played, chance = game("four-field-kono"), random.Random(4)
    for _ in range(6):
        position = Position.from_feen(str(played.definition.start))
        for side in itertools.cycle(("C:W", "c:b")):
            board = {cell.parse(square): piece for square, piece in position.board.items() if piece}
            wanted = set()
            for (x, y), dx, dy in itertools.product(board, (-1, 0, 1), (-1, 0, 1)):
                one, two = (x + dx, y + dy), (x + 2 * dx, y + 2 * dy)
                if board[x, y] == side and abs(dx + dy) == 1:
                    if one not in board and one[0] in range(4) and one[1] in range(4):
                        wanted.add(((x, y), one))
                    if board.get(one) == side and board.get(two, side) != side:
                        wanted.add(((x, y), two))
            moves = {(cell.parse(each.source), cell.parse(each.destination)): each for each in played.moves(position)}
            assert moves.keys() == wanted
            if not wanted or len(board) < 4:
                break
            takes = sorted(move for move in wanted if move[1] in board)
            position = moves[chance.choice(takes or sorted(wanted))].after


def hops(row: str, side: str) -> set[str]:
    """What a row of toads and frogs can become by a move of a side: its animal goes to the right, or is seen so."""
    found = set()
    for at, animal in enumerate(row):
        for step in (1, 2):
            over = row[at + 1 : at + step]
            if animal == side and row[at + step : at + step + 1] == " " and over in ("", "F" if side == "T" else "T"):
                found.add(row[:at] + " " + over + side + row[at + step + 1 :])
    return found


def test_toads_and_frogs_hop_as_they_do() -> None:
    played, pending, seen = game("toads-and-frogs"), {("TTT  FFF", "T")}, set()
    while pending:
        row, side = pending.pop()
        seen.add((row, side))
        pieces = {"T": "C:T", "F": "c:f"}
        board: dict[str, str | None] = {
            f"{file}1": pieces[each] for file, each in zip("abcdefgh", row, strict=True) if each != " "
        }
        after = {
            "".join({"C:T": "T", "c:f": "F"}.get(str(move.after.board.get(f"{file}1")), " ") for file in "abcdefgh")
            for move in played.moves(Position(board, None, "first" if side == "T" else "second"))
        }
        wanted = hops(row, "T") if side == "T" else {each[::-1] for each in hops(row[::-1], "F")}
        assert after == wanted
        pending |= {(each, "F" if side == "T" else "T") for each in wanted} - seen
    assert len(seen) > 40


# --- the form of every definition ---


def definitions() -> dict[str, Definition]:
    return {name: shipped_game(name) for name in library.names()}


def test_every_game_names_its_source_tier_and_pieces() -> None:
    for name, definition in definitions().items():
        assert definition.source is not None, name
        assert definition.source.endswith("; written for ggn_store"), name
        # D is for those of which one board alone is here.
        assert definition.tier in ("A", "B") or (definition.tier == "D" and definition.notes), name
        assert definition.start is not None, name
        assert all(piece.name for piece in definition.pieces), name
        assert name == name.lower(), name


def test_no_two_games_have_one_title() -> None:
    titles = [definition.title for definition in definitions().values()]
    assert len(set(titles)) == len(titles)


def test_both_sides_begin_alike_where_a_game_has_one_army() -> None:
    for name, definition in definitions().items():
        start = feen.parse(str(definition.start))
        kinds = [sorted(piece.upper() for piece in start.board.values() if side_of(piece) == side) for side in SIDES]
        if len(set(definition.styles)) == 1 and all(len(piece.sides) == 2 for piece in definition.pieces):
            armies = "different armies" in library.index()[name].families
            assert kinds[0] == kinds[1] or armies or name == "jesonmor", name


def test_every_piece_of_a_start_has_rules() -> None:
    for name in ("chess", "spartan", "fox-and-hounds", "manchu"):
        definition = read(library.path_of(name).read_text("utf-8"), name)
        ruled = {piece.identifier for piece in pieces(definition)}
        placed = set(feen.parse(str(definition.start)).board.values())
        assert placed <= ruled, name
