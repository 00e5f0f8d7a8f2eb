"""Proposals and verdicts: rows that are only ever added.

Whoever has SQL in hand may have added some that this program would not. They are read as far as they can be, with what
is wrong with them, so that all others can be listed and they can be rejected.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, cast

from sqlalchemy import Connection, Select, func, select

from ggn_store.errors import ConflictError, DamagedError, StoreError, UnknownNameError, counted, quote
from ggn_store.model.documents.document import Envelope
from ggn_store.model.teams.policy import PolicyRules
from ggn_store.model.teams.proposal import Judgement, Proposal, ProposalReference, Verdict
from ggn_store.notation.json_text import is_digest
from ggn_store.store.database.engine import Database
from ggn_store.store.review import policies
from ggn_store.store.review.members import members
from ggn_store.store.rulesets import catalog, damaged, load, stored_documents
from ggn_store.store.rulesets.load import Head, Made
from ggn_store.store.schema import tables as t

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
_PLACES = select(t.proposal.c.id, t.proposal.c.number, t.proposal.c.round, t.ruleset.c.name).join(t.ruleset)
_VERDICTS = select(t.verdict, t.revision.c.number.label("revision")).outerjoin(
    t.revision, t.revision.c.id == t.verdict.c.revision_id
)


def find(connection: Connection, wanted: ProposalReference) -> Proposal:
    """A round of a proposal, the newest by default, which may be broken.

    Raises UnknownNameError, with what there is instead.
    """
    name, number, round_ = wanted
    found = listed(connection, name)
    rounds = {each.round: each for each in found if each.number == number}
    if rounds and round_ is None:
        newest = max(each.rounds for each in rounds.values())
        return rounds.get(newest) or next(iter(rounds.values()))
    if round_ in rounds:
        return rounds[round_]
    numbers = sorted(each.number for each in found if isinstance(each.number, int))
    if rounds:
        last = max(each.rounds for each in rounds.values())
        often = f"was amended {counted(last - 1, 'time')}" if last > 1 else "was never amended"
        there = f"{name}#{number} {often}"
    elif numbers:
        of_many = f"s are {name}#{numbers[0]} to {name}#{numbers[-1]}"
        there = f"its proposal{of_many if numbers[1:] else f' is {name}#{numbers[0]}'}"
    else:
        there = f"nothing was proposed for {quote(name)}"
    raise UnknownNameError(f"there is no proposal {quote(str(wanted))}: {there}")


def find_whole(connection: Connection, wanted: ProposalReference) -> Proposal:
    """Like `find`; raises StoreError unless the proposal is whole: then its pieces are those of its digest."""
    proposal = find(connection, wanted)
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
    to: str | Proposal,
    head: Head,
    made: Made,
    piece_ids: Sequence[int],
    accepted: Sequence[str],
) -> Proposal:
    """Propose that a revision of a ruleset, or a round of a proposal, which lists these pieces follows the head."""
    name = to if isinstance(to, str) else to.name
    ruleset_id = load.store_ruleset(database, connection, name)
    said = made.row() | {"ruleset_id": ruleset_id, "base_id": head.id, "pieces": len(piece_ids)}
    said["accepted"] = json.dumps(accepted, ensure_ascii=False) if accepted else None
    proposal = None
    while proposal is None:
        if isinstance(to, str):
            numbers = select(t.proposal.c.number).where(t.proposal.c.ruleset_id == ruleset_id)
            said |= {"number": damaged.last(connection.execute(numbers).scalars()) + 1, "round": 1}
        else:
            said |= {"number": to.number, "round": to.round + 1}
        proposal = database.add(connection, t.proposal, said, _KEY, "id").scalar()
        if proposal is None and not isinstance(to, str):
            raise ConflictError(f"somebody has just amended {to}: look at it again")
    rows = [(proposal, ordinal, piece_id) for ordinal, piece_id in enumerate(piece_ids)]
    database.fill(connection, t.proposal_piece.columns, rows)
    return find(connection, ProposalReference(name, said["number"]))


_KEY: Final = ("ruleset_id", "number", "round")


def judge(
    database: Database,
    connection: Connection,
    proposal: Proposal,
    verdict: Judgement,
    author: str | None,
    message: str | None,
    **more: Any,
) -> bool:
    """Add a verdict to those that the round has, with `more` columns; False where somebody has just added another."""
    said = {
        "proposal_id": proposal.id,
        "ordinal": sum(each.round == proposal.round for each in proposal.verdicts) + 1,
        "verdict": verdict,
        "digest": proposal.digest if verdict == "approved" else None,
        "author": author,
        "message": message,
        "created_at": datetime.now(UTC),
        **more,
    }
    return database.add(connection, t.verdict, said, ("proposal_id", "ordinal"), "ordinal").first() is not None


def _read(connection: Connection, query: Select[Any]) -> list[Proposal]:
    rows = {key: row for (key,), row in damaged.rows(connection, query, t.proposal.c.id).items()}
    names = {row.name for row in connection.execute(_PLACES.where(t.proposal.c.id.in_([*rows])))}
    # All rounds of all proposals for these rulesets.
    query_of_all = _PLACES.where(t.ruleset.c.name.in_(names)).order_by(t.proposal.c.round)
    places = {row.id: row for row in connection.execute(query_of_all)}
    siblings: dict[tuple[str, Any], list[Any]] = defaultdict(list)
    for place in places.values():
        siblings[place.name, place.number].append(place)
    last = {name: damaged.last(number for of, number in siblings if of == name) for name in names}
    needed = {name: _needed(connection, name) for name in names}
    verdicts = _verdicts(connection, places)
    proposal_id = t.proposal_piece.c.proposal_id
    listed = Counter(connection.execute(select(proposal_id).where(proposal_id.in_([*rows]))).scalars())
    found = []
    for key, row in rows.items():
        place = places[key]
        rounds = siblings[place.name, place.number]
        newest = damaged.last(each.round for each in rounds)
        count, approvers, of_policy = needed[place.name]
        said = [verdict for each in rounds for verdict in verdicts.get(each.id, ())]
        people = None if approvers is None else members(connection, approvers)
        who = {each.who for each in said if each.who is not None}
        strangers = frozenset() if people is None else frozenset(who - people.keys())
        fault = "it cannot be read" if row is None else _fault(row, listed[key], verdicts.get(key, ()))
        if not damaged.is_up_to(place.number, last[place.name]):
            fault = "its number does not follow those of the others"
        if not damaged.is_up_to(place.round, newest):
            fault = "its round does not follow those of the others"
        if all(each.created_at for each in said):
            said.sort(key=lambda each: cast("datetime", each.created_at))
        proposal = _proposal(key, place, row, tuple(said), count, fault or of_policy)
        found.append(replace(proposal, approvers=approvers, strangers=strangers, rounds=newest))
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
    if not all(isinstance(each, str) for each in texts) or not is_digest(row.digest):
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
    return _fault_of_verdicts(row, verdicts) or damaged.fault_of_time(row.created_at)


def _fault_of_verdicts(row: Any, verdicts: Sequence[Verdict]) -> str | None:
    if not all(each.created_at for each in verdicts):
        return "a verdict of it cannot be read"
    if [each.ordinal for each in verdicts] != list(range(1, len(verdicts) + 1)):
        return "its verdicts are not numbered without gaps"
    if any(each.digest != (row.digest if each.verdict == "approved" else None) for each in verdicts):
        return "a verdict of it names another digest"
    if not all(_is_comment(each) if each.verdict == "commented" else not each.entry for each in verdicts):
        return "a comment of it is not as this program writes it"
    return None


def _is_comment(said: Verdict) -> bool:
    is_on = [each is not None for each in (said.piece, said.source, said.destination)]
    return bool((said.message or "").strip(" ")) and sorted(is_on, reverse=True) == is_on


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
    values |= {"id": key, "name": place.name, "number": place.number, "round": place.round}
    if values["created_at"] is not None:
        values["created_at"] = catalog.utc(values["created_at"])
    said = {name: value for name, value in values.items() if name not in ("ruleset_id", "base_ruleset_id")}
    return Proposal(**said, verdicts=verdicts, needed=needed, fault=fault)


def _verdicts(connection: Connection, proposals: Mapping[int, Any]) -> Mapping[int, tuple[Verdict, ...]]:
    """What was said of these rounds, in its order."""
    of_these = t.verdict.c.proposal_id.in_([*proposals])
    query = _VERDICTS.where(of_these).order_by(t.verdict.c.proposal_id, t.verdict.c.ordinal)
    found: dict[int, tuple[Verdict, ...]] = {}
    said = select(t.verdict.c.proposal_id, t.verdict.c.ordinal, t.verdict.c.verdict).where(of_these)
    judgements = {(row.proposal_id, row.ordinal): row.verdict for row in connection.execute(said)}
    for (key, ordinal), row in damaged.rows(connection, query, t.verdict.c.proposal_id, t.verdict.c.ordinal).items():
        of = proposals[key].round
        if row is None:
            verdict = Verdict(ordinal, judgements[key, ordinal], None, None, None, None, None, round=of)
        else:
            texts = (row.author, row.role, row.message, row.piece, row.source, row.destination)
            author, role, message, *entry = map(damaged.text, texts)
            at = catalog.utc(row.created_at)
            verdict = Verdict(ordinal, row.verdict, row.revision, author, role, message, at, row.digest, of, *entry)
        found[key] = (*found.get(key, ()), verdict)
    return found
