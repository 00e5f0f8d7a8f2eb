"""How one list of possibilities came from another: what was added, removed, changed and moved in it."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, get_args

from ggn_store.model.changes.order import rising
from ggn_store.model.documents.document import Possibility

PossibilityPart = Literal["action", "when", "must", "deny", "board", "hands", "toggle", "state"]
PossibilityChangeKind = Literal["added", "removed", "changed", "moved"]

# Beyond so many pairs of removed and added possibilities, likeness is not asked of each of them.
_MAX_PAIRS: Final = 250_000


class Absent(Enum):
    """What stands for a value that is not there, because None is one: a square that a move empties, a missing key."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
DetailValue = str | int | None | Absent
DetailItems = Mapping[tuple[PossibilityPart, str], DetailValue]


@dataclass(frozen=True, slots=True)
class Detail:
    """One thing that differs between two possibilities.

    `part` is action, when, must, deny, or what of the effects: board, hands, toggle, state. `name` is the square, for
    `hands` the piece, for `when` and `state` the variable, for `action` what of it (name, step, chainable), for
    `toggle` empty. The values are states, pieces (None for no piece), counts, of toggle and chainable booleans, of
    `when` the values in a list, as JSON text; ABSENT on the side that says nothing.
    """

    part: PossibilityPart
    name: str
    before: DetailValue
    after: DetailValue

    def data(self) -> dict[str, Any]:
        """The detail as JSON data; the side that says nothing is left out."""
        sides = (("before", self.before), ("after", self.after))
        return {"part": self.part, "name": self.name} | {side: value for side, value in sides if value is not ABSENT}


@dataclass(frozen=True, slots=True)
class PossibilityChange:
    """A possibility that was added, removed, changed or moved within its entry.

    The ordinals count from 0 in the entry before and after; with them, `before` or `after` is None where the
    possibility is not there. `moved`: it stands elsewhere among those that stay; what changed may also be moved.
    """

    from_ordinal: int | None
    to_ordinal: int | None
    before: Possibility | None
    after: Possibility | None
    moved: bool = False

    @property
    def kind(self) -> PossibilityChangeKind:
        """What happened to it."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "moved" if self.before == self.after else "changed"

    @property
    def details(self) -> tuple[Detail, ...]:
        """What differs, for a possibility that changed."""
        return () if self.before is None or self.after is None else tuple(details(self.before, self.after))

    def data(self) -> dict[str, Any]:
        """The change as JSON data, without the possibilities, which the entry holds."""
        data: dict[str, Any] = {"change": self.kind}
        if self.from_ordinal is not None:
            data["from"] = self.from_ordinal
        if self.to_ordinal is not None:
            data["to"] = self.to_ordinal
        if self.kind == "changed":
            data |= {"moved": self.moved, "details": [detail.data() for detail in self.details]}
        return data


def details(before: Possibility, after: Possibility) -> Iterator[Detail]:
    """What differs between two possibilities: conditions before effects, each by square."""
    old, new = items(before), items(after)
    keys = {**old, **new}
    for key in sorted(keys, key=lambda key: (_PARTS[key[0]], key[1])):
        values = old.get(key, ABSENT), new.get(key, ABSENT)
        if values[0] != values[1]:
            yield Detail(*key, *values)


_PARTS: Final[Mapping[PossibilityPart, int]] = {part: place for place, part in enumerate(get_args(PossibilityPart))}


def items(possibility: Possibility) -> DetailItems:
    """All that a possibility says, flat: equal possibilities have equal items."""
    result: dict[tuple[PossibilityPart, str], DetailValue] = {
        ("must", square): state for square, state in possibility.must.items()
    }
    result |= {("deny", square): state for square, state in possibility.deny.items()}
    effects = possibility.effects
    if effects is not None:
        result |= {("board", square): piece for square, piece in effects.board.items()}
        result |= {("hands", piece): delta for piece, delta in effects.hands.items()}
        result["toggle", ""] = effects.toggle
        if effects.state:
            result |= {("state", name): value for name, value in effects.state.items()}
    if possibility.guards:
        result |= {
            ("when", name): json.dumps(values, ensure_ascii=False) for name, values in possibility.guards.items()
        }
    if possibility.origin is not None:
        result |= {("action", key): value for key, value in possibility.origin.data().items()}
    return result


def content(possibility: Possibility) -> Hashable:
    """What a possibility says, whatever action it comes from: equal for possibilities that say the same."""
    effects = possibility.effects
    after = effects and (
        frozenset(effects.board.items()),
        frozenset(effects.hands.items()),
        effects.toggle,
        frozenset(effects.state.items()),
    )
    guards = frozenset(possibility.guards.items())
    return frozenset(possibility.must.items()), frozenset(possibility.deny.items()), after, guards


def compare(before: Sequence[Possibility], after: Sequence[Possibility]) -> tuple[PossibilityChange, ...]:
    """What happened to the possibilities of an entry, in the order of the entry after.

    Equal possibilities are the same one; of the others, what was removed is paired with what was added by greatest
    likeness, and has been changed, if the two have a condition or an effect on one square (or variable) in common.
    """
    old, new = [items(each) for each in before], [items(each) for each in after]
    pairs = _equal_pairs(old, new)
    gone = sorted(set(range(len(old))) - {i for i, _ in pairs})
    come = sorted(set(range(len(new))) - {j for _, j in pairs})
    equal = set(pairs)
    pairs = sorted(pairs + _like_pairs(old, new, gone, come))
    stays = {pairs[index] for index in rising([j for _, j in pairs])}
    of_before, of_after = {i for i, _ in pairs}, {j for _, j in pairs}
    changes = [PossibilityChange(i, None, before[i], None) for i in gone if i not in of_before]
    changes += [PossibilityChange(None, j, None, after[j]) for j in come if j not in of_after]
    changes += [
        PossibilityChange(i, j, before[i], after[j], (i, j) not in stays)
        for i, j in pairs
        if (i, j) not in equal or (i, j) not in stays
    ]
    return tuple(sorted(changes, key=_place))


def _place(change: PossibilityChange) -> tuple[int, bool]:
    ordinal = change.from_ordinal if change.to_ordinal is None else change.to_ordinal
    return ordinal or 0, change.to_ordinal is not None


def _equal_pairs(old: Sequence[DetailItems], new: Sequence[DetailItems]) -> list[tuple[int, int]]:
    waiting: dict[frozenset[Any], deque[int]] = defaultdict(deque)
    for ordinal, each in enumerate(old):
        waiting[frozenset(each.items())].append(ordinal)
    return [
        (found.popleft(), ordinal)
        for ordinal, each in enumerate(new)
        if (found := waiting.get(frozenset(each.items())))
    ]


def _like_pairs(
    old: Sequence[DetailItems], new: Sequence[DetailItems], gone: Sequence[int], come: Sequence[int]
) -> list[tuple[int, int]]:
    candidates = ((i, j) for i in gone for j in come)
    if len(gone) * len(come) > _MAX_PAIRS:
        candidates = ((i, j) for i, j in zip(gone, come, strict=False))
    ranked = sorted((-like, abs(i - j), i, j) for i, j in candidates if (like := _likeness(old[i], new[j])))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, i, j in ranked:
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return list(pairs.items())


def _likeness(old: DetailItems, new: DetailItems) -> float:
    """From 0 to 1: what both say counts in full, what they say differently of one square by half."""
    common = [key for key in old.keys() & new.keys() if key[0] not in ("toggle", "action")]
    said = len(old) + len(new)
    return sum([2 if old[key] == new[key] else 1 for key in common]) / said if common else 0.0
