"""Compiled game descriptions against the interpreter: every move of every position, what it does, and chains.

The published specifications are compared too where GGN_GDL_SPECS names the folder that has them. GGN_GDL_POSITIONS
is the number of positions of a long run.
"""

import functools
import itertools
import json
import os
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ggn_store
from ggn_store import Ruleset, Store
from ggn_store.gdl.compile import compile as compile_specification
from ggn_store.gdl.reader import read
from tests.gdl.test_specifications import GDL, SPECIFICATIONS, TARGETED, boards_of, of_chess
from tests.oracles import reference
from tests.oracles.gdl_interpreter import Game, Kind, Outcome, Piece, Position, grid_label
from tests.support import published
from tests.support.gdl_mutants import mutants
from tests.support.gdl_positions import Positions

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
    """Positions of a game; of chess those too in which castling or capturing en passant is nearly possible."""
    game = Game.read(path)
    more: list[Position] = []
    if path == GDL / "chess.json":
        every = 40 if count == FEW else 4
        more = [of_chess(board) for name in TARGETED for board in boards_of(name, every)]
        more += list(itertools.islice(special_chess(game), count))
    supply = Positions(game, path.stem, 4 if count == FEW else 24, more)
    targeted = [*more[-count // 2 :], *itertools.islice(long_chains(game, supply, 20 * count), count // 10)]
    return [*targeted, *itertools.islice(supply, count - len(targeted))]


def long_chains(game: Game, supply: Positions, tries: int) -> Iterator[Position]:
    """Positions by chance in which a piece can go three steps or more."""
    if any(action.chainable for action in game.actions.values()):
        for _ in range(tries):
            position = supply.placement()
            if any(len(path) > 3 for path in game.chains(position)):
                yield position


def special_chess(game: Game) -> Iterator[Position]:
    """Kings and rooks that have not moved, mostly at home, and pawns beside one that may just have moved."""
    chance = random.Random("special")
    owners = list(game.players)

    def piece(owner: str, rank: str) -> Piece:
        return Piece("Piece", (("owner", owner), ("rank", rank)))

    while True:
        player = chance.choice(owners)
        other = owners[1 - owners.index(player)]
        board = {}
        y = chance.choice((0, 0, 7, 7, 3))
        x = chance.choice((4, 4, 4, 4, 2, 3, 5))
        board[grid_label(x, y)] = piece(player, chance.choice((*["unmoved_king"] * 6, "king", "bishop")))
        for corner in (0, 7):
            owner = chance.choice((player, player, player, other))
            board[grid_label(corner, y)] = piece(owner, chance.choice(("unmoved_rook", "unmoved_rook", "rook")))
        row = chance.choice((3, 4))
        file = chance.randrange(8)
        board[grid_label(file, row)] = piece(
            chance.choice((other, other, player)), chance.choice(("pawn", "pawn", "knight"))
        )
        for beside in (file - 1, file + 1):
            if 0 <= beside < 8:
                board[grid_label(beside, row)] = piece(player, "pawn")
        if chance.random() < 0.3:
            board[grid_label(file, chance.choice((row - 1, row + 1)))] = piece(player, "bishop")
        ep = chance.choice((file, file, file, -1, chance.randrange(8)))
        yield Position(board, {"phase": "main_turn", "ep": ep}, player)


def specifications() -> list[Path]:
    return [*(GDL / f"{name}.json" for name in SPECIFICATIONS), *published.paths("checkers", "chess")]


def name_of(path: Path) -> str:
    return path.stem if path.parent == GDL else f"published-{path.stem}"


PATHS = pytest.mark.parametrize("path", specifications(), ids=name_of)
# No action of chess or of Contraband can be gone on with.
CHAINED = pytest.mark.parametrize(
    "path", [path for path in specifications() if path.stem in ("checkers", "hexguard")], ids=name_of
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


# Documents


def document_differences(rules: Rules, positions: list[Position], document: Json | None = None) -> Iterator[str]:
    for position in positions:
        words = rules.words(position)
        found = of_document(rules.document if document is None else document, *words)
        yield from differences(words, expected(rules, position), found)


def chain_differences(rules: Rules, positions: list[Position]) -> list[str]:
    found = []
    for position in positions:
        words = rules.words(position)
        if chains_of_document(rules.document, *words) != expected_chains(rules, position):
            found.append(f"{words} has other chains")
    return found


@PATHS
def test_a_compiled_description_has_the_moves_of_the_interpreter(path: Path) -> None:
    assert list(document_differences(rules_of(path), positions_of(path, FEW))) == []


@CHAINED
def test_a_compiled_description_has_the_chains_of_the_interpreter(path: Path) -> None:
    assert chain_differences(rules_of(path), positions_of(path, FEW)) == []


@pytest.mark.long
@CHAINED
def test_a_compiled_description_has_the_chains_of_the_interpreter_in_many_positions(path: Path) -> None:
    assert chain_differences(rules_of(path), positions_of(path, MANY)) == []


@pytest.mark.parametrize("name", ["checkers", "hexguard"])
def test_the_positions_have_chains_of_several_steps(name: str) -> None:
    rules = rules_of(GDL / f"{name}.json")
    steps = [len(chain) for each in positions_of(rules.path, FEW) for chain in rules.game.chains(each).values()]
    assert max(steps) > 2
    assert len(steps) > 10


@pytest.mark.long
@PATHS
def test_a_compiled_description_has_the_moves_of_the_interpreter_in_many_positions(path: Path) -> None:
    assert list(document_differences(rules_of(path), positions_of(path, MANY))) == []


# Stores


def in_store(store: Store, path: Path) -> Ruleset:
    """The ruleset of a specification, which is loaded where it is not yet."""
    name = name_of(path)
    try:
        return store.ruleset(name)
    except ggn_store.UnknownNameError:
        store.load(path, name=name)
        return store.ruleset(name)


def store_differences(ruleset: Ruleset, rules: Rules, positions: list[Position]) -> Iterator[str]:
    stored = list(map(rules.stored, positions))
    for position, found in zip(positions, of_store(ruleset, stored), strict=True):
        yield from differences(rules.words(position), expected(rules, position), found)


@PATHS
def test_a_store_has_the_moves_of_the_interpreter(module_store: Store, path: Path) -> None:
    assert list(store_differences(in_store(module_store, path), rules_of(path), positions_of(path, FEW))) == []


@pytest.mark.long
@PATHS
def test_a_store_has_the_moves_of_the_interpreter_in_many_positions(module_store: Store, path: Path) -> None:
    assert list(store_differences(in_store(module_store, path), rules_of(path), positions_of(path, MANY))) == []


def chains_of_store(
    ruleset: Ruleset, position: ggn_store.Position
) -> dict[Route, tuple[tuple[str | None, ...], Answer]]:
    """By the squares of each chain the actions of its steps, and what is after the last."""
    found = {}
    for chain in ruleset.chains(position):
        after = chain.after
        board = {square: piece for square, piece in after.board.items() if piece is not None}
        answer = Answer(chain.steps[-1].action, chain.steps[-1].chainable, board, after.state or {}, after.side)
        assert chain.path not in found
        found[chain.path] = tuple(step.action for step in chain.steps), answer
    return found


def store_chain_differences(ruleset: Ruleset, rules: Rules, positions: list[Position]) -> Iterator[str]:
    for position in positions:
        wanted = {
            path: (tuple(each.action for each in answers), answers[-1])
            for path, answers in expected_chains(rules, position).items()
        }
        found = chains_of_store(ruleset, rules.stored(position))
        for path in sorted(wanted.keys() | found.keys()):
            if wanted.get(path) != found.get(path):
                yield f"{rules.words(position)}: {path} is {found.get(path)}, not {wanted.get(path)}"


@CHAINED
def test_a_store_has_the_chains_of_the_interpreter(module_store: Store, path: Path) -> None:
    ruleset = in_store(module_store, path)
    assert list(store_chain_differences(ruleset, rules_of(path), positions_of(path, FEW))) == []


@pytest.mark.long
@CHAINED
def test_a_store_has_the_chains_of_the_interpreter_in_many_positions(module_store: Store, path: Path) -> None:
    ruleset = in_store(module_store, path)
    assert list(store_chain_differences(ruleset, rules_of(path), positions_of(path, MANY))) == []


# Mutants: would the comparison notice?

TURN = "eq(entity.owner, state.current_player)"


# A queen's way is clear only on a line, so that what says that she goes on lines can be left out.
REDUNDANT = (
    "queen_move: without or(eq(target.x, start.x), eq(target.y, start.y), "
    "eq(abs(sub(target.x, start.x)), abs(sub(target.y, start.y))))"
)


# Mutants whose effects would give a variable a value that it cannot have: these are not compiled.
REFUSED = (
    "rider_slide: without gte(state.tension, 2)",
    "rider_slide: lte(state.tension, 2) for gte(state.tension, 2)",
)


def is_equivalent(name: str) -> bool:
    """Whether a mutant plays the same game.

    In all actions it can be left out that it is one's own piece that acts, which the phase's `actors` says too.
    """
    return name.endswith(f"without {TURN}") or name == REDUNDANT


def unnoticed(path: Path, action: str, count: int) -> Iterator[str]:
    """The mutants of an action that are told from the specification by no position, and what they should not be."""
    rules, positions = rules_of(path), positions_of(path, count)
    for mutant in mutants(rules.game.spec, action):
        try:
            document, kinds = compiled(json.dumps(mutant.spec))
        except ggn_store.GgnStoreError:
            if mutant.name not in REFUSED:
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
