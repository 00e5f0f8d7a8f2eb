"""Gates: what policies refuse, on every way into a ruleset, and what nobody gets past without others' approval."""

from __future__ import annotations

import csv
import io
import json
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, make_url, text

from ggn_store import (
    ConflictError,
    GateError,
    GgnStoreError,
    Position,
    PositionError,
    PositionSet,
    Proposal,
    Revision,
    Ruleset,
    Store,
    StoreError,
    UnknownNameError,
    parse,
    read_definition,
)
from ggn_store.api import ahead, gates
from ggn_store.documents import files
from ggn_store.documents.lint import CODES, lint
from ggn_store.errors import HeadMovedError, NotationError
from ggn_store.model.policy import covering
from ggn_store.model.proposal import parse_proposal
from ggn_store.store import load
from tests import reference
from tests.edits import Draft, drafts, edited
from tests.guards import drop_guards
from tests.postgres import Server
from tests.program import Command, Program, write
from tests.program import _own_place as _own_place
from tests.program import ready as ready
from tests.program import run as run
from tests.strategies import DIALECTS, Plain, positions
from tests.test_agreement import UNHURRIED

Json = dict[str, Any]


def moving(piece: str, source: str, *destinations: str) -> Json:
    """A piece that goes from one square to empty ones."""
    return {
        piece: {
            source: {
                each: [{"must": {each: "empty"}, "diff": {"board": {source: None, each: piece}}}]
                for each in destinations
            }
        }
    }


KNIGHT = moving("C:N", "b1", "c3")
WIDER = moving("C:N", "b1", "c3", "a3")
OTHER = moving("C:N", "b1", "a3")
ROOK = moving("C:R", "a1", "a2")
# Two findings of lint: the first entry can never hold, and nothing has rules for the queen that the rook becomes.
DOUBTFUL: Json = {
    "C:R": {
        "a1": {
            "a2": [{"must": {"a2": "empty", "a1": "empty"}, "diff": {"board": {"a1": None, "a2": "C:R"}}}],
            "a3": [{"must": {"a3": "empty"}, "diff": {"board": {"a1": None, "a3": "C:Q"}}}],
        }
    }
}
AT_B1 = PositionSet("openings", (Position({"b1": "C:N"}), Position({"b1": "C:N", "c3": "C:R"})))
GAME = """
title = "Hops"
style = "C"
board = "4x4"
[pieces.K]
betza = "K"
"""


# --- people: on Postgres roles of their own, in a SQLite file only names ---


@dataclass
class People:
    """Whoever works with one store; `admin` is the store of its owner."""

    admin: Store
    is_known: bool
    connect: Callable[[str], Store]
    stores: dict[str, Store] = field(default_factory=dict)

    def store(self, name: str) -> Store:
        if name not in self.stores:
            self.stores[name] = self.connect(name)
        return self.stores[name]

    def who(self, name: str) -> str:
        """The name that counts."""
        return self.store(name)._database.role or name

    def load(self, name: str, document: Any, ruleset: str, **more: Any) -> Any:
        return self.store(name).load(document, ruleset, author=name, **more)

    def propose(self, name: str, document: Any, ruleset: str, **more: Any) -> Proposal:
        return self.store(name).propose(document, ruleset, author=name, **more)

    def approve(self, name: str, proposal: object, **more: Any) -> Proposal:
        return self.store(name).approve(str(proposal), author=name, **more)

    def reject(self, name: str, proposal: object, **more: Any) -> Proposal:
        return self.store(name).reject(str(proposal), author=name, **more)

    def withdraw(self, name: str, proposal: object, **more: Any) -> Proposal:
        return self.store(name).withdraw(str(proposal), author=name, **more)


@pytest.fixture
def people(request: pytest.FixtureRequest, store: Store, address: str) -> Iterator[People]:
    if address.startswith("sqlite"):
        found = People(store, False, lambda _: Store.open(address))
    else:
        server: Server = request.getfixturevalue("postgres_server")
        found = People(store, True, lambda name: connected(store, server, address, name, roles))
    roles: list[str] = []
    yield found
    for each in found.stores.values():
        each.close()
    if roles:
        for role in roles:
            execute(store, f"DROP OWNED BY {role}")
            execute(store, f"DROP ROLE {role}")


def connected(store: Store, server: Server, address: str, name: str, roles: list[str]) -> Store:
    """The store as somebody sees it who may read and add, and change nothing but whether a ruleset is hidden."""
    role = f"{name}_{uuid.uuid4().hex[:8]}"
    for statement in (
        f"CREATE ROLE {role} LOGIN",
        f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO {role}",
        f"REVOKE INSERT ON audit FROM {role}",
        f"GRANT UPDATE (deleted_at) ON ruleset TO {role}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
    ):
        execute(store, statement)
    roles.append(role)
    return Store.open(address.replace("postgresql://postgres@", f"postgresql://{role}@", 1))


def execute(store: Store, statement: str, **values: Any) -> None:
    with store._database.writing() as connection:
        connection.execute(text(statement), values)


def rows(store: Store, statement: str) -> list[Any]:
    with store._database.reading() as connection:
        return [tuple(row) for row in connection.execute(text(statement)).all()]


# --- which policy counts ---


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


@pytest.mark.parametrize(("given_policies", "asked"), COUNTING)
def test_the_newest_policy_of_the_longest_namespace_counts_alone(
    store: Store, given_policies: tuple[tuple[str, int | None], ...], asked: tuple[int, ...]
) -> None:
    for name in NAMES:
        store.load(KNIGHT, name)
    for namespace, review in given_policies:
        if review is None:
            store.remove_policy(namespace)
        else:
            store.set_policy(namespace, review=review)
    for name, expected in zip(NAMES, asked, strict=True):
        policy = store.policy(name)
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
    with store._database.writing() as connection:
        return load.load(store._database, connection, parse(document), name, author="Eve")


def test_a_policy_asks_together_for_what_it_says_and_for_nothing_else(store: Store) -> None:
    store.set_policy("*", lint=["never-holds"])
    store.set_policy("team", lint=["no-rules"])
    with pytest.raises(GateError) as caught:
        store.load(DOUBTFUL, "team/rook")
    assert [each.code for each in caught.value.problems] == ["no-rules"]
    with pytest.raises(GateError) as caught:
        store.load(DOUBTFUL, "rook")
    assert [each.code for each in caught.value.problems] == ["never-holds"]
    store.set_policy("team")
    assert store.load(DOUBTFUL, "team/rook").number == 1


def test_policies_are_listed_with_their_history(store: Store) -> None:
    store.set_policy("team", lint=["no-rules", "no-rules"], review=2, compatible=AT_B1, author="Ann", message="safe")
    store.set_policy("team", lint=["no-rules", "all"], author="Bob")
    store.set_policy("*", review=1)
    assert store.remove_policy("team") == store.policy("*")
    assert [each.namespace for each in store.policies()] == ["*"]
    third, second, first = store.policy_log("team")
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
        (namespace, store._database.role) for namespace in ("team", "team", "*", "team")
    ]
    told = json.loads(audit[0][2])
    assert (told["number"], json.loads(told["rules"])["review"], told["author"], told["message"]) == (
        *(1, 2),
        *("Ann", "safe"),
    )
    assert store.check() == []


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
        store.set_policy(namespace, **rules)
    assert store.policies() == ()


def test_a_set_has_no_more_positions_than_a_policy_keeps() -> None:
    position = Position({"b1": "C:N"})
    assert len(PositionSet("most", (position,) * 1000).positions) == 1000
    for count in (0, 1001):
        with pytest.raises(PositionError, match=f"keeps 1 to 1,000 positions, and many has {count:,}"):
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
    store.set_policy("*", compatible=PositionSet("strange", (Position({strange: "CHESS:N"}),)))
    with pytest.raises(GateError) as caught:
        store.load(after, "knight")
    assert str(caught.value).splitlines()[1:] == [str(each) for each in caught.value.problems]
    assert all(each.isprintable() for each in str(caught.value).split("\n"))
    message = store.load(after, "knight", accept_changes=True).message or ""
    assert message.split("\n")[1:] == [
        r"- strange:1: lost CHESS:N b\n1\x1b[31m c3",
        r"- strange:1: new CHESS:N b\n1\x1b[31m d2",
    ]


