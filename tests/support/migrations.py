"""The migrations run step by step, and a connection past the store, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from alembic.config import Config
from sqlalchemy import Connection

from ggn_store.store.database import address as addresses
from tests.support.loader import ROOT


@contextmanager
def connected(address: str) -> Iterator[Connection]:
    """A transaction on a database, whatever its tables are."""
    database = addresses.connect(address)
    with closing(database), database.writing() as connection:
        yield connection


def alembic(connection: Connection, command: Callable[..., None], revision: str) -> None:
    """Run an Alembic command as `upgrade` does."""
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command(config, revision)
