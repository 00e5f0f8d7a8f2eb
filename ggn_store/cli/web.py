"""The store as pages: `serve`, `site`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ggn_store.cli import options, process
from ggn_store.errors import GgnStoreError, printable

_HINT = "the pages need packages that are not here ({}): pip install 'ggn-store[web]'"


@options.command("serve")
@click.option("--host", metavar="HOST", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=options.IntRange(0, 65_535),
    metavar="PORT",
    default=8000,
    show_default=True,
    help="The port to listen on; 0 takes one that is free.",
)
@click.option(
    "--allow-host",
    "names",
    metavar="NAME",
    multiple=True,
    help="Another name by which browsers call this server, such as that of a proxy before it; repeatable.",
)
@click.option(
    "--queries",
    type=options.IntRange(1, 64),
    metavar="N",
    default=2,
    show_default=True,
    help="How many queries in SQL may run at once, each in a process of its own.",
)
@click.option("--quiet", is_flag=True, help="Print no line for each request.")
@click.pass_context
def serve(ctx: click.Context, host: str, port: int, names: tuple[str, ...], queries: int, quiet: bool) -> None:
    """Show the store as pages for a browser: games to click through, histories, differences, SQL.

    It prints its address, and a line for each request on standard error, until Ctrl-C ends it, or SIGTERM with exit
    code 0. Nobody can change anything through it. Without --host only this machine reaches it; there is no login, so
    put a proxy that asks for one before it where others do. See `guide web`. It needs pip install 'ggn-store[web]'.
    """
    with _installed():
        from ggn_store.web import guard, server
        from ggn_store.web.site import Site
    store = options.open_store(ctx, create=True)
    store.revisions()  # which says what is wrong with a store, before anybody asks
    place = server.Place(host, port, server.names(names))
    with process.ended_by_sigterm(), server.listen(place) as listening:
        click.echo(server.address_of(listening, host))
        if not guard.is_loopback(host):
            options.report_note("whoever reaches this address can read the store: there is no login (see `guide web`)")
        sys.stdout.flush()
        server.run(Site(store, queries, options.without_password), listening, place, _silent if quiet else _say)


@options.command("site")
@click.option("-o", "--output", metavar="DIRECTORY", required=True, help="A new directory for the files.")
@click.pass_context
def site(ctx: click.Context, output: str) -> None:
    """Write the pages as files, which any web server or a browser alone shows.

    Each ruleset, in its newest revision, has its start with the marks of every piece, its pieces, its definition and
    its history. What only a server can answer is left out: moves that are made, filters, SQL, analyses. It needs
    pip install 'ggn-store[web]'.
    """
    with _installed():
        from ggn_store.web import files
        from ggn_store.web.site import Site
    count = files.write(Site(options.open_store(ctx)), output)
    click.echo(f"{printable(output)}: {options.counted(count, 'file')}, index.html shows all games", err=True)


@contextmanager
def _installed() -> Iterator[None]:
    """Say what to install where the packages of the pages are not there."""
    try:
        yield
    except ImportError as error:
        raise GgnStoreError(_HINT.format(printable(error.name or str(error)))) from None


def _say(line: str) -> None:
    click.echo(line, err=True)


def _silent(_line: str) -> None:
    pass
