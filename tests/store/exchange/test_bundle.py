"""Bundles: what is written, that nothing wrong is ever taken, and that half a bundle is none."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ggn_store import InputError, Store, StoreError, UnknownNameError, limits
from ggn_store.api.teams.bundles import verify_bundle
from ggn_store.documents import bundle_reader
from ggn_store.model.documents.board import Board, box
from ggn_store.model.documents.document import Envelope, revision_digest
from ggn_store.model.teams.revision import lineage
from ggn_store.model.teams.transfer import DivergedError
from ggn_store.store.exchange.offer import StoreSource
from tests.support.exchanged import BOTH, Asked, exports, game, history, holds, lines, pack, sound, tag, tags

Json = dict[str, Any]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Store]:
    """A store with two rulesets, one of three revisions and with tags, that share pieces."""
    with Store.open(f"sqlite:///{tmp_path / 'made.db'}") as store:
        store.load(
            {"$schema": "https://example.org/", **game(**BOTH, N="b1c3")}, "team/game", author="Ann", message="é"
        )
        store.load(game(**BOTH, N="b1a3"), "team/game", author="Bob")
        store.load({"C:R": {"*": {"a3": [{"must": {"a2": "empty"}, "deny": {"a1": "C:R"}}]}}}, "other")
        store.load(game(**BOTH, N="b1d2"), "team/game")
        tag(store, "team/game", "stable", 2)
        yield store


@pytest.fixture
def file(made: Store, tmp_path: Path) -> Path:
    """A bundle of all of it."""
    made.exchange.create_bundle(tmp_path / "all.gz")
    return tmp_path / "all.gz"


def refused(bundle: Any, said: str | None = None) -> str:
    """What is said of a bundle that is refused: one line, with the number of the line that is wrong."""
    with pytest.raises(InputError, match=said) as caught:
        verify_bundle(bundle)
    message = str(caught.value)
    assert ": line " in message
    assert "\n" not in message
    return message


# --- there and back ---


def test_a_bundle_makes_the_same_histories_in_another_store(made: Store, file: Path, store: Store) -> None:
    results = store.exchange.load_bundle(file, tags=True)
    assert [(each.name, each.status, each.revisions, each.pieces, each.listed, each.tags) for each in results] == [
        ("other", "new", 1, 1, 1, ()),
        ("team/game", "new", 3, 5, 5, ("stable",)),
    ]
    for name in ("other", "team/game"):
        assert history(store, name) == history(made, name)
        assert exports(store, name) == exports(made, name)
    assert tags(store, "team/game") == tags(made, "team/game")
    assert store.upkeep.check() == []
    assert [each.status for each in store.exchange.load_bundle(file)] == ["unchanged"] * 2


def test_the_same_content_gives_the_same_bytes(made: Store, file: Path, store: Store, tmp_path: Path) -> None:
    store.exchange.load_bundle(file, tags=True)
    store.exchange.create_bundle(tmp_path / "again.gz")
    assert (tmp_path / "again.gz").read_bytes() == file.read_bytes()
    assert file.read_bytes()[4:8] == bytes(4)  # nor does gzip keep the time


def test_what_is_in_a_bundle_is_told(made: Store, file: Path, tmp_path: Path) -> None:
    found = verify_bundle(file)
    assert [(each.name, len(each.lineages), each.needs, each.tags) for each in found.rulesets] == [
        ("other", 1, (), ()),
        ("team/game", 3, (), ("stable",)),
    ]
    assert (found.boards, found.pieces, found.revisions, found.tags, found.outside) == (2, 6, 4, 1, 0)
    assert [each.lineages[-1] for each in found.rulesets] == [
        made.ruleset(name).revision.lineage for name in ("other", "team/game")
    ]
    assert made.exchange.create_bundle(tmp_path / "all.gz") == found
    with file.open("rb") as stream:
        assert verify_bundle(stream).rulesets == found.rulesets
    assert verify_bundle(io.BytesIO(gzip.decompress(file.read_bytes()))).sha256 == found.sha256  # unpacked


def test_the_lines_of_a_bundle_are_what_the_format_says(file: Path) -> None:
    written = gzip.decompress(file.read_bytes())
    kinds = [line["kind"] for line in lines(file)]
    assert kinds == ["bundle", *["board"] * 2, *["piece"] * 6, *["revision"] * 4, "tag", "end"]
    before, _, end = written[:-1].rpartition(b"\n")
    assert json.loads(end)["sha256"] == hashlib.sha256(before + b"\n").hexdigest()
    digests = [line["digest"] for line in lines(file) if line["kind"] == "piece"]
    assert digests == sorted(digests)


def test_a_bundle_since_a_revision_holds_what_came_after_and_names_what_it_needs(
    made: Store, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = made.ruleset("team/game@2").revision
    made.exchange.create_bundle(tmp_path / "before.gz", "team/game")
    made.load(game(**BOTH, N="b1c3"), "team/game")
    asked = Asked(monkeypatch)
    summary = made.exchange.create_bundle(tmp_path / "since.gz", "team/game", since="2")
    # Of the pieces only those that the second revision does not have: the knight of the third, and of the fourth.
    assert (len(asked.pieces), len(summary.rulesets[0].lineages), summary.outside) == (2, 2, 2)
    assert summary.rulesets[0].needs == (second.lineage,)
    assert verify_bundle(tmp_path / "since.gz") == summary
    with pytest.raises(StoreError, match=f"goes on from revisions that are not here: sha256:{second.lineage}"):
        store.exchange.load_bundle(tmp_path / "since.gz")
    assert set(holds(store).values()) == {0}
    store.exchange.load_bundle(tmp_path / "before.gz")
    [result] = store.exchange.load_bundle(tmp_path / "since.gz")
    assert (result.status, result.revisions, result.pieces, result.head) == ("forwarded", 1, 0, 4)
    assert history(store, "team/game") == history(made, "team/game")
    assert store.upkeep.check() == []
    for since in (f"sha256:{second.lineage[:12]}", "stable", "team/game@2"):
        made.exchange.create_bundle(tmp_path / "again.gz", "team/game", since=since)
        assert (tmp_path / "again.gz").read_bytes() == (tmp_path / "since.gz").read_bytes()
    with pytest.raises(InputError, match="no ruleset has gone on since 4"):
        made.exchange.create_bundle(tmp_path / "none.gz", "team/game", since="4")
    with pytest.raises(UnknownNameError, match="other has no revision 4"):
        made.exchange.create_bundle(tmp_path / "none.gz", since="4")
    assert not (tmp_path / "none.gz").exists()


def test_a_bundle_of_a_merged_history_is_the_whole_of_it(made: Store, store: Store, tmp_path: Path) -> None:
    with Store.open("sqlite://") as other:
        other.exchange.pull(made, "team/game")
        other.load(game(**BOTH, N="b1d2", R="a1a4"), "team/game")
        made.load(game(**BOTH, N="b1c3"), "team/game")
        made.exchange.pull(other, "team/game", merge=True)
    made.exchange.create_bundle(tmp_path / "merged.gz", "team/game")
    store.exchange.load_bundle(tmp_path / "merged.gz")
    assert history(store, "team/game") == history(made, "team/game")
    # Since one of the two lines: the other one and the merge are left, and go back to the third revision.
    summary = made.exchange.create_bundle(tmp_path / "line.gz", "team/game", since="4")
    needs = {made.ruleset(f"team/game@{number}").revision.lineage for number in (3, 4)}
    assert (set(summary.rulesets[0].needs), summary.revisions) == (needs, 2)
    assert verify_bundle(tmp_path / "line.gz") == summary
    assert sound(store, made)


def test_rulesets_are_chosen_from_a_bundle_and_get_other_names(file: Path, store: Store) -> None:
    [result] = store.exchange.load_bundle(file, "team/game", to="mine")
    assert (result.name, result.to) == ("team/game", "mine")
    assert [each.name for each in store.revisions()] == ["mine"]
    with pytest.raises(UnknownNameError, match=r'the bundle has no ruleset "none"; it has other, team/game'):
        store.exchange.load_bundle(file, "none")


def test_a_bundle_of_a_history_that_went_apart_is_merged_like_any(made: Store, file: Path, store: Store) -> None:
    store.exchange.load_bundle(file)
    store.load(game(**BOTH, N="b1d2", R="a1a4"), "team/game")
    made.load(game(**BOTH, N="b1c3"), "team/game")
    made.exchange.create_bundle(file)
    before = holds(store)
    with pytest.raises(DivergedError, match="gone apart since team/game@3") as caught:
        store.exchange.load_bundle(file, "team/game")
    assert caught.value.merge is not None
    assert [change.piece for change in caught.value.merge.theirs.pieces] == ["C:N"]
    assert holds(store) == before
    [result] = store.exchange.load_bundle(file, "team/game", merge=True)
    assert result.status == "merged"
    assert store.ruleset("team/game").document().data() == game(**BOTH, N="b1c3", R="a1a4")
    assert store.upkeep.check() == []


def test_a_bundle_that_cannot_be_finished_leaves_the_file_as_it_was(
    made: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()
    pieces = StoreSource.pieces

    def break_off(source: StoreSource, digests: Any) -> Any:
        yield next(iter(pieces(source, digests)))
        raise KeyboardInterrupt

    monkeypatch.setattr(StoreSource, "pieces", break_off)
    with pytest.raises(KeyboardInterrupt):
        made.exchange.create_bundle(file)
    assert file.read_bytes() == before
    assert [each.name for each in file.parent.iterdir() if each.suffix == ".part"] == []


def test_an_empty_store_gives_no_bundle(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the store has no rulesets"):
        store.exchange.create_bundle(tmp_path / "none.gz")


# --- hostile files ---

# Nothing but the seal is made of these: who seals a bundle may say of its tags what he likes.
FREE = {("tag", "author"), ("tag", "message"), ("tag", "created_at"), ("tag", "name"), ("bundle", "rulesets")}


def others(value: Any) -> list[Any]:
    """What might stand in a value's place."""
    values: list[Any] = [None, True, 7, 1.5, "", "x", [], {}, [value], {"x": value}, "\x00", "\ud800"]
    if isinstance(value, str):
        values += [value + "0", value[:-1], value[::-1], value.upper(), ("1" if value[:1] == "0" else "0") + value[1:]]
    if isinstance(value, int):
        values += [value + 1, -value, float(value) + 0.5]
    if isinstance(value, list):
        values += [value[:-1], value[::-1], [*value, *value[:1]], [*value, "x"], value[1:]]
    if isinstance(value, dict):
        values += [dict(list(value.items())[1:]), value | {"x": 1}]
    return [each for each in values if type(each) is not type(value) or each != value]


