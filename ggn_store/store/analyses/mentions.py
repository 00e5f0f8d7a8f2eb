"""Which rules mention a piece, the states `empty` and `enemy`, or a state variable."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Integer,
    Select,
    Table,
    and_,
    cast,
    literal,
    null,
    select,
    union_all,
)

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.mentions import Use, Uses
from ggn_store.model.teams.revision import Revision
from ggn_store.movement.entries import BECOMES, DENY, MUST, Entries
from ggn_store.store.analyses.asking import Asker
from ggn_store.store.analyses.entries import Grids, entries, members
from ggn_store.store.analyses.possibility_rows import RULES, is_of, of_variant
from ggn_store.store.schema import tables as t

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
    named = {number for number, (_, name) in enumerate(of.names) if name == state}
    for number, told in enumerate(of.told):
        roles = Counter[MentionRole]()
        if isinstance(state, NamedVariable):
            roles["when"] = sum(state.means(name, value) for name, values in told.guards for value in values)
            roles["state"] = sum(state.means(name, value) for name, value in told.state)
        else:
            roles["rules"] = int(piece == state)
            roles["hand"] = sum(held == state for held, _ in told.held)
            if named:
                for each in (*told.asked, *told.changed):
                    if (index := of.name_of(each)) in named:
                        roles[_ROLE_OF[of.names[index][0]]] += 1
        for role, count in roles.items():
            possibilities[role] += times[number] * (count > 0)
            mentioned[role] += times[number] * count
    return possibilities, mentioned


def mentions(asker: Asker, revision: Revision, board: Board, state: str | NamedVariable) -> list[Use]:
    """Every mention of a state, or of a state variable, in document order."""
    found = _mentions(revision, state).cte("mention")
    columns = (found.c.piece, found.c.at_role, found.c.source, found.c.destination, found.c.ordinal, found.c.square)
    order = (found.c.at_piece, found.c.number, found.c.at_role, found.c.square)
    rows = asker.rows(select(*columns).order_by(*order))
    return [
        Use(
            *(row.piece, board.label(row.source), board.label(row.destination), row.ordinal, ROLES[row.at_role]),
            None if row.square is None else board.label(row.square),
        )
        for row in rows
    ]


_NAMING: Final[tuple[tuple[MentionRole, Table], ...]] = (("when", t.guard), ("state", t.state_effect))


def _is_named(table: Table, state: NamedVariable) -> ColumnElement[bool]:
    """Whether a guard or a state effect is of a variable, and of its value."""
    is_variable = table.c.variable == state.variable
    return is_variable if state.value is None else and_(is_variable, table.c.value == state.value)


def _mentions(revision: Revision, state: str | NamedVariable) -> CompoundSelect[Any]:
    condition, effect, hand = t.condition, t.effect, t.hand_effect

    def of(role: MentionRole, square: Any) -> Select[Any]:
        return select(
            t.revision_piece.c.ordinal.label("at_piece"),
            t.piece.c.identifier.label("piece"),
            literal(ROLES.index(role), Integer).label("at_role"),
            t.source.c.square.label("source"),
            t.destination.c.square.label("destination"),
            t.variant.c.ordinal.label("ordinal"),
            t.variant.c.number.label("number"),
            square.label("square"),
        ).where(is_of(revision))

    nowhere = cast(null(), Integer)
    if isinstance(state, NamedVariable):
        return union_all(
            *(
                of(role, nowhere).select_from(RULES.join(table, of_variant(table))).where(_is_named(table, state))
                for role, table in _NAMING
            )
        )
    looks = RULES.join(condition, of_variant(condition))
    return union_all(
        of("rules", nowhere).select_from(RULES).where(t.piece.c.identifier == state),
        *(
            of(polarity, condition.c.square)
            .select_from(looks)
            .where(condition.c.polarity == polarity, condition.c.state == state)
            for polarity in ("must", "deny")
        ),
        of("board", effect.c.square)
        .select_from(RULES.join(effect, of_variant(effect)))
        .where(effect.c.becomes == state),
        of("hand", nowhere).select_from(RULES.join(hand, of_variant(hand))).where(hand.c.piece == state),
    )
