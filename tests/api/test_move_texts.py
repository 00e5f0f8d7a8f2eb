"""Moves of a ruleset as text: each notation is read back, says what is wrong, and agrees with other programs."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import chess
import chess.variant
import pytest

from ggn_store import Move, MoveError, Position, Ruleset, Store, guides, parse, read_definition
from ggn_store.api.moves.move_notations import NOTATIONS
from ggn_store.errors import MoveTextError
from ggn_store.games import library
from ggn_store.model.moves import play_text
from ggn_store.model.moves.play import Duty, Play
from tests.oracles.fairy_stockfish import FIXTURES, fixture
from tests.oracles.move_texts import played
from tests.support.games import Games
from tests.support.program import MINI

ALL = sorted(path.stem for path in FIXTURES.glob("*.txt"))
# Castling and passing, drops and promoted pieces, gating, two-digit ranks, holes, pieces that turn over, walls.
FEW = ("chess", "seirawan", "minishogi", "xiangqi", "kyotoshogi", "dobutsu", "tic-tac-toe", "snailtrail")


# Mates and castlings; promotions; knights that need a file, a rank or both; a capture in passing.
MARKED = (
    "6k1/5ppp/8/8/8/8/8/R3K2R w KQ - 0 1",
    "3n1nk1/4P1pp/8/8/8/8/8/4K3 w - - 0 1",
    "k7/8/8/1N3N2/8/8/8/KN3N2 w - - 0 1",
    "k7/8/8/3pP3/8/8/8/K7 w - d6 0 2",
)
PINNED = "4r1k1/8/8/8/8/8/4Q3/4K3 w - - 0 1"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
PROMOTES = "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"


def read_back(rules: Ruleset, fen: str | None, chance: random.Random, count: int) -> None:
    """Some moves of a position are written in every notation, and read as what they are, and as nothing else.

    SAN tells only legal moves apart: of others it is one of those that are found.
    """
    position = rules.start if fen is None else rules.position(fen=fen)
    moves, legal = rules.moves(position), rules.legal_moves(position)
    for move in chance.sample(moves, min(count, len(moves))):
        for notation in NOTATIONS:
            text = rules.move_text(move, position, notation)
            found = rules.read_move(text, position, notation, pseudo=True)
            assert move in found.moves, (notation, text)
            assert len(found.moves) == 1 or (notation == "san" and move not in legal), (notation, text)


@pytest.mark.parametrize("name", FEW)
def test_every_notation_is_read_back(sqlite_games: Games, name: str) -> None:
    rules = sqlite_games[name]
    for fen in [sample.fen for sample in fixture(name)[:4]] if name in ALL else [None]:
        read_back(rules, fen, random.Random(1), 6)


@pytest.mark.long
@pytest.mark.parametrize("name", library.names())
def test_every_notation_is_read_back_in_every_game(sqlite_games: Games, name: str) -> None:
    rules = sqlite_games[name]
    if library.read_game(name).lattice.dimensions == 3:
        pytest.skip("of its three dimensions, USI and SAN cannot say one")
    for fen in [sample.fen for sample in fixture(name)] if name in ALL else [None]:
        read_back(rules, fen, random.Random(1), 8)


@pytest.mark.parametrize(("name", "board"), [("chess", chess.Board), ("crazyhouse", chess.variant.CrazyhouseBoard)])
@pytest.mark.parametrize("count", [10, pytest.param(1_000, marks=pytest.mark.long)])
def test_san_is_that_of_python_chess(sqlite_games: Games, name: str, board: type[chess.Board], count: int) -> None:
    rules = sqlite_games[name]
    marks: set[str] = set()
    for each in (*map(board, MARKED), *played(board, count)):
        position = rules.position(fen=each.fen(en_passant="fen"))
        for known in each.legal_moves:
            text = each.san(known)
            text = f"P{text}" if text.startswith("@") else text
            move = rules.parse_move(known.uci(), position, "uci")
            assert rules.move_text(move, position, "san") == text
            assert rules.parse_move(text, position, "san") == move
            marks |= {*text} & {*"+#x=O@"}
    assert marks >= {*"+#x=O"}


@pytest.mark.parametrize(
    ("name", "board", "fen", "ends"),
    [
        (
            "kingofthehill",
            chess.variant.KingOfTheHillBoard,
            "r1bqkbnr/ppppp1p1/5p2/7p/1P2P3/1Q2K2P/R2P1PP1/1NB2BNR w q - 0 10",
            "Kd4#",
        ),
        ("3check", chess.variant.ThreeCheckBoard, "4k3/8/8/8/8/8/8/R3K3 w - - 1+3 0 1", "Ra8#"),
        *(
            pytest.param(*game, marks=pytest.mark.long)
            for game in (
                ("atomic", chess.variant.AtomicBoard, "4k3/3p4/8/1B6/8/8/8/4K3 w - - 0 1", "Bxd7#"),
                ("antichess", chess.variant.AntichessBoard, "k7/3N4/8/8/2p3b1/8/8/8 b - - 2 48", "Bxd7#"),
                ("racingkings", chess.variant.RacingKingsBoard, "5K2/k7/8/8/8/8/8/8 b - - 0 95", "Kb7#"),
            )
        ),
        ("chess", chess.Board, "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", "Qg7#"),
    ],
)
def test_san_marks_every_move_that_ends_a_game_with_a_winner(
    sqlite_games: Games, name: str, board: type[chess.Board], fen: str, ends: str
) -> None:
    rules, known = sqlite_games[name], board(fen)
    position = rules.position(fen=fen)
    texts = {rules.move_text(move, position, "san") for move in rules.legal_moves(position)}
    assert texts == {known.san(move) for move in known.legal_moves}
    assert ends in texts
    assert rules.outcome(rules.apply(position, ends)).winner is not None


# --- what is read ---


@pytest.mark.parametrize(
    ("text", "notation", "path"),
    [
        ("e2 e4", "own", "e2 e4"),
        ("e2e4", "own", "e2 e4"),
        ("E2-e4", "own", "e2 e4"),
        ("e4", "san", "e2 e4"),
        ("Nf3", "san", "g1 f3"),
        (" Ng1f3 ", "own", "g1 f3"),
        ("N1f3", "san", "g1 f3"),
        ("4g4e", "usi", "e2 e4"),
    ],
)
def test_a_text_is_read_in_the_first_notation_in_which_it_means_one_move(
    games: Games, text: str, notation: str, path: str
) -> None:
    rules = games["chess"]
    found = rules.read_move(text, rules.start)
    (move,) = found.moves
    assert isinstance(move, Move)
    assert (found.notation, f"{move.source} {move.destination}") == (notation, path)
    assert rules.parse_move(text, rules.start) == move
    assert rules.along(rules.start, text) == (move,)
    assert rules.apply(rules.start, text) == rules.apply(rules.start, move)


def test_what_uci_leaves_unpromoted_is_not_promoted(sqlite_games: Games) -> None:
    rules = sqlite_games["minishogi"]
    position = rules.position(sfen="4k/5/P4/5/4K b - 1")
    after = rules.apply(position, "a3a4")
    assert after.board["a4"] == "MINISHOGI:P" or after.board["a4"].endswith(":P")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fen", "text", "notation", "said"),
    [
        (None, "e2e5", None, "e2e5: the position does not allow this move to first; possible: e2 e3, e2 e4"),
        (None, "e2e5", "uci", "e2e5: the position does not allow this move to first; possible: e2e3, e2e4"),
        (None, "Ne4", "san", "Ne4: the position does not allow this move to first; possible: Nc3, Na3, Nh3, Nf3"),
        (None, "4g4d", "usi", "4g4d: the position does not allow this move to first; possible: 4g4f, 4g4e"),
        (None, "O-O", None, "O-O: the position does not allow this move to first; possible: "),
        (None, "e2 e4", "uci", '"e2 e4" is not a move in UCI, such as e2e4'),
        (None, "e9e1", "uci", '"e9e1": chess@1 has no square "e9"'),
        (None, "castle", None, '"castle" is no square of the board, and no move that is written in one word'),
        (None, "castle", "san", '"castle" is not a move in SAN'),
        (None, "e2e4", "pgn", '"pgn" is not a notation of moves: there are own, uci, usi, san'),
        (None, "x" * 1001, None, "a text of more than 1,000 characters is no move"),
        (
            "4k3/P7/8/8/8/8/8/4K3 w - - 0 1",
            "a7a8",
            None,
            '"a7a8" may mean a7 a8 1, a7 a8 2, a7 a8 3, a7 a8 4: say which',
        ),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8", "uci", "possible: a7a8q, a7a8r, a7a8b, a7a8n"),
        ("8/P6P/8/1k6/8/8/8/4K3 w - - 0 1", "h8", "san", "possible: h8=Q, h8=R, h8=B, h8=N"),
        ("4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "Rd1", "san", '"Rd1" may mean a1 d1, h1 d1: say which'),
    ],
)
def test_what_is_no_move_is_told_with_what_would_be(
    sqlite_games: Games, fen: str | None, text: str, notation: str | None, said: str
) -> None:
    rules = sqlite_games["chess"]
    position = rules.position(fen=fen)
    with pytest.raises(MoveError, match=re.escape(said)):
        rules.parse_move(text, position, notation)


def test_a_text_of_no_notation_is_an_error_of_its_own(sqlite_games: Games) -> None:
    rules = sqlite_games["chess"]
    with pytest.raises(MoveTextError):
        rules.parse_move("castle", rules.start)
    with pytest.raises(MoveError) as caught:
        rules.parse_move("e2e5", rules.start)
    assert not isinstance(caught.value, MoveTextError)


def test_castling_over_an_attack_is_no_move_where_captures_are_named(sqlite_games: Games) -> None:
    # What is captured in crazyhouse is named, as it goes to the hand: a king that has not moved is on e8 only.
    rules = sqlite_games["crazyhouse"]
    position = rules.position(fen="rn1qk2r/npp2pb1/p3b1N1/2BppPpp/PP2P1P1/3P4/2P4P/RN1QKB1R[] b KQkq - 2 15")
    assert rules.attackers(position, "f8") == [("c5", "C:B"), ("g6", "C:N")]
    with pytest.raises(MoveError, match="O-O: this move is not legal here"):
        rules.parse_move("O-O", position)
    assert rules.perft(position, 1, legal=True).count == len(rules.legal_moves(position))


PASSING = """
title = "Two kings"
board = "3x3"
style = "C"
start = "1k^1/3/1K^1 / C/c"
play = { duties = ["pass"] }

