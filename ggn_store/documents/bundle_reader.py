"""Bundles read: line by line, with everything checked, and kept to be read again piece by piece."""

from __future__ import annotations

import gzip
import hashlib
import io
import tempfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any, Final, cast

from ggn_store import limits
from ggn_store.documents import bundle_values as values
from ggn_store.documents.bundle import COUNTED, KEYS, KINDS, SINCE, VERSION, counted, keys
from ggn_store.documents.bundle_values import FaultError, fail, noted, require
from ggn_store.documents.reader import envelope_complaints
from ggn_store.errors import InputError, UnknownNameError, offer, printable, quote
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Digests, Envelope, check_dialect
from ggn_store.model.teams.ancestry import Step
from ggn_store.model.teams.review import ReviewRecord
from ggn_store.model.teams.revision import check_name, check_tag
from ggn_store.model.teams.transfer import SentPiece, SentRename, SentRevision, SentState, SentTag
from ggn_store.notation import json_text

_GZIP: Final = b"\x1f\x8b"
# So much may be unpacked of a bundle however small it is.
_FREE_BYTES: Final = 64 << 20


@dataclass(slots=True)
class _Taken:
    """What has been read of a ruleset; each revision with where its line stands."""

    needs: frozenset[str]
    steps: list[Step] = field(default_factory=list)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    tags: dict[str, SentTag] = field(default_factory=dict)
    states: list[SentState] = field(default_factory=list)
    renames: list[SentRename] = field(default_factory=list)
    reviews: dict[str, ReviewRecord] = field(default_factory=dict)
    rounds: set[tuple[str, int]] = field(default_factory=set)


class Bundle:
    """A bundle that has been read and found sound; a `RevisionSource`, if it was kept to be read again.

    `outside` are the digests of pieces that its revisions list and that it does not hold: the revisions that it goes
    on from have them.
    """

    def __init__(self, file: str, kept: _Kept | None) -> None:
        self.file = file
        self.counts: dict[str, int] = dict.fromkeys(COUNTED.values(), 0)
        self.sha256 = ""
        self.outside: set[str] = set()
        self._kept = kept
        self._parts: dict[str, _Taken] = {}
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
        return {name: part.steps[-1].lineage for name, part in self._parts.items()}

    def steps(self, name: str) -> Sequence[Step]:
        return self._part(name).steps

    def _part(self, name: str) -> _Taken:
        if name not in self._parts:
            raise UnknownNameError(
                f"{printable(self.file)}: the bundle has no ruleset {quote(name)}; it has {offer(self.names)}"
            )
        return self._parts[name]

    def revisions(self, name: str, lineages: Collection[str]) -> Iterator[SentRevision]:
        part, is_wanted = self._part(name), set(lineages).__contains__
        for step in part.steps:
            if is_wanted(step.lineage):
                yield values.revision(self._again(part.places[step.lineage]))

    def boards(self, digests: Collection[str]) -> Iterator[Board]:
        return (self._boards[digest] for digest in digests)

    def pieces(self, digests: Sequence[str]) -> Iterator[SentPiece]:
        for digest in digests:
            if digest not in self._pieces:
                raise InputError(
                    f"{printable(self.file)}: the piece {digest} is not in the bundle, and the store that takes it "
                    "does not have it: make a bundle without --since"
                )
            offset, length, board, dialect, _ = self._pieces[digest]
            line = self._again((offset, length))
            piece = values.piece(line["identifier"], line["rules"], check_dialect(dialect), self._boards[board])
            yield SentPiece(digest, check_dialect(dialect), board, piece)

    def tags(self, name: str) -> Sequence[SentTag]:
        return sorted(self._part(name).tags.values(), key=lambda tag: tag.name)

    def states(self, *names: str) -> Mapping[str, Sequence[SentState]]:
        return {name: self._part(name).states for name in names or self._parts if self._part(name).states}

    def renames(self, name: str) -> Sequence[SentRename]:
        return self._part(name).renames

    def reviews(self, name: str) -> Sequence[ReviewRecord]:
        return [*self._part(name).reviews.values()]

    def _again(self, place: tuple[int, int]) -> dict[str, Any]:
        assert self._kept is not None, "a bundle that was not kept gives nothing"  # noqa: S101
        return cast(dict[str, Any], json_text.quick_load(self._kept.read(*place).decode()))


@contextmanager
def opened(stream: IO[bytes], file: str, keep: bool = False) -> Iterator[Bundle]:
    """Read and check a whole bundle; raises InputError with the first line that is wrong.

    With `keep` its lines are unpacked into a temporary file, which nobody else can open and which is gone in the end:
    nothing can change between the check and what is then taken.
    """
    with ExitStack() as stack:
        kept = stack.enter_context(closing(_Kept())) if keep else None
        yield _read(stream, file, kept)


