"""The parts that sections of a specification are made of: objects, arrays, texts, flags, names and expressions.

What is not as it should be is complained about, and what can be read is given.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import did_you_mean, offer, quote
from ggn_store.gdl import expressions, language
from ggn_store.gdl.complaints import PlacedComplaints
from ggn_store.gdl.draft import Draft
from ggn_store.gdl.expressions import ExpressionError
from ggn_store.gdl.specification import Clause
from ggn_store.notation.json_text import Path, Twin

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")


class SectionReader(PlacedComplaints):
    """What the reader of a section goes by: the parts of its JSON, and the draft that it adds to.

    `what` names a part in messages ("a role", "the phase main"). Every method raises TooManyError where its complaint
    is one too many.
    """

    def __init__(self) -> None:
        super().__init__()
        self.draft = Draft()

    def members(
        self, value: Any, path: Path, what: str, allowed: Collection[str], required: Collection[str] = ()
    ) -> dict[str, Any]:
        """The members of an object that has just these keys; what else it has is complained about."""
        if not isinstance(value, Mapping):
            self.complain(path, f"{what} must be an object", quote(value), "{ ... }")
            return {}
        members = {}
        for key, member in value.items():
            if isinstance(key, Twin):
                continue
            if key in allowed:
                members[key] = member
            elif key in language.REFUSED_KEYS:
                is_open = member == "all" or member is (key == "visible")
                if not is_open:
                    self.refuse((*path, key), f"{key} of {what}", language.REFUSED_KEYS[key], True)
            else:
                message = f"{what} has no {quote(key)}{did_you_mean(key, allowed)}"
                self.complain((*path, key), message, None, ", ".join(allowed), True)
        for key in required:
            if key not in members:
                self.complain(path, f"{what} lacks {key}", None, f"{quote(key)}: ...")
        return members

    def named(self, value: Any, path: Path, what: str) -> Iterator[tuple[str, Any, Path]]:
        """The members of an object whose keys are names of the user's own: name, value, path."""
        if not isinstance(value, Mapping):
            self.complain(path, f"{what} must be an object of names", quote(value), "{ ... }")
        elif self._are_few(value, path, what):
            for key, member in value.items():
                if not isinstance(key, Twin):
                    yield key, member, (*path, key)

    def items(self, value: Any, path: Path, what: str) -> Iterator[tuple[Any, Path]]:
        """The items of an array: value, path."""
        if not isinstance(value, list | tuple):
            self.complain(path, f"{what} must be an array", quote(value), "[ ... ]")
        elif self._are_few(value, path, what):
            for number, member in enumerate(value):
                yield member, (*path, number)

    def _are_few(self, value: Collection[Any], path: Path, what: str) -> bool:
        limit = limits.DESCRIPTION_MEMBERS
        if len(value) > limit.most:
            self.complain(path, f"{what}: too many", f"{len(value):,}", limit.allowed)
        return len(value) <= limit.most

    def unknown(
        self, what: str, name: str, path: Path, known: Collection[str], *, quoted: bool = True, at_key: bool = False
    ) -> None:
        """Complain about a name that is none of those that are known, which the hint shows `quoted`."""
        hint = did_you_mean(name, known, quote) if quoted else did_you_mean(name, known)
        self.complain(path, f"{what} {quote(name)}{hint}", None, offer([*known]), at_key)

    def text(self, members: Mapping[str, Any], key: str, path: Path, what: str) -> str | None:
        """A member that is text, None where it is not there or something else."""
        value = members.get(key)
        if key in members and not isinstance(value, str):
            self.complain((*path, key), f"{key} of {what} must be text", quote(value), "a string")
        return value if isinstance(value, str) else None

    def flag(self, members: Mapping[str, Any], key: str, path: Path, what: str) -> bool:
        """A member that is true or false, False where it is not there or something else."""
        value = members.get(key, False)
        if not isinstance(value, bool):
            self.complain((*path, key), f"{key} of {what} must be true or false", quote(value), "true, false")
        return value is True

    def clause(self, value: Any, path: Path, what: str) -> Clause | None:
        """A string as a condition or effect, None where it is none."""
        if not isinstance(value, str):
            self.complain(path, f"{what} must be an expression", quote(value), "a string")
            return None
        try:
            return Clause(value, expressions.parse(value), self.place(path))
        except ExpressionError as error:
            self.complain_of(path, value, error.at, error.message, found=error.found, allowed=error.allowed)
            return None

    def is_name(self, name: str, path: Path, what: str, taken: Collection[str] = ()) -> bool:
        """Whether a key can be written as a name in expressions; those `taken` mean something else there."""
        if not _IDENTIFIER.fullmatch(name) or name in ("true", "false", "null"):
            message = f"no expression can say the name of this {what}"
            self.complain(path, message, quote(name), "letters, digits and _", True)
            return False
        if name in taken:
            self.complain(path, f"the name {name} has a meaning already", None, f"another name for the {what}", True)
            return False
        return True

    def is_label(self, name: str, path: Path, what: str, at_key: bool = True) -> bool:
        """Whether a name can be written as a text in quotes."""
        if not name or not name.isprintable() or name != name.strip() or ("'" in name and '"' in name):
            self.complain(
                path, f"this is no name for a {what}", quote(name), "printable text, without space around it", at_key
            )
            return False
        return True

    def is_value(self, value: Any, path: Path, what: str) -> bool:
        """Whether a value is one that rules can ask for: no object and no array."""
        if value is None or isinstance(value, str | int):
            return True
        self.complain(path, f"{what} must be a single value", quote(value), "text, a whole number, true, false, null")
        return False
