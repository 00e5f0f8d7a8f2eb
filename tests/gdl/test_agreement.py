"""Compiled game descriptions against the interpreter: every move of every position, what it does, and chains.

The published specifications are compared too where GGN_GDL_SPECS names the folder that has them. GGN_GDL_POSITIONS
is the number of positions of a long run.
"""

import functools
import itertools
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ggn_store
from ggn_store import Ruleset
from tests.oracles.gdl_interpreter import Game, Piece, Position, grid_label
from tests.support import published
from tests.support.games import Games
from tests.support.gdl_agreement import (
    Answer,
    Json,
    Route,
    Rules,
    Way,
    chain_differences,
    compiled,
    differences,
    expected,
    expected_chains,
    of_document,
)
from tests.support.gdl_mutants import mutants
from tests.support.gdl_positions import Positions
from tests.support.gdl_specifications import GDL, SPECIFICATIONS, TARGETED, boards_of, of_chess
from tests.support.gdl_tiny import cube, track

FEW = 30
MANY = int(os.environ.get("GGN_GDL_POSITIONS", "2000"))


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


def tried(*names: str) -> pytest.MarkDecorator:
    """What a store answers, and what a document says without one, is compared for different games on every change."""
    later = pytest.mark.long
    paths = [path if path.stem in names else pytest.param(path, marks=later) for path in specifications()]
    return pytest.mark.parametrize("path", paths, ids=name_of)


# No action of chess or of Contraband can be gone on with.
CHAINED = pytest.mark.parametrize(
    "path", [path for path in specifications() if path.stem in ("checkers", "hexguard")], ids=name_of
)


# What is expected, and what is answered


def of_store(ruleset: Ruleset, positions: list[ggn_store.Position]) -> Iterator[list[tuple[Way, Answer]]]:
    for position, moves in zip(positions, ruleset.moves_batch(positions), strict=True):
        found = []
        for move in moves:
            then = ruleset.apply(position, move)
            board = {square: piece for square, piece in then.board.items() if piece is not None}
            answer = Answer(move.action, move.chainable, board, then.state or {}, then.side)
            found.append(((move.source, move.destination, move.action), answer))
        yield found


# Documents


def document_differences(rules: Rules, positions: list[Position], document: Json | None = None) -> Iterator[str]:
    for position in positions:
        words = rules.words(position)
        found = of_document(rules.document if document is None else document, *words)
        yield from differences(words, expected(rules, position), found)


@tried("chess")
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


def in_store(games: Games, path: Path) -> Ruleset:
    """The ruleset of a specification, which is loaded where it is not yet."""
    if path.parent == GDL:
        return games[f"gdl/{path.stem}"]
    name = name_of(path)
    try:
        return games.store.ruleset(name)
    except ggn_store.UnknownNameError:
        games.store.load(path, name=name)
        return games.store.ruleset(name)


def store_differences(ruleset: Ruleset, rules: Rules, positions: list[Position]) -> Iterator[str]:
    stored = list(map(rules.stored, positions))
    for position, found in zip(positions, of_store(ruleset, stored), strict=True):
        yield from differences(rules.words(position), expected(rules, position), found)


@tried("checkers", "contraband", "hexguard")
def test_a_store_has_the_moves_of_the_interpreter(games: Games, path: Path) -> None:
    assert list(store_differences(in_store(games, path), rules_of(path), positions_of(path, FEW))) == []


@pytest.mark.long
@PATHS
def test_a_store_has_the_moves_of_the_interpreter_in_many_positions(games: Games, path: Path) -> None:
    assert list(store_differences(in_store(games, path), rules_of(path), positions_of(path, MANY))) == []


def chains_of_store(ruleset: Ruleset, position: ggn_store.Position) -> dict[Route, Answer]:
    """By the squares of each chain, and the actions of its steps, what is after the last."""
    found = {}
    for chain in ruleset.chains(position):
        after = chain.after
        board = {square: piece for square, piece in after.board.items() if piece is not None}
        answer = Answer(chain.steps[-1].action, chain.steps[-1].chainable, board, after.state or {}, after.side)
        route = (*chain.path, *(str(step.action) for step in chain.steps))
        assert route not in found
        found[route] = answer
    return found


def store_chain_differences(ruleset: Ruleset, rules: Rules, positions: list[Position]) -> Iterator[str]:
    for position in positions:
        wanted = {route: answers[-1] for route, answers in expected_chains(rules, position).items()}
        found = chains_of_store(ruleset, rules.stored(position))
        for path in sorted(wanted.keys() | found.keys()):
            if wanted.get(path) != found.get(path):
                yield f"{rules.words(position)}: {path} is {found.get(path)}, not {wanted.get(path)}"


@CHAINED
def test_a_store_has_the_chains_of_the_interpreter(games: Games, path: Path) -> None:
    ruleset = in_store(games, path)
    assert list(store_chain_differences(ruleset, rules_of(path), positions_of(path, FEW))) == []


@pytest.mark.long
@CHAINED
def test_a_store_has_the_chains_of_the_interpreter_in_many_positions(games: Games, path: Path) -> None:
    ruleset = in_store(games, path)
    assert list(store_chain_differences(ruleset, rules_of(path), positions_of(path, MANY))) == []


SHAPES = {
    "cube": (cube, "3/3/3//2+w/1+w1/3//S1S/S2/S2 / TINY/tiny"),
    "track": (track, "SSSS2+w1+w / TINY/tiny"),
}


@pytest.mark.parametrize("name", [pytest.param("cube"), pytest.param("track", marks=pytest.mark.both)])
def test_a_track_and_a_cube_play_as_the_interpreter_does(games: Games, tmp_path: Path, name: str) -> None:
    make, feen = SHAPES[name]
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(make()), encoding="utf-8")
    ruleset, rules = in_store(games, path), rules_of(path)
    start = ruleset.start
    assert start is not None
    assert (ruleset.position(feen=feen).board, ruleset.notate(start)) == (start.board, feen)
    # Wheels go round in more chains than can be listed.
    positions = list(itertools.islice(Positions(rules.game, name, 4), 30))
    assert max(len(expected(rules, each)) for each in positions) > 8
    assert list(store_differences(ruleset, rules, positions)) == []
    for each in positions[:6]:
        wanted = sorted(expected(rules, each))
        for query in ("fast", "reading"):
            moves = ruleset.moves(rules.stored(each), query=query)
            assert sorted((move.source, move.destination, move.action) for move in moves) == wanted


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


CHANGED = actions_of("contraband")[::2]


@pytest.mark.parametrize(
    ("path", "action"),
    [CHANGED[-1], *(pytest.param(*each.values, id=each.id, marks=pytest.mark.long) for each in CHANGED[:-1])],
)
def test_the_comparison_notices_a_changed_condition(path: Path, action: str) -> None:
    assert list(unnoticed(path, action, 240)) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "action"), [*actions_of("contraband")[1::2], *actions_of("checkers", "chess", "hexguard")]
)
def test_the_comparison_notices_a_changed_condition_of_larger_games(path: Path, action: str) -> None:
    assert list(unnoticed(path, action, MANY)) == []
