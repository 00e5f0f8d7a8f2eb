"""Renames: the history stays with the ruleset, and the old name answers with where it went."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import ConflictError, GgnStoreError, InputError, Store, UnknownNameError, limits
from ggn_store.api.teams.bundles import verify_bundle
from ggn_store.errors import GateError, NotationError
from ggn_store.model.teams.policy import PolicyRules
from tests.support.exchanged import BOTH, game, history, lines, pack, sound
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run


@pytest.fixture
def renamed(store: Store) -> Store:
    store.load(game(**BOTH, N="b1c3"), "team/old", author="Ann")
    store.load(game(**BOTH, N="b1a3"), "team/old", author="Bob")
    store.tags.set("team/old@1", "stable")
    store.states.set("team/old", "deprecated")
    store.rename("team/old", "team/new", author="Ann", message="better")
    return store


def test_history_tags_and_states_stay_with_the_ruleset(renamed: Store, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        renamed.exchange.push(other, "team/new", tags=True)
        assert history(renamed, "team/new") == history(other, "team/new")
    assert [each.revision.author for each in renamed.history.log("team/new")] == ["Bob", "Ann"]
    assert [each.name for each in renamed.tags.list("team/new")] == ["stable"]
    assert renamed.states.get("team/new").state == "deprecated"
    renamed.load(game(**BOTH, N="b1d2"), "team/new")
    assert sound(renamed)
    with renamed.session.database.reading() as connection:
        row = connection.execute(text("SELECT subject, detail FROM audit WHERE action = 'rename'")).one()
    assert row.subject == "team/new"
    assert '"Ann"' in row.detail
    [event] = [each for each in renamed.upkeep.audit() if each.action == "rename"]
    assert event.what.startswith("was team/old")


def test_the_log_lists_renames_with_the_revision_that_was_the_newest(renamed: Store, run: Any, address: str) -> None:
    renamed.load(game(**BOTH, N="b1d2"), "team/new", author="Cid")
    renamed.rename("team/new", "team/newer")
    third, second, first = renamed.history.log("team/newer")
    listed = [[(each.old_name, each.new_name) for each in entry.renames] for entry in (third, second, first)]
    assert listed == [[("team/new", "team/newer")], [("team/old", "team/new")], []]
    [rename] = second.data()["renames"]
    assert (rename["author"], rename["message"], "renames" in first.data()) == ("Ann", "better", False)
    assert [entry.renames for entry in renamed.history.log("team/newer@2")] == [second.renames, ()]
    assert [entry.renames for entry in renamed.history.log("team/newer@1")] == [()]
    assert [entry.renames for entry in renamed.history.log("team/newer", 1)] == [third.renames]
    [line] = [
        line
        for line in run("--db", address, "log", "team/newer", "--format", "text").out.splitlines()
        if "team/old" in line
    ]
    assert line.startswith("Renamed: team/old to team/new, 20")
    assert line.endswith(" UTC by Ann: better")


def test_the_old_name_says_where_it_went_and_is_given_to_nobody(renamed: Store) -> None:
    for use in (
        lambda: renamed.ruleset("team/old"),
        lambda: renamed.ruleset("team/old@1"),
        lambda: renamed.tags.list("team/old"),
        lambda: renamed.states.set("team/old", "active"),
        lambda: renamed.load(game(**BOTH, N="b1d2"), "team/old"),
        lambda: renamed.reviews.propose(game(**BOTH, N="b1d2"), "team/old", author="Ann"),
        lambda: renamed.rename("team/old", "team/else"),
    ):
        with pytest.raises(UnknownNameError, match="the ruleset team/old was renamed: it is team/new now"):
            use()
    renamed.load(game(**BOTH, N="b1d2"), "other")
    with pytest.raises(ConflictError, match="was the name of another ruleset"):
        renamed.rename("other", "team/old")
    with pytest.raises(ConflictError, match="team/new is there already"):
        renamed.rename("other", "team/new")
    with pytest.raises(NotationError, match="is its name already"):
        renamed.rename("other", "other")
    renamed.rename("team/new", "team/old")
    assert renamed.ruleset("team/old").revision.number == 2
    assert sound(renamed)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ruleset SET name = 'x'",
        "UPDATE ruleset_rename SET old_name = 'x'",
        "DELETE FROM ruleset_rename",
        "INSERT INTO ruleset (name) VALUES ('team/old')",
        *(
            f"INSERT INTO ruleset_rename SELECT id, {number}, {old}, {new}, 'Eve', NULL, {at} FROM ruleset"
            for number, old, new, at in (
                (1, "name", "'x'", "'2026-01-01 00:00:00.000000'"),
                (3, "name", "'x'", "'2026-01-01 00:00:00.000000'"),
                (2, "'team/old'", "'x'", "'2026-01-01 00:00:00.000000'"),
                (2, "name", "'../x'", "'2026-01-01 00:00:00.000000'"),
                (2, "name", "name", "'2026-01-01 00:00:00.000000'"),
                (2, "name", "'x'", "'2999-01-01 00:00:00.000000'"),
            )
        ),
    ],
)
def test_the_database_keeps_names_and_renames(renamed: Store, statement: str) -> None:
    with pytest.raises(GgnStoreError), renamed.session.database.writing() as connection:
        connection.execute(text(statement))
    assert renamed.ruleset("team/new").revision.number == 2
    assert sound(renamed)


def test_the_audit_tells_of_a_ruleset_by_any_of_its_names(store: Store) -> None:
    store.load(game(**BOTH), "team/old", author="Ann")
    store.load(game(**BOTH), "team/other")
    store.rename("team/old", "new", author="Ann")
    store.tags.set("new", "stable")
    told = [(each.action, each.subject) for each in store.upkeep.audit("new")]
    assert told == [("revision", "team/old"), ("rename", "new"), ("tag", "new")]
    for name in ("team/old", "n*", "new"):
        events = [*store.upkeep.audit(name), *islice(store.upkeep.watch(name, since=0), len(told))]
        assert [(each.action, each.subject) for each in events] == told * 2
    assert [each.subject for each in store.upkeep.audit("team/")] == ["team/old", "team/other"]


def test_a_ruleset_does_not_leave_its_policy(store: Store) -> None:
    store.load(game(**BOTH, N="b1c3"), "team/old")
    store.policies.set("team", review=1)
    with pytest.raises(GateError, match="another policy counts for free"):
        store.rename("team/old", "free")
    with pytest.raises(GgnStoreError), store.session.database.writing() as connection:
        connection.execute(
            text("INSERT INTO ruleset_rename SELECT id, 1, name, 'free', 'x', NULL, '2026-01-01' FROM ruleset")
        )
    store.rename("team/old", "team/new")
    store.policies.set("team/new", review=2)
    store.rename("team/new", "mine")
    policy = store.policies.get("mine")
    assert policy is not None
    assert policy.rules is not None
    assert policy.rules.review == 2
    assert sound(store)


def test_another_store_continues_the_history_under_the_new_name(store: Store, tmp_path: Path) -> None:
    store.load(game(**BOTH, N="b1c3"), "team/old", author="Ann")
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        other.exchange.pull(store, "team/old")
        store.rename("team/old", "team/mid", author="Ann")
        store.rename("team/mid", "team/new", author="Bob")
        store.load(game(**BOTH, N="b1a3"), "team/new")
        with pytest.raises(UnknownNameError, match="it is team/new now"):
            other.exchange.pull(store, "team/old")
        [result] = other.exchange.pull(store, "team/new")
        assert (result.status, result.revisions, result.head) == ("forwarded", 1, 2)
        assert result.note == "team/old was renamed at the source, and is team/new here, too"
        assert [each.revision.name for each in other.list()] == ["team/new"]
        assert history(other, "team/new") == history(store, "team/new")
        assert sound(store, other)


def test_another_store_renames_with_a_policy_of_its_own_and_does_not_leave_one(store: Store, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        other.load(game(**BOTH, N="b1c3"), "team/old", author="Ann")
        store.exchange.pull(other, "team/old")
        other.rename("team/old", "team/new", author="Ann")
        store.policies.set("team/old", taggers=["postgres"])
        store.policies.set("team", lint=["all"])
        store.policies.set("team/new", lint=["all"])
        with pytest.raises(GateError, match="team/old is not renamed: another policy counts for team/new"):
            store.exchange.pull(other, "team/new")
        store.policies.remove("team/new")
        [result] = store.exchange.pull(other, "team/new")
        assert (result.to, result.status) == ("team/new", "unchanged")
        assert [(each.namespace, each.rules) for each in store.policies.list()] == [
            ("team", PolicyRules(lint=("all",))),
            ("team/new", PolicyRules(taggers=("postgres",))),
        ]
        assert sound(store, other)


def test_a_dry_run_says_what_becomes_of_names_and_renames_nothing(store: Store, tmp_path: Path) -> None:
    store.load(game(**BOTH, N="b1c3"), "team/old", author="Ann")
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        other.exchange.pull(store, "team/old")
        store.load(game(**BOTH, N="b1a3"), "team/old")
        store.rename("team/old", "team/new", author="Ann")
        [planned] = other.exchange.pull(store, "team/new", dry_run=True)
        assert [each.revision.name for each in other.list()] == ["team/old"]
        [done] = other.exchange.pull(store, "team/new")
        assert planned == done
        assert (planned.to, planned.status, planned.revisions) == ("team/new", "forwarded", 1)
        other.rename("team/new", "mine")
        store.load(game(**BOTH, N="b1d2"), "team/new")
        [planned] = other.exchange.pull(store, "team/new", dry_run=True)
        assert (planned, planned.to) == (*other.exchange.pull(store, "team/new"), "mine")


def test_a_pull_of_an_old_name_goes_on_with_the_new_one_and_both_names_stay(store: Store, tmp_path: Path) -> None:
    store.load(game(**BOTH, N="b1c3"), "team/old", author="Ann")
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        other.exchange.pull(store, "team/old")
        other.rename("team/old", "mine")
        store.load(game(**BOTH, N="b1a3"), "team/old")
        [result] = other.exchange.pull(store, "team/old")
        assert (result.to, result.revisions) == ("mine", 1)
        store.rename("team/old", "team/new")
        [result] = other.exchange.pull(store, "team/new")
        assert (result.to, result.status) == ("mine", "unchanged")
        assert result.note == "team/new of the source is mine here: both were team/old"
        assert sound(store, other)


def test_a_bundle_says_what_was_renamed(store: Store, tmp_path: Path) -> None:
    store.load(game(**BOTH, N="b1c3"), "team/old", author="Ann")
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        other.exchange.pull(store, "team/old")
        store.rename("team/old", "team/new", author="Ann")
        store.exchange.create_bundle(tmp_path / "all.gz")
        [result] = other.exchange.load_bundle(tmp_path / "all.gz")
        assert (result.to, result.status) == ("team/new", "unchanged")
        assert [each.revision.name for each in other.list()] == ["team/new"]


def bundle(store: Store, path: Path) -> Path:
    """A bundle of a ruleset that was renamed twice."""
    store.load(game(**BOTH, N="b1c3"), "team/old", author="Ann")
    store.rename("team/old", "team/mid", author="Ann", message="x")
    store.rename("team/mid", "team/new", author="Bob")
    store.exchange.create_bundle(path)
    return path


@pytest.fixture
def file(store: Store, tmp_path: Path) -> Path:
    """Such a bundle of a new store."""
    return bundle(store, tmp_path / "all.gz")


@pytest.fixture(scope="module")
def sound_lines(module_store: Store, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The lines of such a bundle, made once for all that are spoiled in one place."""
    return lines(bundle(module_store, tmp_path_factory.mktemp("bundle") / "all.gz"))


