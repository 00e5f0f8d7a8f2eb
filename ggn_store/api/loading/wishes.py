"""How documents are to be loaded or proposed: keywords, and the value that they become."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from ggn_store.errors import InputError
from ggn_store.model.changes.merge import Preference, check_preference
from ggn_store.model.documents.document import Dialect


class ProposeOptions(TypedDict, total=False):
    """The keywords of `propose`, as for `load`."""

    dialect: Dialect | None
    message: str | None
    author: str | None
    base: str | None
    accept_changes: bool


class LoadOptions(ProposeOptions, total=False):
    """The keywords of `load`, `load_all`, `amend` and, but for merge, of `propose`.

    `base` is the revision that the document is based on: `3`, `sha256:0123abcd`, a tag, or `0` where it is to be the
    first. Where the ruleset has moved on from there, `merge` unites what both sides changed, and `prefer` decides what
    they changed differently: for "ours", which is the document, or "theirs", the newest revision. `conflicts` is a file
    to which conflicts are written, for `store.exchange.resolve`.
    `accept_changes` says that changes of the moves that a policy keeps are meant; the revision's message lists them.
    """

    merge: bool
    prefer: Preference
    conflicts: str | os.PathLike[str] | None


@dataclass(frozen=True, slots=True)
class LoadWishes:
    """How documents are to be loaded: made where a caller's keywords come in, and passed on as one."""

    name: str | None = None
    dialect: Dialect | None = None
    message: str | None = None
    author: str | None = None
    base: str | None = None
    merge: bool = False
    prefer: Preference = None
    conflicts: str | os.PathLike[str] | None = None
    accept_changes: bool = False
    progress: Callable[[int], None] | None = None

    def __post_init__(self) -> None:
        check_preference(self.prefer, merge=self.merge)
        if self.merge and self.base is None:
            raise InputError("a merge needs to know what the document is based on: give base=...")

    @property
    def single(self) -> str | None:
        """Why it can only be one document."""
        if self.name is not None:
            return "--name names one ruleset"
        return None if self.base is None else "--base is what one document is based on"
