"""Engines that read the compiled files answer the statement that is printed for them as the store does."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given

from ggn_store import GgnStoreError, Position, Ruleset, Store, parse, ruleset
from ggn_store.cli import export
from ggn_store.model.documents.document import Envelope
from tests.oracles import reference
from tests.support import long_ray
from tests.support.games import Games
from tests.support.positions import played
from tests.support.program import Program
from tests.support.strategies import DIALECTS, Case, cases
from tests.support.unhurried import unhurried

parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("duckdb")

from ggn_store.columnar import sql  # noqa: E402

ROOT = Path(__file__).parents[2]

Rows = Sequence[tuple[int, int]]
Ask = Callable[[Sequence[str], str], Rows]


def duckdb(tables: Sequence[str], question: str) -> Rows:
    with pytest.importorskip("duckdb").connect() as connection:
        for table in tables:
            connection.execute(table)
        found: Rows = connection.execute(question).fetchall()
        return found


def datafusion(tables: Sequence[str], question: str) -> Rows:
    context = pytest.importorskip("datafusion").SessionContext()
    for table in tables:
        context.sql(table)
    return rows(context.sql(question).to_arrow_table())


def polars(tables: Sequence[str], question: str) -> Rows:
    context = pytest.importorskip("polars").SQLContext()
    for table in tables:
        context.execute(table)
    found: Rows = context.execute(question, eager=True).rows()
    return found


@functools.cache
def chdb_session() -> Any:
    return pytest.importorskip("chdb.session").Session()


def clickhouse(tables: Sequence[str], question: str) -> Rows:
    session = chdb_session()
    for table in tables:
        session.query(table.replace("CREATE", "CREATE OR REPLACE", 1))
    return [tuple(json.loads(line)) for line in session.query(question, "JSONCompactEachRow").data().splitlines()]


def spark(tables: Sequence[str], question: str) -> Rows:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    session = builder.config("spark.ui.enabled", "false").getOrCreate().newSession()
    for table in tables:
        session.sql(table)
    return rows(session.sql(question).toArrow())


def rows(table: Any) -> Rows:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


# Engines, with the dialect that each is asked in.
ENGINES: Mapping[str, tuple[str, Ask]] = {
    "duckdb": ("duckdb", duckdb),
    "duckdb, as polars": ("polars", duckdb),
    "datafusion": ("datafusion", datafusion),
    "polars": ("polars", polars),
    "clickhouse": ("clickhouse", clickhouse),
}


class Question:
    """Positions that are compiled with their ruleset into a directory, and the moves that they have."""

    def __init__(self, rules: Ruleset, positions: Sequence[Position], expected: list[list[reference.Key]]) -> None:
        self._directory = TemporaryDirectory()
        self._made = Path(self._directory.name, "made")
        file = Path(self._directory.name, "positions.ndjson")
        lines = [json.dumps(position.data() | {"state": position.state or {}}) for position in positions]
        file.write_text("\n".join(lines), encoding="utf-8")
        rules.columns.compile(self._made, str(file))
        self._rules = rules
        self._expected = expected

    def require_answer(self, dialect: str, ask: Ask) -> None:
        """Make the tables as the comment above the statement says, and ask."""
        text = self._rules.columns.sql(dialect)
        found: list[list[reference.Key]] = [[] for _ in self._expected]
        named = parquet.read_table(self._made / "possibility.parquet").to_pylist()
        for at, possibility in sorted(ask(tables_of(text, self._made), text)):
            move = named[possibility]
            found[at].append((move["piece"], move["source"], move["destination"], move["ordinal"]))
        assert found == self._expected

    def close(self) -> None:
        self._directory.cleanup()


def tables_of(text: str, directory: Path) -> list[str]:
    """The statements in the comment that make tables of the files of a directory."""
    found = [line for line in text.splitlines() if line.startswith("-- CREATE ")]
    return [line.removeprefix("-- ").removesuffix(";").replace("DIRECTORY", str(directory)) for line in found]


def of_the_store(rules: Ruleset, positions: Sequence[Position]) -> Question:
    found = rules.moves_batch(positions, query="fast")
    keys = [[(move.piece, move.source, move.destination, move.ordinal) for move in moves] for moves in found]
    return Question(rules, positions, keys)


def require_answers(subtests: pytest.Subtests, questions: Sequence[Question]) -> None:
    """Every engine that is installed answers; what is compiled is compiled once for all of them."""
    for name, (dialect, ask) in ENGINES.items():
        with subtests.test(name):
            for question in questions:
                question.require_answer(dialect, ask)
    for question in questions:
        question.close()


@pytest.mark.parametrize("name", ["chess", "dobutsu", "minixiangqi"])
def test_games_are_answered_as_by_the_store(sqlite_games: Games, name: str, subtests: pytest.Subtests) -> None:
    rules = sqlite_games[name]
    require_answers(subtests, [of_the_store(rules, played(rules, 20, 1))])


def test_state_variables_of_a_description_are_part_of_what_is_asked(subtests: pytest.Subtests) -> None:
    with Store.open("sqlite://") as store:
        store.load(ROOT / "data" / "gdl" / "contraband.json", "contraband")
        rules = store.ruleset("contraband")
        positions = played(rules, 40, 1)
        assert len({json.dumps(position.state) for position in positions}) > 3
        require_answers(subtests, [of_the_store(rules, positions)])


def test_a_word_may_have_63_bits_and_a_board_many_words(subtests: pytest.Subtests) -> None:
    document, boards = long_ray.DOCUMENT, long_ray.boards(("c:r", "c:p", "C:P"))
    with Store.open("sqlite://") as store:
        store.load(dataclasses.replace(parse(document), envelope=Envelope(board="200x2")), "long")
        rules = store.ruleset("long")
        tables = rules.columns.compiled.tables
        assert max(lane["target"].bit_length() for lane in tables["lane"].to_pylist()) == 63
        assert min(tables["part"]["salt"].to_pylist()) < 0
        assert tables["alternative"].num_rows > 0
        expected = [reference.moves(document, board, None, "first") for board in boards]
        require_answers(subtests, [Question(rules, list(map(Position, boards)), expected)])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_random_documents_are_answered_as_by_plain_python(dialect: str, subtests: pytest.Subtests) -> None:
    questions: list[Question] = []

    @unhurried(4)
    @given(case=cases(dialect, 6))
    def draw(case: Case) -> None:
        rules = ruleset(case.document)
        states = case.states if rules.variables else [None] * len(case.positions)
        positions = [Position(*each, state=state) for each, state in zip(case.positions, states, strict=True)]
        expected = [
            reference.moves(reference.in_state(case.document, state), *each)
            for each, state in zip(case.positions, case.states, strict=True)
        ]
        questions.append(Question(rules, positions, expected))

    draw()
    require_answers(subtests, questions)


@pytest.mark.long
def test_spark_answers_as_the_store(sqlite_games: Games) -> None:
    pytest.importorskip("pyspark")
    rules = sqlite_games["dobutsu"]
    question = of_the_store(rules, played(rules, 20, 1))
    question.require_answer("spark", spark)
    question.close()


def test_polars_and_datafusion_are_asked_the_same() -> None:
    columns = ruleset(SMALL).columns
    one, other = (columns.sql(engine).partition("\nSELECT")[2] for engine in ("polars", "datafusion"))
    assert one == other
    assert "xor" not in one


# --- positions and the command line ---

SMALL = {"C:P": {"a1": {"a2": [{"must": {"a2": "empty"}}]}, "*": {"b2": [{"must": {"b2": "empty"}}]}}}


@pytest.fixture
def small(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with a small ruleset, and a file of positions beside it."""
    monkeypatch.chdir(tmp_path)
    with Store.open(address) as opened:
        opened.load(SMALL, "small")
    Path("positions.ndjson").write_text('"1P/P1 / C/c"\n\n{"board": {"a1": "C:P"}, "hands": {"C:P": 1}}\n"2/2 / c/C"\n')
    Path("wrong.ndjson").write_text('"1P/P1 / C/c"\n"2/x / C/c"\n')
    Path("none.ndjson").write_text("")
    return address


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    return Program(capfd, monkeypatch)


