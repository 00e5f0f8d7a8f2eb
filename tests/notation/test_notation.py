"""The notations: text -> value -> text, value -> text -> value, and what each of them refuses."""

from __future__ import annotations

import itertools
import json
import re
import string
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ggn_store.errors import NotationError, quote
from ggn_store.notation import cell, feen, gan, qpi
from ggn_store.notation.feen import Feen
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Identifier
from ggn_store.notation.stn import Transition

CHECK = settings(max_examples=200)

# Every kind of text that is none of the notations, whatever the notation.
NEVER = ["", " ", "\n", "\x00", "\ud800", "é", "🙂", "*", "empty", "null", "e4 ", " e4", "C:K ", "C:K\n", "C::K", "C:"]


def refused(parse: Callable[[str], object], text: str) -> str:
    """The message with which `parse` refuses `text`."""
    with pytest.raises(NotationError) as caught:
        parse(text)
    return str(caught.value)


# --- CELL ---


def letters_by_counting() -> list[str]:
    """a, b, ..., z, aa, ab, ..., zzz: the letters of coordinates 0, 1, 2, ..."""
    return [
        "".join(letters) for length in (1, 2, 3) for letters in itertools.product(string.ascii_lowercase, repeat=length)
    ]


def letters_by_arithmetic(letters: str) -> int:
    """Bijective base 26, as the plain base 26 number after all the shorter ones."""
    digits = letters.translate(str.maketrans(string.ascii_lowercase, "0123456789abcdefghijklmnop"))
    shorter: int = sum(26**length for length in range(1, len(letters)))
    return shorter + int(digits, 26)


def is_cell_by_parts(text: str) -> bool:
    """The definition of CELL in words: runs of one kind, the kinds in turn, no number that begins with 0."""

    def kind(character: str) -> int:
        kinds = (string.ascii_lowercase, string.digits, string.ascii_uppercase)
        return next((number for number, kind in enumerate(kinds) if character in kind), -1)

    runs = [(number, "".join(run)) for number, run in itertools.groupby(text, kind)]
    in_turn = all(number == index % 3 for index, (number, _) in enumerate(runs))
    return bool(runs) and in_turn and not any(run[0] == "0" for _, run in runs)


CELLS = [
    ("a", (0,)),
    ("z", (25,)),
    ("aa", (26,)),
    ("zz", (701,)),
    ("aaa", (702,)),
    ("a1", (0, 0)),
    ("e4", (4, 3)),
    ("aa10", (26, 9)),
    ("h8", (7, 7)),
    ("bcd100000", (1433, 99_999)),
    ("a1A", (0, 0, 0)),
    ("b2B", (1, 1, 1)),
    ("iv256IV", (255, 255, 255)),
    ("az52AZ", (51, 51, 51)),
    ("a1Aa", (0, 0, 0, 0)),
    ("h8Hh8", (7, 7, 7, 7, 7)),
    ("a1Aa1A", (0, 0, 0, 0, 0, 0)),
    ("aa10BBc3AB", (26, 9, 53, 2, 2, 27)),
]
# 5e is how Japanese shogi diagrams number squares, and what one sentence of Ggn.rb's README writes.
NOT_CELLS = [
    "5e",
    "1",
    "E4",
    "A",
    "e0",
    "e04",
    "e-4",
    "e4.",
    "e4E4",
    "a1a",
    "a1a1",
    "a1AA0",
    "eE",
    "a1A1",
    "ｅ4",
    "e４",
]


@pytest.mark.parametrize(("label", "coordinates"), CELLS)
def test_a_cell_label_is_its_coordinates(label: str, coordinates: tuple[int, ...]) -> None:
    assert cell.is_cell(label)
    assert cell.parse(label) == coordinates
    assert cell.text(coordinates) == label


@pytest.mark.parametrize("label", [*NOT_CELLS, *(text for text in NEVER if text not in ("empty", "null"))])
def test_what_is_not_cell_is_refused_and_quoted(label: str) -> None:
    assert not cell.is_cell(label)
    assert quote(label) in refused(cell.parse, label)


@pytest.mark.parametrize("coordinates", [(), (-1,), (0, -1), (3, 2, -7)])
def test_coordinates_that_are_no_square_have_no_label(coordinates: tuple[int, ...]) -> None:
    with pytest.raises(NotationError, match=re.escape(str(coordinates))):
        cell.text(coordinates)


