"""Whoever may only read gets every answer that the owner gets: without the right to make temporary tables, in read-only
transactions (which is also what a replica has), and on files that cannot be written.

The owner's answers are those of temporary tables, which other tests hold to plain Python.
"""

from __future__ import annotations

import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url, text

from ggn_store import Position, Ruleset, Store, StoreError
from ggn_store.games import library
from ggn_store.store.moves import positions as state
from ggn_store.store.moves import reading
from tests.oracles.fairy_stockfish import FIXTURES, Sample
from tests.oracles.play import Game
from tests.oracles.reference import moves as plain_moves
from tests.support.positions import some_positions
from tests.support.postgres import Server
from tests.support.program import Program, Result
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run

DATA = Path(__file__).parents[3] / "data"
NOBODY = 65534

# Who asks on Postgres: with the right to select only, in transactions that are read-only, or both.
POSTGRES_READERS = ("may only select", "read-only transactions", "may only select in read-only transactions")
READERS = ("read-only connection", "read-only file", *POSTGRES_READERS)

WIDE_SQUARES = 600


def wide() -> dict[str, Any]:
    """Runners on a row of more squares than masks can have: up to three steps either way, and captures; and drops."""
    document: dict[str, Any] = {}
    for piece, foe in (("C:R", "c:r"), ("c:r", "C:R")):
        sources: dict[str, Any] = {"*": {f"a{WIDE_SQUARES}": [{"must": {f"a{WIDE_SQUARES}": "empty"}}]}}
        for start in (*range(1, WIDE_SQUARES, 20), WIDE_SQUARES):
            destinations = {}
            for step in (-1, 1):
                between: dict[str, str] = {}
                for end in range(start + step, start + 4 * step, step):
                    if not 1 <= end <= WIDE_SQUARES:
                        break
                    there = f"a{end}"
                    effects = {"board": {f"a{start}": None, there: piece}, "hands": {piece: 1}}
                    destinations[there] = [
                        {"must": {**between, there: "empty"}},
                        {"must": {**between, there: "enemy"}, "deny": {f"a{WIDE_SQUARES}": foe}, "diff": effects},
                    ]
                    between[there] = "empty"
            sources[f"a{start}"] = destinations
        document[piece] = sources
    for _, possibility in _possibilities(document):
        possibility.setdefault("diff", {"toggle": False})
    return document


