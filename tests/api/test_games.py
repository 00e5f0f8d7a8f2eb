"""Games that are played on a store: every position as python-chess has it, to their ends, as PGN and as records."""

from __future__ import annotations

import io
import json
import os
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import chess.variant
import pytest

from ggn_store import MoveError, Position, PositionError, Ruleset, Store, parse
from ggn_store.api.play.game import Game
from ggn_store.model.moves import play_text
from ggn_store.model.moves.play import Outcome, Play
from tests.support.games import Games

POSITIONS = Path(__file__).parents[1] / "data" / "positions"
# The games of the library that python-chess plays, too.
BOARDS: dict[str, type[chess.Board]] = {
    "chess": chess.Board,
    "3check": chess.variant.ThreeCheckBoard,
    "kingofthehill": chess.variant.KingOfTheHillBoard,
    "racingkings": chess.variant.RacingKingsBoard,
    "antichess": chess.variant.AntichessBoard,
    "horde": chess.variant.HordeBoard,
    "crazyhouse": chess.variant.CrazyhouseBoard,
}
GAMES = int(os.environ.get("GGN_GAMES", "100"))
FOOLS_MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]


@pytest.fixture
def rules(games: Games) -> Ruleset:
    """Chess."""
    return games["chess"]


def ended(board: chess.Board) -> str | None:
    """How python-chess says that a game has ended, as scores are written; None where it goes on.

    Of the variants, none declares with what material nobody can win.
    """
    if board.is_variant_end() or not any(board.legal_moves):
        return board.result()
    if type(board) is chess.Board and board.is_insufficient_material():
        return "1/2-1/2"
    return "1/2-1/2" if board.halfmove_clock >= 100 or board.is_repetition(3) else None


def agree(rules: Ruleset, board: chess.Board, chance: random.Random, plies: int) -> Game:
    """A random game, in which every position, its moves and how it stands are those of python-chess."""
    game = Game.begin(rules)
    for _ in range(plies):
        if isinstance(board, chess.variant.CrazyhouseBoard) and game.position.counters is not None:
            board.halfmove_clock = game.position.counters.quiet  # a drop is progress, as for Fairy-Stockfish
        fen = board.fen(en_passant="fen")
        assert rules.fen(game.position) == fen
        assert (game.score if game.result.is_over else None) == ended(board), fen
        if game.result.is_over:
            break
        assert len(game.moves) == board.legal_moves.count(), fen
        assert game.is_check == board.is_check(), fen
        move = chance.choice(list(board.legal_moves))
        game = game.play(rules.parse_move(move.uci(), game.position, "uci"))
        board.push(move)
    return game


