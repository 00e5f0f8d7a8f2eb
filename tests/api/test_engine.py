"""A ruleset as an engine: what it answers to each line of UCI and USI."""

from __future__ import annotations

import pytest

from ggn_store import MoveError
from ggn_store.api.play.engine import Engine
from tests.support.games import Games
from tests.support.gdl_specifications import GDL
from tests.support.program import MUST, PERFORM


def talk(engine: Engine, *lines: str) -> list[str]:
    return [answer for line in lines for answer in engine.answer(line)]


@pytest.fixture
def chess(sqlite_games: Games) -> Engine:
    return Engine(sqlite_games["chess"], seed=1)


def fen(engine: Engine) -> str:
    (line,) = [line for line in talk(engine, "d") if line.startswith("Fen: ")]
    return " ".join(line.removeprefix("Fen: ").split()[:4])


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3"


def test_uci_says_what_it_is_and_what_can_be_set(chess: Engine) -> None:
    assert talk(chess, "uci", "isready") == [
        "id name ggn_store chess@1",
        "id author ggn_store",
        "option name Choice type combo default random var random var greedy",
        "option name Seed type spin default 0 min 0 max 2147483647",
        "option name UCI_Variant type combo default chess var chess",
        "uciok",
        "readyok",
    ]


def test_chess960_is_chess_with_an_option(sqlite_games: Games) -> None:
    engine = Engine(sqlite_games["chess960"], seed=1)
    assert talk(engine, "uci")[-3:] == [
        "option name UCI_Variant type combo default chess var chess",
        "option name UCI_Chess960 type check default true",
        "uciok",
    ]
    for option in ("UCI_Chess960 value true", "uci_chess960 value True", "UCI_Variant value Chess"):
        assert talk(engine, f"setoption name {option}") == []
    assert talk(engine, "setoption name UCI_Chess960 value false") == [
        "info string a castling king takes its rook here"
    ]


def test_chess960_castles_as_such_and_begins_by_number(sqlite_games: Games) -> None:
    engine = Engine(sqlite_games["chess960"], seed=1)
    talk(engine, "setoption name UCI_Chess960 value true", "position fen 4k3/8/8/8/8/8/8/4K1R1 w G - 0 1 moves e1g1")
    assert fen(engine) == "4k3/8/8/8/8/8/8/5RK1 b - -"
    talk(engine, "position fen 711 moves e2e4")
    assert fen(engine) == "rkbqnnrb/pppppppp/8/8/4P3/8/PPPP1PPP/RKBQNNRB b KQkq e3"


def test_usi_says_so_too(sqlite_games: Games) -> None:
    engine = Engine(sqlite_games["minishogi"], "usi")
    said = talk(engine, "usi", "isready", "usinewgame")
    assert said[0] == "id name ggn_store minishogi@1"
    assert said[-2:] == ["usiok", "readyok"]
    assert talk(engine, "uci", "ucinewgame") == []


@pytest.mark.parametrize(
    "line", ["", "   ", "debug on", "ucinewgame", "register later", "stop", "ponderhit", "\0\ufffd"]
)
def test_lines_that_ask_nothing_get_no_answer(chess: Engine, line: str) -> None:
    assert talk(chess, line) == []


def test_what_stands_before_a_command_is_ignored(chess: Engine) -> None:
    assert talk(chess, "joho isready") == ["readyok"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("position startpos", START),
        ("position startpos moves e2e4", AFTER_E4),
        ("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves e2e4", AFTER_E4),
        ("position fen 4k2r/8/8/8/8/8/8/4K3 b k - 0 1 moves e8g8", "5rk1/8/8/8/8/8/8/4K3 w - -"),
        ("position feen 4k^3/8/8/8/8/8/8/4K^3 / C/c", "4k3/8/8/8/8/8/8/4K3 w - -"),
    ],
)
def test_a_position_is_taken(chess: Engine, line: str, found: str) -> None:
    assert talk(chess, line) == []
    assert fen(chess) == found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("position startpos moves e2e4 e2e4", "info string illegal move, number 2: e2e4: "),
        ("position startpos moves e2e5", "info string illegal move, number 1: e2e5: the position does not allow"),
        ("position startpos moves 0000", "info string illegal move, number 1: 0000: the position does not allow"),
        ("position startpos moves castle", 'info string illegal move, number 1: "castle" is not a move in UCI'),
        ("position fen nonsense", 'info string "nonsense" is not a FEN of this game: '),
        ("position fen", 'info string position "fen" is none of startpos, feen TEXT, fen TEXT, sfen TEXT'),
        ("position", 'info string position "" is none of startpos'),
        ("position e2e4", 'info string position "e2e4" is none of startpos'),
    ],
)
def test_a_position_that_is_none_is_told_and_the_one_before_stays(chess: Engine, line: str, said: str) -> None:
    talk(chess, "position startpos moves d2d4")
    before = fen(chess)
    (answer,) = talk(chess, line)
    assert answer.startswith(said)
    assert fen(chess) == before
    assert talk(chess, "position startpos moves d2d4 d7d5") == []


