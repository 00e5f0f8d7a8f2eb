"""Promotions that are moves by themselves: where a piece stands, or by a step that it has only for that."""

from __future__ import annotations

import itertools
import random
import re
import tomllib
from collections.abc import Iterator

import pytest

from ggn_store import Position, Store
from ggn_store.games import library
from ggn_store.games.definition import DefinitionError, read
from ggn_store.games.fairy.variants import read_variants
from ggn_store.model.documents import variables
from tests.oracles.fairy_stockfish import differences, of_store, sample
from tests.oracles.play import Game

HEAD = """title = "T"
board = "3x3"
style = "C"
start = "3/3/PPP / C/c"
[pieces.F]
betza = "F"
[pieces.P]
betza = "fW"
"""
WITH_KNIGHTS = HEAD + 'promotion = { to = ["F"], on = "any"%s }\n'


def test_a_piece_promotes_where_it_stands_or_by_a_step_but_not_beside_enemies() -> None:
    rules = 'promotion = [{ to = ["F"], from = "b2", betza = "mF", in_place = true, apart = "F" }]\n'
    game = Game(HEAD + rules)

    def found(board: dict[str, str | None]) -> set[str]:
        return {
            f"{each.source}{each.destination} {each.board[each.destination]}" for each in game.moves(Position(board))
        }

    own = {"b2b3 C:P"}
    assert found({"b2": "C:P"}) == own | {f"b2{square} C:F" for square in ("b2", "a1", "a3", "c1", "c3")}
    assert found({"b2": "C:P", "a3": "c:p"}) == own | {f"b2{square} C:F" for square in ("a1", "c1", "c3")}
    assert found({"a1": "C:P"}) == {"a1a2 C:P"}


def test_the_only_piece_of_its_kind_is_told_by_variables_where_no_enemy_may_be_either() -> None:
    game = Game(HEAD + 'promotion = { to = ["F"], in_place = true, apart = "F", alone = true }\n')
    pawns = [square for square in game.definition.board.squares if square != "b2"]
    for square in pawns:
        for piece, may in (("C:P", False), ("C:F", True), ("c:f", square not in ("a1", "a3", "c1", "c3"))):
            moves = list(game.moves(Position({"b2": "C:P", square: piece})))
            in_place = [each for each in moves if (each.source, each.destination) == ("b2", "b2")]
            assert bool(in_place) is may, (square, piece)
            for each in in_place:  # what a move says of the variables is what its board does
                before = variables.complete(game.about, None, "T", {"b2": "C:P", square: piece})
                assert before | dict(each.after.state or {}) == variables.complete(
                    game.about, None, "T", each.after.board
                )


@pytest.mark.parametrize(
    ("keys", "where", "message"),
    [
        (", in_place = true, forced = true", "forced", "forced is for a promotion that ends another move"),
        (', betza = "F", unique = true', "unique", "unique is for a promotion that ends another move"),
        (', apart = "F"', "apart", "apart is for a promotion with betza or in_place"),
        (', in_place = true, apart = "B"', "apart", "squares around one are leaps without modes"),
        (', in_place = true, alone = true }\nen_passant = true\ninitial = "a1"#', "", "alone looks for one identifier"),
    ],
)
def test_what_a_promotion_cannot_say_is_named(keys: str, where: str, message: str) -> None:
    text = WITH_KNIGHTS % keys
    text = text.replace('"fW"', '"mfWimfnD"') if "initial" in keys else text
    with pytest.raises(DefinitionError) as refused:
        read(text + '[play]\nduties = ["clear-marks"]\n')
    [found] = [each.message for each in refused.value.problems if each.pointer.endswith(where)][:1]
    assert found.startswith(message)


def sparse(chance: random.Random) -> Iterator[str]:
    """Positions of sittuyin with few pieces: pawns that may promote, and what hinders them."""
    while True:
        pieces = [*"Kk", *chance.choice(["P", "PP", "PPP"]), *chance.choice(["p", "pp", "ppp"])]
        pieces += chance.sample([*"FfFfRrSsNn"], chance.randrange(5))
        squares = chance.sample([(file, rank) for file in range(8) for rank in range(8)], len(pieces))
        board = dict(zip(squares, pieces, strict=True))
        ranks = ["".join(board.get((file, rank), "1") for file in range(8)) for rank in reversed(range(8))]
        placement = re.sub("1+", lambda run: str(len(run[0])), "/".join(ranks))
        yield f"{placement}[] {chance.choice('wb')} - - 0 1"