[pieces.K]
name = "king"
betza = "K"
terminal = true
"""


def test_a_pass_is_written_and_read_in_every_notation(store: Store) -> None:
    store.load(read_definition(PASSING), "kings")
    rules = store.ruleset("kings")
    *_, move = rules.legal_moves(rules.start)
    texts = {notation: rules.move_text(move, rules.start, notation) for notation in NOTATIONS}
    assert texts == {"own": "b1 b1", "uci": "b1b1", "usi": "2c2c", "san": "--"}
    for notation, text in texts.items():
        assert rules.parse_move(text, rules.start, notation) == rules.parse_move(text, rules.start) == move
    for text in ("pass", "Pass", "0000"):
        assert rules.parse_move(text, rules.start) == move, text
    after = rules.apply(rules.start, "b1b1")
    assert rules.apply(rules.start, "pass") == after
    assert (after.board, after.side) == (rules.start.board, "second")
    with pytest.raises(MoveError, match="the position does not allow this move"):
        rules.parse_move("a1 a1", rules.start)
    store.load(read_definition(PASSING.replace('duties = ["pass"]', 'duties = ["royal-safety"]')), "kings")
    for text in ("pass", "0000"):
        with pytest.raises(MoveError, match=f"{text}: the position does not allow this move to first; possible: "):
            store.ruleset("kings").parse_move(text, rules.start)


BLASTING = """
title = "Powder"
board = "3x4"
style = "C"
start = "k2/2r/1P1/1K1 / C/c"

