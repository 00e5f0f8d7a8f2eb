"""`ggn-store uci` and `ggn-store usi`"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import IO, Any, Final

import click

from ggn_store.cli import options, stores

# How long a line may be: a game of many thousands of moves.
_MAX_LINE: Final = 1 << 20
_CHOICES: Final = ("random", "greedy")


_options = options.several(
    click.option("--seed", type=options.IntRange(1), metavar="NUMBER", help="Play the same moves each time."),
    click.option(
        "--choice",
        type=options.OneOf(_CHOICES),
        default=_CHOICES[0],
        show_default=True,
        help="How to choose among the legal moves: at random, or what is best after one move.",
    ),
    options.ruleset_argument,
)


@options.command("uci")
@_options
@click.option(
    "--variant", metavar="NAME", help="What the option UCI_Variant calls the game. Default: the name of the ruleset."
)
def uci(ruleset: str, **asked: Any) -> None:
    """Speak UCI, as an engine of chess programs.

    It reads commands from standard input until `quit`: `position`, `go`, `go perft N`, `d` and the others of the
    protocol. It knows every legal move, and chooses one without thinking ahead. Moves are as Fairy-Stockfish writes
    them, positions FEN.
    """
    _converse(ruleset, "uci", asked)


@options.command("usi")
@_options
def usi(ruleset: str, **asked: Any) -> None:
    """Speak USI, as an engine of shogi programs.

    Like `uci`, with the moves and positions (SFEN) of shogi programs.
    """
    _converse(ruleset, "usi", asked)


def _converse(reference: str, protocol: str, asked: dict[str, Any]) -> None:
    from ggn_store.api.play.engine import Engine

    engine = Engine(stores.open_ruleset(reference), protocol, **asked)
    for line in _lines():
        for answer in engine.answer(line):
            click.echo(answer)
        if engine.is_over:
            break


def _lines() -> Iterator[str]:
    """What comes in, line by line; a line that is too long is cut, and its rest is nothing."""
    stream: IO[bytes] = io.BytesIO() if sys.stdin is None else sys.stdin.buffer
    while line := stream.readline(_MAX_LINE):
        rest = line
        while len(rest) == _MAX_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(_MAX_LINE)
        yield line.decode("utf-8", "replace")
