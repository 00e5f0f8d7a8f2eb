"""Which operation is to fail, and how: counted for the files of SQLite, for other files and for a server's messages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

Operation = Literal["create", "read", "write", "sync", "truncate", "delete", "rename", "request", "reply"]
Outcome = Literal["error", "full", "gone"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault: which operations are counted, and what becomes of the N-th of them.

    "error" fails that one alone. "full" writes half of it, as a full disk does, and no more afterwards. "gone" fails
    it and all that come after it, of whatever sort: power is lost, or the server cannot be reached any longer.
    """

    name: str
    counted: frozenset[Operation]
    outcome: Outcome


CHANGES: frozenset[Operation] = frozenset(("create", "write", "sync", "truncate", "delete", "rename"))
ERROR = Kind("error", CHANGES, "error")
READ_ERROR = Kind("read error", frozenset(("read",)), "error")
FULL = Kind("disk full", frozenset(("write",)), "full")
POWER = Kind("power loss", CHANGES, "gone")
REQUEST = Kind("request lost", frozenset(("request",)), "error")
REPLY = Kind("reply lost", frozenset(("reply",)), "gone")


@dataclass
class Faults:
    """Counts operations while a fault is set, and says what becomes of each."""

    kind: Kind | None = None
    number: int = 0
    count: int = 0
    struck: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def at(self, kind: Kind, number: int) -> Iterator[None]:
        """Let the operation of that number fail inside the block; 0 only counts."""
        with self._lock:
            self.kind, self.number, self.count, self.struck = kind, number, 0, None
        try:
            yield
        finally:
            with self._lock:
                self.kind = None

    @property
    def is_gone(self) -> bool:
        """Whether nothing works any longer."""
        return self.kind is not None and self.kind.outcome == "gone" and self.struck is not None

    def outcome(self, operation: Operation, what: str) -> Outcome | None:
        """How this operation fails; None where it does not."""
        with self._lock:
            if self.kind is None:
                return None
            if operation in self.kind.counted:
                self.count += 1
                if self.count == self.number:
                    self.struck = f"{operation} of {what}"
                    return self.kind.outcome
            if self.struck is None or self.kind.outcome == "error":
                return None
            if self.kind.outcome == "full":
                return "full" if operation == "write" else None
            return "gone"
