"""A game description that is like another one is read as if it said all of it, and what is stored says all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ggn_store import Store
from ggn_store.gdl.check import check_specification, read_specification
from tests.support.gdl_tiny import tiny

MINE = {"like": "base.json", "metadata": {"name": "Mine"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.json").write_text(json.dumps(tiny(), indent=2))
    return tmp_path


def whole(own: dict[str, Any], folder: Path) -> dict[str, Any]:
    """All that a description says with what it is like."""
    made: dict[str, Any] = json.loads(read_specification(json.dumps(MINE | own), "mine.json", folder).text)
    assert read_specification(MINE | own, "mine.json", folder).text == json.dumps(made, ensure_ascii=False, indent=2)
    return made


def test_objects_are_merged_by_their_keys_and_lists_by_the_names_of_their_items(folder: Path) -> None:
    base = tiny() | {"metadata": {"name": "Mine"}}
    assert whole({}, folder) == base
    roles = base["players"]["roles"]
    last = roles[-1]["name"]
    made = whole({"players": {"roles": [{"name": last, "attributes": {"extra": 1}}]}}, folder)
    assert made["players"]["roles"][:-1] == roles[:-1]
    assert made["players"]["roles"][-1] == roles[-1] | {"attributes": {**roles[-1].get("attributes", {}), "extra": 1}}
    assert made | {"players": base["players"]} == base


def test_three_points_stand_for_what_was_there_and_without_takes_it_away(folder: Path) -> None:
    base = tiny()
    [name, *_] = base["interactions"]["list"]
    own = {"interactions": {"list": {name: {"conditions": ["eq(1, 1)", "..."]}}}}
    made = whole(own, folder)["interactions"]["list"][name]["conditions"]
    assert made == ["eq(1, 1)", *base["interactions"]["list"][name]["conditions"]]
    assert "setup" not in whole({"without": ["setup"]}, folder)


# Each: what a description says beside its head, the pointer of the only problem, its line, and its message.
WRONG = [
    ({"like": "gdl/chekers"}, "/like", 2, "the library has no such game: did you mean gdl/checkers?; found "),
    ({"like": "checkers"}, "/like", 2, "the library has no such game"),
    ({"like": "../base.json"}, "/like", 2, "no file beside this one"),
    ({"like": "broken.json"}, "/like", 2, "what this is like cannot be read: "),
    ({"without": ["setup.stages"]}, "/without/0", 7, 'base.json has no such key: did you mean steps?; found "stages"'),
    ({"setup": {"steps": 1}}, "/setup/steps", 7, "must be"),
    ({"topology": {"structure": "grid(1, 1)"}}, "/setup/steps/0/at/0", 2, "(with what this is like)"),
]


@pytest.mark.parametrize(("own", "pointer", "line", "message"), WRONG)
def test_what_is_wrong_is_told_with_its_place(
    own: dict[str, Any], pointer: str, line: int, message: str, folder: Path
) -> None:
    (folder / "broken.json").write_text("[")
    found = check_specification(json.dumps(MINE | own, indent=2), "mine.json", folder).problems
    assert (found[0].pointer, found[0].line, found[0].file) == (pointer, line, "mine.json")
    assert message in str(found[0])


def test_what_is_stored_says_all_of_it(store: Store, folder: Path) -> None:
    (folder / "mine.json").write_text(json.dumps(MINE))
    revision = store.load(folder / "mine.json")
    stored = store.ruleset("mine").export_definition()
    assert json.loads(stored) == tiny() | {"metadata": {"name": "Mine"}}
    assert store.load(folder / "mine.json").number == revision.number
