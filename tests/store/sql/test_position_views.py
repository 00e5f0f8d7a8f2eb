"""The views of positions: queries in SQL find in them what `Ruleset.moves` and `Ruleset.legal_moves` give."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

import ggn_store
from ggn_store import GgnStoreError, Move, Position, QueryError, Ruleset, Store
from ggn_store.api.moves import position_views
from ggn_store.model.bounds import SqlBounds
from ggn_store.notation.qpi import side_of
from ggn_store.store.schema.views import POSITION_VIEWS
from ggn_store.store.sql import queries
from ggn_store.store.sql.given import Given
from ggn_store.store.sql.processes import Processes
from tests.oracles.fairy_stockfish import FIXTURES, fixture
from tests.support.program import Program
from tests.support.program import run as run

# What decides: checks and castling, generals that face each other, hands.
SMALL = ("chess", "minixiangqi", "gorogoro")
GAMES = (*SMALL, "xiangqi", "minishogi")
FIXED = sorted({path.stem for path in FIXTURES.glob("*.txt")} - {*GAMES})
PINNED = "4k3/8/8/8/1b6/8/3N4/4K3 w - - 0 1"
KEY = "ruleset, revision, piece_id, possibility"
LEGAL, MOVES, POSITIONS = "SELECT * FROM legal_moves", "SELECT * FROM moves", "SELECT * FROM positions"
DOCUMENT: dict[str, Any] = {
    "C:N": {"b1": {"c3": [{"must": {"c3": "empty"}}, {"must": {"c3": "enemy"}}], "a3": [{"must": {"a3": "empty"}}]}},
    "c:p": {"*": {"a3": [{"deny": {"a3": "enemy"}}]}},
}


@pytest.fixture(scope="module")
def chess(module_store: Store) -> Ruleset:
    module_store.load_library("chess")
    return module_store.ruleset("chess")


def of(moves: list[list[Move]]) -> Counter[Any]:
    return Counter(
        (number, move.piece, side_of(move.piece), move.source, move.destination, move.ordinal)
        for number, answer in enumerate(moves)
        for move in answer
    )


def asked(store: Store, view: str, name: str, positions: list[Position]) -> Counter[Any]:
    query = f"SELECT position, piece, side, source, destination, ordinal FROM {view}"
    return Counter(store.sql(query, ruleset=name, positions=positions, timeout=60).rows)


def agrees(store: Store, name: str, step: int = 1) -> None:
    store.load_library(name)
    rules = store.ruleset(name)
    positions = [rules.position(fen=sample.fen) for sample in fixture(name)[::step]]
    legal = of([rules.legal_moves(position) for position in positions])
    assert asked(store, "legal_moves", name, positions) == legal
    pseudo = of([rules.moves(position) for position in positions])
    assert asked(store, "moves", name, positions) == pseudo
    assert pseudo - legal, "some duty forbids something"
    # Every move but a pass is one of the stored possibilities, which it is joined with by its key.
    joined = "SELECT position, piece, side, source, destination, ordinal FROM legal_moves NATURAL JOIN v_moves"
    rows = Counter(store.sql(joined, ruleset=name, positions=positions, timeout=60).rows)
    assert rows == Counter({row: count for row, count in legal.items() if row[3] != row[4] or row in rows})


@pytest.mark.parametrize(
    ("name", "step"),
    [*((name, 7) for name in SMALL), *(pytest.param(name, 3, marks=pytest.mark.long) for name in GAMES)],
)
def test_they_hold_the_moves_of_games(module_store: Store, name: str, step: int) -> None:
    agrees(module_store, name, step)


@pytest.mark.long
@pytest.mark.parametrize("name", FIXED)
def test_they_hold_the_moves_of_every_game(module_store: Store, name: str) -> None:
    try:
        agrees(module_store, name)
    except AssertionError as error:
        if "some duty" not in str(error):
            raise


def test_without_positions_they_are_of_the_start(chess: Ruleset, module_store: Store) -> None:
    found = module_store.sql("SELECT piece, count(*) FROM legal_moves GROUP BY piece ORDER BY piece", ruleset="chess")
    assert found.rows == (("C:N", 4), ("C:P", 16))
    standing = module_store.sql(POSITIONS, ruleset="chess").rows
    assert {row[1]: row[2] for row in standing} == chess.start.board
    assert {(row[0], row[3], row[4]) for row in standing} == {(0, "first", 1), (0, "second", 1)}


def test_legal_moves_are_joined_with_what_they_do_and_with_the_board(chess: Ruleset, module_store: Store) -> None:
    positions = [chess.position(fen=PINNED), chess.position(fen="4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1")]
    effects = f"""SELECT m.position, m.destination, e.square, e.becomes
        FROM legal_moves AS m JOIN v_effects AS e USING ({KEY}) WHERE m.piece = :piece ORDER BY 1, 2, 3"""
    found = module_store.sql(effects, {"piece": "C:P"}, ruleset="chess", positions=positions)
    assert found.rows == (
        (1, "d5", "d5", "C:P"), (1, "d5", "e4", None), (1, "e5", "e4", None), (1, "e5", "e5", "C:P"),
    )  # fmt: skip
    captures = """WITH RECURSIVE taken(position, square) AS (SELECT position, square FROM positions)
        SELECT m.position, m.piece, m.destination FROM legal_moves AS m
        JOIN taken ON taken.position = m.position AND taken.square = m.destination"""
    assert module_store.sql(captures, ruleset="chess", positions=positions).rows == ((1, "C:P", "d5"),)
    forbidden = "SELECT position, piece, count(*) AS n FROM (SELECT * FROM moves EXCEPT SELECT * FROM legal_moves) AS x"
    found = module_store.sql(f"{forbidden} GROUP BY position, piece", ruleset="chess", positions=positions)
    assert (0, "C:N", 6) in found.rows


def test_values_compare_as_those_of_stored_views_do(module_store: Store, chess: Ruleset) -> None:
    query = "SELECT count(*) FROM legal_moves WHERE position = :n AND revision = :r AND source = :s"
    assert module_store.sql(query, {"n": "0", "r": 1, "s": "e2"}, ruleset="chess@1").rows == ((2,),)


def test_plans_are_explained_with_them(module_store: Store, chess: Ruleset) -> None:
    explain = "EXPLAIN (VERBOSE)" if module_store.session.database.is_server else "EXPLAIN QUERY PLAN"
    query = f"{explain} SELECT * FROM legal_moves JOIN v_moves USING ({KEY}) WHERE v_moves.piece = :piece"
    assert len(module_store.sql(query, {"piece": "C:P"}, ruleset="chess")) > 3


def test_hands_are_there_and_what_is_left_to_the_players_is_said(module_store: Store) -> None:
    module_store.load_library("gorogoro", "nineholes")
    rules = module_store.ruleset("gorogoro")
    position = rules.position(sfen="4k/5/5/5/5/K4 b 2GPs 1")
    held = module_store.sql(
        f"{POSITIONS} WHERE square = '*' ORDER BY side, piece", ruleset="gorogoro", positions=[position]
    )
    assert [row[2:] for row in held] == [("S:G", "first", 2), ("S:P", "first", 1), ("s:s", "second", 1)]
    assert "left to the players" not in str(held.note)
    left = module_store.sql(LEGAL, ruleset="nineholes").note
    assert "left to the players: " + ", ".join(module_store.ruleset("nineholes").play.host) in str(left)
    assert "left to the players" not in str(module_store.sql(MOVES, ruleset="nineholes").note)


def test_without_duties_all_moves_are_legal_and_a_pass_has_no_key(store: Store) -> None:
    document = ggn_store.parse(DOCUMENT)
    store.load(document, "game")
    position = Position({"b1": "C:N", "c3": "c:p"})
    found = {view: store.sql(f"SELECT * FROM {view}", ruleset="game", positions=[position]) for view in ("moves",)}
    assert [row[2:8] for row in found["moves"]] == [
        (0, "C:N", "first", "b1", "c3", 1), (0, "C:N", "first", "b1", "a3", 0),
    ]  # fmt: skip
    assert store.sql(LEGAL, ruleset="game", positions=[position]).rows == found["moves"].rows
    store.load(replace(document, envelope=replace(document.envelope, play='{"duties":["pass"]}')), "game")
    passed = store.sql(f"{LEGAL} ORDER BY destination", ruleset="game", positions=[position]).rows
    assert [row[5:] for row in passed if row[5] == row[6]] == [("b1", "b1", 0, None, None)]
    assert len(passed) == 3
    assert len(store.sql(f"{LEGAL} JOIN v_moves USING ({KEY})", ruleset="game", positions=[position])) == 2
    # An older revision is asked as it is; the views of every revision know it.
    every = f"SELECT count(*) FROM legal_moves JOIN v_moves_all USING ({KEY})"
    assert store.sql(every, ruleset="game@1", positions=[position]).rows == ((2,),)


def test_an_empty_answer_has_no_rows(module_store: Store, chess: Ruleset) -> None:
    for positions in ([], [Position({})]):
        for query in (LEGAL, MOVES, POSITIONS):
            assert module_store.sql(query, ruleset="chess", positions=positions).rows == ()


# --- errors ---


def why(store: Store, query: str, error: type[Exception] = QueryError, **asked: Any) -> str:
    with pytest.raises(error) as caught:
        store.sql(query, **asked)
    return str(caught.value)


def test_errors_say_what_to_do(module_store: Store, chess: Ruleset, store: Store) -> None:
    for view in POSITION_VIEWS:
        said = why(module_store, f"SELECT piece FROM {view.name}")
        assert f"{view.name}" in said
        assert said.startswith("line 1, column 19: ")
        assert said.endswith("it is a view of positions: name the ruleset that they are of (--ruleset)")
    assert "positions are of a ruleset: name it, too" in why(module_store, LEGAL, positions=[chess.start])
    said = why(module_store, "SELECT :x,\n  peice FROM legal_moves", values={"x": 1}, ruleset="chess")
    assert re.search("line 2, column 3: .*peice.*; near it: piece", said)
    said = why(module_store, "WITH a AS (SELECT 1)\nSELECT * FROM legal_move", ruleset="chess")
    assert re.search("line 2, column 15: .*legal_move.*; near it: legal_moves", said)
    assert "no ruleset" in why(module_store, LEGAL, GgnStoreError, ruleset="chequers")
    assert "z9" in why(module_store, LEGAL, GgnStoreError, ruleset="chess", positions=[Position({"z9": "C:P"})])
    store.load(DOCUMENT, "game")
    assert "game@1 has no start position of its own" in why(store, LEGAL, GgnStoreError, ruleset="game")


def test_positions_of_one_query_are_bounded(
    module_store: Store, chess: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(position_views, "MOST", 3)
    count = "SELECT count(DISTINCT position) FROM legal_moves"
    assert module_store.sql(count, ruleset="chess", positions=[chess.start] * 3).rows == ((3,),)
    said = why(module_store, LEGAL, GgnStoreError, ruleset="chess", positions=repeat(chess.start))
    assert said == "a query asks at most 3 positions: give it fewer at a time"


# --- what others may try ---


WRITES_OR_LOOKS_ELSEWHERE = [
    "INSERT INTO moves SELECT * FROM legal_moves",
    "DROP TABLE legal_moves",
    "WITH a AS (SELECT 1) DELETE FROM legal_moves",
    "WITH a AS (SELECT 1) UPDATE positions SET piece = 'x'",
    "SELECT name FROM temp.sqlite_master, moves",
    "SELECT name FROM sqlite_temp_master, moves",
    "SELECT * FROM main.legal_moves",
    "SELECT * FROM pg_temp.legal_moves",
    "SELECT 1) AS x, (SELECT * FROM legal_moves",
    "SELECT 1) SELECT * FROM pg_authid, (SELECT * FROM legal_moves",
    "SELECT current_setting('data_directory'), load_extension('x') FROM legal_moves",
    "SELECT * FROM legal_moves, alembic_version",
    "SELECT $1 FROM legal_moves",
]


def test_a_query_only_reads_them(module_store: Store, chess: Ruleset) -> None:
    for query in WRITES_OR_LOOKS_ELSEWHERE:
        assert why(module_store, query, ruleset="chess")
    assert module_store.sql("SELECT count(*) FROM legal_moves", ruleset="chess").rows == ((20,),)


def test_their_rows_are_values_whatever_is_in_them(store: Store) -> None:
    texts = ["'", '"', "\\", '\\"', "{}", "NULL", "", "{a,b}", "'; DROP TABLE piece; --", "$1", "\n", "\x1b", "é"]
    rows = [(number, text, text[::-1], None, number - 2**40) for number, text in enumerate(texts)]
    asker = queries.QueryAsker(store.session.database, Processes())
    found = queries.ask(asker, f"{POSITIONS} ORDER BY position", {}, SqlBounds(), lambda view: Given(view, rows))
    assert found.rows == tuple(rows)


def test_only_what_a_query_names_is_made(module_store: Store, chess: Ruleset) -> None:
    made: list[str] = []

    def given(view: Any) -> Given:
        made.append(view.name)
        return Given(view, [])

    asker = queries.QueryAsker(module_store.session.database, Processes())
    for query in ("SELECT 'moves'", 'SELECT * FROM "moves"', "SELECT * FROM v_moves -- legal_moves"):
        queries.ask(asker, query, {}, SqlBounds(limit=1), given)
    assert made == ["moves"]


# --- the command ---


@pytest.mark.usefixtures("chess")
def test_the_command_asks_of_a_position_or_many(module_store: Store, tmp_path: Path, run: Program) -> None:
    address = re.sub(r"[+]\w+:", ":", module_store.session.database.url.render_as_string(hide_password=False))
    base = ("--db", address, "sql")
    query = "SELECT position, count(*) AS n FROM legal_moves GROUP BY position ORDER BY position"
    assert run(*base, query, "--ruleset", "chess").out == '{"position":0,"n":20}\n'
    assert run(*base, query, "--ruleset", "chess", "--fen", PINNED).out == '{"position":0,"n":4}\n'
    file = tmp_path / "positions.ndjson"
    file.write_text('{"board": {"e2": "C:P"}}\n{"board": {"e2": "C:P", "d3": "c:p"}}\n')
    found = run(*base, query, "--ruleset", "chess", "--positions", str(file))
    assert found.out == '{"position":0,"n":2}\n{"position":1,"n":3}\n'
    for arguments, said in (
        (("--fen", PINNED), "name it with --ruleset"),
        (("--positions", str(file)), "name it with --ruleset"),
        (("--ruleset", "chess", "--fen", PINNED, "--positions", str(file)), "leave --fen out"),
        (("--ruleset", "chess", "--board", "-"), "give the query as an argument"),
    ):
        refused = run(*base, *(() if "-" in arguments else (query,)), *arguments)
        assert refused.code == 2
        assert said in refused.err
    wrong = run(*base, query)
    assert (wrong.code, wrong.out) == (1, "")
    assert "--ruleset" in wrong.err
    wrong = run(*base, query, "--ruleset", "chess", "--fen", "x")
    assert (wrong.code, wrong.out) == (1, "")
    assert "is not a FEN of this game" in wrong.err
