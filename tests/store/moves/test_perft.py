"""Perft, and the positions after moves made by the thousand, in all engines.

Chess is held to python-chess, games of the library to tests/oracles/play.py (plain Python), random documents to
tests/oracles/reference.py; published numbers where pseudo-legal moves and legal ones are the same.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess as python_chess
import pytest
from hypothesis import given, reject

import ggn_store
from ggn_store import MoveError, Position, Ruleset, Store, StoreError
from ggn_store.api.loading import private
from ggn_store.games import library
from ggn_store.notation import cell
from ggn_store.notation.qpi import side_of
from ggn_store.store.moves import lead
from tests.oracles import python_chess as oracle
from tests.oracles import reference
from tests.oracles.fairy_stockfish import FIXTURES, Sample
from tests.oracles.play import Game
from tests.support.databases import DATABASES
from tests.support.games import Games
from tests.support.strategies import DIALECTS, Case, cases, stateless
from tests.support.unhurried import unhurried

DATA = Path(__file__).parents[3] / "data"
# The store's own, and the one that is of neither database.
ENGINES = (None, "duckdb")

# On either database the statements of its own; an engine of neither tries what SQLite gives it, and Postgres later.
WAYS = [
    *(("sqlite", engine) for engine in ENGINES),
    ("postgres", None),
    pytest.param("postgres", "duckdb", marks=pytest.mark.long),
]

# The most positions that a ply is made in Python from: none, so that all is asked of the engines, or as always.
STATEMENTS, ALWAYS = 0, lead.POSITIONS

Tally = Counter[str]
Step = Callable[[reference.Plain], list[reference.Plain]]


@pytest.fixture(autouse=True)
def engines_make_every_ply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lead, "POSITIONS", STATEMENTS)


@pytest.fixture
def chess(games: Games) -> Ruleset:
    """The shipped document, without the duties of the library's game."""
    name = "document/chess"
    if name not in games:
        games.store.load(DATA / "chess.json", name=name)
    return games[name]


def key(position: reference.Plain) -> str:
    board, hands, side = position
    return json.dumps([sorted(board.items()), None if hands is None else sorted(hands.items()), side])


def plain(position: Position) -> reference.Plain:
    board = {square: piece for square, piece in position.board.items() if piece is not None}
    return board, None if position.hands is None else dict(position.hands), position.side


def walk(position: reference.Plain, depth: int, step: Step) -> list[Tally]:
    """The positions of each ply from 0 on, and how many paths lead to each: every path is walked."""
    plies: list[Tally] = [Counter({key(position): 1})]
    seen = {key(position): position}
    for _ in range(depth):
        after: Tally = Counter()
        for name, count in plies[-1].items():
            for each in step(seen[name]):
                seen[key(each)] = each
                after[key(each)] += count
        plies.append(after)
    return plies


def tally(found: list[tuple[Position, int]]) -> Tally:
    counted: Tally = Counter()
    for position, count in found:
        assert key(plain(position)) not in counted, "a position comes twice"
        counted[key(plain(position))] = count
    return counted


# --- chess ---

# The start, and the positions that the Chess Programming Wiki gives for perft, the second being "Kiwipete".
START = python_chess.STARTING_FEN
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
KNOWN = [
    START,
    KIWIPETE,
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    # Captures en passant at once, of either side; promotions to all squares of the last rank.
    "4k3/8/8/2pPpP2/8/8/8/4K3 w - c6 0 1",
    "4k3/8/8/8/2pPpP2/8/8/4K3 b - d3 0 1",
    "1n2k1n1/P6P/8/8/8/8/p6p/1N2K1N1 b - - 0 1",
]

MARKED = KNOWN[6:8]


def of_chess(fen: str) -> Position:
    squares, side = oracle.position_of(python_chess.Board(fen))
    return Position(squares, side=side)


@functools.cache
def counted(fen: str, depth: int) -> int:
    return chess_perft(python_chess.Board(fen), depth)


def chess_perft(board: python_chess.Board, depth: int) -> int:
    """The paths of pseudo-legal moves as python-chess makes them, with the castlings that GGN cannot forbid."""
    moves = [*board.generate_pseudo_legal_moves(), *oracle.castlings_through_attack(board)]
    if depth == 1:
        return len(moves)
    count = 0
    for move in moves:
        board.push(move)
        count += chess_perft(board, depth - 1)
        board.pop()
    return count


@functools.cache
def walked(fen: str, depth: int) -> Counter[oracle.State]:
    return chess_walk(python_chess.Board(fen), depth)


