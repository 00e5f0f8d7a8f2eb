"""JSON text of a merged value, each part of it as it stands in one of the texts that it was merged from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.notation import json_text

SameValue = Callable[[Any, Any], bool]

_DECODER: Final = json.JSONDecoder()
_NAME: Final = "name"


@dataclass(frozen=True, slots=True)
class _Part:
    """A value in one of the texts, and where it stands there."""

    text: str
    places: Mapping[json_text.Path, tuple[int, int]]
    path: json_text.Path
    value: Any

    @property
    def source(self) -> str:
        """The text of the value."""
        start = self.places[self.path][1]
        return self.text[start : _DECODER.raw_decode(self.text, start)[1]]

    def members(self) -> dict[str, _Part]:
        """The members of an object, or the items of a list by their names."""
        value = self.value
        if isinstance(value, Mapping):
            return {key: _Part(self.text, self.places, (*self.path, key), each) for key, each in value.items()}
        return {
            item[_NAME]: _Part(self.text, self.places, (*self.path, number), item)
            for number, item in enumerate(value if isinstance(value, list) else ())
            if isinstance(item, Mapping) and isinstance(item.get(_NAME), str)
        }

    def key(self) -> str:
        """What stands before the value: its key and the colon."""
        key, value = self.places[self.path]
        return self.text[key:value]

    def space(self) -> str:
        """The white space before the key, or before the item."""
        return _space(self.text, self.places[self.path][0])

    def begin(self) -> str:
        """The white space after the opening bracket."""
        return self.source[1 : len(self.source) - len(self.source[1:].lstrip(_SPACE))]

    def end(self) -> str:
        """The white space before the closing bracket."""
        return _space(self.source, len(self.source) - 1)


_SPACE: Final = " \t\r\n"


def written(value: Any, texts: Sequence[str], same: SameValue) -> str:
    """The text of `value`, in the words and the layout of the first of `texts` that says a part of it."""
    bare = [text.removeprefix("\ufeff") for text in texts]
    parts = [_Part(text, json_text.scan(text, None).places, (), json_text.load(text)[0]) for text in bare]
    first = parts[0]
    start = first.places[()][1]
    return first.text[:start] + _written(value, parts, same) + first.text[start + len(first.source) :]


def _written(value: Any, parts: Sequence[_Part], same: SameValue) -> str:
    for part in parts:
        if same(part.value, value):
            return part.source
    laid = next((part for part in parts if type(part.value) is type(value)), None)
    if laid is None or not isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False)
    members: list[tuple[str, str]] = []
    is_object = isinstance(value, Mapping)
    named = value.items() if isinstance(value, Mapping) else ((_name(item), item) for item in value)
    inside = [(part is laid, part.members()) for part in parts]
    for key, each in named:
        found = [known[key] for _, known in inside if key in known]
        before = (found[0].key() if found else f"{json.dumps(key, ensure_ascii=False)}: ") if is_object else ""
        spaces = [known[key].space() for is_laid, known in inside if is_laid and key in known]
        members.append(("".join(spaces), before + _written(each, found, same)))
    opening, closing = "{}" if is_object else "[]"
    if not members:
        return opening + closing
    # What is new stands as the last one does.
    usual = next((space for space, _ in reversed(members) if space), laid.begin() or " ")
    (space, first), *others = members
    texts = [f"{space or usual}{text}" for space, text in others]
    space = space or (usual if "\n" in usual else "")
    return opening + ",".join([space + first, *texts]) + laid.end() + closing


def _name(item: Any) -> Any:
    return item.get(_NAME) if isinstance(item, Mapping) else None


def _space(text: str, at: int) -> str:
    """The white space that ends at an offset."""
    start = at
    while start and text[start - 1] in _SPACE:
        start -= 1
    return text[start:at]
