"""What a store keeps of documents, shares, hides, gives back and finds wrong, on SQLite and on Postgres."""

from __future__ import annotations

import json
import sqlite3
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import Connection, NullPool, create_engine, make_url, text

import ggn_store
from ggn_store import Document, DocumentError, GgnStoreError, NotationError, PositionError, Ruleset, Store, StoreError
from ggn_store.model.document import Envelope
from ggn_store.store import check, moves, sqlite
from ggn_store.store.fast import FastQuery
from ggn_store.store.tables import metadata
from tests import strategies
from tests.conftest import DATABASES, new_address
from tests.guards import drop_guards, drop_guards_of_file
from tests.postgres import Server

Json = dict[str, Any]

PERFORM: Json = {
    "CHESS:P": {
        "e2": {
            "e3": [{"require": {"e3": "empty"}, "perform": {"e2": None, "e3": "CHESS:P"}}],
            "e4": [{"require": {"e3": "empty", "e4": "empty"}, "perform": {"e2": None, "e4": "CHESS:P"}}],
        }
    },
    "chess:+k": {
        "e8": {
            "e7": [
                {"prevent": {"e7": "chess:p"}, "perform": {"e8": None, "e7": "chess:k"}},
                {"require": {"e7": "enemy"}, "perform": {"e8": None, "e7": "chess:k"}},
            ]
        }
    },
}
MUST_DENY: Json = {
    "C:P": {
        "e2": {"e3": [{"must": {"e3": "empty"}}], "d3": [{"must": {"d3": "enemy"}}, {"deny": {"d3": "enemy"}}]},
        "*": {"e3": [{}]},
    },
    "c:n": {"e3": {"*": [{"deny": {"d3": "c:p", "e2": "enemy"}}]}},
}
DIFF: Json = {
    "C:P": {
        "e2": {
            "e3": [{"must": {"e3": "empty"}, "diff": {"board": {"e2": None, "e3": "C:P"}}}],
            "d3": [{"must": {"d3": "enemy"}, "diff": {"board": {"e2": None, "d3": "C:P"}, "hands": {"C:P": 1}}}],
        }
    },
    "C:+K^'": {
        "*": {"d3": [{"deny": {"d3": "c:p"}, "diff": {"hands": {"C:+K^'": -1}, "toggle": False}}, {"diff": {}}]}
    },
    "c:r": {"d3": {"d1": [{"must": {"d2": "empty", "d1": "C:P"}, "diff": {"board": {"d1": "c:r", "d3": None}}}]}},
}
DOCUMENTS = {"perform": PERFORM, "must-deny": MUST_DENY, "diff": DIFF}
BOARD = {"e2": "C:P", "d3": "c:r"}


def changed(document: Json, piece: str = "C:P") -> Json:
    """The document with one more possibility of one piece."""
    copy: Json = json.loads(json.dumps(document))
    source = next(iter(copy[piece]))
    destination = next(iter(copy[piece][source]))
    copy[piece][source][destination].append({"must": {source: "empty"}, **({"diff": {}} if document is DIFF else {})})
    return copy


@contextmanager
def raw(address: str) -> Iterator[Connection]:
    """A transaction on the database itself, past the store and its checks."""
    url = make_url(address)
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    with create_engine(url, poolclass=NullPool).begin() as connection:
        yield connection


def counts(address: str) -> dict[str, int]:
    """The number of rows of every table."""
    with raw(address) as connection:
        return {
            name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one() for name in metadata.tables
        }


def use(address: str, *, upgrade: bool = False) -> None:
    """Open a store and ask it something."""
    with Store.open(address, upgrade=upgrade) as store:
        store.list()


def text_of(document: Json) -> str:
    return ggn_store.parse(document).canonical()


def answers(found: Iterable[ggn_store.Move]) -> list[tuple[str, str, str, int]]:
    return [(move.piece, move.source, move.destination, move.ordinal) for move in found]


# --- loading again ---


@pytest.mark.parametrize("dialect", DOCUMENTS)
def test_loading_the_same_content_again_changes_no_table(store: Store, address: str, dialect: str) -> None:
    first = store.load(DOCUMENTS[dialect], "game")
    before = counts(address)
    assert (str(first), first.status, first.dialect) == ("game@1", "new", dialect)
    for source in (DOCUMENTS[dialect], ggn_store.parse(store.ruleset("game").export())):
        again = store.load(source, "game")
        assert again.status == "unchanged"
        assert again == first
    assert counts(address) == before
    assert store.check() == []


def test_text_that_says_the_same_in_another_way_is_the_same_content(store: Store, address: str, tmp_path: Path) -> None:
    store.load(DIFF, "game")
    before = counts(address)
    shuffled: Json = json.loads(json.dumps(DIFF))
    entry = shuffled["c:r"]["d3"]["d1"]
    entry[0] = {"diff": {"toggle": True, "board": {"d3": None, "d1": "c:r"}}, "deny": {}, "must": {}} | {
        "must": {"d1": "C:P", "d2": "empty"}
    }
    path = tmp_path / "game.json"
    path.write_text(json.dumps(shuffled, indent=5).replace("C:P", "\\u0043:P"), encoding="utf-8")
    assert store.load(path).status == "unchanged"
    assert counts(address) == before


