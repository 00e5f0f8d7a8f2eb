"""Outcomes, judged of positions whose moves and checks are made up here; on boards of a store in test_games.py."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from ggn_store import Move, Position
from ggn_store.api.moves import outcomes
from ggn_store.games import library, playing
from ggn_store.model.moves import play_text
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.counters import Counters
from ggn_store.model.moves.play import OUTCOMES, Duty, Outcome, Play
from ggn_store.model.moves.position import SIDES
from ggn_store.notation import cell
from ggn_store.notation.complaints import Complaints
from ggn_store.notation.qpi import Side, side_of
from ggn_store.notation.stn import Transition
from tests.oracles import connection

KINGS = {"a1": "C:K^", "h8": "c:k^"}
MOVE = Move("C:P", "a1", "a2", 0, {}, {}, Transition({"a1": None, "a2": "C:P"}))
REPEATED = Outcome("repetition", "draw", count=3)


@dataclass(frozen=True)
class Rules:
    """A ruleset of declared outcomes, with moves and checks as they are given."""

    play: Play
    goes: Mapping[str, str] = field(default_factory=dict)
    checked: tuple[str, ...] = ()
    start: Position = field(default_factory=lambda: Position({}))
    definition: None = None

    @property
    def has_start(self) -> bool:
        """Whether it has one that is not empty."""
        return bool(self.start.board)

    def moves(self, position: Position, *, source: str, destination: str) -> list[Move]:
        """Those from there to there."""
        return [each for each in self.legal_moves(position) if (each.source, each.destination) == (source, destination)]

    def legal_moves(self, position: Position) -> list[Move]:
        """From one square to another, where the side to move has something."""
        return [
            Move(piece, source, to, 0, {}, {}, Transition({source: None, to: piece}))
            for source, to in self.goes.items()
            if (piece := position.board.get(source)) is not None and side_of(piece) == position.side
        ]

    def in_check(self, position: Position, side: Side | None = None) -> bool:
        """Whether the king stands on a square that was said to be in check."""
        return any(
            piece is not None and "^" in piece and side_of(piece) == (side or position.side)
            for square, piece in position.board.items()
            if square in self.checked
        )

    def attackers(self, position: Position, square: str, side: Side | None = None) -> Sequence[tuple[str, str]]:
        """Somebody, where a square was said to be in check."""
        return [("z9", "c:q")] if square in self.checked else []

    def chains(self, position: Position, *, legal: bool = False) -> tuple[Chain, ...]:
        """None of its moves is gone on with."""
        return ()

    def apply(self, position: Position, move: Move | Chain) -> Position:
        """The position after a move."""
        return position.after(move.effects)


def test_every_kind_of_outcome_is_judged() -> None:
    assert {*OUTCOMES} == {*outcomes.KINDS}


def told(rules: Rules, position: Position, history: Sequence[Position] = ()) -> str:
    return str(outcomes.judge(rules, position, history))


ON = "the game goes on"
GOAL = Outcome("goal", "win", pieces=("C:K^", "c:k^"), squares=("a8", "h8"))
EACH_ITS_OWN = (Outcome("goal", "win", "first", squares=("a8",)), Outcome("goal", "win", "second", squares=("h1",)))
RACE = (
    Outcome("goal", "win", side="first", pieces=("C:K^",), squares=("a8", "b8", "h8"), answered=True),
    Outcome("goal", "win", side="second", pieces=("c:k^",), squares=("a8", "b8", "h8")),
)
BARE = Outcome("bare", "loss", answered=True)
LONELY = Outcome("extinct", "loss", count=1, other=2, answered=True)
STAY = Outcome("goal", "win", pieces=("C:N", "c:n"), squares=("a8",), answered=True)
MINOR = Outcome("material", "draw", pieces=("C:N",), count=1)
ALL_IN_ONE = Outcome("connection", "win", pieces=("C:S", "c:s"), ways=("1 0", "1 1"))
BRIDGE = Outcome("connection", "win", edges=("a1 b1", "a3 b3"), ways=("0 1", "1 0"))
THREE = {f"{file}1": "c:s" for file in "abc"}
FACING = Outcome("facing", "draw", answered=True)


@pytest.mark.parametrize(
    ("declared", "goes", "checked", "board", "side", "expected"),
    [
        # No move: mate, stalemate by the verdict of each, or either.
        ((Outcome("no-move", "loss", in_check=True),), {}, ("a1",), KINGS, "first", "second wins: checkmate"),
        ((Outcome("no-move", "loss", in_check=True),), {}, (), KINGS, "first", ON),
        ((Outcome("no-move", "loss", in_check=True),), {"a1": "a2"}, ("a1",), KINGS, "first", ON),
        ((Outcome("no-move", "win", in_check=False),), {}, (), KINGS, "second", "second wins: stalemate"),
        ((Outcome("no-move", "loss"),), {}, (), KINGS, "second", "first wins: no legal move"),
        ((Outcome("no-move", "loss", side="first"),), {}, (), KINGS, "second", ON),
        # Goals: of both sides, safe ones, and those that may be answered.
        ((GOAL,), {}, (), {"a8": "C:K^", "e4": "c:k^"}, "second", "first wins: goal reached"),
        ((GOAL,), {}, (), {"a8": "C:Q", "e4": "c:k^"}, "second", ON),
        ((GOAL,), {}, (), {"a8": "C:K^", "h8": "c:k^"}, "second", "first wins: goal reached"),
        ((GOAL,), {}, (), {"a8": "C:K^", "h8": "c:k^"}, "first", "second wins: goal reached"),
        (EACH_ITS_OWN, {}, (), {"a8": "C:K^", "h1": "c:k^"}, "second", "first wins: goal reached"),
        (EACH_ITS_OWN, {}, (), {"a8": "C:K^", "h1": "c:k^"}, "first", "second wins: goal reached"),
        ((Outcome("goal", "win", squares=("a8",), safe=True),), {}, ("a8",), {"a8": "C:K^"}, "second", ON),
        ((Outcome("goal", "win", squares=("a8", "b8"), count=2),), {}, (), {"a8": "C:K^"}, "second", ON),
        (RACE, {"h7": "h8"}, (), {"a8": "C:K^", "h7": "c:k^"}, "second", ON),
        (RACE, {"h7": "h6"}, (), {"a8": "C:K^", "h7": "c:k^"}, "second", "first wins: goal reached"),
        (RACE, {}, (), {"a8": "C:K^", "h8": "c:k^"}, "first", "draw: goal reached"),
        (RACE, {}, (), {"a8": "C:K^", "h7": "c:k^"}, "first", "first wins: goal reached"),
        (RACE, {"a7": "a8"}, (), {"a7": "C:K^", "h8": "c:k^"}, "first", "second wins: goal reached"),
        ((STAY,), {}, (), {"a8": "C:N", "h8": "c:n"}, "second", ON),
        ((STAY,), {}, (), {"a8": "C:N", "h8": "c:n"}, "first", "first wins: goal reached"),
        # What is lost: all, some, all but the king; to be answered by who is to move.
        ((Outcome("extinct", "loss"),), {}, (), {"a1": "C:P"}, "second", "first wins: extinction"),
        ((Outcome("extinct", "win"),), {}, (), {"a1": "C:P"}, "second", "second wins: extinction"),
        ((Outcome("extinct", "loss", pieces=("C:Q",)),), {}, (), KINGS, "second", "second wins: extinction"),
        ((LONELY,), {}, (), KINGS | {"b1": "C:R"}, "first", "first wins: extinction"),
        ((LONELY,), {}, (), KINGS | {"b1": "C:R"}, "second", ON),
        ((LONELY,), {}, (), KINGS | {"b1": "C:R", "c1": "C:N"}, "second", "first wins: extinction"),
        ((LONELY,), {}, (), KINGS, "second", ON),
        ((BARE,), {}, (), KINGS | {"b1": "C:R"}, "second", ON),
        ((BARE,), {}, (), KINGS | {"b1": "C:R"}, "first", "first wins: bare king"),
        ((BARE,), {}, (), KINGS, "first", "draw: bare king"),
        ((Outcome("bare", "loss"),), {}, (), KINGS | {"b1": "C:R"}, "second", "first wins: bare king"),
        # Too little to win with: nothing, one of some, or some on squares of one colour; nothing in hand.
        ((Outcome("material", "draw"),), {}, (), KINGS, "second", "draw: insufficient material"),
        ((Outcome("material", "draw"),), {}, (), KINGS | {"b1": "C:N"}, "second", ON),
        ((MINOR,), {}, (), KINGS | {"b1": "C:N"}, "first", "draw: insufficient material"),
        ((MINOR,), {}, (), KINGS | {"b1": "C:N", "c1": "C:N"}, "first", ON),
        ((MINOR,), {}, (), KINGS | {"b1": "C:R"}, "first", ON),
        ((replace(MINOR, count=None, squares=("b1", "c2")),), {}, (), KINGS | {"b1": "C:N", "c2": "C:N"}, "first",
         "draw: insufficient material"),
        ((replace(MINOR, squares=("c2",)),), {}, (), KINGS | {"b1": "C:N"}, "first", ON),
        # Lines, of either side; the one that has just moved first.
        ((Outcome("line", "win", count=3),), {}, (), THREE, "first", "second wins: 3 in a row"),
        ((Outcome("line", "win", count=4),), {}, (), THREE, "first", ON),
        # Connections: of all pieces, of all edges, of some of them, by the steps that are said.
        ((ALL_IN_ONE,), {}, (), {"a1": "C:S", "h8": "c:s", "g8": "C:S"}, "first", "second wins: connection"),
        ((ALL_IN_ONE,), {}, (), {"a1": "C:S", "b2": "C:S", "h8": "c:s"}, "first", "second wins: connection"),
        ((ALL_IN_ONE,), {}, (), {"a1": "C:S", "b2": "C:S", "h8": "c:s"}, "second", "first wins: connection"),
        ((ALL_IN_ONE,), {}, (), {"a1": "C:S", "b3": "C:S", "h8": "c:s", "g6": "c:s"}, "first", ON),
        ((ALL_IN_ONE,), {}, (), {"a1": "C:S", "c3": "C:R", "h8": "c:s", "g6": "c:s"}, "first",
         "first wins: connection"),
        ((BRIDGE,), {}, (), {"a1": "C:S", "a2": "C:R", "a3": "C:S"}, "second", "first wins: connection"),
        ((BRIDGE,), {}, (), {"a1": "C:S", "b2": "C:S", "a3": "C:S"}, "second", ON),
        ((BRIDGE,), {}, (), {"a1": "C:S", "a2": "C:S", "a4": "C:S"}, "second", ON),
        ((replace(BRIDGE, pieces=("C:S",)),), {}, (), {"a1": "C:S", "a2": "C:R", "a3": "C:S"}, "second", ON),
        ((replace(BRIDGE, edges=(*BRIDGE.edges, "h8")),), {}, (), {"a1": "C:S", "a2": "C:S", "a3": "C:S"}, "first", ON),
        ((replace(BRIDGE, edges=(*BRIDGE.edges, "h8"), count=2),), {}, (), {"a1": "C:S", "a2": "C:R", "a3": "C:S"},
         "second", "first wins: connection"),
        # Of several that hold the first counts.
        ((Outcome("no-move", "draw"), GOAL), {}, (), {"a8": "C:K^"}, "second", "draw: no legal move"),
        ((GOAL, Outcome("no-move", "draw")), {}, (), {"a8": "C:K^"}, "second", "first wins: goal reached"),
    ],
)  # fmt: skip
def test_a_position_is_judged_by_what_is_declared(
    declared: tuple[Outcome, ...],
    goes: dict[str, str],
    checked: tuple[str, ...],
    board: dict[str, str],
    side: Side,
    expected: str,
) -> None:
    assert told(Rules(Play(outcomes=declared), goes, checked), Position(board, None, side)) == expected


def declared(name: str) -> Play:
    """What a game of the library declares."""
    if name in library.names():
        return playing.derive(library.read_game(name))
    beside = library.directory().parent / f"{name}.toml"
    return play_text.read(tomllib.loads(beside.read_text("utf-8"))["play"], Complaints())


# A board by other rules beside each, which the positions must tell from it.
CONNECTIONS = {
    "gdl/hex": (connection.hex_board(11), connection.hex_board(11, connection.among_squares)),
    "gdl/hex13": (connection.hex_board(13), connection.hex_board(13, connection.among_squares)),
    "y": (connection.y_board(13), connection.y_board(13, connection.among_squares)),
    "havannah": (connection.havannah_board(8), connection.havannah_board(8, sides=4)),
    "gdl/lines-of-action": (connection.lines_of_action(), connection.lines_of_action(connection.among_hexagons)),
    "gdl/scrambled-eggs": (connection.lines_of_action(), connection.lines_of_action(connection.among_hexagons)),
}


def filled(board: connection.Connection, chance: random.Random, is_sparse: bool) -> dict[str, bool]:
    """Stones by chance, or paths of them, such as players make; a few of each, where all have to be joined."""
    points, found = sorted(board.points), dict[connection.Point, bool]()
    walks = [is_first for is_first in (True, False) for _ in range(chance.randint(1, 2 if is_sparse else 16))]
    for is_first in chance.sample(walks, len(walks)):
        at = chance.choice(points)
        for _ in range(chance.randint(2, 8 if is_sparse else 20)):
            found.setdefault(at, is_first)
            beside = [(at[0] + x, at[1] + y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
            at = chance.choice([each for each in beside if each in board.points])
    return {cell.text(point): is_first for point, is_first in found.items()}


@pytest.mark.parametrize("name", CONNECTIONS)
def test_who_has_connected_is_who_has_by_the_written_rules(name: str) -> None:
    (board, mutant), chance, rules = CONNECTIONS[name], random.Random(name), Rules(declared(name))
    style = "X:S"
    seen, noticed = set[frozenset[bool]](), 0
    for _ in range(60):
        stones = filled(board, chance, name in ("gdl/lines-of-action", "gdl/scrambled-eggs"))
        said = {square: style if is_first else style.lower() for square, is_first in stones.items()}
        connected = board.connected(stones)
        seen.add(frozenset(connected))
        noticed += mutant.connected(stones) != connected
        for side in SIDES:
            result = outcomes.judge(rules, Position(said, None, side), (), lambda position: [MOVE])
            assert result.reason == ("connection" if connected else None), stones
            if len(connected) == 1:  # in play both never have at once, but in lines of action
                assert (result.winner == "first") == (True in connected), stones
    assert {frozenset(), frozenset({True}), frozenset({False})} <= seen
    assert noticed > 2


@pytest.mark.parametrize(
    ("name", "squares", "expected"),
    [
        # The board of nine holes has no diagonal lines; that of tapatan and achi has.
        ("nineholes", "a1 b2 c3", ON),
        ("nineholes", "c1 b2 a3", ON),
        ("nineholes", "b1 b2 b3", "second wins: goal reached"),
        ("nineholes", "a3 b3 c3", "second wins: goal reached"),
        ("nineholes", "a1 b1 c2", ON),
        ("tapatan", "a1 b2 c3", "second wins: 3 in a row"),
        ("achi", "c1 b2 a3", "second wins: 3 in a row"),
        # Four markers in a row, or in a square of four points.
        ("teeko", "b2 c2 b3 c3", "second wins: goal reached"),
        ("teeko", "d4 e4 d5 e5", "second wins: goal reached"),
        ("teeko", "b2 c3 d4 e5", "second wins: 4 in a row"),
        ("teeko", "b2 c2 b3 d3", ON),
        ("teeko", "a1 a3 c1 c3", ON),
    ],
)
def test_a_row_is_one_that_the_board_of_the_game_has(name: str, squares: str, expected: str) -> None:
    board = dict.fromkeys(squares.split(), "c:p") | {"d1": "C:P"}
    assert told(Rules(declared(name), {"d1": "e1"}), Position(board)) == expected


@pytest.mark.parametrize(
    ("name", "stalemate"),
    [
        # Schmittberger lets it win; the others are played as chess is.
        ("wildebeest", "second wins"),
        ("raumschach", "draw"),
        ("circular", "draw"),
        ("carrera", "draw"),
    ],
)
def test_a_stalemate_ends_games_that_are_like_chess(name: str, stalemate: str) -> None:
    play = declared(name)
    assert told(Rules(play), Position(KINGS | {"b5": "C:P"})) == f"{stalemate}: stalemate"
    assert told(Rules(play, {}, ("a1",)), Position(KINGS | {"b5": "C:P"})) == "second wins: checkmate"


def test_in_grant_acedrex_who_is_stalemated_or_has_a_bare_king_has_lost() -> None:
    play, pawns = declared("grant-acedrex"), {"b5": "C:P", "b6": "c:p"}
    assert told(Rules(play), Position(KINGS | pawns)) == "second wins: no legal move"
    assert told(Rules(play, KINGS | {"a1": "a2"}), Position(KINGS | pawns)) == ON
    assert told(Rules(play, {"a1": "a2"}), Position(KINGS | {"b5": "C:P"})) == "first wins: bare king"


@pytest.mark.parametrize("name", ["gdl/hex", "gdl/hex13"])
def test_a_full_board_of_hex_is_won_by_who_has_connected(name: str) -> None:
    (board, _), chance, rules = CONNECTIONS[name], random.Random(name), Rules(declared(name))
    for _ in range(10):
        stones = {cell.text(point): chance.random() < 0.5 for point in board.points}
        [is_first] = board.connected(stones)
        position = Position({square: "X:S" if first else "x:s" for square, first in stones.items()})
        assert told(rules, position) == f"{'first' if is_first else 'second'} wins: connection"


STALE = Outcome("no-move", "draw", in_check=False)
SAFE = (Duty("royal-safety"),)


@pytest.mark.parametrize(
    ("duties", "declared", "start", "now", "expected"),
    [
        (SAFE, (STALE,), KINGS, {"h8": "c:k^"}, "second wins: the royal piece is taken"),
        (SAFE, (STALE,), KINGS, {"a1": "C:K^"}, "first wins: the royal piece is taken"),
        (SAFE, (), KINGS, {"a1": "C:K^", "h7": "c:p"}, "first wins: the royal piece is taken"),
        # What is declared before stalemate comes first; nobody has lost whom nothing was to be kept safe of.
        (SAFE, (Outcome("extinct", "loss"), STALE), KINGS, {"h8": "c:k^"}, "second wins: extinction"),
        ((), (STALE,), KINGS, {"h8": "c:k^"}, "draw: stalemate"),
        (SAFE, (STALE,), {"h8": "c:k^", "a1": "C:P"}, {"h8": "c:k^"}, "draw: stalemate"),
        (SAFE, (STALE,), KINGS, {"a2": "C:P"}, "draw: stalemate"),
    ],
)
def test_who_has_lost_the_last_royal_piece_has_lost(
    duties: tuple[Duty, ...],
    declared: tuple[Outcome, ...],
    start: dict[str, str],
    now: dict[str, str],
    expected: str,
) -> None:
    play = Play(duties, outcomes=declared)
    for side in SIDES:
        assert told(Rules(play), Position(now, side=side), [Position(start)]) == expected


def test_who_has_no_royal_piece_and_no_move_has_lost_but_may_be_set_up_without() -> None:
    rules = Rules(Play(SAFE, outcomes=(STALE,)), {"a1": "a2"}, start=Position(KINGS))
    assert told(rules, Position({"h8": "c:k^"})) == "second wins: the royal piece is taken"
    assert told(rules, Position({"h8": "c:k^"}, side="second")) == "draw: stalemate"
    assert told(rules, Position({"h8": "c:k^", "a1": "C:P"})) == ON
    assert told(replace(rules, start=Position({})), Position({"h8": "c:k^"})) == "draw: stalemate"


def shuffled(*kings: str, side: Side = "first") -> list[Position]:
    """Positions of a first king that stands on these squares by turns, and a second one on h8 and g8."""
    other: dict[Side, Side] = {"first": "second", "second": "first"}
    sides = [side if number % 2 == 0 else other[side] for number in range(len(kings))]
    return [Position({square: "C:K^", "h8": "c:k^"}, None, side) for square, side in zip(kings, sides, strict=True)]


@dataclass(frozen=True)
class Watched(Rules):
    """Where a square is in check while something stands on another one."""

    def attackers(self, position: Position, square: str, side: Side | None = None) -> Sequence[tuple[str, str]]:
        return [("b2", "c:k^")] if "b2" in position.board and square in self.checked else []


def test_a_king_on_a_goal_that_has_to_be_safe_waits_for_a_move_that_attacks_it() -> None:
    declared = Play(outcomes=(Outcome("goal", "win", squares=("a8",), safe=True, answered=True),))
    board = Position({"a8": "C:K^", "b3": "c:k^"}, None, "second")
    assert told(Watched(declared, {"b3": "b4"}, ("a8",)), board) == "first wins: goal reached"
    assert told(Watched(declared, {"b3": "b2"}, ("a8",)), board) == ON


def test_a_repetition_needs_the_same_position_with_the_same_side_to_move() -> None:
    rules = Rules(Play(outcomes=(REPEATED,)), {"a1": "a2"})
    *history, now = shuffled("a1", "b1", "a1", "b1", "a1")
    assert told(rules, now, history) == "draw: the position was reached 3 times"
    assert told(rules, now, history[1:]) == ON
    *history, now = shuffled("a1", "a1", "b1", "a1")
    assert told(rules, now, history) == ON
    unjudged = outcomes.judge(rules, now, ())
    assert (unjudged.is_over, unjudged.unjudged) == (False, ("repetition", "no-move"))


def test_a_marked_piece_makes_another_position_only_where_it_can_be_taken_in_passing() -> None:
    play = Play(outcomes=(REPEATED,), reverts={"C:-P": "C:P"})
    marked = Position(KINGS | {"e4": "C:-P", "d4": "c:p"}, None, "second")
    plain = Position(KINGS | {"e4": "C:P", "d4": "c:p"}, None, "second")
    history = [marked, plain]
    assert told(Rules(play, {"h8": "h7"}), plain, history) == "draw: the position was reached 3 times"

    class Passing(Rules):
        def legal_moves(self, position: Position) -> list[Move]:
            taking = [Move("c:p", "d4", "e3", 0, {}, {}, Transition())] if position.board["e4"] == "C:-P" else []
            return [*super().legal_moves(position), *taking]

    assert told(Passing(play, {"h8": "h7"}), plain, history) == ON


def test_who_alone_gives_perpetual_check_loses() -> None:
    rules = Rules(Play(outcomes=(Outcome("repetition", "draw", count=3, perpetual=True),)), {"a1": "a2"}, ("a1", "b1"))
    *history, now = shuffled("a1", "c1", "b1", "c1", "a1", "c1", "b1", "c1", "a1")
    assert told(rules, now, history) == "first wins: perpetual check"
    *history, now = shuffled("a1", "c1", "c2", "c1", "a1", "c1", "b1", "c1", "a1")
    assert told(rules, now, history) == "draw: the position was reached 3 times"


def test_nobody_checks_where_a_position_need_not_come_again_or_only_one_side_moves() -> None:
    for count, squares in ((1, "c1 a1"), (2, "c1 c1")):
        rules = Rules(Play(outcomes=(Outcome("repetition", "draw", count=count, perpetual=True),)), {}, ("a1",))
        *history, now = (Position({square: "C:K^", "h8": "c:k^"}) for square in squares.split())
        assert told(rules, now, history) == f"draw: the position was reached {count} times"


def test_kings_that_face_each_other_may_be_parted_by_the_next_move() -> None:
    rules = Rules(Play(outcomes=(FACING,)), {"a1": "a2"})
    apart, facing = Position({"a1": "C:K^", "b8": "c:k^"}), Position({"a1": "C:K^", "a8": "c:k^"})
    assert told(rules, apart) == ON
    assert outcomes.judge(rules, facing, ()).unjudged == ("facing", "no-move")
    assert told(rules, facing, [apart]) == ON
    assert told(rules, facing, [apart, facing]) == "draw: the royal pieces face each other"
    assert told(Rules(Play(outcomes=(Outcome("facing", "loss"),))), facing) == (
        "second wins: the royal pieces face each other"
    )


def test_plies_without_progress_are_counted_by_counters_or_else_in_the_history() -> None:
    quiet = Outcome("quiet", "draw", count=3, pieces=("C:P", "c:p"))
    rules = Rules(Play(outcomes=(quiet,), reverts={"C:-P": "C:P"}), {"a1": "a2"})
    counted = Position(KINGS, counters=Counters(quiet=3))
    assert told(rules, counted) == "draw: 3 plies without a capture or a pawn's move"
    assert told(rules, Position(KINGS, counters=Counters(quiet=2))) == ON
    assert outcomes.judge(rules, Position(KINGS), ()).unjudged == ("quiet", "no-move")
    *history, now = shuffled("a1", "b1", "c1", "d1")
    assert told(rules, now, history) == "draw: 3 plies without a capture or a pawn's move"
    assert told(rules, now, history[1:]) == ON
    rich = [Position({**position.board, "h1": "c:p"}, None, position.side) for position in history[:1]]
    assert told(rules, now, [*rich, *history[1:]]) == ON


def test_checks_are_counted_by_counters_or_else_in_the_history() -> None:
    rules = Rules(Play(outcomes=(Outcome("checks", "win", count=2),)), {"a1": "a2"}, ("a1",))
    assert told(rules, Position(KINGS, counters=Counters(checks=(2, 0)))) == "second wins: 2 checks"
    assert told(rules, Position(KINGS, counters=Counters(checks=(1, 1)))) == ON
    assert outcomes.judge(rules, Position(KINGS), ()).unjudged == ("checks", "no-move")
    *history, now = shuffled("b1", "b1", "a1", "b1", "a1")
    assert told(rules, now, history) == "second wins: 2 checks"
    *history, now = shuffled("a1", "b1", "b1", "b1", "a1")
    assert told(rules, now, history) == ON


@pytest.mark.parametrize("amid", ["a1", "b1"])
def test_a_check_counts_once_in_a_turn_of_several_actions(amid: str) -> None:
    begun = Position({"e1": "C:K^", "a1": "c:k^"})
    # Each side does two things in its turn: the king is out of check by the second one, or by the first.
    turns = [begun, begun, replace(begun, side="second"), Position({"e1": "C:K^", amid: "c:k^"}, None, "second")]
    history = [*turns, *turns]
    for count, expected in ((2, "first wins: 2 checks"), (3, ON)):
        rules = Rules(Play(outcomes=(Outcome("checks", "win", count=count),)), {"e1": "e2"}, ("a1",))
        assert told(rules, begun, history) == expected
    perpetual = Play(outcomes=(Outcome("repetition", "draw", count=3, perpetual=True),))
    assert told(Rules(perpetual, {"e1": "e2"}, ("a1",)), begun, history) == "second wins: perpetual check"


def test_what_is_left_to_the_host_is_named() -> None:
    rules = Rules(Play(outcomes=(Outcome("no-move", "draw"),), host=("bikjang",)), {"a1": "a2"})
    assert outcomes.judge(rules, Position(KINGS), ()).unjudged == ("bikjang",)
    unknown = Rules(Play(outcomes=(Outcome("line", "win", count=3),)), {"a1": "a2"})
    assert outcomes.judge(unknown, Position({"A place": "C:K^"}), ()).unjudged == ("line", "no-move")


@pytest.mark.parametrize(
    ("before", "after", "quiet", "plies"),
    [
        ({"a1": "C:R"}, {"a2": "C:R"}, 5, 8),
        ({"a1": "C:R", "a2": "c:n"}, {"a2": "C:R"}, 0, 8),
        ({"a2": "C:P"}, {"a4": "C:-P"}, 0, 8),
        ({"a2": "C:P", "a1": "C:R"}, {"a2": "C:P", "b1": "C:R"}, 5, 8),
        ({"a2": "C:P", "b4": "c:-p"}, {"a2": "C:P", "b4": "c:p"}, 5, 8),
        ({}, {"a4": "C:P"}, 0, 8),
        ({}, {"a4": "C:R"}, 0, 8),
        ({"a1": "C:N"}, {"a1": "C:H", "b3": "C:N"}, 5, 8),
        ({"b2": "C:P"}, {"a2": "C:P"}, 5, 8),  # it could go back to b2
        ({"a2": "C:P"}, {"b2": "C:P"}, 0, 8),
        ({"a1": "C:R", "a2": "c:n"}, {"a2": "c:s"}, 0, 8),  # what captures turns to a stone of the other side
        ({"a1": "C:R", "a2": "c:n"}, {"a2": "C:S"}, 0, 8),
    ],
)
def test_the_clock_stops_at_captures_and_moves_of_pawns(
    before: dict[str, str], after: dict[str, str], quiet: int, plies: int
) -> None:
    quiet_without = Outcome("quiet", "draw", count=100, pieces=("C:P", "c:p"))
    rules = Rules(Play(reverts={"C:-P": "C:P"}, outcomes=(quiet_without,)), {"a2": "b2"})
    begun = Position(KINGS | before, None, "first", counters=Counters(4, 7))
    ended = Position(KINGS | after, None, "second")
    assert outcomes.counted(rules, begun, ended).counters == Counters(quiet, plies)
    assert outcomes.counted(rules, Position(begun.board), ended).counters is None


@pytest.mark.parametrize(("taken", "quiet"), [({}, 5), ({"a2": "c:n"}, 0)])
def test_a_move_that_does_not_pass_the_turn_is_a_ply_to_the_clock_and_no_move_of_its_own(
    taken: dict[str, str], quiet: int
) -> None:
    begun = Position(KINGS | {"a3": "C:R"} | taken, None, "first", counters=Counters(4, 7))
    ended = Position(KINGS | {"a2": "C:R"}, None, "first")
    rules = Rules(Play(outcomes=(Outcome("quiet", "draw", count=5),)))
    assert outcomes.counted(rules, begun, ended).counters == Counters(quiet, 7)
    before = [Position(KINGS | {square: "C:R"}) for square in ("c3", "b3", "a4", "b4")]
    assert told(rules, ended, [*before, replace(begun, counters=None)]) == told(
        rules, outcomes.counted(rules, begun, ended)
    )


def test_each_outcome_asks_for_as_many_checks_as_it_says() -> None:
    two, four = Outcome("checks", "win", "first", count=2), Outcome("checks", "loss", "second", count=4)
    draw = Outcome("checks", "draw", "second", count=3)
    rules = Rules(Play(outcomes=(two, four, draw)), {"a1": "a2"})
    assert rules.play.counters("first") == Counters(0, 0, (2, 4))
    for left, expected in (
        ((1, 2), ON),
        ((0, 2), "first wins: 2 checks"),
        ((1, 1), "draw: 3 checks"),
        ((1, 0), "first wins: 4 checks"),
    ):
        assert told(rules, Position(KINGS, counters=Counters(checks=left))) == expected


def test_checks_that_are_given_are_counted_down() -> None:
    rules = Rules(Play(outcomes=(Outcome("checks", "win", count=3),)), checked=("h8",))
    start = Position(KINGS, counters=rules.play.counters("first"))
    assert start.counters == Counters(0, 0, (3, 3))
    after = outcomes.counted(rules, start, Position({"a2": "C:K^", "h8": "c:k^"}, None, "second"))
    assert after.counters == Counters(1, 1, (2, 3))
    assert outcomes.counted(rules, after, Position({"a2": "C:K^", "h7": "c:k^"})).counters == Counters(2, 2, (2, 3))
