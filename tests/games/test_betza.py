"""Betza's notation: which squares a piece reaches, on boards that are small enough to look at, and what is refused.

`python -m tests.oracles.fairy_betza` compares a thousand strings with Fairy-Stockfish.
"""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ggn_store.games.betza import BetzaError, parse
from ggn_store.games.routes import Route, routes
from ggn_store.model.documents.board import Board, parse_shape
from ggn_store.model.documents.geometry import Lattice, view
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side

EIGHT = Lattice(parse_shape("8x8"))


def ways(
    betza: str, source: str = "d4", lattice: Lattice = EIGHT, side: Side = "first", turned: bool = False
) -> list[Route]:
    return list(routes(parse(betza, lattice.dimensions), source, lattice, view(side, lattice.dimensions, turned)))


def reached(
    betza: str, source: str = "d4", lattice: Lattice = EIGHT, side: Side = "first", turned: bool = False
) -> str:
    """Every destination on an empty board but for the hurdles, in the order of the routes."""
    return " ".join(route.destination for route in ways(betza, source, lattice, side, turned))


def drawn(betza: str, picture: str) -> list[str]:
    """The picture of where the piece in its middle goes: x may go there or take, o goes only, c takes only."""
    found: dict[str, str] = {}
    for route in ways(betza, "d4", Lattice(parse_shape("7x7"))):
        kind = "x" if route.quiet and route.capture else "o" if route.quiet else "c"
        before = found.get(route.destination, kind)
        found[route.destination] = kind if kind == before else "x"
    rows = picture.split()
    squares = [[cell.text((x, len(rows) - 1 - y + (7 - len(rows)) // 2)) for x in range(7)] for y in range(len(rows))]
    return ["".join("P" if square == "d4" else found.get(square, ".") for square in row) for row in squares]


# The seven files round the piece; as many ranks as the picture has, the piece in the middle.
PICTURES = {
    "W": "....... ...x... ..xPx.. ...x... .......",
    "F": "....... ..x.x.. ...P... ..x.x.. .......",
    "D": "...x... ....... .x.P.x. ....... ...x...",
    "A": ".x...x. ....... ...P... ....... .x...x.",
    "N": "..x.x.. .x...x. ...P... .x...x. ..x.x..",
    "H": "...x... ....... ....... x..P..x ....... ....... ...x...",
    "C": "..x.x.. ....... x.....x ...P... x.....x ....... ..x.x..",
    "Z": ".x...x. x.....x ....... ...P... ....... x.....x .x...x.",
    "G": "x.....x ....... ....... ...P... ....... ....... x.....x",
    "K": "....... ..xxx.. ..xPx.. ..xxx.. .......",
    "R": "...x... ...x... ...x... xxxPxxx ...x... ...x... ...x...",
    "mRR": "...o... ...o... ...o... oooPooo ...o... ...o... ...o...",
    "B2": ".x...x. ..x.x.. ...P... ..x.x.. .x...x.",
    "mfWcfF": "....... ..coc.. ...P... ....... .......",
    "fN": "..x.x.. ....... ...P... ....... .......",
    "ffN": "..x.x.. ....... ...P... ....... .......",
    "fsN": "....... .x...x. ...P... ....... .......",
    "fhN": "..x.x.. .x...x. ...P... ....... .......",
    "bhN": "....... ....... ...P... .x...x. ..x.x..",
    "vN": "..x.x.. ....... ...P... ....... ..x.x..",
    "sN": "....... .x...x. ...P... .x...x. .......",
    "lN": "....... .x..... ...P... .x..... .......",
    "rhN": "....x.. .....x. ...P... .....x. ....x..",
    "rfN": "....x.. ....... ...P... ....... .......",
    "frN": "....... .....x. ...P... ....... .......",
    "hrN": "....x.. .x..... ...P... .....x. ..x....",
    "hlN": "..x.... .....x. ...P... .x..... ....x..",
    "flF": "....... ..x.... ...P... ....... .......",
    "fsW": "....... ...x... ..xPx.. ....... .......",
    "fbF": "....... ..x.x.. ...P... ..x.x.. .......",
    "FvW": "....... ..xxx.. ...P... ..xxx.. .......",
    "mNcK": "..o.o.. .occco. ..cPc.. .occco. ..o.o..",
    "(1,2)": "..x.x.. .x...x. ...P... .x...x. ..x.x..",
    "(+1,+2)": "....x.. ....... ...P... ....... .......",
    # A griffon's corner and what lies outward of it, in both notations; without the corner itself.
    "[F?R]": "..x.x.. ..x.x.. xxx.xxx ...P... xxx.xxx ..x.x.. ..x.x..",
    "FyafsF": "..x.x.. ..x.x.. xxx.xxx ...P... xxx.xxx ..x.x.. ..x.x..",
    "yafsF": "..x.x.. ..x.x.. xx...xx ...P... xx...xx ..x.x.. ..x.x..",
    "[F-R]": "..x.x.. ..x.x.. xx...xx ...P... xx...xx ..x.x.. ..x.x..",
    "[N?B]": ".x...x. x.x.x.x .x...x. ...P... .x...x. x.x.x.x .x...x.",
    # K and Q are both of their halves, each with what lies outward of it.
    "[K?R]": "..xxx.. ..xxx.. xxxxxxx xxxPxxx xxxxxxx ..xxx.. ..xxx..",
    "[W-Q]": ".x.x.x. x.xxx.x .x...x. xx.P.xx .x...x. x.xxx.x .x.x.x.",
    "[N?K]": ".x...x. x.x.x.x .x...x. ...P... .x...x. x.x.x.x .x...x.",
    "[W?R]": "...x... ...x... ...x... xxxPxxx ...x... ...x... ...x...",
    "[W?B]": ".x...x. x.x.x.x .x.x.x. ..xPx.. .x.x.x. x.x.x.x .x...x.",
}


@pytest.mark.parametrize("betza", PICTURES)
def test_a_piece_goes_where_it_is_drawn(betza: str) -> None:
    assert drawn(betza, PICTURES[betza]) == PICTURES[betza].split()


def occupied(
    betza: str, board: dict[str, str], source: str = "d4", side: Side = "first", turned: bool = False
) -> set[str]:
    """Where a piece can go with these pieces around; upper case are those of the first side."""
    found = set()
    for route in ways(betza, source, side=side, turned=turned):
        target = board.get(route.destination)
        enemies = str.islower if side == "first" else str.isupper
        ends = (
            (target is None and route.quiet)
            or (target is not None and enemies(target) and route.capture)
            or (target is not None and not enemies(target) and route.friendly)
            or route.destination in (source, *route.taken)
        )
        if (
            ends
            and not any(square in board for square in route.empty)
            and all(square in board for square in route.occupied)
            and all(square in board and enemies(board[square]) for square in route.taken)
        ):
            found.add(route.destination)
    return found


OCCUPIED = [
    ("R", {"d6": "p", "f4": "P"}, "d5 d6 e4 d3 d2 d1 c4 b4 a4"),
    ("NN", {"f5": "p"}, "e6 f8 f5 f3 h2 e2 c2 b3 b5 c6 b8"),
    # The horse's legs are the squares beside it, the elephant's the corners.
    ("nN", {"d5": "P", "e4": "p"}, "e2 c2 b3 b5"),
    ("nA", {"e5": "p"}, "f2 b2 b6"),
    ("nZ", {"d5": "p", "e5": "p"}, "g6 g2 f1 b1 a2 a6"),
    ("nZ", {"f5": "p"}, "b7 f7 g2 f1 b1 a2 a6"),
    # Cannon, janggi's cannon, grasshopper.
    ("mRcpR", {"d6": "P", "d8": "p"}, "d5 d8 e4 f4 g4 h4 d3 d2 d1 c4 b4 a4"),
    ("pR", {"d6": "P", "d8": "p"}, "d7 d8"),
    ("pR", {"d5": "P", "d6": "P", "d7": "p"}, ""),
    ("gQ", {"d6": "P", "f6": "p", "g7": "P", "b4": "p"}, "d7 a4"),
    ("pR3", {"d5": "P", "f4": "p"}, "d6 d7 g4"),
    # A ski-rook skips the first square; jD needs something to leap over.
    ("jR", {"d5": "P", "d7": "p", "f4": "P"}, "d6 d7 d2 d1 b4 a4"),
    ("jD", {"d5": "p"}, "d6"),
    # Checkers' capture, the hit and run of a lion, and its rifle.
    ("fcafmF", {"e5": "p", "c5": "P"}, "f6"),
    ("fcafmF", {"e5": "p", "f6": "p"}, ""),
    ("cabK", {"e5": "p"}, "d4"),
    ("fcarW", {"d5": "p"}, "e5"),
    # Mao, moa, and moo; the moo has two ways to each square.
    ("afsW", {"d5": "P", "e4": "P"}, "e2 c2 b3 b5"),
    ("afsF", {"e5": "P"}, "e2 f3 c2 b3 b5 c6"),
    # Two steps, over whatever is in between.
    ("mpafW", {"d5": "P"}, "d6 f4 d2 b4"),
    ("dN", {"e6": "P", "f5": "p"}, "e6"),
    ("masR", {"d6": "P", "e4": "p", "c4": "P", "d2": "p"}, "a5 b5 c5 e5 f5 g5 h5 a3 b3 c3 e3 f3 g3 h3"),
]


@pytest.mark.parametrize(("betza", "board", "expected"), OCCUPIED)
def test_a_piece_goes_where_others_let_it(betza: str, board: dict[str, str], expected: str) -> None:
    assert occupied(betza, board) == set(expected.split())


def test_a_crooked_bishop_zigzags() -> None:
    assert reached("zfB", "d1") == "e2 f1 g2 h1 d3 e4 d5 e6 d7 e8 c2 d3 c4 d5 c6 d7 c8 b1 a2"


def test_a_rose_goes_round_by_knight_s_leaps() -> None:
    rose = ways("qNN", "d1")
    # From d1 by e3, g4, i5: off the board; by e3, g4 it is at its second leap, and back round the other way.
    found = {(route.empty, route.destination) for route in rose}
    assert {((), "e3"), (("e3",), "g4"), (("f2",), "h1"), (("f2", "g4"), "f6")} <= found
    assert (("e3", "g4", "h6"), "g8") not in found, "it keeps turning"


def test_a_double_capture_takes_both() -> None:
    [route] = ways("fcafcW", "d4")
    assert (route.destination, route.taken, route.quiet, route.capture) == ("d6", ("d5",), False, True)


def test_a_lion_has_its_twenty_four_squares_and_can_stay() -> None:
    found = {route.destination for route in ways("KNADcaKmcabK", "d4")}
    around = {cell.text((x, y)) for x, y in itertools.product(range(1, 6), range(1, 6))}
    assert found == around
    stays = [route for route in ways("KNADcaKmcabK", "d4") if route.destination == "d4"]
    assert all(len(route.taken) == 1 for route in stays), "to stay without a capture is no move"


def test_files_wrap_round_for_a_piece_or_for_the_board() -> None:
    assert reached("osW", "a1") == "b1 h1"
    assert reached("sW", "a1", Lattice(parse_shape("8x8"), cylinder=True)) == "b1 h1"
    around = ways("osR", "a1")
    assert len(around) == 14, "each square from both sides"
    assert {route.destination for route in around} == {f"{file}1" for file in "bcdefgh"}, "never back to where it began"
    assert reached("oB", "a1") == "b2 c3 d4 e5 f6 g7 h8 h2 g3 f4 e5 d6 c7 b8"


def test_space_has_its_own_directions() -> None:
    space = Lattice(parse_shape("5x5x5"))
    assert len(ways("W", "c3C", space)) == 6
    assert len(ways("F", "c3C", space)) == 12
    assert len(ways("(1,1,1)", "c3C", space)) == 8
    assert len(ways("N", "c3C", space)) == 24
    up = ways("(0,0,+1)", "c3C", space)
    assert [route.destination for route in up] == ["c3D"]
    assert [route.destination for route in ways("(0,0,+1)", "c3C", space, "second")] == ["c3B"]


def test_a_line_has_only_forward_and_back() -> None:
    line = Lattice(parse_shape("5"))
    assert [route.destination for route in ways("W", "c", line)] == ["d", "b"]
    assert [route.destination for route in ways("fR", "c", line)] == ["d", "e"]
    assert [route.destination for route in ways("fR", "c", line, "second")] == ["b", "a"]


def test_a_hole_is_no_square_to_pass() -> None:
    ring = Lattice(Board(tuple(cell.text(point) for point in itertools.product(range(3), range(3)) if point != (1, 1))))
    assert reached("Q", "a1", ring) == "a2 a3 b1 c1"
    assert reached("A", "a1", ring) == "c3"
    assert reached("nA", "a1", ring) == "", "a lame leap needs the square that it passes"


def test_routes_go_clockwise_from_the_north_nearest_first_for_both_sides() -> None:
    assert reached("W2") == "d5 d6 e4 f4 d3 d2 c4 b4"
    assert reached("W2", side="second") == "d5 d6 e4 f4 d3 d2 c4 b4"
    assert reached("N") == "e6 f5 f3 e2 c2 b3 b5 c6"
    assert reached("FW") == "e5 e3 c3 c5 d5 e4 d3 c4", "pattern by pattern"


def test_the_second_side_sees_the_mirror_image_or_the_board_turned() -> None:
    assert reached("flF") == "c5"
    assert reached("flF", side="second") == "c3"
    assert reached("flF", side="second", turned=True) == "e3"
    assert occupied("fcarW", {"d3": "P"}, side="second") == {"e3"}
    assert occupied("fcarW", {"d3": "P"}, side="second", turned=True) == {"c3"}


# --- what is refused, with the caret under it ---

REFUSED = [
    ("X", 0, '"X" means nothing'),
    ("W%", 1, '"%" means nothing'),
    ("Wf", 2, "an atom such as W is missing"),
    ("mmW", 1, "m is there twice"),
    ("wW", 0, '"w" means nothing'),
    ("nW", 0, "n is for leaps"),
    ("nR", 0, "n is for leaps"),
    ("pN", 0, "p is for rides, and N is a leap"),
    ("gR3", 0, "it has no length"),
    ("pgR", 1, "p and g contradict each other"),
    ("jN", 0, "j is for rides and for D and A"),
    ("zN", 0, "z is for rides"),
    ("zNN", 0, "z is for straight or diagonal rides"),
    ("qK", 0, "q is for rides"),
    ("hN", 0, 'N has no direction "hh"'),
    ("vsN", 0, 'N has no direction "vs"'),
    ("flK", 0, "say it of W and F apart"),
    ("fsQ", 0, "say it of R and B apart"),
    ("R03", 1, "a length has no leading zero"),
    ("W123", 1, "a length has at most two digits"),
    ("NN3", 2, "a doubled letter has no limit"),
    ("(0,0)", 0, "a vector that goes nowhere"),
    ("(1,+2)", 0, "a vector with signs has them on all numbers"),
    ("(1,2", 0, "not a vector"),
    ("(1,1,1)", 0, "the vector has 3 dimensions and the board 2"),
    ("O", 0, "castling (O) is said by the key castling"),
    ("uW", 0, "put back somewhere"),
    ("cuaW", 1, "put back somewhere"),
    ("tW", 0, "conditions on moves before"),
    ("xW", 0, "borrowed from other pieces"),
    ("yW", 0, "y stands before the a"),
    ("aiW", 1, "i is said of a whole move"),
    ("gaW", 0, "g is for the last leg"),
    ("eaW", 0, "e is for the last leg"),
    ("aqR", 1, "q is for the first leg"),
    ("afrN", 1, "N is oblique"),
    ("afhW", 1, 'no turn is called "fh"'),
    ("aaaaaaaW", 5, "a move has at most 6 legs"),
    ("[W]", 0, "brackets hold at least two legs"),
    ("[W-", 3, "an atom such as W is missing"),
    ("[W-F", 4, "legs are separated by - or ?"),
    ("[W-N]", 3, "oblique"),
    ("[W-fN]", 4, "oblique"),
    ("[W-rF]", 3, "F has no such direction behind W"),
    ("[F-fW]", 3, "W has no such direction behind F"),
    ("W W", 1, '" " means nothing'),
    ("Wé", 1, '"é" means nothing'),
    ("pceR", 2, "a capture in passing is not one over a hurdle"),
]


@pytest.mark.parametrize(("betza", "column", "message"), REFUSED)
def test_what_means_nothing_is_an_error_under_a_caret(betza: str, column: int, message: str) -> None:
    with pytest.raises(BetzaError) as caught:
        parse(betza)
    text, shown, caret = str(caught.value).split("\n")
    assert message in text
    assert shown == f"  {betza}"
    assert caret == f"  {' ' * column}^"


def test_a_tab_does_not_move_the_caret() -> None:
    with pytest.raises(BetzaError) as caught:
        parse("W\t%")
    assert str(caught.value).split("\n")[1:] == ["  W?%", "   ^"]


def test_a_string_has_an_end() -> None:
    with pytest.raises(BetzaError, match="at most 1,000 characters, not 1,001"):
        parse("W" * 1001)
    assert parse("") == ()


def test_space_and_lines_refuse_what_they_do_not_have() -> None:
    for betza, dimensions, message in [
        ("fW", 3, "in space they are vectors with signs"),
        ("F", 1, "needs two dimensions, and the board has one"),
        ("oW", 1, "no files that wrap round"),
        ("afW", 3, "legs that turn are for squares in two dimensions"),
        ("zR", 3, "z is for straight or diagonal rides on squares of two dimensions"),
    ]:
        with pytest.raises(BetzaError, match=message):
            parse(betza, dimensions)


def test_leaps_on_hexagons_pass_the_same_in_all_directions() -> None:
    lattice = Lattice(parse_shape("9x9"), hexagonal=True)
    found = {text: list(routes(parse(text, hexagonal=True), "e5", lattice, view("first", 2))) for text in ("nN", "jA")}
    assert Counter(square for route in found["nN"] for square in route.empty) == dict.fromkeys(
        ("d5", "d6", "e4", "e6", "f4", "f5"), 2
    )
    assert {(route.destination, *route.occupied) for route in found["jA"]} == {
        *(("g7", "f6"), ("c9", "d7"), ("a7", "c6"), ("c3", "d4"), ("g1", "f3"), ("i3", "g4"))
    }
    with pytest.raises(BetzaError, match="F passes over nothing"):
        parse("nF", hexagonal=True)


def test_hexagons_refuse_what_is_for_squares() -> None:
    for betza in ("fW", "zR", "qR", "afW"):
        with pytest.raises(BetzaError, match="squares"):
            parse(betza, hexagonal=True)
    assert parse("W(0,+2)", hexagonal=True)[0].legs[0].tracks != parse("W(0,+2)")[0].legs[0].tracks


# --- properties ---

LETTERS = "WFDNAHLCZJGKRBQfbrlvshmcdeinjpgzqoay0123[]-?()+,"


@settings(max_examples=300)
@given(st.text(LETTERS, max_size=12))
def test_any_text_is_patterns_or_an_error_and_routes_stay_on_the_board(text: str) -> None:
    try:
        patterns = parse(text)
    except BetzaError:
        return
    board = set(EIGHT.board.squares)
    found = list(itertools.islice(routes(patterns, "d4", EIGHT, view("first", 2)), 3_000))
    assert len(set(found)) == len(found), "no route comes twice"
    for route in found:
        assert {route.destination, *route.empty, *route.occupied, *route.taken} <= board
        assert not set(route.empty) & (set(route.occupied) | set(route.taken))


@settings(max_examples=150)
@given(st.text(LETTERS, max_size=8), st.sampled_from(EIGHT.board.squares))
def test_the_second_side_s_routes_are_the_mirror_image(text: str, source: str) -> None:
    try:
        patterns = parse(text)
    except BetzaError:
        return

    def mirrored(square: str) -> str:
        x, y = cell.parse(square)
        return cell.text((x, 7 - y))

    def key(route: Route, image: bool) -> tuple[object, ...]:
        def seen(squares: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(map(mirrored, squares)) if image else squares

        ends = seen((route.destination,))
        return ends, seen(route.empty), seen(route.occupied), seen(route.taken), route.quiet, route.capture

    first = list(itertools.islice(routes(patterns, source, EIGHT, view("first", 2)), 3_000))
    second = list(itertools.islice(routes(patterns, mirrored(source), EIGHT, view("second", 2)), 3_000))
    if len(first) < 3_000:
        assert {key(route, True) for route in first} == {key(route, False) for route in second}


@settings(max_examples=200)
@given(
    st.integers(0, 3),
    st.integers(1, 4),
    st.sampled_from(EIGHT.board.squares),
    st.sets(st.sampled_from(EIGHT.board.squares)),
    st.integers(0, 4),
)
def test_riders_go_as_a_loop_over_squares_says(a: int, b: int, source: str, blocked: set[str], reach: int) -> None:
    x, y = cell.parse(source)
    expected = set()
    for dx, dy in {(sx * p, sy * q) for p, q in ((a, b), (b, a)) for sx in (1, -1) for sy in (1, -1)}:
        for step in range(1, (reach or 8) + 1):
            there = (x + step * dx, y + step * dy)
            if not (0 <= there[0] < 8 and 0 <= there[1] < 8):
                break
            expected.add(cell.text(there))
            if cell.text(there) in blocked:
                break
    found = {route.destination for route in ways(f"({a},{b}){reach}", source) if not set(route.empty) & blocked}
    assert found == expected
