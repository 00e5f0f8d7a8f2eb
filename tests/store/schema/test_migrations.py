"""The tables as migrations make them, on SQLite and on Postgres: complete, reversible, safe to run at once."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Inspector, Text, inspect, text
from sqlalchemy.exc import DBAPIError

import ggn_store
from ggn_store import Store, StoreError
from ggn_store.errors import StoreVersionError
from ggn_store.model.documents.board import parse_shape
from ggn_store.model.moves.position import Position
from ggn_store.store.database import address as addresses
from ggn_store.store.database import session
from ggn_store.store.moves import positions as state
from ggn_store.store.schema.tables import NAMING_CONVENTION, metadata
from tests.support.loader import ROOT, Worker, load_command
from tests.support.loader import contents as contents_of
from tests.support.migrations import alembic, connected

# What a user of an installed package does first.
USE = """
import ggn_store, pathlib, sys
with ggn_store.Store.open(sys.argv[1]) as store:
    store.load_library(*sys.argv[2:])
    name, count = (sys.argv[2], 9) if sys.argv[2:] else ("chess", 20)
    assert len(store.ruleset(name).moves(store.ruleset(name).start)) == count
    assert store.info().version == store.info().needed
print(pathlib.Path(ggn_store.__file__).parent)
"""

# Columns of text that nobody compares.
TEXTS = ("envelope", "author", "message", "detail", "rules", "positions", "accepted")


def run(*command: str, directory: Path, python_path: Path | None = None) -> str:
    """Run Python in a directory, with nothing of this checkout but what is installed; its standard output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GGN_"))}
    if python_path is not None:
        environment["PYTHONPATH"] = str(python_path)
    done = subprocess.run(
        [sys.executable, *command], cwd=directory, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def differences(connection: Connection) -> list[Any]:
    """What Alembic would change to bring the database to the tables of the program."""

    def is_ours(name: str | None, kind: str, _: Any) -> bool:
        return kind != "table" or name != session.VERSION_TABLE

    options = {"compare_type": True, "compare_server_default": True, "include_name": is_ours}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def schema(connection: Connection) -> dict[str, Any]:
    """Everything that the database says of its tables, in an order of its own."""
    found = inspect(connection)
    tables = {
        name: {
            "columns": [{**column, "type": repr(column["type"])} for column in found.get_columns(name)],
            "constraints": sorted(constraints(found, name)),
            "indexes": sorted((str(index["name"]), str(index["column_names"])) for index in found.get_indexes(name)),
            "options": found.get_table_options(name),
        }
        for name in found.get_table_names()
    }
    return tables | {"views": sorted(found.get_view_names())}


def constraints(found: Inspector, table: str) -> Iterator[tuple[str, str | None, str]]:
    """Kind, name and columns of every constraint of a table; of a check, its condition."""
    key = found.get_pk_constraint(table)
    yield "pk", key["name"], "_".join(key["constrained_columns"])
    for unique in found.get_unique_constraints(table):
        yield "uq", unique["name"], "_".join(str(column) for column in unique["column_names"])
    for foreign in found.get_foreign_keys(table):
        yield "fk", foreign["name"], "_".join(foreign["constrained_columns"])
    for check in found.get_check_constraints(table):
        yield "ck", check["name"], str(check["sqltext"])


# --- what the migrations make ---


def test_migrations_make_the_tables_of_the_program(store: Store, address: str) -> None:
    assert store.info().version == session.known_versions()[-1]
    with connected(address) as connection:
        assert differences(connection) == []
        assert set(inspect(connection).get_table_names()) == {*metadata.tables, session.VERSION_TABLE}


def test_identifiers_labels_and_names_are_compared_by_their_bytes(store: Store, address: str) -> None:
    with connected(address) as connection:
        for name, table in metadata.tables.items():
            found = {column["name"]: column["type"] for column in inspect(connection).get_columns(name)}
            for column in table.columns:
                expected = column.type.dialect_impl(connection.dialect)
                assert getattr(found[column.name], "collation", None) == getattr(expected, "collation", None)
                if connection.dialect.name == "postgresql" and isinstance(expected, Text):
                    assert (expected.collation is None) == (column.name in TEXTS)


def test_a_difference_between_migrations_and_tables_is_seen(store: Store, address: str) -> None:
    with connected(address) as connection:
        connection.execute(text("ALTER TABLE ruleset ADD COLUMN colour TEXT"))
        connection.execute(text("DROP INDEX ix_piece_identifier"))
        assert sorted(each[0] for each in differences(connection)) == ["add_index", "remove_column"]


def test_every_constraint_has_the_name_of_the_convention(store: Store, address: str) -> None:
    counts = {"pk": 0, "uq": 0, "fk": 0, "ck": 0}
    with connected(address) as connection:
        found = inspect(connection)
        for name, table in metadata.tables.items():
            reflected = list(constraints(found, name))
            for kind, constraint, columns in reflected:
                counts[kind] += 1
                prefix = NAMING_CONVENTION[kind].split("%")[0] + name
                expected = {"pk": prefix, "ck": constraint if str(constraint).startswith(f"{prefix}_") else None}
                assert constraint == expected.get(kind, f"{prefix}_{columns}")
            assert {constraint for _, constraint, _ in reflected} == {str(each.name) for each in table.constraints}
            assert {index["name"] for index in found.get_indexes(name) if not index.get("duplicates_constraint")} == {
                str(index.name) for index in table.indexes
            }
    assert all(counts.values())


def test_checks_and_foreign_keys_bind_on_both_databases(store: Store, address: str) -> None:
    store.load({"C:P": {"e2": {"e4": [{"must": {"e4": "empty"}}]}}}, "game")
    for statement in (
        "UPDATE condition SET polarity = 'may'",
        "UPDATE piece SET side = 'third'",
        "UPDATE piece SET board_id = 99",
        "DELETE FROM variant",
        "DELETE FROM board",
        "UPDATE revision SET parent_id = 99",
        "INSERT INTO ruleset (id, name) SELECT id + 1, name FROM ruleset",
        "INSERT INTO effect SELECT piece_id, variant + 1, square, 'C:P' FROM condition",
    ):
        with pytest.raises(StoreError), connected(address) as connection:
            connection.execute(text(statement))
    assert store.upkeep.check() == []


def test_the_tables_of_positions_are_not_part_of_the_store(store: Store, address: str) -> None:
    assert not set(state.metadata.tables) & set(metadata.tables)
    assert all("TEMPORARY" in table._prefixes for table in state.metadata.tables.values())
    with connected(address) as connection:
        state.describe(addresses.connect(address), connection, parse_shape("2x2"), [Position({"a1": "C:P"})])
        assert connection.execute(text("SELECT count(*) FROM board_state")).scalar_one() == 1
        assert differences(connection) == []
    with connected(address) as connection:
        assert not set(state.metadata.tables) & set(inspect(connection).get_table_names())


def test_up_down_and_up_again_leaves_the_same_tables(store: Store, address: str) -> None:
    with connected(address) as connection:
        before = schema(connection)
    with connected(address) as connection:
        alembic(connection, command.downgrade, "base")
    with connected(address) as connection:
        assert inspect(connection).get_table_names() == [session.VERSION_TABLE]
        assert inspect(connection).get_view_names() == []
    store.upgrade()
    with connected(address) as connection:
        assert schema(connection) == before
        assert differences(connection) == []
    assert store.upgrade() == (session.known_versions()[-1],) * 2
    assert store.list() == ()


# Those before have been in use; that they go down and up again one after the other is tried above.
@pytest.mark.parametrize("newest", [4, pytest.param(None, marks=pytest.mark.long)])
def test_every_step_up_and_down_works_by_itself(empty: str, newest: int | None) -> None:
    known = session.known_versions()
    steps = list(zip(["base", *known], known, strict=False))[-newest if newest else None :]
    with connected(empty) as connection:
        if newest:
            alembic(connection, command.upgrade, steps[0][0])
        for below, version in steps:
            alembic(connection, command.upgrade, version)
            after = schema(connection)
            alembic(connection, command.downgrade, below)
            alembic(connection, command.upgrade, version)
            assert schema(connection) == after
            assert session.version(connection) == version
        assert differences(connection) == []


def test_histories_of_older_stores_get_their_lineages(store: Store, address: str) -> None:
    for destination in ("e3", "e4"):
        for name in ("one", "two"):
            store.load({"C:P": {"e2": {destination: [{}]}}}, name, author="Ann", message='"é"')
    before = {each.name: (each.lineage, each.parent) for each in store.revisions()}
    with connected(address) as connection:
        alembic(connection, command.downgrade, "0001")
    assert store.upgrade() == ("0001", session.known_versions()[-1])
    assert {each.name: (each.lineage, each.parent) for each in store.revisions()} == before
    assert store.upkeep.check() == []
    assert store.load({"C:P": {"e2": {"e5": [{}]}}}, "one").number == 3
    assert store.upkeep.check() == []


def test_squares_of_older_stores_get_their_coordinates(store: Store, address: str) -> None:
    squares = "a1-ab12 a1A-b2C a-c a1-a1A here-there a1-A1 a1Aa-a1Ab a1-zz9999"
    possibility = {"action": {"name": "go", "step": 1}, "diff": {"toggle": True}}  # a dialect for all labels
    for number, (source, destination) in enumerate(each.split("-") for each in squares.split()):
        store.load({"C:P": {source: {destination: [possibility]}}}, f"game-{number}")
    query = "SELECT * FROM square ORDER BY board_id, number"
    with connected(address) as connection:
        before = connection.execute(text(query)).all()
        alembic(connection, command.downgrade, "0015")
    assert store.upgrade() == ("0015", session.known_versions()[-1])
    with connected(address) as connection:
        assert connection.execute(text(query)).all() == before
        assert len({row.file for row in before}) > 20
    assert store.upkeep.check() == []
    with connected(address) as connection, pytest.raises(DBAPIError, match="never changed"):
        connection.execute(text("UPDATE square SET file = 7"))


def test_captures_of_older_stores_that_leave_an_enemy_are_counted(store: Store, address: str) -> None:
    taken = {"require": {"b3": "enemy"}, "perform": {"a1": None, "b3": "C:W"}}
    stays = {"require": {"b3": "C:P"}, "perform": {"b3": "C:W"}}
    goes = {"require": {"b3": "empty"}, "perform": {"a1": None, "b3": "c:n"}}
    store.load({"c:n": {"a1": {"b3": [taken, stays, goes]}}, "c:k": {"a1": {"a2": [goes]}}}, "stones")
    with connected(address) as connection:
        capture = text("SELECT capture FROM v_moves WHERE piece = 'c:n' ORDER BY possibility")
        facts = text("SELECT piece_id, version, displacing FROM piece_facts ORDER BY displacing")
        after = connection.execute(facts).all()
        assert [row.displacing for row in after] == [0, 1]
        assert connection.execute(capture).scalars().all() == ["displacing", None, None]
        alembic(connection, command.downgrade, "0022")
        assert connection.execute(capture).scalars().all() == [None, None, None]
        assert [row.version for row in connection.execute(facts)] == [after[0].version, 0]
    assert store.upgrade() == ("0022", session.known_versions()[-1])
    with connected(address) as connection:
        assert connection.execute(facts).all() == after
    assert store.upkeep.check() == []


def test_leaps_of_older_stores_that_castlings_hid_are_found(store: Store, address: str) -> None:
    castles = {"must": {"b3": "C:R"}, "diff": {"board": {"a1": None, "a2": "C:N", "b3": None, "b2": "C:R"}}}
    plain = {"must": {"b3": "C:R"}, "diff": {}}
    store.load({"C:N": {"a1": {"b3": [castles, plain]}}, "C:P": {"a1": {"a2": [{"diff": {}}]}}}, "castling")
    facts = text("SELECT version, castling, leaps FROM piece_facts ORDER BY castling")
    with connected(address) as connection:
        after = connection.execute(facts).all()
        assert [(row.castling, row.leaps) for row in after] == [(0, True), (1, True)]
        alembic(connection, command.downgrade, "0023")
        assert [row.version for row in connection.execute(facts)] == [after[0].version, 0]
    assert store.upgrade() == ("0023", session.known_versions()[-1])
    with connected(address) as connection:
        assert connection.execute(facts).all() == after
    assert store.upkeep.check() == []


GUARDED = {
    "$state": {"ep": {"values": ["3", "none"], "initial": "none"}},
    "D:M": {"x": {"y": [{"action": {"name": "go"}, "when": {"ep": ["3"]}, "diff": {"state": {"ep": "none"}}}]}},
}
PLAIN = {"D:M": {"x": {"y": [{"perform": {"x": None}}]}}}


def test_an_older_store_takes_the_dialect_gdl_once_it_is_upgraded(store: Store, address: str) -> None:
    store.load(PLAIN, "plain")
    store.close()
    with connected(address) as connection:
        alembic(connection, command.downgrade, "0005")
    with connected(address) as connection, pytest.raises(Exception, match=r"(?i)check constraint"):
        connection.execute(
            text(
                "INSERT INTO revision SELECT 9, 1, 9, digest, NULL, 'gdl', board_id, envelope, author, "
                "message, created_at, lineage FROM revision"
            )
        )
    with Store.open(address, upgrade=True) as upgraded:
        upgraded.load(GUARDED, "guarded")
        assert upgraded.upkeep.check() == []
        assert upgraded.upkeep.verify().problems == ()
        assert upgraded.ruleset("plain").document() == ggn_store.parse(PLAIN)
        assert upgraded.ruleset("guarded").document() == ggn_store.parse(GUARDED)
    # Nor does a connection that was open all along, or comes later, take any other.
    with connected(address) as connection, pytest.raises(Exception, match=r"(?i)check constraint"):
        connection.execute(
            text(
                "INSERT INTO revision SELECT 9, 1, 9, digest, NULL, 'gd', board_id, envelope, author, "
                "message, created_at, lineage FROM revision"
            )
        )


def test_tables_that_cannot_hold_what_is_there_are_not_gone_back_to(store: Store, address: str) -> None:
    store.load(GUARDED, "guarded")
    store.close()
    with pytest.raises(RuntimeError, match="has rows of the dialect gdl"), connected(address) as connection:
        alembic(connection, command.downgrade, "0005")
    with Store.open(address) as kept:
        assert kept.upkeep.check() == []
        assert kept.ruleset("guarded").document() == ggn_store.parse(GUARDED)


def test_views_name_squares_and_hands(store: Store, address: str) -> None:
    store.load({"C:P": {"*": {"e4": [{"deny": {"e2": "c:p"}}]}, "e2": {"*": [{}]}}}, "game")
    flat = "SELECT ruleset, revision, piece, source, destination, ordinal FROM moves_flat ORDER BY variant"
    conditions = "SELECT source, destination, polarity, square, required_state FROM conditions_flat"
    with connected(address) as connection:
        rows = [tuple(row) for row in connection.execute(text(flat))]
        assert rows == [("game", 1, "C:P", "*", "e4", 0), ("game", 1, "C:P", "e2", "*", 0)]
        [row] = connection.execute(text(conditions))
        assert tuple(row) == ("*", "e4", "deny", "e2", "c:p")


# --- which version a store is of ---


def use(address: str) -> None:
    """Open a store and ask it something."""
    with Store.open(address) as store:
        store.list()


def everything(address: str) -> object:
    """What is in a database: the bytes of a file, or tables and their rows."""
    if address.startswith("sqlite"):
        return Path(address.removeprefix("sqlite:///")).read_bytes()
    with connected(address) as connection:
        rows = {
            name: sorted(map(str, connection.execute(text(f'SELECT * FROM "{name}"'))))
            for name in inspect(connection).get_table_names()
        }
        return schema(connection), rows


def test_a_store_that_is_behind_is_named_with_the_cure(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = session.known_versions()[-1]
    before = everything(address)
    monkeypatch.setattr(session, "known_versions", lambda: [found, "9998"])
    told = (
        rf"the store is behind: its tables are version {found}, this program needs 9998: run `ggn-store --db .* db up"
    )
    with pytest.raises(StoreVersionError, match=told):
        use(address)
    assert everything(address) == before


@pytest.mark.parametrize("upgrade", [False, True])
def test_a_store_that_is_ahead_is_named_with_the_cure(store: Store, address: str, upgrade: bool) -> None:
    with connected(address) as connection:
        connection.execute(text(f"UPDATE {session.VERSION_TABLE} SET version_num = '9999'"))
    before = everything(address)
    with pytest.raises(StoreVersionError, match=r"the store is ahead: .* version 9999, .*: install a newer ggn-store"):
        Store.open(address, upgrade=True) if upgrade else use(address)
    assert everything(address) == before


def test_an_empty_postgres_database_is_named_with_the_cure(postgres_server: Any) -> None:
    address = postgres_server.create_database()
    before = everything(address)
    with pytest.raises(StoreVersionError, match=r"the store is empty, .*: run `ggn-store --db .* db upgrade`"):
        use(address)
    assert everything(address) == before
    with Store.open(address) as store:
        assert store.info().version is None
        assert store.upgrade() == (None, session.known_versions()[-1])
        assert store.list() == ()
    postgres_server.drop_database(address)


def test_a_new_sqlite_file_makes_itself_ready(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    for name in ("empty.db", "new.db"):
        with Store.open(f"sqlite:///{tmp_path / name}") as store:
            assert store.list() == ()
            assert store.info().version == session.known_versions()[-1]


def test_the_tables_of_something_else_are_named_and_left_alone(empty: str) -> None:
    with connected(empty) as connection:
        connection.execute(text("CREATE TABLE chess_club (name TEXT)"))
        connection.execute(text("INSERT INTO chess_club VALUES ('Rook')"))
    before = everything(empty)
    with pytest.raises(StoreVersionError, match=r"tables of something else and no store: .* db upgrade`"):
        use(empty)
    assert everything(empty) == before
    # To put a store beside them is for the user to say.
    with Store.open(empty, upgrade=True) as store:
        assert store.list() == ()
        assert store.upkeep.check() == []
    with connected(empty) as connection:
        assert connection.execute(text("SELECT name FROM chess_club")).scalar_one() == "Rook"


def test_an_upgrade_that_fails_changes_nothing(empty: str) -> None:
    with connected(empty) as connection:
        connection.execute(text("CREATE TABLE variant (name TEXT)"))
    before = everything(empty)
    with pytest.raises(StoreError, match=r"variant.* already exists"):
        Store.open(empty, upgrade=True)
    assert everything(empty) == before


def test_an_older_sqlite_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    with pytest.raises(StoreError, match=r"SQLite 3\.35 or newer is needed; this Python has 3\.34\.1"):
        Store.open("sqlite://")


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.long)])
def test_processes_can_upgrade_at_once(empty: str, count: int) -> None:
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker()) for _ in range(count)]
        for worker in workers:
            assert worker.answer() == {"ready": True}
        for index, worker in enumerate(workers):
            worker.send({"do": "open", "address": empty, "upgrade": True}, load_command("game", index))
        answers = [(worker.answer(), worker.answer()) for worker in workers]
    assert [opened for opened, _ in answers] == [{}] * count
    assert sorted(loaded["number"] for _, loaded in answers) == list(range(1, count + 1))
    with Store.open(empty) as store:
        assert sorted(contents_of(store)["game"]) == list(range(count))
    with connected(empty) as connection:
        assert differences(connection) == []


