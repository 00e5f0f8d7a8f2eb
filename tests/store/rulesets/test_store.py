"""What a store keeps of documents, shares, hides and gives back, on SQLite and on Postgres."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import ggn_store
from ggn_store import Document, DocumentError, GgnStoreError, PositionError, Store
from ggn_store.api.loading.games import library_files
from ggn_store.errors import NotationError
from ggn_store.model.documents.document import Envelope
from tests.support import strategies
from tests.support.stored import BOARD, DIFF, DOCUMENTS, MUST_DENY, Json, answers, changed, counts, text_of
from tests.support.stored import shared as shared

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
    assert store.upkeep.check() == []


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
    assert store.upkeep.check() == []


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
    assert store.upkeep.check() == []


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
    assert store.upkeep.check() == []


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
    assert store.upkeep.check() == []


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


def test_an_empty_store_says_how_to_fill_it(store: Store) -> None:
    with pytest.raises(KeyError, match="it is empty: `ggn-store load --library`"):
        store.ruleset("chess")
    assert store.list() == ()
    assert store.upkeep.check() == []


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
        assert move.effects.board == {label: None, following[label]: "CHESS:P"}
        assert pawn.from_(label).destinations == (following[label],)
    # All standing at once, none can move: each finds the square of the next one taken, and no other's.
    assert rules.moves(dict.fromkeys(LABELS, "CHESS:P")) == []
    for label in LABELS[:12]:
        crowded: dict[str, str | None] = {**dict.fromkeys(LABELS, "CHESS:P"), following[label]: None}
        assert answers(rules.moves(crowded)) == [("CHESS:P", label, following[label], 0)]
        assert pawn.from_(label).to(following[label]).where({label: "CHESS:P"}) == rules.moves({label: "CHESS:P"})
    assert store.load(json.loads(rules.export()), "game").status == "unchanged"
    assert store.upkeep.check() == []


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
    for revision, file in zip(store.load_library("examples"), library_files(["examples"]), strict=True):
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
    @settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
    @given(strategies.documents(dialect))
    def run(document: Json) -> None:
        check_round_trip(module_store, document)

    run()
    assert module_store.upkeep.check() == []


@pytest.mark.long
@pytest.mark.parametrize("dialect", DOCUMENTS)
def test_many_random_documents_come_back_as_they_were(module_store: Store, dialect: str) -> None:
    @settings(max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
    @given(strategies.documents(dialect))
    def run(document: Json) -> None:
        check_round_trip(module_store, document)

    run()
    assert module_store.upkeep.check() == []


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
    assert store.upkeep.check() == []


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
    assert store.upkeep.check() == []
