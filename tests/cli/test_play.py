"""`ggn-store play`: games from files and pipes and in a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess as python_chess
import pytest

from ggn_store import Position, Store
from tests.support.games import Games
from tests.support.program import Command, Program, child_environment, process, write

# Morphy against the Duke of Brunswick and Count Isouard, Paris 1858.
OPERA = (
    "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6 f3b3 d8e7 b1c3 c7c6 c1g5 "
    "b7b5 c3b5 c6b5 c4b5 b8d7 e1c1 a8d8 d1d7 d8d7 h1d1 e7e6 b5d7 f6d7 b3b8 d7b8 d1d8"
)
PROMOTING = "7k^/P7/8/8/8/8/8/7K^ / C/c"
QUEENED = "Q6k^/8/8/8/8/8/8/7K^ / c/C"


# --- from files and pipes ---


def plain(feen: str) -> tuple[dict[str, str], str]:
    """Letters by square, without what pieces remember; and the side to move."""
    position = Position.from_feen(feen)
    letters = {square: str(piece).split(":")[1].lstrip("+-").rstrip("^") for square, piece in position.board.items()}
    return letters, position.side


def test_a_famous_game_is_played_as_python_chess_plays_it(ask: Command, tmp_path: Path) -> None:
    board = python_chess.Board()
    forms: list[Callable[[str], str]] = [
        lambda move: move,
        lambda move: f"{move[:2].upper()} {move[2:].upper()}",
        lambda move: f"{move[:2]} {move[2:]}  # as it was",
    ]
    typed = []
    for number, move in enumerate(OPERA.split()):
        assert python_chess.Move.from_uci(move) in board.legal_moves
        board.push_uci(move)
        typed.append(forms[number % 3](move))
        if number % 8 == 0 or number == 32:
            file = write(tmp_path / "opera.txt", "\n".join(typed))
            result = ask("play", "chess", "--moves", file)
            ended = "the game is over: first wins: checkmate\n" if board.is_checkmate() else ""
            assert (result.code, result.err) == (0, ended)
            expected = {python_chess.SQUARE_NAMES[square]: str(piece) for square, piece in board.piece_map().items()}
            assert plain(result.out.strip()) == (expected, "second" if board.turn == python_chess.BLACK else "first")
    assert board.is_checkmate()


def test_moves_come_through_a_pipe_and_the_position_goes_out(ask: Command) -> None:
    piped = ask("play", "chess", stdin="e2 e4\r\n\r\n# a remark\r\ne7 e5\r\nundo\r\nc7c5")
    named = ask("play", "chess", "--moves", "-", stdin="\ufeffe2e4\nc7c5\nquit\nnobody reads this\n")
    assert piped.code == 0
    assert piped == named
    assert piped.out == "+rnbq+k^bn+r/pp1ppppp/8/2-p5/4P3/8/PPPP1PPP/+RNBQ+K^BN+R / C/c\n"
    assert ask("play", "chess").out == "+rnbq+k^bn+r/pppppppp/8/8/8/8/PPPPPPPP/+RNBQ+K^BN+R / C/c\n"


def test_the_position_at_the_end_is_written_in_the_form_that_was_asked_for(ask: Command) -> None:
    after = ask("play", "chess", "--feen", PROMOTING, "--format", "json", stdin="a7a8q")
    assert after.records()[0] == {
        "board": {"h8": "c:k^", "h1": "C:K^", "a8": "C:Q"},
        "hands": {},
        "side": "second",
    }
    after = ask("play", "mini", "--board", '{"a2": "C:P"}', stdin="a2a3 2")
    assert after.records()[0] == {"board": {"a3": "C:N"}, "hands": None, "side": "second"}


@pytest.mark.parametrize("typed", ["a7a8q", "a7 a8 C:Q", "a7a8 1", "a7 a8\n1", "A7A8\n\n# which?\n1"])
def test_one_of_several_possibilities_is_chosen(ask: Command, typed: str) -> None:
    board = {"a7": "C:P", "h8": "c:k^"}
    result = ask("play", "chess", "--board", str(board).replace("'", '"'), stdin=typed)
    assert result.records()[0]["board"] == {"a8": "C:Q", "h8": "c:k^"}
    assert result.err == ""


def test_what_is_in_the_hand_is_dropped(ask: Command) -> None:
    given = ("--board", "{}", "--hands", '{"C:P": 2}')
    for typed in ("P* c1", "* c1 P", "* c1", "C:P * c1", "p@c1"):
        after = ask("play", "mini", *given, stdin=typed).records()[0]
        assert after == {"board": {"c1": "C:P"}, "hands": {"C:P": 1}, "side": "second"}, typed
    assert "first has nothing of that name to put on the board" in ask("play", "mini", *given, stdin="R* c1").err


def test_a_square_that_can_only_mean_a_drop_means_it(ask: Command) -> None:
    for typed in ("c1", "P c1"):
        after = ask("play", "mini", "--board", '{"a2": "C:P"}', "--hands", '{"C:P": 2}', stdin=typed)
        assert after.records()[0]["board"] == {"a2": "C:P", "c1": "C:P"}
    asked = ask("play", "mini", "--board", '{"a2": "C:P"}', "--hands", '{"C:P": 2}', stdin="a2")
    assert asked.records()[0]["board"] == {"a2": "C:P"}
    assert "c1 is empty" in ask("play", "mini", "--board", "{}", "--hands", '{"c:p": 1}', stdin="c1").err


@pytest.mark.parametrize(
    ("typed", "line", "said"),
    [
        ("e2 e4\n\ne7 e4", 3, "e7 e4: e7 has no such move; it has\nc:p e7: e6  e5"),
        ("e7 e5", 1, "e7 e5: e7 has c:p, and first is to move"),
        ("e4 e5", 1, "e4 e5: e4 is empty"),
        ("a1 a2", 1, "a1 a2: C:+R on a1 has no moves"),
        ("N e2 e4", 1, "N e2 e4: e2 has C:P"),
        ("e2e4q", 1, "e2e4q: e2 has no such move"),
        ("e2 e4 2", 1, "e2 e4 2: there is one possibility:\n  1: C:P e2 e4"),
        ("e2 e4 0", 1, "e2 e4 0: there is one possibility"),
        ("* e4", 1, "* e4: first has nothing to put on the board"),
        ("e2 e4\nundo\nundo", 3, "undo: nothing has been played"),
        ("save", 1, "save FILE: name the file"),
        ("e5", 1, "e5 is empty"),
        ("O-O", 1, "O-O: the position does not allow this move to first; possible: Nc3"),
        ("P*5e", 1, "P*5e: the position does not allow this move to first"),
        ("Qh4", 1, "Qh4: the position does not allow this move to first; possible: "),
        ("Qe7", 1, "Qe7: the position does not allow this move to first; possible: "),
        ("e4\na6\ne5\nd5\na3\na5\nexd6", 7, "exd6: the position does not allow this move to first; possible: "),
        ("e2\ne2e9", 2, '"e2e9" is no square of the board, and no move that is written in one word; `help` lists'),
        ("\x1b[31m", 1, '"\\u001b[31m" is no square'),
    ],
)
def test_a_line_that_cannot_be_done_ends_the_list_with_its_place(
    ask: Command, typed: str, line: int, said: str, tmp_path: Path
) -> None:
    result = ask("play", "chess", stdin=typed)
    assert (result.code, result.out) == (1, "")
    assert f"Error: standard input:{line}: {said}" in result.err
    if line > 1:
        file = write(tmp_path / "game.txt", typed)
        assert f"Error: {file}:{line}: {said}" in ask("play", "chess", "--moves", file).err


def test_the_game_ends_where_a_king_is_taken(ask: Command) -> None:
    start = ("--fen", "k7/7p/8/8/8/8/8/K6Q w - - 0 1")
    ended = "the game is over: first wins: the royal piece is taken"
    taken = ask("play", "chess", *start, "--format", "fen", stdin="Qxa8")
    assert (taken.code, taken.out, taken.err) == (0, "Q7/7p/8/8/8/8/8/K7 b - - 0 1\n", f"{ended}\n")
    assert f"standard input:2: h6: {ended}" in ask("play", "chess", *start, stdin="Qxa8\nh6").err


def test_what_is_left_to_the_players_is_told_through_a_pipe_too(ggn: Command, tmp_path: Path) -> None:
    game = 'title = "Kings"\nboard = "3x3"\nstyle = "C"\nstart = "1k^1/3/1K^1 / C/c"\nhost = ["points"]\n'
    file = write(
        tmp_path / "kings.toml",
        game + 'notes = "Who comes home first has won."\n[pieces.K]\nbetza = "W"\nterminal = true\n',
    )
    assert ggn("load", file, "--name", "kings").code == 0
    said = "left to the players: points\nWho comes home first has won.\n"
    for given in ((), ("--moves", write(tmp_path / "moves.txt", "b1 b2"))):
        played = ggn("play", "kings", *given, stdin="b1 b2")
        assert (played.code, played.out, played.err) == (0, "1k^1/1K^1/3 / c/C\n", said)
    assert "\nnotes         Who comes home first has won.\n" in ggn("show", "kings").out


def test_who_may_pass_types_it(ggn: Command, address: str, tmp_path: Path) -> None:
    kings = 'title = "Kings"\nboard = "3x3"\nstyle = "C"\nstart = "1k^1/3/1K^1 / C/c"\nplay = { duties = ["pass"] }\n'
    file = write(tmp_path / "kings.toml", kings + '[pieces.K]\nbetza = "K"\nterminal = true\n')
    assert ggn("load", file, "--name", "kings").code == 0
    played = ggn("play", "kings", stdin="b1 b2\nPass\n0000\nsave passes.txt")
    assert (played.code, played.out) == (0, "1k^1/1K^1/3 / c/C\n"), played.err
    assert ggn("play", "kings", "--moves", "passes.txt").out == played.out


def test_a_list_must_say_which_possibility_it_means(ask: Command) -> None:
    board = ("--board", '{"a7": "C:P", "h8": "c:k^"}')
    for typed in ("a7a8", "\na7a8\n# nothing\n"):
        result = ask("play", "chess", *board, stdin=typed)
        line = 1 + typed.startswith("\n")
        assert (result.code, result.out) == (1, "")
        assert result.err == (
            f"Error: standard input:{line}: several possibilities hold, and no number says which:\n"
            "  1: C:P a7 a8=C:Q\n  2: C:P a7 a8=C:R\n  3: C:P a7 a8=C:B\n  4: C:P a7 a8=C:N\n"
        )
    assert ":1: several" in ask("play", "chess", *board, stdin="a7a8\nh8 h7\n").err
    assert "5: there are 4 possibilities:\n  1: C:P a7 a8=C:Q" in ask("play", "chess", *board, stdin="a7a8\n5").err


def test_a_pgn_may_be_in_latin_1(ask: Command, tmp_path: Path) -> None:
    file = tmp_path / "latin.pgn"
    file.write_bytes('[White "Jürgen"]\n\n1. e4 e5 {schön} *\n'.encode("latin-1"))
    assert ask("play", "chess", "--moves", file, "--format", "fen").out.endswith(" w KQkq e6 0 2\n")
    (tmp_path / "x.json").write_bytes(b'{"start": "\xfc"}')
    assert "x.json: this is not UTF-8 text" in ask("play", "chess", "--moves", tmp_path / "x.json").err


def test_files_that_are_none_are_told_of(ask: Command, tmp_path: Path) -> None:
    assert "no.txt: cannot be read: No such file" in ask("play", "chess", "--moves", "no.txt").err
    assert "cannot be read: Is a directory" in ask("play", "chess", "--moves", tmp_path).err
    assert "standard input:2: this is not UTF-8 text" in ask("play", "chess", stdin=b"e2 e4\n\xff\xfe\n").err
    assert "standard input:1: a line of more than" in ask("play", "chess", stdin=b"e2" * 10**6).err
    assert ask("play", "chess", "--board", "-", stdin="{}").code == 2
    file = write(tmp_path / "moves.txt", "e2e3")
    after = ask("play", "chess", "--board", "-", "--moves", file, stdin='{"e2": "C:P"}')
    assert after.records()[0]["board"] == {"e3": "C:P"}


def test_rules_without_effects_need_an_assumption(ask: Command) -> None:
    board = ("--board", '{"a1": "C:R"}')
    refused = ask("play", "must", *board, stdin="a1a3")
    assert (refused.code, refused.out) == (1, "")
    assert "to mean plain displacement, say --assume displacement" in refused.err
    played = ask("play", "must", *board, "--assume", "displacement", stdin="a1a3")
    assert played.records()[0] == {"board": {"a3": "C:R"}, "hands": None, "side": "second"}
    assert ask("play", "perform", "--board", '{"e2": "CHESS:P"}', stdin="e2e3").records()[0]["board"] == {
        "e3": "CHESS:P"
    }


def test_what_a_list_asks_is_answered_beside_the_position(ask: Command) -> None:
    result = ask("play", "chess", stdin="e2\nhelp\nmoves\ne2e4")
    assert result.out == "+rnbq+k^bn+r/pppppppp/8/8/4-P3/8/PPPP1PPP/+RNBQ+K^BN+R / c/C\n"
    assert result.err.startswith("C:P e2: e3  e4=C:-P\n")
    assert "undo      take the last move back" in result.err
    assert "C:N g1: h3  f3" in result.err
    assert "\n\n" not in result.err


def test_a_saved_game_is_the_same_game(ask: Command, tmp_path: Path) -> None:
    board = ("--board", '{"a7": "C:P", "h8": "c:k^", "b8": "c:r"}')
    saved = ask("play", "chess", *board, stdin="a7xb8r\nh8 g7\nsave game.txt\nb8h8\nsave game.txt\nundo\nsave game.txt")
    assert (saved.code, saved.err.splitlines()[-1]) == (0, "2 moves written to game.txt")
    assert Path("game.txt").read_text().splitlines()[1:] == ["a7 b8 2", "h8 g7"]
    assert Path("game.txt").read_text().startswith("# chess@1, from 1r5k^/P7/8/8/8/8/8/8 / C/c\n")
    again = ask("play", "chess", *board, "--moves", "game.txt")
    assert again.out == saved.out
    assert again.records()[0]["board"] == {"b8": "C:R", "g7": "c:k^"}
    refused = ask("play", "chess", stdin="e2e4\nsave game.txt")
    assert "standard input:2: save game.txt: there is such a file; name another one" in refused.err
    dropped = ask("play", "mini", "--board", "{}", "--hands", '{"C:P": 1}', stdin="*c1\nsave drop.txt")
    assert dropped.code == 0
    assert Path("drop.txt").read_text().splitlines()[1:] == ["C:P * c1"]
    assert ask("play", "mini", "--board", "{}", "--moves", "drop.txt").records()[0]["board"] == {"c1": "C:P"}


def test_a_game_is_saved_again_to_each_file_that_it_was_saved_to(ask: Command) -> None:
    saved = ask("play", "chess", stdin="e4\nsave a.pgn\nsave a.json\ne5\nsave a.pgn\nsave a.json")
    assert (saved.code, saved.err.splitlines()[-1]) == (0, "2 moves written to a.json")
    assert Path("a.pgn").read_text().endswith("\n1. e4 e5 *\n")


MATE = "f2f3\ne7e5\ng2g4\nQh4\n"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3\n"


def test_a_game_is_over_at_its_end_and_can_be_taken_back(ask: Command) -> None:
    over = ask("play", "chess", "--format", "fen", stdin=MATE)
    assert (over.code, over.out, over.err) == (0, MATED, "the game is over: second wins: checkmate\n")
    for more in ("a2a3", "a2 a3 1", "moves\na2a3", "e1f2", "a3"):
        refused = ask("play", "chess", stdin=MATE + more)
        assert (refused.code, refused.out) == (1, "")
        assert "the game is over: second wins: checkmate" in refused.err.splitlines()[-1]
        assert f"standard input:{4 + len(more.splitlines())}: " in refused.err
    assert ask("play", "chess", "--format", "fen", stdin=MATE + "undo\nd8h4").out == MATED


def test_only_legal_moves_may_be_made_unless_all_are_asked_for(ask: Command) -> None:
    pinned = ("--fen", "4k3/8/8/8/8/8/4q3/R3K2R w KQ - 0 1", "--format", "fen")
    for move, why in {
        "e1f1": "e1f1: it leaves first in check",
        "e1g1": "e1g1: it is not legal by the duties of the game: royal-safety",
        "a1": "C:+R on a1 has no legal moves",
    }.items():
        refused = ask("play", "chess", *pinned, stdin=move)
        assert (refused.code, refused.out) == (1, "")
        assert f"standard input:1: {why}" in refused.err
    assert ask("play", "chess", *pinned, "--pseudo-legal", stdin="e1g1").out.startswith("4k3/8/8/8/8/8/4q3/R4RK1 b")
    assert ask("play", "chess", *pinned, stdin="e1xe2").out.startswith("4k3/8/8/8/8/8/4K3/R6R b - - 0 1")


def test_moves_are_read_as_players_and_engines_write_them(ask: Command) -> None:
    for typed in ("e4\nd5\nexd5\nQxd5\nNc3", "e2e4\nd7d5\ne4d5\nd8d5\nb1c3", "P e2 e4\nd5\ne4xd5\nQd8 d5\nNc3"):
        played = ask("play", "chess", "--format", "fen", stdin=typed)
        assert played.out == "rnb1kbnr/ppp1pppp/8/3q4/8/2N5/PPPP1PPP/R1BQKBNR b KQkq - 1 3\n", typed
    assert "e9" in ask("play", "chess", stdin="Ne9").err


def test_a_game_is_saved_as_pgn_and_as_a_record_and_goes_on_from_both(ask: Command) -> None:
    saved = ask("play", "chess", "--format", "fen", stdin=MATE + "save mate.pgn\nsave mate.json\nsave mate.txt")
    assert saved.code == 0
    pgn = Path("mate.pgn").read_text()
    assert '[Result "0-1"]' in pgn
    assert pgn.endswith("1. f3 e5 2. g4 Qh4# 0-1\n")
    record = json.loads(Path("mate.json").read_text())
    assert [each["move"] for each in record["moves"]] == ["f2 f3", "e7 e5", "g2 g4", "d8 h4"]
    assert record["result"] == {
        "is_over": True,
        "winner": "second",
        "reason": "checkmate",
        "score": "0-1",
        "unjudged": [],
    }
    for file in ("mate.pgn", "mate.json", "mate.txt"):
        again = ask("play", "chess", "--format", "fen", "--moves", file)
        assert (again.code, again.out, again.err) == (0, MATED, "the game is over: second wins: checkmate\n"), file
        assert ask("play", "chess", "--format", "fen", "--moves", "-", stdin=Path(file).read_text()).out == MATED


def test_a_saved_game_begins_where_it_began(ask: Command) -> None:
    start = "4k3/8/8/8/8/8/4P3/4K3 b - - 5 40"
    assert ask("play", "chess", "--fen", start, stdin="e8e7\nsave end.pgn\nsave end.json").code == 0
    assert f'[FEN "{start}"]' in Path("end.pgn").read_text()
    for file in ("end.pgn", "end.json"):
        for given in ((), ("--fen", start)):
            again = ask("play", "chess", *given, "--format", "fen", "--moves", file)
            assert again.out == "8/4k3/8/8/8/8/4P3/4K3 w - - 6 41\n"
        other = ask("play", "chess", "--fen", start.replace("4P3", "3P4"), "--moves", file)
        assert (other.code, other.out) == (1, "")
        assert "the game does not begin in the position of --fen: leave that out" in other.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[Event "x"]\n\n1. e4 e5\n2. Ke3 *', "game.pgn: line 4: "),
        ("1. e4 {never", 'game.pgn: line 1: "{" begins a comment that does not end'),
        ("1. e4 (", "game.pgn: line 1: ( begins a variation that does not end"),
        ('[FEN "x"]\n1. e4', "game.pgn: "),
        ('{"start": 1', "game.pgn: this is no record of a game"),
        ('{"start": {"board": {}}, "moves": ["e2e4"]}', "game.pgn: move 1: "),
        ("1. e4 " + "{" + "x" * 2_000_000 + "}", "game.pgn: the file has more than 1,000,000 bytes (--limit"),
        ("1. f3 e5 2. g4 Qh4# 3. a3", "game.pgn: line 1: the game is over: second wins: checkmate"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_game_is_refused_with_its_place(ask: Command, text: str, said: str) -> None:
    write("game.pgn", text)
    refused = ask("play", "chess", "--moves", "game.pgn")
    assert (refused.code, refused.out) == (1, "")
    assert f"Error: {said}" in refused.err
    assert len(refused.err) < 2_000


@pytest.mark.parametrize("text", ["", "[]", "null", "1. e4", '[Event "x"]', '{"start": '])
def test_a_json_file_without_a_record_is_refused(ask: Command, text: str) -> None:
    write("game.json", text)
    refused = ask("play", "chess", "--moves", "game.json")
    assert (refused.code, refused.out) == (1, "")
    assert "Error: game.json: " in refused.err
    assert "record of a game" in refused.err


def test_a_game_that_san_cannot_write_is_saved_in_other_ways(ask: Command) -> None:
    board = ("--board", '{"a2": "C:P"}')
    refused = ask("play", "mini", *board, stdin="a2a3 2\nsave mini.pgn")
    assert "standard input:2: save mini.pgn: " in refused.err
    assert not Path("mini.pgn").exists()
    assert ask("play", "mini", *board, stdin="a2a3 2\nsave mini.json").code == 0
    assert ask("play", "mini", "--moves", "mini.json", "--format", "json").records()[0]["board"] == {"a3": "C:N"}


def test_random_moves_answer_and_are_the_same_for_the_same_seed(ask: Command) -> None:
    def plays(*more: str, stdin: str = "e2e4\nsave random.pgn") -> tuple[str, str]:
        Path("random.pgn").unlink(missing_ok=True)
        played = ask("play", "chess", "--against", "random", "--format", "fen", *more, stdin=stdin)
        assert played.code == 0
        return played.out, played.err

    one = plays("--seed", "1")
    assert one == plays("--seed", "1")
    assert one[0].split()[1] == "w"
    assert one[1].startswith("second: c:")
    assert len({plays("--seed", str(seed))[0] for seed in range(8)}) > 1
    as_second = plays("--seed", "1", "--as", "second", stdin="")
    assert as_second[0].split()[1] == "b"
    assert as_second[1].startswith("first: C:")
    undone = ask("play", "chess", "--against", "random", "--format", "fen", stdin="e2e4\nundo")
    assert undone.out == "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n"
    nothing = ask("play", "chess", "--against", "random", "--as", "second", stdin="undo")
    assert "standard input:1: undo: nothing has been played" in nothing.err
    for alone in (("--seed", "1"), ("--as", "second")):
        assert ask("play", "chess", *alone).code == 2


def test_random_moves_play_a_game_to_its_end(ask: Command) -> None:
    fen = ("--fen", "7k/8/5KQ1/8/8/8/8/8 b - - 98 200")
    played = ask("play", "chess", *fen, "--against", "random", "--as", "first", stdin="")
    assert "the game is over" in played.err


def test_the_state_is_shown_kept_and_written(ggn: Command, address: str, tmp_path: Path) -> None:
    def step(source: str, to: str, when: str, then: str) -> dict[str, Any]:
        diff = {"board": {source: None, to: "H:P"}, "toggle": False, "state": {"phase": then}}
        return {to: [{"action": {"name": f"to {then}"}, "when": {"phase": [when]}, "diff": diff}]}

    document = {
        "$state": {"phase": {"values": ["one", "two"], "initial": "one"}},
        "H:P": {"a1": step("a1", "b1", "one", "two"), "b1": step("b1", "a1", "two", "one")},
    }
    with Store.open(address) as store:
        store.load(document, "phases")
    board = ("--board", '{"a1": "H:P"}')
    played = ggn("play", "phases", *board, stdin="a1\na1b1\nb1a1\na1b1\nsave phases.txt")
    assert played.records()[0] == {"board": {"b1": "H:P"}, "hands": None, "side": "first", "state": {"phase": "two"}}
    assert played.err.startswith("H:P a1: b1[phase:=two moves again] (to two)\n")
    assert '"state":{"phase":"one"}' in Path("phases.txt").read_text()
    assert ggn("play", "phases", *board, "--moves", "phases.txt").out == played.out
    assert "b1 is empty" in ggn("play", "phases", *board, stdin="b1a1").err
    assert ggn("play", "phases", *board, "--state", "phase=two", stdin="a1b1").code == 1
    undone = ggn("play", "phases", *board, stdin="a1b1\nundo").records()[0]
    assert undone["state"] == {"phase": "one"}


# --- in a terminal ---


@pytest.fixture(scope="module")
def chess_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("chess") / "store.db"
    with Store.open(str(file)) as store:
        store.load(Path(__file__).parents[2] / "data" / "chess.json", name="chess")
    return file


class Session:
    """The program in a terminal: what it says until it asks again, and how it ends."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        command = [sys.executable, "-m", "ggn_store", *map(str, arguments)]
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:  # pragma: no cover
            os.execve(sys.executable, command, child_environment(**environment))
        self.first = self._until_asked()

    def type(self, text: str) -> str:
        """What is said to a line."""
        os.write(self._terminal, text.encode())
        return self._until_asked()

    def _until_asked(self) -> str:
        said = b""
        while not re.search(rb"\n\d+ (first|second)> $", said):
            ready, _, _ = select.select([self._terminal], [], [], 60)
            assert ready, said
            said += os.read(self._terminal, 4096)
        return said.decode().replace("\r", "")

    def end(self, text: bytes) -> tuple[int, str]:
        """The exit code, and what is said to the last that is typed."""
        os.write(self._terminal, text)
        said = b""
        try:
            while True:
                # A Ctrl-C that comes just before readline listens waits for the next key.
                while not select.select([self._terminal], [], [], 5)[0]:
                    os.write(self._terminal, text[-1:])
                said += os.read(self._terminal, 4096)
        except OSError:  # which is how Linux says that the other end is closed
            pass
        os.close(self._terminal)
        _, status = os.waitpid(self._pid, 0)
        assert b"Traceback" not in said
        return os.waitstatus_to_exitcode(status), said.decode().replace("\r", "")


