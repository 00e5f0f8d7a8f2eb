"""The engines on columns give the answers of plain Python, of the store, and of python-chess."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store import GgnStoreError, InputError, Position, PositionError, Ruleset, Store, StoreError, parse, ruleset
from ggn_store.api.moves.columns import Columns
from ggn_store.games import library
from ggn_store.model.documents.document import Envelope
from ggn_store.notation import cell
from tests.oracles import reference
from tests.oracles.python_chess import POSITIONS, expected_moves, key_of_ours, position_of, read_positions
from tests.support import long_ray
from tests.support.games import Games
from tests.support.positions import played
from tests.support.program import Program
from tests.support.strategies import DIALECTS, Case, Plain, cases
from tests.support.unhurried import unhurried

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("duckdb")
pytest.importorskip("numpy")

from ggn_store.columnar import compile as compiling  # noqa: E402

ROOT = Path(__file__).parents[2]
NAMES = ("piece", "source", "destination", "ordinal")


def keys(table: Any, count: int) -> list[list[reference.Key]]:
    """The moves of each position, in the table's order."""
    found: list[list[reference.Key]] = [[] for _ in range(count)]
    for row in table.to_pylist():
        found[row["position"]].append(tuple(row[name] for name in NAMES))
    return found


def counted(table: Any) -> dict[Any, int]:
    [by, _] = table.column_names
    return dict(zip(table[by].to_pylist(), table["count"].to_pylist(), strict=True))


def require_equal(rules: Ruleset, expected: list[list[reference.Key]], positions: Any, **options: Any) -> None:
    """Moves and counts are those expected."""
    assert keys(rules.columns.moves(positions, **options), len(expected)) == expected
    assert counted(rules.columns.count(positions, **options)) == {at: len(moves) for at, moves in enumerate(expected)}
    moves = [move for each in expected for move in each]
    assert counted(rules.columns.count(positions, "piece", **options)) == Counter(move[0] for move in moves)
    assert counted(rules.columns.count(positions, "destination", **options)) == Counter(move[2] for move in moves)


def arrow(positions: list[Position]) -> dict[str, Any]:
    """The positions as the Arrow tables that `columns.moves` takes; all with hands, or all without."""
    board = [(at, square, piece) for at, p in enumerate(positions) for square, piece in p.board.items()]
    held = [(at, piece, count) for at, p in enumerate(positions) for piece, count in (p.hands or {}).items()]
    states = [(at, name, value) for at, p in enumerate(positions) for name, value in (p.state or {}).items()]

    def table(rows: list[Any], **types: Any) -> Any:
        columns = zip(*rows, strict=True) if rows else [[] for _ in types]
        return pa.table({name: pa.array(column, types[name]) for name, column in zip(types, columns, strict=True)})

    return {
        "positions": table(board, position=pa.int64(), square=pa.string(), piece=pa.string()),
        "sides": table([(at, p.side) for at, p in enumerate(positions)], position=pa.int64(), side=pa.string()),
        "hands": None
        if all(p.hands is None for p in positions)
        else table(held, position=pa.int64(), piece=pa.string(), count=pa.int64()),
        "states": table(states, position=pa.int64(), variable=pa.string(), value=pa.string()) if states else None,
    }


def compare(dialect: str, documents: int) -> None:
    @unhurried(documents)
    @given(case=cases(dialect, 6))
    def agree(case: Case) -> None:
        rules = ruleset(case.document)
        given_states = case.states if rules.variables else [None] * len(case.positions)
        positions = [Position(*each, state=state) for each, state in zip(case.positions, given_states, strict=True)]
        expected = [
            reference.moves(reference.in_state(case.document, state), *each)
            for each, state in zip(case.positions, case.states, strict=True)
        ]
        require_equal(rules, expected, positions)
        for is_known in (False, True):
            some = [at for at, position in enumerate(positions) if (position.hands is not None) == is_known]
            if some:
                require_equal(rules, [expected[at] for at in some], **arrow([positions[at] for at in some]))

    agree()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_duckdb_and_plain_python_agree(dialect: str) -> None:
    compare(dialect, 4)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_duckdb_and_plain_python_agree_on_many_documents(dialect: str) -> None:
    compare(dialect, 2000)


# --- shapes of documents that matter to lanes ---

FILES = "abcdefghijklmnopqrstuvwxyz"
PIECES = ("C:R", "c:r", "C:P", "c:p", "C:+R")
LARGE = [cell.text((x, y)) for y in range(36) for x in range(36)]
WIDE = [f"{file}{rank}" for rank in range(1, 24) for file in FILES[:22]]


