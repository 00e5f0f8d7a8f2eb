"""Many positions have the same moves whatever answers them, and it is said what does."""

from __future__ import annotations

import sys
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from ggn_store import MoveError, Position, PositionError, Ruleset, Store, ruleset
from ggn_store.api.moves import batches
from ggn_store.api.moves.batches import BATCH_QUERIES
from ggn_store.columnar.engine import ColumnEngine
from ggn_store.model.moves.move import COUNTS
from tests.support.games import Games
from tests.support.positions import played
from tests.support.program import Program
from tests.support.strategies import DIALECTS, Case, cases
from tests.support.unhurried import unhurried

for _module in ("duckdb", "pyarrow", "numpy"):
    pytest.importorskip(_module)


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns pay from three positions on, and are asked for four at a time."""
    monkeypatch.setattr(batches, "_FEW", 3)
    monkeypatch.setattr(batches, "_A_POSITION", 1_000_000)
    monkeypatch.setattr(batches, "_CHUNK", 4)


def answers(rules: Ruleset, positions: list[Position]) -> str:
    """What answers them, as `explain` says."""
    _, plan = rules.explain(positions)
    return plan[-1]


def require_same(rules: Ruleset, positions: list[Position], **asked: Any) -> None:
    """Every query gives the same moves, and the same counts in the same order."""
    expected = rules.moves_batch(positions, query="reading", **asked)
    for query in BATCH_QUERIES:
        assert rules.moves_batch(iter(positions), query=query, **asked) == expected
    for by in COUNTS:
        counted = [list(rules.count_moves(iter(positions), by, query=query).items()) for query in BATCH_QUERIES]
        assert counted == counted[:1] * len(BATCH_QUERIES)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_query_gives_the_moves_of_random_documents(dialect: str, cheap: None) -> None:
    @unhurried(2)
    @given(case=cases(dialect, 5))
    def agree(case: Case) -> None:
        rules = ruleset(case.document)
        states = case.states if rules.variables else [None] * len(case.positions)
        positions = [Position(*each, state=state) for each, state in zip(case.positions, states, strict=True)]
        assert answers(rules, positions) == "asked of DuckDB, on columns: 5 positions"
        require_same(rules, positions)
        piece, source, destination = case.questions[0].placed
        require_same(rules, positions, piece=piece)
        require_same(rules, positions, source=source, destination=destination)
        if dialect == "must-deny":
            require_same(rules, positions, assume="displacement")

    agree()


@pytest.mark.parametrize("name", ["minishogi", pytest.param("xiangqi", marks=pytest.mark.long)])
def test_every_query_gives_the_moves_of_games(name: str, games: Games, cheap: None) -> None:
    rules = games[name]
    require_same(rules, played(rules, 6, 1))


SMALL: dict[str, Any] = {"C:P": {"a1": {"a2": [{"must": {"a2": "empty"}}]}, "*": {"b2": [{"must": {"b2": "empty"}}]}}}
PLACED = [Position({"a1": "C:P"}, {"C:P": count % 2}) for count in range(5)]


def test_few_positions_are_asked_of_the_store() -> None:
    rules = ruleset(SMALL)
    assert answers(rules, PLACED) == "asked of the store, not on columns: there are fewer than 200 positions"
    assert answers(rules, PLACED * 40) == "asked of DuckDB, on columns: 200 positions"


def test_columns_are_made_once_enough_positions_have_been_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_FEW", 3)
    monkeypatch.setattr(batches, "_A_POSITION", 1)
    rules = ruleset({"C:P": {"a1": {"a2": [{"deny": {f"b{rank}": "enemy"}} for rank in range(1, 14)]}}})
    assert answers(rules, PLACED) == "asked of the store, not on columns: to make columns pays from 13 positions on"
    for _ in range(2):
        rules.moves_batch(PLACED)
    assert answers(rules, PLACED) == "asked of DuckDB, on columns: 5 positions"
    monkeypatch.setattr(batches, "_MOST", 1)
    assert answers(ruleset(SMALL), PLACED).endswith("the ruleset has more than 1 possibilities")


def test_a_new_handle_uses_the_columns_that_another_one_of_the_store_has_made(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_FEW", 3)
    document = {"C:P": {"a1": {"a2": [{"deny": {f"b{rank}": "enemy"}} for rank in range(1, 14)]}}}
    monkeypatch.setattr(batches, "_A_POSITION", 1)
    store.load(document, "first")
    store.load(document | {"c:p": document["C:P"]}, "other")
    expected = store.ruleset("first").moves_batch(PLACED, query="columns")
    assert answers(store.ruleset("first"), PLACED) == "asked of DuckDB, on columns: 5 positions"
    assert store.ruleset("first").moves_batch(PLACED) == expected
    assert "to make columns pays from 26 positions on" in answers(store.ruleset("other"), PLACED)


def test_threads_that_ask_for_legal_moves_first_share_what_columns_take(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.load_library("minishogi")
    rules = store.ruleset("minishogi")
    positions = played(rules, 6, 1)
    wanted = rules.moves_batch(positions, query="fast", legal=True)
    rules.moves_batch(positions, query="columns")  # which leaves only what legal moves take
    load = ColumnEngine._load
    asked: list[Future[Any]] = []

    def overtaken(self: ColumnEngine, tables: Any) -> None:
        if not asked:  # another thread asks the same, and is through first where nothing makes it wait
            asked.append(pool.submit(rules.moves_batch, positions, query="columns", legal=True))
            wait(asked, timeout=0.2)
        load(self, tables)

    monkeypatch.setattr(ColumnEngine, "_load", overtaken)
    with ThreadPoolExecutor(1) as pool:
        assert rules.moves_batch(positions, query="columns", legal=True) == wanted
    assert asked[0].result() == wanted


@pytest.mark.parametrize("module", ["duckdb", "pyarrow", "numpy"])
def test_the_store_answers_where_a_package_is_missing(
    module: str, cheap: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    rules = ruleset(SMALL)
    assert answers(rules, PLACED) == f"asked of the store, not on columns: {module} cannot be imported"
    assert rules.moves_batch(PLACED) == rules.moves_batch(PLACED, query="reading")


@pytest.mark.parametrize("query", BATCH_QUERIES)
def test_what_is_wrong_is_said_alike(query: Any, cheap: None) -> None:
    rules = ruleset({"$state": {"ep": {"values": ["3"], "initial": "3"}}} | {"C:P": {"a1": {"a2": [{"diff": {}}]}}})
    with pytest.raises(PositionError, match=r'^"x" is not a state variable of .*: it has ep$'):
        rules.moves_batch([*PLACED, Position({}, state={"x": "3"})], query=query)
    with pytest.raises(PositionError, match=r'^"4" is not a value of ep in .*: 3$'):
        rules.count_moves([*PLACED, Position({}, state={"ep": "4"})], query=query)
    with pytest.raises(MoveError, match=r'^"x" is not an assumption'):
        rules.moves_batch([], assume="x", query=query)  # type: ignore[arg-type]
    with pytest.raises(MoveError, match="'auto', 'fast', 'columns', 'reading'"):
        rules.moves_batch(PLACED, query="slow")  # type: ignore[arg-type]


@pytest.mark.parametrize("query", BATCH_QUERIES)
def test_the_command_line_takes_every_query(
    query: str, address: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Program(capfd, monkeypatch)
    monkeypatch.chdir(tmp_path)
    with Store.open(address) as opened:
        opened.load(SMALL, "small")
    Path("positions.ndjson").write_text('"2/P1 / C/c"\n{"board": {"a1": "C:P"}, "hands": {"C:P": 1}}\n')
    asked = ("--db", address, "moves", "small", "--positions", "positions.ndjson")
    for more in ((), ("--count", "piece")):
        done = run(*asked, "--query", query, *more)
        assert (done.code, done.err) == (0, "")
        assert done == run(*asked, "--query", "reading", *more)
    explained = run(*asked, "--query", query, "--explain")
    said = {"columns": "asked of DuckDB, on columns: 2 positions", "auto": "there are fewer than 200 positions"}
    assert explained.code == 0
    assert said.get(query, "") in explained.out.splitlines()[-1]
    assert ("JOIN answer" in explained.out) == (query == "columns")
