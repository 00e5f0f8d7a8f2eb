"""metadata, presentation and end_conditions: what is said beside the rules (seed 004, section 2.1)."""

from __future__ import annotations

from typing import Any

from ggn_store.errors import quote
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.specification import Asset, AssetProfile, EndCondition
from ggn_store.notation.json_text import Path


def read_metadata(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the name and the description; versions, authors and tags are checked and left out."""
    allowed = ("name", "description", "version", "tags", "author", "license", "source")
    members = reader.members(value, path, "metadata", allowed, ("name",))
    for key in allowed:
        if key != "tags":
            reader.text(members, key, path, "metadata")
    for tag, at in reader.items(members.get("tags", []), (*path, "tags"), "tags"):
        if not isinstance(tag, str):
            reader.complain(at, "a tag must be text", quote(tag), "a string")
    name = members.get("name")
    if isinstance(name, str) and reader.is_label(name, (*path, "name"), "game", False):
        reader.draft.title = name
    description = members.get("description")
    reader.draft.description = description if isinstance(description, str) else None


def read_presentation(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the profiles of assets."""
    members = reader.members(value, path, "presentation", ("profiles", "description"), ("profiles",))
    for name, each, at in reader.named(members.get("profiles", {}), (*path, "profiles"), "profiles"):
        keys = ("entity_assets", "topology_assets", "description")
        profile = reader.members(each, at, f"the profile {name}", keys)
        assets = []
        for asset, inner in reader.items(profile.get("entity_assets", []), (*at, "entity_assets"), "entity_assets"):
            found = reader.members(asset, inner, "an asset", ("conditions", "asset"), ("conditions", "asset"))
            text = reader.text(found, "asset", inner, "an asset")
            if "conditions" in found:
                condition = reader.clause(found["conditions"], (*inner, "conditions"), "the condition of an asset")
                if condition is not None and text is not None:
                    assets.append(Asset(condition, text, reader.place(inner)))
        areas = {}
        for key, asset, inner in reader.named(
            profile.get("topology_assets", {}), (*at, "topology_assets"), "topology_assets"
        ):
            if isinstance(asset, str):
                areas[key] = asset
            else:
                reader.complain(inner, f"the asset {key} must be text", quote(asset), "a string")
        reader.draft.assets.append(AssetProfile(name, tuple(assets), areas, reader.place(at)))


def read_end_conditions(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the end conditions; what their names mean is not checked."""
    members = reader.members(value, path, "end_conditions", ("conditions", "description"), ("conditions",))
    for each, at in reader.items(members.get("conditions", []), (*path, "conditions"), "conditions"):
        keys = ("type", "for", "condition", "description")
        ending = reader.members(each, at, "an end condition", keys, ("type", "condition"))
        kind = reader.text(ending, "type", at, "an end condition")
        who = reader.clause(ending["for"], (*at, "for"), "for") if "for" in ending else None
        if "condition" in ending:
            condition = reader.clause(ending["condition"], (*at, "condition"), "an end condition")
            if condition is not None and kind is not None:
                reader.draft.end_conditions.append(EndCondition(kind, who, condition, reader.place(at)))
