"""The concepts that games have, and which games are alike by them and by the ways in which their pieces move."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ggn_store.model.record import Record


@dataclass(frozen=True, slots=True)
class ConceptValues:
    """A concept: what it means, the SQL that finds it, and its value in each revision (`chess@1`)."""

    concept: str
    meaning: str
    sql: str
    values: Mapping[str, int | bool]

    def data(self) -> dict[str, Any]:
        """As a JSON object; `rulesets` counts those that have it."""
        having = sum(map(bool, self.values.values()))
        return {"concept": self.concept, "rulesets": having, "meaning": self.meaning, "sql": self.sql}


@dataclass(frozen=True, slots=True)
class FoundGames:
    """A record for each ruleset that is as wished; they have the `concepts` that were asked for."""

    concepts: tuple[str, ...]
    records: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Profile:
    """What a ruleset is compared by: its concepts, and pieces that move in each way, by fingerprint."""

    ruleset: str
    revision: int
    concepts: Mapping[str, int | bool]
    movements: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Similar(Record):
    """A ruleset that is like another one, and why.

    `likeness` is in per cent: the mean of two shares, of the ways to move that either has, and of the concepts that
    either has, those in which both agree. `movements` names a piece of the other ruleset for each way to move that both
    have, `other_movements` counts those that one of them has. `differs` has `+` before a concept that this one has and
    the other has not, `-` before one that it lacks, and its own number of a size.
    """

    ruleset: str
    revision: int
    likeness: int
    movements: tuple[str, ...]
    other_movements: int
    concepts: tuple[str, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profiles:
    """What rulesets are compared by, read once for all that are; by what names them (`chess@1`).

    They agree in the concepts of `sizes` where these are equal, in all others where both have them.
    """

    of: Mapping[str, Profile]
    sizes: Collection[str]

    def similar(self, reference: str) -> list[Similar]:
        """How other rulesets are like one of these, the most similar first."""
        wanted = self.of[reference]
        own = wanted.ruleset.partition("#")[0]  # of a proposal, what it is to become
        others = (each for key, each in self.of.items() if key != reference and each.ruleset != own)
        found = [_compared(wanted, other, self.sizes) for other in others]
        return sorted(found, key=lambda each: (-each.likeness, each.ruleset, each.revision))


def _compared(wanted: Profile, other: Profile, sizes: Collection[str]) -> Similar:
    movements = wanted.movements.keys() & other.movements.keys()
    every = wanted.movements.keys() | other.movements.keys()
    agreed, differs = [], []
    for name, value in wanted.concepts.items():
        of_other = other.concepts[name]
        if name in sizes:
            if value == of_other:
                agreed.append(name)
            else:
                differs.append(f"{name}={of_other}")
        elif value and of_other:
            agreed.append(name)
        elif value or of_other:
            differs.append(f"{'+' if of_other else '-'}{name}")
    shares = [len(agreed) / max(1, len(agreed) + len(differs))]
    if every:
        shares.append(len(movements) / len(every))
    return Similar(
        other.ruleset,
        other.revision,
        round(100 * sum(shares) / len(shares)),
        tuple(piece for fingerprint, piece in wanted.movements.items() if fingerprint in movements),
        len(every) - len(movements),
        tuple(agreed),
        tuple(differs),
    )