@st.composite
def walkers(draw: st.DrawFn, squares: list[str]) -> dict[str, Any]:
    """A document of pieces that walk: each square of a walk is entered if those before it are empty."""
    document: dict[str, Any] = {}
    for piece in draw(st.lists(st.sampled_from(PIECES[:4]), min_size=1, max_size=2, unique=True)):
        sources: dict[str, Any] = document.setdefault(piece, {})
        for source in draw(st.lists(st.sampled_from(squares), min_size=1, max_size=2, unique=True)):
            destinations: dict[str, list[Any]] = sources.setdefault(source, {})
            others = [square for square in squares if square != source]
            for _ in range(draw(st.integers(1, 4))):
                walk = draw(st.lists(st.sampled_from(others), min_size=1, max_size=7, unique=True))
                order = draw(st.sampled_from(("as it is", "ascending", "ascending", "descending", "descending")))
                if order != "as it is":
                    walk.sort(key=squares.index, reverse=order == "descending")
                lands_elsewhere = draw(st.sampled_from((False, False, False, True)))
                for at, square in enumerate(walk):
                    path = dict.fromkeys(walk[:at], "empty")
                    kinds = draw(st.sampled_from((("empty", "enemy"), ("enemy", "empty"), ("empty",), ("enemy",), ())))
                    if draw(st.integers(0, 9)) == 0:
                        kinds += draw(st.sampled_from((("empty",), ("enemy",), ("c:p",), ("c:p", "C:R"))))
                    destination = source if lands_elsewhere else square
                    made = [{"must": {**path, square: kind}, "deny": {}} for kind in kinds]
                    if made and draw(st.integers(0, 9)) == 0:
                        made[-1]["deny"] = {draw(st.sampled_from(others)): draw(st.sampled_from(("enemy", *PIECES)))}
                        made[-1]["deny"] = {s: d for s, d in made[-1]["deny"].items() if made[-1]["must"].get(s) != d}
                    destinations.setdefault(destination, []).extend(made)
            if not any(destinations.values()):
                destinations[others[0]] = [{"must": {others[0]: "empty"}}]
            sources[source] = {square: made for square, made in destinations.items() if made}
    return document


@st.composite
def walks(draw: st.DrawFn, squares: list[str]) -> tuple[dict[str, Any], list[Plain]]:
    document = draw(walkers(squares))
    used = sorted({*squares_of(document)})
    drawn: list[Plain] = []
    for _ in range(6):
        density = draw(st.sampled_from((0, 1, 2, 4)))
        board: dict[str, str | None] = {
            square: draw(st.sampled_from(PIECES)) for square in used if draw(st.integers(0, 9)) < density
        }
        for piece, sources in document.items():
            board |= {source: piece for source in sources if draw(st.integers(0, 3))}
        drawn.append((board, None, draw(st.sampled_from(("first", "second")))))
    return document, drawn


def squares_of(document: dict[str, Any]) -> Iterator[str]:
    for sources in document.values():
        for source, destinations in sources.items():
            yield source
            for destination, array in destinations.items():
                yield destination
                for possibility in array:
                    yield from possibility["must"]
                    yield from possibility.get("deny", {})


@pytest.mark.parametrize(
    ("squares", "documents"),
    [
        ([f"{file}{rank}" for rank in range(1, 9) for file in FILES[:8]], 10),
        ([f"{file}{rank}" for rank in range(1, 10) for file in FILES[:9]], 8),
        (WIDE, 10),
        (LARGE, 10),
    ],
    ids=["8x8", "9x9", "22x23", "36x36"],
)
def test_walks_of_every_shape_are_answered_as_by_plain_python(squares: list[str], documents: int) -> None:
    seen: Counter[str] = Counter()

    @unhurried(documents)
    @given(walks(squares))
    def agree(drawn: tuple[dict[str, Any], list[Plain]]) -> None:
        document, given_positions = drawn
        size = "x".join(str(number + 1) for number in cell.parse(squares[-1]))
        store = Store.open("sqlite://")
        store.load(dataclasses.replace(parse(document), envelope=Envelope(board=size)), "walks")
        rules = store.ruleset("walks")
        expected = [reference.moves(document, *each) for each in given_positions]
        require_equal(rules, expected, [Position(*each) for each in given_positions])
        tables = rules.columns.compiled.tables
        seen["moves"] += sum(map(len, expected))
        seen["alternatives"] += tables["alternative"].num_rows
        for lane in tables["lane"].to_pylist():
            seen["paths"] += lane["path"] != 0
            seen["several chains"] += lane["first"].bit_count() > 1
            seen["several for a square"] += lane["each"] > 1
        for piece in tables["part"].group_by("lane").aggregate([("part", "count")]).to_pylist():
            seen["several parts"] += piece["part_count"] > 1
        seen["several lanes"] += tables["lane"].num_rows > tables["start"].num_rows
        store.close()

    agree()
    wanted = {"moves", "alternatives", "paths", "several chains", "several for a square", "several parts"}
    assert wanted | {"several lanes"} <= {name for name in seen if seen[name]}


