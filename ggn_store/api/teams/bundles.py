"""Bundles of rulesets as files: written, checked, read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any, ClassVar

from ggn_store.documents import bundle, bundle_reader
from ggn_store.documents.bundle import Part
from ggn_store.documents.bundle_reader import Bundle
from ggn_store.documents.files import STDIN
from ggn_store.errors import InputError, printable
from ggn_store.model.record import Record
from ggn_store.model.teams import ancestry
from ggn_store.model.teams.transfer import RevisionSource
from ggn_store.output import new_file


@dataclass(frozen=True, slots=True)
class BundledRuleset(Record):
    """What a bundle has of a ruleset: the lineages of its revisions, the head last, those that it needs, its tags."""

    name: str
    lineages: tuple[str, ...]
    needs: tuple[str, ...]
    tags: tuple[str, ...]

    def data(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {
            "name": self.name,
            "revisions": len(self.lineages),
            "head": self.lineages[-1],
            "needs": list(self.needs),
            "tags": list(self.tags),
        }


@dataclass(frozen=True, slots=True)
class BundleSummary(Record):
    """What is in a bundle that was found sound; `outside` is how many pieces it leaves to what it needs."""

    file: str
    rulesets: tuple[BundledRuleset, ...]
    boards: int
    pieces: int
    revisions: int
    tags: int
    outside: int
    sha256: str
    states: int = 0
    renames: int = 0
    reviews: int = 0
    DATA: ClassVar = "file boards pieces revisions tags outside sha256 rulesets"

    def data(self) -> dict[str, Any]:
        """The same as JSON data."""
        return Record.data(self) | {name: count for name in ("states", "reviews") if (count := getattr(self, name))}


def write(
    file: str | os.PathLike[str], source: RevisionSource, bases: Mapping[str, str | None], since: str | None
) -> BundleSummary:
    """Write rulesets of a source to a file, each without what its base goes back to; what is in it."""
    parts = [part for part in (_part(source, name, base) for name, base in bases.items()) if part.lineages]
    if not parts:
        raise InputError(
            "there is nothing to put into a bundle: "
            + (f"no ruleset has gone on since {since}" if since else "nothing was named, or the store has no rulesets")
        )
    with new_file(file) as stream:
        counts, sha256 = bundle.write(stream, source, parts)
    tags = {part.name: tuple(tag.name for tag in source.tags(part.name)) for part in parts}
    listed = tuple(BundledRuleset(part.name, part.lineages, part.needs, tags[part.name]) for part in parts)
    return BundleSummary(os.fspath(file), listed, **counts, sha256=sha256)


def _part(source: RevisionSource, name: str, since: str | None) -> Part:
    """The revisions of a ruleset that its head goes back to, without those that `since` does."""
    steps = source.steps(name)
    known = {step.lineage: step for step in steps}
    wanted = ancestry.ancestors(known, [steps[-1].lineage])
    if since is not None:
        wanted -= ancestry.ancestors(known, [since])
    chosen = [step for step in steps if step.lineage in wanted]
    needs = {parent for step in chosen for parent in step.parents} - wanted
    return Part(name, tuple(step.lineage for step in chosen), tuple(sorted(needs)))


def verify_bundle(file: str | os.PathLike[str] | IO[bytes]) -> BundleSummary:
    """Check everything in a bundle, without a store; raises InputError with the line that is wrong."""
    with opened(file, keep=False) as read:
        listed = tuple(
            BundledRuleset(
                name,
                tuple(step.lineage for step in read.steps(name)),
                read.needs(name),
                tuple(tag.name for tag in read.tags(name)),
            )
            for name in read.names
        )
        return BundleSummary(read.file, listed, **read.counts, outside=len(read.outside), sha256=read.sha256)


@contextmanager
def opened(file: str | os.PathLike[str] | IO[bytes], keep: bool) -> Iterator[Bundle]:
    """A bundle of a file, of a binary stream, or of standard input (`-`), found sound; raises InputError."""
    with ExitStack() as stack:
        if not isinstance(file, str | os.PathLike):
            stream, name = file, str(getattr(file, "name", "the bundle"))
        elif os.fspath(file) != STDIN:
            name = os.fspath(file)
            try:
                stream = stack.enter_context(open(name, "rb"))
            except OSError as error:
                raise InputError(f"{printable(name)}: cannot be read: {error.strerror or error}") from None
        elif sys.stdin is None:
            raise InputError("standard input: there is none")
        else:
            stream, name = sys.stdin.buffer, "standard input"
        yield stack.enter_context(bundle_reader.opened(stream, name, keep))
