"""`ggn-store apply`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import click

import ggn_store
from ggn_store.cli import options, stores
from ggn_store.errors import MoveTextError, printable, quote
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Assumption
from ggn_store.notation.move_text import OWN, OwnNotation
from ggn_store.render.moves import path_text
from ggn_store.render.records import compact


def _one(_ctx: click.Context, _param: click.Parameter, given: Sequence[str]) -> str | None:
    """The move that is given, at most one; without this, click takes the last and says nothing of the others."""
    if len(given) > 1:
        raise click.UsageError("--move makes one move: give it once, or use `play` for a game")
    return next(iter(given), None)


@options.command("apply")
@options.ruleset_argument
@options.position_options
@click.option(
    "--move",
    "written",
    multiple=True,
    callback=_one,
    metavar="'PIECE SOURCE DESTINATION'",
    help="Such as 'C:P e2 e4', or as in `play`: 'e2 e4', e2e4, e7e8q, 'P* e5', 'e7 e8 2' for the second of several; "
    "also UCI, USI (7g7f+) and SAN (Nf3), which is then said.",
)
@click.option(
    "--path",
    metavar="'SQUARE SQUARE ...'",
    help="Instead of --move: squares that a piece goes over, such as 'd3 f5 h7'; all steps are made, or none.",
)
@click.option(
    "--ordinal",
    type=options.IntRange(0),
    metavar="NUMBER",
    help="Which possibility, where several hold (see `moves`); of several along a --path: counted from 0.",
)
@options.legal_option
@options.assume_option
@options.output_format(
    options.POSITION_FORMATS,
    "Default: the notation that the position came in, or FEEN; JSON where the rules have state variables.",
)
def apply(  # noqa: PLR0913  (its options)
    ruleset: str,
    written: str | None,
    path: str | None,
    ordinal: int | None,
    legal: bool,
    assume: str | None,
    form: str | None,
    given: options.GivenPosition,
) -> None:
    """Make a move and print the position after it.

    Without a position, the ruleset's own start position. A move that the position does not allow is refused.
    """
    if written is not None and path is not None:
        raise click.UsageError("--move and --path both say what to make: leave one of them out")
    if written is None and path is None:
        raise click.UsageError("say what to make, with --move 'C:P e2 e4' or --path 'd3 f5 h7'")
    found = stores.open_ruleset(ruleset)
    if path is not None:
        _check_path(found, path)
    position = options.position(found, given)
    assumed = cast(Any, assume)
    if written is None:
        move = _chosen(found.along(position, str(path), assume=assumed), ordinal, str(path))
    else:
        move = _read(found, position, written, ordinal, legal, assumed)
    if legal and not found.is_legal(position, move):
        raise ggn_store.MoveError(f"{path_text(move)} is not legal: the duties of the game forbid it")
    after = move.after if isinstance(move, Chain) else found.apply(position, move, assume=cast(Any, assume))
    options.write_position(found, after, form, given)


def _read(
    ruleset: ggn_store.Ruleset,
    position: ggn_store.Position,
    text: str,
    ordinal: int | None,
    legal: bool,
    assume: Assumption | None,
) -> ggn_store.Move | Chain:
    """The move that a text means; in which notation is said, unless it is the own one."""
    notation = None if ordinal is None else OWN
    try:
        # With a number, one of all possibilities is meant.
        read = ruleset.read_move(text, position, notation, pseudo=not legal or ordinal is not None, assume=assume)
    except MoveTextError as error:
        if len(text.split()) == 3:
            raise
        why = f"--move {quote(text)}: {error}: " if text.strip() else "--move: "
        raise click.UsageError(f"{why}write piece, source and destination, such as 'C:P e2 e4'") from None
    move = _chosen(read.moves, ordinal, text)
    if read.notation != OWN:
        click.echo(f"{printable(text)}, read as {read.notation.upper()}: {path_text(move)}", err=True)
    return move


def _check_path(ruleset: ggn_store.Ruleset, path: str) -> None:
    """Raise a usage error unless the text is a path of squares only."""
    read = OwnNotation(ruleset.board.squares).parse(path)
    if read.number is not None or read.last is not None:
        raise click.UsageError(f"--path {quote(path)}: write squares only; --ordinal says which possibility is meant")


def _chosen(moves: Sequence[ggn_store.Move | Chain], ordinal: int | None, written: str) -> ggn_store.Move | Chain:
    """The chosen one: `ordinal` is the place of a move in the document, or the number of a chain."""
    numbered = [(each.ordinal if isinstance(each, ggn_store.Move) else n, each) for n, each in enumerate(moves)]
    fitting = [each for number, each in numbered if ordinal in (None, number)]
    if len(fitting) == 1:
        return fitting[0]
    problem = "several possibilities hold" if ordinal is None else f"possibility {ordinal} does not hold"
    offered = "\n".join(f"  --ordinal {number}: {_difference(each)}" for number, each in numbered)
    raise ggn_store.MoveError(f"{printable(written)}: {problem}; choose one of\n{offered}")


def _difference(move: ggn_store.Move | Chain) -> str:
    """What distinguishes a possibility from the others: its effects, or if it has none its conditions."""
    if isinstance(move, Chain):
        return path_text(move)
    if move.has_effects and not move.assumed:
        return compact(move.effects.data())
    return compact({"must": dict(move.must), "deny": dict(move.deny)})
