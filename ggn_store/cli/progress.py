"""Progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from ggn_store.cli import options
from ggn_store.errors import printable


@contextmanager
def progress_line(work: str) -> Iterator[Callable[[str], None]]:
    """A line on a terminal that says what is being worked on, and is gone afterwards."""
    shows = options.is_terminal(sys.stderr)
    count = 0

    def progress(what: str) -> None:
        nonlocal count
        count += 1
        if shows:
            click.echo(f"\r\033[K{work} {printable(what)} ({count})", err=True, nl=False)

    try:
        yield progress
    finally:
        if shows:
            click.echo("\r\033[K", err=True, nl=False)


@contextmanager
def progress_bar(work: str) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on a terminal; its callback takes the current work, how much is done, and of how much. Else nothing."""
    if not options.is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(work, total=None)

        def update(what: str, done: int, total: int) -> None:
            bar.update(task, description=f"{work} {printable(what)}"[:50], completed=done, total=total)

        yield update
