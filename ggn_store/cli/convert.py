"""`ggn-store convert`"""

from __future__ import annotations

from itertools import islice
from typing import Any, cast

import click

import ggn_store
from ggn_store.api.incoming import read_files
from ggn_store.cli import options
from ggn_store.documents.files import find_files
from ggn_store.errors import printable


@click.command("convert")
@click.argument("path", type=click.Path(), metavar="PATH")
@click.option("--to", "target", type=click.Choice(options.DIALECTS), required=True, help="The dialect to write.")
@click.option("--dialect", type=click.Choice(options.DIALECTS), help="The dialect of PATH, instead of detecting it.")
@click.option(
    "--assume",
    type=click.Choice(("displacement",)),
    help="From must-deny: write plain displacement as the effect of every possibility.",
)
@options.output_option
def command(path: str, target: str, dialect: str | None, assume: str | None, output: str | None) -> None:
    """Write a document in another dialect, or in the canonical form of its own.

    PATH is one document, or - for standard input. A conversion that would lose something is refused, and what would
    be lost is listed.
    """
    entries = list(islice(read_files(find_files([path])), 2))
    if len(entries) != 1:
        raise ggn_store.InputError(
            f"{printable(path)}: holds {'several documents' if entries else 'no document'}: name one document"
        )
    read = entries[0].read(cast(Any, dialect))
    document = ggn_store.convert(read, cast(Any, target), cast(Any, assume))
    options.report_left_out(read, target)
    options.write(document.canonical_parts(), output)
