"""Verifying a store: contents, histories, tags, audit and triggers; and comparing it with another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, text

from ggn_store import Store, UnknownNameError
from ggn_store.model.teams.care import Comparison, Verification
from ggn_store.model.teams.revision import Revision
from ggn_store.store.exchange import compare
from ggn_store.store.rulesets import load
from ggn_store.store.upkeep import check
from tests.support.guards import drop_guards
from tests.support.loader import document, store_unlisted
from tests.support.migrations import alembic
from tests.support.program import Command, Result, on_terminal
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.sampled import sampled
from tests.support.stored import KNIGHT, ROOK

BISHOP: dict[str, Any] = {"C:B": KNIGHT["C:N"]}
QUEEN: dict[str, Any] = {"C:Q": KNIGHT["C:N"]}


@pytest.fixture
def game(store: Store) -> Store:
    """A store with two rulesets, a tag that has moved, and a ruleset that was deleted."""
    for rules in (KNIGHT, ROOK):
        store.load(rules, "game", author="Ann")
    store.load(BISHOP, "other")
    store.tags.set("game@1", "stable")
    store.tags.set("game@2", "stable")
    store.load(QUEEN, "hidden")
    store.delete("hidden")
    return store


@contextmanager
def damage(store: Store) -> Iterator[Connection]:
    """A transaction that no trigger hinders."""
    with store.session.database.writing() as connection:
        drop_guards(connection)
        yield connection


def test_a_sound_store_is_told_to_be_sound_with_how_much_was_looked_at(game: Store) -> None:
    seen: list[str] = []
    assert game.upkeep.verify(progress=seen.append) == Verification(4, 4, 1, ())
    assert sorted(seen) == [
        *(f"piece C:{letter}" for letter in "BNQR"),
        *(f"revision {each}" for each in ("game@1", "game@2", "hidden@1", "other@1")),
    ]
    assert game.upkeep.check() == []


def test_with_names_only_what_these_need_is_looked_at(game: Store) -> None:
    seen: list[str] = []
    assert game.upkeep.verify("game", progress=seen.append) == Verification(2, 2, 1, ())
    assert sorted(seen) == ["piece C:N", "piece C:R", "revision game@1", "revision game@2"]
    assert game.upkeep.verify("other", "hidden") == Verification(2, 2, 0, ())
    bishop = "SELECT id FROM piece WHERE identifier = 'C:B'"
    with damage(game) as connection:
        connection.execute(text(f"UPDATE condition SET state = 'enemy' WHERE piece_id IN ({bishop})"))
        connection.execute(text("UPDATE tag SET number = 5 WHERE number = 2"))
    assert [each.split(":")[0] for each in game.upkeep.verify("game").problems] == ["tag game"]
    [problem] = game.upkeep.verify("other").problems
    assert problem.startswith("piece ")
    assert "(C:B)" in problem
    assert game.upkeep.verify("hidden").problems == ()
    assert len(game.upkeep.verify().problems) == 2
    with pytest.raises(UnknownNameError, match='no ruleset "nothing"'):
        game.upkeep.verify("game", "nothing")


DAMAGES = {
    "DELETE FROM revision WHERE number = 2": "revision game@2: it is not there, and the audit records that it was made",
    "UPDATE tag SET number = 3 WHERE number = 2": "tag game:stable: its moves are not numbered without gaps",
    "UPDATE tag SET revision_id = (SELECT min(id) FROM revision WHERE ruleset_id <> tag.ruleset_id) WHERE number = 2":
        "tag game:stable: it points to a revision of another ruleset",
    "DELETE FROM tag WHERE number = 2": "tag game:stable: it has 1 moves, and the audit records 2",
    "UPDATE tag SET name = 'other' WHERE number = 1": "tag game:other: it has 1 moves, and the audit records 0",
    "DELETE FROM audit WHERE action = 'tag'": "tag game:stable: it has 2 moves, and the audit records 0",
    "DELETE FROM audit WHERE subject = 'other'": "revision other@1: the audit does not record it",
    "UPDATE audit SET detail = 'x' WHERE id = 1": "table audit: the revision in row 1 cannot be read",
    "UPDATE audit SET subject = 'nobody' WHERE id = 1":
        "revision nobody@1: it is not there, and the audit records that it was made",
    "INSERT INTO ruleset_state (ruleset_id, number, state, created_at) "
    "SELECT id, 2, 'active', '2026-01-01 00:00:00.000000' "
    "FROM ruleset WHERE name = 'game'": "ruleset game: its states are not numbered without gaps",
    "INSERT INTO ruleset (name) VALUES ('empty')": "ruleset empty: it has no revision: `ggn-store gc` removes it",
}  # fmt: skip


@pytest.mark.parametrize(
    ("address", "statement"),
    [*(("sqlite", each) for each in DAMAGES), *sampled(("postgres", each) for each in DAMAGES)],
    indirect=["address"],
)
def test_what_is_missing_or_was_added_is_told(game: Store, statement: str) -> None:
    with damage(game) as connection:
        if statement.startswith("DELETE FROM revision"):
            connection.execute(text("DELETE FROM tag"))
            connection.execute(text("DELETE FROM audit WHERE action = 'tag'"))
            two = "(SELECT id FROM revision WHERE number = 2)"
            connection.execute(text(f"DELETE FROM revision_piece WHERE revision_id = {two}"))
        assert connection.execute(text(statement)).rowcount > 0
    assert DAMAGES[statement] in game.upkeep.verify().problems


DAMAGES_OF_TEAMS = {
    "DELETE FROM policy": "namespace team: it has 0 policies, and the audit records 1",
    "DELETE FROM verdict": "proposal team/new#1: it has 0 verdicts, and the audit records 1",
    "UPDATE proposal SET number = 2": "proposal team/new#1: it has 0 rounds, and the audit records 1",
    "DELETE FROM ruleset_rename WHERE number = 1": "ruleset team/new: its renames are not numbered without gaps",
    "DELETE FROM ruleset_rename WHERE number = 2":
        "ruleset team/new: its rename 1 does not give it the name that it had then",
    "UPDATE ruleset_rename SET new_name = 'team/x' WHERE number = 1":
        "ruleset team/new: its rename 1 does not give it the name that it had then",
    "UPDATE ruleset SET name = 'x'": "ruleset x: its rename 2 does not give it the name that it had then",
    "UPDATE ruleset_rename SET created_at = '2999-01-01 00:00:00.000000' WHERE number = 2":
        "ruleset_rename team/new: of its change 2, it was written in the future",
}  # fmt: skip


@pytest.mark.parametrize("statement", DAMAGES_OF_TEAMS)
def test_what_is_missing_of_policies_reviews_and_renames_is_told(store: Store, statement: str) -> None:
    store.load(KNIGHT, "team/old")
    store.rename("team/old", "team/mid")
    store.reviews.propose(ROOK, "team/mid", author="Ann")
    store.reviews.comment("team/mid#1", "why?", author="Bob")
    store.rename("team/mid", "team/new")
    store.policies.set("team", review=1)
    assert store.upkeep.verify().problems == store.upkeep.verify("team/new").problems == ()
    with damage(store) as connection:
        assert connection.execute(text(statement)).rowcount > 0
    assert DAMAGES_OF_TEAMS[statement] in store.upkeep.verify().problems


def test_an_audit_that_tells_of_another_history_is_told(game: Store) -> None:
    with damage(game) as connection:
        detail = connection.execute(text("SELECT detail FROM audit WHERE id = 2")).scalar_one()
        forged = json.dumps(json.loads(detail) | {"lineage": "0" * 64})
        connection.execute(text("UPDATE audit SET detail = :forged WHERE id = 2"), {"forged": forged})
    assert game.upkeep.verify().problems == (f"revision game@2: the audit records that it had the lineage {'0' * 64}",)


def test_a_file_s_audit_has_no_gaps(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store.db")) as store:
        store.load(KNIGHT, "game")
        for _ in range(2):
            store.delete("game")
            store.load(KNIGHT, "game")
        with damage(store) as connection:
            connection.execute(text("DELETE FROM audit WHERE id IN (2, 3)"))
        assert store.upkeep.verify().problems == ("table audit: 2 of its rows before 4 are missing",)


def test_revisions_from_before_there_was_an_audit_are_not_complained_of(store: Store) -> None:
    for rules in (KNIGHT, ROOK):
        store.load(rules, "game")
    with store.session.database.writing() as connection:
        alembic(connection, command.downgrade, "0002")
    store.upgrade()
    assert list(store.upkeep.audit()) == []
    assert store.upkeep.verify().problems == ()
    store.load(BISHOP, "game")
    store.load(QUEEN, "other")
    assert store.upkeep.verify() == Verification(4, 4, 0, ())
    with damage(store) as connection:
        connection.execute(text("DELETE FROM audit WHERE subject = 'other'"))
        connection.execute(text("UPDATE audit SET id = 1"))
    assert store.upkeep.verify().problems == ("revision other@1: the audit does not record it",)


# --- beside others ---


@pytest.mark.parametrize(
    ("address", "names"),
    [
        pytest.param("sqlite", (), id="sqlite-names0", marks=pytest.mark.long),
        pytest.param("sqlite", ("game", "game/1"), id="sqlite-names1"),
        pytest.param("postgres", (), id="postgres-names0"),
        pytest.param("postgres", ("game", "game/1"), id="postgres-names1", marks=pytest.mark.long),
    ],
    indirect=["address"],
)
def test_others_write_and_collect_between_its_short_transactions(
    store: Store, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    monkeypatch.setattr(check, "_SECONDS", 0)
    for name in ("game", "game/1"):
        store.load(document(0), name)
    store_unlisted(store, range(20, 24))
    reading = store.session.reading
    done = 0

    @contextmanager
    def then_let_others_write() -> Iterator[Connection]:
        nonlocal done
        with reading() as connection:
            yield connection
        done += 1
        if done in (6, 12):
            with monkeypatch.context() as inner:
                inner.setattr(store.session, "reading", reading)
                assert store.upkeep.collect().count("piece") == (10 if done == 6 else 0)
        if done < 20:
            name = ("game", "game/1", "game/2")[done % 3]
            store.load(document(done), name)
            store.tags.set(name, "stable")

    with monkeypatch.context() as patch:
        patch.setattr(store.session, "reading", then_let_others_write)
        # As where there is no room for a copy, and on a server.
        patch.setattr(store.session, "snapshot", lambda: nullcontext(store.session))
        assert store.upkeep.verify(*names).problems == ()
    assert done > 12
    assert store.upkeep.verify().problems == ()


def test_it_ends_however_much_is_written_meanwhile(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_SECONDS", 0)
    store.load(KNIGHT, "game")
    reading = store.session.reading
    done = 0

    @contextmanager
    def then_let_others_write() -> Iterator[Connection]:
        nonlocal done
        with reading() as connection:
            yield connection
        done += 1
        assert done < 100
        store.load({f"C{done}:N": KNIGHT["C:N"]}, "game")

    with monkeypatch.context() as patch:
        patch.setattr(store.session, "reading", then_let_others_write)
        # As where there is no room for a copy, and on a server.
        patch.setattr(store.session, "snapshot", lambda: nullcontext(store.session))
        assert store.upkeep.verify().problems == ()


# --- two stores ---


@pytest.fixture
def two(store: Store, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two stores; the other one is a file."""
    with Store.open(str(tmp_path / "there.db")) as there:
        yield store, there


