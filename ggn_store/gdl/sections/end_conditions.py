"""end_conditions: when the game ends, which is stored for the host."""

from __future__ import annotations

from typing import Any

from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.specification import EndCondition
from ggn_store.notation.json_text import Path


def read(reader: SectionReader, value: Any, path: Path) -> None:
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
