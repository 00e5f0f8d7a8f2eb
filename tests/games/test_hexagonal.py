"""Chess on hexagons, against an interpreter of the written rules: legal moves, and what stands where after each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ggn_store import Move, Position, Ruleset, Store
from ggn_store.games import library
from ggn_store.games.definition import read
from ggn_store.notation import qpi
from tests.oracles import hexagonal
from tests.oracles.hexagonal import STARTS, Table
from tests.support.definitions import shipped
from tests.support.sampled import sampled

# A rule of each game changed: the interpreter has to notice.
MUTANTS = [
    ("glinski", "ce(+1,0)ce(-1,+1)", "ce(+1,+1)ce(-1,+2)"),
    ("glinski", "imn(0,+2)", "imn(0,+3)"),
    ("glinski", "en_passant = true", "en_passant = false"),
    ("glinski", 'betza = "N"', 'betza = "F"'),
    ("glinski", "files-bent", "files"),
    ("mccooey", 'initial = "wings"\n', ""),
    ("mccooey", 'to = ["Q", "R", "B", "N"]', 'to = ["Q", "R", "B"]'),
    ("shafran", 'to = "h4", with = "i5", with_to = "g3"', 'to = "h4", with = "i5", with_to = "f2"'),
    ("shafran", "imn(0,+3)", "imn(0,+2)"),
    ("shafran", "files-down", "files"),
    ("de-vasa", "ce(-2,+1)", "ce(-1,+2)"),
    ("de-vasa", "rows-left", "rows"),
]


def differences(rules: Ruleset, name: str, seed: int, plies: int) -> Iterator[str]:
    """What is not as the interpreter has it, in games whose moves are chosen at random, rare ones before others.

    Every other game begins without most of the pieces that stand in the way of castling and of promotions.
    """
    chance = random.Random(f"{name} {seed}")
    table, position = hexagonal.start(name, library.read_game(name).board.squares), rules.start
    assert isinstance(position, Position)
    if seed % 2:
        gone = [square for square, (_, letter) in table.men.items() if letter in "QBNP" and chance.random() < 0.7]
        table = replace(table, men={square: man for square, man in table.men.items() if square not in gone})
        position = replace(position, board={**position.board, **dict.fromkeys(gone)})
    for _ in range(plies):
        wanted = table.legal()
        found = {told(table, move, position): move for move in rules.legal_moves(position)}
        if wrong := {*wanted} ^ {*found}:
            yield f"{rules.fen(position)}: {sorted(wrong)}"
            return
        if not wanted:
            return
        rare = [move for move in wanted if is_rare(table, move) or (seed % 2 and table.men[move[0]][1] == "P")]
        castlings = [move for move in wanted if castles(table, move)]
        chosen = castlings or (rare if rare and chance.random() < 0.6 else wanted)
        move = chance.choice(sorted(chosen))
        table, position = table.after(move), rules.apply(position, found[move])
        if (there := standing(position)) != dict(table.men):
            yield f"after {move}: {sorted({*there.items()} ^ {*table.men.items()})}"
            return


def is_rare(table: Table, move: tuple[str, str, str]) -> bool:
    """Whether a move takes or promotes."""
    source, to, becomes = move
    return bool(becomes) or to in table.men or (table.men[source][1] == "P" and to in table.passed)


def castles(table: Table, move: tuple[str, str, str]) -> bool:
    side, letter = table.men[move[0]]
    return letter == "K" and move in [(king, end, "") for king, end, _, _ in table.rules.castlings.get(side, [])]


def told(table: Table, move: Move, position: Position) -> tuple[str, str, str]:
    after = dict(move.effects.board)[move.destination] if move.effects is not None else None
    before, becomes = letter(str(position.board[move.source])), letter(str(after))
    return move.source, move.destination, "" if before == becomes else becomes


def letter(identifier: str) -> str:
    return qpi.parse(identifier).letter


def standing(position: Position) -> dict[str, tuple[int, str]]:
    names = {square: qpi.parse(piece) for square, piece in position.board.items() if piece is not None}
    return {square: (1 if piece.side == "first" else -1, piece.letter) for square, piece in names.items()}


@pytest.mark.parametrize("name", sampled(STARTS, one_in=4))
def test_a_game_on_hexagons_is_played_by_its_written_rules(name: str) -> None:
    with Store.open("sqlite://") as store:
        store.load(library.read_game(name), name)
        rules = store.ruleset(name)
        assert [told for seed in range(2) for told in differences(rules, name, seed, 50)] == []


@pytest.mark.long
@pytest.mark.parametrize("name", STARTS)
def test_many_games_on_hexagons(name: str) -> None:
    with Store.open("sqlite://") as store:
        store.load(library.read_game(name), name)
        assert [told for seed in range(40) for told in differences(store.ruleset(name), name, seed, 120)] == []


@pytest.mark.parametrize(("name", "rule", "instead"), sampled(MUTANTS, one_in=len(MUTANTS)))
def test_a_changed_rule_is_noticed(name: str, rule: str, instead: str) -> None:
    text = shipped(name)
    assert text.count(rule) >= 1
    with Store.open("sqlite://") as store:
        store.load(read(text.replace(rule, instead)), name)
        rules = store.ruleset(name)
        assert any(True for seed in range(1, 12) for _ in differences(rules, name, seed, 80))