def follow(store: Store, revision: Revision, rules: dict[str, Any]) -> None:
    """Load what another store has as `revision`, so that it has the same lineage."""

    class _Then:
        @staticmethod
        def now(_: Any) -> Any:
            return revision.created_at

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "datetime", _Then)
        loaded = store.load(rules, revision.name, author=revision.author, message=revision.message)
    assert loaded.lineage == revision.lineage


def states(compared: tuple[Comparison, ...]) -> list[tuple[str, str, int, int, int | None, int | None]]:
    return [(each.name, each.state, each.ahead, each.behind, each.here, each.there) for each in compared]


def test_stores_are_compared_ruleset_by_ruleset(two: tuple[Store, Store]) -> None:
    here, there = two
    for name in ("ahead", "behind", "diverged", "equal"):
        follow(there, here.load(KNIGHT, name, author="Ann"), KNIGHT)
    for rules in (ROOK, BISHOP):
        here.load(rules, "ahead", author="Ann")
        there.load(rules, "behind", author="Ann")
    here.load(ROOK, "diverged", author="Ann")
    for rules in (ROOK, BISHOP):  # the same contents by somebody else are another history
        there.load(rules, "diverged", author="Ben")
    here.load(KNIGHT, "ours")
    there.load(KNIGHT, "theirs")
    expected = [
        ("ahead", "ahead", 2, 0, 3, 1),
        ("behind", "behind", 0, 2, 1, 3),
        ("diverged", "diverged", 1, 2, 2, 3),
        ("equal", "equal", 0, 0, 1, 1),
        ("ours", "only here", 1, 0, 1, None),
        ("theirs", "only there", 0, 1, None, 1),
    ]
    assert states(here.exchange.compare(there)) == expected
    assert states(there.exchange.compare(here, "ahead", "theirs")) == [
        ("ahead", "behind", 0, 2, 1, 3),
        ("theirs", "only here", 1, 0, 1, None),
    ]
    assert [each.differs for each in here.exchange.compare(there)] == [True, True, True, False, True, True]
    with pytest.raises(UnknownNameError, match='neither store has a ruleset "nothing"'):
        here.exchange.compare(there, "equal", "nothing")


