"""topology: squares, hexagons, a track or a network (seed 004, section 2.4 and the note "Topology as Data").

A further structure of a board with coordinates is a further entry of `STRUCTURES`, and of `Lattice` where its
neighbours are others.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import did_you_mean, quote
from ggn_store.gdl import language
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.specification import SpecValue, Topology
from ggn_store.model.documents.board import MAX_SQUARES, box
from ggn_store.model.documents.geometry import Lattice, Network
from ggn_store.model.documents.layout import DESCRIBED_HEXAGONS
from ggn_store.notation.json_text import Path


@dataclass(frozen=True, slots=True)
class Structure:
    """A kind of board with coordinates: their system and names, how many sizes it may have, the call for rectangles.

    `extensions` has what other programs do not read of it, by the number of sizes.
    """

    system: str
    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    rectangle: str
    hexagonal: bool = False
    extensions: Mapping[int, str] = field(default_factory=dict)

    def topology(self, sizes: tuple[int, ...], loop: bool = False) -> Topology:
        lattice = Lattice(box(sizes), self.hexagonal, loop)
        attributes: dict[str, dict[str, SpecValue]] = {}
        for label, point in lattice.points.items():
            coordinates = point * 2 if self.hexagonal else point
            attributes[label] = {**dict(zip(self.axes, coordinates, strict=False)), "name": label}
        return Topology(lattice, attributes, self.rectangle)


STRUCTURES: Final = {
    "grid": Structure("cartesian", ("x", "y", "z"), (2, 3), "grid_nodes", extensions={3: "a grid of three sizes"}),
    DESCRIBED_HEXAGONS: Structure("axial", ("q", "r", "x", "y"), (2,), "hex_nodes", hexagonal=True),
}
_SIZES: Final = ("WIDTH", "HEIGHT", "LAYERS")
_TRACK: Final = Structure("cartesian", ("x",), (1,), "track_nodes")
_KINDS: Final = ("discrete", "network", "track")
# The kind of the edges that `special_connection` asks for, and `adjacent` leaves out.
_SPECIAL: Final = "special_connection"
_STRUCTURE: Final = re.compile(r"\s*(\w+)\s*\(\s*([0-9]+(?:\s*,\s*[0-9]+)*)\s*\)\s*")


def read(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the board; zones are refused."""
    if not isinstance(value, Mapping):
        reader.complain(path, "topology must be an object", quote(value), "{ ... }")
        return
    kind = value.get("type")
    readers = {"discrete": _grid, "network": _network, "track": _track, "zones": _zones}
    if isinstance(kind, str) and kind in readers:
        readers[kind](reader, value, path)
    elif kind is None:
        reader.complain(path, "topology lacks type", None, ", ".join(_KINDS))
    else:
        hint = did_you_mean(kind, _KINDS) if isinstance(kind, str) else ""
        reader.complain((*path, "type"), f"there is no topology {quote(kind)}{hint}", None, ", ".join(_KINDS))


def _zones(reader: SectionReader, value: Mapping[str, Any], path: Path) -> None:
    reader.refuse((*path, "type"), "a topology of zones", language.CARDS)
    members = reader.members(value, path, "topology", ("type", "zones", "description"), ("zones",))
    for name, zone, at in reader.named(members.get("zones", {}), (*path, "zones"), "zones"):
        if not isinstance(zone, Mapping):
            reader.complain(at, f"the zone {name} must be an object", quote(zone), "{ ... }")
            continue
        if zone.get("visible") is False or zone.get("visibility", "all") != "all":
            key = "visible" if zone.get("visible") is False else "visibility"
            reader.refuse((*at, key), f"the zone {name} is hidden", language.HIDDEN)
        if zone.get("shuffle"):
            reader.refuse((*at, "shuffle"), f"the zone {name} is shuffled", language.RANDOM)


def _grid(reader: SectionReader, value: Mapping[str, Any], path: Path) -> None:
    keys = ("type", "structure", "coordinate_system", "description")
    members = reader.members(value, path, "topology", keys, ("structure",))
    structure = reader.text(members, "structure", path, "topology")
    if structure is None:
        return
    at = (*path, "structure")
    name, digits = _parts(structure)
    found = STRUCTURES.get(name)
    if found is None or len(digits) not in found.sizes:
        hint = "" if name in STRUCTURES else did_you_mean(name, STRUCTURES)
        wanted = ", ".join(f"{kind}({', '.join(_SIZES[:n])})" for kind, each in STRUCTURES.items() for n in each.sizes)
        reader.complain(at, f"the structure of the board cannot be read{hint}", quote(structure), wanted)
        return
    most = _most()
    sizes = tuple(int(each) if len(each) < 6 else most + 1 for each in digits)
    if not _is_possible(reader, sizes, at, structure):
        return
    system = reader.text(members, "coordinate_system", path, "topology")
    if system not in (None, found.system):
        message = f"the coordinates of {name} are {found.system}"
        reader.complain((*path, "coordinate_system"), message, quote(system), found.system)
    reader.draft.topology = found.topology(sizes)


def _parts(structure: str) -> tuple[str, list[str]]:
    """The name of a structure and its sizes in digits; no sizes where it cannot be read."""
    match = _STRUCTURE.fullmatch(structure)
    return (structure.split("(")[0].strip(), []) if match is None else (match[1], re.findall("[0-9]+", match[2]))


def extension(topology: Mapping[str, Any]) -> str | None:
    """What other programs do not read of the structure of a topology without problems; None if they read it."""
    name, digits = _parts(str(topology.get("structure")))
    return STRUCTURES[name].extensions.get(len(digits)) if name in STRUCTURES else None


