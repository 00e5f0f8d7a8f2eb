"""Policies, proposals and reviews on the command line."""

from __future__ import annotations

import csv
import io
import json
import uuid
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.support import rooks
from tests.support.marks import take
from tests.support.people import AT_B1, KNIGHT, OTHER, WIDER
from tests.support.program import Command, Program, write


@pytest.fixture
def ggn(run: Program, address: str) -> Command:
    """The program on a new store; who runs it is said by --author, so that a file it is on both databases."""
    return lambda *arguments, stdin=b"": run("--db", address, *arguments, stdin=stdin)


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
    assert ggn("policy", "show").out == "* has no requirements but valid documents\n"
    assert ggn("policy", "show", "--format", "json").out == "null\n"
    assert ggn("policy", "show", "chess", "--positions").code == 1
    assert "even if an enclosing namespace has requirements" in ggn("policy", "set", "team/free").out
    assert ggn("policy", "set", "*", "--review", "1").code == 0
    listed = list(csv.reader(io.StringIO(ggn("policy", "list", "--format", "csv").out)))
    assert [row[:4] for row in listed] == [
        ["namespace", "lint", "compatible", "review"],
        ["*", "", "", "1"],
        ["team", "no-rules, never-holds", "openings", "2"],
        ["team/free", "", "", ""],
    ]
    removed = ggn("policy", "remove", "team")
    assert removed.out == "team has no policy of its own any more; that of * applies now\n"
    assert ggn("policy", "remove", "*").out.endswith("; only valid documents are required now\n")
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
        (("set", "team", "--compatible", "empty.ndjson"), 1, "allows more), and empty has 0"),
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


def test_a_review_on_the_command_line(ggn: Command, run: Program, address: str) -> None:
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
    columns = ["proposal", "state", "base", "approved", "author", "created_at", "round", "comments", "summary"]
    assert table[0].split() == columns
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
    if address.startswith("postgresql"):  # one who connects as somebody else, and calls himself Ann
        with as_role(address) as other:
            done = run("--db", other, "approve", "team/knight#1", "--author", "Ann", "-m", "fine")
    else:
        done = ggn("approve", "team/knight#1", "--author", "Bob", "-m", "fine")
    assert (done.code, done.out) == (0, f"team/knight#1: approved, it is team/knight@2 now (sha256:{data['digest']})\n")
    again = ggn("reject", "team/knight#1", "--author", "Cid")
    assert (again.code, "was merged already, it is team/knight@2" in again.err) == (3, True)
    empty = ggn("proposals", "--format", "table")
    assert (empty.out, empty.err) == ("", "nothing is proposed (--all lists closed proposals)\n")
    assert [each["state"] for each in ggn("proposals", "--all").records()] == ["merged"]
    ended = ggn("proposal", "team/knight#1").out
    assert "state         merged, it is team/knight@2\n" in ended
    assert "\napproved      " in ended.split("changes ")[1]
    assert ": fine\n" in ended
    logged = ggn("log", "team/knight").records()
    assert [each.get("proposal") for each in logged] == ["team/knight#1", None]
    assert "\nReview:  team/knight#1\n" in ggn("log", "team/knight", "--format", "text").out
    assert ",team/knight#1," in ggn("log", "team/knight", "--format", "csv").out
    assert "\nproposal      team/knight#1\n" in ggn("show", "team/knight").out


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
    assert "can bring it up to date, with `ggn-store amend " in done.err
    assert ggn("propose", "knight", str(write("wider.json", WIDER)), "--author", "Ann", "--base", "1").code == 3
    assert ggn("withdraw", "knight#1", "--author", "Ann").out == "knight#1: withdrawn\n"
    assert ggn("propose", "knight", "wider.json", "--author", "Ann", "--base", "2").out.startswith("knight#2: proposed")
    assert ggn("reject", "knight#2", "--author", "Bob").out == "knight#2: rejected\n"


