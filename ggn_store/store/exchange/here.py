"""What a store has of a ruleset that comes, and that somebody else may be quicker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ggn_store.errors import GgnStoreError
from ggn_store.model.teams.ancestry import Step


class OvertakenError(GgnStoreError):
    """Somebody else has just given the ruleset its next revision, state or tag: begin again."""


@dataclass(frozen=True, slots=True)
class Here:
    """What the store has of the ruleset: its key (None for a new one) and its history by lineage."""

    name: str
    ruleset_id: int | None = None
    steps: Sequence[Step] = ()
    is_hidden: bool = False

    @property
    def number(self) -> int:
        """The number of the newest revision; 0 where there is none."""
        return self.steps[-1].number if self.steps else 0

    @property
    def head(self) -> Step:
        """The newest revision; there is one where the key is not None."""
        return self.steps[-1]