def test_the_letters_of_cell_count_as_one_does_in_alphabetical_lists() -> None:
    labels = letters_by_counting()
    assert [cell.parse(label) for label in labels] == [(number,) for number in range(len(labels))]
    assert [cell.text((number,)) for number in range(len(labels))] == labels
    assert [cell.text((0, 0, number)) for number in range(len(labels))] == [f"a1{label.upper()}" for label in labels]


@CHECK
@given(st.text(string.ascii_lowercase, min_size=1, max_size=40))
def test_letters_are_bijective_base_26_however_long(letters: str) -> None:
    assert cell.parse(letters) == (letters_by_arithmetic(letters),)
    assert cell.text((letters_by_arithmetic(letters),)) == letters


@CHECK
@given(st.lists(st.one_of(st.integers(0, 30), st.integers(600, 800), st.integers(0, 10**9)), min_size=1, max_size=6))
def test_coordinates_of_up_to_six_dimensions_come_back_from_their_label(coordinates: list[int]) -> None:
    label = cell.text(tuple(coordinates))
    assert cell.is_cell(label)
    assert cell.parse(label) == tuple(coordinates)


@CHECK
@given(st.one_of(st.text("azAZ019", max_size=9), st.text("ab1A", max_size=9), st.text(max_size=4)))
@example("a1\n")
@example("a١")
def test_cell_accepts_runs_of_letters_numbers_and_capitals_in_turn_and_nothing_else(text: str) -> None:
    assert cell.is_cell(text) == is_cell_by_parts(text)
    if cell.is_cell(text):
        assert cell.text(cell.parse(text)) == text


def test_a_cell_label_has_at_most_255_characters() -> None:
    assert cell.text(cell.parse("a" * 255)) == "a" * 255
    assert "is not a CELL square" in refused(cell.parse, "a" * 256)


# --- HAND ---


def test_the_hand_is_one_asterisk_and_no_square() -> None:
    assert HAND == "*"
    assert not cell.is_cell(HAND)


# --- GAN ---

SEED_002 = re.compile(r"\A([A-Z][A-Z0-9]*:[-+]?[A-Z]|[a-z][a-z0-9]*:[-+]?[a-z])\Z")

# The table "Protocol Mapping" of seed 002, with what it says of each.
GANS = [
    ("CHESS:K", Identifier("CHESS", "K", "first")),
    ("chess:k", Identifier("CHESS", "K", "second")),
    ("CHESS:P", Identifier("CHESS", "P", "first")),
    ("SHOGI:+P", Identifier("SHOGI", "P", "first", "+")),
    ("CHESS:-P", Identifier("CHESS", "P", "first", "-")),
    ("SHOGI:K", Identifier("SHOGI", "K", "first")),
    ("x:-z", Identifier("X", "Z", "second", "-")),
    ("G0A1:Q", Identifier("G0A1", "Q", "first")),
]
NOT_GANS = [
    *("Chess:K", "CHESS:k", "chess:K", "cHESS:K", "CHESS:+k", "1CHESS:K", "CHESS", "CHESS:KK", "CHESS:+-K", "CHESS:K+"),
    *(
        "CHESS:K^",
        "CHESS:K'",
        "CHESS:K^'",
        "CHESS-K",
        ":K",
        "CHESS:1",
        "CHESS: K",
        "ÉCHECS:K",
        "CHESS:É",
        "\u212a:\u212a",
        "ſ:s",
    ),
]


@pytest.mark.parametrize(("text", "identifier"), GANS)
def test_a_gan_identifier_says_style_letter_side_and_state(text: str, identifier: Identifier) -> None:
    assert gan.is_gan(text)
    assert qpi.parse(text) == identifier
    assert str(identifier) == text


@pytest.mark.parametrize("text", [*NOT_GANS, *NEVER])
def test_what_is_not_gan_is_none(text: str) -> None:
    assert not gan.is_gan(text)


@CHECK
@given(
    st.one_of(
        st.from_regex(SEED_002),
        st.from_regex(SEED_002).flatmap(lambda text: st.permutations(text).map("".join)),
        st.tuples(st.sampled_from(["A", "a", "Z9", "z9", "Aa", "0A", ""]), st.text(":+-AazZ1^'\n", max_size=4)).map(
            lambda parts: ":".join(parts)
        ),
        st.text("CHaz:+-19^' \n", max_size=8),
        st.text(max_size=6),
    )
)
@example("CHESS:K\n")
@example("CHESS:٣")
def test_gan_is_the_regular_expression_of_seed_002(text: str) -> None:
    assert gan.is_gan(text) == (SEED_002.search(text) is not None)
    if gan.is_gan(text):
        assert str(qpi.parse(text)) == text


