"""Positions as people have them: FEN and SFEN in and out of the command line and of rulesets made from definitions."""

from __future__ import annotations

import json

import pytest

from ggn_store import PositionError, Ruleset, find_game
from ggn_store.api.positions.notations import NOTATIONS
from tests.support.games import Games
from tests.support.program import QUICK, Command, Program

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
OPENED = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
SHOGI = "rbsgk/4p/5/P4/KGSBR b - 1"
DROPPABLE = "rbsgk/5/5/P4/KGSBR b P 1"


@pytest.fixture
def quick(games: Games) -> Ruleset:
    """A document without a definition."""
    games.store.load(QUICK, "quick")
    return games.store.ruleset("quick")


@pytest.fixture
def ask(run: Program, games: Games, chess: Ruleset, minishogi: Ruleset, quick: Ruleset) -> Command:
    """The program on a store with these three: once of SQLite, once of Postgres."""
    return lambda *arguments, stdin=b"": run("--db", games.address, *arguments, stdin=stdin)


@pytest.fixture
def chess(games: Games) -> Ruleset:
    """Chess, made from its definition."""
    return games["chess"]


@pytest.fixture
def minishogi(games: Games) -> Ruleset:
    return games["minishogi"]


def test_moves_are_those_of_the_position_that_a_fen_writes(ask: Command) -> None:
    assert ask("moves", "chess", "--fen", START) == ask("moves", "chess")
    passing = ask("moves", "chess", "--fen", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "--source", "e5").records()
    assert {move["destination"] for move in passing} == {"d6", "e6"}


def test_moves_are_those_of_the_position_that_an_sfen_writes(ask: Command) -> None:
    assert ask("moves", "minishogi", "--sfen", SHOGI) == ask("moves", "minishogi")
    drops = ask("moves", "minishogi", "--sfen", DROPPABLE, "--source", "*").records()
    assert {move["piece"] for move in drops} == {"S:P"}
    assert not any(move["destination"].startswith("a") for move in drops)  # nifu


def test_every_notation_reads_back_what_it_writes(ask: Command) -> None:
    # A bishop and two pawns are in the first hand, a rook in the second, who is to move.
    start = ("--sfen", "2sgk/5/P4/5/KGS1R b B2Pr 1", "--move", "S:P a3 a4")
    written = {name: ask("apply", "minishogi", *start, "--format", name).out.strip() for name in NOTATIONS}
    assert len({*written.values()}) == len(NOTATIONS), "no notation stands in for another"
    expected = json.loads(ask("apply", "minishogi", *start, "--format", "json").out)
    assert expected["hands"] == {"S:B": 1, "S:P": 2, "s:r": 1}
    for name, text in written.items():
        for given in ([f"--{name}", text], ["--board", json.dumps({name: text})]):
            found = json.loads(ask("apply", "minishogi", *given, "--move", "s:k^ e5 e4", "--format", "json").out)
            board = {piece: square for square, piece in expected["board"].items()} | {"s:k^": "e4"}
            assert (found["hands"], found["side"]) == (expected["hands"], "first"), given
            assert {piece: square for square, piece in found["board"].items()} == board, given


def test_apply_answers_in_the_notation_that_it_was_asked_in(ask: Command) -> None:
    move = ("--move", "C:P e2 e4")
    assert ask("apply", "chess", *move, "--fen", START).out == f"{OPENED}\n"
    assert ask("apply", "chess", *move, "--format", "fen").out == f"{OPENED}\n"
    assert ask("apply", "chess", *move, "--fen", START, "--format", "feen").out == ask("apply", "chess", *move).out
    answer = ask("apply", "minishogi", "--sfen", SHOGI, "--move", "S:P a2 a3").out
    assert answer.startswith("rbsgk/4p/P4/5/KGSBR w - ")
    assert ask("apply", "minishogi", "--move", "S:P a2 a3", "--format", "sfen").out == answer


def test_a_ruleset_reads_and_writes_fen(chess: Ruleset) -> None:
    assert chess.position() == chess.start
    assert chess.fen(chess.position()) == START
    opened = chess.position(fen=OPENED)
    assert chess.position(feen=opened.to_feen()).board == opened.board
    assert opened.board["e4"] == "C:-P"
    assert chess.fen(chess.position(fen=OPENED)) == OPENED
    [move] = chess.moves(chess.position(), source="e2", destination="e4")
    assert chess.fen(chess.apply(chess.position(), move)) == OPENED
    assert chess.definition is not None
    assert chess.definition.title == find_game("chess").title


def test_a_ruleset_reads_and_writes_sfen(minishogi: Ruleset) -> None:
    assert minishogi.position(sfen=SHOGI) == minishogi.start
    assert minishogi.sfen(minishogi.position()).startswith("rbsgk/4p/5/P4/KGSBR b -")


def test_positions_of_another_board_have_no_text_of_these_rules(chess: Ruleset, minishogi: Ruleset) -> None:
    with pytest.raises(PositionError, match=r"^the position has a board of 8x8, and that of minishogi@1 is 5x5$"):
        minishogi.sfen(chess.start)
    with pytest.raises(PositionError, match=r"^the position has a board of 5x5, and that of chess@1 is 8x8$"):
        chess.fen(minishogi.start)


def test_without_a_definition_there_is_feen(quick: Ruleset) -> None:
    for told in (
        lambda: quick.position(fen=START),
        lambda: quick.position(sfen=SHOGI),
        lambda: quick.fen({"e2": "C:P"}),
        lambda: quick.sfen({"e2": "C:P"}),
    ):
        with pytest.raises(PositionError, match=r"was not made from a definition, .* use FEEN .*any game"):
            told()
    with pytest.raises(PositionError, match="no start position"):
        quick.position()
    with pytest.raises(PositionError, match="feen, fen all write a position: give one of them"):
        quick.position(fen=START, feen="x")
    with pytest.raises(PositionError, match=r"\"fne\" is not a notation of positions: did you mean fen\?"):
        quick.position(fne=START)
    with pytest.raises(PositionError, match="is not a notation of positions: there are feen, fen, sfen"):
        quick.notate({"e2": "C:P"}, "morse")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("moves", "quick", "--fen", START), 1, "quick@1 was not made from a definition"),
        (("apply", "quick", "--move", "C:P e2 e4", "--sfen", SHOGI), 1, "quick@1 was not made from a definition"),
        (("moves", "chess", "--fen", "nonsense"), 1, "nonsense"),
        (("moves", "minishogi", "--sfen", "nonsense"), 1, "nonsense"),
        (("moves", "chess", "--fen", START, "--feen", "x"), 2, "--feen and --fen both name a position"),
        (("moves", "chess", "--fen", START, "--board", "{}"), 2, "--fen and --board both name a position"),
        (("moves", "chess", "--fen", "x", "--feen", "x", "--sfen", "x"), 2, "--feen, --fen and --sfen all name"),
        (("moves", "chess", "--fen", START, "--hands", "{}"), 2, "--fen says what the hands hold"),
        (("moves", "chess", "--fen", START, "--positions", "x"), 2, "leave --fen out"),
    ],
)
def test_a_position_that_cannot_be_read_is_a_clear_error(
    ask: Command, arguments: tuple[str, ...], code: int, told: str
) -> None:
    result = ask(*arguments)
    assert (result.code, result.out) == (code, "")
    assert told in result.err
