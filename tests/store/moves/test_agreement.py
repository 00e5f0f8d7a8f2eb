"""Random documents and positions get the same answers from both queries on SQLite and Postgres, and plain Python.

Postgres is asked twice: with temporary tables, and as it is by those who may make none.

`expected` asks an evaluator and `answered` asks a store; both return question -> answer, so that one
comparison serves the stores, and the deliberately wrong evaluators that show that the comparison can fail.
"""

import importlib.util
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store import GgnStoreError, Move, Position, Ruleset, Store, parse
from ggn_store.api.moves.batches import BatchQuery
from ggn_store.api.moves.moves import QUERIES, Query
from ggn_store.columnar import lanes as parts
from ggn_store.store.database.postgres import Values
from ggn_store.store.rulesets.lanes import Encoder
from tests.oracles import reference
from tests.support.postgres import Server
from tests.support.strategies import DIALECTS, Case, Entry, Plain, Side, cases
from tests.support.unhurried import unhurried

Answers = dict[str, object]
ALL_AT_ONCE: tuple[BatchQuery, ...] = ("reading", "fast", "columns")
LONG_PAIRS = int(os.environ.get("GGN_AGREEMENT_PAIRS", "20000"))
SIDES: tuple[Side, Side] = ("first", "second")
ENTRY = ("piece", "source", "destination")


class Evaluator(Protocol):
    """What `tests/oracles/reference.py` offers, and every wrong copy of it."""

    detect: Callable[..., str]
    conditions: Callable[..., tuple[dict[str, str], dict[str, str]]]
    effects: Callable[..., tuple[dict[str, str | None], dict[str, int], bool]]
    moves: Callable[..., list[reference.Key]]
    holds: Callable[..., list[int]]
    apply: Callable[..., reference.Plain]
    canonical_text: Callable[..., str]


def expected(evaluator: Evaluator, case: Case) -> Answers:
    document = case.document
    assume = "displacement" if evaluator.detect(document) == "must-deny" else None
    answers: Answers = {"dialect": evaluator.detect(document), "export": evaluator.canonical_text(document)}
    answers["load again"] = "unchanged"
    batch = []
    for number, ((board, hands, side), question) in enumerate(zip(case.positions, case.questions, strict=True)):
        document = reference.in_state(case.document, case.states[number])
        keys = evaluator.moves(document, board, hands, side)
        canonical = reference.canonical(document)
        answers[f"{number}: actions and states"] = [
            (possibility.get("action"), possibility.get("when"), reference.state_after(document, *key))
            for key in keys
            for possibility in [canonical[key[0]][key[1]][key[2]][key[3]]]
        ]
        batch.append(keys)
        told: list[object] = []
        assumed: list[object] = []
        after: list[object] = []
        for piece, source, destination, ordinal in keys:
            key = (piece, source, destination, ordinal)
            must, deny = evaluator.conditions(document[piece][source][destination][ordinal])
            told.append((must, deny, None if assume else evaluator.effects(document, *key), False))
            assumed.append((must, deny, evaluator.effects(document, *key, assume), bool(assume)))
            try:
                after.append(evaluator.apply(document, *key, board, hands, side, assume))
            except ValueError:
                after.append("refused")
        answers[f"{number}: moves"] = keys
        answers[f"{number}: what the moves tell"] = told
        answers[f"{number}: what the moves tell with assumed effects"] = assumed
        answers[f"{number}: after"] = after
        if question.narrowing:
            wanted = dict(zip(ENTRY, question.placed, strict=True))
            answers[f"{number}: moves by {question.narrowing}"] = [
                (*key, ordinal)
                for *key, ordinal in keys
                if all(
                    value == wanted[name] for name, value in zip(ENTRY, key, strict=True) if name in question.narrowing
                )
            ]
        for active in SIDES:
            ordinals = evaluator.holds(document, *question.placed, board, hands, active)
            answers[f"{number}: {question.placed} for {active}"] = [(*question.placed, at) for at in ordinals]
        if question.other:
            own = evaluator.holds(document, *question.other, board, hands, reference.side_of(question.other[0]))
            answers[f"{number}: {question.other} for its own side"] = [(*question.other, at) for at in own]
    answers["batch"] = batch
    answers["counts"] = [len(keys) for keys in batch], Counter(key[0] for keys in batch for key in keys)
    answers["counts by destination"] = Counter(key[2] for keys in batch for key in keys)
    return answers


