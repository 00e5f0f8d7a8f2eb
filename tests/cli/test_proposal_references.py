"""A proposal's reference, `team/mini#1`, in every command that takes a ruleset."""

from __future__ import annotations

import re
import shlex

import pytest

from ggn_store import Store
from ggn_store.cli import group, options
from ggn_store.errors import NotationError
from tests.support.commands import commands
from tests.support.program import QUICK, Command, Program, Result, complete, write

DEFINITION = """\
title = "Corners"
board = "4x4"
style = "C"
start = "1k^2/4/4/1K^2 / C/c"

[pieces.K]
betza = "K"
terminal = true
"""
OTHER = DEFINITION.replace('"K"\nterm', '"KAD"\nterm')

# Of each place where a command takes a ruleset: what is asked of it, or REFUSED, where it makes no sense to.
REFUSED = object()
USES: dict[str, str | object] = {
    "new --like": "new like --like {} -o -",
    "show ruleset": "show {} --format json",
    "moves ruleset": "moves {}",
    "apply ruleset": "apply {} --move b1b2",
    "play ruleset": "play {}",
    "uci ruleset": "uci {}",
    "usi ruleset": "usi {}",
    "perft ruleset": "perft {} --depth 2",
    "draw ruleset": "draw {} --piece C:K^",
    "sql --ruleset": "sql --ruleset {} 'SELECT m.destination, c.square FROM legal_moves m "
    "LEFT JOIN condition c ON c.piece_id = m.piece_id AND c.variant = m.possibility ORDER BY 1, 2'",
    "stats rulesets": "stats {}",
    "mobility rulesets": "mobility {}",
    "coverage ruleset": "coverage {} --piece C:K^",
    "who-reaches rulesets": "who-reaches {} c3",
    "uses rulesets": "uses {} enemy",
    "dead ruleset": "dead {}",
    "symmetry ruleset": "symmetry {}",
    "same-movers rulesets": "same-movers {} team/mini@1",
    "same-movers --ruleset": "same-movers team/mini@1 --piece C:K^ --ruleset {}",
    "concepts rulesets": "concepts {}",
    "find rulesets": "find {} --with leapers",
    "similar ruleset": "similar {}",
    "compare before": "compare {} team/mini@1",
    "compare after": "compare team/mini@1 {}",
    "export what": "export {} --definition",
    "export --ruleset": "export --format csv views --ruleset {}",
    "compile ruleset": "compile {} -o compiled",
    "log rulesets": "log {}",
    "diff before": "diff {}",
    "diff after": "diff team/mini@1 {}",
    "blame ruleset": "blame {}",
    "delete ruleset": REFUSED,
    "rename ruleset": "rename {} team/maxi",
    "restore ruleset": REFUSED,
    "tag ruleset": "tag {} stable",
    "state ruleset": "state {} retired",
    "state --use": "state team/mini deprecated --use {}",
    "push rulesets": "push {} --remote other.db",
    "pull rulesets": "pull {} --remote other.db",
    "bundle create rulesets": "bundle create all.ggnb {}",
    "bundle load rulesets": "bundle load all.ggnb {}",
    "propose ruleset": "propose {} mini.toml",
    "list rulesets": REFUSED,
    "proposals rulesets": REFUSED,
    "audit ruleset": REFUSED,
    "watch rulesets": "watch {} --timeout 1",
    "verify rulesets": REFUSED,
}
WRITES = (
    "delete",
    "rename",
    "restore",
    "tag",
    "state",
    "push",
    "pull",
    "bundle",
    "propose",
    "proposals",
    "audit",
    "watch",
)
ASKS = {place: use for place, use in USES.items() if isinstance(use, str) and not place.startswith((*WRITES, "verify"))}


def places() -> list[str]:
    """Where commands take a ruleset: parameters that say so, or whose names a shell completes.

    What a page comes after is a place among names, whether or not anything has that name.
    """
    return [
        f"{name} {each.opts[-1]}"
        for name, command in commands(group)
        for each in command.params
        if ("RULESET" in (each.metavar or "") and each.name != "after")
        or (each._custom_shell_complete is options.complete_ruleset and each.metavar != "PROPOSAL")
    ]