def test_changed_content_under_the_same_name_is_the_next_revision(store: Store, address: str) -> None:
    first = store.load(DIFF, "game", message="begin", author="Ann")
    before = counts(address)
    second = store.load(changed(DIFF), "game", message="go on", author="Ben")
    after = counts(address)
    assert (str(second), second.status, second.message, second.author) == ("game@2", "new", "go on", "Ben")
    assert second.digest != first.digest
    assert {name: after[name] - before[name] for name in ("ruleset", "revision", "revision_piece", "board")} == {
        "ruleset": 0,
        "revision": 1,
        "revision_piece": 3,
        "board": 0,
    }
    # Of three pieces two are as they were: they are shared, with all that hangs on them.
    assert after["piece"] - before["piece"] == 1
    assert after["variant"] - before["variant"] == 3
    assert (str(store.load(DIFF, "game")), store.ruleset("game@1").revision.message) == ("game@3", "begin")
    assert counts(address) == after | {"revision": 3, "revision_piece": 9, "audit": 3}
    assert store.check() == []


def test_an_earlier_revision_answers_and_exports_as_it_did(store: Store) -> None:
    store.load(DIFF, "game")
    handle = store.ruleset("game")
    moves_before = handle.moves(BOARD)
    store.load(changed(DIFF), "game")
    assert handle.moves(BOARD) == moves_before
    for reference, document in (("game@1", DIFF), ("game@2", changed(DIFF)), ("game", changed(DIFF))):
        assert store.ruleset(reference).export() == text_of(document)
    assert store.ruleset("game@1").moves(BOARD) == moves_before
    assert answers(store.ruleset("game").moves({"d3": "C:P"}, piece="C:P")) == []
    assert str(store.ruleset("game").revision) == "game@2"


def test_one_document_under_two_names_is_stored_once(store: Store, address: str) -> None:
    first = store.load(DIFF, "one")
    before = counts(address)
    second = store.load(DIFF, "two/of/them")
    assert second.status == "new"
    assert (second.number, second.digest, second.board_id) == (1, first.digest, first.board_id)
    assert counts(address) == before | {"ruleset": 2, "revision": 2, "revision_piece": 6, "audit": 2}
    assert store.ruleset("one").moves(BOARD) == store.ruleset("two/of/them").moves(BOARD)


@pytest.mark.parametrize(
    "envelope",
    [Envelope(schema="https://example.org/1"), Envelope(title="Chess"), Envelope(start="8/8/8/8/8/8/8/8 / C/c")],
    ids=lambda envelope: next(iter(envelope.data())),
)
def test_another_envelope_is_another_revision_of_the_same_pieces(
    store: Store, address: str, envelope: Envelope
) -> None:
    store.load(DIFF, "game")
    before = counts(address)
    document = replace(ggn_store.parse(DIFF), envelope=envelope)
    assert str(store.load(document, "game")) == "game@2"
    assert store.load(document, "game").status == "unchanged"
    assert counts(address) == before | {"revision": 2, "revision_piece": 6, "audit": 2}
    assert store.ruleset("game").revision.envelope == envelope
    assert store.ruleset("game").export() == document.canonical()
    assert store.check() == []


def test_order_is_content_but_the_order_of_conditions_is_not(store: Store) -> None:
    store.load(MUST_DENY, "game")
    reordered = dict(reversed(MUST_DENY.items()))
    assert str(store.load(reordered, "game")) == "game@2"
    assert store.ruleset("game").pieces == ("c:n", "C:P")
    assert store.ruleset("game@1").pieces == ("C:P", "c:n")
    assert store.ruleset("game").export() == text_of(reordered)
    deeper: Json = json.loads(json.dumps(MUST_DENY))
    deeper["C:P"]["e2"]["d3"].reverse()
    assert str(store.load(deeper, "game")) == "game@3"
    assert answers(store.ruleset("game").moves({"e2": "C:P", "d3": "c:n"}, destination="d3")) == [
        ("C:P", "e2", "d3", 1)
    ]
    conditions: Json = json.loads(json.dumps(deeper))
    conditions["c:n"]["e3"]["*"] = [{"deny": {"e2": "enemy", "d3": "c:p"}}]
    assert store.load(conditions, "game").status == "unchanged"
    assert store.check() == []


# --- hiding ---


def test_a_deleted_ruleset_is_hidden_until_it_is_loaded_again(store: Store, address: str) -> None:
    store.load(DIFF, "game")
    store.load(changed(DIFF), "game")
    store.load(MUST_DENY, "other")
    before = counts(address)
    assert store.delete("game") == 2
    assert [summary.revision.name for summary in store.list()] == ["other"]
    for reference in ("game", "game@1", "game@2"):
        with pytest.raises(KeyError, match="deleted: `ggn-store restore game`, or loading it again"):
            store.ruleset(reference)
    with pytest.raises(KeyError, match="deleted"):
        store.delete("game")
    assert counts(address) == before | {"audit": 4}
    restored = store.load(changed(DIFF), "game")
    assert (restored.status, restored.number) == ("restored", 2)
    assert counts(address) == before | {"audit": 5}
    assert store.ruleset("game@1").export() == text_of(DIFF)
    assert store.load(changed(DIFF), "game").status == "unchanged"
    assert store.check() == []


