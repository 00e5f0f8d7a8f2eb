"""What is wrong with a document, noted while it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ggn_store.errors import quote
from ggn_store.limits import Kept
from ggn_store.notation import json_text

# "Nothing was found", where None would be JSON null.
NOTHING: Final = object()


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that is wrong at a path; `at_key` where it is the key of the member and not its value."""

    path: json_text.Path
    message: str
    found: str | None
    allowed: str | None
    at_key: bool


class Complaints(Kept[Complaint]):
    """All that is wrong, in the order in which it was found."""

    def add(self, path: json_text.Path, message: str, found: object, allowed: str | None, at_key: bool = False) -> None:
        """Note what is wrong; `found` is any value, or NOTHING."""
        quoted = None if found is NOTHING or self.is_full else quote(found)
        self.append(Complaint(path, message, quoted, allowed, at_key))
