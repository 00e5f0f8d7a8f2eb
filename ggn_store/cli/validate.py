"""`ggn-store validate`"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import click

import ggn_store
from ggn_store.api.incoming import GameEntry, read_files
from ggn_store.cli import options
from ggn_store.documents.files import find_files
from ggn_store.errors import Problem
from ggn_store.render.problems import problems


@click.command("validate")
@click.argument("paths", nargs=-1, type=click.Path(), required=True, metavar="PATH...")
@click.option("--dialect", type=click.Choice(options.DIALECTS), help="The dialect, instead of detecting it.")
@options.output_format(("text", "json"), "Lines of text (default), or a JSON array for editors and CI.")
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], dialect: str | None, form: str | None) -> None:
    """Check documents, game descriptions and games, and print every problem with its place; nothing is stored.

    PATH is as for `load`. Exit code 1 where there is a problem.
    """
    checked = invalid = reported = 0

    def found() -> Iterator[Problem]:
        nonlocal checked, invalid, reported
        for entry in read_files(find_files(paths)):
            checked += 1
            try:
                if isinstance(entry, GameEntry):
                    entry.definition(cast(Any, dialect))
                else:
                    entry.read(cast(Any, dialect))
            except ggn_store.DocumentError as error:
                invalid += 1
                reported += len(error.problems)
                yield from error.problems

    options.write(problems(found(), form or "text"))
    if not checked:
        click.echo("no document found", err=True)
        return
    documents = options.counted(checked, "document")
    verdict = f"{invalid} invalid, {options.counted(reported, 'problem')}" if invalid else "all valid"
    click.echo(f"{documents} checked: {verdict}", err=True)
    ctx.exit(1 if invalid else 0)
