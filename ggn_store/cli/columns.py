"""What `ggn-store moves` does with --engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

import ggn_store
from ggn_store.render.records import records

_COLUMNS = ("position", "piece", "source", "destination", "ordinal")


def refuse(given: Mapping[str, str | None], why: str) -> None:
    """Refuse options that do not go with another one; `given` is option -> value."""
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise click.UsageError(f"{why}: leave {names[0]} out")


def answer(
    ruleset: ggn_store.Ruleset,
    positions: str,
    side: str | None,
    engine: str,
    count: str | None,
    master: str | None,
    form: str,
) -> None:
    """Print the moves, or the counts, of the positions of a file."""
    from ggn_store.api import columns

    options: dict[str, Any] = {"engine": engine, "master": master}
    by: Any = count
    parts = (
        records(columns.move_records(ruleset, positions, side, **options), form, _COLUMNS)
        if by is None
        else records(columns.count_records(ruleset, positions, by, side, **options), form, (by, "count"))
    )
    for part in parts:
        click.echo(part, nl=False)
