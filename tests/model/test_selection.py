"""Which rulesets names, namespaces and globs mean."""

from __future__ import annotations

import itertools
import re

import pytest

from ggn_store.errors import UnknownNameError
from ggn_store.model.teams.selection import is_pattern, matches, only_one, select

NAMES = ["Team/a", "chess", "minishogi", "shogi", "team/a", "team/b/c", "team/shogi", "teams/a", "x.y"]


@pytest.mark.parametrize(
    ("selector", "meant"),
    [
        ("chess", ["chess"]),
        ("team/", ["team/a", "team/b/c", "team/shogi"]),
        ("team/**", ["team/a", "team/b/c", "team/shogi"]),
        ("team/*", ["team/a", "team/shogi"]),
        ("*", ["chess", "minishogi", "shogi", "x.y"]),
        ("**", NAMES),
        ("*shogi*", ["minishogi", "shogi"]),
        ("**/*shogi", ["minishogi", "shogi", "team/shogi"]),
        ("team/**/c", ["team/b/c"]),
        ("**/b/**", ["team/b/c"]),
        ("*/a", ["Team/a", "team/a", "teams/a"]),
        ("*/", ["Team/a", "team/a", "team/b/c", "team/shogi", "teams/a"]),
        ("[tT]eam/?", ["Team/a", "team/a"]),
        ("x.*", ["x.y"]),
        ("team?/a", ["teams/a"]),
    ],
)
def test_a_selector_means_what_it_matches(selector: str, meant: list[str]) -> None:
    assert select([selector], NAMES) == meant
    assert is_pattern(selector) == (selector != "chess")


def test_each_ruleset_is_meant_once_in_the_order_of_the_selectors() -> None:
    assert select(["shogi", "*shogi", "team/*", "gone"], NAMES) == [
        "shogi",
        "minishogi",
        "team/a",
        "team/shogi",
        "gone",
    ]


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("tema/", "did you mean "),
        ("c/*", "it has Team/a"),
        ("b/*", "**/b/* looks below all"),
        ("%", None),
        ("te_m/", "did you mean team/?"),
        ("ch\x1b*", "it has Team/a"),
    ],
)
def test_a_pattern_without_a_match_is_an_error_that_names_near_ones(selector: str, hint: str | None) -> None:
    if hint is None:
        assert select([selector], NAMES) == [selector]
        return
    with pytest.raises(UnknownNameError) as error:
        select([selector], NAMES, "the bundle")
    assert hint in str(error.value)
    assert str(error.value).startswith("the bundle has no ruleset")
    assert str(error.value).isprintable()


def test_where_one_is_needed_the_candidates_are_named() -> None:
    assert only_one("team/*", NAMES).endswith("name one of team/a, team/shogi")
    assert "matches none" in only_one("nothing/", NAMES)


def test_globs_match_as_a_plain_regular_expression_does() -> None:
    names = ["/".join(parts) for size in (1, 2, 3, 4) for parts in itertools.product("ab", repeat=size)]
    for size in (1, 2, 3, 4):
        for parts in itertools.product(("a", "*", "**"), repeat=size):
            pattern = re.compile("".join({"a": "a/", "*": "[^/]+/", "**": "(?:[^/]+/)*"}[part] for part in parts))
            last = parts[-1] == "**"
            for name in names:
                expected = pattern.fullmatch(name + "/") is not None
                if last:  # below, and not the namespace itself
                    above = re.compile(pattern.pattern + "[^/]+/")
                    expected = above.fullmatch(name + "/") is not None
                assert matches("/".join(parts), name) == expected, ("/".join(parts), name)


def test_a_long_pattern_is_matched_without_trying_all_ways() -> None:
    pattern = "/".join(["**", "*a*a*a*a*"] * 19)
    assert matches(pattern, "/".join(["a" * 9] * 20))
    assert not matches(pattern, "/".join(["a" * 9] * 18))
