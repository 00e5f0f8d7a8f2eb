"""Questions in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ggn_store.api.base import Section
from ggn_store.api.table import DEFAULT_SECONDS, Table
from ggn_store.store import sql


class Questions(Section):
    """Anybody's own questions to a store."""

    def sql(
        self,
        query: str,
        values: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float = DEFAULT_SECONDS,
    ) -> Table:
        """The answer to one SELECT on the views and tables; `values` are those of its `:names`.

        Nothing but reading is allowed. Raises QueryError where the query is wrong, does more than read, or takes more
        than `timeout` seconds or too much memory; an answer of more than `limit` rows is cut, and says so. Where the
        database is Postgres, it is worked on by the server, else by a process of its own.
        """
        with self._tables.reading():
            pass
        return Table.of(sql.ask(self._database, query, {} if values is None else values, limit, timeout))
