"""setup: which pieces stand where at the start."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from operator import gt
from typing import Any, Final, TypeAlias

from ggn_store.errors import did_you_mean, offer, quote
from ggn_store.gdl import language
from ggn_store.gdl.expressions import Call, Expression, Literal, Name, start_of
from ggn_store.gdl.places import corners
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.sections import declarations
from ggn_store.gdl.specification import Placement, Schema, SpecValue, Topology
from ggn_store.model.documents.geometry import Lattice
from ggn_store.notation.json_text import Path, pointer

_RECTANGLES: Final = ("grid_nodes", "hex_nodes", "track_nodes")
_PLACES: Final = (*_RECTANGLES, "node", "nodes")
_EXAMPLES: Final = "grid_nodes(x1,y1, x2,y2), hex_nodes(...), node('Name'), nodes('a1 b1'), or hand alone"
_COUNTS: Final = {2: "two", 4: "four", 6: "six"}
# Of one step; far above what games need.
MAX_HAND: Final = 1_000
# Complains about the character of an expression: message, character, what is allowed, code.
_Wrong: TypeAlias = Callable[..., None]


def read(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the steps; only spawn_entity is possible, on places that are still free."""
    members = reader.members(value, path, "setup", ("steps", "description"), ("steps",))
    taken: dict[str, Path] = {}
    for step, at in reader.items(members.get("steps", []), (*path, "steps"), "steps"):
        if not isinstance(step, Mapping):
            reader.complain(at, "a step of the setup must be an object", quote(step), "{ ... }")
            continue
        action = step.get("action")
        if action == "spawn_entity":
            _spawn(reader, step, at, taken)
        elif isinstance(action, str) and action in language.REFUSED_STEPS:
            reader.refuse((*at, "action"), f"the step {action}", language.REFUSED_STEPS[action])
        elif action is None:
            reader.complain(at, "a step of the setup lacks action", None, '"action": "spawn_entity"')
        else:
            reader.complain((*at, "action"), "there is no such step of a setup", quote(action), "spawn_entity")


def _spawn(reader: SectionReader, step: Mapping[str, Any], path: Path, taken: dict[str, Path]) -> None:
    keys = ("action", "schema", "count", "set_attributes", "at", "description")
    members = reader.members(step, path, "spawn_entity", keys, ("schema", "at"))
    name = reader.text(members, "schema", path, "spawn_entity")
    schema = None if name is None else reader.draft.schemas.get(name)
    if name is not None and schema is None and reader.draft.schemas:
        reader.unknown("there is no type", name, (*path, "schema"), reader.draft.schemas, quoted=False)
    attributes = _attributes(reader, members, path, schema)
    count = members.get("count")
    if members.get("at") == [language.HAND]:
        held = _held(reader, count, path)
        if schema is not None and held is not None:
            reader.draft.setup.append(Placement(schema.name, attributes, (), reader.place(path), held))
        return
    nodes: list[str] = []
    is_whole = True
    for each, at in reader.items(members.get("at", []), (*path, "at"), "at"):
        found = _nodes(reader, each, at)
        is_whole = is_whole and found is not None
        for node in found or ():
            if node in taken:
                reader.complain(at, f"{node} is taken already, at {pointer(taken[node])}", quote(each))
            else:
                taken[node] = at
                nodes.append(node)
    if "count" in members and type(count) is not int:
        reader.complain((*path, "count"), "count must be a number", quote(count), "a whole number")
    elif "count" in members and is_whole and count != len(nodes):
        message = f"count is {count}, but `at` names {len(nodes)} places"
        reader.complain((*path, "count"), message, None, f"{len(nodes)}, or no count")
    if schema is not None:
        reader.draft.setup.append(Placement(schema.name, attributes, tuple(nodes), reader.place(path)))


def _held(reader: SectionReader, count: object, path: Path) -> int | None:
    """How many are in the hand, None where that is not said."""
    if type(count) is int and 0 < count <= MAX_HAND:
        return count
    shown = None if count is None else quote(count)
    reader.complain(path, "count says how many are in the hand", shown, f"a whole number from 1 to {MAX_HAND}")
    return None


def _attributes(
    reader: SectionReader, members: Mapping[str, Any], path: Path, schema: Schema | None
) -> dict[str, SpecValue]:
    attributes: dict[str, SpecValue] = {}
    if schema is not None:
        attributes = {name: each.initial for name, each in schema.attributes.items()}
    inner = (*path, "set_attributes")
    for name, value, at in reader.named(members.get("set_attributes", {}), inner, "set_attributes"):
        if schema is None:
            continue
        declared = schema.attributes.get(name)
        if declared is None:
            reader.unknown(f"{schema.name} has no attribute", name, at, schema.attributes, quoted=False, at_key=True)
            continue
        found = declarations.typed(reader, value, at, declared.type, f"the attribute {name}")
        if declared.values is not None and found not in declared.values and (found is not None or value is None):
            reader.complain(
                at, f"the attribute {name} has no such value", quote(value), declarations.told(declared.values)
            )
        attributes[name] = found
    if schema is not None and "owner" in schema.attributes and attributes.get("owner") is None:
        given = members.get("set_attributes")
        if not (isinstance(given, Mapping) and given.get("owner") is not None):
            reader.complain(
                path, "these entities have no owner", None, '"set_attributes": {"owner": "player(\'...\')"}'
            )
    return attributes


