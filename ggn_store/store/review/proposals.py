"""Proposals and verdicts: rows that are only ever added.

Whoever has SQL in hand may have added some that this program would not. They are read as far as they can be, with what
is wrong with them, so that all others can be listed and they can be rejected.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from ggn_store.errors import DamagedError, StoreError, UnknownNameError, quote
from ggn_store.model.document import Envelope
from ggn_store.model.policy import PolicyRules
from ggn_store.model.proposal import Judgement, Proposal, Verdict
from ggn_store.store.database.engine import Database
from ggn_store.store.review import policies
from ggn_store.store.review.members import members
from ggn_store.store.rulesets import catalog, damaged, load, stored_documents
from ggn_store.store.rulesets.load import Head, Made
from ggn_store.store.schema import tables as t

_DIGEST: Final = re.compile("[0-9a-f]{64}")
_BASE = t.revision.alias("base")
_HEAD = t.revision.alias("head")
_PROPOSALS = (
    select(
        t.proposal,
        t.ruleset.c.name,
        _BASE.c.number.label("base"),
        _BASE.c.ruleset_id.label("base_ruleset_id"),
        select(func.max(_HEAD.c.number))
        .where(_HEAD.c.ruleset_id == t.proposal.c.ruleset_id)
        .scalar_subquery()
        .label("head"),
    )
    .join(t.ruleset, t.ruleset.c.id == t.proposal.c.ruleset_id)
    .outerjoin(_BASE, _BASE.c.id == t.proposal.c.base_id)
    .order_by(t.proposal.c.created_at.desc(), t.proposal.c.id.desc())
)
# What can be read of every row.
_PLACES = select(t.proposal.c.id, t.proposal.c.number, t.ruleset.c.name).join(t.ruleset)
_VERDICTS = select(t.verdict, t.revision.c.number.label("revision")).outerjoin(
    t.revision, t.revision.c.id == t.verdict.c.revision_id
)


def find(connection: Connection, name: str, number: int) -> Proposal:
    """One proposal, which may be broken; raises UnknownNameError, with what there is instead."""
    found = listed(connection, name)
    for proposal in found:
        if proposal.number == number:
            return proposal
    numbers = sorted(each.number for each in found if isinstance(each.number, int))
    few = f"its proposals are {name}#{numbers[0]} to {name}#{numbers[-1]}" if numbers else ""
    there = few or f"nothing was proposed for {quote(name)}"
    raise UnknownNameError(f"there is no proposal {quote(f'{name}#{number}')}: {there}")


def find_whole(connection: Connection, name: str, number: int) -> Proposal:
    """Like `find`; raises StoreError unless the proposal is whole: then its pieces are those of its digest."""
    proposal = find(connection, name, number)
    fault = proposal.fault
    if fault is None:
        try:
            is_whole = (
                stored_documents.digest(connection, stored_documents.of_proposal(connection, proposal))
                == proposal.digest
            )
        except (LookupError, TypeError, ValueError):
            is_whole = False
        fault = None if is_whole else _NOT_WHOLE
    if fault is not None:
        raise StoreError(f"{proposal} is broken: {fault}: `ggn-store reject {proposal}` closes it")
    return proposal


_NOT_WHOLE: Final = "its pieces do not give its digest, so that it is not what was proposed"


def listed(connection: Connection, name: str | None = None) -> list[Proposal]:
    """All proposals, or those for one ruleset, the newest first; what is wrong with one is its `fault`."""
    return _read(connection, _PROPOSALS if name is None else _PROPOSALS.where(t.ruleset.c.name == name))


def fault(connection: Connection, key: int) -> str | None:
    """What is wrong with the proposal of a key, but for its digest; None where nothing is."""
    found = _read(connection, _PROPOSALS.where(t.proposal.c.id == key))
    return found[0].fault if found else None


def add(
    database: Database,
    connection: Connection,
    name: str,
    head: Head,
    made: Made,
    piece_ids: Sequence[int],
    accepted: Sequence[str],
) -> Proposal:
    """Propose that a revision which lists these pieces follows the head."""
    ruleset_id = load.store_ruleset(database, connection, name)
    proposal = None
    while proposal is None:
        numbers = select(t.proposal.c.number).where(t.proposal.c.ruleset_id == ruleset_id)
        number = damaged.last(connection.execute(numbers).scalars()) + 1
        said = made.row() | {"ruleset_id": ruleset_id, "number": number, "base_id": head.id, "pieces": len(piece_ids)}
        said["accepted"] = json.dumps(accepted, ensure_ascii=False) if accepted else None
        proposal = database.add(connection, t.proposal, said, ("ruleset_id", "number"), "id").scalar()
    rows = [(proposal, ordinal, piece_id) for ordinal, piece_id in enumerate(piece_ids)]
    database.fill(connection, t.proposal_piece.columns, rows)
    return find(connection, name, number)


def judge(
    database: Database,
    connection: Connection,
    proposal: Proposal,
    verdict: Judgement,
    author: str | None,
    message: str | None,
    revision_id: int | None = None,
) -> bool:
    """Add a verdict to those that the proposal has; False where somebody else has just added one."""
    said = {
        "proposal_id": proposal.id,
        "ordinal": len(proposal.verdicts) + 1,
        "verdict": verdict,
        "digest": proposal.digest if verdict == "approved" else None,
        "revision_id": revision_id,
        "author": author,
        "message": message,
        "created_at": datetime.now(UTC),
    }
    return database.add(connection, t.verdict, said, ("proposal_id", "ordinal"), "ordinal").first() is not None


def _read(connection: Connection, query: Select[Any]) -> list[Proposal]:
    rows = {key: row for (key,), row in damaged.rows(connection, query, t.proposal.c.id).items()}
    places = {row.id: row for row in connection.execute(_PLACES.where(t.proposal.c.id.in_([*rows])))}
    names = {row.name for row in places.values()}
    numbers: dict[str, list[Any]] = defaultdict(list)
    for row in connection.execute(_PLACES.where(t.ruleset.c.name.in_(names))):
        numbers[row.name].append(row.number)
    last = {name: damaged.last(numbers[name]) for name in names}
    needed = {name: _needed(connection, name) for name in names}
    verdicts = _verdicts(connection, [*rows])
    proposal_id = t.proposal_piece.c.proposal_id
    listed = Counter(connection.execute(select(proposal_id).where(proposal_id.in_([*rows]))).scalars())
    found = []
    for key, row in rows.items():
        place = places[key]
        count, approvers, of_policy = needed[place.name]
        said = verdicts.get(key, ())
        people = None if approvers is None else members(connection, approvers)
        who = {each.who for each in said if each.who is not None}
        strangers = frozenset() if people is None else frozenset(who - people.keys())
        fault = "it cannot be read" if row is None else _fault(row, listed[key], said)
        if not damaged.is_up_to(place.number, last[place.name]):
            fault = "its number does not follow those of the others"
        proposal = _proposal(key, place, row, said, count, fault or of_policy)
        found.append(replace(proposal, approvers=approvers, strangers=strangers))
    return found


def _needed(connection: Connection, name: str) -> tuple[int, tuple[str, ...] | None, str | None]:
    """How many must approve of a change of a ruleset, who may, and what is wrong with the policy that says so."""
    policy = policies.counting(connection, name)
    rules = PolicyRules() if policy is None or policy.rules is None else policy.rules
    # Where nothing asks for a review, one who looks at it is still what a proposal is for.
    fault = None if policy is None or policy.fault is None else policies.broken(policy)
    return max(1, rules.review), rules.approvers, fault


def _fault(row: Any, listed: int, verdicts: Sequence[Verdict]) -> str | None:
    """What is wrong with a row that can be read: what this program never writes so."""
    texts = (row.envelope, row.digest, row.dialect)
    if not all(isinstance(each, str) for each in texts) or not _DIGEST.fullmatch(row.digest):
        return "its digest is none"
    if not all(each is None or isinstance(each, str) for each in (row.author, row.role, row.message, row.accepted)):
        return "its author and message are no text"
    if _envelope(row.envelope) is None:
        return "its envelope is not as this program writes it"
    if _accepted(row.accepted) is None:
        return "its accepted changes are not as this program writes them"
    if row.base_id is not None and row.base_ruleset_id != row.ruleset_id:
        return "it is not based on a revision of its ruleset"
    if listed != row.pieces or not listed:
        return f"it says that it lists {row.pieces} piece{'' if row.pieces == 1 else 's'}, and lists {listed}"
    if not all(each.created_at for each in verdicts):
        return "a verdict of it cannot be read"
    if [each.ordinal for each in verdicts] != list(range(1, len(verdicts) + 1)):
        return "its verdicts are not numbered without gaps"
    if any(each.digest != (row.digest if each.verdict == "approved" else None) for each in verdicts):
        return "a verdict of it names another digest"
    return damaged.fault_of_time(row.created_at)


def _envelope(text: str) -> Envelope | None:
    """The envelope that a text writes, None for a text that this program does not write."""
    try:
        found = catalog.envelope_of(text)
    except DamagedError:
        return None
    return found if load.envelope_text(found) == text else None


def _accepted(text: str | None) -> tuple[str, ...] | None:
    """The accepted changes that a text lists, None for a text that this program does not write."""
    if text is None:
        return ()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(found) if isinstance(found, list) and all(isinstance(each, str) for each in found) else None


def _proposal(
    key: int, place: Any, row: Any, verdicts: tuple[Verdict, ...], needed: int, fault: str | None
) -> Proposal:
    """A proposal as its row has it; of one that is broken only what can be read."""
    values: dict[str, Any] = dict.fromkeys(("base", "base_id", "head", "created_at"))
    values |= {"dialect": "", "board_id": 0, "pieces": 0} | ({} if row is None else dict(row._mapping))
    if fault is None:
        values |= {"envelope": _envelope(row.envelope), "accepted": _accepted(row.accepted)}
    else:
        texts = {name: damaged.text(values.get(name)) for name in ("author", "role", "message")}
        values |= texts | {"digest": damaged.text(values.get("digest")) or "", "envelope": Envelope(), "accepted": ()}
    values |= {"id": key, "name": place.name, "number": place.number}
    if values["created_at"] is not None:
        values["created_at"] = catalog.utc(values["created_at"])
    said = {name: value for name, value in values.items() if name not in ("ruleset_id", "base_ruleset_id")}
    return Proposal(**said, verdicts=verdicts, needed=needed, fault=fault)


def _verdicts(connection: Connection, proposals: Collection[int]) -> Mapping[int, tuple[Verdict, ...]]:
    of_these = t.verdict.c.proposal_id.in_([*proposals])
    query = _VERDICTS.where(of_these).order_by(t.verdict.c.proposal_id, t.verdict.c.ordinal)
    found: dict[int, tuple[Verdict, ...]] = {}
    said = select(t.verdict.c.proposal_id, t.verdict.c.ordinal, t.verdict.c.verdict).where(of_these)
    judgements = {(row.proposal_id, row.ordinal): row.verdict for row in connection.execute(said)}
    for (key, ordinal), row in damaged.rows(connection, query, t.verdict.c.proposal_id, t.verdict.c.ordinal).items():
        if row is None:
            verdict = Verdict(ordinal, judgements[key, ordinal], None, None, None, None, None)
        else:
            author, role, message = map(damaged.text, (row.author, row.role, row.message))
            at = catalog.utc(row.created_at)
            verdict = Verdict(ordinal, row.verdict, row.revision, author, role, message, at, row.digest)
        found[key] = (*found.get(key, ()), verdict)
    return found