def chess_walk(board: python_chess.Board, depth: int) -> Counter[oracle.State]:
    if depth == 0:
        return Counter({oracle.state_of(board): 1})
    found: Counter[oracle.State] = Counter()
    for move in [*board.generate_pseudo_legal_moves(), *oracle.castlings_through_attack(board)]:
        board.push(move)
        found += chess_walk(board, depth - 1)
        board.pop()
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("depth", "count"), [(0, 1), (1, 20), (2, 400), (3, 8902)])
def test_chess_has_the_published_numbers_where_every_pseudo_legal_move_is_legal(
    chess: Ruleset, engine: str | None, depth: int, count: int
) -> None:
    assert chess.perft(of_chess(START), depth, engine=engine).count == count


@pytest.mark.parametrize(("games", "engine"), WAYS, indirect=["games"])
def test_chess_has_python_chess_s_numbers(chess: Ruleset, engine: str | None) -> None:
    for fen in KNOWN:
        # A mark of a double step that the host should have cleared matters from the third move on.
        depth = 2 if fen in (*KNOWN[3:6], *MARKED) else 3
        expected = counted(fen, depth)
        assert chess.perft(of_chess(fen), depth, engine=engine).count == expected, fen


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("merge", [True, False])
def test_perft_4_of_chess_is_python_chess_s_whether_or_not_equal_positions_are_made_one(
    chess: Ruleset, engine: str | None, merge: bool
) -> None:
    # 197,281 of them are legal.
    assert chess.perft(of_chess(START), 4, engine=engine, merge=merge).count == 197_742


@pytest.mark.parametrize(
    ("games", "most", "engine"),
    [
        ("sqlite", 1, None),
        ("sqlite", ALWAYS, "duckdb"),
        ("postgres", ALWAYS, None),
        *(
            pytest.param(*each, marks=pytest.mark.long)
            for each in (
                ("sqlite", 1, "duckdb"),
                ("sqlite", ALWAYS, None),
                ("postgres", 1, None),
                *(("postgres", most, "duckdb") for most in (1, ALWAYS)),
            )
        ),
    ],
    indirect=["games"],
)
def test_the_first_plies_are_the_same_in_python(chess: Ruleset, engine: str | None, most: int) -> None:
    # Castling and captures en passant are among the moves of the first plies.
    for fen in ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", MARKED[0]):
        expected = {}
        for lead.POSITIONS in (STATEMENTS, most):
            counts = [chess.perft(of_chess(fen), 3, engine=engine, merge=merge).count for merge in (True, False)]
            [found] = chess.reached([of_chess(fen)], 2, engine=engine)
            expected[lead.POSITIONS] = counts, tally(found)
        assert expected[STATEMENTS] == expected[most]


@pytest.mark.parametrize(("games", "engine"), WAYS, indirect=["games"])
@pytest.mark.parametrize(
    ("fens", "depth"),
    [
        ([START, KIWIPETE, KNOWN[2], KNOWN[-1]], 2),
        pytest.param([fen for fen in KNOWN if fen not in MARKED], 2, marks=pytest.mark.long),
        (KNOWN, 1),
    ],
)
def test_the_boards_after_moves_of_chess_are_python_chess_s(
    chess: Ruleset, engine: str | None, fens: list[str], depth: int
) -> None:
    for fen, found in zip(fens, chess.reached(list(map(of_chess, fens)), depth, engine=engine), strict=True):
        ours: Counter[oracle.State] = Counter()
        for position, count in found:
            squares = {square: piece for square, piece in position.board.items() if piece is not None}
            cleared = oracle.clear_stale_marks(squares, position.side)
            ours[oracle.state_of_ours(cleared, position.side)] += count
        assert ours == walked(fen, depth), fen


@pytest.mark.parametrize("engine", ENGINES)
def test_divide_counts_the_paths_of_each_first_move(chess: Ruleset, engine: str | None) -> None:
    result = chess.perft(of_chess(KIWIPETE), 2, engine=engine, divide=True)
    assert result.by_move is not None
    board = python_chess.Board(KIWIPETE)
    squares, _ = oracle.position_of(board)
    expected = {}
    for move in [*board.generate_pseudo_legal_moves(), *oracle.castlings_through_attack(board)]:
        board.push(move)
        expected[oracle.key_of(squares, move)] = chess_perft(board, 1)
        board.pop()
    found = {}
    for ours, count in result.by_move:
        assert ours.effects is not None
        becomes = ours.effects.board[ours.destination]
        found[oracle.key_of_ours(ours.piece, ours.source, ours.destination, becomes)] = count
    assert found == expected
    assert result.count == sum(expected.values())
    assert [ours for ours, _ in result.by_move] == chess.moves(of_chess(KIWIPETE))


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_chess_has_python_chess_s_numbers_deeper(chess: Ruleset, engine: str | None) -> None:
    for fen in KNOWN:
        # From the fifth move on, marks that the host should have cleared matter even from the start.
        depth = 4 if fen == START else 2 if fen in MARKED else 3
        expected = counted(fen, depth)
        assert chess.perft(of_chess(fen), depth, engine=engine).count == expected, fen


