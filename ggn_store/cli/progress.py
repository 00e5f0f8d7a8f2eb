"""Progress of long work: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ggn_store.cli import printing
from ggn_store.errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress


class Reporter:
    """Reports what is worked on, and how much of it is done, on a bar if there is one, which the first report shows."""

    def __init__(self, work: str, bar: Progress | None, total: int | None) -> None:
        self._work = work
        self._bar = bar
        self._done = 0
        self._total = total
        self._task = None if bar is None else bar.add_task(work, total=total)

    def add(self, what: str | None, done: int = 1, to_do: int = 0) -> None:
        """So much more is done, and so much more is to be done (0 where nobody knows)."""
        self.set(what, self._done + done, (self._total or 0) + to_do if to_do else self._total)

    def set(self, what: str | None, done: int, total: int | None) -> None:
        """So much is done by now, of so much; what is worked on, None for the same as before."""
        self._done, self._total = done, total
        if self._bar is not None and self._task is not None:
            self._bar.start()
            description = None if what is None else f"{self._work} {printable(what)}"[:50]
            self._bar.update(self._task, description=description, completed=done, total=total)

    def say(self, text: str) -> None:
        """Print a message above the bar."""
        if self._bar is None:
            click.echo(text, err=True)
        else:
            from rich.text import Text

            self._bar.console.print(Text(text), soft_wrap=True)


@contextmanager
def progress(work: str, total: int | None = None) -> Iterator[Reporter]:
    """A reporter of work, of which this much (None: nobody knows) is to be done."""
    if not printing.is_terminal(sys.stderr):
        yield Reporter(work, None, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    try:
        yield Reporter(work, bar, total)
    finally:
        if bar.live.is_started:
            bar.stop()
