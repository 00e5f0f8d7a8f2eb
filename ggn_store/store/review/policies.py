"""The policies of namespaces: rows that are only ever added, of which the newest counts.

One that this program has not written so has a fault and no rules; what it covers takes no revisions.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, Select, bindparam, cast, func, select

from ggn_store.errors import ConflictError, StoreError, counted
from ggn_store.model.teams.policy import EVERYTHING, Policy, PolicyRules, check_namespace, covering
from ggn_store.store.database.engine import Database
from ggn_store.store.rulesets import catalog, damaged
from ggn_store.store.schema import tables as t


def _newest() -> Select[Any]:
    """The newest policies: a row far ahead of the others, which others have put there, never counts."""
    other, next_one = t.policy.alias(), t.policy.alias()
    follows = select(next_one.c.number).where(
        next_one.c.namespace == other.c.namespace, next_one.c.number == cast(other.c.number, BigInteger) + 1
    )
    last = (
        select(func.min(other.c.number))
        .where(other.c.namespace == t.policy.c.namespace, other.c.number >= 1, ~follows.exists())
        .scalar_subquery()
    )
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
    return next(iter(_read(connection, _COUNTING, namespaces=[_stored(each) for each in covering(name)])), None)


def asked(policy: Policy | None) -> PolicyRules | None:
    """What a policy asks for, if it does; raises StoreError for one that is broken."""
    if policy is not None and policy.fault is not None:
        raise StoreError(broken(policy))
    return None if policy is None else policy.rules


def review(policy: Policy | None) -> str | None:
    """What a policy says of revisions if they must be reviewed; None where they need not."""
    rules = asked(policy)
    if policy is None or rules is None or not rules.review:
        return None
    people = counted(rules.review, "other")
    return f"takes only what was proposed, and approved by {people} (the policy of {policy.namespace})"


def broken(policy: Policy) -> str:
    """What is wrong with a broken policy, and how to mend it."""
    place = f"the policy {policy.number} of {policy.namespace}"
    return f"{place} is broken, {policy.fault}: `ggn-store policy set` sets another"


def newest(connection: Connection, namespace: str | None = None) -> list[Policy]:
    """The policies that there are, by namespace; or that of one namespace, if it has one."""
    query = _newest().where(t.policy.c.rules.is_not(None)).order_by(t.policy.c.namespace)
    if namespace is not None:
        query = query.where(t.policy.c.namespace == _stored(namespace))
    return _read(connection, query)


def log(connection: Connection, namespace: str | None = None) -> list[Policy]:
    """All that was ever the policy of a namespace, or of any, the newest first."""
    query = select(t.policy).order_by(t.policy.c.namespace, t.policy.c.number.desc())
    return _read(connection, query if namespace is None else query.where(t.policy.c.namespace == _stored(namespace)))


def add(
    database: Database,
    connection: Connection,
    namespace: str,
    rules: PolicyRules | None,
    author: str | None,
    message: str | None,
) -> Policy:
    """Let these rules count for a namespace from now on; None for those of the namespace around it.

    Raises ConflictError where somebody else sets them in this moment.
    """
    stored = _stored(namespace)
    numbers = connection.execute(select(t.policy.c.number).where(t.policy.c.namespace == stored)).scalars()
    number = damaged.last(numbers) + 1
    kept = None if rules is None else rules.compatible
    said = {
        "namespace": stored,
        "number": number,
        "rules": None if rules is None else _text(rules),
        "positions": None if kept is None else kept.text(),
        "author": author,
        "message": message,
        "created_at": datetime.now(UTC),
    }
    if database.add(connection, t.policy, said, ("namespace", "number"), "number").first() is None:
        raise ConflictError(
            f"somebody else has just set the policy of {namespace}: see what it is now, and set it again"
        )
    return next(policy for policy in log(connection, namespace) if policy.number == number)


def _stored(namespace: str) -> str:
    return "" if namespace == EVERYTHING else namespace


def _text(rules: PolicyRules) -> str:
    return json.dumps(rules.data(), ensure_ascii=False, sort_keys=True)


def _read(connection: Connection, query: Select[Any], **values: Any) -> list[Policy]:
    found = damaged.rows(connection, query, t.policy.c.namespace, t.policy.c.number, values=values)
    return [_policy(namespace, number, row) for (namespace, number), row in found.items()]


def _policy(namespace: str, number: int, row: Any) -> Policy:
    try:
        if row is None:
            raise ValueError("it cannot be read")
        check_namespace(namespace or EVERYTHING)
        rules = None if row.rules is None else PolicyRules.from_data(json.loads(row.rules), row.positions)
        kept = None if rules is None else rules.compatible
        texts = None if rules is None else _text(rules), None if kept is None else kept.text()
        if texts != (row.rules, row.positions):
            raise ValueError("its rules are not as this program writes them")
        fault = damaged.fault_of_time(row.created_at)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        rules, fault = None, "its rules are not as this program writes them"
    said: tuple[str | None, str | None, datetime | None] = None, None, None
    if row is not None:
        said = damaged.text(row.author), damaged.text(row.message), catalog.utc(row.created_at)
    return Policy(namespace or EVERYTHING, number, rules, *said, fault)
