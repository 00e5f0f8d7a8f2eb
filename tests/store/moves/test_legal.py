"""Legal moves: chess is held to python-chess, games of the library to the samples of Fairy-Stockfish.

Positions are those in which duties forbid something: checks, pins, captures in passing, castling through attacks.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import chess as python_chess
import pytest

from ggn_store import Move, Position, Ruleset, Store, generate, read_definition
from ggn_store.api.play.engine import Engine
from ggn_store.model.moves.legality import Legality
from ggn_store.model.moves.play import Play
from ggn_store.notation.hand import HAND
from ggn_store.store.database.postgres import Values
from ggn_store.store.moves import lead, royals
from tests.oracles.fairy_stockfish import FIXTURES, PASS, fixture
from tests.oracles.python_chess import DECIDED, games_of_chess
from tests.oracles.python_shogi import MATING_DROPS
from tests.support.games import Games

# Each duty that a shipped game with samples has, with and without hands: of the smallest game that has it on every
# change. Random documents, too, are asked for those that are left to the long run: see test_legal_agreement.py.
SMALL = {
    "cambodian": "no-leap-from-check",
    "dawson": "mandatory-capture",
    "gorogoro": "royal-safety",
    "makpong": "no-flight",
    "minixiangqi": "flying-general",
    "racingkings": "no-checks",
    "silverman": "clear-marks",
    "sittuyin": "promotion-limit",
}
GAMES = SMALL | {
    "antichess": "mandatory-capture",
    "chess": "clear-marks",
    "grand": "promotion-limit",
    "losers": "mandatory-capture",
    "minishogi": "royal-safety",
    "seirawan": "royal-safety",
    "shoshogi": "spare-royal",
    "spartan": "duple-check",
    "supply": "flying-general",
    "xiangqi": "flying-general",
}
FIXED = sorted(path.stem for path in FIXTURES.glob("*.txt"))


@pytest.fixture
def chess(games: Games) -> Ruleset:
    return games["chess"]


def uci(rules: Ruleset, position: Position, moves: list[Move]) -> list[str]:
    return sorted(rules.move_text(move, position, "uci") for move in moves)


def of_chess(rules: Ruleset, board: python_chess.Board) -> Position:
    return rules.position(fen=board.fen(en_passant="fen"))


def test_chess_has_the_legal_moves_of_python_chess(chess: Ruleset) -> None:
    boards = [*map(python_chess.Board, DECIDED), *itertools.islice(games_of_chess(8), 0, None, 4)]
    assert sum(board.is_check() for board in boards) > 50
    for board in boards:
        position = of_chess(chess, board)
        found = chess.legal_moves(position)
        assert uci(chess, position, found) == sorted(move.uci() for move in board.legal_moves), board.fen()
        assert chess.in_check(position) == board.is_check()
        assert found == [move for move in chess.moves(position) if move in found], "they are in the order of all"


def test_one_statement_says_which_moves_are_safe(chess: Ruleset) -> None:
    for fen in DECIDED[::3]:
        position = chess.position(fen=fen)
        assert chess.legal_moves(position, query="reading") == chess.legal_moves(position), fen
    if chess.handle.session.database.name == "postgres":
        with pytest.MonkeyPatch.context() as patch:  # as where no temporary tables can be made
            patch.setattr(chess.handle.session.database, "sender", Values())
            for fen in DECIDED[:4]:
                position = chess.position(fen=fen)
                assert chess.legal_moves(position, query="reading") == chess.legal_moves(position), fen
    statement, plan = chess.explain([chess.start], legal=True)
    assert " AS by_effect " in statement
    several, _ = chess.explain([chess.start] * 2, legal=True)
    assert " AS by_effect " in several
    assert plan


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_one_statement_says_which_moves_of_games_are_safe(games: Games, name: str) -> None:
    rules = games[name]
    for sample in fixture(name)[::3]:
        position = rules.position(fen=sample.fen)
        assert rules.legal_moves(position, query="reading") == rules.legal_moves(position), sample.fen


@pytest.mark.long
def test_chess_has_them_in_twenty_thousand_positions(chess: Ruleset) -> None:
    for board in games_of_chess(200):
        position = of_chess(chess, board)
        expected = sorted(move.uci() for move in board.legal_moves)
        assert uci(chess, position, chess.legal_moves(position)) == expected, board.fen()


def test_attackers_are_those_of_python_chess(chess: Ruleset) -> None:
    for board in [*map(python_chess.Board, DECIDED), *list(games_of_chess(2))[::9]]:
        position = of_chess(chess, board)
        for square, name in enumerate(python_chess.SQUARE_NAMES):
            if position.board.get(name) in ("C:-P", "c:-p"):
                continue  # what takes it in passing attacks it here, too
            for color, side in ((True, "first"), (False, "second")):
                expected = {python_chess.SQUARE_NAMES[each] for each in board.attackers(color, square)}
                found = chess.attackers(position, name, side)  # type: ignore[arg-type]
                assert {source for source, _ in found} == expected, (board.fen(), name, side)
                assert all(position.board[source] == piece for source, piece in found)


def test_questions_are_narrowed_as_those_of_all_moves_are(chess: Ruleset) -> None:
    position = of_chess(chess, python_chess.Board(DECIDED[0]))
    every = chess.legal_moves(position)
    for asked in ({"piece": "C:P"}, {"source": "e1"}, {"destination": "g1"}, {"source": "f3", "destination": "f6"}):
        narrowed = [move for move in every if all(getattr(move, name) == value for name, value in asked.items())]
        assert narrowed
        assert chess.legal_moves(position, **asked) == narrowed  # type: ignore[arg-type]
    for move in chess.moves(position):
        assert chess.is_legal(position, move) == (move in every)


def test_without_lanes_the_documented_tables_are_asked(chess: Ruleset, games: Games) -> None:
    other = games.store.ruleset("chess")
    other._moves.fast = None  # as in a store of another version
    for fen in DECIDED[:8]:
        position = chess.position(fen=fen)
        assert other.legal_moves(position) == chess.legal_moves(position)
        assert other.in_check(position) == chess.in_check(position)
        assert other.moves_batch([position], legal=True) == [chess.legal_moves(position)]


# --- games of the library ---


def expected(rules: Ruleset, fen: str) -> set[str]:
    """The moves that all duties of a game but passing let pass, by their names."""
    position = rules.position(fen=fen)
    return {name for name in uci(rules, position, rules.legal_moves(position)) if not PASS.fullmatch(name)}


ON_DATABASES = [
    pytest.param(database, *each, marks=[pytest.mark.long] * (each[0] not in SMALL or number % step > 0))
    for database, step in (("sqlite", 1), ("postgres", 3))
    for number, each in enumerate(GAMES.items())
]


@pytest.mark.parametrize(("games", "name", "duty"), ON_DATABASES, indirect=["games"])
def test_games_have_the_legal_moves_of_fairy_stockfish_and_a_duty_that_is_left_out_is_noticed(
    games: Games, name: str, duty: str
) -> None:
    rules = check(games, name, 10)
    duties = tuple(each for each in rules.play.duties if each.name != duty)
    assert len(duties) < len(rules.play.duties)
    reverts = {} if duty == "clear-marks" else rules.play.reverts
    assert notices(rules, replace(rules.play, duties=duties, reverts=reverts), [s.fen for s in fixture(name)])


@pytest.mark.long
@pytest.mark.parametrize("name", FIXED)
def test_every_game_has_the_legal_moves_of_fairy_stockfish(games: Games, name: str) -> None:
    check(games, name)


def check(games: Games, name: str, step: int = 1) -> Ruleset:
    """The rules of a game, once every position of its fixture, or one in so many, was found to have the same moves."""
    rules = games[name]
    for sample in fixture(name)[::step]:
        assert expected(rules, sample.fen) == set(sample.moves), sample.fen
    return rules


def notices(rules: Ruleset, play: Play, fens: list[str]) -> bool:
    """Whether a game that is played in another way has other legal moves in one of the positions, or after a move."""
    asked = rules._legal.duties._asked
    other, true = Legality(play, asked), Legality(rules.play, asked)
    for fen in fens:
        position = rules.position(fen=fen)
        for each in (position, *[position.after(move.effects) for move in true.legal(position)[:20]]):
            if other.legal(play.unmarked(each)) != true.legal(rules.play.unmarked(each)):
                return True
    return False


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("left", [slice(0, 1), slice(1, 2), slice(2, 3)])
def test_a_square_that_a_crossing_leaves_out_is_noticed(chess: Ruleset, number: int, left: slice) -> None:
    crossings = list(chess.play.crossing)
    crossing = crossings[number]
    through = tuple(square for square in crossing.through if square not in crossing.through[left])
    crossings[number] = replace(crossing, through=through)
    if crossing.destination in crossing.through[left]:
        return  # where it ends it is asked again as any move is
    assert notices(chess, replace(chess.play, crossing=tuple(crossings)), CASTLING)


# Each square of each castling is attacked once, the others are not.
CASTLING = [f"r3k2r/8/8/8/8/{row}/8/R3K2R w KQkq - 0 1" for row in ("2r5", "3r4", "4r3", "5r2", "6r1")] + [
    f"r3k2r/8/{row}/8/8/8/8/R3K2R b KQkq - 0 1" for row in ("2R5", "3R4", "4R3", "5R2", "6R1")
]


KINGS = """
title = "Kings that must not face each other, and castle"
board = "5x3"
style = "C"
start = "5/5/+R3+K^ / C/c"
[play]
duties = ["royal-safety", "flying-general"]
[pieces.K]
betza = "K"
terminal = true
castling = { first = [{ from = "e1", to = "c1", with = "a1", with_to = "d1" }], second = [] }
[pieces.R]
betza = "R"
"""


def test_to_face_a_king_is_no_attack_on_what_castling_crosses(store: Store) -> None:
    # Fairy-Stockfish castles so in synochess: 3akec1/3n3r/r4n2/8/5PQ1/2N5/1P3P2/R3KB1R[s] w KQ - 2 13.
    store.load(generate(read_definition(KINGS)), name="kings")
    rules = store.ruleset("kings")
    at = {"a1": "C:+R", "e1": "C:+K^"}
    for enemy, piece in itertools.product(("e3", "d3", "c3"), ("c:k^", "c:r")):
        position = Position({**at, enemy: piece, "a3": "c:k^" if piece == "c:r" else None})
        may = piece == "c:k^" and enemy != "c3"
        require_castling(rules, position, ("e1", "c1"), int(may))


def test_kings_do_not_face_each_other_along_a_rank(store: Store) -> None:
    store.load(generate(read_definition(KINGS)), name="kings")
    rules = store.ruleset("kings")
    alone = {"c1": "C:K^", "e2": "c:k^"}
    # On b2 and c2 it would face the other king, on d1 and d2 it would be attacked.
    for rook, wanted in (({}, {"b1"}), ({"d2": "C:R"}, {"b1", "b2", "c2"})):
        position = Position({**alone, **rook})
        for query in ("fast", "reading"):
            moves = rules.legal_moves(position, query=query)
            assert {move.destination for move in moves if move.piece == "C:K^"} == wanted
        assert rules.perft(position, 1, legal=True).count == len(moves)


def test_a_king_attacks_nothing_but_a_king_that_it_faces(store: Store) -> None:
    store.load(generate(read_definition(KINGS)), name="kings")
    rules = store.ruleset("kings")
    for piece, square, attackers in (
        ("C:R", "e1", []),
        ("C:R", "d3", [("e3", "c:k^")]),
        ("C:K^", "e1", [("e3", "c:k^")]),
        (None, "e1", [("e3", "c:k^")]),
    ):
        assert rules.attackers(Position({square: piece, "e3": "c:k^"}), square, "second") == attackers


SCREENED = """
title = "A cannon that moves only over something"
board = "3x3"
style = "C"
[play]
duties = ["royal-safety"]
[pieces.K]
betza = "W"
terminal = true
[pieces.C]
betza = "pR"
[pieces.P]
betza = "fW"
"""


def test_what_the_first_position_shows_of_a_screen_is_not_said_of_the_next_one(store: Store) -> None:
    store.load(generate(read_definition(SCREENED)), name="screened")
    screened = Position({"b1": "C:K^", "a2": "c:p", "a3": "c:c"}), {"b2", "c1"}
    alone = Position({"b1": "C:K^", "a3": "c:c"}), {"a1", "b2", "c1"}
    for asked in ((screened, alone), (alone, screened)):
        rules = store.ruleset("screened")
        for position, wanted in asked:
            assert {move.destination for move in rules.legal_moves(position)} == wanted


def require_castling(rules: Ruleset, position: Position, castling: tuple[str, str], count: int) -> None:
    """Every way to ask finds so many moves from one square to another, and as many moves in all."""
    for query in ("fast", "reading"):
        found = rules.legal_moves(position, query=query)
        assert sum((move.source, move.destination) == castling for move in found) == count
    for engine in (None, "duckdb"):
        assert rules.perft(position, 1, legal=True, engine=engine).count == len(found)
    assert rules.count_moves([position], legal=True) == {0: len(found)}
    assert rules.columns.lists([position], legal=True) == [found]


STEP = """
title = "A king that castles by one square"
board = "4x4"
style = "C"
start = "4/4/4/1+K^1+R / C/c"
[play]
duties = ["royal-safety"]
[pieces.K]
betza = "K"
terminal = true
castling = { first = [{ from = "b1", to = "c1", with = "d1", with_to = "b1" }], second = [] }
[pieces.R]
betza = "R"
"""


def test_a_king_in_check_may_step_to_where_it_would_castle(store: Store) -> None:
    store.load(generate(read_definition(STEP)), name="step")
    rules = store.ruleset("step")
    for attacker, count in (("b4", 1), ("a4", 2), ("c4", 0)):
        position = Position({"b1": "C:+K^", "d1": "C:+R", attacker: "c:r"})
        require_castling(rules, position, ("b1", "c1"), count)


FLIGHT = """
title = "A king that does not flee, and may go on after a capture"
board = "3x5"
style = "C"
start = "3/3/3/3/3 / C/c"
[play]
duties = ["royal-safety", "no-flight"]
[pieces.K]
betza = "KcaK"
terminal = true
[pieces.R]
betza = "mRcpR"
[pieces.P]
betza = "mfWcfF"
"""


def test_a_king_that_does_not_flee_takes_what_attacks_it_and_no_screen(store: Store) -> None:
    store.load(generate(read_definition(FLIGHT)), name="flight")
    rules = store.ruleset("flight")
    for enemies, wanted in (
        ({"a2": "c:p", "a5": "c:r"}, set()),  # the cannon attacks, over the pawn
        ({"b2": "c:p"}, {"a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"}),  # the pawn does, and is taken on the way
        ({"c2": "c:p"}, {"a2", "b2"}),
    ):
        position = Position({"a1": "C:K^", **enemies})
        found = rules.legal_moves(position)
        assert {move.destination for move in found} == wanted
        assert rules.legal_moves(position, query="reading") == found
        assert rules.columns.lists([position], legal=True) == [found]
        assert rules.perft(position, 1, legal=True).count == len(found)


def test_a_pawn_that_would_mate_steps_and_is_not_dropped(games: Games) -> None:
    rules = games["gorogoro"]
    # The king in the corner has no square left, or one.
    for sfen, moves, legal in (
        ("k4/2G2/1G3/5/5/4K b P 1", {"P*5b"}, set()),
        ("k4/5/1G3/5/5/4K b P 1", {"P*5b"}, {"P*5b"}),
        ("k4/2G2/PG3/5/5/4K b P 1", {"5c5b"}, {"5c5b"}),
    ):
        position = rules.position(sfen=sfen)
        for expected, found in ((moves, rules.moves(position)), (legal, rules.legal_moves(position))):
            assert {"P*5b", "5c5b"}.intersection(rules.move_text(move, position, "usi") for move in found) == expected


@pytest.mark.long
def test_no_drop_of_a_pawn_mates(sqlite_games: Games) -> None:
    rules = sqlite_games["shogi"]
    for sfen, drop, count in MATING_DROPS:
        position = rules.position(sfen=sfen)
        found = [rules.move_text(move, position, "usi") for move in rules.legal_moves(position)]
        assert len(found) == count, sfen
        assert drop not in found
        assert drop in [rules.move_text(move, position, "usi") for move in rules.moves(position)]


def test_who_has_something_to_drop_drops_it_first(games: Games) -> None:
    rules = games["achi"]
    held = rules.position(fen="3/1P1/p2[PPP] w - - 0 1")
    found = rules.legal_moves(held)
    assert found == [move for move in rules.moves(held) if move.source == HAND] != []
    nothing = rules.position(fen="3/1P1/p2[ppp] w - - 0 1")
    assert rules.legal_moves(nothing) == rules.moves(nothing) != []


def test_only_what_a_duty_names_has_to_be_dropped_first(games: Games) -> None:
    rules = games["koedem"]
    for hand, sources in (("KN", {"*"}), ("N", {"*", "h1"}), ("Nk", {"*", "h1"})):
        position = rules.position(fen=f"8/8/8/8/8/1k6/8/7K[{hand}] w - - 0 1")
        found = rules.legal_moves(position)
        assert {move.source for move in found} == sources, hand
        assert hand != "KN" or {move.piece for move in found} == {"C:K"}
        assert [*rules.moves_batch([position], legal=True, query="columns")[0]] == found, hand


@pytest.mark.long
def test_no_drop_gives_check_where_that_is_a_duty(sqlite_games: Games) -> None:
    rules = sqlite_games["supply"]
    for sample in fixture("supply"):
        position = rules.position(fen=sample.fen)
        for move in rules.legal_moves(position):
            if move.source == HAND:
                assert not rules.in_check(rules.apply(position, move))


# --- perft ---


@pytest.fixture
def every_ply_is_a_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lead, "POSITIONS", 0)


# An engine of neither database has it all from either.
WAYS = [
    *(("sqlite", None), ("sqlite", "duckdb"), ("postgres", None)),
    pytest.param("postgres", "duckdb", marks=pytest.mark.long),
]
# The Chess Programming Wiki's.
PERFT = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", (20, 400, 8902, 197281)),
    (DECIDED[0], (48, 2039, 97862, 4085603)),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", (14, 191, 2812, 43238, 674624)),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", (6, 264, 9467, 422333)),
]


# Castling, and captures in passing; the others are for the long run.
QUICK = PERFT[1:3]


@pytest.mark.parametrize(("games", "engine"), WAYS, indirect=["games"])
@pytest.mark.parametrize(
    ("fen", "counts"), [pytest.param(*each, marks=[pytest.mark.long] * (each not in QUICK)) for each in PERFT]
)
@pytest.mark.usefixtures("every_ply_is_a_statement")
def test_perft_of_legal_moves_has_the_published_numbers(
    chess: Ruleset, engine: str | None, fen: str, counts: tuple[int, ...]
) -> None:
    position = chess.position(fen=fen)
    for depth, count in enumerate(counts, 1):
        if count < (100_000 if engine else 10_000):
            assert chess.perft(position, depth, engine=engine, legal=True).count == count
            assert chess.perft(position, depth, engine=engine, legal=True, divide=True).count == count


@pytest.mark.long
@pytest.mark.parametrize("engine", [None, "duckdb"])
@pytest.mark.parametrize(("fen", "counts"), PERFT)
def test_perft_of_legal_moves_has_the_published_numbers_deeper(
    chess: Ruleset, engine: str | None, fen: str, counts: tuple[int, ...]
) -> None:
    depth = len(counts) - (engine is None)
    assert chess.perft(chess.position(fen=fen), depth, engine=engine, legal=True).count == counts[depth - 1]


# Of xiangqi and shogi as published; of two small games as plain Python counts them, of the others Fairy-Stockfish.
GAMES_PERFT = [
    ("minixiangqi", (19, 331)),
    ("xiangqi", (44, 1920, 79666, 3290240)),
    ("shogi", (30, 900, 25470, 719731)),
    ("makruk", (23, 529, 12012)),
    ("capablanca", (28, 784, 25228)),
    ("crazyhouse", (20, 400, 8902)),
    ("seirawan", (28, 784, 24830)),
    ("spartan", (20, 640, 14244)),
    ("gorogoro", (16, 250)),
    # In janggi itself, Fairy-Stockfish also judges generals that face each other, which the host does.
    ("janggicasual", (32, 1024, 33348)),
]


def is_of_plies(rules: Ruleset) -> bool:
    """Whether engines judge the duties of a game; else each position is asked for its moves."""
    return {duty.name for duty in rules.play.duties} <= royals.DUTIES and rules.name != "seirawan"


@pytest.mark.parametrize(("games", "engine"), WAYS, indirect=["games"])
def test_perft_of_legal_moves_of_other_games(games: Games, engine: str | None) -> None:
    rules = games["minixiangqi"]
    assert is_of_plies(rules)
    assert rules.perft(rules.start, 2, engine=engine, legal=True).count == 331
    # The rook stays between the kings; as plain Python counts it.
    between = rules.position(fen="3k3/7/7/3R3/7/7/3K3 w - - 0 1")
    assert rules.perft(between, 2, engine=engine, legal=True).count == 12


def test_perft_of_legal_moves_where_engines_cannot_judge_the_duties(games: Games) -> None:
    rules = games["gorogoro"]
    assert not is_of_plies(rules)
    assert rules.perft(rules.start, 2, legal=True).count == 250


@pytest.mark.long
@pytest.mark.parametrize(("name", "counts"), GAMES_PERFT)
def test_perft_of_legal_moves_of_other_games_deeper(games: Games, name: str, counts: tuple[int, ...]) -> None:
    rules = games[name]
    if not is_of_plies(rules):
        assert rules.perft(rules.start, len(counts), legal=True).count == counts[-1]
        return
    assert rules.perft(rules.start, len(counts), engine="duckdb", legal=True).count == counts[-1]
    assert rules.perft(rules.start, len(counts) - 1, legal=True).count == counts[-2]


# As Fairy-Stockfish and, but for kinglet, python-chess count. In racing kings, the second side may still answer.
ENDS = {
    "kinglet": ("4k3/2p5/3P4/8/8/8/8/R3K3 w - - 0 1", 3, 2080),
    "kingofthehill": ("4k3/8/8/8/8/4K3/3P4/8 w - - 0 1", 4, 1823),
    "racingkings": ("8/1k4K1/8/8/8/8/7R/2r5 w - - 0 1", 3, 5393),
    "3check": ("4k3/8/8/8/8/4K3/3P4/R6R w - - 1+1 0 1", 3, 5117),
}


@pytest.mark.parametrize("name", ENDS)
def test_paths_stop_where_the_position_has_ended_the_game(games: Games, name: str) -> None:
    rules, (fen, depth, count) = games[name], ENDS[name]
    position = rules.position(fen=fen)
    assert rules.perft(position, depth, legal=True, stop_at_end=True).count == count
    assert rules.perft(position, depth, legal=True).count > count
    engine = Engine(rules)
    assert [*engine.answer(f"position fen {fen}")] == []
    assert [*engine.answer(f"go perft {depth}")][-1] == f"Nodes searched: {count}"


def test_paths_stop_at_no_end_that_a_position_does_not_decide(chess: Ruleset) -> None:
    position = chess.position(fen="4k3/8/8/8/8/8/8/4K3 w - - 99 80")  # no material, and a quiet ply before a draw
    assert chess.outcome(position).is_over
    assert chess.perft(position, 2, legal=True, stop_at_end=True).count == 25


def test_paths_of_tic_tac_toe_have_the_published_numbers(games: Games) -> None:
    rules = games["tic-tac-toe"]
    counts = [rules.perft(rules.start, depth, stop_at_end=True).count for depth in range(1, 7)]
    assert counts == [9, 72, 504, 3024, 15120, 54720]