@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_positions_are_numbered_from_0_through_the_whole_file(
    run: Program, small: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ggn_store.api.moves.columns._CHUNK", chunk)
    done = run("--db", small, "compile", "small", "--positions", "positions.ndjson", "-o", "made", "--sql", "duckdb")
    assert (done.code, done.err) == (0, "small@1: 2 possibilities compiled to made\n")
    assert sorted(duckdb(tables_of(done.out, Path("made")), done.out)) == [(0, 0), (1, 0), (1, 1)]
    counts = json.loads(Path("made", "metadata.json").read_text())["rows"]
    assert counts["moving"] == parquet.read_table("made/moving.parquet").num_rows == 3


def test_a_file_without_positions_makes_tables_without_rows(run: Program, small: str) -> None:
    assert run("--db", small, "compile", "small", "--positions", "none.ndjson", "-o", "made").code == 0
    moving = parquet.read_table("made/moving.parquet")
    assert moving.num_rows == 0
    assert moving.column_names == ["position", "lane", "word"]


def test_a_wrong_position_is_told_and_leaves_no_file(run: Program, small: str) -> None:
    done = run("--db", small, "compile", "small", "--positions", "wrong.ndjson", "-o", "made")
    assert (done.code, done.out) == (1, "")
    assert 'wrong.ndjson:2: "2/x" is not FEEN' in done.err
    assert not Path("made").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Missing option '-o'"),
        (["--positions", "positions.ndjson", "--sql", "duckdb"], "name a directory for them with -o"),
        (["--sql", "oracle"], "'oracle' is not one of"),
    ],
)
def test_what_is_asked_wrongly_is_told(run: Program, small: str, words: list[str], told: str) -> None:
    done = run("--db", small, "compile", "small", *words)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


@pytest.mark.parametrize("engine", export._ENGINES)
def test_the_command_line_prints_what_python_gives(run: Program, small: str, engine: str) -> None:
    done = run("--db", small, "compile", "small", "--sql", engine)
    with Store.open(small) as opened:
        assert (done.code, done.out, done.err) == (0, opened.ruleset("small").columns.sql(engine), "")


def test_every_dialect_has_its_name_on_the_command_line() -> None:
    assert list(export._ENGINES) == list(sql.DIALECTS)
    with pytest.raises(GgnStoreError, match=r'"oracle" is not an engine.*duckdb, spark, datafusion'):
        ruleset(SMALL).columns.sql("oracle")
