"""Histories of any shape for tests, and what plain dictionaries say of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ggn_store import Document, Store, parse
from ggn_store.model.documents.document import Envelope
from ggn_store.store.rulesets import load
from ggn_store.store.schema import tables as t
from tests.support.edits import variables_of

NAME = "game"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
Entry = tuple[str, str, str]


@dataclass
class Node:
    """A revision as the test knows it: JSON, the text beside it, and the numbers of its parents."""

    content: dict[str, Any]
    parents: tuple[int, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)
    dialect: str | None = None

    def document(self) -> Document:
        return parse(json.dumps(self.content), self.dialect, envelope=Envelope(**self.fields))  # type: ignore[arg-type]

    def entries(self) -> dict[Entry, Any]:
        """What the canonical text says of every entry."""
        content = {piece: sources for piece, sources in self.document().data().items() if not piece.startswith("$")}
        return {
            (piece, source, destination): possibilities
            for piece, sources in content.items()
            for source, destinations in sources.items()
            for destination, possibilities in destinations.items()
        }

    def all_fields(self) -> dict[str, str]:
        schema = {"schema": self.content["$schema"]} if "$schema" in self.content else {}
        return {"dialect": self.document().dialect, **schema, **variables_of(self.content), **self.fields}


def record(store: Store, nodes: list[Node], name: str = NAME) -> None:
    """Store revisions 1, 2, ... of a ruleset, whose parents are any that come before them."""
    keys: dict[int | None, int | None] = {None: None}
    database = store.session.database
    with database.writing() as connection:
        ruleset_id = load.store_ruleset(database, connection, name)
        for number, node in enumerate(nodes, start=1):
            document = node.document()
            board_id = load.store_board(database, connection, document.board)
            pieces = dict(zip(document.piece_digests, document.pieces, strict=True))
            ids = load.known_pieces(connection, list(pieces))
            fresh = {digest: piece for digest, piece in pieces.items() if digest not in ids}
            ids |= load.store_pieces(database, connection, fresh, document.dialect, document.board, board_id)
            parent, merged = (*node.parents, None, None)[:2]
            made = load.Made(
                document.dialect,
                board_id,
                document.envelope,
                document.digest,
                f"author {number}",
                f"message {number}",
                BEGIN + timedelta(hours=number),
                keys[merged],
            )
            keys[number] = load.append_after(
                database, connection, ruleset_id, made, [ids[digest] for digest in pieces],
                number=number, parent=keys[parent],
            )  # fmt: skip


def tag(store: Store, tags: list[tuple[str, int, int | None]], name: str = NAME) -> None:
    """Let tags point to revisions: their names, how often each has moved, and the revision's number."""
    with store.session.database.writing() as connection:
        ruleset_id = load.store_ruleset(store.session.database, connection, name)
        keys: dict[int | None, int] = {
            row.number: row.id
            for row in connection.execute(t.revision.select().where(t.revision.c.ruleset_id == ruleset_id))
        }
        for tag_name, moved, number in tags:
            row = {"ruleset_id": ruleset_id, "name": tag_name, "number": moved, "revision_id": keys.get(number)}
            connection.execute(t.tag.insert().values(created_at=BEGIN, **row))


def ancestors(nodes: list[Node], number: int) -> list[int]:
    """A revision and all before it, newest first."""
    found, waiting = set(), [number]
    while waiting:
        each = waiting.pop()
        found.add(each)
        waiting += nodes[each - 1].parents
    return sorted(found, reverse=True)


def origin(nodes: list[Node], number: int, what: Any, said: list[dict[Any, Any]]) -> int:
    """The revision that something has its value from: back to the first parent that has it too, while one does."""
    while True:
        value = said[number - 1][what]
        same = [parent for parent in nodes[number - 1].parents if said[parent - 1].get(what) == value]
        if not same:
            return number
        number = same[0]
