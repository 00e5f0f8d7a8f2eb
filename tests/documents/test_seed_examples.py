"""The examples of the seeds: each is valid, holds exactly where its text says, and does what it writes.

What must and must not hold was worked out by hand from the texts.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import ggn_store
from ggn_store import Move, MoveError, Position, Ruleset, Store
from ggn_store.notation.qpi import Side
from ggn_store.notation.stn import Transition
from tests.oracles import reference
from tests.support.seeds import WRITTEN, board_of, seed_of

EXAMPLES = Path(__file__).parents[2] / "data" / "examples"

by_name = pytest.mark.parametrize("name", WRITTEN, ids=lambda name: f"seed-{seed_of(name)}-{name}")


@by_name
def test_an_example_is_valid_and_stands_in_data_in_canonical_form(name: str) -> None:
    document = ggn_store.parse(WRITTEN[name])
    assert name.startswith(f"{document.dialect}-")
    text = (EXAMPLES / f"{name}.json").read_text("utf-8")
    assert document.canonical() == text
    assert reference.canonical_text(json.loads(WRITTEN[name])) == text


@by_name
def test_an_example_says_which_one_it_is(name: str) -> None:
    beside = tomllib.loads((EXAMPLES / f"{name}.toml").read_text("utf-8"))
    assert sorted(beside) == ["source", "title"]
    source = {
        "000": r"GGN specification 1\.0\.0, example .+",
        "001": r"GGN examples 1\.0\.0, example .+",
        "003": r"Ggn\.rb README, example .+",
    }
    assert re.fullmatch(source[seed_of(name)], beside["source"])


def test_data_holds_no_other_examples() -> None:
    assert sorted(path.name for path in EXAMPLES.iterdir()) == sorted(
        f"{name}.{kind}" for name in WRITTEN for kind in ("json", "toml")
    )


# --- where the examples hold ---


class Case(NamedTuple):
    """An entry of a document, a position, and the ordinals of the possibilities that hold in it.

    The board is written as `a1=C:R a2=c:p`. `side` is the side that asks, by default the piece's own.
    """

    entry: str
    board: str
    holds: list[int]
    hands: dict[str, int] | None = None
    side: Side | None = None


CASES: Mapping[str, list[Case]] = {
    # Seed 000. "A piece that can move directly to a destination without any requirements."
    "perform-simple-move": [
        Case("GAME:X c3 c5", "c3=GAME:X", [0]),
        Case("GAME:X c3 c5", "c3=GAME:X c4=game:x c5=GAME:X", [0]),
        Case("GAME:X c3 c5", "c3=GAME:X c5=game:x", [0], side="second"),
        # "The specified source piece must be present at the source square."
        Case("GAME:X c3 c5", "", []),
        Case("GAME:X c3 c5", "c3=", []),
        Case("GAME:X c3 c5", "c5=GAME:X", []),
        Case("GAME:X c3 c5", "c3=GAME:Y", []),
        Case("GAME:X c3 c5", "c3=game:x", []),
        Case("GAME:X c3 c5", "c3=GAME:+X", []),
        Case("GAME:X c3 c5", "c3=OTHER:X", []),
        Case("GAME:X c3 c5", "c3=GAME:X^", []),
    ],
    # "A piece slides from c3 to c5 along an empty file."
    "perform-sliding-move": [
        Case("GAME:X c3 c5", "c3=GAME:X", [0]),
        Case("GAME:X c3 c5", "c3=GAME:X c4= c5= b4=game:x", [0]),
        Case("GAME:X c3 c5", "c3=GAME:X c4=game:x", []),
        Case("GAME:X c3 c5", "c3=GAME:X c4=GAME:X", []),
        Case("GAME:X c3 c5", "c3=GAME:X c5=game:x", []),
        Case("GAME:X c3 c5", "c4= c5=", []),
    ],
    # "A piece captures an enemy on d4."
    "perform-capture": [
        Case("GAME:X c3 d4", "c3=GAME:X d4=game:x", [0]),
        Case("GAME:X c3 d4", "c3=GAME:X d4=other:+z", [0]),
        Case("GAME:X c3 d4", "c3=GAME:X d4=GAME:Y", []),
        Case("GAME:X c3 d4", "c3=GAME:X d4=OTHER:Z", []),
        Case("GAME:X c3 d4", "c3=GAME:X d4=", []),
        Case("GAME:X c3 d4", "c3=GAME:X d5=game:x", []),
        # An enemy is one of the side that is asked for: for the second player that is an upper-case piece.
        Case("GAME:X c3 d4", "c3=GAME:X d4=GAME:Y", [0], side="second"),
        Case("GAME:X c3 d4", "c3=GAME:X d4=game:x", [], side="second"),
        Case("GAME:X c3 d4", "c3=GAME:X d4=game:x", [0], side="first"),
    ],
    # "A white pawn ... can be promoted to any of four pieces."
    "perform-promotion-choices": [
        Case("CHESS:P e7 e8", "e7=CHESS:P", [0, 1, 2, 3]),
        Case("CHESS:P e7 e8", "e7=CHESS:P d8=chess:r f8=chess:r", [0, 1, 2, 3]),
        Case("CHESS:P e7 e8", "e7=CHESS:P e8=chess:k", []),
        Case("CHESS:P e7 e8", "e7=CHESS:P e8=CHESS:Q", []),
        Case("CHESS:P e7 e8", "e7=chess:p", []),
    ],
    # "A piece entering a promotion zone can choose whether or not to promote."
    "perform-optional-promotion": [
        Case("SHOGI:P 1g 1f", "1g=SHOGI:P", [0, 1]),
        Case("SHOGI:P 1g 1f", "1g=SHOGI:P 1f=shogi:p", []),
        Case("SHOGI:P 1g 1f", "1g=SHOGI:+P", []),
        # Labels mean what they are, to the letter: 1G is another square than 1g.
        Case("SHOGI:P 1g 1f", "1G=SHOGI:P", []),
        Case("SHOGI:P 1g 1f", "1g=SHOGI:P 1F=shogi:p f1=shogi:p", [0, 1]),
    ],
    "perform-castling": [
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:R", [0]),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:R a1=CHESS:R e8=chess:r", [0]),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:R f1=CHESS:B", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:R g1=chess:n", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=chess:r", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K h1=CHESS:+R", []),
        Case("CHESS:K e1 g1", "e1=CHESS:K a1=CHESS:R", []),
    ],
    # "... prevents the move if specific pieces are present", any one of them.
    "perform-conditional-move": [
        Case("GAME:B c1 f4", "c1=GAME:B", [0]),
        Case("GAME:B c1 f4", "c1=GAME:B g5=GAME:K", []),
        Case("GAME:B c1 f4", "c1=GAME:B h6=GAME:Q", []),
        Case("GAME:B c1 f4", "c1=GAME:B g5=GAME:K h6=GAME:Q", []),
        Case("GAME:B c1 f4", "c1=GAME:B g5=GAME:Q h6=GAME:K", [0]),
        Case("GAME:B c1 f4", "c1=GAME:B g5=game:k h6=game:q", [0]),
        Case("GAME:B c1 f4", "c1=GAME:B g5=GAME:+K h6=GAME:-Q", [0]),
        Case("GAME:B c1 f4", "c1=GAME:B d2=game:p", []),
        Case("GAME:B c1 f4", "c1=GAME:B e3=GAME:P", []),
        Case("GAME:B c1 f4", "c1=GAME:B f4=game:p", []),
    ],
    "perform-two-promotions": [
        Case("CHESS:P e7 e8", "e7=CHESS:P", [0, 1]),
        Case("CHESS:P e7 e8", "e7=CHESS:P e8=chess:n", []),
        Case("CHESS:P e7 e8", "e8=CHESS:P", []),
    ],
    # Seed 001. "... when all intermediate Squares and the destination are empty."
    "must-deny-simple-move": [
        Case("C:R a1 a4", "a1=C:R", [0]),
        Case("C:R a1 a4", "a1=C:R a5=c:k^ b2=c:p", [0]),
        Case("C:R a1 a4", "a1=C:R a2=c:p", []),
        Case("C:R a1 a4", "a1=C:R a3=C:P", []),
        Case("C:R a1 a4", "a1=C:R a4=c:p", []),
        Case("C:R a1 a4", "a1=C:+R", []),
        Case("C:R a1 a4", "a1=c:r", []),
        Case("C:R a1 a4", "a1=CHESS:R", []),
    ],
    # "Two distinct movement possibilities".
    "must-deny-move-or-capture": [
        Case("C:R a1 a4", "a1=C:R", [0]),
        Case("C:R a1 a4", "a1=C:R a4=c:q", [1]),
        Case("C:R a1 a4", "a1=C:R a4=s:+p", [1]),
        Case("C:R a1 a4", "a1=C:R a4=C:Q", []),
        Case("C:R a1 a4", "a1=C:R a4=c:q a3=c:p", []),
        Case("C:R a1 a4", "a1=C:R a2=C:P", []),
        Case("C:R a1 a4", "a1=C:R a4=C:Q", [1], side="second"),
    ],
    # "... if path Squares are empty and the Rook is in position"; both in Enhanced State.
    "must-deny-castling": [
        Case("C:+K e1 g1", "e1=C:+K h1=C:+R", [0]),
        Case("C:+K e1 g1", "e1=C:+K h1=C:R", []),
        Case("C:+K e1 g1", "e1=C:K h1=C:+R", []),
        Case("C:+K e1 g1", "e1=C:+K h1=c:+r", []),
        Case("C:+K e1 g1", "e1=C:+K h1=C:+R f1=C:B", []),
        Case("C:+K e1 g1", "e1=C:+K h1=C:+R g1=c:n", []),
        # The terminal marker belongs to the identifier: K^ is not K.
        Case("C:+K e1 g1", "e1=C:+K^ h1=C:+R", []),
    ],
    # "... if f6 is empty and f5 contains a vulnerable black Pawn in Diminished State".
    "must-deny-en-passant": [
        Case("C:P e5 f6", "e5=C:P f5=c:-p", [0]),
        Case("C:P e5 f6", "e5=C:P f5=c:p", []),
        Case("C:P e5 f6", "e5=C:P f5=C:-P", []),
        Case("C:P e5 f6", "e5=C:P", []),
        Case("C:P e5 f6", "e5=C:P f5=c:-p f6=c:n", []),
        Case("C:P e5 f6", "e5=C:-P f5=c:-p", []),
    ],
    # "... to advance to e8 if empty, or diagonally Capture to d8 if occupied by an enemy Piece."
    "must-deny-promotion-zone": [
        Case("C:P e7 e8", "e7=C:P", [0]),
        Case("C:P e7 e8", "e7=C:P e8=c:r", []),
        Case("C:P e7 d8", "e7=C:P", []),
        Case("C:P e7 d8", "e7=C:P d8=c:r", [0]),
        Case("C:P e7 d8", "e7=C:P d8=C:R", []),
        Case("C:P e7 e8", "e7=C:P d8=c:r", [0]),
    ],
    # "Pawn in the player's Hand ... when the Square is empty."
    "must-deny-drop-from-hand": [
        Case("S:P * e5", "", [0], {"S:P": 1}),
        Case("S:P * e5", "e4=S:P e6=s:p", [0], {"S:P": 18}),
        Case("S:P * e5", "e5=s:p", [], {"S:P": 1}),
        Case("S:P * e5", "e5=S:P", [], {"S:P": 1}),
        Case("S:P * e5", "", [], {}),
        Case("S:P * e5", "", [], {"s:p": 2}),
        Case("S:P * e5", "", [], {"S:+P": 1, "S:B": 1}),
        Case("S:P * e5", "", [], {"S:P": 0}),
        # Nothing is known about the hands: nothing is checked there.
        Case("S:P * e5", "", [0], None),
        Case("S:P * e5", "e5=s:p", [], None),
    ],
    # "The deny OR logic prevents the drop if any one of those Squares already holds a friendly Pawn."
    "must-deny-drop-with-file-restriction": [
        Case("S:P * e4", "", [0], {"S:P": 1}),
        Case("S:P * e4", "", [0]),
        Case("S:P * e4", "e1=S:P", []),
        Case("S:P * e4", "e9=S:P", []),
        Case("S:P * e4", "e3=S:P e5=S:P", []),
        Case("S:P * e4", "e4=s:r", []),
        Case("S:P * e4", "d3=S:P f5=S:P", [0]),
        # No other *unpromoted* pawn, and no pawn of the opponent's, counts.
        Case("S:P * e4", "e3=S:+P", [0]),
        Case("S:P * e4", "e3=s:p e7=s:p", [0]),
        Case("S:P * e4", "e3=S:P", [], {"S:P": 1}),
        Case("S:P * e4", "", [], {"s:p": 1}),
    ],
    # "... jumping over exactly one Piece: path Squares must be clear except for one platform Piece at b7".
    "must-deny-cannon-capture": [
        Case("x:c b2 b8", "b2=x:c b7=x:s b8=X:G", [0]),
        Case("x:c b2 b8", "b2=x:c b7=X:S b8=C:R", [0]),
        Case("x:c b2 b8", "b2=x:c b8=X:G", []),
        Case("x:c b2 b8", "b2=x:c b7=x:s", []),
        Case("x:c b2 b8", "b2=x:c b7=x:s b8=x:g", []),
        Case("x:c b2 b8", "b2=x:c b5=x:s b7=x:s b8=X:G", []),
        Case("x:c b2 b8", "b2=X:C b7=x:s b8=X:G", []),
        Case("x:c b2 b8", "b2=x:c b7=x:s b8=X:G", [], side="first"),
        Case("x:c b2 b8", "b2=x:c b7=x:s b8=x:g", [0], side="first"),
    ],
    # "... any enemy Piece at a8, except the black King (Terminal Piece)."
    "must-deny-selective-capture": [
        Case("C:R a1 a8", "a1=C:R a8=c:q", [0]),
        Case("C:R a1 a8", "a1=C:R a8=c:k^", []),
        Case("C:R a1 a8", "a1=C:R a8=c:k", [0]),
        Case("C:R a1 a8", "a1=C:R a8=c:+k^", [0]),
        Case("C:R a1 a8", "a1=C:R a8=s:k^", [0]),
        Case("C:R a1 a8", "a1=C:R", []),
        Case("C:R a1 a8", "a1=C:R a8=C:Q", []),
        Case("C:R a1 a8", "a1=C:R a7=c:p a8=c:q", []),
    ],
    # "... with no environmental constraints required."
    "must-deny-knight-jump": [
        Case("C:N b1 c3", "b1=C:N", [0]),
        Case("C:N b1 c3", "b1=C:N c3=c:p", [0]),
        Case("C:N b1 c3", "b1=C:N b2=C:P c3=C:K^", [0]),
        Case("C:N b1 c3", "g1=C:N", []),
        Case("C:N b1 c3", "b1=c:n", []),
    ],
    "must-deny-enhanced-rook": [
        Case("C:+R a1 a4", "a1=C:+R", [0]),
        Case("C:+R a1 a4", "a1=C:R", []),
        Case("C:+R a1 a4", "a1=C:-R", []),
        Case("C:+R a1 a4", "a1=C:+R a3=c:p", []),
        Case("C:+R a1 a4", "a1=C:+R a4=c:p", []),
    ],
    # "... only when the white Pawn is in Diminished State".
    "must-deny-diminished-capture": [
        Case("c:p d4 e3", "d4=c:p e4=C:-P", [0]),
        Case("c:p d4 e3", "d4=c:p e4=C:P", []),
        Case("c:p d4 e3", "d4=c:p e4=C:-P e3=C:N", []),
        Case("c:p d4 e3", "d4=c:p e4=c:-p", []),
        Case("c:p d4 e3", "d4=C:P e4=C:-P", []),
    ],
    # "... each with its own environmental constraints and possibility variations."
    "must-deny-multiple-destinations": [
        Case("C:N e4 c3", "e4=C:N", [0]),
        Case("C:N e4 c3", "e4=C:N c3=c:p", []),
        Case("C:N e4 c5", "e4=C:N", [0]),
        Case("C:N e4 c5", "e4=C:N c5=c:p", [1]),
        Case("C:N e4 c5", "e4=C:N c5=C:P", []),
        Case("C:N e4 d2", "e4=C:N c3=c:p c5=C:P", [0]),
        Case("C:N e4 d2", "e4=C:N d2=C:Q", []),
    ],
    # "Chess Queen and Xiangqi Horse coexisting".
    "must-deny-mixed-styles": [
        Case("C:Q d4 h8", "d4=C:Q", [0]),
        Case("C:Q d4 h8", "d4=C:Q h8=C:R", [0]),
        Case("C:Q d4 h8", "d4=C:Q f6=x:s", []),
        Case("C:Q d4 h8", "d4=X:Q", []),
        Case("x:m b1 d2", "b1=x:m", [0]),
        Case("x:m b1 d2", "b1=x:m c1=x:s", [0]),
        Case("x:m b1 d2", "b1=x:m c1=C:P", []),
        Case("x:m b1 d2", "b1=x:m c1=x:s", [], side="first"),
        Case("x:m b1 d2", "b1=x:m d2=C:P", []),
        Case("x:m b1 d2", "b1=c:m", []),
    ],
    # The words beside this example ask for b6, b7 and b8 to be empty; what it says, by the deny OR logic of its own
    # title, is that none of them is. What a document says is what counts.
    "must-deny-deny-or": [
        Case("x:c b2 b5", "b2=x:c b5=C:R", []),
        Case("x:c b2 b5", "b2=x:c b5=C:R b6=C:P", []),
        Case("x:c b2 b5", "b2=x:c b5=C:R b6=C:P b7=C:P", []),
        Case("x:c b2 b5", "b2=x:c b5=C:R b7=C:P b8=C:P", []),
        Case("x:c b2 b5", "b2=x:c b5=C:R b6=C:P b7=x:s b8=C:P", [0]),
        Case("x:c b2 b5", "b2=x:c b6=C:P b7=x:s b8=C:P", []),
        Case("x:c b2 b5", "b2=x:c b4=x:s b5=C:R b6=C:P b7=x:s b8=C:P", []),
    ],
    # "Displacement to an empty Square, or Capture of any enemy Piece except the black King (Terminal Piece)."
    "must-deny-conditional-path": [
        Case("C:B a1 h8", "a1=C:B", [0]),
        Case("C:B a1 h8", "a1=C:B h8=c:r", [1]),
        Case("C:B a1 h8", "a1=C:B h8=c:k^", []),
        Case("C:B a1 h8", "a1=C:B h8=c:k", [1]),
        Case("C:B a1 h8", "a1=C:B h8=C:R", []),
        Case("C:B a1 h8", "a1=C:B d4=c:p", []),
        Case("C:B a1 h8", "a1=C:B g7=C:P h8=c:r", []),
    ],
    # Seed 003. board_state = { "e2" => "C:P", "e3" => nil, "e4" => nil }
    "diff-quick-start": [
        Case("C:P e2 e4", "e2=C:P e3= e4=", [0]),
        Case("C:P e2 e4", "e2=C:P", [0]),
        Case("C:P e2 e4", "e2=C:P e3=c:n", []),
        Case("C:P e2 e4", "e2=C:P e4=c:n", []),
        Case("C:P e2 e4", "e2=C:P e3=C:P", []),
        Case("C:P e2 e4", "e3= e4=", []),
        Case("C:P e2 e4", "e2=c:p", []),
    ],
    # board = { "e1" => "C:K", "e2" => nil }
    "diff-simple-movement": [
        Case("C:K e1 e2", "e1=C:K e2=", [0]),
        Case("C:K e1 e2", "e1=C:K d1=C:Q e8=c:k e2= f3=", [0]),
        Case("C:K e1 e2", "e1=C:K e2=C:P", []),
        Case("C:K e1 e2", "e1=C:K e2=c:p", []),
        Case("C:K e1 e2", "d1=C:K", []),
        Case("C:K e1 e2", "e1=C:K^", []),
    ],
    # board = { "e4" => "C:P", "f5" => "c:p" }
    "diff-capture": [
        Case("C:P e4 f5", "e4=C:P f5=c:p", [0]),
        Case("C:P e4 f5", "e4=C:P f5=s:+p", [0]),
        Case("C:P e4 f5", "e4=C:P", []),
        Case("C:P e4 f5", "e4=C:P f5=C:N", []),
        Case("C:P e4 f5", "e4=C:P d5=c:p", []),
        Case("C:P e4 f5", "e4=C:P f5=C:N", [0], side="second"),
    ],
    # board = { "e7" => "C:P", "e8" => nil }
    "diff-promotion-choices": [
        Case("C:P e7 e8", "e7=C:P e8=", [0, 1]),
        Case("C:P e7 e8", "e7=C:P e8=c:k", []),
        Case("C:P e7 e8", "e7=C:Q", []),
    ],
    # board = { "e1" => "C:+K", "f1" => nil, "g1" => nil, "h1" => "C:+R" }
    "diff-castling": [
        Case("C:+K e1 g1", "e1=C:+K f1= g1= h1=C:+R", [0]),
        Case("C:+K e1 g1", "e1=C:+K h1=C:R", []),
        Case("C:+K e1 g1", "e1=C:K h1=C:+R", []),
        Case("C:+K e1 g1", "e1=C:+K g1=C:N h1=C:+R", []),
    ],
    # board = { "e5" => "C:P", "f5" => "c:-p", "f6" => nil }
    "diff-en-passant": [
        Case("C:P e5 f6", "e5=C:P f5=c:-p f6=", [0]),
        Case("C:P e5 f6", "e5=C:P f5=c:-p", [0], {}),
        Case("C:P e5 f6", "e5=C:P f5=c:p", []),
        Case("C:P e5 f6", "e5=C:P f5=c:-p f6=C:N", []),
        Case("C:P e5 f6", "e5=C:P f5=C:-P", []),
    ],
    # board = { "e4" => nil, "e5" => nil }: no pawns on the file, and nothing said about the hands
    "diff-drop": [
        Case("S:P * e4", "e4= e5=", [0]),
        Case("S:P * e4", "", [0], {"S:P": 1}),
        Case("S:P * e4", "", [], {}),
        Case("S:P * e4", "", [], {"s:p": 1}),
        Case("S:P * e4", "e7=S:P", []),
        Case("S:P * e4", "e7=S:P", [], {"S:P": 3}),
        Case("S:P * e4", "e7=s:p", [0], {"S:P": 3}),
        Case("S:P * e4", "e7=S:+P", [0]),
        Case("S:P * e4", "e4=s:p", []),
    ],
}
LISTED = [
    pytest.param(name, case, id=f"seed-{seed_of(name)}-{name}-{number}")
    for name, cases in CASES.items()
    for number, case in enumerate(cases)
]


@pytest.fixture(scope="module")
def library(module_store: Store) -> Store:
    """A store with every example, by the name of its file."""
    for path in sorted(EXAMPLES.glob("*.json")):
        module_store.load(path)
    return module_store


def test_every_example_has_positions_in_which_it_holds_and_in_which_it_does_not() -> None:
    assert set(CASES) == set(WRITTEN)
    for name, cases in CASES.items():
        entries = {tuple(case.entry.split()) for case in cases}
        held = {(*case.entry.split(), ordinal) for case in cases for ordinal in case.holds}
        rules = list(reference.possibilities(json.loads(WRITTEN[name])))
        assert {rule[:3] for rule in rules} == entries
        assert {rule[:4] for rule in rules} == held, f"some possibility of {name} holds in no position"
        assert any(case.holds == [] for case in cases)


@pytest.mark.parametrize(("name", "case"), LISTED)
def test_an_example_holds_exactly_where_its_text_says(library: Store, name: str, case: Case) -> None:
    piece, source, destination = case.entry.split()
    board = board_of(case.board)
    own: Side = "first" if piece[0].isupper() else "second"
    side = case.side or own
    ruleset = library.ruleset(name)
    asked = ruleset.select(piece).from_(source).to(destination)
    held = asked.where(board, side=case.side, hands=case.hands)
    assert [(move.piece, move.source, move.destination) for move in held] == [(piece, source, destination)] * len(held)
    assert [move.ordinal for move in held] == case.holds
    # The same through a position, through the question about everything, and by the plain reading of the text.
    position = Position(board, case.hands, side)
    assert asked.where(position, side=side) == held
    of_entry = [
        move for move in ruleset.moves(position) if f"{move.piece} {move.source} {move.destination}" == case.entry
    ]
    assert of_entry == (held if side == own else [])
    plain = json.loads(WRITTEN[name])
    assert reference.holds(plain, piece, source, destination, board, case.hands, side) == case.holds


@by_name
def test_an_example_comes_out_of_the_store_as_it_went_in(library: Store, name: str) -> None:
    assert library.ruleset(name).export() == (EXAMPLES / f"{name}.json").read_text("utf-8")


# --- what the examples do ---


class Done(NamedTuple):
    """A possibility of a document, a board before it and after it, and the same of what is in the hands."""

    name: str
    entry: str
    ordinal: int
    before: str
    after: str
    hands: dict[str, int] | None = None
    hands_after: dict[str, int] | None = None


DONE = [
    Done("perform-simple-move", "GAME:X c3 c5", 0, "c3=GAME:X c4=game:y", "c4=game:y c5=GAME:X"),
    Done("perform-capture", "GAME:X c3 d4", 0, "c3=GAME:X d4=game:x e5=game:x", "d4=GAME:X e5=game:x"),
    *(
        Done("perform-promotion-choices", "CHESS:P e7 e8", ordinal, "e7=CHESS:P a1=CHESS:K", f"e8={piece} a1=CHESS:K")
        for ordinal, piece in enumerate(["CHESS:Q", "CHESS:R", "CHESS:N", "CHESS:B"])
    ),
    Done("perform-optional-promotion", "SHOGI:P 1g 1f", 0, "1g=SHOGI:P", "1f=SHOGI:P"),
    Done("perform-optional-promotion", "SHOGI:P 1g 1f", 1, "1g=SHOGI:P", "1f=SHOGI:+P"),
    Done("perform-castling", "CHESS:K e1 g1", 0, "e1=CHESS:K h1=CHESS:R", "f1=CHESS:R g1=CHESS:K"),
    # What is in the hands is no business of the first seed's, and stays.
    Done("perform-simple-move", "GAME:X c3 c5", 0, "c3=GAME:X", "c5=GAME:X", {"GAME:X": 2}, {"GAME:X": 2}),
    Done("diff-quick-start", "C:P e2 e4", 0, "e2=C:P e8=c:k", "e4=C:P e8=c:k"),
    Done("diff-capture", "C:P e4 f5", 0, "e4=C:P f5=c:p", "f5=C:P", {}, {}),
    Done("diff-promotion-choices", "C:P e7 e8", 0, "e7=C:P", "e8=C:Q"),
    Done("diff-promotion-choices", "C:P e7 e8", 1, "e7=C:P", "e8=C:N"),
    Done("diff-castling", "C:+K e1 g1", 0, "e1=C:+K h1=C:+R", "f1=C:R g1=C:K"),
    # The captured pawn goes to the hand that its case names, as the document writes it.
    Done("diff-en-passant", "C:P e5 f6", 0, "e5=C:P f5=c:-p", "f6=C:P"),
    Done("diff-en-passant", "C:P e5 f6", 0, "e5=C:P f5=c:-p", "f6=C:P", {}, {"c:p": 1}),
    Done("diff-en-passant", "C:P e5 f6", 0, "e5=C:P f5=c:-p", "f6=C:P", {"c:p": 1, "C:P": 1}, {"c:p": 2, "C:P": 1}),
    Done("diff-drop", "S:P * e4", 0, "e5=s:p", "e4=S:P e5=s:p"),
    Done("diff-drop", "S:P * e4", 0, "", "e4=S:P", {"S:P": 1}, {}),
    Done("diff-drop", "S:P * e4", 0, "", "e4=S:P", {"S:P": 3, "s:p": 1}, {"S:P": 2, "s:p": 1}),
]
# Seed 001 says nothing of effects; these are what plain displacement makes of its moves, for callers who mean it.
ASSUMED = [
    Done("must-deny-simple-move", "C:R a1 a4", 0, "a1=C:R", "a4=C:R"),
    Done("must-deny-move-or-capture", "C:R a1 a4", 1, "a1=C:R a4=c:q", "a4=C:R", {}, {}),
    Done("must-deny-castling", "C:+K e1 g1", 0, "e1=C:+K h1=C:+R", "g1=C:+K h1=C:+R"),
    Done("must-deny-en-passant", "C:P e5 f6", 0, "e5=C:P f5=c:-p", "f5=c:-p f6=C:P"),
    Done("must-deny-drop-from-hand", "S:P * e5", 0, "", "e5=S:P", {"S:P": 2}, {"S:P": 1}),
    Done("must-deny-drop-from-hand", "S:P * e5", 0, "", "e5=S:P"),
    Done("must-deny-cannon-capture", "x:c b2 b8", 0, "b2=x:c b7=x:s b8=X:G", "b7=x:s b8=x:c"),
]


def the_move(ruleset: Ruleset, done: Done, position: Position) -> Move:
    """The move that `done` is about, from the list of all that hold."""
    return next(
        move
        for move in ruleset.moves(position)
        if (f"{move.piece} {move.source} {move.destination}", move.ordinal) == (done.entry, done.ordinal)
    )


def positions_of(done: Done) -> tuple[Position, Position]:
    """The position before, in which the piece's side is to move, and the one after, in which the other is."""
    side: Side = "first" if done.entry[0].isupper() else "second"
    other: Side = "second" if side == "first" else "first"
    return (
        Position(board_of(done.before), done.hands, side),
        Position(board_of(done.after), done.hands_after, other),
    )