def _possibilities(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for piece, sources in document.items():
        for destinations in sources.values():
            for array in destinations.values():
                for possibility in array:
                    yield piece, possibility


def wide_positions() -> list[Position]:
    every_third = {f"a{n}": "C:R" if n % 2 else "c:r" for n in range(1, WIDE_SQUARES, 3)}
    return [
        Position({}),
        Position({"a1": "C:R", "a4": "c:r", "a600": "c:r"}, hands={"C:R": 1}),
        Position(every_third, side="second", hands={}),
        Position(every_third, hands={"C:R": 2, "c:r": 1}),
        Position({"a1": "C:R", "a3": "X:Z", "a21": "C:R", "a20": "c:r"}),
    ]


def samples(name: str) -> list[Position]:
    played = Game(library.path_of(name).read_text("utf-8"), name)
    lines = (FIXTURES / f"{name}.txt").read_text("utf-8").splitlines()
    return [played.parse(Sample.from_line(line).fen) for line in lines][:: max(1, len(lines) // 4)]


@dataclass(frozen=True, slots=True)
class Filled:
    """A store with games, and the addresses of those who may only read it, by what they are called.

    `answers` are those of the owner, which are asked for once.
    """

    owner: str
    readers: dict[str, str]
    answers: dict[object, Any] = field(default_factory=dict)


def fill(address: str) -> None:
    with Store.open(address) as store:
        store.load(DATA / "chess.json")
        store.load(DATA / "examples" / "must-deny-cannon-capture.json", "cannon")
        store.load(wide(), "wide")
        store.load_library("gorogoro")


@contextmanager
def filled_postgres(server: Server) -> Iterator[Filled]:
    """A database in which PUBLIC may make nothing, and a role of its own that may select."""
    owner = server.create_store()
    role, password = f"ggn_test_{uuid.uuid4().hex}", uuid.uuid4().hex
    fill(owner)
    name = make_url(owner).database
    with psycopg.connect(owner, autocommit=True) as connection:
        for statement in (
            f"CREATE ROLE {role} LOGIN PASSWORD '{password}'",
            f"REVOKE TEMP ON DATABASE {name} FROM PUBLIC",
            "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
            f"GRANT USAGE ON SCHEMA public TO {role}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}",
        ):
            connection.execute(statement.encode())
    try:
        reader = make_url(owner).set(username=role, password=password)
        read_only = {"options": "-c default_transaction_read_only=on"}
        urls = (reader, make_url(owner).update_query_dict(read_only), reader.update_query_dict(read_only))
        texts = [url.render_as_string(hide_password=False) for url in urls]
        yield Filled(owner, dict(zip(POSTGRES_READERS, texts, strict=True)))
    finally:
        server.drop_database(owner)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"DROP ROLE {role}".encode())


@contextmanager
def filled_sqlite() -> Iterator[Filled]:
    """A file in a directory, neither of which anybody may write."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        file = directory / "store.db"
        fill(f"sqlite:///{file}")
        readers = {
            "read-only connection": f"sqlite:///file:{file}?mode=ro&uri=true",
            "read-only file": f"sqlite:///{file}",
        }
        file.chmod(0o444)
        directory.chmod(0o555)
        try:
            yield Filled(f"sqlite:///{file}", readers)
        finally:
            directory.chmod(0o755)


@pytest.fixture(scope="module")
def in_postgres(postgres_server: Server) -> Iterator[Filled]:
    with filled_postgres(postgres_server) as filled:
        yield filled


@pytest.fixture(scope="module")
def in_sqlite() -> Iterator[Filled]:
    with filled_sqlite() as filled:
        yield filled


# Who may do least stands for those who may do a little more, but in the long run.
LEAST = (READERS[1], POSTGRES_READERS[-1])


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.long] * (name not in LEAST)) for name in READERS])
def reader(request: pytest.FixtureRequest) -> str:
    """What one who may only read is called."""
    name: str = request.param
    return name


@pytest.fixture
def filled(reader: str, request: pytest.FixtureRequest) -> Filled:
    """The store that this reader has the address of."""
    found: Filled = request.getfixturevalue("in_postgres" if reader in POSTGRES_READERS else "in_sqlite")
    return found


@contextmanager
def as_nobody(reader: str) -> Iterator[None]:
    """For files root's rights would be no test."""
    if reader != "read-only file" or os.geteuid() != 0:
        yield
        return
    # What is imported later is read by him, too.
    if not all(step.stat().st_mode & 0o001 for step in Path(__file__).resolve().parents):
        pytest.skip("the checkout is closed to others: nobody but root could run it")
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def compare(filled: Filled, reader: str, question: object, ask: Callable[[Store], Any]) -> Any:
    """The answer to a question that both the owner and the reader get."""
    if question not in filled.answers:
        with Store.open(filled.owner) as store:
            filled.answers[question] = ask(store)
    with as_nobody(reader), Store.open(filled.readers[reader]) as store:
        found = ask(store)
    assert found == filled.answers[question]
    return found


POSITIONS: dict[str, Callable[[], list[Position]]] = {
    "chess": lambda: some_positions()[::18],
    "wide": wide_positions,
    "gorogoro": lambda: samples("gorogoro"),
}


def everything_about(rules: Ruleset, positions: list[Position]) -> dict[str, Any]:
    """The answers of each question about moves, in every way that there is to ask it."""
    answers: dict[str, Any] = {}
    for query in ("fast", "reading"):
        answers[f"moves, {query}"] = [rules.moves(position, query=query) for position in positions]
        answers[f"moves of many, {query}"] = rules.moves_batch(positions, query=query)
        one = [moves[-1] for moves in answers[f"moves, {query}"] if moves][-1]
        narrow: dict[str, Any] = {"piece": one.piece, "source": one.source, "destination": one.destination}
        for names in (("piece",), ("source",), ("destination",), tuple(narrow)):
            some = {name: narrow[name] for name in names}
            answers[f"moves of many by {names}, {query}"] = rules.moves_batch(positions, query=query, **some)
        entry = rules.select(one.piece).from_(one.source).to(one.destination)
        for side in ("first", "second"):
            answers[f"{entry.source} {entry.destination} of {side}, {query}"] = [
                entry.where(position, side=side, query=query) for position in positions
            ]
    for by in ("position", "piece", "destination"):
        answers[f"counts by {by}"] = rules.count_moves(positions, by)
    return answers


@pytest.mark.parametrize("name", POSITIONS)
def test_a_reader_is_told_the_owner_s_moves(filled: Filled, reader: str, name: str) -> None:
    positions = POSITIONS[name]()
    answers = compare(filled, reader, ("moves", name), lambda store: everything_about(store.ruleset(name), positions))
    assert sum(map(len, answers["moves, fast"])) > len(positions)
    assert answers["moves, fast"] == answers["moves of many, fast"] == answers["moves of many, reading"]
    assert list(answers["counts by position"].values()) == list(map(len, answers["moves, reading"]))


# Nobody may run the Python of another user's home, and a query is a process of its own.
@pytest.mark.parametrize("reader", [reader for reader in READERS if reader != "read-only file"])
def test_a_reader_asks_for_legal_moves_in_sql(filled: Filled, reader: str) -> None:
    positions = POSITIONS["gorogoro"]()
    query = "SELECT * FROM moves EXCEPT SELECT * FROM legal_moves ORDER BY position, possibility"

    def ask(store: Store) -> Any:
        return store.sql(query, ruleset="gorogoro", positions=positions).rows

    assert compare(filled, reader, "sql", ask)


@pytest.mark.parametrize("name", ["chess", "wide", "gorogoro"])
def test_many_positions_of_a_reader_are_asked_together(
    filled: Filled, reader: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = (POSITIONS[name]() * 20)[:100]
    with as_nobody(reader), Store.open(filled.readers[reader]) as store:
        rules = store.ruleset(name)
        few = rules.moves_batch(positions[:2], query="reading")
        asked: list[str] = []
        execute = store.session.database.engine.dialect.do_execute

        def noted(cursor: Any, statement: str, *rest: Any) -> None:
            asked.append(statement)
            execute(cursor, statement, *rest)

        monkeypatch.setattr(store.session.database.engine.dialect, "do_execute", noted)
        answers = rules.moves_batch(positions, query="reading")
        assert answers[:2] == few
        assert answers == rules.moves_batch(positions)
        assert sum(rules.count_moves(positions).values()) == sum(map(len, answers))
        assert len(asked) < len(positions)


def test_more_positions_than_a_statement_holds_are_asked_in_parts(
    in_postgres: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = some_positions()[:8]
    with Store.open(in_postgres.owner) as store:
        expected = store.ruleset("chess").moves_batch(positions, query="reading")
    monkeypatch.setattr(reading, "_POSITIONS_SENT", 3)
    described: list[int] = []
    describe = state.describe

    def noted(database: Any, connection: Any, board: Any, part: list[Position], *rest: Any) -> Any:
        described.append(len(part))
        return describe(database, connection, board, part, *rest)

    monkeypatch.setattr(state, "describe", noted)
    with Store.open(in_postgres.readers["may only select"]) as store:
        assert store.ruleset("chess").moves_batch(positions, query="reading") == expected
    assert described == [3, 3, 2]


def test_every_part_is_planned_for_its_own_values(in_postgres: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_POSITIONS_SENT", 1)
    plans: list[tuple[int, int]] = []
    describe = state.describe

    def noted(database: Any, connection: Any, *rest: Any) -> Any:
        kinds = "coalesce(sum(generic_plans), 0), coalesce(sum(custom_plans), 0)"
        counted = f"SELECT {kinds} FROM pg_prepared_statements WHERE starts_with(statement, 'WITH position_state')"
        plans.append(tuple(connection.execute(text(counted)).one()))
        return describe(database, connection, *rest)

    monkeypatch.setattr(state, "describe", noted)
    with Store.open(in_postgres.readers["may only select"]) as store:
        store.ruleset("chess").moves_batch(some_positions()[:1] * 20, query="reading")
    generic, custom = plans[-1]
    assert generic == 0
    assert custom > 5, "so many plans are made before Postgres thinks of one for any values"


def test_a_reader_of_a_wide_board_is_told_what_plain_python_says(filled: Filled, reader: str) -> None:
    document = wide()
    with as_nobody(reader), Store.open(filled.readers[reader]) as store:
        rules = store.ruleset("wide")
        for position in wide_positions():
            board = {square: piece for square, piece in position.board.items() if piece is not None}
            expected = plain_moves(document, board, position.hands, position.side)
            assert [(m.piece, m.source, m.destination, m.ordinal) for m in rules.moves(position)] == expected


@pytest.mark.parametrize("query", ["fast", "reading"])
@pytest.mark.parametrize("name", ["chess", "wide", "gorogoro"])
def test_the_statement_that_a_reader_is_shown_is_one_that_gives_the_moves(
    in_postgres: Filled, name: str, query: Any
) -> None:
    address = in_postgres.readers["may only select"]
    with Store.open(address) as store:
        rules = store.ruleset(name)
        for position in POSITIONS[name]():
            if query == "fast" and "X:Z" in position.board.values():
                continue
            statement, plan = rules.explain([position], query=query)
            assert "cost=" in plan[0]
            with psycopg.connect(address) as connection:
                shown = connection.execute(statement.encode()).fetchall()
                if query == "fast":  # a lane and what it reaches
                    each: dict[int, int] = dict(connection.execute("SELECT key, each FROM lane").fetchall())
                    count = sum(each[key] * reached.bit_count() for key, _, reached, _ in shown)
                else:
                    count = len(shown)
            assert count == len(rules.moves(position))


def perfts(rules: Ruleset, position: Position, depth: int, engine: str | None, assume: Any = None) -> list[Any]:
    counted = rules.perft(position, depth, engine=engine, assume=assume)
    divided = rules.perft(position, depth, engine=engine, divide=True, assume=assume)
    reached = rules.reached([position, position], depth, engine=engine, assume=assume)
    boards = [
        sorted(
            (json.dumps([sorted(after.board.items()), sorted((after.hands or {}).items()), after.side]), count)
            for after, count in each
        )
        for each in reached
    ]
    return [counted.count, divided.count, divided.by_move, boards]


@pytest.mark.parametrize(
    ("name", "depth", "engine"),
    [
        ("chess", 2, None),
        ("gorogoro", 2, "duckdb"),
        pytest.param("chess", 3, None, marks=pytest.mark.long),
        pytest.param("chess", 3, "duckdb", marks=pytest.mark.long),
        pytest.param("gorogoro", 2, None, marks=pytest.mark.long),
    ],
)
def test_a_reader_s_perft_is_the_owner_s(
    filled: Filled, reader: str, name: str, depth: int, engine: str | None
) -> None:
    def ask(store: Store) -> list[Any]:
        rules = store.ruleset(name)
        last = POSITIONS[name]()[-1]
        return [perfts(rules, rules.position(), depth, engine), perfts(rules, last, 2, engine)]

    [[count, *_], _] = compare(filled, reader, ("perft", name, depth, engine), ask)
    if name == "chess":
        assert count == {2: 400, 3: 8902}[depth]


def test_a_reader_s_perft_of_a_must_deny_document_is_the_owner_s(filled: Filled, reader: str) -> None:
    def ask(store: Store) -> list[Any]:
        rules = store.ruleset("cannon")
        piece = rules.pieces[0]
        source = rules.select(piece).sources[0]
        return perfts(rules, Position({source: piece}), 1, None, "displacement")

    compare(filled, reader, "must-deny", ask)


def test_perft_says_where_a_reader_s_moves_were_made(in_postgres: Filled) -> None:
    with Store.open(in_postgres.owner) as store:
        chess = store.ruleset("chess")
        assert chess.perft(chess.position(), 1).engine == "postgres"
    for address in in_postgres.readers.values():
        with Store.open(address) as store:
            chess = store.ruleset("chess")
            assert chess.perft(chess.position(), 1).engine == "sqlite"
            with pytest.raises(StoreError, match="no temporary tables: leave the engine out"):
                chess.perft(chess.position(), 1, engine="postgres")
            with pytest.raises(StoreError, match="no temporary tables: leave the engine out"):
                chess.reached([chess.position()], 1, engine="postgres")


def test_a_reader_sees_all_that_is_stored(filled: Filled, reader: str, tmp_path: Path) -> None:
    def ask(store: Store) -> list[Any]:
        told: list[Any] = [replace(store.info(), address=""), store.upkeep.check(), store.list(), store.revisions()]
        for name in ("cannon", "wide", "gorogoro"):
            rules = store.ruleset(name)
            told += [rules.summary(), rules.piece_summaries(), rules.board, rules.export(), rules.definition]
            told += [rules.select(piece).sources for piece in rules.pieces]
        return told

    assert compare(filled, reader, "stored", ask)[1] == [], "the store is sound"


def test_a_reader_s_tables_of_columns_are_the_owner_s(filled: Filled, reader: str) -> None:
    positions = some_positions()[:4]

    def ask(store: Store) -> list[Any]:
        chess = store.ruleset("chess")
        return [chess.columns.moves(positions).to_pylist(), chess.columns.count(positions, "piece").to_pylist()]

    assert compare(filled, reader, "columns", ask)[0]


# What commands print on a server depends on the answers, which are compared above.
@pytest.mark.parametrize(
    "reader", [pytest.param(name, marks=[pytest.mark.long] * (name != "read-only file")) for name in READERS]
)
def test_every_command_that_reads_prints_for_a_reader_what_it_prints_for_the_owner(
    filled: Filled, reader: str, run: Program, tmp_path: Path
) -> None:
    batch = '{"board": {"e1": "C:+K^", "h1": "C:+R"}}\n{"board": {"e2": "C:P"}}\n'
    many = ("moves", "chess", "--positions", "-")
    commands: list[tuple[str, ...]] = [
        ("list",),
        ("list", "--format", "json"),
        ("show", "chess"),
        ("show", "gorogoro", "--format", "json"),
        ("export", "gorogoro"),
        ("moves", "chess"),
        ("moves", "chess", "--query", "reading", "--format", "csv"),
        ("moves", "wide", "--board", '{"a1": "C:R"}', "--format", "json"),
        many,
        (*many, "--query", "reading"),
        (*many, "--engine", "duckdb"),
        (*many, "--engine", "duckdb", "--count", "piece"),
        ("apply", "chess", "--board", '{"e2": "C:P"}', "--move", "C:P e2 e4"),
        ("perft", "gorogoro", "--depth", "2", "--divide", "--format", "csv"),
    ]
    told = [("moves", "chess", "--explain"), ("moves", "chess", "--explain", "--query", "reading"), ("db", "info")]

    def ask(address: str) -> list[Result]:
        return [run("--db", address, *arguments, stdin=batch) for arguments in commands]

    def compiled(address: str, directory: Path) -> dict[str, bytes]:
        assert run("--db", address, "compile", "gorogoro", "--output", directory).code == 0
        return {path.name: path.read_bytes() for path in directory.iterdir()}

    if "commands" not in filled.answers:
        filled.answers["commands"] = ask(filled.owner), compiled(filled.owner, tmp_path / "compiled")
    expected, files = filled.answers["commands"]
    assert [result.code for result in expected] == [0] * len(commands)
    address = filled.readers[reader]
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        with as_nobody(reader):
            assert ask(address) == expected
            for arguments in told:
                result = run("--db", address, *arguments)
                assert (result.code, result.err) == (0, "")
            assert compiled(address, Path(name) / "compiled") == files


def test_a_reader_who_writes_is_told_why_it_cannot_be(filled: Filled, reader: str) -> None:
    with as_nobody(reader), Store.open(filled.readers[reader]) as store:
        before = store.list()
        writes: list[Callable[[], object]] = [
            lambda: store.load({"C:P": {"e2": {"e3": [{"diff": {}}]}}}, "new"),
            lambda: store.delete("chess"),
            store.upkeep.rebuild,
        ]
        for write in writes:
            with pytest.raises(StoreError, match=r"read-only|may not do that"):
                write()
        assert store.list() == before
