"""A private directory for the temporary results of one query; it goes with the query, whatever ends that."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX: Final = "ggn-store-sql-"
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Spill:
    """A directory of mode 0700, and the descriptor of it that holds its lock; a child that inherits that holds it, too.

    Both are None where nothing can be written.
    """

    path: str | None
    lock: int | None

    @property
    def place(self) -> str:
        """Where the directory is, in words."""
        return "any directory" if self.path is None else os.path.dirname(self.path)

    @property
    def inherited(self) -> tuple[int, ...]:
        """The descriptors that a child is to have."""
        return () if self.lock is None else (self.lock,)


@contextmanager
def directory() -> Iterator[Spill]:
    """A new directory where SQLite would put its temporary files; what killed processes left there is removed."""
    made = _made()
    try:
        yield made
    finally:
        if made.path is not None:
            shutil.rmtree(made.path, ignore_errors=True)
        if made.lock is not None:
            os.close(made.lock)


def _made() -> Spill:
    # SQLite's own order. /tmp comes last: it may be memory.
    for place in (os.environ.get("SQLITE_TMPDIR"), os.environ.get("TMPDIR"), "/var/tmp", tempfile.gettempdir()):  # noqa: S108
        if not place or not os.path.isdir(place):
            continue
        _sweep(Path(place))
        with contextlib.suppress(OSError):
            for left in reversed(range(_TRIES)):
                path = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
                lock = _locked(path)
                if lock is not None and not os.path.isdir(path):  # swept away before it was locked
                    os.close(lock)
                elif lock is not None or not left:  # there are file systems without locks
                    return Spill(path, lock)
    return Spill(None, None)


def _locked(path: str) -> int | None:
    """A descriptor of a directory that nobody else holds the lock of; None where there are none, or somebody does."""
    if fcntl is None:
        return None
    try:
        found = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(found)
        return None
    return found


def _sweep(place: Path) -> None:
    """Remove the directories of processes that are gone: nobody holds their locks any more."""
    with contextlib.suppress(OSError):
        for left in place.glob(f"{_PREFIX}*"):
            if left.lstat().st_uid == os.getuid() and (lock := _locked(str(left))) is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)
