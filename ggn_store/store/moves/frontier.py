"""The SQL of one ply: all children of a frontier, which is a table of positions, or their number.

A frontier has a row for each position: its planes (`p0_0` is plane 0, word 0) and words of the hands (`h0`), the
`weight` (how many paths lead to it), and where they differ within a frontier, the `side` to move and the `root`, the
number of the position that the paths begin at. A group of rules is a table, with only those columns that its rules
need. The text is what SQLite, Postgres and DuckDB all understand; how a position is spread over the squares where the
mover's pieces stand is each engine's own affair. All names are this module's.

Children that are only counted are not made. How many moves a piece has on a square depends on the squares that its
rules look at, its *scope*, and few different contents of it (*contexts*) come up: after three moves chess has 5,362
positions, with 85,760 pieces to move and 609 contexts. Rules are applied to contexts where finding these is cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ggn_store.store.moves.lead import MOST_PATHS, Weighed, uncountable
from ggn_store.store.moves.planes import WORD, CompiledRules, Group, PackedPosition, Threats

# Rows of Postgres are 8 KiB at most, and expressions of SQLite have a depth of 1,000.
_COLUMNS = 900
_ALL = (1 << WORD) - 1


@dataclass(frozen=True, slots=True)
class RuleTable:
    """A group of rules as a table: name -> values. Words are unsigned, what `delta` adds is not.

    `scopes` is a table, too: the squares that the rules of each start look at.
    """

    group: Group
    columns: Mapping[str, list[int]]
    scopes: Mapping[str, list[int]]

    @property
    def place(self) -> str:
        """The place of the group, as a part of names."""
        return f"{self.group.side}_{'hand' if self.group.word is None else self.group.word}"

    @property
    def is_named(self) -> bool:
        """Whether many of the rules ask for pieces by name, which takes longer than all else."""
        return 4 * sum(self.columns.get("exact", ())) > len(self.columns["start"])

    def rows(self) -> list[tuple[int, ...]]:
        """The rows, by start."""
        return list(zip(*self.columns.values(), strict=True))


@dataclass(frozen=True, slots=True)
class Frontier:
    """The columns of a frontier."""

    compiled: CompiledRules
    is_rooted: bool

    @property
    def state(self) -> list[str]:
        """The columns that make up a position, and where it came from."""
        compiled = self.compiled
        planes = [f"p{plane}_{word}" for plane in range(compiled.planes) for word in range(compiled.board.words)]
        hands = [f"h{word}" for word in range(compiled.hand_words)]
        return ["root"] * self.is_rooted + ["side"] * compiled.is_mixed + planes + hands

    @property
    def fits(self) -> bool:
        """Whether databases have tables for the positions and rules of such a board."""
        compiled = self.compiled
        kinds = max((len(group.kinds) for group in compiled.groups), default=0)
        return compiled.board.words * (4 + compiled.planes + 2 * kinds) + 2 * compiled.hand_words < _COLUMNS

    def rows(self, positions: Iterable[Weighed]) -> Iterator[tuple[int, ...]]:
        """Positions in the order of `state` and `weight`; words are unsigned. Raises MoveError for too many paths."""
        words, is_rooted, is_mixed = self.compiled.board.words, self.is_rooted, self.compiled.is_mixed
        for root, state, weight in positions:
            if weight > MOST_PATHS:
                raise uncountable()
            planes: Iterable[int] = state.planes
            if words > 1:
                planes = (word for plane in planes for word in _split(plane, words))
            yield (*[root] * is_rooted, *[state.side] * is_mixed, *planes, *state.hands, weight)

    def read(self, row: Sequence[int], ply: int) -> Weighed:
        """Root, position and weight of a row of `state` and `weight`."""
        *state, weight = row
        root = state.pop(0) if self.is_rooted else 0
        side = state.pop(0) if self.compiled.is_mixed else self.sides(ply)[0]
        words, count = self.compiled.board.words, self.compiled.planes
        planes = [_joined(state[plane * words : (plane + 1) * words]) for plane in range(count)]
        return root, PackedPosition(side, tuple(planes), tuple(state[count * words :])), int(weight)

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
            for word in range(compiled.board.words):
                child = self._child(rules, plane, word)
                if plane in compiled.mark_planes:
                    child = f"({child} & ~{self._moving_next(rules, word)})"
                columns.append(f"{child} AS p{plane}_{word}")
        if compiled.crosses:
            columns.append(f"{'r.crossing' if 'crossing' in rules.columns else '0'} AS crossing")
        return ", ".join([*columns, *self.hands(rules), "f.weight AS weight"])

    def passed(self, side: int) -> str:
        """The columns of a child, of a position `f` in which a side passes."""
        columns = []
        if self.is_rooted:
            columns.append("f.root AS root")
        if self.compiled.is_mixed:
            columns.append(f"{1 - side} AS side")
        for plane in range(self.compiled.planes):
            for word in range(self.compiled.board.words):
                name = f"p{plane}_{word}"
                kept = f" & ~f.p{1 - side}_{word}" if plane in self.compiled.mark_planes else ""
                columns.append(f"(f.{name}{kept}) AS {name}")
        hands = [f"f.h{word} AS h{word}" for word in range(self.compiled.hand_words)]
        return ", ".join([*columns, *hands, "f.weight AS weight"])

    def passing(self, side: int) -> str:
        """What a position `f` must meet for a side to be to move and to have a piece to pass with."""
        words = range(self.compiled.board.words)
        stands = [self._standing(vector, word) for vector in self.compiled.passers[side] for word in words]
        moving = f"f.side = {side} AND " if self.compiled.is_mixed else ""
        return f"{moving}({' | '.join(stands)}) <> 0"

    def _standing(self, vector: Sequence[int], word: int) -> str:
        """The squares of a word where the piece of a vector stands in a position `f`."""
        _, second, *bits = vector
        codes = [f"{'' if bit else '~'}f.p{2 + place}_{word}" for place, bit in enumerate(bits)]
        return f"({' & '.join([f'f.p{second}_{word}', *codes])})"

    def _child(self, rules: RuleTable, plane: int, word: int) -> str:
        """A word of a plane after a rule `r`."""
        name = f"p{plane}_{word}"
        child = f"f.{name}"
        if f"kept_{word}" in rules.columns:
            child = f"({child} & r.kept_{word})"
        if f"set{name}" in rules.columns:
            child = f"({child} | r.set{name})"
        return child

    def _moving_next(self, rules: RuleTable, word: int) -> str:
        """The squares of the pieces of the side that is to move after a rule `r`."""
        if not self.compiled.is_mixed:
            return self._child(rules, 1 - rules.group.side, word)
        first, second = (self._child(rules, plane, word) for plane in (0, 1))
        return f"(CASE WHEN r.side_after = 0 THEN {first} ELSE {second} END)"

    def hands(self, rules: RuleTable) -> list[str]:
        """The hands after a rule `r`."""
        return [
            f"f.h{word}{f' + r.delta_{word}' if f'delta_{word}' in rules.columns else ''} AS h{word}"
            for word in range(self.compiled.hand_words)
        ]

    def key(self, group: Group) -> str:
        """The start of rules for what stands on a square `q` of the group's word."""
        bits = [
            f"CASE WHEN (f.p{2 + bit}_{group.word} & q.bit) = 0 THEN 0 ELSE {WORD << bit} END"
            for bit in range(self.compiled.bits)
        ]
        return " + ".join(["q.number", *bits])

    def moving(self, group: Group) -> list[str]:
        """What a position must meet for the group's side to be to move."""
        return [f"f.side = {group.side}"] if self.compiled.is_mixed else []

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

    def context(self, rules: RuleTable) -> list[str]:
        """What the rules of a start depend on, of a position `f` that is `named` and a scope `r`."""
        compiled = self.compiled
        found = ["f.root AS root"] * self.is_rooted + ["r.start AS start"]
        for name in rules.scopes:
            kind, _, word = name.partition("_")
            if kind == "scope":
                found += [f"f.p{plane}_{word} & r.{name} AS p{plane}_{word}" for plane in (0, 1)]
        for name in self._kinds(rules):
            found.append(f"f.s{name} & r.named{name[name.index('_') :]} AS s{name}")
        if compiled.takes:
            found += [f"f.h{word} AS h{word}" for word in range(compiled.hand_words)]
        return found

    def named(self, source: str, rules: RuleTable) -> str:
        """Positions with the squares where the pieces stand that rules name."""
        kinds = "".join(f", {squares} AS s{name}" for name, squares in self._kinds(rules).items())
        return f"(SELECT f.*{kinds} FROM {source} AS f)" if kinds else source

    def tests(self, rules: RuleTable, is_context: bool = False) -> list[str]:
        """What a position, or context, `f` must meet for a rule `r`, what fails most coming first."""
        group, found = rules.group, []
        for name, squares in (
            ("not_own", f"f.p{group.side}_%d"),
            ("not_enemy", f"f.p{1 - group.side}_%d"),
            ("not_empty", "~(f.p0_%d | f.p1_%d)"),
        ):
            for word in range(self.compiled.board.words):
                if f"{name}_{word}" in rules.columns:
                    found.append(f"(r.{name}_{word} & {squares.replace('%d', str(word))}) = 0")
        exact = []
        for name, squares in self._kinds(rules).items():
            stands = f"f.s{name}" if is_context else squares
            if f"must{name}" in rules.columns:
                exact.append(f"(r.must{name} & ~{stands}) = 0")
            if f"deny{name}" in rules.columns:
                exact.append(f"(r.deny{name} & {stands}) = 0")
        if exact:
            found.append(f"(r.exact = 0 OR ({' AND '.join(exact)}))")
        return found

    def _kinds(self, rules: RuleTable) -> dict[str, str]:
        """For each of a group's kinds and each word, named `kind_word`: the squares where exactly that piece stands."""
        found = {}
        for number, kind in enumerate(rules.group.kinds):
            vector = self.compiled.vector(kind)
            for word in range(self.compiled.board.words):
                if {f"must{number}_{word}", f"deny{number}_{word}"} & rules.columns.keys():
                    found[f"{number}_{word}"] = self._standing(vector, word)
        return found

    def attacked(self, threats: RuleTable) -> list[str]:
        """What a position `f` must meet for a threat `r` to be one to a royal piece on its target, but for where."""
        side, bits, words = threats.group.side, self.compiled.bits, range(self.compiled.board.words)
        stands = " | ".join(f"(f.p{side}_{word} & r.source_{word})" for word in words)
        codes = ["0"]
        for bit in range(bits):
            found = " | ".join(f"(f.p{2 + bit}_{word} & r.source_{word})" for word in words)
            codes.append(f"CASE WHEN ({found}) = 0 THEN 0 ELSE {1 << bit} END")
        return [f"({stands}) <> 0", f"{' + '.join(codes)} = r.start", *self.tests(threats)]

    def on_target(self, side: int) -> list[str]:
        """Whether the royal piece of a side, in a position `f`, is the target of a threat `r`."""
        found = []
        for word in range(self.compiled.board.words):
            royals = ["0", *(self._standing(vector, word) for vector in self.compiled.royals[side])]
            found.append(f"r.target_{word} = ({' | '.join(royals)})")
        return found

    def broken(self) -> str | None:
        """Whether a hand of a row has fewer than no pieces; None where that cannot be."""
        if not self.compiled.takes:
            return None
        return " OR ".join(
            f"(h{word} & {guards}) <> {guards}" for word, guards in enumerate(self.compiled.guards) if guards
        )


