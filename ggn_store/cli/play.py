"""`ggn-store play`"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import random
import sys
from collections.abc import Iterable, Iterator
from typing import IO, Any, cast

import click

import ggn_store
from ggn_store import limits
from ggn_store.cli import options, printing, process, stores
from ggn_store.cli.play_game import Opponent, Reply, TypedGame, unfinished
from ggn_store.documents.files import File, read_whole
from ggn_store.errors import printable
from ggn_store.model.moves.position import SIDES
from ggn_store.notation import pgn
from ggn_store.notation.hand import HAND
from ggn_store.notation.move_text import MAX_LINE
from ggn_store.notation.qpi import Side, other_side, side_of


@options.command("play")
@options.ruleset_argument
@options.position_options
@click.option(
    "--moves",
    "file",
    metavar="FILE|-",
    help="Make the moves of this file first, or off a terminal these alone: a game in PGN or JSON, or moves one a "
    "line, written as they are typed (see `help` in the game).",
)
@click.option("--pseudo-legal", is_flag=True, help="Let all moves pass that the rules allow, whatever duties forbid.")
@click.option("--against", type=options.OneOf(("random",)), help="Play against random moves.")
@click.option("--as", "own", type=options.OneOf(SIDES), help="Your side, against random moves. Default: first.")
@click.option("--seed", type=int, help="The same random moves again, for the same number.")
@options.assume_option
@options.captures_first_option
@options.output_format(options.POSITION_FORMATS, "Default: the notation that the position came in, or FEEN.")
def play(  # noqa: PLR0913  (its options)
    ruleset: str,
    file: str | None,
    pseudo_legal: bool,
    against: str | None,
    own: str | None,
    seed: int | None,
    assume: str | None,
    captures_first: bool,
    form: str | None,
    given: options.GivenPosition,
) -> None:
    """Play a game in the terminal.

    Moves are written as e2 e4 or Nf3, or as d3 f5 h7 where several are made together. From the position that is given,
    or the ruleset's own start position, to an end that the ruleset declares. Moves are legal as far as it says what is;
    what it leaves to the players is named at the start, with the notes of its definition. Off a terminal the moves are
    read from standard input, unless --moves names a file. At the end the position is printed.
    """
    from ggn_store.api.play.game import Game

    watched = printing.is_terminal(sys.stdout)
    asks = file != "-" and printing.is_terminal(sys.stdin) and (watched or file is None)
    listed = file if file is not None else None if asks else "-"
    options.refuse(
        (
            given.board == "-" and listed == "-",
            "--board - and the moves would both be standard input: give one of them as a file",
        ),
        (against is None and seed is not None, "--seed is for random moves: say --against random too"),
        (against is None and own is not None, "--as is for random moves: say --against random too"),
    )
    found = stores.open_ruleset(ruleset)
    begun = Game.begin(
        found,
        options.position(found, given),
        pseudo_legal=pseudo_legal,
        captures_first=captures_first,
        assume=cast(Any, assume),
    )
    opponent = None if against is None else Opponent(other_side(cast(Side, own or SIDES[0])), random.Random(seed))  # noqa: S311
    game = TypedGame(begun, opponent)
    if not asks and (left := game.left_over()):
        _say("\n".join(filter(None, (left, game.notes()))))
    if listed is not None:
        _read(game, listed, given)
    screen = sys.stdout if watched else sys.stderr
    interrupted = asks and _ask(game, screen)
    if listed is not None and not asks and (game.game.result.is_over):
        click.echo(game.status(), err=True)
    options.write_position(found, game.position, form, given)
    if interrupted:
        options.end(130)


def _read(game: TypedGame, file: str, given: options.GivenPosition) -> None:
    """Make the moves of a file; the first line that cannot be done ends it with an error that names its place."""
    name = printable(str(File(file)))
    with _opened(file, name) as stream:
        begun = [stream.readline(MAX_LINE + 2)]
        while not begun[-1].strip() and begun[-1]:
            begun.append(stream.readline(MAX_LINE + 2))
        if _is_game(file, begun[-1]):
            _load(game, b"".join(begun), stream, file, given)
        else:
            # A game from a file is of both sides; what is typed is of one.
            rest = iter(functools.partial(stream.readline, MAX_LINE + 2), b"")
            _read_lines(game, itertools.chain(begun, rest) if begun[-1] else [], name, file == "-")


def _is_game(file: str, line: bytes) -> bool:
    """Whether a file is a game in PGN or JSON, by its name or its first line."""
    text = line.decode("utf-8-sig", "replace")
    return file.casefold().endswith((".pgn", ".json")) or text.lstrip().startswith("{") or pgn.looks_like(text)


def _load(game: TypedGame, begun: bytes, stream: IO[bytes], file: str, given: options.GivenPosition) -> None:
    """Make it the game of a file."""
    name, start = printable(str(File(file))), game.game.start
    data = read_whole(stream, File(file), limits.GAME_BYTES, begun)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # in which the standard has PGN
        if not pgn.looks_like(text):
            raise ggn_store.InputError(f"{name}: this is not UTF-8 text") from None
    try:
        game.load(text, file)
    except ggn_store.GgnStoreError as error:
        raise ggn_store.MoveError(f"{name}: {error}") from None
    if given.names and game.game.start != start:
        raise ggn_store.MoveError(
            f"{name}: the game does not begin in the position of {given.names[0]}: leave that out"
        )


def _read_lines(game: TypedGame, lines: Iterable[bytes], name: str, answers: bool) -> None:
    number = asked = 0
    if answers:
        _say(game.answer())
    for number, line in enumerate(lines, 1):
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
            _say(reply.text)
        asked = asked or number if game.pending else 0
        if reply.ends:
            break
        if answers:
            _say(game.answer())
    if game.pending:
        raise ggn_store.MoveError(f"{name}:{asked}: {unfinished(game.pending)}")


@contextlib.contextmanager
def _opened(file: str, name: str) -> Iterator[IO[bytes]]:
    if file == "-":
        yield io.BytesIO() if sys.stdin is None else sys.stdin.buffer
        return
    try:
        with open(file, "rb") as stream:
            yield stream
    except OSError as error:
        raise ggn_store.InputError(f"{name}: cannot be read: {error.strerror}") from None


def _say(text: str) -> None:
    if text:
        click.echo(text, err=True)


def _ask(game: TypedGame, screen: IO[str]) -> bool:
    """Ask for moves and make them until there are no more; whether it was interrupted."""

    def show(text: str) -> None:
        click.echo(text, file=screen)

    show(f"{game.ruleset.revision}: type a move such as e2 e4, or help")
    for text in filter(None, (game.left_over(), game.notes())):
        show(text)
    if answered := game.answer():
        show(answered)
    _draw(game, show)
    with _editing(game):
        while True:
            try:
                line = _line(f"{len(game.game.plies) + 1} {game.position.side}> ", screen)
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


def _report(game: TypedGame, reply: Reply, show: Any) -> bool:
    """Show the reply to a line; whether it was the last one."""
    if reply.text:
        show(reply.text)
    if reply.draw:
        if answered := game.answer():
            show(answered)
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


def _draw(game: TypedGame, show: Any) -> None:
    changed = _changed(game) if game.game.plies else set()

    def paint(square: str, text: str) -> str:
        piece = game.position.board.get(square)
        name = text.lstrip()
        color = "yellow" if square in changed else None if piece is None or side_of(piece) == "first" else "cyan"
        return text[: len(text) - len(name)] + click.style(name, fg=color, bold=piece is not None)

    show(game.ruleset.text(game.position, paint).rstrip("\n"))
    if status := game.status():
        show(status)


def _changed(game: TypedGame) -> set[str]:
    before, after = game.game.plies[-1].before.board, game.position.board
    return {square for square in {*before, *after} - {HAND} if before.get(square) != after.get(square)}


@contextlib.contextmanager
def _editing(game: TypedGame) -> Iterator[None]:
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
