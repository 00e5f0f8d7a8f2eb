"""What several commands share: finding the store, positions, forms of output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

import ggn_store
from ggn_store.errors import GgnStoreError, printable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])

DIALECTS = ("perform", "must-deny", "diff")
SIDES = ("first", "second")
RECORD_FORMATS = ("table", "json", "ndjson", "csv")


def address(ctx: click.Context) -> str:
    """The address of the store: --db, else the environment, else a file in the user's data directory."""
    # The option itself and not what the group made of it: completion parses, but runs nothing.
    option = ctx.find_root().params.get("db")
    if option == "" and not ctx.resilient_parsing:
        raise click.UsageError("--db names no store: leave it out to use the default (see `db info`)")
    given = option or os.environ.get("GGN_STORE_URL") or os.environ.get("DATABASE_URL")
    if given:
        return str(given)
    return f"sqlite:///{_default_file()}"


def ready_address(ctx: click.Context) -> str:
    """The address of the store, with the user's data directory made where that is where it is."""
    found = address(ctx)
    file = _default_file()
    if found == f"sqlite:///{file}":
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GgnStoreError(
                f"{file.parent}: the data directory cannot be made ({error.strerror}): name a store with --db"
            ) from None
    return found


def _default_file() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("ggn-store", appauthor=False)) / "store.db"


def open_store(ctx: click.Context) -> ggn_store.Store:
    """The store that the command works on; it is closed with the command."""
    store = ggn_store.Store.open(ready_address(ctx))
    return ctx.with_resource(store)


def complete_ruleset(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The rulesets of the store whose names begin so; nothing where there is no store."""
    from click.shell_completion import CompletionItem

    try:
        with ggn_store.Store.at(address(ctx)) as store:
            if store.info().rulesets is None:
                return []
            return [CompletionItem(each.name) for each in store.revisions() if each.name.startswith(incomplete)]
    except GgnStoreError:
        return []


ruleset_argument = click.argument("ruleset", metavar="RULESET", shell_complete=complete_ruleset)


def output_format(formats: Sequence[str], help_text: str) -> Callable[[Command], Command]:
    """The option --format; the default depends on whether standard output is a terminal."""
    return click.option("--format", "form", type=click.Choice(formats), help=help_text)


def record_format(form: str | None) -> str:
    """The form to write records in: a table on a terminal, NDJSON for programs, unless one was asked for."""
    return form or ("table" if is_terminal(sys.stdout) else "ndjson")


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether somebody is watching; a process may also be started without the stream."""
    return stream is not None and stream.isatty()


def position_options(command: Command) -> Command:
    """The options that say which position is meant."""
    for option in (
        click.option("--side", type=click.Choice(SIDES), help="The side to move, whatever the position says."),
        click.option("--hands", metavar="JSON", help="The hands: pieces and counts. Left out: not known, not checked."),
        click.option(
            "--board",
            metavar="JSON|@FILE|-",
            help="The position as JSON: squares and pieces, or an object with board, hands and side.",
        ),
        click.option("--feen", metavar="FEEN", help="The position as one line of FEEN."),
    ):
        command = option(command)
    return command


def position(
    ruleset: ggn_store.Ruleset, feen: str | None, board: str | None, hands: str | None, side: str | None
) -> ggn_store.Position:
    """The position that the options name; without any, the ruleset's own start position."""
    if feen is not None and board is not None:
        raise click.UsageError("--feen and --board both name a position: give one of them")
    if feen is not None and hands is not None:
        raise click.UsageError("--feen says what the hands hold: leave --hands out")
    if feen is not None:
        found = ggn_store.Position.from_feen(feen)
    elif board is not None:
        found = ggn_store.read_board(_text(board))
    elif ruleset.start is not None:
        found = ruleset.start
    else:
        raise ggn_store.PositionError(
            f"{ruleset.revision} has no start position of its own: give a position with --feen or --board, "
            'or write start = "FEEN" into a TOML file of the document\'s name beside it and load it again'
        )
    return found.with_changes(None if hands is None else ggn_store.read_hands(hands), side)


def _text(argument: str) -> str | bytes:
    if argument == "-":
        return b"" if sys.stdin is None else sys.stdin.buffer.read()
    if argument.startswith("@"):
        try:
            return Path(argument[1:]).read_bytes()
        except OSError as error:
            raise ggn_store.InputError(f"{printable(argument[1:])}: cannot be read: {error.strerror}") from None
    return argument


def write(parts: Any, output: str | None) -> None:
    """Write text to standard output, or to a file that appears only once it is whole."""
    if output in (None, "-"):
        for part in parts:
            click.echo(part, nl=False)
        return
    target = Path(str(output))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            for part in parts:
                stream.write(part)
        temporary.replace(target)
    except OSError as error:
        raise GgnStoreError(f"{printable(str(target))}: cannot be written: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


output_option = click.option("-o", "--output", metavar="FILE", help="Write to this file instead of standard output.")
