"""The values: boards, documents with their canonical form and digests, positions, moves."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ggn_store.documents.ggn import parse
from ggn_store.errors import MoveError, NotationError, PositionError
from ggn_store.model.documents import document as values
from ggn_store.model.documents.board import Board, around, box, parse_shape
from ggn_store.model.documents.document import Digests, Document, Envelope, Piece
from ggn_store.model.moves.move import DISPLACEMENT, Move, displacement
from ggn_store.model.moves.position import MAX_HAND_COUNT, Position
from ggn_store.notation import cell
from ggn_store.notation.stn import Transition
from tests.oracles import reference
from tests.support import strategies

CHECK = settings(max_examples=100)

# --- boards ---

BOXES = [
    ((3,), None, "a b c"),
    ((1,), None, "a"),
    ((3, 2), None, "a1 b1 c1 a2 b2 c2"),
    ((2, 3), None, "a1 b1 a2 b2 a3 b3"),
    ((2, 2, 2), None, "a1A b1A a2A b2A a1B b1B a2B b2B"),
    ((2, 1, 3), None, "a1A b1A a1B b1B a1C b1C"),
    ((2,), (25,), "z aa"),
    ((2, 2), (25, 8), "z9 aa9 z10 aa10"),
    ((1, 2, 2), (1, 2, 25), "b3Z b4Z b3AA b4AA"),
]


@pytest.mark.parametrize(("shape", "origin", "squares"), BOXES)
def test_the_squares_of_a_box_are_numbered_along_the_files_first(
    shape: tuple[int, ...], origin: tuple[int, ...] | None, squares: str
) -> None:
    board = box(shape, origin)
    assert board == Board(tuple(squares.split()), shape)
    assert board.numbers == {square: number for number, square in enumerate(squares.split())}
    assert board.shape_text == "x".join(map(str, shape))


def test_a_chess_board_begins_at_a1_and_ends_at_h8() -> None:
    board = parse_shape("8x8")
    assert len(board.squares) == 64
    assert [board.numbers[square] for square in ("a1", "b1", "h1", "a2", "e4", "h8")] == [0, 1, 7, 8, 28, 63]


SHAPES = ["1", "8", "8x8", "9x10", "5x5x5", "1x1x1", "65536", "256x256", "1x65536", "100x1"]
NOT_SHAPES = [
    *(
        "",
        "x",
        "8x",
        "x8",
        "8xx8",
        "8X8",
        "8*8",
        "8 x 8",
        " 8x8",
        "8x8\n",
        "-8x8",
        "8.0x8",
        "8×8",
        "８x８",
        "a1",
        "8x8x8x8",
    ),
    *("0", "0x8", "8x0", "8x8x0", "65537", "257x256", "41x41x41", "999999x999999", "1000000x1", "9" * 5000),
]


@pytest.mark.parametrize("text", SHAPES)
def test_a_shape_is_read_and_written_the_same(text: str) -> None:
    board = parse_shape(text)
    assert board.shape_text == text
    assert board.squares[0] == {0: "a", 1: "a1", 2: "a1A"}[text.count("x")]


@pytest.mark.parametrize("text", NOT_SHAPES)
def test_what_is_not_the_shape_of_a_board_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_shape(text)
    assert text.strip()[:40] in str(caught.value)


@pytest.mark.parametrize("shape", [(), (0,), (-1, 8), (2, 2, 2, 2), (65_537,), (1000, 1000)])
def test_a_box_of_no_or_too_many_squares_or_dimensions_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(NotationError, match="is not a board"):
        box(shape)


# The squares that a document names, those of its board in the order of their numbers, and the board's shape.
AROUND = [
    ("c", "c", (1,)),
    ("e b", "b c d e", (4,)),
    ("e4", "e4", (1, 1)),
    ("c1 a2", "a1 b1 c1 a2 b2 c2", (3, 2)),
    ("b4 d2", "b2 c2 d2 b3 c3 d3 b4 c4 d4", (3, 3)),
    ("z1 aa2", "z1 aa1 z2 aa2", (2, 2)),
    ("a9 a10", "a9 a10", (1, 2)),
    ("a1B b2A", "a1A b1A a2A b2A a1B b1B a2B b2B", (2, 2, 2)),
    ("c2C c4C", "c2C c3C c4C", (1, 3, 1)),
    # More than three dimensions, and squares of several kinds, are listed: by dimensions, then as in a box.
    ("b1Ab a1Ab b2Aa", "b2Aa a1Ab b1Ab", None),
    ("a1Aa1A", "a1Aa1A", None),
    ("a1A b a1 aa z a10 a2", "b z aa a1 a2 a10 a1A", None),
    # So are squares too far from one another: the files alone would make a box of half a million squares.
    ("aa1000 h100000 a1", "a1 aa1000 h100000", None),
    ("zzzz a b", "a b zzzz", None),
    # And labels that are not CELL: by code point.
    ("5e 5f 1a 10a", "10a 1a 5e 5f", None),
    ("e4 E4 d4", "E4 d4 e4", None),
]


@pytest.mark.parametrize(("named", "squares", "shape"), AROUND)
def test_the_board_of_a_document_is_the_box_around_its_squares_or_just_them(
    named: str, squares: str, shape: tuple[int, ...] | None
) -> None:
    board = around(named.split())
    assert board == Board(tuple(squares.split()), shape)
    assert around(reversed(named.split() * 2)) == board


def test_labels_that_are_not_cell_keep_every_character() -> None:
    assert around(["é", "e\u0301", " ", "北", "a b"]).squares == (" ", "a b", "e\u0301", "é", "北")


@CHECK
@given(
    st.integers(1, 3).flatmap(
        lambda dimensions: st.lists(st.tuples(*(st.integers(0, 30) for _ in range(dimensions))), min_size=1, max_size=5)
    )
)
def test_the_box_around_squares_is_the_smallest_that_holds_them(points: list[tuple[int, ...]]) -> None:
    board = around(map(cell.text, points))
    held = list(map(cell.parse, board.squares))
    assert set(points) <= set(held)
    assert len(set(held)) == len(held)
    for axis in range(len(points[0])):
        assert min(point[axis] for point in held) == min(point[axis] for point in points)
        assert max(point[axis] for point in held) == max(point[axis] for point in points)
    assert held == sorted(held, key=lambda point: point[::-1])
    assert [board.numbers[square] for square in board.squares] == list(range(len(held)))


def test_the_digest_of_a_board_covers_its_squares_their_order_and_its_shape() -> None:
    boards = [Board(("a", "b")), Board(("b", "a")), Board(("a", "b"), (2,)), Board(("a",)), Board(("a", "b", "c"))]
    assert len({board.digest for board in boards}) == len(boards)
    assert Board(("a", "b"), (2,)).digest == box((2,)).digest == around(["b", "a"]).digest


# --- documents ---

TINY: Mapping[str, Any] = {"C:P": {"e2": {"e4": [{"must": {"e4": "empty", "e3": "empty"}, "deny": {}}]}}}
OTHER: Mapping[str, Any] = {"c:p": {"e4": {"e3": [{}]}}}


def digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def test_the_digests_of_a_tiny_document_never_change() -> None:
    document = parse(TINY)
    board = digest('["1x3","e2","e3","e4"]')
    piece = digest(f'["must-deny","{board}","C:P",{{"e2":{{"e4":[{{"must":{{"e3":"empty","e4":"empty"}}}}]}}}}]')
    assert document.board.digest == board
    assert document.piece_digests == (piece,)
    assert document.digest == digest(f'["must-deny","{board}",{{}},["{piece}"]]')
    assert document.digest == "e0900a7254bfa3c4de711af49e1664208e9bfde1aeb33c5ab1d2e4d8224d4474"


def test_a_digest_keeps_no_more_texts_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    leaps = {square: [{"must": {square: "empty"}, "diff": {"board": {"a1": None, square: "C:P"}}}] for square in "bcde"}
    document = parse({"C:P": {"a1": {**leaps, "b": leaps["b"] * 2}}})
    wanted = document.piece_digests
    monkeypatch.setattr(values, "_MOST_TEXTS", 2)
    digests = Digests(document.dialect, document.board)
    assert tuple(map(digests.of, document.pieces)) == wanted
    assert (len(digests._must), len(digests._effects)) == (2, 2)


def test_equal_pieces_of_two_documents_share_a_digest() -> None:
    tiny, both, reverse = parse(TINY), parse({**TINY, **OTHER}), parse({**OTHER, **TINY})
    assert both.piece_digests[0] == tiny.piece_digests[0]
    assert both.piece_digests == reverse.piece_digests[::-1]
    assert both.piece_digests[1] != parse(OTHER).piece_digests[0], "alone, OTHER has a smaller board"
    chess = Envelope(board="8x8")
    assert parse({**TINY, **OTHER}, envelope=chess).piece_digests[1:] == parse(OTHER, envelope=chess).piece_digests


# Each changes one thing of TINY that must be seen in the digest of its piece.
CHANGED: Mapping[str, Mapping[str, Any]] = {
    "the piece": {"C:+P": TINY["C:P"]},
    "the side": {"c:p": TINY["C:P"]},
    "the source": {"C:P": {"e3": TINY["C:P"]["e2"]}},
    "a condition more": {"C:P": {"e2": {"e4": [{"must": {"e3": "empty", "e4": "empty"}, "deny": {"e2": "enemy"}}]}}},
    "a condition less": {"C:P": {"e2": {"e4": [{"must": {"e3": "empty"}}]}}},
    "a condition's state": {"C:P": {"e2": {"e4": [{"must": {"e3": "empty", "e4": "enemy"}}]}}},
    "must for deny": {"C:P": {"e2": {"e4": [{"deny": {"e3": "empty", "e4": "empty"}}]}}},
    "a possibility more": {"C:P": {"e2": {"e4": TINY["C:P"]["e2"]["e4"] * 2}}},
    "the dialect": {"C:P": {"e2": {"e4": [{**TINY["C:P"]["e2"]["e4"][0], "diff": {}}]}}},
    "the board": {"C:P": {"e2": {**TINY["C:P"]["e2"]}, "e1": {"e2": [{}]}}},
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_piece_that_differs_has_another_digest(what: str) -> None:
    assert parse(CHANGED[what]).piece_digests[0] != parse(TINY).piece_digests[0]
    assert parse(CHANGED[what]).digest != parse(TINY).digest


ORDERS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any], bool]] = {
    "pieces": ({**TINY, **OTHER}, {**OTHER, **TINY}, True),
    "sources": (
        {"C:N": {"b1": {"c3": [{}]}, "g1": {"f3": [{}]}}},
        {"C:N": {"g1": {"f3": [{}]}, "b1": {"c3": [{}]}}},
        True,
    ),
    "destinations": ({"C:N": {"b1": {"a3": [{}], "c3": [{}]}}}, {"C:N": {"b1": {"c3": [{}], "a3": [{}]}}}, True),
    "possibilities": (
        {"C:N": {"b1": {"c3": [{"must": {"c3": "empty"}}, {"must": {"c3": "enemy"}}]}}},
        {"C:N": {"b1": {"c3": [{"must": {"c3": "enemy"}}, {"must": {"c3": "empty"}}]}}},
        True,
    ),
    "conditions": (
        {"C:N": {"b1": {"c3": [{"must": {"a1": "empty", "c3": "empty"}, "deny": {"b1": "enemy", "b2": "C:K"}}]}}},
        {"C:N": {"b1": {"c3": [{"deny": {"b2": "C:K", "b1": "enemy"}, "must": {"c3": "empty", "a1": "empty"}}]}}},
        False,
    ),
    "effects": (
        {"C:N": {"b1": {"c3": [{"diff": {"board": {"b1": None, "c3": "C:N"}, "hands": {"c:p": 1, "c:q": 1}}}]}}},
        {
            "C:N": {
                "b1": {
                    "c3": [
                        {"diff": {"toggle": True, "hands": {"c:q": 1.0, "c:p": 1}, "board": {"c3": "C:N", "b1": None}}}
                    ]
                }
            }
        },
        False,
    ),
}


@pytest.mark.parametrize("what", ORDERS)
def test_order_is_content_down_to_the_possibilities_and_not_below(what: str) -> None:
    left, right, matters = ORDERS[what]
    assert (parse(left).digest != parse(right).digest) == matters
    assert (parse(left).canonical() != parse(right).canonical()) == matters


def test_the_envelope_and_the_declared_board_are_part_of_the_digest() -> None:
    envelopes = [
        Envelope(),
        Envelope(title="Chess"),
        Envelope(source="Chess"),
        Envelope(schema="Chess"),
        Envelope(start="8/8/8/8/8/8/8/8 / C/c"),
        Envelope(board="8x8"),
        Envelope(board="9x9"),
    ]
    documents = [parse(TINY, envelope=envelope) for envelope in envelopes]
    assert len({document.digest for document in documents}) == len(envelopes)
    assert len({document.piece_digests for document in documents}) == 3, "only the board is part of a piece"
    assert documents[5].board == box((8, 8))
    assert documents[0].board == box((1, 3), (4, 1))
    assert envelopes[0].data() == {}
    assert Envelope("s", "t", "u", "8 / C/c", "8").data() == {
        "schema": "s",
        "title": "t",
        "source": "u",
        "start": "8 / C/c",
        "board": "8",
    }


CANONICAL = {
    "perform": """\
{
 "$schema":"https://sashite.dev/schemas/ggn/1.0.0/schema.json",
 "SHOGI:P":{
  "１七":{
   "１六":[
    {"require":{"１六":"empty"},"perform":{"１七":null,"１六":"SHOGI:P"}},
    {"require":{"１六":"empty"},"prevent":{"１五":"enemy","１四":"SHOGI:P"},"perform":{"１七":null,"１六":"SHOGI:+P"}}
   ]
  }
 },
 "CHESS:K":{
  "e1":{
   "e2":[
    {"perform":{"e1":null,"e2":"CHESS:K"}}
   ],
   "d2":[
    {"perform":{"d2":"CHESS:K","e1":null}}
   ]
  },
  "d1":{
   "\\"d\\\\\\n":[
    {"perform":{"d1":null}}
   ]
  }
 }
}
""",
    "must-deny": """\
{
 "S:P":{
  "*":{
   "e5":[
    {"must":{"e5":"empty"},"deny":{"e1":"S:P","e2":"S:P"}},
    {}
   ]
  }
 }
}
""",
    "diff": """\
{
 "C:P":{
  "e5":{
   "f6":[
    {"must":{"f5":"c:-p","f6":"empty"},"diff":{"board":{"e5":null,"f5":null,"f6":"C:P"},"hands":{"C:P":-1,"c:p":1}}},
    {"deny":{"f6":"c:k^"},"diff":{"hands":{"c:p":1},"toggle":false}},
    {"diff":{}}
   ],
   "*":[
    {"diff":{"board":{"e5":null}}}
   ]
  }
 }
}
""",
}


def shuffled(value: Any, level: int = 0) -> Any:
    """JSON data that says the same: everything below a possibility in another order, defaults written out."""
    if level == 4 and isinstance(value, dict):
        value = {key: dict(reversed(part.items())) for key, part in reversed(value.items())}
        if "diff" in value:
            diff = {"toggle": True, "hands": {}, "board": {}} | value["diff"]
            value["diff"] = {
                key: dict(reversed(part.items())) if isinstance(part, dict) else part for key, part in diff.items()
            }
        if "require" not in value and "prevent" not in value and "perform" not in value:
            value = {"deny": {}, "must": {}} | value
        return value
    if isinstance(value, dict):
        return {key: shuffled(part, level + 1) for key, part in value.items()}
    if isinstance(value, list):
        return [shuffled(part, level + 1) for part in value]
    return value


@pytest.mark.parametrize("dialect", CANONICAL)
def test_a_document_is_written_in_its_canonical_form(dialect: str) -> None:
    text = CANONICAL[dialect]
    document = parse(text)
    assert document.dialect == dialect
    assert document.canonical() == text
    assert "".join(document.canonical_parts()) == text
    assert document.data() == json.loads(text)
    again = json.dumps(shuffled(json.loads(text)), indent=3)
    assert again != text
    assert parse(again).canonical() == text
    assert parse(again).digest == document.digest


@pytest.mark.parametrize("dialect", strategies.DIALECTS)
@settings(max_examples=30)
@given(data=st.data())
def test_random_documents_have_the_canonical_form_of_the_plain_reading(dialect: str, data: st.DataObject) -> None:
    plain = data.draw(strategies.documents(dialect))
    document = parse(json.dumps(plain))
    assert document.dialect == reference.detect(plain)
    assert document.canonical() == reference.canonical_text(plain)
    assert document == parse(plain)
    assert document.digest == parse(plain).digest
    again = parse(document.canonical())
    assert again.canonical() == document.canonical()
    assert again.digest == document.digest
    assert again.piece_digests == document.piece_digests


def test_a_document_does_not_change_with_the_objects_that_it_was_read_from() -> None:
    plain: dict[str, Any] = {"C:P": {"e2": {"e4": [{"must": {"e4": "empty"}, "diff": {"board": {"e2": None}}}]}}}
    document = parse(plain)
    before = document.canonical(), document.digest
    possibility = plain["C:P"]["e2"]["e4"][0]
    possibility["must"]["e3"] = "empty"
    possibility["diff"]["board"]["e4"] = "C:Q"
    possibility["diff"]["toggle"] = False
    plain["C:P"]["e2"]["e4"].append({})
    assert (document.canonical(), document.digest) == before


def entries_of(document: Document) -> list[tuple[str, str, str, int, Mapping[str, str]]]:
    return [
        (piece.identifier, source.square, destination.square, ordinal, possibility.must)
        for piece in document.pieces
        for source, destination, ordinal, possibility in piece.entries()
    ]


def test_the_entries_of_a_piece_come_in_the_order_of_the_document() -> None:
    assert entries_of(parse(CANONICAL["diff"])) == [
        ("C:P", "e5", "f6", 0, {"f5": "c:-p", "f6": "empty"}),
        ("C:P", "e5", "f6", 1, {}),
        ("C:P", "e5", "f6", 2, {}),
        ("C:P", "e5", "*", 0, {}),
    ]


def test_the_squares_of_a_piece_are_those_of_its_conditions_and_effects_too() -> None:
    piece: Piece = parse(CANONICAL["diff"]).pieces[0]
    assert set(piece.squares()) == {"e5", "f6", "f5", "*"}
    assert parse(CANONICAL["diff"]).board == box((2, 2), (4, 4))


# --- positions ---


def test_an_empty_square_is_one_that_is_not_mentioned() -> None:
    assert Position({"e2": "C:P", "e4": None}) == Position({"e2": "C:P"})
    assert Position({"e4": None}).board == {}
    assert Position({}, {"S:P": 0, "S:B": 2}).hands == {"S:B": 2}
    assert Position({}, {}) != Position({}, None), "empty hands are known to be empty"


def test_a_position_says_by_default_that_nothing_is_known_of_hands_and_the_first_player_moves() -> None:
    assert (Position({}).hands, Position({}).side) == (None, "first")


def test_a_position_is_not_changed_by_the_objects_that_it_was_made_from() -> None:
    board: dict[str, str | None] = {"e2": "C:P"}
    hands = {"S:P": 1}
    position = Position(board, hands)
    board["e2"] = "C:Q"
    hands["S:P"] = 9
    assert position == Position({"e2": "C:P"}, {"S:P": 1})


@pytest.mark.parametrize("square", ["e4", "5e", " ", "北", "**", "a1Aa1A", "empty", "x" * 255])
def test_any_label_can_be_a_square_of_a_position(square: str) -> None:
    assert Position({square: "C:K"}).board == {square: "C:K"}


@pytest.mark.parametrize("piece", ["C:K", "c:k", "CHESS:-K", "s:+p'", "C:K^'", "x1:k"])
def test_gan_and_qpi_identifiers_can_stand_on_a_position(piece: str) -> None:
    assert Position({"e4": piece}, {piece: 1}).data() == {"board": {"e4": piece}, "hands": {piece: 1}, "side": "first"}


# What a position is made of, and what the complaint quotes.
BAD_BOARDS: list[tuple[Any, str]] = [
    (None, "null"),
    ([], "[]"),
    ([["e4", "C:K"]], '[["e4", "C:K"]]'),
    ("e4", '"e4"'),
    ({"": "C:K"}, '""'),
    ({"*": "C:K"}, '"*"'),
    ({4: "C:K"}, "4"),
    ({None: "C:K"}, "null"),
    ({"e\x004": "C:K"}, '"e\\u00004"'),
    ({"e\ud8004": "C:K"}, '"e\\ud8004"'),
    ({"e4": "K"}, '"K" on "e4"'),
    ({"e4": ""}, '"" on "e4"'),
    ({"e4": "empty"}, '"empty" on "e4"'),
    ({"e4": "C:k"}, '"C:k" on "e4"'),
    ({"e4": "C:K "}, '"C:K " on "e4"'),
    ({"e4": 1}, '1 on "e4"'),
    ({"e4": False}, 'false on "e4"'),
    ({"e4": ["C:K"]}, '["C:K"] on "e4"'),
]
BAD_HANDS: list[tuple[Any, str]] = [
    ([], "[]"),
    (["S:P"], '["S:P"]'),
    ("P", '"P"'),
    ({"P": 1}, '"P"'),
    ({"*": 1}, '"*"'),
    ({"S:p": 1}, '"S:p"'),
    ({1: 1}, "1 in a hand"),
    ({"S:P": -1}, "-1 is not a count of S:P"),
    ({"S:P": None}, "null is not a count"),
    ({"S:P": "1"}, '"1" is not a count'),
    ({"S:P": True}, "true is not a count"),
    ({"S:P": 1.5}, "1.5 is not a count"),
    ({"S:P": MAX_HAND_COUNT + 1}, "1000001 is not a count"),
    ({"S:P": 10**5000}, "a Python int is not a count"),
]
BAD_SIDES: list[tuple[Any, str]] = [
    *(("", '""'), ("First", '"First"'), ("white", '"white"'), ("third", '"third"')),
    *((None, "null"), (1, "1"), (["first"], '["first"]'), (True, "true")),
]


@pytest.mark.parametrize(("board", "quoted"), BAD_BOARDS)
def test_a_bad_board_is_refused_and_quoted(board: Any, quoted: str) -> None:
    with pytest.raises(PositionError, match=re.escape(quoted)):
        Position(board)


@pytest.mark.parametrize(("hands", "quoted"), BAD_HANDS)
def test_bad_hands_are_refused_and_quoted(hands: Any, quoted: str) -> None:
    with pytest.raises(PositionError, match=re.escape(quoted)):
        Position({}, hands)


@pytest.mark.parametrize(("side", "quoted"), BAD_SIDES)
def test_a_bad_side_is_refused_and_quoted(side: Any, quoted: str) -> None:
    with pytest.raises(PositionError, match=re.escape(quoted)):
        Position({}, None, side)


DATA: list[tuple[Any, Position]] = [
    ({"board": {}}, Position({})),
    ({"board": {"e4": None, "e2": "C:P"}}, Position({"e2": "C:P"})),
    ({"board": {}, "hands": None}, Position({})),
    ({"board": {}, "hands": {}}, Position({}, {})),
    ({"board": {}, "hands": {"S:P": 2}, "side": "second"}, Position({}, {"S:P": 2}, "second")),
    ({"feen": "K1/1k P/ c/C"}, Position({"a2": "C:K", "b1": "c:k"}, {"C:P": 1}, "second")),
    ("K1/1k P/ c/C", Position({"a2": "C:K", "b1": "c:k"}, {"C:P": 1}, "second")),
]
# JSON data that is no position, and what the complaint quotes.
BAD_DATA: list[tuple[Any, str]] = [
    *((None, "null"), (1, "1"), ([], "[]"), (True, "true")),
    ({}, "[]"),
    ({"hands": {}}, '["hands"]'),
    ({"e4": "C:K"}, '["e4"]'),
    ({"board": {}, "turn": "first"}, '["board", "turn"]'),
    ({"board": {}, "feen": "8 / C/c"}, '["board", "feen"]'),
    ({"feen": "8 / C/c", "side": "first"}, '["feen", "side"]'),
    ({"feen": {}}, '["feen"]'),
    ({"board": [], "hands": {}}, "[]"),
    ({"board": {}, "side": None}, "null is not a side"),
    ("", '""'),
    ("start", '"start"'),
    ("8/7 / C/c", '"8/7"'),
    ({"feen": "8 / C/C"}, '"C/C"'),
]


@pytest.mark.parametrize(("data", "position"), DATA)
def test_a_position_is_read_from_json_data_and_comes_back_from_its_own(data: Any, position: Position) -> None:
    assert Position.from_data(data) == position
    assert Position.from_data(json.loads(json.dumps(position.data()))) == position


@pytest.mark.parametrize(("data", "quoted"), BAD_DATA)
def test_json_data_that_is_no_position_is_refused_and_quoted(data: Any, quoted: str) -> None:
    with pytest.raises(PositionError, match=re.escape(quoted)):
        Position.from_data(data)


FEENS = [
    "-rnbqk^bn-r/+p+p+p+p+p+p+p+p/8/8/8/8/+P+P+P+P+P+P+P+P/-RNBQK^BN-R / C/c",
    "lnsgk^gsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGK^GSNL 2PB/p s/S",
    "k^+p4+PK^ / c/C",
    "Kp'1/3//3/k1P' P'/p x/C",
]


@pytest.mark.parametrize("text", FEENS)
def test_a_feen_text_comes_back_from_its_position(text: str) -> None:
    position = Position.from_feen(text)
    assert position.hands is not None, "FEEN always says what is in the hands"
    assert position.to_feen() == text
    assert Position.from_feen(position.to_feen()) == position


def test_a_position_that_brings_no_shape_is_written_for_a_board_of_the_given_one() -> None:
    position = Position({"a1": "C:K", "b2": "s:k"}, {"s:p": 2}, "second")
    assert position.to_feen((2, 2)) == "1k/K1 /2p s/C"
    assert position.to_feen((3, 2)) == "1k1/K2 /2p s/C"
    assert Position.from_feen("1k/K1 /2p s/C").to_feen((3, 2)) == "1k/K1 /2p s/C", "its own shape comes first"


def test_unknown_hands_are_written_as_empty_ones() -> None:
    assert Position({"a1": "C:K"}).to_feen((1, 2)) == "1/K / C/c"


# The styles are those that the pieces show; a derived piece shows its opponent's.
SHOWN = [
    ({"a": "C:K"}, None, "K1 / C/c"),
    ({"a": "s:k"}, None, "k1 / S/s"),
    ({"a": "C:K", "b": "s:k"}, None, "Kk / C/s"),
    ({"a": "C:K"}, {"s:p": 1}, "K1 /p C/s"),
    ({"b": "c:p'"}, None, "1p' / C/c"),
    ({"a": "S:P'", "b": "C:K"}, None, "P'K / C/s"),
    ({}, {"CHESS:P": 1, "shogi:p": 2}, "2 P/2p CHESS/shogi"),
]


@pytest.mark.parametrize(("board", "hands", "text"), SHOWN)
def test_the_styles_of_a_position_are_those_that_its_pieces_show(
    board: dict[str, str | None], hands: dict[str, int] | None, text: str
) -> None:
    assert Position(board, hands).to_feen((2,)) == text


# A position, a shape, and what the complaint says.
UNWRITABLE = [
    (Position({"a": "C:K"}), None, "needs the shape of the board"),
    (Position({}), (2,), "none"),
    (Position({"a": "C:K", "b": "S:K"}), (2,), "several"),
    (Position({"a": "C:K", "b": "s:k"}, {"X:P": 1}), (2,), "several"),
    (Position({"a": "C:K", "b": "C:P'", "c": "s:k"}), (3,), "several"),
    (Position({"c": "C:K"}), (2,), "outside the board of 2: c"),
    (Position({"北": "C:K"}), (2,), "outside the board of 2: 北"),
    (Position({"a1": "C:K"}), (2, 1), "2x1"),
    (Position({"a1Aa": "C:K"}), (2, 2, 2, 2), "2x2x2x2"),
]


@pytest.mark.parametrize(("position", "shape", "message"), UNWRITABLE)
def test_a_position_that_feen_cannot_write_is_refused(
    position: Position, shape: tuple[int, ...] | None, message: str
) -> None:
    with pytest.raises(PositionError, match=re.escape(message)):
        position.to_feen(shape)


# --- what moves change ---

AFTER = [
    (Position({"e2": "C:P"}), Transition({"e2": None, "e4": "C:P"}), Position({"e4": "C:P"}, None, "second")),
    (Position({"e2": "C:P"}), Transition(), Position({"e2": "C:P"}, None, "second")),
    (Position({"e2": "C:P"}), Transition(toggle=False), Position({"e2": "C:P"})),
    (Position({}, None, "second"), Transition(), Position({}, None, "first")),
    (Position({}, None, "second"), Transition(toggle=False), Position({}, None, "second")),
    # Effects are applied as written, whether or not the piece was there.
    (Position({}), Transition({"e2": None, "e4": "C:P"}), Position({"e4": "C:P"}, None, "second")),
    (
        Position({"e5": "C:P", "f5": "c:-p"}, {}),
        Transition({"e5": None, "f5": None, "f6": "C:P"}, {"c:p": 1}),
        Position({"f6": "C:P"}, {"c:p": 1}, "second"),
    ),
    (Position({}, {"S:P": 2}), Transition({"e4": "S:P"}, {"S:P": -1}), Position({"e4": "S:P"}, {"S:P": 1}, "second")),
    (Position({}, {"S:P": 1}), Transition({}, {"S:P": -1}), Position({}, {}, "second")),
    (Position({}, {"S:P": 1}), Transition({}, {"s:p": 3}), Position({}, {"S:P": 1, "s:p": 3}, "second")),
    # Unknown hands stay unknown.
    (Position({}, None), Transition({"e4": "S:P"}, {"S:P": -1}), Position({"e4": "S:P"}, None, "second")),
]


@pytest.mark.parametrize(("before", "effects", "after"), AFTER)
def test_a_position_after_a_move_is_the_effects_as_written(
    before: Position, effects: Transition, after: Position
) -> None:
    copy = Position(before.board, before.hands, before.side)
    assert before.after(effects) == after
    assert before == copy


def test_a_position_keeps_its_shape_and_styles_over_a_move() -> None:
    position = Position.from_feen("k3/3P /p C/s")
    assert position.after(displacement("C:P", "d1", "d2")).to_feen() == "k2P/4 /p s/C"


@pytest.mark.parametrize(
    ("hands", "deltas", "message"),
    [
        ({}, {"S:P": -1}, "the move takes 1 S:P from a hand that holds 0"),
        ({"s:p": 1}, {"S:P": -1}, "the move takes 1 S:P from a hand that holds 0"),
        ({"S:P": 2}, {"S:P": -3}, "the move takes 3 S:P from a hand that holds 2"),
        ({"S:P": MAX_HAND_COUNT}, {"S:P": 1}, "S:P"),
    ],
)
def test_a_hand_holds_neither_fewer_than_no_pieces_nor_too_many(
    hands: dict[str, int], deltas: dict[str, int], message: str
) -> None:
    with pytest.raises(MoveError, match=message):
        Position({}, hands).after(Transition({}, deltas))


@pytest.mark.parametrize(
    ("piece", "source", "destination", "effects"),
    [
        ("C:R", "a1", "a4", Transition({"a1": None, "a4": "C:R"})),
        ("S:P", "*", "e5", Transition({"e5": "S:P"}, {"S:P": -1})),
        ("s:p", "e5", "*", Transition({"e5": None}, {"s:p": 1})),
        ("C:R", "a1", "a1", Transition({"a1": "C:R"})),
    ],
)
def test_displacement_empties_the_source_and_puts_the_piece_on_the_destination(
    piece: str, source: str, destination: str, effects: Transition
) -> None:
    assert displacement(piece, source, destination) == effects
    assert DISPLACEMENT == "displacement"


def test_a_move_is_written_as_json_data() -> None:
    move = Move("C:P", "e2", "e4", 1, {"e3": "empty"}, {"e4": "c:k^"}, Transition({"e2": None}, {}, False))
    assert move.data() == {
        "piece": "C:P",
        "source": "e2",
        "destination": "e4",
        "ordinal": 1,
        "must": {"e3": "empty"},
        "deny": {"e4": "c:k^"},
        "effects": {"board": {"e2": None}, "toggle": False},
        "assumed": False,
    }
    assert Move("C:P", "e2", "e4", 0, {}, {}, None).data()["effects"] is None