def test_a_gan_identifier_has_at_most_255_characters() -> None:
    assert gan.is_gan("C" * 253 + ":K")
    assert not gan.is_gan("C" * 254 + ":K")


# --- QPI ---

QPIS = [
    ("C:K", Identifier("C", "K", "first")),
    ("c:k", Identifier("C", "K", "second")),
    ("C:+K^", Identifier("C", "K", "first", "+", terminal=True)),
    ("C:+K^'", Identifier("C", "K", "first", "+", terminal=True, derived=True)),
    ("c:-p", Identifier("C", "P", "second", "-")),
    ("s:+p'", Identifier("S", "P", "second", "+", derived=True)),
    ("x:m", Identifier("X", "M", "second")),
    ("CHESS:K", Identifier("CHESS", "K", "first")),
    ("shogi:p'", Identifier("SHOGI", "P", "second", derived=True)),
]
NOT_QPIS = ["C:k", "c:K", "C:K'^", "C:^K", "C:K^^", "C:K''", "C:K+", "C:++K", "C:KK", "+C:K", "K", "C:*", "Cc:K", "1:K"]


@pytest.mark.parametrize(("text", "identifier"), QPIS)
def test_a_qpi_identifier_says_style_letter_side_state_and_markers(text: str, identifier: Identifier) -> None:
    assert qpi.parse(text) == identifier
    assert str(identifier) == text
    assert qpi.side_of(text) == identifier.side


@pytest.mark.parametrize("text", [*NOT_QPIS, *NEVER])
def test_what_is_not_qpi_is_refused_and_quoted(text: str) -> None:
    assert not qpi.is_qpi(text)
    assert quote(text) in refused(qpi.parse, text)


def test_qpi_accepts_exactly_the_combinations_of_its_parts() -> None:
    sides = {"C": "A", "CHESS": "A", "X1": "A", "c": "a", "chess": "a", "x1": "a", "Cc": "", "1X": "", "": "", "É": ""}
    states = {"": True, "+": True, "-": True, "+-": False, "*": False}
    letters = {"K": "A", "k": "a", "KK": "", "1": "", "": ""}
    tails = {"": True, "^": True, "'": True, "^'": True, "'^": False, "^^": False, "’": False, "\n": False}
    parts = itertools.product(sides.items(), states.items(), letters.items(), tails.items())
    for (style, side), (state, is_state), (letter, case), (tail, is_tail) in parts:
        text = f"{style}:{state}{letter}{tail}"
        expected = side != "" and side == case and is_state and is_tail
        assert qpi.is_qpi(text) == expected, text
        if expected:
            assert str(qpi.parse(text)) == text


STYLES = st.from_regex(r"\A[A-Z][A-Z0-9]{0,5}\Z")
SIDES: tuple[qpi.Side, ...] = ("first", "second")
STATES: tuple[qpi.State, ...] = ("", "+", "-")


@st.composite
def identifiers(draw: st.DrawFn, styles: st.SearchStrategy[str] = STYLES) -> Identifier:
    return Identifier(
        style=draw(styles),
        letter=draw(st.sampled_from(string.ascii_uppercase)),
        side=draw(st.sampled_from(SIDES)),
        state=draw(st.sampled_from(STATES)),
        terminal=draw(st.booleans()),
        derived=draw(st.booleans()),
    )


@CHECK
@given(identifiers())
def test_an_identifier_comes_back_from_its_text(identifier: Identifier) -> None:
    text = str(identifier)
    assert qpi.parse(text) == identifier
    assert qpi.side_of(text) == identifier.side
    assert gan.is_gan(text) == (not identifier.terminal and not identifier.derived)


def test_sides_are_each_others_opponents() -> None:
    assert [qpi.other_side(side) for side in SIDES] == ["second", "first"]


# --- STN ---

