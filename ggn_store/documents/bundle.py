"""Bundles: revisions of rulesets with their boards, pieces and tags in one file, for stores that do not meet.

A bundle is lines of JSON, packed with gzip; the same content gives the same bytes. Its lines come in this order:

- `bundle`: the version of the format, and the rulesets in it, each with the lineages that it needs: those of
  revisions that it goes on from and does not hold;
- `board`: a digest, the shape (null where squares are just listed) and the squares;
- `piece`: a digest, dialect, board, identifier, and the rules in canonical form;
- `revision`: everything that its lineage is made of, parents before children and the head of a ruleset last;
- `tag`: where it points, by lineage;
- `end`: how many lines of each kind there are, and the SHA-256 of all lines before.

Whatever stands in a bundle is checked when it is read: its syntax, its rules as those of any document, every digest
and lineage, and that nothing is missing, stands twice or is of no use.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tempfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any, Final, NoReturn, cast

from ggn_store.documents import ggn, json_text, limits, quick
from ggn_store.documents.reader import envelope_complaints
from ggn_store.errors import (
    UNSTORABLE,
    GgnStoreError,
    InputError,
    UnknownNameError,
    offer,
    printable,
    quote,
)
from ggn_store.model import board as boards
from ggn_store.model.board import Board
from ggn_store.model.document import Dialect, Digests, Envelope, Piece, check_dialect
from ggn_store.model.histories import Step
from ggn_store.model.revision import check_name, check_tag
from ggn_store.model.transfer import SentPiece, SentRevision, SentTag, Source
from ggn_store.notation import cell, gan, qpi
from ggn_store.notation.hand import HAND

VERSION: Final = 1
_KINDS: Final = ("bundle", "board", "piece", "revision", "tag", "end")
_COUNTED: Final = {"board": "boards", "piece": "pieces", "revision": "revisions", "tag": "tags"}
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "bundle": ("kind", "version", "rulesets"),
    "board": ("kind", "digest", "shape", "squares"),
    "piece": ("kind", "digest", "dialect", "board", "identifier", "rules"),
    "revision": (
        *("kind", "ruleset", "lineage", "parent", "merged", "digest", "dialect", "board", "envelope"),
        *("author", "message", "created_at", "pieces"),
    ),
    "tag": ("kind", "ruleset", "name", "lineage", "author", "message", "created_at"),
    "end": ("kind", *_COUNTED.values(), "sha256"),
}
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Part:
    """What a bundle holds of a ruleset: the lineages of its revisions, and of those that it goes on from."""

    name: str
    lineages: tuple[str, ...]
    needs: tuple[str, ...] = ()


# --- writing ---


def write(stream: IO[bytes], source: Source, parts: Sequence[Part]) -> tuple[dict[str, int], str]:
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
    digest = hashlib.sha256()
    counts = dict.fromkeys(_COUNTED.values(), 0)
    # Without a name and a time, so that the bytes depend on the content only.
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
        for line in _lines(source, parts, sorted(used), sorted(wanted)):
            data = _encoded(line)
            if len(data) > limits.MAX_BUNDLE_LINE:
                raise InputError(
                    f"the {line['kind']} {line.get('identifier', '')} takes {len(data):,} bytes, and a line of a "
                    f"bundle has at most {limits.MAX_BUNDLE_LINE:,}: push it instead"
                )
            if line["kind"] in _COUNTED:
                counts[_COUNTED[line["kind"]]] += 1
            digest.update(data)
            packed.write(data)
        packed.write(_encoded({"kind": "end", **counts, "sha256": digest.hexdigest()}))
    return counts | {"outside": len(left - wanted)}, digest.hexdigest()


def _lines(
    source: Source, parts: Sequence[Part], used: Sequence[str], wanted: Sequence[str]
) -> Iterator[dict[str, Any]]:
    rulesets = [{"name": part.name, "needs": list(part.needs)} for part in parts]
    yield {"kind": "bundle", "version": VERSION, "rulesets": rulesets}
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
            values = {name: getattr(revision, name) for name in _KEYS["revision"][2:]}
            values |= {"envelope": revision.envelope.data(), "pieces": list(revision.pieces)}
            yield {"kind": "revision", "ruleset": part.name} | values | {"created_at": _written(revision.created_at)}
    for part in parts:
        for tag in source.tags(part.name):
            yield {
                "kind": "tag",
                "ruleset": part.name,
                "name": tag.name,
                "lineage": tag.lineage,
                "author": tag.author,
                "message": tag.message,
                "created_at": _written(tag.created_at),
            }


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _encoded(line: Mapping[str, Any]) -> bytes:
    return (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


# --- reading ---


@dataclass(slots=True)
class _Part:
    """What has been read of a ruleset; each revision with where its line stands."""

    needs: frozenset[str]
    steps: list[Step] = field(default_factory=list)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    tags: list[SentTag] = field(default_factory=list)


class Bundle:
    """A bundle that has been read and found sound; a `Source`, if it was kept to be read again.

    `outside` are the digests of pieces that its revisions list and that it does not hold: the revisions that it goes
    on from have them.
    """

    def __init__(self, file: str, kept: IO[bytes] | None) -> None:
        self.file = file
        self.counts: dict[str, int] = dict.fromkeys(_COUNTED.values(), 0)
        self.sha256 = ""
        self.outside: set[str] = set()
        self._kept = kept
        self._parts: dict[str, _Part] = {}
        self._boards: dict[str, Board] = {}
        self._pieces: dict[str, tuple[int, int, str, str, str]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The rulesets in it."""
        return tuple(self._parts)

    def needs(self, name: str) -> tuple[str, ...]:
        """The lineages of the revisions that a ruleset goes on from, and that are not in the bundle."""
        return tuple(sorted(self._part(name).needs))

    def heads(self) -> Mapping[str, str]:
        """The lineage of the newest revision of every ruleset, by name."""
        return {name: part.steps[-1].lineage for name, part in self._parts.items()}

    def steps(self, name: str) -> Sequence[Step]:
        """The history of a ruleset; raises UnknownNameError."""
        return self._part(name).steps

    def _part(self, name: str) -> _Part:
        if name not in self._parts:
            raise UnknownNameError(
                f"{printable(self.file)}: the bundle has no ruleset {quote(name)}; it has {offer(self.names)}"
            )
        return self._parts[name]

    def revisions(self, name: str, lineages: Collection[str]) -> Iterator[SentRevision]:
        """Those revisions of a ruleset, in the order of its history."""
        part, is_wanted = self._part(name), set(lineages).__contains__
        for step in part.steps:
            if is_wanted(step.lineage):
                yield _revision(self._again(part.places[step.lineage]))

    def boards(self, digests: Collection[str]) -> Iterator[Board]:
        """Boards, one for each digest and in the order of the digests."""
        return (self._boards[digest] for digest in digests)

    def pieces(self, digests: Sequence[str]) -> Iterator[SentPiece]:
        """Pieces, in the order of the digests."""
        for digest in digests:
            if digest not in self._pieces:
                raise InputError(
                    f"{printable(self.file)}: the piece {digest} is not in the bundle, and the store that takes it "
                    "does not have it: make a bundle without --since"
                )
            offset, length, board, dialect, _ = self._pieces[digest]
            line = self._again((offset, length))
            piece = _piece(line["identifier"], line["rules"], check_dialect(dialect), self._boards[board])
            yield SentPiece(digest, check_dialect(dialect), board, piece)

    def tags(self, name: str) -> Sequence[SentTag]:
        """The tags of a ruleset, by name."""
        return sorted(self._part(name).tags, key=lambda tag: tag.name)

    def _again(self, place: tuple[int, int]) -> dict[str, Any]:
        """A line once more."""
        assert self._kept is not None, "a bundle that was not kept gives nothing"  # noqa: S101
        self._kept.seek(place[0])
        return cast(dict[str, Any], json_text.quick_load(self._kept.read(place[1]).decode()))


