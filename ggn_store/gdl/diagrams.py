"""Values that depend on what is not known yet: decision diagrams over squares and state variables.

A value is either known (a Python value) or a `Node`, which asks one variable and goes on with the child whose mask has
what the variable holds. Masks are sets of the variable's contents, one bit each, disjoint and together all of them.
Variables are asked in the order of their numbers, no two nodes are the same, and no node has two children that are
the same: so equal values are one object, and a condition that cannot hold is the known value False.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias, final

from ggn_store import limits

# A known value, or a node.
DiagramValue: TypeAlias = object
DiagramPart: TypeAlias = tuple[int, DiagramValue]
# Variables with the masks of what they may hold; variables that are not there may hold anything.
Box: TypeAlias = tuple[tuple[int, int], ...]

_MISSING: Final = object()


class TooManyNodesError(Exception):
    """A value depends on so much that it cannot be held, which the limit says."""

    def __init__(self, limit: limits.Limit) -> None:
        super().__init__(limit.name)
        self.limit = limit


@final
class Node:
    """A question for one variable; made by `Diagrams` only."""

    __slots__ = ("children", "masks", "variable")

    def __init__(self, variable: int, masks: tuple[int, ...], children: tuple[DiagramValue, ...]) -> None:
        self.variable = variable
        self.masks = masks
        self.children = children


# What tells values apart: 1 and true are not the same value.
_Key: TypeAlias = "Node | tuple[type, DiagramValue]"


class Diagrams:
    """Makes nodes, each once, over variables with so many contents each."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.full: Final = tuple((1 << size) - 1 for size in sizes)
        self._most = limits.GROUNDING.most
        self._known: dict[object, Node] = {}
        self._chosen: dict[object, DiagramValue] = {}

    def __len__(self) -> int:
        """How much is kept, in nodes and in results."""
        return len(self._known) + len(self._chosen)

    def forget(self) -> None:
        """Let go of all nodes; those made before must not meet those made after."""
        self._known.clear()
        self._chosen.clear()

    def node(self, variable: int, parts: Sequence[DiagramPart]) -> DiagramValue:
        """The value that is each part's child where the variable is in its mask; children ask later variables only."""
        merged: dict[_Key, int] = {}
        for mask, child in parts:
            same = child if type(child) is Node else (type(child), child)
            merged[same] = merged.get(same, 0) | mask
        if len(merged) == 1:
            return parts[0][1]
        ordered = sorted(merged.items(), key=lambda item: item[1] & -item[1])
        known = (variable, *ordered)
        found = self._known.get(known)
        if found is None:
            if len(self._known) >= self._most:
                raise TooManyNodesError(limits.GROUNDING)
            masks = tuple([mask for _, mask in ordered])
            children = tuple([same if type(same) is Node else same[1] for same, _ in ordered])
            found = self._known[known] = Node(variable, masks, children)
        return found

    def choose(self, variable: int, parts: Sequence[DiagramPart]) -> DiagramValue:
        """As `node`, with children that may ask any variable."""
        top = variable
        for _, child in parts:
            if type(child) is Node and child.variable < top:
                top = child.variable
        if top == variable:
            flat: list[DiagramPart] = []
            for mask, child in parts:
                if type(child) is Node and child.variable == variable:
                    flat += [(mask & m, c) for m, c in zip(child.masks, child.children, strict=True) if mask & m]
                else:
                    flat.append((mask, child))
            return self.node(variable, flat)
        masks: list[int] = [self.full[top]]
        for _, child in parts:
            if type(child) is Node and child.variable == top:
                masks = [a & b for a in masks for b in child.masks if a & b]
        return self.node(
            top,
            [
                (mask, self.choose(variable, [(other, _where(child, top, mask)) for other, child in parts]))
                for mask in masks
            ],
        )

    def bind(self, value: DiagramValue, function: Callable[[DiagramValue], DiagramValue]) -> DiagramValue:
        """`function` of a value, wherever that depends; the function may give nodes."""
        if type(value) is not Node:
            return function(value)
        done: dict[object, DiagramValue] = {}

        def go(each: DiagramValue) -> DiagramValue:
            same = each if type(each) is Node else (type(each), each)
            found = done.get(same, _MISSING)
            if found is _MISSING:
                if type(each) is Node:
                    parts = [(m, go(c)) for m, c in zip(each.masks, each.children, strict=True)]
                    found = self.choose(each.variable, parts)
                else:
                    found = function(each)
                done[same] = found
            return found

        return go(value)

    def lift(self, function: Callable[..., DiagramValue], values: Sequence[DiagramValue]) -> DiagramValue:
        """`function` of several values, wherever they depend."""
        done: dict[object, DiagramValue] = {}

        def go(values: Sequence[DiagramValue]) -> DiagramValue:
            same = tuple([each if type(each) is Node else (type(each), each) for each in values])
            found = done.get(same, _MISSING)
            if found is _MISSING:
                variables = [each.variable for each in values if type(each) is Node]
                if variables:
                    top = min(variables)
                    parts: list[tuple[int, tuple[DiagramValue, ...]]] = [(self.full[top], ())]
                    for each in values:
                        below = _at(each, top) or ((self.full[top], each),)
                        parts = [(mask & m, (*known, c)) for mask, known in parts for m, c in below if mask & m]
                    found = self.choose(top, [(mask, go(known)) for mask, known in parts])
                else:
                    found = function(*values)
                done[same] = found
            return found

        return go(values)

    def lift_pure(self, function: Callable[..., DiagramValue], values: Sequence[DiagramValue]) -> DiagramValue:
        """As `lift`, for a function that gives the same for the same each time: what it gives is kept."""
        call = (function, *[value if type(value) is Node else (type(value), value) for value in values])
        found = self._chosen.get(call, _MISSING)
        if found is _MISSING:
            found = self._chosen[call] = self.lift(function, values)
        return found

    def where(self, condition: DiagramValue, then: DiagramValue, otherwise: DiagramValue) -> DiagramValue:
        """`then` where the condition is true, `otherwise` elsewhere."""
        if type(condition) is not Node:
            return then if condition is True else otherwise
        a = then if type(then) is Node else (type(then), then)
        b = otherwise if type(otherwise) is Node else (type(otherwise), otherwise)
        if a == b:
            return then
        if then is True and otherwise is False and set(map(type, condition.children)) == {bool}:
            return condition
        call = condition, a, b
        found = self._chosen.get(call, _MISSING)
        if found is _MISSING:
            found = self._chosen[call] = self._where(condition, then, otherwise)
        return found

    def _where(self, condition: Node, then: DiagramValue, otherwise: DiagramValue) -> DiagramValue:
        top = condition.variable
        if type(then) is Node and then.variable < top:
            top = then.variable
        if type(otherwise) is Node and otherwise.variable < top:
            top = otherwise.variable
        conditions = _at(condition, top)
        parts: list[DiagramPart] = []
        for mask, child in conditions or ((self.full[top], condition),):
            if child is False:
                parts += [(mask & m, c) for m, c in _at(otherwise, top) or ((mask, otherwise),) if mask & m]
                continue
            for m, c in _at(then, top) or ((mask, then),):
                if not mask & m:
                    continue
                if child is True:
                    parts.append((mask & m, c))
                    continue
                for n, d in _at(otherwise, top) or ((mask, otherwise),):
                    if mask & m & n:
                        parts.append((mask & m & n, self.where(child, c, d)))
        return self.node(top, parts)

    def both(self, a: DiagramValue, b: DiagramValue) -> DiagramValue:
        """Whether both conditions are true."""
        return self.where(a, self.where(b, True, False), False)

    def either(self, a: DiagramValue, b: DiagramValue) -> DiagramValue:
        """Whether at least one condition is true."""
        return self.where(a, True, self.where(b, True, False))

    def is_one(self, value: DiagramValue, one: object) -> DiagramValue:
        """Whether a value is this very object."""
        return self.bind(value, partial(operator.is_, one)) if type(value) is Node else value is one

    def cases(self, value: DiagramValue) -> Iterator[tuple[DiagramValue, DiagramValue]]:
        """What a value can be, each once, in the order of the diagram, and the condition where it is that."""
        leaves = known_values(value)
        bits = {(type(leaf), leaf): 1 << number for number, leaf in enumerate(leaves)}
        below: dict[Node, int] = {}

        def gather(each: DiagramValue) -> int:
            if type(each) is not Node:
                return bits[type(each), each]
            if each not in below:
                below[each] = 0
                for child in each.children:
                    below[each] |= gather(child)
            return below[each]

        gather(value)
        for number, leaf in enumerate(leaves):
            done: dict[Node, DiagramValue] = {}

            def go(each: DiagramValue, bit: int = 1 << number, done: dict[Node, DiagramValue] = done) -> DiagramValue:
                if type(each) is not Node:
                    return bits[type(each), each] == bit
                if not below[each] & bit:
                    return False
                if each not in done:
                    done[each] = self.node(
                        each.variable, [(m, go(c)) for m, c in zip(each.masks, each.children, strict=True)]
                    )
                return done[each]

            yield leaf, go(value)

    def among(self, variable: int, mask: int) -> DiagramValue:
        """Whether a variable holds one of some contents."""
        return self.node(variable, [(m, t) for m, t in ((mask, True), (self.full[variable] & ~mask, False)) if m])


