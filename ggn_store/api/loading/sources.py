"""Merges of what documents were generated from: definitions by their keys, game descriptions by their members.

Where both sides have a text of their own, and it gives their document, the texts are merged, and what is stored is
generated from the merged text. It is compared with the merge entry by entry: where the two differ, the merge says so.
Everything else is merged entry by entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from ggn_store.errors import GgnStoreError, NotationError, PositionError, offer
from ggn_store.model.changes import lines, trees
from ggn_store.model.changes import merge as entries
from ggn_store.model.changes.diff import diff, pieces_of
from ggn_store.model.changes.merge import Conflict, Merge, Preference
from ggn_store.model.changes.possibilities import ABSENT
from ggn_store.model.changes.trees import MergeSide
from ggn_store.model.documents import variables
from ggn_store.model.documents.document import Document, Envelope
from ggn_store.model.moves import play_text
from ggn_store.model.moves.position import Position
from ggn_store.notation import json_edit, json_text, toml, toml_edit

# Of the base and both sides.
Texts = tuple[str, str, str]
MergeSides = tuple[Document | None, Document, Document]

SIDES: Final[tuple[MergeSide, ...]] = ("base", "ours", "theirs")

# What a file beside a text may state otherwise than the text itself.
STATED: Final = ("schema", "title", "source", "start", "play")

# What is compared with the merge entry by entry.
_COMPARED: Final = ("title", "source", "start", "board", "variables")


@dataclass(frozen=True, slots=True)
class MergedText:
    """What came of merging texts: None and conflicts, or the text, perhaps with something to say of it.

    Conflicts beside a text were decided for a side.
    """

    text: str | None
    conflicts: tuple[Conflict, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """A language that documents are generated from.

    `load` gives None for a text that is none of it, `write` the text of merged values, and `generate` the document of a
    text, which may come from a file.
    """

    name: str
    load: Callable[[str], Mapping[str, Any] | None]
    write: Callable[[Mapping[str, Any], Texts], MergedText]
    generate: Callable[..., Document]
    key: Callable[[tuple[str, ...]], str]
    value: Callable[[Any], str]


def are_merged(*sides: Envelope) -> bool:
    """Whether the texts of two sides, after that of their base, are what is merged, if each gives its document."""
    base, ours, theirs = (side.definition for side in sides)
    return None not in (base, ours, theirs) and base != ours != theirs != base


def merge(base: Document | None, ours: Document, theirs: Document, *, prefer: Preference = None) -> Merge:
    """What `model.merge.merge` does, but with the texts where there are any."""
    language = language_of(base, ours, theirs)
    found = None if language is None else _merged(language, (base, ours, theirs), prefer)
    return entries.merge(base, ours, theirs, prefer=prefer) if found is None else found


def language_of(base: Document | None, ours: Document, theirs: Document) -> Language | None:
    """The language of the texts that are to be merged; None where there are none."""
    start = Document(theirs.dialect, (), Envelope(definition="")) if base is None else base
    sides = (start, ours, theirs)
    if len({side.dialect for side in sides}) > 1 or not are_merged(*(side.envelope for side in sides)):
        return None
    return DESCRIPTIONS if theirs.envelope.is_described else DEFINITIONS


def texts_of(base: Document | None, ours: Document, theirs: Document) -> Texts:
    """The texts of the base, which is empty where there is none, and of both sides."""
    before = "" if base is None else str(base.envelope.definition)
    return before, str(ours.envelope.definition), str(theirs.envelope.definition)


def _merged(language: Language, sides: MergeSides, prefer: Preference) -> Merge | None:
    """The merge of the texts; None where one of them is no text of the language or does not give its document."""
    base, ours, theirs = sides
    texts = texts_of(*sides)
    together = merge_texts(language, texts, prefer)
    if together is None:
        return None
    found = Merge(None, together.conflicts, diff(base, ours), diff(base, theirs), of_sources=True)
    if together.text is None:
        return found
    given = [_given(language, side) for side in (ours, theirs)]
    if None in given:
        return None
    stated, unclear = _stated(sides, given, prefer or "theirs")
    try:
        document = language.generate(together.text)
        if unclear and prefer is None:
            return replace(found, conflicts=unclear)
        if stated:
            document = replace(document, envelope=replace(document.envelope, **stated), made_from=None)
        require_fitting(document, stated, (ours, theirs))
    except GgnStoreError as error:
        reason = f"the changes of both sides together are no {language.name}: {str(error).splitlines()[0]}"
        conflict = Conflict(("definition",), *texts, reason)
        if prefer is None:
            return replace(found, conflicts=(conflict,))
        return _decided(replace(found, document=ours if prefer == "ours" else theirs), prefer, (conflict,))
    decided = (*together.conflicts, *unclear)
    notes = [together.note, _difference(language, document, sides, prefer if decided else None)]
    found = replace(found, document=document, conflicts=(), note="; ".join(filter(None, notes)) or None)
    return found if prefer is None else _decided(found, prefer, decided)


def _decided(found: Merge, prefer: MergeSide, conflicts: tuple[Conflict, ...]) -> Merge:
    notes = [entries.decided_for(prefer, conflicts), found.note]
    return replace(found, conflicts=(), decided=conflicts, note="; ".join(filter(None, notes)) or None)


def merge_texts(language: Language, texts: Texts, side: MergeSide | None = None) -> MergedText | None:
    """The text with what both sides changed; None where one is no text of the language. A base may be empty.

    With a side, it is as this one has it where they changed one value differently.
    """
    try:
        values = [language.load(text) if text else {} for text in texts]
        if None in values:
            return None
        value, clashes = trees.merge(*values, side=side or "theirs")
    except RecursionError:  # far deeper than anything that is valid
        return None
    conflicts = tuple(_conflict(language, clash) for clash in clashes)
    if clashes and side is None:
        return MergedText(None, conflicts)
    return replace(language.write(value, texts), conflicts=conflicts)


def decided_texts(language: Language, documents: MergeSides) -> tuple[Texts, tuple[dict[str, Any], ...]] | None:
    """The merged text, and what is stated beside it, with conflicts as in the base and as each side decides them.

    None where the texts are not what is merged.
    """
    given = [_given(language, side) for side in documents[1:] if side is not None]
    made = [merge_texts(language, texts_of(*documents), side) for side in SIDES]
    base, ours, theirs = ("" if each is None else str(each.text) for each in made)
    if None in given or None in made:
        return None
    return (base, ours, theirs), tuple(_stated(documents, given, side)[0] for side in SIDES)


def _conflict(language: Language, clash: trees.Clash) -> Conflict:
    sides = (clash.base, clash.ours, clash.theirs)
    written = (None if side is ABSENT else language.value(side) for side in sides)
    return Conflict(("definition", language.key(clash.path)) if clash.path else ("definition",), *written)


def _given(language: Language, side: Document) -> Envelope | None:
    """The envelope that a side's text gives; None where it does not give the side's rules."""
    text = str(side.envelope.definition)
    if side.made_from == text and not side.envelope.is_described:  # nothing else is stated of it
        return side.envelope
    try:
        made = language.generate(text)
    except GgnStoreError:
        return None
    same = made.dialect == side.dialect and made.board.digest == side.board.digest
    same = same and made.envelope.variables == side.envelope.variables
    return made.envelope if same and made.piece_digests == side.piece_digests else None


def _stated(
    sides: MergeSides, given: list[Envelope | None], side: MergeSide
) -> tuple[dict[str, Any], tuple[Conflict, ...]]:
    """Fields of which a side states another value than its text gives, merged; and those in conflict."""
    stated: dict[str, Any] = {}
    unclear: list[Conflict] = []
    for name in STATED:
        said = [None if side is None else getattr(side.envelope, name) for side in sides]
        if any(each not in (None, getattr(own, name)) for each, own in zip(said[1:], given, strict=True)):
            stated[name], clashes = trees.merge(*said, side=side)
            unclear += [Conflict((name,), *said) for _ in clashes]
    return stated, tuple(unclear)


def require_fitting(document: Document, stated: Mapping[str, Any], sides: Sequence[Document] = ()) -> None:
    """Raise GgnStoreError unless the start position and the play that are stated of a document fit it."""
    envelope, squares = document.envelope, set(document.board.squares)
    if stated.get("start") is not None:
        start = Position.from_text(stated["start"])
        if off := start.board.keys() - squares:
            raise PositionError(f"the start position has pieces off the board, on {offer(sorted(off))}")
        variables.complete(variables.parse(envelope.variables), start.state, "the merged game")
    if stated.get("play") is not None:
        missing = entries.lacking(envelope, document.pieces, *sides) | (
            play_text.parse(envelope.play).squares() - squares
        )
        if missing:
            raise NotationError(f"how it is played names {offer(sorted(missing))}, which it does not have")


def _difference(language: Language, document: Document, sides: MergeSides, prefer: Preference) -> str | None:
    """In what the generated document is not what the changes of both sides give entry by entry; None if in nothing.

    Where conflicts were decided for a side, it may also be as one of the sides.
    """
    base, ours, theirs = (None if side is None else _bare(side) for side in sides)
    assert ours is not None and theirs is not None  # noqa: S101, PT018  (only a base may be missing)
    by_entry = entries.merge(base, ours, theirs, prefer=prefer)
    if by_entry.document is None:
        places = [" ".join(conflict.path) or "the whole document" for conflict in by_entry.conflicts]
        return (
            f"both changed what is made from the {language.name} in {offer(places)}, "
            "which is as the merged text gives it: see that it is what both meant"
        )
    allowed = [by_entry.document] if prefer is None else [by_entry.document, ours, theirs]
    names = [
        name
        for name in _COMPARED
        if getattr(document.envelope, name) not in [getattr(each.envelope, name) for each in allowed]
    ]
    made, known = pieces_of(document), [pieces_of(each) for each in allowed]
    names += [
        name
        for name in {**known[0], **made}
        if not any(entries.same_entries(each.get(name), made.get(name)) for each in known)
    ]
    return neither_had(language.name, names) if names else None


def neither_had(kind: str, names: Sequence[str]) -> str:
    """What to say where the document of a merged text is not what the sides had, nor a merge of it by entry."""
    return f"the merged {kind} gives something that neither side had in {offer(names)}: see that it is what both meant"


def _bare(side: Document) -> Document:
    """A document without what is said of all of it at once."""
    return replace(side, envelope=replace(side.envelope, definition=None, play=None))


# --- the languages ---


def _load_definition(text: str) -> Mapping[str, Any] | None:
    try:
        return toml.load(text)
    except toml.TomlError:
        return None


def _write_definition(value: Mapping[str, Any], texts: Texts) -> MergedText:
    """The lines of both sides if they say the values, else with what is left to be changed in them."""
    base, ours, theirs = texts
    laid, alone = lines.merged(*texts), lines.merged(*texts, both=False)
    for text, changed in ((laid, False), (laid, True), (alone, True), (theirs, True)):
        try:
            made = toml_edit.edited(text, value, (ours, theirs, base)) if changed else text
            if trees.same(toml.load(made), value):
                return MergedText(made)
        except toml.TomlError:
            continue
    return MergedText(toml_edit.written(value), note="the comments of the definition could not be kept")


def _generate(text: str, file: str = "the merged definition") -> Document:
    from ggn_store.games import definition, generate

    return generate.generate(definition.read(text, file))


def _toml_value(value: Any) -> str:
    try:
        return toml.value(value)
    except (TypeError, ValueError):  # a date, which no definition has
        return str(value)


def _toml_key(path: tuple[str, ...]) -> str:
    return ".".join(map(toml.key, path))


def _load_description(text: str) -> Mapping[str, Any] | None:
    value, faults = json_text.load(text)
    return value if isinstance(value, Mapping) and not faults else None


def _write_description(value: Mapping[str, Any], texts: Texts) -> MergedText:
    base, ours, theirs = texts
    text = json_edit.written(value, tuple(filter(None, (theirs, ours, base))), trees.same)
    if trees.same(_load_description(text), value):
        return MergedText(text)
    return MergedText(json.dumps(value, ensure_ascii=False, indent=2))


def _compile(text: str, file: str = "the merged game description") -> Document:
    from ggn_store.api.loading import specifications

    return specifications.compile_specification(text, file=file).document


DEFINITIONS: Final = Language("definition", _load_definition, _write_definition, _generate, _toml_key, _toml_value)
DESCRIPTIONS: Final = Language(
    "game description",
    _load_description,
    _write_description,
    _compile,
    json_text.pointer,
    partial(json.dumps, ensure_ascii=False),
)
