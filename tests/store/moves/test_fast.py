"""Lanes, and what the fast query does beside giving the reading query's answers (`test_agreement` compares these)."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import delete, func, select, text, update

from ggn_store import GgnStoreError, MoveError, Position, Ruleset, Store, StoreError, parse
from ggn_store.api.moves import moves as asking
from ggn_store.api.moves.batches import BATCH_QUERIES
from ggn_store.model.documents.document import Piece
from ggn_store.model.moves.position import SIDES
from ggn_store.store.moves import fast, statements
from ggn_store.store.moves.starts import LaneChain
from ggn_store.store.rulesets import lanes
from ggn_store.store.schema import tables as t
from tests.oracles import reference
from tests.support.databases import DATABASES, mostly_sqlite
from tests.support.loader import ROOT
from tests.support.migrations import alembic
from tests.support.positions import some_positions

# What the facts of a lane say, of which squares of a1, b1, c1, d1, and whether they are on the path, passed, first of a
# chain and targets.


# statements, facts, path, passed, first, target, numbers
@pytest.mark.parametrize(
    ("possibilities", "rows"),
    [
        ([{}], [('[""]', "0", 0, 0, 1, 1, "2")]),
        ([{"must": {"d1": "empty"}}], [('["empty","enemy"]', "3", 0, 0, 1, 1, "2")]),
        ([{"must": {"d1": "enemy"}}], [('["empty","enemy"]', "7", 0, 0, 1, 1, "2")]),
        ([{"must": {"d1": "C:N"}}], [('["C:N"]', "3", 0, 0, 1, 1, "2")]),
        ([{"deny": {"d1": "empty"}}], [('["!empty"]', "3", 0, 0, 1, 1, "2")]),
        ([{"deny": {"d1": "c:n"}}], [('["!c:n"]', "3", 0, 0, 1, 1, "2")]),
        ([{"must": {"d1": "enemy"}, "deny": {"d1": "c:n"}}], [('["enemy!c:n"]', "3", 0, 0, 1, 1, "2")]),
        # A step and a capture are two targets; behind an empty square they share a chain.
        ([{"must": {"d1": "empty"}}, {"must": {"d1": "enemy"}}], [('["empty","enemy"]', "3 7", 0, 0, 3, 3, "2 3")]),
        (
            [{"must": {"b1": "empty", "d1": "empty"}}, {"must": {"b1": "empty", "d1": "enemy"}}],
            [('["empty","enemy"]', "1 3 7", 1, 2, 1, 6, "2 3")],
        ),
        # What is not the destination comes before it, whatever it says.
        (
            [{"must": {"b1": "C:N", "d1": "empty"}, "deny": {"c1": "enemy"}}],
            [('["C:N","!enemy","empty"]', "1 6 11", 3, 0, 1, 4, "2")],
        ),
        # Pieces that are named alike are alternatives of one target; two of one kind and one of another are not.
        (
            [{"must": {"d1": "c:n"}}, {"must": {"d1": "c:b"}}, {"must": {"d1": "c:n"}}],
            [('["c:b"]', "3", 0, 0, 1, 1, "3"), ('["c:n"]', "3", 0, 0, 1, 1, "2 4")],
        ),
        ([{"must": {"d1": "c:n"}}, {"must": {"d1": "c:b"}}], [('["c:b|c:n"]', "3", 0, 0, 1, 1, "3 2")]),
    ],
)
def test_lanes_say_what_conditions_say(possibilities: list[Mapping[str, Any]], rows: list[tuple[Any, ...]]) -> None:
    # The board has all four squares whatever the conditions name.
    document = parse({"C:R": {"a1": {"b1": [{}], "c1": [{}], "d1": [*possibilities]}}}, "must-deny")
    source = document.pieces[0].sources[0]
    others = Piece("C:R", (replace(source, destinations=source.destinations[2:]),))
    found = lanes.Encoder(document.board).rows(others)
    told = [(statements, facts, *masks, numbers) for _, _, *masks, statements, facts, numbers in found]
    assert sorted(told) == sorted((*row[:-1], " ".join(str(int(each) - 2) for each in row[-1].split())) for row in rows)


def test_possibilities_that_differ_in_guards_alone_are_targets_behind_what_they_share() -> None:
    guards = [{"a": ["1"], "b": ["x"]}, {"a": ["2", "3"], "b": ["x"]}, {"b": ["y"]}]
    ways = [{"when": when, "must": {"b1": "enemy"}, "diff": {"board": {"a1": None}}} for when in guards]
    states = {"a": {"values": ["1", "2", "3"], "initial": "1"}, "b": {"values": ["x", "y"], "initial": "x"}}
    document = parse({"$state": states, "C:R": {"a1": {"b1": ways}}})
    [(_, each, *masks, statements, facts, numbers)] = lanes.Encoder(document.board).rows(document.pieces[0])
    assert json.loads(statements) == ["enemy", ["a", "1"], ["b", "x"], ["a", "2", "3"], ["b", "y"]]
    size = len(document.board.squares)
    told = [" ".join(str(divmod(int(one), size)) for one in fact.split("+")) for fact in facts.split()]
    assert told == ["(0, 1)", "(1, 0) (2, 0)", "(2, 0) (3, 0)", "(4, 0)"]
    assert (each, *masks, numbers) == (1, 0b0001, 0b0110, 1, 0b1110, "0 1 2")


def test_a_way_is_one_chain_of_its_squares() -> None:
    # To see b1 is enough for b1, to enter d1 takes b1 and c1 to be empty.
    squares = "b1", "c1", "d1"
    way = {
        square: [{"must": dict.fromkeys(squares[:place], "empty") | {square: state}} for state in ("empty", "enemy")]
        for place, square in enumerate(squares)
    }
    document = parse({"C:R": {"a1": way}}, "must-deny")
    [(_, each, path, passed, first, target, statements, facts, numbers)] = lanes.Encoder(document.board).rows(
        document.pieces[0]
    )
    size = len(document.board.squares)
    assert (each, statements, numbers.split()) == (1, '["empty","enemy"]', ["1", "0", "3", "2", "4", "5"])
    said = [(document.board.squares[int(fact) % size], int(fact) // size) for fact in facts.split()]
    assert said == [("b1", 1), ("b1", 0), ("c1", 1), ("c1", 0), ("d1", 0), ("d1", 1)]
    assert (path, passed, first, target) == (0b001010, 0b010101, 1, 0b111111)


@mostly_sqlite
def test_a_lane_of_chess_answers_for_twenty_possibilities(store: Store) -> None:
    store.load(ROOT / "data" / "chess.json")
    with store.session.database.reading() as connection:
        told = connection.execute(select(func.count()).select_from(t.lane)).scalar_one()
        numbers = " ".join(connection.execute(select(t.lane.c.numbers)).scalars()).split()
    assert (told, len(numbers)) == (758, 15292)


LINE = {"C:R": {"a1": {"b1": [{"must": {"b1": "empty"}}, {"must": {"b1": "enemy"}}]}}}


def large(squares: int) -> dict[str, Any]:
    """A rook's step, on a board of so many squares in a row."""
    far = f"a{squares}"
    return {"C:R": {"a1": {far: [{"must": {far: "empty"}}, {"must": {far: "enemy"}}]}}, "c:r": {far: {"a1": [{}]}}}