# The diffs of seed 003 as it writes them, the parts that may be absent, and each part alone.
STNS = [
    ('{"board":{"e2":null,"e4":"C:P"},"toggle":true}', Transition({"e2": None, "e4": "C:P"})),
    (
        '{"board": {"e5": null, "f6": "C:P", "f5": null}, "hands": {"c:p": 1}, "toggle": true}',
        Transition({"e5": None, "f5": None, "f6": "C:P"}, {"c:p": 1}),
    ),
    ('{"board":{"e4":"S:P"},"hands":{"S:P":-1}}', Transition({"e4": "S:P"}, {"S:P": -1})),
    ("{}", Transition()),
    ('{"toggle":false}', Transition(toggle=False)),
    ('{"board":{},"hands":{},"toggle":true}', Transition()),
    ('{"hands":{"S:P":1.0}}', Transition(hands={"S:P": 1})),
    ('{"hands":{"S:P":1000000,"s:p":-1000000}}', Transition(hands={"S:P": 1_000_000, "s:p": -1_000_000})),
]


# What is written, and the part of it that the complaint quotes.
def said(text: str) -> Transition:
    return Transition(**json.loads(text))


@pytest.mark.parametrize(("text", "transition"), STNS)
def test_a_transition_is_what_its_stn_says(text: str, transition: Transition) -> None:
    assert said(text) == transition
    assert said(str(transition)) == transition


def test_canonical_stn_is_sorted_and_leaves_out_what_says_nothing() -> None:
    written = '{"toggle":false,"hands":{"s:p":1,"S:P":-2},"board":{"e4":"C:P","a1":null}}'
    canonical = '{"board":{"a1":null,"e4":"C:P"},"hands":{"S:P":-2,"s:p":1},"toggle":false}'
    assert str(said(written)) == canonical
    assert str(said('{"board":{},"hands":{},"toggle":true}')) == "{}"


SQUARES = st.lists(st.integers(0, 40), min_size=1, max_size=3).map(lambda each: cell.text(tuple(each)))
PIECES = identifiers().map(str)
DELTAS = st.integers(-1_000_000, 1_000_000).filter(bool)


@CHECK
@given(
    st.builds(
        Transition,
        st.dictionaries(SQUARES, st.none() | PIECES, max_size=4),
        st.dictionaries(PIECES, DELTAS, max_size=3),
        st.booleans(),
    )
)
def test_a_transition_comes_back_from_its_text(transition: Transition) -> None:
    assert said(str(transition)) == transition
    assert str(said(str(transition))) == str(transition)


# --- FEEN ---

CHESS_START = "-rnbqk^bn-r/+p+p+p+p+p+p+p+p/8/8/8/8/+P+P+P+P+P+P+P+P/-RNBQK^BN-R / C/c"
SHOGI_START = "lnsgk^gsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGK^GSNL / S/s"


def test_the_start_of_chess_is_read_as_the_pieces_stand() -> None:
    ranks = {1: "-R N B Q K^ B N -R", 2: "+P " * 8, 7: "+p " * 8, 8: "-r n b q k^ b n -r"}
    board = {
        f"{file}{rank}": f"{'C' if rank < 3 else 'c'}:{token}"
        for rank, tokens in ranks.items()
        for file, token in zip("abcdefgh", tokens.split(), strict=True)
    }
    assert feen.parse(CHESS_START) == Feen((8, 8), board, {}, "first", ("C", "C"))
    assert feen.text(feen.parse(CHESS_START)) == CHESS_START


def test_the_start_of_shogi_is_read_as_the_pieces_stand() -> None:
    position = feen.parse(SHOGI_START)
    assert position.shape == (9, 9)
    assert len(position.board) == 40
    assert {square: position.board[square] for square in ("a1", "e1", "b2", "h2", "e3", "e7", "b8", "h8", "e9")} == {
        "a1": "S:L",
        "e1": "S:K^",
        "b2": "S:B",
        "h2": "S:R",
        "e3": "S:P",
        "e7": "s:p",
        "b8": "s:r",
        "h8": "s:b",
        "e9": "s:k^",
    }
    assert str(position) == SHOGI_START


