"""Loads that state what they are based on: refused, merged, and never at the cost of somebody else's change."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ggn_store import ConflictError, InputError, Store, UnknownNameError, merge, parse, read_definition
from ggn_store.api.loading import merging
from ggn_store.api.teams.history import History
from ggn_store.errors import DocumentError, HeadMovedError
from ggn_store.model.documents.document import Envelope
from ggn_store.model.teams.revision import Revision
from ggn_store.store.rulesets import pieces
from tests.oracles.merging import expected_merge
from tests.support.databases import MOSTLY_SQLITE
from tests.support.edits import Draft, drafts, edited, plain_of
from tests.support.program import Command, on_terminal, write
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.strategies import BOARDS, DIALECTS, entries
from tests.support.unhurried import unhurried

Json = dict[str, Any]
EMPTY, ENEMY, OWN = ([{"must": {"a1": state}}] for state in ("empty", "enemy", "C:P"))


def pawn(**to: Any) -> Json:
    return {"C:P": {"e2": to}, "C:R": {"a1": {"a2": EMPTY}}}


BASE = pawn(e3=EMPTY, e4=EMPTY)
OURS, THEIRS = pawn(e3=ENEMY, e4=EMPTY), pawn(e3=EMPTY, e4=ENEMY)
OTHER = pawn(e3=OWN, e4=EMPTY)


def content(store: Store, reference: str = "game") -> Json:
    return store.ruleset(reference).document().data()


def numbers(store: Store) -> list[int]:
    return [entry.revision.number for entry in store.history.log("game")]


@pytest.fixture
def moved(store: Store) -> Store:
    """A store whose head has moved on from revision 1."""
    store.load(BASE, "game", author="Ann")
    store.load(THEIRS, "game", author="Bob")
    return store


def test_what_is_based_on_an_old_revision_is_refused_and_both_sides_are_told(moved: Store) -> None:
    with pytest.raises(HeadMovedError) as caught:
        moved.load(OURS, "game", base="1")
    assert str(caught.value).split("\n") == [
        "game has moved on: its newest revision is game@2, and this is based on game@1; nothing is stored",
        "ours: 1 piece, 1 entry: 1 possibility changed",
        "theirs (game@2): 1 piece, 1 entry: 1 possibility changed",
        "the two changed different things: --merge (in Python merge=True) makes one revision of them",
    ]
    merge = caught.value.merge
    assert [entry[2].destination for entry in merge.ours.entries()] == ["e3"]
    assert [entry[2].destination for entry in merge.theirs.entries()] == ["e4"]
    assert merge.conflicts == ()
    assert numbers(moved) == [2, 1]


@pytest.mark.parametrize("known", [THEIRS, BASE], ids=["both changed the same", "only the other side changed"])
def test_what_the_newest_revision_has_already_is_not_called_different(moved: Store, known: Json) -> None:
    with pytest.raises(HeadMovedError, match=r"\ngame@2 has all of that already: there is nothing to load$"):
        moved.load(known, "game", base="1")
    assert moved.load(known, "game", base="1", merge=True).status == "unchanged"


def test_changes_of_different_entries_are_merged(moved: Store) -> None:
    merged = moved.load(OURS, "game", base="1", merge=True, author="Cy", message="mine")
    assert (merged.number, merged.parent, merged.merged, merged.status) == (3, 2, None, "merged")
    assert (merged.author, merged.message) == ("Cy", "mine\n\nmerged with game@2, based on game@1")
    assert content(moved) == pawn(e3=ENEMY, e4=ENEMY)
    again = moved.load(OURS, "game", base="1", merge=True)
    assert (again.number, again.status) == (3, "unchanged")
    assert moved.load(OTHER, "game", base="3").status == "new"  # on the newest, there is nothing to merge
    assert moved.upkeep.check() == []


def test_a_merge_without_a_message_says_what_was_merged(moved: Store) -> None:
    assert moved.load(OURS, "game", base="1", merge=True).message == "merged with game@2, based on game@1"


def test_changes_of_the_same_entry_are_conflicts_and_nothing_is_stored(moved: Store) -> None:
    moved.load(pawn(e3=OWN, e4=ENEMY), "game")
    with pytest.raises(ConflictError, match="1 conflict: C:P e2 e3; base the document on game@3") as caught:
        moved.load(OURS, "game", base="1", merge=True)
    [conflict] = caught.value.merge.conflicts
    assert conflict.path == ("C:P", "e2", "e3")
    assert [value[0].must for value in (conflict.base, conflict.ours, conflict.theirs)] == [
        *({"a1": "empty"}, {"a1": "enemy"}, {"a1": "C:P"}),
    ]
    assert caught.value.exit_code == 3
    assert numbers(moved) == [3, 2, 1]


def test_what_was_to_be_the_first_revision_is_merged_with_one_that_is_there(moved: Store) -> None:
    with pytest.raises(HeadMovedError, match="game is there already: its newest revision is game@2, and this was to"):
        moved.load({"C:N": {"b1": {"c3": EMPTY}}}, "game", base="0")
    merged = moved.load({"C:N": {"b1": {"c3": EMPTY}}}, "game", base="0", merge=True)
    assert merged.message == "merged with game@2, based on no revision"
    assert content(moved) == THEIRS | {"C:N": {"b1": {"c3": EMPTY}}}
    with pytest.raises(ConflictError, match="1 conflict: C:P e2 e4"):
        moved.load(BASE, "game", base="0", merge=True)


def test_a_base_may_be_a_tag_or_a_digest_and_must_be_there(moved: Store) -> None:
    lineage = moved.ruleset("game@1").revision.lineage
    assert moved.load(OURS, "game", base=f"sha256:{lineage[:12]}", merge=True).number == 3
    with pytest.raises(UnknownNameError, match='game has no tag "stable"'):
        moved.load(OURS, "game", base="stable", merge=True)
    with pytest.raises(UnknownNameError, match="game has no revision 9"):
        moved.load(OURS, "game", base="9", merge=True)


def test_a_merge_needs_a_base(moved: Store) -> None:
    with pytest.raises(InputError, match="a merge needs to know what the document is based on"):
        moved.load(OURS, "game", merge=True)
    with pytest.raises(InputError, match="a merge needs to know what the document is based on"):
        moved.load_all(["game.json"], merge=True)
    assert numbers(moved) == [2, 1]


def test_who_is_overtaken_while_merging_merges_again_and_is_waited_for(
    moved: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    merge_sides = merging.merge_sides
    faster = [pawn(e3=EMPTY, e4=ENEMY) | {piece: {"b1": {"c3": EMPTY}}} for piece in ("C:N", "C:B")]

    def overtaken(*sides: Any) -> Any:
        found = merge_sides(*sides)
        if faster:
            loaded.append(faster.pop())
        return found

    loaded: list[Json] = []
    writing = moved.session.database.writing

    def write_first() -> Any:
        if loaded:
            document = loaded.pop()
            moved.load(document, "game")
        return writing()

    monkeypatch.setattr(merging, "merge_sides", overtaken)
    monkeypatch.setattr(moved.session.database, "writing", write_first)
    merged = moved.load(OURS, "game", base="1", merge=True)
    assert (merged.number, merged.parent) == (4, 3)
    assert content(moved) == pawn(e3=ENEMY, e4=ENEMY) | {"C:B": {"b1": {"c3": EMPTY}}}
    assert len(loaded) == 1, "the second who is faster comes when it is written already, and has to wait"


def test_several_who_merge_at_once_lose_nothing(store: Store) -> None:
    squares = [f"{file}{rank}" for file in "abcd" for rank in (3, 4)]
    store.load(BASE, "game")
    made: list[Revision] = []

    def add(square: str) -> None:
        made.append(store.load(pawn(e3=EMPTY, e4=EMPTY, **{square: EMPTY}), "game", base="1", merge=True))

    threads = [threading.Thread(target=add, args=(square,)) for square in squares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(revision.number for revision in made) == list(range(2, 10))
    assert all(revision.parent == revision.number - 1 for revision in made)
    assert content(store)["C:P"]["e2"].keys() == {"e3", "e4", *squares}
    assert store.upkeep.check() == []


BIG = "8x8"


def test_pieces_that_nobody_changed_are_not_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def document(content: Json) -> Any:
        return parse(json.dumps(content), envelope=Envelope(board=BIG))

    read: list[str] = []
    verified = pieces.verified
    monkeypatch.setattr(
        pieces, "verified", lambda *given: (read.append(given[1].identifier), verified(*given))[1]  # type: ignore[func-returns-value]
    )  # fmt: skip
    store.load(document(BASE), "game")
    store.load(document(THEIRS), "game")
    with pytest.raises(HeadMovedError) as caught:
        store.load(document({**BASE, "C:R": {"a1": {"a3": EMPTY}}}), "game", base="1")
    assert [change.piece for change in caught.value.merge.theirs.pieces] == ["C:P"]
    assert [change.piece for change in caught.value.merge.ours.pieces] == ["C:R"]
    read.clear()
    assert store.load(document(OURS), "game", base="1", merge=True).number == 3
    assert read == ["C:P", "C:P"]  # of the base and of the head
    read.clear()
    assert str(store.history.diff("game@1", "game")) == "1 piece, 2 entries: 2 possibilities changed"
    assert str(store.history.diff(document(THEIRS), "game")) == "1 piece, 1 entry: 1 possibility changed"
    assert read == ["C:P", "C:P", "C:P"]
    assert content(store) == pawn(e3=ENEMY, e4=ENEMY)
    assert store.upkeep.check() == []


# --- random edits of two users ---


def on_a_board(draft: Draft) -> Draft:
    """A draft on a board that was declared and holds all that its edits can name, where it can have one."""
    squares = {square for _, source, destination in entries(draft.content) for square in (source, destination)} - {"*"}
    for board, shape in zip(BOARDS, ("800", "27x10", "4x4x4"), strict=True):
        if squares & set(board):
            declared = Draft(draft.dialect, draft.content, draft.fields | {"board": shape})
            try:
                declared.document()
            except DocumentError:
                return draft
            return declared
    return draft


def agreement(store: Store, dialect: str, examples: int, seen: dict[str, int]) -> None:
    """Two users edit one revision: the second one's load is both edits, or tells of the conflicts."""
    count = 0

    @unhurried(examples)
    @given(data=st.data())
    def agree(data: st.DataObject) -> None:
        nonlocal count
        count += 1
        base = data.draw(drafts(dialect))
        base = on_a_board(base) if data.draw(st.booleans()) else base
        theirs = data.draw(edited(base))
        ours = data.draw(edited(base, theirs))
        for draft in (base, ours, theirs):
            draft.fields.pop("definition", None)
        try:
            documents = [draft.document() for draft in (base, ours, theirs)]
        except DocumentError:  # an edit names a square that is not on the board
            assume(False)
        kept, fields, conflicts = expected_merge(base, ours, theirs)
        name = f"{dialect}-{examples}-{count}"
        store.load(documents[0], name)
        head = store.load(documents[2], name)
        if conflicts:
            with pytest.raises(ConflictError) as caught:
                store.load(documents[1], name, base="1", merge=True)
            assert {conflict.path for conflict in caught.value.merge.conflicts} == conflicts
            assert store.ruleset(name).revision == head
            seen["conflict"] = seen.get("conflict", 0) + 1
        else:
            store.load(documents[1], name, base="1", merge=True)
            found = store.ruleset(name).document()
            assert plain_of(found) == kept
            assert found.envelope == Envelope(**fields)
            is_both = documents[0].digest not in (documents[1].digest, documents[2].digest)
            seen["merge" if is_both else "one side"] = seen.get("merge" if is_both else "one side", 0) + 1

    agree()


