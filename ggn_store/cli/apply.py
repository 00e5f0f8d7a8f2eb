"""`ggn-store apply`"""

from __future__ import annotations

from typing import Any, cast

import click

import ggn_store
from ggn_store.cli import options
from ggn_store.errors import printable, quote
from ggn_store.render.records import compact


@click.command("apply")
@options.ruleset_argument
@options.position_options
@click.option("--move", "written", metavar="'PIECE SOURCE DESTINATION'", required=True, help="Such as 'C:P e2 e4'.")
@click.option(
    "--ordinal", type=click.IntRange(0), metavar="NUMBER", help="Which possibility, where several hold (see `moves`)."
)
@click.option(
    "--assume",
    type=click.Choice(("displacement",)),
    help="For must-deny rulesets: take plain displacement as the effect.",
)
@options.output_format(
    ("feen", "fen", "sfen", "json"),
    "Default: the notation that the position came in, or FEEN; JSON where the rules have state variables.",
)
@click.pass_context
def command(
    ctx: click.Context,
    ruleset: str,
    written: str,
    ordinal: int | None,
    assume: str | None,
    form: str | None,
    given: options.Given,
) -> None:
    """Make a move and print the position after it.

    Without a position, the ruleset's own start position. A move that the position does not allow is refused.
    """
    words = written.split()
    if len(words) != 3:
        raise click.UsageError(f"--move {quote(written)}: write piece, source and destination, such as 'C:P e2 e4'")
    found = options.open_ruleset(ctx, ruleset)
    position = options.position(found, given)
    piece, source, destination = words
    moves = found.moves(position, piece=piece, source=source, destination=destination, assume=cast(Any, assume))
    move = _chosen(moves, ordinal, written, position)
    after = found.apply(position, move, assume=cast(Any, assume))
    form = form or ("json" if found.variables else given.notation)
    if found.variables and form != "json":
        state = ", ".join(f"{name}={value}" for name, value in (after.state or {}).items())
        click.echo(f"note: {form.upper()} cannot say the state: {printable(state)}", err=True)
    match form:
        case "json":
            click.echo(compact(after.data()))
        case "fen":
            click.echo(found.fen(after))
        case "sfen":
            click.echo(found.sfen(after))
        case _:
            click.echo(after.to_feen(found.revision.dimensions))


def _chosen(
    moves: list[ggn_store.Move], ordinal: int | None, written: str, position: ggn_store.Position
) -> ggn_store.Move:
    if not moves:
        raise ggn_store.MoveError(f"{written}: the position does not allow this move to {position.side}")
    fitting = [move for move in moves if ordinal in (None, move.ordinal)]
    if len(fitting) == 1:
        return fitting[0]
    offered = "\n".join(f"  --ordinal {move.ordinal}: {_difference(move)}" for move in moves)
    problem = "several possibilities hold" if ordinal is None else f"possibility {ordinal} does not hold"
    raise ggn_store.MoveError(f"{written}: {problem}; choose one of\n{offered}")


def _difference(move: ggn_store.Move) -> str:
    """What tells a possibility from the others: what it changes, or where nothing is said of that, its conditions."""
    if move.effects is not None and not move.assumed:
        return compact(move.effects.data())
    return compact({"must": dict(move.must), "deny": dict(move.deny)})
