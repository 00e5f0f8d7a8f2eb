"""Names that a shell offers while a command is typed; nothing is imported for them that takes long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ggn_store.errors import GgnStoreError
from ggn_store.store.rulesets import names

if TYPE_CHECKING:
    from ggn_store.api.store import Store

_FILE = "sqlite:///"


def ruleset_names(address: str) -> list[str]:
    """The rulesets of the store at `address`; none where there is no store. Nothing is made or changed."""
    if address.startswith(_FILE) or "://" not in address:
        return names.of_file(Path(address.removeprefix(_FILE).partition("?")[0]))
    return _of_store(address, lambda store: [each.name for each in store.revisions()])


def proposal_names(address: str) -> list[str]:
    """The proposals that wait for approvals in the store at `address`; none where there is no store."""
    return _of_store(address, lambda store: [str(each) for each in store.reviews.list()])


def _of_store(address: str, names: Callable[[Store], list[str]]) -> list[str]:
    from ggn_store.api.store import Store

    try:
        with Store.at(address) as store:
            return [] if store.info().rulesets is None else names(store)
    except GgnStoreError:
        return []


def concept_names() -> list[str]:
    """What `find` can look for."""
    from ggn_store.store.schema.concepts import CONCEPTS

    return [each.name for each in CONCEPTS]


def game_names(begun: str | None = None) -> list[str]:
    """The games of the library that have a definition; or all, named as what is begun: `jungle` or `gdl/jungle`."""
    from ggn_store.games import library

    try:
        described = () if begun is None else (*library.descriptions(), *library.large())
        short = (name.partition("/")[2] for name in described)
        return sorted({*library.names(), *(described if begun and "/" in begun else short)})
    except GgnStoreError:
        return []