# --- games of the library ---

# Palaces; hands, promoted pieces that lose their state in hand. The others are larger.
SMALL = ["minixiangqi", "gorogoro"]
GAMES = [*SMALL, "xiangqi", "makruk", "minishogi"]


@functools.cache
def game(name: str) -> Game:
    return Game(library.path_of(name).read_text("utf-8"), name)


def samples(name: str) -> Iterator[Position]:
    played = game(name)
    for line in (FIXTURES / f"{name}.txt").read_text("utf-8").splitlines():
        yield played.parse(Sample.from_line(line).fen)


@functools.cache
def from_start(name: str, depth: int) -> Tally:
    """The positions after `depth` moves from a game's start, as plain Python says."""
    start = game(name).definition.start
    assert start is not None
    return walk(plain(Position.from_feen(start)), depth, played_step(name))[depth]


def passed(position: reference.Plain, pieces: Collection[str]) -> list[reference.Plain]:
    """The position after a pass, which a side makes that has one of some pieces on the board."""
    board, hands, side = position
    own = [piece for piece in board.values() if piece in pieces and side_of(piece) == side]
    return [(board, hands, "second" if side == "first" else "first")] if own else []


def played_step(name: str) -> Step:
    played = game(name)

    def step(position: reference.Plain) -> list[reference.Plain]:
        board, hands, side = position
        moves = played.moves(Position(board, hands, "first" if side == "first" else "second"))
        # A mark is past when its own side is next to move: what could be taken in passing no more can.
        found = [plain(played.unmarked(move.after)) for move in moves]
        if any(duty.name == "pass" for duty in played.definition.said.duties):
            found += passed(position, board.values())
        return found

    return step


def check_game(games: Games, name: str, positions: list[Position], depth: int) -> None:
    step = played_step(name)
    rules = games[name]
    expected = [walk(plain(position), depth, step)[depth] for position in positions]
    for engine in ENGINES:
        found = [tally(each) for each in rules.reached(positions, depth, engine=engine)]
        assert found == expected, f"{name} in {engine or games.store}"
        counts = [rules.perft(position, depth, engine=engine).count for position in positions[:1]]
        assert counts == [each.total() for each in expected[:1]]


