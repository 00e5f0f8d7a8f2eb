"""What `ggn-store moves` does with --positions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

import ggn_store
from ggn_store.cli.options import print_records

_COLUMNS = ("position", "piece", "source", "destination", "ordinal")
_BATCH = 500


def answer(
    ruleset: ggn_store.Ruleset,
    file: str,
    side: str | None,
    asked: dict[str, Any],
    count: str | None,
    form: str | None,
    shown: tuple[str, ...],
) -> None:
    """Print the moves, or the counts, of the positions of a file, by the store."""
    from ggn_store.api.positions import read_positions

    given = (each.with_changes(side=side) for each in read_positions(file))
    if count is None:
        print_records(_moves(ruleset, given, asked), form, ("position", *shown))
        return
    _refuse(asked, ("piece", "source", "destination"), "--count counts all moves")
    by: Any = count
    found = ruleset.count_moves(given, by)
    print_records(({count: key, "count": number} for key, number in found.items()), form, (count, "count"))


def answer_on_columns(
    ruleset: ggn_store.Ruleset,
    file: str,
    side: str | None,
    asked: dict[str, Any],
    count: str | None,
    form: str | None,
    **engine: Any,
) -> None:
    """Print the moves, or the counts, of the positions of a file, by an engine on columns."""
    from ggn_store.api import columns

    refused = ("piece", "source", "destination", "assume")
    _refuse(asked, refused, "--engine gives the moves of all pieces, without effects")
    if count is None:
        print_records(columns.move_records(ruleset.columns, file, side, **engine), form, _COLUMNS)
    else:
        by: Any = count
        print_records(columns.count_records(ruleset.columns, file, by, side, **engine), form, (count, "count"))


def _refuse(asked: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if asked[name] is not None:
            raise click.UsageError(f"{why}: leave --{name} out")


def _moves(
    ruleset: ggn_store.Ruleset, given: Iterator[ggn_store.Position], asked: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The moves of all positions, each with the number of its position from 0."""
    number = 0
    while chunk := list(islice(given, _BATCH)):
        for moves in ruleset.moves_batch(chunk, **asked):
            yield from ({"position": number} | move.data() for move in moves)
            number += 1
