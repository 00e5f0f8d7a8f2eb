"""FEN and SFEN of the library's games: read, written, and refused with the place of what is wrong."""

from __future__ import annotations

import random

import pytest

from ggn_store import Position, PositionError
from ggn_store.games import library
from ggn_store.games.definition import read
from ggn_store.games.fen import fen, parse_fen, parse_sfen, sfen
from ggn_store.games.letters import conflicts
from ggn_store.games.rules import SIDES
from tests.support.definitions import shipped_game as game

CHESS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"

# Texts that are written as they were read.
ROUND_TRIPS = [
    ("chess", f"{CHESS} w KQkq - 0 1"),
    ("chess", f"{CHESS} b Kq - 0 1"),
    ("chess", f"{CHESS} b - - 0 1"),
    ("chess", "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq e6 0 1"),
    ("chess", "4k3/8/8/8/3P4/8/8/R3K3 b Q d3 0 1"),
    ("chess", "4k3/8/8/8/3P4/8/8/R3K3 b Q - 17 142"),
    ("chess", "4k3/8/8/8/3P4/8/8/R3K3 w Q - 99 1"),
    ("3check", f"{CHESS} w KQkq - 3+1 4 3"),
    ("crazyhouse", "r1bqk2r/ppp2pp1/8/8/8/8/PPP2PPP/RNBQK2R[NPPbp] b KQkq - 0 1"),
    ("crazyhouse", "4k2Q~/8/8/8/8/8/8/q~3K3[] w - - 0 1"),
    ("shogi", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL[] w - - 0 1"),
    ("shogi", "4k4/9/4+P4/9/9/9/9/9/4K+r3[RPPb] b - - 0 1"),
    ("xiangqi", "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"),
    ("capablanca", "rnabqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR w KQkq - 0 1"),
    ("shako", "c8c/ernbqkbnre/pppppppppp/10/10/10/10/PPPPPPPPPP/ERNBQKBNRE/C8C w KQkq - 0 1"),
    ("cambodian", "rnsmksnr/8/pppppppp/8/8/PPPPPPPP/8/RNSKMSNR w DEde - 0 1"),
    ("cambodian", "rnsm1snr/4k3/pppppppp/8/8/PPPPPPPP/8/RNSKMSNR b Dd - 0 1"),
    ("seirawan", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[EHeh] w KQBCDFGkqbcdfg - 0 1"),
    ("seirawan", "rnbqkbnr/pppppppp/8/8/8/2N5/PPPPPPPP/RHBQKBNR[Eeh] b KQCDFGkqbcdfg - 0 1"),
    ("spartan", "lgkcckwl/hhhhhhhh/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1"),
    (
        "omicron",
        "w**********w/*crnbqkbnrc*/*pppppppppp*/" + "*10*/" * 4 + "*PPPPPPPPPP*/*CRNBQKBNRC*/W**********W w KQkq - 0 1",
    ),
]


@pytest.mark.parametrize(("name", "text"), ROUND_TRIPS)
def test_a_fen_is_written_as_it_was_read(name: str, text: str) -> None:
    assert fen(parse_fen(text, game(name)), game(name)) == text


# The same position in other words.
SPELLINGS = [
    ("chess", f"{CHESS}", f"{CHESS} w - - 0 1"),
    ("chess", f"{CHESS} b", f"{CHESS} b - - 0 1"),
    ("chess", f"{CHESS} w HAha - 12 40", f"{CHESS} w KQkq - 12 40"),
    ("chess", f"  {CHESS}  w  KQkq  - ", f"{CHESS} w KQkq - 0 1"),
    ("chess", f"{CHESS} w KQkq - 0 0", f"{CHESS} w KQkq - 0 1"),
    ("chess", f"{CHESS} b - - 7 0", f"{CHESS} b - - 7 1"),
    ("chess", f"{CHESS} b - - 7", f"{CHESS} b - - 7 1"),
    (
        "makruk",
        "rnsmksnr/8/pppppppp/8/8/PPPPPPPP/8/RNSKMSNR b - 128 5 70",
        "rnsmksnr/8/pppppppp/8/8/PPPPPPPP/8/RNSKMSNR b - - 5 70",
    ),
    ("3check", f"{CHESS} w KQkq - 0 1 +0+0", f"{CHESS} w KQkq - 3+3 0 1"),
    ("3check", f"{CHESS} w +2+1", f"{CHESS} w - - 1+2 0 1"),
    ("3check", f"{CHESS} w KQkq - 9 9 +3+0", f"{CHESS} w KQkq - 0+3 9 9"),
    ("5check", f"{CHESS} w KQkq - 0 1 +0+4", f"{CHESS} w KQkq - 5+1 0 1"),
    ("crazyhouse", "4k3/8/8/8/8/8/8/4K3/QRb w - - 0 1", "4k3/8/8/8/8/8/8/4K3[QRb] w - - 0 1"),
    ("crazyhouse", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/4K3[] w - - 0 1"),
    ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[bRQ] w - - 0 1", "4k3/8/8/8/8/8/8/4K3[QRb] w - - 0 1"),
    ("minishogi", "rbsgk/4p/5/P4/KGSBR[-] w 0 1", "rbsgk/4p/5/P4/KGSBR[] w - - 0 1"),
]


@pytest.mark.parametrize(("name", "text", "written"), SPELLINGS)
def test_one_position_has_many_spellings(name: str, text: str, written: str) -> None:
    assert fen(parse_fen(text, game(name)), game(name)) == written


def test_castling_rights_and_the_passed_square_become_states() -> None:
    position = parse_fen("r3k2r/8/8/8/3pP3/8/8/R3K2R b Kq e3 0 1", game("chess"))
    assert position == Position(
        {
            "a8": "c:+r",
            "e8": "c:+k^",
            "h8": "c:r",
            "a1": "C:R",
            "e1": "C:+K^",
            "h1": "C:+R",
            "e4": "C:-P",
            "d4": "c:p",
        },
        None,
        "second",
    )


def test_hands_are_known_where_a_game_has_drops_and_unknown_where_it_has_none() -> None:
    assert parse_fen("4k3/8/8/8/8/8/8/4K3[]", game("crazyhouse")).hands == {}
    assert parse_fen("4k3/8/8/8/8/8/8/4K3[NNp]", game("crazyhouse")).hands == {"C:N": 2, "c:p": 1}
    assert parse_fen("4k3/8/8/8/8/8/8/4K3", game("chess")).hands is None


def test_a_fen_without_hands_means_those_that_never_run_out() -> None:
    ataxx, placement = library.read_game("ataxx"), library.read_game("placement")
    assert parse_fen("P5p/7/7/7/7/7/p5P w 0 1", ataxx).hands == {"C:P": 49, "c:p": 49}
    assert parse_fen("P5p/7/7/7/7/7/p5P[] w 0 1", ataxx).hands == {}
    assert parse_fen("k7/8/8/8/8/8/8/K7 w - - 0 1", placement).hands == {}


def test_the_start_of_every_game_of_two_dimensions_is_written_and_read_again() -> None:
    for name in library.names():
        definition = game(name)
        if definition.start is None or len(definition.start.split(" ")[0].split("//")) > 1:
            continue
        start = Position.from_feen(definition.start)
        text = fen(start, definition)
        again = parse_fen(text, definition)
        assert (dict(again.board), again.hands or {}, again.side) == (dict(start.board), start.hands, start.side), name
        assert list(conflicts(definition)) == []


def test_any_position_of_the_pieces_of_a_game_is_read_as_it_was_written() -> None:
    for name in ("chess", "crazyhouse", "shogi", "seirawan", "xiangqi", "cambodian"):
        definition, chance = game(name), random.Random(name)
        forms = [form for side in SIDES for form in definition.army(side).forms]
        for _ in range(200):
            board: dict[str, str | None] = {}
            for square in chance.sample(definition.board.squares, 12):
                # Unmoved kings without rooks and stale marks are states that FEN leaves out.
                fitting = [form.identifier for form in forms if form.can_stand(square) and form.kind == "plain"]
                if fitting:
                    board[square] = chance.choice(fitting)
            held = [form.identifier for form in forms if form.can_be_held]
            hands = (
                {piece: chance.randrange(1, 5) for piece in chance.sample(held, min(3, len(held)))} if held else None
            )
            position = Position(board, hands, chance.choice(SIDES))
            assert parse_fen(fen(position, definition), definition) == position


# --- SFEN ---

SFENS = [
    ("shogi", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"),
    ("shogi", "4k4/9/4+P4/9/9/9/9/9/4K4 w R10P2n 1"),
    ("shogi", "4k4/9/4+P4/9/9/9/9/9/4K4 w R10P2n 88"),
    ("minishogi", "rbsgk/4p/5/P4/KGSBR b - 1"),
]


@pytest.mark.parametrize(("name", "text"), SFENS)
def test_a_sfen_is_written_as_it_was_read(name: str, text: str) -> None:
    assert sfen(parse_sfen(text, game(name)), game(name)) == text


def test_moves_are_counted_from_1_whatever_a_text_begins_with() -> None:
    king = "9/9/9/9/9/9/9/9/K8"
    for side in "bw":
        counted = parse_fen(f"{king} {side} - - 0 0", game("shogi"))
        assert counted == parse_fen(f"{king} {side} - - 0 1", game("shogi"))
        assert counted.counters == parse_fen(f"{king} {side} - - 0 1", game("shogi")).counters
    assert sfen(parse_sfen(f"{king} b - 0", game("shogi")), game("shogi")) == f"{king} b - 1"


def test_b_is_the_first_side_in_sfen_and_the_second_in_fen() -> None:
    placement = SFENS[0][1].split()[0]
    assert parse_sfen(f"{placement} b - 7", game("shogi")).side == "first"
    assert parse_fen(f"{placement} b", game("shogi")).side == "second"


# --- what is refused ---

REFUSED = [
    ("chess", "", "the text is empty"),
    ("chess", "8/8/8/8/8/8/8 w", "the placement has 7 ranks; allowed: 8"),
    ("chess", "x", "is not a FEN of this game: the placement has 1 rank; allowed: 8"),
    ("chess", "8/8/8/8/8/8/8/1 w", 'rank 1, "1", has 1 square; allowed: 8'),
    ("chess", "8/8/8/8/8/8/8/7 w", 'rank 1, "7", has 7 squares; allowed: 8'),
    ("chess", "8/8/8/8/8/8/8/9 w", 'rank 1, "9", is not of 8 squares'),
    ("chess", "8/8/8/8/8/8/8/0P7 w", 'rank 1, "0P7", is not of 8 squares'),
    ("chess", "8/8/8/8/8/8/x7/8 w", '"x" in rank 2, "x7", is no piece of this game; allowed: K, Q, R, B, N, P, k'),
    ("chess", "8/8/8/8/8/8/+R7/8 w", '"+R" in rank 2'),
    ("chess", "8/8/8/8/8/8/?7/8 w", '"?" in rank 2, "?7", means nothing'),
    ("chess", "8/8/8/8/8/8/*7/8 w", "has a hole at a2"),
    ("omicron", "12/" * 9 + "1P10 w", "a piece where the board has a hole"),
    ("chess", f"{CHESS} x", '"x" is not a side; allowed: w (first) or b (second)'),
    ("chess", f"{CHESS} w KX", '"X" in the castling field means nothing; allowed: K, Q, A, E, H, -'),
    ("chess", f"{CHESS} w K?", '"?" in the castling field'),
    ("chess", "4k3/8/8/8/8/8/8/4K3 w K", '"K" in the castling field "K" needs R on h1'),
    ("chess", "4k3/8/8/8/8/8/8/4K2r w K", '"K" in the castling field "K" needs R on h1'),
    ("chess", "3k4/8/8/8/8/8/8/4K3 w q", '"q" in the castling field "q" needs k on e8'),
    ("chess", f"{CHESS} w - e6", "no piece can have passed e6"),
    ("chess", f"{CHESS} w - zz", '"zz" is not a square'),
    ("chess", f"{CHESS} w - - x 1", '"x" is not a counter'),
    ("3check", f"{CHESS} w KQkq - 9 9 +7+0", '"+7+0" are more checks than win; allowed: from +0+0 to +3+3'),
    ("chess", "8/8/8/8/8/8/8/8[Q] w", 'it has the hands "Q"; allowed: no hands'),
    ("crazyhouse", "8/8/8/8/8/8/8/8[Q w", "the brackets of the hands"),
    ("crazyhouse", "8/8/8/8/8/8/8/8[X] w", '"X" in the hands "X" is no piece of this game'),
    ("crazyhouse", "8/8/8/8/8/8/8/8[Q!] w", '"!" in the hands "Q!" means nothing'),
    ("pocketknight", "8/8/8/8/8/8/8/8[Q] w", '"Q" in the hands "Q" is never in a hand'),
    ("raumschach", "5/5/5/5/5 w", "this game's has 3: write FEEN"),
    ("chess", "8/" * 3000, "a FEN has at most 4,096 characters"),
]


@pytest.mark.parametrize(("name", "text", "message"), REFUSED)
def test_a_wrong_fen_is_refused_where_it_is_wrong(name: str, text: str, message: str) -> None:
    with pytest.raises(PositionError) as caught:
        parse_fen(text, game(name))
    assert message in str(caught.value)


SFEN_REFUSED = [
    ("9/9/9/9/9/9/9/9/9 b", "is not an SFEN of this game: it has 2 fields; allowed: placement, side"),
    ("9/9/9/9/9/9/9/9/9 x - 1", '"x" is not a side; allowed: b (first) or w (second)'),
    ("9/9/9/9/9/9/9/9/9 b - one", '"one" is not a move number'),
    ("9/9/9/9/9/9/9/9/9 b RK 1", '"K" in the hands "RK" is never in a hand; allowed: pieces that can be'),
    ("9/9/9/9/9/9/9/9/9 b 2P+p 1", '"+p" in the hands "2P+p" is never in a hand'),
    ("9/9/9/9/9/9/9/9/9 b 2X 1", '"X" in the hands "2X" is no piece of this game'),
]


@pytest.mark.parametrize(("text", "message"), SFEN_REFUSED)
def test_a_wrong_sfen_is_refused_where_it_is_wrong(text: str, message: str) -> None:
    with pytest.raises(PositionError) as caught:
        parse_sfen(text, game("shogi"))
    assert message in str(caught.value)


UNWRITABLE = [
    ("chess", {"e4": "C:X"}, None, "no letter for C:X, which is on e4: write FEEN"),
    ("chess", {"z9": "C:K^"}, None, '"z9", where the position has C:K^, is not on the board'),
    ("chess", {"e4": "C:K^"}, {"C:P": 1}, "this game has no hands to write"),
    ("crazyhouse", {"e4": "C:K^"}, {"C:X": 1}, "no letter for C:X, which is in a hand"),
    ("chess", {"e5": "c:-p", "d5": "c:-p"}, None, "not of c:-p on e5, c:-p on d5"),
]


@pytest.mark.parametrize(("name", "board", "hands", "message"), UNWRITABLE)
def test_a_position_that_fen_cannot_say_is_refused(
    name: str, board: dict[str, str | None], hands: dict[str, int] | None, message: str
) -> None:
    with pytest.raises(PositionError) as caught:
        fen(Position(board, hands), game(name))
    assert message in str(caught.value)


def test_sfen_has_no_states() -> None:
    with pytest.raises(PositionError, match=r"the state of C:\+K\^ on e1"):
        sfen(Position({"e1": "C:+K^"}), game("chess"))


def test_two_pieces_with_one_letter_are_a_conflict() -> None:
    text = 'title = "x"\nboard = "3x3"\nstyle = "C"\n[pieces.A]\nbetza = "W"\n[pieces.B]\nbetza = "F"\nfen = "A"'
    definition = read(text)
    assert list(conflicts(definition)) == ["A and B would both be written A"] * 2
    with pytest.raises(PositionError, match="A and B would both be written A"):
        parse_fen("3/3/3", definition)


def test_each_side_has_the_letters_of_its_own_army() -> None:
    spartan = game("spartan")
    with pytest.raises(PositionError, match='"H" in rank 1'):
        parse_fen("8/8/8/8/8/8/8/H7 w", spartan)
    assert parse_fen("8/8/8/8/8/8/8/h7 w", spartan).board == {"a1": "s:h"}
