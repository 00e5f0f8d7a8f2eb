"""Pieces whose letter has a ' behind it: kinds of their own in everything that is written, drawn, stored and asked."""

from __future__ import annotations

import pytest

from ggn_store import Ruleset, Store
from ggn_store.api.moves.move_notations import NOTATIONS
from ggn_store.games.definition import DefinitionError, read
from ggn_store.games.move_names import DefinedNames
from ggn_store.notation import qpi

# A rook, and a bishop that goes by the same letter; it may become that when it captures, and that a knight.
TEXT = """title = "Primed"
board = "5x5"
style = "S"
start = "k^1a2/1a'3/5/3A'1/2A1K^ / S/s"
hands = { captures = true }

[play]
outcome = [{ when = "extinct", pieces = ["+A'"], verdict = "loss" }]

[pieces]
K = { betza = "K", terminal = true }
A = { betza = "R", promotion = { on = "any", capturing = true, to = ["A'"] } }
"A'" = { betza = "BimfnD", captures_except = ["A"], promotion = { on = "any", capturing = true, to = ["+A'"] } }
"+A'" = { betza = "N" }
"""


def told(rules: Ruleset, notation: str, source: str) -> set[str]:
    moves = [each for each in rules.moves(rules.start) if each.source == source]
    return {rules.move_text(each, rules.start, notation) for each in moves}


def test_primed_pieces_are_kinds_of_their_own(store: Store) -> None:
    store.load(read(TEXT), "primed")
    rules = store.ruleset("primed")
    assert [piece for piece in rules.pieces if piece[0] == "S"] == ["S:K^", "S:A", "S:A'", "S:+A'"]
    assert told(rules, "uci", "d2") == {"d2b4", "d2b4+", "d2c3", "d2d4", "d2e3"}
    assert told(rules, "uci", "c1") == {f"c1{to}" for to in ("a1", "b1", "d1", "c2", "c3", "c4", "c5", "c5a'")}


def test_primed_pieces_are_read_back_in_every_notation(store: Store) -> None:
    store.load(read(TEXT), "primed")
    rules = store.ruleset("primed")
    held = rules.position(fen="k1a2/1a'3/3+A'1/5/2A1K[A'a] w - - 0 1")
    assert (held.hands, held.board["d3"]) == ({"S:A'": 1, "s:a": 1}, "S:+A'")
    for notation in ("feen", "fen", "sfen"):
        read_back = rules.position(**{notation: rules.notate(held, notation)})
        assert (read_back.board, read_back.hands) == (held.board, held.hands)
    assert rules.fen(held) == "k1a2/1a'3/3+A'1/5/2A1K[A'a] w - - 0 1"
    for position in (rules.start, held):
        for move in rules.moves(position):
            for notation in NOTATIONS:
                text = rules.move_text(move, position, notation)
                assert rules.read_move(text, position, notation, pseudo=True).moves == (move,), (notation, text)


def test_a_prime_is_drawn_and_asked_for(store: Store) -> None:
    store.load(read(TEXT), "primed")
    rules = store.ruleset("primed")
    assert ">A&#39;<" in (rules._repr_svg_() or "")
    found = store.sql("SELECT DISTINCT piece FROM v_moves WHERE piece LIKE :primed", {"primed": "%'"})
    assert {row[0] for row in found.rows} == {"S:+A'", "S:A'", "s:+a'", "s:a'"}


def test_to_become_what_a_prime_tells_apart_is_a_promotion() -> None:
    assert [qpi.is_promotion("S:A", each) for each in ("S:A'", "S:-A", "S:A")] == [True, False, False]
    names = DefinedNames(read(TEXT + """"B'" = { betza = "W" }\n"""))
    assert [names.mark("S:A'", each) for each in ("S:B'", "S:+A'", "S:A")] == ["b'", "+", "a"]


def test_of_two_styles_a_prime_is_of_the_other_side_s_pieces() -> None:
    with pytest.raises(DefinitionError, match="of two styles ' says that a piece is of the other side's"):
        read(TEXT.replace('style = "S"', 'styles = { first = "S", second = "T" }').replace("S/s", "S/t"))
