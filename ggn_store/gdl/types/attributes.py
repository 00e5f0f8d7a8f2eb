"""The attributes of states, entities, players and places (seed 004, section 3.5)."""

from __future__ import annotations

from ggn_store.gdl import language
from ggn_store.gdl.draft import Draft
from ggn_store.gdl.language import NODE, PLAYER, TEXT
from ggn_store.gdl.types.typed import KIND_OF, UNKNOWN, Remarks, Slots, Typed, common


class Attributes:
    """Says of what kind an attribute is, complains where there is none, and keeps that those of players were read."""

    def __init__(self, draft: Draft, reads: Slots, remarks: Remarks) -> None:
        self._draft = draft
        self._reads = reads
        self._remarks = remarks
        self.labels = () if draft.topology is None else draft.topology.geometry.places

    def of_state(self, name: str, at: int, used: Slots) -> Typed:
        """An attribute of `state`: the side to move, or the phase or a variable, which is added to `used`."""
        draft = self._draft
        if name == "current_player":
            return Typed(PLAYER)
        if name != "phase" and name not in draft.variables:
            self._remarks.unknown("the state has no variable", name, at, ("current_player", "phase", *draft.variables))
            return UNKNOWN
        used.add(("state", name))
        if name == "phase":
            return Typed(TEXT, tuple(phase.name for phase in draft.phases) or None, name)
        return Typed(language.KINDS[draft.variables[name].type], draft.variables[name].values)

    def of_entity(self, base: Typed, name: str, at: int, used: Slots) -> Typed:
        """An attribute of an entity, which each type that it may be of must have; those are added to `used`."""
        draft = self._draft
        if name == "pos":
            return Typed(NODE)
        if name == "schema":
            return Typed(TEXT, tuple(draft.schemas) or None, "type of entities")
        if not base.schemas:
            return UNKNOWN
        kinds: set[str] = set()
        for schema in base.schemas:
            attributes = draft.schemas[schema].attributes
            if name in attributes:
                kinds.add(language.KINDS[attributes[name].type])
                used.add(("entity", schema, name))
        lacking = [schema for schema in base.schemas if name not in draft.schemas[schema].attributes]
        if lacking and (name != "owner" or kinds):
            if not kinds:
                known = dict.fromkeys(key for schema in base.schemas for key in draft.schemas[schema].attributes)
                what = base.schemas[0] if len(base.schemas) == 1 else "an entity"
                self._remarks.unknown(f"{what} has no attribute", name, at, (*known, "schema", "pos"))
            else:
                having = next(schema for schema in base.schemas if schema not in lacking)
                allowed = f"an attribute of all types, or a condition on the type: eq(entity.schema, '{having}')"
                self._remarks.wrong(f"entities of type {lacking[0]} have no attribute {name}", at, allowed)
        elif lacking:  # an owner that no type has is refused where the types are declared
            return Typed(PLAYER)
        return common(kinds)

    def of_player(self, name: str, at: int) -> Typed:
        """An attribute of a player, which both players must have."""
        players = self._draft.players
        if name == "name":
            return Typed(TEXT, tuple(player.name for player in players) or None, "player")
        if not players:
            return UNKNOWN
        having = [player for player in players if name in player.attributes]
        if not having:
            known = dict.fromkeys(key for player in players for key in player.attributes)
            known |= dict.fromkeys(self._draft.per_player)
            self._remarks.unknown("players have no attribute", name, at, (*known, "name"))
            return UNKNOWN
        self._reads.add(("player", name))
        for player in players:
            if name not in player.attributes:
                self._remarks.wrong(f"the player {player.name} has no attribute {name}", at, f"{name} for each player")
                return UNKNOWN
        return common({KIND_OF[type(player.attributes[name])] for player in having})

    def of_node(self, name: str, at: int) -> Typed:
        """An attribute of a place: coordinates, the name, or what the nodes of a network declare."""
        topology = self._draft.topology
        if topology is None:
            return UNKNOWN
        if name == "name":
            return Typed(TEXT, self.labels, "place")
        having = [attributes[name] for attributes in topology.attributes.values() if name in attributes]
        if not having:
            known = dict.fromkeys(key for attributes in topology.attributes.values() for key in attributes)
            what = "a place of the board has no attribute" if topology.rectangle else "no node has an attribute"
            self._remarks.unknown(what, name, at, known)
            return UNKNOWN
        return common({KIND_OF[type(value)] for value in having})
