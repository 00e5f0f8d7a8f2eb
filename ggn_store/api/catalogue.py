"""The rulesets of a store: found, listed, deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ggn_store.api.base import Section
from ggn_store.api.ruleset import Ruleset
from ggn_store.errors import UnknownNameError, quote
from ggn_store.model.revision import Revision, Summary
from ggn_store.store.history import tags
from ggn_store.store.rulesets import catalog

if TYPE_CHECKING:
    from ggn_store.api.analysis import StoreAnalysis


class Catalogue(Section):
    """The rulesets that a store has."""

    def ruleset(self, reference: str) -> Ruleset:
        """The ruleset `chess` in its newest revision, or `chess@3`; raises UnknownNameError (a KeyError)."""
        with self._tables.reading() as connection:
            return Ruleset(self._database, catalog.find(connection, reference))

    def delete(self, name: str) -> int:
        """Hide a ruleset, and return how many revisions it keeps; loading it again brings it back."""
        if "@" in name:
            raise UnknownNameError(f"{quote(name)}: revisions are kept for good; name a ruleset to delete")
        with self._tables.writing() as connection:
            return catalog.delete(connection, name)

    def revisions(self) -> tuple[Revision, ...]:
        """The newest revision of every ruleset, by name."""
        with self._tables.reading() as connection:
            return tuple(catalog.newest(connection))

    def list(self) -> tuple[Summary, ...]:
        """The newest revision of every ruleset by name, with the number of pieces, possibilities, ..."""
        with self._tables.reading() as connection:
            tagged = tags.of_all(connection)
            return tuple(
                replace(catalog.summary(connection, revision), tags=tagged.get(revision.name, {}))
                for revision in catalog.newest(connection)
            )

    def analysis(self, tell: Callable[[str], None] | None = None) -> StoreAnalysis:
        """Questions about several rulesets at once; `tell` gets the SQL that runs."""
        from ggn_store.api.analysis import StoreAnalysis

        return StoreAnalysis(self._database, self._tables, tell)
