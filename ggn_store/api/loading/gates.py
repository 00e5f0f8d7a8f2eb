"""Gates: what a revision must be like before a ruleset takes it.

Reviews are not here: the database itself refuses what was not approved. What is said of them here is said early.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from ggn_store.api.loading import private
from ggn_store.documents.lint import lint
from ggn_store.errors import GateError, Problem
from ggn_store.model.documents import variables
from ggn_store.model.documents.board import parse_shape
from ggn_store.model.documents.document import Document, Envelope
from ggn_store.model.moves.position import Position
from ggn_store.model.teams.policy import ALL, MoveChange, Policy, PositionSet
from ggn_store.model.teams.revision import Revision, RulesetState
from ggn_store.notation.json_text import pointer
from ggn_store.store.database.engine import Database
from ggn_store.store.history import states
from ggn_store.store.review import policies, rights
from ggn_store.store.rulesets import catalog, stored_documents
from ggn_store.store.rulesets.load import Gate, Head, Made
from ggn_store.store.rulesets.stored_documents import StoredDocument, Transaction

COMPATIBLE: Final = "compatible"
_MESSAGE_LINES: Final = 50
_KINDS: Final = {
    "lost": "is lost: it was a move of this position",
    "new": "is new: it was no move of this position",
    "changed": "has other effects",
}


@dataclass(frozen=True, slots=True)
class Findings:
    """What a policy finds in a change: findings of lint, and moves that are not what they were."""

    policy: Policy | None = None
    lint: tuple[Problem, ...] = ()
    changes: tuple[MoveChange, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All of it as problems, lint's first."""
        return (*self.lint, *map(_problem, self.changes))

    def listing(self) -> str:
        """The changes of moves for a revision's message: as many as people read."""
        lines = [f"- {each}" for each in self.changes]
        more = len(lines) - _MESSAGE_LINES
        if more > 0:
            lines[_MESSAGE_LINES:] = [f"- and {more} more"]
        return "\n".join(["Accepted changes of moves:", *lines])


def gate(database: Database, accept: bool = False) -> Gate:
    """What lets a revision that is loaded follow the head of its ruleset; raises GateError with every finding.

    With `accept`, changes of moves are listed in its message instead.
    """

    def passed(connection: Transaction, name: str, head: Head, made: Made, piece_ids: Sequence[int]) -> Made:
        require_open(states.newest(connection, name))
        policy = policies.counting(connection, name)
        rules = policies.asked(policy)
        if policy is None or not rules:
            return made
        if (review := policies.review(policy)) is not None:
            raise GateError(
                f"{name} {review}: propose it with `ggn-store propose {name} FILE`, or an old revision with "
                f"`ggn-store propose {name}@NUMBER`"
            )
        rights.require(database, connection, name, "proposers", made.author)
        before = None if head.id is None else stored_documents.of_revision(connection, head.id)
        found = check(connection, name, before, stored_documents.of_pieces(connection, made, piece_ids))
        refuse(name, found, accept=accept)
        return signed(made, found)

    return passed


@contextmanager
def holding(connection: Transaction, name: str) -> Iterator[None]:
    """Apply a ruleset's policy to every revision that is added inside the block, however it comes there.

    Raises GateError, with every finding, unless the last one may follow the head before. What must be reviewed, and
    what a retired ruleset does not take, the database itself refuses on the way.
    """
    before = catalog.newest_of(connection, name)
    yield
    after = catalog.newest_of(connection, name)
    if after is not None and after != before:
        require(connection, before, after)


def require(connection: Transaction, before: Revision | None, after: Revision) -> None:
    """Raise GateError, with every finding, unless `after` may follow the head that its ruleset had before."""
    old = None if before is None else stored_documents.of_revision(connection, before)
    refuse(after.name, check(connection, after.name, old, stored_documents.of_revision(connection, after)))


def require_open(state: RulesetState) -> None:
    """Raise GateError where a ruleset is retired."""
    if state.state == "retired":
        instead = "" if state.successor is None else f" (use {state.successor})"
        raise GateError(
            f"{state.name} is retired and takes no revisions{instead}: `ggn-store state {state.name} active` brings "
            "it back into use"
        )


