"""The places of a board as values of expressions, numbered (seed 004, section 3.4 and the note "Topology as Data")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.gdl.specification import SpecValue, Topology
from ggn_store.model.documents.geometry import Lattice
from ggn_store.notation.hand import HAND


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A place of the board; two are equal only if they are the same one."""

    number: int
    label: str
    attributes: Mapping[str, SpecValue]


class Places:
    """All places of a board, in the order of their numbers; what is no place has no relation to any."""

    def __init__(self, topology: Topology) -> None:
        self.geometry: Final = topology.geometry
        self.all: Final = tuple(
            Place(number, label, topology.attributes[label]) for number, label in enumerate(topology.geometry.places)
        )
        self._by_label = {place.label: place for place in self.all}
        # What a piece that is in the hand starts from, which is no place of the board.
        self.hand: Final = Place(len(self.all), HAND, {})
        self._lines: dict[tuple[Place, Place], list[tuple[Place, ...]]] = {}
        self._rows: dict[tuple[Place, int], list[tuple[Place, ...]]] = {}

    def at(self, *where: object) -> Place | None:
        """The place with this label, or at these coordinates; None where there is none."""
        if isinstance(where[0], str):
            return self._by_label.get(where[0])
        point = tuple(each for each in where if type(each) is int)
        is_point = len(point) == len(where) and isinstance(self.geometry, Lattice)
        return self._place(self.geometry.at(point)) if is_point else None  # type: ignore[union-attr]

    def of(self, number: int) -> Place | None:
        """The place of what stands on a place of the board before the effects; what is in the hand has none."""
        return None if number == self.hand.number else self.all[number]

    def adjacent(self, a: object, b: object) -> bool:
        """Whether an ordinary step leads from one place to another."""
        return isinstance(a, Place) and isinstance(b, Place) and self.geometry.adjacent(a.label, b.label)

    def special(self, a: object, b: object) -> bool:
        """Whether a special connection leads from one place to another."""
        return isinstance(a, Place) and isinstance(b, Place) and self.geometry.special(a.label, b.label)

    def middle(self, a: object, b: object) -> Place | None:
        """The place halfway between two, None where there is none."""
        if not isinstance(a, Place) or not isinstance(b, Place):
            return None
        return self._place(self.geometry.middle(a.label, b.label))

    def functions(self, players: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
        """The functions of expressions that are about places, or about players by name."""
        one, two = players.values()
        other = {id(one): two, id(two): one}
        return {
            "mid_pos": self.middle,
            "adjacent": self.adjacent,
            "special_connection": self.special,
            "node": self.at,
            "player": lambda name: players.get(name) if isinstance(name, str) else None,
            **dict.fromkeys(("other_player", "opponent_of"), lambda player: other.get(id(player))),
        }

    def lines(self, a: object, b: object) -> list[tuple[Place, ...]]:
        """The places strictly between two on each line that joins them."""
        if not isinstance(a, Place) or not isinstance(b, Place):
            return []
        if (a, b) not in self._lines:
            found = self.geometry.lines(a.label, b.label)
            self._lines[a, b] = [tuple(self._by_label[label] for label in line) for line in found]
        return self._lines[a, b]

    def line(self, a: object, b: object) -> tuple[Place, ...]:
        """All places of the line that joins two."""
        if not isinstance(a, Place) or not isinstance(b, Place):
            return ()
        return tuple(self._by_label[label] for label in self.geometry.line(a.label, b.label))

    def rows(self, place: Place, count: int) -> list[tuple[Place, ...]]:
        """So many places next to each other on a line, `place` among them, in all ways."""
        if (place, count) not in self._rows:
            found = self.geometry.rows(place.label, count)
            self._rows[place, count] = [tuple(self._by_label[label] for label in row) for row in found]
        return self._rows[place, count]

    def _place(self, label: str | None) -> Place | None:
        return None if label is None else self._by_label[label]


def corners(lattice: Lattice) -> str:
    """The coordinates of the first and the last place of a board, for a message."""
    return ",".join("0" for _ in lattice.size) + " to " + ",".join(str(size - 1) for size in lattice.size)