def uncolored(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-z]", "", text)


def test_a_game_is_played_in_a_terminal(chess_file: Path) -> None:
    session = Session("--db", chess_file, "play", "chess", TERM="dumb")
    assert "chess@1: type a move such as e2 e4, or help" in uncolored(session.first)
    assert "1  +R   N   B   Q +K^   B   N  +R\n    a   b   c   d   e   f   g   h\nfirst to move\n" in uncolored(
        session.first
    )
    assert "C:P e2: e3  e4" in session.type("E2\n")
    said = session.type("E2 E4\n")
    assert "4   .   .   .   .  -P   .   .   .\n" in uncolored(said)
    assert "\x1b[33m\x1b[1m-P" in said  # what changed is told by its colour
    assert "\x1b[36m\x1b[1mn" in said
    assert said.endswith("\n2 second> ")
    assert "e2 is empty" in session.type("e2e4\n")
    assert '"zz" is no square' in session.type("zz\n")
    assert "taken back: C:P e2 e4" in session.type("undo\n")
    code, said = session.end(b"quit\n")
    assert code == 0
    assert said.endswith("+rnbq+k^bn+r/pppppppp/8/8/8/8/PPPPPPPP/+RNBQ+K^BN+R / C/c\n")


def test_which_of_several_possibilities_is_asked(chess_file: Path) -> None:
    session = Session("--db", chess_file, "play", "chess", "--feen", PROMOTING, NO_COLOR="1", TERM="dumb")
    said = session.type("a7a8\n")
    assert "a7a8 may mean\n  1: C:P a7 a8=C:Q\n" in said
    assert "\x1b" not in said.replace("\x1b[?2004h", "").replace("\x1b[?2004l", "")
    assert "there are 4 possibilities" in session.type("5\n")
    assert "a7 has no such move" in session.type("a7a7\n")
    assert "which? Its number" in session.type("a7a8\n")
    assert "\n8  .  .  .  .  .  .  . k^\n" in session.type("\n")
    assert "\n8  Q  .  .  .  .  .  . k^\n" in session.type("1\n")
    code, said = session.end(b"\x04")
    assert (code, said.splitlines()[-1]) == (0, QUEENED)


