"""The game descriptions in data/gdl, played by the interpreter: python-chess, perft figures and hand counts agree."""

import json
import os
import random
from collections import Counter
from collections.abc import Iterator

import chess as python_chess
import pytest

from ggn_store import Position as StorePosition
from ggn_store import Store
from tests.oracles import python_chess as oracle
from tests.oracles.gdl_interpreter import Game, Kind, Outcome, Piece, Plain, Position
from tests.support.gdl_specifications import (
    BOARDS,
    CHESS_KINDS,
    DRAUGHTS,
    GDL,
    OTHERS,
    SPECIFICATIONS,
    TARGETED,
    boards_of,
    game,
    of_chess,
)

EVERY = int(os.environ.get("GGN_GDL_EVERY", "16"))  # one position in so many of each file, but for long runs

SIDES: dict[str, oracle.Side] = {"White": "first", "Black": "second"}


def test_every_specification_is_one_of_those_that_are_tested_here() -> None:
    assert sorted(path.stem for path in GDL.glob("*.json")) == sorted((*SPECIFICATIONS, *DRAUGHTS, *BOARDS, *OTHERS))


@pytest.mark.parametrize("name", [*SPECIFICATIONS, *DRAUGHTS, *BOARDS, *OTHERS])
def test_a_specification_says_its_licence_and_can_be_read(name: str) -> None:
    text = (GDL / f"{name}.json").read_text(encoding="utf-8")
    about = json.loads(text)["metadata"]
    assert about["license"] == "MIT"
    assert about["name"].lower().replace(" ", "-").replace("'", "") == name
    assert text.endswith("}\n")
    assert "\t" not in text
    assert max(len(line) for line in text.splitlines() if '"description"' not in line) <= 150


# Chess


def chess_state(position: Position) -> oracle.State:
    """What python-chess keeps of a position; a pawn that made a double step is one that stands where it ended."""
    squares, state = game("chess").to_identifiers(position, CHESS_KINDS)
    if state["ep"] != "-1":
        passed = "abcdefgh"[int(state["ep"])] + ("5" if position.player == "White" else "4")
        squares[passed] = squares[passed].replace(":", ":-")
    return oracle.state_of_ours(squares, SIDES[position.player])


def chess_differences(boards: list[python_chess.Board]) -> Iterator[str]:
    for board in boards:
        at = of_chess(board)
        moves = game("chess").moves(at)
        expected = {
            (key.source, key.destination): key for key in oracle.expected_moves(board) if key.promotion in (None, "Q")
        }
        for pair in sorted(moves.keys() ^ expected.keys()):
            yield f"{board.fen()}: {pair} is {'missing' if pair in expected else 'too much'}"
        for pair in moves.keys() & expected.keys():
            if chess_state(moves[pair].after) != oracle.state_after(board, oracle.move_of(expected[pair])):
                yield f"{board.fen()}: {pair} leads to {moves[pair].after}"


