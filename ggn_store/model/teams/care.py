"""What looking after a store finds: what is unused, what is wrong, how it differs from another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ggn_store.model.record import Record


@dataclass(frozen=True, slots=True)
class Unused(Record):
    """Something that nothing refers to, with its rows in all tables: a piece, a board or a ruleset.

    `name` is a piece's identifier, a board's shape (None for listed squares) or a ruleset's name; a ruleset has no
    digest.
    """

    kind: Literal["piece", "board", "ruleset"]
    name: str | None
    digest: str | None
    rows: int


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection removed, or would remove; `free` is how many bytes of a SQLite file are unused since."""

    unused: tuple[Unused, ...]
    free: int | None = None

    @property
    def rows(self) -> int:
        """The rows of all that is unused."""
        return sum(each.rows for each in self.unused)

    def count(self, kind: str) -> int:
        """How many of a kind there are."""
        return sum(each.kind == kind for each in self.unused)

    def data(self) -> dict[str, Any]:
        """The collection as JSON data."""
        return {
            **{f"{kind}s": self.count(kind) for kind in ("piece", "board", "ruleset")},
            "rows": self.rows,
            "free_bytes": self.free,
            "unused": [each.data() for each in self.unused],
        }


@dataclass(frozen=True, slots=True)
class Verification(Record):
    """How much was looked at, and what is wrong: one sentence each, none for a sound store."""

    pieces: int
    revisions: int
    tags: int
    problems: tuple[str, ...]


ComparisonState = Literal["equal", "ahead", "behind", "diverged", "only here", "only there", "contradicts"]


@dataclass(frozen=True, slots=True)
class Comparison(Record):
    """A ruleset in two stores: here and there.

    `ahead` and `behind` count the revisions that only this or only the other store has; `here` and `there` are the
    numbers of the newest revisions, None where there is no such ruleset. "diverged" also says that the same revisions
    have another one as the newest. "contradicts": the stores disagree about the content of a revision that is the same
    to both by its lineage, so one of them was damaged; `contradictions` are its numbers here. `tags` are those that
    point elsewhere, each with where it points here and there (a lineage, or None). `hidden` names the stores where the
    ruleset was deleted.
    """

    name: str
    state: ComparisonState
    ahead: int
    behind: int
    here: int | None
    there: int | None
    contradictions: tuple[int, ...] = ()
    tags: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    hidden: tuple[Literal["here", "there"], ...] = ()

    @property
    def differs(self) -> bool:
        """Whether anything is not the same in both stores."""
        return self.state != "equal" or bool(self.tags) or len(self.hidden) == 1

    def data(self) -> dict[str, Any]:
        """The comparison as JSON data."""
        tags = {name: {"here": here, "there": there} for name, (here, there) in self.tags.items()}
        return Record.data(self) | {"tags": tags}