class _Kept:
    """A temporary file of lines; what is wrong with it is not the bundle's fault, and said of the place where it is."""

    def __init__(self) -> None:
        with _explained():
            self._file = tempfile.TemporaryFile()  # noqa: SIM115

    def write(self, line: bytes) -> None:
        with _explained():
            self._file.write(line)

    def flush(self) -> None:
        with _explained():
            self._file.flush()

    def read(self, start: int, size: int) -> bytes:
        with _explained():
            self._file.seek(start)
            return self._file.read(size)

    def close(self) -> None:
        with suppress(OSError):  # of what could not be written, which nobody needs any longer
            self._file.close()


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"a temporary file cannot be written or read: {error.strerror or error}: make room, or name another "
            "directory for such files with TMPDIR"
        ) from None


def _read(stream: IO[bytes], file: str, kept: _Kept | None) -> Bundle:
    reading = _Reading(Bundle(file, kept), kept)
    try:
        counted = _Counted(stream)
        is_packed = counted.peek(len(_GZIP)) == _GZIP
        unpacked: Any = gzip.GzipFile(fileobj=counted) if is_packed else io.BufferedReader(counted)
        while line := unpacked.readline(limits.BUNDLE_LINE.most + 1):
            reading.take(line, counted.count if is_packed else None)
        return reading.end()
    except FaultError as fault:
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


