"""What is said of a ruleset in two stores: what the source has said since comes; of both, what is here stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from ggn_store.errors import GateError
from ggn_store.model.teams.transfer import SentState, Transferred, TransferWishes
from ggn_store.store.database.engine import ADMIN, Database
from ggn_store.store.exchange.here import Here, OvertakenError
from ggn_store.store.history import states
from ggn_store.store.review import policies, rights
from ggn_store.store.rulesets import load
from ggn_store.store.schema import tables as t

SentStates = Mapping[str, Sequence[SentState]]


@dataclass(frozen=True, slots=True)
class Stated:
    """The states of a ruleset: those that are here, those that come and are newer, and what there is to say of it."""

    here: Sequence[SentState] = ()
    fresh: Sequence[SentState] = ()
    note: str | None = None

    @property
    def is_closed(self) -> bool:
        """Whether the ruleset takes no revisions, whatever comes."""
        return _is_retired(self.here) and all(each.state == "retired" for each in self.fresh)

    @property
    def opening(self) -> int:
        """How many of those that come have to come first, so that a retired ruleset takes revisions."""
        opens = [number for number, each in enumerate(self.fresh, start=1) if each.state != "retired"]
        return opens[-1] if _is_retired(self.here) and opens else 0

    def told(self, result: Transferred) -> Transferred:
        """The result of a transfer, with what the ruleset is now said to be."""
        notes = [note for note in (result.note, self.note) if note is not None]
        result = replace(result, note="; ".join(notes) or None, states=len(self.fresh))
        last = [*self.here, *self.fresh][-1:]
        return replace(result, state=last[0].state, successor=last[0].successor) if last else result


def _is_retired(said: Sequence[SentState]) -> bool:
    return bool(said) and said[-1].state == "retired"


def relate(to: str, here: Sequence[SentState], coming: Sequence[SentState], wishes: TransferWishes) -> Stated:
    """The states of a ruleset that is called `to`, beside those that come."""
    # Nothing is used instead of itself, under whatever name it comes.
    coming = [each for each in coming if each.successor != to]
    if not coming or coming[-1] in here:
        return Stated(here)
    known = max((number for number, each in enumerate(coming, start=1) if each in here), default=0)
    other = coming[-1]
    if here and here[-1] not in coming[known - 1 : known]:
        if (here[-1].state, here[-1].successor) == (other.state, other.successor):
            return Stated(here)
        if not wishes.states:
            return Stated(
                here,
                note=f"{to} is {here[-1].said} {wishes.place}, where it stays so, and {other.said} at the source: "
                "--states takes over what the source says",
            )
    return Stated(here, coming[known:])


def compare(
    database: Database, connection: Connection, name: str, to: str, said: SentStates, wishes: TransferWishes
) -> Stated:
    """The states of the ruleset `name` of a source, of which all is `said`, beside those of `to`.

    Those that come are left out, and it is said why, where this user may not add them.
    """
    found = relate(to, states.said(connection, to).get(to, ()), said.get(name, ()), wishes)
    if not found.fresh:
        return found
    stays = f"{to} is {found.fresh[-1].said} at the source, and stays as it is {wishes.place}"
    policy = policies.counting(connection, to)
    is_named = policy is not None and policy.rules is not None and policy.rules.taggers is not None
    # Where no policy names who does, those do who set policies.
    if not all(database.may_insert(connection, each) for each in (t.ruleset_state, *(() if is_named else (t.policy,)))):
        return Stated(found.here, note=f"{stays}: to change that takes {ADMIN}")
    try:
        for each in found.fresh:
            rights.require(database, connection, to, "taggers", each.author)
    except GateError as error:
        return Stated(found.here, note=f"{stays}: {error}")
    return found


def take(database: Database, connection: Connection, here: Here, said: Stated, before: bool = False) -> None:
    """Add the states that come; `before`: those that have to come before revisions, else those that come after them.

    Raises OvertakenError where somebody else has just added one.
    """
    first, last = (0, said.opening) if before else (said.opening, len(said.fresh))
    if first == last:
        return
    ruleset_id = load.store_ruleset(database, connection, here.name)
    for number in range(first, last):
        if not states.add(database, connection, ruleset_id, len(said.here) + number + 1, said.fresh[number]):
            raise OvertakenError
