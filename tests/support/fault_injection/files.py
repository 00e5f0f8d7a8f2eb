"""Files that Python writes, and that fail: each write, fsync and change of a name is counted."""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from tests.support.fault_injection.faults import Faults, Operation

_NAMES: dict[str, Operation] = {
    "fsync": "sync",
    "mkdir": "create",
    "rename": "rename",
    "replace": "rename",
    "link": "rename",
    "symlink": "rename",
    "truncate": "truncate",
    "ftruncate": "truncate",
}


@contextmanager
def failing_files(faults: Faults) -> Iterator[None]:
    """Let what this process writes fail as the faults say, where Python itself writes it."""
    with mock.patch.object(io, "open", _opening(faults)), mock.patch.object(builtins, "open", _opening(faults)):
        patches = [mock.patch.object(os, name, _failing(faults, name, each)) for name, each in _NAMES.items()]
        patches.append(mock.patch.object(os, "write", _writing(faults, os.write)))
        for patch in patches:
            patch.start()
        try:
            yield
        finally:
            for patch in patches:
                patch.stop()


def _error(outcome: str, path: object) -> OSError:
    number = errno.ENOSPC if outcome == "full" else errno.EIO
    return OSError(number, os.strerror(number), path)


def _failing(faults: Faults, name: str, operation: Operation) -> Callable[..., Any]:
    original = getattr(os, name)

    def call(*arguments: Any, **more: Any) -> Any:
        if (outcome := faults.outcome(operation, f"{name} {arguments[0]}")) is not None:
            raise _error(outcome, arguments[0])
        return original(*arguments, **more)

    return call


def _writing(faults: Faults, original: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
    def write(file: int, data: Any) -> int:
        outcome = faults.outcome("write", str(file))
        if outcome == "full":
            original(file, memoryview(data)[: len(data) // 2])
        if outcome is not None:
            raise _error(outcome, file)
        return original(file, data)

    return write


def _opening(faults: Faults) -> Callable[..., Any]:
    original = io.open

    class Raw(io.FileIO):
        def write(self, data: Any) -> int:
            outcome = faults.outcome("write", str(self.name))
            if outcome == "full":
                super().write(memoryview(data)[: len(data) // 2])
            if outcome is not None:
                raise _error(outcome, self.name)
            return super().write(data)

    def call(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        if not set(mode) & set("wax+"):
            return original(file, mode, buffering, encoding, errors, newline, closefd, opener)
        is_new = not isinstance(file, int) and not os.path.exists(file)
        if is_new and (outcome := faults.outcome("create", str(file))) is not None:
            raise _error(outcome, file)
        raw: Any = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if "b" in mode and buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        return io.TextIOWrapper(buffered, encoding, errors, newline, line_buffering=buffering == 1)

    return call
