"""Which pieces were found sound before, so that a check need not derive their digests again.

What is remembered of a piece counts as long as the same version of the checker would look at the same rows: a hash of
their values is as it was. That finds accidents. Whoever may write what is remembered could forge it: on a server that
are those who keep the store, for whom its seals look at the piece again; a SQLite file keeps nobody from anything.
Hence a check that asks nothing of this.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, Integer, Select, Table, bindparam, delete, insert, literal, select

from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog, damaged, lanes
from ggn_store.store.schema import tables as t

# To be raised whenever a check looks at more, or what it looks at is made in another way.
CHECKER: Final = 5
_AT_ONCE: Final = 32

# What a piece's rows are in, each with the key of the piece.
ROWS: Final = {
    **{table: table.c.piece_id for table in (*t.PIECE_TABLES, t.piece_summary, t.piece_facts)},
    t.lane: t.lane.c.key.bitwise_rshift(literal(lanes.OF_PIECE, Integer)),
}
# What asks for them, by the kind of database: this takes longer to make than to ask.
_QUERIES: Final[dict[type[Database], dict[Table, Select[Any]]]] = {}


class Memory:
    """What is remembered of a store's pieces, and what is to be; with `full` nothing is."""

    def __init__(self, database: Database, full: bool = False) -> None:
        self._database = database
        self._full = full
        self._looked_at: range = range(0)
        self._known: set[int] = set()
        self._sound: dict[int, str] = {}
        self.knows_all = not full
        if type(database) not in _QUERIES:
            _QUERIES[type(database)] = {
                table: select(key, *database.checksums(table, key))
                .where(table.primary_key.columns[0].between(bindparam("first"), bindparam("last")))
                .group_by(key)
                for table, key in ROWS.items()
            }
        self._queries = _QUERIES[type(database)]

    def knows(self, connection: Connection, piece_id: int) -> bool:
        """Whether a piece was found sound, and nothing has changed since."""
        if not self._full and piece_id not in self._looked_at:
            self._looked_at = range(piece_id, piece_id + _AT_ONCE)
            self._known = set(damaged.attempt(lambda: self._unchanged(connection)) or ())
        is_known = piece_id in self._known
        self.knows_all = self.knows_all and is_known
        return is_known

    def _unchanged(self, connection: Connection) -> list[int]:
        remembered = connection.execute(
            select(t.piece_check.c.piece_id, t.piece_check.c.fingerprint, t.piece_check.c.checked_at).where(
                t.piece_check.c.piece_id.between(self._looked_at[0], self._looked_at[-1]),
                t.piece_check.c.checker == CHECKER,
            )
        ).all()
        found = self._fingerprints(connection, self._looked_at) if remembered else {}
        return [key for key, said, at in remembered if found.get(key) == said and not damaged.fault_of_time(at)]

    def note(self, connection: Connection, piece_id: int) -> None:
        """Remember a piece that was just found sound, in this transaction, if all its values are of their types."""
        one = range(piece_id, piece_id + 1)
        self._sound |= damaged.attempt(lambda: self._fingerprints(connection, one)) or {}

    def _fingerprints(self, connection: Connection, pieces: range) -> dict[int, str]:
        """What the rows of pieces look like, as a hash of what the database says of them table by table."""
        hashes: dict[int, Any] = {}
        for row in connection.execute(select(t.piece).where(t.piece.c.id.between(pieces[0], pieces[-1]))):
            hashes[row.id] = hashlib.sha256(repr(tuple(row)).encode())
        for table, query in self._queries.items():
            between = {"first": pieces[0], "last": pieces[-1]}
            if table is t.lane:
                between = {"first": lanes.key_of(pieces[0], None), "last": lanes.key_of(pieces[-1] + 1, None) - 1}
            for piece_id, *said in connection.execute(query, between):
                if piece_id in hashes:
                    hashes[piece_id].update(repr((table.name, said)).encode())
        return {key: each.hexdigest() for key, each in hashes.items()}

    def write(self, connection: Connection) -> None:
        """Store what is to be remembered of the pieces that are still there."""
        for keys in catalog.batches(sorted(self._sound)):
            there = connection.execute(select(t.piece.c.id).where(t.piece.c.id.in_(keys))).scalars().all()
            connection.execute(delete(t.piece_check).where(t.piece_check.c.piece_id.in_(there)))
            same = {"checker": CHECKER, "checked_at": datetime.now(UTC)}
            rows = [{"piece_id": each, "fingerprint": self._sound[each]} | same for each in there]
            if rows:
                connection.execute(insert(t.piece_check), rows)

    @property
    def has_news(self) -> bool:
        """Whether there is anything to be written."""
        return bool(self._sound)
