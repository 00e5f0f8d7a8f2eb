"""What `watch` does after a change: a command that runs, a webhook that is called, a file that says how far it is."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import ggn_store
from ggn_store.api.session.patience import Patience
from ggn_store.cli import options, printing
from ggn_store.errors import InputError, printable, quote
from ggn_store.output import is_stream
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from ggn_store.api.hooks import Webhook
    from ggn_store.model.teams.event import Event

SECRET: Final = "GGN_STORE_WEBHOOK_SECRET"  # noqa: S105  (its name)
_LONGEST: Final = 4096
_DIGITS: Final = 19
# A receiver that restarts is back after these tries: two minutes.
_PATIENCE: Final = partial(Patience, 8, longest=60.0)


# The options of `watch` for what is done after each change, which `Hooks.of` takes.
hook_options = options.several(
    click.option(
        "--state",
        metavar="FILE",
        help="Keep in FILE which change was the last, and begin after it; without the file, as --since says.",
    ),
    click.option("--allow-http", is_flag=True, help="Let --webhook be plain http to another machine."),
    click.option(
        "--secret-file",
        metavar="FILE",
        help=f"The secret that signs what --webhook sends. Default: ${SECRET}.",
    ),
    click.option(
        "--webhook",
        metavar="URL",
        envvar="GGN_STORE_WEBHOOK",
        help="Send each change to URL as a signed POST. Default: $GGN_STORE_WEBHOOK.",
    ),
    click.option(
        "--exec",
        "command",
        metavar="COMMAND",
        help="Run COMMAND after each change, with its JSON on standard input.",
    ),
)


@dataclass(frozen=True, slots=True)
class Hooks:
    """What is done after each change."""

    command: Sequence[str]
    webhook: Webhook | None
    state: str | None

    @classmethod
    def of(cls, asked: dict[str, Any]) -> Hooks:
        """The hooks that options ask for, which are taken out of `asked`; raises where one cannot work."""
        names = ("command", "webhook", "secret_file", "allow_http", "state")
        command, webhook, secret_file, allow_http, state = (asked.pop(name) for name in names)
        for name, given in (("--secret-file", secret_file), ("--allow-http", allow_http)):
            options.refuse((given and not webhook, f"{name} goes with --webhook"))
        options.refuse((state is not None and is_stream(state), "--state is for a file of its own"))
        return cls(_words(command), _webhook(webhook, secret_file, allow_http) if webhook else None, state)

    def since(self, store: ggn_store.Store, stated: int | None) -> int | None:
        """The change to begin after: that of the state file, else the stated one; None for now.

        A state file that is not there yet is written, so that no later change is missed even if none comes this time.
        """
        if self.state is None:
            return stated
        if Path(self.state).exists():
            text = _read(self.state).strip()
            if not (text.isascii() and text.isdigit() and len(text) < _DIGITS):
                raise InputError(f"{printable(self.state)}: this is not the id of a change, as --state keeps it")
            return int(text)
        newest = next(store.upkeep.audit(limit=1), None)
        since = stated if stated is not None else 0 if newest is None else newest.id
        self._keep(since)
        return since

    def after(self, event: Event) -> None:
        """Do it; a command that fails is reported, and a webhook that cannot be delivered raises."""
        if self.command:
            self._run(event)
        if self.webhook is not None:
            self.webhook.deliver(event)
        if self.state is not None:
            self._keep(event.id if event.since is None else event.since)

    def _keep(self, since: int) -> None:
        printing.write_bytes([b"%d\n" % since], str(self.state))

    def _run(self, event: Event) -> None:
        about = {"ID": str(event.id), "ACTION": event.action, "RULESET": event.subject or "", "ABOUT": event.about}
        environment = {name: value for name, value in os.environ.items() if name != SECRET}
        environment |= {f"GGN_EVENT_{name}": value for name, value in about.items()}
        said = f"change {event.id}: {quote(self.command[0])}"
        try:
            # What it prints is not of what `watch` prints.
            done = subprocess.run(  # noqa: S603  (what the user has asked for)
                self.command,
                input=compact(event.data()).encode("utf-8", "backslashreplace") + b"\n",
                stdout=sys.stderr.fileno() if sys.stderr is not None else subprocess.DEVNULL,
                env=environment,
                check=False,
            )
        except (OSError, ValueError) as error:  # a value that no environment can hold
            click.echo(f"{said} did not run: {printable(str(getattr(error, 'strerror', None) or error))}", err=True)
            return
        if done.returncode:
            how = f"exit code {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
            click.echo(f"{said} ended with {how}", err=True)


def _words(command: str | None) -> Sequence[str]:
    """A command as its words: no shell reads them."""
    if command is None:
        return ()
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise click.UsageError(f"--exec {quote(command)}: {error}") from None
    if not words or shutil.which(words[0]) is None:
        raise click.UsageError(f"--exec {quote(command)}: there is no such command")
    return words


def _webhook(url: str, secret_file: str | None, allow_http: bool) -> Webhook:
    from ggn_store.api.hooks import Webhook, read_secret

    secret = os.environ.get(SECRET) if secret_file is None else _read(secret_file)
    if not secret:
        raise click.UsageError(f"--webhook signs what it sends: put the secret into ${SECRET} or a --secret-file")
    return Webhook(url, read_secret(secret), _PATIENCE(tell=printing.report_note), allow_http=allow_http)


def _read(path: str) -> str:
    """The beginning of a file that is short."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(_LONGEST).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read: {error.strerror}") from None
