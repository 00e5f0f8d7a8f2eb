"""Rights: whom the policy of a namespace lets propose, judge and tag. The triggers of the database say the same.

A name is a role of the server, or one that the role is a member of; in a file it is the author's word.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection

from ggn_store.errors import GateError, offer, quote
from ggn_store.model.teams.policy import LISTS, PolicyRules
from ggn_store.store.database.engine import AUTHOR, Database
from ggn_store.store.review import policies
from ggn_store.store.review.members import able, members
from ggn_store.store.schema import tables as t

# What somebody writes who does what a list is about.
_WRITTEN: Final = {"proposers": t.proposal, "approvers": t.verdict, "taggers": t.tag}


def require(database: Database, connection: Connection, name: str, key: str, author: str | None) -> None:
    """Raise GateError unless whoever is here may do with the ruleset `name` what the list `key` is about."""
    who = database.role or author
    policy = policies.counting(connection, name)
    names = None if policy is None or policy.rules is None else policy.rules.people().get(key)
    if policy is None or names is None or who in members(connection, names):
        return
    somebody = "somebody without a name" if who is None else quote(who)
    raise GateError(
        f"{name}: {somebody} may not {LISTS[key]}: the policy of {policy.namespace} lets {offer(names)} do that"
    )


def require_people(connection: Connection, rules: PolicyRules) -> None:
    """Raise GateError for lists with which nothing could ever be proposed, approved or tagged."""
    people: dict[str, set[str]] = {}
    for key, names in rules.people().items():
        found = members(connection, names)
        if unknown := [name for name in names if name not in found]:
            raise GateError(f"{key}: there is no role {quote(unknown[0])} on this server")
        can_connect = [name for name, connects in found.items() if connects]
        if not can_connect:
            raise GateError(f"{key}: nobody who can log in is {offer(names)}, or a member of it")
        people[key] = able(connection, can_connect, _WRITTEN[key])
        if not people[key]:
            raise GateError(
                f"{key}: the server does not let {offer(can_connect)} {LISTS[key]}: GRANT {AUTHOR} TO one of them first"
            )
    if "approvers" not in people:
        return
    judges, needed = people["approvers"], max(1, rules.review)
    # Nobody approves of a proposal of their own.
    others = max((len(judges - {each}) for each in people.get("proposers", ())), default=len(judges))
    if others < needed:
        count = f"{others} other{'' if others == 1 else 's'}"
        raise GateError(
            f"whoever proposes has {count} among the approvers, and a change needs {needed}: name more approvers or "
            "proposers, or ask for fewer with --review"
        )