@pytest.mark.parametrize("one_in", [4, pytest.param(1, marks=pytest.mark.long)])
def test_no_value_of_a_bundle_can_be_changed(file: Path, one_in: int) -> None:
    written = lines(file)
    seen = set()
    for number, line in enumerate(written):
        for place, (key, value) in enumerate(line.items()):
            for other in others(value)[(number + place) % one_in :: one_in]:
                changed = [dict(each) for each in written]
                changed[number][key] = other
                data = [json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in changed]
                refused(pack(data, resealed=False))
                if line["kind"] != "end" and (line["kind"], key) not in FREE:
                    refused(pack(data))
                    seen.add((line["kind"], key))
    assert len(seen) == 2 + 4 + 6 + 13 + 3


def test_no_rule_of_a_piece_can_be_changed(file: Path) -> None:
    written = lines(file)
    number = next(number for number, line in enumerate(written) if line.get("identifier") == "C:R")

    def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        yield path
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            yield from places(value[key], (*path, key))

    count = 0
    for path in places(written[number]["rules"]):
        rules = json.loads(json.dumps(written[number]["rules"]))
        value = rules
        for key in path:
            value = value[key]
        for other in others(value):
            changed: list[Json] = json.loads(json.dumps(written))
            if not path:
                changed[number]["rules"] = other
            else:
                parent = changed[number]["rules"]
                for key in path[:-1]:
                    parent = parent[key]
                parent[path[-1]] = other
            data = [json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in changed]
            assert f"line {number + 1}: " in refused(pack(data))
            count += 1
    assert count > 50