@pytest.mark.parametrize("board", ["200x2", "65536x1"])
def test_a_ray_that_is_longer_than_a_lane_is_answered_as_by_plain_python(board: str) -> None:
    document, boards = long_ray.DOCUMENT, long_ray.boards(PIECES[:2])
    with Store.open("sqlite://") as store:
        store.load(dataclasses.replace(parse(document), envelope=Envelope(board=board)), "long")
        rules = store.ruleset("long")
        expected = [reference.moves(document, placed, None, "first") for placed in boards]
        require_equal(rules, expected, list(map(Position, boards)))
        require_equal(rules, expected, **arrow(list(map(Position, boards))))
        facts = rules.columns.compiled.tables["fact"]["fact"].to_pylist()
        assert len(set(facts)) < len(facts), "no fact is about several squares"
        assert rules.columns.compiled.tables["alternative"].num_rows > 0


def test_lanes_and_facts_let_only_the_states_of_their_guards_pass() -> None:
    guards: list[dict[str, list[str]]] = [{}, {"a": ["1"]}, {"a": ["2", "3"], "b": ["x"]}, {"b": ["y"]}]
    steps: dict[str, list[Any]] = {}
    for when in guards:
        for at, square in enumerate(("a2", "a3", "a4")):
            path = dict.fromkeys(("a2", "a3")[:at], "empty")
            steps.setdefault(square, []).extend(
                {"when": when, "must": path | {square: state}, "diff": {"board": {"a1": None}}}
                for state in ("empty", "enemy", "c:p")
            )
    document = {
        "$state": {
            "a": {"values": ["1", "2", "3"], "initial": "3"},
            "b": {"values": ["x", "y"], "initial": "x"},
        },
        "C:R": {"a1": steps},
    }
    states = [{}, *({"a": a, "b": b} for a in "123" for b in "xy"), {"b": "y"}]
    drawn = [({"a1": "C:R"} | placed, state) for placed in ({}, {"a3": "c:p"}, {"a2": "C:P"}) for state in states]
    expected = [reference.moves(reference.in_state(document, state), board, None, "first") for board, state in drawn]
    positions = [Position(board, state=state) for board, state in drawn]
    rules = ruleset(document)
    require_equal(rules, expected, positions)
    require_equal(rules, expected, **arrow(positions))
    tables = rules.columns.compiled.tables
    about: dict[int, set[str | None]] = {}
    for row in tables["fact"].to_pylist():
        about.setdefault(row["fact"], set()).add(row["variable"])
    assert {frozenset(names) for names in about.values()} == {*map(frozenset, ([None], "a", "b", "ab"))}


def test_chess_is_as_python_chess_has_it() -> None:
    document = json.loads((ROOT / "data" / "chess.json").read_text("utf-8"))
    rules = ruleset(document)
    boards = [board for file in sorted(POSITIONS.glob("chess_*.fen")) for board in read_positions(file)][::4]
    squares = [position_of(board) for board in boards]
    positions = [Position(placed, {}, side) for placed, side in squares]
    for form in (positions, [position.to_feen((8, 8)) for position in positions]):
        found = keys(rules.columns.moves(form), len(boards))
        for board, moves in zip(boards, found, strict=True):
            ours = [key_of_ours(p, s, d, document[p][s][d][ordinal]["diff"]["board"][d]) for p, s, d, ordinal in moves]
            assert len(set(ours)) == len(ours)
            assert set(ours) == expected_moves(board)


def require_same_as_the_store(rules: Ruleset, positions: list[Position], **options: Any) -> None:
    expected = [
        [(move.piece, move.source, move.destination, move.ordinal) for move in moves]
        for moves in rules.moves_batch(positions)
    ]
    require_equal(rules, expected, positions, **options)
    board = rules.board.shape
    if board and all(position.hands is not None for position in positions):
        require_equal(rules, expected, [position.to_feen(board) for position in positions], **options)


@pytest.mark.parametrize(
    "name", ["minishogi", "xiangqi", "raumschach", "gomoku", pytest.param("cylinder", marks=pytest.mark.long)]
)
def test_games_are_answered_as_by_the_store(sqlite_games: Games, name: str) -> None:
    rules = sqlite_games[name]
    require_same_as_the_store(rules, played(rules, 30, 1))


