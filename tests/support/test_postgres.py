"""The Postgres that the store's tests run on is what they take it for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy

from tests.support.postgres import OVERRIDE, Server, server

TABLES = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"

SESSION = """
from tests.support.postgres import server
with server() as running:
    print(running.url, flush=True)
    input()
"""


@pytest.fixture
def database(postgres_server: Server) -> Iterator[str]:
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


def test_a_new_database_is_empty_and_holds_any_unicode_text(database: str) -> None:
    written = ["歩", "é", "e\u0301", "\U0001f0a1", "\U0010ffff", "z", "Z"]
    with psycopg.connect(database) as connection:
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
        assert connection.execute(TABLES).fetchone() == (0,)
        connection.execute('CREATE TABLE word (label text COLLATE "C" PRIMARY KEY)')
        for label in written:
            connection.execute("INSERT INTO word VALUES (%s)", [label])
    with psycopg.connect(database) as connection:
        read = [label for (label,) in connection.execute("SELECT label FROM word ORDER BY label")]
    assert read == sorted(written)


def test_two_databases_are_independent(postgres_server: Server, database: str) -> None:
    other = postgres_server.create_database()
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE word (label text)")
    with psycopg.connect(other) as connection:
        assert connection.execute(TABLES).fetchone() == (0,)
    postgres_server.drop_database(other)
    with psycopg.connect(database) as connection:
        assert connection.execute(TABLES).fetchone() == (1,)


def test_a_database_is_dropped_under_an_open_connection(postgres_server: Server) -> None:
    url = postgres_server.create_database()
    with psycopg.connect(url, autocommit=True) as connection:
        postgres_server.drop_database(url)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(url)


def test_sqlalchemy_reaches_a_database_by_the_same_url(database: str) -> None:
    engine = sqlalchemy.create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.connect() as connection:
            name = connection.execute(sqlalchemy.text("SELECT current_database()")).scalar_one()
    finally:
        engine.dispose()
    assert f"/{name}?" in database or database.endswith(f"/{name}")


def test_a_server_named_by_the_environment_is_used_and_left_as_it_was(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = postgres_server.url.replace("postgresql://", "postgresql+psycopg://")
    monkeypatch.setenv(OVERRIDE, given)
    with server() as same:
        assert same.url == postgres_server.url
        url = same.create_database()
        with psycopg.connect(url) as connection:
            assert connection.execute(TABLES).fetchone() == (0,)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(url)


def test_the_server_ends_with_a_session_that_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OVERRIDE, raising=False)
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", SESSION]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=root, stdin=pipe, stdout=pipe, text=True) as session:
        assert session.stdout is not None
        with psycopg.connect(session.stdout.readline().strip()) as connection:
            session.kill()
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT pg_sleep(60)")