def test_what_has_no_policy_cannot_lose_it(store: Store) -> None:
    with pytest.raises(UnknownNameError, match="team has no policy of its own, and nothing else has one"):
        store.remove_policy("team")
    store.set_policy("*", review=1)
    with pytest.raises(UnknownNameError, match=r"team has no policy of its own; there are policies of \*"):
        store.remove_policy("team")
    assert store.policy_log("team") == ()


@pytest.mark.parametrize(
    "given_rules",
    ["no JSON", "", "[]", "1", '{"review": "1"}', '{"review": 1.5}', '{"review": -1}', '{"review": true}'],
)
def test_the_database_takes_no_rules_that_it_cannot_read(store: Store, given_rules: str) -> None:
    statement = "INSERT INTO policy (namespace, number, rules, created_at) VALUES ('', 1, :rules, CURRENT_TIMESTAMP)"
    with pytest.raises(StoreError, match="rules of a policy are a JSON object"):
        execute(store, statement, rules=given_rules)


# --- lint ---


def test_every_code_of_lint_is_one_that_a_policy_can_name() -> None:
    source = Path(gates.__file__).parents[1] / "documents"
    told = (source / "lint.py").read_text(encoding="utf-8").split('"""')[1]
    assert [line.split("`")[1] for line in told.splitlines() if line.startswith("- `")] == list(CODES)


@pytest.mark.parametrize(
    ("codes", "refused"),
    [
        ((), []),
        (("duplicate-possibility",), []),
        (("never-holds",), ["never-holds"]),
        (("no-rules",), ["no-rules"]),
        (("no-rules", "never-holds"), ["never-holds", "no-rules"]),
        (("all",), [each.code for each in lint(parse(DOUBTFUL))]),
    ],
)
def test_findings_of_the_classes_of_a_policy_are_refused_and_all_listed(
    store: Store, codes: tuple[str, ...], refused: list[str]
) -> None:
    store.set_policy("team", lint=codes)
    if not refused:
        assert store.load(DOUBTFUL, "team/rook").number == 1
        return
    assert refused == [each for each in ("never-holds", "no-rules") if each in codes or "all" in codes]
    with pytest.raises(GateError) as caught:
        store.load(DOUBTFUL, "team/rook")
    assert [each.code for each in caught.value.problems] == refused
    first, *lines = str(caught.value).split("\n")
    assert first.startswith(f"team/rook: refused by the policy of team, {len(refused)} finding")
    assert lines == [str(each) for each in caught.value.problems]
    assert store.list() == ()
    assert rows(store, "SELECT * FROM piece") == []
    assert store.load(ROOK, "team/rook").number == 1


def from_file(store: Store) -> object:
    [loaded] = store.load_all([write("rook.json", DOUBTFUL)], name="team/rook")
    raise loaded.error or AssertionError("it was loaded")


def from_stream(store: Store) -> object:
    text_of_lines = "".join(
        json.dumps({"name": name, "document": document}) + "\n"
        for name, document in (("team/knight", KNIGHT), ("team/rook", DOUBTFUL), ("team/last", ROOK))
    )
    first, second, third = store.load_all([write("all.ndjson", text_of_lines)])
    assert (first.error, third.error) == (None, None)
    raise second.error or AssertionError("it was loaded")


def ahead_of_time(store: Store) -> object:
    """Read by another process meanwhile, however little there is to read."""
    taken = []

    def take(self: ahead.Ahead, file: files.File) -> load.Ready | None:
        taken.append(real(self, file))
        return taken[-1]

    real = ahead.Ahead.take
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "_ENOUGH", 0)
        patch.setattr(ahead, "_MEANWHILE", 0)
        patch.setattr(ahead.Ahead, "take", take)
        write("some/team/rook.json", DOUBTFUL)
        [loaded] = store.load_all(["some"], processes=1)
    assert isinstance(taken[0], load.Ready)
    raise loaded.error or AssertionError("it was loaded")


WAYS_IN: tuple[Callable[[Store], object], ...] = (
    lambda store: store.load(DOUBTFUL, "team/rook"),
    lambda store: store.load(parse(DOUBTFUL), "team/rook"),
    lambda store: store.propose(DOUBTFUL, "team/rook", author="Ann"),
    from_file,
    from_stream,
    ahead_of_time,
)


@pytest.mark.parametrize("way", range(len(WAYS_IN)))
def test_every_way_in_leads_through_the_gate(store: Store, way: int) -> None:
    store.set_policy("team", lint=["never-holds"])
    with pytest.raises(GateError, match="refused by the policy of team, 1 finding"):
        WAYS_IN[way](store)
    with pytest.raises(UnknownNameError):
        store.ruleset("team/rook")


def test_a_game_that_is_generated_on_the_way_goes_through_the_gate(store: Store) -> None:
    definition = read_definition(GAME)
    assert store.load(definition, "hops").number == 1
    piece = store.ruleset("hops").pieces[0]
    kept = PositionSet("corner", (Position({"a1": piece}),))
    store.set_policy("*", compatible=kept)
    slower = read_definition(GAME.replace('"K"', '"W"'))
    with pytest.raises(GateError, match="1 finding;") as caught:
        store.load(slower, "hops")
    assert [each.pointer for each in caught.value.problems] == [f"/{piece}/a1/b2"]
    with pytest.raises(GateError, match="1 finding;"):
        store.propose(slower, "hops", author="Ann")
    assert store.ruleset("hops").revision.number == 1


def test_what_came_another_way_is_held_to_the_policy_by_one_call(store: Store) -> None:
    first = store.load(KNIGHT, "team/knight")
    second = store.load(OTHER, "team/knight")
    store.set_policy("team", compatible=AT_B1)
    with store._database.reading() as connection:
        gates.require(connection, None, second)
        gates.require(connection, second, second)
        with pytest.raises(GateError, match="team/knight: refused by the policy of team, 3 findings"):
            gates.require(connection, first, second)


def test_whatever_comes_in_a_block_is_held_to_the_policy(store: Store) -> None:
    store.load(KNIGHT, "team/knight")
    store.set_policy("team", compatible=AT_B1, lint=["never-holds"])

    def come(document: Json, name: str) -> None:
        with store._database.writing() as connection, gates.holding(connection, name):
            load.load(store._database, connection, parse(document), name)

    with pytest.raises(GateError, match="team/knight: refused by the policy of team, 3 findings"):
        come(OTHER, "team/knight")
    with pytest.raises(GateError, match="team/new: refused by the policy of team, 1 finding"):
        come(DOUBTFUL, "team/new")
    come(KNIGHT, "team/knight")
    assert store.ruleset("team/knight").revision.number == 1
    come({**KNIGHT, **ROOK}, "team/knight")
    come(OTHER, "elsewhere")
    assert store.ruleset("team/knight").revision.number == 2
    store.set_policy("team", review=1)
    with pytest.raises(StoreError, match="takes only revisions that were proposed and approved"):
        come(KNIGHT, "team/knight")


def test_old_contents_and_merges_go_through_the_gate(store: Store) -> None:
    store.load({**KNIGHT, **ROOK}, "team/game")
    store.load({**OTHER, **ROOK}, "team/game")
    store.set_policy("team", compatible=AT_B1)
    with pytest.raises(GateError, match="3 findings"):
        store.restore("team/game@1")
    beside = {**KNIGHT, **moving("C:R", "a1", "a3")}
    with pytest.raises(GateError, match="2 findings"):
        store.load({**moving("C:N", "b1", "c3", "d2"), **ROOK}, "team/game", base="1", merge=True)
    assert store.ruleset("team/game").revision.number == 2
    merged = store.load(beside, "team/game", base="1", merge=True)
    assert (merged.number, merged.status) == (3, "merged")
    store.set_policy("team", review=1)
    with pytest.raises(GateError, match="takes only what was proposed"):
        store.restore("team/game@1")
    with pytest.raises(GateError, match="takes only what was proposed"):
        store.load({**beside, **moving("C:B", "c1", "d2")}, "team/game", base="1", merge=True)
    store.set_state("team/game", "retired")
    with pytest.raises(GateError, match="is retired"):
        store.restore("team/game@1")


