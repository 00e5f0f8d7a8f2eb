"""Legal moves on columns are those of the store and of python-chess, whatever forbids a move."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import chess as python_chess
import pytest

from ggn_store import Position, Ruleset, Store, StoreError, parse
from ggn_store.api.loading.private import of_document
from ggn_store.api.moves import columns
from ggn_store.api.moves.batches import BATCH_QUERIES
from ggn_store.model.moves import play_text
from ggn_store.model.moves.move import COUNTS
from ggn_store.model.moves.play import Crossing, Duty, Play
from tests.oracles.fairy_stockfish import FIXTURES, PASS, fixture
from tests.oracles.python_chess import DECIDED, games_of_chess
from tests.oracles.python_shogi import MATING_DROPS
from tests.support.games import Games
from tests.support.positions import played

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("numpy")

# Two royal pieces that must not face each other, screens, gating, boards of more than a word, captures in passing;
# and a game of each other duty.
SMALL = ("seirawan", "xiangqi", "racingkings", "minishogi")
LARGE = ("makruk", "giveaway", "cambodian", "grand", "shoshogi", "spartan", "makpong", "supply", "janggi")
GAMES = (*SMALL, *(pytest.param(name, marks=pytest.mark.long) for name in LARGE))


def require_legal(rules: Ruleset, positions: list[Position], **options: Any) -> None:
    """Tables, batches and counts on columns are as the store has them, position by position."""
    expected = rules.moves_batch(positions, query="fast", legal=True)
    found: list[list[tuple[str, str, str, int]]] = [[] for _ in positions]
    for row in rules.columns.moves(positions, legal=True, **options).to_pylist():
        found[row.pop("position")].append(tuple(row.values()))
    assert found == [[(m.piece, m.source, m.destination, m.ordinal) for m in moves] for moves in expected]
    assert rules.moves_batch(positions, query="columns", legal=True) == expected
    for by in COUNTS:
        counts = rules.count_moves(positions, by, query="columns", legal=True)
        assert counts == rules.count_moves(positions, by, query="fast", legal=True)
        table = rules.columns.count(positions, by, legal=True, **options)
        assert dict(zip(*(column.to_pylist() for column in table.columns), strict=True)) == counts


@pytest.fixture
def chess(games: Games) -> Ruleset:
    return games["chess"]


def require_python_chess(rules: Ruleset, boards: list[python_chess.Board]) -> None:
    positions = [rules.position(fen=board.fen(en_passant="fen")) for board in boards]
    texts = [rules.notate(position) for position in positions]
    for board, position, moves in zip(boards, positions, rules.columns.lists(positions, legal=True), strict=True):
        expected = sorted(move.uci() for move in board.legal_moves)
        assert sorted(rules.move_text(move, position, "uci") for move in moves) == expected, board.fen()
    counted = rules.columns.count(texts, legal=True)
    assert counted["count"].to_pylist() == [board.legal_moves.count() for board in boards]


def test_chess_has_the_legal_moves_of_python_chess(chess: Ruleset) -> None:
    require_python_chess(chess, [*map(python_chess.Board, DECIDED), *games_of_chess(4)])


@pytest.mark.long
def test_chess_has_them_in_twenty_thousand_positions(chess: Ruleset) -> None:
    require_python_chess(chess, [*games_of_chess(200, seed=11)])


def test_every_way_to_ask_gives_the_legal_moves_of_chess(chess: Ruleset) -> None:
    positions = [chess.position(fen=fen) for fen in DECIDED]
    require_legal(chess, positions)
    expected = chess.moves_batch(positions, legal=True, piece="C:+K^", query="fast")
    for query in BATCH_QUERIES:
        assert chess.moves_batch(positions, legal=True, piece="C:+K^", query=query) == expected
    board = [(at, square, piece) for at, each in enumerate(positions) for square, piece in each.board.items()]
    table = pa.table(dict(zip(("position", "square", "piece"), zip(*board, strict=True), strict=True)))
    sides = pa.table({"position": range(len(positions)), "side": [each.side for each in positions]})
    assert chess.columns.moves(table, sides=sides, legal=True).equals(chess.columns.moves(positions, legal=True))


@pytest.mark.parametrize("name", GAMES)
def test_games_have_the_legal_moves_of_the_store(sqlite_games: Games, name: str) -> None:
    rules = sqlite_games[name]
    positions = [rules.position(fen=sample.fen) for sample in fixture(name)]
    assert rules.moves_batch(positions, legal=True) != rules.moves_batch(positions)
    require_legal(rules, positions[::3])
    require_fairy_stockfish(name, rules)


def require_fairy_stockfish(name: str, rules: Ruleset) -> None:
    """Columns have the moves of Fairy-Stockfish, by their names; a pass has none there."""
    samples = fixture(name)
    positions = [rules.position(fen=sample.fen) for sample in samples]
    for sample, position, moves in zip(samples, positions, rules.columns.lists(positions, legal=True), strict=True):
        named = {rules.move_text(move, position, "uci") for move in moves}
        assert {text for text in named if not PASS.fullmatch(text)} == {
            text for text in sample.moves if not PASS.fullmatch(text)
        }, sample.fen


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(file.stem for file in FIXTURES.glob("*.txt")))
def test_every_game_has_the_legal_moves_of_fairy_stockfish_or_is_left_to_the_store(
    sqlite_games: Games, name: str
) -> None:
    rules = sqlite_games[name]
    # What captures there turns to stone, which is a piece of the first side, whoever captures.
    is_left = name == "petrified" or rules.play.blasts or rules.play.duty("forced-pass") is not None
    assert rules.columns.judges is not is_left
    if not is_left:
        require_fairy_stockfish(name, rules)


@pytest.mark.long
def test_no_drop_of_a_pawn_mates_as_python_shogi_says() -> None:
    with Store.open("sqlite://") as store:
        store.load_library("shogi")
        rules = store.ruleset("shogi")
        positions = [rules.position(sfen=sfen) for sfen, _, _ in MATING_DROPS]
        found = rules.columns.lists(positions, legal=True)
        for (sfen, drop, count), position, moves in zip(MATING_DROPS, positions, found, strict=True):
            texts = [rules.move_text(move, position, "usi") for move in moves]
            assert len(texts) == count, sfen
            assert drop not in texts


def test_games_without_duties_that_matter_are_asked_plainly(games: Games) -> None:
    rules = games["breakthrough"]
    require_legal(rules, played(rules, 20, 1))


def test_where_rules_make_enemies_the_store_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    document = parse({"C:M": {"a1": {"a2": [{"diff": {"board": {"a1": "c:m", "a2": "C:M"}}}]}}})
    declared = play_text.text(Play((Duty("royal-safety"),)))
    rules = of_document(replace(document, envelope=replace(document.envelope, play=declared)))
    positions = [Position({"a1": "C:M"})]
    expected = rules.moves_batch(positions, legal=True, query="fast")
    assert len(expected[0]) == 1
    assert rules.moves_batch(positions, legal=True, query="columns") == expected
    for asked in (rules.columns.moves, rules.columns.count):
        with pytest.raises(StoreError, match=r"columns cannot judge its duties \(royal-safety"):
            asked(positions, legal=True)
    # What is known already is not found out anew.
    monkeypatch.setattr(columns, "compile_threats", None)
    assert rules.moves_batch(positions, legal=True, query="columns") == expected


def test_no_columns_are_made_of_rules_whose_duties_they_cannot_judge() -> None:
    document = parse({"C:M": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:M"}}}]}}})
    declared = play_text.text(Play((Duty("blast-safety"),)))
    rules = of_document(replace(document, envelope=replace(document.envelope, play=declared)))
    positions = [Position({"a1": "C:M"})]
    assert len(rules.moves_batch(positions, legal=True, query="columns")[0]) == 1
    assert not rules.columns.is_made


# --- random rules ---

SQUARES = [f"{file}{rank}" for file in "abc" for rank in "1234"]
ROYALS = ("C:K^", "C:+K^")
OTHERS = ("C:R", "C:P", "C:-P")
DUTIES = ((Duty("royal-safety"),), (Duty("flying-general"),), (Duty("flying-general"), Duty("royal-safety")), ())
OTHER_DUTIES = (
    *map(Duty, ("duple-check", "spare-royal", "no-checks", "no-flight", "no-drop-checks", "pass")),
    Duty("no-leap-from-check", (*ROYALS, "C:R", "c:k^", "c:r")),
    Duty("no-drop-mate", ("C:R", "c:r", "C:-P", "c:-p")),
    Duty("mandatory-drop", ("C:R",)),
    *map(Duty, ("promotion-limit", "royal-promotion-limit", "no-promotion-checks", "mandatory-capture")),
)


def of_side(pieces: tuple[str, ...], side: str) -> list[str]:
    return [piece if side == "first" else piece.swapcase() for piece in pieces]


def random_rules(chance: random.Random) -> Ruleset:
    """Pieces that go anywhere, take, castle, enter by gating, and change what they ask of a variable."""
    document: dict[str, Any] = {"$state": {"phase": {"values": ["one", "two"], "initial": "one"}}}
    crossings = []
    for side, other in (("first", "second"), ("second", "first")):
        own, enemies = of_side((*ROYALS, *OTHERS), side), of_side((*ROYALS, *OTHERS), other)
        for piece in own:
            for source in chance.sample(SQUARES, 8):
                for destination in chance.sample([each for each in SQUARES if each != source], 6):
                    must = {destination: chance.choice(["empty"] * 4 + ["enemy"] * 4 + enemies)}
                    deny: dict[str, str] = {}
                    becomes = piece if chance.random() < 0.8 else chance.choice(own)
                    board: dict[str, str | None] = {source: None, destination: becomes}
                    for square in chance.sample(
                        [each for each in SQUARES if each not in board], chance.choice((0, 1, 1, 2))
                    ):
                        state = chance.choice(["empty"] * 10 + ["enemy"] * 3 + [chance.choice(own), *enemies])
                        (deny if chance.random() < 0.2 else must)[square] = state
                        if chance.random() < 0.3:
                            board[square] = chance.choice([None, *own])
                        elif must.get(square) == "empty" and chance.random() < 0.5 and piece in of_side(ROYALS, side):
                            crossings.append(Crossing(piece, source, destination, (source, square)))
                    diff: dict[str, Any] = {"board": board}
                    if chance.random() < 0.2:
                        diff["state"] = {"phase": chance.choice(["one", "two"])}
                    made = {"must": must, "deny": deny, "diff": diff}
                    if chance.random() < 0.2:
                        made["when"] = {"phase": ["two"]}
                    document.setdefault(piece, {}).setdefault(source, {}).setdefault(destination, []).append(made)
        square, to = chance.sample(SQUARES, 2)
        gating = {
            "must": {square: own[0], to: "empty"},
            "deny": {},
            "diff": {"board": {square: own[2], to: own[0]}, "hands": {own[2]: -1}},
        }
        plain = {"must": {to: "empty"}, "deny": {}, "diff": {"board": {to: own[2]}, "hands": {own[2]: -1}}}
        document[own[2]]["*"] = {square: [gating], to: [plain]}
    rules = parse(document)
    made_play = Play(
        (*chance.choice(DUTIES), *chance.sample(OTHER_DUTIES, chance.choice((0, 2, 3, 4)))),
        {"C:-P": "C:P", "c:-p": "c:p"},
        tuple(sorted(set(crossings), key=str)[: chance.choice((0, 1, 2))]),
    )
    start = "k^2/2p/P1R/K^2 / C/c"
    return of_document(replace(rules, envelope=replace(rules.envelope, play=play_text.text(made_play), start=start)))


def random_position(chance: random.Random) -> Position:
    pieces = [*of_side((*ROYALS, *OTHERS), "first"), *of_side((*ROYALS, *OTHERS), "second"), "X:Q^", "x:z", "x:q^"]
    placed = chance.sample(SQUARES, chance.randint(3, 8))
    side = chance.choice(("first", "second"))
    hands = chance.choice((None, {}, {"C:R": 1, "c:r": 1}))
    state = chance.choice((None, {"phase": "two"}))
    return Position({square: chance.choice(pieces) for square in placed}, hands, side, state=state)  # type: ignore[arg-type]


def test_random_rules_have_the_legal_moves_of_the_store() -> None:
    chance = random.Random(5)
    seen: Counter[str] = Counter()
    for _ in range(16):
        rules = random_rules(chance)
        positions = [random_position(chance) for _ in range(40)]
        seen["judged"] += rules.columns.judges
        seen.update(duty.name for duty in rules.play.duties if rules.columns.judges)
        seen["crossing"] += rules.columns.judges and bool(rules.play.crossing)
        seen["facing"] += rules.columns.judges and bool(rules.play.crossing and rules.play.duty("flying-general"))
        expected = rules.moves_batch(positions, legal=True, query="fast")
        assert rules.moves_batch(positions, legal=True, query="columns") == expected
        seen["legal"] += sum(map(len, expected))
        seen["all"] += sum(map(len, rules.moves_batch(positions)))
    assert 100 < seen["legal"] < seen["all"] - 100, seen
    assert min(seen["judged"], seen["crossing"], seen["facing"]) > 3, seen
    assert all(seen[duty.name] for duty in OTHER_DUTIES), seen


def test_the_statements_for_legal_moves_of_many_are_shown(games: Games) -> None:
    rules = games["minishogi"]
    text, plan = rules.explain([rules.start] * 2, legal=True, query="columns")
    assert [each.split()[0] for each in text.split(";\n\n")] == ["SELECT", "SELECT", "WITH"]
    assert "barred" in text
    assert plan[-1] == "asked of DuckDB, on columns: 2 positions"
    assert rules.columns.explain([rules.start] * 2, legal=True)[0] == text
    assert "barred" not in rules.explain([rules.start] * 2, query="columns")[0]


def test_what_enters_by_gating_is_no_shield() -> None:
    entered = {"board": {"a2": "C:P", "b2": "C:R"}, "hands": {"C:P": -1}}
    taken = {"board": {"a4": None, "a1": "c:r"}}
    document = parse(
        {
            "C:P": {"*": {"a2": [{"must": {"a2": "C:R", "b2": "empty"}, "diff": entered}]}},
            "c:r": {"a4": {"a1": [{"must": {"a2": "empty", "a3": "empty", "a1": "enemy"}, "diff": taken}]}},
        }
    )
    safe = play_text.text(Play((Duty("royal-safety"),)))
    rules = of_document(replace(document, envelope=replace(document.envelope, play=safe)))
    shielded = {"a1": "C:K^", "a2": "C:R"}
    positions = [Position(board, {"C:P": 1}) for board in (shielded, shielded | {"a4": "c:r"})]
    assert rules.columns.threats.tables["entering"].num_rows == 1
    assert [len(moves) for moves in rules.columns.lists(positions, legal=True)] == [1, 0]
    assert [len(moves) for moves in rules.moves_batch(positions, query="fast", legal=True)] == [1, 0]


def test_a_royal_piece_that_nothing_attacks_takes_what_shields_it() -> None:
    document = parse(
        {
            "C:K^": {"a1": {"a2": [{"must": {"a2": "enemy"}, "diff": {"board": {"a1": None, "a2": "C:K^"}}}]}},
            "c:r": {"a3": {"a1": [{"must": {"a2": "empty"}, "diff": {"board": {"a3": None, "a1": "c:r"}}}]}},
        }
    )
    declared = play_text.text(Play((Duty("no-flight"), Duty("royal-safety"))))
    rules = of_document(replace(document, envelope=replace(document.envelope, play=declared)))
    positions = [Position({"a1": "C:K^", "a2": "c:p", "a3": "c:r"})]
    assert [len(moves) for moves in rules.columns.lists(positions, legal=True)] == [1]
    assert [len(moves) for moves in rules.moves_batch(positions, query="fast", legal=True)] == [1]
