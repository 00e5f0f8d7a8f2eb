"""`ggn-store load`"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import click

import ggn_store
from ggn_store.cli import options
from ggn_store.errors import printable


@click.command("load")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]...")
@click.option("--name", metavar="NAME", help="The ruleset's name; for a single document. Default: the file's name.")
@click.option("--library", is_flag=True, help="Load what comes with ggn-store: all of it, or the PATHs as names in it.")
@click.option("--dialect", type=click.Choice(options.DIALECTS), help="The dialect, instead of detecting it.")
@click.option(
    "--on-error",
    type=click.Choice(("stop", "skip")),
    default="stop",
    show_default=True,
    help="What to do after a document that cannot be loaded.",
)
@click.option("--message", metavar="TEXT", help="Why this revision is made; kept with it.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    name: str | None,
    library: bool,
    dialect: str | None,
    on_error: str,
    message: str | None,
) -> None:
    """Load documents, each as the next revision of its ruleset.

    PATH is a file (.json, .json.gz, .ndjson), a directory, a glob pattern or - for standard input. Each document is
    loaded whole or not at all. Title, source, start position (FEEN) and board (8x8) are taken from a TOML file of
    the same name beside the document, or from the keys of an NDJSON line {"name": ..., "document": ...}.
    """
    if not paths and not library:
        raise click.UsageError("name a file, a directory, a pattern or -; or give --library")
    if library and name:
        raise click.UsageError("--name does not go with --library, whose documents have names")
    files = ggn_store.library_files(paths) if library else ggn_store.find_files(paths)
    store = options.open_store(ctx)
    began = time.perf_counter()
    results: list[ggn_store.Loaded] = []
    with _progress(None if any(file.is_stream for file in files) else len(files)) as (advance, tell):
        for result in store.load_all(files, name=name, dialect=cast(Any, dialect), message=message):
            results.append(result)
            advance(result)
            if result.error is not None:
                tell(_failure(result))
                if on_error == "stop":
                    break
    click.echo(_summary(results, time.perf_counter() - began))
    failed = [result for result in results if result.error is not None]
    if failed:
        is_last = len(results) == len(files) and not any(file.is_stream for file in files)
        if on_error == "stop" and max(len(results), len(files)) > 1 and not is_last:
            before = "what came before is loaded" if len(failed) < len(results) else "nothing is loaded"
            click.echo(f"stopped there; {before} (--on-error skip goes on)", err=True)
        ctx.exit(max(result.error.exit_code for result in failed if result.error))


def _failure(result: ggn_store.Loaded) -> str:
    lines = str(result.error).split("\n")
    return "\n".join([f"{printable(result.file)}: not loaded", *(f"  {printable(line)}" for line in lines)])


def _summary(results: list[ggn_store.Loaded], seconds: float) -> str:
    done = [result for result in results if result.revision is not None]
    possibilities = sum(result.possibilities for result in done)
    counted = f"{possibilities:,} possibilit{'ies' if possibilities != 1 else 'y'}"
    rate = f"{counted} in {seconds:.1f} s ({possibilities / max(seconds, 1e-9):,.0f}/s)"
    if len(results) == 1 and done:
        revision = done[0].revision
        assert revision is not None  # noqa: S101  (done holds those with a revision)
        if revision.status == "unchanged":
            return f"{revision}: unchanged, nothing to store"
        return f"{revision}: {'brought back' if revision.status == 'restored' else 'loaded'}, {rate}"
    counts = Counter(result.revision.status if result.revision else "failed" for result in results)
    parts = ", ".join(f"{count} {status}" for status, count in counts.items())
    if not results:
        return "no document found; nothing is loaded"
    if not done:
        return f"{len(results)} document{'s' if len(results) != 1 else ''}: {parts}; nothing is loaded"
    documents = f"{len(results)} document{'s' if len(results) != 1 else ''}"
    return f"{documents}: {parts}; {rate}, {len(done) / max(seconds, 1e-9):.1f} documents/s"


@contextmanager
def _progress(
    total: int | None,
) -> Iterator[tuple[Callable[[ggn_store.Loaded], None], Callable[[str], None]]]:
    """A progress bar on a terminal, nothing elsewhere; and how to say something while it is there."""
    if not options.is_terminal(sys.stderr):
        yield lambda _: None, lambda text: click.echo(text, err=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("loading", total=total)

        def advance(result: ggn_store.Loaded) -> None:
            progress.update(task, advance=1, description=printable(result.name or result.file)[:40])

        yield advance, lambda text: progress.console.print(Text(text), soft_wrap=True)