def plain(answer: Result) -> str:
    """What a command answers, without what a revision and a proposal are called, and when they were made."""
    text = re.sub(r"team/mini([#@]\d+)?\b", "team/mini", answer.out)
    text = re.sub(r'"(revision|lineage|created_at|tags|parents|engine|compiling|running)":("[^"]*"|[^,}]*)', "", text)
    return re.sub(r"-[0-9a-f]{10}\b", "", text)


@pytest.fixture
def proposed(ggn: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("GGN_AUTHOR", "Ann")
    ggn("load", write("mini.toml", DEFINITION), "--name", "team/mini")
    made = ggn("propose", "team/mini", write("other.toml", OTHER), "-m", "farther")
    assert (made.code, made.err) == (0, "")
    return ggn


def test_every_command_that_takes_a_ruleset_is_tried() -> None:
    assert sorted(USES) == sorted(places())


def test_what_is_proposed_answers_as_the_revision_that_it_becomes(proposed: Command) -> None:
    answers: dict[tuple[str, str], Result] = {}
    for reference in ("team/mini#1", "team/mini@2"):
        if reference == "team/mini@2":
            assert proposed("load", "other.toml", "--name", "team/mini").code == 0
        for place, use in ASKS.items():
            words = [word.replace("{}", reference) for word in shlex.split(use)]
            words = [f"{word}-{len(answers)}" if word in ("views", "compiled") else word for word in words]
            said = proposed(*words, stdin="quit\n")
            assert said.code == 0, (place, said)
            answers[place, reference] = said
    for place in ASKS:
        new, merged = (plain(answers[place, f"team/mini{mark}"]) for mark in ("#1", "@2"))
        if place not in ("log rulesets", "blame ruleset", "show ruleset", "stats rulesets"):
            assert new == merged, place


@pytest.mark.parametrize("place", sorted(USES.keys() - ASKS.keys()))
def test_where_a_proposal_makes_no_sense_one_message_says_so(place: str, proposed: Command, address: str) -> None:
    use = USES[place]
    words = shlex.split(use) if isinstance(use, str) else [place.split()[0], "{}"]
    with Store.open("other.db"):
        pass
    if place.startswith("bundle load"):
        assert proposed("bundle", "create", "all.ggnb", "team/mini").code == 0
    said = proposed(*(word.replace("{}", "team/mini#1") for word in words))
    assert (said.code, said.out) == (1, ""), said
    assert said.err.count('"team/mini#1" names a proposal, which is no revision yet') == 1, said.err
    assert proposed("moves", "team/mini#1").code == 0


def test_the_python_face_takes_a_proposal_like_the_command_line(proposed: Command, address: str) -> None:
    with Store.open(address) as store:
        ruleset = store.ruleset("team/mini#1")
        assert (str(ruleset.revision), ruleset.definition is not None) == ("team/mini#1", True)
        assert [each["ruleset"] for each in store.analysis().stats(["team/mini#1", "team/mini"])] == [
            *("team/mini#1", "team/mini"),
        ]
        rows = list(store.views.rows("v_pieces", "team/mini#1"))
        assert {row[0] for row in rows} == {"team/mini#1"}
        entry, first = store.history.log("team/mini#1")
        assert (entry.revision.parents, entry.changes.changed, str(first.revision)) == (
            *((1,), ("C:K^", "c:k^")),
            "team/mini@1",
        )
        blamed = {str(each.revision) for each in store.history.blame("team/mini#1", "C:K^", "a1")}
        assert blamed == {"team/mini@1", "team/mini#1"}
        with pytest.raises(NotationError, match="names a proposal"):
            store.load(QUICK, "team/mini#1")


def test_views_of_proposals_are_not_mixed_with_those_of_revisions(proposed: Command) -> None:
    mixed = proposed("export", "--format", "csv", "views", "--ruleset", "team/mini", "--ruleset", "team/mini#1")
    assert (mixed.code, mixed.out) == (1, "")
    assert "ask for proposals apart from revisions" in mixed.err


def test_a_shell_is_offered_proposals_after_the_mark(
    proposed: Command, run: Program, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert complete(run, monkeypatch, f"ggn-store --db {address} moves team/mini#") == ["plain,team/mini#1"]