def key_of(move: Move) -> reference.Key:
    return move.piece, move.source, move.destination, move.ordinal


def told_by(move: Move) -> tuple[object, ...]:
    effects = move.transition
    changes = None if effects is None else (dict(effects.board), dict(effects.hands), effects.toggle)
    return dict(move.must), dict(move.deny), changes, move.assumed


def written_of(move: Move) -> dict[str, object]:
    """Action and guards of a move, as a document writes them."""
    data = move.data()
    written: dict[str, object] = {"when": data["when"]} if "when" in data else {}
    if "action" in data:
        written["action"] = {"name": data["action"], "step": data["step"]}
        if data["chainable"]:
            written["action"] = {**written["action"], "chainable": True}  # type: ignore[dict-item]
    return written


def state_of(ruleset: Ruleset, position: Position, move: Move) -> dict[str, str]:
    """The state after a move, of which hands may make an error that is another matter."""
    return dict(ruleset.apply(replace(position, hands=None), move, assume="displacement").state or {})


def plain(position: Position) -> reference.Plain:
    board = {square: piece for square, piece in position.board.items() if piece is not None}
    return board, None if position.hands is None else dict(position.hands), position.side


def selected(ruleset: Ruleset, entry: Entry) -> Any:
    piece, source, destination = entry
    return ruleset.select(piece).from_(source).to(destination)


def stored(store: Store, name: str, case: Case, as_text: bool = False) -> Answers:
    """What is told of a document that is loaded, by no query."""
    document = parse(json.dumps(case.document, indent=3, ensure_ascii=False)) if as_text else parse(case.document)
    store.load(document, name=name)
    export = store.ruleset(name).export()
    again = store.load(parse(export), name=name).status
    return {"dialect": document.dialect, "export": export, "load again": again}


def answered(ruleset: Ruleset, case: Case, query: Query) -> Answers:
    assume: Literal["displacement"] | None = "displacement" if ruleset.dialect == "must-deny" else None
    answers: Answers = {}
    positions = [
        Position(board, hands=hands, side=side, state=state)
        for (board, hands, side), state in zip(case.positions, case.states, strict=True)
    ]
    for number, (position, question) in enumerate(zip(positions, case.questions, strict=True)):
        moves = ruleset.moves(position, query=query)
        after: list[object] = []
        answers[f"{number}: actions and states"] = [
            (written.get("action"), written.get("when"), state_of(ruleset, position, move))
            for move in moves
            for written in [written_of(move)]
        ]
        for move in moves:
            try:
                after.append(plain(ruleset.apply(position, move, assume=assume)))
            except (GgnStoreError, ValueError):
                after.append("refused")
        answers[f"{number}: moves"] = [key_of(move) for move in moves]
        answers[f"{number}: what the moves tell"] = [told_by(move) for move in moves]
        answers[f"{number}: what the moves tell with assumed effects"] = [
            told_by(move) for move in (ruleset.moves(position, assume=assume, query=query) if assume else moves)
        ]
        answers[f"{number}: after"] = after
        if question.narrowing:
            wanted = dict(zip(ENTRY, question.placed, strict=True))
            piece, source, destination = (wanted[name] if name in question.narrowing else None for name in ENTRY)
            some = ruleset.moves(position, piece=piece, source=source, destination=destination, query=query)
            answers[f"{number}: moves by {question.narrowing}"] = [key_of(move) for move in some]
        board, hands, _ = case.positions[number]
        for active in SIDES:
            entry = selected(ruleset, question.placed)
            found = (
                entry.where(position, side=active, query=query)
                if number % 2 or case.states[number]
                else entry.where(board, side=active, hands=hands, query=query)
            )
            answers[f"{number}: {question.placed} for {active}"] = [key_of(move) for move in found]
        if question.other:
            entry = selected(ruleset, question.other)
            is_plain = number % 2 and not case.states[number]
            found = entry.where(board, hands=hands, query=query) if is_plain else entry.where(position, query=query)
            answers[f"{number}: {question.other} for its own side"] = [key_of(move) for move in found]
    answers["batch"] = [[key_of(move) for move in moves] for moves in ruleset.moves_batch(positions, query=query)]
    answers["counts"] = list(ruleset.count_moves(positions).values()), ruleset.count_moves(positions, "piece")
    answers["counts by destination"] = ruleset.count_moves(positions, "destination")
    return answers


