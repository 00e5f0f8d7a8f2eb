"""Stores that cannot be used: each is named with the cure, and never with its password."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, text

from ggn_store.store.database.address import connect
from tests.support.program import MUST, QUICK, Program, names, write
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run

ADDRESSES: list[tuple[str, str]] = [
    ("no/such/directory/x.db", "sqlite:///no/such/directory/x.db: "),
    ("sqlite:////no/such/directory/x.db", "sqlite:////no/such/directory/x.db: "),
    ("text.txt", "text.txt: the file is not a SQLite database"),
    ("directory", "directory: the file cannot be opened"),
    ("mysql://user:s3cret@host/db", '"mysql" is not a database that can hold a store'),
    ("nonsense://", '"nonsense" is not a database that can hold a store'),
    ("://", "this is not the address of a store: write sqlite:///file.db"),
    ("postgresql://u:s3cret@127.0.0.1:port/db", "this is not the address of a store"),
    ("postgresql://u:s3cret@[::1/db", "this is not the address of a store"),
    ("postgresql://u:s3cret@127.0.0.1:1/db", "postgresql://u:***@127.0.0.1:1/db: no connection"),
    ("postgres://u:s3cret@127.0.0.1:1/db", "postgresql://u:***@127.0.0.1:1/db: no connection"),
    ("postgresql+asyncpg://u:s3cret@127.0.0.1:1/db", "no connection"),
    ("postgresql://127.0.0.1:1/db?user=u&password=s3cret", "127.0.0.1:1/db?user=u: no connection"),
    ("postgresql://u:s3@cret@127.0.0.1:1/db", "%40"),
    ("postgresql://u:s3cret@127.0.0.1:1/db?sslmode=bad", "no connection: "),
    ("postgresql://u:s3cret@127.0.0.1:1/db?nonsense=1", "no connection: "),
    ("sqlite://u:s3cret@host/x.db", "sqlite:///"),
    ("sqlite:///x.db?mode=ro", "sqlite:///"),
]


@pytest.mark.parametrize(("address", "said"), ADDRESSES, ids=[row[0] for row in ADDRESSES])
def test_a_store_that_cannot_be_used_is_named_without_its_password(run: Program, address: str, said: str) -> None:
    write("text.txt", "text " * 1000)
    write("directory/inside", "")
    write("quick.json", QUICK)
    for command in (("list",), ("load", "quick.json"), ("db", "upgrade"), ("db", "check"), ("moves", "chess")):
        result = run("--db", address, *command)
        assert (result.code, result.out) == (1, ""), command
        assert result.err.startswith("Error: ")
        assert said in result.err, command
        assert "s3" not in result.err
        assert "cret" not in result.err
        assert "sqlalche.me" not in result.err
        assert result.err.count("\n") == 1
    assert sorted(str(path) for path in Path().rglob("*")) == [
        "directory",
        "directory/inside",
        "quick.json",
        "text.txt",
    ]
    assert Path("text.txt").read_text(encoding="utf-8") == "text " * 1000


def test_the_environment_s_address_is_named_without_its_password_too(
    run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:s3cret@127.0.0.1:1/db")
    commands: list[list[str]] = [["list"], ["db", "info"], ["db", "info", "--format", "json"]]
    for command in commands:
        result = run(*command)
        assert result.code == 1
        assert "u:***@127.0.0.1:1/db: no connection" in result.err
        assert "s3cret" not in result.out + result.err


def test_a_database_without_tables_is_named_with_the_cure_and_without_a_password(
    run: Program, postgres_server: Any
) -> None:
    url = make_url(postgres_server.create_database())
    password = url.password or "s3cret"  # the tests' own server trusts everybody
    address = url.set(password=password).update_query_dict({"sslpassword": password})
    given = address.render_as_string(hide_password=False)
    write("quick.json", QUICK)
    for command in (("list",), ("moves", "chess"), ("db", "check"), ("delete", "chess"), ("load", "quick.json")):
        result = run("--db", given, *command)
        assert result.code == 1
        assert "the store is empty, it has no tables yet: run `ggn-store --db " in result.err, command
        assert " db upgrade`" in result.err
        assert password not in result.out + result.err
    assert run("--db", given, "db", "upgrade").code == 0
    infos: list[list[str]] = [["db", "info"], ["db", "info", "--format", "json"]]
    for info in infos:
        shown = run("--db", given, *info)
        assert shown.code == 0
        assert "***" in shown.out
        assert password not in shown.out + shown.err


def test_tables_of_another_version_are_named_with_the_cure(run: Program, address: str) -> None:
    run("--db", address, "db", "upgrade")
    database = connect(address)
    with database.writing() as connection:
        connection.execute(text("UPDATE ggn_store_version SET version_num = '9999'"))
    for command in (("list",), ("db", "upgrade"), ("db", "check"), ("load", "-", "--name", "x")):
        result = run("--db", address, *command, stdin=json.dumps(QUICK))
        assert result.code == 1
        assert "the store is ahead: its tables are version 9999" in result.err
        assert "install a newer ggn-store" in result.err
    shown = run("--db", address, "db", "info")
    assert (shown.code, shown.err) == (0, "")
    assert "9999 (this program needs " in shown.out
    with database.writing() as connection:
        connection.execute(text("DROP TABLE ggn_store_version"))
    database.close()
    result = run("--db", address, "list")
    assert result.code == 1
    assert "the database holds tables of something else and no store" in result.err


def test_a_damaged_file_is_named_and_left_alone(run: Program) -> None:
    run("--db", "store.db", "load", "-", "--name", "quick", stdin=json.dumps(QUICK))
    whole = Path("store.db").read_bytes()
    for damaged in (whole[:5000], whole[:100] + b"\xff" * (len(whole) - 100)):
        Path("store.db").write_bytes(damaged)
        for command in (("list",), ("moves", "quick"), ("db", "check"), ("load", "-", "--name", "other")):
            result = run("--db", "store.db", *command, stdin=json.dumps(MUST))
            assert result.code == 1, command
            assert "store.db: " in result.err
            assert result.err.count("\n") <= 3
        assert Path("store.db").read_bytes() == damaged


def test_an_empty_address_is_no_way_to_the_store_of_the_home(run: Program, tmp_path: Path) -> None:
    result = run("--db", "", "delete", "chess")
    assert (result.code, result.out) == (2, "")
    assert "--db names no store: leave it out to use the default" in result.err
    assert not (tmp_path / "home").exists()


def test_a_home_that_cannot_be_written_is_named_with_the_way_out(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    write("file", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(Path("file").absolute() / "data"))
    result = run("load", write("quick.json", QUICK))
    assert (result.code, result.out) == (1, "")
    assert "the data directory cannot be made (Not a directory): name a store with --db" in result.err


def test_what_an_address_may_hold_stays_the_name_of_a_file(run: Program) -> None:
    for name in ("a b.db", "100%.db", "a%20b.db", "ä?#.db", "a'b.db"):
        assert run("--db", name, "load", "-", "--name", "quick", stdin=json.dumps(QUICK)).code == 0
        assert Path(name).is_file()
        shown = run("--db", name, "db", "info").out
        again = re.search("address   (.*)\n", shown)
        assert again is not None
        assert names(run("--db", again[1], "list")) == ["quick"]
