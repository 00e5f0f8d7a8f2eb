"""players: the two sides and their attributes (seed 004, section 2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ggn_store.errors import quote
from ggn_store.gdl import language
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.specification import Player, SpecValue
from ggn_store.notation.json_text import Path


def read(reader: SectionReader, value: Any, path: Path) -> None:
    """Read the roles, the first of which is the first player; any number but two is refused."""
    members = reader.members(value, path, "players", ("count", "roles", "dynamic_roles"), ("roles",))
    _count(reader, members, path)
    if reader.flag(members, "dynamic_roles", path, "players"):
        reader.draft.has_dynamic_roles = True
        reader.refuse((*path, "dynamic_roles"), "roles that are made while playing (dynamic_roles)", language.SIDES)
    roles = list(reader.items(members.get("roles", []), (*path, "roles"), "roles"))
    if len(roles) != 2 and isinstance(members.get("roles"), list | tuple):
        many = "one role" if len(roles) == 1 else f"{len(roles)} roles"
        reader.refuse((*path, "roles"), f"a game of {many}", language.SIDES)
    for role, at in roles:
        _player(reader, role, at)


def _count(reader: SectionReader, members: Mapping[str, Any], path: Path) -> None:
    count = members.get("count", 2)
    path = (*path, "count")
    limits = reader.members(count, path, "count", ("min", "max")) if isinstance(count, Mapping) else {"": count}
    for key, limit in limits.items():
        at = (*path, key) if key else path
        if not isinstance(limit, int) or isinstance(limit, bool):
            reader.complain(at, "the count of players must be a number", quote(limit), '2, or {"min": 2, "max": 2}')
        elif limit != 2:
            bound = {"min": "at least ", "max": "up to "}.get(key, "")
            reader.refuse(at, f"{bound}{limit} player{'' if limit == 1 else 's'}", language.SIDES)


def _player(reader: SectionReader, value: Any, path: Path) -> None:
    members = reader.members(value, path, "a role", ("name", "attributes", "description"), ("name",))
    name = reader.text(members, "name", path, "a role")
    reader.text(members, "description", path, "a role")
    attributes: dict[str, SpecValue] = {}
    for key, each, at in reader.named(members.get("attributes", {}), (*path, "attributes"), "attributes"):
        if reader.is_name(key, at, "attribute", ("name",)) and reader.is_value(each, at, "an attribute of a player"):
            attributes[key] = each
    if name is None or not reader.is_label(name, (*path, "name"), "player", False):
        return
    if any(name == player.name for player in reader.draft.players):
        reader.complain((*path, "name"), "two players have one name", quote(name), "a name for each")
        return
    reader.draft.players.append(Player(name, attributes, reader.place(path)))
