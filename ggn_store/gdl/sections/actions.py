"""interactions and game_flow: the actions, and the phases that allow them (seed 004, sections 2.6, 2.7 and 5.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ggn_store.errors import did_you_mean, offer, quote
from ggn_store.gdl import definitions
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.sections import declarations
from ggn_store.gdl.specification import Action, Clause, Phase
from ggn_store.notation.json_text import Path


def read_interactions(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the actions, in the order of the text."""
    members = reader.members(value, path, "interactions", ("definitions", "list", "description"), ("list",))
    known = definitions.read(reader, members.get("definitions", {}), (*path, "definitions"))
    path = (*path, "list")
    for name, action, at in reader.named(members.get("list", {}), path, "list"):
        if reader.is_label(name, at, "action"):
            _action(reader, name, action, at, known)
    if members.get("list") == {}:
        reader.complain(path, "there is no action", "{}", '"move": {"conditions": [...], "effects": [...]}')


def _action(reader: SectionReader, name: str, value: Any, path: Path, known: definitions.DefinedCalls) -> None:
    keys = ("conditions", "effects", "chainable", "from_hand", "optional", "end_turn", "description")
    what = f"the action {name}"
    members = reader.members(value, path, what, keys, ("conditions", "effects"))
    if not isinstance(value, Mapping):
        return
    reader.text(members, "description", path, what)
    clauses: dict[str, list[Clause]] = {"conditions": [], "effects": []}
    for key, found in clauses.items():
        for each, at in reader.items(members.get(key, []), (*path, key), key):
            kind = "a condition" if key == "conditions" else "an effect"
            clause = definitions.clause_of(reader, each, at, kind, known)
            if clause is not None:
                found.append(clause)
    if not reader.flag({"end_turn": True, **members}, "end_turn", path, what) and members.get("end_turn") is False:
        allowed = '"set(state.current_player, entity.owner)" among the effects'
        reader.complain((*path, "end_turn"), "an effect says that the turn does not end", "false", allowed)
    chainable = reader.flag(members, "chainable", path, what)
    from_hand = reader.flag(members, "from_hand", path, what)
    optional = reader.flag(members, "optional", path, what)
    conditions, effects = tuple(clauses["conditions"]), tuple(clauses["effects"])
    reader.draft.actions.append(Action(name, conditions, effects, chainable, reader.place(path), from_hand, optional))


def read_game_flow(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the phases, after the actions that they name; one alone is the initial one."""
    keys = ("time_model", "phases", "initial_phase", "description")
    members = reader.members(value, path, "game_flow", keys, ("phases",))
    model = reader.text(members, "time_model", path, "game_flow")
    if model is not None and model != "turn_based":
        reader.refuse((*path, "time_model"), f"the time model {quote(model)}", "sides move in turn: turn_based")
    phases = reader.draft.phases
    for name, phase, at in reader.named(members.get("phases", {}), (*path, "phases"), "phases"):
        if reader.is_label(name, at, "phase"):
            _phase(reader, name, phase, at)
    if members.get("phases") == {}:
        reader.complain((*path, "phases"), "there is no phase", "{}", '"main": {"allowed_actions": [...]}')
    initial = reader.text(members, "initial_phase", path, "game_flow")
    names = [phase.name for phase in phases]
    if initial is None and "initial_phase" not in members and len(phases) > 1:
        reader.complain(path, "game_flow lacks initial_phase", None, ", ".join(map(quote, names)))
    if initial is not None and initial not in names and names:
        hint = did_you_mean(initial, names, quote)
        reader.complain(
            (*path, "initial_phase"), f"there is no phase {quote(initial)}{hint}", None, offer([*map(quote, names)])
        )
    reader.draft.initial_phase = initial or (names[0] if names else None)


def _phase(reader: SectionReader, name: str, value: Any, path: Path) -> None:
    what = f"the phase {name}"
    members = reader.members(value, path, what, ("actors", "allowed_actions", "description"), ("allowed_actions",))
    actors = reader.text(members, "actors", path, what) or "current_player"
    actor = None
    if re.match(r"\s*player\s*\(", actors):
        found = declarations.typed(reader, actors, (*path, "actors"), "player_ref", f"actors of {what}")
        actor = found if isinstance(found, str) else None
    elif actors != "current_player":
        reason = "one side acts: current_player, or player('Name')"
        reader.refuse((*path, "actors"), f"actors {quote(actors)} of {what}", reason)
    known = [action.name for action in reader.draft.actions]
    allowed: list[str] = []
    actions = (*path, "allowed_actions")
    for each, at in reader.items(members.get("allowed_actions", []), actions, "allowed_actions"):
        if not isinstance(each, str):
            reader.complain(at, "the name of an action must be text", quote(each), "a string")
        elif each in allowed:
            reader.complain(at, f"the action {quote(each)} stands twice", None, "each action once")
        elif each not in known:
            hint = did_you_mean(each, known, quote)
            reader.complain(at, f"there is no action {quote(each)}{hint}", None, offer(known) or None)
        else:
            allowed.append(each)
    reader.draft.phases.append(Phase(name, tuple(allowed), actors, reader.place(path), actor))
