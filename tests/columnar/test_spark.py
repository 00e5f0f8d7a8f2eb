"""Spark's executors give the answers of the store about DataFrames and files of positions."""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ggn_store import (
    GgnStoreError,
    MoveError,
    Position,
    PositionError,
    Ruleset,
    Store,
    StoreError,
    guides,
    parse,
    ruleset,
)
from ggn_store.api.loading.private import of_document
from ggn_store.columnar import spark, spark_files, spark_worker
from ggn_store.model.moves import play_text
from ggn_store.model.moves.move import Count
from ggn_store.model.moves.play import Duty, Play
from tests.oracles import reference
from tests.support import spark_cluster
from tests.support.games import Games
from tests.support.guides import blocks
from tests.support.positions import played
from tests.support.program import Program

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("there is no Java", allow_module_level=True)

# Of pandas, which nothing here asks for.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")

NAMES = ("piece", "source", "destination", "ordinal")
STYLED = {"C:P": {"a1": {"a2": [{"must": {"a2": "empty"}}]}, "*": {"b2": [{"must": {"b2": "empty"}}]}}}
STATED = {
    "$state": {"gate": {"values": ["open", "shut"], "initial": "shut"}},
    "C:R": {
        "a1": {
            "a2": [{"when": {"gate": ["open"]}, "diff": {"board": {"a1": None, "a2": "C:R"}}}],
            "b1": [{"must": {"b1": "enemy"}, "diff": {"board": {"a1": None, "b1": "C:R"}}}],
        },
        "*": {"b2": [{"must": {"b2": "empty"}, "diff": {"board": {"b2": "C:R"}, "hands": {"C:R": -1}}}]},
    },
}


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """A session on two processors of this machine."""
    sql: Any = pytest.importorskip("pyspark.sql")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in spark_cluster.ENVIRONMENT.items():
            patch.setenv(name, value)
        builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        settings = {"spark.sql.shuffle.partitions": "2", "spark.ui.showConsoleProgress": "false"}
        for name, value in settings.items():
            builder = builder.config(name, value)
        running = builder.getOrCreate()
        running.sparkContext.setLogLevel("OFF")
        yield running
        running.stop()


def key(row: Any) -> reference.Key:
    return tuple(row[name] for name in NAMES)


def by_position(rows: list[Any], name: str = "position") -> dict[Any, list[reference.Key]]:
    """The moves of each position in order; those of which there is an error are left out."""
    found: dict[Any, list[reference.Key]] = {}
    for row in rows:
        if row.error is None:
            found.setdefault(row[name], []).append(key(row))
    return found


def expected(rules: Ruleset, positions: list[Position], legal: bool = False) -> dict[int, list[reference.Key]]:
    """The moves of the positions that have some, by the store."""
    batch = rules.moves_batch(positions, query="fast", legal=legal)
    return {
        at: [(m.piece, m.source, m.destination, m.ordinal) for m in moves] for at, moves in enumerate(batch) if moves
    }


@pytest.mark.parametrize("legal", [False, True], ids=["moves", "legal moves"])
def test_moves_of_feen_texts_are_the_store_s_beside_the_caller_s_columns(
    session: Any, games: Games, legal: bool
) -> None:
    rules = games["minishogi"]
    positions = played(rules, 120, 5)
    when = datetime.datetime(2024, 2, 29, 12, 30, 1, 999)
    rows: list[Any] = [(at, position.to_feen((5, 5)), when, {"n": [at]}) for at, position in enumerate(positions)]
    bad = {-1: "5/5/5/5", -2: None, -3: "5k^/6/6/6/6 / S/s"}
    rows += [(at, text, when, None) for at, text in bad.items()]
    frame = session.createDataFrame(
        rows, "position long, feen string, `when it was` timestamp, more map<string,array<int>>"
    )
    asked = rules.spark(session)
    found = (asked.legal_moves if legal else asked.moves)(frame)
    assert found.columns == [*frame.columns, *NAMES, "error"]
    collected = found.collect()
    assert by_position(collected) == expected(rules, positions, legal)
    assert {row["when it was"] for row in collected} == {when}
    assert all(
        row.more == {"n": [row.position]} and row.feen == rows[row.position][1] for row in collected if not row.error
    )
    errors: dict[int, Any] = {row.position: (row.error, key(row)) for row in collected if row.error}
    assert {at: moved for at, (_, moved) in errors.items()} == dict.fromkeys(bad, (None,) * 4)
    for at, told in (
        (-1, "is not FEEN"),
        (-2, "null is not a position"),
        (-3, "a board of 6x5, and that of minishogi@1 is 5x5"),
    ):
        assert told in errors[at][0]


