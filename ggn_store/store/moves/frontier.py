"""The SQL of one ply: all children of a frontier, which is a table of positions.

A frontier has a row for each position: its planes (`p0_0` is plane 0, word 0) and words of the hands (`h0`), the
`weight` (how many paths lead to it), and where they differ within a frontier, the `side` to move and the `root`, the
number of the position that the paths begin at. A group of rules is a table, with only those columns that its rules
need. The text is what SQLite, Postgres and DuckDB all understand; how a position is spread over the squares where the
mover's pieces stand is each engine's own affair. All names are this module's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ggn_store.store.moves.planes import Compiled, Group, State
from ggn_store.store.rulesets.masks import WORD

_ALL = (1 << WORD) - 1


@dataclass(frozen=True, slots=True)
class RuleTable:
    """A group of rules, or a part of one, as a table: name -> values. Words are unsigned, what `delta` adds is not."""

    group: Group
    columns: Mapping[str, list[int]]
    part: int = 0

    @property
    def place(self) -> str:
        """The place of the group, as a part of names."""
        return f"{self.group.side}_{'hand' if self.group.word is None else self.group.word}_{self.part}"

    def rows(self) -> list[tuple[int, ...]]:
        """The rows, by start."""
        return list(zip(*self.columns.values(), strict=True))


@dataclass(frozen=True, slots=True)
class Frontier:
    """The columns of a frontier."""

    compiled: Compiled
    is_rooted: bool

    @property
    def state(self) -> list[str]:
        """The columns that make up a position, and where it came from."""
        compiled = self.compiled
        planes = [f"p{plane}_{word}" for plane in range(compiled.planes) for word in range(compiled.words)]
        hands = [f"h{word}" for word in range(compiled.hand_words)]
        return ["root"] * self.is_rooted + ["side"] * compiled.is_mixed + planes + hands

    def rows(self) -> list[tuple[int, ...]]:
        """The positions at the start, in the order of `state` and `weight`; words are unsigned."""
        compiled = self.compiled
        return [
            (
                *[root] * self.is_rooted,
                *[state.side] * compiled.is_mixed,
                *(word for plane in state.planes for word in _split(plane, compiled.words)),
                *state.hands,
                1,
            )
            for root, state in enumerate(compiled.states)
        ]

    def read(self, row: Sequence[int], ply: int) -> tuple[int, State, int]:
        """Root, position and weight of a row of `state` and `weight`."""
        *state, weight = row
        root = state.pop(0) if self.is_rooted else 0
        side = state.pop(0) if self.compiled.is_mixed else self.sides(ply)[0]
        words, count = self.compiled.words, self.compiled.planes
        planes = [_joined(state[plane * words : (plane + 1) * words]) for plane in range(count)]
        return root, State(side, tuple(planes), tuple(state[count * words :])), int(weight)

    def sides(self, ply: int) -> Sequence[int]:
        """Whose turn it can be after so many moves."""
        if self.compiled.is_mixed:
            return (0, 1)
        return ((self.compiled.states[0].side + ply) % 2,)

    def children(self, rules: RuleTable) -> str:
        """The columns of a child, of a position `f` and a rule `r`."""
        compiled = self.compiled
        columns = []
        if self.is_rooted:
            columns.append("f.root AS root")
        if compiled.is_mixed:
            columns.append("r.side_after AS side")
        for plane in range(compiled.planes):
            for word in range(compiled.words):
                name = f"p{plane}_{word}"
                child = f"f.{name}"
                if f"kept_{word}" in rules.columns:
                    child = f"({child} & r.kept_{word})"
                if f"set{name}" in rules.columns:
                    child = f"({child} | r.set{name})"
                columns.append(f"{child} AS {name}")
        for word in range(compiled.hand_words):
            changes = f" + r.delta_{word}" if f"delta_{word}" in rules.columns else ""
            columns.append(f"f.h{word}{changes} AS h{word}")
        columns.append("f.weight AS weight")
        return ", ".join(columns)

    def key(self, group: Group, number: str) -> str:
        """The start of rules for what stands on the square `number` of the group's word."""
        bits = [f"((f.p{2 + bit}_{group.word} >> {number}) & 1) * {WORD << bit}" for bit in range(self.compiled.bits)]
        return " + ".join([number, *bits])

    def own(self, group: Group) -> str:
        """The squares of the group's word where the mover's pieces stand."""
        return f"f.p{group.side}_{group.word}"

    def held(self) -> str:
        """Whether a hand of `f` holds a piece of the slot `q`; nothing is asked where the hands are not known."""
        held = [f"(f.h{word} & q.held_{word})" for word in range(self.compiled.hand_words)]
        return f"({' | '.join(held)}) <> 0" if held else "1 = 1"

    def slots(self, group: Group) -> list[tuple[int, ...]]:
        """The slots that a group's rules begin with, each with the bits of its count in each word of the hands."""
        compiled, rows = self.compiled, []
        for slot in sorted({rule.start for rule in group.rules}):
            field = compiled.fields[compiled.slots[slot]] if compiled.fields is not None else None
            words = range(compiled.hand_words)
            rows.append((slot, *(field.mask if field and field.word == word else 0 for word in words)))
        return rows

    def tests(self, rules: RuleTable) -> list[str]:
        """What a position `f` must meet for a rule `r` by the masks alone, what fails most coming first."""
        group, found = rules.group, []
        for name, squares in (
            ("not_own", f"f.p{group.side}_%d"),
            ("not_enemy", f"f.p{1 - group.side}_%d"),
            ("not_empty", "~(f.p0_%d | f.p1_%d)"),
        ):
            for word in range(self.compiled.words):
                if f"{name}_{word}" in rules.columns:
                    found.append(f"(r.{name}_{word} & {squares.replace('%d', str(word))}) = 0")
        if self.compiled.is_mixed:
            found.append(f"f.side = {group.side}")
        return found

    def exact_tests(self, rules: RuleTable, stands: Mapping[str, str]) -> list[str]:
        """What a position must meet for a rule that asks for pieces by name; `stands` as `kinds` gives it."""
        found = []
        for name, squares in stands.items():
            if f"must{name}" in rules.columns:
                found.append(f"(r.must{name} & ~{squares}) = 0")
            if f"deny{name}" in rules.columns:
                found.append(f"(r.deny{name} & {squares}) = 0")
        return found

    def kinds(self, rules: RuleTable) -> dict[str, str]:
        """For each of a group's kinds and each word, named `kind_word`: the squares where exactly that piece stands."""
        found = {}
        for number, kind in enumerate(rules.group.kinds):
            _, second, *bits = self.compiled.vector(kind)
            for word in range(self.compiled.words):
                if {f"must{number}_{word}", f"deny{number}_{word}"} & rules.columns.keys():
                    codes = [f"{'' if bit else '~'}f.p{2 + place}_{word}" for place, bit in enumerate(bits)]
                    found[f"{number}_{word}"] = f"({' & '.join([f'f.p{second}_{word}', *codes])})"
        return found

    def broken(self) -> str | None:
        """Whether a hand of a row has fewer than no pieces; None where that cannot be."""
        if not self.compiled.takes:
            return None
        return " OR ".join(
            f"(h{word} & {guards}) <> {guards}" for word, guards in enumerate(self.compiled.guards) if guards
        )