def test_material_with_which_nobody_can_mate_is_that_of_python_chess(rules: Ruleset) -> None:
    chance, seen = random.Random(1), Counter[bool]()
    while min(seen[True], seen[False]) < 40:
        board = chess.Board(None)
        pieces = ["K", "k", *chance.choices("NnBbBbP", k=chance.randrange(4))]
        for square, piece in zip(chance.sample(range(8, 56), len(pieces)), pieces, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        if board.is_valid() and any(board.legal_moves):
            result = rules.outcome(rules.position(fen=board.fen()))
            assert result.is_over == board.is_insufficient_material(), board.fen()
            assert str(result) == ("draw: insufficient material" if result.is_over else "the game goes on")
            seen[result.is_over] += 1


@pytest.mark.parametrize("seed", range(3))
def test_random_games_of_chess_have_the_positions_of_python_chess(rules: Ruleset, seed: int) -> None:
    game = agree(rules, chess.Board(), random.Random(seed), 60)
    assert len(game.plies) == 60


@pytest.mark.long
@pytest.mark.parametrize("name", BOARDS)
def test_random_games_end_as_those_of_python_chess(games: Games, name: str) -> None:
    for seed in range(GAMES):
        agree(games[name], BOARDS[name](), random.Random(seed), 400)


@pytest.mark.parametrize(
    ("begun", "again", "plies"),
    [
        ("g1f3 g8f6 e2e3 e7e6 e1e2 e8e7", "h1g1 h8g8 g1h1 g8h8", 14),  # no king may castle any more
        ("g1f3 g8f6", "h1g1 h8g8 g1h1 g8h8", 12),  # the first round ends rights to castle
        ("e2e3 e7e6", "e1e2 e8e7 e2e1 e7e8", 12),
    ],
)
def test_rooks_and_kings_that_have_not_moved_make_another_position_only_while_they_may_castle(
    rules: Ruleset, begun: str, again: str, plies: int
) -> None:
    game, board = Game.begin(rules), chess.Board()
    for move in [*begun.split(), *(again.split() * 3)][:plies]:
        game = game.play(move)
        board.push_uci(move)
        assert game.result.is_over == board.is_repetition(3), board.fen()
    assert str(game.result) == "draw: the position was reached 3 times"


ENDS = [line.split("\t") for line in (POSITIONS / "outcomes.txt").read_text("ascii").splitlines()]


@pytest.mark.parametrize("name", sorted({name for name, _, _ in ENDS}))
def test_shipped_games_end_where_those_of_fairy_stockfish_end(sqlite_games: Games, name: str) -> None:
    rules = sqlite_games[name]
    for fen, winner in [(fen, winner) for game, fen, winner in ENDS if game == name]:
        result = rules.outcome(rules.position(fen=fen))
        assert ((result.winner or "draw") if result.is_over else "-") == winner, fen


@pytest.mark.parametrize(
    ("name", "fen", "move", "after"),
    [
        ("pawnback", "8/8/8/1K6/4p3/2k5/8/8 b - - 70 82", "e4e5", "- 71 83"),
        ("pawnback", "8/8/8/1K6/8/2k5/4p3/8 b - - 70 82", "e2e1b", "- 0 83"),
        ("makruk", "rnsmksnr/8/1ppppppp/p7/P7/1PPPPPPP/8/RNSKMSNR w - - 5 4", "b3b4", "- 0 4"),
        ("makruk", "rnsmksnr/8/1ppppppp/p7/P7/1PPPPPPP/8/RNSKMSNR b - - 5 4", "b8d7", "- 6 5"),
        ("3check", "rnbqkbnr/pppp1ppp/8/4p2Q/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 3+3 1 2", "e8e7", "- 3+3 2 3"),
        ("3check", "rnbq1bnr/ppppkppp/8/4p2Q/4P3/8/PPPP1PPP/RNB1KBNR w KQ - 3+3 2 3", "h5e5", "- 2+3 0 3"),
    ],
)
def test_counters_are_those_of_fairy_stockfish(games: Games, name: str, fen: str, move: str, after: str) -> None:
    rules = games[name]
    assert rules.fen(rules.apply(rules.position(fen=fen), move)).endswith(after)


def test_a_game_is_a_value(rules: Ruleset) -> None:
    game = Game.begin(rules)
    later = game
    for move in FOOLS_MATE:
        later = later.play(move)
    assert (len(game.plies), game.position) == (0, rules.start)
    assert later.moves == []
    assert later.is_check
    assert later.history[-1] == later.undo().position
    assert later.texts("uci") == FOOLS_MATE
    with pytest.raises(MoveError, match="nothing has been played"):
        game.undo()


@pytest.mark.parametrize(
    ("fen", "move", "why"),
    [
        ("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", "e1d2", "it leaves first in check"),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "e8e7", "the position does not allow this move to first"),
    ],
)
def test_a_move_that_may_not_be_made_is_refused_with_the_reason(rules: Ruleset, fen: str, move: str, why: str) -> None:
    game = Game.begin(rules, rules.position(fen=fen))
    made = next(
        each
        for side in ("first", "second")
        for each in rules.moves(game.position.with_changes(side=side))
        if each.source + each.destination == move
    )
    with pytest.raises(MoveError, match=why):
        game.play(made)
    if made in rules.moves(game.position):
        assert Game.begin(rules, game.position, pseudo_legal=True).play(made).plies


def test_a_game_reads_the_moves_that_it_lets_be_made_whatever_is_legal(rules: Ruleset, store: Store) -> None:
    board = rules.position(fen="4k3/8/8/8/8/8/4r3/3K4 w - - 0 1")
    free = Game.begin(rules, board, pseudo_legal=True)
    game = free.play("Kd2").play("e8 e7")
    with pytest.raises(MoveError, match="this move is not legal here, it leaves first in check"):
        Game.begin(rules, board).play("Kd2")
    assert free.read(game.pgn()).texts() == free.read(json.dumps(game.record())).texts() == ["d1 d2", "e8 e7"]
    checked = Game.begin(rules, rules.position(fen="4r1k1/8/8/8/8/8/8/1N2KN2 w - - 0 1"), pseudo_legal=True)
    for square in ("b1", "f1"):  # neither knight may leave the king in check
        assert checked.read(checked.play(f"{square} d2").pgn()).texts() == [f"{square} d2"]
    promoting = Game.begin(rules, rules.position(fen="4k3/P7/8/8/8/8/8/4K3 w - - 0 1"), pseudo_legal=True)
    with pytest.raises(MoveError, match='"a7a8" may mean a7 a8 1, a7 a8 2, a7 a8 3, a7 a8 4: say which'):
        promoting.play("a7a8")
    store.load({"C:K^": {"e1": {"e2": [{}]}}, "c:k^": {"e8": {"e7": [{}]}}}, "kings")
    kings = Position({"e1": "C:K^", "e8": "c:k^"})
    open_game = Game.begin(store.ruleset("kings"), kings, assume="displacement")
    assert open_game.read(json.dumps(open_game.play("e1e2").play("Ke7").record())).texts() == ["e1 e2", "e8 e7"]


