"""`ggn-store watch`"""

from __future__ import annotations

import select
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import click

from ggn_store.cli import options, process
from ggn_store.cli.audit import only_option, read_id
from ggn_store.errors import printable, quote
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from ggn_store.model.event import Event


@click.command("watch")
@click.argument("rulesets", metavar="[RULESET|SPACE/]...", nargs=-1, shell_complete=options.complete_ruleset)
@click.option("--since", metavar="ID|now", default="now", help="Begin after this change instead of now.")
@only_option
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="End after N changes.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="End after this time; with --count, exit code 1 where there were fewer.",
)
@click.option(
    "--interval",
    type=click.FloatRange(min=0.01),
    metavar="SECONDS",
    help="The time between two polls: of a SQLite file (default 0.5), and as a safety net of a server (10).",
)
@options.output_format(("text", "ndjson"), "Default: text on a terminal, NDJSON elsewhere.")
@click.pass_context
def command(
    ctx: click.Context,
    rulesets: tuple[str, ...],
    since: str,
    only: tuple[str, ...],
    count: int | None,
    timeout: float | None,
    interval: float | None,
    form: str | None,
) -> None:
    """Print changes as they happen, one a line: new revisions, tags that move, what `audit` lists.

    A Postgres server reports them at once; a SQLite file is polled. A lost connection is made again, and no change is
    missed. To resume after an interruption, pass the `since` of the last NDJSON line; changes that began earlier and
    were finished later may then be repeated. SIGTERM ends it with exit code 0.
    """
    if since != "now" and read_id(since) is None:
        raise click.BadParameter(f"{quote(since)} is neither the id of a change nor now", ctx, param_hint="--since")
    store = options.open_store(ctx)
    found = store.upkeep.watch(
        *rulesets,
        since=read_id(since),
        only=only,
        interval=interval,
        timeout=timeout,
        on_turn=_is_read,
        on_loss=_report_loss,
    )
    form = form or ("text" if options.is_terminal(sys.stdout) else "ndjson")
    printed = 0
    with _ended_by_sigterm(), closing(found):  # type: ignore[type-var]
        for event in found:
            click.echo(compact(event.data()) if form == "ndjson" else _line(event))
            printed += 1
            if printed == count:
                return
    if count is not None and _is_read():
        click.echo(f"{printed} of {count} changes came in {timeout:g} seconds", err=True)
        ctx.exit(1)


def _line(event: Event) -> str:
    parts = (event.at.isoformat(" ", "seconds")[:19], event.role, event.action, event.about, event.what)
    return printable("  ".join(part for part in parts if part))


def _report_loss(why: str) -> None:
    click.echo(f"{printable(why)}; trying again", err=True)


def _is_read() -> bool:
    """Whether a reader of standard output may still be there: a pipe's other end is open."""
    if not hasattr(select, "poll") or sys.stdout is None:
        return True
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):
        return True
    poll = select.poll()
    poll.register(number, 0)
    return not poll.poll(0)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        process.end_output()
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