@contextmanager
def opened(stream: IO[bytes], file: str, keep: bool = False) -> Iterator[Bundle]:
    """Read and check a whole bundle; raises InputError with the first line that is wrong.

    With `keep` its lines are unpacked into a temporary file, which nobody else can open and which is gone in the end:
    nothing can change between the check and what is then taken.
    """
    with ExitStack() as stack:
        kept = stack.enter_context(tempfile.TemporaryFile()) if keep else None
        yield _read(stream, file, kept)


def _read(stream: IO[bytes], file: str, kept: IO[bytes] | None) -> Bundle:
    reading = _Reading(Bundle(file, kept), kept)
    try:
        counted = _Counted(stream)
        is_packed = counted.peek(len(_GZIP)) == _GZIP
        unpacked: Any = gzip.GzipFile(fileobj=counted) if is_packed else io.BufferedReader(counted)
        while line := unpacked.readline(limits.MAX_BUNDLE_LINE + 1):
            reading.take(line, counted.count if is_packed else None)
        return reading.end()
    except _FaultError as fault:
        raise InputError(f"{printable(file)}: line {reading.number}: {fault}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{printable(file)}: line {reading.number + 1}: the file is cut off, or its gzip data is broken: {error}"
        ) from None
    except OSError as error:
        raise InputError(f"{printable(file)}: cannot be read: {error.strerror or error}") from None


