"""What a user finds who asks for an attribute that is not there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ggn_store.errors import did_you_mean


class MissingAttributeError(AttributeError):
    """A value has no such attribute; its message says what to use instead.

    The message is made when it is read: `hasattr`, `copy` and `pickle`, which ask for attributes in vain, do not wait.
    """

    def __init__(self, owner: object, name: str, words: Mapping[str, str], parts: Mapping[str, type]) -> None:
        super().__init__(name, obj=owner)  # with the name, too, Python would put a hint of its own behind this one
        self._words = words
        self._parts = parts

    def __str__(self) -> str:
        return f"{type(self.obj).__name__} has no attribute {self.args[0]!r}{self._hint(self.args[0])}"

    def _hint(self, name: str) -> str:
        kind = type(self.obj)
        there = {each: f"{part}.{each}" for part, of in self._parts.items() for each in _public(of)} | {**self._words}
        if name in there:
            return f": use {there[name]}"
        near = did_you_mean(name, _public(kind)) or did_you_mean(name, there, there.__getitem__)
        return near or f": see help({kind.__name__})"


def hinting(words: Mapping[str, str], parts: Mapping[str, type]) -> Callable[[object, str], Any]:
    """A `__getattr__` that says what to use instead.

    `words` are other libraries' names for what there is here; `parts` are the types of what a user has at hand, too,
    by how to get at it.
    """

    def missing(self: object, name: str) -> Any:
        if hasattr(type(self), name):
            return object.__getattribute__(self, name)  # a property that fails: its own error, again
        raise MissingAttributeError(self, name, words, parts)

    return missing


def _public(kind: type) -> list[str]:
    return [name for name in dir(kind) if not name.startswith("_")]
