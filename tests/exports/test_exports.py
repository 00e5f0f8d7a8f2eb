"""Exports: every format holds the rows of the views, with their types; a directory is whole or not there."""

from __future__ import annotations

import functools
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import text

from ggn_store import GgnStoreError, InputError, Store, StoreError, UnknownNameError, register_views
from ggn_store.api.questions.views import FORMATS, Format
from ggn_store.columnar.vectors import Arrays
from ggn_store.exports import csv_files
from ggn_store.exports.sqlite_file import indexes
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema.views import VIEWS, View
from ggn_store.store.sql import view_rows
from ggn_store.store.sql.examples import SQL_EXAMPLES
from ggn_store.store.sql.piece_columns import Pieces
from ggn_store.store.sql.vectors import LISTS, Vectors
from tests.support.databases import new_store_address
from tests.support.guards import drop_guards
from tests.support.program import MINI, Program, child_environment, on_terminal, write
from tests.support.views import GAMES, played, rows

Row = tuple[Any, ...]

LABELS = ('=1+1,"x"', "a\nb", "'; DROP TABLE piece; --", "NULL", " lead", "é\u202e", "\\N", "trail ", "x\ry", "{x}%s:p")
HOSTILE = {
    "CHESS:P": {
        label: {
            LABELS[(number + 3) % len(LABELS)]: [
                {"require": {"NA": "empty"}, "perform": {label: None, "NA": "CHESS:P"}}
            ]
        }
        for number, label in enumerate(LABELS)
    }
}

# By number, b1 comes before a2.
SQUARES = {
    "C:P": {
        "a1": {
            "a2": [
                {
                    "must": {"b1": "empty", "a2": "empty", "b2": "enemy"},
                    "diff": {
                        "board": {"a1": None, "b1": "C:P", "a2": None, "b2": "C:N"},
                        "hands": {"C:P": 1, "C:+P": 2, "C:N": -1},
                    },
                }
            ]
        }
    }
}


def fill(store: Store) -> None:
    """Several revisions, a deleted ruleset, tags, hostile texts, and everything that may be NULL."""
    for dialect, document in GAMES.items():
        store.load(played() if dialect == "gdl" else document, f"games/{dialect}", author="Ann")
    changed = {name: value for name, value in GAMES["diff"].items() if name != "c:p'"}
    store.load(changed, "games/diff", message='=HYPERLINK("http://x")\n\'two\', "lines"\t,')
    store.load(SQUARES, "B")
    store.load(GAMES["must-deny"], "a")
    store.load(HOSTILE, "hostile", author="NULL", message=" ")
    store.load(GAMES["must-deny"], "gone")
    store.delete("gone")
    store.tags.set("games/diff@1", "stable", author="Ann")
    store.tags.set("games/diff@1", "old", author="Ann")


@pytest.fixture
def filled(store: Store) -> Store:
    fill(store)
    return store


# What the rows of these views are ordered by within a revision: those of how a game is played, and others.
OF_PLAY = {
    "v_duties": ("duty", "piece"),
    "v_reverts": ("marked",),
    "v_crossings": ("piece", "source", "destination", "ordinal"),
    "v_outcomes": ("ordinal",),
}
OF_REVISION = OF_PLAY | {"v_squares": ("number",), "v_concepts": ()}


# --- the oracle: a plain query of the view, put in order in Python ---


