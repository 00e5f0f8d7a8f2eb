"""Questions in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ggn_store.api.base import Section
from ggn_store.api.table import Table
from ggn_store.model.bounds import SqlBounds
from ggn_store.store.sql import queries

_USUAL: Final = SqlBounds()


class Questions(Section):
    """Anybody's own questions to a store."""

    def sql(
        self,
        query: str,
        values: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float = _USUAL.timeout,
        memory: int = _USUAL.memory,
        disk: int = _USUAL.disk,
    ) -> Table:
        """The answer to one SELECT on the views and tables; `values` are those of its `:names`.

        Nothing but reading is allowed. Raises QueryError where the query is wrong, does more than read, or takes more
        than `timeout` seconds, `memory` MiB, or `disk` MiB of temporary results; an answer of more than `limit` rows is
        cut, and says so. A process of its own asks the database; nobody who writes to a SQLite file waits for it: the
        query then begins anew on a private copy.
        """
        bounds = SqlBounds(limit, timeout, memory, disk)
        with self._tables.reading():
            pass
        return Table.of(queries.ask(self._database, query, {} if values is None else values, bounds))
