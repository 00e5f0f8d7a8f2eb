"""Running the migrations on a connection."""

from __future__ import annotations

import threading

from sqlalchemy import Connection

from ggn_store import resources

# Alembic keeps what it works on in module globals: one thread at a time.
_alembic = threading.Lock()


def run(connection: Connection) -> None:
    """Run all migrations that are still to be run, in the transaction that is open."""
    # Alembic is slow to import and only needed here.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(resources.directory("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    with _alembic:
        command.upgrade(config, "head")
