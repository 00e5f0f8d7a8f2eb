"""The store and the rulesets that a command works on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

import ggn_store
from ggn_store.cli import printing
from ggn_store.errors import GgnStoreError, UnknownNameError, UnknownRulesetError, offer


def address(ctx: click.Context) -> str:
    """The address of the store: --db, else the environment, else a file in the user's data directory."""
    # The option itself and not what the group made of it: completion parses, but runs nothing.
    option = ctx.find_root().params.get("db")
    if option == "" and not ctx.resilient_parsing:
        raise click.UsageError("--db names no store: leave it out to use the default (see `db info`)")
    given = option or next(filter(None, map(os.environ.get, printing.ADDRESSES)), None)
    if given:
        return str(given)
    return f"sqlite:///{_default_file()}"


def ready_address() -> str:
    """The address of the store, with the user's data directory made where that is where it is."""
    found = address(click.get_current_context())
    file = _default_file()
    if found == f"sqlite:///{file}":
        try:
            for each in (*reversed(file.parent.parents), file.parent):
                with suppress(FileExistsError):
                    each.mkdir(0o700)
        except OSError as error:
            raise GgnStoreError(
                f"{file.parent}: the data directory cannot be made ({error.strerror}): name a store with --db"
            ) from None
    return found


def _default_file() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("ggn-store", appauthor=False)) / "store.db"


def open_store(at: str | None = None, create: bool = False) -> ggn_store.Store:
    """The store at an address, or the one that the command works on; it is closed with the command.

    Only a command that fills it makes it.
    """
    ctx = click.get_current_context()
    if create:
        return ctx.with_resource(_made_store(ready_address()))
    return ctx.with_resource(ggn_store.Store.open(address(ctx) if at is None else at, create=False))


@contextmanager
def _made_store(address: str) -> Iterator[ggn_store.Store]:
    """A store that is made if it is not there, and is gone again where the command has stored nothing."""
    with ggn_store.Store.open(address) as store:
        try:
            yield store
        finally:
            store.discard()


def open_ruleset(reference: str) -> ggn_store.Ruleset:
    """The ruleset that a command works on, or what a proposal (`chess#4`) makes of it; says so if it is not active."""
    return find_ruleset(open_store(), reference)


def find_ruleset(store: ggn_store.Store, reference: str) -> ggn_store.Ruleset:
    """Like `open_ruleset`, in a store that is open."""
    found = store.ruleset(reference)
    printing.report_state(store, found.revision)
    return found


def in_library(error: GgnStoreError) -> str:
    """Which games of the library the name leads to that the store does not have, if any, and how to load them."""
    if not isinstance(error, UnknownRulesetError):
        return ""
    from ggn_store.api.loading import games

    try:
        found = games.library_names([error.name])
    except UnknownNameError:
        return ""
    return f"; the library has {offer(found)}: `ggn-store load --library {found[0] if len(found) == 1 else 'NAME'}`"
