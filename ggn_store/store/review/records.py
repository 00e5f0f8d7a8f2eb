"""Records of reviews: what was said in other stores, and what is said here as other stores keep it.

The rows are no proposals and no verdicts, and nothing that decides reads them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection, select

from ggn_store.model.teams.proposal import Proposal
from ggn_store.model.teams.review import ForeignProposal, ReviewRecord
from ggn_store.store.database.engine import Database
from ggn_store.store.review import proposals
from ggn_store.store.rulesets import catalog, damaged
from ggn_store.store.schema import tables as t

_FIELDS: Final = ReviewRecord.__slots__
_KEY: Final = ("ruleset_id", "key")
_RECORDS: Final = select(t.review_record, t.ruleset.c.name).join(t.ruleset)


def foreign(connection: Connection, name: str | None = None) -> list[ForeignProposal]:
    """The proposals of other stores, for one ruleset or all, the newest first."""
    query = _RECORDS if name is None else _RECORDS.where(t.ruleset.c.name == name)
    found: dict[tuple[str, str], list[ReviewRecord]] = defaultdict(list)
    for row in damaged.rows(connection, query, *(t.review_record.c[each] for each in _KEY)).values():
        if fault(row) is None:
            record = _record(row)
            found[row.name, record.first].append(record)
    made = [
        ForeignProposal(of, tuple(sorted(records, key=lambda each: (each.created_at, each.order))))
        for (of, first), records in found.items()
        if any(each.key == first for each in records)
    ]
    return sorted(made, key=lambda each: (each.rounds[0].created_at, str(each)), reverse=True)


def fault(row: Any) -> str | None:
    """What is wrong with a row, None for one that cannot be read."""
    if row is None:
        return "it cannot be read"
    found = damaged.fault_of_time(row.created_at)
    if found is None:
        record = _record(row)
        found = record.fault()
        if found is None and record.key != row.key:
            found = "what it says does not give its key"
    return found


def _record(row: Any) -> ReviewRecord:
    values = {name: getattr(row, name) for name in _FIELDS}
    return ReviewRecord(**values | {"created_at": catalog.utc(row.created_at)})


def known(connection: Connection, name: str) -> set[str]:
    """The keys of what was said of a ruleset, here and elsewhere."""
    query = select(t.review_record.c.key).join(t.ruleset).where(t.ruleset.c.name == name)
    return {*connection.execute(query).scalars(), *(each.key for each in _own(connection, name))}


def said(connection: Connection, name: str) -> list[ReviewRecord]:
    """All that was said in reviews of a ruleset, here and elsewhere, each after what it is said of."""
    elsewhere = (record for each in foreign(connection, name) for record in each.records)
    return sorted({*elsewhere, *_own(connection, name)}, key=lambda each: each.order)


def _own(connection: Connection, name: str) -> Iterator[ReviewRecord]:
    """What is said in the reviews of this store, but for those of broken proposals."""
    rounds: dict[int, list[Proposal]] = defaultdict(list)
    for each in proposals.listed(connection, name):
        rounds[each.number].append(each)
    lineages: dict[int | None, str] = {}
    if rounds:
        query = select(t.revision.c.number, t.revision.c.lineage).join(t.ruleset).where(t.ruleset.c.name == name)
        lineages = {row.number: row.lineage for row in connection.execute(query)}
    for made in rounds.values():
        if all(each.fault is None for each in made):
            records = _records(sorted(made, key=lambda each: each.round), lineages)
            yield from records if all(each.fault() is None for each in records) else ()


def _records(rounds: Sequence[Proposal], lineages: dict[int | None, str]) -> list[ReviewRecord]:
    found: list[ReviewRecord] = []
    for each in rounds:
        values: dict[str, Any] = dict.fromkeys(_FIELDS) | {
            name: getattr(each, name)
            for name in ("number", "round", "digest", "author", "role", "message", "created_at")
        }
        values |= {"verdict": "proposed", "base": lineages.get(each.base)}
        found.append(ReviewRecord(**values | {"proposal": found[0].key if found else None}))
    for said in rounds[0].verdicts:
        values = {name: getattr(said, name, None) for name in _FIELDS}
        values |= {"proposal": found[0].key, "number": rounds[0].number}
        found.append(ReviewRecord(**values | {"revision": lineages.get(said.revision)}))
    return found


def add(database: Database, connection: Connection, ruleset_id: int, records: Sequence[ReviewRecord]) -> None:
    """Keep what was said elsewhere, each after what it is said of."""
    rows = [
        {name: getattr(each, name) for name in _FIELDS} | {"ruleset_id": ruleset_id, "key": each.key}
        for each in sorted(records, key=lambda each: each.order)
    ]
    database.add(connection, t.review_record, rows, _KEY)
