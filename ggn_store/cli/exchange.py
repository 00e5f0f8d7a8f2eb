"""Revisions between stores: `push`, `pull`, and `bundle`, which carries them in a file."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from ggn_store.api.session.patience import TRIES, Patience
from ggn_store.cli import options, printing, stores
from ggn_store.cli.progress import progress
from ggn_store.errors import ConflictError, GateError, RefusedError, counted, printable
from ggn_store.model.teams.transfer import DivergedError
from ggn_store.render.records import compact, table

if TYPE_CHECKING:
    from ggn_store.api.teams.bundles import BundleSummary
    from ggn_store.model.teams.transfer import Transferred

_COLUMNS = ("name", "to", "status", "revisions", "pieces", "pieces_listed", "head", "error")

_PUSHED, _PULLED = ("sent", "pushed"), ("received", "pulled")
_OUTCOMES = ("proposed", "up to date", "refused", "failed")
_SHORT = 12

_all_option = click.option("--all", "everything", is_flag=True, help="Every ruleset that there is.")


_remote_option = click.option(
    "--remote",
    metavar="ADDRESS",
    envvar="GGN_STORE_REMOTE",
    help="The other store, written like --db. Default: $GGN_STORE_REMOTE.",
)


def _transfer_options(ours: str, theirs: str) -> Callable[[options.Command], options.Command]:
    """The options of every command that gives revisions to a store."""
    return options.several(
        options.output_format(options.RECORD_FORMATS, "Records instead of a line of text for each ruleset."),
        click.option("--dry-run", is_flag=True, help="Only list what would be transferred."),
        click.option(
            "--tries",
            type=options.IntRange(1, 100),
            default=TRIES,
            show_default=True,
            help="How often to try when a server is away, after growing pauses.",
        ),
        click.option(
            "--author",
            metavar="NAME",
            help="Author of the merge. Default: $GGN_AUTHOR, the database's user, git's.",
        ),
        click.option("--message", metavar="TEXT", help="The reason for the merge; kept with it."),
        click.option(
            "--states",
            is_flag=True,
            help="If both have changed the state of a ruleset, take the one of the source. Without it what is at "
            "the destination stays; a state that only the source has changed is transferred in any case.",
        ),
        click.option("--tags", is_flag=True, help="Transfer tags, too: each then points where it does at the source."),
        options.merge_options("If both have changed something, merge both into one revision.", ours, theirs),
        click.option("--as", "to", metavar="NAME", help="The name that the ruleset gets; for a single one."),
    )


_reviews_option = click.option(
    "--reviews",
    is_flag=True,
    help="Transfer records of reviews, too: proposals, verdicts and comments. None of them counts at the destination.",
)
# The options of `push` and `pull`, which `_exchange` takes.
_exchange_options = options.several(
    options.conflicts_option,
    _transfer_options("this store", "the other store"),
    _reviews_option,
    _all_option,
    _remote_option,
    options.rulesets_argument,
)


@options.command("push")
@_exchange_options
@click.option(
    "--propose",
    is_flag=True,
    help="Where a policy there asks for reviews, propose the newest revision, or amend your own open proposal with it.",
)
def push(**asked: Any) -> None:
    """Send rulesets with their histories to another store.

    Only what it lacks is sent. Each ruleset is stored whole or not at all: after an interruption, push again. If one
    is refused, the others are still pushed; if the server is away, --tries says how often to try again.

    If the other store has revisions that this one lacks, and they change something, nothing is pushed and the changes
    of both sides are listed (exit code 3): pull first, or pass --merge to merge them there. Two different changes of
    the same entry, or of the same key of a definition, are conflicts, which --ours and --theirs decide.
    """
    _exchange(is_push=True, **asked)


@options.command("pull")
@_exchange_options
def pull(**asked: Any) -> None:
    """Fetch rulesets with their histories from another store.

    Only what this store lacks is sent. Each ruleset is stored whole or not at all: after an interruption, pull again.
    If one is refused, the others are still pulled; if the server is away, --tries says how often to try again.

    If this store has revisions that the other one lacks, and both have changed something, nothing is pulled and the
    changes of both sides are listed (exit code 3): --merge merges them here. Two different changes of the same entry,
    or of the same key of a definition, are conflicts, which --ours and --theirs decide.
    """
    _exchange(is_push=False, **asked)


@options.command("resolve")
@click.argument("file", type=click.Path(), metavar="FILE")
@_remote_option
@click.option("--propose", "is_proposal", is_flag=True, help="Propose the result, where a policy asks for reviews.")
@options.accept_changes_option
@options.change_options
def resolve(file: str, remote: str | None, is_proposal: bool, **wishes: Any) -> None:
    """Finish a merge from FILE, which --conflicts has written.

    Edit FILE first: between the marks stands what you have (ours), what both had before, and what is there (theirs).
    Keep what is to be, and remove the marks. The result becomes one merge revision, where `load`, `push` or `pull`
    would have put it; for `push` and `pull`, name the same --remote. Exit code 3 if anything has moved since: then
    begin again.

    With --propose, it becomes a proposal in the store of --db: for a `push`, name the other store there.
    """
    store = stores.open_store()
    if is_proposal:
        options.refuse((wishes.pop("accept_changes"), "--accept-changes is for what is not proposed"))
        made = store.reviews.resolve(file, **wishes)
        click.echo(printing.proposed(made))
        return
    found = store.exchange.resolve(file, remote=remote or None, **wishes)
    printing.report_merge(found.note, ())
    became = "nothing to store" if found.status == "unchanged" else "resolved"
    click.echo(f"{found.to}: {became}, head {found.to}@{found.head}")


def _exchange(
    rulesets: tuple[str, ...],
    remote: str | None,
    everything: bool,
    form: str | None,
    *,
    is_push: bool,
    **wishes: Any,
) -> None:
    """Push or pull, and report the outcome for each ruleset."""
    names = _chosen(rulesets, everything)
    if not remote:
        raise click.UsageError("name the other store with --remote (or $GGN_STORE_REMOTE)")
    store = stores.open_store(create=not is_push)
    each = store.exchange.push_each if is_push else store.exchange.pull_each
    with progress("pushing" if is_push else "pulling") as reporter:
        results = each(remote, names, progress=reporter.add, **_patient(wishes))
        _print(results, form, _PUSHED if is_push else _PULLED)


def _patient(wishes: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a transfer, with `--tries` as what it means."""
    return wishes | {"patience": Patience(wishes.pop("tries"), tell=printing.report_note)}


