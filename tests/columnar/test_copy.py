"""`sql --engine duckdb`: the same answers from a columnar copy, which is always as the store is, and trusts nothing."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from sqlalchemy import text

from ggn_store import GgnStoreError, InputError, QueryError, Store, StoreError, guides
from ggn_store.columnar import copy
from ggn_store.store.schema.views import VIEWS
from ggn_store.store.sql.examples import SQL_EXAMPLES
from tests.support.databases import DATABASES, new_store
from tests.support.guards import drop_guards
from tests.support.program import child_environment
from tests.support.views import GAMES, played

Rows = list[tuple[Any, ...]]

KNIGHT = {"C:N": {"a1": {"b3": [{"must": {"b3": "empty"}, "diff": {"board": {"a1": None, "b3": "C:N"}}}]}}}
ROOK = {"C:R": {"a1": {"a2": [{"must": {"a2": "enemy"}, "diff": {"board": {"a1": None, "a2": "C:R"}}}]}}}
QUOTED = {"CHESS:P": {"it's": {'"; DROP': [{"require": {"it's": "empty"}, "perform": {"it's": None, "é": "CHESS:P"}}]}}}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module", params=DATABASES)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Path]]:
    """Several revisions, every dialect, a ruleset that is hidden, texts with quotes; and where copies are kept."""
    directory = tmp_path_factory.mktemp("games")
    with new_store(request.param, directory, request) as store:
        for dialect, document in GAMES.items():
            store.load(played() if dialect == "gdl" else document, f"games/{dialect}", author="Ann's")
        store.load(KNIGHT, "games/diff", message="it's another")
        store.load(QUOTED, "quoted")
        store.load(ROOK, "gone")
        store.delete("gone")
        yield store, directory


@pytest.fixture
def games(filled: tuple[Store, Path], monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store that no test of this module changes, and its copy."""
    store, directory = filled
    monkeypatch.setenv("XDG_CACHE_HOME", str(directory))
    return store