@pytest.mark.parametrize("module_store", MOSTLY_SQLITE, indirect=True)
@pytest.mark.parametrize("examples", [pytest.param(9, id="few"), pytest.param(250, id="many", marks=pytest.mark.long)])
def test_a_load_on_an_old_base_is_both_edits_or_a_conflict(module_store: Store, examples: int) -> None:
    seen: dict[str, int] = {}
    for dialect in DIALECTS:
        agreement(module_store, dialect, examples, seen)
    assert min(seen[kind] for kind in ("conflict", "merge", "one side")) > 5, seen
    assert module_store.upkeep.check() == []


# --- the command line ---


def told(text: str) -> str:
    return re.sub(r"[0-9.]+ s \([0-9,]+/s\)", "TIME", text)


def test_load_tells_what_both_sides_changed_and_merges_if_it_may(ggn: Command) -> None:
    for name, document in {"game": BASE, "theirs": THEIRS, "ours": OURS, "other": OTHER}.items():
        write(f"{name}.json", document)
    assert ggn("load", "game.json", "--author", "Ann", "-m", "begin", "--base", "0").code == 0
    assert ggn("load", "theirs.json", "--name", "game", "--base", "1").code == 0
    refused = ggn("load", "ours.json", "--name", "game", "--base", "1")
    assert (refused.code, refused.out) == (3, "1 document: 1 failed; nothing is loaded\n")
    assert refused.err.splitlines() == [
        "ours.json: not loaded",
        "  game has moved on: its newest revision is game@2, and this is based on game@1; nothing is stored",
        "  ours: 1 piece, 1 entry: 1 possibility changed",
        "  theirs (game@2): 1 piece, 1 entry: 1 possibility changed",
        "  the two changed different things: --merge (in Python merge=True) makes one revision of them",
        "ours:",
        *("  ~ C:P", "  ~   e2", "  ~     e3 must a1=enemy", "  -       must a1=empty", "  +       must a1=enemy"),
        "theirs:",
        *("  ~ C:P", "  ~   e2", "  ~     e4 must a1=enemy", "  -       must a1=empty", "  +       must a1=enemy"),
    ]
    merged = ggn("load", "ours.json", "--name", "game", "--base", "1", "--merge", "--author", "Cy")
    assert told(merged.out) == "game@3: merged with game@2, 3 possibilities in TIME\n"
    conflict = ggn("load", "other.json", "--name", "game", "--base", "1", "--merge")
    assert conflict.code == 3
    assert conflict.err.splitlines()[-6:] == [
        "  +       must a1=enemy",
        "conflicts:",
        "  ! C:P e2 e3",
        "      base:   e3 must a1=empty",
        "      ours:   e3 must a1=C:P",
        "      theirs: e3 must a1=enemy",
    ]
    assert [(each["revision"], each["author"]) for each in ggn("log", "game").records()][::2] == [(3, "Cy"), (1, "Ann")]
    kept = ggn("load", "other.json", "--name", "game", "--base", "1", "--merge", "--conflicts", "file")
    assert kept.err.splitlines()[4:6] == [
        "  1 conflict: C:P e2 e3; base the document on game@3 and decide there, or decide with --ours or --theirs",
        "  edit file, and then run `ggn-store resolve file`",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one.json", "--merge"), "--merge needs the revision that the document is based on: --base"),
        (("--library", "chess", "--base", "1"), "--base does not go with --library"),
    ],
)
def test_base_and_merge_are_refused_where_they_mean_nothing(
    ggn: Command, arguments: tuple[str, ...], message: str
) -> None:
    result = ggn("load", *arguments)
    assert result.code == 2
    assert message in result.err