# --- moves that are to stay ---


def refusal(store: Store, document: Json, name: str) -> list[tuple[str, str]]:
    """Pointers and messages of what the policy has against a document."""
    with pytest.raises(GateError) as caught:
        store.load(document, name)
    assert {each.code for each in caught.value.problems} == {"compatible"}
    return [(each.pointer, each.message) for each in caught.value.problems]


def test_moves_that_are_lost_new_or_other_are_listed_by_position(store: Store) -> None:
    store.load(KNIGHT, "team/knight")
    store.set_policy("team", compatible=AT_B1)
    # The knight stands on b1 in both positions, and c3 is taken in the second.
    assert refusal(store, OTHER, "team/knight") == [
        ("/C:N/b1/c3", "openings:1: the move is lost: it was a move of this position"),
        ("/C:N/b1/a3", "openings:1: the move is new: it was no move of this position"),
        ("/C:N/b1/a3", "openings:2: the move is new: it was no move of this position"),
    ]
    captures = json.loads(json.dumps(KNIGHT))
    captures["C:N"]["b1"]["c3"][0]["diff"]["board"]["d5"] = "C:R"
    assert refusal(store, captures, "team/knight") == [("/C:N/b1/c3", "openings:1: the move has other effects")]
    twice = json.loads(json.dumps(KNIGHT))
    twice["C:N"]["b1"]["c3"] *= 2
    assert refusal(store, twice, "team/knight") == [("/C:N/b1/c3", "openings:1: the move has other effects")]
    assert refusal(store, ROOK, "team/knight") == [
        ("/C:N/b1/c3", "openings:1: the move is lost: it was a move of this position")
    ]
    assert store.ruleset("team/knight").revision.number == 1


def test_what_changes_no_move_of_the_positions_passes(store: Store) -> None:
    store.load(KNIGHT, "team/knight")
    store.set_policy("team", compatible=AT_B1)
    assert store.load({**KNIGHT, **ROOK}, "team/knight").number == 2
    assert store.load({**ROOK, **KNIGHT}, "team/knight").number == 3
    farther = {**KNIGHT, **ROOK}
    farther["C:N"] = {**KNIGHT["C:N"], **moving("C:N", "g1", "f3")["C:N"]}
    found = store.load(farther, "team/knight")
    assert (found.number, found.message) == (4, None)


def test_a_new_ruleset_has_no_moves_to_keep(store: Store) -> None:
    store.set_policy("*", compatible=AT_B1)
    assert store.load(KNIGHT, "knight").number == 1


def test_changes_that_are_accepted_are_listed_in_the_message(store: Store) -> None:
    store.load(KNIGHT, "team/knight")
    store.set_policy("team", compatible=AT_B1)
    listing = (
        "Accepted changes of moves:\n- openings:1: lost C:N b1 c3\n- openings:1: new C:N b1 a3\n"
        "- openings:2: new C:N b1 a3"
    )
    first = store.load(OTHER, "team/knight", message="go left", accept_changes=True)
    assert (first.number, first.message) == (2, f"go left\n\n{listing}")
    back = store.load(KNIGHT, "team/knight", accept_changes=True)
    assert (back.message or "").startswith("Accepted changes of moves:\n- openings:1: lost C:N b1 a3\n")
    unchanged = store.load({**KNIGHT, **ROOK}, "team/knight", message="more", accept_changes=True)
    assert unchanged.message == "more"
    details = rows(store, "SELECT detail FROM audit WHERE action = 'revision' ORDER BY id")
    assert json.loads(details[1][0])["message"] == f"go left\n\n{listing}"
    assert store.check() == []


def test_findings_of_lint_are_never_accepted(store: Store) -> None:
    store.load(ROOK, "rook")
    store.set_policy("*", lint=["never-holds"], compatible=PositionSet("corner", (Position({"a1": "C:R"}),)))
    with pytest.raises(GateError, match="3 findings; --accept-changes") as caught:
        store.load(DOUBTFUL, "rook")
    assert [each.code for each in caught.value.problems] == ["never-holds", "compatible", "compatible"]
    with pytest.raises(GateError, match="1 finding\n") as caught:
        store.load(DOUBTFUL, "rook", accept_changes=True)
    assert [each.code for each in caught.value.problems] == ["never-holds"]


def test_a_long_list_of_changes_is_cut_in_the_message_and_whole_in_the_refusal(store: Store) -> None:
    squares = [f"{file}{rank}" for file in "cdefgh" for rank in range(1, 11)]
    store.load(moving("C:N", "b1", "a1"), "knight")
    store.set_policy("*", compatible=AT_B1)
    with pytest.raises(GateError, match="121 findings") as caught:  # c3 is taken in the second position
        store.load(moving("C:N", "b1", *squares), "knight")
    assert len(caught.value.problems) == 2 + 60 + 59
    message = store.load(moving("C:N", "b1", *squares), "knight", accept_changes=True).message or ""
    assert len(message.splitlines()) == 1 + 50 + 1
    assert message.endswith("\n- and 71 more")


BOARDS: tuple[tuple[str | None, str | None, int], ...] = (
    # Of a knight on h8 and a board before and after the change: how many findings there are.
    (None, None, 0),
    ("8x8", "8x8", 0),
    ("4x4", "4x4", 0),
    ("8x8", "4x4", 1),
    ("4x4", "8x8", 1),
    ("8x8", None, 0),
)


@pytest.mark.parametrize(("before", "after", "count"), BOARDS)
def test_positions_that_do_not_fit_a_board_have_no_moves_on_it(
    store: Store, before: str | None, after: str | None, count: int
) -> None:
    for board, path in ((before, "before"), (after, "after")):
        write(f"{path}.json", KNIGHT)
        if board is not None:
            write(f"{path}.toml", f'board = "{board}"\n')
        else:
            write(f"{path}.toml", f'title = "{path}"\n')
    store.load(Path("before.json"), "knight")
    store.set_policy("*", compatible=PositionSet("far", (Position({"b1": "C:N", "h8": "C:R"}),)))
    if count:
        with pytest.raises(GateError) as caught:
            store.load(Path("after.json"), "knight")
        assert len(caught.value.problems) == count
    else:
        assert store.load(Path("after.json"), "knight").number == (1 if before == after is not None else 2)


Case = tuple[Draft, Draft, list[Plain]]


@st.composite
def changes(draw: st.DrawFn) -> Case:
    before = draw(drafts(draw(st.sampled_from(DIALECTS))))
    after = draw(edited(before))
    given_positions = [draw(positions(draw(st.sampled_from((before, after))).content)) for _ in range(3)]
    return before, after, given_positions


def counted(document: Json, position: Plain) -> dict[tuple[str, str, str], Counter[str]]:
    """By piece, source and destination, how many moves have which effects: in plain Python."""
    found: dict[tuple[str, str, str], Counter[str]] = {}
    is_open = reference.detect(document) == "must-deny"
    for piece, source, destination, ordinal in reference.moves(document, *position):
        told = () if is_open else reference.effects(document, piece, source, destination, ordinal)
        found.setdefault((piece, source, destination), Counter())[repr([*map(_sorted, told)])] += 1
    return found


def _sorted(value: object) -> object:
    return sorted(value.items()) if isinstance(value, dict) else value


