"""Which rules mention a piece, the states `empty` and `enemy`, or a state variable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.mentions import Use, Uses
from ggn_store.model.teams.revision import Revision
from ggn_store.movement.entries import BECOMES, DENY, MUST, Entries, Told
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.analyses.entries import Grids, entries, members, of_revision

MentionRole = Literal["rules", "must", "deny", "board", "hand", "when", "state"]
ROLES: Final[tuple[MentionRole, ...]] = ("rules", "must", "deny", "board", "hand", "when", "state")
_ROLE_OF: Final[dict[str, MentionRole]] = {MUST: "must", DENY: "deny", BECOMES: "board"}


class NamedVariable(NamedTuple):
    """A state variable that is asked for, and which of its values; None for any."""

    variable: str
    value: str | None = None

    def means(self, variable: str, value: str) -> bool:
        """Whether this is of a variable, and of its value."""
        return variable == self.variable and self.value in (None, value)


def totals(asker: Asker, revision: Revision, state: str | NamedVariable) -> list[Uses]:
    """How often a state, or a state variable, is mentioned, by piece in document order and by role."""
    of = members(asker, [revision])
    told = {member.piece_id: each for member, each in entries(asker, of, Grids(asker), as_labels_say=True)}
    found = []
    for member in of:
        possibilities, mentioned = _counted(member.piece, told[member.piece_id], state)
        found += [Uses(member.piece, role, possibilities[role], mentioned[role]) for role in ROLES if mentioned[role]]
    return found


def _counted(piece: str, of: Entries, state: str | NamedVariable) -> tuple[Counter[MentionRole], Counter[MentionRole]]:
    """How many possibilities mention it in each role, and how often."""
    possibilities, mentioned = Counter[MentionRole](), Counter[MentionRole]()
    times = Counter[int]()
    for pattern in of.patterns:
        for number in pattern.told:
            times[number] += max(1, len(pattern.origins))
    for number, told in enumerate(of.told):
        for role, count in Counter(role for role, _ in _roles(piece, of, told, state)).items():
            possibilities[role] += times[number]
            mentioned[role] += times[number] * count
    return possibilities, mentioned


def _roles(piece: str, of: Entries, told: Told, state: str | NamedVariable) -> Iterator[tuple[MentionRole, int | None]]:
    """Each mention in a possibility: its role, and the code of the vector to the square that it is about."""
    if isinstance(state, NamedVariable):
        for variable, values in told.guards:
            yield from (("when", None) for value in values if state.means(variable, value))
        yield from (("state", None) for variable, value in told.state if state.means(variable, value))
        return
    if piece == state:
        yield "rules", None
    yield from (("hand", None) for held, _ in told.held if held == state)
    for each in (*told.asked, *told.changed):
        if of.names[of.name_of(each)][1] == state:
            kind, _, place = of.part(each)
            yield _ROLE_OF[kind], place


def mentions(asker: Asker, revision: Revision, board: Board, state: str | NamedVariable) -> list[Use]:
    """Every mention of a state, or of a state variable, in document order."""
    found = []
    for piece, of, places in of_revision(asker, revision, as_labels_say=True):
        roles = [[*_roles(piece, of, told, state)] for told in of.told]
        listed = {place: pattern.told for pattern in of.patterns for place in of.places(pattern)}
        codes, numbers = of.grid.codes, of.grid.by_code
        for source, destination in places:
            origin = destination if source is None else source
            for ordinal, number in enumerate(listed[source, destination]):
                uses = [
                    (ROLES.index(role), -1 if place is None or origin is None else numbers[codes[origin] + place])
                    for role, place in roles[number]
                ]
                begins = piece, board.label(source), board.label(destination), ordinal
                found += [
                    Use(*begins, ROLES[role], None if square < 0 else board.label(square))
                    for role, square in sorted(uses)
                ]
    return found
