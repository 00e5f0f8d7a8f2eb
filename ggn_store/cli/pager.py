"""What is longer than the screen goes through a pager, as git's output does: never into a pipe or a file."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain

import click

# As git runs it: colours, no clearing of the screen, and the end with the text where that fits after all.
_LESS = "FRX"


def page(parts: Iterable[str]) -> None:
    """Write text to standard output, on a terminal through the pager once it is longer than the screen."""
    words = _words()
    waiting = iter(parts)
    if words:
        size = shutil.get_terminal_size()
        held: list[str] = []
        room = size.lines - 1  # the prompt comes after it
        for part in waiting:
            held.append(part)
            room -= sum(max(1, -(-len(click.unstyle(line)) // size.columns)) for line in part.splitlines())
            if room < 0:
                _through(words, chain(held, waiting))
                return
        waiting = iter(held)
    for part in waiting:
        click.echo(part, nl=False)


def _words() -> list[str]:
    """The command of the pager: $GGN_STORE_PAGER, $PAGER or less; none where it is empty, cat, or not there."""
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return []
    given = next((os.environ[name] for name in ("GGN_STORE_PAGER", "PAGER") if name in os.environ), "less")
    try:
        words = shlex.split(given)
    except ValueError:
        return []
    return [] if words[:1] in ([], ["cat"]) or shutil.which(words[0]) is None else words


def _through(words: list[str], parts: Iterable[str]) -> None:
    context = click.get_current_context(silent=True)
    is_plain = context is not None and context.color is False
    try:
        pager = subprocess.Popen(words, stdin=subprocess.PIPE, env={"LESS": _LESS, "LV": "-c"} | os.environ)  # noqa: S603  (the user's)
    except OSError:
        for part in parts:
            click.echo(part, nl=False)
        return
    assert pager.stdin is not None  # noqa: S101  (a pipe was asked for)
    with _interrupts_left_to_pager(), suppress(BrokenPipeError):  # whoever reads has seen enough
        try:
            for part in parts:
                pager.stdin.write((click.unstyle(part) if is_plain else part).encode("utf-8", "backslashreplace"))
        finally:
            with suppress(BrokenPipeError):
                pager.stdin.close()
            pager.wait()


@contextmanager
def _interrupts_left_to_pager() -> Iterator[None]:
    """Ctrl-C is for the pager, which has the terminal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
