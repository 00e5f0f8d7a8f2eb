"""Two stores side by side: which rulesets, revisions and tags has one that the other lacks?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, select

from ggn_store.model.teams.care import Comparison, ComparisonState
from ggn_store.store.history import tags
from ggn_store.store.schema import tables as t

_AT_ONCE: Final = 1000


@dataclass(slots=True)
class RulesetOutline:
    """A ruleset without its contents: digest and number by lineage, where the tags point by name."""

    is_hidden: bool
    revisions: dict[str, tuple[str, int]] = field(default_factory=dict)
    head: str | None = None
    tags: dict[str, str] = field(default_factory=dict)

    def number(self, lineage: str | None) -> int | None:
        """The number of a revision; None where there is none of this lineage."""
        return None if lineage is None or lineage not in self.revisions else self.revisions[lineage][1]


def outlines(
    connection: Connection, names: Collection[str], progress: Callable[[str], None]
) -> dict[str, RulesetOutline]:
    """Every ruleset with a revision, or those of these names that there are, in the order of names."""
    query = (
        select(
            t.ruleset.c.name,
            t.ruleset.c.deleted_at.is_not(None).label("is_hidden"),
            t.revision.c.number,
            t.revision.c.lineage,
            t.revision.c.digest,
        )
        .join(t.revision)
        .order_by(t.ruleset.c.name, t.revision.c.number)
    )
    found: dict[str, RulesetOutline] = {}
    for row in connection.execute(query.where(t.ruleset.c.name.in_(names)) if names else query).yield_per(_AT_ONCE):
        if row.name not in found:
            progress(row.name)
            found[row.name] = RulesetOutline(bool(row.is_hidden))
        found[row.name].revisions[row.lineage] = row.digest, row.number
        found[row.name].head = row.lineage
    for name, pointing in tags.pointing(connection).items():
        if name in found:
            lineages = {number: lineage for lineage, (_, number) in found[name].revisions.items()}
            found[name].tags = {tag: lineages[number] for tag, number in pointing.items()}
    return found


def compare(here: Mapping[str, RulesetOutline], there: Mapping[str, RulesetOutline]) -> Iterator[Comparison]:
    """Each ruleset that is in one of two stores, by name; one that is hidden wherever it is counts as not there."""
    for name in sorted({*here, *there}):
        ours, theirs = here.get(name), there.get(name)
        if all(outline is None or outline.is_hidden for outline in (ours, theirs)):
            continue
        yield _compare(name, ours or RulesetOutline(False), theirs or RulesetOutline(False))


def _compare(name: str, ours: RulesetOutline, theirs: RulesetOutline) -> Comparison:
    ahead, behind = (len(a.revisions.keys() - b.revisions.keys()) for a, b in ((ours, theirs), (theirs, ours)))
    contradictions = [
        number
        for lineage, (digest, number) in ours.revisions.items()
        if lineage in theirs.revisions and theirs.revisions[lineage][0] != digest
    ]
    state: ComparisonState
    if contradictions:
        state = "contradicts"
    elif not theirs.revisions:
        state = "only here"
    elif not ours.revisions:
        state = "only there"
    elif ahead and behind:
        state = "diverged"
    elif ahead or behind:
        state = "ahead" if ahead else "behind"
    else:
        # The same revisions may have come in another order, and the last to come is the newest.
        state = "equal" if ours.head == theirs.head else "diverged"
    return Comparison(
        name,
        state,
        ahead,
        behind,
        ours.number(ours.head),
        theirs.number(theirs.head),
        tuple(sorted(contradictions)),
        {
            tag: (ours.tags.get(tag), theirs.tags.get(tag))
            for tag in sorted({*ours.tags, *theirs.tags})
            if ours.tags.get(tag) != theirs.tags.get(tag)
        },
        tuple(where for where, outline in (("here", ours), ("there", theirs)) if outline.is_hidden),  # type: ignore[misc]
    )