@pytest.mark.long
@pytest.mark.parametrize("name", [*library.names(), *library.descriptions()])
def test_every_game_of_the_library_is_answered_as_by_the_store(name: str, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/game.db") as store:
        store.load_library(name)
        rules = store.ruleset(name)
        if rules.has_start:
            require_same_as_the_store(rules, played(rules, 90, 2))


# --- ways in ---

STYLED = {"C:P": {"a1": {"a2": [{"must": {"a2": "empty"}}]}, "*": {"b2": [{"must": {"b2": "empty"}}]}}}


@st.composite
def feen_texts(draw: st.DrawFn) -> list[str]:
    """Texts that are FEEN, nearly FEEN, or the same with a character more, less or other."""
    width, height = draw(st.sampled_from(((2, 2), (3, 2), (12, 3), (1, 2))))
    tokens = ("P", "p", "+P", "-p", "k^", "K^'", "q'", "1", "1", "2", "10", "11", "08", "0", "^", "+", "é")
    texts = []
    for _ in range(draw(st.integers(1, 3))):
        ranks = []
        for _ in range(height):
            left, rank = width, ""
            while left:
                token = draw(st.sampled_from(tokens[: 14 if draw(st.booleans()) else 9]))
                step = int(token) if token.isdecimal() else 1
                if step <= left or draw(st.integers(0, 9)) == 0:
                    rank += token
                    left -= min(left, max(1, step))
            ranks.append(rank)
        rest = draw(st.sampled_from((" / C/c", " / c/C", " 2P/p S/c", " / X1/s", " P/ C/c", " /", " / C/C", "")))
        text = "/".join(ranks) + rest
        if draw(st.integers(0, 4)) == 0:
            at = draw(st.integers(0, len(text)))
            text = text[:at] + draw(st.sampled_from(("", "/", "\n", " ", "9", "'", "\0"))) + text[at + 1 :]
        texts.append(text)
    return texts


def test_feen_is_read_as_notation_reads_it() -> None:
    seen: Counter[str] = Counter()
    rules = ruleset(STYLED)
    encoder = rules.columns._encoder

    @unhurried(400)
    @given(feen_texts())
    def agree(texts: list[str]) -> None:
        try:
            positions = list(map(Position.from_feen, texts))
        except PositionError as error:
            with pytest.raises(PositionError, match=re.escape(str(error))):
                encoder.feen(texts)
            assert encoder._feen.read(texts) is None
            seen["refused"] += 1
            return
        seen["read"] += encoder._feen.read(texts) is not None
        one, other = encoder.feen(texts), encoder.positions(positions)
        for name in ("moving", "met"):
            columns = [(column, "ascending") for column in one.tables[name].column_names[:2]]
            assert one.tables[name].sort_by(columns).equals(other.tables[name].sort_by(columns))
        read = encoder._feen.read(texts)
        if read is not None:
            at, square, piece, held, first = read
            known = Counter(zip(at.tolist(), square.tolist(), piece.tolist(), strict=True))
            assert known == Counter(
                (number, encoder.numbers.get(label, -1), encoder.pieces[str(identifier)])
                for number, position in enumerate(positions)
                for label, identifier in position.board.items()
            )
            assert sorted(held) == sorted(
                (number, encoder.pieces[identifier], count)
                for number, position in enumerate(positions)
                for identifier, count in (position.hands or {}).items()
            )
            assert first.tolist() == [position.side == "first" for position in positions]

    agree()
    assert min(seen["read"], seen["refused"]) > 50


def test_the_caller_s_numbers_of_positions_come_back() -> None:
    rules = ruleset(STYLED)
    pieces = pa.table({"position": [70, 70, -5], "square": ["a1", "b1", "a1"], "piece": ["C:P", None, "C:P"]})
    sides = pa.table({"position": [-5, 70, 8], "side": ["second", "first", "first"]})
    hands = pa.table({"position": [8, 8], "piece": ["C:P", "c:p"], "count": [2, 0]})
    assert rules.columns.moves(pieces, sides=sides, hands=hands).to_pylist() == [
        {"position": 8, "piece": "C:P", "source": "*", "destination": "b2", "ordinal": 0},
        {"position": 70, "piece": "C:P", "source": "a1", "destination": "a2", "ordinal": 0},
    ]
    assert counted(rules.columns.count(pieces, sides=sides, hands=hands)) == {-5: 0, 8: 1, 70: 1}
    assert counted(rules.columns.count(pieces)) == {-5: 2, 70: 2}
    feen = pa.table({"feen": ["1P/P1 / C/c", "2/P1 P/ C/c"]})
    assert counted(rules.columns.count(feen)) == {0: 1, 1: 2}
    assert counted(rules.columns.count([{"a1": "C:P"}, "2/P1 P/ C/c", Position({}, {})])) == {0: 2, 1: 2, 2: 0}
    assert rules.columns.moves([]).num_rows == 0
    assert rules.columns.count([], "piece").num_rows == 0


def test_squares_that_no_rule_names_may_hold_a_piece_each() -> None:
    pieces = {"position": [0, 0, 0], "piece": ["C:P", "C:P", "c:p"]}
    asked = ruleset(STYLED).columns
    assert counted(asked.count(pa.table({**pieces, "square": ["a1", "y9", "z9"]}))) == {0: 2}
    with pytest.raises(PositionError, match="two pieces stand on one square"):
        asked.count(pa.table({**pieces, "square": ["a1", "y9", "y9"]}))


def test_a_position_without_pieces_is_counted() -> None:
    nothing = pa.array([None, "C:P"], pa.string())
    pieces = pa.table({"position": [3, 7], "square": pa.array([None, "a1"], pa.string()), "piece": nothing})
    assert counted(ruleset(STYLED).columns.count(pieces)) == {3: 1, 7: 2}


@pytest.mark.parametrize("kind", ["string_view", "large_string", "dictionary"])
def test_texts_of_every_kind_are_read(kind: str) -> None:
    kinds = {
        "string_view": pa.string_view(),
        "large_string": pa.large_string(),
        "dictionary": pa.dictionary(pa.int8(), pa.string()),
    }
    texts = [pa.array([text, None]).cast(pa.string()) for text in ("a1", "C:P")]
    square, piece = (
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), each.cast(kinds[kind].value_type))
        if kind == "dictionary"  # which itself holds the null
        else each.cast(kinds[kind])
        for each in texts
    )
    asked = ruleset(STYLED).columns
    pieces = pa.table({"position": [7, 8], "square": square, "piece": piece})
    assert counted(asked.count(pieces)) == {7: 2, 8: 1}
    with pytest.raises(PositionError, match="the pieces have no square in some rows"):
        asked.count(pieces.set_column(2, "piece", [pa.array(["C:P", "C:P"])]))


