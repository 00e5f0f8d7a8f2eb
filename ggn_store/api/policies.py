"""Policies of namespaces: set, looked up, removed."""

from __future__ import annotations

from collections.abc import Sequence

from ggn_store.api import authors
from ggn_store.documents.lint import CODES
from ggn_store.errors import NotationError, UnknownNameError, offer, quote
from ggn_store.model.policy import ALL, EVERYTHING, Policy, PositionSet, Rules, check_namespace
from ggn_store.model.revision import check_name
from ggn_store.store import policies
from ggn_store.store.engine import Database
from ggn_store.store.versions import Gate


def set_policy(
    database: Database,
    tables: Gate,
    namespace: str,
    lint: Sequence[str],
    compatible: PositionSet | None,
    review: int,
    author: str | None,
    message: str | None,
) -> Policy:
    """Let these rules count for a namespace from now on."""
    codes = (ALL, *CODES)
    for code in lint:
        if code not in codes:
            raise NotationError(f"{quote(code)} is not a class of findings: {', '.join(codes)}")
    rules = Rules((ALL,) if ALL in lint else tuple(dict.fromkeys(lint)), compatible, review)
    return _add(database, tables, namespace, rules, author, message)


def remove_policy(
    database: Database, tables: Gate, namespace: str, author: str | None, message: str | None
) -> Policy | None:
    """Let a namespace have no policy of its own any more; that which counts instead, if there is one."""
    check_namespace(namespace)
    with tables.reading() as connection:
        if not policies.newest(connection, namespace):
            there = [each.namespace for each in policies.newest(connection)]
            raise UnknownNameError(
                f"{namespace} has no policy of its own"
                + (f"; there are policies of {offer(there)}" if there else ", and nothing else has one")
            )
    _add(database, tables, namespace, None, author, message)
    return None if namespace == EVERYTHING else counting(tables, namespace)


def counting(tables: Gate, name: str) -> Policy | None:
    """The policy that counts for a ruleset, or for those of a namespace."""
    with tables.reading() as connection:
        if check_namespace(name) == EVERYTHING:
            return next(iter(policies.newest(connection, name)), None)
        return policies.counting(connection, check_name(name))


def listed(tables: Gate) -> tuple[Policy, ...]:
    """The policies that there are, by namespace."""
    with tables.reading() as connection:
        return tuple(policies.newest(connection))


def log(tables: Gate, namespace: str) -> tuple[Policy, ...]:
    """All that was ever the policy of a namespace, the newest first."""
    check_namespace(namespace)
    with tables.reading() as connection:
        return tuple(policies.log(connection, namespace))


def _add(
    database: Database, tables: Gate, namespace: str, rules: Rules | None, author: str | None, message: str | None
) -> Policy:
    check_namespace(namespace)
    author = authors.signed(database, author, message)
    with tables.writing() as connection:
        return policies.add(database, connection, namespace, rules, author, message)
