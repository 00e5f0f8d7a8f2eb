"""Conflict files: a merged source with git's marks where both sides changed it differently, and what becomes of it.

A file begins with lines of `#`: what was being merged, as JSON, and (after `#=`) what a TOML file beside the source
would state of it. Then comes the source itself. Nothing in it is trusted.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain
from typing import Final, Literal, get_args

from ggn_store import limits
from ggn_store.api.loading import sources
from ggn_store.api.loading.sources import DEFINITIONS, DESCRIPTIONS, MergeSides, Texts
from ggn_store.documents import beside, ggn
from ggn_store.errors import ConflictError, DocumentError, GgnStoreError, InputError, NotationError, printable, quote
from ggn_store.model.changes import lines
from ggn_store.model.changes import merge as entries
from ggn_store.model.changes.merge import Apart
from ggn_store.model.documents.document import Digests, Document, Envelope, Piece, check_dialect
from ggn_store.model.teams.proposal import parse_proposal
from ggn_store.model.teams.revision import check_name
from ggn_store.notation.json_text import is_digest
from ggn_store.output import new_file

Command = Literal["load", "push", "pull", "amend"]

_TITLE: Final = "# ggn-store conflicts"
_CURE: Final = "decide between the marks, remove them, and run `ggn-store resolve` with this file"
_STATED: Final = "#= "
_END: Final = "# ---- below this line stands the source ----"
_DOCUMENT: Final = "document"
_KINDS: Final = {language.name: language for language in (DEFINITIONS, DESCRIPTIONS)}
_MARK: Final = re.compile(r"^([<|=>])\1{6,}", re.MULTILINE)
_USUAL: Final = 7
_HEADER_LINES: Final = 10_000
_SHORT: Final = 16


@dataclass(frozen=True, slots=True)
class Heading:
    """What was being merged by which command: of a ruleset or proposal `name`, into `to`, between these lineages.

    `kind` is what the source is, `marks` how many characters a mark has. `pieces` are of both sides and of the merge
    entry by entry.
    """

    command: Command
    name: str
    to: str
    kind: str
    dialect: str
    base: str | None
    ours: str | None
    theirs: str
    marks: int
    pieces: tuple[str, ...]

    @property
    def target(self) -> str:
        """The lineage of the revision that the resolved one follows."""
        return str(self.ours) if self.command == "pull" else self.theirs


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a conflict file says once it was edited; `note` is what there is to say of it."""

    heading: Heading
    document: Document
    note: str | None


def keep(error: ConflictError, file: str | os.PathLike[str], command: Command, name: str, to: str) -> ConflictError:
    """Write what could not be merged to a file, which the message then names."""
    apart: Apart | None = error.apart
    if apart is None or not error.merge.conflicts:
        return error
    with new_file(file) as stream:
        for part in _file(apart, error.merge.conflicts, command, name, to):
            stream.write(part.encode())
    option = " --propose" if command == "amend" else ""
    cure = f"edit {printable(os.fspath(file))}, and then run `ggn-store resolve {printable(os.fspath(file))}{option}`"
    error.args = (f"{error}\n{cure}",)
    return error


# --- writing ---


def _file(apart: Apart, conflicts: tuple[entries.Conflict, ...], command: Command, name: str, to: str) -> Iterator[str]:
    kind, stated, texts = _sides(apart.documents)
    size = max([_USUAL, *(len(found[0]) + 1 for found in _MARK.finditer("\n".join((*stated, *texts))))])
    labels = tuple(
        f"{side}: {printable(called)}" for side, called in zip(("base", "ours", "theirs"), apart.names, strict=True)
    )
    base, ours, theirs = apart.lineages
    dialect = apart.documents[2].dialect
    known = () if kind == _DOCUMENT else tuple(sorted(_known(apart.documents)))
    heading = Heading(command, name, to, kind, dialect, base, ours, str(theirs), size, known)
    yield f"{_TITLE} of {to}: {_CURE}\n# {json.dumps(asdict(heading))}\n"
    for reason in dict.fromkeys(each.reason for each in conflicts if each.reason):
        yield f"# {printable(reason)}\n"
    yield lines.marked(stated, labels, size)
    yield f"{_END}\n"
    yield lines.marked(texts, labels, size)


def _sides(documents: MergeSides) -> tuple[str, Texts, Texts]:
    """The kind of the source, what is stated beside it, and the source: as base, ours and theirs decide it."""
    language = sources.language_of(*documents)
    found = None if language is None else sources.decided_texts(language, documents)
    # A file beside a source cannot state a schema.
    if language is None or found is None or any(each.get("schema") for each in found[1]):
        made = [entries.decided(*documents, side) for side in sources.SIDES]
        envelopes = [Envelope() if each is None else replace(each.envelope, schema=None) for each in made]
        texts = ["" if each is None else each.canonical() for each in made]
        return _DOCUMENT, _all_stated(envelopes), (texts[0], texts[1], texts[2])
    merged, stated = found
    merged = _spread(merged) if language is DESCRIPTIONS else merged
    return language.name, _all_stated([Envelope(**each) for each in stated]), merged


def _all_stated(envelopes: list[Envelope]) -> Texts:
    base, ours, theirs = (
        "".join(f"{_STATED}{line}\n" for line in beside.toml(each).split("\n")[:-1]) for each in envelopes
    )
    return base, ours, theirs


