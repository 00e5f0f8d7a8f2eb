"""presentation: how pieces are shown, in profiles."""

from __future__ import annotations

from typing import Any

from ggn_store.errors import quote
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.specification import Asset, Profile
from ggn_store.notation.json_text import Path


def read(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the profiles of assets; those of the topology are checked and left out."""
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
        for key, asset, inner in reader.named(
            profile.get("topology_assets", {}), (*at, "topology_assets"), "topology_assets"
        ):
            if not isinstance(asset, str):
                reader.complain(inner, f"the asset {key} must be text", quote(asset), "a string")
        reader.draft.assets.append(Profile(name, tuple(assets), reader.place(at)))