def _nodes(reader: SectionReader, value: Any, path: Path) -> list[str] | None:
    """The places that an expression of `at` names, None where it cannot be told."""
    clause = reader.clause(value, path, "a place of the setup")
    if clause is None:
        return None

    def wrong(message: str, at: int, allowed: str | None = None, code: str = "invalid") -> None:
        reader.complain_of(path, clause.text, at, message, allowed=allowed, code=code)

    board = reader.draft.topology
    match clause.expression:
        case Call(name="zone", at=at):
            wrong(f"the zone {_argument(clause.expression)} is filled: {language.CARDS}", at, code="refused")
        case Call(name=name, arguments=arguments, at=at) if name in _RECTANGLES:
            return _rectangle(board, name, arguments, at, wrong)
        case Call(name="nodes", arguments=(Literal(value=str(names), at=at),)) if names.strip():
            found = [] if board is None else [_node(board, (Literal(name, at),), at, wrong) for name in names.split()]
            return [each[0] for each in found if each]
        case Call(name="node", arguments=arguments, at=at):
            return None if board is None else _node(board, arguments, at, wrong)
        case Call(name=name, at=at) | Name(text=name, at=at):
            hint = did_you_mean(name, _PLACES) if name not in _PLACES else ""
            wrong(f"this names no places{hint}", at, _EXAMPLES)
        case other:
            wrong("this names no places", start_of(other), _EXAMPLES)
    return None


def _rectangle(
    board: Topology | None, name: str, arguments: Sequence[Expression], at: int, wrong: _Wrong
) -> list[str] | None:
    """The places of `grid_nodes(x1,y1, x2,y2)`, both corners among them."""
    lattice = None if board is None or not isinstance(board.geometry, Lattice) else board.geometry
    dimensions = 2 if lattice is None else lattice.dimensions
    numbers = [each.value for each in arguments if isinstance(each, Literal) and type(each.value) is int]
    low, high = tuple(numbers[:dimensions]), tuple(numbers[dimensions:])
    if board is not None and lattice is None:
        wrong(f"a network has no {name}", at, "node('Name')")
    elif board is not None and name != board.rectangle:
        wrong(f"this board has {board.rectangle}", at, f"{board.rectangle}({_signature(dimensions)})")
    elif not len(numbers) == len(arguments) == 2 * dimensions:
        wrong(f"{name} takes {_COUNTS[2 * dimensions]} numbers", at, f"{name}({_signature(dimensions)})")
    elif lattice is not None:
        if lattice.at(low) is None or lattice.at(high) is None or any(map(gt, low, high)):
            wrong("the places are not on the board", at, f"{corners(lattice)}, the smaller ones first")
        else:
            ranges = [range(first, last + 1) for first, last in zip(low, high, strict=True)]
            points = itertools.product(*reversed(ranges))
            return [label for point in points if (label := lattice.at(point[::-1])) is not None]
    return None


def _signature(dimensions: int) -> str:
    axes = "xyz"[:dimensions]
    return ", ".join(",".join(f"{axis}{number}" for axis in axes) for number in (1, 2))


def _node(board: Topology, arguments: Sequence[Expression], at: int, wrong: _Wrong) -> list[str] | None:
    """The place of `node('e4')` or `node(4, 3)`, as a list of one."""
    match arguments:
        case (Literal(value=str(name), at=at),):
            if name in board.attributes:
                return [name]
            hint = did_you_mean(name, board.geometry.places, quote)
            wrong(f"there is no place {quote(name)}{hint}", at, offer([*board.geometry.places]))
            return None
        case (Literal(value=int()), *_) if isinstance(lattice := board.geometry, Lattice):
            point = tuple(each.value for each in arguments if isinstance(each, Literal) and type(each.value) is int)
            if len(point) == len(arguments) == lattice.dimensions:
                place = lattice.at(point)
                if place is None:
                    wrong("the place is not on the board", at, corners(lattice))
                return None if place is None else [place]
    wrong("node takes a name, or the coordinates of a place", at, "node('Name'), node(x, y)")
    return None


def _argument(expression: Expression) -> str:
    """The text that a call has as its argument, for a message."""
    match expression:
        case Call(arguments=(Literal(value=str(text)),)):
            return quote(text)
    return "that is named"