FEENS = [
    # One rank of eight, the example of the facts about FEEN: a board of one dimension.
    (
        "k^+p4+PK^ / C/c",
        Feen((8,), {"a": "c:k^", "b": "c:+p", "g": "C:+P", "h": "C:K^"}, {}, "first", ("C", "C")),
    ),
    ("8 / C/c", Feen((8,), {}, {}, "first", ("C", "C"))),
    ("1 / C/c", Feen((1,), {}, {}, "first", ("C", "C"))),
    ("K / c/C", Feen((1,), {"a": "C:K"}, {}, "second", ("C", "C"))),
    ("30 / C/c", Feen((30,), {}, {}, "first", ("C", "C"))),
    # Two dimensions: the far rank comes first.
    ("k1/1K / C/c", Feen((2, 2), {"a2": "c:k", "b1": "C:K"}, {}, "first", ("C", "C"))),
    ("p/1/P / C/c", Feen((1, 3), {"a3": "c:p", "a1": "C:P"}, {}, "first", ("C", "C"))),
    # Three dimensions: the highest layer comes first.
    (
        "k1/2//2/1K / C/c",
        Feen((2, 2, 2), {"a2B": "c:k", "b1A": "C:K"}, {}, "first", ("C", "C")),
    ),
    ("p2//3//2P / C/c", Feen((3, 1, 3), {"a1C": "c:p", "c1A": "C:P"}, {}, "first", ("C", "C"))),
    # Hands: the first player's before the stroke; a count only where it is over one.
    ("9/9 2PB/p S/s", Feen((9, 2), {}, {"S:P": 2, "S:B": 1, "s:p": 1}, "first", ("S", "S"))),
    ("9/9 /18p2l s/S", Feen((9, 2), {}, {"s:p": 18, "s:l": 2}, "second", ("S", "S"))),
    ("9/9 +P3-PK^/ S/s", Feen((9, 2), {}, {"S:+P": 1, "S:-P": 3, "S:K^": 1}, "first", ("S", "S"))),
    ("9 999999P/ S/s", Feen((9,), {}, {"S:P": 999_999}, "first", ("S", "S"))),
    # The styles are the players', the one to move first: a mixed game, and a piece of derived style.
    ("kp/KP / C/s", Feen((2, 2), {"a2": "s:k", "b2": "s:p", "a1": "C:K", "b1": "C:P"}, {}, "first", ("C", "S"))),
    ("kp/KP / s/C", Feen((2, 2), {"a2": "s:k", "b2": "s:p", "a1": "C:K", "b1": "C:P"}, {}, "second", ("C", "S"))),
    ("p'p/P'P / C/s", Feen((2, 2), {"a2": "c:p'", "b2": "s:p", "a1": "S:P'", "b1": "C:P"}, {}, "first", ("C", "S"))),
    ("+K^'1/2 P'/p' C/s", Feen((2, 2), {"a2": "S:+K^'"}, {"S:P'": 1, "c:p'": 1}, "first", ("C", "S"))),
    ("P'1 / C/c", Feen((2,), {"a": "C:P'"}, {}, "first", ("C", "C"))),
    (
        "Kk P/p CHESS/shogi",
        Feen((2,), {"a": "CHESS:K", "b": "shogi:k"}, {"CHESS:P": 1, "shogi:p": 1}, "first", ("CHESS", "SHOGI")),
    ),
    ("Kk / x1/G0", Feen((2,), {"a": "G0:K", "b": "x1:k"}, {}, "second", ("G0", "X1"))),
]


@pytest.mark.parametrize(("text", "position"), FEENS)
def test_a_feen_text_is_its_position(text: str, position: Feen) -> None:
    assert feen.parse(text) == position
    assert feen.text(position) == text
    assert str(feen.parse(text)) == text


