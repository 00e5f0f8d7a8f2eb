"""Private directories for what is temporary: each goes with what it is for, whatever ends that."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_OF_QUERY: Final = "ggn-store-sql-"
_OF_NEW_STORE: Final = ".ggn-store-new-"
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


def directory() -> AbstractContextManager[Spill]:
    """A new directory where SQLite would put its temporary files; what killed processes left there is removed."""
    # SQLite's own order. /tmp comes last: it may be memory.
    places = (os.environ.get("SQLITE_TMPDIR"), os.environ.get("TMPDIR"), "/var/tmp", tempfile.gettempdir())  # noqa: S108
    return _directory(_OF_QUERY, filter(None, places))


def beside(file: Path) -> AbstractContextManager[Spill]:
    """A new directory beside a file that is to be made; what killed processes left there is removed."""
    return _directory(_OF_NEW_STORE, [str(file.parent)])


@contextmanager
def _directory(prefix: str, places: Iterable[str]) -> Iterator[Spill]:
    made = _made(prefix, places)
    try:
        yield made
    finally:
        if made.path is not None:
            shutil.rmtree(made.path, ignore_errors=True)
        if made.lock is not None:
            os.close(made.lock)


def _made(prefix: str, places: Iterable[str]) -> Spill:
    for place in filter(os.path.isdir, places):
        _sweep(Path(place), prefix)
        with contextlib.suppress(OSError):
            for left in reversed(range(_TRIES)):
                path = tempfile.mkdtemp(prefix=prefix, dir=place)
                lock = _locked(path)
                if os.path.isdir(path) and (lock is not None or not left):  # there are file systems without locks
                    return Spill(path, lock)
                # Another process swept it away before it was locked, or is about to.
                if lock is not None:
                    os.close(lock)
                with contextlib.suppress(OSError):
                    os.rmdir(path)
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


def _sweep(place: Path, prefix: str) -> None:
    """Remove the directories of processes that are gone: nobody holds their locks any more."""
    with contextlib.suppress(OSError):
        for left in place.glob(f"{prefix}*") if fcntl else ():
            if left.lstat().st_uid == os.getuid() and (lock := _locked(str(left))) is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)
