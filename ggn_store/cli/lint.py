"""`ggn-store lint`"""

from __future__ import annotations

from typing import Any, cast

import click

import ggn_store
from ggn_store.api.incoming import SpecificationEntry, read_files
from ggn_store.cli import options
from ggn_store.documents.files import find_files
from ggn_store.errors import Problem
from ggn_store.render.problems import problems


@click.command("lint")
@click.argument("paths", nargs=-1, type=click.Path(), required=True, metavar="PATH...")
@click.option("--dialect", type=click.Choice(options.DIALECTS), help="The dialect, instead of detecting it.")
@options.output_format(("text", "json"), "Lines of text (default), or a JSON array for editors and CI.")
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], dialect: str | None, form: str | None) -> None:
    """Print what is suspicious in valid documents.

    That is: duplicates, rules that can never apply, names that look like slips, what is unusual in a known game.
    PATH is as for `load`. A finding never keeps a document from being loaded. Exit code 1 where there is a finding,
    or a document that is not valid.
    """
    found: list[Problem] = []
    checked = invalid = 0
    for entry in read_files(find_files(paths)):
        checked += 1
        try:
            found += ggn_store.lint(entry.read(cast(Any, dialect)), entry.text, entry.file)
            if isinstance(entry, SpecificationEntry):
                found += entry.findings()
        except ggn_store.DocumentError as error:
            invalid += 1
            found += error.problems
    options.write(problems(found, form or "text"))
    if not checked:
        click.echo("no document found", err=True)
        return
    documents = options.counted(checked, "document")
    findings = options.counted(len(found), "finding") if found else "nothing suspicious"
    click.echo(f"{documents} read: {f'{invalid} invalid, ' if invalid else ''}{findings}", err=True)
    ctx.exit(1 if found else 0)