def test_lines_cannot_be_left_out_repeated_or_exchanged(file: Path) -> None:
    written = lines(file)
    count = 0
    for number in range(len(written) - 1):
        refused(pack(written[:number] + written[number + 1 :])) if written[number]["kind"] != "tag" else None
        refused(pack(written[: number + 1] + written[number:]))
        refused(pack(written[:number] + written[number + 1 :], resealed=False))
        following = written[number + 1]
        if written[number]["kind"] != following["kind"]:
            exchanged = [*written[:number], following, written[number], *written[number + 2 :]]
            with pytest.raises((InputError, KeyError)):  # a bundle that does not end with its end has no seal
                verify_bundle(pack(exchanged, resealed=exchanged[-1]["kind"] == "end"))
            count += 1
    assert count == 5


def test_a_bundle_that_is_cut_off_anywhere_is_refused(file: Path) -> None:
    packed, unpacked = file.read_bytes(), gzip.decompress(file.read_bytes())
    for size in range(0, len(packed) - 1, 7):
        refused(io.BytesIO(packed[:size]))
    for size in range(0, len(unpacked) - 1, 23):
        refused(io.BytesIO(unpacked[:size]))
        refused(io.BytesIO(gzip.compress(unpacked[:size], 1)))
    for more in (b"\n", b"{}\n", packed, b"x"):
        refused(io.BytesIO(packed + more))
    refused(io.BytesIO(unpacked + b" \n"), "something after the end of the bundle")


