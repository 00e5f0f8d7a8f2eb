"""Small rulesets that travel between stores, and what a store then holds of them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import (
    Store,
)
from ggn_store.store.exchange.offer import StoreSource

Json = dict[str, Any]


def game(**moves: str) -> Json:
    """A document with one rule for each piece: `game(N="b1c3")`."""
    return {
        f"C:{letter}": {
            move[:2]: {move[2:]: [{"must": {move[2:]: "empty"}, "diff": {"board": {move[:2]: None, move[2:]: "C:P"}}}]}
        }
        for letter, move in moves.items()
    }


BOTH = {"A": "a1h8", "Z": "h1a8"}  # corners, so that every document has the same board


def history(store: Store, name: str) -> list[tuple[Any, ...]]:
    """Everything that a history is made of, but for keys and for numbers of others."""
    with store.session.database.reading() as connection:
        rows = connection.execute(
            text(
                "SELECT r.number, r.lineage, r.digest, r.dialect, b.digest, r.envelope, r.author, r.message, "
                "p.lineage, m.lineage FROM revision r JOIN ruleset s ON s.id = r.ruleset_id "
                "JOIN board b ON b.id = r.board_id LEFT JOIN revision p ON p.id = r.parent_id "
                "LEFT JOIN revision_merge g ON g.revision_id = r.id LEFT JOIN revision m ON m.id = g.parent_id "
                "WHERE s.name = :name ORDER BY r.number"
            ),
            {"name": name},
        )
        return [tuple(row) for row in rows]


def holds(store: Store) -> dict[str, int]:
    """How many rows each table of the store has."""
    tables = ("ruleset", "revision", "revision_merge", "revision_piece", "piece", "variant", "board", "tag", "audit")
    with store.session.database.reading() as connection:
        return {table: connection.execute(text(f'SELECT count(*) FROM "{table}"')).scalar_one() for table in tables}


def exports(store: Store, name: str) -> list[str]:
    return [store.ruleset(f"{name}@{row[0]}").export() for row in history(store, name)]


def sound(*stores: Store) -> bool:
    return [store.upkeep.check() for store in stores] == [[]] * len(stores)


def tag(store: Store, name: str, tag_name: str, number: int | None) -> None:
    """Let a tag point to a revision, by hand."""
    with store.session.database.writing() as connection:
        connection.execute(
            text(
                "INSERT INTO tag (ruleset_id, name, number, revision_id, author, message, created_at) "
                "SELECT s.id, :tag, 1 + (SELECT count(*) FROM tag t WHERE t.ruleset_id = s.id AND t.name = :tag), "
                "(SELECT id FROM revision r WHERE r.ruleset_id = s.id AND r.number = :number), 'Tess', 'tried', "
                "'2026-01-02 03:04:05.000006' FROM ruleset s WHERE s.name = :name"
            ),
            {"tag": tag_name, "name": name, "number": number},
        )


def tags(store: Store, name: str) -> list[tuple[Any, ...]]:
    with store.session.database.reading() as connection:
        rows = connection.execute(
            text(
                "SELECT t.name, t.number, r.number, t.author, t.message "
                "FROM tag t JOIN ruleset s ON s.id = t.ruleset_id LEFT JOIN revision r ON r.id = t.revision_id "
                "WHERE s.name = :name ORDER BY t.name, t.number"
            ),
            {"name": name},
        )
        return [tuple(row) for row in rows]


class Asked:
    """What a source was asked for while this is in place."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pieces: list[str] = []
        self.revisions: list[str] = []
        self.boards: list[str] = []
        for what in ("pieces", "boards"):
            monkeypatch.setattr(StoreSource, what, self._noting(what))
        revisions = StoreSource.revisions

        def noted(source: StoreSource, name: str, wanted: Sequence[str]) -> Any:
            self.revisions += wanted
            return revisions(source, name, wanted)

        monkeypatch.setattr(StoreSource, "revisions", noted)

    def _noting(self, what: str) -> Callable[..., Any]:
        original = getattr(StoreSource, what)

        def noted(source: StoreSource, digests: Sequence[str]) -> Any:
            getattr(self, what).extend(digests)
            return original(source, digests)

        return noted

    def clear(self) -> None:
        for each in (self.pieces, self.revisions, self.boards):
            each.clear()


def lines(file: Path) -> list[Json]:
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]


def pack(written: list[Json] | list[bytes], resealed: bool = True, counted: bool = True) -> io.BytesIO:
    """A bundle of these lines; `resealed`: with an end that fits them, `counted`: also in how many there are."""
    data = [
        line
        if isinstance(line, bytes)
        else json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for line in written
    ]
    if resealed:
        end = json.loads(data[-1])
        end["sha256"] = hashlib.sha256(b"".join(data[:-1])).hexdigest()
        for kind, name in (
            ("board", "boards"),
            ("piece", "pieces"),
            ("revision", "revisions"),
            ("tag", "tags"),
            ("state", "states"),
            ("rename", "renames"),
            ("review", "reviews"),
        ):
            if counted and name in end:
                end[name] = sum(f'"kind":"{kind}"'.encode() in line for line in data[:-1])
        data[-1] = json.dumps(end).encode() + b"\n"
    return io.BytesIO(gzip.compress(b"".join(data)))