@UNHURRIED
@given(changes())
def test_the_listing_is_what_plain_python_finds(case: Case) -> None:
    before, after, given_positions = case
    expected = []
    for line, position in enumerate(given_positions, start=1):
        old, new = counted(before.content, position), counted(after.content, position)
        for move in {**old, **new}:
            if old.get(move) != new.get(move):
                kind = "lost" if move not in new else "new" if move not in old else "changed"
                expected.append(f"random:{line}: {kind} {' '.join(move)}")
    kept = tuple(Position(board, hands=hands, side=side) for board, hands, side in given_positions)
    with Store.open("sqlite://") as store:
        store.load(parse(before.content), "game")
        store.set_policy("*", compatible=PositionSet("random", kept))
        found = store.load(parse(after.content), "game", accept_changes=True)
        if found.status == "unchanged":
            assert expected == []
            return
        lines = (found.message or "").split("\n")[1:]
        listed = [line.removeprefix("- ") for line in lines]
        assert sorted(listed) == sorted(expected) or (len(expected) > 50 and len(listed) == 51)


# --- proposals and approvals ---


def test_what_is_under_review_cannot_be_loaded(people: People) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.admin.set_policy("team", review=2)
    told = (
        r"team/knight takes only what was proposed, and approved by 2 others \(the policy of team\): "
        r"propose it with `ggn-store propose team/knight FILE`"
    )
    with pytest.raises(GateError, match=told):
        people.load("ann", ROOK, "team/knight")
    with pytest.raises(GateError, match="approved by 2 others"):
        people.load("ann", ROOK, "team/new")
    assert people.load("ann", KNIGHT, "team/knight").status == "unchanged"
    assert people.admin.ruleset("team/knight").revision.number == 1


def test_a_proposal_becomes_the_head_with_its_last_approval(people: People) -> None:
    first = people.load("ann", KNIGHT, "team/knight")
    people.admin.set_policy("team", review=2)
    proposal = people.propose("ann", WIDER, "team/knight", message="more moves")
    assert (str(proposal), proposal.state, proposal.base, proposal.needed) == ("team/knight#1", "open", 1, 2)
    assert (proposal.who, proposal.author, proposal.approvals) == (people.who("ann"), "ann", ())
    once = people.approve("bob", proposal, message="fine")
    assert (once.state, once.approvals, once.revision) == ("open", (people.who("bob"),), None)
    assert people.approve("bob", proposal).approvals == (people.who("bob"),)
    assert people.admin.ruleset("team/knight").revision == first
    merged = people.approve("cid", proposal)
    assert (merged.state, merged.revision) == ("merged", 2)
    assert merged.approvals == (people.who("bob"), people.who("cid"))
    head = people.admin.ruleset("team/knight").revision
    assert (head.number, head.author, head.message, head.parent) == (2, "ann", "more moves", 1)
    assert head.digest == parse(WIDER).digest
    assert [(each.verdict, each.author, each.message, each.revision) for each in merged.verdicts] == [
        ("approved", "bob", "fine", None),
        ("approved", "cid", None, None),
        ("merged", "cid", None, 2),
    ]
    assert [each.role for each in merged.verdicts] == [
        people.who(name) if people.is_known else None for name in ("bob", "cid", "cid")
    ]
    audit = rows(people.admin, "SELECT action, role, subject, detail FROM audit ORDER BY id")[2:]
    assert [(action, subject) for action, _, subject, _ in audit] == [
        (action, "team/knight") for action in ("propose", "approve", "approve", "revision", "merge")
    ]
    if people.is_known:
        assert [role for _, role, _, _ in audit] == [people.who(name) for name in ("ann", "bob", "cid", "cid", "cid")]
    told = [json.loads(detail) for _, _, _, detail in audit]
    assert (told[0]["proposal"], told[0]["base"], told[0]["message"]) == (1, 1, "more moves")
    assert (told[1]["proposal"], told[1]["author"], told[1]["message"]) == (1, "bob", "fine")
    assert (told[4]["proposal"], told[4]["revision"]) == (1, 2)
    assert people.admin.check() == []


def test_a_ruleset_can_begin_with_a_proposal(people: People) -> None:
    people.admin.set_policy("team", review=1)
    proposal = people.propose("ann", KNIGHT, "team/knight")
    assert (proposal.base, proposal.head, proposal.state) == (None, None, "open")
    with pytest.raises(UnknownNameError, match="team/knight has no revision yet, it was only proposed"):
        people.admin.ruleset("team/knight")
    assert people.admin.list() == ()
    assert people.admin.check() == []
    assert people.approve("bob", proposal).revision == 1
    assert people.admin.ruleset("team/knight").revision.parent is None


