"""`ggn-store moves`"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import click

import ggn_store
from ggn_store.cli import options, printing, stores
from ggn_store.errors import counted, printable
from ggn_store.model.moves.chain import Chain, path_data
from ggn_store.model.moves.chain import captures_first as only_captures
from ggn_store.render.moves import HOST_RULE, chains_text, moves_text

_COLUMNS = ("piece", "source", "destination", "ordinal", "must", "deny", "effects", "assumed")
# Beside those, where rules have them.
_OF_ACTIONS = ("when", "action", "step", "chainable")
_BATCH = 2_000


class _Asked(NamedTuple):
    """Of which ruleset which moves are asked for, and what answers."""

    ruleset: ggn_store.Ruleset
    place: dict[str, Any]
    assume: Any
    query: Any
    legal: bool
    engine: str | None


@options.command("moves")
@options.ruleset_argument
@options.position_options
@click.option("--piece", metavar="PIECE", help="Only the moves of this piece.")
@click.option("--source", metavar="SQUARE", help="Only from this square, or * for the hand.")
@click.option("--destination", metavar="SQUARE", help="Only to this square, or * for the hand.")
@options.positions_option
@options.assume_option
@click.option(
    "--query",
    type=options.OneOf(("auto", "fast", "columns", "reading")),
    default="auto",
    show_default=True,
    help="The query to run: the store's fast one, DuckDB over columns (with --positions), or over the documented "
    "tables. All give the same moves; auto is fast, or columns where DuckDB is installed and positions are many.",
)
@click.option("--chains", is_flag=True, help="Also several moves of one piece that are made together, as paths.")
@options.legal_option
@options.captures_first_option
@options.output_format(options.RECORD_FORMATS, "Default: board and moves on a terminal, NDJSON elsewhere.")
@click.option(
    "--engine",
    type=options.OneOf(("duckdb", "spark")),
    help="With --positions: query DuckDB or Spark instead of the store, for moves without conditions and effects.",
)
@click.option(
    "--count",
    type=options.OneOf(("position", "piece", "destination")),
    help="With --positions: how many moves there are, instead of the moves.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIRECTORY",
    help="With --engine spark: a new directory, NAME.parquet, .csv or .ndjson, that its executors write.",
)
@click.option(
    "--master", metavar="URL", help="With --engine spark: the cluster. Default: as Spark is configured, or local[*]."
)
@click.option("--explain", is_flag=True, help="Print the SQL, its plan, and what answers many positions, not moves.")
def moves(  # noqa: PLR0913  (its options)
    ruleset: str,
    positions: str | None,
    chains: bool,
    legal: bool,
    captures_first: bool,
    form: str | None,
    engine: str | None,
    count: str | None,
    output: str | None,
    master: str | None,
    explain: bool,
    given: options.GivenPosition,
    assume: str | None,
    query: str,
    piece: str | None,
    source: str | None,
    destination: str | None,
) -> None:
    """Print the moves that a position allows, in document order.

    Without a position, the ruleset's own start position. RULESET is a name, NAME@REVISION, or a
    proposal, NAME#NUMBER.
    """
    many = positions is not None
    options.refuse(
        (many and given.names, f"--positions brings its own positions: leave {' and '.join(given.names)} out"),
        (
            not many and query == "columns",
            "--query columns is for many positions: give a file of them with --positions",
        ),
        (explain and count is not None, "--explain explains the moves, not counts: leave --count out"),
        (explain and form is not None, "--explain prints text: leave --format out"),
        (master is not None and engine != "spark", "--master goes with --engine spark"),
        (output is not None and engine != "spark", "-o goes with --engine spark: other answers go to standard output"),
        (output is not None and form is not None, "-o is in the format that its name ends with: leave --format out"),
        (count is not None and not many, "--count is for many positions: give a file of them with --positions"),
        (many and chains, "--chains is for one position: leave --positions out"),
        (many and captures_first, "--captures-first is for one position: leave --positions out"),
        (captures_first and explain, "--captures-first is no part of the SQL: leave it or --explain out"),
        (legal and captures_first, "--legal has all duties of the game in it: leave --captures-first out"),
        (engine is not None and not many, "--engine is for many positions: give a file of them with --positions"),
        (engine is not None and query != "auto", f"--engine asks another engine than --query {query}: leave one out"),
    )
    place = {"piece": piece, "source": source, "destination": destination}
    beyond = place | {"assume": assume} if engine is not None else {}
    _refuse(beyond, "--engine gives the moves of all pieces, without effects")
    found = stores.open_ruleset(ruleset)
    asked = _Asked(found, place, assume, query, legal, engine)
    if positions is not None and engine == "spark":
        options.refuse(
            (explain, "--explain explains what DuckDB is asked, which executors of Spark ask as well: --engine duckdb"),
            (given.side is not None, "--engine spark takes the side to move from each position: leave --side out"),
            (positions == "-", "--engine spark reads files that its executors can reach: name one with --positions"),
        )
        _answer_by_spark(found, positions, (count, legal, master), output, form)
        return
    if positions is not None and explain:
        _explain_many(asked, positions, given.side)
        return
    if positions is not None:
        _answer(asked, positions, given.side, count, form)
        return
    position = found.stated(options.position(found, given))
    asked = asked._replace(query="fast" if query == "auto" else query)
    if explain:
        _explain(asked, position, chains)
        return
    moves, paths, is_forced = _find(asked, position, chains, captures_first)
    if printing.record_format(form) != "table":
        if chains:
            listed = [*map(path_data, moves), *(chain.data() for chain in paths)]
            printing.print_records(listed, form, ("piece", "path", "effects", "steps"))
        else:
            printing.print_records((move.data() for move in moves), form, _columns(found))
        return
    click.echo(found.text(position))
    click.echo(moves_text(moves, position) + chains_text(paths), nl=False)
    counts = counted(len(moves), "move") if moves else "no moves"
    if chains:
        counts += f" and {counted(len(paths), 'chain') if paths else 'no chains'}"
    click.echo(f"{found.revision}: {counts} for {position.side}")
    if is_forced:
        click.echo(HOST_RULE, nl=False)
    if legal and found.play.host:
        click.echo(f"left to the players: {', '.join(found.play.host)}")


def _columns(ruleset: ggn_store.Ruleset) -> tuple[str, ...]:
    return (*_COLUMNS, *_OF_ACTIONS) if ruleset.dialect == "gdl" else _COLUMNS


def _find(
    asked: _Asked, position: ggn_store.Position, chains: bool, captures_first: bool
) -> tuple[Sequence[ggn_store.Move], Sequence[Chain], bool]:
    """The moves and the chains, and whether captures come first and so others are left out."""
    ruleset, place = asked.ruleset, asked.place
    if asked.legal:
        moves = ruleset.legal_moves(position, **place, assume=asked.assume, query=asked.query)
        return moves, ruleset.chains(position, **place, legal=True) if chains else (), False
    moves = ruleset.moves(position, **place, assume=asked.assume, query=asked.query)
    paths = ruleset.chains(position, **place) if chains else ()
    if not captures_first:
        return moves, paths, False
    every = ruleset.moves(position, assume=asked.assume), ruleset.chains(position)
    first = only_captures(position, *every)
    if not first[0] and first[1] and not chains:
        printing.report_note("only chains can take something: --chains shows them")
    is_forced = tuple(map(len, first)) != tuple(map(len, every))
    return [move for move in moves if move in first[0]], [each for each in paths if each in first[1]], is_forced


def _explain(asked: _Asked, position: ggn_store.Position, chains: bool) -> None:
    statement, plan = asked.ruleset.explain([position], **asked.place, query=asked.query, legal=asked.legal)
    click.echo("\n".join([statement, "", *plan]))
    if chains:
        statement, plan = asked.ruleset.explain_chains(position, **asked.place)
        click.echo("\n".join(["", statement, "", *plan]))


# --- many positions ---


def _explain_many(asked: _Asked, file: str, side: str | None) -> None:
    from ggn_store.api.positions.json_text import read_positions

    positions = [each.with_changes(side=side) for each in read_positions(file, asked.ruleset.handle)]
    if asked.engine is not None:
        statement, plan = asked.ruleset.columns.explain(positions, legal=asked.legal)
    else:
        statement, plan = asked.ruleset.explain(positions, **asked.place, query=asked.query, legal=asked.legal)
    click.echo("\n".join([statement, "", *plan]))


def _answer(asked: _Asked, file: str, side: str | None, count: Any, form: str | None) -> None:
    """Print the moves, or the counts, of the positions of a file: by the store, or by DuckDB."""
    ruleset, shown = asked.ruleset, _columns(asked.ruleset)
    found: Iterable[dict[str, Any]]
    if asked.engine is not None:
        from ggn_store.api.moves import columns

        shown = (*asked.place, "ordinal")
        if count is None:
            found = columns.move_records(ruleset.columns, file, side, legal=asked.legal)
        else:
            found = columns.count_records(ruleset.columns, file, count, side, legal=asked.legal)
    else:
        from ggn_store.api.positions.json_text import read_positions

        given = (each.with_changes(side=side) for each in read_positions(file, ruleset.handle))
        if count is None:
            found = _moves(asked, given)
        else:
            _refuse(asked.place, "--count counts all moves")
            counts = ruleset.count_moves(given, count, query=asked.query, legal=asked.legal)
            found = ({count: key, "count": number} for key, number in counts.items())
    printing.print_records(found, form, ("position", *shown) if count is None else (count, "count"))


def _answer_by_spark(
    ruleset: ggn_store.Ruleset, file: str, asked: tuple[Any, bool, str | None], output: str | None, form: str | None
) -> None:
    """Print the moves, or the counts, of the positions of files, or have Spark write them."""
    from ggn_store.api.moves import spark

    if output is not None:
        spark.require_format(output)
    with spark.answered(ruleset.handle, ruleset.columns, file, *asked) as found:
        if output is None:
            printing.print_records(found.records(), form, found.columns)
            return
        rows, errors = found.write(output)
    wrong = f", {counted(errors, 'of them an error', 'of them errors')}" if errors else ""
    click.echo(f"{ruleset.revision}: {counted(rows, 'row')} written to {printable(output)}{wrong}", err=True)


def _refuse(given: Mapping[str, Any], why: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise click.UsageError(f"{why}: leave --{name} out")


def _moves(asked: _Asked, given: Iterator[ggn_store.Position]) -> Iterator[dict[str, Any]]:
    """The moves of all positions, each with the number of its position from 0."""
    number = 0
    while chunk := list(islice(given, _BATCH)):
        found = asked.ruleset.moves_batch(
            chunk, **asked.place, assume=asked.assume, query=asked.query, legal=asked.legal
        )
        for moves in found:
            yield from ({"position": number} | move.data() for move in moves)
            number += 1