@pytest.mark.parametrize("squares", [3, 63, 64, 128, 129, 255, 256, 257, 513, 2000])
def test_boards_of_any_number_of_words_are_answered(store: Store, squares: int) -> None:
    document = large(squares)
    store.load(document, "line")
    rules = store.ruleset("line")
    for there in (None, "c:r", "C:R"):
        position = {"a1": "C:R", f"a{squares}": there}
        expected = reference.moves(document, {s: p for s, p in position.items() if p}, None, "first")
        for query in ("fast", "reading"):
            found = rules.moves(position, query=query)
            assert [(m.piece, m.source, m.destination, m.ordinal) for m in found] == expected
    _, plan = rules.explain([Position({"a1": "C:R"})])
    assert not [line for line in plan if "the reading query" in line]


@pytest.mark.parametrize("count", [62, 63, 80])
def test_a_possibility_may_name_more_pieces_than_a_word_has_bits(store: Store, count: int) -> None:
    kinds = [f"C:{state}{letter}" for state in ("", "+", "-") for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"] + [
        "C:A^",
        "C:B^",
    ]
    named = {f"a{rank}": piece for rank, piece in enumerate(kinds[:count], start=3)}
    document = {"C:R": {"a1": {"a2": [{"must": named | {"a2": state}} for state in ("empty", "enemy")]}}}
    store.load(document, "named")
    rules = store.ruleset("named")
    assert store.upkeep.check() == []
    whole = {"a1": "C:R"} | named
    boards = [
        whole,
        whole | {"a2": "c:r"},
        whole | {"a2": "C:R"},
        whole | {"a3": "c:r"},
        whole | {f"a{count + 2}": "C:R"},
    ]
    expected = [[move[3] for move in reference.moves(document, board, None, "first")] for board in boards]
    assert expected == [[0], [1], [], [], []]
    for query in BATCH_QUERIES:
        batch = rules.moves_batch(boards, query=query)
        assert [[move.ordinal for move in moves] for moves in batch] == expected
    for engine in (None, "duckdb"):
        counts = [rules.perft(Position(board), 1, engine=engine, assume="displacement").count for board in boards]
        assert counts == list(map(len, expected))


