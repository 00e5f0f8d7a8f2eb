"""Rulesets of the dialect `gdl` in a store: state variables, guards and actions, from loading to the command line.

Every answer here was counted by hand; random documents are held to plain Python in the tests of agreement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import DocumentError, Position, PositionError, Ruleset, Store, StoreError, parse
from ggn_store.api.loading.specifications import compile_specification
from ggn_store.errors import ConversionError, GateError
from ggn_store.gdl import check
from ggn_store.gdl.reader import SpecificationReader
from ggn_store.model.documents.document import Envelope
from ggn_store.model.teams.policy import PositionSet
from tests.support.gdl_tiny import tiny
from tests.support.guards import drop_guards
from tests.support.program import Command, Result, write
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run

Json = dict[str, Any]

# A pawn that goes two squares may be taken on the square between, at once and never later.
EP = {"values": ["c", "none"], "initial": "none"}
DOUBLE = {
    "action": {"name": "double_step"},
    "must": {"c2": "empty", "c3": "empty"},
    "diff": {"board": {"c1": None, "c3": "P:P"}, "state": {"ep": "c"}},
}
SINGLE = {
    "action": {"name": "step"},
    "must": {"c2": "empty"},
    "diff": {"board": {"c1": None, "c2": "P:P"}, "state": {"ep": "none"}},
}
PASSING = {
    "action": {"name": "en_passant", "step": 2, "chainable": True},
    "when": {"ep": ["c"], "phase": ["main"]},
    "must": {"c3": "P:P", "c2": "empty"},
    "diff": {"board": {"b3": None, "c2": "p:p", "c3": None}, "toggle": False, "state": {"ep": "none"}},
}
STILL = {"when": {"ep": ["c", "none"]}, "must": {"b2": "empty"}, "diff": {"board": {"b3": None, "b2": "p:p"}}}
GAME: Json = {
    "$state": {"phase": {"values": ["setup", "main"], "initial": "main"}, "ep": EP},
    "P:P": {"c1": {"c3": [DOUBLE], "c2": [SINGLE]}},
    "p:p": {"b3": {"c2": [PASSING], "b2": [STILL]}},
}
FEEN = "1p1/3/2P / P/p"
BEGUN = {"c1": "P:P", "b3": "p:p"}


pytestmark = pytest.mark.both


@pytest.fixture
def rules(store: Store) -> Ruleset:
    store.load(parse(GAME, envelope=Envelope(board="3x3", start=FEEN)), "pawns")
    return store.ruleset("pawns")


def told(ruleset: Ruleset, position: Position, **options: Any) -> list[tuple[str, str | None]]:
    return [(move.destination, move.action) for move in ruleset.moves(position, **options)]


# --- questions ---


@pytest.mark.parametrize("query", ["fast", "reading"])
def test_guards_hold_by_the_state_of_the_position(rules: Ruleset, query: Any) -> None:
    after = {"c3": "P:P", "b3": "p:p"}
    for state, expected in (
        (None, [("b2", None)]),
        ({"ep": "none"}, [("b2", None)]),
        ({"ep": "c"}, [("c2", "en_passant"), ("b2", None)]),
        ({"ep": "c", "phase": "main"}, [("c2", "en_passant"), ("b2", None)]),
        ({"ep": "c", "phase": "setup"}, [("b2", None)]),
    ):
        position = Position(after, side="second", state=state)
        assert told(rules, position, query=query) == expected
        assert told(rules, position, query=query, destination="c2") == expected[: len(expected) - 1]
        assert [len(each) for each in rules.moves_batch([position] * 3, query=query)] == [len(expected)] * 3
        entry = rules.select("p:p").from_("b3").to("c2")
        assert len(entry.where(position, query=query)) == len(expected) - 1
        assert rules.count_moves([position]) == {0: len(expected)}
        assert rules.count_moves([position], "destination") == {square: 1 for square, _ in sorted(expected)}


@pytest.mark.parametrize("query", ["fast", "reading"])
def test_each_position_of_many_has_a_state_of_its_own(rules: Ruleset, query: Any) -> None:
    values = ("c", "none", "c", "none")
    positions = [Position({"c3": "P:P", "b3": "p:p"}, side="second", state={"ep": value}) for value in values]
    assert [len(each) for each in rules.moves_batch(positions, query=query)] == [2, 1, 2, 1]
    assert rules.count_moves(positions) == {0: 2, 1: 1, 2: 2, 3: 1}
    assert rules.count_moves(positions, "destination") == {"b2": 4, "c2": 2}


@pytest.mark.parametrize("query", ["fast", "reading"])
def test_a_move_tells_its_action_and_guards_and_changes_the_state(rules: Ruleset, query: Any) -> None:
    start = rules.start
    assert start is not None
    double = next(move for move in rules.moves(start, query=query) if move.destination == "c3")
    assert (double.action, double.step, double.chainable, dict(double.guards)) == ("double_step", 1, False, {})
    between = rules.apply(start, double)
    assert between == Position({"c3": "P:P", "b3": "p:p"}, {}, "second", state={"ep": "c", "phase": "main"})
    passing, still = rules.moves(between, query=query)
    assert (passing.action, passing.step, passing.chainable) == ("en_passant", 2, True)
    assert dict(passing.guards) == {"ep": ("c",), "phase": ("main",)}
    assert (still.action, still.step, still.chainable, dict(still.guards)) == (None, 1, False, {"ep": ("c", "none")})
    after = rules.apply(between, passing)
    assert after == Position({"c2": "p:p"}, {}, "second", state={"ep": "none", "phase": "main"})


@pytest.mark.parametrize("query", ["fast", "reading"])
@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"eq": "c"}, '"eq" is not a state variable of pawns@1: it has ep, phase'),
        ({"ep": "d"}, '"d" is not a value of ep in pawns@1: c, none'),
    ],
)
def test_a_state_that_the_rules_do_not_know_is_refused(
    rules: Ruleset, query: Any, state: dict[str, str], message: str
) -> None:
    position = Position(BEGUN, state=state)
    questions: list[Callable[[], Any]] = [
        lambda: rules.moves(position, query=query),
        lambda: rules.moves_batch([position], query=query),
        lambda: rules.select("P:P").from_("c1").to("c3").where(position, query=query),
        lambda: rules.count_moves([position]),
        lambda: rules.explain([position], query=query),
        lambda: rules.perft(position, 1),
        lambda: rules.reached([position]),
    ]
    for ask in questions:
        with pytest.raises(PositionError, match=re.escape(message)):
            ask()


def test_rules_of_other_dialects_have_no_state(store: Store) -> None:
    store.load({"P:P": {"c1": {"c2": [{"diff": {"board": {"c1": None}}}]}}}, "plain")
    plain = store.ruleset("plain")
    assert dict(plain.variables) == {}
    for query in ("fast", "reading"):
        with pytest.raises(PositionError, match='"ep" is not a state variable of plain@1: it has none'):
            plain.moves(Position(BEGUN, state={"ep": "c"}), query=query)
    [move] = plain.moves(Position(BEGUN))
    assert plain.apply(Position(BEGUN), move).state is None


def test_only_rules_with_variables_ask_for_guards(store: Store, rules: Ruleset) -> None:
    store.load({"P:P": {"c1": {"c2": [{"diff": {"board": {"c1": None}}}]}}}, "plain")
    store.load({"$state": {}, "P:P": {"c1": {"c2": [{"diff": {"board": {"c1": None}}}]}}}, "stateless")
    for name, asks in (("plain", False), ("stateless", False), ("pawns", True)):
        statement, _ = store.ruleset(name).explain([Position(BEGUN)], query="reading")
        assert ("guard" in statement) == asks, name


def test_paths_are_counted_with_the_state(rules: Ruleset) -> None:
    start = rules.start
    assert start is not None
    # 2 moves; after the double step 2 answers, after the single one 1. En passant lets the same side go on: it has
    # no moves then. b2 has none either.
    assert [rules.perft(start, depth).count for depth in (1, 2, 3)] == [2, 3, 0]
    divided = rules.perft(start, 2, divide=True).by_move or ()
    assert [(move.destination, count) for move, count in divided] == [("c3", 2), ("c2", 1)]


# --- documents in and out ---


def test_a_document_comes_back_as_it_was_loaded(store: Store, rules: Ruleset) -> None:
    assert rules.export() == parse(GAME).canonical()
    assert parse(rules.export(), envelope=Envelope(board="3x3", start=FEEN)) == rules.document()
    assert store.load(rules.document(), "pawns").status == "unchanged"
    assert {name: each.initial for name, each in rules.variables.items()} == {"ep": "none", "phase": "main"}


def test_a_state_that_is_not_declared_is_an_error_with_its_place(store: Store) -> None:
    wrong = json.loads(json.dumps(GAME).replace('"state": {"ep": "c"}', '"state": {"ep": "d"}'))
    wrong["p:p"]["b3"]["b2"][0]["when"] = {"eq": ["c"]}
    with pytest.raises(DocumentError) as caught:
        store.load(wrong, "pawns")
    assert [problem.pointer for problem in caught.value.problems] == [
        "/P:P/c1/c3/0/diff/state/ep",
        "/p:p/b3/b2/0/when/eq",
    ]
    assert list(store.revisions()) == []


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            '{"ep": "d"}',
            'a value of one, that the document does not declare; found {"ep": "d"}; allowed: c, none for ep',
        ),
        ('{"turn": "c"}', 'does not declare; found {"turn": "c"}; allowed: ep, phase'),
    ],
)
def test_a_start_position_names_only_declared_states(store: Store, tmp_path: Path, state: str, message: str) -> None:
    path, beside = write(tmp_path / "pawns.json", GAME), tmp_path / "pawns.toml"
    beside.write_text(f"""start = '{{"board": {{"c1": "P:P"}}, "state": {state}}}'""")
    with pytest.raises(DocumentError, match=re.escape(message)) as caught:
        store.load(path)
    assert [(each.file, each.pointer) for each in caught.value.problems] == [(str(beside), "/start")]
    assert list(store.list()) == []


def test_what_ggn_cannot_carry_is_named_when_it_is_exported(rules: Ruleset) -> None:
    with pytest.raises(ConversionError) as caught:
        rules.export("diff")
    assert [loss.partition(": ")[0] for loss in caught.value.losses] == [
        "/P:P/c1/c3/0/diff/state/ep",
        "/P:P/c1/c2/0/diff/state/ep",
        "/p:p/b3/c2/0/when/ep",
        "/p:p/b3/c2/0/when/phase",
        "/p:p/b3/c2/0/diff/state/ep",
        "/p:p/b3/b2/0/when/ep",
    ]


def test_actions_alone_are_left_out_when_it_is_exported(store: Store) -> None:
    step = {"action": {"name": "step"}, "diff": {"board": {"c1": None, "c2": "P:P"}}}
    store.load({"P:P": {"c1": {"c2": [step]}}}, "plain")
    assert store.ruleset("plain").export("diff") == parse({"P:P": {"c1": {"c2": [{"diff": step["diff"]}]}}}).canonical()


# --- looking after a store ---


def execute(store: Store, *statements: str, guarded: bool = True) -> None:
    with store.session.writing() as connection:
        if not guarded:
            drop_guards(connection)
        for statement in statements:
            connection.execute(text(statement))


def test_a_store_with_state_is_sound(store: Store, rules: Ruleset) -> None:
    assert store.upkeep.check() == []
    assert store.upkeep.verify().problems == ()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM guard WHERE variable = 'phase'",
        "DELETE FROM state_effect WHERE value = 'c'",
        "DELETE FROM variant_origin WHERE action = 'step'",
        "UPDATE guard SET value = 'none' WHERE variable = 'ep' AND variant = 0",
        "UPDATE state_effect SET value = 'c' WHERE value = 'none'",
        "UPDATE variant_origin SET chainable = NOT chainable",
        "UPDATE variant_origin SET step = step + 1",
        "INSERT INTO guard SELECT piece_id, variant, 'phase', 'setup' FROM guard WHERE variable = 'phase'",
    ],
)
def test_verify_sees_damaged_state(store: Store, rules: Ruleset, damage: str) -> None:
    execute(store, damage, guarded=False)
    assert any("do not give its digest" in each for each in store.upkeep.check()), damage


OTHERS: dict[str, Json] = {
    "perform": {"P:P": {"c1": {"c2": [{"perform": {"c1": None}}]}}},
    "must-deny": {"P:P": {"c1": {"c2": [{"must": {"c2": "empty"}}]}}},
    "diff": {"P:P": {"c1": {"c2": [{"diff": {"board": {"c1": None}}}]}}},
}
ADDED = {
    "variant_origin": "INSERT INTO variant_origin SELECT piece_id, number, 'go', 1, NOT ordinal = 0 FROM variant",
    "guard": "INSERT INTO guard SELECT piece_id, number, 'ep', 'c' FROM variant",
    "state_effect": "INSERT INTO state_effect SELECT piece_id, number, 'ep', 'c' FROM variant",
    "hand_effect": "INSERT INTO hand_effect SELECT piece_id, number, 'P:P', 1 FROM variant",
    "effect": "INSERT INTO effect SELECT piece_id, number, 1, 'P:P' FROM variant",
    "toggle": "UPDATE variant SET toggle = NOT coalesce(toggle, 1 = 0)",
}


# Each is tried on every change, and each dialect, but not each with each.
@pytest.mark.parametrize(
    ("dialect", "damage"),
    [
        pytest.param(dialect, damage, id=f"{dialect}-{name}", marks=() if (at + number) % 3 == 0 else pytest.mark.long)
        for number, dialect in enumerate(OTHERS)
        for at, (name, damage) in enumerate(ADDED.items())
    ],
)
def test_verify_sees_rows_that_the_documents_of_a_dialect_cannot_ask_for(
    store: Store, dialect: str, damage: str
) -> None:
    store.load(OTHERS[dialect], "plain")
    assert store.upkeep.check() == []
    execute(store, damage, guarded=False)
    assert any("do not give its digest" in each for each in store.upkeep.check()), damage


@pytest.mark.parametrize("table", ["variant_origin", "guard", "state_effect"])
def test_what_a_revision_lists_is_neither_changed_nor_removed(store: Store, rules: Ruleset, table: str) -> None:
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET variant = 0"):
        with pytest.raises(Exception, match=r"is never (changed|removed)"):
            execute(store, statement)
    assert store.upkeep.check() == []


def test_pieces_that_name_more_than_a_revision_declares_are_seen(store: Store) -> None:
    # As this program would not store it, but somebody else may have.
    document = parse(GAME)
    store.load(type(document)("gdl", document.pieces, Envelope()), "forged")
    [problem] = [each for each in store.upkeep.check() if "forged" in each]
    assert problem.startswith("revision forged@1: its pieces name ")
    assert problem.endswith(", which it does not declare")


def test_a_collection_removes_state_with_its_piece(store: Store, rules: Ruleset) -> None:
    with store.session.writing() as connection:
        counts = [connection.execute(text(f"SELECT count(*) FROM {t}")).scalar() for t in TABLES]
    assert counts == [3, 4, 3]
    store.load({"P:P": {"c1": {"c2": [{"diff": {}}]}}}, "other")
    unlisted = ("DELETE FROM revision_piece WHERE revision_id = 1", "DELETE FROM revision WHERE id = 1")
    execute(store, *unlisted, guarded=False)
    removed = store.upkeep.collect()
    assert removed.count("piece") == 2
    with store.session.writing() as connection:
        counts = [connection.execute(text(f"SELECT count(*) FROM {t}")).scalar() for t in TABLES]
    assert counts == [0, 0, 0]


TABLES = ("variant_origin", "guard", "state_effect")

# --- transfers and histories ---


def test_state_travels_with_a_push_a_pull_and_a_bundle(store: Store, rules: Ruleset, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/other.db") as other:
        store.exchange.push(other, ["pawns"])
        assert other.ruleset("pawns").document() == rules.document()
        assert other.upkeep.verify().problems == ()
    store.exchange.create_bundle(tmp_path / "pawns.bundle", ["pawns"])
    with Store.open("sqlite://") as third:
        third.exchange.load_bundle(tmp_path / "pawns.bundle")
        assert third.ruleset("pawns").document() == rules.document()
        assert told(third.ruleset("pawns"), Position({"c3": "P:P", "b3": "p:p"}, side="second", state={"ep": "c"})) == [
            ("c2", "en_passant"),
            ("b2", None),
        ]


def test_what_declares_too_little_does_not_travel(store: Store) -> None:
    document = parse(GAME)
    with Store.open("sqlite://") as forged:
        forged.load(type(document)("gdl", document.pieces, Envelope()), "forged")
        with pytest.raises(
            StoreError, match=r"its pieces name .*, which it does not declare; nothing of forged was stored"
        ):
            forged.exchange.push(store, ["forged"])
    assert list(store.revisions()) == []


def test_changes_of_state_are_told_and_merged(store: Store, rules: Ruleset) -> None:
    ours, theirs = json.loads(json.dumps(GAME)), json.loads(json.dumps(GAME))
    ours["p:p"]["b3"]["b2"][0]["when"] = {"ep": ["c"]}
    theirs["P:P"]["c1"]["c2"][0]["action"]["name"] = "single_step"
    envelope = Envelope(board="3x3", start=FEEN)
    store.load(parse(theirs, envelope=envelope), "pawns", base="1")
    store.load(parse(ours, envelope=envelope), "pawns", base="1", merge=True)
    merged = store.ruleset("pawns").document()
    ours["P:P"]["c1"]["c2"][0]["action"]["name"] = "single_step"
    assert merged == parse(ours, envelope=envelope)


AFTER_DOUBLE = {"c3": "P:P", "b3": "p:p"}


def test_a_policy_sees_what_other_guards_values_and_beginnings_change(store: Store, rules: Ruleset) -> None:
    stated = Position(AFTER_DOUBLE, side="second", state={"ep": "c"})
    unstated = Position(AFTER_DOUBLE, side="second")
    store.policies.set("*", compatible=PositionSet("kept", (stated, unstated)), author="Ann")
    envelope = Envelope(board="3x3", start=FEEN)

    def refused(document: Json) -> list[str]:
        with pytest.raises(GateError) as caught:
            store.load(parse(document, envelope=envelope), "pawns")
        return [str(problem) for problem in caught.value.problems]

    looser = json.loads(json.dumps(GAME))
    looser["p:p"]["b3"]["c2"][0]["when"] = {"phase": ["main"]}
    [problem] = refused(looser)
    assert problem.startswith("/p:p/b3/c2: kept:2: the move")
    other = json.loads(json.dumps(GAME))
    other["p:p"]["b3"]["c2"][0]["diff"]["state"] = {"ep": "c"}
    [problem] = refused(other)
    assert problem.startswith("/p:p/b3/c2: kept:1: the move")
    # No piece is another one, and a position that does not say otherwise begins in another state.
    begun = {**GAME, "$state": {**GAME["$state"], "ep": {**EP, "initial": "c"}}}
    [problem] = refused(begun)
    assert problem.startswith("/p:p/b3/c2: kept:2: the move")
    named = json.loads(json.dumps(GAME))
    named["p:p"]["b3"]["c2"][0]["action"]["name"] = "in passing"
    assert store.load(parse(named, envelope=envelope), "pawns").number == 2


# --- the command line ---


@pytest.fixture
def ask(ggn: Command) -> Command:
    write("pawns.json", GAME)
    Path("pawns.toml").write_text(f'board = "3x3"\nstart = "{FEEN}"\n', encoding="utf-8")
    assert ggn("load", "pawns.json").code == 0
    return ggn


AFTER = ("--board", '{"board": {"c3": "P:P", "b3": "p:p"}, "side": "second"}')


def test_moves_tell_action_and_state(ask: Command) -> None:
    shown = ask("moves", "pawns", *AFTER, "--state", "ep=c", "--format", "table").out
    assert "second to move; ep=c, phase=main\n" in shown
    assert "p:p b3: c2[c3= ep:=none moves again] (en_passant...)  b2\n" in shown
    records = json.loads(ask("moves", "pawns", *AFTER, "--state", "ep=c", "--format", "json").out)
    assert [(each["destination"], each.get("action"), each.get("step")) for each in records] == [
        ("c2", "en_passant", 2),
        ("b2", None, None),
    ]
    assert records[0]["when"] == {"ep": ["c"], "phase": ["main"]}
    assert records[0]["effects"]["state"] == {"ep": "none"}
    lines = ask("moves", "pawns", *AFTER, "--state", "ep=c", "--format", "csv").out.splitlines()
    assert lines[0].endswith(",assumed,when,action,step,chainable")
    assert lines[1].endswith(",en_passant,2,true")
    assert len(json.loads(ask("moves", "pawns", *AFTER, "--format", "json").out)) == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("ep=d",), 1, 'Error: "d" is not a value of ep in pawns@1: c, none\n'),
        (("eq=c",), 1, 'Error: "eq" is not a state variable of pawns@1: it has ep, phase\n'),
        (("ep",), 2, 'Error: --state "ep": write NAME=VALUE, such as ep=none\n'),
        (("ep=",), 2, 'Error: --state "ep=": write NAME=VALUE, such as ep=none\n'),
        (("=c",), 2, 'Error: --state "=c": write NAME=VALUE, such as ep=none\n'),
        (("ep=c", "ep=none"), 2, 'Error: --state "ep=none": "ep" has a value already\n'),
    ],
)
def test_a_wrong_state_is_told_with_what_is_allowed(
    ask: Command, words: tuple[str, ...], code: int, message: str
) -> None:
    done = ask("moves", "pawns", *(part for word in words for part in ("--state", word)))
    assert (done.code, done.out) == (code, "")
    assert done.err.endswith(message)


def test_state_does_not_go_with_a_file_of_positions(ask: Command) -> None:
    Path("some.ndjson").write_text(json.dumps({"board": {}, "state": {"ep": "c"}}) + "\n", encoding="utf-8")
    done = ask("moves", "pawns", "--positions", "some.ndjson", "--state", "ep=c")
    assert done.code == 2
    assert "--positions brings its own positions: leave --state out" in done.err
    assert ask("moves", "pawns", "--positions", "some.ndjson") == Result(0, "", "")


def test_apply_changes_the_state_and_says_so(ask: Command) -> None:
    done = ask("apply", "pawns", "--move", "P:P c1 c3")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {
        "board": {"b3": "p:p", "c3": "P:P"},
        "hands": {},
        "side": "second",
        "state": {"ep": "c", "phase": "main"},
    }
    taken = ask("apply", "pawns", "--board", done.out, "--move", "p:p b3 c2")
    assert json.loads(taken.out)["state"] == {"ep": "none", "phase": "main"}
    assert ask("apply", "pawns", *AFTER, "--move", "p:p b3 c2").code == 1
    written = ask("apply", "pawns", "--move", "P:P c1 c3", "--format", "feen")
    assert written.out == "1pP/3/3 / p/P\n"
    assert written.err == "note: FEEN cannot say the state: ep=c, phase=main\n"


def test_show_lists_variables_and_says_which_action_gives_which_moves(ask: Command) -> None:
    assert ask("show", "pawns").out.splitlines()[-4:] == [
        "variable  initial  values",
        "--------  -------  ----------",
        "ep        none     c none",
        "phase     main     main setup",
    ]
    assert json.loads(ask("show", "pawns", "--format", "json").out)["variables"] == parse(GAME).data()["$state"]
    assert ask("show", "pawns", "--piece", "p:p").out.splitlines() == [
        "source  action      goes on  when             destinations",
        "------  ----------  -------  ---------------  ------------",
        "b3      en_passant  yes      ep=c phase=main  c2",
        "b3                           ep=c|none        b2",
    ]
    shown = json.loads(ask("show", "pawns", "--piece", "P:P", "--format", "json").out)
    assert shown["possibilities"] == [
        {"source": "c1", "destination": "c3", "ordinal": 0, "action": {"name": "double_step", "step": 1}},
        {"source": "c1", "destination": "c2", "ordinal": 0, "action": {"name": "step", "step": 1}},
    ]
    assert ask("show", "pawns", "--piece", "P:K").code == 1


def test_export_and_convert_say_what_they_leave_out(ask: Command) -> None:
    step = {"action": {"name": "step"}, "diff": {"board": {"c1": None, "c2": "P:P"}}}
    write("plain.json", {"P:P": {"c1": {"c2": [step]}}})
    assert ask("load", "plain.json").code == 0
    plain = parse({"P:P": {"c1": {"c2": [{"diff": step["diff"]}]}}}).canonical()
    note = "note: diff does not say which action a move comes from: step\n"
    assert ask("export", "plain", "--dialect", "diff") == Result(0, plain, note)
    assert ask("convert", "plain.json", "--to", "diff") == Result(0, plain, note)
    assert ask("export", "plain", "--dialect", "gdl").err == ""
    refused = ask("export", "pawns", "--dialect", "diff")
    assert (refused.code, refused.out) == (1, "")
    assert '/p:p/b3/c2/0/when/ep: the guard on "ep", because diff has no state variables' in refused.err


def test_a_difference_shows_actions_guards_and_new_values(ask: Command) -> None:
    changed = json.loads(json.dumps(GAME))
    changed["p:p"]["b3"]["c2"][0]["when"] = {"ep": ["c", "none"]}
    changed["P:P"]["c1"]["c3"][0]["diff"]["state"] = {"ep": "none"}
    changed["P:P"]["c1"]["c2"][0]["action"]["chainable"] = True
    write("changed.json", changed)
    Path("changed.toml").write_text(f'board = "3x3"\nstart = "{FEEN}"\n', encoding="utf-8")
    assert ask("diff", "pawns", "changed.json").out.splitlines()[2:] == [
        "~ P:P",
        "~   c1",
        "~     c3[ep:=none] must c2=empty c3=empty (double_step)",
        "-       effect: ep:=c",
        "+       effect: ep:=none",
        "~     c2[ep:=none] must c2=empty (step...)",
        "+       action chainable: true",
        "~ p:p",
        "~   b3",
        "~     c2[c3= ep:=none moves again] must c2=empty c3=P:P when ep=c|none (en_passant 2...)",
        "-       when ep=c",
        "+       when ep=c|none",
        "-       when phase=main",
    ]


def test_lint_tells_of_guards_that_ask_for_nothing(ask: Command) -> None:
    write("idle.json", {**GAME, "$state": {**GAME["$state"], "x": {"values": ["0"], "initial": "0"}}})
    found = ask("lint", "idle.json")
    assert "idle.json:" in found.out + found.err
    assert "/p:p/b3/b2/0/when/ep: this guard changes nothing: ep has no other values" in found.out + found.err
    assert "/$state/x: no possibility asks for the value of x" in found.out + found.err


# --- how often a description is read ---


def test_a_description_is_read_once_a_load(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    whole = SpecificationReader.read

    def counted(self: SpecificationReader, data: Any, beside: Path | None = None) -> None:
        read.append(data)
        whole(self, data, beside)

    monkeypatch.setattr(SpecificationReader, "read", counted)
    monkeypatch.setattr(check, "_last", [])
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(tiny()), encoding="utf-8")
    store.load(path, "tiny")
    assert len(read) == 1
    document = compile_specification(tiny()).document
    store.load(document, "compiled")
    assert len(read) == 2, "what was compiled here is sound"
    envelope = replace(document.envelope, definition=json.dumps(tiny(), indent=1))
    store.load(replace(document, envelope=envelope), "beside")
    assert len(read) == 3, "another text is not"


def test_a_file_beside_a_description_names_squares_of_its_board(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "tiny.json", tiny())
    goal = '[play]\noutcome = [{ when = "goal", verdict = "win", squares = [%s] }]\n'
    path.with_suffix(".toml").write_text(goal % '"a1:d1", "e5"')
    with pytest.raises(DocumentError, match=r'names squares off the board; found \["a1:d1", "e5"\]'):
        store.load(path)
    assert list(store.list()) == []
    path.with_suffix(".toml").write_text(goal % '"a1", "d1"')
    store.load(path)
    assert store.ruleset("tiny").play.outcomes[0].squares == ("a1", "d1")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('outcome = [{ when = "extinct", verdict = "loss", pieces = ["TINY:Q"] }]', 'names pieces .* found ["TINY:Q"]'),
        (
            'duties = [{ name = "last-actions", pieces = ["stpe"] }]',
            'names actions .* found ["stpe"]; allowed: slide, step',
        ),
        ('reverts = { "TINY:+S" = "tiny:s" }', "TINY:+S reverts to a piece of the other side"),
    ],
)
def test_a_file_beside_a_description_names_its_pieces_and_actions(
    store: Store, tmp_path: Path, said: str, message: str
) -> None:
    path = write(tmp_path / "tiny.json", tiny())
    path.with_suffix(".toml").write_text(f"[play]\n{said}\n")
    with pytest.raises(DocumentError, match=re.escape(message).replace(r"\.\*", ".*")) as caught:
        store.load(path)
    assert [(each.file, each.pointer) for each in caught.value.problems] == [(str(path.with_suffix(".toml")), "/play")]
    assert list(store.list()) == []


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("here", 'what was given with it does not fit: "here" is not FEEN'),
        ('{"board": {"z9": "TINY:S"}}', 'pieces off the board; found ["z9"]'),
        ('{"board": {}, "state": {"z": "1"}}', 'does not declare; found {"z": "1"}'),
    ],
)
def test_a_start_beside_a_description_fits_it(store: Store, tmp_path: Path, start: str, message: str) -> None:
    path = write(tmp_path / "tiny.json", tiny())
    path.with_suffix(".toml").write_text(f"start = '{start}'\n")
    with pytest.raises(DocumentError, match=re.escape(message)) as caught:
        store.load(path)
    assert [(each.file, each.pointer) for each in caught.value.problems] == [(str(path.with_suffix(".toml")), "/start")]
    assert list(store.list()) == []
