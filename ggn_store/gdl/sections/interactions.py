"""interactions: the actions, with conditions and effects (seed 004, section 2.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.specification import Action, Clause
from ggn_store.notation.json_text import Path


def read(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the actions, in the order of the text."""
    members = reader.members(value, path, "interactions", ("list", "description"), ("list",))
    path = (*path, "list")
    for name, action, at in reader.named(members.get("list", {}), path, "list"):
        if reader.is_label(name, at, "action"):
            _action(reader, name, action, at)
    if members.get("list") == {}:
        reader.complain(path, "there is no action", "{}", '"move": {"conditions": [...], "effects": [...]}')


def _action(reader: SectionReader, name: str, value: Any, path: Path) -> None:
    keys = ("conditions", "effects", "chainable", "end_turn", "description")
    what = f"the action {name}"
    members = reader.members(value, path, what, keys, ("conditions", "effects"))
    if not isinstance(value, Mapping):
        return
    reader.text(members, "description", path, what)
    clauses: dict[str, list[Clause]] = {"conditions": [], "effects": []}
    for key, found in clauses.items():
        for each, at in reader.items(members.get(key, []), (*path, key), key):
            clause = reader.clause(each, at, "a condition" if key == "conditions" else "an effect")
            if clause is not None:
                found.append(clause)
    if not reader.flag({"end_turn": True, **members}, "end_turn", path, what) and members.get("end_turn") is False:
        reader.complain(
            (*path, "end_turn"),
            "an effect says that the turn does not end",
            "false",
            '"set(state.current_player, entity.owner)" among the effects',
        )
    chainable = reader.flag(members, "chainable", path, what)
    conditions, effects = tuple(clauses["conditions"]), tuple(clauses["effects"])
    reader.draft.actions.append(Action(name, conditions, effects, chainable, reader.place(path)))