@pytest.mark.parametrize(
    ("games", "name"),
    [
        pytest.param(database, name, marks=[pytest.mark.long] * (name not in SMALL))
        for database in DATABASES
        for name in GAMES
    ],
    indirect=["games"],
)
def test_games_of_the_library_go_on_as_plain_python_says(games: Games, name: str) -> None:
    positions = list(samples(name))
    check_game(games, name, [positions[0], positions[len(positions) // 2], positions[-1]], 1)
    check_game(games, name, positions[:1], 2)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(path.stem for path in FIXTURES.glob("*.txt")))
def test_every_game_goes_on_as_plain_python_says(games: Games, name: str) -> None:
    positions = list(samples(name))
    check_game(games, name, positions, 1)
    check_game(games, name, positions[:: len(positions) // 2], 2)


@pytest.mark.parametrize(
    ("games", "name", "count"),
    [
        ("sqlite", "gomoku", 361 * 360),
        ("postgres", "gomoku", 361 * 360),
        *((database, "score-four", None) for database in DATABASES),
        *(pytest.param(database, "raumschach", None, marks=pytest.mark.long) for database in DATABASES),
    ],
    indirect=["games"],
)
def test_large_boards_and_boards_in_space(games: Games, name: str, count: int | None) -> None:
    rules = games[name]
    start = rules.position()
    expected = from_start(name, 2) if count is None else None
    for engine in ENGINES:
        assert rules.perft(start, 2, engine=engine).count == (count or (expected or Counter()).total())
        if expected is not None:
            assert tally(rules.reached([start], 2, engine=engine)[0]) == expected


@pytest.mark.long
def test_shogi_has_the_published_numbers(games: Games) -> None:
    # Legal moves: up to depth 3 no side can be in check after its own move.
    rules = games["shogi"]
    for engine in ENGINES:
        for depth, count in ((1, 30), (2, 900), (3, 25_470)):
            assert rules.perft(rules.position(), depth, engine=engine).count == count


def slides(size: int, sources: list[tuple[int, int]], piece: str, gain: str) -> dict[str, Any]:
    """The moves of a piece that slides up to three squares, or leaps to its mirror image, taking what stands there."""
    found: dict[str, Any] = {}
    for x, y in sources:
        moves = found[cell.text((x, y))] = {}
        for across, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (size - 1 - 2 * x, size - 1 - 2 * y)):
            path: list[str] = []
            for far in range(1, 4 if abs(across + up) == 1 else 2):
                to = x + far * across, y + far * up
                if to == (x, y) or not all(0 <= each < size for each in to):
                    break
                target = cell.text(to)
                diff = {"board": {cell.text((x, y)): None, target: piece}}
                free = dict.fromkeys(path, "empty")
                moves[target] = [
                    {"must": free | {target: "empty"}, "diff": diff},
                    {"must": free | {target: "enemy"}, "diff": diff | {"hands": {gain: 1}}},
                ]
                path.append(target)
    return found


@pytest.mark.parametrize("size", [23, *(pytest.param(each, marks=pytest.mark.long) for each in (25, 36))])
def test_boards_of_any_size(both: list[Store], size: int) -> None:
    middle, last = size // 2, size - 1
    places = [(0, 0), (1, 0), (middle, middle), (middle + 1, middle), (last - 1, last), (last, last), (last, 0)]
    drop = {"must": {"a2": "empty"}, "diff": {"board": {"a2": "C:P"}, "hands": {"C:P": -1}}}
    document: dict[str, Any] = {
        "C:R": slides(size, places, "C:R", "C:P"),
        "c:r": slides(size, places, "c:r", "c:p"),
        "C:P": {"*": {"a2": [drop]}},
    }
    standing = {"C:R": places[::2], "c:r": places[1::2]}
    board: dict[str, Any] = {cell.text(at): piece for piece, squares in standing.items() for at in squares}
    position = Position(board, {"C:P": 1})
    plies = walk(plain(position), 3, random_step(document, None))
    for store in both:
        store.load(document, name="large")
        rules = store.ruleset("large")
        assert len(rules.board.squares) == size * size
        for engine in ENGINES if store is both[0] else ENGINES[:1]:
            for depth in (1, 3):
                assert rules.perft(position, depth, engine=engine).count == plies[depth].total()
            assert tally(rules.reached([position], 2, engine=engine)[0]) == plies[2]
    assert plies[3].total() > 1000


def test_the_largest_board(both: list[Store]) -> None:
    there = {"diff": {"board": {"a1": None, "iv256": "C:P"}}}
    back = {"must": {"iv256": "C:P"}, "diff": {"board": {"iv256": None, "a1": "c:p"}, "toggle": False}}
    for store in both:
        store.load({"C:P": {"a1": {"iv256": [there]}}, "c:p": {"b2": {"iv256": [back]}}}, name="large")
        rules = store.ruleset("large")
        assert len(rules.board.squares) == 65_536
        for engine in ENGINES if store is both[0] else ENGINES[:1]:
            position = Position({"a1": "C:P", "b2": "c:p"})
            assert [rules.perft(position, depth, engine=engine).count for depth in (2, 3)] == [1, 0]
            after = Position({"a1": "c:p", "b2": "c:p"}, side="second")
            assert rules.reached([position], 2, engine=engine) == [[(after, 1)]]


# --- random documents ---


def random_step(document: dict[str, Any], assume: str | None) -> Step:
    def step(position: reference.Plain) -> list[reference.Plain]:
        return [reference.apply(document, *move, *position, assume) for move in reference.moves(document, *position)]

    return step


def compare(stores: list[Store], dialect: str, documents: int, passes: bool = False) -> None:
    seen: Counter[str] = Counter()

    @unhurried(documents)
    @given(case=cases(dialect, 4))
    def agree(case: Case) -> None:
        case = case._replace(document=stateless(case.document))
        assume: Any = "displacement" if dialect == "must-deny" else None
        step = random_step(case.document, assume)
        if passes:
            of_moves = step
            step = lambda position: of_moves(position) + passed(position, case.document)  # noqa: E731
        document = ggn_store.parse(json.dumps(case.document))
        document = replace(
            document, envelope=replace(document.envelope, play='{"duties":["pass"]}' if passes else None)
        )
        walks: list[list[Tally] | None] = []
        positions = []
        for board, hands, side in case.positions:
            positions.append(Position(board, hands, side))
            try:
                walks.append(walk(plain(positions[-1]), 3, step))
            except ValueError:  # a hand would hold fewer than no pieces
                walks.append(None)
        # Three documents of four end at once and would show little.
        if not any(each and each[2] for each in walks):
            reject()
        for store in stores:
            store.load(document, name="random")
            rules = store.ruleset("random")
            ways = [(engine, STATEMENTS) for engine in ENGINES] + [(None, 2)]
            for engine, lead.POSITIONS in ways if store is stores[0] else ways[:1]:
                whole = [number for number, each in enumerate(walks) if each is not None]
                for depth in (1, 2):
                    found = rules.reached([positions[number] for number in whole], depth, engine=engine, assume=assume)
                    assert [tally(each) for each in found] == [(walks[number] or [])[depth] for number in whole]
                for number, expected in enumerate(walks):
                    if expected is None:
                        with pytest.raises(MoveError, match="takes more from a hand than it holds"):
                            rules.perft(positions[number], 3, engine=engine, assume=assume)
                        with pytest.raises(MoveError, match="takes more from a hand than it holds"):
                            rules.reached([positions[number]], 3, engine=engine, assume=assume)
                        seen["refused"] += 1
                    elif number == 0:
                        counted = rules.perft(positions[number], 3, engine=engine, assume=assume)
                        assert counted.count == expected[3].total()
                    seen["going on"] += expected is not None and expected[2].total() > 0
        seen["documents"] += 1

    agree()
    assert seen["documents"] >= documents
    assert seen["going on"] > documents / 5
    assert seen["refused"] or dialect != "diff"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, postgres_server: Any) -> Iterator[list[Store]]:
    url = postgres_server.create_store()
    with (
        Store.open(f"sqlite:///{tmp_path_factory.mktemp('store')}/a.db") as first,
        Store.open(url) as second,
    ):
        yield [first, second]
    postgres_server.drop_database(url)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_random_documents_go_on_as_plain_python_says(both: list[Store], dialect: str) -> None:
    compare(both, dialect, documents=2)


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.long)])
def test_a_side_that_may_pass_goes_on_as_plain_python_says(both: list[Store], count: int) -> None:
    compare(both, "diff", documents=count, passes=True)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_many_random_documents_go_on_as_plain_python_says(both: list[Store], dialect: str) -> None:
    compare(both, dialect, documents=300)


