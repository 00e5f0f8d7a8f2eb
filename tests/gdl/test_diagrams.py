"""Diagrams and boxes of half-known positions, held to looking at every case there is."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ggn_store import limits
from ggn_store.gdl.boxes import Covers, guards
from ggn_store.gdl.diagrams import (
    Diagrams,
    DiagramValue,
    Node,
    TooManyNodesError,
    count_paths,
    known_values,
    paths,
)
from ggn_store.model.documents.document import EMPTY, ENEMY

SIZES = (3, 2, 4, 3)
Case = tuple[int, ...]
CASES: list[Case] = list(itertools.product(*map(range, SIZES)))
LEAVES = (True, False, None, 0, 1, "1", "true")


def looked_up(value: DiagramValue, case: Case) -> DiagramValue:
    """What a value is in one case."""
    while isinstance(value, Node):
        [child] = [c for m, c in zip(value.masks, value.children, strict=True) if m >> case[value.variable] & 1]
        value = child
    return value


def diagram(diagrams: Diagrams, chance: random.Random, leaves: Sequence[DiagramValue], first: int = 0) -> DiagramValue:
    if first == len(SIZES) or chance.random() < 0.15:
        return chance.choice(leaves)
    contents = [diagram(diagrams, chance, leaves, first + 1) for _ in range(SIZES[first])]
    return diagrams.node(first, [(1 << number, child) for number, child in enumerate(contents)])


def told(value: DiagramValue) -> tuple[type, DiagramValue]:
    """A value with its type: 1 and true are not the same."""
    return type(value), value


SEEDS = st.integers(0, 2**32)


@settings(max_examples=50)
@given(SEEDS)
def test_a_value_of_values_is_what_it_is_in_each_case(seed: int) -> None:
    chance, diagrams = random.Random(seed), Diagrams(SIZES)
    a, b, c = (diagram(diagrams, chance, LEAVES) for _ in range(3))
    conditions = [diagram(diagrams, chance, (True, False)) for _ in range(2)]
    one, other = conditions
    combined: list[tuple[DiagramValue, Callable[[Case], DiagramValue]]] = [
        (
            diagrams.lift(lambda *values: repr(values), [a, b, c]),
            lambda case: repr((looked_up(a, case), looked_up(b, case), looked_up(c, case))),
        ),
        (diagrams.where(one, a, b), lambda case: looked_up(a if looked_up(one, case) else b, case)),
        (diagrams.both(one, other), lambda case: looked_up(one, case) and looked_up(other, case)),
        (diagrams.either(one, other), lambda case: looked_up(one, case) or looked_up(other, case)),
        (diagrams.bind(a, lambda known: b if known is True else c), lambda case: looked_up(
            b if looked_up(a, case) is True else c, case
        )),
    ]  # fmt: skip
    for value, expected in combined:
        for case in CASES:
            assert told(looked_up(value, case)) == told(expected(case))


@settings(max_examples=50)
@given(SEEDS)
def test_values_that_are_equal_in_each_case_are_one_object(seed: int) -> None:
    chance, diagrams = random.Random(seed), Diagrams(SIZES)
    a, b = diagram(diagrams, chance, (True, False)), diagram(diagrams, chance, (True, False))
    # Neither has the other's way of being put together, and both say the same.
    assert diagrams.both(a, b) is diagrams.where(
        diagrams.either(*(diagrams.where(x, False, True) for x in (a, b))), False, True
    )
    same = all(looked_up(a, case) is looked_up(b, case) for case in CASES)
    assert (a is b) == same


@settings(max_examples=50)
@given(SEEDS)
def test_paths_are_disjoint_boxes_that_cover_a_condition(seed: int) -> None:
    chance, diagrams = random.Random(seed), Diagrams(SIZES)
    condition = diagram(diagrams, chance, (True, False))
    boxes = list(paths(condition))
    for case in CASES:
        inside = [box for box in boxes if all(mask >> case[variable] & 1 for variable, mask in box)]
        assert len(inside) == int(looked_up(condition, case) is True)
    assert count_paths(condition) == len(boxes)
    assert count_paths(condition, lambda variable, mask: mask) == sum(
        _product(mask for _, mask in box) for box in boxes
    )


def _product(numbers: Iterator[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result


@settings(max_examples=50)
@given(SEEDS)
def test_known_values_are_those_of_the_cases(seed: int) -> None:
    diagrams = Diagrams(SIZES)
    value = diagram(diagrams, random.Random(seed), LEAVES)
    found = known_values(value)
    assert {told(each) for each in found} == {told(looked_up(value, case)) for case in CASES}
    assert len(found) == len({told(each) for each in found})


def test_a_diagram_that_grows_beyond_all_measure_ends_with_an_error() -> None:
    with limits.allow({"grounding": 20}):
        diagrams = Diagrams([3] * 6)
    squares = [diagrams.node(number, [(1, 0), (2, 1), (4, 2)]) for number in range(6)]
    with pytest.raises(TooManyNodesError):
        diagrams.lift(lambda *values: values, squares)


# --- covers ---

PIECES = ("A:K", "A:R", "A:P", "a:k", "a:r", "a:p", "a:q")
ENEMIES = tuple(piece.islower() for piece in PIECES)
CONTENTS: tuple[str | None, ...] = (None, *PIECES)


def holds(state: str, content: str | None) -> bool:
    if state == EMPTY:
        return content is None
    return content is not None and (content.islower() if state == ENEMY else content == state)


@pytest.mark.parametrize("count", range(1, len(PIECES) + 1))
def test_a_cover_says_each_content_of_a_mask_once_and_no_other(count: int) -> None:
    # The more enemies, the later pieces count; with none of them, there is no `enemy` to say.
    pieces, enemies = PIECES[:count], ENEMIES[:count]
    covers = Covers(pieces, enemies)
    for mask in range(1, 2 ** (count + 1)):
        for number, content in enumerate((None, *pieces)):
            said = [
                state
                for state in covers.states(mask)
                if (state.must is None or holds(state.must, content))
                and not (state.deny is not None and holds(state.deny, content))
            ]
            assert len(said) == mask >> number & 1, (mask, content)


def test_covers_are_as_few_as_they_can_be() -> None:
    covers = Covers(PIECES, ENEMIES)
    full, enemy = 0b11111111, 0b11110000
    by_hand = {
        full: [(None, None)],
        0b1: [("empty", None)],
        full & ~0b1: [(None, "empty")],
        enemy: [("enemy", None)],
        full & ~enemy: [(None, "enemy")],
        0b1 | enemy: [("empty", None), ("enemy", None)],
        0b10: [("A:K", None)],
        full & ~0b10: [(None, "A:K")],
        enemy & ~0b10000: [("enemy", "a:k")],
        0b1 | enemy & ~0b10000: [("empty", None), ("enemy", "a:k")],
        full & ~enemy | 0b10000: [(None, "enemy"), ("a:k", None)],
    }
    for mask, states in by_hand.items():
        assert [(state.must, state.deny) for state in covers.states(mask)] == states


def test_a_box_is_written_as_the_product_of_its_squares_and_the_values_of_its_variables() -> None:
    covers = Covers(PIECES, ENEMIES)
    box = ((0, 0b1), (2, 0b11110001), (3, 0b101))
    assert list(covers.conditions(["a1", "b1", "c1"], box)) == [
        ({"a1": "empty", "c1": "empty"}, {}),
        ({"a1": "empty", "c1": "enemy"}, {}),
    ]
    assert guards(3, [("mode", ["wild", "calm", "odd"])], box) == {"mode": ("odd", "wild")}