@pytest.mark.parametrize("at", range(0, 2000, 131))
def test_a_flipped_bit_is_found(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    if 3 < at < 10:  # the name and the time that gzip could keep say nothing
        return
    data[at % len(data)] ^= 16
    refused(io.BytesIO(bytes(data)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "line 1: the file is empty"),
        (b"\n", "line 1: "),
        (b"null\n", "line 1: this is not a bundle of ggn-store"),
        (b"[]\n", "line 1: this is not a bundle of ggn-store"),
        (b'{"C:P":{}}\n', "line 1: this is not a bundle of ggn-store"),
        (
            b'{"kind":"bundle","kind":"bundle","version":1,"rulesets":[]}\n',
            "line 1: the key stands twice in one object",
        ),
        (b'{"kind":"bundle","version":4,"rulesets":7,"more":1}\n', "of version 4, and this program reads version 3"),
        (b'{"kind":"bundle","version":0,"rulesets":[]}\n', "line 1: the bundle says that its version is 0"),
        (b'{"kind":"bundle","version":1,"rulesets":[]}\n', "line 1: the bundle names no rulesets"),
        (b'{"kind":"bundle","version":1,"rulesets":[{"name":"-","needs":[]}]}\n', 'line 1: "-" cannot name a ruleset'),
        (b'{"kind":"bundle","version":1,"rulesets":[],"x":1}\n', 'line 1: the bundle has no such key: "x"'),
        (b'{"kind":"bundle","version":1}\n', "line 1: the bundle has no rulesets"),
        (b'{"kind":"board"}\n', "line 1: this is not a bundle"),
        (b"PK\x03\x04 not text \xff\n", "line 1: the text is not UTF-8"),
        (b"\x1f\x8bnothing", "line 1: the file is cut off, or its gzip data is broken"),
        (b"[" * 100_000 + b"\n", "line 1: the text is nested too deeply"),
        (
            b'{"kind":"bundle","version":1,"rulesets":[{"name":"a","needs":[' + b"[" * 70 + b"]" * 70 + b"]}]}\n",
            "line 1",
        ),
    ],
)
def test_what_is_no_bundle_is_told_so(data: bytes, said: str) -> None:
    assert said in refused(io.BytesIO(data))


