"""Policies: which one counts for a ruleset, what it may ask for, and its history."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ggn_store import GgnStoreError, Position, PositionError, Store, StoreError, UnknownNameError, parse
from ggn_store.api.loading import gates
from ggn_store.errors import GateError, NotationError
from ggn_store.model.teams.policy import PositionSet, covering
from ggn_store.store.rulesets import load
from tests.support.people import AT_B1, DOUBTFUL, KNIGHT, ROOK, Json, execute, rows


def test_a_ruleset_is_covered_by_the_store_its_namespaces_and_itself() -> None:
    assert covering("a/b/c") == ["*", "a", "a/b", "a/b/c"]
    assert covering("chess") == ["*", "chess"]


NAMES = ("chess", "team", "team/chess", "team/old/chess", "teams/chess", "te_m/chess")
# Namespaces with how many must approve (None: removed again), and what is asked of each of NAMES.
COUNTING: tuple[tuple[tuple[tuple[str, int | None], ...], tuple[int, ...]], ...] = (
    ((), (0, 0, 0, 0, 0, 0)),
    ((("*", 1),), (1, 1, 1, 1, 1, 1)),
    ((("team", 2),), (0, 2, 2, 2, 0, 0)),
    ((("te_m", 2),), (0, 0, 0, 0, 0, 2)),
    ((("*", 1), ("team", 2), ("team/old", 3)), (1, 2, 2, 3, 1, 1)),
    ((("*", 1), ("team", 0)), (1, 0, 0, 0, 1, 1)),
    ((("*", 1), ("team", 2), ("team", 3)), (1, 3, 3, 3, 1, 1)),
    ((("*", 1), ("team", 2), ("team", None)), (1, 1, 1, 1, 1, 1)),
    ((("team/chess", 2), ("*", 1)), (1, 1, 2, 1, 1, 1)),
)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"compatible": "openings.ndjson"}, 'compatible takes a PositionSet, .*, not "openings.ndjson"'),
        ({"review": "2"}, 'review is a number of people from 0 to 100, not "2"'),
        ({"review": None}, "review is a number of people from 0 to 100, not null"),
        ({"review": 1.5}, "review is a number of people from 0 to 100, not 1.5"),
        ({"approvers": 5}, "5 cannot be one of approvers"),
        ({"approvers": ["Ann", 3]}, "3 cannot be one of approvers"),
        ({"lint": "every"}, '"every" is not a class of findings'),
        ({"lint": 1}, "1 is not a class of findings"),
    ],
)
def test_a_policy_of_wrong_values_is_refused_with_the_value(store: Store, asked: dict[str, Any], told: str) -> None:
    with pytest.raises(NotationError, match=told):
        store.policies.set("team", **asked)
    assert store.policies.list() == ()


@pytest.mark.parametrize(("given_policies", "asked"), COUNTING)
def test_the_newest_policy_of_the_longest_namespace_counts_alone(
    store: Store, given_policies: tuple[tuple[str, int | None], ...], asked: tuple[int, ...]
) -> None:
    for name in NAMES:
        store.load(KNIGHT, name)
    for namespace, review in given_policies:
        if review is None:
            store.policies.remove(namespace)
        else:
            store.policies.set(namespace, review=review)
    for name, expected in zip(NAMES, asked, strict=True):
        policy = store.policies.get(name)
        assert (0 if policy is None or policy.rules is None else policy.rules.review) == expected
        # The program and the database, which each find out by themselves.
        if expected:
            with pytest.raises(GateError, match=f"approved by {expected} other"):
                store.load(ROOK, name)
        for passed in (gates.gate, None):
            if expected and passed is None:
                with pytest.raises(StoreError, match="takes only revisions that were proposed and approved"):
                    load_ungated(store, ROOK, name)
        if not expected:
            assert load_ungated(store, ROOK, name).number == 2


def load_ungated(store: Store, document: Json, name: str) -> Any:
    """Load as a program would that knows nothing of gates."""
    with store.session.database.writing() as connection:
        return load.load(store.session.database, connection, parse(document), name, load.Provenance("Eve"))


def test_a_policy_asks_together_for_what_it_says_and_for_nothing_else(store: Store) -> None:
    store.policies.set("*", lint=["never-holds"])
    store.policies.set("team", lint=["no-rules"])
    with pytest.raises(GateError) as caught:
        store.load(DOUBTFUL, "team/rook")
    assert [each.code for each in caught.value.problems] == ["no-rules"]
    with pytest.raises(GateError) as caught:
        store.load(DOUBTFUL, "rook")
    assert [each.code for each in caught.value.problems] == ["never-holds"]
    store.policies.set("team")
    assert store.load(DOUBTFUL, "team/rook").number == 1


def test_policies_are_listed_with_their_history(store: Store) -> None:
    store.policies.set("team", lint=["no-rules", "no-rules"], review=2, compatible=AT_B1, author="Ann", message="safe")
    store.policies.set("team", lint=["no-rules", "all"], author="Bob")
    store.policies.set("*", review=1)
    assert store.policies.remove("team") == store.policies.get("*")
    assert [each.namespace for each in store.policies.list()] == ["*"]
    third, second, first = store.policies.log("team")
    assert (third.number, third.rules) == (3, None)
    assert (second.rules and second.rules.lint, second.author) == (("all",), "Bob")
    assert first.rules is not None
    assert (first.rules.lint, first.rules.review, first.author, first.message) == (("no-rules",), 2, "Ann", "safe")
    assert first.rules.compatible == AT_B1
    assert first.data()["rules"] == {
        "valid": True,
        "lint": ["no-rules"],
        "compatible": {"name": "openings", "positions": 2},
        "review": 2,
    }
    audit = rows(store, "SELECT subject, role, detail FROM audit WHERE action = 'policy' ORDER BY id")
    assert [(subject, role) for subject, role, _ in audit] == [
        (namespace, store.session.database.role) for namespace in ("team", "team", "*", "team")
    ]
    told = json.loads(audit[0][2])
    assert (told["number"], json.loads(told["rules"])["review"], told["author"], told["message"]) == (
        *(1, 2),
        *("Ann", "safe"),
    )
    assert store.upkeep.check() == []


@pytest.mark.parametrize(
    ("namespace", "rules", "error", "told"),
    [
        ("a b", {}, NotationError, '"a b" is no namespace'),
        ("team/", {}, NotationError, "'\\*' is the whole store"),
        ("", {}, NotationError, "is no namespace"),
        ("team", {"lint": ["spelling"]}, NotationError, '"spelling" is not a class of findings: all, '),
        ("team", {"review": -1}, NotationError, "from 0 to 100, not -1"),
        ("team", {"review": 101}, NotationError, "from 0 to 100, not 101"),
        ("team", {"message": "\x00"}, NotationError, "no database can keep"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(
    store: Store, namespace: str, rules: Json, error: type[GgnStoreError], told: str
) -> None:
    with pytest.raises(error, match=told):
        store.policies.set(namespace, **rules)
    assert store.policies.list() == ()


def test_a_set_has_no_more_positions_than_a_policy_keeps() -> None:
    position = Position({"b1": "C:N"})
    assert len(PositionSet("most", (position,) * 1000).positions) == 1000
    for count in (0, 1001):
        with pytest.raises(PositionError, match=f"keeps 1 to 1,000 positions .*, and many has {count:,}"):
            PositionSet("many", (position,) * count)


@pytest.mark.parametrize("name", ["", "a\nb", "a\x00", "\ud800"])
def test_a_set_has_a_name_of_one_line(name: str) -> None:
    with pytest.raises(PositionError, match="cannot name positions"):
        PositionSet(name, (Position({"b1": "C:N"}),))


def test_a_square_with_a_strange_name_is_listed_on_one_line(store: Store) -> None:
    strange = "b\n1\x1b[31m"
    before = {"CHESS:N": {strange: {"c3": [{"require": {"c3": "empty"}, "perform": {strange: None, "c3": "CHESS:N"}}]}}}
    after = {"CHESS:N": {strange: {"d2": [{"require": {"d2": "empty"}, "perform": {strange: None, "d2": "CHESS:N"}}]}}}
    store.load(before, "knight")
    store.policies.set("*", compatible=PositionSet("strange", (Position({strange: "CHESS:N"}),)))
    with pytest.raises(GateError) as caught:
        store.load(after, "knight")
    assert str(caught.value).splitlines()[1:] == [str(each) for each in caught.value.problems]
    assert all(each.isprintable() for each in str(caught.value).split("\n"))
    message = store.load(after, "knight", accept_changes=True).message or ""
    assert message.split("\n")[1:] == [
        r"- strange:1: lost CHESS:N b\n1\x1b[31m c3",
        r"- strange:1: new CHESS:N b\n1\x1b[31m d2",
    ]


def test_positions_keep_squares_with_line_breaks_of_unicode(store: Store) -> None:
    kept = PositionSet("kept", (Position({"a\u2028": "CHESS:P", "\x85b\n": "CHESS:P"}), Position({})))
    store.policies.set("*", compatible=kept)
    found = store.policies.get("game")
    assert found is not None
    assert found.rules is not None
    assert found.rules.compatible == kept


def test_what_has_no_policy_cannot_lose_it(store: Store) -> None:
    with pytest.raises(UnknownNameError, match="team has no policy of its own, and nothing else has one"):
        store.policies.remove("team")
    store.policies.set("*", review=1)
    with pytest.raises(UnknownNameError, match=r"team has no policy of its own; there are policies of \*"):
        store.policies.remove("team")
    assert store.policies.log("team") == ()


@pytest.mark.parametrize(
    "given_rules",
    ["no JSON", "", "[]", "1", '{"review": "1"}', '{"review": 1.5}', '{"review": -1}', '{"review": true}'],
)
def test_the_database_takes_no_rules_that_it_cannot_read(store: Store, given_rules: str) -> None:
    statement = "INSERT INTO policy (namespace, number, rules, created_at) VALUES ('', 1, :rules, CURRENT_TIMESTAMP)"
    with pytest.raises(StoreError, match="rules of a policy are a JSON object"):
        execute(store, statement, rules=given_rules)
