"""Random pairs of edits, loaded one after the other: merged, or in conflict and then resolved, on both databases."""

from __future__ import annotations

import os
import random
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from ggn_store import ConflictError, Store, resources
from ggn_store.api.loading.sources import DEFINITIONS, DESCRIPTIONS
from ggn_store.errors import DocumentError
from ggn_store.model.documents.document import Document
from tests.support.databases import mostly_sqlite
from tests.support.marks import chunks, take
from tests.support.source_edits import Edit, applied, at, clashing, load, pair, written

DATA = resources.directory("data")
SMALL = ("breakthrough", "clobber", "dobutsu", "jesonmor")
DEFINED = [DATA / "games" / f"{name}.toml" for name in SMALL]
DESCRIBED = [DATA / "gdl" / f"{name}.json" for name in ("checkers", "contraband")]
SIDES = ("ours", "theirs")
PAIRS = int(os.environ.get("GGN_RESOLVED_PAIRS", "2000"))
END = "# ---- below this line stands the source ----\n"


@lru_cache(maxsize=32)
def generate(text: str) -> Document:
    return (DESCRIPTIONS if text.startswith("{") else DEFINITIONS).generate(text)


def require_stored(store: Store, name: str, author: str) -> str:
    """One revision more, which is what its text generates, made of the two before by one author; the text."""
    head = store.ruleset(name)
    stored = head.document()
    text = str(stored.envelope.definition)
    wanted = generate(text)
    assert (head.revision.number, head.revision.author, head.revision.digest) == (3, author, wanted.digest)
    assert str(head.revision.message).split("\nnote: ")[0] == f"merged with {name}@2, based on {name}@1"
    if wanted.dialect != "gdl":  # of which the order of entries is its own
        assert stored == wanted
    return text


class Pair:
    """One pair in a store, and what became of it."""

    def __init__(self, store: Store, path: Path, number: int, file: Path) -> None:
        self.store, self.file, self.name = store, file, f"pairs/game{number}"
        self.text = path.read_text(encoding="utf-8")
        self.chance = random.Random(number)
        self.edits = pair(self.text, number, playable=True)

    def became(self) -> str:
        base = load(self.text)
        texts = [written(self.text, edits) for edits in self.edits]
        assert [load(text) for text in texts] == [applied(base, *edits) for edits in self.edits]
        if len({self.text, *texts}) < 3:
            return "no pair"
        try:
            first, ours, theirs = map(generate, (self.text, *texts))
        except DocumentError:
            return "no pair"
        self.store.load(first, self.name, author="Ann")
        self.store.load(theirs, self.name, author="Bob")
        try:
            found = self.store.load(ours, self.name, base="1", merge=True, conflicts=self.file, author="Cy")
        except ConflictError as error:
            assert len(self.store.history.log(self.name)) == 2
            if any(conflict.reason for conflict in error.merge.conflicts):
                return "no game together"
            return self.resolved()
        assert not clashing(*self.edits)
        together = applied(base, *self.edits[0], *self.edits[1])
        if found.status == "unchanged":
            assert (load(texts[1]), found.digest) == (together, theirs.digest)
            return "there already"
        assert load(require_stored(self.store, self.name, "Cy")) == together
        return "merged"

    def resolved(self) -> str:
        clashes = clashing(*self.edits)
        assert clashes
        sides = [self.chance.choice(SIDES) for _ in chunks(self.file.read_text(encoding="utf-8"))]
        assert sides
        take(self.file, *sides)
        text = self.file.read_text(encoding="utf-8").partition(END)[2]
        self.require_decided(load(text), clashes, sides)
        try:
            wanted = generate(text)
        except DocumentError:
            with pytest.raises(DocumentError):
                self.store.exchange.resolve(self.file, author="Dan")
            assert len(self.store.history.log(self.name)) == 2
            return "decided as no game"
        found = self.store.exchange.resolve(self.file, author="Dan")
        if wanted.digest == self.store.ruleset(f"{self.name}@2").revision.digest:
            assert (found.status, found.head) == ("unchanged", 2)
            return "decided as theirs"
        assert (found.status, found.head) == ("merged", 3)
        assert require_stored(self.store, self.name, "Dan") == text
        return "resolved"

    def require_decided(self, value: dict[str, object], clashes: list[Edit], sides: list[str]) -> None:
        """What clashed is as one of the sides has it, which were taken; all else is as both changed it."""
        base = load(self.text)
        both = [applied(base, *edits) for edits in self.edits]
        taken = []
        for edit in clashes:
            values = [at(each, edit.keys) for each in both]
            taken.append(SIDES[values.index(at(value, edit.keys))])
        assert {*taken} == {*sides}
        together = applied(base, *self.edits[1], *self.edits[0])
        for edit in clashes:
            together = applied(together, Edit(edit.keys, at(value, edit.keys), edit.write))
        assert value == together


def sweep(store: Store, paths: list[Path], numbers: range, file: Path) -> Counter[str]:
    found = Counter(Pair(store, paths[number % len(paths)], number, file).became() for number in numbers)
    assert {"merged", "resolved"} <= {*found}
    assert store.upkeep.check() == []
    print(dict(found))
    return found


@mostly_sqlite
def test_a_few_random_pairs_of_edits_are_merged_or_resolved(store: Store, tmp_path: Path) -> None:
    sweep(store, DEFINED[:2], range(6), tmp_path / "file")


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, PAIRS, 100))
def test_thousands_of_random_pairs_of_edits_are_merged_or_resolved(store: Store, tmp_path: Path, first: int) -> None:
    """Every twentieth hundred is of descriptions, which take twenty times as long to generate."""
    paths = DESCRIBED if first % 2000 == 1900 else DEFINED
    sweep(store, paths, range(first, min(first + 100, PAIRS)), tmp_path / "file")
