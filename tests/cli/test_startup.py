"""What a command imports: no more than it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ggn_store import Store
from ggn_store.cli import options
from ggn_store.model.documents.document import DIALECTS

_RUN = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from ggn_store.cli import main
main()
"""
# What belongs to other commands, to the other database, to making a store, and to the terminal.
NEVER = (
    *("alembic", "duckdb", "jsonschema", "numpy", "pandas", "platformdirs", "pyarrow", "pyspark", "rich"),
    *("tomlkit", "starlette", "uvicorn", "jinja2", "ggn_store.web"),
    *("ggn_store.analysis", "ggn_store.columnar", "ggn_store.exports", "ggn_store.games", "ggn_store.gdl"),
    *("ggn_store.store.analyses", "ggn_store.store.exchange", "ggn_store.store.review", "ggn_store.store.server"),
    *("ggn_store.store.bulk", "ggn_store.store.sql", "ggn_store.store.upkeep", "ggn_store.store.database.postgres"),
    "ggn_store.documents",
    *("ggn_store.store.history.audit", "ggn_store.store.history.log", "ggn_store.store.database.migrate"),
    *(
        "psycopg",
        "sqlalchemy.dialects.postgresql",
        "sqlalchemy.orm",
        "ggn_store.model.changes.merge",
        "ggn_store.model.changes.diff",
        "ggn_store.model.moves.legality",
        "ggn_store.model.moves.threats",
    ),
)
# Nor anything of a store, where none is used.
NO_STORE = (*NEVER, "sqlalchemy", "sqlite3", "ggn_store.store", "ggn_store.api.store")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("startup") / "store.db"
    with Store.open(file) as made:
        made.load({"C:P": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:P"}}}]}}}, "chess")
    return file


def imported(store: Path, *arguments: str, **environment: str) -> tuple[str, set[str]]:
    """What a command prints, and the modules that it has imported at its end."""
    result = subprocess.run(
        [sys.executable, "-c", _RUN, *arguments],
        env={**os.environ, "GGN_STORE_URL": f"sqlite:///{store}", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout, set(result.stderr.split())


def of_prefixes(modules: set[str], prefixes: tuple[str, ...]) -> set[str]:
    return {each for each in modules if each.startswith(tuple(f"{prefix}." for prefix in prefixes)) or each in prefixes}


def test_moves_on_sqlite_imports_nothing_of_other_commands_and_databases(store: Path) -> None:
    printed, modules = imported(store, "moves", "chess", "--board", '{"a1": "C:P"}')
    assert '"destination":"a2"' in printed
    assert "ggn_store.store.moves.fast" in modules
    assert of_prefixes(modules, NEVER) == set()


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_what_needs_no_store_imports_no_database(store: Path, option: str) -> None:
    printed, modules = imported(store, option)
    assert "ggn-store" in printed
    forbidden = NO_STORE if option == "--version" else ("alembic", "platformdirs", "psycopg", "rich", "sqlalchemy")
    assert of_prefixes(modules, forbidden) == set()


def test_the_dialects_that_help_names_are_those_of_documents() -> None:
    assert options.DIALECTS == DIALECTS


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ggn-store mov", "plain,moves"),
        ("ggn-store moves --sou", "plain,--source"),
        ("ggn-store moves ch", "plain,chess"),
        ("ggn-store load --library raum", "plain,raumschach"),
        ("ggn-store guide lim", "plain,limits"),
    ],
)
def test_completion_imports_no_database_toolkit(store: Path, words: str, offered: str) -> None:
    printed, modules = imported(
        store, _GGN_STORE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1)
    )
    assert printed.split() == [offered]
    assert of_prefixes(modules, ("alembic", "platformdirs", "psycopg", "rich", "sqlalchemy")) == set()


def test_the_version_that_a_store_needs_is_the_head_of_its_migrations() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    from ggn_store import resources
    from ggn_store.store.database.session import known_versions

    config = Config()
    config.set_main_option("script_location", str(resources.directory("migrations")).replace("%", "%%"))
    assert known_versions()[-1] == ScriptDirectory.from_config(config).get_current_head()