def _chosen(rulesets: tuple[str, ...], everything: bool) -> tuple[str, ...] | None:
    """The rulesets that were named; None for all."""
    if bool(rulesets) == everything:
        raise click.UsageError("name rulesets, or give --all" if not rulesets else "--all goes without names")
    return rulesets or None


def _print(results: Iterable[Transferred], form: str | None, words: tuple[str, str]) -> None:
    """Report the outcome for each ruleset as it is done, and then of all; the exit code is the worst."""
    verb, done_word = words
    done: list[Transferred] = []
    try:
        for result in results:
            done.append(result)
            _report(result)
            if form is None:
                if result.error is None:
                    click.echo(printable(_line(result, verb)))
            elif form == "ndjson":
                printing.print_records([result.data()], form, _COLUMNS)
    except KeyboardInterrupt:
        _summarize(done, done_word)
        click.echo("what is not listed has not changed: run the same command again to go on", err=True)
        raise
    if form not in (None, "ndjson"):
        printing.print_records((each.data() for each in done), form, _COLUMNS)
    if len(done) > 1:
        _summarize(done, done_word)
    options.end(max((each.error.exit_code for each in done if each.error is not None), default=0))


def _summarize(done: Sequence[Transferred], done_word: str) -> None:
    """Count the outcomes on standard error, and list what did not come about, and why."""
    outcomes = [(each, _outcome(each, done_word)) for each in done]
    counts = Counter(outcome for _, outcome in outcomes)
    click.echo(", ".join(f"{counts[word]:,} {word}" for word in (done_word, *_OUTCOMES) if counts[word]), err=True)
    rows = [
        [each.name, outcome, _why(each).partition("\n")[0].rstrip(":")]
        for each, outcome in outcomes
        if each.error is not None
    ]
    if rows:
        click.echo(table(("ruleset", "outcome", "why"), rows, printing.terminal_width()), nl=False, err=True)


def _outcome(result: Transferred, done_word: str) -> str:
    match result.error:
        case None:
            return {"unchanged": "up to date", "proposed": "proposed"}.get(result.status, done_word)
        case ConflictError() | GateError() | RefusedError():
            return "refused"
    return "failed"


def _report(result: Transferred) -> None:
    """Report on standard error what is wrong with a ruleset, or is to be known of it."""
    if result.error is not None:
        _report_error(result)
    elif result.state != "active":
        use = "" if result.successor is None else f", use {result.successor}"
        click.echo(printable(f"{result.to}: {result.state}{use}"), err=True)
    printing.report_merge(result.note, result.decided)


def _report_error(result: Transferred) -> None:
    error = result.error
    click.echo("\n".join(map(printable, f"{result.name}: {_why(result)}".split("\n"))), err=True)
    if isinstance(error, DivergedError) and error.merge is not None:
        from ggn_store.render.diff import merge_text

        for text in merge_text(error.merge):
            click.echo(f"  {text}", err=True, nl=False)


