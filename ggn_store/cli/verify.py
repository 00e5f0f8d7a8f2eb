"""`ggn-store verify`"""

from __future__ import annotations

from collections import Counter

import click

import ggn_store
from ggn_store.cli import options
from ggn_store.cli.options import counted
from ggn_store.cli.progress import progress
from ggn_store.errors import printable
from ggn_store.render.records import compact

_COLUMNS = ("name", "state", "ahead", "behind", "here", "there", "tags", "hidden")


@click.command("verify")
@click.argument("rulesets", metavar="[RULESET]...", nargs=-1, shell_complete=options.complete_ruleset)
@click.option("--remote", metavar="ADDRESS", help="Compare this store with that one instead.")
@click.option("--exit-code", "strict", is_flag=True, help="With --remote: exit code 1 where anything differs.")
@options.output_format(
    options.RECORD_FORMATS,
    "Of a comparison; default: a table on a terminal, NDJSON elsewhere. Without --remote: json, one object.",
)
@click.pass_context
def command(ctx: click.Context, rulesets: tuple[str, ...], remote: str | None, strict: bool, form: str | None) -> None:
    """Derive every digest again from the rows, and check that histories, tags, audit and triggers are intact.

    With rulesets, only what these need. Every problem is one line, and makes exit code 1. Triggers, functions and
    views are compared with this program's own definitions; `ggn-store db upgrade` repairs them.

    With --remote, report which revisions and tags each store has that the other lacks: equal, ahead, behind, diverged,
    only here, only there. Exit code 1 where the stores disagree about what a revision holds.
    """
    if remote is None:
        if strict:
            raise click.UsageError("--exit-code goes with --remote: without it, what is wrong always makes exit code 1")
        if form not in (None, "json"):
            raise click.UsageError(f"--format {form} goes with --remote: without it, leave it out or write json")
        verify(ctx, rulesets, form)
    else:
        _compare(ctx, rulesets, remote, strict, form)


def verify(ctx: click.Context, rulesets: tuple[str, ...] = (), form: str | None = None) -> None:
    """Write what is wrong, and end the command."""
    with progress("verifying") as reporter:
        found = options.open_store(ctx).upkeep.verify(*rulesets, progress=reporter.add)
    if form == "json":
        click.echo(compact(found.data()))
    else:
        for sentence in found.problems:
            click.echo(printable(sentence))
    count = len(found.problems)
    things = [counted(found.pieces, "piece"), counted(found.revisions, "revision"), counted(found.tags, "tag")]
    said = counted(count, "difference") if count else "all sound"
    click.echo(f"{', '.join(things[:2])} and {things[2]} checked: {said}", err=True)
    ctx.exit(1 if found.problems else 0)


def _compare(ctx: click.Context, rulesets: tuple[str, ...], remote: str, strict: bool, form: str | None) -> None:
    here = options.open_store(ctx)
    there = ctx.with_resource(ggn_store.Store.open(remote, create=False))
    with progress("comparing") as reporter:
        found = here.exchange.compare(there, *rulesets, progress=reporter.add)
    items = [each.data() for each in found]
    if options.record_format(form) in ("table", "csv"):
        items = [item | {"tags": " ".join(item["tags"]), "hidden": " ".join(item["hidden"])} for item in items]
    options.print_records(items, form, _COLUMNS)
    states = Counter[str](each.state for each in found)
    tagged = sum(bool(each.tags) for each in found)
    said = [f"{count} {state}" for state, count in states.items()]
    said += [f"tags differ in {tagged}"] if tagged else []
    click.echo(f"{counted(len(found), 'ruleset')} compared{': ' if said else ''}{', '.join(said)}", err=True)
    contradicts = states["contradicts"] > 0
    if contradicts:
        click.echo("one of the stores was damaged: `ggn-store verify`, here and there, says which", err=True)
    ctx.exit(1 if contradicts or (strict and any(each.differs for each in found)) else 0)
