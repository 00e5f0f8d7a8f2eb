"""Two histories of one ruleset, and how they stand to each other.

A history is a list of steps with the head last and every parent before its children. It may begin in the middle: a
parent that is not in it is one that whoever receives the rest must have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Step:
    """A revision's place in a history: its lineage, its content and the lineages of its parents."""

    lineage: str
    digest: str
    parent: str | None
    merged: str | None
    number: int

    @property
    def parents(self) -> tuple[str, ...]:
        """The lineages of its parents, none for the first revision."""
        return tuple(parent for parent in (self.parent, self.merged) if parent is not None)


@dataclass(frozen=True, slots=True)
class Relation:
    """How a history that is here stands to one that comes.

    `same`: all that comes is here. `forward`: the head that is here is among what comes before the other. `apart`:
    both have what the other has not. `missing` are the steps that come and are not here, `needed` the lineages that
    are in neither although one that comes goes back to them. `bases` are steps that are here: the newest that both
    heads go back to, or, `by_content`, the newest whose content the other history has had, too.
    """

    kind: Literal["same", "forward", "apart"]
    missing: tuple[Step, ...] = ()
    needed: tuple[str, ...] = ()
    bases: tuple[Step, ...] = ()
    by_content: bool = False


def relate(here: Sequence[Step], coming: Sequence[Step]) -> Relation:
    """How the history that is `here`, which may be empty, stands to the one that is `coming`."""
    have = {step.lineage: step for step in here}
    head = coming[-1].lineage
    if head in have:
        return Relation("same")
    # Of what both have, what is here was checked when it arrived.
    steps = {step.lineage: step for step in coming} | have
    theirs = ancestors(steps, [head])
    missing = tuple(step for step in coming if step.lineage in theirs and step.lineage not in have)
    needed = tuple(sorted(theirs - steps.keys()))
    if not here or here[-1].lineage in theirs:
        return Relation("forward", missing, needed)
    common = theirs & ancestors(steps, [here[-1].lineage])
    bases: list[Step] = []
    before: set[str] = set()
    for step in reversed(here):
        if step.lineage in common and step.lineage not in before:
            bases.append(step)
            before |= ancestors(steps, [step.lineage])
    if bases:
        return Relation("apart", missing, needed, tuple(bases))
    contents = {step.digest for step in coming}
    alike = next((step for step in reversed(here) if step.digest in contents), None)
    return Relation("apart", missing, needed, () if alike is None else (alike,), by_content=alike is not None)


def ancestors(steps: Mapping[str, Step], lineages: Iterable[str]) -> set[str]:
    """These lineages and all that they go back to, as far as `steps` tell."""
    found: set[str] = set()
    waiting = list(lineages)
    while waiting:
        lineage = waiting.pop()
        if lineage not in found:
            found.add(lineage)
            if lineage in steps:
                waiting.extend(steps[lineage].parents)
    return found