def in_utc(value: Any) -> Any:
    if value is None:
        return None
    time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def expected(store: Store, view: View, suffix: str = "") -> list[Row]:
    convert: dict[str, Callable[[Any], Any]] = {
        "time": in_utc,
        "boolean": lambda value: None if value is None else bool(value),
    }
    name = view.name if view.every is None else f"{view.name}{suffix}"
    places = {
        (row["ruleset"], row["revision"], row["piece"]): row["ordinal"]
        for row in rows(store, "SELECT ruleset, revision, piece, ordinal FROM v_pieces_all")
    }

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        within: dict[str, Callable[[], tuple[Any, ...]]] = {
            "v_moves": lambda: (),
            "v_conditions": lambda: (row["polarity"] == "deny", row["square"].encode(), row["state"].encode()),
            "v_effects": lambda: (row["kind"] == "hand", (row["square"] or "").encode(), (row["held"] or "").encode()),
        }
        of_state = lambda: (row["variable"].encode(), row["value"].encode())  # noqa: E731
        within |= {"v_guards": of_state, "v_state_effects": of_state}
        if view.name in OF_REVISION:
            return (
                row["ruleset"].encode(),
                row["revision"],
                *("" if row[key] is None else row[key] for key in OF_REVISION[view.name]),
            )
        last = (row["possibility"], *within[view.name]()) if view.name in within else ()
        of_piece = places.get((row["ruleset"], row["revision"], row.get("piece")), 0)
        return (row["ruleset"].encode(), row["revision"], of_piece, *last)

    found = sorted(rows(store, f"SELECT * FROM {name}"), key=place)
    return [tuple(convert.get(c.type, lambda value: value)(row[c.name]) for c in view.columns) for row in found]


# --- readers of the formats ---


def from_parquet(directory: Path, view: View) -> list[Row]:
    return [tuple(row.values()) for row in pq.read_table(directory / f"{view.name}.parquet").to_pylist()]


def from_duckdb(directory: Path, view: View) -> list[Row]:
    with duckdb.connect(str(directory / "ggn.duckdb"), read_only=True) as connection:
        found = connection.execute(f"FROM {view.name}").fetchall()
    times = [column.type == "time" for column in view.columns]
    return [tuple(in_utc(value) if t else value for value, t in zip(row, times, strict=True)) for row in found]


def from_sqlite(directory: Path, view: View) -> list[Row]:
    with closing(sqlite3.connect(f"file:{directory / 'ggn.sqlite'}?mode=ro", uri=True)) as connection:
        found = connection.execute(f"SELECT * FROM {view.name} ORDER BY rowid").fetchall()
    convert: dict[str, Callable[[Any], Any]] = {
        "time": in_utc,
        "boolean": lambda value: {0: False, 1: True, None: None}[value],
    }
    types = [column.type for column in view.columns]
    return [tuple(convert.get(t, lambda v: v)(value) for value, t in zip(row, types, strict=True)) for row in found]


def csv_cells(text: str) -> Iterator[list[str | None]]:
    """The cells of a CSV file by the rules of RFC 4180; None where there is nothing, not even quotes."""
    at, row = 0, list[str | None]()
    while at < len(text):
        if text[at] == '"':
            cell, at = "", at + 1
            while text[at] != '"' or text[at : at + 2] == '""':
                cell, at = cell + text[at], at + (2 if text[at] == '"' else 1)
            at += 1
            row.append(cell)
        else:
            end = min(text.index("\n", at), text.find(",", at) % (len(text) + 1))
            assert not set(text[at:end]) & {'"', "\r"}
            row.append(text[at:end] or None)
            at = end
        if text[at] == "\n":
            yield row
            row = []
        at += 1
        if at and text[at - 1] == "," and text[at : at + 1] == "":
            row.append(None)


def from_csv(directory: Path, view: View) -> list[Row]:
    header, *found = csv_cells((directory / f"{view.name}.csv").read_bytes().decode())
    assert header == list(view.names)
    convert: dict[str, Callable[[str], Any]] = {
        "text": str,
        "integer": int,
        "boolean": lambda value: {"true": True, "false": False}[value],
        "time": lambda value: datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC),
    }
    types = [column.type for column in view.columns]
    return [
        tuple(None if value is None else convert[t](value) for value, t in zip(row, types, strict=True))
        for row in found
    ]


READERS: dict[Format, Callable[[Path, View], list[Row]]] = {
    "parquet": from_parquet,
    "duckdb": from_duckdb,
    "csv": from_csv,
    "sqlite": from_sqlite,
}


TABLES = [view.of_pieces or view for view in VIEWS]