def check(connection: Transaction, name: str, before: StoredDocument | None, after: StoredDocument) -> Findings:
    """What the policy that counts for a ruleset finds in a change of its head; all pieces are stored."""
    policy = policies.counting(connection, name)
    rules = policies.asked(policy)
    if rules is None:
        return Findings(policy)
    found: Sequence[Problem] = ()
    if codes := rules.lint:
        document = stored_documents.document(connection, after)
        found = [each for each in lint(document) if ALL in codes or each.code in codes]
    changes: Iterable[MoveChange] = ()
    if rules.compatible is not None and before is not None:
        changes = _changes(connection, rules.compatible, before, after)
    return Findings(policy, tuple(found), tuple(changes))


def refuse(name: str, found: Findings, *, accept: bool = False, accepted: Iterable[str] = ()) -> None:
    """Raise GateError where something is found that is not accepted; findings of lint never are."""
    known = set(accepted)
    changes = () if accept else tuple(each for each in found.changes if str(each) not in known)
    problems = replace(found, changes=changes).problems
    if problems and found.policy is not None:
        count = f"{len(problems)} finding{'s' if len(problems) > 1 else ''}"
        cure = "; --accept-changes says that the changes of moves are meant" if changes else ""
        raise GateError(f"{name}: refused by the policy of {found.policy.namespace}, {count}{cure}", problems)


def signed(made: Made, found: Findings) -> Made:
    """`made`, with the changes of moves that are accepted in its message."""
    if not found.changes:
        return made
    before = "" if made.message is None else f"{made.message}\n\n"
    return replace(made, message=before + found.listing())


def _problem(change: MoveChange) -> Problem:
    move = pointer((change.piece, change.source, change.destination))
    return Problem(f"{change.positions}:{change.line}: the move {_KINDS[change.kind]}", move, code=COMPATIBLE)


# --- moves before and after ---


def _changes(
    connection: Transaction, kept: PositionSet, before: StoredDocument, after: StoredDocument
) -> Iterator[MoveChange]:
    """The moves of the positions that are not the same; only pieces that changed are looked at."""
    old = _moves(connection, kept.positions, before, after)
    new = _moves(connection, kept.positions, after, before)
    for line, (lost, come) in enumerate(zip(old, new, strict=True), start=1):
        for move in dict.fromkeys((*lost, *come)):
            if lost.get(move) != come.get(move):
                kind = "new" if move not in lost else "changed" if move in come else "lost"
                yield MoveChange(kept.name, line, kind, *move)


_Moves = dict[tuple[str, str, str], Counter[str]]


def _moves(
    connection: Transaction, positions: Sequence[Position], content: StoredDocument, other: StoredDocument
) -> list[_Moves]:
    """For each position the moves of the pieces that `other` does not have, with how often they have which effects.

    A position that does not fit a declared board, or the declared variables, has none.
    """
    found: list[_Moves] = [{} for _ in positions]
    declared, shape = content.envelope.variables, content.envelope.board
    # What begins with another value can hold where it did not before.
    is_alike = declared == other.envelope.variables
    pieces = stored_documents.read_pieces(connection, content, {piece.id for piece in other.pieces} if is_alike else ())
    if not pieces:
        return found
    squares = None if shape is None else parse_shape(shape).numbers.keys()
    known = variables.parse(declared)
    fitting = [
        number
        for number, each in enumerate(positions)
        if (squares is None or squares >= each.board.keys()) and variables.fits(known, each.state)
    ]
    document = Document(content.dialect, pieces, Envelope(board=shape, variables=declared))
    with private.opened(document) as ruleset:
        answers = ruleset.moves_batch([positions[number] for number in fitting])
    for number, moves in zip(fitting, answers, strict=True):
        for move in moves:
            effects = "" if move.transition is None else json.dumps(move.transition.data(), sort_keys=True)
            found[number].setdefault((move.piece, move.source, move.destination), Counter())[effects] += 1
    return found
