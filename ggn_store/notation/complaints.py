"""What is wrong with a text, noted while it is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ggn_store import limits
from ggn_store.errors import Problem, quote

# "Nothing was found", where None would be JSON null.
NOTHING: Final = object()
# What is wrong is counted up to so many times the number that is reported.
_COUNTED: Final = 20


class Complaints(list[Problem]):
    """The first of what is wrong with a text, as many as are reported; the rest is counted.

    `append` and `add` raise TooManyError where there is so much that not even counting it is worth the time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.total = 0
        self._most = limits.PROBLEMS.most

    def append(self, item: Problem) -> None:
        self.total += 1
        if self.total <= self._most:
            super().append(item)
        elif self.total > _COUNTED * self._most:
            raise limits.TooManyError

    def add(
        self,
        path: tuple[str | int, ...],
        message: str,
        found: object = NOTHING,
        allowed: str | None = None,
        at_key: bool = False,
        **more: Any,
    ) -> None:
        """Note what is wrong at a path; `found` is any value, or NOTHING; `more` are other fields of the problem."""
        quoted = None if found is NOTHING or self.is_full else quote(found)
        self.append(Problem(message, path=path, found=quoted, allowed=allowed, at_key=at_key, **more))

    @property
    def is_full(self) -> bool:
        """Whether no more are kept."""
        return self.total >= self._most

    def rest(self, last: Problem) -> list[Problem]:
        """What is said, behind the last one that is kept, of those that are not; nothing where all are."""
        if self.total <= self._most:
            return []
        least = "at least " if self.total > _COUNTED * self._most else ""
        name = limits.PROBLEMS.name
        message = f"and {least}{self.total - self._most:,} more (--limit {name}=N reports more)"
        return [replace(last, message=message, pointer="", found=None, allowed=None, detail=None)]