def test_the_same_revisions_with_another_newest_one_have_diverged() -> None:
    revisions = [("a", ("x", 1)), ("b", ("y", 2))]
    here = compare.RulesetOutline(False, dict(revisions), "b")
    there = compare.RulesetOutline(False, {"b": ("y", 1), "a": ("x", 2)}, "a")
    assert states(tuple(compare.compare({"game": here}, {"game": there}))) == [("game", "diverged", 0, 0, 2, 2)]
    assert states(tuple(compare.compare({"game": here}, {"game": here}))) == [("game", "equal", 0, 0, 2, 2)]


def test_tags_that_point_elsewhere_are_told(two: tuple[Store, Store]) -> None:
    here, there = two
    lineages = {}
    for number, rules in enumerate((KNIGHT, ROOK), start=1):
        revision = here.load(rules, "game", author="Ann")
        follow(there, revision, rules)
        lineages[number] = revision.lineage
    for store, points in ((here, {"same": 1, "moved": 1, "ours": 2}), (there, {"same": 1, "moved": 2, "theirs": 1})):
        for tag, number in points.items():
            store.tags.set(f"game@{number}", tag)
    [compared] = here.exchange.compare(there)
    assert (compared.state, compared.differs) == ("equal", True)
    assert compared.tags == {
        "moved": (lineages[1], lineages[2]),
        "ours": (lineages[2], None),
        "theirs": (None, lineages[1]),
    }