@pytest.mark.parametrize("every", [48, pytest.param(EVERY, id="more", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", [*TARGETED, "random"])
def test_chess_gives_the_moves_of_python_chess_that_promote_to_queens(name: str, every: int) -> None:
    assert list(chess_differences(boards_of(name, every))) == []


@pytest.mark.long
@pytest.mark.parametrize("name", [*TARGETED, "random"])
def test_chess_gives_the_moves_of_python_chess_in_all_positions(name: str) -> None:
    assert list(chess_differences(boards_of(name, 1))) == []


def test_the_positions_of_chess_need_every_action() -> None:
    actions = Counter(
        outcome.action
        for name in TARGETED
        for board in boards_of(name, 48)
        for outcome in game("chess").moves(of_chess(board)).values()
    )
    assert actions.keys() == game("chess").actions.keys()


def test_chess_begins_as_chess_does() -> None:
    assert game("chess").start() == of_chess(python_chess.Board())


def test_the_right_to_castle_is_lost_with_the_rook() -> None:
    rules = game("chess")
    at = of_chess(python_chess.Board("4k3/8/8/8/8/8/6b1/R3K2R b KQ - 0 1"))
    taken = rules.moves(at)["g2", "h1"].after
    back = rules.moves(taken)["a1", "b1"].after
    assert {pair for pair, outcome in rules.moves(taken).items() if outcome.action.startswith("castle")} == {
        ("e1", "c1")
    }
    again = rules.moves(rules.moves(back)["h1", "g2"].after)["b1", "a1"].after
    assert not [outcome for outcome in rules.moves(again).values() if outcome.action.startswith("castle")]


# Checkers


def checkers_moves(position: Position) -> list[Position]:
    """The positions after each move where a jump must be made and gone on with: the host's rule."""
    rules = game("checkers")
    plain: list[Position] = []
    jumps: dict[tuple[str, ...], Outcome] = {}
    for path, outcome in rules.moves(position).items():
        if outcome.chainable:
            jumps[path] = outcome
        else:
            plain.append(outcome.after)
    if not jumps:
        return plain
    jumps |= {path: outcomes[-1] for path, outcomes in rules.chains(position).items()}
    unfinished = {path[:-1] for path in jumps}
    return [outcome.after for path, outcome in jumps.items() if path not in unfinished]


def checkers_perft(depth: int) -> list[int]:
    """How many sequences of moves there are for each depth from the start."""
    level = Counter({game("checkers").start().key: 1})
    known = {game("checkers").start().key: game("checkers").start()}
    found = []
    for _ in range(depth):
        following: Counter[tuple[object, ...]] = Counter()
        positions: dict[tuple[object, ...], Position] = {}
        for key, count in level.items():
            for after in checkers_moves(known[key]):
                following[after.key] += count
                positions[after.key] = after
        level, known = following, positions
        found.append(following.total())
    return found


# The figures are those that programs for American checkers are held to.
CHECKERS_PERFT = [7, 49, 302, 1469, 7361, 36768, 179740, 845931]


def test_checkers_has_the_known_number_of_games() -> None:
    assert checkers_perft(3) == CHECKERS_PERFT[:3]


@pytest.mark.long
def test_checkers_has_the_known_number_of_longer_games() -> None:
    assert checkers_perft(8) == CHECKERS_PERFT


CHECKERS_KINDS: dict[str, Kind] = {
    f"{style}:{letter}": (owner, "Piece", {"rank": rank})
    for style, owner, letters in (("CHECKERS", "Black", "MK"), ("checkers", "White", "mk"))
    for letter, rank in zip(letters, ("man", "king"), strict=True)
}


def test_a_store_lets_the_same_jumps_be_made_as_one_move(store: Store) -> None:
    ((_),) = store.load_all([GDL / "checkers.json"])
    rules, rng, chains = store.ruleset("checkers"), random.Random(3), 0
    at = game("checkers").start()
    while after := checkers_moves(at):
        if game("checkers").chains(at):
            board, state = game("checkers").to_identifiers(at, CHECKERS_KINDS)
            side: oracle.Side = "first" if at.player == "Black" else "second"
            asked = StorePosition(board, side=side, state={"crowned": state["crowned"]})
            jumps = rules.chains(asked, legal=True)
            made = [rules.apply(asked, move) for move in rules.legal_moves(asked)]
            made += [rules.apply(asked, jump) for jump in jumps]
            wanted = [game("checkers").to_identifiers(each, CHECKERS_KINDS) for each in after]
            assert sorted(map(told, made)) == sorted(
                told(StorePosition(squares, state=values)) for squares, values in wanted
            )
            assert rules.perft(asked, 1, legal=True).count == len(after)
            assert not rules.outcome(asked).is_over
            chains += len(jumps)
        at = rng.choice(after)
    assert chains >= 3


def told(position: StorePosition) -> str:
    return f"{sorted(position.board.items())} {(position.state or {})['crowned']}"


def men(board: dict[str, str], player: str, crowned: str | None = None) -> Position:
    """A position of checkers: `B` and `W` are men, `BB` and `WW` kings."""
    kinds = {"B": ("Black", "man"), "BB": ("Black", "king"), "W": ("White", "man"), "WW": ("White", "king")}
    pieces = {
        square: Piece("Piece", (("owner", kinds[name][0]), ("rank", kinds[name][1]))) for square, name in board.items()
    }
    return Position(pieces, {"phase": "main_turn", "crowned": crowned}, player)


def test_a_man_that_is_crowned_jumps_no_further() -> None:
    rules = game("checkers")
    at = men({"b6": "B", "c7": "W", "e7": "W"}, "Black")
    assert rules.chains(at) == {}
    crowned = rules.moves(at)["b6", "d8"].after
    assert crowned == men({"d8": "BB", "e7": "W"}, "White", "Black")
    assert set(rules.chains(men({"b6": "BB", "c7": "W", "e7": "W"}, "Black"))) == {("b6", "d8", "f6")}
    assert ("d8", "f6") in rules.moves(
        rules.moves(men({"d8": "BB", "e7": "W", "h8": "W"}, "White", "Black"))["h8", "g7"].after
    )


def test_men_do_not_go_back_and_kings_do() -> None:
    rules = game("checkers")
    assert set(rules.moves(men({"d4": "B"}, "Black"))) == {("d4", "c5"), ("d4", "e5")}
    assert set(rules.moves(men({"d4": "W"}, "White"))) == {("d4", "c3"), ("d4", "e3")}
    assert {pair[1] for pair in rules.moves(men({"d4": "BB"}, "Black"))} == {"c3", "c5", "e3", "e5"}


def test_a_king_can_jump_round_and_end_where_it_began() -> None:
    at = men({"c3": "BB", "d4": "W", "d6": "W", "b6": "W", "b4": "W"}, "Black")
    found = game("checkers").chains(at)
    assert found["c3", "e5", "c7", "a5", "c3"][-1].after == men({"c3": "BB"}, "White")
    assert len([path for path in found if len(path) == 5]) == 2


# Hexguard


def hexes(board: dict[str, str], player: str = "South", **state: Plain) -> Position:
    """A position of Hexguard in battle; capitals are South's, `G` a guard, `R` a rider."""
    pieces = {
        cell: Piece(
            "Piece",
            (("owner", "South" if name.isupper() else "North"), ("rank", {"g": "guard", "r": "rider"}[name.lower()])),
        )
        for cell, name in board.items()
    }
    return Position(pieces, {"phase": "battle", "rallied": False, "tension": 0, **state}, player)


def of_action(position: Position, name: str, rules: Game) -> set[tuple[str, str]]:
    return {pair for pair, outcome in rules.moves(position).items() if outcome.action == name}


def test_hexguard_begins_with_thirteen_steps_of_either_side() -> None:
    rules = game("hexguard")
    start = rules.start()
    assert len(start.board) == 20
    moves = rules.moves(start)
    # Seven guards go straight on, six of them slanting too: the first one's slanting cell is off the board.
    assert Counter(outcome.action for outcome in moves.values()) == {"muster_step": 13}
    for outcome in moves.values():
        assert outcome.after.state == {"phase": "muster", "rallied": False, "tension": 1}
        assert len(rules.moves(outcome.after)) == 13


def test_a_guard_on_the_middle_row_begins_the_battle() -> None:
    rules = game("hexguard")
    at = rules.start()
    for pair in (("d2", "d3"), ("d6", "d5"), ("d3", "d4")):
        assert at.state["phase"] == "muster"
        at = rules.moves(at)[pair].after
    assert at.state == {"phase": "battle", "rallied": False, "tension": 3}
    # The guard on d5 can take the one on d4; riders can slide, for there has been quiet.
    assert of_action(at, "guard_capture", rules) == {("d5", "d4")}
    assert rules.moves(at)["d5", "d4"].after.state["tension"] == 0
    assert of_action(at, "rider_slide", rules) >= {("d7", "c7"), ("d7", "e7")}


def test_a_rider_slides_on_six_lines_where_there_has_been_quiet() -> None:
    rules = game("hexguard")
    alone = {"d4": "R"}
    assert rules.moves(hexes(alone, tension=1)) == {}
    slides = of_action(hexes(alone, tension=2), "rider_slide", rules)
    # Three to each of six sides from the middle of a board of seven.
    assert len(slides) == 18
    assert of_action(hexes({**alone, "d5": "G"}, tension=3), "rider_slide", rules) == slides - {
        ("d4", "d5"),
        ("d4", "d6"),
        ("d4", "d7"),
    }
    assert rules.moves(hexes(alone, tension=3))["d4", "d7"].after.state["tension"] == 1


def test_riders_leap_over_enemies_on_lines_as_often_as_they_can() -> None:
    rules = game("hexguard")
    at = hexes({"d4": "R", "d5": "g", "e5": "g", "c5": "g", "e6": "g"})
    assert of_action(at, "rider_leap", rules) == {("d4", "d6"), ("d4", "b6")}  # e5 is no neighbour of d4
    assert set(rules.chains(at)) == {("d4", "d6", "f6"), ("d4", "d6", "f4")}


def test_stepping_aside_keeps_the_turn_but_only_once() -> None:
    rules = game("hexguard")
    at = hexes({"d4": "G", "a7": "g"})
    aside = of_action(at, "side_step", rules)
    assert aside == {("d4", "c4"), ("d4", "e4")}
    after = rules.moves(at)["d4", "c4"].after
    assert (after.player, after.state["rallied"]) == ("South", True)
    assert set(rules.moves(after)) == {("c4", "c5"), ("c4", "b5")}
    assert rules.moves(after)["c4", "c5"].after == hexes({"c5": "G", "a7": "g"}, "North", tension=1)


def test_a_guard_that_reaches_the_last_row_becomes_a_rider() -> None:
    rules = game("hexguard")
    assert rules.moves(hexes({"d6": "G"}))["d6", "c7"].after == hexes({"c7": "R"}, "North", tension=1)
    assert rules.moves(hexes({"d6": "G", "c7": "r"}))["d6", "c7"].after == hexes({"c7": "R"}, "North")
    assert rules.moves(hexes({"d2": "g"}, "North"))["d2", "e1"].after == hexes({"e1": "r"}, tension=1)


# Contraband


def roads(board: dict[str, str], player: str = "Runners", **state: Plain) -> Position:
    """A position of Contraband: `R` a runner, `o` an officer, with `+` those who are loaded."""
    pieces = {}
    for place, name in board.items():
        owner, schema = {"R": ("Runners", "Runner"), "o": ("Watch", "Officer")}[name[-1]]
        pieces[place] = Piece(schema, (("loaded", name[0] == "+"), ("owner", owner)))
    return Position(pieces, {"phase": "day", "hour": 0, "tide": "high", "bounty": None, **state}, player)


def test_contraband_begins_with_three_loads_and_three_walks() -> None:
    rules = game("contraband")
    start = rules.start()
    assert start == roads({"Isle": "R", "Cove": "R", "Quay": "R", "Abbey": "o", "Bridge": "o", "Gate": "o"})
    moves = rules.moves(start)
    assert {pair: outcome.action for pair, outcome in moves.items()} == {
        ("Isle", "Isle"): "load",
        ("Cove", "Cove"): "load",
        ("Quay", "Quay"): "load",
        ("Cove", "Fen"): "walk",
        ("Quay", "Market"): "walk",
        ("Quay", "Mill"): "walk",
    }
    after = moves["Isle", "Isle"].after
    assert after == roads({"Isle": "+R", "Cove": "R", "Quay": "R", "Abbey": "o", "Bridge": "o", "Gate": "o"}, "Watch")
    # Abbey: Market, Ford; Bridge: Market, Mill, Ford; Gate: Market. Nobody carries anything that could be taken.
    assert len(rules.moves(after)) == 6


def test_boats_sail_at_high_tide_which_comes_with_the_first_hour() -> None:
    rules = game("contraband")
    at = roads({"Isle": "R", "Gate": "o"}, hour=2)
    assert of_action(at, "sail", rules) == {("Isle", "Cove"), ("Isle", "Quay")}
    at = rules.moves(at)["Isle", "Cove"].after
    assert at == roads({"Cove": "R", "Gate": "o"}, "Watch", hour=3, tide="low")
    # In hour 3 only places with light are entered: Market and Bridge. The tunnel to Abbey is closed.
    assert set(rules.moves(at)) == {("Gate", "Market"), ("Gate", "Bridge")}
    assert rules.moves(at)["Gate", "Market"].after == roads({"Cove": "R", "Market": "o"}, hour=0, tide="high")


def test_the_river_goes_one_way_and_the_marsh_stops_the_loaded() -> None:
    rules = game("contraband")
    assert {to for _, to in rules.moves(roads({"Mill": "R"}))} == {"Quay", "Bridge", "Ford"}
    assert {to for _, to in rules.moves(roads({"Mill": "+R"}))} == {"Quay", "Bridge"}
    assert {to for _, to in rules.moves(roads({"Ford": "R"}))} == {"Abbey", "Fen", "Bridge"}


def test_an_arrest_is_gone_on_with_by_the_escort() -> None:
    rules = game("contraband")
    at = roads({"Bridge": "+R", "Mill": "o", "Isle": "R", "Abbey": "o"}, "Watch")
    assert of_action(at, "arrest", rules) == {("Mill", "Bridge")}
    arrest = rules.moves(at)["Mill", "Bridge"].after
    caught = {"Bridge": "+o", "Isle": "R", "Abbey": "o"}
    assert arrest == roads(caught, "Watch", phase="escort", bounty="Watch")
    assert {to for _, to in rules.moves(arrest)} == {"Mill", "Market", "Ford", "Gate"}
    done = rules.moves(arrest)["Bridge", "Gate"].after
    assert done == roads({"Gate": "o", "Isle": "R", "Abbey": "o"}, "Runners", bounty="Watch")
    far = rules.moves(roads(caught, "Watch", phase="escort", tide="low"))["Bridge", "Mill"].after
    assert far == roads({"Mill": "+o", "Isle": "R", "Abbey": "o"})
    assert of_action(roads({"Bridge": "+R", "Mill": "o"}, "Watch", bounty="Watch"), "arrest", rules) == set()
    delivered = rules.moves(roads({"Gate": "+R", "Mill": "o"}, bounty="Watch"))["Gate", "Gate"].after
    assert delivered == roads({"Gate": "R", "Mill": "o"}, "Watch")


# Play


@pytest.mark.parametrize("name", [name for name in SPECIFICATIONS if name != "chess"])
def test_random_play_uses_every_action(name: str) -> None:
    rules, chance = game(name), random.Random(name)
    used: set[str] = set()
    for _ in range(12):
        at = rules.start()
        for _ in range(80):
            if used == rules.actions.keys():
                return
            moves = rules.moves(at)
            if not moves:
                break
            outcome = moves[chance.choice(sorted(moves))]
            used.add(outcome.action)
            at = outcome.after
    assert used == rules.actions.keys()