def table(compiled: Compiled, group: Group, part: int = 0) -> RuleTable:
    """The rules of a group, or of a part of it, as columns; those that would do nothing are left out."""
    count, rules = compiled.words, sorted(group.rules, key=lambda rule: rule.start)
    columns: dict[str, list[int]] = {"start": [rule.start for rule in rules]}
    # In some of the rules only: what the others would have to be tested for in vain.
    columns["exact"] = [int(rule.is_exact) for rule in rules]

    def add(name: str, masks: list[int], neutral: int = 0) -> None:
        parts = zip(*(_split(mask, count) for mask in masks), strict=True) if count > 1 else [masks]
        for word, values in enumerate(parts):
            if any(value != neutral for value in values):
                columns[f"{name}_{word}"] = list(values)

    add("not_own", [rule.not_own for rule in rules])
    add("not_enemy", [rule.not_enemy for rule in rules])
    add("not_empty", [rule.not_empty for rule in rules])
    for number in range(len(group.kinds)):
        add(f"must{number}", [rule.must[number] for rule in rules])
        add(f"deny{number}", [rule.deny[number] for rule in rules])
    whole = (1 << (WORD * count)) - 1
    add("kept", [whole & ~rule.touched for rule in rules], _ALL)
    for plane in range(compiled.planes):
        add(f"setp{plane}", [rule.becomes[plane] for rule in rules])
    if compiled.is_mixed:
        columns["side_after"] = [rule.side_after for rule in rules]
    for word in range(compiled.hand_words):
        deltas = [rule.delta[word] for rule in rules]
        if any(deltas):
            columns[f"delta_{word}"] = deltas
    return RuleTable(group, columns, part)


def _split(mask: int, count: int) -> tuple[int, ...]:
    """The words of a mask, the lowest squares first."""
    return tuple([mask >> (WORD * word) & _ALL for word in range(count)])


def _joined(words: Sequence[int]) -> int:
    """The mask that words make, which may be signed."""
    return sum((word & _ALL) << (WORD * number) for number, word in enumerate(words))
