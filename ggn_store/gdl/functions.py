"""The functions of the language that need nothing but values (seed 004, sections 3.1 to 3.3).

Nothing raises: what has no meaning (a comparison with null, a remainder of division by 0) is null or false. A number
that is out of all proportion is null as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias, TypeGuard

from ggn_store.gdl.expressions import Attribute, Call, Expression, Name, parts

_Value: TypeAlias = str | int | bool | None
# Far above what the numbers of a game come to, and still computed at once.
_LIMIT: Final = 10**18


def is_number(value: object) -> TypeGuard[int]:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def same(a: object, b: object) -> bool:
    """`eq`: 1 is not true, and a player is not the player's name."""
    return a is b or (type(a) is type(b) and a == b)


def _compared(holds: Callable[[int, int], bool]) -> Callable[[object, object], bool]:
    def call(a: object, b: object) -> bool:
        return is_number(a) and is_number(b) and holds(a, b)

    return call


def _computed(compute: Callable[[int, int], int | None]) -> Callable[..., int | None]:
    def call(first: object, *others: object) -> int | None:
        result = first if is_number(first) else None
        for other in others:
            if result is None or not is_number(other):
                return None
            result = compute(result, other)
            if result is not None and abs(result) > _LIMIT:
                return None
        return result

    return call


COMPARISONS: Final[dict[str, Callable[..., bool]]] = {
    "eq": same,
    "ne": lambda a, b: not same(a, b),
    "gt": _compared(lambda a, b: a > b),
    "lt": _compared(lambda a, b: a < b),
    "gte": _compared(lambda a, b: a >= b),
    "lte": _compared(lambda a, b: a <= b),
}
LOGIC: Final[dict[str, Callable[..., bool]]] = {
    "and": lambda *values: all(value is True for value in values),
    "or": lambda *values: any(value is True for value in values),
    "not": lambda value: value is not True,
}
ARITHMETIC: Final[dict[str, Callable[..., int | None]]] = {
    "abs": lambda value: abs(value) if is_number(value) else None,
    "add": _computed(lambda a, b: a + b),
    "sub": _computed(lambda a, b: a - b),
    "mul": _computed(lambda a, b: a * b),
    "mod": _computed(lambda a, b: a % b if b else None),
}


def _chosen(condition: object, then: _Value, otherwise: _Value) -> _Value:
    return then if condition is True else otherwise


# The functions of values alone.
PURE: Final[dict[str, Callable[..., _Value]]] = {**COMPARISONS, **LOGIC, **ARITHMETIC, "if": _chosen}


def conjuncts(expression: Expression) -> list[Expression]:
    """The conditions that an `and` joins, or the one that there is."""
    if isinstance(expression, Call) and expression.name == "and":
        return [each for argument in expression.arguments for each in conjuncts(argument)]
    return [expression]


def variables_in(expressions: Iterable[Expression]) -> dict[str, None]:
    """The state variables that expressions read or write, in their order."""
    return dict.fromkeys(
        part.name
        for expression in expressions
        for part in parts(expression)
        if isinstance(part, Attribute) and isinstance(part.of, Name) and part.of.text == "state"
    )
