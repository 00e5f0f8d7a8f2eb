"""States of rulesets: deprecated ones say so wherever they are used, retired ones take nothing more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from ggn_store import GgnStoreError, Store, StoreError, UnknownNameError
from ggn_store.errors import GateError, NotationError
from ggn_store.store.history import states
from tests.support.guards import drop_guards
from tests.support.program import Command, Program, write
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run
from tests.support.stored import KNIGHT, ROOK

BOARD = '{"b1": "C:N"}'


@pytest.fixture
def ggn(run: Program, address: str) -> Command:
    """The program on a store with the rulesets `knight` and `rook`."""
    with Store.open(address) as store:
        store.load(KNIGHT, "knight")
        store.load(ROOK, "rook")
    return lambda *arguments, stdin=b"": run("--db", address, *arguments, stdin=stdin)


def test_a_ruleset_is_active_until_something_else_is_said(store: Store) -> None:
    revision = store.load(KNIGHT, "knight")
    assert (revision.state, revision.successor) == ("active", None)
    assert (store.states.get("knight").state, store.states.get("knight").number) == ("active", 0)
    assert store.ruleset("knight").revision.data()["state"] == "active"


def test_a_state_is_said_with_a_successor_and_a_reason_and_its_history_is_kept(store: Store) -> None:
    store.load(KNIGHT, "knight")
    store.load(ROOK, "team/rook")
    said = store.states.set("knight", "deprecated", use="team/rook", author="Ann", message="it is slow")
    assert said.note == "knight is deprecated: use team/rook (it is slow)"
    assert store.states.set("knight", "retired", author="Bob").note == "knight is retired"
    assert store.states.set("knight", "active", author="Cid").note is None
    found = [
        (each.number, each.state, each.successor, each.author, each.message) for each in store.states.log("knight")
    ]
    assert found == [
        (3, "active", None, "Cid", None),
        (2, "retired", None, "Bob", None),
        (1, "deprecated", "team/rook", "Ann", "it is slow"),
    ]
    with store.session.database.reading() as connection:
        rows = connection.execute(text("SELECT subject, detail FROM audit WHERE action = 'state' ORDER BY id")).all()
    assert [(row.subject, json.loads(row.detail)["state"]) for row in rows] == [
        ("knight", "deprecated"),
        ("knight", "retired"),
        ("knight", "active"),
    ]


def test_every_revision_tells_the_state_that_its_ruleset_has_now(store: Store) -> None:
    store.load(KNIGHT, "knight")
    store.load(ROOK, "knight")
    store.load(ROOK, "rook")
    store.states.set("knight", "retired")
    store.states.set("knight", "deprecated", use="rook")
    for reference in ("knight", "knight@1"):
        data = store.ruleset(reference).revision.data()
        assert (data["state"], data["successor"]) == ("deprecated", "rook")
    assert [(each.revision.name, each.data()["state"]) for each in store.list()] == [
        ("knight", "deprecated"),
        ("rook", "active"),
    ]


def test_what_is_said_already_is_not_said_again(store: Store) -> None:
    store.load(KNIGHT, "knight")
    assert store.states.set("knight", "active").number == 0
    assert store.states.set("knight", "retired", message="old").number == 1
    assert store.states.set("knight", "retired", message="old").number == 1
    assert store.states.set("knight", "retired", message="older").number == 2


def test_a_successor_must_be_there_and_another_one(store: Store) -> None:
    store.load(KNIGHT, "knight")
    store.load(ROOK, "rook")
    store.delete("rook")
    with pytest.raises(UnknownNameError, match='no ruleset "queen"'):
        store.states.set("knight", "deprecated", use="queen")
    with pytest.raises(UnknownNameError, match="rook was deleted"):
        store.states.set("knight", "deprecated", use="rook")
    with pytest.raises(NotationError, match="cannot be used instead of itself"):
        store.states.set("knight", "deprecated", use="knight")
    with pytest.raises(NotationError, match="an active ruleset is to be used itself"):
        store.states.set("knight", "active", use="rook")
    with pytest.raises(NotationError, match="not a state: active, deprecated, retired"):
        store.states.set("knight", "gone")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match='no ruleset "queen"'):
        store.states.set("queen", "retired")
    assert store.states.log("knight")[0].number == 0


def test_a_retired_ruleset_takes_no_revision_but_answers(store: Store) -> None:
    store.load(KNIGHT, "knight")
    store.load(ROOK, "rook")
    store.states.set("knight", "retired", use="rook")
    refused = r"knight is retired and takes no revisions \(use rook\): `ggn-store state knight active`"
    with pytest.raises(GateError, match=refused):
        store.load(ROOK, "knight")
    with pytest.raises(GateError, match=refused):
        store.reviews.propose(ROOK, "knight", author="Ann")
    assert store.load(KNIGHT, "knight").status == "unchanged"
    assert [move.destination for move in store.ruleset("knight").moves({"b1": "C:N"})] == ["c3"]
    store.states.set("knight", "active")
    assert store.load(ROOK, "knight").number == 2


def test_of_two_who_say_something_at_once_one_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.load(KNIGHT, "knight")
    before = store.states.get("knight")
    store.states.set("knight", "deprecated")
    # In a file, where one writes at a time, it can only be tried by hand.
    told = "somebody else has just changed" if store.session.database.is_server else "is never changed"
    with monkeypatch.context() as patched:
        patched.setattr(states, "newest", lambda *_: before)
        with pytest.raises(GgnStoreError, match=told):
            store.states.set("knight", "retired", author="Eve")
    assert store.states.get("knight").state == "deprecated"


def test_what_was_said_is_never_changed(store: Store) -> None:
    store.load(KNIGHT, "knight")
    store.states.set("knight", "retired")
    for statement in ("UPDATE ruleset_state SET state = 'active'", "DELETE FROM ruleset_state"):
        with pytest.raises(StoreError, match="is never"), store.session.database.writing() as connection:
            connection.execute(text(statement))
    with store.session.database.writing() as connection:
        drop_guards(connection)
        connection.execute(text("DELETE FROM ruleset_state"))
    assert store.states.get("knight").state == "active"


# --- on the command line ---


USES: tuple[tuple[str, ...], ...] = (
    ("moves", "knight", "--board", BOARD),
    ("moves", "knight@1", "--board", BOARD),
    ("apply", "knight", "--board", BOARD, "--move", "C:N b1 c3"),
    ("show", "knight"),
    ("export", "knight"),
    ("perft", "knight", "--depth", "1", "--board", BOARD),
)


@pytest.mark.parametrize("arguments", USES, ids=lambda arguments: " ".join(arguments[:2]))
def test_whoever_uses_a_deprecated_ruleset_is_told_once(ggn: Command, arguments: tuple[str, ...]) -> None:
    before = ggn(*arguments)
    assert (before.code, before.err) == (0, "")
    ggn("state", "knight", "deprecated", "--use", "rook", "-m", "it is\nslow")
    after = ggn(*arguments)
    assert after.code == 0
    assert after.err == "note: knight is deprecated: use rook (it is slow)\n"
    if arguments[0] not in ("show", "perft"):  # which tell of the state, and how long it took
        assert after.out == before.out


def test_compile_tells_of_a_deprecated_ruleset(ggn: Command, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    ggn("state", "knight", "deprecated")
    done = ggn("compile", "knight", "-o", str(tmp_path / "compiled"))
    assert (done.code, done.err.splitlines()[0]) == (0, "note: knight is deprecated")


def test_loading_into_a_deprecated_ruleset_is_told_once_and_done(ggn: Command) -> None:
    ggn("state", "knight", "deprecated", "--use", "rook")
    done = ggn("load", write("knight.json", ROOK), write("other.json", ROOK))
    assert (done.code, done.err) == (0, "note: knight is deprecated: use rook\n")
    assert ggn("show", "knight", "--format", "json").records()[0]["revision"] == 2
    refused = ggn("load", write("knight.json", "{}"))
    assert (refused.code, "note:" in refused.err) == (1, False)


def test_proposing_for_a_deprecated_ruleset_is_told_and_done(ggn: Command) -> None:
    ggn("state", "knight", "deprecated", "--use", "rook")
    path = str(write("knight.json", ROOK))
    done = ggn("propose", "knight", path, "--author", "Ann")
    assert (done.code, done.err) == (0, "note: knight is deprecated: use rook\n")
    assert ggn("propose", "new", path, "--author", "Ann").err == ""
    assert ggn("moves", "knight#1", "--board", '{"a1": "C:R"}').err == ""


def test_show_and_list_tell_the_state(ggn: Command) -> None:
    ggn("state", "knight", "deprecated", "--use", "rook")
    shown = ggn("show", "knight").out.splitlines()
    assert [line.split() for line in shown if line.startswith(("state", "successor"))] == [
        ["state", "deprecated"],
        ["successor", "rook"],
    ]
    assert [(each["name"], each["state"], each["successor"]) for each in ggn("list").records()] == [
        ("knight", "deprecated", "rook"),
        ("rook", "active", None),
    ]
    table = ggn("list", "--format", "table").out.splitlines()
    assert table[0].split()[:3] == ["name", "revision", "state"]
    assert table[2].split()[:3] == ["knight", "1", "deprecated"]


def test_retired_rulesets_are_listed_with_all_of_them_only(ggn: Command) -> None:
    done = ggn("state", "knight", "retired", "--use", "rook")
    assert (done.code, done.out) == (0, "knight is retired: use rook\n")
    listed = ggn("list")
    assert [each["name"] for each in listed.records()] == ["rook"]
    assert listed.err == "1 retired ruleset is not listed (--all)\n"
    everything = ggn("list", "--all")
    assert ([each["name"] for each in everything.records()], everything.err) == (["knight", "rook"], "")
    ggn("state", "rook", "retired")
    table = ggn("list", "--format", "table")
    assert (table.out, table.err) == ("", "2 retired rulesets are not listed (--all)\n")
    assert ggn("export", "knight").err == "note: knight is retired: use rook\n"


def test_the_states_of_a_ruleset_are_listed(ggn: Command) -> None:
    assert [each["state"] for each in ggn("state", "knight").records()] == ["active"]
    ggn("state", "knight", "deprecated", "--use", "rook", "-m", "why", "--author", "Ann")
    [found] = ggn("state", "knight").records()
    assert (found["number"], found["state"], found["successor"], found["author"]) == (1, "deprecated", "rook", "Ann")
    assert ggn("state", "knight", "active").out == "knight is active\n"
    assert [each["number"] for each in ggn("state", "knight").records()] == [2, 1]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("knight", "gone"), 2, "is not one of 'active', 'deprecated', 'retired'"),
        (("knight", "--use", "rook"), 2, "--use goes with a state"),
        (("knight", "retired", "--format", "json"), 2, "leave the state out"),
        (("queen", "retired"), 1, 'no ruleset "queen"'),
        (("knight@1", "retired"), 1, "cannot name a ruleset"),
        (("knight", "retired", "--use", "queen"), 1, 'no ruleset "queen"'),
    ],
)
def test_what_cannot_be_said_is_refused(ggn: Command, arguments: tuple[str, ...], code: int, told: str) -> None:
    done = ggn("state", *arguments)
    assert (done.code, done.out) == (code, "")
    assert told in done.err
