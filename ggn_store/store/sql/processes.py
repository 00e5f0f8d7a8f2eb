"""The processes that questions in SQL are asked in (`child`): each is asked one, and is gone afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from ggn_store.errors import StoreError
from ggn_store.store.database import spill
from ggn_store.store.sql import child

GRACE: Final = 3  # seconds that a process has, after the deadline, to say that it has met it


class Process:
    """A process that waits for its question, with a directory for temporary files; StoreError where none can start."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        with ExitStack() as held:
            self.place = held.enter_context(spill.directory())
            path = self.place.path
            command = [sys.executable, "-I", "-X", "utf8", str(Path(child.__file__)), str(self._owner), path or ""]
            try:
                self.popen = subprocess.Popen(  # noqa: S603
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=os.environ if path is None else {**os.environ, "SQLITE_TMPDIR": path},
                    pass_fds=self.place.inherited,
                    # Stopped from the terminal it would keep writers waiting, and could not look after its directory.
                    start_new_session=True,
                )
            except OSError as error:
                raise StoreError(f"no process can be started to ask in: {error.strerror}") from None
            self._held = held.pop_all()

    @property
    def waits(self) -> bool:
        """Whether it is there, and for this program, which may have been forked from the one that started it."""
        return self._owner == os.getpid() and self.popen.poll() is None

    def tell(self, asked: Mapping[str, Any], store: bytes) -> None:
        """Say what to ask; it answers when it has read all, and what it says on stderr is short."""
        spills = {"directory": self.place.path, "spills": self.place.path is not None}
        into: Any = self.popen.stdin
        with contextlib.suppress(BrokenPipeError):
            into.write(json.dumps({**asked, **spills}).encode() + b"\n" + store)
            into.close()

    def end(self) -> None:
        """See that it is gone, and its directory, unless that is for another program to do."""
        if self._owner == os.getpid():
            with self._held, self.popen:
                self.popen.kill()


class Processes:
    """The processes of a store; one may wait for the next question, which then need not wait for it to start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Process | None = None

    @contextmanager
    def told(self, asked: Mapping[str, Any], store: bytes, *, ahead: bool) -> Iterator[Process]:
        """A process that has been told what to ask; it is gone in the end, and a little after its time is up.

        With `ahead` another one is started, for the next question.
        """
        process = self._next(None)
        if process is not None and not process.waits:
            process.end()
            process = None
        process = process or Process()
        killer = threading.Timer(asked["seconds"] + GRACE, process.popen.kill)
        try:
            killer.start()  # which waits, and so may be interrupted
            process.tell(asked, store)
            if ahead:
                with contextlib.suppress(StoreError):  # the next question says it
                    self._let_wait(Process())
            yield process
        finally:
            killer.cancel()
            process.end()

    def close(self) -> None:
        """End the process that waits, if one does."""
        self._let_wait(None)

    def _let_wait(self, process: Process | None) -> None:
        other = self._next(process)
        if other is not None:
            other.end()

    def _next(self, process: Process | None) -> Process | None:
        """Have a process wait for the next question, or none; the one that did."""
        with self._lock:
            waiting, self._waiting = self._waiting, process
        return waiting