# --- state variables ---

Stated = tuple[reference.Plain, tuple[tuple[str, str], ...]]


def stated_moves(document: dict[str, Any], stated: Stated) -> list[Stated]:
    position, state = stated
    here = reference.in_state(document, dict(state))
    return [
        (reference.apply(here, *move, *position), tuple(sorted(reference.state_after(here, *move).items())))
        for move in reference.moves(here, *position)
    ]


def stated_key(stated: Stated) -> str:
    return key(stated[0]) + json.dumps(stated[1])


def test_random_documents_with_state_go_on_as_plain_python_says(both: list[Store]) -> None:
    seen: Counter[str] = Counter()

    @unhurried(20)
    @given(case=cases("gdl", 3))
    def agree(case: Case) -> None:
        for number, ((board, hands, side), some) in enumerate(zip(case.positions, case.states, strict=True)):
            # Hands that are not known never hold too little.
            asked = Position(board, None if number else hands, side, state=some)
            state = {name: each["initial"] for name, each in case.document["$state"].items()} | some
            plies = [[(plain(asked), tuple(sorted(state.items())))]]
            try:
                for _ in range(2):
                    plies.append([after for each in plies[-1] for after in stated_moves(case.document, each)])
            except ValueError:  # a hand would hold fewer than no pieces
                plies = plies[:1]
            for store in both:
                store.load(case.document, name="stated")
                rules = store.ruleset("stated")
                if len(plies) == 1:
                    with pytest.raises(MoveError, match="from a hand that holds"):
                        rules.perft(asked, 2)
                    seen["refused"] += 1
                    continue
                for depth in (1, 2):
                    for merge in (True, False):
                        assert rules.perft(asked, depth, merge=merge).count == len(plies[depth])
                    divided = rules.perft(asked, depth, divide=True).by_move or ()
                    assert sum(count for _, count in divided) == len(plies[depth])
                    [found] = rules.reached([asked], depth)
                    told = [(plain(each), tuple(sorted((each.state or {}).items()))) for each, _ in found]
                    weighed = {stated_key(each): count for each, (_, count) in zip(told, found, strict=True)}
                    assert len(weighed) == len(found), "a position comes twice"
                    assert weighed == Counter(map(stated_key, plies[depth]))
                seen["going on"] += bool(plies[2])
                seen["changed"] += any(state != plies[0][0][1] for _, state in plies[2])

    agree()
    assert min(seen["going on"], seen["changed"]) > 5, seen