def test_counts_are_the_store_s(session: Any, sqlite_games: Games) -> None:
    rules = sqlite_games["minishogi"]
    positions = played(rules, 60, 6)
    rows = [(at, position.to_feen((5, 5))) for at, position in enumerate(positions)]
    frame = session.createDataFrame([*rows, (-1, "x"), (-2, "x")], "position long, feen string")
    moves = expected(rules, positions, legal=True)
    asked = rules.spark(session)
    found = asked.counts(frame, legal=True).collect()
    counts = {at: len(moves.get(at, ())) for at in range(len(positions))}
    assert {row.position: row["count"] for row in found} == counts | {-1: None, -2: None}
    assert {row.position for row in found if row.error} == {-1, -2}
    by: Count
    for by, at in (("piece", 0), ("destination", 2)):
        found = asked.counts(frame, by, legal=True).collect()
        assert {row[by]: row["count"] for row in found if not row.error} == Counter(
            move[at] for each in moves.values() for move in each
        )
        assert [(row[by], row["count"]) for row in found if row.error] == [(None, None)]


def test_rows_of_pieces_are_gathered_with_hands_and_states(session: Any) -> None:
    rules = ruleset(STATED)
    given = {
        "open": Position({"a1": "C:R", "b1": "c:r"}, {"C:R": 1}, state={"gate": "open"}),
        "shut": Position({"a1": "C:R", "b1": "c:r"}, {}),
        "empty": Position({}, {"C:R": 2}),
        "other": Position({"a1": "C:R"}, {}, "second"),
    }
    pieces: list[tuple[str | None, ...]] = [
        (name, square, piece, f"of {name}") for name, p in given.items() for square, piece in p.board.items()
    ]
    pieces += [("twice", "a1", "C:R", None), ("twice", "a1", "c:r", "of twice"), (None, "a1", "C:R", None)]
    pieces += [("sideless", "a1", "C:R", None), ("wrong", "a1", "R", None), ("counted", "a1", "C:R", None)]
    sides = [
        *((name, p.side) for name, p in given.items()),
        *((name, "first") for name in ("twice", "wrong", "counted")),
    ]
    hands = [(name, piece, str(n)) for name, p in given.items() for piece, n in (p.hands or {}).items()]
    beside = {
        "sides": session.createDataFrame(sides, "position string, side string"),
        "hands": session.createDataFrame(
            [*hands, ("counted", "C:R", "two")], "position string, piece string, count string"
        ),
        "states": session.createDataFrame([("open", "gate", "open")], "position string, variable string, value string"),
    }
    frame = session.createDataFrame(pieces, "position string, square string, piece string, note string")
    asked = rules.spark(session)
    found = asked.moves(frame, **beside).collect()
    batch = rules.moves_batch([*given.values()], query="fast")
    moves = {
        name: [(m.piece, m.source, m.destination, m.ordinal) for m in each]
        for name, each in zip(given, batch, strict=True)
    }
    assert by_position(found) == {name: each for name, each in moves.items() if each}
    assert {row.position: row.note for row in found if row.error is None} == {
        "open": "of open",
        "shut": "of shut",
        "empty": None,
    }
    told = {row.position: row.error for row in found if row.error}
    assert {name: re.split(":| such as", str(error))[0] for name, error in told.items()} == {
        "twice": "two pieces stand on one square",
        None: "the column position is null, which is not the name of a position",
        "sideless": "the sides do not have every position",
        "wrong": '"R" is not a piece identifier',
        "counted": "the hands have no count in some rows",
    }
    counts = {row.position: row["count"] for row in asked.counts(frame.where("note LIKE 'of %'")).collect()}
    # Nothing is known of hands then, and the first side moves everywhere.
    assert counts == {"open": 2, "shut": 2, "other": 1, "twice": 1}


