"""Telling whoever watches a terminal what is being worked on."""

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