def table(compiled: CompiledRules, group: Group) -> RuleTable:
    """The rules of a group as columns; those that would do nothing are left out."""
    count, rules = compiled.board.words, sorted(group.rules, key=lambda rule: rule.start)
    columns: dict[str, list[int]] = {"start": [rule.start for rule in rules]}
    # In some of the rules only: what the others would have to be tested for in vain.
    if group.kinds:
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
    numbers = {f"delta_{word}": [rule.delta[word] for rule in rules] for word in range(compiled.hand_words)}
    numbers["crossing"] = [rule.crossing for rule in rules]
    columns |= {name: values for name, values in numbers.items() if any(values)}
    return RuleTable(group, columns, _scopes(columns))


def threat_tables(compiled: CompiledRules, threats: Threats) -> tuple[RuleTable, RuleTable]:
    """The threats of a side by their targets, and those on squares that are crossed by the numbers of the crossings."""
    count = compiled.board.words

    def masks(name: str, values: Iterable[int]) -> dict[str, list[int]]:
        split = list(zip(*(_split(value, count) for value in values), strict=True)) or [()] * count
        return {f"{name}_{word}": list(each) for word, each in enumerate(split)}

    said = zip(threats.group.rules, threats.sources, threats.crossings, strict=True)
    over = [(rule.past(squares), source, number) for rule, source, found in said for number, squares in found]
    group = replace(threats.group, rules=tuple([rule for rule, _, _ in over]))
    sources, targets = masks("source", threats.sources), masks("target", threats.targets)
    targeted = {**table(compiled, threats.group).columns, **sources, **targets}
    crossed = {**table(compiled, group).columns, **masks("source", [source for _, source, _ in over])}
    crossed["crossing"] = [number for _, _, number in over]
    return RuleTable(threats.group, targeted, {}), RuleTable(group, crossed, {})


def _scopes(columns: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """The squares that the rules of each start look at, and those where they look for a piece by name."""
    starts = sorted(set(columns["start"]))
    found = {"start": starts}
    for scope, kinds in (("scope", ("not_",)), ("named", ("must", "deny"))):
        for name in [name for name in columns if name.startswith(kinds)]:
            squares = found.setdefault(f"{scope}{name[name.rindex('_') :]}", [0] * len(starts))
            places = {start: place for place, start in enumerate(starts)}
            for start, mask in zip(columns["start"], columns[name], strict=True):
                squares[places[start]] |= mask
    return found


def _split(mask: int, count: int) -> tuple[int, ...]:
    """The words of a mask, the lowest squares first."""
    return tuple([mask >> (WORD * word) & _ALL for word in range(count)])


def _joined(words: Sequence[int]) -> int:
    """The mask that words make, which may be signed."""
    return sum((word & _ALL) << (WORD * number) for number, word in enumerate(words))
