"""The program as a process: streams that are closed, full or read no further, and signals that end it."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import io
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final, TextIO

# Another signal within so many seconds counts as the same one, passed on by a parent process (as `timeout` does with
# Ctrl-C) or pressed twice: it must not interrupt the cleaning up. Later ones do.
_GRACE: Final = 2.0
_SAID: Final = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}


class Unwritten(BaseException):
    """Standard output takes no more; it ends a command that does nothing but write there."""


class Output(io.FileIO):
    """Standard output or standard error: the first error is kept, and what is written after it is dropped.

    So a command goes on to its end, and its exit code is its own, unless it `ends` with its output.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number, "wb", closefd=False)
        self.error: OSError | None = None
        self.ends = False
        self.is_over = False

    def write(self, data: Any, /) -> int:
        while self.error is None and not self.is_over:
            try:
                written: int | None = super().write(data)
            except OSError as error:
                self.error = error
                if self.ends:
                    raise Unwritten from None
            else:
                if written is not None:
                    return written
                select.select([], [self], [])  # the reader has made it non-blocking
        return memoryview(data).nbytes

    @property
    def failed(self) -> str | None:
        """Why not everything was written; None where it was, or where the reader of a pipe has had enough."""
        if self.error is None or self.error.errno == errno.EPIPE:
            return None
        return self.error.strerror or str(self.error)


@contextlib.contextmanager
def streams() -> Iterator[list[Output]]:
    """Standard output and error, as long as they are open: in UTF-8, and failing here rather than at Python's end."""
    _occupy()
    before = sys.stdout, sys.stderr
    outputs: list[Output] = []
    try:
        sys.stdout = _opened(sys.stdout, outputs, "strict")
        sys.stderr = _opened(sys.stderr, outputs, "backslashreplace")
        if isinstance(sys.stdin, io.TextIOWrapper):
            with contextlib.suppress(io.UnsupportedOperation):  # something has been read from it
                sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
        yield outputs
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        sys.stdout, sys.stderr = before


def _occupy() -> None:
    """Give descriptors of streams that are closed to nothing; a database's file would get them otherwise."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest one that is free


def _opened(stream: TextIO, outputs: list[Output], errors: str) -> TextIO:
    try:
        output = Output(stream.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return stream
    if sys.platform == "win32" and output.isatty():
        return stream  # which speaks to the console in a way of its own
    outputs.append(output)
    lines = errors != "strict" or output.isatty()
    return io.TextIOWrapper(io.BufferedWriter(output), encoding="utf-8", errors=errors, line_buffering=lines)


def end_with_output() -> None:
    """End the command when its output cannot be written: the reader has gone, or the disk is full."""
    for output in _standard():
        output.ends = True


def end_output(is_over: bool = True) -> None:
    """Write nothing more to standard output, as a signal ends the program; or go on.

    It may come between a write and the note of what was written, which would be written again.
    """
    for output in _standard():
        output.is_over = is_over


def _standard() -> Iterator[Output]:
    output = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(output, Output):
        yield output


class Signals:
    """The signal that is ending the program, if one is."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._at = 0.0

    def take(self, number: int, _frame: FrameType | None) -> None:
        """Interrupt what is under way, so that it is undone."""
        now = time.monotonic()
        if self.number is None or now - self._at > _GRACE:
            self.number, self._at = number, now
            end_output()
            raise KeyboardInterrupt

    @property
    def said(self) -> str:
        """What became of the program."""
        return _SAID["SIGINT" if self.number is None else signal.Signals(self.number).name]

    @property
    def code(self) -> int:
        """What a shell expects of a program that a signal has ended."""
        return 128 + (signal.SIGINT if self.number is None else self.number)


_signals = Signals()


@contextlib.contextmanager
def signals() -> Iterator[Signals]:
    """The signal that has come; SIGTERM and SIGHUP are taken like Ctrl-C, unless they are to be ignored."""
    _signals.number = None
    before = {}
    try:
        for name in _SAID if threading.current_thread() is threading.main_thread() else ():
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, _signals.take)
        yield _signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def goes_on() -> bool:
    """Whether an interrupt was Ctrl-C, which a prompt forgives."""
    if _signals.number not in (None, signal.SIGINT):
        return False
    _signals.number = None
    end_output(is_over=False)
    return True


@contextlib.contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """A block in which SIGTERM is the usual end of the command, with exit code 0."""

    def end(_number: int, _frame: FrameType | None) -> None:
        end_output()
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def collect_seldom() -> None:
    """Look for garbage less often, and not at the end: importing SQLAlchemy makes 100,000 objects, all of use.

    With Python's own thresholds that takes a third of the time of a short command.
    """
    gc.set_threshold(100_000, 20, 20)
    atexit.unregister(_freeze)
    atexit.register(_freeze)


def _freeze() -> None:
    if "duckdb" not in sys.modules:  # which reports on standard error what was not collected
        gc.freeze()


def quiet() -> None:
    """Let what Python says of the program's insides to its developers not depend on the user's environment."""
    if sys.warnoptions:
        warnings.simplefilter("ignore")
