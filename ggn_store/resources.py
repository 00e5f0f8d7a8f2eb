"""The files that ship with the package: migrations, the library of documents, SQL."""

from __future__ import annotations

import re
from pathlib import Path

from ggn_store.errors import GgnStoreError

_PACKAGE = Path(__file__).resolve().parent
_HEAD = re.compile(r"(?:--[^\n]*\n)+\n?")
_WORD = re.compile(r"\{\{(\w+)\}\}")


def directory(name: str) -> Path:
    """The directory `name` (migrations or data): inside an installed package, else beside it in a checkout."""
    for candidate in (_PACKAGE / f"_{name}", _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise GgnStoreError(f"the package's own {name} directory is missing: install ggn-store again")


def sql(room: str, name: str, **words: str) -> str:
    """The SQL of the file `name`.sql in a room, without the comment at its head, and with `words` for its {{words}}.

    Words are names and texts of the program's own: they are put in as they are. Values are bound.
    """
    written = _PACKAGE.joinpath(*room.split(".")[1:], f"{name}.sql").read_text(encoding="utf-8")
    if head := _HEAD.match(written):
        written = written[head.end() :]
    return _WORD.sub(lambda word: words[word[1]], written).rstrip("\n")
