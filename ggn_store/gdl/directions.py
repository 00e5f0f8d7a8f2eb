"""Pieces that move strangely: not at all, in some directions of a symmetry only, or over what stands between."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from ggn_store.errors import Problem
from ggn_store.gdl.expressions import Call, parts
from ggn_store.gdl.folding import Entity
from ggn_store.gdl.problems import finding
from ggn_store.gdl.trials import Trials, TriedRule
from ggn_store.model.documents.geometry import Lattice, Vector, unit

# The type of an entity, the attribute that makes it a king, and its value; then the owner.
_Group = tuple[str, str | None, str]
_Vectors = defaultdict[_Group, defaultdict[str, set[Vector]]]


def strange_moves(trials: Trials, holding: Collection[str]) -> Iterator[Problem]:
    """Findings about pieces that never move, or never in some direction, and about double steps.

    `holding` are the actions that can be done at all. Raises TooManyTriesError.
    """
    moves = _Moves(trials)
    yield from moves.directions()
    for name, rule in trials.rules.items():
        if name in trials.allowed and name in holding and not rule.action.from_hand:
            yield from moves.ignored_middle(rule)


class _Moves:
    """How far the actions of a game lead, by kinds of pieces."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._used = [rule for name, rule in trials.rules.items() if name in trials.allowed]
        # What comes from the hand goes in no direction.
        self._rules = [rule for rule in self._used if not rule.action.from_hand]
        self._known: dict[str, _Vectors] = {}
        geometry = trials.specification.topology.geometry
        self._lattice = geometry if isinstance(geometry, Lattice) else None

    def _group(self, kind: Entity) -> _Group:
        """The type of an entity and its first text attribute: what makes a king a king."""
        for name, attribute in self._trials.specification.schemas[kind.schema].attributes.items():
            if attribute.type == "string" and name in kind.attributes:
                return kind.schema, name, f"{kind.attributes[name]}"
        return kind.schema, None, kind.schema

    def _vectors(self, rule: TriedRule) -> _Vectors:
        """For each group of kinds and each owner, how far an action leads."""
        name = rule.action.name
        lattice = self._lattice
        if name not in self._known and lattice is not None:
            found: _Vectors = defaultdict(lambda: defaultdict(set))
            for kind, pairs in self._trials.pairs(rule).items():
                vectors = found[self._group(kind)][kind.owner.name]
                vectors.update(lattice.vector(a.label, b.label) for a, b in pairs if a is not b)
            self._known[name] = found
        return self._known[name]

    def _of_all(self) -> _Vectors:
        """The same for all actions together."""
        found: _Vectors = defaultdict(lambda: defaultdict(set))
        for rule in self._rules:
            for group, by_owner in self._vectors(rule).items():
                for owner, vectors in by_owner.items():
                    found[group][owner] |= vectors
        return found

    def directions(self) -> Iterator[Problem]:
        """Kinds that no action moves, and directions that a symmetry of their moves would have."""
        specification = self._trials.specification
        groups = dict.fromkeys(map(self._group, self._trials.kinds))
        moving = {self._group(kind): rule for rule in reversed(self._used) for kind in self._trials.pairs(rule)}
        for group in groups:
            if group not in moving:
                message = f"no action moves {_noun(group)}"
                yield finding("never-moves", message, specification.schemas[group[0]].place)
        lattice = self._lattice
        if lattice is None:
            return
        for group, by_owner in self._of_all().items():
            vectors, *others = by_owner.values()
            if not others or any(each != vectors for each in others):
                continue  # one side moves in another way: the rules look at the direction of the player
            units = set(map(unit, vectors))
            known = {unit(lap) for vector in vectors for lap in lattice.laps(vector)}
            turns = {turned for each in units for turned in lattice.rotations(each)}
            missing = set(filter(lattice.fits, turns - known))
            if missing:
                told = f"{_words(missing, lattice)}, though it moves {_words(units, lattice)}"
                message = f"{_noun(group)} never moves {told}"
                yield finding("missing-directions", message, moving[group].action.place)

    def ignored_middle(self, rule: TriedRule) -> Iterator[Problem]:
        """A double step of what also steps once, where no condition asks for the place between."""
        for clause in rule.action.conditions:
            for part in parts(clause.expression):
                if isinstance(part, Call) and part.name in (
                    "path_clear",
                    "only_between",
                    "count_on_line",
                    "mid_pos",
                    "node",
                ):
                    return
        if self._lattice is None:
            return
        others = [other for other in self._rules if other is not rule]
        for group, by_owner in self._vectors(rule).items():
            for owner, vectors in by_owner.items():
                if {math.gcd(*vector) for vector in vectors} != {2}:
                    continue
                self._trials.count(len(others))
                steps = set[Vector]().union(*(self._vectors(other)[group][owner] for other in others))
                if all(unit(vector) in steps for vector in vectors):
                    message = (
                        f"the double step of {_noun(group)} ignores what stands on the place between: "
                        "path_clear(start, target) would ask for it"
                    )
                    yield finding("ignored-middle", message, rule.action.place)
                    return


_WORDS: Final[Mapping[frozenset[Vector], str]] = {
    frozenset({(0, 1), (0, -1)}): "vertically",
    frozenset({(1, 0), (-1, 0)}): "horizontally",
    frozenset({(1, 1), (1, -1), (-1, 1), (-1, -1)}): "diagonally",
}


def _words(vectors: set[Vector], lattice: Lattice) -> str:
    """Directions in words where there are some, else as steps of x and y."""
    left = set(vectors)
    found = []
    if not lattice.hexagonal:
        for group, word in _WORDS.items():
            if group <= left:
                found.append(word)
                left -= group
    if left:
        found.append("by " + ", ".join(f"({', '.join(f'{part:+d}' for part in each)})" for each in sorted(left)))
    return " and ".join(found)


def _noun(group: _Group) -> str:
    schema, name, value = group
    return f"a {schema}" if name is None else f"a {schema} of {name} {value}"
