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
Pair = tuple[str, str]
Route = tuple[str, ...]


class Answer(NamedTuple):
    """What a move is and does: by which action, whether it can be gone on with, and everything after it."""

    action: str | None
    chainable: bool
    board: Mapping[str, str]
    state: Mapping[str, str]
    side: str


@dataclass(frozen=True)
class Rules:
    """A specification as the interpreter reads it, and what it was compiled to."""

    name: str
    path: Path
    game: Game
    document: Json
    kinds: Mapping[str, Kind]
    known: dict[object, dict[Pair, Answer]] = field(default_factory=dict)

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(self.document.get("$state", {}))

    def side(self, player: str) -> str:
        return SIDES[list(self.game.players).index(player)]

    def words(self, position: Position) -> tuple[dict[str, str], dict[str, str], str]:
        """Board, state and side of a position; what is not said in the document is no part of the state."""
        board, state = self.game.to_identifiers(position, self.kinds)
        return board, {name: state[name] for name in self.variables}, self.side(position.player)

    def answer(self, outcome: Outcome) -> Answer:
        return Answer(outcome.action, outcome.chainable, *self.words(outcome.after))

    def stored(self, position: Position) -> ggn_store.Position:
        board, state, side = self.words(position)
        return ggn_store.Position(board, side="first" if side == "first" else "second", state=state)


def compiled(text: str) -> tuple[Json, dict[str, Kind]]:
    """The document that a specification is compiled to, and its kinds."""
    found = compile_specification(read(text).draft.specification())
    kinds: dict[str, Kind] = {name: (kind.owner, kind.schema, kind.attributes) for name, kind in found.kinds.items()}
    return json.loads(found.document.canonical()), kinds


def expected(rules: Rules, position: Position) -> dict[Pair, Answer]:
    known = rules.known.get(position.key)
    if known is None:
        known = rules.known[position.key] = expected_now(rules, position)
    return known


def expected_now(rules: Rules, position: Position) -> dict[Pair, Answer]:
    return {pair: rules.answer(outcome) for pair, outcome in rules.game.moves(position).items()}


def expected_chains(rules: Rules, position: Position) -> dict[Route, tuple[Answer, ...]]:
    return {path: tuple(map(rules.answer, outcomes)) for path, outcomes in rules.game.chains(position).items()}


def of_document(
    document: Json, board: Mapping[str, str], state: Mapping[str, str], side: str
) -> list[tuple[Pair, Answer]]:
    """The moves of a document, asked without any store."""
    found = []
    for source, piece in board.items():
        if reference.side_of(piece) != side:
            continue
        for destination, array in document.get(piece, {}).get(source, {}).items():
            for possibility in array:
                guards = possibility.get("when", {})
                if not all(state[name] in values for name, values in guards.items()):
                    continue
                if reference.permitted(possibility, board, side):
                    found.append(((source, destination), after(possibility, board, state, side)))
    return found


def after(possibility: Json, board: Mapping[str, str], state: Mapping[str, str], side: str) -> Answer:
    origin, diff = possibility["action"], possibility["diff"]
    squares = {square: piece for square, piece in {**board, **diff.get("board", {})}.items() if piece is not None}
    next_side = reference.other(side) if diff.get("toggle", True) else side
    return Answer(
        origin["name"], origin.get("chainable", False), squares, {**state, **diff.get("state", {})}, next_side
    )


def differences(what: object, wanted: Mapping[Pair, Answer], found: list[tuple[Pair, Answer]]) -> Iterator[str]:
    pairs = [pair for pair, _ in found]
    for pair in sorted({pair for pair in pairs if pairs.count(pair) > 1}):
        yield f"{what}: {pair} is there more than once"
    for pair in sorted(wanted.keys() ^ set(pairs)):
        yield f"{what}: {pair} is {'missing' if pair in wanted else 'too much'}"
    for pair, answer in found:
        if pair in wanted and answer != wanted[pair]:
            yield f"{what}: {pair} is {answer}, not {wanted[pair]}"


def chains_of_document(
    document: Json, board: Mapping[str, str], state: Mapping[str, str], side: str
) -> dict[Route, tuple[Answer, ...]]:
    """The chains of a document: the side stays that of the first step, and a position that comes again ends a path."""
    found: dict[Route, tuple[Answer, ...]] = {}

    def extend(route: Route, answers: tuple[Answer, ...], seen: list[object]) -> None:
        here = answers[-1].board, answers[-1].state
        if here in seen:
            return
        for (source, target), answer in of_document(document, *here, side):
            if answer.chainable and source == route[-1]:
                found[*route, target] = (*answers, answer)
                extend((*route, target), (*answers, answer), [*seen, here])

    for route, answer in of_document(document, board, state, side):
        if answer.chainable:
            extend(route, (answer,), [(board, state)])
    return found


def chain_differences(rules: Rules, positions: list[Position]) -> list[str]:
    found = []
    for position in positions:
        words = rules.words(position)
        if chains_of_document(rules.document, *words) != expected_chains(rules, position):
            found.append(f"{words} has other chains")
    return found
