"""Histories: references, lineages, bases, and what nobody can change afterwards."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC
from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import Store, StoreError, UnknownNameError, limits
from ggn_store.errors import HeadMovedError, InputError, NotationError
from ggn_store.model.teams.revision import Reference, Revision, parse_reference
from tests.support.guards import drop_guards
from tests.support.stored import DIFF, KNIGHT, ROOK, changed


@pytest.mark.parametrize(
    ("written", "reference"),
    [
        ("chess", Reference("chess")),
        ("team/chess@3", Reference("team/chess", number=3)),
        ("chess@sha256:0123abcd", Reference("chess", digest="0123abcd")),
        ("team/chess:stable", Reference("team/chess", tag="stable")),
    ],
)
def test_a_reference_is_read_and_written(written: str, reference: Reference) -> None:
    assert parse_reference(written) == reference
    assert str(reference) == written


@pytest.mark.parametrize(
    "written",
    ["", "@3", "chess@", "chess@0", "chess@-1", "chess@sha256:", "chess@sha256:012", "chess@sha256:XYZ0", "chess:",
     "chess:3", "chess:a:b", "chess@3:stable", "a b", "chess@md5:0123", "-chess", "chess:" + "a" * 201],
)  # fmt: skip
def test_what_is_no_reference_is_refused(written: str) -> None:
    with pytest.raises(NotationError, match=r"cannot name a tag|does not name a ruleset"):
        parse_reference(written)


def test_a_revision_is_found_by_number_digest_and_lineage(store: Store) -> None:
    first, second = store.load(KNIGHT, "game"), store.load(ROOK, "game")
    for reference in ("game@1", f"game@sha256:{first.digest}", f"game@sha256:{first.lineage[:16]}"):
        assert store.ruleset(reference).revision == first
    assert store.ruleset("game").revision == second
    third = store.load(KNIGHT, "game")  # the first one's content again
    assert store.ruleset(f"game@sha256:{first.digest}").revision == third
    assert store.ruleset(f"game@sha256:{first.lineage}").revision == first
    with pytest.raises(UnknownNameError, match="digest or lineage begins with 0000"):
        store.ruleset("game@sha256:" + "0" * 64)


def test_a_digest_that_is_too_short_names_what_it_may_be(store: Store) -> None:
    revisions: dict[str, list[Revision]] = {}
    for number in range(40):
        revision = store.load({"C:N": {"b1": {f"c{number + 2}": [{"must": {"c1": "empty"}}]}}}, "game")
        for digest in (revision.digest, revision.lineage):
            revisions.setdefault(digest[0], []).append(revision)
    # Four characters are the least that is taken: with that many, digests that begin alike are made by hand.
    with store.session.database.writing() as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE revision SET digest = 'abcd' || substr(digest, 5) WHERE number IN (3, 5)"))
    with pytest.raises(UnknownNameError, match=r"game@sha256:abcd may be any of game@3, game@5: write more"):
        store.ruleset("game@sha256:abcd")


def test_a_lineage_is_the_digest_of_all_that_came_before(store: Store) -> None:
    before = None
    for document, message in ((KNIGHT, "begin"), (ROOK, 'é"\\\n'), (KNIGHT, None)):
        revision = store.load(document, "game", author="Ann", message=message)
        at = revision.created_at.astimezone(UTC).isoformat(timespec="microseconds")
        content = [before, None, revision.digest, "Ann", message, at]
        written = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        assert revision.lineage == hashlib.sha256(written.encode()).hexdigest()
        before = revision.lineage
    assert (revision.parent, revision.merged) == (2, None)
    assert store.upkeep.check() == []


@pytest.mark.parametrize("column", ["author = 'Eve'", "message = NULL", "created_at = '2020-01-01 00:00:00.000000'"])
def test_check_finds_a_history_that_was_rewritten(store: Store, column: str) -> None:
    for document in (KNIGHT, ROOK):
        store.load(document, "game", author="Ann", message="change")
    with store.session.database.writing() as connection:
        drop_guards(connection)
        connection.execute(text(f"UPDATE revision SET {column} WHERE number = 1"))
    [found] = store.upkeep.check()
    assert found.startswith("revision game@1: ")


def test_a_load_that_states_its_base_is_refused_where_the_head_has_moved(store: Store) -> None:
    with pytest.raises(UnknownNameError):
        store.load(KNIGHT, "game", base="1")
    first = store.load(KNIGHT, "game", base="0")
    with pytest.raises(HeadMovedError, match="game is there already: its newest revision is game@1") as caught:
        store.load(ROOK, "game", base="0")
    assert caught.value.exit_code == 3
    for base in ("1", "@1", "game@1", f"sha256:{first.lineage}"):
        assert store.load(ROOK, "game", base=base).number == 2
        with pytest.raises(HeadMovedError, match="game has moved on: its newest revision is game@2"):
            store.load({"C:B": KNIGHT["C:N"]}, "game", base=base)
        break
    assert store.ruleset("game").revision.number == 2
    assert [row["piece"] for row in store.ruleset("game").piece_summaries()] == ["C:R"]


STATEMENTS = (
    "UPDATE revision SET message = 'nothing happened'",
    "UPDATE revision SET digest = digest",
    "UPDATE revision_piece SET ordinal = ordinal + 1",
    "UPDATE ruleset SET name = 'other'",
    "UPDATE piece SET identifier = 'C:Q'",
    "UPDATE condition SET state = 'enemy'",
    "UPDATE effect SET becomes = 'C:Q'",
    "UPDATE variant SET toggle = NULL",
    "UPDATE square SET label = 'z9' WHERE number = 0",
    "UPDATE audit SET role = 'nobody'",
    "DELETE FROM audit",
    "DELETE FROM revision_piece",
    "DELETE FROM revision",
    "DELETE FROM condition",
    "DELETE FROM effect",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_was_written_stays_as_it_was(module_store: Store, statement: str) -> None:
    module_store.load(KNIGHT, "game")
    module_store.load(ROOK, "game")
    refused = pytest.raises(StoreError, match=r"is never (changed|removed); nothing was changed")
    with refused, module_store.session.database.writing() as connection:
        connection.execute(text(statement))
    assert module_store.upkeep.check() == []


def test_every_change_is_in_the_audit_with_the_user_of_the_database(store: Store) -> None:
    store.load(KNIGHT, "game", author="Ann", message="begin")
    store.delete("game")
    store.load(KNIGHT, "game")
    with store.session.database.reading() as connection:
        rows = connection.execute(text("SELECT role, action, subject, detail FROM audit ORDER BY id")).all()
    assert [(row.action, row.subject) for row in rows] == [
        ("revision", "game"),
        ("delete", "game"),
        ("restore", "game"),
    ]
    assert {row.role for row in rows} == {store.session.database.role}
    detail = json.loads(rows[0].detail)
    assert (detail["revision"], detail["author"], detail["message"], detail["parent"]) == (1, "Ann", "begin", None)


def test_the_author_is_the_first_that_is_known(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    role = store.session.database.role
    assert store.load(KNIGHT, "role").author == role
    (tmp_path / "config").write_text("[user]\n name = Git Ann\n email = ann@example.org\n")
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    assert store.load(KNIGHT, "git").author == (role or "Git Ann <ann@example.org>")
    monkeypatch.setenv("GGN_AUTHOR", "Env")
    assert store.load(KNIGHT, "env").author == "Env"
    assert store.load(KNIGHT, "given", author="Given").author == "Given"


def test_only_so_many_possibilities_are_compared_of_pieces_that_differ(store: Store) -> None:
    store.load(DIFF, "game")
    store.load(changed(DIFF), "game")  # of C:P, with two possibilities, and now three
    with limits.allow({"compared-possibilities": 5}):
        assert store.history.diff("game").counts()["possibilities_added"] == 1
        assert [each.piece for each in store.history.diff("game@1", piece="C:P").pieces] == ["C:P"]
    with (
        limits.allow({"compared-possibilities": 4}),
        pytest.raises(InputError, match=r"have 5 possibilities.*one piece"),
    ):
        store.history.diff("game")


def test_a_piece_that_is_too_much_is_compared_from_the_sources_where_it_differs(store: Store) -> None:
    def rook(**blocked: str) -> dict[str, Any]:
        """A rook in a row of four squares, which some other piece keeps from leaving a square."""
        row = [f"{file}1" for file in "abcd"]
        to = {each: [other for other in row if other != each] for each in row} | {"*": row}
        return {
            "C:R": {
                each: {other: [{"must": {other: "empty"}} | _unless(blocked, each)] for other in others}
                for each, others in to.items()
            }
        }

    def _unless(blocked: dict[str, str], square: str) -> dict[str, Any]:
        return {"deny": {"d1": blocked[square]}} if square in blocked else {}

    before, after = rook(a1="C:P"), rook(a1="C:Q", b1="C:P")
    store.load(before, "game")
    store.load(after, "game")
    store.load({"C:R": {**after["C:R"], "c1": {"b1": [{}]}}, "C:P": {"b1": {"c1": [{}]}}}, "game")
    whole = store.history.diff("game@1", "game@2")
    with limits.allow({"compared-possibilities": 12}):
        with pytest.raises(InputError, match="have 32 possibilities"):
            store.history.diff("game@1", "game@2", "C:R")
        found = store.history.differing_sources("game@1", "game@2", "C:R")
        assert found == {"a1": (3, 3), "b1": (3, 3)}
        assert store.history.diff("game@1", "game@2", "C:R", [*found]) == whole
        of_one = store.history.diff("game@2", piece="C:R", sources=["b1"])
        assert [(each.source, each.kind) for each in of_one.pieces[0].sources] == [("b1", "changed")]
        assert not store.history.diff("game@2", piece="C:R", sources=["c1"])
        with pytest.raises(InputError, match=r"rules from these squares have 14 possibilities.*fewer"):
            store.history.diff("game@1", "game@2", "C:R", ["a1", "*"])
    assert store.history.differing_sources("game", None, "C:R") == {"c1": (3, 1)}
    assert store.history.differing_sources("game", None, "C:P") == {"b1": (0, 1)}
    with pytest.raises(UnknownNameError, match=r"no rules from d4; it has some from a1, b1, c1, d1, \*"):
        store.history.diff("game@1", "game@2", "C:R", ["d4"])
    with pytest.raises(UnknownNameError, match='neither side has rules for the piece "C:K"'):
        store.history.differing_sources("game@1", "game@2", "C:K")
    with pytest.raises(InputError, match="say which piece"):
        store.history.diff("game@1", "game@2", sources=["a1"])
