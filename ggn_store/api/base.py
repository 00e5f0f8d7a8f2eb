"""What all parts of the face of a store stand on."""

from __future__ import annotations

from ggn_store.store.database import engine
from ggn_store.store.database.session import Session


class Section:
    """A part of what a store can do; `Store` is all of them."""

    def __init__(self, database: engine.Database) -> None:
        self._database = database
        self._tables = Session(database)
