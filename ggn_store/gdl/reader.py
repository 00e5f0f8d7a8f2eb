"""JSON -> what a specification says, with every complaint about it (the sections are those of seed 004, section 2).

Whatever can be read is read, also where something beside it is wrong, so that one reading finds all problems. The
expressions are parsed here; what their names mean is for `check`.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import UNSTORABLE, quote
from ggn_store.gdl import expressions
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.sections import about, actions, declarations, players, setup, topology
from ggn_store.limits import TooManyError
from ggn_store.model.changes import like, trees
from ggn_store.notation import json_edit, json_text
from ggn_store.notation.json_text import Path

# In the order in which they are read: each may ask what those before it have added to the draft.
SECTIONS: Final[Mapping[str, Callable[[SectionReader, Any, Path], None]]] = {
    "metadata": about.read_metadata,
    "players": players.read,
    "entity_schemas": declarations.read_entity_schemas,
    "topology": topology.read,
    "state_schema": declarations.read_state_schema,
    "setup": setup.read,
    "interactions": actions.read_interactions,
    "game_flow": actions.read_game_flow,
    "end_conditions": about.read_end_conditions,
    "presentation": about.read_presentation,
}
_OPTIONAL: Final = ("setup", "end_conditions", "presentation")


def read(data: str | bytes | Mapping[str, Any], beside: FilePath | None = None) -> SpecificationReader:
    """Read a specification: JSON as text, as bytes, or decoded; nothing is raised, whatever it is.

    It may be like a game description of the library, or like one in the folder `beside`. Then its text says all of it.
    """
    reader = SpecificationReader()
    with contextlib.suppress(TooManyError):
        reader.read(data, beside)
    return reader


def _load(data: bytes) -> tuple[str, Mapping[str, Any]]:
    text, fault = json_text.decode_bytes(data)
    value, faults = (None, [fault]) if fault is not None else json_text.load(text)
    if faults or not isinstance(value, Mapping):
        raise ValueError(faults[0].message if faults else "it is no object")
    return text, value


# What each game says of itself is not taken over.
LANGUAGE: Final = like.LikeLanguage(
    "gdl", "gdl/", ".json", ("metadata", "description", "$schema"), limits.DESCRIPTION_BYTES, _load
)


class SpecificationReader(SectionReader):
    """Reads one specification; afterwards it has the draft and all complaints, and knows the places of all values."""

    def read(self, data: str | bytes | Mapping[str, Any], beside: FilePath | None = None) -> None:
        """Read everything; to be called once. Raises TooManyError where the rest was not looked at."""
        if isinstance(data, bytes | bytearray | memoryview):
            if self._is_too_large(len(data), "bytes"):
                return
            data, fault = json_text.decode_bytes(bytes(data))
            if fault is not None:
                self.look_up_in(data, [fault], ())
                return
        value: Any = data
        if isinstance(data, str):
            if self._is_too_large(len(data), "characters"):
                return
            self.draft.text = data
            value, faults = json_text.load(data)
            self.look_up_in(data, faults)
            if value is None and faults:
                return
        if self._is_sane(value, (), 1):
            self._whole(value, beside)

    def _made_whole(self, value: Mapping[str, Any], beside: FilePath | None) -> Mapping[str, Any] | None:
        """The value with all that it is like, None where that is wrong; the draft's text says all of it, too."""
        self.is_like = True
        if self._faults:
            return None
        try:
            made, others = like.whole(LANGUAGE, value, beside)
        except like.LikeError as error:
            self.complain(error.path, error.message, quote(error.found), error.allowed)
            return None
        made = {key: made[key] for key in (*SECTIONS, *made) if key in made}
        own = self.draft.text or json.dumps(value, ensure_ascii=False, indent=2)
        self.draft.text = json_edit.written(made, (own, *(each.text for each in others)), trees.same)
        is_right = not self._is_too_large(len(self.draft.text), "characters") and self._is_sane(made, (), 1)
        return made if is_right else None

    def _is_too_large(self, size: int, unit: str) -> bool:
        limit = limits.DESCRIPTION_BYTES
        if size > limit.most:
            message = f"the specification is larger than {limit.most:,} {unit}"
            self.complain((), message, f"{size:,} {unit}", limit.allowed)
        return size > limit.most

    def _whole(self, value: Any, beside: FilePath | None) -> None:
        if not isinstance(value, Mapping):
            self.complain((), "a specification is an object", quote(value), "{ ... }")
            return
        if like.LIKE in value:
            value = self._made_whole(value, beside)
            if value is None:
                return
        required = [key for key in SECTIONS if key not in _OPTIONAL]
        whole = self.members(value, (), "the specification", (*SECTIONS, "$schema", "description"), required)
        for key, read_section in SECTIONS.items():
            if key in whole:
                read_section(self, whole[key], (key,))
        draft = self.draft
        if draft.first_player is None and draft.players and "current_player" not in draft.variables:
            draft.first_player = draft.players[0].name
        draft.variables.pop("current_player", None)

    def _is_sane(self, value: Any, path: Path, depth: int) -> bool:
        """Whether the texts and numbers are of a size and kind that everything after this can rely on."""
        if depth > json_text.MAX_DEPTH:
            self.complain(path, "the specification is nested too deeply", None, f"at most {json_text.MAX_DEPTH} levels")
            return False
        if isinstance(value, Mapping):
            found = [self._is_text(key, (*path, key), True) for key in value]
            found += [self._is_sane(each, (*path, key), depth + 1) for key, each in value.items()]
            return all(found)
        if isinstance(value, list | tuple):
            found = [self._is_sane(each, (*path, number), depth + 1) for number, each in enumerate(value)]
            return all(found)
        if isinstance(value, str):
            return self._is_text(value, path, False)
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, int | float):
            return self._is_number(value, path)
        self.complain(path, "this is no JSON value", quote(value))
        return False

    def _is_number(self, value: float, path: Path) -> bool:
        if isinstance(value, float) and (math.isnan(value) or not value.is_integer()):
            self.complain(path, "only whole numbers are possible", quote(value), "a number without a fraction")
            return math.isnan(value)
        if abs(value) > expressions.MAX_NUMBER:
            limit = expressions.MAX_NUMBER
            self.complain(path, "the number is out of range", quote(value), f"-{limit} to {limit}")
            return False
        return True

    def _is_text(self, text: Any, path: Path, at_key: bool) -> bool:
        if not isinstance(text, str):
            self.complain(path[:-1], "a key is not text", quote(text), "a string")
            return False
        limit = limits.LABEL if at_key else limits.DESCRIPTION_TEXT
        if len(text) > limit.most:
            self.complain(path, "the text is too long", f"{len(text):,} characters", limit.allowed, at_key)
            return False
        if UNSTORABLE.search(text):
            self.complain(path, "the text has a character that no database keeps", quote(text), None, at_key)
            return False
        return True
