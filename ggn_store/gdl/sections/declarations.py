"""entity_schemas and state_schema: the types of pieces and the variables (seed 004, sections 2.3 and 2.5)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ggn_store import limits
from ggn_store.errors import did_you_mean, offer, quote
from ggn_store.gdl import language
from ggn_store.gdl.expressions import Call, Literal
from ggn_store.gdl.functions import same
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.specification import TYPES, Declaration, Schema, SpecValue
from ggn_store.notation.json_text import Path


def read_entity_schemas(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the types; each must have an owner, as a piece belongs to a side."""
    members = reader.members(value, path, "entity_schemas", ("types", "description"), ("types",))
    path = (*path, "types")
    found = False
    for name, each, at in reader.named(members.get("types", {}), path, "types"):
        found = True
        if reader.is_label(name, at, "type"):
            _schema(reader, name, each, at)
    if not found and isinstance(members.get("types"), Mapping):
        reader.complain(path, "there is no type of entities", None, '"Piece": {"attributes": {...}}')


def _schema(reader: SectionReader, name: str, value: Any, path: Path) -> None:
    members = reader.members(value, path, f"the type {name}", ("attributes", "description"), ("attributes",))
    attributes: dict[str, Declaration] = {}
    for key, each, at in reader.named(members.get("attributes", {}), (*path, "attributes"), "attributes"):
        if key in language.REFUSED_KEYS:
            reader.refuse(at, f"the attribute {key}", language.REFUSED_KEYS[key], True)
        elif reader.is_name(key, at, "attribute", ("schema", "pos")):
            declared = _declared(reader, each, at, f"the attribute {key}", "default")
            if declared is not None:
                attributes[key] = Declaration(key, *declared, reader.place(at))
    owner = attributes.get("owner")
    if owner is None and isinstance(members.get("attributes"), Mapping):
        if "owner" not in members["attributes"]:
            reason = 'each piece belongs to a side: give the type "owner": {"type": "player_ref"}'
            reader.refuse(path, f"entities of type {name} have no owner", reason, True)
    elif owner is not None and owner.type != "player_ref":
        reader.complain(
            (*path, "attributes", "owner", "type"), "owner must be a player", quote(owner.type), "player_ref"
        )
    reader.draft.schemas[name] = Schema(name, attributes, reader.place(path))