def test_nothing_is_asked_before_an_answer_is_wanted(session: Any) -> None:
    context = session.sparkContext
    context.setJobGroup("lazily", "nothing")
    try:
        frame = session.createDataFrame([("1P/P1 / C/c",)], "feen string")
        asked = ruleset(STYLED).spark(session)
        asked.moves(frame)
        asked.counts(frame, "piece")
        assert [*context.statusTracker().getJobIdsForGroup("lazily")] == []
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)


def test_what_is_asked_wrongly_is_told_at_once(session: Any) -> None:
    asked = ruleset(STYLED).spark(session)
    feen = session.createDataFrame([("1P/P1 / C/c", 1)], "feen string, piece int")
    rows = session.createDataFrame([(1, "a1")], "position int, square string")
    pieces = session.createDataFrame([(1, "a1", "C:P")], "position int, square string, piece string")
    wrongs: list[tuple[Callable[[], object], str]] = [
        (lambda: asked.moves(rows), "the positions have no column piece: they need a column feen, or position, square"),
        (lambda: asked.moves(feen), "the positions have a column piece twice, or beside the answer's own"),
        (lambda: asked.counts(feen.selectExpr("feen", "1 AS Count")), "have a column Count twice"),
        (lambda: asked.moves(feen.selectExpr("piece AS feen")), "the column feen has to hold texts, not int"),
        (lambda: asked.counts(feen, sides=rows), "sides: go with rows of pieces"),
        (lambda: asked.moves(pieces, sides=rows), "the sides have no column side"),
    ]
    for wrong, told in wrongs:
        with pytest.raises(PositionError, match=re.escape(told)):
            wrong()
    with pytest.raises(MoveError, match="counted by position, piece, destination"):
        asked.counts(feen, "square")  # type: ignore[arg-type]


def test_duties_that_columns_cannot_judge_are_refused_by_name(session: Any) -> None:
    document = parse({"C:M": {"a1": {"a2": [{"diff": {"board": {"a1": "c:m", "a2": "C:M"}}}]}}})
    declared = play_text.text(Play((Duty("royal-safety"),)))
    rules = of_document(replace(document, envelope=replace(document.envelope, play=declared)))
    frame = session.createDataFrame([("1/M / C/c",)], "feen string")
    with pytest.raises(StoreError, match=r"columns cannot judge its duties \(royal-safety"):
        rules.spark(session).legal_moves(frame)


def test_chains_without_end_are_errors_of_their_positions(session: Any) -> None:
    def hop(source: str, to: str) -> Any:
        diff = {"board": {source: None, to: "H:P"}, "hands": {"H:N": 1}}
        return {to: [{"action": {"name": "hop", "chainable": True}, "diff": diff}]}

    document = parse({"H:P": {"a1": hop("a1", "b1"), "b1": hop("b1", "a1")}, "H:N": {"a2": hop("a2", "b2")}})
    declared = play_text.text(Play((Duty("mandatory-capture"),)))
    rules = of_document(replace(document, envelope=replace(document.envelope, play=declared)))
    frame = session.createDataFrame([(0, "2/P1 / H/h"), (1, "N1/2 / H/h")], "position int, feen string")
    found = rules.spark(session).legal_moves(frame).collect()
    assert by_position(found) == {1: [("H:N", "a2", "b2", 0)]}
    assert [row.position for row in found if row.error and "has more than 100 steps" in row.error] == [0]


