"""Whether the arguments of functions fit (seed 004, sections 3.1 to 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ggn_store.gdl import language
from ggn_store.gdl.draft import Draft
from ggn_store.gdl.expressions import Call, Expression, Literal, start_of
from ggn_store.gdl.language import ANY, INT, NULL, PLAYER, TEXT
from ggn_store.gdl.places import corners
from ggn_store.gdl.types.typed import Remarks, Typed
from ggn_store.model.documents.geometry import Lattice, Network

# Functions that ask for lines.
LINES: Final = ("path_clear", "only_between", "mid_pos", "in_row", "count_on_line")


class Calls:
    """Checks calls of functions whose arguments have been looked at."""

    def __init__(self, draft: Draft, labels: Sequence[str], remarks: Remarks) -> None:
        self._draft = draft
        self._labels = labels
        self._remarks = remarks

    def check(self, call: Call, function: language.Function, found: Sequence[Typed]) -> None:
        """Check number, kinds and sense of the arguments; `found` is what they are."""
        if not self.takes(call, function):
            return
        wanted = [*function.arguments, *[function.arguments[-1]] * (len(found) - len(function.arguments))]
        for number, (each, kind) in enumerate(zip(found, wanted, strict=False)):
            if each.kind not in (kind, ANY) and kind != ANY:
                self._remarks.wrong(
                    f"{_ordinal(number, len(found))} of {call.name} must be {kind}, and this is {each.kind}",
                    start_of(call.arguments[number]),
                    "player('Name'), entity.owner, ..." if kind == PLAYER and each.kind == TEXT else None,
                )
        if call.name in ("eq", "ne"):
            self._compared(call, found)
        elif call.name == "player":
            self._player(call)
        elif call.name == "node":
            self._node(call, found)
        elif call.name in LINES and (network := self._network()) is not None and not network.named_lines:
            message = f"a network has no lines, which {call.name} asks for"
            self._remarks.wrong(message, call.at, 'adjacent(start, target), or "lines" in the topology')
        if call.name == "in_row":
            self._row(call.arguments[1])

    def takes(self, call: Call, function: language.Function) -> bool:
        """Whether the number of arguments is right."""
        number = len(call.arguments)
        if function.takes(number):
            return True
        if function.most is None:
            wanted = f"{function.least} or more arguments"
        elif function.most != function.least:
            word = "or" if function.most == function.least + 1 else "to"
            wanted = f"{function.least} {word} {function.most} arguments"
        else:
            wanted = "one argument" if function.least == 1 else f"{function.least} arguments"
        self._remarks.wrong(
            f"{call.name} takes {wanted}, and has {number or 'none'}", call.at, _signature(call.name, function)
        )
        return False

    def _compared(self, call: Call, found: Sequence[Typed]) -> None:
        first, second = found
        kinds = {first.kind, second.kind}
        if len(kinds) == 2 and not kinds & {ANY, NULL}:
            hint = "player('Name'), or the text of .name" if kinds == {PLAYER, TEXT} else None
            message = f"{call.name} compares {first.kind} with {second.kind}, which are never equal"
            self._remarks.wrong(message, start_of(call.arguments[1]), hint)
            return
        for typed, other in ((first, call.arguments[1]), (second, call.arguments[0])):
            if typed.noun is not None and isinstance(other, Literal) and isinstance(other.value, str):
                self._remarks.unknown_text(typed, other.value, other.at)

    def _player(self, call: Call) -> None:
        argument = call.arguments[0]
        if not isinstance(argument, Literal):
            self._remarks.wrong("player wants a name in quotes", start_of(argument), "player('Name')")
        elif isinstance(argument.value, str) and self._draft.players:
            names = [player.name for player in self._draft.players]
            if argument.value not in names:
                self._remarks.unknown("there is no player", argument.value, argument.at, names, quoted=True)

    def _network(self) -> Network | None:
        """The board, where it is a network."""
        geometry = None if self._draft.topology is None else self._draft.topology.geometry
        return geometry if isinstance(geometry, Network) else None

    def _row(self, count: Expression) -> None:
        longest = 0 if self._draft.topology is None else self._draft.topology.geometry.longest
        if not isinstance(count, Literal):
            self._remarks.wrong("in_row wants a number that is known", start_of(count), "in_row(target, 3)")
        elif longest and type(count.value) is int and not 0 < count.value <= longest:
            self._remarks.wrong(f"no line has a row of {count.value}", count.at, f"1 to {longest}")

    def _node(self, call: Call, found: Sequence[Typed]) -> None:
        topology = self._draft.topology
        if len(found) > 1 and self._network() is not None:
            self._remarks.wrong("a network has no coordinates", call.at, "node('Name')")
            return
        dimensions = topology.geometry.dimensions if topology and isinstance(topology.geometry, Lattice) else 2
        is_name = len(found) == 1 and (dimensions > 1 or found[0].kind in (TEXT, ANY))
        if not is_name and len(found) != dimensions:
            message = f"a place of this board has {dimensions} of x, y and z, and node has {len(found)}"
            self._remarks.wrong(message, call.at, f"node({', '.join('xyz'[:dimensions])}), node('e4')")
            return
        wanted = TEXT if is_name else INT
        for number, (argument, each) in enumerate(zip(call.arguments, found, strict=True)):
            if each.kind not in (wanted, ANY):
                message = f"{_ordinal(number, len(found))} of node must be {wanted}, and this is {each.kind}"
                self._remarks.wrong(message, start_of(argument), "node(x, y), node('e4'), node('Name')")
                return
        where = [argument.value for argument in call.arguments if isinstance(argument, Literal)]
        if topology is None or len(where) < len(found):
            return
        name, point = where[0], tuple(each for each in where if type(each) is int)
        if isinstance(name, str) and name not in self._labels:
            self._remarks.unknown("there is no place", name, start_of(call.arguments[0]), self._labels, quoted=True)
        elif point and isinstance(topology.geometry, Lattice) and topology.geometry.at(point) is None:
            self._remarks.wrong("the place is not on the board", call.at, corners(topology.geometry))


def _ordinal(number: int, of: int) -> str:
    if of == 1:
        return "the argument"
    return f"argument {number + 1}"


def _signature(name: str, function: language.Function) -> str:
    letters = [*"abc"[: len(function.arguments)], *(["..."] if function.is_open else [])]
    return f"{name}({', '.join(letters)})"
