"""Copying a SQLite database that others write to. The process that asks in SQL uses this alone of the room."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable
from typing import Any

_LOOK = 0.01  # seconds between two looks at the file while a writer has it
_PAGES = 4_096  # that are copied before writers get in between
_RESTARTS = 5  # of a copy that writers overtake, before it is made at one go


class _Overtaken(Exception):  # noqa: N818
    """Writers have changed a file too often while it was copied."""


def copied(source: sqlite3.Connection, until: float, **options: Any) -> sqlite3.Connection:
    """A copy of one state of a database, made a little at a time so that writers get in between; a file without a name.

    Where they do so too often, they wait for it once. Raises TimeoutError where it takes longer than `until`.
    """
    for pages in (_PAGES, -1):
        # What SQLite calls a temporary database: nobody else can open it, and it goes with the connection.
        target: sqlite3.Connection = sqlite3.connect("", isolation_level=None, **options)
        try:
            for pragma in ("journal_mode = OFF", "synchronous = OFF"):
                target.execute(f"PRAGMA {pragma}")
            source.backup(target, pages=pages, progress=_overseer(until), sleep=_LOOK)
        except BaseException as error:
            target.close()
            if pages > 0 and isinstance(error, _Overtaken):
                continue
            raise
        return target
    raise AssertionError


def _overseer(until: float) -> Callable[[int, int, int], None]:
    least, restarts = sys.maxsize, 0

    def look(status: int, remaining: int, _total: int) -> None:
        nonlocal least, restarts
        if time.monotonic() > until:
            raise TimeoutError
        if status == sqlite3.SQLITE_OK and remaining >= least:  # SQLite begins again where the file was changed
            restarts += 1
        if restarts > _RESTARTS:
            raise _Overtaken
        least = remaining

    return look
