"""Rulesets of documents that no store keeps: each in a store of its own in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from ggn_store.api.loading import incoming
from ggn_store.api.ruleset import Ruleset
from ggn_store.api.session import versions
from ggn_store.model.documents.document import Dialect, Document

_NAME: Final = "ruleset"


def ruleset(data: Mapping[str, Any] | str | bytes, dialect: Dialect | None = None) -> Ruleset:
    """A ruleset from a document or a game description (decoded JSON, or its text), in a private store in memory.

    The store lives as long as the result. Raises DocumentError with every problem.
    """
    return of_document(incoming.parse(data, dialect))


def of_document(document: Document) -> Ruleset:
    """The ruleset of a document, in a private store in memory that lives as long as the result."""
    return Ruleset(*versions.in_memory(document, _NAME))


@contextmanager
def opened(document: Document) -> Iterator[Ruleset]:
    """Like `of_document`, for the length of a block."""
    found = of_document(document)
    try:
        yield found
    finally:
        found.handle.session.database.close()
