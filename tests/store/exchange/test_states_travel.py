"""States travel: what the source has said since arrives as it was said; where both have, what is there stays."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, text

from ggn_store import InputError, Store, StoreError
from ggn_store.api.teams.bundles import verify_bundle
from ggn_store.model.teams.revision import RulesetState
from ggn_store.store.schema import tables as t
from tests.support.exchanged import BOTH, game, lines, pack, sound
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run


def fill(store: Store) -> None:
    store.load(game(**BOTH, N="b1c3"), "team/game", author="Ann")
    store.load(game(**BOTH, N="b1a3"), "team/okapi", author="Ann")


@pytest.fixture
def other(tmp_path: Path, store: Store) -> Any:
    """A store with `team/game`, which the store of this test has, too."""
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as opened:
        fill(opened)
        store.exchange.pull(opened, "team/game")
        yield opened


def said(store: Store, name: str = "team/game") -> list[RulesetState]:
    return [each for each in store.states.log(name) if each.number]


def test_a_state_arrives_as_it_was_said_and_is_told_at_each_pull(store: Store, other: Store) -> None:
    other.states.set("team/game", "deprecated", use="team/okapi", author="Ann", message="too slow")
    [result] = store.exchange.pull(other, "team/game")
    assert (result.status, result.states, result.state, result.successor) == (
        "unchanged",
        1,
        "deprecated",
        "team/okapi",
    )
    assert said(store) == said(other)
    [result] = store.exchange.pull(other, "team/game")
    assert (result.states, result.state, result.successor) == (0, "deprecated", "team/okapi")
    assert result.data()["state"] == "deprecated"
    assert sound(store, other)


def test_a_push_takes_states_there_and_a_dry_run_does_not(store: Store, other: Store) -> None:
    store.states.set("team/game", "deprecated", author="Bob")
    [result] = store.exchange.push(other, "team/game", dry_run=True)
    assert (result.states, said(other)) == (1, [])
    store.exchange.push(other, "team/game")
    assert said(other) == said(store)


def test_where_both_have_changed_the_state_ours_stays_unless_theirs_is_asked_for(store: Store, other: Store) -> None:
    other.states.set("team/game", "deprecated", use="team/okapi", author="Ann")
    store.states.set("team/game", "retired", author="Bob")
    [result] = store.exchange.pull(other, "team/game")
    assert (result.states, result.state) == (0, "retired")
    assert result.note == (
        "team/game is retired here, where it stays so, and deprecated, use team/okapi at the source: "
        "--states takes over what the source says"
    )
    [result] = store.exchange.pull(other, "team/game", states=True)
    assert (result.states, result.state, result.note) == (1, "deprecated", None)
    assert [(each.state, each.author) for each in said(store)] == [("deprecated", "Ann"), ("retired", "Bob")]
    # Both agree now, whoever asks.
    assert store.exchange.push(other, "team/game")[0].states == 0
    assert store.exchange.pull(other, "team/game", states=True)[0].states == 0
    assert sound(store, other)


def test_later_states_follow_those_that_both_have(store: Store, other: Store) -> None:
    other.states.set("team/game", "deprecated", author="Ann")
    store.exchange.pull(other, "team/game")
    store.states.set("team/game", "active", author="Bob")
    assert store.exchange.pull(other, "team/game")[0].note is None  # what is there was known here
    assert [each.state for each in said(store)] == ["active", "deprecated"]
    store.exchange.push(other, "team/game")
    assert said(other) == said(store)


def test_both_may_say_the_same_without_a_word(store: Store, other: Store) -> None:
    for each in (store, other):
        each.states.set("team/game", "deprecated", message=str(each))
    [result] = store.exchange.pull(other, "team/game")
    assert (result.states, result.note, result.state) == (0, None, "deprecated")


def test_revisions_come_before_the_state_that_ends_them_and_after_the_one_that_opens_again(
    store: Store, other: Store
) -> None:
    other.load(game(**BOTH, N="b1d2"), "team/game")
    other.states.set("team/game", "retired")
    [result] = store.exchange.pull(other, "team/game")
    assert (result.revisions, result.state) == (1, "retired")
    other.states.set("team/game", "active")
    other.load(game(**BOTH, N="b1a3"), "team/game")
    other.states.set("team/game", "retired", message="again")
    [result] = store.exchange.pull(other, "team/game")
    assert (result.revisions, result.states, result.state) == (1, 2, "retired")
    assert said(store) == said(other)
    assert sound(store, other)


def test_a_ruleset_that_is_retired_there_takes_nothing(store: Store, other: Store) -> None:
    other.states.set("team/game", "retired")
    store.load(game(**BOTH, N="b1d2"), "team/game")
    with pytest.raises(StoreError, match="team/game: it is retired there and takes no revisions"):
        store.exchange.push(other, "team/game")
    assert other.ruleset("team/game").revision.number == 1


@pytest.mark.parametrize("closed", [t.ruleset_state, t.policy])
def test_who_may_not_set_states_pushes_all_the_same(
    store: Store, other: Store, closed: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(store.session.database), "may_insert", lambda _, _connection, table: table is not closed)
    other.load(game(**BOTH, N="b1d2"), "team/game")
    other.states.set("team/game", "deprecated")
    [result] = other.exchange.push(store, "team/game")
    assert (result.revisions, result.states, result.state) == (1, 0, "active")
    assert result.note == (
        "team/game is deprecated at the source, and stays as it is there: to change that takes ggn_admin"
    )
    assert said(store) == []


def test_of_those_whom_a_policy_names_the_states_come(store: Store, other: Store) -> None:
    if store.session.database.is_server:  # which knows roles, not the words of authors
        return
    store.policies.set("team", taggers=["Ann"])
    other.states.set("team/game", "deprecated", author="Eve")
    [result] = store.exchange.pull(other, "team/game")
    assert (result.states, said(store)) == (0, [])
    assert result.note is not None
    assert 'team/game: "Eve" may not move tags or set states' in result.note


def test_a_ruleset_is_never_to_be_used_instead_of_itself(store: Store, other: Store) -> None:
    other.states.set("team/game", "deprecated", use="team/okapi")
    [result] = store.exchange.pull(other, "team/game", to="team/okapi")
    assert (result.status, result.states, result.state) == ("new", 0, "active")


def bundle(other: Store, path: Path) -> Path:
    """A bundle with two states."""
    other.states.set("team/game", "deprecated", use="team/okapi", author="Ann", message="é")
    other.states.set("team/game", "retired", author="Ann")
    other.exchange.create_bundle(path, "team/game")
    return path


@pytest.fixture
def file(other: Store, tmp_path: Path) -> Path:
    """Such a bundle of the other store."""
    return bundle(other, tmp_path / "game.gz")


@pytest.fixture(scope="module")
def sound_lines(module_store: Store, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The lines of such a bundle, made once for all that are spoiled in one place."""
    fill(module_store)
    return lines(bundle(module_store, tmp_path_factory.mktemp("bundle") / "game.gz"))


