"""`ggn-store apply`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import click

import ggn_store
from ggn_store.cli import options
from ggn_store.cli.play_words import Reader, is_named
from ggn_store.errors import printable, quote
from ggn_store.render.board import path_text
from ggn_store.render.records import compact


@click.command("apply")
@options.ruleset_argument
@options.position_options
@click.option("--move", "written", metavar="'PIECE SOURCE DESTINATION'", help="Such as 'C:P e2 e4'.")
@click.option(
    "--path",
    metavar="'SQUARE SQUARE ...'",
    help="Instead of --move: squares that a piece goes over, such as 'd3 f5 h7'; all steps are made, or none.",
)
@click.option(
    "--ordinal",
    type=click.IntRange(0),
    metavar="NUMBER",
    help="Which possibility, where several hold (see `moves`); of several along a --path: counted from 0.",
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
    written: str | None,
    path: str | None,
    ordinal: int | None,
    assume: str | None,
    form: str | None,
    given: options.Given,
) -> None:
    """Make a move and print the position after it.

    Without a position, the ruleset's own start position. A move that the position does not allow is refused.
    """
    if written is not None and path is not None:
        raise click.UsageError("--move and --path both say what to make: leave one of them out")
    if written is None and path is None:
        raise click.UsageError("say what to make, with --move 'C:P e2 e4' or --path 'd3 f5 h7'")
    words = (written or "").split()
    if written is not None and len(words) != 3:
        raise click.UsageError(f"--move {quote(written)}: write piece, source and destination, such as 'C:P e2 e4'")
    found = options.open_ruleset(ctx, ruleset)
    position = options.position(found, given)
    move: ggn_store.Move | ggn_store.Chain
    if written is None:
        move = _along(found, position, str(path), ordinal, cast(Any, assume))
    else:
        piece, source, destination = words
        moves = found.moves(position, piece=piece, source=source, destination=destination, assume=cast(Any, assume))
        move = _chosen(moves, ordinal, written, position)
    after = move.after if isinstance(move, ggn_store.Chain) else found.apply(position, move, assume=cast(Any, assume))
    options.write_position(found, after, form, given)


def _along(
    ruleset: ggn_store.Ruleset, position: ggn_store.Position, path: str, ordinal: int | None, assume: Any
) -> ggn_store.Move | ggn_store.Chain:
    """The one move or chain along a path of squares."""
    words = Reader(ruleset.board.squares).read(path)
    if words.number is not None or words.last is not None:
        raise click.UsageError(f"--path {quote(path)}: write squares only; --ordinal says which possibility is meant")
    found = [each for each in ruleset.along(position, words.places, assume=assume) if is_named(words.piece, each.piece)]
    single = [each for each in found if isinstance(each, ggn_store.Move)]
    if single or not found:
        return _chosen(single, ordinal, path, position)
    fitting = [each for number, each in enumerate(found) if ordinal in (None, number)]
    if len(fitting) == 1:
        return fitting[0]
    offered = "\n".join(f"  --ordinal {number}: {path_text(each)}" for number, each in enumerate(found))
    raise ggn_store.MoveError(f"{printable(path)}: {_problem(ordinal)}; choose one of\n{offered}")


def _chosen(
    moves: Sequence[ggn_store.Move], ordinal: int | None, written: str, position: ggn_store.Position
) -> ggn_store.Move:
    if not moves:
        raise ggn_store.MoveError(f"{written}: the position does not allow this move to {position.side}")
    fitting = [move for move in moves if ordinal in (None, move.ordinal)]
    if len(fitting) == 1:
        return fitting[0]
    offered = "\n".join(f"  --ordinal {move.ordinal}: {_difference(move)}" for move in moves)
    raise ggn_store.MoveError(f"{written}: {_problem(ordinal)}; choose one of\n{offered}")


def _problem(ordinal: int | None) -> str:
    return "several possibilities hold" if ordinal is None else f"possibility {ordinal} does not hold"


def _difference(move: ggn_store.Move) -> str:
    """What tells a possibility from the others: what it changes, or where nothing is said of that, its conditions."""
    if move.effects is not None and not move.assumed:
        return compact(move.effects.data())
    return compact({"must": dict(move.must), "deny": dict(move.deny)})
