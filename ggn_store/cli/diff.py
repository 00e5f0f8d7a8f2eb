"""`ggn-store diff`"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import click

import ggn_store
from ggn_store.api.incoming import read_files
from ggn_store.cli import options
from ggn_store.documents.files import find_files
from ggn_store.errors import printable
from ggn_store.render.differences import difference_text, summary_text
from ggn_store.render.records import compact

_ENDINGS = (".json", ".json.gz", ".ndjson", ".ndjson.gz", ".jsonl", ".jsonl.gz", ".toml")


@click.command("diff")
@click.argument("before", metavar="A", shell_complete=options.complete_ruleset)
@click.argument("after", metavar="[B]", required=False, shell_complete=options.complete_ruleset)
@click.option("--piece", metavar="PIECE", help="Only this piece.")
@click.option("--exit-code", is_flag=True, help="End with exit code 1 where something differs.")
@options.output_format(("text", "json", "summary"), "Text (default), one JSON object, or one line that counts.")
@click.pass_context
def command(
    ctx: click.Context, before: str, after: str | None, piece: str | None, exit_code: bool, form: str | None
) -> None:
    """Show the changes from A to B: by piece, source, destination, possibility and condition.

    A and B are revisions (NAME, NAME@REVISION, NAME@sha256:DIGEST, NAME:TAG) or files: - for standard input, a path
    that begins with . or /, or a file that is there and ends as those do that `load` takes. A revision alone is
    compared with its parent, a file alone with the newest revision of the ruleset that it would be loaded as.

    Text has a sign in its first column: + added, - removed, ~ changed.
    """
    if before == after == "-":
        raise click.UsageError("standard input can only be one of the two")
    files = {path: _read(path) for path in (before, after) if path is not None and _is_file(path)}
    if after is None and before in files:
        name, _ = files[before]
        if name is None:
            raise click.UsageError("name a revision to compare standard input with: `ggn-store diff chess -`")
        before, after = name, before
    # Two files need no store of the user's.
    needs_none = before in files and after in files
    store = ctx.with_resource(ggn_store.Store.open("sqlite://")) if needs_none else options.open_store(ctx)
    if after is None:
        revision = store.ruleset(before).revision
        old, new = None if revision.parent is None else f"{revision.name}@{revision.parent}", str(revision)
        difference = store.history.diff(new, piece=piece)
    else:
        old, new = (each if each in files else str(store.ruleset(each).revision) for each in (before, after))
        one, other = (files[each][1] if each in files else each for each in (old, new))
        difference = store.history.diff(one, other, piece)
    if form == "json":
        click.echo(compact({"before": old, "after": new, **difference.data()}))
    elif form == "summary":
        click.echo(summary_text(difference), nl=False)
    elif difference:
        click.echo(f"--- {printable(old or 'nothing')}\n+++ {printable(new)}")
        options.write(difference_text(difference, color=True))
    else:
        click.echo(f"{printable(str(old))} and {printable(new)} say the same", err=True)
    ctx.exit(1 if exit_code and difference else 0)


def _is_file(argument: str) -> bool:
    is_path = argument == "-" or argument.startswith((".", os.sep))
    return is_path or (argument.endswith(_ENDINGS) and Path(argument).is_file())


def _read(path: str) -> tuple[str | None, ggn_store.Document]:
    """The one document of a file, with the name that it would be loaded as."""
    entries = list(islice(read_files(find_files([path])), 2))
    if len(entries) != 1:
        raise ggn_store.InputError(f"{printable(path)}: this is not one document: compare one at a time")
    return entries[0].name, entries[0].read()
