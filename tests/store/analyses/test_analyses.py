"""Analyses against independent answers: python-chess, hand counts, and positions tried out in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import chess
import pytest
from hypothesis import strategies as st
from sqlalchemy import text

from ggn_store import Ruleset, Store, UnknownNameError, generate, read_definition
from ggn_store.analysis import dead
from ggn_store.documents.ggn import parse
from ggn_store.documents.lint import lint
from ggn_store.errors import DamagedError, NotationError
from ggn_store.store.analyses import entries
from ggn_store.store.analyses.asking import asking
from tests.oracles import analyses as oracle
from tests.oracles import facts, reference
from tests.support.databases import MOSTLY_SQLITE, new_store
from tests.support.games import Games
from tests.support.guards import drop_guards
from tests.support.loaded import NAMES, Json, in_random_documents, loaded
from tests.support.strategies import documents

GAMES = ("chess", "gorogoro", "minixiangqi")
# Shogi without its generals, rooks and bishops.
SHOGI = """
like = "shogi"
title = "Lances, knights and pawns"
start = "ln2k^2nl/9/ppppppppp/9/9/9/PPPPPPPPP/9/LN2K^2NL / S/s"
without = [
  "pieces.R", 'pieces."+R"', "pieces.B", 'pieces."+B"', "pieces.G", "pieces.S", 'pieces."+S"',
]
"""


@pytest.fixture(scope="module", params=MOSTLY_SQLITE)
def shogi(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ruleset]:
    with new_store(request.param, tmp_path_factory.mktemp("shogi"), request) as store:
        store.load(generate(read_definition(SHOGI)), "shogi")
        yield store.ruleset("shogi")


# --- stats ---


def test_stats_count_what_the_document_holds(store: Store) -> None:
    document: Json = {
        "C:P": {
            "a1": {
                "a2": [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:P"}, "toggle": False}}],
                "b2": [{"must": {"b2": "enemy"}, "deny": {"a2": "c:p"}, "diff": {"hands": {"C:P": 1}}}],
            },
            "*": {"a1": [{"diff": {"board": {"a1": "C:P"}, "hands": {"C:P": -1}}}, {"diff": {}}]},
        },
        "c:p": {"a2": {"a1": [{"diff": {"board": {"a2": None}}}]}},
    }
    ruleset = loaded(store, document)
    counted = {
        "pieces": 2, "first": 1, "second": 1, "squares": 4, "sources": 3, "destinations": 4, "possibilities": 5,
        "drops": 2, "conditions": 3, "effects": 4, "hand_effects": 2, "keeps_turn": 1,
    }  # fmt: skip
    [record] = store.analysis().stats([ruleset.name])
    assert {key: record[key] for key in counted} == counted
    assert (record["ruleset"], record["revision"], record["dialect"], record["board"]) == (
        ruleset.name,
        1,
        "diff",
        "2x2",
    )
    first, second = ruleset.analysis().stats()
    assert (first["piece"], first["side"], first["possibilities"], first["drops"]) == ("C:P", "first", 4, 2)
    assert (second["piece"], second["side"], second["possibilities"], second["drops"]) == ("c:p", "second", 1, 0)


def test_stats_are_those_of_the_listing_for_every_game(games: Games) -> None:
    assert all(games[name].name == name for name in GAMES)
    records = {record["ruleset"]: record for record in games.store.analysis().stats(GAMES)}
    assert [*records] == [*GAMES]
    for summary in games.store.list(*GAMES):
        for name in ("pieces", "sources", "destinations", "possibilities", "conditions", "effects", "hand_effects"):
            assert records[summary.revision.name][name] == summary.counts[name]


def test_stats_of_chess_are_two_possibilities_a_move(games: Games) -> None:
    counted = {each["piece"]: each for each in games["chess"].analysis().stats()}
    for letter, moves in SUMS.items():
        # To an empty square, and to an enemy; the condition is on each square of the way.
        assert counted[f"C:{letter}"]["possibilities"] == counted[f"c:{letter.lower()}"]["possibilities"] == 2 * moves
    assert (counted["C:N"]["sources"], counted["C:N"]["conditions"], counted["C:N"]["effects"]) == (64, 672, 1344)
    # From 40 squares a step, 8 double steps, captures (70), en passant (2 x 7), and 22 moves to promote, each of four.
    assert counted["C:P"]["possibilities"] == 40 + 8 + 70 + 14 + 22 * 4


def test_stats_keep_to_the_order_and_the_revisions_that_were_asked_for(store: Store) -> None:
    one: Json = {"C:P": {"a1": {"a2": [{}]}}}
    store.load(one, "b")
    store.load({**one, "c:p": one["C:P"]}, "b")
    store.load(one, "a")
    found = store.analysis().stats(["b@1", "a", "b"])
    assert [(each["ruleset"], each["revision"], each["pieces"]) for each in found] == [
        ("b", 1, 1), ("a", 1, 1), ("b", 2, 2),
    ]  # fmt: skip


# --- mobility ---

LETTERS = {"K^": chess.KING, "Q": chess.QUEEN, "R": chess.ROOK, "B": chess.BISHOP, "N": chess.KNIGHT}
SUMS = {"K^": 420, "Q": 1456, "R": 896, "B": 560, "N": 336}


@pytest.mark.parametrize("letter", LETTERS)
def test_chess_pieces_go_where_python_chess_lets_them_attack(games: Games, letter: str) -> None:
    analysis = games["chess"].analysis()
    for piece in (f"C:{letter}", f"c:{letter.lower()}"):
        squares = analysis.mobility_by_square(piece)
        assert len(squares) == 64
        for found in squares:
            board = chess.Board(None)
            square = chess.parse_square(found.source)
            board.set_piece_at(square, chess.Piece(LETTERS[letter], piece[0] == "C"))
            attacked = {chess.square_name(each) for each in board.attacks(square)}
            assert {*found.quiet} == {*found.capture} == attacked
        [summary] = analysis.mobility(piece)
        assert summary.any.total == summary.quiet.total == summary.capture.total == SUMS[letter]
        assert summary.any.mean == SUMS[letter] / 64


def test_a_pawn_steps_and_captures_on_different_squares(games: Games) -> None:
    [pawn] = games["chess"].analysis().mobility("C:P")
    # Ranks 2 to 7: a step each and 8 double steps; captures are 14 a rank.
    assert (pawn.squares, pawn.quiet.total, pawn.capture.total, pawn.any.total) == (48, 56, 84, 140)
    assert (pawn.quiet.min, pawn.quiet.max, pawn.capture.min, pawn.capture.max) == (1, 2, 1, 2)


def test_colours_tell_bishops_from_knights_and_rooks(games: Games) -> None:
    chess_pieces = {each.piece: each for each in games["chess"].analysis().mobility()}
    assert [chess_pieces[f"C:{letter}"].colours for letter in "BNR"] == ["bound", "alternating", "free"]
    assert [chess_pieces[f"C:{letter}"].reach for letter in "BNR"] == [32, 64, 64]
    [elephant] = games["xiangqi"].analysis().mobility("X:B")
    # It has rules all over its half, where the most that it gets to is a1, e1, i1, c3, g3, a5, e5, i5.
    assert (elephant.squares, elephant.colours, elephant.reach) == (45, "bound", 8)


def test_the_lance_of_shogi_never_moves_back(shogi: Ruleset) -> None:
    squares = shogi.analysis().mobility_by_square("S:L")
    board = [each for each in squares if each.source != "*"]
    for each in board:
        file, rank = each.source[0], int(each.source[1:])
        assert {*each.quiet} == {*each.capture} == {f"{file}{number}" for number in range(rank + 1, 10)}
    assert sum(len(each.quiet) for each in board) == 9 * sum(range(1, 9))
    # From the hand it goes to all but the last rank, and takes nothing.
    [hand] = [each for each in squares if each.source == "*"]
    assert (len(hand.quiet), hand.capture) == (72, ())


def test_a_cannon_takes_nothing_without_a_screen(games: Games) -> None:
    [cannon] = games["xiangqi"].analysis().mobility("X:C")
    assert (cannon.squares, cannon.quiet.total, cannon.capture.total) == (90, 90 * 17, 0)


@in_random_documents(few=2, many=100)
def test_mobility_and_who_reaches_agree_with_trying_it_out(module_store: Store, dialect: str, data: Any) -> None:
    document = data.draw(documents(dialect))
    ruleset = loaded(module_store, document)
    expected = oracle.leaps(document)
    found = ruleset.analysis().mobility_by_square()
    assert {(each.piece, each.source, square) for each in found for square in each.quiet} == {
        leap for leap, (quiet, _, _) in expected.items() if quiet
    }
    assert {(each.piece, each.source, square) for each in found for square in each.capture} == {
        leap for leap, (_, capture, _) in expected.items() if capture
    }
    for square in {destination for _, _, destination in expected}:
        reachers = ruleset.analysis().who_reaches(square)
        assert {(each.piece, each.source): (each.quiet, each.capture, each.possibilities) for each in reachers} == {
            (piece, source): told for (piece, source, destination), told in expected.items() if destination == square
        }


@in_random_documents(few=2, many=100)
def test_the_summary_of_a_piece_is_made_of_its_squares(module_store: Store, dialect: str, data: Any) -> None:
    analysis = loaded(module_store, data.draw(documents(dialect))).analysis()
    squares = [each for each in analysis.mobility_by_square() if each.source != "*"]
    for piece in analysis.mobility():
        counts = [len({*each.quiet, *each.capture}) for each in squares if each.piece == piece.piece]
        assert (piece.squares, piece.any.total, piece.any.min, piece.any.max) == (
            len(counts), sum(counts), min(counts, default=0), max(counts, default=0),
        )  # fmt: skip
        graph = {each.source: {*each.quiet, *each.capture} for each in squares if each.piece == piece.piece}
        assert piece.reach == max((len(facts.walked(graph, source)) for source in graph), default=0)


# --- coverage and who reaches a square ---


def test_an_elephant_covers_seven_squares_and_an_advisor_five(games: Games) -> None:
    coverage = {each.piece: {*each.squares} for each in games["xiangqi"].analysis().coverage()}
    assert coverage["X:B"] == {"a3", "c1", "c5", "e3", "g1", "g5", "i3"}
    assert coverage["X:A"] == {"d1", "f1", "e2", "d3", "f3"}
    assert len(coverage["X:R"]) == 90
    # A soldier: two squares a file before the river, and everything beyond it.
    assert len(coverage["X:P"]) == 5 * 2 + 45


def test_a_bishop_covers_one_colour_from_a_square_and_both_from_the_start(games: Games) -> None:
    analysis = games["chess"].analysis()
    [bishop] = analysis.coverage("C:B")
    assert (len(bishop.squares), bishop.of, bishop.hand) == (64, 64, False)
    dark = chess.SquareSet(chess.BB_DARK_SQUARES)
    assert {*analysis.coverage_from("C:B", "c1").squares} == {chess.square_name(square) for square in dark}


def test_pieces_that_are_taken_come_back_from_the_hand(shogi: Ruleset) -> None:
    coverage = {each.piece: each for each in shogi.analysis().coverage()}
    assert (len(coverage["S:P"].squares), coverage["S:P"].hand) == (72, True)
    assert (len(coverage["S:N"].squares), coverage["S:N"].hand) == (63, True)
    assert (len(coverage["S:+P"].squares), coverage["S:+P"].hand) == (81, False)
    # In hand since there is a knight of the other side to take, though none of it stands there at first.
    alone = shogi.analysis().coverage_from("S:N", "*")
    assert len(alone.squares) == 63


def test_who_reaches_a_square_says_how(games: Games) -> None:
    found = {(each.piece, each.source): each for each in games["chess"].analysis().who_reaches("g1")}
    castling, king = found["C:+K^", "e1"], found["C:K^", "f1"]
    assert (castling.quiet, castling.capture) == (False, False)
    assert (king.quiet, king.capture) == (True, True)
    knights = {source for piece, source in found if piece == "C:N"}
    assert knights == {"e2", "f3", "h3"}
    pawn = found["c:p", "g2"]
    assert (pawn.quiet, pawn.capture, pawn.possibilities) == (True, False, 4)


@in_random_documents(few=2, many=100)
def test_coverage_agrees_with_following_the_effects(module_store: Store, dialect: str, data: Any) -> None:
    document = data.draw(documents(dialect))
    ruleset = loaded(module_store, document)
    sources = [(piece, source) for piece, source, *_ in reference.possibilities(document)]
    told = {each.piece: ({*each.squares}, each.hand) for each in ruleset.analysis().coverage()}
    assert told == split(oracle.reached(document, sources), ruleset.pieces)
    piece, source = data.draw(st.sampled_from(sources))
    one = ruleset.analysis().coverage_from(piece, source)
    assert {piece: ({*one.squares}, one.hand)} == split(oracle.reached(document, [(piece, source)]), [piece])


def split(standing: set[oracle.Standing], pieces: Iterable[str]) -> dict[str, tuple[set[str], bool]]:
    return {
        piece: ({square for each, square in standing if each == piece and square != "*"}, (piece, "*") in standing)
        for piece in pieces
    }


def test_what_the_rules_do_not_have_is_named(games: Games) -> None:
    analysis = games["chess"].analysis()
    for ask in (
        lambda: analysis.mobility("C:X"),
        lambda: analysis.coverage("C:X"),
        lambda: analysis.coverage_from("C:N", "z9"),
        lambda: analysis.who_reaches("z9"),
    ):
        with pytest.raises(UnknownNameError, match=r'has no (rules for "C:X"|square "z9")'):
            ask()


# --- uses ---


@in_random_documents(few=2, many=100)
def test_uses_agree_with_looking_through_the_document(module_store: Store, dialect: str, data: Any) -> None:
    document = data.draw(documents(dialect))
    ruleset = loaded(module_store, document)
    for state in {*oracle.named(document), "empty", "enemy"}:
        expected = oracle.mentions(document, state)
        listed = ruleset.analysis().each_use(state)
        keys = [(each.piece, each.source, each.destination, each.ordinal) for each in listed]
        assert keys == sorted(keys, key=order_of(document))
        told = [(each.piece, each.source, each.destination, each.ordinal, each.role, each.square) for each in listed]
        assert sorted(told, key=str) == sorted(expected, key=str)
        counted = {
            (each.piece, each.role): (each.possibilities, each.mentions) for each in ruleset.analysis().uses(state)
        }
        assert counted == {
            (piece, role): (len({use[:4] for use in of_role}), len(of_role))
            for piece, role in {(use[0], use[4]) for use in expected}
            for of_role in [[use for use in expected if (use[0], use[4]) == (piece, role)]]
        }


def order_of(document: Json) -> Callable[[Any], int]:
    return [(*key, ordinal) for *key, ordinal, _ in reference.possibilities(document)].index


def test_castling_is_what_mentions_a_rook_that_has_not_moved(games: Games) -> None:
    analysis = games["chess"].analysis()
    assert {(each.piece, each.role) for each in analysis.uses("C:+R")} >= {("C:+R", "rules"), ("C:+K^", "must")}
    castling = [each for each in analysis.each_use("C:+R") if each.role == "must"]
    assert {(each.source, each.destination, each.square) for each in castling} == {
        ("e1", "g1", "h1"), ("e1", "c1", "a1"),
    }  # fmt: skip


def test_drops_are_what_mentions_a_pawn_of_shogi_in_a_hand(shogi: Ruleset) -> None:
    analysis = shogi.analysis()
    uses = {(each.piece, each.role): each for each in analysis.uses("S:P")}
    # 72 drops; each forbids another pawn on the 8 other squares of its file.
    assert uses["S:P", "hand"].possibilities >= 72
    drops = [each for each in analysis.each_use("S:P") if each.role == "deny" and each.source == "*"]
    assert {each.square[0] == each.destination[0] for each in drops if each.square} == {True}
    assert len({(each.destination, each.square) for each in drops}) == 72 * 8


def test_nothing_mentions_a_piece_of_another_game(games: Games) -> None:
    assert games["chess"].analysis().uses("S:P") == []
    with pytest.raises(NotationError, match="is not a state"):
        games["chess"].analysis().uses("pawn")


# --- dead rules ---


@in_random_documents(few=2, many=100)
def test_dead_rules_agree_with_trying_everything_out(module_store: Store, dialect: str, data: Any) -> None:
    document = data.draw(documents(dialect))
    found = loaded(module_store, document).analysis().dead()
    told = {(each.piece, each.source, each.destination, each.ordinal): (each.kind, each.by) for each in found}
    assert told == oracle.dead(document)
    assert [*told] == sorted(told, key=order_of(document))


@in_random_documents(few=2, many=100)
def test_what_never_stands_anywhere_agrees_with_following_the_effects(
    module_store: Store, dialect: str, data: Any
) -> None:
    document = data.draw(documents(dialect))
    sources = [(piece, source) for piece, source, *_ in reference.possibilities(document)]
    placed = {square: piece for piece, square in sources[:2] if square != "*"}
    name = f"game-{next(NAMES)}"
    module_store.load(document, name)
    ruleset = module_store.ruleset(name)
    board = ruleset.board
    start = [(piece, board.numbers[square]) for square, piece in placed.items()]
    with asking(module_store.session.database, None) as asker:
        pieces = entries.of_revision(asker, ruleset.revision)
    found = dead.find(pieces, board, start)
    lost, absent = oracle.without_rules_to_stand(document, [(piece, square) for square, piece in placed.items()])
    assert {(each.piece, each.source): each.possibilities for each in found if each.kind == "unreachable"} == lost
    needless = oracle.dead(document)
    told = {
        ((each.piece, each.source, each.destination, each.ordinal), each.square, each.state)
        for each in found
        if each.kind == "absent"
    }
    first = {key: (square, state) for key, square, state in sorted(absent, key=lambda each: -board.numbers[each[1]])}
    assert {key: (square, state) for key, square, state in told} == {
        key: asked for key, asked in first.items() if key not in needless
    }


def test_entries_that_are_not_stored_are_made_of_the_rows_and_damaged_ones_are_told(store: Store) -> None:
    step = {"must": {"a2": "empty", "b1": "c:p"}, "diff": {"board": {"a1": None, "a2": "C:P"}}}
    store.load({"C:P": {"a1": {"a2": [step, step]}, "b1": {"b2": [{"diff": {"board": {"b2": "C:P"}}}]}}}, "game")
    other = {"C:P": {"a1": {"b1": [{"diff": {"board": {"b1": "C:P"}}}]}}, "c:p": {"b2": {"a2": [{"diff": {}}]}}}
    store.load(other, "other")

    def answers() -> list[Any]:
        of_one, of_all = store.ruleset("game").analysis(), store.analysis()
        found = [of_one.dead(), of_one.asymmetries(), of_one.coverage(), of_all.compare("game", "other")]
        return [*found, of_all.same_movers(exact=True, whole=True)]

    def change(entries: str) -> None:
        with store.session.database.writing() as connection:
            drop_guards(connection)
            connection.execute(text(f"UPDATE piece_facts SET entries = {entries}"))

    before = answers()
    assert [each.kind for each in before[0]] == ["duplicate"]
    change("NULL")
    assert answers() == before
    change("'[[],[],[[false,1,[0],[0]]]]'")
    with pytest.raises(DamagedError, match=r"the facts of the piece \"C:P\" are not those of its rows"):
        answers()


def test_chess_has_no_dead_rules(games: Games) -> None:
    assert games["chess"].analysis().dead() == []


def test_elephants_have_rules_from_squares_that_they_never_come_to(games: Games) -> None:
    found = games["xiangqi"].analysis().dead()
    elephants = [each for each in found if each.piece == "X:B"]
    assert ({each.kind for each in elephants}, len(elephants)) == ({"unreachable"}, 45 - 7)


def test_soldiers_and_advisors_have_rules_where_they_never_come(games: Games) -> None:
    found = games["xiangqi"].analysis().dead()
    squares = {piece: {each.source for each in found if each.piece == piece} for piece in ("X:P", "X:A")}
    # Before the river soldiers keep to their files; of the palace, advisors go on its diagonals.
    assert squares == {"X:P": {f"{file}{rank}" for file in "bdfh" for rank in (4, 5)}, "X:A": {"d2", "e1", "e3", "f2"}}
    assert {each.kind for each in found} == {"unreachable"}


def test_nothing_of_shogi_can_be_taken_where_it_could_never_move_again(shogi: Ruleset) -> None:
    found = shogi.analysis().dead()
    assert {each.kind for each in found} == {"absent"}
    assert {(each.state, str(each.square)[1:]) for each in found} == {
        ("s:n", "1"), ("s:n", "2"), ("s:l", "1"), ("s:p", "1"),
        ("S:N", "9"), ("S:N", "8"), ("S:L", "9"), ("S:P", "9"),
    }  # fmt: skip
    # A promoted pawn takes on the first rank from beside, and from before.
    assert sum((each.piece, each.state) == ("S:+P", "s:p") for each in found) == 16 + 9


def test_each_kind_of_dead_rule_is_told_with_its_reason(store: Store) -> None:
    empty: Json = {"must": {"a2": "empty"}}
    document: Json = {
        "C:P": {
            "a1": {
                "a2": [
                    empty,
                    empty,
                    {"must": {"a2": "empty", "b2": "empty"}},
                    {"must": {"a1": "enemy"}},
                    {"must": {"a2": "c:p"}, "deny": {"a2": "enemy"}},
                    {"must": {"a2": "enemy"}},
                ]
            }
        }
    }
    found = loaded(store, document).analysis().dead()
    assert [(each.ordinal, each.kind, each.by, each.square, each.state) for each in found] == [
        (1, "duplicate", 0, None, None),
        (2, "shadowed", 0, None, None),
        (3, "never", None, "a1", "enemy"),
        (4, "never", None, "a2", "c:p"),
    ]


def test_dead_and_lint_say_the_same_of_conditions_that_never_hold(store: Store) -> None:
    states = (None, "empty", "enemy", "C:P", "C:Q", "c:p", "c:q")
    possibilities: list[Json] = []
    for square, must, deny in itertools.product(("a1", "b3"), states, states):
        if (must != deny or must is None) and (square, must) != ("a1", "C:P"):
            conditions = {"must": must, "deny": deny}
            possibilities.append({key: {square: state} for key, state in conditions.items() if state is not None})
    entries = {f"c{number}": [each] for number, each in enumerate(possibilities, 1) if each}
    document: Json = {"C:P": {"a1": entries}}
    never = [each.destination for each in loaded(store, document).analysis().dead() if each.kind == "never"]
    findings = [each for each in lint(parse(document, "must-deny")) if each.code == "never-holds"]
    assert never == [finding.pointer.split("/")[3] for finding in findings]
    assert len(never) > 30


# --- the SQL that ran ---


def test_the_sql_that_is_told_gives_the_same_again(games: Games) -> None:
    told: list[str] = []
    reachers = games["chess"].analysis(told.append).who_reaches("e4")
    with games.store.session.database.reading() as connection:
        (rows,) = (connection.exec_driver_sql(each.replace("%", "%%")).all() for each in told)
    label = games["chess"].board.label
    again = [(piece, label(source), bool(quiet), bool(takes), count) for piece, source, _, quiet, takes, count in rows]
    assert again == [(each.piece, each.source, each.quiet, each.capture, each.possibilities) for each in reachers]
    assert sum(each.piece == "C:N" for each in reachers) == 8


def test_records_are_plain_numbers_on_both_databases(games: Games) -> None:
    for record in (*games.store.analysis().stats(["chess"]), *games["chess"].analysis().stats()):
        assert {type(value) for value in record.values()} <= {int, str}