def test_longer_and_shorter_games_follow_each_other(chess: Engine) -> None:
    for moves in ("e2e4", "e2e4 e7e5 g1f3", "e2e4 c7c5", "d2d4", ""):
        talk(chess, f"position startpos moves {moves}")
        fresh = Engine(chess._ruleset)
        talk(fresh, f"position startpos moves {moves}")
        assert fen(chess) == fen(fresh)


def test_go_answers_with_a_legal_move(chess: Engine) -> None:
    talk(chess, "position fen 4k3/8/8/8/8/8/P7/4K3 w - - 0 1")
    info, best = talk(chess, "go wtime 1000 btime 1000 depth 3")
    move = best.removeprefix("bestmove ")
    assert move in {"a2a3", "a2a4", "e1d1", "e1d2", "e1e2", "e1f1", "e1f2"}
    assert info == f"info depth 1 nodes 7 pv {move}"


def test_go_mate_asks_usi_for_a_solution_and_uci_for_a_move(sqlite_games: Games) -> None:
    rules = sqlite_games["minishogi"]
    for asked in ("go mate 1000", "go mate infinite"):
        assert talk(Engine(rules, "usi"), asked) == ["checkmate notimplemented"]
    assert talk(Engine(rules, "uci"), "go mate 3")[-1].startswith("bestmove ")


def test_go_chooses_among_some_moves(chess: Engine) -> None:
    talk(chess, "position startpos")
    assert talk(chess, "go searchmoves h2h3")[-1] == "bestmove h2h3"
    assert talk(chess, "go searchmoves")[-1] != "bestmove (none)"
    assert talk(chess, "go searchmoves 0000") == ["bestmove (none)"]


@pytest.mark.parametrize("word", ["infinite", "ponder"])
def test_an_endless_search_ends_when_it_is_told_to(chess: Engine, word: str) -> None:
    (info,) = talk(chess, f"go {word}")
    assert info.startswith("info depth 1 ")
    (best,) = talk(chess, "isready", "stop")[1:]
    assert best == f"bestmove {info.split()[-1]}"
    assert talk(chess, "stop") == []


def test_a_search_that_nothing_has_ended_answers_before_the_next_one(chess: Engine) -> None:
    (info,) = talk(chess, "go infinite")
    first, *_, last = talk(chess, "position startpos moves e2e4", "go searchmoves e7e5")
    assert (first, last) == (f"bestmove {info.split()[-1]}", "bestmove e7e5")
    assert talk(chess, "stop") == []


def test_the_same_seed_plays_the_same_moves(sqlite_games: Games) -> None:
    rules = sqlite_games["chess"]
    one, other = (talk(Engine(rules, seed=5), *["go"] * 20) for _ in range(2))
    assert one == other
    set_later = Engine(rules)
    assert talk(set_later, "setoption name Seed value 5", *["go"] * 20) == one
    assert talk(Engine(rules, seed=6), *["go"] * 20) != one


def test_the_greedy_choice_takes_what_is_worth_most(chess: Engine) -> None:
    line = "position fen 4k3/8/8/2q1r3/3P4/8/8/K7 w - - 0 1"
    talk(chess, line, "setoption name Choice value greedy")
    *_, best = talk(chess, "go")
    assert best == "bestmove d4c5"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("setoption name Choice value best", 'info string "best" is no value of Choice: random, greedy'),
        ("setoption name Seed value -1", 'info string "-1" is no value of Seed: a whole number up to 2147483647'),
        ("setoption name UCI_Variant value go", 'info string this is chess, and plays no "go"'),
        ("setoption name UCI_Chess960 value true", "info string this is no chess960"),
    ],
)
def test_values_that_cannot_be_set_are_told(chess: Engine, line: str, said: str) -> None:
    assert talk(chess, line) == [said]


@pytest.mark.parametrize(
    "line", ["setoption name Hash value 16", "setoption", "setoption name UCI_Variant value chess"]
)
def test_options_of_other_engines_are_ignored(chess: Engine, line: str) -> None:
    assert talk(chess, line) == []


def test_perft_counts_by_first_moves(chess: Engine) -> None:
    *counts, blank, total = talk(chess, "position startpos", "go perft 2")
    assert (blank, total) == ("", "Nodes searched: 400")
    assert sorted(counts)[0] == "a2a3: 20"
    assert len(counts) == 20


@pytest.mark.parametrize("depth", ["0", "-1", "x", "9999", "1.5"])
def test_a_perft_of_no_depth_is_told(chess: Engine, depth: str) -> None:
    assert talk(chess, f"go perft {depth}") == [f'info string go perft "{depth}": write a number of moves from 1 on']


def test_a_board_is_shown_with_what_can_be_done(chess: Engine) -> None:
    talk(chess, "position fen 4k3/8/8/8/8/8/P7/4K3 w - - 0 1")
    lines = talk(chess, "d")
    assert lines[-4:-1] == [
        "first to move",
        "Fen: 4k3/8/8/8/8/8/P7/4K3 w - - 0 1",
        "Result: the game goes on",
    ]
    assert "a2a4" in lines[-1].split()


