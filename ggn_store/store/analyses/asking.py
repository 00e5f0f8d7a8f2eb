"""Running the statements of an analysis, and telling what ran."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from sqlalchemy import CompoundSelect, Connection, Select

from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog

Tell = Callable[[str], None]

_AT_ONCE: Final = 10_000
_NOTHING: Final[Mapping[str, Any]] = {}


class Asker:
    """One transaction in which an analysis asks; `tell` gets the text of each statement, its values in it."""

    def __init__(self, database: Database, connection: Connection, tell: Tell | None) -> None:
        self.connection = connection
        self._database = database
        self._tell = tell

    def rows(self, statement: Select[Any] | CompoundSelect[Any], values: Mapping[str, Any] = _NOTHING) -> list[Any]:
        """The rows of a statement, with the values of its parameters."""
        self._told(statement, values)
        return [*self.connection.execute(statement, values)]

    def rows_of(self, keys: Iterable[int], statement: Callable[[list[int]], Select[Any]]) -> Iterator[Any]:
        """The rows of a statement about keys, of which no more are asked for at once than databases take."""
        for some in catalog.batches(keys, _AT_ONCE):
            yield from self.rows(statement(some))

    def _told(self, statement: Select[Any] | CompoundSelect[Any], values: Mapping[str, Any]) -> None:
        if self._tell is not None:
            compiled = statement.params(values).compile(self._database.engine, compile_kwargs={"literal_binds": True})
            self._tell(str(compiled))


@contextmanager
def asking(
    database: Database, tell: Tell | None, reading: AbstractContextManager[Connection] | None = None
) -> Iterator[Asker]:
    """An asker in a transaction of its own, which is `reading` where the tables have yet to be looked at."""
    with reading or database.reading() as connection:
        yield Asker(database, connection, tell)
