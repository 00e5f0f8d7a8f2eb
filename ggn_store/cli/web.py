"""The store as pages: `serve`, `site`; and who may write there: `password`."""

from __future__ import annotations

import functools
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ggn_store.cli import options, printing, process, stores
from ggn_store.errors import GgnStoreError, InputError, counted, printable

if TYPE_CHECKING:
    from ggn_store.web.people import People

_LEAST = 10  # characters of a password
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
    help="How many queries in SQL, and other questions that take long, may run at once.",
)
@click.option(
    "--login",
    metavar="FILE",
    help="Let people comment on proposals and judge them who log in with a name and password of this file, which has "
    "lines of `ggn-store password`.",
)
@click.option(
    "--author",
    metavar="NAME",
    help="Let one person do so, you on your own machine: a password of this run only is printed at the start.",
)
@click.option(
    "--trust-header",
    "header",
    metavar="HEADER",
    help="Let those do so whom a proxy names in this header of each request. It takes --trusted-proxy.",
)
@click.option(
    "--trusted-proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    help="The address of a proxy before the server, and the only one from which the header is believed; with --login, "
    "what it says in X-Forwarded-For, so that each client has attempts of its own; repeatable.",
)
@click.option("--quiet", is_flag=True, help="Print no line for each request.")
def serve(host: str, port: int, names: tuple[str, ...], queries: int, quiet: bool, **identity: Any) -> None:
    """Show the store as pages for a browser.

    There are games to click through, histories, differences, SQL. It prints its address, and a line for each request on
    standard error, until Ctrl-C ends it, or SIGTERM with exit code 0. Nobody can change anything through it, unless
    --login, --author or --trust-header says who people are: they can review. On Postgres each does so as the user of
    the database of the same name.

    Without --host only this machine reaches it. To read takes no login, so put a proxy that asks for one before it
    where others reach it. See `guide web`. It needs pip install 'ggn-store[web]'.
    """
    with _installed():
        from ggn_store.web import guard, server
        from ggn_store.web.site import Site
    password = _refuse_identity(identity, guard.is_loopback(host))
    people = _people(password, **identity)
    store = stores.open_store(create=True)
    store.revisions()  # which says what is wrong with a store, before anybody asks
    place = server.ListenAddress(host, port, server.names(names))
    with process.ended_by_sigterm(), server.listen(place) as listening:
        click.echo(server.address_of(listening, host))
        if password is not None:
            click.echo(f"password of {printable(identity['author'])} until this ends: {password}")
        if not guard.is_loopback(host):
            printing.report_note("whoever reaches this address can read the store without a login (see `guide web`)")
        sys.stdout.flush()
        site = Site(store, queries, printing.without_password, people)
        server.run(site, listening, place, (lambda _: None) if quiet else functools.partial(click.echo, err=True))


def _refuse_identity(identity: dict[str, Any], is_loopback: bool) -> str | None:
    """The password of --author, None without it; raises a usage error where options do not say one way to tell people.

    Two ways could contradict each other, and whoever may choose takes the weaker one.
    """
    given = [name for name in ("login", "author", "header") if identity[name] is not None]
    options.refuse(
        (
            len(given) > 1,
            "--login, --author and --trust-header are three ways to know who people are: give one of them",
        ),
        (
            (identity["header"] is not None and not identity["proxies"])
            or (identity["header"] is None and identity["login"] is None and bool(identity["proxies"])),
            "--trust-header names a header and --trusted-proxy who is believed to send it: give both",
        ),
        (
            identity["author"] is not None and not is_loopback,
            "--author is for you on your own machine: with --host, let people log in (--login)",
        ),
    )
    return secrets.token_urlsafe(18) if "author" in given else None


def _people(
    password: str | None, login: str | None, author: str | None, header: str | None, proxies: tuple[str, ...]
) -> People | None:
    """Who people are, as the options say; None where nobody can write."""
    from ggn_store.web import people

    try:
        if password is not None:
            return people.Sessions({people.check_name(str(author)): people.hashed(password)})
        if header is not None:
            return people.Proxy.of(header, proxies)
        believed = people.proxies_at(proxies)
    except InputError as error:
        raise click.UsageError(str(error)) from None
    return None if login is None else people.Sessions(people.read_logins(login), proxies=believed)


@options.command("password")
@click.argument("name", metavar="NAME")
def password_line(name: str) -> None:
    """Print somebody's line of a file of logins, for `serve`.

    It asks for the password. The line has a hash of it (scrypt), never the password itself. Where standard input is
    no terminal, the password is its first line. It needs pip install 'ggn-store[web]'.
    """
    with _installed():
        from ggn_store.web import people
    try:
        people.check_name(name)
    except InputError as error:
        raise click.UsageError(str(error)) from None
    if printing.is_terminal(sys.stdin):
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not _LEAST <= len(password) <= people.MOST_PASSWORD:
        raise InputError(f"a password has {_LEAST} to {people.MOST_PASSWORD:,} characters")
    click.echo(f"{name}:{people.hashed(password)}")


@options.command("site")
@click.option("-o", "--output", metavar="DIRECTORY", required=True, help="A new directory for the files.")
def site(output: str) -> None:
    """Write the pages as files.

    Any web server shows them, or a browser alone. Each ruleset, in its newest revision, has its start with the marks of
    every piece, its pieces with their moves from each square, its definition, its history with what each revision
    changed, and its analyses. Older revisions have their board, pieces and definition; proposals have pages, too. What
    only a server can answer is left out: moves that are made, filters, SQL, the audit, and what is large, which the
    page says. It needs pip install 'ggn-store[web]'.
    """
    with _installed():
        from ggn_store.web import files
        from ggn_store.web.site import Site
    count = files.write(Site(stores.open_store()), output)
    click.echo(f"{printable(output)}: {counted(count, 'file')}, index.html shows all games", err=True)


@contextmanager
def _installed() -> Iterator[None]:
    """Say what to install where the packages of the pages are not there."""
    try:
        yield
    except ImportError as error:
        raise GgnStoreError(_HINT.format(printable(error.name or str(error)))) from None