def _why(result: Transferred) -> str:
    return printing.without_password(str(result.error)).removeprefix(f"{result.name}: ")


def _line(result: Transferred, verb: str) -> str:
    """`chess: 3 revisions, 2 of 14 pieces sent, head chess@5`"""
    text = result.name if result.to == result.name else f"{result.name} as {result.to}"
    if result.proposal is not None and result.status == "unchanged":
        return f"{result.proposal} proposes the same already"
    if result.proposal is not None:
        return printing.proposed(result.proposal)
    head = f"head {result.to}@{result.head}"
    if result.status == "unchanged":
        text += f": up to date, {head}"
    else:
        merged = " (the last one a merge)" if result.status == "merged" else ""
        revisions = counted(result.revisions, "revision")
        text += f": {revisions}{merged}, {result.pieces} of {result.listed} pieces {verb}, {head}"
    if result.tags:
        text += f", tag{'' if len(result.tags) == 1 else 's'} {', '.join(result.tags)}"
    if result.reviews:
        text += f", {counted(result.reviews, 'review record')}"
    return text + (f", state {result.state}" if result.states else "")


# --- in files ---


_file_argument = click.argument("file", type=click.Path(), metavar="FILE")


@click.group("bundle", cls=options.CommandGroup)
def bundle() -> None:
    """Carry rulesets in a file, between stores that cannot connect.

    A bundle holds histories with all that they need, compressed (.ggnb.gz is a good ending). The same revisions give
    the same file if they have the same numbers. FILE may be - for standard input or output.
    """


@bundle.command("create")
@_file_argument
@options.rulesets_argument
@_all_option
@click.option(
    "--since",
    metavar="REVISION",
    help="Leave out this revision of each ruleset and its ancestors, which the receiver must have: 3, "
    "sha256:0123abcd or a tag.",
)
def create(file: str, rulesets: tuple[str, ...], everything: bool, since: str | None) -> None:
    """Write rulesets with their histories to a bundle.

    Tags, states and reviews come along. The file appears only once it is whole.
    """
    if file == "-" and printing.is_terminal(sys.stdout):
        raise click.UsageError("a bundle is not text: write it to a file, or through a pipe")
    names = _chosen(rulesets, everything)
    made = stores.open_store().exchange.create_bundle(file, names, since=since)
    click.echo(_summary(made), err=file == "-")


@bundle.command("verify")
@_file_argument
@options.text_or_json_option
def verify(file: str, form: str | None) -> None:
    """Check everything in a bundle, and list what is in it. No store is needed."""
    from ggn_store.api.teams.bundles import verify_bundle

    found = verify_bundle(file)
    if form == "json":
        click.echo(compact(found.data()))
        return
    for ruleset in found.rulesets:
        count = len(ruleset.lineages)
        text = f"{ruleset.name}: {counted(count, 'revision')}, head sha256:{ruleset.lineages[-1][:_SHORT]}"
        if ruleset.needs:
            text += f", goes on from {', '.join(f'sha256:{lineage[:_SHORT]}' for lineage in ruleset.needs)}"
        if ruleset.tags:
            text += f", tag{'' if len(ruleset.tags) == 1 else 's'} {', '.join(ruleset.tags)}"
        click.echo(printable(text))
    click.echo(f"{_summary(found)}; all sound", err=True)


@bundle.command("load")
@_file_argument
@options.rulesets_argument
@_transfer_options("this store", "the bundle")
def load(file: str, rulesets: tuple[str, ...], form: str | None, **wishes: Any) -> None:
    """Take rulesets with their histories from a bundle.

    All of them, or those that are named. The whole bundle is checked before anything is stored. What was said in
    reviews comes along, and counts for nothing here. Otherwise this is like `pull`.
    """
    store = stores.open_store(create=True)
    with progress("loading") as reporter:
        results = store.exchange.load_bundle_each(file, rulesets or None, progress=reporter.add, **_patient(wishes))
        _print(results, form, ("taken", "loaded"))


def _summary(found: BundleSummary) -> str:
    counts = {"rulesets": len(found.rulesets), "revisions": found.revisions, "pieces": found.pieces}
    counts |= {"boards": found.boards, "tags": found.tags}
    counts |= {"states": found.states} if found.states else {}
    counts |= {"review records": found.reviews} if found.reviews else {}
    said = (f"{number} {name if number != 1 else name[:-1]}" for name, number in counts.items())
    return f"{printable(found.file)}: {', '.join(said)}"
