"""`ggn-store log`"""

from __future__ import annotations

import sys

import click

from ggn_store.cli import options
from ggn_store.render import history
from ggn_store.render.records import records


@click.command("log")
@options.ruleset_argument
@click.option("--limit", "-n", type=click.IntRange(min=1), metavar="N", help="No more than the N newest.")
@click.option("--oneline", is_flag=True, help="A line for each: the same as --format table.")
@options.output_format(("text", *options.RECORD_FORMATS), "Default: text on a terminal, NDJSON elsewhere.")
@click.pass_context
def command(ctx: click.Context, ruleset: str, limit: int | None, oneline: bool, form: str | None) -> None:
    """Show the history of a ruleset: its revisions, newest first.

    Each with its parents, the tags that point to it, author, time (UTC), message, and which pieces it changed against
    its parent. RULESET is a name, or NAME@REVISION, NAME@sha256:DIGEST, NAME:TAG for the history up to there.
    """
    if oneline and form not in (None, "table"):
        raise click.UsageError(f"--oneline is a form of its own: leave --format {form} out")
    found = options.open_store(ctx).history.log(ruleset, limit)
    form = "table" if oneline else form or ("text" if options.is_terminal(sys.stdout) else "ndjson")
    if form == "text":
        parts = history.log_text(found, color=True)
    elif form == "table":
        parts = records(history.log_rows(found), form, history.LOG_COLUMNS, options.terminal_width())
    elif form == "csv":
        parts = records(history.log_fields(found), form, history.LOG_FIELDS)
    else:
        parts = records((entry.data() for entry in found), form, ())
    options.write(parts)
