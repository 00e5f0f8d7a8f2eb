"""Every format holds the rows of the views as they were at one moment, with their types, in an order."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import text

from ggn_store import Store, StoreError
from ggn_store.api.questions.views import FORMATS, Format, ViewRows
from ggn_store.columnar.vectors import Arrays
from ggn_store.errors import DamagedError
from ggn_store.exports import csv_files, sqlite_file
from ggn_store.exports.sqlite_file import INDEXES
from ggn_store.store.bulk import view_rows
from ggn_store.store.bulk.pieces import Pieces
from ggn_store.store.bulk.vectors import LISTS, Vectors
from ggn_store.store.schema.views import VIEWS, View
from tests.support.databases import new_store_address
from tests.support.exported import LABELS, OF_PLAY, TABLES, Row, expected, fill, in_utc, read, require_equal
from tests.support.guards import drop_guards
from tests.support.program import MINI, Program, child_environment, write
from tests.support.sampled import sampled
from tests.support.views import GAMES

# DuckDB takes as long as the others together.
BOTH = [pytest.param(form, marks=() if form == "duckdb" else pytest.mark.both) for form in FORMATS]
MOST = [form if form != "duckdb" else pytest.param(form, marks=pytest.mark.long) for form in FORMATS]


@pytest.mark.parametrize("form", BOTH)
def test_every_format_holds_the_rows_of_the_views_in_the_order_of_documents(
    filled: Store, tmp_path: Path, form: Format
) -> None:
    made = filled.views.export(tmp_path / "new" / "out", form)
    require_equal(filled, tmp_path / "new" / "out", form)
    assert dict(made.rows) == {
        table.name: len({row[2:] for row in expected(filled, view)} if view.of_pieces else expected(filled, view))
        for view, table in zip(VIEWS, TABLES, strict=True)
    }
    assert min(made.rows.values()) > 0
    assert (made.form, made.revisions) == (form, 7)
    filled.views.export(tmp_path / "all", form, every=True)
    require_equal(filled, tmp_path / "all", form, "_all")
    assert read(form, tmp_path / "all", VIEWS[0]) != read(form, tmp_path / "new" / "out", VIEWS[0])


@pytest.mark.parametrize("form", MOST)
def test_rules_are_written_out_for_each_revision_when_asked(filled: Store, tmp_path: Path, form: Format) -> None:
    made = filled.views.export(tmp_path / "out", form, every=True, expanded=True)
    require_equal(filled, tmp_path / "out", form, "_all", expanded=True)
    assert dict(made.rows) == {view.name: len(expected(filled, view, "_all")) for view in VIEWS}
    filled.views.export(tmp_path / "out", form, force=True)
    require_equal(filled, tmp_path / "out", form)


def engine(form: Format, directory: Path) -> Callable[[str], list[Row]]:
    """What asks an export in SQL."""
    if form == "sqlite":
        lite = sqlite3.connect(f"file:{directory / 'ggn.sqlite'}?mode=ro", uri=True)
        return lambda query: lite.execute(query).fetchall()
    if form == "duckdb":
        duck = duckdb.connect(str(directory / "ggn.duckdb"), read_only=True)
    else:
        duck = duckdb.connect()
        script = (directory / "views.sql").read_text(encoding="utf-8")
        duck.execute(re.sub("'([a-z_]+[.]parquet)'", rf"'{directory}/\1'", script))
    return lambda query: duck.execute(query).fetchall()


@pytest.mark.parametrize("form", ["parquet", "duckdb", "sqlite"])
@pytest.mark.parametrize("expanded", [False, True], ids=["by piece", "expanded"])
def test_engines_know_the_tables_as_the_views(filled: Store, tmp_path: Path, form: Format, expanded: bool) -> None:
    filled.views.export(tmp_path / "out", form, every=True, expanded=expanded)
    ask = engine(form, tmp_path / "out")
    for view in VIEWS:
        if view.of_pieces is not None:
            found = ask(f"SELECT * FROM {view.name}")
            assert sorted(map(repr, found)) == sorted(map(repr, map(tuple, expected_of(form, filled, view)))), view.name
        [[count]] = ask(f"SELECT count(*) FROM {view.name}")
        assert count == len(expected(filled, view, "_all"))


def expected_of(form: Format, store: Store, view: View) -> list[Row]:
    """The rows of a view of rules; SQLite has numbers for booleans."""
    found = expected(store, view, "_all")
    if form != "sqlite":
        return found
    return [tuple(int(value) if isinstance(value, bool) else value for value in row) for row in found]


@pytest.mark.parametrize("form", BOTH)
def test_what_holds_null_and_empty_texts_keeps_them_apart(filled: Store, tmp_path: Path, form: Format) -> None:
    filled.views.export(tmp_path / "out", form)
    history = read(form, tmp_path / "out", VIEWS[-1])
    states = {row[VIEWS[1].names.index("state")] for row in read(form, tmp_path / "out", VIEWS[1])}
    assert states == {"", "+", "-"}
    messages = {(row[0], row[1]): row[VIEWS[-1].names.index("message")] for row in history}
    assert messages["games/diff", 1] is None
    assert messages["games/diff", 2] == '=HYPERLINK("http://x")\n\'two\', "lines"\t,'
    assert messages["hostile", 1] == " "
    labels = {row[VIEWS[2].names.index("source")] for row in read(form, tmp_path / "out", VIEWS[2])}
    assert labels >= set(LABELS)


@pytest.mark.parametrize("form", MOST)
def test_only_named_rulesets_and_revisions_are_exported(filled: Store, tmp_path: Path, form: Format) -> None:
    filled.views.export(tmp_path / "out", form, ["games/diff@1", "a"])
    for view in VIEWS:
        found = {(row[0], row[1]) for row in read(form, tmp_path / "out", view)}
        more = {
            "v_history": {("a", 1), ("games/diff", 2)},
            "v_effects": set[tuple[str, int]](),
        }.get(view.name, {("a", 1)})
        of_others = view.name in ("v_guards", "v_state_effects", *OF_PLAY)
        assert found == (set() if of_others else {("games/diff", 1)} | more), view.name
    filled.views.export(tmp_path / "all", form, "games/diff", every=True)
    assert {(row[0], row[1]) for row in read(form, tmp_path / "all", VIEWS[2])} == {
        ("games/diff", 1),
        ("games/diff", 2),
    }
    filled.views.export(tmp_path / "mixed", form, ["games/diff@1", "a"], every=True)
    assert {(row[0], row[1]) for row in read(form, tmp_path / "mixed", VIEWS[2])} == {("a", 1), ("games/diff", 1)}
    listed = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["revisions"]
    assert [(each["ruleset"], each["revision"]) for each in listed] == [("a", 1), ("games/diff", 1)]
    assert listed[1]["digest"] == filled.ruleset("games/diff@1").revision.digest


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_store_makes_empty_tables(store: Store, tmp_path: Path, form: Format) -> None:
    store.views.export(tmp_path / "out", form)
    for view in VIEWS:
        assert read(form, tmp_path / "out", view) == []


def test_both_databases_give_the_same_bytes(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    texts = {}
    for database in ("sqlite", "postgres"):
        with new_store_address(database, tmp_path, request) as url, Store.open(url) as store:
            fill(store)
            store.views.export(tmp_path / database, "csv", every=True)
            texts[database] = {
                table.name: (tmp_path / database / f"{table.name}.csv").read_bytes() for table in TABLES[1:-1]
            }
    assert texts["sqlite"] == texts["postgres"]
    assert all(text.count(b"\n") > 1 for text in texts["sqlite"].values())


@pytest.mark.both
def test_columns_have_the_types_that_the_views_tell(filled: Store, tmp_path: Path) -> None:
    for form in FORMATS:
        filled.views.export(tmp_path / form, form)
    types = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_(), "time": pa.timestamp("us", "UTC")}
    of_duckdb = {"text": "VARCHAR", "integer": "BIGINT", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
    of_sqlite = {"text": {"text"}, "integer": {"integer"}, "boolean": {"integer"}, "time": {"text"}}
    with (
        duckdb.connect(str(tmp_path / "duckdb" / "ggn.duckdb"), read_only=True) as duck,
        closing(sqlite3.connect(tmp_path / "sqlite" / "ggn.sqlite")) as lite,
    ):
        for table in TABLES:
            schema = pq.read_schema(tmp_path / "parquet" / f"{table.name}.parquet")
            assert [(field.name, field.type) for field in schema] == [(c.name, types[c.type]) for c in table.columns]
            assert [field.metadata[b"description"].decode() for field in schema] == [c.meaning for c in table.columns]
        for view in {*VIEWS, *TABLES}:
            described = duck.execute(
                "SELECT column_name, data_type, comment FROM duckdb_columns() WHERE table_name = ? "
                "ORDER BY column_index",
                [view.name],
            ).fetchall()
            assert described == [(c.name, of_duckdb[c.type], c.meaning) for c in view.columns]
            for column in view.columns:
                found = {row[0] for row in lite.execute(f"SELECT DISTINCT typeof({column.name}) FROM {view.name}")} - {
                    "null"
                }
                assert found <= of_sqlite[column.type]
                assert (
                    f"-- {column.meaning}"
                    in lite.execute("SELECT sql FROM sqlite_master WHERE name = ?", [view.name]).fetchone()[0]
                )


@pytest.mark.parametrize("form", MOST)
def test_times_are_of_utc_wherever_it_is_written(run: Program, form: Format) -> None:
    assert run("--db", "store.db", "load", write("mini.json", MINI)).code == 0
    command = [sys.executable, "-m", "ggn_store", "--db", "store.db", "export", "--format", form, "out"]
    subprocess.run(command, env=child_environment(TZ="Asia/Tokyo"), stderr=subprocess.DEVNULL, check=True)
    with Store.open("store.db") as store:
        require_equal(store, Path("out"), form)


def test_the_directory_says_what_is_in_it(filled: Store, tmp_path: Path) -> None:
    for form in FORMATS:
        made = filled.views.export(tmp_path / form, form)
        said = json.loads((tmp_path / form / "manifest.json").read_text(encoding="utf-8"))
        text = (tmp_path / form / "README.md").read_text(encoding="utf-8")
        assert (said["format"], said["form"]) == ("ggn-store export", form)
        files = {"manifest.json", "README.md", *said["beside"], *(each["file"] for each in said["tables"].values())}
        assert {path.name for path in (tmp_path / form).iterdir()} == files
        assert {name: table["rows"] for name, table in said["tables"].items()} == made.rows
        described = said["tables"] | said["views"]
        assert {*described} == {view.name for view in (*VIEWS, *TABLES)}
        for view in (*VIEWS, *TABLES):
            assert [
                (column["name"], column["type"], column["meaning"]) for column in described[view.name]["columns"]
            ] == [(column.name, column.type, column.meaning) for column in view.columns]
            assert f"## {view.name}\n" in text
            for column in view.columns:
                assert f"| `{column.name}` | {column.type} | {column.meaning} |" in text


@pytest.mark.parametrize("form", FORMATS)
def test_the_python_that_the_directory_shows_runs(
    filled: Store, tmp_path: Path, form: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.views.export(tmp_path / "out", form)
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path / "out")
    [shown] = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    exec(compile(shown, "README.md", "exec"), {})


def test_like_tells_the_sides_apart_in_a_sqlite_file_as_the_directory_says(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.views.export(tmp_path / "out", "sqlite")
    shown = (tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path / "out")
    code: dict[str, Any] = {}
    exec(compile(shown.replace("rules.close()", ""), "README.md", "exec"), code)
    with closing(code["rules"]) as rules:
        query = "SELECT DISTINCT side FROM v_pieces WHERE piece LIKE 'C:%'"
        assert tuple(rules.execute(query)) == filled.sql(query).rows == (("first",),)


# Every label looks like a number, a truth value or a date to what guesses types.
GUESSED = {
    "CHESS:P": {
        "01": {"1": [{"require": {"true": "empty"}, "perform": {"01": None, "1": "CHESS:P", "2020-01-01": None}}]}
    }
}


def test_duckdb_and_pandas_read_csv_as_the_directory_says(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.load(GUESSED, "guessed")
    monkeypatch.chdir(tmp_path)
    for named in (None, "guessed"):  # with others, and where all cells of a column can be guessed
        filled.views.export("out", "csv", named, expanded=True, force=True)
        shown = Path("out/README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
        with contextlib.chdir("out"):
            for view in VIEWS:
                code: dict[str, Any] = {}
                exec(compile(shown.replace('"v_pieces"', repr(view.name)), "README.md", "exec"), code)
                wanted = [row for row in expected(filled, view) if named in (None, row[0])]
                times = [column.type == "time" for column in view.columns]
                assert [
                    tuple(in_utc(value) if t else value for value, t in zip(row, times, strict=True))
                    for row in code["rows"].fetchall()
                ] == wanted
                frame = code["frame"].astype(object)
                assert [
                    tuple(in_utc(value) if t and value else value for value, t in zip(row, times, strict=True))
                    for row in frame.where(frame.notna(), None).itertuples(index=False, name=None)
                ] == [tuple(None if value == "" else value for value in row) for row in wanted]


def test_postgres_reads_csv_as_the_directory_says(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    with new_store_address("postgres", tmp_path, request) as url, Store.open(url) as store:
        fill(store)
        store.views.export(tmp_path / "out", "csv", expanded=True)
        with psycopg.connect(url) as connection:
            for view in VIEWS:
                connection.execute(f"CREATE TABLE c_{view.name} AS SELECT * FROM {view.name} WHERE false".encode())
                with connection.cursor().copy(f"COPY c_{view.name} FROM STDIN CSV HEADER".encode()) as copy:
                    copy.write((tmp_path / "out" / f"{view.name}.csv").read_bytes())
                asked = (
                    f"TABLE c_{view.name} EXCEPT ALL TABLE {view.name}",
                    f"TABLE {view.name} EXCEPT TABLE c_{view.name}",
                )
                for query in asked:
                    assert connection.execute(query.encode()).fetchall() == []
                count = connection.execute(f"SELECT count(*) FROM c_{view.name}".encode()).fetchone()
                assert count == (len(expected(store, view)),)


def test_a_duckdb_file_is_opened_read_only_and_joined(filled: Store, tmp_path: Path) -> None:
    filled.views.export(tmp_path / "out", "duckdb")
    with duckdb.connect(str(tmp_path / "out" / "ggn.duckdb"), read_only=True) as connection:
        found = connection.execute(
            "SELECT m.piece, m.source, c.square FROM v_moves m JOIN v_conditions c "
            "USING (ruleset, revision, piece_id, possibility) WHERE c.polarity = 'deny' AND m.ruleset = 'a'"
        ).fetchall()
        assert found == [("C:P", "a1", "b2")]
        with pytest.raises(duckdb.InvalidInputException):
            connection.execute("DELETE FROM v_pieces")


def test_a_sqlite_file_finds_rows_by_its_indexes(filled: Store, tmp_path: Path) -> None:
    filled.views.export(tmp_path / "out", "sqlite")
    asked = {  # and how many tables each is joined of
        "SELECT * FROM v_moves WHERE ruleset = 'a' AND piece = 'C:P'": 4,
        "SELECT * FROM v_moves WHERE piece = 'C:P' AND source = 'e4'": 4,
        "SELECT * FROM v_conditions WHERE state = 'C:P'": 5,
        "SELECT * FROM v_effects WHERE ruleset = 'a'": 5,
    }
    with closing(sqlite3.connect(tmp_path / "out" / "ggn.sqlite")) as connection:
        for query, count in asked.items():
            details = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
            assert len(details) == count
            assert all(detail.startswith("SEARCH") for detail in details), (query, details)
        joined = "SELECT * FROM v_moves m JOIN v_conditions c USING (piece_id, possibility) WHERE m.possibility = 1"
        details = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {joined}")]
        assert any(detail.startswith("SEARCH") for detail in details)
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
        made = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert len(names) == sum(len(INDEXES[table]) for table in made & {*INDEXES})
        assert {"piece_kept", "rules_kept", "piece_conditions_kept"} < made
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_sets_of_rows_that_a_sqlite_file_has_forgotten_are_kept_again(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    for most in (sqlite_file._MOST, 1):
        monkeypatch.setattr(sqlite_file, "_MOST", most)
        filled.views.export(tmp_path / str(most), "sqlite")
        require_equal(filled, tmp_path / str(most), "sqlite")
        with closing(sqlite3.connect(tmp_path / str(most) / "ggn.sqlite")) as connection:
            sizes += connection.execute("SELECT count(*) FROM piece_conditions_kept").fetchone()
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("kind", [LISTS, Arrays()], ids=["lists", "arrays"])
def test_only_a_few_rows_are_in_memory_at_a_time(filled: Store, kind: Vectors) -> None:
    with filled.session.reading() as connection:
        wanted = view_rows.choose(connection, None, every=True)
        pieces = Pieces(filled.session.database, connection, kind)
        for view in VIEWS:
            if view.of_pieces is None:
                batches = list(view_rows.of_revisions(connection, view, wanted, size=3))
            else:
                batches = [columns for _, columns in view_rows.of_pieces(pieces, [view], wanted, size=3)]
            parts = [list(zip(*(column.plain() for column in columns), strict=True)) for columns in batches]
            assert {len(part) for part in parts} <= {1, 2, 3}
            assert [row for part in parts for row in part] == expected(filled, view, "_all")


def test_texts_that_are_formulas_to_a_spreadsheet_are_told_of(filled: Store, tmp_path: Path) -> None:
    made = filled.views.export(tmp_path / "out", "csv")
    assert {"piece_moves.source", "v_history.message"} <= set(made.formulas)
    # A mark of a piece alone (+, -) is none, and a number below zero is no text.
    assert not {"v_pieces.state", "v_pieces.piece", "piece_effects.delta"} & set(made.formulas)
    assert {row[VIEWS[1].names.index("state")] for row in expected(filled, VIEWS[1])} == {"", "+", "-"}
    assert filled.views.export(tmp_path / "one", "csv", "a").formulas == ()


def test_cells_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch, filled: Store, tmp_path: Path) -> None:
    monkeypatch.setattr(csv_files, "_MOST", 0)
    kept: list[int] = []
    forget = csv_files._Cells.forget

    def looked(cells: csv_files._Cells) -> None:
        forget(cells)
        kept.append(len(cells))

    monkeypatch.setattr(csv_files._Cells, "forget", looked)
    filled.views.export(tmp_path / "out", "csv")
    require_equal(filled, tmp_path / "out", "csv")
    assert set(kept) == {1}


def test_all_views_are_of_one_moment(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with new_store_address("postgres", tmp_path, request) as url, Store.open(url) as store:
        fill(store)
        before = {view.name: expected(store, view) for view in VIEWS}
        turns = 0

        def progress(what: str, done: int, total: int) -> None:
            nonlocal turns
            turns += 1
            if turns == 2:
                with Store.open(url) as other:
                    other.load(GAMES["perform"], "a", author="Bob")
                    other.load(GAMES["perform"], "later", author="Bob")
                    other.delete("B")

        store.views.export(tmp_path / "out", "csv", progress=progress)
        assert {view.name: read("csv", tmp_path / "out", view) for view in VIEWS} == before
        assert expected(store, VIEWS[0]) != before["v_rulesets"]


@pytest.mark.parametrize("form", ["csv", "sqlite"])
def test_without_numpy_an_export_is_the_same(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Format
) -> None:
    monkeypatch.setattr("ggn_store.columnar.vectors.fastest", lambda: LISTS)
    filled.views.export(tmp_path / "out", form, every=True)
    require_equal(filled, tmp_path / "out", form, "_all")


@pytest.mark.both
@pytest.mark.parametrize("kind", [LISTS, Arrays()], ids=["lists", "arrays"])
def test_what_is_written_gives_the_digests_that_were_stored(
    filled: Store, kind: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowly: list[int] = []
    monkeypatch.setattr(
        "ggn_store.store.bulk.pieces.read_piece", lambda connection, piece_id, board: slowly.append(piece_id)
    )
    views = [view for view in VIEWS if view.of_pieces is not None]
    with filled.session.reading() as connection:
        wanted = view_rows.choose(connection, None, every=True)
        pieces = Pieces(filled.session.database, connection, kind)
        for _ in view_rows.of_pieces(pieces, views, wanted, is_checked=True):
            pass
        of_gdl = connection.execute(text("SELECT count(*) FROM piece WHERE dialect = 'gdl'")).scalar_one()
    assert not slowly
    assert of_gdl > 0


@pytest.mark.parametrize(
    "statement",
    sampled(  # each table on every change
        [
            "UPDATE condition SET state = 'enemy' WHERE state = 'empty'",
            "UPDATE condition SET polarity = CASE polarity WHEN 'must' THEN 'deny' ELSE 'must' END",
            "DELETE FROM condition WHERE variant = 1",
            "UPDATE effect SET becomes = 'C:P' WHERE becomes IS NULL",
            "DELETE FROM effect WHERE becomes IS NULL",
            "UPDATE hand_effect SET delta = 3 * delta",
            "UPDATE variant SET toggle = NOT toggle",
            "UPDATE variant SET toggle = NULL",
            "UPDATE destination SET square = square + 1",
            "UPDATE condition SET square = square + 100",
            "UPDATE variant_origin SET step = step + 1",
            "UPDATE variant_origin SET chainable = NOT chainable",
            "UPDATE piece SET digest = digest || '!'",
            "DELETE FROM variant_origin",
            "UPDATE source SET square = NULL WHERE ordinal = 0",
            "UPDATE guard SET value = value || '!'",
            "UPDATE guard SET variable = variable || '!'",
            "DELETE FROM guard",
            "UPDATE state_effect SET variable = variable || '!'",
            "DELETE FROM state_effect",
            "UPDATE hand_effect SET piece = piece || piece",
            "UPDATE variant_origin SET action = action || '!'",
        ],
        one_in=2,
    ),
)
@pytest.mark.parametrize("form", ["parquet", pytest.param("csv", marks=pytest.mark.long)])
def test_nothing_is_written_of_a_store_that_is_damaged(
    filled: Store, tmp_path: Path, statement: str, form: Format
) -> None:
    with filled.session.database.writing() as connection:
        drop_guards(connection)
        assert connection.execute(text(statement)).rowcount > 0
    with pytest.raises(StoreError, match="damaged"):
        filled.views.export(tmp_path / "out", form)
    assert not (tmp_path / "out").exists()


def test_of_pieces_that_are_read_at_once_the_damaged_one_is_named(store: Store) -> None:
    store.load_library("dobutsu")
    pieces = store.ruleset("dobutsu").pieces
    change = text("UPDATE condition SET square = square + :by WHERE piece_id = :id")
    for piece in (pieces[0], pieces[3], pieces[-1]):
        for by in (500, -500):
            with store.session.database.writing() as connection:
                drop_guards(connection)
                query = text("SELECT id FROM piece WHERE identifier = :piece")
                damaged = connection.execute(query, {"piece": piece}).scalar_one()
                connection.execute(change, {"by": by, "id": damaged})
            for ask in (list, ViewRows.to_arrow) if by > 0 else ():
                with pytest.raises(DamagedError, match=f'the piece "{re.escape(piece)}" is damaged'):
                    ask(store.views.rows("v_conditions"))
    assert len(list(store.views.rows("v_conditions"))) > 100


def test_progress_tells_all_parts(filled: Store, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    filled.views.export(tmp_path / "out", "csv", progress=lambda *each: told.append(each))
    names = ["B", "a", "games/diff", "games/gdl", "games/must-deny", "games/perform", "hostile"]
    parts = [f"{view.name} {name}" for view in VIEWS if view.of_pieces is None for name in names]
    parts += [f"rules of {name}" for name in names]
    assert told == [(part, number, len(parts)) for number, part in enumerate(parts)]
