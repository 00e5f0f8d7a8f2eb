"""A team of five, each with a store of their own and all with a shared one: in the end all is sound and as decided."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.support.house import logins
from tests.support.postgres import Server
from tests.support.program import Program, run
from tests.support.week import NAMES, Ended, Person, Week

__all__ = ["run"]

SIZES = [
    pytest.param((3, 1, 5, 3), id="short"),
    pytest.param((5, 5, 200, 20), id="whole", marks=pytest.mark.long),
]


@pytest.fixture
def week(run: Program, tmp_path: Path) -> Week:
    def command(*arguments: str | Path) -> Ended:
        result = run(*arguments)
        return Ended(result.code, result.out + result.err)

    return Week(command, [], "", tmp_path, nullcontext, random.Random(19))


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
def test_a_team_shares_a_file(week: Week, size: tuple[int, int, int, int], tmp_path: Path) -> None:
    shared, away = tmp_path / "shared.db", tmp_path / "away.db"

    @contextmanager
    def outage() -> Iterator[None]:
        shared.rename(away)
        yield
        away.rename(shared)

    week.admin = str(shared)
    week.outage = outage
    week.people = [Person(name, str(tmp_path / f"{name}.db"), str(shared)) for name in NAMES[: size[0]]]
    week.run("--db", shared, "db", "upgrade")
    _play(week, *size[1:])


@pytest.mark.parametrize("size", SIZES)
def test_a_team_shares_a_server_with_roles(
    week: Week, size: tuple[int, int, int, int], tmp_path: Path, postgres_server: Server
) -> None:
    url = postgres_server.create_store()
    database = conninfo_to_dict(url)["dbname"]

    @contextmanager
    def outage() -> Iterator[None]:
        server.execute(f"ALTER DATABASE {database} CONNECTION LIMIT 0".encode())
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database])
        yield
        server.execute(f"ALTER DATABASE {database} CONNECTION LIMIT -1".encode())

    roles = dict.fromkeys(NAMES, "ggn_author") | {"eve": "ggn_admin"}
    with psycopg.connect(postgres_server.url, autocommit=True) as server, logins(url, roles) as addresses:
        week.admin = addresses["eve"]
        week.outage = outage
        week.people = [Person(name, str(tmp_path / f"{name}.db"), addresses[name]) for name in NAMES[: size[0]]]
        _play(week, *size[1:])


def _play(week: Week, games: int, changes: int, conflicts: int) -> None:
    week.play(games, changes, conflicts)
    assert week.seen == Counter(change=changes + 2 + conflicts, conflict=conflicts, outage=1, release=1)
