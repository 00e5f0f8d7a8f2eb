"""Alembic's entry: runs migrations on the connection that the program hands over.

From a shell in a checkout (`alembic upgrade head`, `alembic revision`) the store is that of GGN_STORE_URL.
"""

from __future__ import annotations

import os
from typing import Any

from alembic import context
from sqlalchemy import Connection

from ggn_store.store.database.address import connect
from ggn_store.store.database.session import VERSION_TABLE
from ggn_store.store.schema.tables import metadata


def run(connection: Connection) -> None:
    """Run the migrations in the transaction that `connection` has open."""
    context.configure(
        connection=connection,
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        include_name=_is_ours,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def _is_ours(name: str | None, kind: str, parents: Any) -> bool:
    return kind != "table" or name in metadata.tables


handed_over: Connection | None = context.config.attributes.get("connection")
if handed_over is not None:
    run(handed_over)
else:
    with connect(os.environ["GGN_STORE_URL"]).writing() as connection:
        run(connection)