def test_a_bundle_carries_states_and_is_of_the_first_version_without_them(
    store: Store, other: Store, file: Path, tmp_path: Path
) -> None:
    assert [line["version"] for line in lines(file)[:1]] == [2]
    assert verify_bundle(file).states == 2
    [result] = store.exchange.load_bundle(file)
    assert (result.states, result.state) == (2, "retired")
    assert said(store) == said(other)
    store.exchange.create_bundle(tmp_path / "again.gz")
    assert (tmp_path / "again.gz").read_bytes() == file.read_bytes()
    other.exchange.create_bundle(tmp_path / "first.gz", "team/okapi")
    first, *_, end = lines(tmp_path / "first.gz")
    assert (first["version"], "states" in end) == (1, False)
    assert sound(store)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("state", "done", '"done" is not a state'),
        ("state", None, "null is not a state"),
        ("state", ["active"], "the state is not text"),
        ("state", "active", "cannot be used instead of a ruleset that is active"),
        ("successor", "../x", "cannot name a ruleset"),
        ("successor", {"a": 1}, "the successor is not text"),
        ("message", "\0", "has characters that no database can keep"),
        ("author", 3, "the author is not text"),
        ("created_at", "yesterday", "is not a time"),
        ("ruleset", "else", 'the bundle has no ruleset "else"'),
        ("more", 1, "no such key"),
    ],
)
def test_a_bundle_with_a_bad_state_is_refused(
    sound_lines: list[dict[str, Any]], key: str, value: Any, message: str
) -> None:
    written = [dict(line) for line in sound_lines]
    next(line for line in written if line["kind"] == "state")[key] = value
    with pytest.raises(InputError, match=message):
        verify_bundle(pack(written))


def test_a_state_of_a_bundle_stands_once_in_its_place_and_only_in_the_second_version(file: Path) -> None:
    written = lines(file)
    state = next(line for line in written if line["kind"] == "state")
    place = written.index(state)
    for changed, message in (
        ([*written[:place], state, *written[place:]], "stands twice"),
        ([written[0], state, *written[1:]], "out of place"),
        ([{**written[0], "version": 1}, *written[1:]], "of no kind that a bundle has"),
    ):
        with pytest.raises(InputError, match=message):
            verify_bundle(pack(changed))


def test_a_bundle_whose_states_the_store_does_not_take_leaves_nothing(store: Store, file: Path) -> None:
    written = lines(file)
    for line in written:
        if line["kind"] == "state":
            line["created_at"] = "2999-01-01T00:00:00.000000+00:00"
    bundle = io.BytesIO(pack(written).getvalue())
    with pytest.raises(StoreError):
        store.exchange.load_bundle(bundle, to="team/else")
    assert [each.revision.name for each in store.list()] == ["team/game"]
    with store.session.database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM ruleset_state")).scalar_one() == 0


def test_the_program_says_what_is_deprecated(run: Any, tmp_path: Path, other: Store, address: str) -> None:
    other.states.set("team/game", "deprecated", use="team/okapi", author="Ann")
    source = f"sqlite:///{tmp_path / 'other.db'}"
    for came in (", state deprecated", ""):
        result = run("--db", address, "pull", "--remote", source, "team/game")
        assert result.out == f"team/game: up to date, head team/game@1{came}\n"
        assert result.err.splitlines()[-1] == "team/game: deprecated, use team/okapi"
    result = run("--db", address, "pull", "--remote", source, "--all", "--format", "ndjson")
    found = {each["name"]: each for each in map(json.loads, result.out.splitlines())}
    assert (found["team/game"]["state"], found["team/game"]["successor"]) == ("deprecated", "team/okapi")
    assert "state" not in found["team/okapi"]
