"""What a specification says: values without any JSON in them, every expression parsed, every place kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ggn_store.gdl.expressions import Expression
from ggn_store.model.documents.geometry import Geometry
from ggn_store.notation import json_text
from ggn_store.notation.json_text import Path

# A player is known by name: the value of a `player_ref` is the player's name, or None.
SpecValue = str | int | bool | None

TYPES: Final = ("string", "int", "bool", "player_ref")


@dataclass(frozen=True, slots=True)
class Location:
    """Where in the JSON text something stands: its path, and line and column from 1."""

    path: Path
    line: int | None = None
    column: int | None = None

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer."""
        return json_text.pointer(self.path)


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition or effect: its text, its tree, and the place of the string that holds it."""

    text: str
    expression: Expression
    place: Location


@dataclass(frozen=True, slots=True)
class Player:
    """A role of a player, with the attributes that make rules symmetric."""

    name: str
    attributes: Mapping[str, SpecValue]
    place: Location


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable of the game or an attribute of a type; `values` is None where the specification declares no domain."""

    name: str
    type: str
    initial: SpecValue
    values: tuple[SpecValue, ...] | None
    place: Location


@dataclass(frozen=True, slots=True)
class Schema:
    """A type of entities."""

    name: str
    attributes: Mapping[str, Declaration]
    place: Location


@dataclass(frozen=True, slots=True)
class Topology:
    """A board: how its places lie, and the attributes that rules may ask of each, by its label.

    `rectangle` is the call that names a rectangle of places in the setup; None where they have no coordinates.
    """

    geometry: Geometry
    attributes: Mapping[str, Mapping[str, SpecValue]]
    rectangle: str | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """Entities that stand on the board at the start; `attributes` has a value for each one of the schema.

    `in_hand` are so many that are in the hand of their owner.
    """

    schema: str
    attributes: Mapping[str, SpecValue]
    nodes: tuple[str, ...]
    place: Location
    in_hand: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """A rule: what it asks for, and what it does; with `from_hand`, to an entity that is in the hand.

    Where an action holds, those after it are done only if it is `optional`.
    """

    name: str
    conditions: tuple[Clause, ...]
    effects: tuple[Clause, ...]
    chainable: bool
    place: Location
    from_hand: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a turn or of the game; `allowed_actions` are tried in this order.

    `actors` is `current_player`, or `player('Name')`: of that player, whose name is `actor`, alone.
    """

    name: str
    allowed_actions: tuple[str, ...]
    actors: str
    place: Location
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Asset:
    """How entities that a condition holds for are shown."""

    condition: Clause
    asset: str
    place: Location


@dataclass(frozen=True, slots=True)
class AssetProfile:
    """A way to present the game, such as `ascii`; the first asset whose condition holds counts.

    `areas` are assets of the topology, by the text that says of what.
    """

    name: str
    assets: tuple[Asset, ...]
    areas: Mapping[str, str]
    place: Location


@dataclass(frozen=True, slots=True)
class EndCondition:
    """When the game ends, for whom and how; `gdl.ends` makes an outcome of it where a board decides it."""

    type: str
    beneficiary: Clause | None
    condition: Clause
    place: Location


@dataclass(frozen=True, slots=True)
class Specification:
    """A whole game description; `text` is the JSON text that it came as.

    `variables` leaves out `current_player`, which is the side to move: `first_player` has it at the start.
    """

    title: str
    players: tuple[Player, ...]
    schemas: Mapping[str, Schema]
    topology: Topology
    variables: Mapping[str, Declaration]
    first_player: str
    setup: tuple[Placement, ...]
    actions: tuple[Action, ...]
    phases: tuple[Phase, ...]
    initial_phase: str
    assets: tuple[AssetProfile, ...]
    end_conditions: tuple[EndCondition, ...]
    description: str | None = None
    text: str = ""

    def allowed_actions(self) -> list[Action]:
        """The actions that a phase allows, in the order of the phases; the others are never used."""
        names = dict.fromkeys(name for phase in self.phases for name in phase.allowed_actions)
        actions = {action.name: action for action in self.actions}
        return [actions[name] for name in names]
