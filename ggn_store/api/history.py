"""Histories in Python's words: two contents compared, an old one brought back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from ggn_store.errors import InputError, UnknownNameError, offer, quote
from ggn_store.model.difference import Difference
from ggn_store.model.document import Document
from ggn_store.model.revision import Revision, parse_reference
from ggn_store.store import engine, history, load, rulesets, sides, versions


def diff(
    tables: versions.Gate, before: str | Document, after: str | Document | None = None, piece: str | None = None
) -> Difference:
    """What turns one content into another; what a revision changed against its parent, if there is only one."""
    with tables.reading() as connection:
        if after is not None:
            one, other = sides.side(connection, before), sides.side(connection, after)
        elif isinstance(before, Document):
            raise InputError("a document has no parent: give two contents to compare")
        else:
            revision = rulesets.find(connection, before)
            other = sides.Stored(connection, revision)
            parent = f"{revision.name}@{revision.parent}"
            one = sides.Nothing() if revision.parent is None else sides.side(connection, parent)
        if piece is not None and piece not in one.digests and piece not in other.digests:
            pieces = list(dict.fromkeys((*one.digests, *other.digests)))
            raise UnknownNameError(f"neither side has rules for the piece {quote(piece)}; there is {offer(pieces)}")
        return sides.difference(one, other, piece)


def restore(
    database: engine.Database,
    tables: versions.Gate,
    reference: str,
    gate: load.Gate,
    author: str | None = None,
    message: str | None = None,
) -> Revision:
    """Make the content of a revision the newest one of its ruleset; of one that was deleted, bring that back first.

    Only the list of its pieces is written. The status is "unchanged" where there is nothing to do.
    """
    named = parse_reference(reference)
    with tables.writing() as connection:
        was_hidden = rulesets.show(database, connection, named.name)
        revision = rulesets.find(connection, named)
        made = load.Made(
            revision.dialect,
            revision.board_id,
            revision.envelope,
            revision.digest,
            author,
            f"restore {revision}" if message is None else message,
            datetime.now(UTC),
        )
        keys = [key.id for key in history.piece_keys(connection, revision).values()]
        restored = load.append(database, connection, revision.name, made, keys, gate=gate)
    return replace(restored, status="restored") if was_hidden and restored.status == "unchanged" else restored