def test_a_deleted_ruleset_that_comes_back_changed_goes_on_with_the_next_revision(store: Store) -> None:
    store.load(DIFF, "game")
    store.delete("game")
    revision = store.load(changed(DIFF), "game")
    assert (str(revision), revision.status) == ("game@2", "new")
    assert store.ruleset("game@1").export() == text_of(DIFF)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda store: store.ruleset("ches"), 'no ruleset "ches"; it has Game, game'),
        (lambda store: store.ruleset("GAME"), 'no ruleset "GAME"'),
        (lambda store: store.ruleset("game@4"), "no revision 4: its revisions are 1 to 2"),
        (lambda store: store.delete("nothing"), 'no ruleset "nothing"; it has Game, game'),
        (lambda store: store.delete("game@1"), "revisions are kept for good"),
        (lambda store: store.load_library("nothing"), "the library has no"),
        (lambda store: store.ruleset("game").select("C:Q"), 'no rules for "C:Q"; it has C:P'),
        (lambda store: store.ruleset("game").select("c:P"), 'no rules for "c:P"'),
        (lambda store: store.ruleset("game").select("C:P").from_("e9"), 'no rules from "e9"; it has e2'),
        (lambda store: store.ruleset("game").select("C:P").from_("e2").to("*"), r'to "\*"; it has e3, d3'),
        (lambda store: store.ruleset("game").moves({}, piece="C:Q"), 'no rules for "C:Q"'),
        (lambda store: store.ruleset("game").moves({}, source="e9"), 'no square "e9"; its board is 2x3'),
    ],
)
def test_an_unknown_name_is_a_key_error_that_says_what_there_is(
    shared: Store, ask: Callable[[Store], object], told: str
) -> None:
    with pytest.raises(KeyError, match=told) as caught:
        ask(shared)
    assert isinstance(caught.value, GgnStoreError)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def shared(module_store: Store) -> Store:
    """A store that tests only read from."""
    module_store.load(DIFF, "game")
    module_store.load(changed(DIFF), "game")
    module_store.load(MUST_DENY, "Game")
    return module_store


def test_an_empty_store_says_how_to_fill_it(store: Store) -> None:
    with pytest.raises(KeyError, match="it is empty: `ggn-store load --library`"):
        store.ruleset("chess")
    assert store.list() == ()
    assert store.check() == []


@pytest.mark.parametrize(
    "name", ["", "a b", "-a", "a@1", "a/", "../a", "é", "x'); DROP TABLE piece; --", "a\n", "a" * 201]
)
def test_a_name_that_cannot_name_a_ruleset_is_refused(shared: Store, name: str) -> None:
    with pytest.raises(NotationError, match="cannot name a ruleset"):
        shared.load(DIFF, name)
    with pytest.raises(GgnStoreError):
        shared.ruleset(name)


# --- bytes ---

LABELS = (
    *("e4", "E4", "e4 ", " e4", " ", "  ", "\u00a0", "\u200b", "0", "00", "NULL", "null", "true", "**"),
    *(
        "\u00e9",
        "e\u0301",
        "\u00c9",
        "stra\u00dfe",
        "strasse",
        "\u0130",
        "i\u0307",
        "\ufb01",
        "fi",
        "\u5317",
        "\u265e\U0001f642",
    ),
    *("tab\there", "two\nlines", "carriage\rreturn", "both\r\nof them", "back\\slash", "\\N", "\\.", "\\t", "\\"),
    *("\b\f\v", "\x01\x1f\x7f", "it's", 'say "hi"', "100%", "%s", "%%", "%(x)s", ":name", ":1", "?", "$1", "{0}", "@>"),
    *(
        "x'); DROP TABLE piece; --",
        "'; DELETE FROM square; --",
        "/* */",
        "--",
        ";",
        "[1,2]",
        "a/b~c",
        "empty",
        "CHESS:P",
    ),
)


def test_labels_are_compared_by_their_bytes_and_come_back_as_they_were(store: Store) -> None:
    following = dict(zip(LABELS, [*LABELS[1:], LABELS[0]], strict=True))
    document: Json = {
        "CHESS:P": {
            label: {after: [{"require": {after: "empty"}, "perform": {label: None, after: "CHESS:P"}}]}
            for label, after in following.items()
        }
    }
    store.load(document, "game")
    rules = store.ruleset("game")
    assert rules.export() == text_of(document)
    assert sorted(rules.board.squares) == sorted(LABELS)
    pawn = rules.select("CHESS:P")
    assert pawn.sources == LABELS
    found = rules.moves_batch([{label: "CHESS:P"} for label in LABELS])
    assert [answers(each) for each in found] == [[("CHESS:P", label, following[label], 0)] for label in LABELS]
    for label, [move] in zip(LABELS, found, strict=True):
        assert move.must == {following[label]: "empty"}
        assert move.effects is not None
        assert move.effects.board == {label: None, following[label]: "CHESS:P"}
        assert pawn.from_(label).destinations == (following[label],)
    # All standing at once, none can move: each finds the square of the next one taken, and no other's.
    assert rules.moves(dict.fromkeys(LABELS, "CHESS:P")) == []
    for label in LABELS[:12]:
        crowded: dict[str, str | None] = {**dict.fromkeys(LABELS, "CHESS:P"), following[label]: None}
        assert answers(rules.moves(crowded)) == [("CHESS:P", label, following[label], 0)]
        assert pawn.from_(label).to(following[label]).where({label: "CHESS:P"}) == rules.moves({label: "CHESS:P"})
    assert store.load(json.loads(rules.export()), "game").status == "unchanged"
    assert store.check() == []


def test_names_of_rulesets_that_differ_by_case_are_two(shared: Store) -> None:
    assert shared.ruleset("game").dialect == "diff"
    assert shared.ruleset("Game").dialect == "must-deny"


