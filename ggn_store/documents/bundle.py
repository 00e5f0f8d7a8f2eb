"""Bundles: revisions of rulesets with their boards, pieces and tags in one file, for stores that do not meet.

A bundle is lines of JSON, packed with gzip; the same content gives the same bytes. Its lines come in this order:

- `bundle`: the version of the format, and the rulesets in it, each with the lineages that it needs: those of
  revisions that it goes on from and does not hold;
- `board`: a digest, the shape (null where squares are just listed) and the squares;
- `piece`: a digest, dialect, board, identifier, and the rules in canonical form;
- `revision`: everything that its lineage is made of, parents before children and the head of a ruleset last;
- `tag`: where it points, by lineage;
- `state`: what a ruleset was said to be, in the order in which it was said;
- `rename`: how a ruleset came to its name, the first rename first;
- `review`: what was said in the reviews of a ruleset, wherever that was: proposals round by round, verdicts, comments;
- `end`: how many lines of each kind there are, and the SHA-256 of all lines before.

A bundle is of the first version that has its kinds of lines: of version 2 with states or renames, of version 3 with
reviews.

Whatever stands in a bundle is checked when it is read: its syntax, its rules as those of any document, every digest
and lineage, and that nothing is missing, stands twice or is of no use.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

from ggn_store import limits
from ggn_store.errors import InputError
from ggn_store.model.teams.review import ReviewRecord
from ggn_store.model.teams.revision import written
from ggn_store.model.teams.transfer import RevisionSource
from ggn_store.notation import json_text

VERSION: Final = 3
KINDS: Final = ("bundle", "board", "piece", "revision", "tag", "state", "rename", "review", "end")
COUNTED: Final = {kind: f"{kind}s" for kind in KINDS[1:-1]}
# The version that a kind of lines is of, where it is not the first.
SINCE: Final[Mapping[str, int]] = {"state": 2, "rename": 2, "review": 3}
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "bundle": ("kind", "version", "rulesets"),
    "board": ("kind", "digest", "shape", "squares"),
    "piece": ("kind", "digest", "dialect", "board", "identifier", "rules"),
    "revision": (
        *("kind", "ruleset", "lineage", "parent", "merged", "digest", "dialect", "board", "envelope"),
        *("author", "message", "created_at", "pieces"),
    ),
    "tag": ("kind", "ruleset", "name", "lineage", "author", "message", "created_at"),
    "rename": ("kind", "ruleset", "old_name", "new_name", "author", "message", "created_at"),
    "state": ("kind", "ruleset", "state", "successor", "author", "message", "created_at"),
    "review": ("kind", "ruleset", *ReviewRecord.__slots__),
}


def counted(version: int) -> dict[str, str]:
    """The kinds of lines that a bundle of this version counts in its end, each with what it calls their number."""
    return {kind: name for kind, name in COUNTED.items() if SINCE.get(kind, 1) <= version}


def keys(kind: str, version: int) -> tuple[str, ...]:
    """What a line of a kind has."""
    return KEYS[kind] if kind != "end" else ("kind", *counted(version).values(), "sha256")


@dataclass(frozen=True, slots=True)
class Part:
    """What a bundle holds of a ruleset: the lineages of its revisions, and of those that it goes on from."""

    name: str
    lineages: tuple[str, ...]
    needs: tuple[str, ...] = ()


# --- writing ---


def write(stream: IO[bytes], source: RevisionSource, parts: Sequence[Part]) -> tuple[dict[str, int], str]:
    """Write a bundle of parts of a source's rulesets; how much of what is in it, and the SHA-256 in its end.

    The counts are of lines by kind and, as `outside`, of pieces that are left to the revisions that it needs.
    """
    wanted: set[str] = set()
    left: set[str] = set()
    used: set[str] = set()
    for part in parts:
        had = {digest for sent in source.revisions(part.name, part.needs) for digest in sent.pieces}
        for sent in source.revisions(part.name, part.lineages):
            used.add(sent.board)
            wanted.update(set(sent.pieces) - had)
            left.update(had.intersection(sent.pieces))
    signed = _signed(source)
    version = max(
        (SINCE.get(kind, 1) for kind, said in signed.items() if any(said(part.name) for part in parts)), default=1
    )
    digest = hashlib.sha256()
    counts = dict.fromkeys(COUNTED.values(), 0)
    reviews = 0
    # Without a name and a time, so that the bytes depend on the content only.
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
        for line in _lines(source, parts, version, sorted(used), sorted(wanted)):
            data = _encoded(line)
            if len(data) > limits.BUNDLE_LINE.most:
                raise InputError(
                    f"the {line['kind']} {line.get('identifier', '')} takes {len(data):,} bytes, and a line of a "
                    f"bundle has {limits.BUNDLE_LINE.allowed}: push it instead"
                )
            if line["kind"] in COUNTED:
                counts[COUNTED[line["kind"]]] += 1
            digest.update(data)
            packed.write(data)
            reviews += len(data) * (line["kind"] == "review")
        if reviews > limits.BUNDLE_REVIEWS.most:
            allowed = f"in a bundle they have {limits.BUNDLE_REVIEWS.allowed}"
            raise InputError(f"the reviews take {reviews:,} bytes, and {allowed}: make bundles of fewer rulesets")
        told = {name: counts[name] for name in counted(version).values()}
        packed.write(_encoded({"kind": "end", **told, "sha256": digest.hexdigest()}))
    return counts | {"outside": len(left - wanted)}, digest.hexdigest()


def _lines(
    source: RevisionSource, parts: Sequence[Part], version: int, used: Sequence[str], wanted: Sequence[str]
) -> Iterator[dict[str, Any]]:
    rulesets = [{"name": part.name, "needs": list(part.needs)} for part in parts]
    yield {"kind": "bundle", "version": version, "rulesets": rulesets}
    for board in source.boards(used):
        yield {"kind": "board", "digest": board.digest, "shape": board.shape_text, "squares": list(board.squares)}
    for sent in source.pieces(wanted):
        yield {
            "kind": "piece",
            "digest": sent.digest,
            "dialect": sent.dialect,
            "board": sent.board,
            "identifier": sent.piece.identifier,
            "rules": sent.piece.data(sent.dialect),
        }
    for part in parts:
        for revision in source.revisions(part.name, part.lineages):
            values = {name: getattr(revision, name) for name in KEYS["revision"][2:]}
            values |= {"envelope": revision.envelope.data(), "pieces": list(revision.pieces)}
            yield {"kind": "revision", "ruleset": part.name} | values | {"created_at": written(revision.created_at)}
    for kind, said in _signed(source).items():
        for part in parts:
            for each in said(part.name):
                values = {name: getattr(each, name) for name in KEYS[kind][2:]}
                yield {"kind": kind, "ruleset": part.name} | values | {"created_at": written(each.created_at)}


def _signed(source: RevisionSource) -> dict[str, Callable[[str], Sequence[Any]]]:
    """What was said of a ruleset, by the kind of its lines."""
    return {
        "tag": source.tags,
        "state": lambda name: source.states(name).get(name, ()),
        "rename": source.renames,
        "review": source.reviews,
    }


def _encoded(line: Mapping[str, Any]) -> bytes:
    return f"{json_text.compact(line)}\n".encode()
