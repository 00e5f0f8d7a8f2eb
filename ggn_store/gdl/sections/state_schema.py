"""state_schema: the variables of the game (seed 004, section 2.5)."""

from __future__ import annotations

from typing import Any

from ggn_store.errors import quote
from ggn_store.gdl import language
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.sections import declarations
from ggn_store.gdl.specification import Variable
from ggn_store.notation.json_text import Path


def read(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the global variables, `current_player` among them as the first player; those of each player are refused."""
    members = reader.members(value, path, "state_schema", ("global", "per_player", "description"))
    for name, _, at in reader.named(members.get("per_player", {}), (*path, "per_player"), "per_player"):
        reader.refuse(at, f"the variable {name} of each player (per_player)", language.RESOURCES, True)
    for name, each, at in reader.named(members.get("global", {}), (*path, "global"), "global"):
        if not reader.is_name(name, at, "variable", ("phase",)):
            continue
        what = f"the variable {name}"
        declared = declarations.declared(reader, each, at, what, "initial")
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
        reader.draft.variables[name] = Variable(name, *declared, reader.place(at))
