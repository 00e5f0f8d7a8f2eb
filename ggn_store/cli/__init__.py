"""The command line: a file for each subject, as the Python face has its parts; one place where errors end.

Nothing here imports SQLAlchemy by itself: the public names of the package are loaded when a command uses them, so
`--help` stays quick.
"""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from typing import Any, Final, NoReturn

import click

import ggn_store
from ggn_store import limits
from ggn_store.cli import options, printing, process, stores
from ggn_store.errors import GgnStoreError, printable

# The file of each command, and whether it only prints: then it ends when its reader has gone, or when the disk is full.
# All others run to their end, and their exit code reports the outcome. What is not here is an analysis.
_COMMANDS: Final = {
    "guide": ("guide", True),
    "load": ("load", False),
    "new": ("new", False),
    "generate": ("documents", True),
    "import": ("import_", False),
    "validate": ("documents", False),
    "lint": ("documents", False),
    "gdl": ("gdl", False),
    "convert": ("documents", True),
    "schema": ("documents", True),
    "list": ("rulesets", True),
    "show": ("rulesets", True),
    "moves": ("moves", True),
    "apply": ("apply", True),
    "play": ("play", True),
    "serve": ("web", False),
    "site": ("web", False),
    "password": ("web", False),
    "uci": ("engine", True),
    "usi": ("engine", True),
    "perft": ("perft", True),
    "draw": ("draw", True),
    "sql": ("sql", True),
    "export": ("export", True),
    "compile": ("export", False),
    "rename": ("rulesets", False),
    "delete": ("rulesets", False),
    "restore": ("history", False),
    "log": ("history", True),
    "diff": ("history", False),
    "blame": ("history", True),
    "tag": ("tag", False),
    "state": ("state", False),
    "push": ("exchange", False),
    "pull": ("exchange", False),
    "resolve": ("exchange", False),
    "bundle": ("exchange", False),
    "policy": ("policy", False),
    "propose": ("reviews", False),
    "amend": ("reviews", False),
    "proposals": ("reviews", True),
    "proposal": ("reviews", True),
    "comment": ("reviews", False),
    "approve": ("reviews", False),
    "reject": ("reviews", False),
    "withdraw": ("reviews", False),
    "audit": ("upkeep", True),
    "watch": ("upkeep", True),
    "verify": ("upkeep", False),
    "gc": ("upkeep", False),
    "db": ("db", False),
}
_ANALYSIS: Final = ("analyses", True)
# What help calls the commands from one on.
_PARTS: Final = {
    "guide": "Commands to bring rules in",
    "list": "Commands to look and play",
    "sql": "Commands to ask and export",
    "rename": "Commands for names and revisions",
    "push": "Commands to share and review",
    "audit": "Commands to look after the store",
}


def table() -> dict[str, tuple[str, bool]]:
    """Of every command, in the order of their use, its file and whether it only prints."""
    found: dict[str, tuple[str, bool]] = {}
    for name, of_command in _COMMANDS.items():
        found[name] = of_command
        if name == "sql":
            found |= dict.fromkeys(map(str, _of_file(_ANALYSIS[0])), _ANALYSIS)
    return found


def _of_file(name: str) -> dict[str | None, click.Command]:
    """The commands of a file of this package, by their names."""
    module = importlib.import_module(f"ggn_store.cli.{name}")
    return {each.name: each for each in vars(module).values() if isinstance(each, click.Command)}


class _Commands(options.CommandGroup):
    """The commands in the order of their use, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*table()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _of_file(_COMMANDS.get(cmd_name, _ANALYSIS)[0]).get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        width = max(map(len, names))
        bounds = [*map(names.index, _PARTS), len(names)]
        for part, of_part in zip(_PARTS.values(), itertools.pairwise(bounds), strict=True):
            commands = filter(None, (self.get_command(ctx, name) for name in names[slice(*of_part)]))
            with formatter.section(part):
                room = formatter.width - width - 6
                formatter.write_dl([(str(each.name).ljust(width), each.get_short_help_str(room)) for each in commands])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # of a pipe beside standard output, such as -o FIFO
            raise process.Unwritten from None


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--db",
    metavar="ADDRESS",
    help="The store: sqlite:///FILE, a file's name, or postgresql://USER@HOST/DATABASE. Default: $GGN_STORE_URL, "
    "else $DATABASE_URL, else a SQLite file in your data directory (see `db info`).",
)
@click.option(
    "--limit",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    shell_complete=lambda _context, _parameter, begun: options.completed(map("{}=".format, limits.adjustable()), begun),
    help="Set a limit on input, such as document-bytes=256M; repeatable. Messages name the limit that was "
    "crossed, and `ggn-store guide limits` lists all of them.",
)
@click.version_option(ggn_store.__version__, prog_name="ggn-store")
@click.pass_context
def group(ctx: click.Context, db: str | None, settings: tuple[str, ...]) -> None:
    """A database of board-game moves: load GGN documents, query the moves of a position.

    Exit codes: 0 done, 1 invalid or failed, 2 wrong usage, 3 conflict, 130 interrupted (143 by SIGTERM).
    """
    ctx.obj = db
    _, only_prints = _COMMANDS.get(ctx.invoked_subcommand or "", _ANALYSIS)
    if only_prints:
        process.end_with_output()
    try:
        ctx.with_resource(limits.allow(limits.parse(settings)))
    except limits.LimitError as error:
        raise click.UsageError(f"--limit: {error}") from None
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main() -> NoReturn:
    """Run the command line; every error ends here, as one message on stderr and an exit code.

    If the output cannot be written, the code is 1; if a pipe's reader has gone, it is the command's own.
    """
    process.quiet()
    process.collect_seldom()
    with process.streams() as outputs, process.signals() as signals:
        try:
            code = group.main(prog_name="ggn-store", standalone_mode=False)
            code = code if isinstance(code, int) else 0
        except BaseException as error:
            # Of what a signal interrupts, some libraries make an error of their own.
            code = _report(error if signals.number is None else KeyboardInterrupt(), signals)
        if code == 130:
            code = signals.code
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        failed = next((output.failed for output in outputs if output.failed), None)
        if failed and not code:
            printing.say_error(f"output: {failed}")
            code = 1
    sys.exit(code)


def _report(error: BaseException, signals: process.Signals) -> int:
    """Report an error; its exit code."""
    match error:
        case SystemExit():
            return error.code if isinstance(error.code, int) else 0
        case process.Unwritten():
            return 0
        case click.ClickException():
            vars(error)["message"] = _harmless(error.message)
            error.show()
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            printing.say_error(f"{signals.said}; what was being written is undone")
            return signals.code
        case GgnStoreError():
            printing.say_error(f"{error}{stores.in_library(error)}")
            printing.report_conflict(error)
            return error.exit_code
        case OSError():
            parts = (error.filename, error.strerror or error)
            printing.say_error(": ".join(printable(str(part)) for part in parts if part))
            return 1
        case MemoryError():
            printing.say_error("not enough memory for this; nothing was stored")
            return 1
    raise error


def _harmless(message: str) -> str:
    """A message of click's, which quotes arguments as they came; its own line breaks are kept."""
    message = printing.without_password(message)
    lines = [message] if any("\n" in argument for argument in sys.argv) else message.expandtabs(2).split("\n")
    return "\n".join(map(printable, lines))