def test_identifiers_are_compared_by_their_bytes(store: Store) -> None:
    pieces = ("C:P", "C:+P", "C:-P", "C:P^", "C:P'", "C:P^'", "CC:P", "C:Q", "c:p", "c:+p", "c:p^")
    rules: Json = {
        piece: {"a1": {"a2": [{"must": {"b1": other}, "diff": {"hands": {piece: 1, other: 2}}} for other in pieces]}}
        for piece in pieces
    }
    store.load(rules, "game")
    game = store.ruleset("game")
    assert game.export() == text_of(rules)
    assert len({row["digest"] for row in game.piece_summaries()}) == len(pieces)
    asked = [(piece, other) for piece in pieces for other in pieces]
    positions = [
        ggn_store.Position({"a1": piece, "b1": other}, side="first" if piece.isupper() else "second")
        for piece, other in asked
    ]
    for (piece, other), found in zip(asked, game.moves_batch(positions), strict=True):
        assert answers(found) == [(piece, "a1", "a2", pieces.index(other))]
        assert found[0].effects is not None
        assert found[0].effects.hands == {piece: 1} | {other: 2}
    for position, other in zip(positions[: len(pieces)], pieces, strict=True):
        assert answers(game.moves(position, piece="C:P")) == [("C:P", "a1", "a2", pieces.index(other))]


# --- out again ---


@pytest.mark.parametrize("dialect", DOCUMENTS)
def test_export_is_the_canonical_document_and_loads_as_the_same(store: Store, address: str, dialect: str) -> None:
    document = DOCUMENTS[dialect] | {"$schema": "https://example.org/é%20'\\.json"}
    store.load(document, "game")
    before = counts(address)
    rules = store.ruleset("game")
    assert rules.export() == text_of(document)
    assert rules.document() == ggn_store.parse(document)
    assert store.load(json.loads(rules.export()), "game").status == "unchanged"
    assert counts(address) == before


def test_the_library_comes_back_as_its_files_are(store: Store) -> None:
    for revision, file in zip(store.load_library("examples"), ggn_store.library_files(["examples"]), strict=True):
        rules = store.ruleset(revision.name)
        path = Path(file.path)
        assert rules.export() == path.read_text(encoding="utf-8")
        assert store.load(path, revision.name).status == "unchanged"


def check_round_trip(store: Store, document: Json) -> None:
    name = f"game-{ggn_store.parse(document).digest}"
    store.load(document, name)
    exported = store.ruleset(name).export()
    assert exported == text_of(document)
    assert store.load(json.loads(exported), name).status == "unchanged"


