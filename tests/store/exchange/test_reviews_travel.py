"""What was said in reviews travels in bundles, as it was said; elsewhere it is read, and counts for nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import text

from ggn_store import GgnStoreError, InputError, Store, StoreError, UnknownNameError, limits, parse
from ggn_store.api.teams.bundles import verify_bundle
from ggn_store.model.teams.proposal import Proposal, Verdict
from ggn_store.model.teams.review import ReviewRecord
from ggn_store.store.review import records
from ggn_store.store.schema import tables as t
from tests.support.exchanged import BOTH, Json, game, lines, pack, sound
from tests.support.guards import drop_guards
from tests.support.migrations import alembic
from tests.support.people import People
from tests.support.people import people as people
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run

NAME = "team/game"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    """An empty store in a file."""
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as opened:
        yield opened


def reviewed(people: People) -> Store:
    """A store with two proposals: Ann's was amended and rejected, Bob's approved by Cid and merged."""
    people.load("ann", game(**BOTH, N="b1c3"), NAME)
    people.propose("ann", game(**BOTH, N="b1a3"), NAME, message="left")
    people.store("bob").reviews.comment(f"{NAME}#1", "why é?", piece="C:N", source="b1", destination="a3", author="bob")
    people.store("ann").reviews.amend(f"{NAME}#1", parse(game(**BOTH, N="b1d2")), author="ann")
    people.reject("cid", f"{NAME}#1", message="no")
    people.propose("bob", game(**BOTH, N="b1d2", B="c1d2"), NAME)
    people.approve("cid", f"{NAME}#2", message="yes")
    return people.admin


def carried(source: Store, target: Store, tmp_path: Path, **options: Any) -> Any:
    """What becomes of the ruleset in another store that gets it in a bundle."""
    source.exchange.create_bundle(tmp_path / "carried.gz", NAME)
    [result] = target.exchange.load_bundle(tmp_path / "carried.gz", **options)
    return result


def told(store: Store) -> list[list[Json]]:
    """What a store knows of reviews elsewhere."""
    return [each.data()["records"] for each in store.reviews.elsewhere()]


def test_what_was_said_arrives_as_it_was_said_and_travels_on(people: People, other: Store, tmp_path: Path) -> None:
    origin = reviewed(people)
    assert carried(origin, other, tmp_path).reviews == 7
    second, first = other.reviews.elsewhere()
    assert (str(first), first.state, str(second), second.state) == (f"{NAME}#1", "rejected", f"{NAME}#2", "merged")
    said = [(each.verdict, each.round, each.author, each.message, each.entry) for each in first.records]
    assert said == [
        ("proposed", 1, "ann", "left", ""),
        ("commented", 1, "bob", "why é?", "C:N b1 a3"),
        ("proposed", 2, "ann", "left", ""),
        ("rejected", 2, "cid", "no", ""),
    ]
    assert [(each.verdict, each.author) for each in second.records] == [
        ("proposed", "bob"),
        ("approved", "cid"),
        ("merged", "cid"),
    ]
    history = {each.revision.number: each.revision for each in origin.history.log(NAME)}
    for of, number in ((first, 1), (second, 2)):
        made = origin.reviews.rounds(f"{NAME}#{number}")
        own: list[Proposal | Verdict] = [*made, *made[0].verdicts]
        assert sorted(each.created_at for each in own if each.created_at) == [each.created_at for each in of.records]
        assert {each.who for each in own} == {each.who for each in of.records}
        assert [each.digest for each in of.rounds] == [each.digest for each in made]
        assert {each.base for each in of.rounds} == {history[1].lineage}
    assert second.records[-1].revision == history[2].lineage
    assert second.records[1].digest == history[2].digest  # so that what was approved can be looked at
    assert other.ruleset(f"{NAME}@sha256:{second.records[1].digest}").revision.number == 2

    # Again, and by way of the other store, it is the same.
    before = (tmp_path / "carried.gz").read_bytes()
    assert verify_bundle(tmp_path / "carried.gz").data()["reviews"] == 7
    assert carried(origin, other, tmp_path).reviews == 0
    assert carried(other, origin, tmp_path).reviews == 0
    assert (tmp_path / "carried.gz").read_bytes() == before
    assert origin.reviews.elsewhere() == ()
    assert sound(origin, other)
    assert other.upkeep.verify().problems == ()


def test_it_arrives_on_either_database(store: Store, other: Store, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'third.db'}") as third:
        other.load(game(**BOTH, N="b1c3"), NAME, author="ann")
        other.reviews.propose(game(**BOTH, N="b1a3"), NAME, author="bob", message="x")
        other.reviews.comment(f"{NAME}#1", "a comment", author="ann")
        result = carried(other, store, tmp_path)
        assert (result.reviews, result.data()["reviews"]) == (2, 2)
        before = (tmp_path / "carried.gz").read_bytes()
        assert carried(store, third, tmp_path).reviews == 2
        assert (tmp_path / "carried.gz").read_bytes() == before
        assert told(store) == told(third) != []
        [event] = [each for each in store.upkeep.audit() if each.action == "record"][-1:]
        assert (event.about, event.what) == (f"{NAME}#1", "commented elsewhere by ann: a comment")
        assert sound(store, third)
        assert store.upkeep.verify().problems == ()


def test_what_two_stores_have_unites_and_later_words_follow(people: People, other: Store, tmp_path: Path) -> None:
    origin = reviewed(people)
    carried(origin, other, tmp_path)
    other.reviews.propose(game(**BOTH, N="b1c3", B="c1d2"), NAME, author="dan")
    assert str(other.reviews.list()[0]) == f"{NAME}#1"  # a number of its own
    people.store("ann").reviews.comment(f"{NAME}#2", "late", author="ann")
    assert carried(other, origin, tmp_path).reviews == 1
    assert carried(origin, other, tmp_path).reviews == 1
    both = (tmp_path / "carried.gz").read_bytes()
    assert carried(other, origin, tmp_path).reviews == 0
    assert (tmp_path / "carried.gz").read_bytes() == both
    assert [(each["author"], each["message"]) for each in told(other)[0]][-1] == ("ann", "late")
    assert [[each["author"] for each in records] for records in told(origin)] == [["dan"]]
    assert sound(origin, other)


def test_nothing_of_it_counts_here(people: People, other: Store, tmp_path: Path) -> None:
    people.load("ann", game(**BOTH, N="b1c3"), NAME)
    people.admin.policies.set("team", review=2)
    carried(people.admin, other, tmp_path)
    other.policies.set("team", review=3)
    for store, author in ((people.store("bob"), "bob"), (other, "bob")):
        store.reviews.propose(game(**BOTH, N="b1a3"), NAME, author=author, message="left")
    for author in ("ann", "cid"):
        other.reviews.approve(f"{NAME}#1", author=author)
    assert carried(other, people.admin, tmp_path).reviews == 3
    [elsewhere], [here] = people.admin.reviews.elsewhere(NAME), people.admin.reviews.list(NAME)
    assert elsewhere.rounds[0].digest == here.digest
    assert [each.verdict for each in elsewhere.records] == ["proposed", "approved", "approved"]
    assert (here.state, here.approvals, here.verdicts) == ("open", (), ())
    assert people.approve("ann", here).state == "open"
    assert people.admin.ruleset(NAME).revision.number == 1
    merged = people.approve("cid", here)
    assert (merged.state, merged.approvals) == ("merged", (people.who("ann"), people.who("cid")))
    # Nor does it end anything.
    people.propose("bob", game(**BOTH, N="b1d2"), NAME)
    other.reviews.reject(f"{NAME}#1", author="ann")
    people.admin.policies.set("team")
    carried(other, people.admin, tmp_path)
    assert people.admin.reviews.elsewhere(NAME)[0].state == "rejected"
    assert people.admin.reviews.list(NAME)[0].state == "open"
    assert sound(people.admin, other)


def test_a_push_or_a_pull_takes_it_if_asked(people: People, other: Store) -> None:
    origin = reviewed(people)
    assert other.exchange.pull(origin, NAME)[0].reviews == 0
    [planned] = other.exchange.pull(origin, NAME, reviews=True, dry_run=True)
    assert (planned.reviews, told(other)) == (7, [])
    assert other.exchange.pull(origin, NAME, reviews=True)[0].reviews == 7
    assert other.exchange.pull(origin, NAME, reviews=True)[0].data().get("reviews") is None
    other.reviews.propose(game(**BOTH, N="b1c3", B="c1d2"), NAME, author="dan")
    [result] = other.exchange.push(origin, NAME, reviews=True)
    assert (result.status, result.reviews, len(told(origin))) == ("unchanged", 1, 1)
    assert sound(origin, other)


def test_who_may_not_keep_it_takes_the_revisions_all_the_same(
    store: Store, other: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.load(game(**BOTH, N="b1c3"), NAME, author="ann")
    other.reviews.propose(game(**BOTH, N="b1a3"), NAME, author="bob")
    closed = t.review_record
    monkeypatch.setattr(type(store.session.database), "may_insert", lambda _, _connection, table: table is not closed)
    result = carried(other, store, tmp_path)
    assert (result.status, result.reviews, told(store)) == ("new", 0, [])
    assert result.note == (
        f"{NAME}: its reviews were left out: to keep them takes ggn_author (`ggn-store db roles init`)"
    )


def test_it_goes_with_a_ruleset_that_gets_another_name(people: People, other: Store, tmp_path: Path) -> None:
    origin = reviewed(people)
    carried(origin, other, tmp_path, to="mine")
    assert [str(each) for each in other.reviews.elsewhere("mine")] == ["mine#2", "mine#1"]
    other.rename("mine", "ours")
    assert [str(each) for each in other.reviews.elsewhere("our*")] == ["ours#2", "ours#1"]
    assert [str(each) for each in other.reviews.elsewhere("ours#1.2")] == ["ours#1"]
    assert other.reviews.elsewhere("ours#1.3") == ()
    with pytest.raises(UnknownNameError):
        other.reviews.elsewhere("mine")
    assert sound(other)


# --- what a bundle may say ---


def bundle(other: Store, path: Path) -> Path:
    """A bundle with a proposal in two rounds, an approval of the first and a comment on the second."""
    other.load(game(**BOTH, N="b1c3"), NAME, author="ann")
    other.policies.set("team", review=2)
    other.reviews.propose(game(**BOTH, N="b1a3"), NAME, author="bob")
    other.reviews.approve(f"{NAME}#1", author="ann")
    other.reviews.amend(f"{NAME}#1", parse(game(**BOTH, N="b1d2")), author="bob")
    other.reviews.comment(f"{NAME}#1", "why?", author="ann", piece="C:N", source="b1")
    other.exchange.create_bundle(path, NAME)
    return path


@pytest.fixture
def file(other: Store, tmp_path: Path) -> Path:
    """Such a bundle of the other store."""
    return bundle(other, tmp_path / "game.gz")


@pytest.fixture(scope="module")
def sound_lines(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """The lines of such a bundle, made once for all that are spoiled in one place."""
    with Store.open("sqlite://") as store:
        return lines(bundle(store, tmp_path_factory.mktemp("bundle") / "game.gz"))


def test_a_bundle_is_of_the_third_version_only_with_reviews(file: Path, other: Store, tmp_path: Path) -> None:
    first, *rest, end = lines(file)
    assert (first["version"], end["reviews"]) == (3, 4)
    said = [line for line in rest if line["kind"] == "review"]
    assert [(line["verdict"], line["round"]) for line in said] == [
        ("proposed", 1),
        ("approved", 1),
        ("proposed", 2),
        ("commented", 2),
    ]
    other.load(game(**BOTH, N="b1a3"), "free", author="ann")
    other.exchange.create_bundle(tmp_path / "free.gz", "free")
    first, *_, end = lines(tmp_path / "free.gz")
    assert (first["version"], "states" in end, "reviews" in end) == (1, False, False)
    other.states.set("free", "deprecated")
    other.exchange.create_bundle(tmp_path / "free.gz", "free")
    first, *_, end = lines(tmp_path / "free.gz")
    assert (first["version"], end["states"], "reviews" in end) == (2, 1, False)


LONG = "x" * 1_001
HOSTILE = [
    (0, "verdict", "adored", '"adored" is nothing that is said in a review'),
    (0, "verdict", ["approved"], "is nothing that is said in a review"),
    (0, "number", 0, "the number of a proposal is from 1 to 2,147,483,647, not 0"),
    (0, "number", True, "the number of a proposal is from 1"),
    (0, "number", "1", "the number of a proposal is from 1"),
    (0, "round", 1 << 31, "the round of a proposal is from 1"),
    (0, "round", 1.5, "the round of a proposal is from 1"),
    (0, "round", 3, "the proposal of what was proposed in round 3 is out of place: null"),
    (0, "digest", None, "the digest of what was proposed in round 1 is out of place: null"),
    (0, "digest", "A" * 64, "the digest of what was proposed in round 1 is out of place"),
    (0, "base", "0", "the base of what was proposed in round 1 is out of place"),
    (0, "proposal", "0" * 64, "the proposal of what was proposed in round 1 is out of place"),
    (0, "revision", "0" * 64, "the revision of what was proposed in round 1 is out of place"),
    (0, "author", 3, "the author is not text: 3"),
    (0, "author", LONG, "the author is longer than 1,000 characters"),
    (0, "role", LONG, "the role is longer than 1,000 characters"),
    (0, "message", "x\0", "the message has characters that no database can keep"),
    (0, "message", "x" * 1_000_001, "the message is longer than 1,000,000 characters"),
    (0, "piece", "C:N", "only a comment is on an entry"),
    (0, "created_at", "yesterday", "is not a time"),
    (0, "created_at", None, "is not a time"),
    (0, "ruleset", "else", 'the bundle has no ruleset "else"'),
    (0, "more", 1, "the review has no such key"),
    (1, "digest", None, "the digest of what was approved in round 1 is out of place"),
    (1, "proposal", None, "the proposal of what was approved in round 1 is out of place"),
    (1, "proposal", ["x"], "the proposal of what was approved in round 1 is out of place"),
    (1, "proposal", "0" * 64, f"what was approved in round 1 of {NAME}#1 does not come after what it is said of"),
    (1, "number", 2, f"what was approved in round 1 of {NAME}#2 does not come after what it is said of"),
    (1, "round", 2, f"what was approved in round 2 of {NAME}#1 does not come after what it is said of"),
    (1, "verdict", "merged", "the digest of what was merged in round 1 is out of place"),
    (2, "round", 3, f"what was proposed in round 3 of {NAME}#1 does not come after what it is said of"),
    (3, "message", "  ", "a comment has a text"),
    (3, "message", None, "a comment has a text"),
    (3, "piece", None, "only a comment is on an entry: a piece, then a source, then a destination"),
    (3, "destination", "x" * 256, "the destination is longer than 255 characters"),
    (3, "base", "0" * 64, "the base of what was commented in round 2 is out of place"),
]


@pytest.mark.parametrize(("place", "key", "value", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_bundle_with_a_bad_review_is_refused_with_its_line(
    sound_lines: list[Json], place: int, key: str, value: Any, message: str
) -> None:
    written = [dict(line) for line in sound_lines]
    numbers = [number for number, line in enumerate(written, start=1) if line["kind"] == "review"]
    written[numbers[place] - 1][key] = value
    with pytest.raises(InputError) as caught:
        verify_bundle(pack(written))
    assert f"line {numbers[place]}: " in str(caught.value)
    assert message in str(caught.value)


def test_a_review_stands_once_in_its_place_and_only_in_the_third_version(file: Path) -> None:
    written = lines(file)
    [place, second, *_] = (number for number, line in enumerate(written) if line["kind"] == "review")
    review = written[place]
    without = [*written[:second], *written[second + 1 :]]
    for changed, message in (
        ([*written[:place], review, *written[place:]], "what was proposed in round 1 of team/game#1 stands twice"),
        ([written[0], review, *written[1:]], "out of place"),
        ([*written[:place], *written[place + 1 :]], "does not come after what it is said of"),
        ([{**written[0], "version": 2}, *written[1:]], "of no kind that a bundle has"),
        ([{**written[0], "version": 4}, *written[1:]], "reads version 3: install a newer"),
    ):
        with pytest.raises(InputError, match=message):
            verify_bundle(pack(changed))
    assert verify_bundle(pack(without)).reviews == 3  # what others have not said yet is no fault
    with pytest.raises(InputError, match="lines of the kind review are missing"):
        verify_bundle(pack([*without[:-1], written[-1]], counted=False))


def test_reviews_are_bounded_before_they_are_taken_and_written(file: Path, other: Store, tmp_path: Path) -> None:
    with limits.allow({"bundle-reviews": 1_000}):
        with pytest.raises(InputError, match=r"line \d+: the reviews have more than 1,000 bytes in all"):
            verify_bundle(file)
        with pytest.raises(InputError, match=r"the reviews take .* bytes, and in a bundle they have at most 1,000"):
            other.exchange.create_bundle(tmp_path / "more.gz", NAME)
    assert not (tmp_path / "more.gz").exists()


def test_of_a_bundle_whose_reviews_the_store_does_not_take_nothing_stays(store: Store, file: Path) -> None:
    written = [line for line in lines(file) if line["kind"] != "review" or line["proposal"] is None]
    review = next(line for line in written if line["kind"] == "review")
    review["created_at"] = "2999-01-01T00:00:00.000000+00:00"
    with pytest.raises(StoreError, match="was not written in the future"):
        store.exchange.load_bundle(pack(written))
    assert store.list() == ()
    assert told(store) == []


def test_of_a_store_that_lies_nothing_is_taken(store: Store, other: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    other.load(game(**BOTH, N="b1c3"), NAME, author="ann")
    lie = replace(SAID, author="x\0")
    monkeypatch.setattr(records, "said", lambda *_: [lie])
    with pytest.raises(StoreError, match="a review of team/game: the author has characters that no database can keep"):
        store.exchange.pull(other, NAME, reviews=True)
    assert store.list() == ()


# --- what the database takes ---

SAID = ReviewRecord(
    None, 1, 1, "proposed", "0" * 64, None, None, None, None, None, "ann", None, "x", datetime(2026, 1, 2, tzinfo=UTC)
)
APPROVED = replace(SAID, proposal=SAID.key, verdict="approved", author="bob")


@pytest.fixture
def recorded(store: Store) -> Store:
    """A store that knows of an approval elsewhere."""
    store.load(game(**BOTH, N="b1c3"), NAME)
    keep(store, SAID, APPROVED)
    return store


def keep(store: Store, *said: ReviewRecord) -> None:
    with store.session.database.writing() as connection:
        ruleset_id = connection.execute(text("SELECT id FROM ruleset")).scalar_one()
        records.add(store.session.database, connection, ruleset_id, said)


@pytest.mark.parametrize(
    "change",
    [
        {"number": 0},
        {"round": 0},
        {"round": 2},
        {"number": 2},
        {"verdict": "adored"},
        {"verdict": "merged"},
        {"digest": None},
        {"digest": "X" * 64},
        {"proposal": None},
        {"proposal": "1" * 64},
        {"proposal": APPROVED.key},
        {"base": "0" * 64},
        {"revision": "0" * 64},
        {"author": LONG},
        {"role": LONG},
        {"message": "x" * 1_000_001},
        {"piece": "x" * 256},
        {"created_at": datetime(2999, 1, 1, tzinfo=UTC)},
        {"created_at": datetime(1969, 1, 1, tzinfo=UTC)},
    ],
    ids=lambda change: " ".join(f"{name}={str(value)[:9]}" for name, value in change.items()),
)
def test_the_database_takes_only_what_a_review_says(recorded: Store, change: Json) -> None:
    keep(recorded, replace(APPROVED, author="cid"))
    changed: Any = {"author": "dan"} | change
    with pytest.raises(GgnStoreError):
        keep(recorded, replace(APPROVED, **changed))
    assert [len(each) for each in told(recorded)] == [3]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE review_record SET author = 'eve'",
        "DELETE FROM review_record",
        "INSERT INTO review_record SELECT ruleset_id, 'no key', proposal, number, round, verdict, digest, base, "
        "revision, piece, source, destination, author, role, message, created_at FROM review_record",
        "INSERT INTO review_record SELECT 99, key, proposal, number, round, verdict, digest, base, revision, piece, "
        "source, destination, author, role, message, created_at FROM review_record",
        "INSERT INTO review_record SELECT * FROM review_record",
    ],
)
def test_the_database_keeps_what_was_said(recorded: Store, statement: str) -> None:
    before = told(recorded)
    statements = [statement]
    if not recorded.session.database.is_server and statement.endswith("* FROM review_record"):
        statements.append(statement.replace("INSERT", "INSERT OR REPLACE"))
    for each in statements:
        with pytest.raises(GgnStoreError), recorded.session.database.writing() as connection:
            connection.execute(text(each))
    assert told(recorded) == before
    assert sound(recorded)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE review_record SET author = 'eve' WHERE proposal IS NOT NULL", "what it says does not give its key"),
        ("UPDATE review_record SET round = 0", "the round of a proposal is from 1 to 2,147,483,647, not 0"),
        ("UPDATE review_record SET created_at = '2999-01-01 00:00:00.000000'", "it was written in the future"),
        ("DELETE FROM review_record WHERE proposal IS NOT NULL", "it has 1 records, and the audit records 2"),
    ],
)
def test_what_was_changed_past_the_store_is_found_and_does_not_travel(
    recorded: Store, other: Store, tmp_path: Path, statement: str, problem: str
) -> None:
    with recorded.session.database.writing() as connection:
        drop_guards(connection)
        connection.execute(text(statement))
    assert any(problem in each for each in recorded.upkeep.verify().problems)
    assert carried(recorded, other, tmp_path).reviews < 2


def test_a_store_of_the_version_before_takes_it_once_it_is_upgraded(
    store: Store, address: str, other: Store, tmp_path: Path
) -> None:
    store.load(game(**BOTH, N="b1c3"), NAME, author="ann")
    store.reviews.propose(game(**BOTH, N="b1a3"), NAME, author="bob", message="x")
    with store.session.database.writing() as connection:
        alembic(connection, command.downgrade, "0013")
    store.close()
    other.load(game(**BOTH, N="b1c3"), NAME, author="ann")
    other.reviews.propose(game(**BOTH, N="b1d2"), NAME, author="cid")
    with Store.open(address, upgrade=True) as upgraded:
        assert carried(other, upgraded, tmp_path).reviews == 1
        assert carried(upgraded, other, tmp_path).reviews == 1
        assert [each["author"] for each in told(other)[0]] == ["bob"]
        assert sound(upgraded, other)
        with pytest.raises(RuntimeError, match="has records"), upgraded.session.database.writing() as connection:
            alembic(connection, command.downgrade, "0013")


# --- from the command line ---


def test_the_program_shows_it_and_says_that_it_does_not_count(
    run: Any, address: str, people: People, other: Store, tmp_path: Path
) -> None:
    reviewed(people)
    target = f"sqlite:///{tmp_path / 'other.db'}"
    run("--db", address, "bundle", "create", "all.gz", NAME)
    assert run("bundle", "verify", "all.gz").err.endswith(" 7 review records; all sound\n")
    assert run("--db", target, "bundle", "load", "all.gz").out.endswith(f"head {NAME}@2, 7 review records\n")
    assert run("--db", target, "proposals", NAME, "--format", "ndjson").out == ""
    shown = [
        json.loads(line) for line in run("--db", target, "proposals", "--all", "--format", "ndjson").out.splitlines()
    ]
    assert [(each["proposal"], each["state"], each["comments"]) for each in shown] == [
        (f"{NAME}#2", "merged elsewhere", 0),
        (f"{NAME}#1", "rejected elsewhere", 1),
    ]
    result = run("--db", target, "proposal", f"{NAME}#1")
    first, *rest = result.out.splitlines()
    assert first == f"elsewhere     {NAME}#1, rejected; nothing of it counts here"
    assert [line.split()[0] for line in rest] == ["proposed", "commented", "amended", "rejected"]
    assert " by bob (round 1, on C:N b1 a3): why é?" in rest[1]
    found = json.loads(run("--db", target, "proposal", f"{NAME}#2", "--format", "json").out)
    assert [each["verdict"] for each in found["elsewhere"][0]["records"]] == ["proposed", "approved", "merged"]
    assert found.keys() == {"proposal", "elsewhere"}
    assert run("--db", target, "proposal", f"{NAME}#3").code == 1
    assert run("--db", target, "approve", f"{NAME}#1", "--author", "eve").code == 1

    # Beside a proposal that is here.
    other.reviews.propose(game(**BOTH, N="b1c3", B="c1d2"), NAME, author="dan")
    text = run("--db", target, "proposal", f"{NAME}#1").out
    assert text.startswith(f"proposal      {NAME}#1\nstate         open\n")
    assert f"\nelsewhere     {NAME}#1, rejected; nothing of it counts here\n" in text
    found = json.loads(run("--db", target, "proposal", f"{NAME}#1", "--format", "json").out)
    assert (found["state"], found["approvals"], len(found["elsewhere"])) == ("open", [], 1)
    result = run("--db", target, "push", "--remote", address, NAME, "--reviews")
    assert result.out == f"{NAME}: up to date, head {NAME}@2, 1 review record\n"
