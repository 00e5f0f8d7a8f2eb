"""What could be read of a specification, which may be wrong in places or not whole."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from ggn_store.gdl import specification as spec


@dataclass(slots=True)
class Draft:
    """A specification while it is read; the fields are those of `Specification`.

    `topology`, `first_player` and `initial_phase` are None where they could not be read. Where there are dynamic roles,
    which are refused, players may be named that are not among `players`.
    """

    title: str = ""
    description: str | None = None
    players: list[spec.Player] = field(default_factory=list)
    has_dynamic_roles: bool = False
    schemas: dict[str, spec.Schema] = field(default_factory=dict)
    topology: spec.Topology | None = None
    variables: dict[str, spec.Declaration] = field(default_factory=dict)
    # A variable of each player -> the variable that keeps it, by player.
    per_player: dict[str, dict[str, str]] = field(default_factory=dict)
    first_player: str | None = None
    setup: list[spec.Placement] = field(default_factory=list)
    actions: list[spec.Action] = field(default_factory=list)
    phases: list[spec.Phase] = field(default_factory=list)
    initial_phase: str | None = None
    assets: list[spec.AssetProfile] = field(default_factory=list)
    end_conditions: list[spec.EndCondition] = field(default_factory=list)
    text: str = ""

    def specification(self) -> spec.Specification:
        """The draft as a specification; to be asked only where nothing is wrong with it, else ValueError is raised."""
        if self.topology is None or self.first_player is None or self.initial_phase is None:
            raise ValueError("the draft is not complete")
        made: dict[str, Any] = {}
        for name in (each.name for each in fields(spec.Specification)):
            value = getattr(self, name)
            made[name] = tuple(value) if isinstance(value, list) else value
        return spec.Specification(**made)
