"""The policies of namespaces: rows that are only ever added, of which the newest counts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select

from ggn_store.errors import ConflictError
from ggn_store.model.policy import EVERYTHING, Policy, Rules, covering
from ggn_store.store import rulesets
from ggn_store.store import tables as t
from ggn_store.store.engine import Database


def _newest() -> Select[Any]:
    other = t.policy.alias()
    last = select(func.max(other.c.number)).where(other.c.namespace == t.policy.c.namespace).scalar_subquery()
    return select(t.policy).where(t.policy.c.number == last)


# Made once, since every load asks.
_COUNTING = (
    _newest()
    .where(t.policy.c.namespace.in_(bindparam("namespaces", expanding=True)), t.policy.c.rules.is_not(None))
    .order_by(func.length(t.policy.c.namespace).desc())
    .limit(1)
)


def counting(connection: Connection, name: str) -> Policy | None:
    """The policy that counts for the ruleset `name`: that of the longest namespace which has one."""
    row = connection.execute(_COUNTING, {"namespaces": [_stored(each) for each in covering(name)]}).first()
    return None if row is None else _policy_of(row)


def newest(connection: Connection, namespace: str | None = None) -> list[Policy]:
    """The policies that there are, by namespace; or that of one namespace, if it has one."""
    query = _newest().where(t.policy.c.rules.is_not(None)).order_by(t.policy.c.namespace)
    if namespace is not None:
        query = query.where(t.policy.c.namespace == _stored(namespace))
    return [_policy_of(row) for row in connection.execute(query)]


def log(connection: Connection, namespace: str) -> list[Policy]:
    """All that was ever the policy of a namespace, the newest first."""
    query = select(t.policy).where(t.policy.c.namespace == _stored(namespace)).order_by(t.policy.c.number.desc())
    return [_policy_of(row) for row in connection.execute(query)]


def add(
    database: Database,
    connection: Connection,
    namespace: str,
    rules: Rules | None,
    author: str | None,
    message: str | None,
) -> Policy:
    """Let these rules count for a namespace from now on; None for those of the namespace around it.

    Raises ConflictError where somebody else sets them in this moment.
    """
    stored = _stored(namespace)
    last = connection.execute(select(func.max(t.policy.c.number)).where(t.policy.c.namespace == stored)).scalar()
    number = (last or 0) + 1
    kept = None if rules is None else rules.compatible
    row = (
        database.insert(t.policy)
        .values(
            namespace=stored,
            number=number,
            rules=None if rules is None else json.dumps(rules.data(), ensure_ascii=False, sort_keys=True),
            positions=None if kept is None else kept.text(),
            author=author,
            message=message,
            created_at=datetime.now(UTC),
        )
        .on_conflict_do_nothing(index_elements=["namespace", "number"])
        .returning(t.policy)
    )
    found = connection.execute(row).first()
    if found is None:
        raise ConflictError(
            f"somebody else has just set the policy of {namespace}: see what it is now, and set it again"
        )
    return _policy_of(found)


def _stored(namespace: str) -> str:
    return "" if namespace == EVERYTHING else namespace


def _policy_of(row: Any) -> Policy:
    return Policy(
        row.namespace or EVERYTHING,
        row.number,
        None if row.rules is None else Rules.from_data(json.loads(row.rules), row.positions),
        row.author,
        row.message,
        rulesets.utc(row.created_at),
    )
