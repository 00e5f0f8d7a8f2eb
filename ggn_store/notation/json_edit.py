"""JSON text of a merged value, each part of it as it stands in one of the texts that it was merged from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.notation import json_text

Same = Callable[[Any, Any], bool]

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

    def member(self, key: str, found: Any) -> _Part | None:
        """The member of an object, or the item of that name in a list."""
        value = self.value
        if isinstance(value, Mapping) and key in value:
            return _Part(self.text, self.places, (*self.path, key), value[key])
        if isinstance(value, list) and isinstance(found, Mapping):
            for number, item in enumerate(value):
                if isinstance(item, Mapping) and item.get(_NAME) == key:
                    return _Part(self.text, self.places, (*self.path, number), item)
        return None

    def key(self) -> str:
        """What stands before the value: its key and the colon."""
        key, value = self.places[self.path]
        return self.text[key:value]

    def layout(self) -> tuple[str, str, str]:
        """White space after the opening bracket, before the second member and before the closing bracket."""
        source, start = self.source, self.places[self.path][1]
        inside = [
            place[0]
            for key in (self.value if isinstance(self.value, Mapping) else range(len(self.value)))
            if (place := self.places.get((*self.path, key))) is not None
        ]
        if not inside:
            return "", " ", ""
        first = self.text[start + 1 : inside[0]]
        between = first or " "
        if len(inside) > 1:
            before = self.text[: inside[1]]
            between = before[len(before.rstrip(_SPACE)) :]
        last = source[:-1]
        return first, between, last[len(last.rstrip(_SPACE)) :]


_SPACE: Final = " \t\r\n"


def written(value: Any, texts: Sequence[str], same: Same) -> str:
    """The text of `value`, in the words and the layout of the first of `texts` that says a part of it."""
    parts = [_Part(text, json_text.scan(text, None).places, (), json.loads(text)) for text in texts]
    first = parts[0]
    start = first.places[()][1]
    return first.text[:start] + _written(value, parts, same) + first.text[start + len(first.source) :]


def _written(value: Any, parts: Sequence[_Part], same: Same) -> str:
    for part in parts:
        if same(part.value, value):
            return part.source
    laid = next((part for part in parts if type(part.value) is type(value)), None)
    if laid is None or not isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False)
    members = []
    is_object = isinstance(value, Mapping)
    named = value.items() if isinstance(value, Mapping) else ((item.get(_NAME), item) for item in value)
    for key, each in named:
        found = [inner for part in parts if (inner := part.member(key, each)) is not None]
        before = (found[0].key() if found else f"{json.dumps(key, ensure_ascii=False)}: ") if is_object else ""
        members.append(before + _written(each, found, same))
    first, between, last = laid.layout()
    opening, closing = "{}" if is_object else "[]"
    return f"{opening}{first}{f',{between}'.join(members)}{last}{closing}" if members else opening + closing
