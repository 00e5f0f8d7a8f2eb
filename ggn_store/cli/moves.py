"""`ggn-store moves`"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, cast

import click

import ggn_store
from ggn_store.api.positions import read_positions
from ggn_store.cli import columns, options
from ggn_store.model.chain import captures_first as only_captures
from ggn_store.model.chain import path_data
from ggn_store.render.board import HOST_RULE, chains_text, moves_text, position_text
from ggn_store.render.records import records

_COLUMNS = ("piece", "source", "destination", "ordinal", "must", "deny", "effects", "assumed")
# Beside those, where rules have them.
_OF_ACTIONS = ("when", "action", "step", "chainable")
_BATCH = 500


@click.command("moves")
@options.ruleset_argument
@options.position_options
@click.option("--piece", metavar="PIECE", help="Only the moves of this piece.")
@click.option("--source", metavar="SQUARE", help="Only from this square, or * for the hand.")
@click.option("--destination", metavar="SQUARE", help="Only to this square, or * for the hand.")
@click.option(
    "--positions",
    metavar="FILE",
    help="Many positions in NDJSON: each line an object with board, hands, side and state, or a FEEN text.",
)
@click.option(
    "--assume",
    type=click.Choice(("displacement",)),
    help="For must-deny rulesets: give plain displacement as the effect.",
)
@click.option(
    "--query",
    type=click.Choice(("fast", "reading")),
    default="fast",
    show_default=True,
    help="The query that answers: over masks, or over the tables as they are documented. Both give the same moves.",
)
@click.option("--chains", is_flag=True, help="Also several moves of one piece that are made together, as paths.")
@options.captures_first_option
@options.output_format(options.RECORD_FORMATS, "Default: board and moves on a terminal, NDJSON elsewhere.")
@click.option(
    "--engine",
    type=click.Choice(("duckdb", "spark")),
    help="With --positions: ask DuckDB or Spark instead of the store, for the moves without conditions and effects.",
)
@click.option(
    "--count",
    type=click.Choice(("position", "piece", "destination")),
    help="With --positions: how many moves there are, instead of the moves.",
)
@click.option("--master", metavar="URL", help="With --engine spark: the cluster. Default: local[*], this machine.")
@click.option("--explain", is_flag=True, help="Print the SQL and the database's plan instead of moves.")
@click.pass_context
def command(
    ctx: click.Context,
    ruleset: str,
    piece: str | None,
    source: str | None,
    destination: str | None,
    positions: str | None,
    assume: str | None,
    query: Any,
    chains: bool,
    captures_first: bool,
    form: str | None,
    engine: str | None,
    count: str | None,
    master: str | None,
    explain: bool,
    given: options.Given,
) -> None:
    """Print the moves that a position allows, in document order.

    Without a position, the ruleset's own start position. RULESET is a name, or NAME@REVISION.
    """
    if positions is not None and given.names:
        raise click.UsageError(f"--positions brings its own positions: leave {' and '.join(given.names)} out")
    if positions is not None and explain:
        raise click.UsageError("--explain explains the statement for one position: leave --positions out")
    if explain and form is not None:
        raise click.UsageError("--explain prints text: leave --format out")
    if master is not None and engine is None:
        raise click.UsageError("--master goes with --engine: name one")
    if count is not None and positions is None:
        raise click.UsageError("--count is for many positions: give a file of them with --positions")
    if positions is not None:
        for name, is_given in (("--chains", chains), ("--captures-first", captures_first)):
            if is_given:
                raise click.UsageError(f"{name} is for one position: leave --positions out")
    if captures_first and explain:
        raise click.UsageError("--captures-first is no part of the SQL: leave it or --explain out")
    if engine is not None:
        if positions is None:
            raise click.UsageError("--engine is for many positions: give a file of them with --positions")
        columns.refuse(
            {"--piece": piece, "--source": source, "--destination": destination, "--assume": assume},
            "--engine gives the moves of all pieces, without effects",
        )
        found = options.open_ruleset(ctx, ruleset)
        columns.answer(found, positions, given.side, engine, count, master, options.record_format(form))
        return
    found = options.open_ruleset(ctx, ruleset)
    narrow: dict[str, Any] = {"piece": piece, "source": source, "destination": destination, "query": query}
    form = options.record_format(form)
    shown = (*_COLUMNS, *_OF_ACTIONS) if found.dialect == "gdl" else _COLUMNS
    if positions is not None and count is not None:
        columns.refuse({"--piece": piece, "--source": source, "--destination": destination}, "--count counts all moves")
        counted = _count(found, positions, given.side, count)
        for part in records(counted, form, (count, "count")):
            click.echo(part, nl=False)
        return
    if positions is not None:
        answered = _batch(found, positions, given.side, narrow | {"assume": assume})
        for part in records(answered, form, ("position", *shown)):
            click.echo(part, nl=False)
        return
    position = found.stated(options.position(found, given))
    place = {"piece": piece, "source": source, "destination": destination}
    if explain:
        statement, plan = found.explain([position], **narrow)
        click.echo("\n".join([statement, "", *plan]))
        if chains:
            statement, plan = found.explain_chains(position, **place)
            click.echo("\n".join(["", statement, "", *plan]))
        return
    moves: Sequence[ggn_store.Move] = found.moves(position, assume=cast(Any, assume), **narrow)
    paths = found.chains(position, **place) if chains else ()
    is_forced = False
    if captures_first:
        every = found.moves(position, assume=cast(Any, assume)), found.chains(position)
        first = only_captures(position, *every)
        is_forced = tuple(map(len, first)) != tuple(map(len, every))
        moves = [move for move in moves if move in first[0]]
        hidden = len(first[1])
        paths = tuple(chain for chain in paths if chain in first[1])
        if not first[0] and hidden and not chains:
            click.echo("note: only chains can take something: --chains shows them", err=True)
    if form != "table":
        if not chains:
            for part in records((move.data() for move in moves), form, shown):
                click.echo(part, nl=False)
            return
        listed = [*map(path_data, moves), *(chain.data() for chain in paths)]
        for part in records(listed, form, ("piece", "path", "effects", "steps")):
            click.echo(part, nl=False)
        return
    click.echo(position_text(position, found.board.squares, found.board.shape))
    click.echo(moves_text(moves, position) + chains_text(paths), nl=False)
    told = f"{len(moves)} move{'s' if len(moves) != 1 else ''}" if moves else "no moves"
    if chains:
        told += f" and {len(paths)} chain{'s' if len(paths) != 1 else ''}" if paths else " and no chains"
    click.echo(f"{found.revision}: {told} for {position.side}")
    if is_forced:
        click.echo(HOST_RULE, nl=False)


def _count(ruleset: ggn_store.Ruleset, file: str, side: str | None, by: Any) -> Iterator[dict[str, Any]]:
    """How many moves the positions of a file have: by number of the position, or of them all by piece or square."""
    given = (each.with_changes(side=side) for each in read_positions(file))
    for key, count in ruleset.count_moves(given, by).items():
        yield {by: key, "count": count}


def _batch(ruleset: ggn_store.Ruleset, file: str, side: str | None, narrow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The moves of all positions of a file, each with the number of its position from 0."""
    given = (each.with_changes(side=side) for each in read_positions(file))
    number = 0
    while chunk := list(islice(given, _BATCH)):
        for moves in ruleset.moves_batch(chunk, **narrow):
            yield from ({"position": number} | move.data() for move in moves)
            number += 1