def disagreements(one: Answers, other: Answers) -> dict[str, tuple[object, object]]:
    """The questions that got two answers, with both of them."""
    questions = dict.fromkeys([*one, *other])
    pairs = {question: (one.get(question, "no answer"), other.get(question, "no answer")) for question in questions}
    return {question: answers for question, answers in pairs.items() if answers[0] != answers[1]}


@pytest.fixture(scope="module")
def stores(postgres_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Store]]:
    with ExitStack() as stack:
        sqlite = Store.open(f"sqlite:///{tmp_path_factory.mktemp('agreement')}/a.db")
        stack.callback(sqlite.close)
        postgres = Store.open(postgres_server.create_store())
        stack.callback(postgres.close)
        without = Store.open(postgres_server.create_store())
        stack.callback(without.close)
        without.session.database.sender = Values()
        yield {"SQLite": sqlite, "Postgres": postgres, "Postgres without temporary tables": without}


def mixed(case: Case, count: int, seed: int) -> list[tuple[Plain, dict[str, str]]]:
    """Positions with states, each square, the hands, the side and the state as in one of the case's positions."""
    chance = random.Random(seed)
    squares = list(dict.fromkeys(square for board, _, _ in case.positions for square in board))
    found: list[tuple[Plain, dict[str, str]]] = []
    for _ in range(count):
        boards = {square: chance.choice(case.positions)[0].get(square) for square in squares}
        board: dict[str, str | None] = {square: piece for square, piece in boards.items() if piece is not None}
        found.append(
            ((board, chance.choice(case.positions)[1], chance.choice(case.positions)[2]), chance.choice(case.states))
        )
    return found


def compare(stores: dict[str, Store], dialect: str, documents: int, positions: int, more: int) -> None:
    """A few names for many documents: most loads make the next revision of a ruleset and share its pieces.

    Of each document so many positions are asked everything, and so many more for their moves.
    """
    seen: Counter[str] = Counter()

    @unhurried(documents)
    @given(
        case=cases(dialect, positions),
        name=st.sampled_from(("first", "SECOND", "Second", "a/4.b+c")),
        seed=st.integers(0, 1_000_000),
    )
    def agree(case: Case, name: str, seed: int) -> None:
        right = expected(reference, case)
        others = mixed(case, more, seed)
        asked = [Position(board, hands=hands, side=side, state=state) for (board, hands, side), state in others]
        keys = [reference.moves(reference.in_state(case.document, state), *each) for each, state in others]
        for number, (database, store) in enumerate(stores.items()):
            told = stored(store, f"{dialect}/{name}", case, as_text=bool(number))
            for query in QUERIES:
                found = told | answered(store.ruleset(f"{dialect}/{name}"), case, query)
                assert disagreements(right, found) == {}, f"plain Python and {database} ({query}) answer differently"
            for by in ALL_AT_ONCE:
                batch = store.ruleset(f"{dialect}/{name}").moves_batch(asked, query=by)
                assert [[key_of(move) for move in moves] for moves in batch] == keys, f"{database} ({by}) differs"
        seen["pairs"] += positions + more
        seen["moves"] += sum(map(len, keys))

    agree()
    assert seen["pairs"] >= documents * (positions + more)
    assert seen["moves"] >= documents * more / 2