def done_id(done: Done) -> str:
    return f"seed-{seed_of(done.name)}-{done.name}-{done.ordinal}"


@pytest.mark.parametrize("done", DONE, ids=done_id)
def test_the_effects_of_an_example_are_applied_as_it_writes_them(library: Store, done: Done) -> None:
    ruleset = library.ruleset(done.name)
    before, after = positions_of(done)
    move = the_move(ruleset, done, before)
    piece, source, destination = done.entry.split()
    possibility = json.loads(WRITTEN[done.name])[piece][source][destination][done.ordinal]
    diff = possibility.get("diff", {"board": possibility.get("perform")})
    assert move.effects == Transition(diff["board"], diff.get("hands", {}), diff.get("toggle", True))
    assert not move.assumed
    assert ruleset.apply(before, move) == after


@pytest.mark.parametrize("done", ASSUMED, ids=done_id)
def test_an_example_of_seed_001_is_applied_only_where_displacement_is_assumed(library: Store, done: Done) -> None:
    ruleset = library.ruleset(done.name)
    before, after = positions_of(done)
    move = the_move(ruleset, done, before)
    assert (move.transition, move.assumed) == (None, False)
    with pytest.raises(MoveError, match="displacement"):
        ruleset.apply(before, move)
    assert ruleset.apply(before, move, assume="displacement") == after
    [assumed] = [each for each in ruleset.moves(before, assume="displacement") if each.ordinal == move.ordinal]
    assert assumed.assumed
    assert assumed.effects is not None
    assert ruleset.apply(before, assumed) == after