def test_more_lanes_than_a_source_can_have_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "LANES", 1)
    store.load(LINE, "line")
    twice = [{"must": {"b1": state}} for state in ("empty", "enemy", "enemy")]
    with pytest.raises(StoreError, match=r'^C:R has 3 possibilities from "a1", .* 2 lanes, of at most 1$'):
        store.load({"C:R": {"a1": {"b1": twice}}}, "two")
    assert [each.name for each in store.list()] == ["line"]


def damage(store: Store, statement: Any) -> None:
    with store.session.database.writing() as connection:
        assert connection.execute(statement).rowcount == 1


@pytest.mark.parametrize(
    "statement",
    [
        delete(t.lane).where(t.lane.c.target == 3),
        update(t.lane).values(first=1),
        update(t.lane).values(numbers="1 0"),
        update(t.lane).values(statements='["enemy","empty"]'),
        update(t.piece).values(lanes=None),
        update(t.piece).values(lanes=lanes.VERSION + 1),
    ],
    ids=["a row is gone", "a mask", "other numbers", "other statements", "no lanes", "another version"],
)
def test_damaged_lanes_are_found_and_rebuilt(store: Store, statement: Any) -> None:
    store.load(LINE, "line")
    damage(store, statement)
    [found] = store.upkeep.check()
    assert found.endswith("(C:R): its lanes are not those of its rows: run `ggn-store db rebuild`")
    assert store.upkeep.rebuild() == 1
    assert store.upkeep.check() == []
    assert [move.ordinal for move in store.ruleset("line").moves({"a1": "C:R", "b1": "c:r"})] == [1]


def test_lanes_that_are_missing_are_done_without(store: Store) -> None:
    store.load(LINE, "line")
    damage(store, update(t.piece).values(lanes=None))
    rules = store.ruleset("line")
    assert [move.ordinal for move in rules.moves({"a1": "C:R", "b1": "c:r"})] == [1]
    assert rules.explain([Position({"a1": "C:R"})])[1][-1] == (
        "the reading query, since lanes are missing: run `ggn-store db rebuild`"
    )


def test_an_upgrade_derives_the_lanes_of_older_stores(store: Store) -> None:
    from alembic import command

    store.load(LINE, "line")
    with store.session.database.writing() as connection:
        alembic(connection, command.downgrade, "0001")
    store.upgrade()
    assert store.upkeep.check() == []
    assert [move.ordinal for move in store.ruleset("line").moves({"a1": "C:R"})] == [0]


@pytest.fixture(scope="module")
def with_chess(module_store: Store) -> Store:
    module_store.load(ROOT / "data" / "chess.json")
    return module_store


@pytest.fixture
def chess(with_chess: Store) -> Ruleset:
    """Chess, of which a handle remembers nothing yet."""
    return with_chess.ruleset("chess")


def watch(rules: Ruleset, patch: pytest.MonkeyPatch, asked: list[str]) -> None:
    """Note every statement that is asked in the short way."""
    fetch = rules.handle.session.database.fetch

    def noted(statement: str, values: Any) -> list[Any]:
        asked.append(statement)
        return fetch(statement, values)

    patch.setattr(rules.handle.session.database, "fetch", noted)


