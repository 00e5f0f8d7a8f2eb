"""The command line: one command a file, one place where errors end.

Nothing here imports SQLAlchemy by itself: the public names of the package are loaded when a command uses them, so
`--help` stays quick.
"""

from __future__ import annotations

import importlib
import keyword
import os
import sys
from typing import Final, NoReturn

import click

import ggn_store
from ggn_store.cli.options import tell_conflict
from ggn_store.errors import GgnStoreError, printable

_COMMANDS: Final = (
    "load",
    "generate",
    "import",
    "validate",
    "lint",
    "gdl",
    "convert",
    "schema",
    "list",
    "show",
    "moves",
    "apply",
    "play",
    "perft",
    "draw",
    "sql",
    "stats",
    "mobility",
    "coverage",
    "who-reaches",
    "uses",
    "dead",
    "symmetry",
    "same-movers",
    "compare",
    "export",
    "compile",
    "delete",
    "restore",
    "log",
    "diff",
    "blame",
    "tag",
    "state",
    "push",
    "pull",
    "bundle",
    "policy",
    "propose",
    "proposals",
    "proposal",
    "approve",
    "reject",
    "withdraw",
    "audit",
    "watch",
    "verify",
    "gc",
    "db",
)


class _Commands(click.Group):
    """The commands in the order of their use, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS]  # `list` is one of them, and a module of this package

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name.replace("-", "_")
        command: click.Command = importlib.import_module(f"ggn_store.cli.{module}").command
        return command


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
@click.version_option(ggn_store.__version__, prog_name="ggn-store")
@click.pass_context
def group(ctx: click.Context, db: str | None) -> None:
    """A database of board-game moves: load GGN documents, ask which moves a position allows.

    Exit codes: 0 done, 1 invalid or failed, 2 wrong usage, 3 conflict, 130 interrupted.
    """
    ctx.obj = db
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main() -> NoReturn:
    """Run the command line; every error ends here, as one message on stderr and an exit code."""
    try:
        code = group.main(prog_name="ggn-store", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        vars(error)["message"] = _harmless(error.message)
        error.show()
        _end(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted; what was being written is undone")
        _end(130)
    except GgnStoreError as error:
        _say(str(error))
        tell_conflict(error)
        _end(error.exit_code)
    except BrokenPipeError:
        # The reader has seen enough (`| head`); nothing that Python flushes at the end may complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _end(0)
    except OSError as error:
        _say(f"{printable(str(error.filename or 'output'))}: {error.strerror or error}")
        _end(1)
    except MemoryError:
        _say("not enough memory for this; nothing was stored")
        _end(1)
    _end(code if isinstance(code, int) else 0)


def _harmless(message: str) -> str:
    """A message of click's, which quotes arguments as they came; its own line breaks are kept."""
    lines = [message] if any("\n" in argument for argument in sys.argv) else message.expandtabs(2).split("\n")
    return "\n".join(map(printable, lines))


def _say(message: str) -> None:
    text = "\n".join(printable(line) for line in message.split("\n"))
    color = False if os.environ.get("NO_COLOR") else None
    click.echo(f"{click.style('Error:', fg='red')} {text}", err=True, color=color)


def _end(code: int) -> NoReturn:
    sys.exit(code)