def test_a_game_is_written_as_pgn_that_python_chess_reads(rules: Ruleset) -> None:
    start = rules.position(fen="r3k2r/pPpp1ppp/8/8/8/8/P1PP1PpP/R3K2R b KQkq - 3 17")
    game = Game.begin(rules, start)
    for move in ("O-O", "bxa8=N", "g1=Q+", "Rxg1"):
        game = game.play(move)
    text = game.pgn()
    assert '[SetUp "1"]\n[FEN "r3k2r/pPpp1ppp/8/8/8/8/P1PP1PpP/R3K2R b KQkq - 3 17"]' in text
    assert "17... O-O 18. bxa8=N g1=Q+ 19. Rxg1 *" in text
    read = chess.pgn.read_game(io.StringIO(text))
    assert read is not None
    assert not read.errors
    assert read.end().board().fen(en_passant="fen") == rules.fen(game.position)
    again = Game.begin(rules).read(text)
    assert (again.start, again.position, again.texts()) == (start, game.position, game.texts())
    assert again.position.counters == game.position.counters


def test_a_game_with_state_variables_begins_as_usual_whether_or_not_its_start_says_them(games: Games) -> None:
    rules = games["gdl/checkers"]
    game = Game.begin(rules, rules.start).play("a3 b4")
    assert "FEN" not in game.pgn()
    assert game.pgn() == Game.begin(rules).play("a3 b4").pgn()


def test_a_position_is_another_one_with_a_check_more_that_counts(games: Games) -> None:
    board = chess.variant.ThreeCheckBoard()
    game = Game.begin(games["3check"])
    bare = Game.begin(games["3check"], replace(game.start, counters=None))
    checking, quiet = ["d8a5", "b1d2", "a5d8", "d2b1"], ["g8f6", "g1f3", "f6g8", "f3g1"]
    for move in ("d2d3", "c7c6", "a2a3", *checking, *checking, *quiet, *quiet):
        board.push_uci(move)
        game, bare = game.play(move), bare.play(move)
        assert game.result.is_over == bare.result.is_over == board.is_repetition(3), board.fen()
    assert str(game.result) == "draw: the position was reached 3 times"


def test_the_start_counts_to_a_repetition_whatever_it_says_of_variables(store: Store) -> None:
    def steps(piece: str, *squares: str) -> dict[str, Any]:
        ways = zip(squares, reversed(squares), strict=True)
        return {one: {other: [{"diff": {"board": {one: None, other: piece}}}]} for one, other in ways}

    rook = {"values": ["no", "yes"], "initial": "no", "square": "b1", "pieces": ["C:R"]}
    variables = {"rook": rook, "ep": {"values": ["0", "1"], "initial": "0"}}
    parsed = parse({"$state": variables, "C:K": steps("C:K", "a1", "a2"), "c:k": steps("c:k", "c1", "c2")})
    play = play_text.text(Play(outcomes=(Outcome("repetition", "draw", count=3),)))
    envelope = replace(parsed.envelope, play=play, start="3/K1k / C/c")
    store.load(replace(parsed, envelope=envelope), "steps")
    rules = store.ruleset("steps")
    bare = Position({"a1": "C:K", "c1": "c:k"}, {})
    for start in (None, rules.start, bare, rules.stated(bare)):
        game = Game.begin(rules, start)
        assert game.start.state == {"ep": "0"}
        for move in ("a1 a2", "c1 c2", "a2 a1", "c2 c1") * 2:
            assert not game.result.is_over
            game = game.play(move)
        assert str(game.result) == "draw: the position was reached 3 times"
        assert rules.outcome(game.position, [start or rules.start, *game.history[1:]]) == game.result
        assert Game.begin(rules).read(json.dumps(game.record())).record() == game.record()


