"""Tags: names that move, whose every move is kept."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import ConflictError, Store, StoreError, UnknownNameError
from ggn_store.errors import NotationError
from tests.support.loader import Worker, document
from tests.support.program import Command, Result, on_terminal
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.stored import KNIGHT, ROOK

Json = dict[str, Any]
BISHOP: Json = {"C:B": KNIGHT["C:N"]}
TAGGERS = [2, pytest.param(4, marks=pytest.mark.long)]


@pytest.fixture
def game(store: Store) -> Store:
    """A store with a ruleset of three revisions."""
    for rules in (KNIGHT, ROOK, BISHOP):
        store.load(rules, "game")
    return store


def moves(store: Store, name: str | None = None) -> list[tuple[str, int, int | None]]:
    return [(each.name, each.number, each.revision) for each in store.tags.log("game", name)]


def test_a_tag_is_made_moved_on_back_and_removed_and_all_of_it_is_kept(game: Store) -> None:
    done = [
        game.tags.set("game@1", "stable", author="Ann", message="begin"),
        game.tags.set("game", "stable", author="Ben"),
        game.tags.set("game@1", "stable", author="Ann", message="back"),
        game.tags.set("game:stable", "stable"),
        game.tags.remove("game", "stable", author="Ben", message="away"),
        game.tags.set("game@2", "stable", author="Ann"),
    ]
    assert [(each.status, each.number, each.revision) for each in done] == [
        ("created", 1, 1),
        ("moved", 2, 3),
        ("moved", 3, 1),
        ("unchanged", 3, 1),
        ("removed", 4, None),
        ("created", 5, 2),
    ]
    assert moves(game, "stable") == [
        ("stable", number, at) for number, at in ((5, 2), (4, None), (3, 1), (2, 3), (1, 1))
    ]
    history = [(each.author, each.message) for each in game.tags.log("game", "stable")]
    assert history == [("Ann", None), ("Ben", "away"), ("Ann", "back"), ("Ben", None), ("Ann", "begin")]
    assert game.upkeep.verify().problems == ()
    assert game.upkeep.verify().tags == 1


def test_a_tag_names_the_revision_everywhere(game: Store) -> None:
    game.tags.set("game@2", "stable")
    second = game.ruleset("game@2").revision
    assert game.ruleset("game:stable").revision == second
    [tag] = game.tags.list("game")
    assert (tag.digest, tag.lineage, str(tag)) == (second.digest, second.lineage, "game:stable")
    game.tags.set("game:stable", "beta")
    assert game.ruleset("game:beta").revision == second
    game.tags.remove("game", "stable")
    with pytest.raises(UnknownNameError, match='game has no tag "stable"'):
        game.ruleset("game:stable")


def test_tags_are_listed_by_name_and_by_where_they_point(game: Store) -> None:
    for reference, name in (("game@1", "old"), ("game", "beta"), ("game@3", "alpha"), ("game@2", "gone")):
        game.tags.set(reference, name)
    game.tags.remove("game", "gone")
    game.load(KNIGHT, "other")
    game.tags.set("other", "old")
    assert [(tag.name, tag.revision) for tag in game.tags.list("game")] == [("alpha", 3), ("beta", 3), ("old", 1)]
    assert [tag.name for tag in game.tags.list("game@3")] == ["alpha", "beta"]
    assert game.tags.list("game@2") == ()
    assert {summary.revision.name: summary.data()["tags"] for summary in game.list()} == {
        "game": {"alpha": 3, "beta": 3, "old": 1},
        "other": {"old": 1},
    }


@pytest.mark.parametrize(
    ("points", "expect", "holds"),
    [
        (None, "none", True),
        (None, "0", True),
        (None, "1", False),
        (1, "1", True),
        (1, "game@1", True),
        (1, "here", True),
        (1, "none", False),
        (1, "2", False),
        (1, "there", False),
    ],
)
def test_a_tag_only_moves_from_where_it_is_expected(game: Store, points: int | None, expect: str, holds: bool) -> None:
    game.tags.set("game@1", "here")
    game.tags.set("game@2", "there")
    if points is not None:
        game.tags.set(f"game@{points}", "stable")
    if holds:
        assert game.tags.set("game@3", "stable", expect=expect).revision == 3
        return
    for reference in ("game@3", "game@1"):
        with pytest.raises(ConflictError, match=r"game:stable (is not there|points to game@1), and was") as caught:
            game.tags.set(reference, "stable", expect=expect)
        assert caught.value.exit_code == 3
    with pytest.raises(ConflictError):
        game.tags.remove("game", "stable", expect=expect)
    assert [tag.revision for tag in game.tags.list("game") if tag.name == "stable"] == (
        [] if points is None else [points]
    )


def test_what_cannot_be_tagged_is_told(game: Store) -> None:
    for reference, name, message in (
        ("none", "stable", 'no ruleset "none"'),
        ("game@7", "stable", "game has no revision 7"),
        ("game:nothing", "stable", 'game has no tag "nothing"'),
    ):
        with pytest.raises(UnknownNameError, match=message):
            game.tags.set(reference, name)
    with pytest.raises(NotationError, match='"3rd" cannot name a tag'):
        game.tags.set("game", "3rd")
    with pytest.raises(NotationError, match="no database can keep"):
        game.tags.set("game", "stable", message="a\x00b")
    with pytest.raises(UnknownNameError, match='game has no tag "stable"'):
        game.tags.remove("game", "stable")
    with pytest.raises(UnknownNameError, match='game has no tag "stable"'):
        game.tags.log("game", "stable")
    with pytest.raises(NotationError, match="name the ruleset only"):
        game.tags.remove("game@2", "stable")
    assert moves(game) == []


def test_the_moves_of_a_tag_cannot_be_changed_or_removed(game: Store) -> None:
    game.tags.set("game@1", "stable")
    for statement in ("UPDATE tag SET revision_id = NULL", "DELETE FROM tag"):
        with (
            pytest.raises(StoreError, match=r"is never (changed|removed)"),
            game.session.database.writing() as connection,
        ):
            connection.execute(text(statement))
    assert moves(game) == [("stable", 1, 1)]


@pytest.mark.parametrize("taggers", TAGGERS)
def test_of_many_that_expect_the_same_one_moves_the_tag(address: str, taggers: int) -> None:
    with Store.open(address) as store, ExitStack() as stack:
        for content in range(2 * taggers):
            store.load(document(content), "a")
        workers = [stack.enter_context(Worker()) for _ in range(taggers)]
        for worker in workers:
            worker.answer()
            worker.send({"do": "open", "address": address})
        assert [worker.answer() for worker in workers] == [{}] * taggers
        expect = "none"
        for turn in range(1, 9):
            for index, worker in enumerate(workers):
                # To other revisions than the turn before, each to one of its own.
                number = 1 + index + taggers * (turn % 2)
                worker.send({"do": "tag", "reference": f"a@{number}", "name": "stable", "expect": expect})
            answers = [worker.answer() for worker in workers]
            won = [answer for answer in answers if "error" not in answer]
            assert [answer["move"] for answer in won] == [turn]
            assert {answer.get("error") for answer in answers if answer not in won} == {"ConflictError"}
            expect = str(won[0]["revision"])
        assert len(store.tags.log("a")) == 8
        assert store.upkeep.verify().problems == ()


@pytest.mark.parametrize("taggers", TAGGERS)
def test_of_many_that_expect_nothing_all_move_the_tag_one_after_the_other(address: str, taggers: int) -> None:
    with Store.open(address) as store, ExitStack() as stack:
        for content in range(2):
            store.load(document(content), "a")
        workers = [stack.enter_context(Worker()) for _ in range(taggers)]
        for worker in workers:
            worker.answer()
            worker.send({"do": "open", "address": address})
            worker.send(*[{"do": "tag", "reference": f"a@{1 + turn % 2}", "name": "stable"} for turn in range(10)])
        answers = [[worker.answer() for _ in range(11)][1:] for worker in workers]
        made = sorted(answer["move"] for each in answers for answer in each if answer["status"] != "unchanged")
        assert {answer.get("error") for each in answers for answer in each} == {None}
        assert made == list(range(1, len(made) + 1))
        assert [tag.number for tag in store.tags.log("a")] == made[::-1]
        assert store.upkeep.verify().problems == ()


# --- the command ---


def test_the_command_moves_lists_and_removes_tags(ggn: Command, tmp_path: Path) -> None:
    for content in range(2):
        (tmp_path / "game.json").write_text(json.dumps(document(content)))
        assert ggn("load", tmp_path / "game.json").code == 0
    assert ggn("tag", "game") == Result(0, "", "")
    assert ggn("tag", "game@1", "stable", "-m", "first", "--author", "Ann").out == "game:stable: created, game@1\n"
    assert ggn("tag", "game", "stable", "--author", "Ben").out == "game:stable: moved, game@2\n"
    assert ggn("tag", "game", "stable").out == "game:stable: unchanged, game@2\n"
    [listed] = ggn("tag", "game").records()
    assert (listed["tag"], listed["revision"], listed["author"], listed["message"]) == ("stable", 2, "Ben", None)
    assert [(each["move"], each["author"]) for each in ggn("tag", "game", "stable", "--log").records()] == [
        (2, "Ben"),
        (1, "Ann"),
    ]
    assert ggn("tag", "game", "--history").out == ggn("tag", "game", "--log").out
    refused = ggn("tag", "game@1", "stable", "--expect", "1")
    assert (refused.code, refused.out) == (3, "")
    assert refused.err == (
        "Error: game:stable points to game@2, and was expected to point to game@1: "
        "`ggn-store tag game stable --log` says who moved it\n"
    )
    assert ggn("tag", "game", "new", "--expect", "none", "--format", "ndjson").records()[0]["status"] == "created"
    assert ggn("show", "game:stable").code == 0
    assert ggn("list").records()[0]["tags"] == {"new": 2, "stable": 2}
    assert ggn("tag", "game", "stable", "--delete").out == "game:stable: removed\n"
    assert ggn("tag", "game", "--format", "csv").out.splitlines()[1].startswith("new,2,")


@pytest.mark.parametrize(
    "arguments",
    [("--message", "x"), ("--delete",), ("--log", "--expect", "1"), ("stable", "--log", "--delete")],
)
def test_options_that_do_not_go_together_are_wrong_usage(ggn: Command, arguments: tuple[str, ...]) -> None:
    assert ggn("tag", "game", *arguments).code == 2


def test_a_terminal_is_shown_a_table_without_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(KNIGHT, "game")
    assert on_terminal("--db", path, "tag", "game").out == "game has no tags\n"
    on_terminal("--db", path, "tag", "game", "stable", "-m", "\x1b[31mred", "--author", "Ann")
    shown = on_terminal("--db", path, "tag", "game").out.splitlines()
    assert shown[0].split() == ["tag", "revision", "author", "created_at", "message"]
    assert shown[2].split()[:3] == ["stable", "1", "Ann"]
    assert shown[2].endswith("\\x1b[31mred")
