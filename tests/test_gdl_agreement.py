"""Compiled game descriptions against the interpreter: every move of every position, what it does, and chains.

The published specifications are compared too where GGN_GDL_SPECS names the folder that has them. GGN_GDL_POSITIONS
is the number of positions of a long run.
"""

import functools
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ggn_store
from ggn_store import Ruleset, Store
from ggn_store.gdl.compile import compile as compile_specification
from ggn_store.gdl.reader import read
from tests import reference
from tests.gdl_interpreter import Game, Kind, Outcome, Position
from tests.gdl_mutants import mutants
from tests.gdl_positions import Positions
from tests.test_gdl_specifications import GDL, SPECIFICATIONS, TARGETED, boards_of, of_chess

PUBLISHED = os.environ.get("GGN_GDL_SPECS")
FEW = 60
MANY = int(os.environ.get("GGN_GDL_POSITIONS", "2000"))
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


@functools.cache
def rules_of(path: Path) -> Rules:
    document, kinds = compiled(path.read_text(encoding="utf-8"))
    return Rules(path.stem, path, Game.read(path), document, kinds)


@functools.cache
def positions_of(path: Path, count: int) -> list[Position]:
    """Positions of a game; those of chess that tests/positions has are among what has been played."""
    game = Game.read(path)
    more = []
    if path == GDL / "chess.json":
        more = [of_chess(board) for name in TARGETED for board in boards_of(name, 40 if count == FEW else 4)]
    return list(itertools.islice(Positions(game, path.stem, 4 if count == FEW else 24, more), count))


def specifications() -> list[Path]:
    published = [] if PUBLISHED is None else [Path(PUBLISHED) / f"{name}.json" for name in ("checkers", "chess")]
    return [*(GDL / f"{name}.json" for name in SPECIFICATIONS), *published]


PATHS = pytest.mark.parametrize(
    "path",
    specifications(),
    ids=[("" if path.parent == GDL else "published-") + path.stem for path in specifications()],
)


# What is expected, and what is answered


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


def of_store(ruleset: Ruleset, positions: list[ggn_store.Position]) -> Iterator[list[tuple[Pair, Answer]]]:
    for position, moves in zip(positions, ruleset.moves_batch(positions), strict=True):
        found = []
        for move in moves:
            then = ruleset.apply(position, move)
            board = {square: piece for square, piece in then.board.items() if piece is not None}
            answer = Answer(move.action, move.chainable, board, then.state or {}, then.side)
            found.append(((move.source, move.destination), answer))
        yield found


def differences(what: object, wanted: Mapping[Pair, Answer], found: list[tuple[Pair, Answer]]) -> Iterator[str]:
    pairs = [pair for pair, _ in found]
    for pair in sorted({pair for pair in pairs if pairs.count(pair) > 1}):
        yield f"{what}: {pair} is there more than once"
    for pair in sorted(wanted.keys() ^ set(pairs)):
        yield f"{what}: {pair} is {'missing' if pair in wanted else 'too much'}"
    for pair, answer in found:
        if pair in wanted and answer != wanted[pair]:
            yield f"{what}: {pair} is {answer}, not {wanted[pair]}"


# Documents


def document_differences(rules: Rules, positions: list[Position], document: Json | None = None) -> Iterator[str]:
    for position in positions:
        words = rules.words(position)
        found = of_document(rules.document if document is None else document, *words)
        yield from differences(words, expected(rules, position), found)


@PATHS
def test_a_compiled_description_has_the_moves_of_the_interpreter(path: Path) -> None:
    assert list(document_differences(rules_of(path), positions_of(path, FEW))) == []


@pytest.mark.long
@PATHS
def test_a_compiled_description_has_the_moves_of_the_interpreter_in_many_positions(path: Path) -> None:
    assert list(document_differences(rules_of(path), positions_of(path, MANY))) == []


# Mutants: would the comparison notice?

TURN = "eq(entity.owner, state.current_player)"


def is_equivalent(name: str) -> bool:
    """Whether a mutant plays the same game.

    Only one condition can be left out: that it is one's own piece that acts, which the phase's `actors` says too.
    """
    return name.endswith(f"without {TURN}")


def unnoticed(path: Path, action: str, count: int) -> Iterator[str]:
    """The mutants of an action that are told from the specification by no position, and what they should not be."""
    rules, positions = rules_of(path), positions_of(path, count)
    for mutant in mutants(rules.game.spec, action):
        try:
            document, kinds = compiled(json.dumps(mutant.spec))
        except ggn_store.InputError:
            yield f"refused: {mutant.name}"
            continue
        assert kinds == rules.kinds
        is_noticed = any(document_differences(rules, positions, document))
        if is_noticed == is_equivalent(mutant.name):
            yield mutant.name


def actions_of(*names: str) -> list[Any]:
    return [
        pytest.param(GDL / f"{name}.json", action, id=f"{name}-{action}")
        for name in names
        for action in Game.read(GDL / f"{name}.json").actions
    ]


@pytest.mark.parametrize(("path", "action"), actions_of("contraband"))
def test_the_comparison_notices_a_changed_condition(path: Path, action: str) -> None:
    assert list(unnoticed(path, action, 4 * FEW)) == []


@pytest.mark.long
@pytest.mark.parametrize(("path", "action"), actions_of("checkers", "chess", "hexguard"))
def test_the_comparison_notices_a_changed_condition_of_larger_games(path: Path, action: str) -> None:
    assert list(unnoticed(path, action, MANY)) == []
