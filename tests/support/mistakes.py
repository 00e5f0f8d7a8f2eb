"""Labels that are meant to do harm, files with which something is wrong, and how to see that nothing was changed."""

from __future__ import annotations

import functools
import gzip
import json
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.program import MINI, MUST, PERFORM, QUICK, line, write

# A label that would clear the screen, forge a line, ring, and write from right to left.
HOSTILE_SOURCE = "a\x1b[2J\nError: forged\u202e\u2066"
HOSTILE_TARGET = "b\x07\x9b31m\r\x7f\u200f\u2028"
HOSTILE = {
    "CHESS:P": {HOSTILE_SOURCE: {HOSTILE_TARGET: [{"perform": {HOSTILE_SOURCE: None, HOSTILE_TARGET: "CHESS:P"}}]}}
}
HOSTILE_BOARD = json.dumps({HOSTILE_SOURCE: "CHESS:P"})
FORGING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="session")
def mistakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of files with which something is wrong."""
    directory = tmp_path_factory.mktemp("mistakes")
    write(directory / "quick.json", QUICK)
    write(directory / "must.json", MUST)
    write(directory / "perform.json", PERFORM)
    write(directory / "mini.json", MINI)
    write(directory / "broken.json", '{"C:P": {"e2": {"e4": [{"must": {"e2": "C:P", "e9x": "empty"}, "diff": {}}]}}}')
    write(directory / "cut.json", '{"C:P": {"e2"')
    write(directory / "empty.json", "")
    write(directory / "twice.json", '{"C:P": {"a1": {"a2": [{"diff": {}}]}}, "C:P": {"a1": {"a2": [{"diff": {}}]}}}')
    write(directory / "mixed.json", '{"C:P": {"a1": {"a2": [{"diff": {}}, {"perform": {"a2": null}}]}}}')
    write(directory / "deep.json", '{"C:P":' * 3000)
    write(directory / "line.json", "x" * 3_000_000)
    write(directory / "game.pgn", '[Event "a game"]\n\n1. e4 e5 *\n')
    write(directory / "side.json", QUICK)
    write(directory / "side.toml", "title = 7\nnonsense = 1\nstart = ")
    write(directory / "keys.json", QUICK)
    write(directory / "keys.toml", 'titel = "A slip"\n')
    write(directory / "square.json", QUICK)
    write(directory / "square.toml", 'board = "2x2"\n')
    write(directory / "bad name.json", QUICK)
    write(directory / "both/a.json", QUICK)
    write(directory / "both/a.json.gz", "also a")
    write(directory / "left/same.json", QUICK)
    write(directory / "right/same.json", MUST)
    write(directory / "stream.ndjson", line("one", QUICK) + '{"name": "two"}\n' + line("three", MUST))
    write(directory / "pair.ndjson", line("one", QUICK) + line("two", MUST))
    write(directory / "blank.ndjson", "\n\n")
    write(directory / "positions.ndjson", '{"board": {"a2": "C:P"}}\n{"board": {"a2": "CP"}}\n')
    write(directory / "text.ndjson", "hello\n")
    write(directory / "board.json", '{"a2": "C:P",}')
    (directory / "latin.json").write_bytes(b'{"CHESS:P": {"caf\xe9": {}}}')
    (directory / "latin.ndjson").write_bytes(b'"\xff"\n')
    (directory / "utf16.json").write_text(json.dumps(QUICK), encoding="utf-16")
    packed = gzip.compress(json.dumps(QUICK).encode())
    (directory / "cut.json.gz").write_bytes(packed[:-12])
    (directory / "damaged.json.gz").write_bytes(packed[:12] + b"\0\0\0\0" + packed[16:])
    (directory / "plain.json.gz").write_bytes(json.dumps(QUICK).encode())
    (directory / "no-documents").mkdir()
    (directory / "no-documents" / "read.me").touch()
    (directory / "away.json").symlink_to("nowhere.json")
    (directory / "circle.json").symlink_to("circle.json")
    return directory


@functools.cache
def untouched(address: str, directory: Path) -> list[Any]:
    """What `content` was when a test of this process first asked; nothing that they try may ever change it."""
    return content(address, directory)


def content(address: str, directory: Path) -> list[Any]:
    """All rows of all tables of a store (of SQLite: the bytes of its file), and all files of a directory."""
    if address.startswith("sqlite"):
        file = address.removeprefix("sqlite:///")
        files = [Path(file + more) for more in ("", "-journal", "-wal")]
        kept: list[Any] = [path.read_bytes() for path in files if path.exists()]
    else:
        with psycopg.connect(address, autocommit=True) as connection:
            tables = [
                name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            ]
            queries = [f"SELECT '{table}', CAST(t AS text) FROM \"{table}\" AS t" for table in sorted(tables)]
            kept = sorted(connection.execute(" UNION ALL ".join(queries).encode()))
    return kept + [(str(path), path.lstat().st_size) for path in sorted(directory.rglob("*"))]
