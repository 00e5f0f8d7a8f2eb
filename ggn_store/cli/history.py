"""What became of rulesets: `log`, `diff`, `blame`, `restore`."""

from __future__ import annotations

import os
import sys
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import ggn_store
from ggn_store.cli import options, printing, stores
from ggn_store.cli.pager import page
from ggn_store.errors import printable
from ggn_store.render.records import compact, records

if TYPE_CHECKING:
    from ggn_store.model.changes.changes import Diff

_ENDINGS = (".json", ".json.gz", ".ndjson", ".ndjson.gz", ".jsonl", ".jsonl.gz", ".toml")


@options.command("log")
@click.argument("rulesets", metavar="RULESET...", nargs=-1, required=True, shell_complete=options.complete_ruleset)
@options.limit_option
@click.option("--oneline", is_flag=True, help="A line for each: the same as --format table.")
@options.output_format(("text", *options.RECORD_FORMATS), "Default: text on a terminal, NDJSON elsewhere.")
def log(rulesets: tuple[str, ...], limit: int | None, oneline: bool, form: str | None) -> None:
    """Show the revisions of one or several rulesets, newest first.

    Each with its parents, the tags that point to it, the proposal that it was, author, time (UTC), message, and which
    pieces it changed against its parent; and when the ruleset was renamed. RULESET is a name, or NAME@REVISION,
    NAME@sha256:DIGEST, NAME:TAG or a proposal, NAME#NUMBER, for the history up to there; a namespace (team/) or a glob
    means all that it matches.
    """
    from ggn_store.render import history

    if oneline and form not in (None, "table"):
        raise click.UsageError(f"--oneline is a form of its own: leave --format {form} out")
    found = stores.open_store().history.log(rulesets, limit)
    form = "table" if oneline else form or ("text" if printing.is_terminal(sys.stdout) else "ndjson")
    if form == "text":
        parts = history.log_text(found, printing.terminal_width())
    elif form == "table":
        several = len({entry.revision.name for entry in found}) > 1
        columns = ("name", *history.LOG_COLUMNS) if several else history.LOG_COLUMNS
        parts = records(history.log_rows(found), form, columns, printing.terminal_width())
    elif form == "csv":
        parts = records(history.log_fields(found), form, history.LOG_FIELDS)
    else:
        parts = records((entry.data() for entry in found), form, ())
    page(parts)


@options.command("diff")
@click.argument("before", metavar="A", shell_complete=options.complete_ruleset)
@click.argument("after", metavar="[B]", required=False, shell_complete=options.complete_ruleset)
@click.option("--piece", metavar="PIECE", help="Only this piece.")
@click.option("--exit-code", is_flag=True, help="End with exit code 1 where something differs.")
@options.pictures_option
@options.output_format(("text", "json", "summary"), "Text (default), one JSON object, or one line that counts.")
def diff(
    before: str,
    after: str | None,
    piece: str | None,
    exit_code: bool,
    pictures: str | None,
    form: str | None,
) -> None:
    """Show the changes from A to B, piece by piece.

    They are told by source, destination, possibility and condition. A and B are revisions (NAME, NAME@REVISION,
    NAME@sha256:DIGEST, NAME:TAG), proposals (NAME#NUMBER) or files: - for standard input, a path that begins with . or
    /, or a file that is there and ends as those do that `load` takes. A revision alone is compared with its parent, a
    proposal alone with its base, a file alone with the newest revision of the ruleset that it would be loaded as.

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
    store = stores.open_store("sqlite://" if before in files and after in files else None)
    if after is None:
        newest = store.ruleset(before).revision
        parent, name = newest.parent, newest.name.partition("#")[0]
        old, new = None if parent is None else f"{name}@{parent}", str(newest)
        sides: tuple[Any, Any] = (new, None)
    else:
        old, new = (each if each in files else str(store.ruleset(each).revision) for each in (before, after))
        one, other = (files[each][1] if each in files else each for each in (old, new))
        sides = (one, other)
    difference = store.history.diff(*sides, piece)
    if pictures is not None:
        printing.report_pictures(store.history.draw(pictures, *sides), pictures)
    _write(old, new, difference, form)
    options.end(1 if exit_code and difference else 0)


def _is_file(argument: str) -> bool:
    is_path = argument == "-" or argument.startswith((".", os.sep))
    return is_path or (argument.endswith(_ENDINGS) and Path(argument).is_file())


def _read(path: str) -> tuple[str | None, ggn_store.Document]:
    """The one document of a file, with the name that it would be loaded as."""
    from ggn_store.api.loading.incoming import read_files
    from ggn_store.documents.files import find_files

    entries = list(islice(read_files(find_files([path])), 2))
    if len(entries) != 1:
        raise ggn_store.InputError(f"{printable(path)}: this is not one document: compare one at a time")
    return entries[0].name, entries[0].read()


def _write(old: str | None, new: str, difference: Diff, form: str | None) -> None:
    from ggn_store.render.diff import diff_text

    if form == "json":
        click.echo(compact({"before": old, "after": new, **difference.data()}))
    elif form == "summary":
        click.echo(printable(str(difference)))
    elif difference:
        page(chain([f"--- {printable(old or 'nothing')}\n+++ {printable(new)}\n"], diff_text(difference, color=True)))
    else:
        click.echo(f"{printable(str(old))} and {printable(new)} say the same", err=True)


@options.command("blame")
@options.ruleset_argument
@click.option("--piece", metavar="PIECE", help="Only the entries of this piece.")
@click.option("--source", metavar="SQUARE", help="Only the entries from this square; * is the hand.")
@click.option("--destination", metavar="SQUARE", help="Only the entries to this square; * is the hand.")
@options.records_option
def blame(ruleset: str, form: str | None, **place: Any) -> None:
    """Show which revision last changed each entry, and its author.

    An entry is everything that a piece may do from a source to a destination. Without a filter, title, start position
    and the like are listed, too. RULESET is a name, or NAME@REVISION, NAME@sha256:DIGEST, NAME:TAG, or a proposal,
    NAME#NUMBER.
    """
    from ggn_store.render import history

    found = stores.open_store().history.blame(ruleset, **place)
    if printing.record_format(form) == "table":
        printing.print_records(history.blame_rows(found), form, history.BLAME_COLUMNS)
    else:
        printing.print_records(found, form, history.BLAME_FIELDS)


@options.command("restore")
@options.ruleset_argument
@options.change_options
def restore(ruleset: str, **change: Any) -> None:
    """Make what an old revision holds the newest revision again.

    RULESET is NAME@REVISION, NAME@sha256:DIGEST or NAME:TAG; what came since stays in the history. The NAME alone
    brings back a ruleset that was deleted.
    """
    revision = stores.open_store().history.restore(ruleset, **change)
    became = {"unchanged": "unchanged, it has this content already", "restored": "brought back"}
    click.echo(f"{revision}: {became.get(str(revision.status), f'has the content of {ruleset} again')}")
