"""metadata: what the game is called (seed 004, section 2.1)."""

from __future__ import annotations

from typing import Any

from ggn_store.errors import quote
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.notation.json_text import Path


def read(reader: SectionReader, value: Any, path: Path) -> None:
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