def test_a_line_or_a_bundle_that_is_too_long_is_refused(file: Path) -> None:
    longest = max(len(line) for line in gzip.decompress(file.read_bytes()).splitlines(keepends=True))
    size = len(gzip.decompress(file.read_bytes()))
    for name, most, said in (
        ("bundle-line", longest, "it is longer than"),
        ("bundle-bytes", size, "the bundle unpacks to more than"),
        ("bundle-lines", len(lines(file)), "the bundle has more than"),
        ("bundle-squares", 64 + 3, "the boards have more than"),
        ("pieces", 3, "it has more than 2 pieces"),
    ):
        with limits.allow({name: most}):
            verify_bundle(file)
        with limits.allow({name: most - 1}):
            refused(file, said)


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundle_reader, "_FREE_BYTES", 100_000)
    header = b'{"kind":"bundle","version":1,"rulesets":[{"name":"a","needs":[]}]}\n'
    squares = json.dumps({"kind": "board", "digest": "0" * 64, "shape": None, "squares": ["a1"] * 10}).encode()
    packed = gzip.compress(header + squares + b" " * 50_000_000 + b"\n")
    assert len(packed) < 100_000
    refused(io.BytesIO(packed), "unpacks to more than 200 times its size")
    with limits.allow({"bundle-line": 1_000_000}):
        refused(io.BytesIO(packed), "it is longer than 1,000,000 bytes")


def sealed(
    pieces: list[Json], boards: list[Board], envelope: Json, listed: list[str], shape: str = "8x8"
) -> io.BytesIO:
    """A bundle of one revision whose digests all fit, whatever it says."""
    written: list[Json] = [{"kind": "bundle", "version": 1, "rulesets": [{"name": "game", "needs": []}]}]
    written += [
        {"kind": "board", "digest": each.digest, "shape": each.shape_text, "squares": list(each.squares)}
        for each in boards
    ]
    at = "2026-01-02T03:04:05.000006+00:00"
    written += pieces
    digest = revision_digest("diff", boards[0], Envelope(**envelope), listed)
    revision = {
        "kind": "revision",
        "ruleset": "game",
        "lineage": lineage(None, None, digest, None, None, datetime.fromisoformat(at)),
        "parent": None,
        "merged": None,
        "digest": digest,
        "dialect": "diff",
        "board": boards[0].digest,
        "envelope": envelope,
        "author": None,
        "message": None,
        "created_at": at,
        "pieces": listed,
    }
    return pack(
        [*written, revision, {"kind": "end", "boards": 0, "pieces": 0, "revisions": 0, "tags": 0, "sha256": ""}]
    )


def piece(identifier: str, rules: Json, board: Board) -> Json:
    """A piece whose digest fits, whatever its rules are."""
    content = ["diff", board.digest, identifier, rules]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {
        "kind": "piece",
        "digest": digest,
        "dialect": "diff",
        "board": board.digest,
        "identifier": identifier,
        "rules": rules,
    }


SOUND: Json = {"b1": {"c3": [{"must": {"c3": "empty"}, "diff": {"board": {"b1": None, "c3": "C:N"}}}]}}


def test_a_bundle_made_by_hand_is_taken_if_it_is_sound(store: Store) -> None:
    board = box((8, 8))
    knight = piece("C:N", SOUND, board)
    verify_bundle(sealed([knight], [board], {"board": "8x8"}, [knight["digest"]]))
    store.exchange.load_bundle(sealed([knight], [board], {"board": "8x8"}, [knight["digest"]]))
    assert store.ruleset("game").document().data() == {"C:N": SOUND}
    assert store.upkeep.check() == []