def _spread(texts: Texts) -> Texts:
    """Game descriptions with a line for each member, where most of a text would stand between marks."""
    base, ours, theirs = (
        json.dumps(json.loads(text.removeprefix("\ufeff")), indent=2, ensure_ascii=False) + "\n" for text in texts
    )
    spread = (base, ours, theirs)
    return spread if 4 * _between(spread) < _between(texts) else texts


def _between(texts: Texts) -> int:
    return len(lines.marked(texts, ("", "", ""), _USUAL)) - len(texts[2])


def _known(documents: MergeSides) -> set[str]:
    _, ours, theirs = documents
    merged = [entries.decided(*documents, side) for side in ("ours", "theirs")]
    return set(chain.from_iterable(_pieces(each).values() for each in (ours, theirs, *merged) if each is not None))


def _pieces(document: Document) -> dict[str, str]:
    """The pieces of a document with what they can do, in whatever order."""
    digests = Digests(document.dialect, document.board)
    found = {}
    for piece in document.pieces:
        squares = (
            replace(source, destinations=tuple(sorted(source.destinations, key=lambda each: each.square)))
            for source in sorted(piece.sources, key=lambda each: each.square)
        )
        found[piece.identifier] = digests.of(Piece(piece.identifier, tuple(squares)))[:_SHORT]
    return found


# --- reading ---


def read(file: str | os.PathLike[str]) -> Resolved:
    """What an edited conflict file says; raises InputError where marks are left, or it is none."""
    path = os.fspath(file)
    name = printable(path)
    try:
        with open(path, "rb") as stream:
            data = stream.read(limits.DOCUMENT_BYTES.most + 1)
        if len(data) > limits.DOCUMENT_BYTES.most:
            raise InputError(f"{name}: the file has more than {limits.DOCUMENT_BYTES.most:,} bytes")
        text = data.decode().removeprefix("\ufeff")
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not text: {error}") from None
    head, end, source = _parted(text)
    if not head or not head[0].startswith(_TITLE) or not end:
        raise InputError(f"{name}: is no conflict file: load, push and pull write one with --merge --conflicts FILE")
    heading = _heading(head[1] if len(head) > 1 else "", name)
    _require_resolved(text, heading.marks, name)
    stated = "\n".join(line.removeprefix(_STATED.strip()).removeprefix(" ") for line in head if line.startswith("#="))
    envelope, problems = beside.read(stated, name)
    if problems:
        raise DocumentError(problems)
    document = _document(heading, source, envelope, len(head) + 1, name)
    new = (
        []
        if heading.kind == _DOCUMENT
        else [identifier for identifier, made in _pieces(document).items() if made not in heading.pieces]
    )
    note = sources.neither_had(heading.kind, new) if new else None
    return Resolved(heading, document, note)


def _parted(text: str) -> tuple[list[str], bool, str]:
    """The lines before the source, whether they end as they should, and the source."""
    head: list[str] = []
    start = 0
    while len(head) < _HEADER_LINES and start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end].rstrip("\r")
        start = end + 1
        if line == _END:
            return head, True, text[start:]
        head.append(line)
    return head, False, ""


def _heading(line: str, name: str) -> Heading:
    wrong = InputError(f"{name}:2: what was being merged does not stand here as it was written: begin again")
    try:
        said = json.loads(line.removeprefix("# "))
    except (ValueError, RecursionError):
        raise wrong from None
    if not isinstance(said, Mapping) or set(said) != {field.name for field in fields(Heading)}:
        raise wrong
    pieces = said["pieces"]
    is_sound = (
        said["command"] in get_args(Command)
        and (said["kind"] == _DOCUMENT or (isinstance(said["kind"], str) and said["kind"] in _KINDS))
        and type(said["marks"]) is int
        and said["marks"] >= _USUAL
        and isinstance(pieces, list)
        and all(isinstance(each, str) for each in pieces)
        and is_digest(said["theirs"])
        and (is_digest(said["ours"]) or (said["ours"] is None and said["command"] in ("load", "amend")))
        and (said["base"] is None or is_digest(said["base"]))
    )
    try:
        if not is_sound or check_dialect(said["dialect"]) is None:
            raise wrong
        (parse_proposal if said["command"] == "amend" else check_name)(said["name"])
        check_name(said["to"])
    except (NotationError, TypeError):
        raise wrong from None
    return Heading(**{**said, "pieces": tuple(pieces)})


def _require_resolved(text: str, size: int, name: str) -> None:
    for found in _MARK.finditer(text):
        line = text[found.start() :].partition("\n")[0].rstrip("\r")
        after = line[size:]
        if len(found[0]) == size and (not after if found[1] == "=" else after.startswith(" ")):
            number = text.count("\n", 0, found.start()) + 1
            raise InputError(f"{name}:{number}: a conflict mark is left, {quote(line)}: {_CURE}")


def _document(heading: Heading, source: str, envelope: Envelope, before: int, name: str) -> Document:
    if heading.kind == _DOCUMENT:
        decoded = ggn.Decoded.of("\n" * before + source)
        return ggn.parse(decoded, check_dialect(heading.dialect), file=name, envelope=envelope)
    language = _KINDS[heading.kind]
    try:
        document = language.generate(source)
    except GgnStoreError:
        language.generate("\n" * before + source, name)  # whose complaints have the lines of the file
        raise
    stated = {key: value for key in sources.STATED if (value := getattr(envelope, key, None)) is not None}
    if stated:
        document = replace(document, envelope=replace(document.envelope, **stated), made_from=None)
    sources.require_fitting(document, stated)
    return document