def read(form: Format, directory: Path, view: View) -> list[Row]:
    """The rows of a view, put together in plain Python where they are in a table of pieces."""
    if view.of_pieces is None:
        return READERS[form](directory, view)
    rules: dict[int, list[Row]] = {}
    for row in READERS[form](directory, view.of_pieces):
        rules.setdefault(row[view.names.index("piece_id") - 2], []).append(row)
    listed = READERS[form](directory, VIEWS[1])
    place = VIEWS[1].names.index("piece_id")
    return [(*row[:2], *rule) for row in listed for rule in rules.get(row[place], [])]


def require_equal(store: Store, directory: Path, form: Format, suffix: str = "", *, expanded: bool = False) -> None:
    for view in VIEWS:
        found = (READERS[form] if expanded else functools.partial(read, form))(directory, view)
        wanted = expected(store, view, suffix)
        assert found == wanted, view.name
        assert [list(map(type, row)) for row in found] == [list(map(type, row)) for row in wanted]


# --- what is in the files ---


@pytest.mark.parametrize("form", FORMATS)
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


@pytest.mark.parametrize("form", FORMATS)
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


@pytest.mark.parametrize("form", FORMATS)
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


@pytest.mark.parametrize("form", FORMATS)
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


@pytest.mark.parametrize("form", FORMATS)
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