def table(**columns: Any) -> Callable[[], Any]:
    """How to make a table; not made while tests are collected, since Arrow loads pandas for it."""
    return functools.partial(pa.table, columns)


def made(value: Any) -> Any:
    return value() if callable(value) else value


GOOD = table(position=[0], square=["a1"], piece=["C:P"])
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a variable": ({"positions": GOOD, "states": table(position=[0], variable=["ep"], value=["3"])}, "it has none"),
    "a variable without a value": (
        {"positions": GOOD, "states": table(position=[0], variable=["ep"], value=[None])},
        "the states have no value in some rows",
    ),
    "no column": ({"positions": table(position=[0], square=["a1"])}, "the pieces have no column piece"),
    "null": (
        {"positions": table(position=[None, 1], square=["a1", "a1"], piece=["C:P", "C:P"])},
        "no position in some",
    ),
    "a number beyond 64 bits": (
        {"positions": lambda: GOOD().set_column(0, "position", [pa.array([1 << 63], pa.uint64())])},
        "the column position has a number beyond 9,223,372,036,854,775,807",
    ),
    "not a number": ({"positions": table(position=["0"], square=["a1"], piece=["C:P"])}, "whole numbers, not string"),
    "not a text": (
        {"positions": table(position=[0], square=[1], piece=["C:P"])},
        "square has to hold texts, not int64",
    ),
    "not a piece": ({"positions": table(position=[0], square=["a1"], piece=["P"])}, '"P" is not a piece identifier'),
    "the hand": ({"positions": table(position=[0], square=["*"], piece=["C:P"])}, '"*" is not a square'),
    "twice": (
        {"positions": table(position=[0, 0], square=["a1", "a1"], piece=["C:P", "c:p"])},
        "two pieces stand on one square",
    ),
    "a side missing": ({"positions": GOOD, "sides": table(position=[1], side=["first"])}, "do not have every position"),
    "a side twice": (
        {"positions": GOOD, "sides": table(position=[0, 0], side=["first", "second"])},
        "the sides have a position twice",
    ),
    "not a side": ({"positions": GOOD, "sides": table(position=[0], side=["white"])}, '"white" is not a side'),
    "a count": (
        {"positions": GOOD, "hands": table(position=[0], piece=["C:P"], count=[-1])},
        "a count below 0",
    ),
    "a piece in a hand twice": (
        {"positions": GOOD, "hands": table(position=[0, 0], piece=["C:P", "C:P"], count=[1, 0])},
        "the hands have a piece of a position twice",
    ),
    "sides that are no table": ({"positions": GOOD, "sides": ["first"]}, "the sides have to be an Arrow table"),
    "sides of FEEN": ({"positions": ["2/2 / C/c"], "sides": GOOD}, "go with an Arrow table of pieces"),
    "not FEEN": ({"positions": ["2/2 / C/c", "2/x / C/c"]}, "is not FEEN"),
    "no FEEN": ({"positions": table(feen=["2/2 / C/c", None])}, "null is not a position"),
    "a column twice": (
        {"positions": lambda: GOOD().append_column("square", [pa.array(["b1"])])},
        "the pieces have a column square twice",
    ),
    "FEEN twice": (
        {"positions": lambda: pa.Table.from_arrays([pa.array(["2/2 / C/c"])] * 2, ["feen", "feen"])},
        "the positions have a column feen twice",
    ),
    "a frame": (
        {"positions": lambda: GOOD().to_pandas()},
        "have to be Positions, FEEN texts or an Arrow table, not DataFrame: of a frame, pyarrow.Table.from_pandas",
    ),
    "not a count of moves": ({"positions": GOOD, "by": "square"}, "counted by position, piece, destination"),
}


