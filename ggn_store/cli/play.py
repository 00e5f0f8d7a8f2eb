"""`ggn-store play`"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import IO, Any, cast

import click

import ggn_store
from ggn_store.cli import options, process
from ggn_store.cli.play_game import Play, Reply, unfinished
from ggn_store.errors import printable
from ggn_store.notation.hand import HAND
from ggn_store.notation.move_text import MAX_LINE
from ggn_store.notation.qpi import side_of


@click.command("play")
@options.ruleset_argument
@options.position_options
@click.option(
    "--moves",
    "file",
    metavar="FILE|-",
    help="Make the moves of this file first, one a line, written as they are typed (see `help` in the game).",
)
@options.assume_option
@options.captures_first_option
@options.output_format(options.POSITION_FORMATS, "Default: the notation that the position came in, or FEEN.")
@click.pass_context
def play(
    ctx: click.Context,
    ruleset: str,
    file: str | None,
    assume: str | None,
    captures_first: bool,
    form: str | None,
    given: options.GivenPosition,
) -> None:
    """Play a game in the terminal, by moves such as e2 e4, or d3 f5 h7 where several are made together.

    From the position that is given, or the ruleset's own start position. The store says which moves there are; whether
    the game is won, or a move is forbidden by what its rules cannot say, is left to the players. Off a terminal the
    moves are read from standard input. At the end the position is printed.
    """
    watched = options.is_terminal(sys.stdout)
    asks = file != "-" and options.is_terminal(sys.stdin) and (watched or file is None)
    listed = file if file is not None else None if asks else "-"
    if given.board == "-" and listed == "-":
        raise click.UsageError("--board - and the moves would both be standard input: give one of them as a file")
    found = options.open_ruleset(ctx, ruleset)
    game = Play(found, found.stated(options.position(found, given)), cast(Any, assume), captures_first)
    if listed is not None:
        _read(game, listed)
    interrupted = asks and _ask(game, sys.stdout if watched else sys.stderr)
    options.write_position(found, game.position, form, given)
    if interrupted:
        ctx.exit(130)


def _read(game: Play, file: str) -> None:
    """Make the moves of a file; the first line that cannot be done ends it with an error that names its place."""
    name = "standard input" if file == "-" else printable(file)
    number = asked = 0
    with _opened(file, name) as stream:
        while line := stream.readline(MAX_LINE + 2):
            number += 1
            where = f"{name}:{number}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if game.pending and not game.answers(text):
                    break
                reply = game.enter(text)
            except UnicodeDecodeError:
                raise ggn_store.InputError(f"{where}: this is not UTF-8 text") from None
            except ggn_store.MoveError as error:
                raise ggn_store.MoveError(f"{where}: {error}") from None
            if reply.text and not reply.draw and not game.pending:
                click.echo(reply.text, err=True)
            asked = asked or number if game.pending else 0
            if reply.ends:
                break
    if game.pending:
        raise ggn_store.MoveError(f"{name}:{asked}: {unfinished(game.pending)}")


@contextlib.contextmanager
def _opened(file: str, name: str) -> Iterator[IO[bytes]]:
    if file == "-":
        import io

        yield io.BytesIO() if sys.stdin is None else sys.stdin.buffer
        return
    try:
        with open(file, "rb") as stream:
            yield stream
    except OSError as error:
        raise ggn_store.InputError(f"{name}: cannot be read: {error.strerror}") from None


def _ask(game: Play, screen: IO[str]) -> bool:
    """Ask for moves and make them until there are no more; whether it was interrupted."""

    def show(text: str) -> None:
        click.echo(text, file=screen)

    show(f"{game.ruleset.revision}: type a move such as e2 e4, or help")
    definition = game.ruleset.definition
    if definition is not None and definition.host:
        show(f"left to the players: {', '.join(definition.host)}")
    _draw(game, show)
    with _editing(game):
        while True:
            try:
                line = _line(f"{len(game.played) + 1} {game.position.side}> ", screen)
                if line is None:
                    show("")
                    return False
                reply = game.enter(line)
            except KeyboardInterrupt:
                process.end_output(is_over=False)  # the position is still to be written
                show("")
                return True
            except ggn_store.GgnStoreError as error:
                show(str(error))
                continue
            if _report(game, reply, show):
                return False


def _report(game: Play, reply: Reply, show: Any) -> bool:
    """Show the reply to a line; whether it was the last one."""
    if reply.text:
        show(reply.text)
    if reply.draw:
        _draw(game, show)
    return reply.ends


def _line(prompt: str, screen: IO[str]) -> str | None:
    """What is typed; None at the end."""
    try:
        if screen is sys.stdout:
            return input(prompt)
        # What Python's own prompt would write to standard output.
        click.echo(prompt, file=screen, nl=False)
        return input()
    except EOFError:
        return None


def _draw(game: Play, show: Any) -> None:
    last = game.played[-1].choice if game.played else None
    changed = set() if last is None else _changed(game)

    def paint(square: str, text: str) -> str:
        piece = game.position.board.get(square)
        name = text.lstrip()
        color = "yellow" if square in changed else None if piece is None or side_of(piece) == "first" else "cyan"
        return text[: len(text) - len(name)] + click.style(name, fg=color, bold=piece is not None)

    board = game.ruleset.board
    show(game.position.text(board.squares, board.shape, paint).rstrip("\n"))
    if not game.moves:
        show(f"no moves for {game.position.side}")


def _changed(game: Play) -> set[str]:
    """The squares that the last move changed."""
    before, after = game.played[-1].before.board, game.position.board
    return {square for square in {*before, *after} - {HAND} if before.get(square) != after.get(square)}


@contextlib.contextmanager
def _editing(game: Play) -> Iterator[None]:
    """Line editing where Python has it: the lines before are a key away, and squares with moves are completed."""
    try:
        import readline
    except ImportError:
        yield
        return

    def complete(begun: str, number: int) -> str | None:
        found = [word for word in game.words() if word.casefold().startswith(begun.casefold())]
        return found[number] if number < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)