[zones]
last = "a4:c4"

[pieces]
K = { betza = "K" }
R = { betza = "R" }
P = { betza = "mfWcfF", promotion = { zone = "last", to = ["R", "K"], forced = true }, blast = { spares = ["P"] } }
"""


def test_what_a_blast_destroys_is_promoted_in_every_notation_as_engines_and_pgn_write_it(store: Store) -> None:
    store.load(read_definition(BLASTING), "powder")
    rules = store.ruleset("powder")
    position = rules.position(fen="k1r/1P1/3/1K1 w - - 0 1")
    [move] = rules.moves(position, source="b3", destination="c4")
    assert rules.apply(position, move).board.get("c4") is None
    assert [rules.move_text(move, position, each) for each in ("uci", "san")] == ["b3c4r", "bxc4=R"]
    for text in ("bxc4=R", "bxc4=K", "bxc4K", "bxc4", "b3c4k"):
        assert rules.parse_move(text, position) == move, text
    with pytest.raises(MoveError, match=r"possible: bxc4=R$"):
        rules.parse_move("bxc4=Q", position, "san")


def test_several_steps_are_written_as_a_path_of_squares(store: Store) -> None:
    def jump(source: str, over: str, to: str) -> dict[str, object]:
        diff = {"board": {source: None, over: None, to: "D:M"}}
        return {
            to: [{"action": {"name": "jump", "chainable": True}, "must": {over: "enemy", to: "empty"}, "diff": diff}]
        }

    store.load({"D:M": {"a1": jump("a1", "b2", "c3"), "c3": jump("c3", "d4", "e5")}}, "jumps")
    rules, board = store.ruleset("jumps"), {"a1": "D:M", "b2": "d:m", "d4": "d:m"}
    (chain,) = rules.chains(board)
    assert rules.move_text(chain, board) == "a1 c3 e5"
    assert rules.parse_move("a1 c3 e5", board) == rules.parse_move("a1c3e5", board) == chain
    for notation, text in (("uci", "a1c3e5"), ("usi", "5e3c1a")):
        assert rules.move_text(chain, board, notation) == text
        assert rules.parse_move(text, board, notation) == chain
        with pytest.raises(MoveError, match="step 2, c3 a1, is not possible"):
            rules.parse_move({"uci": "a1c3a1", "usi": "5e3c5e"}[notation], board, notation)
    with pytest.raises(MoveError, match="SAN cannot write a move of several steps, a1 c3 e5"):
        rules.move_text(chain, board, "san")


# --- rulesets without a definition ---


def test_actions_that_are_written_alike_have_numbers_where_several_are_legal(store: Store) -> None:
    def take(name: str, taken: str) -> dict[str, Any]:
        diff = {"board": {"a1": None, "a2": "H:P", taken: None}}
        return {"action": {"name": name}, "must": {taken: "enemy"}, "diff": diff}

    walk = {"action": {"name": "walk"}, "diff": {"board": {"a1": None, "a2": "H:P"}}}
    parsed = parse({"H:P": {"a1": {"a2": [walk, take("left", "a3"), take("right", "b2"), take("behind", "b1")]}}})
    first = play_text.text(Play((Duty("mandatory-capture"),)))
    store.load(replace(parsed, envelope=replace(parsed.envelope, play=first)), "alike")
    rules = store.ruleset("alike")

    def texts(notation: str, *taken: str) -> list[str]:
        position = Position({"a1": "H:P", **dict.fromkeys(taken, "h:p")})
        legal = rules.legal_moves(position)
        written = [rules.move_text(move, position, notation) for move in legal]
        assert [rules.parse_move(text, position, notation) for text in written] == legal
        return written

    assert texts("uci") == texts("uci", "b2") == ["a1a2"]
    assert texts("uci", "a3", "b1") == ["a1a2,2", "a1a2,3"]
    assert texts("usi", "a3", "b2", "b1") == ["2c2b,2", "2c2b,3", "2c2b,4"]


def test_without_a_definition_the_identifiers_are_what_moves_are_called_by(store: Store) -> None:
    store.load(MINI, "mini")
    rules = store.ruleset("mini")
    position = rules.position(feen="1p1/P2/3 P/ C/c")
    texts = [rules.move_text(move, position, "uci") for move in rules.moves(position)]
    assert sorted(texts) == ["P@c1", "a2a3n", "a2a3q", "a2b3"]
    for text, move in zip(texts, rules.moves(position), strict=True):
        assert rules.parse_move(text, position, "uci") == move


def test_castling_and_promotion_are_called_by_what_identifiers_say(store: Store) -> None:
    board = {"e1": "C:+K^", "h1": "C:+R", "b2": "C:S"}
    castle = {"board": {"e1": None, "g1": "C:K^", "f1": "C:R", "h1": None}}
    document = {
        "C:+K^": {"e1": {"g1": [{"diff": castle}], "f1": [{"diff": {"board": {"e1": None, "f1": "C:K^"}}}]}},
        "C:S": {
            "b2": {
                "b3": [{"diff": {"board": {"b2": None, "b3": piece}}} for piece in ("C:S", "C:+S")],
            }
        },
    }
    store.load(document, "rules")
    rules = store.ruleset("rules")
    found = {
        notation: [rules.move_text(move, board, notation) for move in rules.moves(board)]
        for notation in ("own", "uci", "san")
    }
    assert found == {
        "own": ["e1 g1", "e1 f1", "b2 b3 1", "b2 b3 2"],
        "uci": ["e1g1", "e1f1", "b2b3", "b2b3+"],
        "san": ["O-O", "Kf1", "Sb3", "Sb3=+S"],
    }


def test_squares_with_other_names_have_the_own_notation_only(store: Store) -> None:
    moves = {"Baltic": [{"require": {"Baltic": "empty"}, "perform": {"North Sea": None, "Baltic": "SEA:P"}}]}
    document = {"SEA:P": {"North Sea": moves}}
    store.load(document, "seas")
    rules = store.ruleset("seas")
    position = {"North Sea": "SEA:P"}
    (move,) = rules.moves(position)
    assert rules.move_text(move, position) == "North Sea Baltic"
    assert rules.parse_move("north sea baltic", position) == move
    for notation, said in (
        ("uci", "UCI cannot write the move"),
        ("usi", "USI is for boards of files and ranks, which seas@1 does not have"),
        ("san", "SAN is for boards such as that of chess, and seas@1 has no such board"),
    ):
        with pytest.raises(MoveError, match=re.escape(said)):
            rules.move_text(move, position, notation)
        with pytest.raises(MoveError):
            rules.parse_move("a1a2", position, notation)


def test_the_guide_says_what_each_notation_looks_like() -> None:
    text = guides.text("moves")
    for name in NOTATIONS:
        assert f"| `{name}` |" in text


def test_a_text_is_read_on_the_board_as_it_is_when_it_is_read(games: Games) -> None:
    chess = games["chess"]
    position = Position({"e1": "C:K^", "e8": "c:k^", "a1": "C:R", "a4": "c:p"})
    assert str(chess.parse_move("Rxa4", position, "san")) == "C:R a1 a4"
    del position.board["a4"]  # type: ignore[attr-defined]
    assert str(chess.parse_move("Ra4", position, "san")) == "C:R a1 a4"