# --- where the migrations are ---


def test_migrations_run_from_any_directory(tmp_path: Path) -> None:
    assert run("-c", USE, "sqlite:///store.db", "tic-tac-toe", directory=tmp_path) == str(
        Path(ggn_store.__file__).parent
    )
    assert (tmp_path / "store.db").is_file()


def test_migrations_run_from_a_path_with_any_characters(tmp_path: Path) -> None:
    place = tmp_path / "100% of %(here)s; it's [a] {place}, é"
    for name in ("ggn_store", "migrations", "data"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    assert run("-c", USE, "store.db", "tic-tac-toe", directory=place, python_path=place) == str(place / "ggn_store")
    assert (place / "store.db").is_file()


def members(archive: Path) -> set[str]:
    """The files of a wheel or an sdist, without the directory of the version."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return set(wheel.namelist())
    with tarfile.open(archive) as sdist:
        return {name.partition("/")[2] for name in sdist.getnames()}


@pytest.mark.long
def test_wheel_and_sdist_hold_everything_that_they_need(tmp_path: Path) -> None:
    """Needs the build backend hatchling: the installed one, else one that pip gets from its index."""
    tools = tmp_path / "tools"
    if importlib.util.find_spec("hatchling") is None:
        run("-m", "pip", "install", "--quiet", "--target", str(tools), "hatchling>=1.27", directory=tmp_path)

    def build(source: Path, target: str) -> Path:
        run("-m", "hatchling", "build", "-d", str(tmp_path / target), "-t", target, directory=source, python_path=tools)
        [built] = (tmp_path / target).iterdir()
        return built

    sdist = build(ROOT, "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    [source] = (tmp_path / "unpacked").iterdir()
    wheel = build(source, "wheel")

    shipped = [path.relative_to(ROOT) for path in sorted((ROOT / "data").rglob("*")) if path.is_file()]
    shipped += [path.relative_to(ROOT) for path in sorted((ROOT / "migrations").rglob("*.py"))]
    assert len(shipped) > 3
    assert {str(path) for path in shipped} | {"README.md", "LICENSE", "pyproject.toml"} <= members(sdist)
    beside = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "ggn_store").rglob("*")
        if path.suffix in (".md", ".sql", ".ipynb", ".txt", ".webp")
    }
    beside |= {"ggn_store/guides/cannon.svg", "ggn_store/py.typed", "ggn_store/__main__.py"}
    assert {f"ggn_store/_{path}" for path in shipped} | beside <= members(wheel)
    assert [name for name in members(wheel) | members(sdist) if re.search(r"__pycache__|\.db$|(^|/)\.venv", name)] == []

    installed = tmp_path / "100% installed"
    with zipfile.ZipFile(wheel) as archive_of_wheel:
        archive_of_wheel.extractall(installed)
    assert run("-c", USE, "store.db", directory=tmp_path, python_path=installed) == str(installed / "ggn_store")
