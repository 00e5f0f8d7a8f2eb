"""Masks, and what the fast query does beside giving the reading query's answers (`test_agreement` compares these)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import delete, func, select, text, update

from ggn_store import GgnStoreError, Position, Ruleset, Store, parse
from ggn_store.api import moves as asking
from ggn_store.store.moves import codes, fast
from ggn_store.store.rulesets import masks
from ggn_store.store.schema import tables as t
from tests.oracles import reference
from tests.support.loader import ROOT
from tests.support.migrations import alembic
from tests.support.positions import some_positions

# One letter a square: what the first side sees there is empty, its own, or the enemy's.
A1, B1, C1, D1 = 1, 2, 4, 8


# number, exact, not empty, not enemy, not own, twin
@pytest.mark.parametrize(
    ("possibilities", "rows"),
    [
        ([{}], [(0, False, 0, 0, 0, 0)]),
        ([{"must": {"b1": "empty"}}], [(0, False, 0, B1, B1, 0)]),
        ([{"must": {"b1": "enemy"}}], [(0, False, B1, 0, B1, 0)]),
        ([{"must": {"b1": "C:N"}}], [(0, True, B1, B1, 0, 0)]),
        ([{"must": {"b1": "c:n"}}], [(0, True, B1, 0, B1, 0)]),
        ([{"deny": {"b1": "empty"}}], [(0, False, B1, 0, 0, 0)]),
        ([{"deny": {"b1": "enemy"}}], [(0, False, 0, B1, 0, 0)]),
        ([{"deny": {"b1": "c:n"}}], [(0, True, 0, 0, 0, 0)]),
        ([{"must": {"b1": "empty", "c1": "enemy"}}], [(0, False, C1, B1, B1 | C1, 0)]),
        # A step and a capture on the same square are one row; the other way round they are two.
        (
            [{"must": {"b1": "empty", "d1": "empty"}}, {"must": {"b1": "empty", "d1": "enemy"}}],
            [(0, False, 0, B1, B1 | D1, D1)],
        ),
        ([{"must": {"d1": "enemy"}}, {"must": {"d1": "empty"}}], [(0, False, D1, 0, D1, 0), (1, False, 0, D1, D1, 0)]),
        # Two squares differ, or something else does, or there is a third.
        (
            [{"must": {"d1": "empty", "c1": "empty"}}, {"must": {"d1": "enemy", "c1": "enemy"}}],
            [(0, False, 0, C1 | D1, C1 | D1, 0), (1, False, C1 | D1, 0, C1 | D1, 0)],
        ),
        (
            [{"must": {"d1": "empty"}}, {"must": {"d1": "enemy", "b1": "empty"}}],
            [(0, False, 0, D1, D1, 0), (1, False, D1, B1, B1 | D1, 0)],
        ),
        (
            [{"must": {"d1": "empty"}}, {"must": {"d1": "enemy"}}, {"must": {"d1": "empty"}}],
            [(0, False, 0, 0, D1, D1), (2, False, 0, D1, D1, 0)],
        ),
        # Equal masks, but one names a piece.
        (
            [{"must": {"d1": "empty", "b1": "c:n"}}, {"must": {"d1": "enemy", "b1": "c:n"}}],
            [(0, True, B1, D1, B1 | D1, 0), (1, True, B1 | D1, 0, B1 | D1, 0)],
        ),
    ],
)
def test_masks_say_what_conditions_say(possibilities: list[Mapping[str, Any]], rows: list[tuple[Any, ...]]) -> None:
    # The board has all four squares whatever the conditions name.
    document = parse({"C:R": {"a1": {"b1": [{}], "c1": [{}], "d1": [*possibilities]}}}, "must-deny")
    found = [row[1:] for row in masks.flatten(7, document.pieces[0], document.board)]
    assert [(row[0] - 2, *row[1:]) for row in found[2:]] == rows


def test_a_square_beyond_the_first_word_is_a_bit_of_a_later_one() -> None:
    document = parse({"C:R": {"a1": {"a9": [{"must": {"h8": "empty", "h9": "enemy", "a9": "empty"}}]}}}, "must-deny")
    [(start, number, exact, *words)] = masks.flatten(7, document.pieces[0], document.board)
    # h8 is square 63, the sign of the first word; a9 and h9 are squares 64 and 71, bits 0 and 7 of the second.
    sign = -(1 << 63)
    assert (start, number, exact) == (7 * 1024, 0, False)
    assert words == [0, sign, sign, 0, 1 << 7, 1, 1 | 1 << 7, 0]


def test_steps_and_captures_of_chess_are_halved(store: Store) -> None:
    store.load(ROOT / "data" / "chess.json")
    with store.session.database.reading() as connection:
        kinds = connection.execute(select(t.mask.c.exact, func.count()).group_by(t.mask.c.exact).order_by("exact"))
        # 15,292 possibilities; by name: 14 + 14 en passant captures, 4 castlings.
        assert [tuple(row) for row in kinds] == [(False, 7858), (True, 32)]


LINE = {"C:R": {"a1": {"b1": [{"must": {"b1": "empty"}}, {"must": {"b1": "enemy"}}]}}}


def large(squares: int) -> dict[str, Any]:
    """A rook's step, on a board of so many squares in a row."""
    far = f"a{squares}"
    return {"C:R": {"a1": {far: [{"must": {far: "empty"}}, {"must": {far: "enemy"}}]}}, "c:r": {far: {"a1": [{}]}}}


