"""What a compiled game description answers, beside what the interpreter says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import ggn_store
from ggn_store.gdl.compile import compile as compile_specification
from ggn_store.gdl.reader import read
from tests.oracles import reference
from tests.oracles.gdl_interpreter import Game, Kind, Outcome, Position

SIDES = ("first", "second")
Json = dict[str, Any]
# Source, destination, and the action, of which optional ones leave others possible.
Way = tuple[str, str, str | None]
Route = tuple[str, ...]
Hands = Mapping[str, int]


class Answer(NamedTuple):
    """What a move is and does: by which action, whether it can be gone on with, and everything after it."""

    action: str | None
    chainable: bool
    board: Mapping[str, str]
    state: Mapping[str, str]
    side: str
    hands: Hands = {}  # noqa: RUF012


@dataclass(frozen=True)
class Rules:
    """A specification as the interpreter reads it, and what it was compiled to."""

    name: str
    path: Path
    game: Game
    document: Json
    kinds: Mapping[str, Kind]
    known: dict[object, dict[Way, Answer]] = field(default_factory=dict)

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(self.document.get("$state", {}))

    def side(self, player: str) -> str:
        return SIDES[list(self.game.players).index(player)]

    def words(self, position: Position) -> tuple[dict[str, str], dict[str, str], str, dict[str, int]]:
        """Board, state, side and hands of a position; what is not said in the document is no part of the state."""
        board, state = self.game.to_identifiers(position, self.kinds)
        names = self.game.identifiers(self.kinds) if position.hands else {}
        hands = {names[piece]: count for piece, count in position.hands.items()}
        return board, {name: state[name] for name in self.variables}, self.side(position.player), hands

    def answer(self, outcome: Outcome) -> Answer:
        return Answer(outcome.action, outcome.chainable, *self.words(outcome.after))

    def stored(self, position: Position) -> ggn_store.Position:
        board, state, side, _ = self.words(position)
        return ggn_store.Position(board, side="first" if side == "first" else "second", state=state)


def compiled(text: str) -> tuple[Json, dict[str, Kind]]:
    """The document that a specification is compiled to, and its kinds."""
    found = compile_specification(read(text).draft.specification())
    kinds: dict[str, Kind] = {name: (kind.owner, kind.schema, kind.attributes) for name, kind in found.kinds.items()}
    return json.loads(found.document.canonical()), kinds


def expected(rules: Rules, position: Position) -> dict[Way, Answer]:
    known = rules.known.get(position.key)
    if known is None:
        known = rules.known[position.key] = expected_now(rules, position)
    return known


def expected_now(rules: Rules, position: Position) -> dict[Way, Answer]:
    return {(*pair, each.action): rules.answer(each) for pair, each in rules.game.outcomes(position)}


def expected_chains(rules: Rules, position: Position) -> dict[Route, tuple[Answer, ...]]:
    """By the places of the path and the actions of its steps, what each step does."""
    return {
        (*path, *(each.action for each in outcomes)): tuple(map(rules.answer, outcomes))
        for path, outcomes in rules.game.paths(position)
    }


def of_document(
    document: Json, board: Mapping[str, str], state: Mapping[str, str], side: str, hands: Hands
) -> list[tuple[Way, Answer]]:
    """The moves of a document, asked without any store."""
    found = []
    for source, piece in [*board.items(), *((reference.HAND, piece) for piece in hands)]:
        if reference.side_of(piece) != side:
            continue
        for destination, array in document.get(piece, {}).get(source, {}).items():
            for possibility in array:
                guards = possibility.get("when", {})
                if not all(state[name] in values for name, values in guards.items()):
                    continue
                if reference.permitted(possibility, board, side):
                    answer = after(possibility, board, state, side, hands)
                    found.append(((source, destination, answer.action), answer))
    return found


def after(possibility: Json, board: Mapping[str, str], state: Mapping[str, str], side: str, hands: Hands) -> Answer:
    origin, diff = possibility["action"], possibility["diff"]
    squares = {square: piece for square, piece in {**board, **diff.get("board", {})}.items() if piece is not None}
    next_side = reference.other(side) if diff.get("toggle", True) else side
    left = {piece: count + diff.get("hands", {}).get(piece, 0) for piece, count in hands.items()}
    return Answer(
        origin["name"],
        origin.get("chainable", False),
        squares,
        {**state, **diff.get("state", {})},
        next_side,
        {piece: count for piece, count in left.items() if count},
    )


def differences(what: object, wanted: Mapping[Way, Answer], found: list[tuple[Way, Answer]]) -> Iterator[str]:
    ways = [way for way, _ in found]
    for way in sorted({way for way in ways if ways.count(way) > 1}):
        yield f"{what}: {way} is there more than once"
    for way in sorted(wanted.keys() ^ set(ways)):
        yield f"{what}: {way} is {'missing' if way in wanted else 'too much'}"
    for way, answer in found:
        if way in wanted and answer != wanted[way]:
            yield f"{what}: {way} is {answer}, not {wanted[way]}"


def chains_of_document(
    document: Json, board: Mapping[str, str], state: Mapping[str, str], side: str, hands: Hands
) -> dict[Route, tuple[Answer, ...]]:
    """The chains of a document: the side stays that of the first step, and a position that comes again ends a path."""
    found: dict[Route, tuple[Answer, ...]] = {}

    def extend(route: Route, answers: tuple[Answer, ...], seen: list[object]) -> None:
        here = answers[-1].board, answers[-1].state, answers[-1].hands
        if here in seen:
            return
        for (source, target, _), answer in of_document(document, *here[:2], side, here[2]):
            if answer.chainable and source == route[-1]:
                path, steps = (*route, target), (*answers, answer)
                found[*path, *(str(each.action) for each in steps)] = steps
                extend(path, steps, [*seen, here])

    for (source, target, _), answer in of_document(document, board, state, side, hands):
        if answer.chainable:
            extend((source, target), (answer,), [(board, state, hands)])
    return found


def chain_differences(rules: Rules, positions: list[Position]) -> list[str]:
    found = []
    for position in positions:
        words = rules.words(position)
        if chains_of_document(rules.document, *words) != expected_chains(rules, position):
            found.append(f"{words} has other chains")
    return found