HOSTILE = [
    (0, "old_name", "../etc", "cannot name a ruleset"),
    (0, "old_name", "team/x#1", '"team/x#1"'),
    (0, "old_name", "x" * 201, "cannot name a ruleset"),
    (0, "old_name", "", "cannot name a ruleset"),
    (0, "old_name", None, "null cannot name a ruleset"),
    (0, "old_name", ["team/old"], "cannot name a ruleset"),
    (0, "new_name", "team//mid", "cannot name a ruleset"),
    (0, "old_name", "team/mid", "a rename of team/new does not follow the one before it"),
    (1, "old_name", "team/old", "a rename of team/new does not follow the one before it"),
    (1, "new_name", "team/mid", "a rename of team/new does not follow the one before it"),
    (0, "ruleset", "else", 'the bundle has no ruleset "else"'),
    (0, "author", 3, "the author is not text"),
    (0, "message", "\0", "has characters that no database can keep"),
    (0, "created_at", "now", "is not a time"),
    (0, "more", 1, "the rename has no such key"),
]


@pytest.mark.parametrize(("place", "key", "value", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_bundle_with_a_bad_rename_is_refused_with_its_line(
    sound_lines: list[dict[str, Any]], place: int, key: str, value: Any, message: str
) -> None:
    written = [dict(line) for line in sound_lines]
    numbers = [number for number, line in enumerate(written, start=1) if line["kind"] == "rename"]
    written[numbers[place] - 1][key] = value
    with pytest.raises(InputError) as caught:
        verify_bundle(pack(written))
    assert f"line {numbers[place]}: " in str(caught.value)
    assert message in str(caught.value)


def test_the_renames_of_a_bundle_end_with_the_name_of_the_ruleset(file: Path) -> None:
    written = lines(file)
    [first, last] = [line for line in written if line["kind"] == "rename"]
    for changed, message in (
        ([*written[:-2], written[-1]], "the renames of team/new do not end with its name"),
        ([*written[:-2], {**last, "new_name": "team/else"}, written[-1]], "the renames of team/new do not end with"),
        ([{**written[0], "version": 1}, *written[1:]], "of no kind that a bundle has"),
        ([written[0], first, *written[1:]], "out of place"),
    ):
        with pytest.raises(InputError, match=message):
            verify_bundle(pack(changed))


def test_renames_in_a_bundle_may_come_back_to_a_name_and_many_are_taken_or_refused_at_once(
    file: Path, tmp_path: Path
) -> None:
    written = lines(file)
    first, last = (line for line in written if line["kind"] == "rename")
    back = {**first, "old_name": "team/new", "new_name": "team/old"}
    cycle = [first, last, back] * 300 + [first, last]
    many = [*written[:-3], *cycle, written[-1]]
    bundle = pack(many)
    assert verify_bundle(bundle).renames == 902
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        other.load(game(**BOTH, B="c1d2"), "team/old", author="Eve")  # of the same name, and no history in common
        [result] = other.exchange.load_bundle(pack(many))
        assert (result.to, result.status) == ("team/new", "new")
        assert sorted(each.revision.name for each in other.list()) == ["team/new", "team/old"]
        assert sound(other)
    with limits.allow({"bundle-lines": 500}), pytest.raises(InputError, match="more than 500 lines"):
        verify_bundle(pack(many))


def test_a_bundle_does_not_rename_over_another_ruleset(file: Path, store: Store, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        other.exchange.pull(store, "team/new", to="team/old")
        other.load(game(**BOTH, B="c1d2"), "team/mid", author="Eve")
        before = history(other, "team/old")
        with pytest.raises(ConflictError, match="team/mid is there already"):
            other.exchange.load_bundle(file)
        assert history(other, "team/old") == before
        assert sorted(each.revision.name for each in other.list()) == ["team/mid", "team/old"]
        assert sound(other)


def test_the_program_renames(run: Any, address: str) -> None:
    with Store.open(address) as store:
        store.load(game(**BOTH, N="b1c3"), "team/old")
    result = run("--db", address, "rename", "team/old", "team/new", "--author", "Ann")
    assert (result.code, result.out) == (0, "team/old is team/new now; its newest revision is team/new@1\n")
    result = run("--db", address, "rename", "team/new", "team//new")
    assert result.code == 1
    assert result.err.endswith("/ between parts, at most 200 characters\n")  # and nothing of --name
    result = run("--db", address, "show", "team/old")
    assert result.code == 1
    assert "it is team/new now" in result.err
