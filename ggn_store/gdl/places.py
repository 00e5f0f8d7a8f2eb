"""The places of a board, numbered, and what lies next to, between and in the middle of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ggn_store.gdl.specification import (
    HEX_DIRECTIONS,
    HexGrid,
    Network,
    Node,
    Topology,
    Value,
    label,
)

SPECIAL: Final = "special_connection"
_SQUARE_DIRECTIONS: Final = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y)


class Place:
    """A place of the board; two are equal only if they are the same one."""

    __slots__ = ("attributes", "label", "number")

    def __init__(self, number: int, label: str, attributes: Mapping[str, Value]) -> None:
        self.number = number
        self.label = label
        self.attributes = attributes


class Places:
    """All places of a board, in the order of their numbers."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.all: Final = tuple(
            Place(number, label(node), _attributes(topology, node)) for number, node in enumerate(topology.nodes())
        )
        self._by_label = {place.label: place for place in self.all}
        nodes = list(topology.nodes())
        self._by_node: dict[Node, Place] = dict(zip(nodes, self.all, strict=True))
        self._nodes = nodes
        self._near: dict[bool, set[tuple[int, int]]] = {False: set(), True: set()}
        self._directions = HEX_DIRECTIONS if isinstance(topology, HexGrid) else _SQUARE_DIRECTIONS
        if isinstance(topology, Network):
            for edge in topology.edges:
                ends = self._by_label[edge.start].number, self._by_label[edge.end].number
                self._near[edge.kind == SPECIAL].add(ends)
                if not edge.directed:
                    self._near[edge.kind == SPECIAL].add(ends[::-1])
        else:
            for place in self.all:
                x, y = self._point(place.number)
                for dx, dy in self._directions:
                    other = self._by_node.get((x + dx, y + dy))
                    if other is not None:
                        self._near[False].add((place.number, other.number))
        self._between: dict[tuple[int, int], tuple[int, ...] | None] = {}

    def at(self, *where: object) -> Place | None:
        """The place with this label, or at these coordinates; None where there is none."""
        if len(where) == 1:
            return self._by_label.get(where[0]) if isinstance(where[0], str) else None
        x, y = where
        return self._by_node.get((x, y)) if type(x) is int and type(y) is int else None

    def adjacent(self, a: object, b: object) -> bool:
        """Whether an ordinary step leads from one place to another."""
        return isinstance(a, Place) and isinstance(b, Place) and (a.number, b.number) in self._near[False]

    def special(self, a: object, b: object) -> bool:
        """Whether a special connection leads from one place to another."""
        return isinstance(a, Place) and isinstance(b, Place) and (a.number, b.number) in self._near[True]

    def between(self, a: Place, b: Place) -> tuple[int, ...] | None:
        """The numbers of the places strictly between two on a line; None where no line joins them."""
        ends = a.number, b.number
        if ends not in self._between:
            self._between[ends] = self._line(*ends)
        return self._between[ends]

    def middle(self, a: object, b: object) -> Place | None:
        """The place halfway between two, None where there is none."""
        if not isinstance(a, Place) or not isinstance(b, Place):
            return None
        (x, y), (to_x, to_y) = self._point(a.number), self._point(b.number)
        if (x + to_x) % 2 or (y + to_y) % 2:
            return None
        return self._by_node.get(((x + to_x) // 2, (y + to_y) // 2))

    def _point(self, number: int) -> tuple[int, int]:
        node = self._nodes[number]
        if isinstance(node, str):
            raise TypeError("a network has no coordinates")
        return node

    def _line(self, start: int, end: int) -> tuple[int, ...] | None:
        (x, y), (to_x, to_y) = self._point(start), self._point(end)
        distance = max(abs(to_x - x), abs(to_y - y))
        if distance == 0:
            return ()
        step = (to_x - x) // distance, (to_y - y) // distance
        if step not in self._directions or (x + step[0] * distance, y + step[1] * distance) != (to_x, to_y):
            return None
        return tuple(self._by_node[x + step[0] * each, y + step[1] * each].number for each in range(1, distance))


def _attributes(topology: Topology, node: Node) -> dict[str, Value]:
    name = label(node)
    if isinstance(topology, Network):
        return {"name": name, **topology.attributes[name]}
    if isinstance(node, str):
        raise TypeError("a grid has no named nodes")
    x, y = node
    found: dict[str, Value] = {"name": name, "x": x, "y": y}
    if isinstance(topology, HexGrid):
        found |= {"q": x, "r": y}
    return found
