"""Proposals and verdicts: rows that are only ever added."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, func, select

from ggn_store.errors import UnknownNameError, quote
from ggn_store.model.document import Envelope
from ggn_store.model.proposal import Judgement, Proposal, Verdict
from ggn_store.store import load, policies, rulesets
from ggn_store.store import tables as t
from ggn_store.store.engine import Database
from ggn_store.store.load import Head, Made

_BASE = t.revision.alias("base")
_HEAD = t.revision.alias("head")
_PROPOSALS = (
    select(
        t.proposal,
        t.ruleset.c.name,
        _BASE.c.number.label("base"),
        select(func.max(_HEAD.c.number))
        .where(_HEAD.c.ruleset_id == t.proposal.c.ruleset_id)
        .scalar_subquery()
        .label("head"),
    )
    .join(t.ruleset, t.ruleset.c.id == t.proposal.c.ruleset_id)
    .outerjoin(_BASE, _BASE.c.id == t.proposal.c.base_id)
)


def find(connection: Connection, name: str, number: int) -> Proposal:
    """One proposal; raises UnknownNameError, with what there is instead."""
    found = _read(connection, connection.execute(_PROPOSALS.where(t.ruleset.c.name == name)).all())
    for proposal in found:
        if proposal.number == number:
            return proposal
    there = f"its proposals are {name}#1 to {name}#{len(found)}" if found else f"nothing was proposed for {quote(name)}"
    raise UnknownNameError(f"there is no proposal {quote(f'{name}#{number}')}: {there}")


def listed(connection: Connection, name: str | None = None) -> list[Proposal]:
    """All proposals, or those for one ruleset, the newest first."""
    query = _PROPOSALS if name is None else _PROPOSALS.where(t.ruleset.c.name == name)
    rows = connection.execute(query.order_by(t.proposal.c.created_at.desc(), t.proposal.c.id.desc())).all()
    return _read(connection, rows)


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
        last = select(func.max(t.proposal.c.number)).where(t.proposal.c.ruleset_id == ruleset_id)
        number = (connection.execute(last).scalar() or 0) + 1
        proposal = connection.execute(
            database.insert(t.proposal)
            .values(
                ruleset_id=ruleset_id,
                number=number,
                base_id=head.id,
                digest=made.digest,
                dialect=made.dialect,
                board_id=made.board_id,
                envelope=made.envelope_text,
                pieces=len(piece_ids),
                accepted=json.dumps(accepted, ensure_ascii=False) if accepted else None,
                author=made.author,
                message=made.message,
                created_at=made.created_at,
            )
            .on_conflict_do_nothing(index_elements=["ruleset_id", "number"])
            .returning(t.proposal.c.id)
        ).scalar()
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
    new = (
        database.insert(t.verdict)
        .values(
            proposal_id=proposal.id,
            ordinal=len(proposal.verdicts) + 1,
            verdict=verdict,
            digest=proposal.digest if verdict == "approved" else None,
            revision_id=revision_id,
            author=author,
            message=message,
            created_at=datetime.now(UTC),
        )
        .on_conflict_do_nothing(index_elements=["proposal_id", "ordinal"])
        .returning(t.verdict.c.ordinal)
    )
    return connection.execute(new).first() is not None


def _read(connection: Connection, rows: Sequence[Any]) -> list[Proposal]:
    verdicts = _verdicts(connection, [row.id for row in rows])
    needed: dict[str, int] = {}
    found = []
    for row in rows:
        if row.name not in needed:
            policy = policies.counting(connection, row.name)
            # Where nothing asks for a review, one who looks at it is still what a proposal is for.
            needed[row.name] = max(1, 0 if policy is None or policy.rules is None else policy.rules.review)
        values = dict(row._mapping)
        del values["ruleset_id"]
        values |= {
            "envelope": Envelope(**json.loads(row.envelope)),
            "accepted": tuple(json.loads(row.accepted)) if row.accepted else (),
            "created_at": rulesets.utc(row.created_at),
            "verdicts": verdicts.get(row.id, ()),
            "needed": needed[row.name],
        }
        found.append(Proposal(**values))
    return found


def _verdicts(connection: Connection, proposals: Iterable[int]) -> dict[int, tuple[Verdict, ...]]:
    query = (
        select(t.verdict, t.revision.c.number.label("revision"))
        .outerjoin(t.revision, t.revision.c.id == t.verdict.c.revision_id)
        .where(t.verdict.c.proposal_id.in_(list(proposals)))
        .order_by(t.verdict.c.proposal_id, t.verdict.c.ordinal)
    )
    return {
        proposal_id: tuple(
            Verdict(
                row.ordinal, row.verdict, row.revision, row.author, row.role, row.message, rulesets.utc(row.created_at)
            )
            for row in rows
        )
        for proposal_id, rows in groupby(connection.execute(query), key=lambda row: row.proposal_id)
    }
