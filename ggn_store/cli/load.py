"""`ggn-store load`"""

from __future__ import annotations

import functools
import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ggn_store.api.loading.games import library_files, library_games
from ggn_store.cli import options, printing, stores
from ggn_store.cli.progress import Reporter, progress
from ggn_store.documents.files import find_files
from ggn_store.errors import counted, printable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    import ggn_store
    from ggn_store.api.loading.loading import Loaded
    from ggn_store.documents.files import File


def _complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, or after --library what it has."""
    from click.shell_completion import CompletionItem

    from ggn_store.api import completion

    if not ctx.params.get("library"):
        return [CompletionItem(incomplete, type="file")]
    return options.completed([*completion.game_names(incomplete), "all", "examples", "gdl"], incomplete)


@options.command("load")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]...", shell_complete=_complete)
@click.option("--name", metavar="NAME", help="The ruleset's name; for a single document. Default: the file's name.")
@click.option("--library", is_flag=True, help="Load games that come with ggn-store; the PATHs are their names.")
@options.dialect_option
@click.option(
    "--on-error",
    type=options.OneOf(("stop", "skip")),
    default="stop",
    show_default=True,
    help="What to do after a document that cannot be loaded.",
)
@click.option(
    "--base",
    metavar="REVISION",
    help="The revision that the document is based on: 3, sha256:0123abcd, a tag, or 0 for a new ruleset. If it is no "
    "longer the newest, nothing is loaded (exit code 3), and the changes of both sides are listed.",
)
@options.merge_options(
    "With --base: merge the changes of both sides, unless they conflict.",
    "the document that is loaded",
    "the newest revision in the store",
)
@options.conflicts_option
@options.accept_changes_option
@options.change_options
def load(paths: tuple[str, ...], library: bool, on_error: str, author: str | None, **wishes: Any) -> None:
    """Load documents, descriptions and games as new revisions.

    PATH is a file (.json, .json.gz, .ndjson, or a .toml that defines a game), a directory, a glob pattern or - for
    standard input. Each document is loaded whole or not at all; that of a game is generated on the way, and a game
    description (JSON too, see `gdl`) is compiled. Title, source, start position (FEEN) and board (8x8) of a document
    are taken from a TOML file of the same name beside it, or from the keys of an NDJSON line {"name": ...,
    "document": ...}.

    With --library, PATHs are games that come with ggn-store (`list --library` shows them; gdl/halma may be called
    halma), `all` of them, `examples` or `gdl` (game descriptions); without any, a few well-known games are loaded.
    large/tai-shogi, of 17 million possibilities, is not among `all`.
    """
    options.refuse(
        (not paths and not library, "name a file, a directory, a pattern or -; or give --library"),
        (library and wishes["name"], "--name does not go with --library, whose documents have names"),
        (
            library and wishes["base"] is not None,
            "--base does not go with --library, whose games are based on none of your revisions",
        ),
        (
            wishes["merge"] and wishes["base"] is None,
            "--merge needs the revision that the document is based on: --base",
        ),
    )
    files = library_files(paths) if library else find_files(paths, named_apart=True)
    store = stores.open_store(create=True)
    stops = on_error == "stop"
    began = time.perf_counter()
    # A game of the library is made of many possibilities, whose number is known; else documents are counted.
    names = {file.name for file in files} if library else set()
    sizes = sum(game.possibilities for game in library_games() if game.name in names) if names else 0
    total = sizes or (None if any(file.is_stream for file in files) else len(files))
    with progress("loading", total) as reporter:
        results = _load(
            store, files, library, stops, reporter, {"author": author, **wishes}, of_possibilities=bool(sizes)
        )
    for result in results:
        printing.report_conflict(result.error)
    click.echo(_summary(results, time.perf_counter() - began))
    for revision in {result.name: result.revision for result in results if result.revision is not None}.values():
        printing.report_state(store, revision)
        if revision.status == "merged":
            from ggn_store.model.changes.merge import note_of

            printing.report_merge(note_of(revision.message), revision.decided)
    failed = [result for result in results if result.error is not None]
    if failed:
        is_last = len(results) == len(files) and not any(file.is_stream for file in files)
        if stops and max(len(results), len(files)) > 1 and not is_last:
            before = "what came before is loaded" if len(failed) < len(results) else "nothing is loaded"
            click.echo(f"stopped there; {before} (--on-error skip goes on)", err=True)
        options.end(max(result.error.exit_code for result in failed if result.error))


def _load(
    store: ggn_store.Store,
    files: Sequence[File],
    library: bool,
    stops: bool,
    reporter: Reporter,
    wishes: dict[str, Any],
    of_possibilities: bool,
) -> list[Loaded]:
    """What became of each file; `stops` after the first that cannot be loaded."""
    results: list[Loaded] = []
    processes = min(3, (os.cpu_count() or 1) - 1)
    advance = functools.partial(reporter.add, None) if of_possibilities else None
    # A library's games are loaded one by one, so that the bar names the one that is at work.
    for batch in [[file] for file in files] if library else [files]:
        if len(batch) == 1:
            reporter.add(batch[0].name or str(batch[0]), 0)
        for result in store.load_all(batch, progress=advance, processes=processes, **wishes):
            results.append(result)
            if not of_possibilities:
                reporter.add(result.name or result.file)
            if result.error is not None:
                reporter.say(_failure(result))
                if stops:
                    return results
    return results


def _failure(result: Loaded) -> str:
    lines = str(result.error).split("\n")
    return "\n".join([f"{printable(result.file)}: not loaded", *(f"  {printable(line)}" for line in lines)])


def _summary(results: list[Loaded], seconds: float) -> str:
    done = [result for result in results if result.revision is not None]
    possibilities = sum(result.possibilities for result in done)
    many = counted(possibilities, "possibility", "possibilities")
    rate = f"{many} in {seconds:.1f} s ({possibilities / max(seconds, 1e-9):,.0f}/s)"
    if len(results) == 1 and done:
        revision = done[0].revision
        assert revision is not None  # noqa: S101  (done holds those with a revision)
        if revision.status == "unchanged":
            return f"{revision}: unchanged, nothing to store"
        words = {"restored": "brought back", "merged": f"merged with {revision.name}@{revision.parent}"}
        return f"{revision}: {words.get(str(revision.status), 'loaded')}, {rate}"
    counts = Counter(result.revision.status if result.revision else "failed" for result in results)
    parts = ", ".join(f"{count} {status}" for status, count in counts.items())
    if not results:
        return "no document found; nothing is loaded"
    if not done:
        return f"{counted(len(results), 'document')}: {parts}; nothing is loaded"
    documents = counted(len(results), "document")
    seconds = max(seconds, 1e-9)
    conditions = sum(result.conditions for result in done)
    return (
        f"{documents}: {parts}; {rate}, {len(done) / seconds:.1f} documents/s, {conditions / seconds:,.0f} conditions/s"
    )
