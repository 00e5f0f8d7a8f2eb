"""`ggn-store gc`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ggn_store.cli import options
from ggn_store.cli.options import counted
from ggn_store.cli.progress import progress
from ggn_store.errors import printable
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from ggn_store.model.care import Collected


@click.command("gc")
@click.option("--dry-run", is_flag=True, help="Only list what would be removed.")
@click.option(
    "--vacuum", is_flag=True, help="Then make the file of a SQLite store smaller; needs as much room again meanwhile."
)
@options.text_or_json_option
@click.pass_context
def command(ctx: click.Context, dry_run: bool, vacuum: bool, form: str | None) -> None:
    """Remove unreferenced data: pieces that no revision lists, unused boards and rulesets.

    No revision is ever removed, nor what one needs; a deleted ruleset keeps its revisions. Safe while others load.
    """
    if dry_run and vacuum:
        raise click.UsageError("--dry-run changes nothing: leave --vacuum out")
    with progress("removing") as reporter:
        found = options.open_store(ctx).upkeep.collect(dry_run=dry_run, vacuum=vacuum, progress=reporter.add)
    if form == "json":
        click.echo(compact({"dry_run": dry_run} | found.data()))
        return
    if dry_run:
        for each in found.unused:
            parts = [each.kind, each.name, each.digest and f"sha256:{each.digest[:12]}", counted(each.rows, "row")]
            click.echo(printable("  ".join(part for part in parts if part)))
    click.echo(_summary(found, dry_run))
    if found.free and not vacuum:
        click.echo(f"{found.free:,} bytes of the file are free for what comes next; --vacuum gives them back", err=True)


def _summary(found: Collected, dry_run: bool) -> str:
    if not found.unused:
        return "nothing to remove: everything is in use"
    kinds = [counted(found.count(kind), kind) for kind in ("piece", "board", "ruleset") if found.count(kind)]
    return f"{'would remove' if dry_run else 'removed'} {', '.join(kinds)}: {counted(found.rows, 'row')}"