def _track(reader: SectionReader, value: Mapping[str, Any], path: Path) -> None:
    members = reader.members(value, path, "topology", ("type", "length", "loop", "description"), ("length",))
    loop = reader.flag(members, "loop", path, "topology")
    length = members.get("length")
    at = (*path, "length")
    if "length" in members and type(length) is not int:
        reader.complain(at, "the length of a track must be a number", quote(length), "a whole number")
    elif type(length) is int and _is_possible(reader, (length,), at, length):
        reader.draft.topology = _TRACK.topology((length,), loop)


def _most() -> int:
    return min(limits.DESCRIPTION_NODES.most, MAX_SQUARES)


def _is_possible(reader: SectionReader, sizes: tuple[int, ...], at: Path, said: object) -> bool:
    """Whether a board has at least one place and no more than are allowed; complains otherwise."""
    if min(sizes) > 0 and math.prod(sizes) <= _most():
        return True
    allowed = f"1 to {_most():,} places{limits.DESCRIPTION_NODES.more}"
    reader.complain(at, "the board is of no possible size", quote(said), allowed)
    return False


def _network(reader: SectionReader, value: Mapping[str, Any], path: Path) -> None:
    keys = ("type", "nodes", "edges", "lines", "directed", "description")
    members = reader.members(value, path, "topology", keys, () if "lines" in value else ("nodes", "edges"))
    if "nodes" not in members and "lines" in members:
        members = {**members, "nodes": _nodes_of_lines(members.get("lines"))}
    nodes = _named_nodes(reader, members, path)
    directed = reader.flag(members, "directed", path, "topology")
    edges: dict[bool, set[tuple[str, str]]] = {False: set(), True: set()}
    for each, at in reader.items(members.get("edges", []), (*path, "edges"), "edges"):
        is_special, ends = _edge(reader, each, at, nodes, directed)
        edges[is_special].update(ends)
    lines = [
        _line(reader, each, at, nodes) for each, at in reader.items(members.get("lines", []), (*path, "lines"), "lines")
    ]
    for line in lines:
        for pair in itertools.pairwise(line):
            edges[False].update((pair, pair[::-1]))
    if nodes:
        named = tuple(line for line in lines if line)
        geometry = Network(tuple(nodes), frozenset(edges[False]), frozenset(edges[True]), named)
        reader.draft.topology = Topology(geometry, nodes)


def _nodes_of_lines(lines: object) -> dict[str, Any]:
    """The nodes that lines name, in their order."""
    texts = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    return {name: {} for line in texts for name in line.split()}


def _named_nodes(reader: SectionReader, members: Mapping[str, Any], path: Path) -> dict[str, dict[str, SpecValue]]:
    """The attributes of each node."""
    nodes: dict[str, dict[str, SpecValue]] = {}
    for name, node, at in reader.named(members.get("nodes", {}), (*path, "nodes"), "nodes"):
        if not reader.is_label(name, at, "node"):
            continue
        if name == "*":
            reader.complain(at, "* is the hand and no place", quote(name), "another name", True)
            continue
        nodes[name] = {"name": name}
        for key, each, inner in reader.named(node, at, f"the node {name}"):
            is_named = reader.is_name(key, inner, "attribute", ("name", "x", "y"))
            if is_named and reader.is_value(each, inner, "an attribute of a node"):
                nodes[name][key] = each
    if not nodes and isinstance(members.get("nodes"), Mapping):
        reader.complain((*path, "nodes"), "there are no places", None, '"Name": {}')
    return nodes


def _line(reader: SectionReader, value: Any, path: Path, nodes: Mapping[str, Any]) -> tuple[str, ...]:
    """The nodes of a line, one after the other; nothing where it cannot be read."""
    if not isinstance(value, str):
        reader.complain(path, "a line must be text", quote(value), '"a1 b1 c1"')
        return ()
    names = value.split()
    for name in names:
        if name not in nodes:
            reader.unknown("there is no node", name, path, nodes)
            return ()
    if len(names) < 2 or len(set(names)) < len(names):
        reader.complain(path, "a line joins two nodes or more, each once", quote(value), '"a1 b1 c1"')
        return ()
    return tuple(names)


def _edge(
    reader: SectionReader, value: Any, path: Path, nodes: Mapping[str, Any], directed: bool
) -> tuple[bool, list[tuple[str, str]]]:
    """Whether an edge is a special one, and the pairs of nodes that it joins."""
    keys = ("from", "to", "kind", "type", "directed", "description")
    members = reader.members(value, path, "an edge", keys, ("from", "to"))
    ends: list[str] = []
    for key in ("from", "to"):
        name = reader.text(members, key, path, "an edge")
        if name is None:
            continue
        if name not in nodes:
            reader.unknown("there is no node", name, (*path, key), nodes)
        else:
            ends.append(name)
    kind = reader.text(members, "kind", path, "an edge") or reader.text(members, "type", path, "an edge")
    if kind and kind != _SPECIAL and (hint := did_you_mean(kind, [_SPECIAL], quote, least=0.8)):
        at = (*path, "kind" if members.get("kind") else "type")
        reader.complain(at, f"{quote(kind)} is the kind of an ordinary edge{hint}", None, quote(_SPECIAL))
    if "directed" in members:
        directed = reader.flag(members, "directed", path, "an edge")
    pairs = [(ends[0], ends[1]), (ends[1], ends[0])] if len(ends) == 2 else []
    return kind == _SPECIAL, pairs[:1] if directed else pairs
