"""Reading ahead: other processes read the documents that come next, while this one stores those before.

A document that is in order comes back ready to be stored. All else (a document with a problem, a process that was
killed) comes back as nothing, and is then read here, as if there were no other process: errors are the same ones.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Final

from ggn_store import limits
from ggn_store.documents import files
from ggn_store.model.documents.document import Dialect
from ggn_store.store.rulesets import load

# Where there is less to read, the other processes would not have begun before it is done. In bytes.
_ENOUGH: Final = 6_000_000
# So much is read here before the first of them is waited for.
_MEANWHILE: Final = 1_500_000
# Larger documents are read here: their rows would be in memory for each of the processes at once.
_LARGE: Final = 20_000_000
_HEADER: Final = 8  # bytes, which say how many come
_START: Final = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from ggn_store import limits
from ggn_store.api.loading import ahead
with limits.allow(json.loads(sys.argv[2])):
    ahead.serve(sys.stdin.buffer, sys.stdout.buffer)
"""


class Ahead:
    """Processes that read files in turns, in the order in which they are asked for."""

    def __init__(self, found: Sequence[files.File], dialect: Dialect | None, processes: int) -> None:
        chosen = _worthwhile(found) if processes > 0 else []
        self._processes: list[subprocess.Popen[bytes]] = []
        with contextlib.suppress(OSError):  # as many as the system allows
            for _ in range(min(processes, len(chosen))):
                self._processes.append(_process())
        self._expected: dict[files.File, subprocess.Popen[bytes]] = {}
        for number, process in enumerate(self._processes):
            share = chosen[number :: len(self._processes)]
            self._expected |= dict.fromkeys(share, process)
            requests = [json.dumps([file.path, file.name, dialect]) + "\n" for file in share]
            assert process.stdin is not None  # noqa: S101  (it is a pipe)
            with contextlib.suppress(OSError):  # it is gone: what it was to read is read here
                process.stdin.write("".join(requests).encode())
                process.stdin.close()

    def take(self, file: files.File) -> load.Ready | None:
        """The document of a file; None where it is to be read here."""
        process = self._expected.pop(file, None)
        if process is None:
            return None
        assert process.stdout is not None  # noqa: S101  (it is a pipe)
        size = int.from_bytes(process.stdout.read(_HEADER), "little")
        data = process.stdout.read(size)
        if not data or len(data) < size:
            return None
        ready: load.Ready = pickle.loads(data)  # noqa: S301  (of our own process)
        return ready

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # what could not be written any more
                        pipe.close()
            process.wait()


@contextlib.contextmanager
def reading(found: Sequence[files.File], dialect: Dialect | None, processes: int) -> Iterator[Ahead]:
    """Read files ahead in so many other processes, where there is enough to read, until the block ends."""
    ahead = Ahead(found, dialect, processes)
    try:
        yield ahead
    finally:
        ahead.close()


def _worthwhile(found: Sequence[files.File]) -> list[files.File]:
    """The files that other processes are to read."""
    chosen = []
    before = 0
    for file in found:
        if file.is_stream or file.is_definition or not os.path.isfile(file.path):
            continue
        with contextlib.suppress(OSError):  # whatever it is, it is met again where it can be told
            size = os.path.getsize(file.path) * (10 if file.path.endswith(".gz") else 1)
            before += size
            if before > _MEANWHILE and size <= _LARGE:
                chosen.append(file)
    return chosen if before >= _ENOUGH else []


def _process() -> subprocess.Popen[bytes]:
    # Not a fork: the program may have threads. Not the start of the program again either, which may be anything.
    return subprocess.Popen(  # noqa: S603
        [
            *(sys.executable or "python3", "-I", "-c", _START),
            *(json.dumps(list(map(str, sys.path))), json.dumps(limits.current())),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Be one of those processes: answer requests, each only when the answer before has been taken."""
    import gc

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks, which then ends this
    gc.disable()
    try:
        # All are read first, since the other side writes all of them before it reads an answer.
        for request in requests.readlines():
            path, name, dialect = json.loads(request)
            data = _answer(files.File(path, name), dialect)
            answers.write(len(data).to_bytes(_HEADER, "little"))
            answers.write(data)
            answers.flush()
    except BrokenPipeError:
        os._exit(0)  # nobody listens any more; there is nothing to put in order


def _answer(file: files.File, dialect: Dialect | None) -> bytes:
    try:
        [entry] = files.read(file)
        return pickle.dumps(load.ready(entry.read(dialect)), pickle.HIGHEST_PROTOCOL)
    except Exception:  # whatever it is, it is met again where it can be told
        return b""
