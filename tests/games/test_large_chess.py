"""Large and round chess, against an interpreter of the written rules: legal moves, and what stands where after each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from ggn_store import Position, Ruleset, Store
from ggn_store.games import library
from ggn_store.games.definition import read
from ggn_store.notation import qpi
from tests.oracles import large_chess
from tests.oracles.large_chess import STARTS, Move, Table, text
from tests.oracles.play import Game
from tests.support.definitions import shipped
from tests.support.sampled import sampled

# The legal moves of a position, each with the position after it.
Judge = Callable[[Position], Mapping[Move, Position]]

# A rule of each game changed: the interpreter has to notice.
MUTANTS = [
    ("gigachess", '"[F?R]"', '"[F-R]"'),
    ("gigachess", '"[W?B]"', '"[W?R]"'),
    ("gigachess", '"mQcpQ"', '"mQcpR"'),
    ("gigachess", '"KADGH"', '"KADH"'),
    ("gigachess", "KimDimAimN", "KimDimA"),
    ("gigachess", '"no-leap-from-check", ', ""),
    ("gigachess", 'betza = "KimfnD"\ninitial = "all"', 'betza = "KimfnD"\ninitial = "a3:n3"'),
    ("terachess", '"GHmfWcfF"', '"GHmfWcF"'),
    ("metamachy", 'to = ["Q", "L", "G"], forced = true', 'to = ["Q", "L"], forced = true'),
    ("metamachy", 'betza = "mRcpR"', 'betza = "mRcR"'),
    ("rutland", "imfnH", ""),
    ("rutland", "mfWimfnDimfnHcefF", "mfWimfnDimfnHcfF"),
    ("rutland", 'betza = "RF"', 'betza = "RN"'),
    ("tamerlane", '"[F-W-W-R]"', '"[F-W-R]"'),
    ("tamerlane", '"[F-B]"', '"B"'),
    ("tamerlane", 'betza = "K"\nconfined = "abroad"', 'betza = "K"\nconfined = "camp"'),
    ("tamerlane", 'to = ["Z"]', 'to = ["T"]'),
    ("tamerlane", '["royal-safety", "spare-royal"]', '["royal-safety"]'),
    ("circular", "cylinder = true", "cylinder = false"),
    ("circular", 'right = { first = "l1:l4"', 'right = { first = "m1:m4"'),
    ("byzantine", 'betza = "A"', 'betza = "AF"'),
    ("byzantine", "m(-1,0)c(-1,+1)c(-1,-1)", "m(-1,0)c(-1,+1)"),
]


def differences(judge: Judge, name: str, seed: int, plies: int) -> Iterator[str]:
    """What is not as the interpreter has it, in games whose moves are chosen at random, rare ones before others.

    Every other game begins without most of its men, and with the others anywhere: these meet each other sooner.
    """
    chance = random.Random(f"{name} {seed}")
    table, position = large_chess.start(name), Position.from_feen(str(library.read_game(name).start))
    if seed % 2:
        table, position = thinned(table, position, chance)
    for _ in range(plies):
        wanted, found = table.legal(), judge(position)
        if wrong := {*wanted} ^ {*found}:
            yield f"{position.board}: {sorted(wrong)}"
            return
        if not wanted:
            return
        rare = [move for move in wanted if is_rare(table, move)]
        move = chance.choice(sorted(rare if rare and chance.random() < 0.6 else wanted))
        table, position = table.after(move), found[move]
        if (there := standing(table, position)) != {text(at): man for at, man in table.men.items()}:
            yield f"after {move}: {there}"
            return


def by_evaluator(game: Game, words: Mapping[str, str]) -> Judge:
    """As the plain evaluator judges a definition."""

    def judge(position: Position) -> Mapping[Move, Position]:
        moves = game.legal(position).values()
        return {told(words, move.piece, move.source, move.destination, move.board): move.after for move in moves}

    return judge


def by_store(rules: Ruleset, words: Mapping[str, str]) -> Judge:
    """As a store judges a ruleset."""

    def judge(position: Position) -> Mapping[Move, Position]:
        return {
            told(words, move.piece, str(move.source), move.destination, dict(effects.board)): rules.apply(
                position, move
            )
            for move in rules.legal_moves(position)
            if (effects := move.effects) is not None
        }

    return judge


def thinned(table: Table, position: Position, chance: random.Random) -> tuple[Table, Position]:
    """Two thirds of the men gone, and others elsewhere: near where they are promoted, or where a king ends the game."""
    kept = {at: man for at, man in table.men.items() if man[1] == "K" or chance.random() < 0.34}
    men, board = dict(kept), {text(at): str(position.board[text(at)]) for at in kept}
    camp = {at for at in table.squares if at not in large_chess.CITADELS.values() or not table.has_citadels}
    inner = {
        at for at in camp if table.rules.is_round or 0 < at[1] < table.rules.ranks - 1
    }  # else some would be promoted
    for at, man in kept.items():
        to = chance.choice(sorted(inner)) if chance.random() < 0.5 else at
        if man[1] in table.rules.becomes and not table.rules.is_round and chance.random() < 0.5:
            to = to[0], table.rules.ranks - 2 if man[0] == 1 else 1
        if table.has_citadels and man[1] == "K" and chance.random() < 0.3:
            to = (1, 8) if man[0] == 1 else (11, 1)
        if to in inner and to not in men:
            del men[at]
            piece = board.pop(text(at))
            men[to], board[text(to)] = man, piece.replace("+", "") if man[1] == "K" else piece
    fresh = frozenset(at for at in table.fresh if men.get(at) == table.men[at])
    return replace(table, men=men, fresh=fresh), replace(position, board=board)


def is_rare(table: Table, move: tuple[str, str, str]) -> bool:
    """Whether a move takes, promotes, or is by a pawn that is on its way."""
    at, to = large_chess.point(move[0]), large_chess.point(move[1])
    return bool(move[2]) or to in table.men or to in table.passed or table.men[at][1][-1:] in "PI" or at in table.fresh


def token(words: Mapping[str, str], identifier: str) -> str:
    """What the interpreter calls a piece; of marks and of kings that have not moved it knows by itself."""
    piece = qpi.parse(identifier)
    named = piece.state + piece.letter
    return named if named in words else piece.letter


def told(words: Mapping[str, str], piece: str, source: str, to: str, board: Mapping[str, str | None]) -> Move:
    before, after = token(words, piece), token(words, str(board[to]))
    return source, to, "" if before == after else after


def standing(table: Table, position: Position) -> dict[str, tuple[int, str]]:
    pieces = {square: str(piece) for square, piece in position.board.items() if piece is not None}
    sides = {square: 1 if qpi.side_of(piece) == "first" else -1 for square, piece in pieces.items()}
    return {square: (sides[square], token(table.rules.words, piece)) for square, piece in pieces.items()}


@pytest.mark.parametrize("name", sampled(sorted(STARTS)))
def test_a_large_game_is_played_by_its_written_rules(name: str) -> None:
    judge = by_evaluator(Game(library.read_game(name)), large_chess.RULES[name].words)
    assert [line for seed in range(2) for line in differences(judge, name, seed, 16)] == []


def test_a_troll_becomes_a_queen_by_a_step_and_not_by_a_leap() -> None:
    played = Game(library.read_game("terachess"))
    board: dict[str, str | None] = {"a13": "C:T", "d15": "C:T", "h2": "C:K^", "h15": "c:k^"}
    ends = {(move.source, move.destination, move.board[move.destination]) for move in played.moves(Position(board))}
    assert {end for end in ends if end[1] in ("a16", "d16")} == {
        *(("a13", "a16", "C:T"), ("a13", "d16", "C:T"), ("d15", "d16", "C:Q")),
    }


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(STARTS))
def test_many_large_games(name: str, store: Store) -> None:
    store.load(library.read_game(name), name)
    judge = by_store(store.ruleset(name), large_chess.RULES[name].words)
    assert [line for seed in range(12) for line in differences(judge, name, seed, 80)] == []


@pytest.mark.long
@pytest.mark.parametrize(("name", "rule", "instead"), MUTANTS)
def test_a_changed_rule_is_noticed(name: str, rule: str, instead: str) -> None:
    written = shipped(name)
    assert rule in written
    judge = by_evaluator(Game(read(written.replace(rule, instead))), large_chess.RULES[name].words)
    assert any(True for seed in range(1, 40, 2) for _ in differences(judge, name, seed, 40))