def test_a_ruleset_that_was_deleted_in_one_store_is_told(two: tuple[Store, Store]) -> None:
    here, there = two
    for name in ("game", "gone"):
        follow(there, here.load(KNIGHT, name, author="Ann"), KNIGHT)
        there.delete(name)
    here.delete("gone")
    [compared] = here.exchange.compare(there)
    assert (compared.name, compared.state, compared.hidden, compared.differs) == ("game", "equal", ("there",), True)


def test_contents_that_contradict_each_other_are_told(two: tuple[Store, Store]) -> None:
    here, there = two
    follow(there, here.load(KNIGHT, "game", author="Ann"), KNIGHT)
    here.load(ROOK, "game")
    with damage(there) as connection:
        connection.execute(text("UPDATE revision SET digest = 'forged'"))
    [compared] = here.exchange.compare(there)
    assert (compared.state, compared.contradictions) == ("contradicts", (1,))


# --- the command ---


def test_the_command_tells_what_is_wrong(ggn: Command, address: str) -> None:
    with Store.open(address) as store:
        store.load(KNIGHT, "game")
        store.tags.set("game", "stable")
    assert ggn("verify") == ggn("verify", "game") == Result(0, "", "1 piece, 1 revision and 1 tag checked: all sound\n")
    assert json.loads(ggn("verify", "--format", "json").out) == {
        "pieces": 1,
        "revisions": 1,
        "tags": 1,
        "problems": [],
    }
    with Store.open(address) as store, damage(store) as connection:
        connection.execute(text("UPDATE tag SET number = 2"))
    wrong = "tag game:stable: its moves are not numbered without gaps"
    assert ggn("verify") == Result(1, f"{wrong}\n", "1 piece, 1 revision and 1 tag checked: 1 difference\n")
    found = ggn("verify", "--format", "json")
    assert (found.code, json.loads(found.out)["problems"]) == (1, [wrong])
    assert ggn("verify", "nothing").code == 1
    for arguments in (("--exit-code",), ("--format", "csv")):
        assert ggn("verify", *arguments).code == 2


def test_the_command_compares_two_stores(
    ggn: Command, address: str, run: Callable[..., Result], tmp_path: Path
) -> None:
    there = tmp_path / "there.db"
    assert ggn("verify", "--remote", there).code == 1
    assert not there.exists()
    with Store.open(address) as here, Store.open(str(there)) as other:
        follow(other, here.load(KNIGHT, "game", author="Ann"), KNIGHT)
        assert ggn("verify", "--remote", there, "--exit-code").code == 0
        here.load(ROOK, "game")
        other.tags.set("game", "stable")
        other.load(ROOK, "team/other")
    done = ggn("verify", "--remote", there)
    assert (done.code, done.err) == (0, "2 rulesets compared: 1 ahead, 1 only there, tags differ in 1\n")
    assert [(each["name"], each["state"], each["ahead"]) for each in done.records()] == [
        ("game", "ahead", 1),
        ("team/other", "only there", 0),
    ]
    table = ggn("verify", "--remote", there, "game", "--format", "table", "--exit-code")
    assert table.code == 1
    assert table.out.splitlines()[2].split() == ["game", "ahead", "1", "0", "2", "1", "stable"]
    with Store.open(str(there)) as other, damage(other) as connection:
        connection.execute(text("UPDATE revision SET digest = 'forged'"))
    done = ggn("verify", "--remote", there)
    assert done.code == 1
    assert done.err.endswith("one of the stores was damaged: `ggn-store verify`, here and there, says which\n")


def test_a_terminal_is_shown_what_is_being_verified(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(KNIGHT, "game")
    shown = on_terminal("--db", path, "verify").out
    assert "verifying revision game@1 " in shown
    assert "2/?" in shown
    assert shown.endswith("1 piece, 1 revision and 0 tags checked: all sound\n")
    assert "comparing game there " in on_terminal("--db", path, "verify", "--remote", path).out
