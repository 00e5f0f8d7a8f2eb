"""What the effects of an action come to, wherever that depends on the position.

An entity is the same one wherever effects put it, so what is set of it counts on every square that holds it
afterwards (seed 004, section 4.3, where a pawn is a queen after it has been put on its target).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ggn_store import limits
from ggn_store.gdl.diagrams import DiagramPart, DiagramValue, Node, TooManyNodesError
from ggn_store.gdl.functions import same
from ggn_store.gdl.kinds import OWNER, POS, identity, text
from ggn_store.gdl.places import Place
from ggn_store.gdl.world import UNTOUCHED, Body, Person, World

KEPT: Final = type("Kept", (), {"__repr__": lambda self: "kept"})()


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """What an action would do that cannot be: a value like any other until it is known to happen."""

    message: str
    sets: str | None = None


@dataclass(frozen=True, slots=True)
class EffectsEnd:
    """What the effects of an action come to: squares with contents, variables with values, and whether the turn passes.

    Squares and variables have their numbers in the diagrams, contents and values theirs in the masks; what stays as it
    is is not among them. Where there is a `fault`, the rest says nothing.
    """

    board: tuple[tuple[int, int], ...]
    state: tuple[tuple[int, int], ...]
    toggle: bool
    fault: Fault | None = None


class Outcomes:
    """Says what the effects that have run in a world come to."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._numbers = {identity(kind.owner, kind.schema, kind.attributes): n for n, kind in enumerate(world.kinds)}

    def of(self, region: DiagramValue) -> DiagramValue:
        """The `EffectsEnd` of the effects that have run, where `region` holds; raises TooManyNodesError."""
        world = self._world
        moved = {number for number, name in world.changed if name != POS}
        squares = sorted({*world.board, *moved})
        contents = [self._content(square) for square in squares]
        names = [name for name in world.numbers if name in world.state]
        states = [self._state(name) for name in names]
        turn = self._turn()
        places = self._places_agree()
        numbers = [world.numbers[name] for name in names]

        count, most = 0, limits.GROUNDED_ENTRY.most

        def end(*values: DiagramValue) -> DiagramValue:
            nonlocal count
            count += 1
            if count > most:
                raise TooManyNodesError(limits.GROUNDED_ENTRY)
            fault = next((each for each in values if isinstance(each, Fault)), None)
            if fault is not None:
                return EffectsEnd((), (), True, fault)
            on_board = values[: len(squares)]
            of_state = values[len(squares) : len(squares) + len(names)]
            return EffectsEnd(
                tuple((each, value) for each, value in zip(squares, on_board, strict=True) if isinstance(value, int)),
                tuple((each, value) for each, value in zip(numbers, of_state, strict=True) if isinstance(value, int)),
                values[-2] is True,
            )

        # What cannot happen need not be told apart.
        everything = [*contents, *states, turn, places]
        if type(region) is Node and any(type(each) is Node for each in everything):
            everything = [
                world.diagrams.where(region, each, KEPT) if type(each) is Node else each for each in everything
            ]
        return world.diagrams.lift(end, everything)

    def _content(self, square: int) -> DiagramValue:
        """What stands on a square afterwards: 0 for nothing, else kind + 1; kept where it is as it was."""
        world = self._world
        body = world.bodies[square]

        def content(value: DiagramValue) -> DiagramValue:
            if value is None:
                return 0
            if value is UNTOUCHED:
                return world.diagrams.bind(world.before(square), lambda each: KEPT if each is None else content(each))
            if not isinstance(value, Body):
                return Fault("puts what is no entity on the board", "board")
            is_changed = any(number == value.number and name != POS for number, name in world.changed)
            if value is body and not is_changed:
                return KEPT
            return self._kind_of(value, is_changed)

        return world.diagrams.bind(world.board.get(square, UNTOUCHED), content)

    def _kind_of(self, body: Body, is_changed: bool) -> DiagramValue:
        """The kind of an entity now, plus 1."""
        world = self._world
        before: DiagramValue = world.kind + 1
        if body.number != world.start.number:
            parts: list[DiagramPart] = [(1, 0)]
            parts += [(2 << number, number + 1) for number in range(len(world.kinds))]
            before = world.diagrams.node(body.number, parts)
        if not is_changed:
            return before
        changed = {
            name: value for (number, name), value in world.changed.items() if number == body.number and name != POS
        }

        def become(*values: DiagramValue) -> DiagramValue:
            now = {
                name: value.name if isinstance(value, Person) else value
                for name, value in zip(changed, values, strict=True)
                if value is not UNTOUCHED
            }

            def find(number: DiagramValue) -> DiagramValue:
                if number == 0:
                    return 0
                assert isinstance(number, int)  # noqa: S101  (numbers of kinds are all that `before` is made of)
                kind = world.kinds[number - 1]
                owner = now.get(OWNER, kind.owner)
                attributes = {name: now.get(name, value) for name, value in kind.attributes.items()}
                found = self._numbers.get(identity(owner, kind.schema, attributes))
                if found is None:
                    return Fault(_no_kind(owner, kind.schema, attributes), f".{next(iter(changed))}")
                return found + 1

            return world.diagrams.bind(before, find) if now else before

        # What has been set depends on little; kinds are told apart last.
        return world.diagrams.lift(become, list(changed.values()))

    def _state(self, name: str) -> DiagramValue:
        """The number of a variable's value afterwards; kept where it is as it was."""
        world = self._world
        domain = world.domains[name]

        def number(value: DiagramValue) -> DiagramValue:
            if value is UNTOUCHED:
                return KEPT
            for index, each in enumerate(domain):
                if same(each, value):
                    return index
            shown = value.name if isinstance(value, Person) else text(value)
            return Fault(f"would set state.{name} to {shown}, which is not one of its values", f"state.{name}")

        return world.diagrams.bind(world.state[name], number)

    def _turn(self) -> DiagramValue:
        """Whether the turn passes."""
        world = self._world

        def passes(value: DiagramValue) -> DiagramValue:
            if value is UNTOUCHED:
                return True
            if isinstance(value, Person):
                return value is not world.owner
            return Fault("would set state.current_player to null", "state.current_player")

        return world.diagrams.bind(world.state.get("current_player", UNTOUCHED), passes)

    def _places_agree(self) -> DiagramValue:
        """Whether entities that were told where they are (`entity.pos`) are there."""
        world = self._world
        result: DiagramValue = True
        for (number, name), value in world.changed.items():
            if name != POS:
                continue
            body = world.bodies[number]
            # Where no effect touches the board, what they say of places changes nothing.
            if not world.board or (isinstance(value, Place) and world.board.get(value.number) is body):
                continue

            def agrees(place: DiagramValue, body: Body = body) -> DiagramValue:
                if place is UNTOUCHED:
                    return True
                where = [world.diagrams.is_one(world.on(each), body) for each in {*world.board, body.number}]
                is_somewhere: DiagramValue = False
                for each in where:
                    is_somewhere = world.diagrams.either(is_somewhere, each)
                here: DiagramValue = False
                if isinstance(place, Place):
                    here = world.diagrams.is_one(world.on(place.number), body)
                wrong = Fault("sets pos of an entity to another place than the board has it on", ".pos")
                return world.diagrams.where(here, True, world.diagrams.where(is_somewhere, wrong, True))

            told = world.diagrams.bind(value, agrees)
            result = world.diagrams.lift(lambda a, b: a if isinstance(a, Fault) else b, (result, told))
        return result


def _no_kind(owner: object, schema: str, attributes: Mapping[str, object]) -> str:
    told = ", ".join(f"{name}={text(value)}" for name, value in attributes.items())
    return f"would make a {schema} that is none of the kinds of pieces: owner={owner}, {told}"
