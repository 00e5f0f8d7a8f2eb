"""What commands write: records, notes and errors, files, and how wide a terminal is."""

from __future__ import annotations

import os
import shutil
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import click

import ggn_store
from ggn_store import passwords
from ggn_store.cli.pager import page
from ggn_store.errors import counted, printable
from ggn_store.output import STDOUT, new_file
from ggn_store.render.records import records

if TYPE_CHECKING:
    from ggn_store.model.changes.merge import Conflict
    from ggn_store.model.teams.proposal import Proposal
    from ggn_store.model.teams.revision import Revision

ADDRESSES = ("GGN_STORE_URL", "DATABASE_URL")
_MAX_LINES = 1_000


def say_error(message: str) -> None:
    """Write an error to standard error, with nothing in it that may be a password or act on a terminal."""
    text = "\n".join(printable(line) for line in without_password(message).split("\n"))
    color = False if os.environ.get("NO_COLOR") else None
    click.echo(f"{click.style('Error:', fg='red')} {text}", err=True, color=color)


def without_password(message: str) -> str:
    """A message without what may be a password: of any address on the command line, also where none belongs."""
    given = [*sys.argv[1:], *filter(None, map(os.environ.get, (*ADDRESSES, "GGN_STORE_REMOTE")))]
    secrets = {secret for each in given for secret in passwords.secrets_in(each) if secret not in passwords.shown(each)}
    return passwords.without(message, secrets)


def report_state(store: ggn_store.Store, revision: Revision) -> None:
    """Report on standard error that a ruleset is deprecated or retired, and its successor."""
    note = None if revision.state == "active" else store.states.get(revision.name).note
    if note is not None:
        report_note(note)


def print_records(items: Iterable[Any], form: str | None, columns: Sequence[str], empty: str | None = None) -> None:
    """Write records in a form: mappings, or values by their `data()`.

    A table fits into the terminal; instead of one without rows, `empty` is reported.
    """
    form = record_format(form)
    items = (each if isinstance(each, Mapping) else each.data() for each in items)
    if form == "table":
        items = [*items]
        if not items:
            if empty is not None:
                click.echo(empty, err=True)
            return
    page(records(items, form, columns, terminal_width()))


def tell_more(last: str) -> None:
    """Report that a page ends with this, and that more may follow."""
    click.echo(f"there may be more: `--after {printable(last)}` lists what follows", err=True)


def report_pictures(count: int, directory: str) -> None:
    """Report on standard error how many pictures were written."""
    click.echo(f"{printable(directory)}: {counted(count, 'picture')}, index.html shows all", err=True)


def proposed(proposal: Proposal) -> str:
    """`chess#4: proposed on chess@2; it needs 1 approval`; of a later round, that it was amended."""
    how = "proposed" if proposal.round == 1 else f"amended, this is {proposal}.{proposal.round},"
    on = "as the first revision" if proposal.base is None else f"on {proposal.name}@{proposal.base}"
    return f"{proposal}: {how} {on}; it needs {counted(proposal.needed, 'approval')}"


def record_format(form: str | None) -> str:
    """The form to write records in: a table on a terminal, NDJSON for programs, unless one was asked for."""
    return form or ("table" if is_terminal(sys.stdout) else "ndjson")


def report_left_out(document: ggn_store.Document, dialect: Any) -> None:
    """Report on standard error what another dialect cannot express, though the moves are the same."""
    from ggn_store.documents.convert import left_out

    for note in left_out(document, dialect):
        report_note(note)


def report_conflict(error: Exception | None) -> None:
    """Write what both sides of a conflict changed to standard error, and where they did so differently."""
    merge = getattr(error, "merge", None)
    if merge is None:
        return
    from ggn_store.render.diff import diff_text

    for name, difference in merge.sides():
        lines = diff_text(difference, color=True)
        click.echo(f"{name}:", err=True)
        for line in islice(lines, _MAX_LINES):
            click.echo(f"  {line}", err=True, nl=False)
        if more := sum(1 for _ in lines):
            click.echo(f"  ... and {more:,} more lines", err=True)
    if merge.conflicts:
        click.echo("conflicts:", err=True)
    _report_conflicts(merge.conflicts)


def report_note(note: str) -> None:
    """Write a note to standard error."""
    click.echo(f"note: {printable(without_password(note))}", err=True)


def report_merge(note: str | None, decided: Sequence[Conflict]) -> None:
    """Write what there is to say of a merge to standard error, and the conflicts that it decided for one side."""
    if note is not None:
        report_note(note)
    if decided:
        _report_conflicts(decided)


def _report_conflicts(conflicts: Sequence[Conflict]) -> None:
    from ggn_store.render.diff import conflicts_text

    for line in conflicts_text(conflicts, color=True):
        click.echo(f"  {line}", err=True, nl=False)


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether a stream is a terminal; a process may also be started without it."""
    return stream is not None and stream.isatty()


def terminal_width() -> int | None:
    """The columns of the terminal; None if standard output is none."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None


def write(parts: Iterable[str], output: str | None = None) -> None:
    """Write text to standard output, or to a file that appears only once it is whole; see `new_file`.

    A file that ends in .gz is packed, as `documents.files` unpacks it.
    """
    if output in (None, STDOUT):
        for part in parts:
            click.echo(part, nl=False)
        return
    data = (part.encode() for part in parts)
    write_bytes(_packed(data) if str(output).endswith(".gz") else data, str(output))


def _packed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The parts in the format of gzip, which says no time: the same text gives the same bytes."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    yield from map(packer.compress, parts)
    yield packer.flush()


def write_bytes(parts: Iterable[bytes], output: str) -> None:
    """Write to a file that appears only once it is whole; see `new_file`."""
    with new_file(output) as stream:
        for part in parts:
            stream.write(part)