def bad(**changes: Any) -> Callable[[], tuple[list[Json], list[Board], Json, list[str]]]:
    """What `sealed` takes, with one thing otherwise."""

    def make() -> tuple[list[Json], list[Board], Json, list[str]]:
        board = changes.get("board", box((8, 8)))
        pieces = [piece(name, rules, board) for name, rules in changes.get("pieces", [("C:N", SOUND)])]
        listed = [each["digest"] for each in pieces]
        return pieces, [board, *changes.get("boards", [])], changes.get("envelope", {}), changes.get("listed", listed)

    return make


HOSTILE: dict[str, tuple[Callable[[], Any], str]] = {
    "a rule off the board": (
        bad(board=box((2, 2))),
        "names squares off its board: b1, c3|names squares off its board: c3",
    ),
    "a rule from the hand to the hand": (
        bad(pieces=[("C:N", {"*": {"*": [{"diff": {}}]}})]),
        "a move from the hand to the hand",
    ),
    "a condition that is also forbidden": (
        bad(pieces=[("C:N", {"b1": {"c3": [{"must": {"c3": "empty"}, "deny": {"c3": "empty"}, "diff": {}}]}})]),
        "forbids what must demands",
    ),
    "an unknown state": (
        bad(pieces=[("C:N", {"b1": {"c3": [{"must": {"c3": "full"}, "diff": {}}]}})]),
        "a state that GGN does not know",
    ),
    "no possibility": (bad(pieces=[("C:N", {"b1": {"c3": []}})]), "has no possibility in it"),
    "no rules": (bad(pieces=[("C:N", {})]), "has no sources in it"),
    "a bad identifier": (bad(pieces=[("C:n", SOUND)]), "not a piece identifier"),
    "another dialect": (bad(pieces=[("C:N", {"b1": {"c3": [{"must": {"c3": "empty"}}]}})]), "diff is missing"),
    "one piece twice": (
        bad(pieces=[("C:N", SOUND), ("C:N", {"b1": {"a3": SOUND["b1"]["c3"]}})]),
        "two pieces of it are called C:N",
    ),
    "a start that is none": (bad(envelope={"start": "nonsense"}), "does not fit"),
    "another board than declared": (bad(envelope={"board": "9x9"}), "its board is not the one that it declares"),
    "a board of no use": (bad(boards=[box((3, 3))]), "no revision has the board"),
    "a board that is no box": (
        bad(board=Board(tuple(reversed(box((8, 8)).squares)), (8, 8))),
        "not those of the shape",
    ),
    "a board with a square twice": (bad(board=Board(("b1", "c3", "b1"))), "a square stands twice on the board"),
    "a board with the hand": (bad(board=Board(("b1", "c3", "*"))), "is not a square"),
    "no pieces": (bad(pieces=[], listed=[]), "it has no pieces"),
    "an unknown piece": (bad(listed=["0" * 64]), "is not in the bundle"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_no_store_would_hold_is_refused_although_its_digests_fit(what: str) -> None:
    make, said = HOSTILE[what]
    assert re.search(said, refused(sealed(*make())))


def test_nothing_is_stored_of_a_bundle_that_is_wrong_at_its_end(made: Store, file: Path, store: Store) -> None:
    written = lines(file)
    written[-1]["sha256"] = "0" * 64
    with pytest.raises(InputError, match="the lines before are not those that it was made of"):
        store.exchange.load_bundle(pack(written, resealed=False))
    assert set(holds(store).values()) == {0}


def test_a_bundle_that_is_not_there_is_a_clear_error(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.gz: cannot be read: No such file"):
        store.exchange.load_bundle(tmp_path / "none.gz")
    with pytest.raises(InputError, match="cannot be read"):
        verify_bundle(tmp_path)
