"""The places of a board as values of expressions, numbered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ggn_store.gdl.geometry import Geometry
from ggn_store.gdl.specification import Node, Topology, Value, label


class Place:
    """A place of the board; two are equal only if they are the same one."""

    __slots__ = ("attributes", "label", "node", "number")

    def __init__(self, number: int, node: Node, attributes: Mapping[str, Value]) -> None:
        self.number = number
        self.node = node
        self.label = label(node)
        self.attributes = attributes


class Places:
    """All places of a board, in the order of their numbers; what is no place has no relation to any."""

    def __init__(self, topology: Topology) -> None:
        self._geometry = Geometry(topology)
        self.all: Final = tuple(
            Place(number, node, self._geometry.attributes(node)) for number, node in enumerate(self._geometry.nodes)
        )
        self._by_node = {place.node: place for place in self.all}
        self._between: dict[tuple[int, int], tuple[int, ...] | None] = {}

    def at(self, *where: object) -> Place | None:
        """The place with this label, or at these coordinates; None where there is none."""
        return self._place(self._geometry.node(*where))

    def adjacent(self, a: object, b: object) -> bool:
        """Whether an ordinary step leads from one place to another."""
        return isinstance(a, Place) and isinstance(b, Place) and self._geometry.adjacent(a.node, b.node)

    def special(self, a: object, b: object) -> bool:
        """Whether a special connection leads from one place to another."""
        return isinstance(a, Place) and isinstance(b, Place) and self._geometry.special(a.node, b.node)

    def middle(self, a: object, b: object) -> Place | None:
        """The place halfway between two, None where there is none."""
        if not isinstance(a, Place) or not isinstance(b, Place):
            return None
        return self._place(self._geometry.middle(a.node, b.node))

    def between(self, a: Place, b: Place) -> tuple[int, ...] | None:
        """The numbers of the places strictly between two on a line; None where no line joins them."""
        ends = a.number, b.number
        if ends not in self._between:
            line = self._geometry.between(a.node, b.node)
            self._between[ends] = None if line is None else tuple(self._by_node[node].number for node in line)
        return self._between[ends]

    def _place(self, node: Node | None) -> Place | None:
        return None if node is None else self._by_node[node]
