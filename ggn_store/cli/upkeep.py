"""Store maintenance: `audit`, `watch`, `verify`, `gc`."""

from __future__ import annotations

import select
import sys
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from ggn_store.cli import options, printing, process, stores
from ggn_store.cli.hooks import Hooks, hook_options
from ggn_store.cli.progress import progress
from ggn_store.errors import counted, printable, quote
from ggn_store.model.teams.event import ACTIONS
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from ggn_store.model.teams.care import Collected
    from ggn_store.model.teams.event import Event

_CHANGES = ("id", "at", "role", "action", "about", "what")
_COMPARED = ("name", "state", "ahead", "behind", "here", "there", "tags", "hidden")


def _read_actions(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The kinds of changes that an option names, with commas between them."""
    actions = () if value is None else tuple(part.strip() for part in value.split(","))
    for action in actions:
        if action not in ACTIONS:
            raise click.BadParameter(f"{quote(action)} is none of {', '.join(ACTIONS)}")
    return actions


def _read_id(value: str) -> int | None:
    """The id of a change; None for what is none."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None


def _read_since(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | datetime | None:
    if value is None or (number := _read_id(value)) is not None:
        return None if value is None else number
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{quote(value)} is neither an id nor a time: write 17, 2026-01-31 or 2026-01-31T12:00:00+01:00"
        ) from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


_only_option = click.option(
    "--only", metavar="ACTION,...", callback=_read_actions, help=f"Only these: {', '.join(ACTIONS)}."
)


@options.command("audit")
@click.argument("ruleset", metavar="[RULESET]", required=False, shell_complete=options.complete_ruleset)
@click.option(
    "--since",
    metavar="ID|TIME",
    callback=_read_since,
    help="Only what came after this id, or from this time on (UTC, or with a zone).",
)
@click.option("--before", metavar="ID|TIME", callback=_read_since, help="Only what came before this id, or this time.")
@options.limit_option
@_only_option
@options.records_option
def audit(ruleset: str | None, form: str | None, **asked: Any) -> None:
    """List what was changed in the store, when and by whom.

    The oldest change is first; who made it is a user of the database. The database itself writes this list, and neither
    readers nor authors can change it.
    """
    found = stores.open_store().upkeep.audit(ruleset, **asked)
    shown = printing.record_format(form) in ("table", "csv")
    items = (each.data() | ({"about": each.about, "what": each.what} if shown else {}) for each in found)
    printing.print_records(items, form, _CHANGES)


@options.command("watch")
@options.rulesets_argument
@click.option("--since", metavar="ID|now", default="now", help="Begin after this change instead of now.")
@_only_option
@click.option("--count", type=options.IntRange(min=1), metavar="N", help="End after N changes.")
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
@hook_options
@options.output_format(("text", "ndjson"), "Default: text on a terminal, NDJSON elsewhere.")
def watch(
    rulesets: tuple[str, ...],
    since: str,
    count: int | None,
    timeout: float | None,
    form: str | None,
    **asked: Any,
) -> None:
    """Print changes as they happen, one a line.

    They are new revisions, tags that move, and what `audit` lists. A Postgres server reports them at once; a SQLite
    file is polled. A lost connection is made again, and no change is missed. To resume after an interruption, pass the
    `since` of the last NDJSON line; changes that began earlier and were finished later may then be repeated. SIGTERM
    ends it with exit code 0.

    COMMAND of --exec is run without a shell, one change after the other; $GGN_EVENT_ID, $GGN_EVENT_ACTION,
    $GGN_EVENT_RULESET and $GGN_EVENT_ABOUT name the change. If it fails, that is reported, and the watch goes on.

    --webhook sends changes in their order, signed by HMAC-SHA256 (see `guide teams`). What the receiver does not take
    is sent again after growing pauses, for about two minutes; then the watch ends with exit code 1. With --state, the
    next one goes on where it ended. No commit ever waits for a hook.
    """
    if since != "now" and _read_id(since) is None:
        raise click.BadParameter(f"{quote(since)} is neither the id of a change nor now", param_hint="--since")
    hooks = Hooks.of(asked)
    store = stores.open_store()
    found = store.upkeep.watch(
        *rulesets,
        since=hooks.since(store, _read_id(since)),
        timeout=timeout,
        on_turn=_is_read,
        on_loss=lambda why: click.echo(f"{printable(why)}; trying again", err=True),
        **asked,
    )
    form = form or ("text" if printing.is_terminal(sys.stdout) else "ndjson")
    printed = 0
    with process.ended_by_sigterm(), closing(found):  # type: ignore[type-var]
        for event in found:
            click.echo(compact(event.data()) if form == "ndjson" else _line(event))
            hooks.after(event)
            printed += 1
            if printed == count:
                return
    if count is not None and _is_read():
        click.echo(f"{printed} of {count} changes came in {timeout:g} seconds", err=True)
        options.end(1)


def _line(event: Event) -> str:
    parts = (event.at.isoformat(" ", "seconds")[:19], event.role, event.action, event.about, event.what)
    return printable("  ".join(part for part in parts if part))


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


full_option = click.option(
    "--full", is_flag=True, help="Also derive the digests of pieces again that were found sound before."
)


@options.command("verify")
@options.rulesets_argument
@full_option
@click.option("--remote", metavar="ADDRESS", help="Compare this store with that one instead.")
@click.option("--exit-code", "strict", is_flag=True, help="With --remote: exit code 1 where anything differs.")
@options.output_format(
    options.RECORD_FORMATS,
    "Of a comparison; default: a table on a terminal, NDJSON elsewhere. Without --remote: json, one object.",
)
def verify(rulesets: tuple[str, ...], full: bool, remote: str | None, strict: bool, form: str | None) -> None:
    """Derive every digest again, and check that nothing is damaged.

    Histories, tags, audit and triggers are checked, too. With rulesets, only what these need. The store remembers which
    pieces were sound; of these, where checksums of their rows are still the same, digests and derived rows are made
    again only with --full.

    Every problem is one line, and makes exit code 1. Triggers, functions and views are compared with this program's own
    definitions; `ggn-store db upgrade` repairs them.

    With --remote, report which revisions and tags each store has that the other lacks: equal, ahead, behind, diverged,
    only here, only there. Exit code 1 where the stores disagree about what a revision holds.
    """
    if remote is None:
        if strict:
            raise click.UsageError("--exit-code goes with --remote: without it, what is wrong always makes exit code 1")
        if form not in (None, "json"):
            raise click.UsageError(f"--format {form} goes with --remote: without it, leave it out or write json")
        verify_store(rulesets, form, full=full)
    elif full:
        raise click.UsageError("--full is for checking this store: leave it out with --remote")
    else:
        _compare(rulesets, remote, strict, form)


def verify_store(rulesets: tuple[str, ...] = (), form: str | None = None, *, full: bool = False) -> None:
    """Write what is wrong, and end the command."""
    with progress("verifying") as reporter:
        found = stores.open_store().upkeep.verify(*rulesets, progress=reporter.add, full=full)
    if form == "json":
        click.echo(compact(found.data()))
    else:
        for sentence in found.problems:
            click.echo(printable(sentence))
    count = len(found.problems)
    things = [counted(found.pieces, "piece"), counted(found.revisions, "revision"), counted(found.tags, "tag")]
    said = counted(count, "difference") if count else "all sound"
    click.echo(f"{', '.join(things[:2])} and {things[2]} checked: {said}", err=True)
    options.end(1 if found.problems else 0)


def _compare(rulesets: tuple[str, ...], remote: str, strict: bool, form: str | None) -> None:
    here = stores.open_store()
    there = stores.open_store(remote)
    with progress("comparing") as reporter:
        found = here.exchange.compare(there, *rulesets, progress=reporter.add)
    items = [each.data() for each in found]
    if printing.record_format(form) in ("table", "csv"):
        items = [item | {"tags": " ".join(item["tags"]), "hidden": " ".join(item["hidden"])} for item in items]
    printing.print_records(items, form, _COMPARED)
    states = Counter[str](each.state for each in found)
    tagged = sum(bool(each.tags) for each in found)
    said = [f"{count} {state}" for state, count in states.items()]
    said += [f"tags differ in {tagged}"] if tagged else []
    click.echo(f"{counted(len(found), 'ruleset')} compared{': ' if said else ''}{', '.join(said)}", err=True)
    contradicts = states["contradicts"] > 0
    if contradicts:
        click.echo("one of the stores was damaged: `ggn-store verify`, here and there, says which", err=True)
    options.end(1 if contradicts or (strict and any(each.differs for each in found)) else 0)


@options.command("gc")
@click.option("--dry-run", is_flag=True, help="Only list what would be removed.")
@click.option(
    "--vacuum", is_flag=True, help="Then make the file of a SQLite store smaller; needs as much room again meanwhile."
)
@options.text_or_json_option
def gc(dry_run: bool, vacuum: bool, form: str | None) -> None:
    """Remove pieces that no revision lists, and other leftovers.

    Boards and rulesets that nothing uses go, too. No revision is ever removed, nor what one needs; a deleted ruleset
    keeps its revisions. Safe while others load.
    """
    if dry_run and vacuum:
        raise click.UsageError("--dry-run changes nothing: leave --vacuum out")
    with progress("removing") as reporter:
        found = stores.open_store().upkeep.collect(dry_run=dry_run, vacuum=vacuum, progress=reporter.add)
    if form == "json":
        click.echo(compact({"dry_run": dry_run} | found.data()))
        return
    if dry_run:
        for each in found.unused:
            parts = [each.kind, each.name, each.digest and f"sha256:{each.digest[:12]}", counted(each.rows, "row")]
            click.echo(printable("  ".join(part for part in parts if part)))
    click.echo(_collected(found, dry_run))
    if found.free and not vacuum:
        click.echo(f"{found.free:,} bytes of the file are free for what comes next; --vacuum gives them back", err=True)


def _collected(found: Collected, dry_run: bool) -> str:
    if not found.unused:
        return "nothing to remove: everything is in use"
    kinds = [counted(found.count(kind), kind) for kind in ("piece", "board", "ruleset") if found.count(kind)]
    return f"{'would remove' if dry_run else 'removed'} {', '.join(kinds)}: {counted(found.rows, 'row')}"
