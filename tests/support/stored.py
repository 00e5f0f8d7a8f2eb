"""Small documents of each dialect to be stored, and what a database then holds of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, NullPool, create_engine, make_url, text

import ggn_store
from ggn_store import Store
from ggn_store.store.schema.tables import metadata

Json = dict[str, Any]

PERFORM: Json = {
    "CHESS:P": {
        "e2": {
            "e3": [{"require": {"e3": "empty"}, "perform": {"e2": None, "e3": "CHESS:P"}}],
            "e4": [{"require": {"e3": "empty", "e4": "empty"}, "perform": {"e2": None, "e4": "CHESS:P"}}],
        }
    },
    "chess:+k": {
        "e8": {
            "e7": [
                {"prevent": {"e7": "chess:p"}, "perform": {"e8": None, "e7": "chess:k"}},
                {"require": {"e7": "enemy"}, "perform": {"e8": None, "e7": "chess:k"}},
            ]
        }
    },
}
MUST_DENY: Json = {
    "C:P": {
        "e2": {"e3": [{"must": {"e3": "empty"}}], "d3": [{"must": {"d3": "enemy"}}, {"deny": {"d3": "enemy"}}]},
        "*": {"e3": [{}]},
    },
    "c:n": {"e3": {"*": [{"deny": {"d3": "c:p", "e2": "enemy"}}]}},
}
DIFF: Json = {
    "C:P": {
        "e2": {
            "e3": [{"must": {"e3": "empty"}, "diff": {"board": {"e2": None, "e3": "C:P"}}}],
            "d3": [{"must": {"d3": "enemy"}, "diff": {"board": {"e2": None, "d3": "C:P"}, "hands": {"C:P": 1}}}],
        }
    },
    "C:+K^'": {
        "*": {"d3": [{"deny": {"d3": "c:p"}, "diff": {"hands": {"C:+K^'": -1}, "toggle": False}}, {"diff": {}}]}
    },
    "c:r": {"d3": {"d1": [{"must": {"d2": "empty", "d1": "C:P"}, "diff": {"board": {"d1": "c:r", "d3": None}}}]}},
}
DOCUMENTS = {"perform": PERFORM, "must-deny": MUST_DENY, "diff": DIFF}
BOARD = {"e2": "C:P", "d3": "c:r"}


def changed(document: Json, piece: str = "C:P") -> Json:
    """The document with one more possibility of one piece."""
    copy: Json = json.loads(json.dumps(document))
    source = next(iter(copy[piece]))
    destination = next(iter(copy[piece][source]))
    copy[piece][source][destination].append({"must": {source: "empty"}, **({"diff": {}} if document is DIFF else {})})
    return copy


@contextmanager
def raw(address: str) -> Iterator[Connection]:
    """A transaction on the database itself, past the store and its checks."""
    url = make_url(address)
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    with create_engine(url, poolclass=NullPool).begin() as connection:
        yield connection


def counts(address: str) -> dict[str, int]:
    """The number of rows of every table."""
    with raw(address) as connection:
        return {
            name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one() for name in metadata.tables
        }


def text_of(document: Json) -> str:
    return ggn_store.parse(document).canonical()


def answers(found: Iterable[ggn_store.Move]) -> list[tuple[str, str, str, int]]:
    return [(move.piece, move.source, move.destination, move.ordinal) for move in found]


@pytest.fixture(scope="module")
def shared(module_store: Store) -> Store:
    """A store that tests only read from."""
    module_store.load(DIFF, "game")
    module_store.load(changed(DIFF), "game")
    module_store.load(MUST_DENY, "Game")
    return module_store


KNIGHT: dict[str, Any] = {
    "C:N": {"b1": {"c3": [{"must": {"c3": "empty"}, "diff": {"board": {"b1": None, "c3": "C:N"}}}]}}
}
ROOK: dict[str, Any] = {
    "C:R": {"a1": {"a2": [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:R"}}}]}}
}
