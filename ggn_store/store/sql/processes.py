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
# A module is compiled but once, unlike a script.
_RUN: Final = (
    "-I",
    "-S",
    "-X",
    "utf8",
    "-c",
    "import sys; sys.path.append(sys.argv.pop(1)); import child; child.main()",
)


class Process:
    """A process that waits for its question, with a directory for temporary files; StoreError where none can start.

    After a question it gets ready for another one of the same store.
    """

    def __init__(self, after: Mapping[str, Any] | None = None) -> None:
        self._owner = os.getpid()
        with ExitStack() as held:
            self.place = held.enter_context(spill.directory())
            path = self.place.path
            command = [sys.executable, *_RUN, str(Path(child.__file__).parent), str(self._owner), path or ""]
            if after is not None:
                of_store = after["path"], after.get("file"), after.get("uri"), after["connection"] is not None
                command.append(json.dumps(of_store))
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


class _Next(threading.Thread):
    """Ends a process and starts the next, which nobody who asks waits for; once joined it has that as `process`."""

    def __init__(self, last: Process, asked: Mapping[str, Any]) -> None:
        super().__init__()
        self._last, self._asked = last, asked
        self.process: Process | None = None
        self.start()

    def run(self) -> None:
        self._last.end()
        with contextlib.suppress(StoreError):  # the next question says it
            self.process = Process(self._asked)


class Processes:
    """The processes of a store; one may wait for the next question, which then need not wait for it to start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: _Next | None = None

    @contextmanager
    def told(self, asked: Mapping[str, Any], store: bytes, *, ahead: bool) -> Iterator[Process]:
        """A process that has been told what to ask; it is gone in the end, and a little after its time is up.

        With `ahead` another one is started then, for the next question.
        """
        process = self._taken() or Process()
        killer = threading.Timer(asked["seconds"] + GRACE, process.popen.kill)
        try:
            killer.start()  # which waits, and so may be interrupted
            process.tell(asked, store)
            yield process
        finally:
            killer.cancel()
            with self._lock:
                if is_followed := ahead and self._next is None:
                    self._next = _Next(process, asked)
            if not is_followed:
                process.end()

    def close(self) -> None:
        """End the process that waits, if one does."""
        if process := self._taken():
            process.end()

    def _taken(self) -> Process | None:
        """The process that waits for a question, which no other one gets."""
        with self._lock:
            found, self._next = self._next, None
        if found is None:
            return None
        found.join()
        if found.process is None or found.process.waits:
            return found.process
        found.process.end()
        return None