def test_where_no_policy_asks_for_a_review_one_approval_is_enough(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    proposal = people.propose("ann", WIDER, "knight")
    assert proposal.needed == 1
    with pytest.raises(GateError, match="somebody else has to approve"):
        people.approve("ann", proposal)
    assert people.approve("bob", proposal).revision == 2


def test_nobody_approves_of_their_own(people: People) -> None:
    people.admin.set_policy("team", review=1)
    proposal = people.propose("ann", KNIGHT, "team/knight")
    with pytest.raises(GateError, match=f"team/knight#1 is {people.who('ann')}'s own"):
        people.approve("ann", proposal)
    if people.is_known:  # whatever name they give
        with pytest.raises(GateError, match="somebody else has to approve of it"):
            people.store("ann").approve("team/knight#1", author="bob")
    assert people.admin.proposal("team/knight#1").verdicts == ()


def test_reviews_need_names(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    if store._database.role is not None:
        assert store.propose(KNIGHT, "knight").author == store._database.role
        return
    with pytest.raises(GateError, match="say who you are with --author"):
        store.propose(KNIGHT, "knight")
    store.propose(KNIGHT, "knight", author="Ann")
    for act in (store.approve, store.reject, store.withdraw):
        with pytest.raises(GateError, match="say who you are with --author"):
            act("knight#1")
    monkeypatch.setenv("GGN_AUTHOR", "Bob")
    assert store.approve("knight#1").revision == 1


@pytest.mark.parametrize("end", ["reject", "withdraw", "merge"])
def test_what_has_ended_is_over(people: People, end: str) -> None:
    people.admin.set_policy("team", review=1)
    proposal = people.propose("ann", KNIGHT, "team/knight")
    if end == "reject":
        assert people.reject("bob", proposal, message="no").state == "rejected"
    elif end == "withdraw":
        with pytest.raises(GateError, match=f"team/knight#1 is {people.who('ann')}'s, not {people.who('bob')}'s"):
            people.withdraw("bob", proposal)
        assert people.withdraw("ann", proposal).state == "withdrawn"
    else:
        people.approve("bob", proposal)
    was = {"reject": "rejected", "withdraw": "withdrawn", "merge": "merged already, it is team/knight@1"}[end]
    for act in (people.approve, people.reject):
        with pytest.raises(ConflictError, match=f"team/knight#1 was {was}") as caught:
            act("cid", proposal)
        assert caught.value.exit_code == 3
    with pytest.raises(ConflictError, match=f"team/knight#1 was {was}"):
        people.withdraw("ann", proposal)
    assert people.admin.proposals("team/knight") == ()
    assert [str(each) for each in people.admin.proposals("team/knight", closed=True)] == ["team/knight#1"]
    if end != "merge":
        again = people.propose("ann", KNIGHT, "team/knight")
        assert (str(again), people.approve("bob", again).revision) == ("team/knight#2", 1)


def test_a_proposal_is_stale_when_the_head_has_moved(people: People) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.admin.set_policy("team", review=1)
    left, right = people.propose("ann", OTHER, "team/knight"), people.propose("bob", WIDER, "team/knight")
    people.approve("cid", left)
    stale = people.admin.proposal(str(right))
    assert (stale.state, stale.base, stale.head) == ("stale", 1, 2)
    told = (
        "team/knight#2 was made on team/knight@1, and the newest revision is team/knight@2 now: bring the document up "
        "to date and propose it again"
    )
    with pytest.raises(ConflictError, match=told) as caught:
        people.approve("cid", right)
    assert caught.value.exit_code == 3
    assert people.admin.proposal(str(right)).verdicts == ()
    again = people.propose("bob", WIDER, "team/knight")
    assert (again.base, people.approve("cid", again).revision) == (2, 3)
    assert people.reject("ann", right).state == "rejected"


def test_a_proposal_may_state_its_base(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    people.load("ann", WIDER, "knight")
    with pytest.raises(HeadMovedError, match="knight has moved on: its newest revision is knight@2"):
        people.propose("ann", OTHER, "knight", base="1")
    with pytest.raises(HeadMovedError, match="knight is there already"):
        people.propose("ann", OTHER, "knight", base="0")
    assert people.propose("ann", OTHER, "knight", base="2").base == 2
    assert people.propose("ann", OTHER, "other", base="0").base is None


def test_what_is_there_or_proposed_already_is_not_proposed_again(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    with pytest.raises(ConflictError, match="there is nothing to propose: knight@1 is what the document says"):
        people.propose("ann", KNIGHT, "knight")
    first = people.propose("ann", WIDER, "knight")
    with pytest.raises(ConflictError, match="knight#1 proposes the same already"):
        people.propose("bob", WIDER, "knight")
    people.withdraw("ann", first)
    assert people.propose("bob", WIDER, "knight").number == 2


def test_the_other_gates_are_passed_when_proposing_and_again_before_the_head_moves(people: People) -> None:
    people.load("ann", ROOK, "team/rook")
    people.admin.set_policy("team", review=1, lint=["never-holds"])
    with pytest.raises(GateError, match="1 finding"):
        people.propose("ann", DOUBTFUL, "team/rook")
    people.admin.set_policy("team", review=1)
    proposal = people.propose("ann", DOUBTFUL, "team/rook")
    people.admin.set_policy("team", review=1, lint=["never-holds"])
    with pytest.raises(GateError, match="team/rook: refused by the policy of team, 1 finding"):
        people.approve("bob", proposal)
    assert people.admin.proposal(str(proposal)).verdicts == ()
    assert people.admin.ruleset("team/rook").revision.number == 1
    people.admin.set_policy("team", review=1)
    assert people.approve("bob", proposal).revision == 2


def test_changes_of_moves_that_a_proposal_accepts_are_those_that_it_lists(people: People) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.admin.set_policy("team", review=1, compatible=AT_B1)
    with pytest.raises(GateError, match="3 findings; --accept-changes"):
        people.propose("ann", OTHER, "team/knight")
    proposal = people.propose("ann", OTHER, "team/knight", message="left", accept_changes=True)
    listed = ("openings:1: lost C:N b1 c3", "openings:1: new C:N b1 a3", "openings:2: new C:N b1 a3")
    assert proposal.accepted == listed
    message = "left\n\nAccepted changes of moves:\n" + "\n".join(f"- {each}" for each in listed)
    assert proposal.message == message
    # What the proposal does not list, nobody has accepted.
    people.admin.set_policy("team", review=1, compatible=PositionSet("endings", AT_B1.positions[:1]))
    with pytest.raises(GateError, match="2 findings"):
        people.approve("bob", proposal)
    people.admin.set_policy("team", review=1, compatible=AT_B1)
    assert people.approve("bob", proposal).revision == 2
    assert people.admin.ruleset("team/knight").revision.message == message


def test_a_retired_ruleset_merges_nothing(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    proposal = people.propose("ann", WIDER, "knight")
    people.admin.set_state("knight", "retired")
    with pytest.raises(GateError, match="knight is retired and takes no revisions"):
        people.approve("bob", proposal)
    people.admin.set_state("knight", "active")
    assert people.approve("bob", proposal).revision == 2


def test_a_merged_proposal_brings_a_deleted_ruleset_back(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    proposal = people.propose("ann", WIDER, "knight")
    people.admin.delete("knight")
    assert people.approve("bob", proposal).revision == 2
    assert people.admin.ruleset("knight").revision.number == 2


def test_a_policy_that_asks_for_less_counts_for_what_was_proposed_before(people: People) -> None:
    people.admin.set_policy("team", review=3)
    proposal = people.propose("ann", KNIGHT, "team/knight")
    people.approve("bob", proposal)
    people.admin.set_policy("team", review=1)
    assert people.approve("bob", proposal).revision == 1


def test_what_is_proposed_can_be_looked_at_and_tried(people: People) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.propose("ann", WIDER, "team/knight")
    tried = people.admin.proposed("team/knight#1")
    assert isinstance(tried, Ruleset)
    assert [move.destination for move in tried.moves({"b1": "C:N"})] == ["c3", "a3"]
    assert json.loads(tried.export()) == WIDER
    assert str(tried.revision).startswith("team/knight#1")
    difference = people.admin.proposed_difference("team/knight#1")
    assert [(piece, source, entry.destination) for piece, source, entry in difference.entries()] == [
        ("C:N", "b1", "a3")
    ]
    people.propose("ann", ROOK, "rook")
    assert people.admin.proposed_difference("rook#1").counts()["pieces"] == 1


def test_unknown_proposals_are_named_with_what_there_is(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    with pytest.raises(UnknownNameError, match='nothing was proposed for "knight"'):
        people.approve("bob", "knight#1")
    people.propose("ann", WIDER, "knight")
    with pytest.raises(UnknownNameError, match='no proposal "knight#2": its proposals are knight#1 to knight#1'):
        people.admin.proposal("knight#2")
    with pytest.raises(UnknownNameError, match='no ruleset "rook"'):
        people.admin.proposals("rook")


@pytest.mark.parametrize("written", ["", "knight", "knight#", "knight#0", "#1", "knight#x", "a b#1", "knight@1#1"])
def test_what_names_no_proposal_is_refused(written: str) -> None:
    with pytest.raises(NotationError, match=r"does not name a proposal|cannot name a ruleset"):
        parse_proposal(written)
    assert parse_proposal("team/knight#12") == ("team/knight", 12)


# --- at once ---


def at_once(*works: Callable[[], Proposal | Revision]) -> list[Proposal | Revision | GgnStoreError]:
    """What comes of several things that are done at the same time."""
    barrier = threading.Barrier(len(works))
    results: list[Proposal | Revision | GgnStoreError | None] = [None] * len(works)

    def work(number: int) -> None:
        barrier.wait()
        try:
            results[number] = works[number]()
        except GgnStoreError as error:
            results[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [each for each in results if each is not None]


@pytest.mark.parametrize("needed", [1, 2, 3])
def test_approvals_at_once_make_one_revision(people: People, needed: int) -> None:
    people.admin.set_policy("team", review=needed)
    for name in ("ann", "bob", "cid", "dan"):
        people.store(name)
    for number in range(6):
        proposal = people.propose("ann", moving("C:N", "b1", f"c{number + 1}"), "team/knight")
        results = at_once(*(partial(people.approve, name, proposal) for name in ("bob", "cid", "dan")))
        late = [each for each in results if not isinstance(each, Proposal)]
        assert all(isinstance(each, ConflictError) and "was merged already" in str(each) for each in late), late
        assert len(late) == 3 - needed
        found = people.admin.proposal(str(proposal))
        assert (found.revision, len(found.approvals)) == (number + 1, needed)
        assert [each.ordinal for each in found.verdicts] == list(range(1, needed + 2))
    assert people.admin.ruleset("team/knight").revision.number == 6
    assert people.admin.check() == []


def test_of_an_approval_and_a_rejection_at_once_one_counts(people: People) -> None:
    people.admin.set_policy("team", review=1)
    for name in ("ann", "bob", "cid"):
        people.store(name)
    revisions = 0
    for number in range(10):
        proposal = people.propose("ann", moving("C:N", "b1", f"c{number + 1}"), "team/knight")
        results = at_once(partial(people.approve, "bob", proposal), partial(people.reject, "cid", proposal))
        assert len([each for each in results if isinstance(each, ConflictError)]) == 1, results
        state = people.admin.proposal(str(proposal)).state
        assert state in ("merged", "rejected")
        revisions += state == "merged"
    assert rows(people.admin, "SELECT count(*) FROM revision") == [(revisions,)]


def test_two_proposals_that_are_approved_at_once_do_not_undo_one_another(people: People) -> None:
    people.admin.set_policy("team", review=1)
    for name in ("ann", "bob", "cid"):
        people.store(name)
    people.approve("bob", people.propose("ann", KNIGHT, "team/knight"))
    for number in range(5):
        one = people.propose("ann", moving("C:N", "b1", f"d{number + 1}"), "team/knight")
        other = people.propose("ann", moving("C:N", "b1", f"e{number + 1}"), "team/knight")
        results = at_once(partial(people.approve, "bob", one), partial(people.approve, "cid", other))
        assert len([each for each in results if isinstance(each, Proposal)]) == 1, results
        [late] = [each for each in results if not isinstance(each, Proposal)]
        assert isinstance(late, ConflictError | StoreError)
        assert people.admin.ruleset("team/knight").revision.number == number + 2
    assert people.admin.check() == []


def test_a_load_and_an_approval_at_once_do_not_undo_one_another(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    for name in ("ann", "bob"):
        people.store(name)
    merged = 0
    for number in range(10):
        proposal = people.propose("ann", moving("C:N", "b1", f"d{number + 1}"), "knight")
        loaded = moving("C:N", "b1", f"e{number + 1}")
        results = at_once(partial(people.approve, "bob", proposal), partial(people.load, "ann", loaded, "knight"))
        approved_one = [each for each in results if isinstance(each, Proposal)]
        for each in approved_one:
            assert people.admin.ruleset(f"knight@{each.revision}").revision.parent == proposal.base
        assert all(isinstance(each, ConflictError) for each in results if isinstance(each, GgnStoreError)), results
        merged += len(approved_one)
    assert people.admin.ruleset("knight").revision.number == 1 + 10 + merged
    assert people.admin.check() == []


# --- round the program: what the database itself refuses ---


REVISION = (
    "INSERT INTO revision (ruleset_id, number, digest, parent_id, dialect, board_id, envelope, author, message, "
    "created_at, lineage) SELECT p.ruleset_id, (SELECT coalesce(max(r.number), 0) + 1 FROM revision AS r "
    "WHERE r.ruleset_id = p.ruleset_id), {digest}, {parent_id}, {dialect}, {board_id}, {envelope}, {author}, "
    "{message}, p.created_at, '0' FROM proposal AS p WHERE p.number = 1"
)
AS_PROPOSED = {
    "parent_id": "p.base_id",
    **{name: f"p.{name}" for name in ("digest", "dialect", "board_id", "envelope", "author", "message")},
}
FORGED: tuple[dict[str, str], ...] = (
    {"digest": "'0' || p.digest"},
    {"parent_id": "NULL"},
    {"parent_id": "(SELECT min(id) FROM revision)"},
    {"dialect": "'perform'"},
    {"board_id": "(SELECT max(id) FROM board WHERE id <> p.board_id)"},
    {"envelope": '\'{"title": "Mine"}\''},
    {"author": "'eve'"},
    {"author": "NULL"},
    {"message": "'nothing to see'"},
    {"message": "NULL"},
)


def approved(people: People, needed: int = 1) -> Proposal:
    """A proposal on the second revision of team/knight that has one approval and was not merged yet."""
    people.load("ann", KNIGHT, "team/knight")
    people.load("ann", ROOK, "elsewhere")
    people.load("ann", WIDER, "team/knight")
    people.admin.set_policy("team", review=2)
    proposal = people.propose("ann", OTHER, "team/knight", message="left")
    people.approve("bob", proposal)
    people.admin.set_policy("team", review=needed)
    return people.admin.proposal(str(proposal))


class UndoneError(Exception):
    """What was tried is taken back."""


def attempt(store: Store, *statements: str) -> None:
    """Run statements in one transaction, which is taken back."""
    try:
        with store._database.writing() as connection:
            for statement in statements:
                connection.execute(text(statement))
            raise UndoneError
    except UndoneError:
        return


def test_the_database_takes_a_revision_that_is_what_was_approved(people: People) -> None:
    approved(people)
    attempt(people.store("bob"), REVISION.format(**AS_PROPOSED))
    attempt(people.store("ann"), REVISION.format(**AS_PROPOSED))


@pytest.mark.parametrize("forged", FORGED, ids=str)
def test_the_database_takes_no_revision_that_is_not_what_was_approved(people: People, forged: dict[str, str]) -> None:
    approved(people)
    statement = REVISION.format(**AS_PROPOSED | forged)
    for store in (people.store("ann"), people.admin):
        with pytest.raises(StoreError, match=r"takes only revisions that were proposed and approved .*nothing was ch"):
            attempt(store, statement)
    # It is this trigger that refuses, and nothing else.
    execute(people.admin, drop_trigger(people, "revision_reviewed", "revision"))
    attempt(people.admin, statement)


def drop_trigger(people: People, name: str, table: str) -> str:
    return f"DROP TRIGGER {name} ON {table}" if people.is_known else f"DROP TRIGGER {name}"


@pytest.mark.parametrize(
    "why", ["too few", "own", "rejected", "withdrawn", "moved on", "nobody", "merged", "same person twice"]
)
def test_the_database_counts_approvals_of_others_on_the_head(people: People, why: str) -> None:
    if why in ("too few", "same person twice"):
        proposal = approved(people, needed=2)
        if why == "same person twice":
            # On Postgres the second verdict is given in another name, in a file it cannot be.
            insert_verdict(people, "bob", proposal, 2, author="cid" if people.is_known else "bob")
    elif why in ("own", "nobody"):
        people.load("ann", KNIGHT, "team/knight")
        people.admin.set_policy("team", review=1)
        proposal = people.propose("ann", OTHER, "team/knight")
        if why == "own":
            execute(
                people.admin, drop_trigger(people, "verdict_checked" if people.is_known else "verdict_own", "verdict")
            )
            insert_verdict(people, "ann", proposal, 1, author="ann")
    else:
        proposal = approved(people)
        if why == "rejected":
            people.reject("cid", proposal)
        elif why == "withdrawn":
            people.withdraw("ann", proposal)
        elif why == "merged":
            people.approve("cid", proposal)
        else:
            people.admin.set_policy("team")
            people.load("ann", ROOK, "team/knight")
            people.admin.set_policy("team", review=1)
    statement = REVISION.format(**AS_PROPOSED)
    with pytest.raises(StoreError, match="takes only revisions that were proposed and approved"):
        attempt(people.store("ann"), statement)
    people.admin.set_policy("team")
    attempt(people.store("ann"), statement)


def insert_verdict(people: People, name: str, proposal: Proposal, ordinal: int, **more: Any) -> None:
    values = {"verdict": "approved", "revision": None, "author": name} | more
    columns = "proposal_id, ordinal, verdict, revision_id, author, created_at"
    execute(
        people.store(name),
        f"INSERT INTO verdict ({columns}) VALUES (:id, :ordinal, :verdict, :revision, :author, CURRENT_TIMESTAMP)",
        id=proposal.id,
        ordinal=ordinal,
        **values,
    )


VERDICTS: tuple[tuple[str, Json, str], ...] = (
    ("ann", {}, "nobody approves a proposal of their own"),
    ("bob", {"verdict": "withdrawn"}, "a proposal is withdrawn by whoever made it"),
    ("bob", {"verdict": "merged", "revision": 1}, "merged by a revision of its content that follows its base"),
    ("bob", {"verdict": "merged"}, "merged by a revision of its content that follows its base"),
    ("bob", {"verdict": "rejected", "revision": 1}, "violates|constraint"),
    ("bob", {"verdict": "praised"}, "violates|constraint"),
    ("bob", {"ordinal": 2}, "numbered without gaps"),
    ("bob", {"ordinal": 0}, "numbered without gaps"),
)


@pytest.mark.parametrize(("name", "given_verdict", "told"), VERDICTS, ids=str)
def test_the_database_takes_no_verdict_that_does_not_fit(
    people: People, name: str, given_verdict: Json, told: str
) -> None:
    people.load("ann", KNIGHT, "team/knight")
    people.admin.set_policy("team", review=1)
    proposal = people.propose("ann", OTHER, "team/knight")
    values = {"ordinal": 1} | given_verdict
    with pytest.raises(StoreError, match=told):
        insert_verdict(people, name, proposal, **values)
    insert_verdict(people, "bob", proposal, 1)
    with pytest.raises(StoreError, match=r"UNIQUE|duplicate key"):
        insert_verdict(people, "cid", proposal, 1)
    people.reject("bob", proposal)
    with pytest.raises(StoreError, match="was merged, rejected or withdrawn already"):
        insert_verdict(people, "bob", proposal, 3)


def test_the_database_says_who_proposes_and_judges(people: People) -> None:
    people.load("ann", KNIGHT, "knight")
    proposal = people.propose("ann", OTHER, "knight")
    columns = "proposal_id, ordinal, verdict, author, role, created_at"
    claimed = f"INSERT INTO verdict ({columns}) VALUES ({proposal.id}, 1, 'approved', 'dan', 'dan', CURRENT_TIMESTAMP)"
    if people.is_known:
        execute(people.store("bob"), claimed)
        assert rows(people.admin, "SELECT author, role FROM verdict") == [("dan", people.who("bob"))]
        return
    for column in ("role", "author"):
        refused = claimed.replace("'dan', 'dan'", "'dan', 'dan'" if column == "role" else "NULL, NULL")
        with pytest.raises(StoreError, match="who proposes or judges needs a name"):
            execute(people.admin, refused)


def test_a_revision_under_review_lists_the_pieces_that_were_approved(people: People) -> None:
    people.load("ann", {**KNIGHT, **ROOK}, "team/knight")
    people.admin.set_policy("team", review=1)
    people.approve("bob", people.propose("ann", OTHER, "team/knight"))
    piece = "INSERT INTO revision_piece (revision_id, ordinal, piece_id) SELECT max(r.id), {}, {} FROM revision AS r"
    rook = "(SELECT id FROM piece WHERE identifier = 'C:R')"
    knight = "(SELECT piece_id FROM proposal_piece)"
    for ordinal, listed in ((1, rook), (0, rook), (1, knight)):
        with pytest.raises(StoreError, match="lists the pieces that were approved, and no others"):
            attempt(people.store("ann"), piece.format(ordinal, listed))
    # Nor does one of an earlier time get more.
    with pytest.raises(StoreError, match="lists the pieces that were approved"):
        attempt(people.store("ann"), piece.format(7, rook).replace("max(r.id)", "min(r.id)"))
    execute(people.admin, drop_trigger(people, "revision_piece_reviewed", "revision_piece"))
    attempt(people.admin, piece.format(1, rook))


def test_a_proposal_gets_no_more_pieces(people: People) -> None:
    people.load("ann", ROOK, "rook")
    people.propose("ann", KNIGHT, "knight")
    statement = (
        "INSERT INTO proposal_piece (proposal_id, ordinal, piece_id) "
        "SELECT p.id, {}, q.id FROM proposal AS p, piece AS q WHERE q.identifier = 'C:R'"
    )
    for ordinal in (1, -1):
        with pytest.raises(StoreError, match="lists as many pieces as it says"):
            attempt(people.store("ann"), statement.format(ordinal))


def test_a_forged_proposal_is_found_and_never_merged(people: People) -> None:
    people.load("ann", {**KNIGHT, **ROOK}, "team/knight")
    people.admin.set_policy("team", review=1)
    columns = "ruleset_id, number, base_id, digest, dialect, board_id, envelope, pieces, author, created_at"
    with people.store("ann")._database.writing() as connection:
        connection.execute(
            text(
                f"INSERT INTO proposal ({columns}) SELECT ruleset_id, 1, id, '{parse(KNIGHT).digest}', dialect, "
                "board_id, envelope, 1, 'ann', created_at FROM revision"
            )
        )
        rook = "SELECT p.id, 0, q.id FROM proposal AS p, piece AS q WHERE q.identifier = 'C:R'"
        connection.execute(text(f"INSERT INTO proposal_piece (proposal_id, ordinal, piece_id) {rook}"))
    with pytest.raises(StoreError, match="team/knight#1: its pieces do not give its digest"):
        people.approve("bob", "team/knight#1")
    assert people.admin.ruleset("team/knight").revision.number == 1
    [found] = people.admin.check()
    assert found.startswith("proposal team/knight#1: its pieces and envelope do not give its digest")


STATEMENTS = (
    *(f"DELETE FROM {table}" for table in ("policy", "proposal_piece", "verdict", "proposal")),
    "UPDATE policy SET rules = '{}'",
    "UPDATE proposal SET message = 'nothing'",
    "UPDATE proposal_piece SET ordinal = ordinal",
    "UPDATE verdict SET verdict = 'approved'",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_was_decided_stays_as_it_was(store: Store, statement: str) -> None:
    store.set_policy("*", review=1)
    store.propose(KNIGHT, "knight", author="Ann")
    store.reject("knight#1", author="Bob")
    with pytest.raises(StoreError, match=r"is never (changed|removed); nothing was changed"):
        execute(store, statement)
    if store._database.is_server:
        with pytest.raises(StoreError, match="is never removed"):
            execute(store, f"TRUNCATE {statement.split()[1 if 'UPDATE' in statement else 2]} CASCADE")


@pytest.mark.parametrize("table", ["condition", "effect"])
def test_the_pieces_of_a_proposal_are_in_use(store: Store, table: str) -> None:
    store.propose(KNIGHT, "knight", author="Ann")
    with pytest.raises(StoreError, match="a piece that a revision or a proposal lists is never removed"):
        execute(store, f"DELETE FROM {table}")
    with store._database.writing() as connection:
        drop_guards(connection)
        connection.execute(text(f"DELETE FROM {table}"))
    assert len(store.check()) == 1


def test_a_store_of_before_gets_its_gates_and_gives_them_back(store: Store, address: str) -> None:
    from alembic import command

    from tests.test_migrations import alembic

    with store._database.writing() as connection:
        alembic(connection, command.downgrade, "0003")
        connection.execute(text("INSERT INTO ruleset (name) VALUES ('hidden')"))
        connection.execute(text("DELETE FROM ruleset"))
    store.upgrade()
    store.load(KNIGHT, "knight")
    with store._database.writing() as connection:
        alembic(connection, command.downgrade, "0003")
    with pytest.raises(StoreError, match="a piece that a revision lists is never removed"):
        execute(store, "DELETE FROM condition")


# --- on the command line ---


@pytest.fixture
def ggn(run: Program, ready: str) -> Command:
    """The program on a new store; who runs it is said by --author, so that a file it is on both databases."""
    return lambda *arguments, stdin=b"": run("--db", ready, *arguments, stdin=stdin)


def test_policies_on_the_command_line(ggn: Command) -> None:
    openings = write("openings.ndjson", AT_B1.text())
    options = ("--lint", "no-rules", "--lint", "never-holds", "--compatible", str(openings), "--review", "2")
    done = ggn("policy", "set", "team", *options, "--author", "Ann", "-m", "be careful")
    assert done.code == 0
    assert done.out.startswith(
        "namespace   team\n"
        "valid       always: every document is read strictly before it is stored\n"
        "lint        refused: no-rules, never-holds\n"
        "compatible  openings: the moves of its 2 positions must not change (--accept-changes lists changes)\n"
        "review      a change is proposed, and 2 others must approve of it (`ggn-store propose`)\n"
        "set         "
    )
    assert done.out.endswith(" by Ann\nmessage     be careful\n")
    assert ggn("policy", "show", "team/knight").out == done.out
    assert ggn("policy", "show", "team/knight", "--positions").out == AT_B1.text()
    [shown] = ggn("policy", "show", "team", "--format", "json").records()
    assert shown["rules"]["review"] == 2
    assert ggn("policy", "show").out == "nothing is asked of * but valid documents\n"
    assert ggn("policy", "show", "--format", "json").out == "null\n"
    assert ggn("policy", "show", "chess", "--positions").code == 1
    assert "whatever the namespace around it asks for" in ggn("policy", "set", "team/free").out
    assert ggn("policy", "set", "*", "--review", "1").code == 0
    listed = list(csv.reader(io.StringIO(ggn("policy", "list", "--format", "csv").out)))
    assert [row[:4] for row in listed] == [
        ["namespace", "lint", "compatible", "review"],
        ["*", "", "", "1"],
        ["team", "no-rules, never-holds", "openings", "2"],
        ["team/free", "", "", ""],
    ]
    removed = ggn("policy", "remove", "team")
    assert removed.out == "team has no policy of its own any more; that of * counts now\n"
    assert ggn("policy", "remove", "*").out.endswith("; nothing is asked of it but valid documents\n")
    assert [(each["number"], each["removed"]) for each in ggn("policy", "log", "team").records()] == [
        (2, True),
        (1, False),
    ]
    assert ggn("policy", "log", "chess").err == "chess never had a policy of its own\n"
    assert ggn("policy", "remove", "team").code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("set", "a b"), 1, "is no namespace"),
        (("set", "team", "--lint", "spelling"), 1, '"spelling" is not a class of findings'),
        (("set", "team", "--review", "-1"), 2, "-1 is not in the range"),
        (("set", "team", "--compatible", "nowhere.ndjson"), 1, "nowhere.ndjson"),
        (("set", "team", "--compatible", "empty.ndjson"), 1, "1 to 1,000 positions, and empty has 0"),
        (("show", "a b"), 1, "is no namespace"),
    ],
)
def test_policies_that_cannot_be_are_refused(ggn: Command, arguments: tuple[str, ...], code: int, told: str) -> None:
    write("empty.ndjson", "")
    ggn("policy", "set", "other")
    done = ggn("policy", *arguments)
    assert (done.code, done.out) == (code, "")
    assert told in done.err


def test_a_refused_load_lists_every_finding_and_can_be_accepted(ggn: Command) -> None:
    path = write("knight.json", KNIGHT)
    ggn("load", path)
    ggn("policy", "set", "*", "--compatible", str(write("openings.ndjson", AT_B1.text())))
    write("knight.json", OTHER)
    done = ggn("load", path)
    assert (done.code, done.out) == (1, "1 document: 1 failed; nothing is loaded\n")
    assert done.err.splitlines() == [
        f"{path}: not loaded",
        "  knight: refused by the policy of *, 3 findings; --accept-changes says that the changes of moves are meant",
        "  /C:N/b1/c3: openings:1: the move is lost: it was a move of this position",
        "  /C:N/b1/a3: openings:1: the move is new: it was no move of this position",
        "  /C:N/b1/a3: openings:2: the move is new: it was no move of this position",
    ]
    assert ggn("load", path, "--accept-changes", "--message", "left").code == 0
    [shown] = ggn("show", "knight", "--format", "json").records()
    assert shown["message"].startswith("left\n\nAccepted changes of moves:\n- openings:1: lost C:N b1 c3\n")


def test_a_review_on_the_command_line(ggn: Command, run: Program, ready: str) -> None:
    knight, wider = write("knight.json", KNIGHT), write("wider.json", WIDER)
    ggn("load", knight, "--name", "team/knight")
    ggn("policy", "set", "team", "--review", "1")
    refused = ggn("load", wider, "--name", "team/knight")
    assert (refused.code, "`ggn-store propose team/knight FILE`" in refused.err) == (1, True)
    proposed = ggn("propose", "team/knight", str(wider), "--author", "Ann", "-m", "more\nmoves")
    assert (proposed.code, proposed.out) == (0, "team/knight#1: proposed on team/knight@1; it needs 1 approval\n")
    [listed] = ggn("proposals").records()
    assert (listed["proposal"], listed["state"], listed["approved"], listed["summary"]) == (
        *("team/knight#1", "open"),
        *("0/1", "more"),
    )
    table = ggn("proposals", "team/knight", "--format", "table").out.splitlines()
    assert table[0].split() == ["proposal", "state", "base", "approved", "author", "created_at", "summary"]
    assert table[2].split()[:5] == ["team/knight#1", "open", "1", "0/1", "Ann"]
    shown = ggn("proposal", "team/knight#1").out
    for line in ("proposal      team/knight#1", "base          team/knight@1", "approved      0 of 1"):
        assert f"{line}\n" in shown
    assert shown.endswith("\n\n~ C:N\n~   b1\n+     a3 must a3=empty\n")
    [data] = ggn("proposal", "team/knight#1", "--format", "json").records()
    assert (data["proposal"], data["difference"]["pieces"][0]["piece"]) == ("team/knight#1", "C:N")
    for command in (("proposal", "team/knight#1", "--document"), ("export", "team/knight#1")):
        assert json.loads(ggn(*command).out) == WIDER
    tried = ggn("moves", "team/knight#1", "--board", '{"b1": "C:N"}')
    assert ([each["destination"] for each in tried.records()], tried.err) == (["c3", "a3"], "")
    own = ggn("approve", "team/knight#1", "--author", "Ann")
    assert (own.code, own.out, "somebody else has to approve of it" in own.err) == (1, "", True)
    if ready.startswith("postgresql"):  # one who connects as somebody else, and calls himself Ann
        with as_role(ready) as other:
            done = run("--db", other, "approve", "team/knight#1", "--author", "Ann", "-m", "fine")
    else:
        done = ggn("approve", "team/knight#1", "--author", "Bob", "-m", "fine")
    assert (done.code, done.out) == (0, "team/knight#1: approved, it is team/knight@2 now\n")
    again = ggn("reject", "team/knight#1", "--author", "Cid")
    assert (again.code, "was merged already, it is team/knight@2" in again.err) == (3, True)
    empty = ggn("proposals", "--format", "table")
    assert (empty.out, empty.err) == ("", "nothing is proposed (--all lists what was)\n")
    assert [each["state"] for each in ggn("proposals", "--all").records()] == ["merged"]
    ended = ggn("proposal", "team/knight#1").out
    assert "state         merged, it is team/knight@2\n" in ended
    assert "\napproved      " in ended.split("changes ")[1]
    assert ": fine\n" in ended


class as_role:  # noqa: N801  (a context)
    """The address of a store as a role of its own has it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._role = f"bob_{uuid.uuid4().hex[:8]}"

    def _run(self, *statements: str) -> None:
        engine = create_engine(make_url(self._address).set(drivername="postgresql+psycopg"))
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))
        engine.dispose()

    def __enter__(self) -> str:
        self._run(
            f"CREATE ROLE {self._role} LOGIN",
            f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO {self._role}",
            f"GRANT UPDATE (deleted_at) ON ruleset TO {self._role}",
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {self._role}",
        )
        return self._address.replace("postgresql://postgres@", f"postgresql://{self._role}@", 1)

    def __exit__(self, *_: object) -> None:
        self._run(f"DROP OWNED BY {self._role}", f"DROP ROLE {self._role}")


def test_a_stale_proposal_ends_with_the_code_of_a_conflict(ggn: Command) -> None:
    ggn("load", write("knight.json", KNIGHT))
    ggn("propose", "knight", str(write("wider.json", WIDER)), "--author", "Ann")
    ggn("load", write("knight.json", OTHER))
    done = ggn("approve", "knight#1", "--author", "Bob")
    assert (done.code, done.out) == (3, "")
    assert "bring the document up to date and propose it again" in done.err
    assert ggn("propose", "knight", str(write("wider.json", WIDER)), "--author", "Ann", "--base", "1").code == 3
    assert ggn("withdraw", "knight#1", "--author", "Ann").out == "knight#1: withdrawn\n"
    assert ggn("propose", "knight", "wider.json", "--author", "Ann", "--base", "2").out.startswith("knight#2: proposed")
    assert ggn("reject", "knight#2", "--author", "Bob").out == "knight#2: rejected\n"


def test_more_than_one_approval_is_counted_down(ggn: Command) -> None:
    ggn("policy", "set", "*", "--review", "3")
    done = ggn("propose", "knight", str(write("knight.json", KNIGHT)), "--author", "Ann")
    assert done.out == "knight#1: proposed as the first revision; it needs 3 approvals\n"
