"""One thing that is suspicious in a valid document, without its place in the text."""

from __future__ import annotations

from ggn_store.errors import Problem, printable
from ggn_store.notation.json_text import Path


def finding(code: str, path: Path, message: str) -> Problem:
    """Down to the destination it is the name that is pointed at, below that what is written there."""
    return Problem(printable(message), code=code, path=path, at_key=len(path) <= 3)
