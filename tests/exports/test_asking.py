"""Whoever asks for what is exported: Python, the command line, and other engines."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from ggn_store import InputError, Store, StoreError, UnknownNameError, register_views
from ggn_store.api.questions.views import FORMATS, Format
from ggn_store.store.schema.views import VIEWS
from ggn_store.store.sql.examples import SQL_EXAMPLES
from tests.support.exported import SQUARES, Row, expected, in_utc, read, require_equal
from tests.support.program import MINI, Program, child_environment, on_terminal, write
from tests.support.views import GAMES, played

# --- in Python ---


def test_the_rows_of_a_view_are_python_values_arrow_tables_and_frames(filled: Store) -> None:
    for view in VIEWS:
        for name in filter(None, (view.name, view.every)):
            wanted = expected(filled, view, name.removeprefix(view.name))
            found = filled.views.rows(name)
            assert found.columns == view.names
            assert list(found) == wanted
            assert [tuple(row.values()) for row in found.to_arrow().to_pylist()] == wanted
            batches = pa.Table.from_batches(found.batches())
            assert batches.equals(found.to_arrow())
    frame = filled.views.rows("v_effects", ["games/diff", "a"]).to_pandas()
    assert (str(frame["delta"].dtype), str(frame["possibility"].dtype)) == ("Int64", "Int64")
    assert sorted(frame["delta"].dropna()) == [-1, -1, 1]
    moves = filled.views.rows("v_moves", "a").to_pandas()
    assert str(moves["toggle"].dtype) == "boolean"
    assert moves["toggle"].isna().all()
    assert list(moves["is_drop"]) == [True, False, False]


def test_a_ruleset_gives_the_rows_of_its_own_revision(filled: Store) -> None:
    first, newest = filled.ruleset("games/diff@1"), filled.ruleset("games/diff")
    for ruleset in (first, newest):
        number = ruleset.revision.number
        for view in VIEWS[:-1]:
            wanted = [row for row in expected(filled, view, "_all") if row[:2] == ("games/diff", number)]
            assert list(ruleset.columns.view(view.name)) == list(ruleset.columns.view(f"{view.name}_all")) == wanted
        assert [row[1] for row in ruleset.columns.view("v_history")] == [1, 2]
    assert len(list(first.columns.view("v_pieces"))) == 2
    assert len(list(newest.columns.view("v_pieces"))) == 1


def test_whoever_stops_early_leaves_the_store_free() -> None:
    with Store.open("sqlite://") as store:
        store.load(GAMES["diff"], "game")
        store.load(GAMES["diff"], "other")
        for row in store.views.rows("v_moves"):
            assert row[0] == "game"
            break
        for batch in store.views.rows("v_moves").batches():
            assert batch.num_rows == 6, "those of one of the two"
            break
        assert store.ruleset("game").pieces == ("C:+P^", "c:p'")


def test_a_view_that_is_not_there_is_named(store: Store) -> None:
    with pytest.raises(UnknownNameError, match='there is no view "moves"; there are v_rulesets, v_rulesets_all'):
        store.views.rows("moves")
    with pytest.raises(UnknownNameError, match='the store has no ruleset "nothing"'):
        store.views.rows("v_moves", "nothing").to_arrow()


def test_errors_of_the_store_are_the_store_s(filled: Store, tmp_path: Path) -> None:
    with filled.session.writing() as connection:
        connection.exec_driver_sql("DROP VIEW v_squares_all")
    with pytest.raises(StoreError):
        filled.views.export(tmp_path / "out", "csv")
    assert not (tmp_path / "out").exists()


# --- on the command line ---


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Program:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Program(capfd, monkeypatch)


@pytest.mark.parametrize(
    "form", [form if form != "duckdb" else pytest.param(form, marks=pytest.mark.long) for form in FORMATS]
)
def test_the_command_writes_what_the_python_does(run: Program, filled: Store, address: str, form: Format) -> None:
    done = run("--db", address, "export", "--format", form, "out")
    assert (done.code, done.out) == (0, "")
    first = done.err.splitlines()[0]
    assert first.startswith("out: rows of 7 revisions: 7 of v_rulesets, ")
    assert ("note: a spreadsheet would take texts of " in done.err) == (form == "csv")
    require_equal(filled, Path("out"), form)
    named = ("--ruleset", "a", "--ruleset", "games/diff@1", "--force")
    assert run("--db", address, "export", "--format", form, "out", *named).code == 0
    assert {(row[0], row[1]) for row in read(form, Path("out"), VIEWS[2])} == {("a", 1), ("games/diff", 1)}
    assert run("--db", address, "export", "out2", "--format", form, "--all-revisions").code == 0
    require_equal(filled, Path("out2"), form, "_all")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Missing argument 'RULESET'"),
        (("--format", "csv"), "Missing argument 'DIRECTORY'"),
        (("--format", "xlsx", "out"), "'xlsx' is not one of 'parquet', 'duckdb', 'csv', 'sqlite'"),
        (("mini", "--ruleset", "mini"), "--ruleset goes with --format"),
        (("mini", "--force"), "--force goes with --format"),
        (("mini", "--all-revisions"), "--all-revisions goes with --format"),
        (
            ("mini", "--format", "csv", "-o", "out"),
            "-o goes without --format: write `export --format FORMAT DIRECTORY`",
        ),
        (("mini", "--format", "csv", "--dialect", "diff"), "--dialect goes without --format"),
        (("--format", "csv", "mini", "out"), "Got unexpected extra argument (out)"),
    ],
)
def test_the_two_uses_of_the_command_do_not_mix(run: Program, arguments: tuple[str, ...], said: str) -> None:
    assert run("--db", "store.db", "load", write("mini.json", MINI)).code == 0
    refused = run("--db", "store.db", "export", *arguments)
    assert refused.code == 2
    assert said in refused.err
    assert sorted(path.name for path in Path().iterdir()) == ["mini.json", "store.db"]


def test_a_store_that_is_not_there_is_named_and_nothing_made(run: Program) -> None:
    refused = run("--db", "nothing.db", "export", "--format", "csv", "out")
    assert refused.code == 1
    assert "there is no store here" in refused.err
    assert list(Path().iterdir()) == []


def test_on_a_terminal_there_is_a_bar_without_anything_hostile(run: Program) -> None:
    run("--db", "store.db", "load", write("mini.json", MINI))
    shown = on_terminal("--db", "store.db", "export", "--format", "csv", "out\x1b[2J")
    assert shown.code == 0
    assert "exporting rules of mini" in shown.out
    assert "\x1b[2J" not in shown.out
    assert "out\\x1b[2J: rows of 1 revisions" in shown.out
    assert [path.name for path in Path().iterdir() if path.is_dir()] == ["out\x1b[2J"]


def test_an_interrupt_ends_with_130_and_leaves_nothing(run: Program) -> None:
    run("--db", "store.db", "load", write("mini.json", MINI))
    script = (
        "import os, signal, sys\n"
        "from ggn_store.exports import csv_files\n"
        "from ggn_store.cli import main\n"
        "csv_files.CsvFiles.end = lambda self, view: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv = ['ggn-store', '--db', 'store.db', 'export', '--format', 'csv', 'new/out']\n"
        "main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], env=child_environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert ended.returncode == 130
    assert ended.stderr.strip() == "Error: interrupted; what was being written is undone"
    assert sorted(path.name for path in Path().iterdir()) == ["mini.json", "store.db"]


# --- other engines answer alike ---


def same_in_any_engine(row: Any) -> Row:
    """A row without what databases write in ways of their own: times, truth values, decimal numbers."""

    def plain(value: Any) -> Any:
        if isinstance(value, datetime):
            return str(in_utc(value).replace(tzinfo=None))
        return float(value) if isinstance(value, bool | int | float | Decimal) else value

    return tuple(map(plain, row))


def asked_of(connection: Any) -> Callable[[str, dict[str, str]], list[Row]]:
    """How DuckDB is asked; its values are called $name."""
    return lambda query, values: connection.execute(
        re.sub(r":(piece|source)\b", r"$\1", query), values or None
    ).fetchall()


def require_examples(
    store: Store, *asks: Callable[[str, dict[str, str]], list[Row]], unknown: str | None = None
) -> None:
    """What others find for the examples is what the store finds; the SQL of one may be `unknown`."""
    found = 0
    for example in SQL_EXAMPLES:
        if unknown is not None and unknown in example.query:
            continue
        values = {"piece": "C:N", "source": "a1"} if ":piece" in example.query else {}
        ours = [same_in_any_engine(row) for row in store.sql(example.query, values, timeout=60)]
        assert ours, example.question
        found += len(ours)
        for ask in asks:
            theirs = [same_in_any_engine(row) for row in ask(example.query, values)]
            if "ORDER BY" not in example.query:
                ours, theirs = sorted(ours), sorted(theirs)
            assert ours == theirs, example.question
    assert len(SQL_EXAMPLES) >= 20
    assert found > 200


def exported_games(store: Store, directory: Path, form: Format) -> Path:
    store.load_library("chess", "gardner", "dobutsu", "connect-four", "fox-and-hounds")
    store.load(SQUARES, "squares")
    store.load(GAMES["diff"], "squares")
    store.load(played(), "gdl")
    store.load(store.ruleset("connect-four").document(), "four")  # with the same pieces
    store.views.export(directory / "it's", form)
    return directory / "it's"


def test_duckdb_answers_the_examples_as_the_store_does(store: Store, tmp_path: Path) -> None:
    out = exported_games(store, tmp_path, "duckdb")
    parquet = tmp_path / "parquet"
    store.views.export(parquet, "parquet")
    with (
        closing(duckdb.connect(str(out / "ggn.duckdb"), read_only=True)) as tables,
        closing(duckdb.connect()) as engine,
    ):
        register_views(engine, parquet)
        register_views(engine, f"{parquet}/")
        require_examples(store, asked_of(tables), asked_of(engine))


def test_spark_answers_the_examples_as_the_store_does(tmp_path: Path) -> None:
    spark_sql = pytest.importorskip("pyspark.sql")
    builder = spark_sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    with Store.open(tmp_path / "store.db", upgrade=True) as store:
        register_views(session, exported_games(store, tmp_path, "parquet"))
        require_examples(store, lambda query, values: session.sql(query, values).collect(), unknown="RECURSIVE")
        with pytest.raises(InputError, match=r"nowhere: cannot be read as an export in Parquet: .*PATH_NOT_FOUND"):
            register_views(session, tmp_path / "nowhere")


def test_what_is_no_export_in_parquet_is_not_registered(filled: Store, tmp_path: Path) -> None:
    filled.views.export(tmp_path / "out", "parquet", expanded=True)
    with closing(duckdb.connect()) as engine:
        for place in (tmp_path / "out", tmp_path / "nothing"):
            with pytest.raises(
                InputError, match=r"cannot be read as an export in Parquet: .*No files found.*; write one"
            ):
                register_views(engine, place)