def test_duckdb_reads_null_and_empty_texts_of_csv_as_the_directory_says(filled: Store, tmp_path: Path) -> None:
    filled.views.export(tmp_path / "out", "csv", expanded=True)
    types = {"text": "VARCHAR", "integer": "BIGINT", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
    for view in VIEWS:
        columns = {column.name: types[column.type] for column in view.columns}
        found = duckdb.sql(
            f"FROM read_csv('{tmp_path / 'out' / view.name}.csv', allow_quoted_nulls = false, quote = '\"', "
            f"escape = '\"', columns = {columns})"
        )
        assert found is not None
        times = [column.type == "time" for column in view.columns]
        assert [
            tuple(in_utc(value) if t else value for value, t in zip(row, times, strict=True))
            for row in found.fetchall()
        ] == expected(filled, view)


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
            connection.execute("DELETE FROM piece_moves")


def test_a_sqlite_file_finds_rows_by_its_indexes(filled: Store, tmp_path: Path) -> None:
    filled.views.export(tmp_path / "out", "sqlite")
    asked = [
        "SELECT * FROM v_moves WHERE ruleset = 'a' AND piece = 'C:P'",
        "SELECT * FROM v_moves WHERE piece = 'C:P' AND source = 'e4'",
        "SELECT * FROM v_conditions WHERE state = 'C:P'",
        "SELECT * FROM v_effects WHERE ruleset = 'a'",
    ]
    with closing(sqlite3.connect(tmp_path / "out" / "ggn.sqlite")) as connection:
        for query in asked:
            details = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
            assert len(details) == 2
            assert all(detail.startswith("SEARCH") for detail in details), (query, details)
        joined = "SELECT * FROM v_moves m JOIN v_conditions c USING (piece_id, possibility) WHERE m.possibility = 1"
        details = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {joined}")]
        assert any(detail.startswith("SEARCH") for detail in details)
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
        assert len(names) == sum(len(indexes(table)) for table in TABLES)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


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


# --- one moment ---


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


@pytest.mark.parametrize("kind", [LISTS, Arrays()], ids=["lists", "arrays"])
def test_what_is_written_gives_the_digests_that_were_stored(
    filled: Store, kind: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowly: list[int] = []
    monkeypatch.setattr(catalog, "read_piece", lambda connection, piece_id, board: slowly.append(piece_id))
    views = [view for view in VIEWS if view.of_pieces is not None]
    with filled.session.reading() as connection:
        wanted = view_rows.choose(connection, None, every=True)
        pieces = Pieces(filled.session.database, connection, kind)
        for _ in view_rows.of_pieces(pieces, views, wanted, is_checked=True):
            pass
        of_gdl = connection.execute(text("SELECT count(*) FROM piece WHERE dialect = 'gdl'")).scalar_one()
    assert len(slowly) == of_gdl > 0


@pytest.mark.parametrize(
    "statement",
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
        "UPDATE source SET square = NULL WHERE ordinal = 0",
        "UPDATE variant_origin SET step = step + 1",
        "UPDATE condition SET square = square + 100",
        "UPDATE guard SET value = value || '!'",
        "UPDATE state_effect SET variable = variable || '!'",
        "UPDATE hand_effect SET piece = piece || piece",
        "UPDATE piece SET digest = digest || '!'",
    ],
)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_nothing_is_written_of_a_store_that_is_damaged(
    filled: Store, tmp_path: Path, statement: str, form: Format
) -> None:
    with filled.session.database.writing() as connection:
        drop_guards(connection)
        assert connection.execute(text(statement)).rowcount > 0
    with pytest.raises(StoreError, match="damaged"):
        filled.views.export(tmp_path / "out", form)
    assert not (tmp_path / "out").exists()


def test_progress_tells_all_parts(filled: Store, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    filled.views.export(tmp_path / "out", "csv", progress=lambda *each: told.append(each))
    names = ["B", "a", "games/diff", "games/gdl", "games/must-deny", "games/perform", "hostile"]
    parts = [f"{view.name} {name}" for view in VIEWS if view.of_pieces is None for name in names]
    parts += [f"rules of {name}" for name in names]
    assert told == [(part, number, len(parts)) for number, part in enumerate(parts)]


# --- whole or not there ---


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_that_is_interrupted_leaves_nothing_or_the_older_one(
    filled: Store, tmp_path: Path, form: Format
) -> None:
    class Enough(BaseException):
        pass

    def progress(what: str, done: int, total: int) -> None:
        if done == total - 8:
            raise Enough

    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(Enough):
        filled.views.export(place / "new" / "out", form, progress=progress)
    assert list(place.iterdir()) == []
    filled.views.export(place / "out", form, "a")
    before = contents(place)
    with pytest.raises(Enough):
        filled.views.export(place / "out", form, force=True, progress=progress)
    assert contents(place) == before
    assert sorted(path.name for path in place.iterdir()) == ["out"]
    assert filled.list()  # which still answers


def test_only_an_older_export_is_replaced(filled: Store, tmp_path: Path) -> None:
    out = tmp_path / "place" / "out"
    filled.views.export(out, "csv", "a")
    with pytest.raises(InputError, match="there is something already: name a new directory, or replace"):
        filled.views.export(out, "csv")
    filled.views.export(out, "parquet", force=True)
    require_equal(filled, out, "parquet")
    (out / "notebook.ipynb").write_text("mine", encoding="utf-8")
    before = contents(out)
    with pytest.raises(InputError, match=r"notebook\.ipynb in it is not of an export"):
        filled.views.export(out, "csv", force=True)
    assert contents(out) == before
    home = tmp_path / "home"
    home.mkdir()
    (home / "letter").write_text("dear", encoding="utf-8")
    with pytest.raises(InputError, match="letter in it is not of an export"):
        filled.views.export(home, "csv", force=True)
    # A manifest that lists somebody's file makes no export of it.
    (home / "manifest.json").write_text('{"format": "else", "tables": {"v": {"file": "letter"}}}', encoding="utf-8")
    with pytest.raises(InputError, match="letter in it is not of an export"):
        filled.views.export(home, "csv", force=True)
    forged = {"format": "ggn-store export", "beside": ["letter", 3], "tables": {"w": {"file": "../out"}}}
    others = ("[]", "{", '"x"', '{"format": "ggn-store export", "beside": [], "tables": 3}', "[" * 5000)
    for said in (json.dumps(forged), json.dumps(forged | {"beside": 3}), *others):
        (home / "manifest.json").write_text(said, encoding="utf-8")
        with pytest.raises(InputError, match="is not of an export"):
            filled.views.export(home, "csv", force=True)
    assert (home / "letter").read_text(encoding="utf-8") == "dear"
    (out / "notebook.ipynb").unlink()
    (out / "piece_moves.parquet").unlink()
    (out / "piece_moves.parquet").mkdir()
    with pytest.raises(InputError, match=r"piece_moves\.parquet in it is not of an export"):
        filled.views.export(out, "csv", force=True)
    (out / "piece_moves.parquet").rmdir()
    filled.views.export(out, "csv", force=True)
    require_equal(filled, out, "csv")
    assert sorted(path.name for path in (tmp_path / "place").iterdir()) == ["out"]


def test_a_directory_that_cannot_be_put_in_place_leaves_the_older_one(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.views.export(tmp_path / "place" / "out", "csv", "a")
    before = contents(tmp_path / "place")
    rename = Path.rename

    def fails(path: Path, target: Path) -> Path:
        if path.suffix == ".part":
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(InputError, match="cannot be written: Permission denied"):
        filled.views.export(tmp_path / "place" / "out", "csv", force=True)
    assert contents(tmp_path / "place") == before


def test_an_empty_directory_is_taken_and_a_link_stays_one(filled: Store, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    for form in ("csv", "sqlite"):
        filled.views.export(tmp_path / "link", form, force=True)
        assert (tmp_path / "link").readlink() == Path("disk")
        require_equal(filled, tmp_path / "disk", form)


def test_what_cannot_be_a_directory_is_refused(filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for directory, said in (
        (tmp_path / "file", "this is a file"),
        (tmp_path / "file" / "below", "cannot be written: "),
        (tmp_path / "here", "this is where you are"),
        (".", "this is where you are"),
    ):
        with pytest.raises(InputError, match=said):
            filled.views.export(directory, "csv", force=True)
    with pytest.raises(InputError, match='"xlsx" is not a format: parquet, duckdb, csv, sqlite'):
        filled.views.export("out", "xlsx")  # type: ignore[arg-type]
    for name in ("nothing", "a@7", "gone"):
        with pytest.raises(UnknownNameError):
            filled.views.export("out", "csv", name)
    assert list((tmp_path / "here").iterdir()) == []


def test_what_appears_meanwhile_is_not_replaced(filled: Store, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def progress(what: str, done: int, total: int) -> None:
        if done == 1:
            out.mkdir()
            (out / "mine").write_text("x", encoding="utf-8")

    with pytest.raises(InputError, match="there is something already"):
        filled.views.export(out, "csv", progress=progress)
    assert contents(out) == {"mine": b"x"}


@pytest.mark.parametrize("form", FORMATS)
def test_a_disk_that_is_full_is_told_in_one_line(run: Program, form: str) -> None:
    large = {
        "C:R": {
            f"a{source}": {
                f"b{number}": [{"must": {f"c{source * number}": "empty"}, "diff": {}}] for number in range(2, 250)
            }
            for source in range(1, 90)
        }
    }
    assert run("--db", "store.db", "load", write("large.json", large)).code == 0
    run("--db", "store.db", "export", "--format", form, "whole")
    limit = max(path.stat().st_size for path in Path("whole").iterdir()) // 2 // 512
    whole = f'ulimit -f {limit}; exec "{sys.executable}" -B -m ggn_store --db store.db export --format {form} out'
    refused = subprocess.run(
        ["/bin/sh", "-c", whole], env=child_environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr in (
        "Error: out: cannot be written: File too large\n",
        "Error: out: cannot be written: Input/output error\n",
    )
    assert sorted(path.name for path in Path().iterdir()) == ["large.json", "store.db", "whole"]


@pytest.mark.parametrize(("module", "form"), [("pyarrow", "parquet"), ("pyarrow", "duckdb"), ("duckdb", "duckdb")])
def test_a_missing_extra_is_named_before_anything_is_written(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, form: Format
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(GgnStoreError, match=rf"this needs {module}.*pip install 'ggn-store\[duckdb\]'"):
        filled.views.export(tmp_path / "out", form)
    assert not [path for path in tmp_path.iterdir() if path.name != "store.db"]
    for other in ("csv", "sqlite"):
        filled.views.export(tmp_path / other, other)
        require_equal(filled, tmp_path / other, other)


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
        for row in store.views.rows("v_moves"):
            assert row[0] == "game"
            break
        for batch in store.views.rows("v_moves").batches():
            assert 0 < batch.num_rows < 6
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


@pytest.mark.parametrize("form", FORMATS)
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
