"""The geometry of boards: what lies next to, between and in the middle of places.

On squares eight directions lead from each place, on hexagons six (axial coordinates); in a network the edges do, and
there are no lines. Seed 004, section 3.4 and the note "Topology as Data", name the functions.
"""

from __future__ import annotations

import math
from typing import Final

from ggn_store.gdl.specification import SPECIAL, HexGrid, Network, Node, Topology, Value, label

SQUARE_DIRECTIONS: Final = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y)
HEX_DIRECTIONS: Final = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))


class Geometry:
    """The geometry of one board; `nodes` are its places, in their order."""

    def __init__(self, topology: Topology) -> None:
        self.nodes: Final = tuple(topology.nodes())
        self._topology = topology
        self._known = frozenset(self.nodes)
        self._by_label = {label(node): node for node in self.nodes}
        self._directions = frozenset(HEX_DIRECTIONS if isinstance(topology, HexGrid) else SQUARE_DIRECTIONS)
        self._edges: set[tuple[str, str]] = set()
        self._special: set[tuple[str, str]] = set()
        for edge in topology.edges if isinstance(topology, Network) else ():
            edges = self._special if edge.kind == SPECIAL else self._edges
            edges.add((edge.start, edge.end))
            if not edge.directed:
                edges.add((edge.end, edge.start))

    def node(self, *where: object) -> Node | None:
        """The place with this label, or at these coordinates; None where there is none."""
        if len(where) == 1:
            return self._by_label.get(where[0]) if isinstance(where[0], str) else None
        x, y = where
        return (x, y) if type(x) is int and type(y) is int and (x, y) in self._known else None

    def adjacent(self, a: Node, b: Node) -> bool:
        """Whether an ordinary step leads from `a` to `b`."""
        if isinstance(a, str) or isinstance(b, str):
            return (a, b) in self._edges
        return (b[0] - a[0], b[1] - a[1]) in self._directions

    def special(self, a: Node, b: Node) -> bool:
        """Whether a special connection leads from `a` to `b`; only networks have any."""
        return (a, b) in self._special

    def middle(self, a: Node, b: Node) -> Node | None:
        """The place halfway between, None where there is none."""
        if isinstance(a, str) or isinstance(b, str) or (a[0] + b[0]) % 2 or (a[1] + b[1]) % 2:
            return None
        return (a[0] + b[0]) // 2, (a[1] + b[1]) // 2

    def between(self, a: Node, b: Node) -> tuple[Node, ...] | None:
        """The places strictly between on a line, `a` first; None where no line joins them."""
        if a == b:
            return ()
        if isinstance(a, str) or isinstance(b, str):
            return None
        dx, dy = b[0] - a[0], b[1] - a[1]
        length = math.gcd(dx, dy)
        step = dx // length, dy // length
        if step not in self._directions:
            return None
        return tuple((a[0] + step[0] * each, a[1] + step[1] * each) for each in range(1, length))

    def attributes(self, node: Node) -> dict[str, Value]:
        """What rules may ask of a place: `name`; x and y, on hexagons q and r too; in a network what it declares."""
        if isinstance(node, str):
            declared = self._topology.attributes[node] if isinstance(self._topology, Network) else {}
            return {"name": node, **declared}
        x, y = node
        found: dict[str, Value] = {"name": label(node), "x": x, "y": y}
        return {**found, "q": x, "r": y} if isinstance(self._topology, HexGrid) else found