def same(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row without what databases write in ways of their own: times, truth values, decimal numbers."""

    def plain(value: Any) -> Any:
        if isinstance(value, datetime):
            return str(value)
        return float(value) if isinstance(value, bool | int | float | Decimal) else value

    return tuple(map(plain, row))


def asked(store: Store, query: str, **given: Any) -> Rows:
    return [same(row) for row in store.sql(query, timeout=60, engine="duckdb", **given)]


def of_store(store: Store, query: str, **given: Any) -> Rows:
    return [same(row) for row in store.sql(query, timeout=60, **given)]


def place(store: Store) -> Path:
    found = copy.found(store.session.database)
    assert found is not None
    return Path(found[0])


def files(store: Store) -> set[str]:
    return {path.name for path in place(store).iterdir()} - {"lock", "manifest.json"}


def sources(store: Store) -> Rows:
    return asked(store, "SELECT ruleset, piece, source, destination FROM v_moves ORDER BY 1, 2, 3, 4")


# --- the same answers ---


@pytest.mark.both
def test_every_view_has_the_rows_that_the_store_has(games: Store) -> None:
    for view in VIEWS:
        parts = [f"SELECT '{name}' AS view, * FROM {name}" for name in filter(None, (view.name, view.every))]
        query = " UNION ALL ".join(parts)
        answer = games.sql(query, engine="duckdb", timeout=60)
        assert answer.columns == ("view", *view.names)
        assert sorted(repr(same(row)) for row in answer) == sorted(map(repr, of_store(games, query))), view.name


def test_the_examples_are_answered_as_by_the_store(store: Store) -> None:
    store.load_library("gardner", "dobutsu", "connect-four")
    for example in SQL_EXAMPLES[::4]:  # all are asked of exports, which have the same layout
        values = {"piece": "C:N", "source": "a1"} if ":piece" in example.query else None
        query = example.query.replace("'chess'", "'gardner'")
        found, wanted = (
            [same(row) for row in store.sql(query, values, timeout=60, engine=engine)] for engine in ("duckdb", "store")
        )
        if "ORDER BY" not in query:
            found, wanted = sorted(found), sorted(wanted)
        assert found == wanted, example.question


@pytest.mark.both
@pytest.mark.parametrize(
    "query",
    [
        "SELECT 7 / 2, round(avg(ordinal), 2) FROM v_moves",
        "SELECT requires FROM v_moves WHERE ruleset = 'games/perform' ORDER BY requires, possibility",
        "SELECT requires FROM v_moves WHERE ruleset = 'games/perform' ORDER BY requires DESC, possibility",
        "SELECT CASE WHEN is_drop THEN 'drop' ELSE upper(piece) END, count(*) FROM v_moves GROUP BY 1 ORDER BY 1",
        "WITH x(a) AS (VALUES (1), (2)) SELECT sum(a), max(a) FROM x",
        "SELECT piece, row_number() OVER (ORDER BY piece, source, destination, possibility) FROM v_moves "
        "WHERE ruleset = 'games/diff' ORDER BY 2",
        "SELECT source FROM v_moves WHERE source LIKE '%''%' AND source = 'it''s'",
        "SELECT message, author FROM v_history WHERE message LIKE '%''%'",
        "SELECT piece FROM v_pieces WHERE piece LIKE 'C:_' ORDER BY piece, ruleset",
        "SELECT substr(piece, 1, 2) || '-' || length(piece) FROM v_pieces ORDER BY 1",
        "SELECT piece FROM v_pieces WHERE piece LIKE 'C!:!_' ESCAPE '!' OR piece NOT LIKE '!C%' ESCAPE '!' ORDER BY 1",
    ],
)
def test_what_databases_do_differently_is_as_in_the_store(games: Store, query: str) -> None:
    assert asked(games, query) == of_store(games, query) != []


@pytest.mark.long
@pytest.mark.both
def test_the_databases_answer_as_differently_as_the_guide_says(games: Store) -> None:
    rows = re.findall(r"^\| `(.+?)`[^|]*\| (.+) \| (.+) \| (.+) \|$", guides.text("sql"), re.MULTILINE)
    assert len(rows) == 15
    for query, *said in rows:
        own = said[games.session.database.is_server]
        by_engine: dict[Literal["store", "duckdb"], str] = {"store": own, "duckdb": said[2]}
        for engine, answer in by_engine.items():
            try:
                value = games.sql(f"SELECT {query}", engine=engine).rows[0][0]
            except QueryError:
                value = "refused"
            assert ("NULL" if value is None else str(value)) in (answer, answer.title()), (query, engine)


def test_values_are_bound_and_positions_can_be_asked(games: Store) -> None:
    found = games.sql("SELECT piece FROM v_pieces WHERE piece = :p", {"p": "C:N"}, engine="duckdb")
    assert found.rows == (("C:N",),)
    assert games.sql("SELECT :p AS said", {"p": "x'); --"}, engine="duckdb").rows == (("x'); --",),)
    query = "SELECT m.source, v.requires FROM moves AS m NATURAL JOIN v_moves AS v"
    given = {"ruleset": "games/diff", "positions": [{"a1": "C:N"}]}
    assert asked(games, query, **given) == of_store(games, query, **given) == [("a1", "empty")]


def test_a_plan_is_shown(games: Store) -> None:
    assert "v_moves" not in games.sql("EXPLAIN SELECT count(*) FROM v_moves", engine="duckdb").columns
    assert "count" in str(games.sql("EXPLAIN SELECT count(*) FROM v_moves", engine="duckdb").rows)


# --- what a query may do ---


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_parquet('{file}')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM '{file}'",
        "FROM '{file}'",
        "SELECT content FROM read_blob('{file}')",
        "SELECT getenv('HOME')",
        "SELECT current_setting('temp_directory')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM duckdb_views()",
        "SELECT * FROM duckdb_views",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM information_schema.tables",
        "WITH duckdb_views AS (SELECT 1) SELECT * FROM duckdb_views",
        "WITH a AS (WITH duckdb_views AS (SELECT 1) SELECT 1) SELECT * FROM duckdb_views",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM (DESCRIBE v_moves)",
        "SELECT * FROM (SHOW ALL TABLES)",
        "SELECT * FROM (SUMMARIZE v_moves)",
        "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM query_table('v_moves')",
        "SELECT * FROM piece_moves",
        "SELECT * FROM main.v_moves AS x, memory.main.newest",
        "SELECT repeat('x', 1000000000)",
        "SELECT json_serialize_sql('SELECT 1')",
        "SELECT json_execute_serialized_sql('x')",
        "SELECT pg_catalog.abs(1)",
        "SELECT main.abs(1)",
        "SELECT nextval('x')",
        "EXPLAIN COPY (SELECT 1) TO '{file}'",
        "EXPLAIN ANALYZE INSERT INTO v_moves SELECT 1",
        "EXPLAIN ATTACH '{file}'",
        "WITH x AS (SELECT 1) INSERT INTO v_moves SELECT * FROM x",
        "COPY v_moves TO '{file}'",
        "COPY (SELECT 1) TO '{file}'",
        "ATTACH '{file}' AS x",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "CREATE TABLE x (a int)",
        "EXPORT DATABASE '{file}'",
        "CALL duckdb_settings()",
        "CHECKPOINT",
        "SELECT 1; SELECT 2",
        "SELECT 1; COPY (SELECT 1) TO '{file}'",
    ],
)
def test_a_query_only_reads_the_views(games: Store, tmp_path: Path, query: str) -> None:
    if copy.found(games.session.database) is None:
        assert sources(games)
    target = tmp_path / "target"
    [kept] = place(games).glob("v_pieces-*")
    before = {path: path.read_bytes() for path in place(games).iterdir()}
    for file in (target, kept) if "{file}" in query else (target,):
        with pytest.raises(QueryError):
            games.sql(query.replace("{file}", str(file)), engine="duckdb", timeout=60)
        assert {path: path.read_bytes() for path in place(games).iterdir()} == before
    assert not target.exists()


def test_what_is_wrong_is_told_with_its_place(store: Store) -> None:
    store.load(KNIGHT, "game")
    for query, said in (
        ("SELEC 1", "`sql` only reads"),
        ("SELECT\n  FROM WHERE", r"line 2, column 8: .*syntax error"),
        ("SELECT pece FROM v_pieces", "pece.*near it: piece"),
        ("SELECT 1 FROM v_piece", "line 1, column 15: no such table: v_piece; near it: v_pieces"),
        ("SELECT 1 FROM piece", "no such table: piece; it is a table of the store, which has to be asked itself"),
        ("SELECT abz(1)", "the function abz is not among those that a query may call; near it: abs"),
        ("SELECT 1 FROM moves", "it is a view of positions"),
        ("SELECT :a", "give it with --param a="),
    ):
        with pytest.raises(QueryError, match=said):
            store.sql(query, engine="duckdb")
    with pytest.raises(QueryError, match='"spark" is not an engine: store, duckdb'):
        store.sql("SELECT 1", engine="spark")  # type: ignore[arg-type]


ENDLESS = "SELECT count(*) FROM range(100000) AS a, range(100000) AS b, range(100000) AS c WHERE a.range + b.range = 0"


def test_what_takes_too_much_is_cut_off(store: Store) -> None:
    store.load(KNIGHT, "game")
    for query, bounds, said in (
        (ENDLESS, {"timeout": 0.5}, "cut off after 0.5 seconds"),
        ("SELECT list(range) FROM range(100000000)", {"memory": 16, "disk": 0}, "more than 16 MiB of memory"),
        (
            "SELECT range, random() FROM range(30000000) ORDER BY 2, 1",
            {"memory": 32, "disk": 1},
            "more than 1 MiB of disk",
        ),
    ):
        with pytest.raises(QueryError, match=said):
            store.sql(query, engine="duckdb", **({"timeout": 60.0} | bounds))
    found = store.sql("SELECT range FROM range(10) ORDER BY range", engine="duckdb", limit=3)
    assert found.rows == ((0,), (1,), (2,))
    assert found.cut is not None
    assert "there are more rows than these 3" in found.cut


# --- the copy is as the store is ---


def test_only_what_is_new_is_written(store: Store) -> None:
    store.load(KNIGHT, "one")
    assert sources(store) == [("one", "C:N", "a1", "b3")]
    before = files(store)
    assert sources(store) == [("one", "C:N", "a1", "b3")]
    assert files(store) == before
    store.load(ROOK, "two")
    told: list[tuple[str, int, int]] = []
    store.sql("SELECT 1 FROM v_pieces", engine="duckdb", progress=lambda *each: told.append(each))
    assert told == [("pieces", 0, 1)]
    assert sources(store) == [("one", "C:N", "a1", "b3"), ("two", "C:R", "a1", "a2")]
    after = files(store)
    assert {name for name in before if name.startswith("piece_moves-")} < after
    assert len([name for name in after if name.startswith("piece_moves-")]) == 2
    assert len([name for name in after if name.startswith("v_pieces-")]) == 1
    # What does not differ is not written anew.
    assert {name for name in before if name.startswith("v_duties-")} <= after
    store.tags.set("two@1", "stable")
    assert asked(store, "SELECT tags FROM v_history ORDER BY ruleset") == [(None,), ("stable",)]
    assert {name for name in after if name.startswith("piece_")} <= files(store)


def test_what_was_removed_is_in_the_copy_no_more(store: Store) -> None:
    for name, rules in (("one", KNIGHT), ("two", ROOK)):
        store.load(rules, name)
    assert len(sources(store)) == 2
    store.delete("two")
    assert sources(store) == [("one", "C:N", "a1", "b3")]
    assert asked(store, "SELECT ruleset FROM v_rulesets_all") == [("one",)]
    with store.session.database.writing() as connection:
        drop_guards(connection)
        for statement in (
            "DELETE FROM audit",
            "DELETE FROM revision_piece WHERE revision_id = 2",
            "DELETE FROM revision WHERE id = 2",
        ):
            connection.execute(text(statement))
    store.upkeep.collect()
    # Which in SQLite gets the key of what was removed.
    store.load(GAMES["diff"], "three")
    assert sources(store) == of_store(
        store, "SELECT ruleset, piece, source, destination FROM v_moves ORDER BY 1, 2, 3, 4"
    )


def test_many_small_changes_leave_few_files(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy, "_MOST_FILES", 3)
    for number in range(1, 7):
        store.load({"C:N": {"a1": {f"b{number}": [{"diff": {}}]}}}, "game")
        assert sources(store) == [("game", "C:N", "a1", f"b{number}")]
        assert len([name for name in files(store) if name.startswith("piece_moves-")]) <= 3
    assert asked(store, "SELECT count(*) FROM v_moves_all") == [(6.0,)]


def test_nothing_of_a_damaged_store_is_copied(store: Store) -> None:
    store.load(KNIGHT, "game")
    with store.session.database.writing() as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE condition SET state = 'enemy'"))
    with pytest.raises(StoreError, match="damaged"):
        store.sql("SELECT 1", engine="duckdb")


# --- nothing of a copy is trusted ---


def test_a_copy_that_is_not_as_it_was_made_is_made_anew(store: Store, tmp_path: Path) -> None:
    store.load(KNIGHT, "game")
    wanted = sources(store)
    assert wanted

    def anew(what: str) -> None:
        before = files(store)
        assert sources(store) == wanted, what
        assert {name for name in files(store) if name.startswith("piece_moves-")}.isdisjoint(before), what

    kinds = ("piece_moves", "v_pieces", "piece_guards")
    for kind in kinds:
        [file] = place(store).glob(f"{kind}-*")
        whole = bytearray(file.read_bytes())
        whole[len(whole) // 2] ^= 1
        file.write_bytes(whole)
        anew(kind)
        [file] = place(store).glob(f"{kind}-*")
        file.write_bytes(b"")
        anew(kind)
        [file] = place(store).glob(f"{kind}-*")
        (tmp_path / "elsewhere").write_bytes(file.read_bytes())
        file.unlink()
        file.symlink_to(tmp_path / "elsewhere")
        anew(kind)
        assert (tmp_path / "elsewhere").exists()
    manifest = place(store) / "manifest.json"
    said = json.loads(manifest.read_text(encoding="utf-8"))
    tables = said["tables"]
    changes: tuple[Any, ...] = (
        said | {"made_as": "older"},
        said | {"tables": tables | {"piece_moves": {"../elsewhere": "0"}}},
        said | {"tables": tables | {"piece_moves": tables["piece_effects"]}},
        said | {"tables": {}},
        said | {"pieces": {"x": 1}},
        [],
        3,
    )
    for changed in changes:
        manifest.write_text(json.dumps(changed), encoding="utf-8")
        anew(str(changed)[:60])
    for text_ in ("", "{", "[" * 100_000, "\0"):
        manifest.write_text(text_, encoding="utf-8")
        anew(text_[:10])
    manifest.unlink()
    # Whoever follows a link where they write would write over what is somebody else's.
    (tmp_path / "elsewhere").write_text("mine", encoding="utf-8")
    manifest.symlink_to(tmp_path / "elsewhere")
    anew("a manifest elsewhere")
    assert not manifest.is_symlink()
    assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == "mine"


def test_a_copy_that_is_swapped_for_something_else_is_not_followed(store: Store, tmp_path: Path) -> None:
    store.load(KNIGHT, "game")
    wanted = sources(store)
    directory = place(store)
    directory.rename(tmp_path / "moved")
    directory.symlink_to(tmp_path / "moved")
    before = {path.name for path in (tmp_path / "moved").iterdir()}
    assert sources(store) == wanted
    assert not directory.is_symlink()
    assert {path.name for path in (tmp_path / "moved").iterdir()} == before
    # What is somebody's own stays, and the copy goes elsewhere, or nowhere.
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()
    directory.write_text("mine", encoding="utf-8")
    if store.session.database.is_server:
        with pytest.raises(InputError, match="no columnar copy can be kept here: there is something else"):
            store.sql("SELECT 1", engine="duckdb")
    else:
        assert sources(store) == wanted
        assert str(place(store)).startswith(str(tmp_path / "cache"))
    assert directory.read_text(encoding="utf-8") == "mine"


def test_nobody_else_may_read_a_copy(store: Store) -> None:
    store.load(KNIGHT, "game")
    before = os.umask(0)
    try:
        assert sources(store)
    finally:
        os.umask(before)
    assert stat.S_IMODE(place(store).stat().st_mode) == 0o700
    for path in place(store).iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path.name


def test_files_that_are_somebody_s_stay(store: Store) -> None:
    store.load(KNIGHT, "game")
    assert sources(store)
    (place(store) / "notes.txt").write_text("mine", encoding="utf-8")
    (place(store) / "manifest.json").unlink()
    assert sources(store)
    assert (place(store) / "notes.txt").read_text(encoding="utf-8") == "mine"


# --- many at once ---


def test_several_processes_bring_a_copy_up_to_date(store: Store, address: str) -> None:
    for number in range(1, 4):
        store.load({"C:N": {"a1": {f"b{number}": [{"diff": {}}]}}}, f"game-{number}")
    command = [sys.executable, "-m", "ggn_store", "--db", address, "sql", "--engine", "duckdb", "--format", "csv"]
    query = "SELECT count(*) AS n, count(DISTINCT destination) AS d FROM v_moves"
    started = [
        subprocess.Popen(
            [*command, "--timeout", "60", query],
            env=child_environment(XDG_CACHE_HOME=os.environ["XDG_CACHE_HOME"]),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for process in started:
        out, complaint = process.communicate()
        assert (process.returncode, out, complaint) == (0, b"n,d\n3,3\n", b"")
    assert len([name for name in files(store) if name.startswith("piece_moves-")]) == 1


# A process without a script, as those that ask are: there DuckDB writes to standard output how far it is.
TELLS = """
import duckdb
from ggn_store.columnar import duck_child, perft
asked = {"disk": 0, "directory": None, "memory": 1 << 28, "threads": 1, "nulls": "nulls_first", "query": ""}
asked |= {"views": {}, "given": [], "files": []}
for each in duckdb.connect(), duck_child._opened(duckdb, asked), perft._connect("."):
    print(*each.execute("SELECT current_setting('enable_progress_bar')").fetchone())
"""


def test_how_far_a_long_question_is_does_not_stand_in_its_answer() -> None:
    said = subprocess.run([sys.executable, "-c", TELLS], env=child_environment(), stdout=subprocess.PIPE, check=True)
    assert said.stdout.split() == [b"True", b"False", b"False"]


def test_files_that_are_being_asked_stay(store: Store) -> None:
    store.load(KNIGHT, "one")
    with copy.ready(store.session) as asked_files:
        store.load(ROOK, "two")
        assert len(sources(store)) == 2
        assert all(Path(file).exists() for listed in asked_files.values() for file in listed)
    assert len(sources(store)) == 2
    assert len([name for name in files(store) if name.startswith("v_pieces-")]) == 1


# --- where there is none ---


def test_a_missing_extra_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.load(KNIGHT, "game")
    for name in [name for name in sys.modules if name.partition(".")[0] == "duckdb"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(GgnStoreError, match=r"this needs duckdb.*pip install 'ggn-store\[duckdb\]'"):
        store.sql("SELECT 1", engine="duckdb")
    assert copy.found(store.session.database) is None


def test_a_store_in_memory_has_no_copy() -> None:
    with Store.open("sqlite://") as store:
        store.load(KNIGHT, "game")
        with pytest.raises(InputError, match="a store in memory has no columnar copy: open it as a file"):
            store.sql("SELECT 1", engine="duckdb")


def test_info_says_where_the_copy_is_and_how_large(store: Store) -> None:
    store.load(KNIGHT, "game")
    assert store.info().columns is None
    assert sources(store)
    found = store.info()
    assert found.columns == str(place(store))
    assert found.columns_bytes == sum(path.stat().st_size for path in place(store).iterdir())
