"""Arrays do with vectors what lists do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from ggn_store.columnar.vectors import Arrays
from ggn_store.store.bulk.vectors import LISTS, Vectors

KINDS: list[Vectors] = [LISTS, Arrays()]
MEMBERS: list[list[Any]] = [
    [],
    ["must", "deny", "must"],
    [None, "C:P", None, "c:p", "C:P"],
    ["a,b", "a", "b", ",", "a,b"],
    ['"', "\\", "a\nb", "\u2028", '","', "é"],
    ["", " ", ""],
    [1, -3, 1, 1 << 62],
    [True, False, None],
    ["null", None, "1", "1"],
]


@pytest.mark.parametrize("members", MEMBERS, ids=json.dumps)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["SQLite", "Postgres"])
def test_members_of_json_are_told_apart(members: list[Any], separators: tuple[str, str]) -> None:
    for ascii_only in (False, True):
        text = json.dumps(members, separators=separators, ensure_ascii=ascii_only)
        for kind in KINDS:
            at, values = kind.coded(text)
            assert [values[place] for place in kind.plain(at)] == members
            assert len({(type(value), value) for value in values}) == len(values)


@pytest.mark.parametrize("text", ['["a" "b"]', '["a]', "[a,b]", '["a"'])
def test_what_is_no_json_is_an_error(text: str) -> None:
    for kind in KINDS:
        with pytest.raises(ValueError, match=r"delimiter|Expecting|Unterminated"):
            kind.coded(text)


@pytest.mark.parametrize("numbers", [[5], [3, 1, 3, 2], [0, -(1 << 40), 7, 0], [1 << 40, 0, 1 << 40]], ids=str)
def test_different_numbers_are_told_apart(numbers: list[int]) -> None:
    for kind in KINDS:
        members, at = kind.different(vector(kind, numbers))
        assert sorted(members) == sorted({*numbers})
        assert [members[place] for place in kind.plain(at)] == numbers


def vector(kind: Vectors, numbers: Sequence[int]) -> Any:
    return kind.numbers(json.dumps(numbers))


def test_parts_are_put_together() -> None:
    for kind in KINDS:
        parts, at = ["a", "", "é,", "\n"], kind.rows(vector(kind, [0, 2]), vector(kind, [3, 1]))
        assert kind.plain(at) == [0, 3, 2, 1]
        assert kind.texts(parts, at, (0, 1, 4, 4)) == [b"a", "\né,".encode(), b""]
        assert kind.texts(parts, kind.up_to(0), (0, 0)) == [b""]
        assert kind.plain(kind.joined(at, vector(kind, [2]), kind.up_to(0))) == [0, 3, 2, 1, 2]