def test_answers_that_are_kept_are_those_of_the_database(chess: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    positions = some_positions()
    expected = chess.moves_batch(positions, query="reading")
    assert [chess.moves(position) for position in positions] == expected
    asked: list[str] = []
    with monkeypatch.context() as patch:
        watch(chess, patch, asked)
        assert [chess.moves(position) for position in reversed(positions)] == expected[::-1]
    assert asked == []


@pytest.mark.parametrize(
    ("module_store", "name"),
    [
        ("sqlite", "chess"),
        *((database, name) for database in DATABASES for name in ("microchess", "gdl/checkers")),
        *(pytest.param("postgres", name, marks=pytest.mark.long) for name in ("chess", "gdl/hexguard")),
        pytest.param("sqlite", "gdl/hexguard", marks=pytest.mark.long),
    ],
    indirect=["module_store"],
)
def test_a_piece_that_is_met_again_hardly_ever_asks(
    module_store: Store, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module_store.load_library(name)
    rules = module_store.ruleset(name)
    dice = random.Random(3)

    def crowded() -> Position:
        squares = dice.sample(rules.board.squares, len(rules.board.squares) // 3)
        return Position({square: dice.choice(rules.pieces) for square in squares}, side=dice.choice(SIDES))

    for _ in range(12):
        rules.moves(crowded())
    asked: list[str] = []
    positions = [crowded() for _ in range(100)]
    expected = rules.moves_batch(positions, query="reading")
    with monkeypatch.context() as patch:
        watch(rules, patch, asked)
        assert [rules.moves(position) for position in positions] == expected
    assert len(asked) < 10
    assert sum(map(len, expected)) > 300


@pytest.mark.parametrize(("moves", "answers"), [(0, 0), (0, 100_000), (100_000, 0), (40, 100_000), (100_000, 7)])
def test_no_more_is_kept_than_is_allowed(
    chess: Ruleset, monkeypatch: pytest.MonkeyPatch, moves: int, answers: int
) -> None:
    monkeypatch.setattr(fast, "KEPT_MOVES", moves)
    monkeypatch.setattr(fast, "KEPT_ANSWERS", answers)
    positions = some_positions()[::2] * 2
    expected = chess.moves_batch(positions, query="reading")
    query = chess._moves.fast
    assert query is not None
    for position, right in zip(positions, expected, strict=True):
        assert chess.moves(position) == right
        kept = sum(len(start.answers) for side in query._memory.starts.values() for start in side.values() if start)
        # What the last question needed is there, whatever the limit.
        assert kept <= answers + len(position.board) + len(chess.pieces)


def test_forgotten_answers_are_put_together_without_the_database(
    chess: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = some_positions()[::4]
    expected = [chess.moves(position) for position in positions]
    query = chess._moves.fast
    assert query is not None
    query._memory.forget_answers()
    asked: list[str] = []
    with monkeypatch.context() as patch:
        watch(chess, patch, asked)
        assert [chess.moves(position) for position in positions] == expected
    assert asked == []


def test_a_square_that_is_not_on_an_undeclared_board_does_not_matter(store: Store) -> None:
    store.load(LINE, "line")
    rules = store.ruleset("line")
    board = {"a1": "C:R", "z26": "c:q", "zz": None}
    assert rules.moves(board) == rules.moves(board, query="reading") == rules.moves({"a1": "C:R"})


@pytest.mark.parametrize(
    "board",
    [{"a1": "rook"}, {"": "C:R"}, {"a1": 1}, {1: "C:R"}, {"a1": ["C:R"]}, {("a", 1): None}, {"*": "C:R"}],
)
def test_what_is_no_position_is_refused_alike_by_both_queries(store: Store, board: Any) -> None:
    store.load(LINE, "line")
    rules = store.ruleset("line")
    rules.moves({"a1": "C:R"})
    errors = []
    for query in ("fast", "reading"):
        with pytest.raises(GgnStoreError) as caught:
            rules.moves(board, query=query)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_an_unknown_query_is_refused(store: Store) -> None:
    store.load(LINE, "line")
    with pytest.raises(GgnStoreError, match=r"quick.* is not a query; there are 'fast' and 'reading'"):
        store.ruleset("line").moves({"a1": "C:R"}, query="quick")  # type: ignore[arg-type]


@pytest.mark.parametrize("rounds", [2, pytest.param(5, marks=pytest.mark.long)])
def test_threads_share_a_handle(chess: Ruleset, monkeypatch: pytest.MonkeyPatch, rounds: int) -> None:
    monkeypatch.setattr(fast, "KEPT_MOVES", 60)
    positions = some_positions()[::2]
    expected = chess.moves_batch(positions, query="reading")
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(rounds):
            for position, right in zip(positions, expected, strict=True):
                try:
                    found = chess.moves(position)
                except Exception as error:
                    wrong.append(error)
                else:
                    if found != right:
                        wrong.append(position)

    def forget() -> None:
        while any(thread.is_alive() for thread in threads):
            try:
                chess._moves.fast._memory.forget_answers()  # type: ignore[union-attr]
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    forget()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_threads_that_read_different_pieces_first_keep_what_both_say(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {piece: {"a1": {"b1": [{"must": {"b1": taken}}]}} for piece, taken in (("C:N", "c:n"), ("C:B", "c:b"))}
    store.load(document, "named")
    rules = store.ruleset("named")
    rules.moves({"a1": "C:P"})
    make = statements._Changes.__init__
    asked: list[Future[Any]] = []

    def overtaken(self: statements._Changes, *given: Any) -> None:
        make(self, *given)
        if not asked:  # another thread reads the other piece, and is through first where nothing makes it wait
            asked.append(pool.submit(rules.moves, {"a1": "C:B", "b1": "c:b"}))
            wait(asked, timeout=0.2)

    monkeypatch.setattr(statements._Changes, "__init__", overtaken)
    with ThreadPoolExecutor(1) as pool:
        assert len(rules.moves({"a1": "C:N", "b1": "c:n"})) == 1
    assert len(asked[0].result()) == 1
    boards = [{"a1": piece, "b1": taken} for piece in document for taken in ("c:n", "c:b")]
    assert [len(rules.moves(board)) for board in boards] == [1, 0, 0, 1]


class Late(dict[Any, Any]):
    """What two threads look into before either of them has kept something."""

    def get(self, key: object, default: Any = None) -> Any:
        return default


def test_threads_that_learn_the_same_have_one_answer_for_it() -> None:
    learning = LaneChain(0, is_leaps=False, _outcomes=Late())
    learning.add(1, 1, is_passed=False)
    assert learning.learn(1, 1, 1) is learning.learn(1, 1, 1)


def test_a_question_writes_nothing_and_needs_no_temporary_tables(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.load(LINE, "line")
    rules = store.ruleset("line")
    asked: list[str] = []
    watch(rules, monkeypatch, asked)
    assert len(rules.moves({"a1": "C:R"})) == 1
    assert asked
    assert all(statement.startswith(("SELECT", "WITH")) for statement in asked)


def test_counts_are_those_of_the_moves(chess: Ruleset) -> None:
    positions = [*some_positions(), Position({})]
    answers = chess.moves_batch(positions, query="reading")
    assert chess.moves_batch(positions) == answers
    assert chess.count_moves(positions) == {number: len(moves) for number, moves in enumerate(answers)}
    for by in ("piece", "destination"):
        expected = Counter(getattr(move, by) for moves in answers for move in moves)
        assert chess.count_moves(positions, by) == dict(expected)
    for query, given in itertools.product(BATCH_QUERIES, (positions, [])):
        with pytest.raises(MoveError, match=r"moves are counted by position, piece, destination, not by .*source"):
            chess.count_moves(given, "source", query=query)  # type: ignore[arg-type]


def test_counts_on_large_boards(store: Store) -> None:
    store.load(large(600), "line")
    rules = store.ruleset("line")
    positions = [{"a1": "C:R"}, {}, {"a1": "C:R", "a600": "c:r"}]
    assert rules.count_moves(positions) == {0: 1, 1: 0, 2: 1}
    assert rules.count_moves(positions, "piece") == {"C:R": 2}
    assert rules.count_moves(positions, "destination") == {"a600": 2}


def test_many_positions_are_asked_in_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_CHUNK", 3)
    store.load(LINE, "line")
    rules = store.ruleset("line")
    positions = [{"a1": "C:R", "b1": there} for there in (None, "c:r", "C:R", "c:p", None, None, "C:P")]
    assert rules.count_moves(positions) == dict(enumerate([1, 1, 0, 1, 1, 1, 0]))
    assert [len(moves) for moves in rules.moves_batch(positions)] == [1, 1, 0, 1, 1, 1, 0]


def test_who_may_only_read_can_ask(address: str) -> None:
    with Store.open(address) as store:
        store.load(ROOT / "data" / "chess.json")
        expected = store.ruleset("chess").moves_batch(some_positions(), query="reading")
    if address.startswith("postgres"):
        read_only = f"{address}&options=-c%20default_transaction_read_only%3Don"
    else:
        read_only = address.replace("sqlite:///", "sqlite:///file:") + "?mode=ro&uri=true"
    with Store.open(read_only) as store:
        rules = store.ruleset("chess")
        assert [rules.moves(position) for position in some_positions()] == expected
        assert rules.moves_batch(some_positions()) == expected
        assert list(rules.count_moves(some_positions()).values()) == list(map(len, expected))
        with pytest.raises(GgnStoreError, match="read-only"):
            store.load(LINE, "line")


def test_a_connection_that_the_server_has_closed_is_replaced(address: str) -> None:
    if not address.startswith("postgres"):
        pytest.skip("SQLite has no server")
    with Store.open(address) as store:
        store.load(LINE, "line")
        rules = store.ruleset("line")
        assert len(rules.moves({"a1": "C:R"})) == 1
        with store.session.database.writing() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        assert len(rules.moves({"a1": "C:R", "b1": "c:r"})) == 1
