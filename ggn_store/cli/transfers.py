"""What `push`, `pull` and `bundle load` share: their options, and the report on each ruleset."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ggn_store.cli import options
from ggn_store.cli.progress import progress
from ggn_store.errors import printable
from ggn_store.model.transfer import DivergedError

if TYPE_CHECKING:
    from ggn_store.model.transfer import Transferred


Command = TypeVar("Command", bound=Callable[..., Any])

_COLUMNS = ("name", "to", "status", "revisions", "pieces", "pieces_listed", "head", "error")

rulesets_argument = click.argument(
    "rulesets", nargs=-1, metavar="[RULESET]...", shell_complete=options.complete_ruleset
)
all_option = click.option("--all", "everything", is_flag=True, help="Every ruleset that there is.")


def transfer_options(command: Command) -> Command:
    """The options of every command that gives revisions to a store."""
    for option in (
        options.output_format(options.RECORD_FORMATS, "Records instead of a line of text for each ruleset."),
        click.option("--dry-run", is_flag=True, help="Only list what would be transferred."),
        click.option(
            "--author",
            metavar="NAME",
            help="Author of the merge. Default: $GGN_AUTHOR, the database's user, git's.",
        ),
        click.option("--message", metavar="TEXT", help="The reason for the merge; kept with it."),
        click.option("--tags", is_flag=True, help="Transfer tags, too: each then points where it does at the source."),
        click.option("--merge", is_flag=True, help="If both have changed something, merge both into one revision."),
        click.option("--as", "to", metavar="NAME", help="The name that the ruleset gets; for a single one."),
    ):
        command = option(command)
    return command


def exchange_options(command: Command) -> Command:
    """The options of `push` and `pull`, which `exchange` takes."""
    remote = click.option(
        "--remote",
        metavar="ADDRESS",
        envvar="GGN_STORE_REMOTE",
        help="The other store, written like --db. Default: $GGN_STORE_REMOTE.",
    )
    return rulesets_argument(remote(all_option(transfer_options(command))))


def exchange(
    ctx: click.Context,
    rulesets: tuple[str, ...],
    remote: str | None,
    everything: bool,
    form: str | None,
    *,
    is_push: bool,
    **wishes: Any,
) -> None:
    """Push or pull, and report the outcome for each ruleset."""
    names = chosen(rulesets, everything)
    if not remote:
        raise click.UsageError("name the other store with --remote (or $GGN_STORE_REMOTE)")
    store = options.open_store(ctx, create=not is_push)
    each = store.exchange.push_each if is_push else store.exchange.pull_each
    with progress("pushing" if is_push else "pulling") as reporter:
        report(ctx, each(remote, names, progress=reporter.add, **wishes), form, "sent" if is_push else "received")


def chosen(rulesets: tuple[str, ...], everything: bool) -> tuple[str, ...] | None:
    """The rulesets that were named; None for all."""
    if bool(rulesets) == everything:
        raise click.UsageError("name rulesets, or give --all" if not rulesets else "--all goes without names")
    return rulesets or None


def report(ctx: click.Context, results: Iterable[Transferred], form: str | None, verb: str) -> None:
    """Report the outcome for each ruleset as it is done; the exit code is the worst."""
    code = 0
    done: list[dict[str, Any]] = []
    for result in results:
        if result.error is not None:
            code = max(code, result.error.exit_code)
            _report_error(result)
        if form is None:
            if result.error is None:
                click.echo(printable(line(result, verb)))
        elif form == "ndjson":
            options.print_records([result.data()], form, _COLUMNS)
        else:
            done.append(result.data())
    if form not in (None, "ndjson"):
        options.print_records(done, form, _COLUMNS)
    ctx.exit(code)


def _report_error(result: Transferred) -> None:
    error = result.error
    said = f"{result.name}: {str(error).removeprefix(f'{result.name}: ')}"
    click.echo(printable(options.without_password(said)), err=True)
    if isinstance(error, DivergedError) and error.merge is not None:
        from ggn_store.render.differences import merge_text

        for text in merge_text(error.merge):
            click.echo(f"  {text}", err=True, nl=False)


def line(result: Transferred, verb: str) -> str:
    """`chess: 3 revisions, 2 of 14 pieces sent, head chess@5`"""
    text = result.name if result.to == result.name else f"{result.name} as {result.to}"
    head = f"head {result.to}@{result.head}"
    if result.status == "unchanged":
        text += f": up to date, {head}"
    else:
        merged = " (the last one a merge)" if result.status == "merged" else ""
        revisions = options.counted(result.revisions, "revision")
        text += f": {revisions}{merged}, {result.pieces} of {result.listed} pieces {verb}, {head}"
    if result.tags:
        text += f", tag{'' if len(result.tags) == 1 else 's'} {', '.join(result.tags)}"
    return text
