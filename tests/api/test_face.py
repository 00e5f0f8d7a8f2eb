"""The face itself: what it is made of, what it exports, and what it says to wrong calls."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ggn_store
from ggn_store import (
    InputError,
    MoveError,
    Position,
    PositionError,
    QueryError,
    Ruleset,
    Store,
    StoreError,
    UnknownNameError,
    ruleset,
)
from ggn_store.api.play.game import Game
from ggn_store.api.session import attributes
from ggn_store.errors import NotationError
from tests.api import first_script
from tests.support.games import Games
from tests.support.program import MUST

README = Path(__file__).parents[2] / "README.md"
START = "+rnbq+k^bn+r/pppppppp/8/8/8/8/PPPPPPPP/+RNBQ+K^BN+R / C/c"


def test_a_first_script_runs_and_needs_no_casts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first_script.main(tmp_path)
    assert "has no start position of its own" in capsys.readouterr().out
    source = Path(first_script.__file__).read_text(encoding="utf-8")
    code = source.partition("from __future__")[2]
    assert not re.search(r"\bcast\b|type: ignore|\bAny\b", code)


def test_the_first_script_has_what_the_readme_shows() -> None:
    written = {line.strip() for line in Path(first_script.__file__).read_text(encoding="utf-8").splitlines()}
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
    shown = [line.strip() for block in blocks for line in block.splitlines() if line.strip()]
    assert shown
    missing = [line for line in shown if line not in written and not re.match(r"from ggn_store import|store = ", line)]
    assert missing == []


@pytest.mark.long
def test_mypy_reads_the_first_script_as_strictly_as_any_users(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(Path(first_script.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_the_names_at_the_top_are_few_and_all_there() -> None:
    names = dir(ggn_store)
    assert len(names) == len(set(names)) == 26
    for name in names:
        assert getattr(ggn_store, name) is not None
    found: dict[str, object] = {}
    exec("from ggn_store import *", found)
    assert set(names) <= found.keys()
    with pytest.raises(AttributeError, match="'ggn_store' has no attribute 'no_such_name'"):
        getattr(ggn_store, "no_such_name")  # noqa: B009


def test_stores_and_rulesets_have_no_ancestors() -> None:
    assert (Store.__bases__, Ruleset.__bases__) == ((object,), (object,))


@pytest.mark.parametrize("address", [":memory:", "store.db", Path("store.db"), None])
def test_a_store_that_is_not_opened_says_what_to_call(address: object) -> None:
    with pytest.raises(TypeError, match=re.escape(f"call Store.open({address!r})")):
        Store(address)  # type: ignore[arg-type]


def test_a_path_is_an_address_wherever_one_is_taken(tmp_path: Path) -> None:
    # As a text this would be the address of another kind of database.
    files = [tmp_path / "oracle:one.db", tmp_path / "two.db"]
    for file in files:
        with Store.open(file) as store:
            store.load(MUST, "must")
        with Store.at(file) as store:
            assert store.info().rulesets == 1
    with Store.open(files[0]) as store:
        assert [each.state for each in store.exchange.compare(files[1])] == ["diverged"]
        with pytest.raises(StoreError, match="there is no store here"):
            store.exchange.pull(tmp_path / "none.db")
    with pytest.raises(StoreError, match="this is not the address of a store"):
        Store.open(3)  # type: ignore[arg-type]


def test_a_ruleset_without_a_start_position_says_so() -> None:
    rules = ruleset(MUST)
    assert not rules.has_start
    with pytest.raises(PositionError, match=r"^ruleset@1 has no start position of its own$"):
        _ = rules.start


def test_effects_that_no_document_states_are_an_error_and_assumed_ones_are_not() -> None:
    rules = ruleset(MUST)
    piece = rules.pieces[0]
    position = Position({rules.select(piece).sources[0]: piece})
    for assume, is_known in ((None, False), ("displacement", True)):
        moves = rules.moves(position, assume=assume)  # type: ignore[arg-type]
        assert moves
        assert {move.has_effects for move in moves} == {is_known}
    with pytest.raises(MoveError, match=r"does not say what .* changes; .* assume='displacement'"):
        _ = rules.moves(position)[0].effects


def test_a_position_is_printed_as_a_board_and_shown_as_python() -> None:
    start = Position.from_feen(START)
    lines = str(start).splitlines()
    assert (lines[0], lines[-3:]) == (
        "8  +r   n   b   q +k^   b   n  +r",
        ["1  +R   N   B   Q +K^   B   N  +R", "    a   b   c   d   e   f   g   h", "first to move"],
    )
    assert eval(repr(start)) == start


@pytest.mark.parametrize(
    ("position", "printed"),
    [
        (Position({"a2": "C:P", "b1": "c:p"}, side="second"), "2 P .\n1 . p\n  a b\nsecond to move"),
        (Position({}), "(no pieces)\nfirst to move"),
        (Position({"a1": "C:P", "a1A": "C:P"}), "a1 C:P\na1A C:P\nfirst to move"),
        (Position({"zz999": "C:P"}, {"c:p": 2}), "zz999 C:P\nhand of second: 2 c:p\nfirst to move"),
        (Position({"north": "C:P"}, state={"tide": "low"}), "north C:P\nfirst to move; tide=low"),
    ],
)
def test_a_position_without_a_shape_is_drawn_as_far_as_its_squares_go(position: Position, printed: str) -> None:
    assert str(position) == printed


FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
NO_POSITION = f'"{FEN}" is not a position: the method `position` of a ruleset reads a text (fen=..., feen=...)'
ONE_POSITION = "several positions are asked for, such as a list of them; found a Python Position"


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        ("chess.moves(FEN)", PositionError, NO_POSITION),
        ("chess.legal_moves(FEN)", PositionError, NO_POSITION),
        ("chess.moves_batch([FEN])", PositionError, NO_POSITION),
        ("chess.fen(FEN)", PositionError, NO_POSITION),
        ("chess.position(FEN)", PositionError, "name the notation of a position: position(fen=...)"),
        ("chess.position(chess.notate(start))", PositionError, "of a position: position(feen=...)"),
        ("chess.position('x')", PositionError, "position(feen=...) or position(fen=...) or position(sfen=...)"),
        ("chess.moves_batch(start)", PositionError, ONE_POSITION),
        ("chess.count_moves(start)", PositionError, ONE_POSITION),
        ("chess.reached(start)", PositionError, ONE_POSITION),
        ("chess.explain(start)", PositionError, ONE_POSITION),
        ("chess.explain([5])", PositionError, "5 is not a position"),
        ("chess.outcome(start, start)", PositionError, ONE_POSITION),
        ("chess.columns.moves(start)", PositionError, ONE_POSITION),
        ("chess.columns.count(5)", PositionError, "several positions are asked for"),
        ("chess.columns.lists([5])", PositionError, "5 is not a position"),
        ("chess.columns.moves([start], threads=0)", StoreError, "threads is a number of processors from 1, not 0"),
        ("chess.along(start, None)", MoveError, "null is no path: a list of squares"),
        ("chess.attackers(start, [])", UnknownNameError, "has no square []"),
        ("chess.notate(start, [])", PositionError, "[] is not a notation of positions"),
        ("store.load_library('chess', author=5)", NotationError, "the author is a text, not 5"),
        ("store.sql('SELECT 1', ruleset=5)", UnknownNameError, "5 is not the name of a ruleset"),
        ("store.sql('SELECT 1', ruleset=chess, positions=start)", PositionError, ONE_POSITION),
        ("chess.moves(start, 'e2')", TypeError, '"e2": give it a keyword: piece, source, destination'),
        ("chess.legal_moves(start, 'e2')", TypeError, '"e2": give it a keyword: piece, source, destination'),
        ("chess.moves(start, sorce='e2')", TypeError, '"sorce" is not a keyword that asks for moves: did you mean s'),
        ("chess.chains(start, legal=True, any='e2')", TypeError, "moves: there are piece, source, destination"),
        ("chess.apply(start, 5)", MoveError, "5 is not a move: give one of `moves`, or a text such as e2e4"),
        ("chess.is_legal(start, 5)", MoveError, "5 is not a move"),
        ("chess.is_legal(start, 'castle')", MoveError, '"castle" is no square of the board'),
        ("chess.move_text('e2e5', start)", MoveError, "e2e5: the position does not allow this move to first"),
        ("chess.parse_move(5, start)", MoveError, "5 is not the text of a move, such as e2e4"),
        ("chess.parse_move('e4', start, 5)", MoveError, "5 is not a notation of moves: there are own"),
        ("chess.parse_move('e4', start, [])", MoveError, "[] is not a notation of moves: there are own"),
        ("chess.position(fen=5)", PositionError, "5 is not a FEN, which is a text"),
        ("chess.position(sfen=[])", PositionError, "[] is not an SFEN, which is a text"),
        ("chess.position(feen=5)", PositionError, "5 is not FEEN, which is a text"),
        ("Position.from_feen(None)", PositionError, "null is not FEEN, which is a text"),
        ("chess.perft(start, None)", MoveError, "a depth is a number of moves, not null"),
        ("chess.reached([start], 1.5)", MoveError, "a depth is a number of moves, not 1.5"),
        ("Game.begin(chess).play(5)", MoveError, "5 is not the text of a move, such as e2e4"),
        ("Game.begin(chess).play(None)", MoveError, "null is not the text of a move, such as e2e4"),
        ("Game.begin(chess).read(5)", MoveError, "5 is not the text of a game, in PGN or JSON"),
        ("store.load_library(5)", UnknownNameError, "5 is not the name of a game"),
        ("store.ruleset(5)", UnknownNameError, "5 is not the name of a ruleset, such as chess or chess@3"),
        ("store.load(None, 'x')", InputError, "null is no document: give a file, decoded JSON, or what `parse`"),
        ("store.load([], 'x')", InputError, "[] is no document"),
        ("store.load(b'{}', 'x')", InputError, "is no document: give a file, decoded JSON, or what `parse` has read"),
        ("store.reviews.propose(5, 'x')", InputError, "5 is no document"),
        ("store.load(chess.document(), 'chess', base=1)", NotationError, '1 is no revision of chess: write "3", "sha'),
        ("store.tags.set('chess', 'stable', expect=1)", NotationError, "1 is no revision of chess"),
        ("store.tags.set('chess', 5)", NotationError, "5 cannot name a tag"),
        ("store.tags.list(5)", NotationError, "5 does not name a ruleset: write chess, chess@3"),
        ("store.list(5)", NotationError, "5 cannot name a ruleset"),
        ("store.upkeep.verify(5)", NotationError, "5 cannot name a ruleset"),
        ("store.history.log([5])", NotationError, "5 does not name a ruleset"),
        ("store.history.diff(None, 'chess')", NotationError, "null does not name a ruleset"),
        ("store.reviews.get(5)", NotationError, "5 does not name a proposal: write chess#4"),
        ("store.reviews.list(5)", NotationError, "5 cannot name a ruleset"),
        ("store.exchange.push(None)", StoreError, "this is not the address of a store: write sqlite:///file.db"),
        ("store.exchange.create_bundle('x', [5])", NotationError, "5 cannot name a ruleset"),
        ("store.exchange.create_bundle('x', 'chess', since=1)", NotationError, "1 is no revision of chess"),
        ("store.exchange.create_bundle('x', [])", InputError, "nothing was named, or the store has no rulesets"),
        ("list(store.upkeep.audit(limit='x'))", NotationError, 'limit is a whole number from 0, not "x"'),
        ("list(store.upkeep.audit(limit=-1))", NotationError, "limit is a whole number from 0, not -1"),
        ("list(store.upkeep.audit(since=10**30))", NotationError, "is a whole number from 0, not 1000"),
        ("store.history.log('chess', limit=-1)", NotationError, "limit is a whole number from 0, not -1"),
        ("store.list(limit=-1)", NotationError, "limit is a whole number from 0, not -1"),
        (
            "list(store.upkeep.audit(before='x'))",
            NotationError,
            'the event of before, where it is no datetime, is a whole number from 0, not "x"',
        ),
        ("store.sql(5)", QueryError, "5 is not a query: one SELECT as a text"),
        ("store.get", AttributeError, "Store has no attribute 'get': use ruleset"),
        ("store.moves", AttributeError, "Store has no attribute 'moves': use ruleset(...).moves"),
        ("store.lod", AttributeError, "Store has no attribute 'lod': did you mean load?"),
        ("store.legal_move", AttributeError, "'legal_move': did you mean ruleset(...).legal_moves?"),
        ("chess.push", AttributeError, "Ruleset has no attribute 'push': use apply"),
        ("chess.turn", AttributeError, "Ruleset has no attribute 'turn': use position.side"),
        ("chess.hands", AttributeError, "Ruleset has no attribute 'hands': use position.hands"),
        ("chess.moves_table", AttributeError, "'moves_table': use columns.moves"),
        ("chess.xyz", AttributeError, "Ruleset has no attribute 'xyz': see help(Ruleset)"),
    ],
)
def test_a_wrong_call_says_what_to_call(sqlite_games: Games, call: str, kind: type[Exception], said: str) -> None:
    chess = sqlite_games["chess"]
    names = {"chess": chess, "store": sqlite_games.store, "start": chess.start, "FEN": FEN}
    with pytest.raises(kind, match=re.escape(said)):
        eval(call, {**names, "Position": Position, "Game": Game})


def test_a_move_may_be_a_text_or_a_path_wherever_one_is_taken(sqlite_games: Games) -> None:
    chess = sqlite_games["chess"]
    start = chess.start
    move = chess.parse_move("e2e4", start)
    for written in ("e4", "e2e4", "e2 e4", "C:P e2 e4", ["e2", "e4"], ("e2", "e4"), move):
        assert chess.apply(start, written) == chess.apply(start, move)
        assert chess.is_legal(start, written)
        assert chess.move_text(written, start, "san") == "e4"
    pinned = chess.position(fen="4r1k1/8/8/8/8/8/4Q3/4K3 w - - 0 1")
    assert [chess.is_legal(pinned, text) for text in ("e2e8", "e2d2", "e2 d2", "Qd2", "h1h2")] == [True, *[False] * 4]
    promotes = chess.position(fen="4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
    for call in (chess.apply, chess.is_legal):
        with pytest.raises(MoveError, match="a7 a8: 4 possibilities hold"):
            call(promotes, "a7 a8")


def test_hints_cost_nothing_and_hide_nothing(sqlite_games: Games, monkeypatch: pytest.MonkeyPatch) -> None:
    chess = sqlite_games["chess"]
    monkeypatch.setattr(attributes, "did_you_mean", None)
    assert not hasattr(chess, "psh")
    assert copy.copy(chess).start == chess.start
    with pytest.raises(AttributeError) as caught:
        getattr(chess, "psh")  # noqa: B009
    with pytest.raises(TypeError):  # names are compared only for those who read the message
        str(caught.value)

    def fails(_: object) -> None:
        raise AttributeError("of the property itself")

    monkeypatch.setattr(Ruleset, "start", property(fails))
    with pytest.raises(AttributeError, match="of the property itself"):
        _ = chess.start


def test_a_board_is_written_without_the_holes_that_the_game_has(games: Games) -> None:
    assert (
        games["gdl/nine-mens-morris"].text(Position({"d1": "NINE:M", "g7": "nine:m"}))
        == """\
7 .     .     m
6   .   .   .
5     . . .
4 . . .   . . .
3     . . .
2   .   .   .
1 .     M     .
  a b c d e f g
first to move
"""
    )
    cross = games["crossderby"]
    assert cross.text(cross.start).splitlines()[:2] == ["8  n     n  n  n  n    k^", "7        p  p  p  p"]