def known_values(value: DiagramValue) -> list[DiagramValue]:
    """What a value can be, each once, in the order of the diagram."""
    if type(value) is not Node:
        return [value]
    found: dict[object, DiagramValue] = {}
    seen: set[Node] = set()

    def go(each: DiagramValue) -> None:
        if type(each) is not Node:
            found.setdefault((type(each), each), each)
        elif each not in seen:
            seen.add(each)
            for child in each.children:
                go(child)

    go(value)
    return list(found.values())


def paths(condition: DiagramValue) -> Iterator[Box]:
    """The disjoint boxes in which a condition is true, in the order of the variables."""
    if type(condition) is not Node:
        if condition is True:
            yield ()
        return
    for mask, child in zip(condition.masks, condition.children, strict=True):
        for rest in paths(child):
            yield ((condition.variable, mask), *rest)


def count_paths(condition: DiagramValue, weight: Callable[[int, int], int] = lambda variable, mask: 1) -> int:
    """How many boxes `paths` gives, each weighed by the product of its parts' weights."""
    done: dict[Node, int] = {}

    def go(each: DiagramValue) -> int:
        if type(each) is not Node:
            return int(each is True)
        if each not in done:
            done[each] = sum(
                weight(each.variable, mask) * found
                for mask, child in zip(each.masks, each.children, strict=True)
                if (found := go(child))
            )
        return done[each]

    return go(condition)


def _at(value: DiagramValue, variable: int) -> tuple[DiagramPart, ...]:
    """The parts of a value that asks `variable` first; nothing for others."""
    if type(value) is Node and value.variable == variable:
        return tuple(zip(value.masks, value.children, strict=True))
    return ()


def _where(value: DiagramValue, variable: int, mask: int) -> DiagramValue:
    """What a value is where `variable`, the first that it may ask, is in `mask`, which lies in one of its masks."""
    if type(value) is Node and value.variable == variable:
        for each, child in zip(value.masks, value.children, strict=True):
            if each & mask:
                return child
    return value
