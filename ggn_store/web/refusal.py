"""The error of what was asked, and what visitors are told of any error."""

from __future__ import annotations

import re
from typing import Final

from ggn_store.errors import GgnStoreError

# The part of a message that names a command, an option or a method, which is of no use to who has a browser only.
_OF_A_SHELL: Final = re.compile(
    r"(?:,? with|[:;,](?![^`:;]* with `ggn-store)[^`:;,()]*) ?`ggn-store[^`]*`[^:;()\n]*(?:\(in Python[^()]*\))?"
    r"| \([^()]*(?:`ggn-store|--\w|in Python)[^()]*\)"
)


def for_visitors(message: str) -> str:
    """A message without what only helps who has a shell."""
    return _OF_A_SHELL.sub("", message)


class AskedError(GgnStoreError, ValueError):
    """A request asks for something in a way that no page understands; `status` is what HTTP calls that."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
