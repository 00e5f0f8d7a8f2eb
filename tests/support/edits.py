"""Random edits of random documents, and what documents say in plain dictionaries, for diffs and merges."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from ggn_store import Document, is_valid, parse
from ggn_store.model.documents.document import Envelope
from tests.support.strategies import Entry, Json, documents, entries, named, possibilities

Plain = dict[Entry, tuple[str, ...]]
Fields = dict[str, str]

TEXTS: dict[str, tuple[str, ...]] = {
    "title": ("One", "Two", 'say "hi"\n'),
    "source": ("a book", "another book"),
    "definition": ("[pieces]\n", "[pieces]\nP = 1\n"),
}


class Draft:
    """A document that is being edited: its JSON and its fields; every edit leaves it valid, or has not been."""

    def __init__(self, dialect: str, content: Json, fields: Fields) -> None:
        self.dialect, self.content, self.fields = dialect, content, fields

    def copy(self) -> Draft:
        return Draft(self.dialect, copy.deepcopy(self.content), dict(self.fields))

    def document(self) -> Document:
        envelope = Envelope(**{name: text for name, text in self.fields.items() if name != "schema"})
        return parse(json.dumps(self.content), self.dialect, envelope=envelope)  # type: ignore[arg-type]


@st.composite
def drafts(draw: st.DrawFn, dialect: str) -> Draft:
    fields = draw(st.fixed_dictionaries({}, optional={name: st.sampled_from(texts) for name, texts in TEXTS.items()}))
    return Draft(dialect, draw(documents(dialect)), fields)


@st.composite
def edited(draw: st.DrawFn, before: Draft, other: Draft | None = None) -> Draft:
    """A draft after up to five edits; some take over what `other` has, so that both may have changed alike."""
    draft = before.copy()
    kinds: list[Callable[[st.DrawFn, Draft], None]] = [*EDITS]
    if other is not None and draw(st.booleans()):
        source = other
        kinds += [lambda draw, draft: take_over(draw, draft, source)] * 6
    for _ in range(draw(st.integers(0, 5))):
        trial = draft.copy()
        draw(st.sampled_from(kinds))(draw, trial)
        if is_valid(json.dumps(trial.content), trial.dialect):  # type: ignore[arg-type]
            draft = trial
    return draft


# --- the edits: each changes a draft in place, to something that may be invalid ---


def pick(draw: st.DrawFn, draft: Draft) -> tuple[Entry, list[Json]]:
    piece, source, destination = draw(st.sampled_from(entries(draft.content)))
    return (piece, source, destination), draft.content[piece][source][destination]


def fresh(draw: st.DrawFn, draft: Draft, entry: Entry) -> Json:
    squares, pieces = named(draft.content)
    return draw(possibilities(draft.dialect, entry, squares, pieces))


def insert(draw: st.DrawFn, level: dict[str, Any], key: str, value: Any) -> None:
    """Put a member anywhere in a level."""
    members = [(each, level[each]) for each in level if each != key]
    members.insert(draw(st.integers(0, len(members))), (key, value))
    level.clear()
    level.update(members)


def prune(draft: Draft) -> None:
    for piece in [each for each in draft.content if not each.startswith("$")]:
        sources = draft.content[piece]
        for source in [each for each in sources if not sources[each]]:
            del sources[source]
        if not sources:
            del draft.content[piece]


def replace_possibility(draw: st.DrawFn, draft: Draft) -> None:
    entry, found = pick(draw, draft)
    found[draw(st.integers(0, len(found) - 1))] = fresh(draw, draft, entry)


def add_possibility(draw: st.DrawFn, draft: Draft) -> None:
    entry, found = pick(draw, draft)
    found.insert(draw(st.integers(0, len(found))), fresh(draw, draft, entry))


def remove_possibility(draw: st.DrawFn, draft: Draft) -> None:
    (piece, source, destination), found = pick(draw, draft)
    found.pop(draw(st.integers(0, len(found) - 1)))
    if not found:
        del draft.content[piece][source][destination]
        prune(draft)


def reorder_possibilities(draw: st.DrawFn, draft: Draft) -> None:
    _, found = pick(draw, draft)
    found[:] = draw(st.permutations(found))


def change_condition(draw: st.DrawFn, draft: Draft) -> None:
    _, found = pick(draw, draft)
    possibility = draw(st.sampled_from(found))
    squares, pieces = named(draft.content)
    names = ("require", "prevent") if draft.dialect == "perform" else ("must", "deny")
    conditions = possibility.setdefault(draw(st.sampled_from(names)), {})
    square = draw(st.sampled_from(squares))
    if square in conditions and draw(st.booleans()):
        del conditions[square]
    else:
        conditions[square] = draw(st.sampled_from(["empty", "enemy", *pieces]))


def remove_branch(draw: st.DrawFn, draft: Draft) -> None:
    (piece, source, destination), _ = pick(draw, draft)
    match draw(st.integers(1, 3)):
        case 1:
            del draft.content[piece]
        case 2:
            del draft.content[piece][source]
        case _:
            del draft.content[piece][source][destination]
    prune(draft)


def add_entry(draw: st.DrawFn, draft: Draft) -> None:
    (piece, source, _), _ = pick(draw, draft)
    squares, pieces = named(draft.content)
    new = draw(st.integers(1, 3))
    if new == 1:
        piece = draw(st.sampled_from([*pieces, piece.swapcase()]))
    if new <= 2:
        source = draw(st.sampled_from(squares))
    destination = draw(st.sampled_from(squares))
    if piece not in draft.content:
        insert(draw, draft.content, piece, {})
    if source not in draft.content[piece]:
        insert(draw, draft.content[piece], source, {})
    value = [fresh(draw, draft, (piece, source, destination))]
    insert(draw, draft.content[piece][source], destination, value)


def reorder(draw: st.DrawFn, draft: Draft) -> None:
    (piece, source, _), _ = pick(draw, draft)
    level = draw(st.sampled_from([draft.content, draft.content[piece], draft.content[piece][source]]))
    members = draw(st.permutations(list(level.items())))
    level.clear()
    level.update(members)


def rename(draw: st.DrawFn, draft: Draft) -> None:
    (piece, source, destination), _ = pick(draw, draft)
    squares, _ = named(draft.content)
    levels = [
        (draft.content, piece, [piece.swapcase()]),
        (draft.content[piece], source, squares),
        (draft.content[piece][source], destination, squares),
    ]
    level, old, choices = draw(st.sampled_from(levels))
    new = draw(st.sampled_from(choices))
    if new in level:
        return
    members = [(new if key == old else key, value) for key, value in level.items()]
    level.clear()
    level.update(members)


def change_field(draw: st.DrawFn, draft: Draft) -> None:
    name = draw(st.sampled_from(list(TEXTS)))
    text = draw(st.sampled_from((None, *TEXTS[name])))
    if text is None:
        draft.fields.pop(name, None)
    else:
        draft.fields[name] = text


def take_over(draw: st.DrawFn, draft: Draft, other: Draft) -> None:
    """Make an entry, or a field, as `other` has it, which may be not to have it."""
    if draw(st.sampled_from((False, False, True))):
        draft.fields = dict(other.fields)
        return
    piece, source, destination = draw(st.sampled_from(entries(draft.content) + entries(other.content)))
    value = other.content.get(piece, {}).get(source, {}).get(destination)
    if value is None:
        draft.content.get(piece, {}).get(source, {}).pop(destination, None)
        prune(draft)
    else:
        draft.content.setdefault(piece, {}).setdefault(source, {})[destination] = copy.deepcopy(value)


EDITS = (
    replace_possibility,
    add_possibility,
    remove_possibility,
    reorder_possibilities,
    change_condition,
    change_condition,
    remove_branch,
    add_entry,
    reorder,
    rename,
    change_field,
)


# --- what a draft says, in plain dictionaries ---


def plain(draft: Draft) -> Plain:
    """Every entry of a draft as texts that are equal where the possibilities mean the same."""
    return {
        (piece, source, destination): tuple(map(normal, draft.content[piece][source][destination]))
        for piece, source, destination in entries(draft.content)
    }


def normal(possibility: Json) -> str:
    said = {key: value for key, value in possibility.items() if value or key not in ("must", "deny", "when")}
    if "action" in said:
        action = {"step": 1, **said["action"]}
        said["action"] = {key: value for key, value in action.items() if value is not False}
    if "when" in said:
        said["when"] = {name: sorted(values) for name, values in said["when"].items()}
    if "diff" in said:
        diff = {key: value for key, value in said["diff"].items() if key == "toggle" or value}
        said["diff"] = {"toggle": True, **diff}
    return json.dumps(said, sort_keys=True).replace('"step": 2.0', '"step": 2')


def plain_of(document: Document) -> Plain:
    """The same of a document, by its canonical text."""
    return plain(Draft(document.dialect, json.loads(document.canonical()), {}))


def fields_of(draft: Draft) -> Fields:
    schema = {"schema": draft.content["$schema"]} if "$schema" in draft.content else {}
    return draft.fields | schema | variables_of(draft.content)


def variables_of(content: Json) -> Fields:
    """The field that the `$state` of a document is, if it declares any variable."""
    if not content.get("$state"):
        return {}
    declared = {
        name: {"values": sorted(each["values"]), "initial": each["initial"]}
        for name, each in sorted(content["$state"].items())
    }
    return {"variables": json.dumps(declared, ensure_ascii=False, separators=(",", ":"))}
