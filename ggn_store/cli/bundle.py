"""`ggn-store bundle`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ggn_store.api.bundles import verify_bundle
from ggn_store.cli import options, transfers
from ggn_store.cli.progress import progress
from ggn_store.errors import printable
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from ggn_store.api.bundles import BundleSummary


_SHORT = 12

file_argument = click.argument("file", type=click.Path(), metavar="FILE")


@click.group("bundle", cls=options.Group)
def command() -> None:
    """Carry rulesets in a file, between stores that cannot connect.

    A bundle holds histories with all that they need, compressed (.ggnb.gz is a good ending). The same history always
    gives the same file. FILE may be - for standard input or output.
    """


@command.command("create")
@file_argument
@transfers.rulesets_argument
@transfers.all_option
@click.option(
    "--since",
    metavar="REVISION",
    help="Leave out this revision of each ruleset and its ancestors, which the receiver must have: 3, "
    "sha256:0123abcd or a tag.",
)
@click.pass_context
def create(ctx: click.Context, file: str, rulesets: tuple[str, ...], everything: bool, since: str | None) -> None:
    """Write rulesets with their histories and tags to a bundle. The file appears only once it is whole."""
    if file == "-" and options.is_terminal(sys.stdout):
        raise click.UsageError("a bundle is not text: write it to a file, or through a pipe")
    names = transfers.chosen(rulesets, everything)
    made = options.open_store(ctx).exchange.create_bundle(file, names, since=since)
    click.echo(_summary(made), err=file == "-")


@command.command("verify")
@file_argument
@options.text_or_json_option
@click.pass_context
def verify(ctx: click.Context, file: str, form: str | None) -> None:
    """Check everything in a bundle, and list what is in it. No store is needed."""
    found = verify_bundle(file)
    if form == "json":
        click.echo(compact(found.data()))
        return
    for ruleset in found.rulesets:
        count = len(ruleset.lineages)
        text = f"{ruleset.name}: {options.counted(count, 'revision')}, head sha256:{ruleset.lineages[-1][:_SHORT]}"
        if ruleset.needs:
            text += f", goes on from {', '.join(f'sha256:{lineage[:_SHORT]}' for lineage in ruleset.needs)}"
        if ruleset.tags:
            text += f", tag{'' if len(ruleset.tags) == 1 else 's'} {', '.join(ruleset.tags)}"
        click.echo(printable(text))
    click.echo(f"{_summary(found)}; all sound", err=True)


@command.command("load")
@file_argument
@transfers.rulesets_argument
@transfers.transfer_options
@click.pass_context
def load(ctx: click.Context, /, file: str, rulesets: tuple[str, ...], form: str | None, **wishes: Any) -> None:
    """Take rulesets with their histories from a bundle: all of them, or those that are named.

    The whole bundle is checked before anything is stored. Otherwise this is like `pull`.
    """
    store = options.open_store(ctx, create=True)
    with progress("loading") as reporter:
        results = store.exchange.load_bundle_each(file, rulesets or None, progress=reporter.add, **wishes)
        transfers.report(ctx, results, form, "taken")


def _summary(found: BundleSummary) -> str:
    counts = [
        f"{number} {name if number != 1 else name[:-1]}"
        for name, number in (
            ("rulesets", len(found.rulesets)),
            ("revisions", found.revisions),
            ("pieces", found.pieces),
            ("boards", found.boards),
            ("tags", found.tags),
        )
    ]
    return f"{printable(found.file)}: {', '.join(counts)}"
