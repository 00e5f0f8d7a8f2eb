"""entity_schemas: the types of pieces and their attributes (seed 004, section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ggn_store.errors import quote
from ggn_store.gdl import language
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.sections import declarations
from ggn_store.gdl.specification import Attribute, Schema
from ggn_store.notation.json_text import Path


def read(reader: SectionReader, value: Any, path: Path) -> None:
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
    attributes: dict[str, Attribute] = {}
    for key, each, at in reader.named(members.get("attributes", {}), (*path, "attributes"), "attributes"):
        if key in language.REFUSED_KEYS:
            reader.refuse(at, f"the attribute {key}", language.REFUSED_KEYS[key], True)
        elif reader.is_name(key, at, "attribute", ("schema", "pos")):
            declared = declarations.declared(reader, each, at, f"the attribute {key}", "default")
            if declared is not None:
                attributes[key] = Attribute(key, *declared, reader.place(at))
    owner = attributes.get("owner")
    if owner is None and isinstance(members.get("attributes"), Mapping):
        if "owner" not in members["attributes"]:
            reader.refuse(
                path,
                f"entities of type {name} have no owner",
                'each piece belongs to a side: give the type "owner": {"type": "player_ref"}',
                True,
            )
    elif owner is not None and owner.type != "player_ref":
        reader.complain(
            (*path, "attributes", "owner", "type"), "owner must be a player", quote(owner.type), "player_ref"
        )
    reader.draft.schemas[name] = Schema(name, attributes, reader.place(path))