# What is written, and the part of it that the complaint quotes.
NOT_FEENS = [
    ("", ""),
    ("8", "8"),
    ("8 /", "8 /"),
    ("8 / ", ""),
    ("8  / C/c", "8  / C/c"),
    ("8 / C/c ", "8 / C/c "),
    (" 8 / C/c", " 8 / C/c"),
    ("8\t/\tC/c", "8\t/\tC/c"),
    ("8 / C/c\n", "C/c\n"),
    ("8 / C/c 0 1", "8 / C/c 0 1"),
    # The turn: two styles, one of each case.
    ("8 / C", "C"),
    ("8 / C/C", "C/C"),
    ("8 / c/c", "c/c"),
    ("8 / C/", "C/"),
    ("8 / /c", "/c"),
    ("8 / C/c/C", "C/c/C"),
    ("8 / Cc/s", "Cc/s"),
    ("8 / C/1", "C/1"),
    ("8 / w/b", "w/b"),
    # The placement: one spelling for each rank, ranks and layers of one size.
    ("8/44 / C/c", "8/44"),
    ("K7/K43 / C/c", "K7/K43"),
    ("0 / C/c", "0"),
    ("08 / C/c", "08"),
    ("-8 / C/c", "-8"),
    ("K+ / C/c", "K+"),
    ("K^^ / C/c", "K^^"),
    ("K'^ / C/c", "K'^"),
    ("++K / C/c", "++K"),
    ("K K / C/c", "K K / C/c"),
    ("C:K / C/c", "C:K"),
    ("É / C/c", "É"),
    ("８ / C/c", "８"),
    (" / C/c", ""),
    ("/ / C/c", ""),
    ("8/ / C/c", ""),
    ("/8 / C/c", ""),
    ("8///8 / C/c", ""),
    ("8//8/ / C/c", ""),
    ("8/7 / C/c", "8/7"),
    ("k/2K/p / C/c", "k/2K/p"),
    ("8/8//8 / C/c", "8/8//8"),
    ("8//7 / C/c", "8//7"),
    ("99999 / C/c", "99999"),
    ("9999" + "/9999" * 9 + " / C/c", "9999" + "/9999" * 9),
    # The hands: a count only over one, each piece once, each hand in its own case, the first player's first.
    ("8 - C/c", "-"),
    ("8 // C/c", "//"),
    ("8 P C/c", "P"),
    ("8 1P/ C/c", "1P/"),
    ("8 0P/ C/c", "0P/"),
    ("8 02P/ C/c", "02P/"),
    ("8 PP/ C/c", "PP/"),
    ("8 P2P/ C/c", "P2P/"),
    ("8 PBP/ C/c", "PBP/"),
    ("8 /pp C/c", "/pp"),
    ("8 p/ C/c", "p/"),
    ("8 /P C/c", "/P"),
    ("8 p/P C/c", "p/P"),
    ("8 Pp/ C/c", "Pp/"),
    ("8 2/ C/c", "2/"),
    ("8 P2/ C/c", "P2/"),
    ("8 2PB/p/ C/c", "2PB/p/"),
    ("8 C:P/ C/c", "C:P/"),
    ("8 1000001P/ C/c", "1000001P/"),
]


@pytest.mark.parametrize(("text", "quoted"), NOT_FEENS)
def test_what_is_not_feen_is_refused_and_the_wrong_part_quoted(text: str, quoted: str) -> None:
    assert quote(quoted) in refused(feen.parse, text)


def test_a_feen_text_has_at_most_4096_characters() -> None:
    longest = f"{'K' * 4090} / C/c"
    assert len(longest) == 4096
    assert feen.parse(longest).shape == (4090,)
    assert str(feen.parse(longest)) == longest
    message = refused(feen.parse, f"{'K' * 4091} / C/c")
    assert message == "a FEEN text has at most 4096 characters; this one has 4097"


def test_feen_writes_no_more_characters_than_it_reads() -> None:
    pieces = {cell.text((number,)): "C:K" for number in range(4091)}
    assert len(feen.text(Feen((4090,), dict(list(pieces.items())[:4090]), {}, "first", ("C", "C")))) == 4096
    with pytest.raises(NotationError, match="takes 4097 characters in FEEN, which allows 4096"):
        feen.text(Feen((4091,), pieces, {}, "first", ("C", "C")))


def feen_value(
    shape: tuple[int, ...] = (2, 2),
    board: dict[str, str] | None = None,
    hands: dict[str, int] | None = None,
    styles: tuple[str, str] = ("C", "S"),
) -> Feen:
    return Feen(shape, board or {}, hands or {}, "first", styles)


UNWRITABLE = [
    (feen_value(board={"a1": "S:K"}), '"S:K"'),
    (feen_value(board={"a1": "C:K'"}), '"C:K\'"'),
    (feen_value(board={"a1": "s:k'"}), '"s:k\'"'),
    (feen_value(board={"a1": "c:k"}), '"c:k"'),
    (feen_value(hands={"X:P": 1}), '"X:P"'),
    (feen_value(board={"c1": "C:K"}), "2x2: c1"),
    (feen_value(board={"a3": "C:K", "a1": "C:K", "a1A": "s:k"}), "2x2: a1A, a3"),
    (feen_value((8,), board={"a1": "C:K"}), "8: a1"),
    (feen_value((8, 1)), "8x1"),
    (feen_value((8, 8, 1)), "8x8x1"),
    (feen_value((0, 8)), "0x8"),
    (feen_value((2, 2, 2, 2)), "2x2x2x2"),
    (feen_value(()), "of shape"),
]