def test_hands_and_the_end_of_moves_are_shown(sqlite_games: Games) -> None:
    assert sqlite_games["crazyhouse"].has_start
    empty = ("--pseudo-legal", "--board", '{"board": {}, "hands": {}}')
    session = Session("--db", sqlite_games.address, "play", "crazyhouse", *empty, TERM="dumb")
    assert "left to the players: " in session.first
    assert "the game is over: draw: stalemate" in session.first
    assert session.end(b"\x04")[0] == 0
    hands = '{"board": {"e2": "C:P", "d3": "c:p"}, "hands": {"C:N": 2}}'
    session = Session("--db", sqlite_games.address, "play", "crazyhouse", "--board", hands, TERM="dumb")
    assert "hand of first: 2 C:N\n" in session.first
    assert "hand of first: 2 C:N, 1 C:P\n" in session.type("e2d3\n")
    assert session.end(b"\x04")[0] == 0


def test_an_interrupted_game_still_prints_its_position(chess_file: Path) -> None:
    session = Session("--db", chess_file, "play", "chess", TERM="dumb")
    session.type("e2e4\n")
    code, said = session.end(b"e7\x03")
    assert code == 130
    assert said.splitlines()[-1] == "+rnbq+k^bn+r/pppppppp/8/8/4-P3/8/PPPP1PPP/+RNBQ+K^BN+R / c/C"
    assert "undone" not in said