@pytest.mark.parametrize("dialect", DIALECTS)
def test_both_queries_on_both_databases_and_plain_python_agree(stores: dict[str, Store], dialect: str) -> None:
    compare(stores, dialect, documents=2, positions=2, more=8)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_both_queries_on_both_databases_and_plain_python_agree_on_many_pairs(
    stores: dict[str, Store], dialect: str
) -> None:
    compare(stores, dialect, documents=-(-LONG_PAIRS // (200 * len(DIALECTS))), positions=2, more=198)


@pytest.fixture(scope="module")
def sample() -> list[Case]:
    """The same random cases in every run."""
    drawn: list[Case] = []
    for dialect in DIALECTS:

        @unhurried(10)
        @given(cases(dialect, 5))
        def draw(case: Case) -> None:
            drawn.append(case)

        draw()
    return drawn


def test_most_positions_have_moves_and_most_also_have_failing_conditions(sample: list[Case]) -> None:
    seen: Counter[str] = Counter()
    for case in sample:
        for board, hands, side in case.positions:
            seen["pairs"] += 1
            seen["moves"] += bool(reference.moves(case.document, board, hands, side))
            seen["failures"] += any(
                not reference.permitted(possibility, board, side)
                for piece, source, _, _, possibility in reference.possibilities(case.document)
                if reference.side_of(piece) == side and reference.available(piece, source, board, hands)
            )
    assert seen["moves"] > seen["pairs"] / 2
    assert seen["failures"] > seen["pairs"] / 2


def wrong(**changes: object) -> Any:
    """A copy of the evaluator with functions replaced; the rest of the copy calls the replacements."""
    spec = importlib.util.spec_from_file_location("wrong_reference", reference.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, change in changes.items():
        assert hasattr(module, name)
        setattr(module, name, change)
    return module


def with_state(state: str, answer: Callable[[str | None, str], bool]) -> Callable[..., bool]:
    """`satisfied`, but one state means something else; "piece" stands for every identifier."""

    def satisfied(wanted: str, square: str, board: reference.Board, side: str) -> bool:
        if wanted == state:
            return answer(board.get(square), side)
        return reference.satisfied(wanted, square, board, side)

    return satisfied


def with_identity(same: Callable[[str], str]) -> dict[str, object]:
    """Conditions on identifiers compare them less exactly."""

    def satisfied(wanted: str, square: str, board: reference.Board, side: str) -> bool:
        found = board.get(square)
        if wanted in ("empty", "enemy") or found is None:
            return reference.satisfied(wanted, square, board, side)
        return same(wanted) == same(found)

    return {"satisfied": satisfied}


def with_conditions(change: Callable[[dict[str, str], dict[str, str], Callable[..., bool]], bool]) -> dict[str, object]:
    """`permitted`, but the conditions are put together in another way."""

    def permitted(possibility: dict[str, Any], board: reference.Board, side: str) -> bool:
        def meets(item: tuple[str, str]) -> bool:
            return reference.satisfied(item[1], item[0], board, side)

        return change(*reference.conditions(possibility), meets)

    return {"permitted": permitted}


def with_effects(change: Callable[..., object]) -> dict[str, object]:
    """Effects (board, hands, toggle) come out changed, in what moves tell and in what applying them does."""

    def effects(document: dict[str, Any], *key: Any) -> object:
        return change(*reference.effects(document, *key), *key)

    return {"effects": effects}


def with_result(change: Callable[..., object]) -> dict[str, object]:
    """Applying a move gives a changed position, while the move tells its effects rightly."""

    def apply(document: dict[str, Any], *arguments: Any) -> object:
        return change(*reference.apply(document, *arguments), *arguments)

    return {"apply": apply}


def with_moves(change: Callable[[list[reference.Key]], list[Any]]) -> dict[str, object]:
    return {"moves": lambda *arguments: change(reference.moves(*arguments))}


def both_sides(document: dict[str, Any], board: reference.Board, hands: reference.Hands, side: str) -> list[Any]:
    entries = dict.fromkeys(found[:3] for found in reference.possibilities(document))
    return [(*e, ordinal) for e in entries for ordinal in reference.holds(document, *e, board, hands, side)]


WRONG: dict[str, dict[str, object]] = {
    "any piece is an enemy": {"satisfied": with_state("enemy", lambda found, side: found is not None)},
    "an enemy is lower case": {"satisfied": with_state("enemy", lambda found, side: bool(found and found.islower()))},
    "an enemy is not the mover's": {
        "holds": lambda document, piece, source, destination, board, hands, side: reference.holds(
            document, piece, source, destination, board, hands, reference.side_of(piece)
        )
    },
    "an empty square is an enemy's": {
        "satisfied": with_state("enemy", lambda found, side: not found or reference.side_of(found) != side)
    },
    "an enemy's square is empty": {
        "satisfied": with_state("empty", lambda found, side: not found or reference.side_of(found) != side)
    },
    "a square not mentioned is occupied": {"occupant": lambda board, square: board.get(square, "?:?")},
    "a square said to be empty is occupied": {
        "occupant": lambda board, square: "?:?" if board.get(square, "") is None else board.get(square)
    },
    "case does not matter": with_identity(str.upper),
    "states do not matter": with_identity(lambda identifier: identifier.replace("+", "").replace("-", "")),
    "marks do not matter": with_identity(lambda identifier: identifier.rstrip("^'")),
    "styles do not matter": with_identity(lambda identifier: identifier.split(":")[1]),
    "one must is enough": with_conditions(
        lambda must, deny, meets: (not must or any(map(meets, must.items()))) and not any(map(meets, deny.items()))
    ),
    "deny needs all": with_conditions(
        lambda must, deny, meets: all(map(meets, must.items())) and not (deny and all(map(meets, deny.items())))
    ),
    "must is ignored": with_conditions(lambda must, deny, meets: not any(map(meets, deny.items()))),
    "deny is ignored": with_conditions(lambda must, deny, meets: all(map(meets, must.items()))),
    "deny hides must on its square": with_conditions(
        lambda must, deny, meets: (
            all(meets(item) for item in must.items() if item[0] not in deny) and not any(map(meets, deny.items()))
        )
    ),
    "hands are ignored": {"available": lambda piece, source, board, hands: source == "*" or board.get(source) == piece},
    "unknown hands are empty": {
        "available": lambda piece, source, board, hands: reference.available(piece, source, board, hands or {})
    },
    "both sides share a hand": {
        "available": lambda piece, source, board, hands: (
            reference.available(piece, source, board, hands) or bool(source == "*" and hands.get(piece.swapcase()))
        )
    },
    "the piece may be anywhere": {
        "available": lambda piece, source, board, hands: (
            reference.available(piece, source, board, hands) or (source != "*" and piece in board.values())
        )
    },
    "both sides move": {"moves": both_sides},
    "the order is reversed": with_moves(lambda keys: keys[::-1]),
    "the order is sorted": with_moves(sorted),
    "ordinals are too low by one": with_moves(lambda keys: [(*key[:3], key[3] - 1) for key in keys]),
    "ordinals count what holds": with_moves(
        lambda keys: [(*key[:3], [k[:3] for k in keys[:at]].count(key[:3])) for at, key in enumerate(keys)]
    ),
    "only the first possibility is found": with_moves(
        lambda keys: [key for at, key in enumerate(keys) if key[:3] not in [k[:3] for k in keys[:at]]]
    ),
    "nothing leaves the board": with_moves(lambda keys: [key for key in keys if key[2] != "*"]),
    "conditions are told the wrong way round": {
        "conditions": lambda possibility: reference.conditions(possibility)[::-1],
        "permitted": reference.permitted,
    },
    "the turn always passes": with_effects(lambda board, hands, toggle, *key: (board, hands, True)),
    "the turn never passes": with_effects(lambda board, hands, toggle, *key: (board, hands, False)),
    "hands never change": with_effects(lambda board, hands, toggle, *key: (board, {}, toggle)),
    "hands change at the mover's side": with_effects(
        lambda board, hands, toggle, piece, *key: (
            board,
            {i.upper() if piece[0].isupper() else i.lower(): n for i, n in hands.items()},
            toggle,
        )
    ),
    "squares are never emptied": with_effects(
        lambda board, hands, toggle, *key: ({square: p for square, p in board.items() if p}, hands, toggle)
    ),
    "the first possibility's effects are used": {
        "effects": lambda document, piece, source, destination, ordinal, assume=None: reference.effects(
            document, piece, source, destination, 0, assume
        )
    },
    "unknown hands become empty": with_result(lambda board, hands, side, *rest: (board, hands or {}, side)),
    "hands become unknown": with_result(lambda board, hands, side, *rest: (board, None, side)),
    "the other squares are cleared": with_result(
        lambda board, hands, side, piece, *rest: ({s: p for s, p in board.items() if p == piece}, hands, side)
    ),
    "the export is sorted": {
        "canonical": lambda document: json.loads(json.dumps(reference.canonical(document), sort_keys=True))
    },
    "the export is as it was written": {"canonical": lambda document: document},
    "the export has no schema": {
        "canonical": lambda document: {k: v for k, v in reference.canonical(document).items() if k != "$schema"}
    },
}


@pytest.fixture(scope="module")
def right(sample: list[Case]) -> list[Answers]:
    return [expected(reference, case) for case in sample]


@pytest.mark.parametrize("changes", [pytest.param(changes, id=name) for name, changes in WRONG.items()])
def test_a_wrong_evaluator_is_caught(changes: dict[str, object], sample: list[Case], right: list[Answers]) -> None:
    evaluator = wrong(**changes)
    assert any(disagreements(expected(evaluator, case), answers) for case, answers in zip(sample, right, strict=True))


def some(guards: Mapping[str, Sequence[str]], names: int | None = None, values: int | None = None) -> dict[str, Any]:
    return {name: several[:values] for name, several in sorted(guards.items())[:names]}


GUARDED = Encoder._guarded
WRONG_GUARDS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "the first of several is enough": (Encoder, "_guarded", lambda self, guards: GUARDED(self, some(guards, names=1))),
    "only their first values pass": (Encoder, "_guarded", lambda self, guards: GUARDED(self, some(guards, values=1))),
    "no two of them hold at once": (parts, "_excluded", lambda fact, bit, values: bit - 1),
}


@pytest.mark.parametrize("mutant", [pytest.param(each, id=name) for name, each in WRONG_GUARDS.items()])
def test_wrong_lanes_of_guards_are_caught(
    mutant: tuple[Any, str, Callable[..., Any]], sample: list[Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*mutant)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        for case in sample[-10:]:  # those with variables
            others = mixed(case, 20, 1)
            keys = [reference.moves(reference.in_state(case.document, state), *each) for each, state in others]
            asked = [Position(board, hands=hands, side=side, state=state) for (board, hands, side), state in others]
            stored(store, "game", case)
            for by in ALL_AT_ONCE[1:]:
                batch = store.ruleset("game").moves_batch(asked, query=by)
                if [[key_of(move) for move in moves] for moves in batch] != keys:
                    return
    raise AssertionError("nobody noticed")


def test_a_wrong_answer_of_a_store_to_any_question_is_caught(sample: list[Case], tmp_path: Path) -> None:
    with ExitStack() as stack:
        store = Store.open(f"sqlite:///{tmp_path}/a.db")
        stack.callback(store.close)
        for number, case in enumerate(sample[::20]):
            right, told = expected(reference, case), stored(store, f"game-{number}", case)
            found = told | answered(store.ruleset(f"game-{number}"), case, QUERIES[number % 2])
            assert disagreements(right, found) == {}
            for question in right:
                assert list(disagreements(right, {**found, question: "wrong"})) == [question]
                missing = {name: answer for name, answer in found.items() if name != question}
                assert list(disagreements(right, missing)) == [question]