@pytest.mark.parametrize("squares", [63, 64, 65, 127, 128, 129, 192, 193, 512, 513, 2000])
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
    notes = [line for line in plan if "the reading query, since" in line]
    assert notes == (
        [f"the reading query, since the board has {squares:,} squares, and masks end at 512"] if squares > 512 else []
    )


def damage(store: Store, statement: Any) -> None:
    with store.session.database.writing() as connection:
        assert connection.execute(statement).rowcount == 1


@pytest.mark.parametrize(
    "statement",
    [
        delete(t.mask).where(t.mask.c.number == 0),
        update(t.mask).where(t.mask.c.number == 0).values(not_own_0=0),
        update(t.mask).where(t.mask.c.number == 0).values(twin_7=1),
        update(t.mask).where(t.mask.c.number == 0).values(exact=True),
        update(t.piece).values(words=None),
        update(t.piece).values(words=2),
    ],
    ids=["a row is gone", "a mask", "a word beyond the board", "exact", "no words", "other words"],
)
def test_damaged_masks_are_found_and_rebuilt(store: Store, statement: Any) -> None:
    store.load(LINE, "line")
    damage(store, statement)
    [found] = store.upkeep.check()
    assert found.endswith("(C:R): its masks are not those of its rows: run `ggn-store db rebuild`")
    assert store.upkeep.rebuild() == 1
    assert store.upkeep.check() == []
    assert [move.ordinal for move in store.ruleset("line").moves({"a1": "C:R", "b1": "c:r"})] == [1]


def test_masks_that_are_missing_are_done_without(store: Store) -> None:
    store.load(LINE, "line")
    damage(store, update(t.piece).values(words=None))
    rules = store.ruleset("line")
    assert [move.ordinal for move in rules.moves({"a1": "C:R", "b1": "c:r"})] == [1]
    assert rules.explain([Position({"a1": "C:R"})])[1][-1] == (
        "the reading query, since masks are missing: run `ggn-store db rebuild`"
    )


def test_an_upgrade_derives_the_masks_of_older_stores(store: Store) -> None:
    from alembic import command

    store.load(LINE, "line")
    with store.session.database.writing() as connection:
        alembic(connection, command.downgrade, "0001")
    store.upgrade()
    assert store.upkeep.check() == []
    assert [move.ordinal for move in store.ruleset("line").moves({"a1": "C:R"})] == [0]


@pytest.fixture
def chess(module_store: Store) -> Ruleset:
    """Chess, of which a handle remembers nothing yet."""
    module_store.load(ROOT / "data" / "chess.json")
    return module_store.ruleset("chess")


def watch(rules: Ruleset, patch: pytest.MonkeyPatch, asked: list[str]) -> None:
    """Note every statement that is asked in the short way."""
    fetch = rules._handle.session.database.fetch

    def noted(statement: str, values: Any) -> list[Any]:
        asked.append(statement)
        return fetch(statement, values)

    patch.setattr(rules._handle.session.database, "fetch", noted)


def test_answers_that_are_kept_are_those_of_the_database(chess: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    positions = some_positions()
    expected = chess.moves_batch(positions, query="reading")
    assert [chess.moves(position) for position in positions] == expected
    asked: list[str] = []
    with monkeypatch.context() as patch:
        watch(chess, patch, asked)
        assert [chess.moves(position) for position in reversed(positions)] == expected[::-1]
    assert asked == []


@pytest.mark.parametrize(("moves", "answers"), [(0, 0), (0, 100_000), (100_000, 0), (40, 100_000), (100_000, 7)])
def test_no_more_is_kept_than_is_allowed(
    chess: Ruleset, monkeypatch: pytest.MonkeyPatch, moves: int, answers: int
) -> None:
    monkeypatch.setattr(fast, "KEPT_MOVES", moves)
    monkeypatch.setattr(fast, "KEPT_ANSWERS", answers)
    positions = some_positions() * 2
    expected = chess.moves_batch(positions, query="reading")
    query = chess._moves._fast
    assert query is not None
    for position, right in zip(positions, expected, strict=True):
        assert chess.moves(position) == right
        kept = sum(len(start.answers) for start in query._starts.values())
        # What the last question needed is there, whatever the limit.
        assert kept <= answers + len(position.board)


def test_more_identifiers_than_there_are_numbers_for_are_answered_all_the_same(
    chess: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codes, "_IDENTIFIER_BITS", 4)
    for number in range(40):
        board = {"e1": "C:K^", "e2": f"X{number}:P", "d2": f"x{number}:p"}
        assert chess.moves(board) == chess.moves(board, query="reading")


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


def test_threads_share_a_handle(chess: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "KEPT_MOVES", 60)
    positions = some_positions()
    expected = chess.moves_batch(positions, query="reading")
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(5):
            for position, right in zip(positions, expected, strict=True):
                try:
                    found = chess.moves(position)
                except Exception as error:
                    wrong.append(error)
                else:
                    if found != right:
                        wrong.append(position)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_question_writes_nothing_and_needs_no_temporary_tables(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.load(ROOT / "data" / "chess.json")
    chess = store.ruleset("chess")
    asked: list[str] = []
    watch(chess, monkeypatch, asked)
    assert len(chess.moves(chess.start)) == 20
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
    with pytest.raises(GgnStoreError, match=r"moves are counted by position, piece, destination, not by .*source"):
        chess.count_moves(positions, "source")  # type: ignore[arg-type]


def test_counts_need_no_masks(store: Store) -> None:
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