@pytest.mark.parametrize("with_state", [False, True])
def test_a_move_that_takes_too_much_from_a_hand_is_refused_at_any_ply(both: list[Store], with_state: bool) -> None:
    step = {"diff": {"board": {"a1": None, "a2": "C:P"}, "hands": {"C:P": -1}}}
    document: dict[str, Any] = {"C:P": {"a1": {"a2": [step]}}}
    if with_state:
        document |= {"$state": {"ep": {"values": ["none", "3"], "initial": "none"}}}
    for store in both:
        store.load(document, name="overdrawn")
        rules = store.ruleset("overdrawn")
        poor, rich = (Position({"a1": "C:P"}, {"C:P": count}) for count in (0, 1))
        for engine in (None,) if with_state else ENGINES:
            for depth in (1, 2, 3):  # nothing goes on after the first move
                assert rules.perft(rich, depth, engine=engine).count == (depth == 1)
                with pytest.raises(MoveError, match="from a hand"):
                    rules.perft(poor, depth, engine=engine)
                with pytest.raises(MoveError, match="from a hand"):
                    rules.reached([poor], depth, engine=engine)


def test_engines_that_know_no_state_say_so(both: list[Store]) -> None:
    step = {"when": {"ep": ["3"]}, "diff": {"board": {"a1": None, "a2": "C:P"}}}
    document = {"$state": {"ep": {"values": ["3"], "initial": "3"}}, "C:P": {"a1": {"a2": [step]}}}
    for store in both:
        store.load(document, name="stated")
        rules = store.ruleset("stated")
        for ask in (
            lambda: rules.perft(Position({"a1": "C:P"}), 1, engine="duckdb"),  # noqa: B023
            lambda: rules.reached([Position({"a1": "C:P"})], 1, engine="duckdb"),  # noqa: B023
        ):
            with pytest.raises(StoreError, match=r'has state variables \(ep\), of which the engine "duckdb"'):
                ask()
        assert rules.perft(Position({"a1": "C:P"}), 1, engine=store.session.database.name).count == 1


# --- what is not simple ---

STEP = {"diff": {"board": {"a1": None, "a2": "C:P"}}}


def rules_of(document: dict[str, Any]) -> Ruleset:
    return ggn_store.ruleset(document)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_and_a_capture_on_one_square_are_two_moves_where_they_do_not_do_the_same(engine: str | None) -> None:
    takes = {"must": {"a2": "enemy"}, "diff": {"board": {"a1": None, "a2": "C:P"}, "hands": {"C:P": 1}}}
    rules = rules_of({"C:P": {"a1": {"a2": [{"must": {"a2": "empty"}} | STEP, takes]}}})
    alone, facing = {"a1": "C:P"}, {"a1": "C:P", "a2": "c:p"}
    found = rules.reached([Position(alone, {}), Position(facing, {}), Position(facing)], 1, engine=engine)
    assert found == [[(Position({"a2": "C:P"}, hands, "second"), 1)] for hands in ({}, {"C:P": 1}, None)]


@pytest.mark.parametrize("square", ["a1", "b1"])
def test_denials_of_an_enemy_and_of_nothing_are_two_moves_where_an_own_piece_stands(
    both: list[Store], square: str
) -> None:
    denials = [{"deny": {square: "enemy"}} | STEP, {"deny": {square: "empty"}} | STEP]
    position = Position({"a1": "C:P", "b1": "C:R"})
    for store in both:
        store.load({"C:P": {"a1": {"a2": denials}}}, name="denials")
        rules = store.ruleset("denials")
        for engine in ENGINES:
            assert rules.perft(position, 1, engine=engine).count == len(rules.moves(position)) == 2
            assert rules.reached([position], 1, engine=engine) == [
                [(Position({"a2": "C:P", "b1": "C:R"}, None, "second"), 2)]
            ]


