"""Imports take short cuts: what they come to is held to the long way, row by row and digest by digest."""

from __future__ import annotations

import gc
import hashlib
import json
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from ggn_store import Store, collector, find_game, generate, parse, problems
from ggn_store.api.loading import ahead
from ggn_store.api.loading.loading import Loaded
from ggn_store.documents.reader import DocumentReader
from ggn_store.model.documents.document import Document, Envelope
from ggn_store.movement import entries, facts
from ggn_store.notation import json_text
from ggn_store.store.rulesets import lanes, load
from ggn_store.store.schema import tables as t
from tests.support.databases import mostly_sqlite
from tests.support.loaded import in_random_documents
from tests.support.strategies import documents

GAME: dict[str, Any] = {
    "C:P": {
        "a1": {"a2": [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:P"}}}]},
        "*": {"b2": [{"must": {"b2": "empty"}, "deny": {"b1": "C:P"}, "diff": {"hands": {"C:P": -1}}}]},
    },
    "c:p": {"a2": {"a1": [{"diff": {"board": {"a2": None, "a1": "c:p"}, "toggle": False}}]}},
}


def slowly(text: str) -> Document | None:
    return DocumentReader(None, Envelope(), copy=False).document(json_text.load(text)[0])


# --- reading ---


@in_random_documents(few=10, many=500)
def test_what_is_read_quickly_is_what_is_read_with_care(dialect: str, data: st.DataObject) -> None:
    text = json.dumps(data.draw(documents(dialect)), ensure_ascii=data.draw(st.booleans()))
    quickly = DocumentReader(None, Envelope(), copy=False).quick_document(json_text.quick_load(text))
    assert quickly is not None
    assert quickly == slowly(text) == parse(text)
    carefully = parse(json.loads(text))
    assert (quickly.board, quickly.digest) == (carefully.board, carefully.digest)


def edited(*path: Any, value: Any) -> str:
    """The text of the game with another value at a path."""
    document = json.loads(json.dumps(GAME))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(document)


TO = ("C:P", "a1", "a2")
STATE = {"ep": {"values": ["3", "none"], "initial": "none"}}


def stated(*path: Any, value: Any, state: Any = STATE) -> str:
    """The text of the game with state variables and with another value at a path, within its first possibility."""
    document = {"$state": state, **json.loads(edited("C:P", value=GAME["C:P"]))}
    inner = document["C:P"]["a1"]["a2"][0]
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(document)


WRONG = [
    edited("C:P", value={}),
    edited("C:P", "a1", value={}),
    edited(*TO, value=[]),
    edited(*TO, value={}),
    edited(*TO, value=[[]]),
    edited(*TO, 0, "must", value=None),
    edited(*TO, 0, "must", value={"*": "empty"}),
    edited(*TO, 0, "must", value={"a1": "C:P"}),
    edited(*TO, 0, "must", value={"a2": "none"}),
    edited(*TO, 0, "must", value={"a2": ["empty"]}),
    edited(*TO, 0, "must", value={"a2": True}),
    edited(*TO, 0, "deny", value={"a2": "empty"}),
    edited(*TO, 0, "require", value={"a2": "empty"}),
    edited(*TO, 0, "diff", value=None),
    edited(*TO, 0, "diff", value={"board": {"a2": 1}}),
    edited(*TO, 0, "diff", value={"board": {"a2": []}}),
    edited(*TO, 0, "diff", value={"board": {"5e": None}}),
    edited(*TO, 0, "diff", value={"gain": {}}),
    edited(*TO, 0, "diff", value={"hands": {"C:P": 0}}),
    edited(*TO, 0, "diff", value={"hands": {"C:P": True}}),
    edited(*TO, 0, "diff", value={"toggle": 1}),
    edited(*TO, 0, value={"must": {"a2": "empty"}}),
    edited("C:P", "*", "*", value=[{"diff": {}}]),
    edited("C:P", "5e", value=GAME["c:p"]["a2"]),
    edited("CHESS", value=GAME["c:p"]),
    edited("$schema", value=None),
    edited("$schema", value=[[["x"]]]),
    stated("when", value={"ep": []}),
    stated("when", value={"ep": ["4"]}),
    stated("when", value={"ep": ["3", "3"]}),
    stated("when", value={"ep": "3"}),
    stated("when", value={"ep": [3]}),
    stated("when", value={"eq": ["3"]}),
    stated("when", value=["ep"]),
    stated("diff", "state", value={"ep": "4"}),
    stated("diff", "state", value={"ep": 3}),
    stated("diff", "state", value={"ep": ["3"]}),
    stated("diff", "state", value={"eq": "3"}),
    stated("diff", "state", value=None),
    stated("action", value=None),
    stated("action", value={}),
    stated("action", value="jump"),
    stated("action", value={"name": ""}),
    stated("action", value={"name": "jump", "step": 0}),
    stated("action", value={"name": "jump", "step": 1.5}),
    stated("action", value={"name": "jump", "step": True}),
    stated("action", value={"name": "jump", "chainable": 1}),
    stated("action", value={"name": "jump", "more": 1}),
    stated("require", value={}),
    stated("must", value={}, state=None),
    stated("must", value={}, state={"ep": {"values": ["3"], "initial": "4"}}),
    stated("must", value={}, state={"ep": {"values": ["3", "3"], "initial": "3"}}),
    stated("must", value={}, state={"ep": {"values": ["3"]}}),
    stated("must", value={}, state={"": {"values": ["3"], "initial": "3"}}),
    edited(*TO, 0, "when", value={"ep": ["3"]}),
    "{}",
    "[]",
    "null",
    json.dumps(GAME).replace('{"a2": "empty"}', '{"a2": "empty", "a2": "enemy"}'),
    json.dumps(GAME).replace("-1", "NaN"),
    edited("$schema", value="x").replace('"x"', "[" * 100 + "]" * 100),
]


@pytest.mark.parametrize("text", WRONG)
def test_nothing_wrong_is_read_quickly(text: str) -> None:
    assert DocumentReader(None, Envelope(), copy=False).quick_document(json_text.quick_load(text)) is None
    assert problems(text) != []


def test_a_sound_object_does_not_vouch_for_one_that_only_seems_equal() -> None:
    # To Python, 1 is true.
    text = '{"C:P":{"a1":{"a2":[{"diff":{"toggle":true}},{"diff":{"toggle":1}},{"diff":{"hands":{"C:P":true}}}]}}}'
    assert [problem.pointer for problem in problems(text)] == [
        "/C:P/a1/a2/1/diff/toggle",
        "/C:P/a1/a2/2/diff/hands/C:P",
    ]
    value: Any = json_text.quick_load('[{"a":1,"b":null},{"a":true,"b":null}]')
    assert value[1]["a"] is True


# --- rows and digests ---


@in_random_documents(few=10, many=500)
def test_digests_are_those_of_the_canonical_json(dialect: str, data: st.DataObject) -> None:
    document = parse(json.dumps(data.draw(documents(dialect))))
    assert document.piece_digests == tuple(plain_digests(document))
    assert [piece.digest(document.dialect, document.board) for piece in document.pieces] == plain_digests(document)


def plain_digests(document: Document) -> list[str]:
    contents = [
        [document.dialect, document.board.digest, piece.identifier, piece.data(document.dialect)]
        for piece in document.pieces
    ]
    texts = [json.dumps(content, ensure_ascii=False, separators=(",", ":")) for content in contents]
    return [hashlib.sha256(text.encode()).hexdigest() for text in texts]


@in_random_documents(few=4, many=500)
def test_rows_are_those_that_the_json_says(dialect: str, data: st.DataObject) -> None:
    value = data.draw(documents(dialect))
    document = parse(json.dumps(value))
    ready = load.ready(document)
    encoder = lanes.Encoder(document.board)
    for piece in reversed(document.pieces):
        list(encoder.rows(piece))
    for piece, flat in zip(document.pieces, ready.pieces, strict=True):
        rows = load.flatten(7, piece, document.board)
        assert list(rows) == plain_rows(7, value[piece.identifier], document)
        alone = lanes.Encoder(document.board).rows_of(7, piece)
        assert alone == encoder.rows_of(7, piece)
        derived = [(7, *facts.Deriver(document.board).of(piece).row())]
        assert [list(each) for each in flat.rows(7)] == [*rows, derived, alone]
    assert (ready.possibilities, ready.conditions) == (document.possibilities, document.conditions)


def test_what_derives_rows_is_freed_without_the_collector() -> None:
    document = parse(GAME)
    gc.collect()
    gc.disable()
    try:
        encoder, deriver = lanes.Encoder(document.board), facts.Deriver(document.board)
        for piece in document.pieces:
            list(encoder.rows(piece))
            deriver.of(piece)
        freed = weakref.ref(encoder), weakref.ref(deriver)
        del encoder, deriver
        assert [each() for each in freed] == [None, None]
        assert not any(type(each) is entries._Reader for each in gc.get_objects())
    finally:
        gc.enable()


def plain_rows(key: int, sources: dict[str, Any], document: Document) -> list[list[tuple[Any, ...]]]:
    squares = {square: number for number, square in enumerate(document.board.squares)} | {"*": None}
    tables: list[list[tuple[Any, ...]]] = [[] for _ in t.PIECE_TABLES]
    number = 0
    for i, source in enumerate(sources):
        tables[0].append((key, i, squares[source]))
        for j, destination in enumerate(sources[source]):
            tables[1].append((key, i, j, squares[destination]))
            for k, possibility in enumerate(sources[source][destination]):
                diff = possibility.get("diff", {"board": possibility.get("perform", {})})
                toggle = None if document.dialect == "must-deny" else diff.get("toggle", True)
                tables[2].append((key, i, j, k, number, toggle))
                for polarity, other in (("must", "require"), ("deny", "prevent")):
                    for square, state in possibility.get(polarity, possibility.get(other, {})).items():
                        tables[3].append((key, number, polarity, squares[square], state))
                tables[4] += [(key, number, squares[square], each) for square, each in diff.get("board", {}).items()]
                tables[5] += [(key, number, held, delta) for held, delta in diff.get("hands", {}).items()]
                if "action" in possibility:
                    action = possibility["action"]
                    tables[6].append(
                        (key, number, action["name"], action.get("step", 1), action.get("chainable", False))
                    )
                tables[7] += [
                    (key, number, name, each)
                    for name, values in possibility.get("when", {}).items()
                    for each in sorted(values)
                ]
                tables[8] += [(key, number, name, each) for name, each in diff.get("state", {}).items()]
                number += 1
    return tables


@pytest.mark.parametrize("count", [0, 1, 24, 25, 26, 499, 500, 501, 1526, 4001])
def test_as_many_rows_are_stored_as_are_given(store: Store, count: int) -> None:
    labels = ["tab\there", "two\nlines", "back\\slash", "\\N", "None", "True", "a\rb", "100%s", *map(str, range(count))]
    rows = [(1, number, label, number + 1, None, 7) for number, label in enumerate(labels[:count])]
    with store.session.database.writing() as connection:
        connection.execute(t.board.insert().values(id=1, digest="d", shape=None))
        store.session.database.fill(connection, t.square.columns, iter(rows))
        assert [tuple(row) for row in connection.execute(t.square.select().order_by(t.square.c.number))] == rows


# --- other processes ---


@pytest.fixture
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes are worth it for the smallest of documents."""
    monkeypatch.setattr(ahead, "_ENOUGH", 0)
    monkeypatch.setattr(ahead, "_MEANWHILE", 0)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Documents: of every dialect, broken ones, equal ones, one with an envelope and one beside which it is wrong."""
    directory = tmp_path / "documents"
    directory.mkdir()
    text = json.dumps(GAME)
    for number in range(12):
        (directory / f"game-{number:02}.json").write_text(text.replace("C:P", f"C{number // 2}:P"), encoding="utf-8")
    (directory / "game-04.json").write_text("{", encoding="utf-8")
    (directory / "game-05.json").write_text(edited(*TO, value=[]), encoding="utf-8")
    (directory / "game-06.toml").write_text('title = "Six"\nboard = "3x3"\n', encoding="utf-8")
    (directory / "game-07.toml").write_text('title = "Seven"\nboard = "1x1"\n', encoding="utf-8")
    (directory / "lines.ndjson").write_text(f'{{"name":"line","document":{text}}}\n', encoding="utf-8")
    return directory


def told(results: list[Loaded]) -> list[tuple[Any, ...]]:
    return [
        (
            each.file,
            each.name,
            each.revision and (each.revision.status, each.revision.digest, each.revision.envelope),
            str(each.error),
            type(each.error),
            each.possibilities,
            each.conditions,
        )
        for each in results
    ]


@mostly_sqlite
@pytest.mark.usefixtures("_eager")
def test_documents_that_other_processes_read_are_the_same_in_the_same_order(
    store: Store, directory: Path, tmp_path: Path
) -> None:
    with Store.open(str(tmp_path / "alone.db")) as alone:
        expected = told(list(alone.load_all([directory])))
        exports = {revision.name: alone.ruleset(revision.name).export() for revision in alone.revisions()}
    assert told(list(store.load_all([directory], processes=2))) == expected
    assert [each[2] is None for each in expected].count(True) == 3
    assert {revision.name: store.ruleset(revision.name).export() for revision in store.revisions()} == exports
    assert store.upkeep.check() == []
    again = list(store.load_all([directory], processes=1))
    assert {each.revision.status for each in again if each.revision} == {"unchanged"}


@pytest.mark.usefixtures("_eager")
def test_the_rows_of_a_document_from_another_process_are_those_of_one_from_here(store: Store, tmp_path: Path) -> None:
    (tmp_path / "game.json").write_text(generate(find_game("hexapawn")).canonical(), encoding="utf-8")
    [result] = store.load_all([tmp_path / "game.json"], processes=1)
    assert result.revision is not None
    assert store.upkeep.check() == []
    store.load(tmp_path / "game.json", "here")
    assert len({revision.digest for revision in store.revisions()}) == 1


@pytest.mark.both
@pytest.mark.usefixtures("_eager")
def test_a_document_from_another_process_gets_the_name_that_is_asked_for(store: Store, directory: Path) -> None:
    for file, said in (("game-00.json", "None"), ("game-04.json", "the JSON is broken")):
        [result] = store.load_all([directory / file], name="asked/for", processes=1)
        assert (result.name, said in str(result.error)) == ("asked/for", True)
    assert [revision.name for revision in store.revisions()] == ["asked/for"]


@mostly_sqlite
@pytest.mark.usefixtures("_eager")
def test_a_process_that_is_killed_is_done_without(
    store: Store, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(str(tmp_path / "alone.db")) as alone:
        expected = told(list(alone.load_all([directory])))
    started = []
    start = ahead._process

    def watched() -> Any:
        started.append(start())
        return started[-1]

    monkeypatch.setattr(ahead, "_process", watched)
    results = store.load_all([directory], processes=2)
    first = next(results)
    for process in started:
        process.kill()
        process.wait()
    assert told([first, *results]) == expected


@mostly_sqlite
@pytest.mark.usefixtures("_eager")
def test_the_processes_end_with_a_load_that_is_broken_off(
    store: Store, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    start = ahead._process

    def watched() -> Any:
        started.append(start())
        return started[-1]

    monkeypatch.setattr(ahead, "_process", watched)
    results = store.load_all([directory], processes=2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    # Whether they had come to their end or not, nobody has to wait for them any more.
    assert [process.returncode is not None for process in started] == [True, True]
    assert len(store.revisions()) == 1


@pytest.mark.usefixtures("_eager")
def test_where_no_process_can_be_started_none_is_needed(
    store: Store, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(ahead, "_process", refuse)
    assert len(list(store.load_all([directory], processes=2))) == 13


def test_where_there_is_little_to_read_no_process_is_started(
    store: Store, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "_process", lambda: pytest.fail("a process was started"))
    assert len(list(store.load_all([directory], processes=2))) == 13


# --- the collector ---


def test_the_collector_is_as_it_was_after_every_load(store: Store, directory: Path) -> None:
    for was_enabled in (True, False):
        (gc.enable if was_enabled else gc.disable)()
        try:
            for _ in store.load_all([directory]):
                assert gc.isenabled() is was_enabled
            with pytest.raises(ValueError, match="JSON"):
                store.load(directory / "game-04.json")
            assert gc.isenabled() is was_enabled
        finally:
            gc.enable()


def test_the_collector_is_held_off_until_the_last_thread_is_done() -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with collector.held_off():
            inside.set()
            leave.wait()

    other = threading.Thread(target=hold)
    with collector.held_off():
        other.start()
        inside.wait()
    assert not gc.isenabled()
    leave.set()
    other.join()
    assert gc.isenabled()