def test_the_hands_of_arrow_tables_may_hold_several_pieces_that_no_rules_know() -> None:
    hands = table(position=[0, 0, 0], piece=["C:P", "C:X", "C:Y"], count=[1, 1, 1])
    assert counted(ruleset(STYLED).columns.count(GOOD(), hands=hands())) == {0: 2}


def test_more_threads_than_there_are_processors_are_all_of_these() -> None:
    columns = ruleset(STYLED).columns
    processors = os.cpu_count() or 1
    assert columns.engine(processors + 1) is columns.engine(processors)
    with pytest.raises(StoreError, match="a number of processors from 1, not 0"):
        columns.engine(0)


@pytest.mark.parametrize(("asked", "told"), [pytest.param(*row, id=name) for name, row in WRONG.items()])
def test_what_is_asked_wrongly_is_told(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(GgnStoreError, match=re.escape(told)):
        ruleset(STYLED).columns.count(**{name: made(value) for name, value in asked.items()})


@pytest.mark.parametrize(
    ("positions", "told"),
    [
        ([{"a1": "C:P", "c9": "C:P"}], "c9: not on the board of small@1, which is 2x2"),
        (table(position=[0], square=["c9"], piece=["C:P"]), "c9: not on the board of small@1, which is 2x2"),
        (["P2/2P/3 / C/c"], "the position has a board of 3x3, and that of small@1 is 2x2"),
        (["P1/2/2 / C/c"] * 2, "the position has a board of 2x3, and that of small@1 is 2x2"),
        ([Position.from_feen("2/2/P1 / C/c")], "the position has a board of 2x3, and that of small@1 is 2x2"),
    ],
    ids=["positions", "Arrow", "FEEN", "FEENs of one shape", "a position of FEEN"],
)
def test_what_does_not_fit_a_declared_board_is_told(positions: Any, told: str) -> None:
    with Store.open("sqlite://") as store:
        store.load(dataclasses.replace(parse(STYLED), envelope=Envelope(board="2x2")), "small")
        with pytest.raises(PositionError, match=told):
            store.ruleset("small").columns.count(made(positions))


@pytest.mark.parametrize("module", ["duckdb", "pyarrow", "numpy"])
def test_a_missing_package_is_told_with_its_cure(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(GgnStoreError, match=rf"needs {module}.*pip install 'ggn-store\[duckdb\]'"):
        ruleset(STYLED).columns.moves([{"a1": "C:P"}])


def test_keys_of_two_rules_that_meet_are_salted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"C:P": {f"{file}1": {f"{file}2": [{"must": {f"{file}2": "empty"}}]} for file in "abc"}}
    position = Position({"a1": "C:P", "b1": "C:P", "c1": "C:P", "b2": "c:p"})
    right = ruleset(document).columns.moves([position])
    noise = compiling._noise
    asked: list[int] = []

    def dull(seed: int, size: int) -> bytes:
        asked.append(seed)
        return bytes(size) if seed < 2 else noise(seed, size)

    monkeypatch.setattr(compiling, "_noise", dull)
    assert ruleset(document).columns.moves([position]).equals(right)
    assert asked == [0, 1, 2]
    assert right.num_rows == 2


# --- files ---

SMALL = {
    "C:K^": {
        "a1": {
            "b1": [
                {"must": {"b1": "empty"}, "deny": {"c1": "c:r"}, "diff": {"board": {"a1": None, "b1": "C:K^"}}},
                {"must": {"b1": "c:r"}, "diff": {"board": {"a1": None, "b1": "C:K^"}, "hands": {"C:R": 1}}},
            ]
        },
    },
    "C:R": {"*": {"c1": [{"must": {"c1": "empty"}, "diff": {"hands": {"C:R": -1}, "toggle": False}}]}},
}


def document_of(directory: Path) -> dict[str, Any]:
    """The document that the files hold, joined in plain Python."""

    def rows(name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = parquet.read_table(directory / f"{name}.parquet").to_pylist()
        return found

    made: dict[int, dict[str, Any]] = {}
    document: dict[str, Any] = {}
    for row in rows("possibility"):
        possibility: dict[str, Any] = {"must": {}, "deny": {}}
        if row["toggle"] is not None:
            possibility["diff"] = {"board": {}, "hands": {}, "toggle": row["toggle"]}
        made[row["possibility"]] = possibility
        array = document.setdefault(row["piece"], {}).setdefault(row["source"], {}).setdefault(row["destination"], [])
        assert len(array) == row["ordinal"]
        array.append(possibility)
    for row in rows("condition"):
        made[row["possibility"]][row["polarity"]][row["square"]] = row["state"]
    for row in rows("effect"):
        made[row["possibility"]]["diff"]["board"][row["square"]] = row["becomes"]
    for row in rows("hand_effect"):
        made[row["possibility"]]["diff"]["hands"][row["piece"]] = row["delta"]
    return document


def test_the_files_hold_the_document_and_answer_alike(store: Store, tmp_path: Path) -> None:
    store.load(SMALL, "small")
    rules = store.ruleset("small")
    rules.columns.compile(tmp_path / "new" / "small")
    assert parse(document_of(tmp_path / "new" / "small")).canonical() == rules.export()
    read = compiling.read(tmp_path / "new" / "small")
    assert read.metadata == rules.columns.compiled.metadata
    assert read.metadata["ruleset"] == "small@1"
    assert read.metadata["digest"] == rules.revision.digest
    assert all(read.tables[name].equals(made) for name, made in rules.columns.compiled.tables.items())
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["small"]


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    rules = ruleset(SMALL)
    (tmp_path / "kept").mkdir()
    rules.columns.compile(tmp_path / "kept")
    before = {path: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    for target in (tmp_path / "kept", next(iter(before))):
        with pytest.raises(InputError, match=r"something already: name a new directory, or remove|is a file"):
            rules.columns.compile(target)
    assert {path: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_disk_that_refuses_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write_table", full)
    with pytest.raises(InputError, match="new: cannot be written: No space left on device"):
        ruleset(SMALL).columns.compile(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_compiled_ruleset_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a compiled ruleset.*ggn-store compile"):
        compiling.read(tmp_path)
    (tmp_path / "metadata.json").write_text('{"format": 99}')
    with pytest.raises(InputError, match="not of format 4, which this version reads"):
        compiling.read(tmp_path)


# --- the command line ---


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    return Program(capfd, monkeypatch)


@pytest.fixture
def small(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with a small ruleset, and files of positions beside it."""
    monkeypatch.chdir(tmp_path)
    with Store.open(address) as opened:
        opened.load(STYLED, "small")
    Path("positions.ndjson").write_text('"1P/P1 / C/c"\n\n{"board": {"a1": "C:P"}, "hands": {"C:P": 1}}\n"2/2 / c/C"\n')
    Path("wrong.ndjson").write_text('"1P/P1 / C/c"\n"2/x / C/c"\n')
    Path("broken.ndjson").write_text('"1P/P1 / C/c"\n{"board": {"a1": "C:P"\n')
    return address


ASKED: dict[str, tuple[list[str], str]] = {
    "moves": (
        [],
        '{"position":0,"piece":"C:P","source":"a1","destination":"a2","ordinal":0}\n'
        '{"position":1,"piece":"C:P","source":"a1","destination":"a2","ordinal":0}\n'
        '{"position":1,"piece":"C:P","source":"*","destination":"b2","ordinal":0}\n',
    ),
    "counts by position": (["--count", "position", "--format", "csv"], "position,count\n0,1\n1,2\n2,0\n"),
    "counts by piece": (["--count", "piece"], '{"piece":"C:P","count":3}\n'),
    "counts by destination": (
        ["--count", "destination", "--format", "table"],
        "destination  count\n-----------  -----\na2               2\nb2               1\n",
    ),
    "another side": (["--count", "position", "--side", "second", "--format", "csv"], "position,count\n0,0\n1,0\n2,0\n"),
}


@pytest.mark.parametrize(("more", "told"), [pytest.param(*row, id=name) for name, row in ASKED.items()])
@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_the_command_line_asks_duckdb(
    run: Program, small: str, more: list[str], told: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ggn_store.api.moves.columns._CHUNK", chunk)
    done = run("--db", small, "moves", "small", "--positions", "positions.ndjson", "--engine", "duckdb", *more)
    assert (done.code, done.out, done.err) == (0, told, "")


MISTAKES: dict[str, tuple[list[str], int, str]] = {
    "no positions": (["--engine", "duckdb"], 2, "--engine is for many positions: give a file of them with --positions"),
    "an effect": (
        ["--engine", "duckdb", "--positions", "positions.ndjson", "--assume", "displacement"],
        2,
        "--engine gives the moves of all pieces, without effects: leave --assume out",
    ),
    "what is asked of one piece, explained": (
        ["--engine", "duckdb", "--positions", "positions.ndjson", "--explain", "--piece", "C:P"],
        2,
        "--engine gives the moves of all pieces, without effects: leave --piece out",
    ),
    "two engines": (
        ["--engine", "duckdb", "--positions", "positions.ndjson", "--query", "fast"],
        2,
        "--engine asks another engine than --query fast: leave one out",
    ),
    "a count of one position": (["--count", "piece"], 2, "--count is for many positions"),
    "a count of one piece's moves": (
        ["--count", "piece", "--positions", "positions.ndjson", "--piece", "C:P"],
        2,
        "--count counts all moves: leave --piece out",
    ),
    "a cluster of the store": (["--master", "local"], 2, "--master goes with --engine spark"),
    "no file": (["--engine", "duckdb", "--positions", "none.ndjson"], 1, "none.ndjson"),
    "no FEEN": (["--engine", "duckdb", "--positions", "wrong.ndjson"], 1, 'wrong.ndjson:2: "2/x" is not FEEN'),
    "no JSON": (["--engine", "duckdb", "--positions", "broken.ndjson"], 1, "broken.ndjson:2: "),
}


@pytest.mark.parametrize(("more", "code", "told"), [pytest.param(*row, id=name) for name, row in MISTAKES.items()])
def test_the_command_line_tells_what_is_wrong(run: Program, small: str, more: list[str], code: int, told: str) -> None:
    done = run("--db", small, "moves", "small", *more)
    assert (done.code, done.out) == (code, "")
    assert told in done.err


def test_the_line_that_is_wrong_is_found_by_halves(run: Program, small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    encode = Columns.encode

    def counted(self: Columns, positions: Any, *others: Any, **more: Any) -> Any:
        asked.append(len(positions))
        return encode(self, positions, *others, **more)

    monkeypatch.setattr(Columns, "encode", counted)
    Path("late.ndjson").write_text('"1P/P1 / C/c"\n' * 63 + '"2/x / C/c"\n')
    for more in ((), ("--side", "second")):
        done = run("--db", small, "moves", "small", "--positions", "late.ndjson", "--engine", "duckdb", *more)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith('Error: late.ndjson:64: "2/x" is not FEEN')
    assert len(asked) < 32


@pytest.mark.parametrize("by", ["position", "piece", "destination"])
def test_the_store_counts_as_duckdb_does(run: Program, small: str, by: str) -> None:
    asked = ("--db", small, "moves", "small", "--positions", "positions.ndjson", "--count", by)
    done = run(*asked)
    assert (done.code, done.err) == (0, "")
    assert done.out
    assert done == run(*asked, "--engine", "duckdb")


def test_the_command_line_compiles(run: Program, small: str) -> None:
    done = run("--db", small, "compile", "small", "-o", "made")
    assert (done.code, done.out, done.err) == (0, "", "small@1: 2 possibilities compiled to made\n")
    assert parse(document_of(Path("made"))).canonical() == parse(STYLED).canonical()
    again = run("--db", small, "compile", "small", "-o", "made")
    assert (again.code, again.err.count("\n")) == (1, 1)
    assert "made: there is something already" in again.err


def test_the_command_line_names_the_extra_to_install(run: Program, small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = run("--db", small, "compile", "small", "-o", "made")
    assert done.code == 1
    assert "pip install 'ggn-store[duckdb]'" in done.err
    assert not Path("made").exists()