def read_state_schema(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the global variables, `current_player` among them as the first player, and those of each player."""
    members = reader.members(value, path, "state_schema", ("global", "per_player", "description"))
    for name, each, at in reader.named(members.get("per_player", {}), (*path, "per_player"), "per_player"):
        _of_each_player(reader, name, each, at)
    for name, each, at in reader.named(members.get("global", {}), (*path, "global"), "global"):
        if not reader.is_name(name, at, "variable", ("phase", *reader.draft.variables)):
            continue
        what = f"the variable {name}"
        declared = _declared(reader, each, at, what, "initial")
        if declared is None:
            continue
        if name == "current_player" and declared[0] != "player_ref":
            reader.complain((*at, "type"), "current_player is a player", quote(declared[0]), "player_ref")
            continue
        if name == "current_player":
            first = declared[1]
            if first is None and reader.draft.players:
                first = reader.draft.players[0].name
            reader.draft.first_player = first if isinstance(first, str) else None
        reader.draft.variables[name] = Declaration(name, *declared, reader.place(at))


def _of_each_player(reader: SectionReader, name: str, value: Any, path: Path) -> None:
    """A variable of each player becomes one for each: it is as bounded as those of the game have to be."""
    draft, what = reader.draft, f"the variable {name} of each player"
    kind = value.get("type") if isinstance(value, Mapping) else None
    if kind not in ("bool", "player_ref") and (kind is None or not {"values", "min", "max"} & value.keys()):
        reason = language.BOUNDLESS if kind in TYPES else language.RESOURCES
        reader.refuse(path, f"{what} (per_player)", reason, True)
        return
    taken = {"name", "schema", "pos"}
    taken.update(*(each.attributes for each in draft.players), *(each.attributes for each in draft.schemas.values()))
    taken.update(*(() if draft.topology is None else draft.topology.attributes.values()))
    declared = _declared(reader, value, path, what, "initial")
    if not reader.is_name(name, path, "variable", sorted(taken)) or declared is None:
        return
    draft.per_player[name] = {each.name: f"{name}_{re.sub(r'[^a-zA-Z0-9]', '_', each.name)}" for each in draft.players}
    for own in draft.per_player[name].values():
        draft.variables[own] = Declaration(own, *declared, reader.place(path))


def _declared(
    reader: SectionReader, value: Any, path: Path, what: str, key: str
) -> tuple[str, SpecValue, tuple[SpecValue, ...] | None] | None:
    """The type of an attribute (`key` is default) or a variable (`key` is initial), its first value and its values.

    The values are None where none are declared, everything is None where the type cannot be read.
    """
    members = reader.members(value, path, what, ("type", key, "values", "min", "max", "description"), ())
    if not isinstance(value, Mapping):
        return None
    if "type" not in members:
        if not any(name in language.REFUSED_KEYS for name in value):
            reader.complain(path, f"{what} lacks type", None, ", ".join(TYPES))
        return None
    kind = reader.text(members, "type", path, what)
    if kind is None:
        return None
    if kind not in TYPES:
        _unknown_type(reader, kind, (*path, "type"), what)
        return None
    first = typed(reader, members[key], (*path, key), kind, what) if key in members else None
    values = _values(reader, members, path, kind, what)
    if values is not None and (key in members or kind != "string"):
        is_known = any(same(first, each) for each in values)
        if key in members and not is_known:
            reader.complain((*path, key), f"{key} of {what} is not one of its values", quote(first), told(values))
    return kind, first, values


def _unknown_type(reader: SectionReader, kind: str, path: Path, what: str) -> None:
    if kind.endswith("_list") or kind.startswith(("list", "set", "stack", "array")):
        reason = language.HIDDEN if "visib" in what else "an attribute or variable has one value of a few"
        reader.refuse(path, f"{what} is a list ({kind})", reason)
        return
    reader.complain(path, f"there is no type {quote(kind)}{did_you_mean(kind, TYPES)}", None, ", ".join(TYPES))


def typed(reader: SectionReader, value: Any, path: Path, kind: str, what: str) -> SpecValue:
    """A value of JSON as one of a type, None where it is none; a player (`"player('White')"`) is known by name."""
    if value is None:
        return None
    if kind == "player_ref":
        return _player(reader, value, path, what)
    if isinstance(value, str | int) and type(value) is {"string": str, "int": int, "bool": bool}[kind]:
        return value
    allowed = {"string": "a string", "int": "a whole number", "bool": "true, false"}[kind]
    reader.complain(path, f"{what} is of type {kind}", quote(value), f"{allowed}, null")
    return None


def _player(reader: SectionReader, value: Any, path: Path, what: str) -> str | None:
    if not isinstance(value, str):
        reader.complain(path, f"{what} must be a player", quote(value), "\"player('Name')\", null")
        return None
    clause = reader.clause(value, path, what)
    if clause is None:
        return None
    match clause.expression:
        case Literal(None):
            return None
        case Call("player", (Literal(str(name), at),)):
            known = [player.name for player in reader.draft.players]
            if name in known or not known or reader.draft.has_dynamic_roles:
                return name
            message = f"there is no player {quote(name)}{did_you_mean(name, known, quote)}"
            reader.complain_of(path, value, at, message, allowed=", ".join(map(quote, known)))
        case _:
            reader.complain_of(path, value, 0, f"{what} must be a player", allowed="player('Name'), null")
    return None


def _values(
    reader: SectionReader, members: Mapping[str, Any], path: Path, kind: str, what: str
) -> tuple[SpecValue, ...] | None:
    """The values that are declared, None where none are, or not so that they can be read."""
    for key in ("values", "min", "max"):
        fits = kind == "int" or (kind == "string" and key == "values")
        if key in members and not fits:
            reader.complain((*path, key), f"{what} is of type {kind}, which has no {key}", None, None, True)
            return None
    if "values" in members and ("min" in members or "max" in members):
        reader.complain((*path, "values"), f"{what} has values and limits", None, "one of them", True)
        return None
    if "values" in members:
        return _listed(reader, members["values"], (*path, "values"), kind, what)
    if "min" in members or "max" in members:
        return _between(reader, members, path, what)
    return None


def _listed(reader: SectionReader, value: Any, path: Path, kind: str, what: str) -> tuple[SpecValue, ...] | None:
    """The values that `values` lists."""
    found: list[SpecValue] = []
    for each, at in reader.items(value, path, "values"):
        member = typed(reader, each, at, kind, what)
        if member is None and each is not None:
            continue
        if member in found:
            reader.complain(at, "the value stands twice", quote(each), "each value once")
        else:
            found.append(member)
    if len(found) > limits.DESCRIPTION_VALUES.most:
        reader.complain(path, "there are too many values", f"{len(found)}", limits.DESCRIPTION_VALUES.allowed)
        return None
    if value == []:
        reader.complain(path, "there are no values", "[]", "one value or more")
    return tuple(found) or None


def _between(reader: SectionReader, members: Mapping[str, Any], path: Path, what: str) -> tuple[int, ...] | None:
    """The numbers from `min` to `max`."""
    bounds = []
    for key in ("min", "max"):
        if key not in members:
            reader.complain(path, f"{what} has one limit alone", None, "min and max", True)
            return None
        limit = members[key]
        if type(limit) is not int:
            reader.complain((*path, key), f"{key} of {what} must be a number", quote(limit), "a whole number")
            return None
        bounds.append(limit)
    low, high = bounds
    if low > high:
        reader.complain((*path, "max"), f"max of {what} is less than its min", quote(high), f"{low} or more")
        return None
    if high - low >= limits.DESCRIPTION_VALUES.most:
        reader.complain(
            (*path, "max"), "there are too many values", f"{high - low + 1:,}", limits.DESCRIPTION_VALUES.allowed
        )
        return None
    return tuple(range(low, high + 1))


def told(values: Collection[SpecValue]) -> str:
    """The first few of some values, for a message."""
    return offer([quote(value) for value in values])