def test_a_game_from_a_file_goes_on_in_the_terminal(chess_file: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "opening.txt", "e2e4\ne7e5\n")
    session = Session("--db", chess_file, "play", "chess", "--moves", file, TERM="dumb")
    assert session.first.endswith("\n3 first> ")
    code, said = session.end(b"g1f3\n\x04")
    assert (code, said.splitlines()[-1]) == (0, "+rnbq+k^bn+r/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/+RNBQ+K^B1+R / c/C")


def test_squares_are_completed(chess_file: Path) -> None:
    session = Session("--db", chess_file, "play", "chess")
    said = session.type("g\t1\t f3\n")
    assert "C:N g1 f3" in uncolored(said)
    assert session.end(b"und\t\nqui\t\n")[0] == 0


def test_the_position_goes_to_a_file_while_the_game_is_on_the_terminal(chess_file: Path, tmp_path: Path) -> None:
    script = f'exec "$0" -m ggn_store --db {chess_file} play chess > {tmp_path / "end.txt"}'
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover
        os.execve("/bin/sh", ["sh", "-c", script, sys.executable], child_environment(TERM="dumb"))
    said = b""
    while not said.endswith(b"1 first> "):
        said += os.read(terminal, 4096)
    os.write(terminal, b"e2e4\n\x04")
    try:
        while part := os.read(terminal, 4096):
            said += part
    except OSError:
        pass
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert (tmp_path / "end.txt").read_text() == "+rnbq+k^bn+r/pppppppp/8/8/4-P3/8/PPPP1PPP/+RNBQ+K^BN+R / c/C\n"
    assert b"second to move" in said


def test_without_standard_input_nothing_is_played(chess_file: Path) -> None:
    shell = f'exec "$0" -m ggn_store --db {chess_file} play chess <&-'
    done = subprocess.run(["sh", "-c", shell, sys.executable], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("+rnbq+k^bn+r/pppppppp/8/8")
    assert process("--db", chess_file, "play", "chess", input="").stdout == done.stdout


def test_a_game_that_is_too_large_is_refused(run: Program, library: str, tmp_path: Path) -> None:
    file = tmp_path / "long.pgn"
    file.write_text('[Event "x"]\n\n1. e4 e5 *\n')
    given = ("--db", library, "--limit", "game-bytes=20")
    done = run(*given, "play", "chess", "--moves", file)
    assert done.code == 1
    assert "the file has more than 20 bytes" in done.err
    assert "--limit game-bytes=N" in done.err
    assert run("--db", library, "--limit", "game-bytes=40", "play", "chess", "--moves", file).code == 0