def test_the_end_of_a_game_is_said(chess: Engine) -> None:
    talk(chess, "position startpos moves f2f3 e7e5 g2g4 d8h4")
    assert talk(chess, "d")[-2:] == ["Result: second wins: checkmate", "Legal moves: (none)"]
    assert talk(chess, "go") == ["info string the game is over: second wins: checkmate", "bestmove (none)"]


def test_a_draw_that_has_to_be_claimed_is_said_and_played_on(chess: Engine) -> None:
    talk(chess, "position startpos moves" + " g1f3 g8f6 f3g1 f6g8" * 2)
    said, _, best = talk(chess, "go")
    assert said == "info string the game is over: draw: the position was reached 3 times"
    assert best != "bestmove (none)"


def test_the_greedy_choice_wins_where_it_can(chess: Engine) -> None:
    # As the protocol has it, in any case of letters.
    assert talk(chess, "setoption name CHOICE value Greedy", "position startpos moves f2f3 e7e5 g2g4") == []
    info, best = talk(chess, "go")
    assert (info, best) == ("info depth 1 score mate 1 nodes 30 pv d8h4", "bestmove d8h4")


def test_shogi_is_played_in_usi(sqlite_games: Games) -> None:
    engine = Engine(sqlite_games["minishogi"], "usi", seed=1)
    line = "position sfen rbsgk/4p/5/P4/KGSBR b - 1 moves 3e3d 2a3b"
    assert talk(engine, line) == []
    assert [each for each in talk(engine, "d") if each.startswith("Sfen: ")] == ["Sfen: rbs1k/2g1p/5/P1S2/KG1BR b - 3"]
    assert talk(engine, "go searchmoves 5d5c")[-1] == "bestmove 5d5c"
    talk(engine, "position sfen 4k/5/5/5/K4 b - 1")
    assert talk(engine, "go searchmoves 1a1b")[-1] == "bestmove resign"


def test_a_jump_that_must_be_gone_on_with_is_one_move(sqlite_games: Games) -> None:
    [*sqlite_games.store.load_all([GDL / "checkers.json"])]
    rules = sqlite_games.store.ruleset("checkers")
    engine = Engine(rules)
    # Two men in a row are to be jumped over, and nothing else may be done.
    board = rules.stated({"c3": "CHECKERS:M", "h2": "CHECKERS:M", "d4": "checkers:m", "f6": "checkers:m"})
    assert rules.legal_moves(board) == []
    assert not rules.outcome(board).is_over
    assert rules.perft(board, 1, legal=True).count == 1
    said = talk(engine, f"position feen {rules.notate(board, 'feen')}", "go", "go perft 1")
    assert said == ["info depth 1 nodes 1 pv c3e5g7", "bestmove c3e5g7", "c3e5g7: 1", "", "Nodes searched: 1"]
    talk(engine, f"position feen {rules.notate(board, 'feen')} moves c3e5g7")
    assert talk(engine, "go")[0] == "info string the game is over: first wins: no legal move"


def test_a_ruleset_without_a_start_is_asked_for_a_position(sqlite_games: Games) -> None:
    sqlite_games.store.load(PERFORM, "perform")
    engine = Engine(sqlite_games.store.ruleset("perform"))
    assert talk(engine, "uci")[-1] == "uciok"
    assert talk(engine, "go") == ["info string perform@1 has no start position of its own"]
    assert talk(engine, "position fen 8 w") == [
        "info string perform@1 was not made from a definition, which says what the letters of FEN mean: use FEEN "
        "(--feen, in Python feen=...), which can write the positions of any game"
    ]


def test_rules_that_change_nothing_cannot_be_played(sqlite_games: Games) -> None:
    sqlite_games.store.load(MUST, "must")
    with pytest.raises(MoveError, match="must@1 is a must-deny document"):
        Engine(sqlite_games.store.ruleset("must"))


@pytest.mark.parametrize(
    ("name", "squares", "unwritten"),
    [
        ("seas", ("North", "South"), ("uci", "usi")),
        ("cube", ("a1A", "b2B"), ("usi",)),
        ("high", ("a1", "a27"), ("usi",)),
    ],
)
def test_a_board_whose_squares_have_no_text_in_a_protocol_is_refused(
    sqlite_games: Games, name: str, squares: tuple[str, str], unwritten: tuple[str, ...]
) -> None:
    source, destination = squares
    rules = {"C:K": {source: {destination: [{"perform": {source: None, destination: "C:K"}}]}}}
    sqlite_games.store.load(rules, name)
    for protocol in ("uci", "usi"):
        if protocol in unwritten:
            with pytest.raises(MoveError, match=f"{name}@1 has a square .* {protocol.upper()} has no text: "):
                Engine(sqlite_games.store.ruleset(name), protocol)
        else:
            assert not Engine(sqlite_games.store.ruleset(name), protocol).is_over


def test_quit_ends_it(chess: Engine) -> None:
    assert not chess.is_over
    assert talk(chess, "quit") == []
    assert chess.is_over
