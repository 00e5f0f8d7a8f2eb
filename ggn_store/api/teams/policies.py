"""Policies of namespaces: set, looked up, removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

from ggn_store.api.session import authors
from ggn_store.documents.lint import CODES
from ggn_store.errors import NotationError, UnknownNameError, offer, quote
from ggn_store.model.teams.policy import ALL, EVERYTHING, Policy, PolicyRules, PositionSet, check_namespace
from ggn_store.model.teams.revision import check_name
from ggn_store.store.database.session import Session
from ggn_store.store.review import policies, rights


class PolicyOptions(TypedDict, total=False):
    """What a policy may ask for."""

    lint: Sequence[str]
    compatible: PositionSet | None
    review: int
    proposers: Sequence[str] | None
    approvers: Sequence[str] | None
    taggers: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Policies:
    """`store.policies`: what revisions of a namespace must be like."""

    _session: Session

    def set(
        self,
        namespace: str,
        *,
        author: str | None = None,
        message: str | None = None,
        **asked: Unpack[PolicyOptions],
    ) -> Policy:
        """Say what revisions of a namespace must be like: `team` for `team/...`, `team/chess`, `*` for the whole store.

        `lint` has codes of findings that are refused, or `all`; `compatible` positions whose moves must stay the same;
        `review` says how many others must approve of a change. Rules that are not given are not asked for. The policy
        of the longest namespace counts alone.

        Only `proposers` propose changes, and load them where no review is asked for; only the approvals and rejections
        of `approvers` count; only `taggers` move tags and set states. These are the authors' names in a SQLite file, on
        Postgres roles of the server, of which users may be members; without a list it is everybody. Raises GateError
        for a list of nobody, and where nobody could ever have enough approvals.
        """
        codes, lint = (ALL, *CODES), _listed(asked.get("lint", ()))
        for code in lint:
            if code not in codes:
                raise NotationError(f"{quote(code)} is not a class of findings: {', '.join(codes)}")
        rules = PolicyRules(
            (ALL,) if ALL in lint else tuple(dict.fromkeys(lint)),
            asked.get("compatible"),
            asked.get("review", 0),
            _names(asked.get("proposers")),
            _names(asked.get("approvers")),
            _names(asked.get("taggers")),
        )
        return self._add(namespace, rules, author, message)

    def remove(self, namespace: str, *, author: str | None = None, message: str | None = None) -> Policy | None:
        """Let a namespace have no policy of its own; returns the one that counts instead, if there is one."""
        check_namespace(namespace)
        with self._session.reading() as connection:
            if not policies.newest(connection, namespace):
                there = [each.namespace for each in policies.newest(connection)]
                raise UnknownNameError(
                    f"{namespace} has no policy of its own"
                    + (f"; there are policies of {offer(there)}" if there else ", and nothing else has one")
                )
        self._add(namespace, None, author, message)
        return None if namespace == EVERYTHING else self.get(namespace)

    def _add(self, namespace: str, rules: PolicyRules | None, author: str | None, message: str | None) -> Policy:
        check_namespace(namespace)
        author = authors.signed(self._session.database, author, message)
        with self._session.writing() as connection:
            if rules is not None:
                rights.require_people(connection, rules)
            return policies.add(self._session.database, connection, namespace, rules, author, message)

    def get(self, name: str) -> Policy | None:
        """The policy that counts for a ruleset, or for those of a namespace."""
        with self._session.reading() as connection:
            if check_namespace(name) == EVERYTHING:
                return next(iter(policies.newest(connection, name)), None)
            return policies.counting(connection, check_name(name))

    def list(self) -> tuple[Policy, ...]:
        """The newest policy of every namespace that has one."""
        with self._session.reading() as connection:
            return tuple(policies.newest(connection))

    def log(self, namespace: str) -> tuple[Policy, ...]:
        """All that was ever the policy of a namespace, the newest first."""
        check_namespace(namespace)
        with self._session.reading() as connection:
            return tuple(policies.log(connection, namespace))


def _listed(given: Sequence[str]) -> Sequence[str]:
    """What is given in a list, or alone."""
    return given if isinstance(given, Iterable) and not isinstance(given, str) else [given]


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """The names of a list, each once, in the order in which policies are written."""
    return None if names is None else tuple(sorted(dict.fromkeys(_listed(names)), key=str))