def test_perft_is_the_store_s(session: Any, sqlite_games: Games) -> None:
    rules = sqlite_games["minishogi"]
    asked = rules.spark(session)
    depths = (0, 1, 3)
    assert [asked.perft(rules.start, each).count for each in depths] == [
        rules.perft(rules.start, each).count for each in depths
    ]
    with pytest.raises(StoreError, match='has duties, chains or ends, of which the engine "spark" knows nothing'):
        asked.perft(rules.start, 2, legal=True)
    stuck = Position({"a1": "c:k^"}, {})
    assert (asked.perft(stuck, 2).count, asked.perft(stuck, 2).engine) == (0, "spark")
    with pytest.raises(StoreError, match=r'state variables \(gate\), of which the engine "spark" knows nothing'):
        ruleset(STATED).spark(session).perft({"a1": "C:R"}, 2)


def test_the_guide_s_program_answers(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [program] = [block for block in blocks(guides.text("columns")) if block.file == "many.py"]
    monkeypatch.chdir(tmp_path)
    with Store.open("games.db") as store:
        store.load_library("chess")
        start = store.ruleset("chess").start.to_feen((8, 8))
    frame = session.createDataFrame([(7, start), (8, "x")], "id int, feen string")
    frame.write.parquet(str(tmp_path / "games.parquet"))
    # Spark remembers where it was started.
    text = re.sub(r'"((?:games|moves)\.parquet)"', lambda found: repr(str(tmp_path / found[1])), program.text)
    exec(compile(text, "many.py", "exec"), {})
    assert capsys.readouterr().out.endswith("\n8902\n")
    found = session.read.parquet(str(tmp_path / "moves.parquet")).groupBy("id").count().collect()
    assert dict(map(tuple, found)) == {7: 20, 8: 1}


# --- what executors lack ---


def test_an_executor_without_packages_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    cloudpickle: Any = pytest.importorskip("pyspark.cloudpickle")
    packed = spark_worker.pack(ruleset(STYLED).columns.rules())
    sent = spark._sent("answers", packed, spark_worker.pack(spark_worker.SparkQuestion("position", ())))
    program = (
        "import sys, pickle; sys.modules[sys.argv[1]] = None\n"
        "try: pickle.load(sys.stdin.buffer)\n"  # before Spark needs Arrow for what is asked
        "except ImportError as error: print(error)"
    )
    for module in ("ggn_store", "duckdb", "pyarrow"):
        done = subprocess.run(
            [sys.executable, "-c", program, module], input=cloudpickle.dumps(sent), capture_output=True, check=False
        )
        told = done.stdout.decode()
        assert module in told, done.stderr.decode()
        assert "every executor of Spark needs Python 3." in told
        said = (
            f"Job aborted: Task 0 failed 4 times\nTraceback (most recent call last):\n  File x\nImportError: {told}\nat"
        )
        assert str(spark_files._explained(RuntimeError(said))).startswith("Spark's executors cannot answer: ")
    monkeypatch.setattr("ggn_store.__version__", "0.0.1")
    with pytest.raises(ImportError, match=r"ggn_store 0.0.1 is another version on .*pip install 'ggn-store\[spark\]=="):
        [*sent([])]


def test_what_is_no_data_frame_is_told_with_what_to_call(session: Any) -> None:
    asked = ruleset(STYLED).spark(session)
    frame = session.createDataFrame([(0, "a1", "C:P")], "position long, square string, piece string")
    wrong: dict[str, Callable[[], Any]] = {
        'the positions have to be a DataFrame of Spark, found "list"': lambda: asked.moves([1]),
        'the positions have to be a DataFrame of Spark, found "str"': lambda: asked.counts("1/P / C/c"),
        'sides have to be a DataFrame of Spark, found "dict"': lambda: asked.legal_moves(frame, sides={0: "first"}),
    }
    for what, ask in wrong.items():
        with pytest.raises(PositionError, match=f"{what}: make one, .* or call moves_batch"):
            ask()


def test_a_missing_pyspark_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql.functions", None)
    with pytest.raises(GgnStoreError, match=r"needs pyspark.*pip install 'ggn-store\[spark\]'"):
        ruleset(STYLED).spark(None).moves(None)


ERRORS = {
    "Job aborted: ExecutorLostFailure: Command exited with code 137": "memory was too small: give executors more",
    "Python worker exited unexpectedly (crashed)": "spark.executor.memoryOverhead for Python",
    "Total size of serialized results is bigger than spark.driver.maxResultSize": "write large answers with -o",
    "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12": "executors cannot answer: PYTHON",
    "[PATH_NOT_FOUND] Path does not exist: file:/x": "Spark refuses: [PATH_NOT_FOUND]",
}


@pytest.mark.parametrize("said", ERRORS)
def test_errors_of_spark_say_what_to_do(said: str) -> None:
    assert ERRORS[said] in str(spark_files._explained(RuntimeError(said)))
    assert "spark.driver.memory" in str(spark_files._explained(ConnectionRefusedError(111, "refused")))


# --- files ---

LINES = [
    '"1P/P1 / C/c"',
    "",
    '{"board": {"a1": "C:P"}, "hands": {"C:P": 1}}',
    '"2/2 / c/C"',
    '"2/x / C/c"',
    '{"board": 1}',
]
READ = [(0, "C:P", "a1", "a2", 0), (1, "C:P", "a1", "a2", 0), (1, "C:P", "*", "b2", 0)]


@pytest.fixture
def small(tmp_path: Path) -> str:
    """A store with a small ruleset, in the directory for files; Spark knows paths only from where it was started."""
    address = f"sqlite:///{tmp_path}/small.db"
    with Store.open(address) as opened:
        opened.load(STYLED, "small")
    return address


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    return Program(capfd, monkeypatch)


def moved(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return sorted((int(row[name]), *key(row)) for row in rows if not row["error"])


def test_lines_of_positions_are_answered_in_their_order(session: Any, run: Program, small: str, tmp_path: Path) -> None:
    del session
    given = tmp_path / "given.ndjson"
    given.write_text("\n".join(LINES))
    asked = ("--db", small, "moves", "small", "--positions", str(given), "--engine", "spark")
    rows = [json.loads(line) for line in run(*asked).out.splitlines()]
    assert [(row["position"], *key(row)) for row in rows if row["error"] is None] == READ
    errors = {row["position"]: row["error"] for row in rows if row["error"]}
    assert errors.keys() == {3, 4}
    assert ("is not FEEN" in errors[3], "the line: " in errors[4]) == (True, True)
    done = run(*asked, "--count", "piece", "--format", "csv")
    assert done.code == 0
    assert "C:P,3,\n" in done.out


@pytest.mark.parametrize(("given", "made"), [("parquet", "csv"), ("csv", "ndjson"), ("json", "parquet")])
def test_files_of_each_format_are_read_and_written(
    session: Any, run: Program, small: str, tmp_path: Path, given: str, made: str
) -> None:
    texts = ["1P/P1 / C/c", "2/2 / c/C", "2/P1 P/ C/c", "2/x / C/c"]
    frame = session.createDataFrame([*enumerate(texts)], "id int, feen string")
    # A directory whose name says nothing.
    frame.write.format(given).options(header="true").save(f"{tmp_path}/given")
    target = f"{tmp_path}/made.{made}"
    asked = ("--db", small, "moves", "small", "--positions", f"{tmp_path}/given", "--engine", "spark", "-o", target)
    done = run(*asked)
    assert (done.code, done.out) == (0, ""), done.err
    assert done.err.endswith(f"small@1: 4 rows written to {target}, 1 of them an error\n")
    reader = session.read.format(spark_files.FORMATS[made]).options(header="true", inferSchema="true")
    rows = [row.asDict() for row in reader.load(target).collect()]
    assert moved(rows, "id") == [(0, *READ[0][1:]), (2, *READ[2][1:]), (2, *READ[0][1:])]
    assert [(int(row["id"]), row["feen"]) for row in rows if row["error"]] == [(3, texts[3])]
    again = run(*asked)
    assert again.code == 1
    assert "PATH_ALREADY_EXISTS" in again.err
    assert "Traceback" not in again.err


def test_mistakes_on_the_command_line_are_told(session: Any, run: Program, small: str, tmp_path: Path) -> None:
    del session
    there = tmp_path / "there"
    there.mkdir()
    (there / "notes.txt").write_text("x")
    asked = ("--db", small, "moves", "small")
    by_spark = (*asked, "--engine", "spark", "--positions")
    of_there = (*by_spark, str(there))
    for words, code, told in (
        ((*by_spark, f"{tmp_path}/none.csv"), 1, "PATH_NOT_FOUND"),
        (of_there, 1, "there: no file whose name ends with parquet, csv"),
        ((*of_there, "-o", "out.txt"), 1, "out.txt: which format is meant? The name has to end with .parquet"),
        ((*of_there, "--side", "first"), 2, "leave --side out"),
        ((*of_there, "--explain"), 2, "--engine duckdb"),
        ((*of_there, "--piece", "C:P"), 2, "leave --piece out"),
        ((*of_there, "-o", "x.csv", "--format", "csv"), 2, "leave --format out"),
        ((*by_spark, "-"), 2, "reads files that its executors can reach"),
        ((*asked, "-o", "out.csv"), 2, "-o goes with --engine spark"),
        ((*asked, "--engine", "duckdb", "--positions", "x", "--master", "local"), 2, "goes with --engine spark"),
    ):
        done = run(*words)
        assert (done.code, done.out) == (code, ""), done.err
        assert told in done.err
        assert "Traceback" not in done.err


# --- clusters ---


@pytest.mark.long
def test_a_cluster_that_is_not_there_is_told(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/small.db") as store:
        store.load(STYLED, "small")
    (tmp_path / "given.csv").write_text("feen\n1P/P1 / C/c\n")
    done = on_cluster("mesos", tmp_path, "small", "given.csv")
    assert done.returncode == 1
    assert "Spark cannot be started" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_a_cluster_answers_though_a_worker_is_killed(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/small.db") as store:
        store.load_library("minishogi")
        rules = store.ruleset("minishogi")
        texts = [position.to_feen((5, 5)) for position in played(rules, 2_000, 7)] * 10
        (tmp_path / "given").mkdir()
        for part in range(10):
            rows = [f"{at},{text}\n" for at, text in enumerate(texts) if at % 10 == part]
            (tmp_path / "given" / f"{part}.csv").write_text("id,feen\n" + "".join(rows))
        with spark_cluster.cluster(tmp_path) as running:
            process = subprocess.Popen(
                command(running.url, tmp_path, "minishogi", "given", "-o", "made.parquet"),
                cwd=tmp_path,
                env=os.environ | spark_cluster.ENVIRONMENT,
            )
            running.kill(0)
            assert process.wait() == 0
        import pyarrow.parquet as parquet

        found = parquet.read_table(tmp_path / "made.parquet")
        moves = rules.columns.moves(texts)
        for one, other in ((found["id"].cast("int64"), moves["position"]), (found["piece"], moves["piece"])):
            assert Counter(one.to_pylist()) == Counter(other.to_pylist())


@pytest.mark.long
def test_a_cluster_without_executors_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql: Any = pytest.importorskip("pyspark.sql")
    running = sql.SparkSession.getActiveSession()
    if running is not None:
        running.stop()
    for name, value in spark_cluster.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(spark_files, "_PATIENCE", 0)
    with (
        spark_cluster.cluster(tmp_path, workers=0) as started,
        pytest.raises(GgnStoreError, match="has had no executor for"),
        spark_files.session(started.url) as session,
    ):
        session.range(10).repartition(2).count()


def command(master: str, directory: Path, name: str, positions: str, *more: str) -> list[str]:
    words = ["moves", name, "--positions", positions, "--engine", "spark", "--master", master]
    return [sys.executable, "-m", "ggn_store", "--db", f"sqlite:///{directory}/small.db", *words, *more]


def on_cluster(master: str, directory: Path, name: str, positions: str) -> subprocess.CompletedProcess[str]:
    words = command(master, directory, name, positions)
    return subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False)