class _Reading:
    """A pass over the lines of a bundle."""

    def __init__(self, bundle: Bundle, kept: _Kept | None) -> None:
        self.number = 0
        self._bundle = bundle
        self._kept = kept
        self._stage = 0
        self._version = VERSION
        self._offset = 0
        self._squares = self._reviews = 0
        self._hash = hashlib.sha256()
        self._used_boards: set[str] = set()
        self._used_pieces: set[str] = set()
        self._sound_envelope: tuple[Envelope, str] | None = None

    def take(self, line: bytes, packed: int | None) -> None:
        """One line; `packed` is how many bytes of the file have been read so far, if it is packed."""
        self.number += 1
        longest = limits.BUNDLE_LINE
        require(len(line) <= longest.most, f"it is longer than {longest.most:,} bytes{longest.more}")
        size = self._offset + len(line)
        whole, ratio, lines = limits.BUNDLE_BYTES, limits.BUNDLE_RATIO, limits.BUNDLE_LINES
        require(size <= whole.most, f"the bundle unpacks to more than {whole.most:,} bytes{whole.more}")
        message = f"the bundle unpacks to more than {ratio.most} times its size{ratio.more}"
        require(packed is None or size <= max(_FREE_BYTES, packed * ratio.most), message)
        require(self.number <= lines.most, f"the bundle has more than {lines.most:,} lines{lines.more}")
        require(not self._is_over, "there is something after the end of the bundle")
        require(line.endswith(b"\n") or self.number == 1, "the line is cut off")
        value = self._decoded(line)
        require(line.endswith(b"\n"), "the line is cut off")
        kind = value["kind"]
        getattr(self, f"_take_{kind}")(value, (self._offset, len(line)))
        if kind in COUNTED:
            self._bundle.counts[COUNTED[kind]] += 1
        self._hash.update(line)
        self._offset = size
        if self._kept is not None:
            self._kept.write(line)

    @property
    def _is_over(self) -> bool:
        return self._stage == len(KINDS) - 1

    def end(self) -> Bundle:
        """The bundle, when there are no more lines."""
        if not self._is_over:
            self.number += 1
            fail("the bundle is cut off: it has no end line" if self.number > 1 else "the file is empty")
        if self._kept is not None:
            self._kept.flush()
        return self._bundle

    def _decoded(self, line: bytes) -> dict[str, Any]:
        text, fault = json_text.decode_bytes(line)
        value: Any = None if fault else json_text.quick_load(text)
        if value is None:
            faults = [fault] if fault else json_text.load(text)[1]
            for each in faults:
                fail(each.message + (f", found {each.found}" if each.found else ""))
        if self.number == 1:
            self._require_bundle(value)
        is_known = type(value) is dict and value.get("kind") in KINDS
        require(
            is_known and SINCE.get(value["kind"], 1) <= self._version,
            f"it is of no kind that a bundle has: {quote(value)}",
        )
        kind = value["kind"]
        stage = KINDS.index(kind)
        is_in_order = stage >= self._stage if kind in COUNTED else stage > self._stage or self.number == 1
        require(is_in_order, f"a line of the kind {kind} is out of place")
        self._stage = stage
        for key in value:
            require(key in keys(kind, self._version), f"the {kind} has no such key: {quote(key)}")
        for key in keys(kind, self._version):
            require(key in value, f"the {kind} has no {key}")
        return cast(dict[str, Any], value)

    def _require_bundle(self, value: Any) -> None:
        require(type(value) is dict and value.get("kind") == "bundle", "this is not a bundle of ggn-store")
        version = value.get("version")
        require(type(version) is int and version >= 1, f"the bundle says that its version is {quote(version)}")
        require(
            version <= VERSION,
            f"the bundle is of version {version}, and this program reads version {VERSION}: install a newer ggn-store",
        )
        self._version = version

    # --- kinds of lines ---

    def _take_bundle(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        require(type(value["rulesets"]) is list and value["rulesets"], "the bundle names no rulesets")
        for each in value["rulesets"]:
            require(type(each) is dict and each.keys() == {"name", "needs"}, "a ruleset has a name and needs")
            name = noted(check_name, each["name"])
            require(name not in self._bundle._parts, f"the ruleset {name} stands twice")
            needs = values.sha256s(each["needs"], "needs")
            self._bundle._parts[name] = _Taken(frozenset(needs))

    def _take_board(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        digest = values.sha256(value["digest"], "digest")
        require(digest not in self._bundle._boards, f"the board {digest} stands twice")
        board = values.board(value["shape"], value["squares"])
        require(board.digest == digest, f"the board {digest}: its squares and shape do not give its digest")
        self._squares += len(board.squares)
        squares = limits.BUNDLE_SQUARES
        require(
            self._squares <= squares.most, f"the boards have more than {squares.most:,} squares in all{squares.more}"
        )
        self._bundle._boards[digest] = board

    def _take_piece(self, value: dict[str, Any], place: tuple[int, int]) -> None:
        digest = values.sha256(value["digest"], "digest")
        require(digest not in self._bundle._pieces, f"the piece {digest} stands twice")
        dialect = noted(check_dialect, value["dialect"])
        board = self._board(value["board"])
        identifier = value["identifier"]
        piece = values.piece(identifier, value["rules"], dialect, board)
        if Digests(dialect, board).of(piece) != digest:
            fail(f"the piece {identifier}: its rules do not give its digest {digest}")
        self._bundle._pieces[digest] = (*place, value["board"], dialect, piece.identifier)

    def _take_revision(self, value: dict[str, Any], place: tuple[int, int]) -> None:
        part = self._part(value["ruleset"])
        revision = noted(values.revision, value)
        named = f"the revision {revision.lineage}"
        require(revision.lineage not in part.places, f"{named} stands twice")
        require(revision.lineage not in part.needs, f"{named} is also said to be needed")
        board = self._board(revision.board)
        fault = revision.fault(board)
        require(fault is None, f"{named}: {fault}")
        for parent in (revision.parent, revision.merged):
            is_known = parent is None or parent in part.places or parent in part.needs
            require(is_known, f"{named}: its parent {parent} does not come before it")
        require(
            revision.merged is None or revision.parent not in (None, revision.merged), f"{named}: its parents are odd"
        )
        require(revision.pieces, f"{named}: it has no pieces")
        require(len(set(revision.pieces)) == len(revision.pieces), f"{named}: a piece stands in it twice")
        pieces = limits.PIECES
        require(len(revision.pieces) <= pieces.most, f"{named}: it has more than {pieces.most:,} pieces{pieces.more}")
        identifiers: set[str] = set()
        for digest in revision.pieces:
            found = self._bundle._pieces.get(digest)
            if found is None:
                require(part.needs, f"{named}: its piece {digest} is not in the bundle")
                self._bundle.outside.add(digest)
                require(len(self._bundle.outside) <= limits.BUNDLE_LINES.most, "too many pieces are not in the bundle")
            else:
                is_fitting = found[2:4] == (revision.board, revision.dialect)
                require(is_fitting, f"{named}: its piece {digest} is of another board or dialect")
                require(found[4] not in identifiers, f"{named}: two pieces of it are called {found[4]}")
                identifiers.add(found[4])
        self._check_envelope(revision.envelope, board, named)
        self._used_pieces.update(revision.pieces)
        part.places[revision.lineage] = place
        number = len(part.steps) + 1
        part.steps.append(Step(revision.lineage, revision.digest, revision.parent, revision.merged, number))

    def _take_tag(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        part = self._part(value["ruleset"])
        name = noted(check_tag, value["name"])
        require(name not in part.tags, f"the tag {name} stands twice")
        lineage = values.sha256(value["lineage"], "lineage")
        is_known = lineage in part.places or part.needs
        require(is_known, f"the tag {name} points to a revision that is not in the bundle")
        part.tags[name] = SentTag(name, lineage, *values.signed(value))

    def _take_state(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        part = self._part(value["ruleset"])
        signed = values.signed(value)
        for key in ("state", "successor"):
            values.text(value[key], key)
        state = SentState(value["state"], value["successor"], *signed)
        fault = state.fault()
        require(fault is None, str(fault))
        require(state not in part.states[-1:], f"a state of {value['ruleset']} stands twice")
        part.states.append(state)

    def _take_rename(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        part = self._part(value["ruleset"])
        old, new = (noted(check_name, value[key]) for key in ("old_name", "new_name"))
        is_next = not part.renames or part.renames[-1].new_name == old
        require(is_next and old != new, f"a rename of {value['ruleset']} does not follow the one before it")
        part.renames.append(SentRename(old, new, *values.signed(value)))

    def _take_review(self, value: dict[str, Any], place: tuple[int, int]) -> None:
        part = self._part(value["ruleset"])
        limit = limits.BUNDLE_REVIEWS
        self._reviews += place[1]
        require(self._reviews <= limit.most, f"the reviews have more than {limit.most:,} bytes in all{limit.more}")
        said = {name: value[name] for name in KEYS["review"][2:]}
        record = ReviewRecord(**said | {"created_at": values.time(value["created_at"])})
        fault = record.fault()
        require(fault is None, f"a review of {value['ruleset']}: {fault}")
        named = f"what was {record.verdict} in round {record.round} of {value['ruleset']}#{record.number}"
        require(record.key not in part.reviews, f"{named} stands twice")
        if record.proposal is not None:
            first = part.reviews.get(record.proposal)
            is_first = first is not None and first.proposal is None and first.number == record.number
            before = record.round - (record.verdict == "proposed")
            is_known = is_first and (record.proposal, before) in part.rounds
            require(is_known, f"{named} does not come after what it is said of")
        part.reviews[record.key] = record
        if record.verdict == "proposed":
            part.rounds.add((record.first, record.round))

    def _take_end(self, value: dict[str, Any], _place: tuple[int, int]) -> None:
        for kind, name in counted(self._version).items():
            found, told = self._bundle.counts[name], value[name]
            is_right = type(told) is int and told == found
            require(
                is_right, f"lines of the kind {kind} are missing, or there are too many: {found}, not {quote(told)}"
            )
        self._bundle.sha256 = self._hash.hexdigest()
        require(value["sha256"] == self._bundle.sha256, "the lines before are not those that it was made of (SHA-256)")
        for name, part in self._bundle._parts.items():
            require(part.steps, f"the ruleset {name} has no revisions")
            is_named = not part.renames or part.renames[-1].new_name == name
            require(is_named, f"the renames of {name} do not end with its name")
            parents = {parent for step in part.steps for parent in step.parents}
            for step in part.steps[:-1]:
                require(step.lineage in parents, f"nothing of {name} goes on from its revision {step.lineage}")
            idle = sorted(part.needs - parents)
            require(not idle, f"nothing of {name} goes on from {idle and idle[0]}, which is said to be needed")
        for digest in self._bundle._pieces.keys() - self._used_pieces:
            fail(f"no revision has the piece {digest}")
        for digest in self._bundle._boards.keys() - self._used_boards:
            fail(f"no revision has the board {digest}")

    # --- what lines refer to ---

    def _part(self, name: Any) -> _Taken:
        part = self._bundle._parts.get(name) if isinstance(name, str) else None
        return part if part is not None else fail(f"the bundle has no ruleset {quote(name)}")

    def _board(self, digest: Any) -> Board:
        board = self._bundle._boards.get(digest) if isinstance(digest, str) else None
        if board is None:
            fail(f"the bundle has no board {quote(digest)}")
        self._used_boards.add(digest)
        return board

    def _check_envelope(self, envelope: Envelope, board: Board, named: str) -> None:
        if self._sound_envelope == (envelope, board.digest):  # nearly always that of the revision before
            return
        complaints = envelope_complaints(envelope)
        for complaint in complaints[:1]:
            fail(f"{named}: {complaint.message}" + (f", found {complaint.found}" if complaint.found else ""))
        if envelope.board is not None and boards.parse_shape(envelope.board).digest != board.digest:
            fail(f"{named}: its board is not the one that it declares")
        self._sound_envelope = envelope, board.digest