class _Counted(io.RawIOBase):
    """A stream that counts what was read of it, and can look at its beginning."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._ahead = b""
        self.count = 0

    def peek(self, size: int) -> bytes:
        """The first bytes, which are read again afterwards."""
        self._ahead = self._stream.read(size)
        return self._ahead

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._ahead or self._stream.read(len(buffer))
        self._ahead = data[len(buffer) :]
        data = data[: len(buffer)]
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


class _FaultError(Exception):
    """What is wrong with a line."""


def _fail(message: str) -> NoReturn:
    raise _FaultError(message)


def _require(is_sound: object, message: str) -> None:
    if not is_sound:
        raise _FaultError(message)


class _Reading:
    """A pass over the lines of a bundle."""

    def __init__(self, bundle: Bundle, kept: IO[bytes] | None) -> None:
        self.number = 0
        self._bundle = bundle
        self._kept = kept
        self._stage = 0
        self._offset = 0
        self._squares = 0
        self._hash = hashlib.sha256()
        self._used_boards: set[str] = set()
        self._used_pieces: set[str] = set()
        self._sound_envelope: tuple[Envelope, str] | None = None

    def take(self, line: bytes, packed: int | None) -> None:
        """One line; `packed` is how many bytes of the file have been read so far, if it is packed."""
        self.number += 1
        _require(
            len(line) <= limits.MAX_BUNDLE_LINE, f"it is longer than {limits.MAX_BUNDLE_LINE:,} bytes, the most allowed"
        )
        size = self._offset + len(line)
        _require(size <= limits.MAX_BUNDLE_BYTES, f"the bundle unpacks to more than {limits.MAX_BUNDLE_BYTES:,} bytes")
        _require(
            packed is None or size <= max(limits.FREE_BUNDLE_BYTES, packed * limits.MAX_BUNDLE_RATIO),
            f"the bundle unpacks to more than {limits.MAX_BUNDLE_RATIO} times its size",
        )
        _require(self.number <= limits.MAX_BUNDLE_LINES, f"the bundle has more than {limits.MAX_BUNDLE_LINES:,} lines")
        _require(not self._is_over, "there is something after the end of the bundle")
        _require(line.endswith(b"\n") or self.number == 1, "the line is cut off")
        value = self._decoded(line)
        _require(line.endswith(b"\n"), "the line is cut off")
        kind = value["kind"]
        getattr(self, f"_take_{kind}")(value, (self._offset, len(line)))
        if kind in _COUNTED:
            self._bundle.counts[_COUNTED[kind]] += 1
        self._hash.update(line)
        self._offset = size
        if self._kept is not None:
            self._kept.write(line)

    @property
    def _is_over(self) -> bool:
        return self._stage == len(_KINDS) - 1

    def end(self) -> Bundle:
        """The bundle, when there are no more lines."""
        if not self._is_over:
            self.number += 1
            _fail("the bundle is cut off: it has no end line" if self.number > 1 else "the file is empty")
        if self._kept is not None:
            self._kept.flush()
        return self._bundle

    def _decoded(self, line: bytes) -> dict[str, Any]:
        text, fault = json_text.decode_bytes(line)
        value: Any = None if fault else json_text.quick_load(text)
        if value is None:
            faults = [fault] if fault else json_text.load(text)[1]
            for each in faults:
                _fail(each.message + (f", found {each.found}" if each.found else ""))
        if self.number == 1:
            self._require_bundle(value)
        _require(
            type(value) is dict and value.get("kind") in _KINDS, f"it is of no kind that a bundle has: {quote(value)}"
        )
        kind = value["kind"]
        stage = _KINDS.index(kind)
        is_in_order = stage >= self._stage if kind in _COUNTED else stage > self._stage or self.number == 1
        _require(is_in_order, f"a line of the kind {kind} is out of place")
        self._stage = stage
        for key in value:
            _require(key in _KEYS[kind], f"the {kind} has no such key: {quote(key)}")
        for key in _KEYS[kind]:
            _require(key in value, f"the {kind} has no {key}")
        return cast(dict[str, Any], value)

    @staticmethod
    def _require_bundle(value: Any) -> None:
        _require(type(value) is dict and value.get("kind") == "bundle", "this is not a bundle of ggn-store")
        version = value.get("version")
        _require(
            type(version) is int and version >= 1,
            f"the bundle says that its version is {quote(version)}",
        )
        _require(
            version <= VERSION,
            f"the bundle is of version {version}, and this program reads version {VERSION}: install a newer ggn-store",
        )

    # --- kinds of lines ---

    def _take_bundle(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        _require(type(value["rulesets"]) is list and value["rulesets"], "the bundle names no rulesets")
        for each in value["rulesets"]:
            _require(type(each) is dict and each.keys() == {"name", "needs"}, "a ruleset has a name and needs")
            name = _noted(check_name, each["name"])
            _require(name not in self._bundle._parts, f"the ruleset {name} stands twice")
            needs = _digests(each["needs"], "needs")
            self._bundle._parts[name] = _Part(frozenset(needs))

    def _take_board(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        digest = _digest(value["digest"], "digest")
        _require(digest not in self._bundle._boards, f"the board {digest} stands twice")
        board = _board(value["shape"], value["squares"])
        _require(board.digest == digest, f"the board {digest}: its squares and shape do not give its digest")
        self._squares += len(board.squares)
        _require(
            self._squares <= limits.MAX_BUNDLE_SQUARES,
            f"the boards have more than {limits.MAX_BUNDLE_SQUARES:,} squares in all",
        )
        self._bundle._boards[digest] = board

    def _take_piece(self, value: dict[str, Any], place: tuple[int, int]) -> None:
        digest = _digest(value["digest"], "digest")
        _require(digest not in self._bundle._pieces, f"the piece {digest} stands twice")
        dialect = _noted(check_dialect, value["dialect"])
        board = self._board(value["board"])
        identifier = value["identifier"]
        piece = _piece(identifier, value["rules"], dialect, board)
        if Digests(dialect, board).of(piece) != digest:
            _fail(f"the piece {identifier}: its rules do not give its digest {digest}")
        self._bundle._pieces[digest] = (*place, value["board"], dialect, piece.identifier)

    def _take_revision(self, value: dict[str, Any], place: tuple[int, int]) -> None:
        part = self._part(value["ruleset"])
        revision = _noted(_revision, value)
        named = f"the revision {revision.lineage}"
        _require(revision.lineage not in part.places, f"{named} stands twice")
        _require(revision.lineage not in part.needs, f"{named} is also said to be needed")
        board = self._board(revision.board)
        fault = revision.fault(board)
        _require(fault is None, f"{named}: {fault}")
        for parent in (revision.parent, revision.merged):
            is_known = parent is None or parent in part.places or parent in part.needs
            _require(is_known, f"{named}: its parent {parent} does not come before it")
        _require(
            revision.merged is None or revision.parent not in (None, revision.merged), f"{named}: its parents are odd"
        )
        _require(revision.pieces, f"{named}: it has no pieces")
        _require(len(set(revision.pieces)) == len(revision.pieces), f"{named}: a piece stands in it twice")
        _require(len(revision.pieces) <= limits.MAX_PIECES, f"{named}: it has more than {limits.MAX_PIECES:,} pieces")
        identifiers: set[str] = set()
        for digest in revision.pieces:
            found = self._bundle._pieces.get(digest)
            if found is None:
                _require(part.needs, f"{named}: its piece {digest} is not in the bundle")
                self._bundle.outside.add(digest)
                _require(len(self._bundle.outside) <= limits.MAX_BUNDLE_LINES, "too many pieces are not in the bundle")
            else:
                is_fitting = found[2:4] == (revision.board, revision.dialect)
                _require(is_fitting, f"{named}: its piece {digest} is of another board or dialect")
                _require(found[4] not in identifiers, f"{named}: two pieces of it are called {found[4]}")
                identifiers.add(found[4])
        self._check_envelope(revision.envelope, board, named)
        self._used_pieces.update(revision.pieces)
        part.places[revision.lineage] = place
        number = len(part.steps) + 1
        part.steps.append(Step(revision.lineage, revision.digest, revision.parent, revision.merged, number))

    def _take_tag(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        part = self._part(value["ruleset"])
        name = _noted(check_tag, value["name"])
        _require(all(tag.name != name for tag in part.tags), f"the tag {name} stands twice")
        lineage = _digest(value["lineage"], "lineage")
        is_known = lineage in part.places or part.needs
        _require(is_known, f"the tag {name} points to a revision that is not in the bundle")
        author, message = _text(value["author"], "author"), _text(value["message"], "message")
        part.tags.append(SentTag(name, lineage, author, message, _time(value["created_at"])))

    def _take_end(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        for kind, name in _COUNTED.items():
            found, told = self._bundle.counts[name], value[name]
            is_right = type(told) is int and told == found
            _require(
                is_right, f"lines of the kind {kind} are missing, or there are too many: {found}, not {quote(told)}"
            )
        self._bundle.sha256 = self._hash.hexdigest()
        _require(value["sha256"] == self._bundle.sha256, "the lines before are not those that it was made of (SHA-256)")
        for name, part in self._bundle._parts.items():
            _require(part.steps, f"the ruleset {name} has no revisions")
            parents = {parent for step in part.steps for parent in step.parents}
            for step in part.steps[:-1]:
                _require(step.lineage in parents, f"nothing of {name} goes on from its revision {step.lineage}")
            idle = sorted(part.needs - parents)
            _require(not idle, f"nothing of {name} goes on from {idle and idle[0]}, which is said to be needed")
        for digest in self._bundle._pieces.keys() - self._used_pieces:
            _fail(f"no revision has the piece {digest}")
        for digest in self._bundle._boards.keys() - self._used_boards:
            _fail(f"no revision has the board {digest}")

    # --- what lines refer to ---

    def _part(self, name: Any) -> _Part:
        part = self._bundle._parts.get(name) if isinstance(name, str) else None
        return part if part is not None else _fail(f"the bundle has no ruleset {quote(name)}")

    def _board(self, digest: Any) -> Board:
        board = self._bundle._boards.get(digest) if isinstance(digest, str) else None
        if board is None:
            _fail(f"the bundle has no board {quote(digest)}")
        self._used_boards.add(digest)
        return board

    def _check_envelope(self, envelope: Envelope, board: Board, named: str) -> None:
        if self._sound_envelope == (envelope, board.digest):  # nearly always that of the revision before
            return
        complaints = envelope_complaints(envelope)
        for complaint in complaints[:1]:
            _fail(f"{named}: {complaint.message}" + (f", found {complaint.found}" if complaint.found else ""))
        if envelope.board is not None and boards.parse_shape(envelope.board).digest != board.digest:
            _fail(f"{named}: its board is not the one that it declares")
        self._sound_envelope = envelope, board.digest


# --- values ---


def _noted(make: Any, value: Any) -> Any:
    """The result of `make`; what it complains of is a fault of the line."""
    try:
        return make(value)
    except GgnStoreError as error:
        _fail(str(error))
    except TypeError:
        _fail(f"{quote(value)} is out of place")


def _digest(value: Any, key: str) -> str:
    _require(isinstance(value, str) and _DIGEST.fullmatch(value), f"the {key} {quote(value)} is not a SHA-256")
    return cast(str, value)


def _digests(value: Any, key: str) -> tuple[str, ...]:
    _require(type(value) is list, f"{key} is not a list")
    digests = tuple(_digest(each, key) for each in value)
    _require(len(set(digests)) == len(digests), f"{key} has something twice")
    return digests


def _text(value: Any, key: str) -> str | None:
    _require(value is None or isinstance(value, str), f"the {key} is not text: {quote(value)}")
    _require(value is None or not UNSTORABLE.search(value), f"the {key} has characters that no database can keep")
    return cast("str | None", value)


def _time(value: Any) -> datetime:
    try:
        at = datetime.fromisoformat(value)
        if at.tzinfo is not None and _written(at) == value:
            return at.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass
    return _fail(f"{quote(value)} is not a time such as 2026-01-31T12:00:00.000000+00:00")


def _board(shape: Any, squares: Any) -> Board:
    _require(type(squares) is list and squares, "a board has a list of squares")
    _require(len(squares) <= limits.MAX_SQUARES, f"a board has at most {limits.MAX_SQUARES:,} squares")
    for each in squares:
        is_label = isinstance(each, str) and 0 < len(each) <= limits.MAX_LABEL and each != HAND
        _require(is_label and not UNSTORABLE.search(each), f"{quote(each)} is not a square")
    _require(len(set(squares)) == len(squares), "a square stands twice on the board")
    if shape is None:
        return Board(tuple(squares))
    _require(isinstance(shape, str), f"{quote(shape)} is not the shape of a board")
    sizes = _noted(boards.parse_shape, shape).shape
    _require(all(map(cell.is_cell, squares)), "a board with a shape has squares such as a1")
    origin = cell.parse(squares[0])
    _require(len(origin) == len(sizes), "the squares are not those of the shape")
    board = _noted(lambda given: boards.box(given, origin), sizes)
    _require(board.squares == tuple(squares), "the squares are not those of the shape")
    return cast(Board, board)


def _piece(identifier: Any, rules: Any, dialect: Dialect, board: Board) -> Piece:
    """A piece from its rules, read as strictly as a document."""
    _require(isinstance(identifier, str), f"{quote(identifier)} is not a piece identifier")
    is_piece = gan.is_gan if dialect == "perform" else qpi.is_qpi

    def is_square(label: str) -> bool:
        return label in board.numbers and (dialect == "perform" or cell.is_cell(label))

    members = {identifier: rules}
    found = quick.pieces(members, dialect, is_piece, is_square)
    if found:
        return found[0]
    document, problems = ggn.read(ggn.Decoded.of(members), dialect)
    if document is None:
        _fail(f"the piece {printable(identifier)}: {problems[0]}")
    [piece] = document.pieces
    outside = sorted(piece.squares() - board.numbers.keys() - {HAND})
    _require(not outside, f"the piece {identifier} names squares off its board: {offer(outside)}")
    return piece


def _revision(value: Mapping[str, Any]) -> SentRevision:
    envelope = value["envelope"]
    names = Envelope.__slots__
    _require(
        type(envelope) is dict and all(isinstance(envelope[name], str) and name in names for name in envelope),
        f"the envelope holds texts: {', '.join(names)}",
    )
    return SentRevision(
        _digest(value["lineage"], "lineage"),
        None if value["parent"] is None else _digest(value["parent"], "parent"),
        None if value["merged"] is None else _digest(value["merged"], "merged parent"),
        _digest(value["digest"], "digest"),
        _noted(check_dialect, value["dialect"]),
        _digest(value["board"], "board"),
        Envelope(**envelope),
        _text(value["author"], "author"),
        _text(value["message"], "message"),
        _time(value["created_at"]),
        _digests(value["pieces"], "pieces"),
    )