@pytest.mark.parametrize("dialect", DOCUMENTS)
def test_random_documents_come_back_as_they_were(module_store: Store, dialect: str) -> None:
    @settings(max_examples=12, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(strategies.documents(dialect))
    def run(document: Json) -> None:
        check_round_trip(module_store, document)

    run()
    assert module_store.check() == []


@pytest.mark.long
@pytest.mark.parametrize("dialect", DOCUMENTS)
def test_many_random_documents_come_back_as_they_were(module_store: Store, dialect: str) -> None:
    @settings(max_examples=2000, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(strategies.documents(dialect))
    def run(document: Json) -> None:
        check_round_trip(module_store, document)

    run()
    assert module_store.check() == []


# --- check ---

OF_PAWN = "piece_id = (SELECT min(id) FROM piece WHERE identifier = 'C:P')"
OTHER_DIGEST = "'" + "0" * 64 + "'"

TAMPERINGS = {
    "a condition's state": f"UPDATE condition SET state = 'c:p' WHERE {OF_PAWN} AND state = 'enemy'",
    "a condition's square": f"UPDATE condition SET square = 0 WHERE {OF_PAWN} AND state = 'enemy'",
    "a condition's polarity": f"UPDATE condition SET polarity = 'deny' WHERE {OF_PAWN} AND state = 'enemy'",
    "a condition beyond the board": f"UPDATE condition SET square = 99 WHERE {OF_PAWN} AND state = 'enemy'",
    "a condition before the board": f"UPDATE condition SET square = square - 6 WHERE {OF_PAWN}",
    "no condition": f"DELETE FROM condition WHERE {OF_PAWN}",
    "a second condition on the square": "INSERT INTO condition SELECT piece_id, variant, polarity, square, 'a' "
    f"FROM condition WHERE {OF_PAWN} AND state = 'enemy'",
    "an effect less": f"DELETE FROM effect WHERE {OF_PAWN} AND becomes IS NULL AND variant = 0",
    "an effect more": "INSERT INTO effect SELECT piece_id, variant, square - 1, becomes "
    f"FROM effect WHERE {OF_PAWN} AND becomes IS NULL AND variant = 0",
    "what a square becomes": f"UPDATE effect SET becomes = 'C:Q' WHERE {OF_PAWN} AND becomes IS NULL",
    "a hand's change": "UPDATE hand_effect SET delta = 5",
    "a hand's piece": "UPDATE hand_effect SET piece = 'c:p'",
    "who is to move": "UPDATE variant SET toggle = true WHERE toggle = false",
    "no toggle": f"UPDATE variant SET toggle = NULL WHERE {OF_PAWN}",
    "a possibility's ordinal": f"UPDATE variant SET ordinal = 1 WHERE {OF_PAWN} AND destination = 1",
    "a destination's square": f"UPDATE destination SET square = 0 WHERE {OF_PAWN} AND ordinal = 1",
    "a destination in hand": f"UPDATE destination SET square = NULL WHERE {OF_PAWN} AND ordinal = 1",
    "a source's square": f"UPDATE source SET square = 0 WHERE {OF_PAWN}",
    "swapped ordinals of pieces": "UPDATE revision_piece SET ordinal = ordinal + 7; "
    "UPDATE revision_piece SET ordinal = 9 - ordinal",
    "a gap in the ordinals of pieces": "UPDATE revision_piece SET ordinal = 7 WHERE ordinal = 2",
    "a piece less": "DELETE FROM revision_piece WHERE ordinal = 1",
    "a piece's digest": f"UPDATE piece SET digest = {OTHER_DIGEST} WHERE identifier = 'C:P'",
    "a piece's identifier": "UPDATE piece SET identifier = 'C:p' WHERE identifier = 'C:P'",
    "a piece's side": "UPDATE piece SET side = 'second' WHERE identifier = 'C:P'",
    "a piece's letter": "UPDATE piece SET letter = 'Q' WHERE identifier = 'C:P'",
    "a piece's dialect": "UPDATE piece SET dialect = 'perform' WHERE identifier = 'C:P'",
    "a revision's digest": f"UPDATE revision SET digest = {OTHER_DIGEST}",
    "a revision's dialect": "UPDATE revision SET dialect = 'perform'",
    "a revision's number": "UPDATE revision SET number = 2",
    "a revision's parent": "UPDATE revision SET parent_id = id",
    "a ruleset without revisions": "DELETE FROM revision_piece; DELETE FROM revision",
    "an envelope": """UPDATE revision SET envelope = '{"title":"Draughts"}'""",
    "an envelope of other keys": """UPDATE revision SET envelope = '{"colour":"red"}'""",
    "an envelope that is a list": "UPDATE revision SET envelope = '[1]'",
    "an envelope that is no JSON": "UPDATE revision SET envelope = '{'",
    "a square's label": "UPDATE square SET label = 'zz' WHERE label = 'd2'",
    "a square's number": "UPDATE square SET number = 99 WHERE number = 5",
    "a square less": "DELETE FROM square WHERE number = 5",
    "a board's digest": f"UPDATE board SET digest = {OTHER_DIGEST}",
    "a board's shape": "UPDATE board SET shape = '3x2'",
    "a board without a shape": "UPDATE board SET shape = NULL",
    "a board whose shape is no shape": "UPDATE board SET shape = 'round'",
}
# What only SQLite lets in, where nothing enforces types, and foreign keys only for those who ask for it.
SQLITE_TAMPERINGS = {
    "a destination without a source": "UPDATE destination SET source = 5 WHERE source = 0",
    "a possibility less": "DELETE FROM variant WHERE number = 0",
    "no board": "DELETE FROM board",
    "no squares": "DELETE FROM square",
    "no pieces": "DELETE FROM piece",
    "a piece of another board": "UPDATE piece SET board_id = 99",
    "a revision of another board": "UPDATE revision SET board_id = 99",
    "text for a number": "UPDATE condition SET square = 'e4'",
    "text for a date": "UPDATE revision SET created_at = 'yesterday'",
    "bytes for text": "UPDATE condition SET state = x'ff00'",
    "bytes for an envelope": "UPDATE revision SET envelope = x'ff00'",
    "half a character for text": "UPDATE square SET label = CAST(x'ff' AS TEXT) WHERE number = 5",
}


PLACES = ("board ", "piece ", "revision ", "ruleset ", "table ")


class _UndoError(Exception):
    """Ends a transaction so that nothing of it stays."""


@pytest.fixture(scope="module", params=DATABASES)
def sound(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with one document, which nothing changes for good."""
    with (
        new_address(request.param, tmp_path_factory.mktemp("sound"), request) as address,
        Store.open(address, upgrade=True) as store,
    ):
        store.load(DIFF, "game")
        yield store
        assert store.check() == []


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_check_names_what_was_tampered_with(sound: Store, tampering: str) -> None:
    database = sound._database
    with suppress(_UndoError), database.writing() as connection:
        drop_guards(connection)
        for statement in TAMPERINGS[tampering].split("; "):
            assert connection.execute(text(statement)).rowcount > 0
        check_finds(check.check(database, connection))
        raise _UndoError


@pytest.mark.parametrize("tampering", SQLITE_TAMPERINGS)
def test_check_names_what_only_sqlite_lets_in(tampering: str, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(DIFF, "game")
        with closing(sqlite3.connect(path)) as connection, connection:
            guards = drop_guards_of_file(connection)
            assert connection.execute(SQLITE_TAMPERINGS[tampering]).rowcount > 0
            for statement in guards:
                connection.execute(statement)
        check_finds(store.check())


def test_check_of_a_store_names_the_piece_and_the_revision(store: Store, address: str) -> None:
    store.load(DIFF, "game")
    store.load(changed(DIFF, "c:r"), "game")
    assert store.check() == []
    with raw(address) as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE condition SET state = 'C:Q' WHERE state = 'C:P'"))
        connection.execute(text("UPDATE revision SET envelope = '{}' || ' ' WHERE number = 1"))
        connection.execute(text(f"UPDATE revision SET digest = {OTHER_DIGEST} WHERE number = 2"))
    found = store.check()
    # Of the content, and of the history that it is part of.
    assert [each.split(":")[0] for each in found if each.startswith("revision")] == ["revision game@2"] * 2
    assert sum("(c:r)" in each for each in found) == 2
    assert len(found) == 4


def check_finds(found: list[str]) -> None:
    """Assert that something was found, and that it reads like what it is: one line each, beginning with where."""
    assert found
    assert [each for each in found if "\n" in each or not each.startswith(PLACES)] == []


# --- positions do not leak ---


def test_a_position_leaves_nothing_for_the_next(shared: Store) -> None:
    game = shared.ruleset("game")
    full = {"e2": "C:P", "d3": "c:r", "e3": "c:r"}
    assert answers(game.moves(full, piece="C:P")) == [("C:P", "e2", "d3", 0)]
    assert answers(game.moves({"e2": "C:P"}, piece="C:P")) == [("C:P", "e2", "e3", 0)]
    assert game.moves({}, piece="C:P") == []
    held = ggn_store.Position({"e2": "C:P"}, hands={"C:+K^'": 2})
    king = [("C:+K^'", "*", "d3", 0), ("C:+K^'", "*", "d3", 1)]
    assert answers(game.moves(held)) == [("C:P", "e2", "e3", 0), *king]
    assert answers(game.moves(replace(held, hands={}))) == [("C:P", "e2", "e3", 0)]
    assert answers(game.moves(replace(held, hands=None, board={}))) == king
    batch = game.moves_batch([full, {}, held, full])
    assert [answers(each) for each in batch] == [
        [("C:P", "e2", "d3", 0), *king],
        king,
        [("C:P", "e2", "e3", 0), *king],
        [("C:P", "e2", "d3", 0), *king],
    ]
    assert answers(game.moves(full)) == [("C:P", "e2", "d3", 0), *king]


def positions_and_answers(rules: Ruleset) -> list[tuple[Json, list[ggn_store.Move]]]:
    """A few positions, each with an answer that none of the others has."""
    positions: list[Json] = [{"e2": "C:P"}, BOARD, {"e2": "C:P", "e3": "c:r", "d3": "c:n"}, {"d3": "c:r", "d1": "C:P"}]
    known = [(position, rules.moves(position, piece=None)) for position in positions]
    assert [answers(found) for _, found in known] == [
        [("C:P", "e2", "e3", 0)],
        [("C:P", "e2", "e3", 0), ("C:P", "e2", "d3", 0)],
        [("C:P", "e2", "d3", 0)],
        [],
    ]
    return known


def check_threads(rules: Ruleset, rounds: int) -> None:
    """Let threads ask at once, each about another position than the others, and each time about another one."""
    known = positions_and_answers(rules)
    together = threading.Barrier(len(known))
    wrong: list[object] = []

    def ask(index: int) -> None:
        try:
            for turn in range(rounds):
                together.wait()
                position, expected = known[(index + turn) % len(known)]
                found = rules.moves(position)
                if found != expected:
                    wrong.append((position, found))
        except Exception as error:
            together.abort()
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=[index]) for index in range(len(known))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


WITHOUT_DROPS = {piece: DIFF[piece] for piece in ("C:P", "c:r")}


def test_threads_with_different_positions_on_one_store_do_not_meet(store: Store) -> None:
    store.load(WITHOUT_DROPS, "game")
    check_threads(store.ruleset("game"), 25)


def test_threads_with_different_positions_on_one_store_in_memory_do_not_meet() -> None:
    check_threads(ggn_store.ruleset(WITHOUT_DROPS), 50)


def test_threads_can_make_rulesets_of_their_own_at_once() -> None:
    together = threading.Barrier(4)
    wrong: list[object] = []

    def make(index: int) -> None:
        try:
            for _ in range(5):
                together.wait()
                rules = ggn_store.ruleset({"C:P": {"e2": {f"e{index + 3}": [{}]}}})
                assert answers(rules.moves({"e2": "C:P"})) == [("C:P", "e2", f"e{index + 3}", 0)]
        except Exception as error:
            together.abort()
            wrong.append(error)

    threads = [threading.Thread(target=make, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("interruption", [RuntimeError, KeyboardInterrupt])
def test_a_question_that_is_broken_off_leaves_nothing_for_the_next(
    shared: Store, monkeypatch: pytest.MonkeyPatch, interruption: type[BaseException]
) -> None:
    game = shared.ruleset("game")
    for rules in (game, ggn_store.ruleset(DIFF)):
        expected = rules.moves(BOARD)

        def break_off(*_: object) -> None:
            raise interruption

        for module, function in ((moves, "reading_query"), (moves, "read_details")):
            with monkeypatch.context() as patch:
                patch.setattr(module, function, break_off)
                with pytest.raises(interruption):
                    rules.moves({"e2": "C:P", "e3": "C:P"}, query="reading")
            assert rules.moves(BOARD, query="reading") == expected
        for owner, method in ((type(rules._database), "_run"), (FastQuery, "_read")):
            fresh = ggn_store.ruleset(DIFF) if rules is not game else shared.ruleset("game")
            with monkeypatch.context() as patch:
                patch.setattr(owner, method, break_off)
                with pytest.raises(interruption):
                    fresh.moves(BOARD)
            assert fresh.moves(BOARD) == expected


def test_a_ruleset_in_memory_survives_an_interrupt_within_a_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = ggn_store.ruleset(DIFF)
    expected = rules.moves(BOARD)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for thing, method in ((rules._database.engine.dialect, "do_execute"), (rules._database, "fill")):
        with monkeypatch.context() as patch:
            patch.setattr(thing, method, interrupt)
            with pytest.raises(KeyboardInterrupt):
                rules.moves({"e2": "C:P"}, query="reading")
        assert rules.moves(BOARD) == rules.moves(BOARD, query="reading") == expected


def test_a_load_that_is_broken_off_leaves_nothing(store: Store, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store.load(DIFF, "game")
    before = counts(address)
    larger = DIFF | {"C:Q": {"h1": {"h9": [{"must": {"h8": "empty"}, "diff": {"hands": {"C:Q": 1}}}]}}}
    filled: Counter[str] = Counter()
    fill = store._database.fill

    for last in ("square", "condition", "hand_effect", "mask", "revision_piece"):

        def fill_and_break(connection: Connection, columns: Any, rows: Any, last: str = last) -> None:
            columns = list(columns)
            fill(connection, columns, rows)
            filled[columns[0].table.name] += 1
            if columns[0].table.name == last:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(store._database, "fill", fill_and_break)
            with pytest.raises(KeyboardInterrupt):
                store.load(larger, "b")
        assert filled[last] > 0
        assert counts(address) == before
        assert store.check() == []
    assert [summary.revision.name for summary in store.list()] == ["game"]


def test_a_slow_reader_of_an_export_keeps_nobody_from_writing(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 1)
    with Store.open(address, upgrade=True) as store:
        store.load(DIFF, "game")
        parts = []
        for part in store.ruleset("game").export_parts():
            parts.append(part)
            store.load(MUST_DENY | {"C:Q": {"e2": {"e3": [{}] * len(parts)}}}, "other")
        assert "".join(parts) == text_of(DIFF)


@pytest.mark.parametrize(
    "ask",
    [
        Ruleset.document,
        Ruleset.export,
        Ruleset.summary,
        Ruleset.piece_summaries,
        lambda rules: rules.board,
        lambda rules: rules.pieces,
        lambda rules: rules.moves(BOARD),
        lambda rules: rules.moves(BOARD, piece="C:P", source="e2", destination="e3"),
        lambda rules: rules.explain([ggn_store.Position(BOARD)]),
        lambda rules: rules.select("C:P").from_("e2").to("e3").where(BOARD),
        lambda rules: [rules.moves(BOARD) for _ in rules.export_parts()],
    ],
)
def test_a_ruleset_in_memory_answers_whatever_it_is_asked_first(
    ask: Callable[[Ruleset], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A store in memory has one connection: a question within a question would wait for itself.
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 1)
    assert ask(ggn_store.ruleset(DIFF))


# --- files that cannot be written ---


def test_moves_need_no_right_to_write(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(DIFF, "game")
        expected = store.ruleset("game").moves(BOARD)
    before = path.read_bytes()
    path.chmod(0o444)
    # Whoever is root may write nevertheless: what opens the file must not.
    with Store.open(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        game = store.ruleset("game")
        assert game.moves(BOARD) == expected
        assert game.moves_batch([BOARD] * 3) == [expected] * 3
        assert game.export() == text_of(DIFF)
        assert store.check() == []
        for write in (lambda: store.load(MUST_DENY, "other"), lambda: store.delete("game")):
            with pytest.raises(StoreError, match="read-only for you; nothing was stored"):
                write()
        assert store.load(DIFF, "game").status == "unchanged"  # which writes nothing
        assert game.moves(BOARD) == expected
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["store.db"]


# --- addresses and passwords ---

SECRET = "tOp-sEcret"
ADDRESSES_WITH_PASSWORDS = (
    f"postgresql://ann:{SECRET}@127.0.0.1:1/db",
    f"postgres://ann:{SECRET}@no-such-host.invalid/db",
    f"postgresql+psycopg2://ann:{SECRET}@127.0.0.1:1/db?application_name=x",
    f"postgresql://ann@127.0.0.1:1/db?password={SECRET}",
    f"postgresql://127.0.0.1:1/db?user=ann&password={SECRET}&passfile=/none",
    f"postgresql://ann:{SECRET}@127.0.0.1:1/db?nonsense=1",
    f"postgresql://ann:{SECRET}@127.0.0.1:port/db",
    f"postgresql://ann:with:{SECRET}@127.0.0.1:{SECRET}/db",
    f"postgresql://ann:{SECRET}@[::1/db",
    f"mysql://ann:{SECRET}@127.0.0.1/db",
    f"nonsense+{SECRET}://ann:{SECRET}@127.0.0.1/db",
    f"://ann:{SECRET}@127.0.0.1/db",
)


def check_error(error: StoreError) -> str:
    """Assert that an error is one clear line without the password, and that nothing below it knows it either."""
    message = str(error)
    assert "\n" not in message
    assert message
    assert SECRET not in message
    # What Python prints of an uncaught error also quotes the lines of code, which a user's program wrote.
    below = [error, error.__cause__] if error.__suppress_context__ else [error, error.__cause__, error.__context__]
    assert all(SECRET not in "".join(traceback.format_exception_only(each)) for each in below if each)
    return message


@pytest.mark.parametrize("address", ADDRESSES_WITH_PASSWORDS)
def test_a_password_is_never_shown(address: str) -> None:
    with pytest.raises(StoreError) as caught:
        use(address)
    check_error(caught.value)
    try:
        store = Store.at(address)  # connects to nothing
    except StoreError as error:
        check_error(error)
    else:
        assert SECRET not in repr(store)
        assert SECRET not in str(store._database)
        with pytest.raises(StoreError) as caught:
            store.info()
        check_error(caught.value)


def with_password(address: str) -> str:
    return make_url(address).set(password=SECRET).render_as_string(hide_password=False)


def test_a_password_is_not_shown_by_a_store_that_works(postgres_server: Server) -> None:
    address = postgres_server.create_database()
    secret = with_password(address)
    with pytest.raises(StoreError, match="empty") as caught:
        use(secret)
    check_error(caught.value)
    with Store.open(secret, upgrade=True) as store:
        rules = ggn_store.ruleset(DIFF)
        store.load(DIFF, "game")
        rules = store.ruleset("game")
        assert SECRET not in f"{store!r} {store} {rules!r} {rules} {store.info()}"
        with raw(address) as connection:
            connection.execute(text("DROP VIEW moves_flat CASCADE"))
            connection.execute(text("DROP TABLE hand_effect CASCADE"))
        for ask in (lambda: rules.export(), lambda: store.load(changed(DIFF), "game"), lambda: store.check()):
            with pytest.raises(StoreError, match="a table is missing") as caught:
                ask()
            check_error(caught.value)
    postgres_server.drop_database(address)


def test_a_server_that_cannot_be_reached_is_a_clear_error() -> None:
    with pytest.raises(StoreError, match=r"^postgresql://ann@127\.0\.0\.1:1/db: .* refused") as caught:
        use("postgresql://ann@127.0.0.1:1/db")
    check_error(caught.value)


def test_a_missing_database_is_a_clear_error(postgres_server: Server) -> None:
    url = make_url(postgres_server.url).set(database="ggn_test_of_nobody", password=SECRET)
    with pytest.raises(StoreError, match=r"ggn_test_of_nobody.* does not exist") as caught:
        use(url.render_as_string(hide_password=False))
    assert "cannot be reached" not in check_error(caught.value)


def test_an_unknown_user_is_a_clear_error(postgres_server: Server) -> None:
    url = make_url(postgres_server.url).set(username="ggn_test_nobody", password=SECRET)
    with pytest.raises(StoreError, match=r"ggn_test_nobody.* does not exist") as caught:
        use(url.render_as_string(hide_password=False))
    check_error(caught.value)


def test_what_is_no_sqlite_database_is_a_clear_error_and_left_alone(tmp_path: Path) -> None:
    for name, content in (("text.db", b"Dear diary,\n" * 1000), ("short.db", b"chess")):
        path = tmp_path / name
        path.write_bytes(content)
        for upgrade in (False, True):
            with pytest.raises(StoreError, match="is not a SQLite database") as caught:
                use(str(path), upgrade=upgrade)
            check_error(caught.value)
        assert path.read_bytes() == content


def test_a_damaged_file_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(DIFF, "game")
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(StoreError, match="damaged: restore it") as caught, Store.open(str(path)) as store:
        store.ruleset("game").export()
    check_error(caught.value)


@pytest.mark.parametrize("upgrade", [False, True])
def test_the_database_of_another_program_is_named_and_left_alone(tmp_path: Path, upgrade: bool) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE piece (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("INSERT INTO piece VALUES (1, 'rook')")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"tables of something else|already exists") as caught:
        use(str(path), upgrade=upgrade)
    check_error(caught.value)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["other.db"]


@pytest.mark.parametrize("upgrade", [False, True])
def test_a_missing_directory_is_a_clear_error(tmp_path: Path, upgrade: bool) -> None:
    with pytest.raises(StoreError, match="directory") as caught:
        use(f"sqlite:///{tmp_path}/missing/store.db", upgrade=upgrade)
    check_error(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_as_a_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"directory|cannot be opened") as caught:
        use(str(tmp_path))
    check_error(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "address",
    [
        "",
        "mysql://a@b/c",
        "postgresql:/a",
        "sqlite://host/x.db",
        "://",
        "sqlite:///x.db?nonsense=1",
        "a\0b.db",
        "http://x/y",
    ],
)
def test_what_is_no_address_of_a_store_is_a_clear_error(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError) as caught:
        use(address)
    check_error(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ["a\0b", "a\ud800b"])
def test_words_that_no_database_can_hold_are_refused_by_both(store: Store, address: str, words: str) -> None:
    before = counts(address)
    for author, message in ((words, None), (None, words)):
        with pytest.raises(GgnStoreError) as caught:
            store.load(DIFF, "game", author=author, message=message)
        assert "server" not in str(caught.value)
    with pytest.raises(DocumentError):
        store.load({"CHESS:P": {words: {"e4": [{"perform": {"e4": None}}]}}}, "game")
    assert counts(address) == before


# --- the declared board ---


def test_a_declared_board_refuses_what_is_outside(store: Store, address: str, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_text(json.dumps(DIFF), encoding="utf-8")
    sidecar = path.with_suffix(".toml")
    before = counts(address)
    sidecar.write_text('board = "4x4"', encoding="utf-8")
    with pytest.raises(DocumentError, match=r'game\.json:1:\d+ /C:P/e2.*"e2"') as caught:
        store.load(path)
    assert len(caught.value.problems) > 1
    assert counts(address) == before
    sidecar.write_text('board = "8x8"', encoding="utf-8")
    store.load(path)
    game = store.ruleset("game")
    assert (game.board.shape, len(game.board.squares)) == ((8, 8), 64)
    assert answers(game.moves(BOARD | {"h8": "c:r"})) == answers(game.moves(BOARD))
    for asked in (lambda: game.moves(BOARD | {"i1": "c:r"}), lambda: game.moves_batch([BOARD, {"a9": "C:P"}])):
        with pytest.raises(PositionError, match="not on the board of game@1, which is 8x8"):
            asked()
    with pytest.raises(KeyError, match='no square "i1"; its board is 8x8'):
        game.moves(BOARD, source="i1")
    assert store.check() == []


def test_a_board_that_was_not_declared_refuses_no_position(shared: Store) -> None:
    game = shared.ruleset("game")
    assert answers(game.moves(BOARD | {"z99": "c:r"})) == answers(game.moves(BOARD))


def test_another_declared_board_is_another_revision_with_pieces_of_its_own(store: Store, address: str) -> None:
    document = ggn_store.parse(DIFF)
    store.load(document, "game")
    before = counts(address)
    wider: Document = replace(document, envelope=Envelope(board="8x8"))
    assert str(store.load(wider, "game")) == "game@2"
    assert counts(address)["piece"] == 2 * before["piece"]
    assert store.ruleset("game").export() == store.ruleset("game@1").export()
    assert store.ruleset("game").moves(BOARD) == store.ruleset("game@1").moves(BOARD)
    assert store.check() == []