@pytest.mark.parametrize(("position", "quoted"), UNWRITABLE)
def test_what_feen_cannot_write_is_refused_and_quoted(position: Feen, quoted: str) -> None:
    with pytest.raises(NotationError) as caught:
        feen.text(position)
    assert quoted in str(caught.value)


# At the edges of what FEEN reads: longer runs of empty squares, larger boards and hands than anybody plays with.
@pytest.mark.parametrize(
    "position",
    [
        feen_value((9_999,)),
        feen_value((10_000,)),
        feen_value((65_536,)),
        feen_value((65_537,)),
        feen_value((256, 256)),
        feen_value((300, 300)),
        feen_value(hands={"C:P": 999_999}),
        feen_value(hands={"C:P": 1_000_000}),
        feen_value(hands={"C:P": 1_000_001}),
        feen_value(hands={"C:P": -1}),
    ],
    ids=repr,
)
def test_feen_writes_only_what_it_reads_back(position: Feen) -> None:
    try:
        text = feen.text(position)
    except NotationError:
        return
    assert feen.parse(text) == position


@st.composite
def feens(draw: st.DrawFn) -> Feen:
    """Positions that FEEN can write, as values."""
    shape = tuple(draw(st.lists(st.integers(1, 12), min_size=1, max_size=3)))
    if len(shape) > 1:
        shape = (*shape[:-1], max(2, shape[-1]))
    styles = (draw(STYLES), draw(STYLES))

    def of_players(identifier: Identifier) -> str:
        """The identifier in the style that FEEN gives it: its player's, or the opponent's where it is derived."""
        own = (identifier.side == "second") != identifier.derived
        changed = Identifier(
            styles[own], identifier.letter, identifier.side, identifier.state, identifier.terminal, identifier.derived
        )
        return str(changed)

    squares = st.tuples(*(st.integers(0, size - 1) for size in shape)).map(cell.text)
    pieces = identifiers().map(of_players)
    return Feen(
        shape,
        draw(st.dictionaries(squares, pieces, max_size=20)),
        draw(st.dictionaries(pieces, st.integers(1, 999_999), max_size=4)),
        draw(st.sampled_from(SIDES)),
        styles,
    )


@CHECK
@given(feens())
def test_a_position_comes_back_from_its_feen_text(position: Feen) -> None:
    text = feen.text(position)
    assert feen.parse(text) == position
    assert feen.text(feen.parse(text)) == text


TOKENS = st.from_regex(r"\A[-+]?[A-Z]\^?'?\Z")
RANK = st.lists(st.integers(1, 9).map(str) | TOKENS | TOKENS.map(str.lower), min_size=1, max_size=6).filter(
    lambda parts: not any(a.isdigit() and b.isdigit() for a, b in itertools.pairwise(parts))
)


def one_hand(tokens: dict[str, int]) -> str:
    return "".join(f"{count if count > 1 else ''}{token}" for token, count in tokens.items())


@CHECK
@given(
    rank=RANK.map("".join),
    ranks=st.integers(1, 4),
    layers=st.integers(1, 3),
    held=st.tuples(
        st.dictionaries(TOKENS, st.integers(1, 40), max_size=3).map(one_hand),
        st.dictionaries(TOKENS.map(str.lower), st.integers(1, 40), max_size=3).map(one_hand),
    ).map("/".join),
    turn=st.sampled_from(["C/c", "c/C", "C/s", "s/C", "CHESS/shogi"]),
)
def test_a_feen_text_comes_back_to_the_letter(rank: str, ranks: int, layers: int, held: str, turn: str) -> None:
    placement = "//".join(["/".join([rank] * ranks)] * layers)
    position = feen.parse(f"{placement} {held} {turn}")
    assert len(position.shape) == (3 if layers > 1 else 2 if ranks > 1 else 1)
    assert len(position.board) == sum(character.isalpha() for character in placement)
    assert position.side == ("first" if turn[0].isupper() else "second")
    assert feen.text(position) == f"{placement} {held} {turn}"


@CHECK
@given(
    st.one_of(
        st.text("kKpP+-^'/128 Cc", max_size=20),
        st.tuples(st.text("kK+^'/128", max_size=8), st.text("Pp+2/", max_size=5), st.text("Cc/s", max_size=4)).map(
            " ".join
        ),
        st.text(max_size=10),
    )
)
def test_any_text_is_refused_as_feen_or_comes_back_to_the_letter(text: str) -> None:
    try:
        position = feen.parse(text)
    except NotationError:
        return
    assert feen.text(position) == text
