"""The files of SQL, and the text that is made of them: what stores have already is not to differ by a blank."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest
from alembic import command

import ggn_store
from ggn_store import Store, resources
from ggn_store.store.database import postgres_definitions
from ggn_store.store.server import guards, roles, seals
from tests.support.migrations import alembic, connected

PACKAGE = Path(ggn_store.__file__).parent
FILES = sorted(PACKAGE.rglob("*.sql"))


def digest(statements: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(statements).encode()).hexdigest()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_of_sql_is_tidy_says_what_it_is_for_and_is_used(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("-- ")
    assert text.endswith("\n")
    assert not re.search(r"[ \t]\n|\t|\n\n\Z", text)
    assert max(map(len, re.sub(r"\{\{\w+\}\}", "", text).splitlines())) <= 120
    others = "".join(each.read_text(encoding="utf-8") for each in file.parent.glob("*.py"))
    assert f'"{file.stem}"' in others


def test_words_are_put_in_once_and_one_that_is_not_given_is_an_error() -> None:
    written = resources.sql("ggn_store.store.server", "only_of_ours", parent="{{unless}}", unless="")
    assert written.startswith("IF EXISTS (")
    assert "FROM {{unless}} AS made" in written
    with pytest.raises(KeyError, match="unless"):
        resources.sql("ggn_store.store.server", "only_of_ours", parent="piece")


def test_no_word_is_left_open_in_what_is_made_and_the_server_takes_all_of_it(store: Store) -> None:
    database = store.session.database
    if not database.is_server:
        return
    with database.writing() as connection:
        roles.initialise(database, connection)
        script = roles.script(connection)
        assert "{{" not in script
        assert seals.script('"public"') in script
        found = guards.definitions(database, connection).found
        assert {name.partition("(")[0] for name in seals.signatures()} <= {name.partition("(")[0] for *_, name in found}
        assert guards.check(database, connection) == []


def test_the_seals_are_those_that_servers_have() -> None:
    """Whoever changes one on purpose changes the digest, and has every server run `db roles init` again."""
    assert len(seals.signatures()) == len(set(seals.signatures())) == 32
    assert digest(seals.statements('"public"')) == "0dd2598f1c9518309419a156b03d841921616b15299945c8d055b26d3890827d"


def test_what_the_migrations_make_is_what_stores_have(tmp_path: Path) -> None:
    assert (
        digest(postgres_definitions.recorded()[:226])
        == "405eee3a5b49fe3e1606c365b6c56c3f68c41a835e600a5776c351da59e9bf8c"
    )
    with connected(f"sqlite:///{tmp_path / 'store.db'}") as connection:
        alembic(connection, command.upgrade, "0007")
    with sqlite3.connect(tmp_path / "store.db") as opened:
        made = opened.execute("SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY type, name")
        assert digest(each for (each,) in made) == "4b186c49992d6fda444f1e87945b6131f516d664832b3a46529a2e45fe3489b6"
    opened.close()
