"""Expressions -> functions of a world, with what each needs to be known.

Nothing raises here: what has no meaning (a comparison with null, an attribute that an entity has not) is null or
false, as at the table. What the checker refuses never comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ggn_store.gdl.diagrams import DiagramValue
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, Name
from ggn_store.gdl.functions import PURE
from ggn_store.gdl.world import World

Run: TypeAlias = Callable[[World], DiagramValue]
Do: TypeAlias = Callable[[World, DiagramValue], None]

ENTITY: Final = "entity"
START: Final = "start"
TARGET: Final = "target"
POSITION: Final = "position"  # the board, or a state variable


@dataclass(frozen=True, slots=True)
class Code:
    """A function of a world, and what it asks for: `entity`, `start`, `target`, `position`."""

    run: Run
    needs: frozenset[str]

    @property
    def is_static(self) -> bool:
        """Whether its value is known without a position."""
        return POSITION not in self.needs


_FOLDED: Final = ("add", "mul")
# What a function asks of the board as it is.
_OF_BOARD: Final[Mapping[str, Callable[..., DiagramValue]]] = {
    "path_clear": World.clear,
    "only_between": World.only_between,
    "count_on_line": World.count_on_line,
    "in_row": World.in_row,
}


class Grounder:
    """Makes code of the expressions of one specification.

    In conditions the entity is as it was; `in_effects` it may have been changed by the effects before.
    """

    def __init__(self, world: World, in_effects: bool = False) -> None:
        self._world = world
        self._in_effects = in_effects
        self._functions: Mapping[str, Callable[..., DiagramValue]] = PURE | world.places.functions(world.people)

    def code(self, expression: Expression) -> Code:
        """The code of an expression that has a value."""
        match expression:
            case Literal(value=value):
                return Code(lambda world: value, frozenset())
            case Name(text="start"):
                return Code(lambda world: world.start, frozenset({START}))
            case Name(text="target"):
                return Code(lambda world: world.target, frozenset({TARGET}))
            case Name(text="entity"):
                return Code(lambda world: world.bodies[world.start.number], frozenset({START}))
            case Attribute(of=Name(text="state"), name=name):
                return self._variable(name)
            case Attribute(of=of, name=name):
                return self._attribute(of, name)
            case Index(key=key):
                where = self.code(key)
                return Code(lambda world: world.at(where.run(world)), where.needs | {POSITION})
            case Call(name=name, arguments=arguments):
                return self._call(name, [self.code(argument) for argument in arguments])
        raise AssertionError(expression)

    def _variable(self, name: str) -> Code:
        if name == "current_player" and not self._in_effects:
            return Code(lambda world: world.owner, frozenset({ENTITY}))
        if name in self._world.constants and not self._in_effects:
            value = self._world.constants[name]
            return Code(lambda world: value, frozenset())
        return Code(lambda world: world.variable(name), frozenset({POSITION}))

    def _attribute(self, of: Expression, name: str) -> Code:
        match of:
            case Name(text="entity"):
                return self._of_entity(name)
            case Name(text="start"):
                return Code(lambda world: world.start.attributes.get(name), frozenset({START}))
            case Name(text="target"):
                return Code(lambda world: world.target.attributes.get(name), frozenset({TARGET}))
        inner = self.code(of)
        run = inner.run
        return Code(lambda world: world.of(run(world), name), inner.needs)

    def _of_entity(self, name: str) -> Code:
        if self._in_effects:
            needs = frozenset({START, ENTITY, POSITION})
            return Code(lambda world: world.of(world.bodies[world.start.number], name), needs)
        if name == "pos":
            return Code(lambda world: world.places.of(world.start.number), frozenset({START}))
        return Code(lambda world: world.entity.get(name), frozenset({ENTITY}))

    def _call(self, name: str, arguments: Sequence[Code]) -> Code:
        needs = frozenset().union(*[argument.needs for argument in arguments])
        runs = tuple(argument.run for argument in arguments)
        if name in ("and", "or"):
            return Code(self._junction(name == "and", arguments), needs)
        if name in _OF_BOARD:
            ask = _OF_BOARD[name]
            return Code(lambda world: ask(world, *[run(world) for run in runs]), needs | {POSITION})
        if name == "if":
            return Code(self._chosen(*arguments), needs)
        function = self._functions[name]
        if name in _FOLDED and len(arguments) > 2:
            # Two at a time, or every combination of all would have to be looked at.
            *before, last = arguments
            return self._applied(function, [self._call(name, before), last])
        return self._applied(function, arguments)

    @staticmethod
    def _applied(function: Callable[..., DiagramValue], arguments: Sequence[Code]) -> Code:
        needs = frozenset().union(*[argument.needs for argument in arguments])
        runs = tuple(argument.run for argument in arguments)
        if POSITION in needs:

            def lifted(world: World) -> DiagramValue:
                return world.diagrams.lift_pure(function, [run(world) for run in runs])

            return Code(lifted, needs)
        if len(runs) == 1:
            (only,) = runs
            return Code(lambda world: function(only(world)), needs)
        if len(runs) == 2:
            first, second = runs
            return Code(lambda world: function(first(world), second(world)), needs)
        return Code(lambda world: function(*[run(world) for run in runs]), needs)

    @staticmethod
    def _junction(is_and: bool, arguments: Sequence[Code]) -> Run:
        """`and` and `or`: what is known without a position first, and the rest only where that does not decide."""
        ordered = sorted(arguments, key=lambda code: not code.is_static)
        runs = tuple(code.run for code in ordered)
        if all(code.is_static for code in ordered):
            if is_and:
                return lambda world: all(run(world) is True for run in runs)
            return lambda world: any(run(world) is True for run in runs)

        def junction(world: World) -> DiagramValue:
            result: DiagramValue = is_and
            for run in runs:
                result = world.diagrams.where(run(world), *((result, False) if is_and else (True, result)))
                if result is (not is_and):
                    break
            return result

        return junction

    @staticmethod
    def _chosen(condition: Code, then: Code, otherwise: Code) -> Run:
        """`if` as a value."""
        if condition.is_static:
            return lambda world: (then if condition.run(world) is True else otherwise).run(world)
        return lambda world: world.diagrams.where(condition.run(world), then.run(world), otherwise.run(world))

    # --- effects ---

    def effect(self, expression: Expression) -> Do:
        """What an effect does, wherever a guard holds."""
        match expression:
            case Call(name="set", arguments=(Index(key=key), new)):
                where, value = self.code(key).run, self.code(new).run
                return lambda world, guard: world.put(where(world), value(world), guard)
            case Call(name="set", arguments=(Attribute(of=Name(text="state"), name=name), new)):
                value = self.code(new).run
                return lambda world, guard: world.remember(name, value(world), guard)
            case Call(name="set", arguments=(Attribute(of=of, name=name), new)):
                body, value = self.code(of).run, self.code(new).run
                return lambda world, guard: world.change(body(world), name, value(world), guard)
            case Call(name="remove_entity", arguments=(removed,)):
                value = self.code(removed).run
                return lambda world, guard: world.remove(value(world), guard)
            case Call(name="if", arguments=(condition, *branches)):
                return self._choice(self.code(condition).run, [self.effect(branch) for branch in branches])
        raise AssertionError(expression)

    @staticmethod
    def _choice(condition: Run, branches: Sequence[Do]) -> Do:
        then, *otherwise = branches

        def choose(world: World, guard: DiagramValue) -> None:
            holds = condition(world)
            where = world.diagrams.where(holds, guard, False)
            if where is not False:
                then(world, where)
            for effect in otherwise:
                elsewhere = world.diagrams.where(holds, False, guard)
                if elsewhere is not False:
                    effect(world, elsewhere)

        return choose