@pytest.mark.parametrize("count", [25, pytest.param(400, marks=pytest.mark.long)])
def test_sittuyin_promotes_as_it_does_in_fairy_stockfish(count: int) -> None:
    pyffish = pytest.importorskip("pyffish")
    name, chance = "sittuyin", random.Random(count)
    game = Game(library.read_game(name))
    compared = promoting = checked = 0
    with Store.open("sqlite:///:memory:") as store:
        store.load_library(name)
        rules = store.ruleset(name)
        for fen in itertools.islice(sparse(chance), 40 * count):
            if promoting == count:
                break
            placement, side, rest = fen.split(" ", 2)
            waiting = f"{placement} {'b' if side == 'w' else 'w'} {rest}"
            if pyffish.validate_fen(fen, name) != 1 or pyffish.gives_check(name, waiting, []):
                continue
            each = sample(name, game, fen, chance)
            if each is None:
                continue
            assert [*differences(game, each), *of_store(rules, each)] == []
            compared += 1
            promoting += any(move.endswith("f") for move in each.moves)
            checked += pyffish.gives_check(name, fen, [])
    assert promoting == count < compared
    assert checked > count // 20


def test_no_promotion_of_sittuyin_uncovers_a_check(store: Store) -> None:
    store.load_library("sittuyin")
    rules = store.ruleset("sittuyin")

    def from_c3(rank: str) -> set[str]:
        legal = rules.legal_moves(rules.position(feen=f"8/4p3/3p4/8/8/{rank}/8/1k^6 / b/B"))
        return {f"{move.destination} {move.effects.board[move.destination]}" for move in legal if move.source == "c3"}

    assert from_c3("1K^p4r") == {"c2 b:p", "c3 b:f"}
    assert from_c3("1K^p5") == {"c2 b:p", *(f"{square} b:f" for square in ("c3", "b2", "b4", "d2", "d4"))}


def test_a_pawn_that_is_remembered_becomes_what_falls_back_to_one() -> None:
    [variant] = read_variants(b"[mine:sittuyin]\ncapturesToHand = true\n", "mine.ini", (), allow_host_rules=True)
    assert variant.text is not None, variant.refusals
    assert tomllib.loads(variant.text)["pieces"]["P"]["promotion"][0] == {
        "from": "promotion",
        "betza": "mF",
        "in_place": True,
        "apart": "F",
        "to": ["-F"],
    }


def test_a_promotion_by_first_moves_is_no_later_one_and_leaves_no_mark() -> None:
    text = HEAD.replace("style", 'host = ["clear-marks"]\nstyle', 1)
    keys = 'initial = "a1"\nen_passant = true\nalso = [{ betza = "imfnD" }]\n'
    game = Game(f'{text}{keys}promotion = {{ to = ["F"], betza = "imfnD" }}\n')

    def found(source: str) -> set[str]:
        moves = game.moves(Position({source: "C:P"}))
        return {f"{each.destination} {each.board[each.destination]}" for each in moves}

    assert found("a1") == {"a2 C:P", "a3 C:-P", "a3 C:F"}
    assert found("b1") == {"b2 C:P"}


def test_a_piece_is_alone_among_others_of_its_letter() -> None:
    text = HEAD + 'promotion = { to = ["F"], in_place = true, apart = "F", alone = true }\n[pieces."+P"]\nbetza = "W"\n'
    game = Game(text)
    for square, piece, may in (("a1", "C:+P", True), ("a1", "C:P", False), ("a1", "c:+p", False), ("b1", "c:p", True)):
        moves = list(game.moves(Position({"b2": "C:P", square: piece})))
        assert any((each.source, each.destination) == ("b2", "b2") for each in moves) is may, (square, piece)