@pytest.mark.parametrize("engine", ENGINES)
def test_positions_that_know_their_hands_and_others_are_asked_together(engine: str | None) -> None:
    drop = {"must": {"a1": "empty"}, "diff": {"board": {"a1": "C:P"}, "hands": {"C:P": -1}}}
    rules = rules_of({"C:P": {"*": {"a1": [drop]}}})
    asked = [Position({}), Position({}, {"C:P": 70_000}), Position({}, {}), Position({"z9": "C:K"}, {"C:P": 1})]
    found = rules.reached(asked, 1, engine=engine)
    assert found == [
        [(Position({"a1": "C:P"}, None, "second"), 1)],
        [(Position({"a1": "C:P"}, {"C:P": 69_999}, "second"), 1)],
        [],
        [(Position({"a1": "C:P", "z9": "C:K"}, {}, "second"), 1)],
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_side_moves_again_where_the_turn_does_not_pass(engine: str | None) -> None:
    again = {"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:P"}, "toggle": False}}
    on = {"must": {"a3": "empty"}, "diff": {"board": {"a2": None, "a3": "C:P"}}}
    rules = rules_of(
        {"C:P": {"a1": {"a2": [again]}, "a2": {"a3": [on]}}, "c:p": {"a3": {"a2": [{"diff": {"board": {}}}]}}}
    )
    position = Position({"a1": "C:P"})
    assert [rules.perft(position, depth, engine=engine).count for depth in (1, 2, 3)] == [1, 1, 0]
    [[found]] = rules.reached([position], 2, engine=engine)
    assert found == (Position({"a3": "C:P"}, None, "second"), 1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("most", [STATEMENTS, ALWAYS])
def test_a_pass_takes_marks_off_and_needs_a_piece_that_has_rules(
    engine: str | None, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lead, "POSITIONS", most)
    document = ggn_store.parse({"C:-P": {"a1": {"a2": [STEP]}}, "C:P": {"a1": {"a2": [STEP]}}, "c:p": {"a8": {"a7": [
        {"must": {"a7": "enemy"}, "diff": {"board": {"a7": None}}}]}}})  # fmt: skip
    said = '{"duties":["clear-marks","pass"],"reverts":{"C:-P":"C:P"}}'
    rules = private.of_document(replace(document, envelope=replace(document.envelope, play=said)))
    there = {"b1": "C:K"}
    start = Position(there | {"a1": "C:-P", "a8": "c:p"}, None, "second")
    # Passes of both sides, and one step of the first side; its king, which has no rules, does not let it pass.
    assert [rules.perft(start, depth, engine=engine).count for depth in (1, 2, 3, 4)] == [1, 2, 2, 3]
    assert rules.perft(start, 2, engine=engine, divide=True).count == 2
    [[one]] = rules.reached([start], 1, engine=engine)
    assert one == (Position(there | {"a1": "C:P", "a8": "c:p"}), 1)
    assert rules.perft(Position(there), 1, engine=engine).count == 0


def test_more_kinds_in_hand_than_one_word_has_room_for() -> None:
    pieces = [f"S{number}:P" for number in range(40)]
    drops = {
        piece: {
            "*": {
                "a1": [
                    {"must": {"a1": "empty"}, "diff": {"board": {"a1": piece}, "hands": {piece: -1}, "toggle": False}}
                ]
            }
        }
        for piece in pieces
    }
    rules = rules_of(drops)
    held = {piece: number + 1 for number, piece in enumerate(pieces)}
    for engine in ENGINES:
        [found] = rules.reached([Position({}, held)], 1, engine=engine)
        wanted = [Position({"a1": piece}, held | {piece: count - 1}) for piece, count in held.items()]
        assert tally(found) == Counter({key(plain(position)): 1 for position in wanted})


# --- what cannot be done ---


def test_a_must_deny_document_needs_to_be_told_what_its_moves_do() -> None:
    rules = rules_of({"C:P": {"a1": {"a2": [{"must": {"a2": "empty"}}]}}})
    with pytest.raises(MoveError, match=r"must-deny document and does not say what a move changes.*--assume"):
        rules.perft({"a1": "C:P"}, 1)
    assert rules.perft({"a1": "C:P"}, 1, assume="displacement").count == 1
    with pytest.raises(MoveError, match="is not an assumption"):
        rules.perft({"a1": "C:P"}, 1, assume="magic")  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_move_that_cannot_be_made_is_refused_at_whichever_ply(engine: str | None) -> None:
    takes = {"diff": {"board": {"a1": None, "a2": "C:P"}, "hands": {"c:p": -2}, "toggle": False}}
    rules = rules_of(
        {"C:P": {"a1": {"a2": [STEP | {"diff": STEP["diff"] | {"toggle": False}}]}, "a2": {"a1": [takes]}}}
    )
    for depth in (2, 3):
        with pytest.raises(MoveError, match="a move of ply 2 takes more from a hand than it holds"):
            rules.perft(Position({"a1": "C:P"}, {"c:p": 1}), depth, engine=engine)
    with pytest.raises(MoveError, match="a move of ply 2 takes more"):
        rules.reached([Position({"a1": "C:P"}, {"c:p": 1})], 2, engine=engine)
    assert rules.perft(Position({"a1": "C:P"}, {"c:p": 2}), 2, engine=engine).count == 1
    assert rules.perft(Position({"a1": "C:P"}), 2, engine=engine).count == 1


def test_a_hand_that_could_become_too_large_is_refused() -> None:
    gain = {"diff": {"board": {"a1": None}, "hands": {"C:P": 400_000}}}
    rules = rules_of({"C:P": {"a1": {"*": [gain]}}})
    assert rules.perft(Position({"a1": "C:P"}, {}), 2).count == 0
    with pytest.raises(StoreError, match="could hold 1,200,000 C:P"):
        rules.perft(Position({"a1": "C:P"}, {}), 3)


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_paths_may_be_as_long_as_the_limit_says(store: Store, engine: str | None) -> None:
    gain = {"board": {"a1": None, "a2": "C:P"}, "hands": {"C:Q": 1}, "toggle": False}
    spend = {"board": {"a2": None, "a1": "C:P"}, "hands": {"C:Q": -1}, "toggle": False}
    store.load({"C:P": {"a1": {"a2": [{"diff": gain}]}, "a2": {"a1": [{"diff": spend}]}}}, name="loop")
    rules, position = store.ruleset("loop"), Position({"a1": "C:P"}, {"C:Q": 1})
    assert rules.perft(position, 500, engine=engine).count == 1
    assert rules.reached([position], 500, engine=engine) == [[(position, 1)]]


def test_more_paths_than_a_database_counts_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ply of the walk doubles them; at its end are two positions, of which the next is not made in Python."""

    def go(source: str, *destinations: str) -> dict[str, Any]:
        return {to: [{"diff": {"board": {source: None, to: "C:P"}, "toggle": False}}] * 2 for to in destinations}

    walk = {f"a{n}": go(f"a{n}", f"a{n + 1}") for n in range(1, 66)}
    store.load({"C:P": walk | {"a66": go("a66", "b1", "c1"), "b1": go("b1", "d1"), "c1": go("c1", "d1")}}, name="walk")
    rules = store.ruleset("walk")
    refused = pytest.raises(MoveError, match=r"^there are more than 9,223,372,036,854,775,807 paths, .* a smaller")
    for most in (STATEMENTS, 1):
        monkeypatch.setattr(lead, "POSITIONS", most)
        for engine in ENGINES:
            assert rules.perft({"a1": "C:P"}, 62, engine=engine).count == 1 << 62
            assert rules.perft({"a10": "C:P"}, 58, engine=engine).count == 1 << 59
            with refused:
                rules.perft({"a1": "C:P"}, 67, engine=engine)
            with refused:
                rules.reached([{"a1": "C:P"}], 67, engine=engine)


def test_an_engine_that_is_not_there_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.load({"C:P": {"a1": {"a2": [STEP]}}}, name="step")
    rules = store.ruleset("step")
    position = {"a1": "C:P"}
    assert rules.perft(position, 1, engine="sqlite").engine == "sqlite"
    with pytest.raises(StoreError, match='"oracle" is not an engine: sqlite, postgres, duckdb'):
        rules.perft(position, 1, engine="oracle")
    own = rules.perft(position, 1).engine
    if own == "sqlite":
        with pytest.raises(StoreError, match="is not a Postgres store: leave the engine out"):
            rules.perft(position, 1, engine="postgres")
    else:
        assert rules.perft(position, 1, engine="postgres").count == 1
    for depth, divide in ((-1, False), (0, True)):
        with pytest.raises(MoveError, match="a depth of"):
            rules.perft(position, depth, divide=divide)
    for depth in (501, 10**5000):
        with pytest.raises(MoveError, match="paths have at most 500 moves"):
            rules.perft(position, depth)
        with pytest.raises(MoveError, match="paths have at most 500 moves"):
            rules.reached([position], depth)
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(StoreError, match=r"needs the package duckdb.*pip install 'ggn-store\[duckdb\]'"):
        rules.perft(position, 1, engine="duckdb")


def test_nothing_of_a_question_is_left_behind(store: Store) -> None:
    store.load({"C:P": {"a1": {"a2": [STEP]}}}, name="step")
    rules = store.ruleset("step")
    for _ in range(2):
        assert rules.perft({"a1": "C:P"}, 3).count == 0
        assert rules.perft({"a1": "C:P"}, 1).count == 1
    assert store.upkeep.check() == []