def test_a_pgn_of_another_variant_is_refused_and_of_this_one_read_by_any_name(sqlite_games: Games) -> None:
    names = {
        "chess": ("Standard", "From Position", "chess"),
        "3check": ("Three-check", "3check", "3CHECK"),
        "crazyhouse": ("Crazyhouse", "zh", "Standard"),
        "kingofthehill": ("King of the Hill", "kingofthehill"),
    }
    for name, called in names.items():
        game = Game.begin(sqlite_games[name])
        for variant in called:
            assert len(game.read(f'[Variant "{variant}"]\n\n1. e4 e5 *').plies) == 2, variant
        for variant in ("Atomic", "Chess960", "Crazyhouse 960"):
            with pytest.raises(
                MoveError, match=f'Variant says that this is a game of "{variant}", not of {name}: play'
            ):
                game.read(f'[Variant "{variant}"]\n\n1. e4 e5 *')
        assert len(game.read(game.play("e4").pgn()).plies) == 1


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1. e4 d5 2. e5 f5 3. exf6e.p.", "1. e4 d5 2. e5 f5 3. exf6"),
        ("1. e4 d5 2. e5 f5 3. exf6 e.p.", "1. e4 d5 2. e5 f5 3. exf6"),
        ('{My game} [White "x"] {Anna} [Black "y"]\n\n{so} 1. e4 e5', "1. e4 e5"),
        ("1. f3 e5 2. g4 Qh4++", "1. f3 e5 2. g4 Qh4#"),
        ("1.e2e4 e7e5 2. g1f3 b8c6 3.f1b5 g8f6 4. e1g1", "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O"),
        (
            "1. g2g4 e7e5 2. g4g5 h7h5 3. g5h6 a7a6 4. h6g7 a6a5 5. g7h8q",
            "1. g4 e5 2. g5 h5 3. gxh6 a6 4. hxg7 a5 5. gxh8=Q",
        ),
    ],
)
def test_a_pgn_is_read_as_other_programs_write_it(rules: Ruleset, text: str, plain: str) -> None:
    read = chess.pgn.read_game(io.StringIO(plain))
    assert read is not None
    assert not read.errors
    game = Game.begin(rules).read(text)
    assert rules.fen(game.position) == read.end().board().fen(en_passant="fen")


def test_what_a_game_was_played_on_past_unclaimed_draws_is_read(rules: Ruleset) -> None:
    thrice = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8"
    ended, game = (Game.begin(rules).read(text) for text in (thrice, f"{thrice} 5. e4 e5"))
    assert str(ended.result) == "draw: the position was reached 3 times"
    with pytest.raises(MoveError, match="the game is over: draw"):
        ended.play("e4")
    assert not game.result.is_over
    assert Game.begin(rules).read(json.dumps(game.record())).texts() == game.texts()
    left = Game.begin(rules, unclaimed=True).read(thrice)
    assert Game.begin(rules).read(json.dumps(left.record())).result == ended.result
    assert not Game.begin(rules, unclaimed=True).read(json.dumps(ended.record())).result.is_over
    quiet = '[FEN "7k/8/8/8/8/8/R7/K7 w - - 99 80"]\n\n80. Kb2 Kg7 81. Ra8'
    assert len(Game.begin(rules).read(quiet).plies) == 3
    with pytest.raises(MoveError, match="line 3: the game is over: draw: insufficient material"):
        Game.begin(rules).read(quiet.replace("R7", "8"))


def test_tags_and_a_result_that_the_board_does_not_show_are_kept(rules: Ruleset) -> None:
    text = '[White "Anna"]\n[Result "0-1"]\n\n1. e4 e5 0-1\n'
    game = Game.begin(rules).read(text)
    assert (game.score, game.tags["White"]) == ("0-1", "Anna")
    assert '[White "Anna"]' in game.pgn()
    assert game.pgn().endswith("1. e4 e5 0-1\n")
    assert game.play("Nf3").score == "*"
    assert game.undo().score == "*"