def test_rounds_and_comments_on_the_command_line(ggn: Command) -> None:
    ggn("load", write("knight.json", KNIGHT))
    ggn("propose", "knight", str(write("wider.json", WIDER)), "--author", "Ann", "-m", "more moves")
    entry = ("--piece", "C:N", "--source", "b1", "--destination", "a3")
    said = ggn("comment", "knight#1", "-m", "why?", *entry, "--author", "Bob")
    assert (said.code, said.out) == (0, "knight#1: 1 comment\n")
    for arguments, code, told in (
        (("-m", "so", "--source", "b1"), 2, "name it with --piece"),
        (("-m", "so", "--piece", "C:N", "--destination", "a3"), 2, "--destination is where it goes from a --source"),
        ((), 2, "Missing option '-m'"),
        (("-m", " "), 1, "a comment needs a text"),
        (("-m", "so", "--piece", "C:M"), 1, "did you mean C:N?"),
    ):
        refused = ggn("comment", "knight#1", *arguments, "--author", "Bob")
        assert (refused.code, refused.out) == (code, "")
        assert told in refused.err
    amended = ggn("amend", "knight#1", str(write("other.json", OTHER)), "--author", "Ann")
    assert amended.out == "knight#1: amended, this is knight#1.2, on knight@1; it needs 1 approval\n"
    same = ggn("amend", "knight#1", "other.json", "--author", "Ann")
    assert (same.code, same.out, "proposes the same already" in same.err) == (3, "", True)
    shown = ggn("proposal", "knight#1").out
    assert "round         2 of 2\n" in shown
    lines = [line.split(maxsplit=1) for line in shown.splitlines() if line.startswith(("commented ", "amended "))]
    assert [(what, text.partition(" by ")[2]) for what, text in lines] == [
        ("commented", "Bob (round 1, on C:N b1 a3): why?"),
        ("amended", "Ann (round 2): more moves"),
    ]
    assert "state         amended\n" in ggn("proposal", "knight#1.1").out
    [data] = ggn("proposal", "knight#1", "--format", "json").records()
    assert [each["round"] for each in data["history"]] == [1, 2]
    assert (data["round"], data["verdicts"][0]["destination"]) == (2, "a3")
    [listed] = ggn("proposals").records()
    assert (listed["proposal"], listed["round"], listed["comments"]) == ("knight#1", 2, 1)
    assert json.loads(ggn("export", "knight#1.1").out) == WIDER
    assert ggn("approve", "knight#1.1", "--author", "Bob").code == 3
    ended = ggn("reject", "knight#1.2", "--author", "Bob")
    assert ended.out == "knight#1: rejected\n"
    late = ggn("amend", "knight#1", str(write("wider.json", WIDER)), "--author", "Ann")
    assert (late.code, "was rejected already: propose the document anew" in late.err) == (3, True)
    actions = [
        (each["action"], each["detail"]["round"]) for each in ggn("audit").records() if "round" in each["detail"]
    ]
    assert actions == [("propose", 1), ("comment", 1), ("amend", 2), ("reject", 2)]


def test_a_stale_proposal_is_merged_with_the_newest_revision(ggn: Command) -> None:
    for name, changes in {"game": (), "mine": (rooks.OURS, rooks.STEPS), "theirs": (rooks.THEIRS,)}.items():
        write(f"{name}.toml", rooks.changed(*changes))
    ggn("load", "game.toml", "--author", "Ann")
    ggn("propose", "game", "mine.toml", "--author", "Ann")
    ggn("load", "theirs.toml", "--name", "game", "--author", "Bob")
    for arguments in ((), ("--merge", "--dialect", "diff"), ("--merge", "--base", "1"), ("mine.toml", "--ours")):
        assert ggn("amend", "game#1", *arguments, "--author", "Ann").code == 2
    failed = ggn("amend", "game#1", "--merge", "--conflicts", "file", "--author", "Ann")
    assert (failed.code, failed.out) == (3, "")
    assert "conflicts:\n  ! definition pieces.R.betza\n" in failed.err
    assert "\nedit file, and then run `ggn-store resolve file --propose`\n" in failed.err
    merged = ggn("amend", "game#1", "--merge", "--ours", "--author", "Ann")
    assert merged.out == "game#1: amended, this is game#1.2, on game@2; it needs 1 approval\n"
    assert merged.err == "note: decided for ours, 1 conflict: definition pieces.R.betza\n"
    take("file", "theirs")
    resolved = ggn("resolve", "file", "--propose", "--author", "Ann")
    assert (resolved.code, resolved.out) == (0, "game#1: amended, this is game#1.3, on game@2; it needs 1 approval\n")
    assert ggn("export", "game#1", "--definition").out == rooks.changed(rooks.THEIRS, rooks.STEPS)


def test_a_resolved_proposal_keeps_its_message(ggn: Command) -> None:
    for name, changes in {"game": (), "mine": (rooks.OURS,), "theirs": (rooks.THEIRS,)}.items():
        write(f"{name}.toml", rooks.changed(*changes))
    ggn("load", "game.toml", "--author", "Ann")
    ggn("propose", "game", "mine.toml", "--author", "Ann", "-m", "my careful words")
    ggn("load", "theirs.toml", "--name", "game", "--author", "Bob")
    assert ggn("amend", "game#1", "--merge", "--conflicts", "file", "--author", "Ann").code == 3
    take("file", "theirs")
    Path("file").write_text(Path("file").read_text().replace('betza = "K"', 'betza = "W"'))
    assert ggn("resolve", "file", "--propose", "--author", "Ann").code == 0
    message = json.loads(ggn("proposal", "game#1", "--format", "json").out)["message"]
    assert message.startswith("my careful words\nnote: the merged definition gives something")


def test_more_than_one_approval_is_counted_down(ggn: Command) -> None:
    ggn("policy", "set", "*", "--review", "3")
    done = ggn("propose", "knight", str(write("knight.json", KNIGHT)), "--author", "Ann")
    assert done.out == "knight#1: proposed as the first revision; it needs 3 approvals\n"
