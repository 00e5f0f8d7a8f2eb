"""The functions of the language that need nothing but values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ggn_store.gdl.diagrams import Value
from ggn_store.gdl.expressions import Call, Expression


def is_number(value: object) -> bool:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def same(a: Value, b: Value) -> bool:
    """`eq`: 1 is not true, and a player is not the player's name."""
    return a is b or (type(a) is type(b) and a == b)


def _compared(holds: Callable[[int, int], bool]) -> Callable[[Value, Value], Value]:
    def call(a: Value, b: Value) -> Value:
        return is_number(a) and is_number(b) and holds(a, b)  # type: ignore[arg-type]

    return call


def _computed(compute: Callable[[int, int], int | None]) -> Callable[..., Value]:
    def call(first: Value, *others: Value) -> Value:
        result = first if is_number(first) else None
        for other in others:
            if result is None or not is_number(other):
                return None
            result = compute(result, other)  # type: ignore[arg-type]
        return result

    return call


# The functions of values alone.
PURE: Final[dict[str, Callable[..., Value]]] = {
    "eq": same,
    "ne": lambda a, b: not same(a, b),
    "gt": _compared(lambda a, b: a > b),
    "lt": _compared(lambda a, b: a < b),
    "gte": _compared(lambda a, b: a >= b),
    "lte": _compared(lambda a, b: a <= b),
    "and": lambda *values: all(value is True for value in values),
    "or": lambda *values: any(value is True for value in values),
    "not": lambda value: value is not True,
    "abs": lambda value: abs(value) if is_number(value) else None,
    "add": _computed(lambda a, b: a + b),
    "sub": _computed(lambda a, b: a - b),
    "mul": _computed(lambda a, b: a * b),
    "mod": _computed(lambda a, b: a % b if b else None),
}


def conjuncts(expression: Expression) -> list[Expression]:
    """The conditions that an `and` joins, or the one that there is."""
    if isinstance(expression, Call) and expression.name == "and":
        return [each for argument in expression.arguments for each in conjuncts(argument)]
    return [expression]