def test_a_record_has_all_of_a_game(rules: Ruleset) -> None:
    game = Game.begin(rules)
    for move in ("e2e4", "e7e5", "g1f3"):
        game = game.play(move)
    record = game.record()
    assert record["ruleset"] == str(rules.revision)
    assert record["digest"] == rules.revision.digest
    assert record["moves"][0] == {"move": "e2 e4", "uci": "e2e4"}
    assert record["counters"] == {"quiet": 0, "plies": 0, "checks": None}
    assert record["result"]["score"] == "*"
    again = Game.begin(rules).read(json.dumps(record))
    assert (again.position, again.position.counters) == (game.position, game.position.counters)
    assert again.record() == record
    assert Game.begin(rules).read("\ufeff" + json.dumps(record)).record() == record


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"moves": [{"move": "e2 e4", "uci": "e2e3"}]},
            'move 1: "e2 e4" and the uci beside it, "e2e3", are not the same',
        ),
        (
            {"moves": ["e2 e4", {"move": "e7 e6", "uci": "nonsense"}]},
            'move 2: "e7 e6" and the uci beside it, "nonsense"',
        ),
        ({"moves": [{"move": "e2 e4", "uci": 5}]}, 'move 1: "e2 e4" and the uci beside it, 5, are not'),
        ({"moves": [{"move": "e2 e4", "san": "e4"}]}, 'move 1: {"move": "e2 e4", "san": "e4"} has other keys'),
        ({"result": {"score": "1-0"}}, "the result of the record, {"),
        ({"result": {"is_over": True, "winner": None}}, "is not that of its moves: the game goes on (*)"),
        ({"result": "1-0"}, 'the result of the record, "1-0", is not that of its moves'),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(rules: Ruleset, change: dict[str, Any], message: str) -> None:
    record = Game.begin(rules).play("e2e4").record()
    with pytest.raises(MoveError) as error:
        Game.begin(rules).read(json.dumps(record | change))
    assert message in str(error.value)
    # Another revision may judge its games in another way.
    if "result" in change:
        assert len(Game.begin(rules).read(json.dumps(record | change | {"digest": "0" * 64})).plies) == 1


def test_a_record_is_played_with_its_own_ruleset_in_any_revision_and_by_any_name(rules: Ruleset) -> None:
    record = Game.begin(rules).play("e2e4").record()
    other = {"digest": "0" * 64}
    for change in ({"ruleset": f"{rules.name}@7"} | other, {"ruleset": "renamed@1"}, {"ruleset": f"{rules.name}#4"}):
        assert len(Game.begin(rules).read(json.dumps(record | change)).plies) == 1
    with pytest.raises(MoveError, match=f'this is a game of "shogi@1", not of {rules.name}'):
        Game.begin(rules).read(json.dumps(record | {"ruleset": "shogi@1"} | other))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is no record of a game"),
        ("{}", "a record of a game has the keys"),
        ('{"start": {}, "moves": [], "more": 1}', "a record of a game has the keys"),
        ('{"start": {"board": {}}, "moves": {}}', "the moves of a game are a list"),
        ('{"start": {"board": {}}, "moves": [1]}', "move 1: 1 names no move"),
        ('{"start": {"board": {}}, "moves": ["e2e4"]}', "move 1: "),
        ('{"start": {"board": {}}, "moves": [], "counters": {"quiet": 0.5}}', "are no counters"),
        ('{"start": {"board": {}}, "moves": [], "counters": {"plies": -1}}', "are no counters"),
        ('{"start": {"board": {}}, "moves": [], "counters": {"checks": [1]}}', "are no counters"),
        ('{"start": 3, "moves": []}', "3 is not a position"),
        ('{"ruleset": 3, "start": {"board": {}}, "moves": []}', "the ruleset and the digest of a record are text"),
        ('{"digest": null, "start": {"board": {}}, "moves": []}', "the ruleset and the digest of a record are text"),
        ('{"start": {"board": {}}, "moves": ' + "9" * 5000 + "}", "this is no record of a game: "),
        ('{"moves": [], "moves": [], "start": {}}', "the key stands twice in one object at 1:15"),
        ("[" * 10**5, "is no tag"),
        ("{" * 10**5, "this is no record of a game"),
        ("1. e4\ne5 2.\nKe3", "line 3: "),
        ("1. e4 [%clk 0:01] e5", 'line 1: "[%clk" is not a move in SAN'),
        ('[FEN "nonsense"]\n', "is not a FEN of this game"),
    ],
)
def test_what_is_no_game_is_refused_with_its_place(rules: Ruleset, text: str, message: str) -> None:
    with pytest.raises((MoveError, PositionError)) as error:
        Game.begin(rules).read(text)
    assert message in str(error.value)
    assert len(str(error.value)) < 2_000


def test_a_position_without_counters_gets_none_by_a_move(rules: Ruleset) -> None:
    bare = Position.from_feen(rules.start.to_feen())
    after = rules.apply(bare, "e2e4")
    assert after.counters is None
    assert rules.fen(after).endswith("KQkq e3 0 1")
    assert rules.apply(rules.start, "e2e4") == after