def test_a_base_is_of_one_document(ggn: Command, store: Store) -> None:
    write("one.json", BASE)
    write("two.json", BASE)
    result = ggn("load", "one.json", "two.json", "--base", "0")
    assert (result.code, result.err) == (
        1,
        "Error: --base is what one document is based on, and there are 2 files: load them without it\n",
    )
    lines = [{"name": name, "document": BASE} for name in ("one", "two")]
    Path("many.ndjson").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    stream = ggn("load", "many.ndjson", "--base", "0")
    assert stream.code == 1
    assert "--base is what one document is based on, and this is a stream of several" in stream.err
    with pytest.raises(InputError, match="--base is what one document"):
        list(store.load_all(["one.json", "two.json"], base="0"))


def test_a_conflict_of_any_command_is_told_with_both_sides(ggn: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    base, ours, theirs = (parse(json.dumps(each)) for each in (BASE, OURS, OTHER))
    found = merge(base, ours, theirs)

    def refuse(*_: object, **__: object) -> None:
        raise ConflictError("somebody was faster", found)

    monkeypatch.setattr(History, "restore", refuse)
    result = ggn("restore", "game")
    assert (result.code, result.out) == (3, "")
    lines = result.err.splitlines()
    assert (lines[0], lines[1], lines[7]) == ("Error: somebody was faster", "ours:", "theirs:")
    assert lines[-4:] == [
        *("  ! C:P e2 e3", "      base:   e3 must a1=empty", "      ours:   e3 must a1=enemy"),
        "      theirs: e3 must a1=C:P",
    ]


def test_a_conflict_has_colours_only_on_a_terminal(ggn: Command, address: str) -> None:
    for name, document in {"game": BASE, "theirs": THEIRS, "ours": OURS}.items():
        write(f"{name}.json", document)
    ggn("load", "game.json")
    ggn("load", "theirs.json", "--name", "game")
    arguments = ("--db", address, "load", "ours.json", "--name", "game", "--base", "1")
    shown = on_terminal(*arguments)
    assert shown.code == 3
    assert "\x1b[32m+       must a1=enemy\x1b[0m" in shown.out
    assert "\x1b[32m" not in on_terminal(*arguments, NO_COLOR="1").out


def test_a_game_from_a_definition_is_merged_as_its_document(store: Store) -> None:
    text = (
        'title = "Rooks"\nboard = "3x3"\nstyle = "C"\ntier = "A"\nstart = "3/3/R2 / C/c"\n\n[pieces.R]\nbetza = "R"\n'
    )
    king = text + '\n[pieces.K]\nbetza = "K"\nterminal = true\n'
    store.load(read_definition(text), "game")
    knight = {"C:N": {"a1": {"b3": [{"diff": {"board": {"a1": None, "b3": "C:N"}}}]}}}
    store.load(content(store) | knight, "game")
    with pytest.raises(ConflictError, match="definition") as caught:
        store.load(read_definition(king), "game", base="1", merge=True)
    assert [change.piece for change in caught.value.merge.ours.pieces] == ["C:K^", "c:k^"]
    assert numbers(store) == [2, 1]
