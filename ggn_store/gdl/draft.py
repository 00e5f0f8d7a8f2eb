"""What could be read of a specification, which may be wrong in places or not whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from ggn_store.gdl.specification import (
    Action,
    EndCondition,
    Phase,
    Placement,
    Player,
    Profile,
    Schema,
    Specification,
    Topology,
    Variable,
)


@dataclass(slots=True)
class Draft:
    """A specification while it is read; the fields are those of `Specification`.

    `topology`, `first_player` and `initial_phase` are None where they could not be read. Where there are dynamic roles,
    which are refused, players may be named that are not among `players`.
    """

    title: str = ""
    description: str | None = None
    players: list[Player] = field(default_factory=list)
    has_dynamic_roles: bool = False
    schemas: dict[str, Schema] = field(default_factory=dict)
    topology: Topology | None = None
    variables: dict[str, Variable] = field(default_factory=dict)
    first_player: str | None = None
    setup: list[Placement] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    initial_phase: str | None = None
    assets: list[Profile] = field(default_factory=list)
    end_conditions: list[EndCondition] = field(default_factory=list)
    text: str = ""

    def specification(self) -> Specification:
        """The draft as a specification; to be asked only where nothing is wrong with it, else ValueError is raised."""
        if self.topology is None or self.first_player is None or self.initial_phase is None:
            raise ValueError("the draft is not complete")
        return Specification(
            self.title,
            tuple(self.players),
            self.schemas,
            self.topology,
            self.variables,
            self.first_player,
            tuple(self.setup),
            tuple(self.actions),
            tuple(self.phases),
            self.initial_phase,
            tuple(self.assets),
            tuple(self.end_conditions),
            self.description,
            self.text,
        )
