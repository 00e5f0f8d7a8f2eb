"""Bits that flip, and rows that are changed past the store: what leaves it is what was put in, or nothing leaves."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from ggn_store import Store
from ggn_store.cli import group
from ggn_store.errors import DamagedError, GgnStoreError, StoreError
from ggn_store.store.database.sqlite import SQLite
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema.tables import metadata
from tests.support.guards import drop_guards, drop_guards_of_file
from tests.support.program import MINI, MUST, PERFORM
from tests.support.sampled import sampled
from tests.support.stored import DIFF, changed, raw

DOCUMENTS: dict[str, list[Any]] = {"mini": [MINI], "must": [MUST], "perform": [PERFORM], "game": [DIFF, changed(DIFF)]}
EMPTY = "empty.db"

# What each ruleset's revisions are as documents, with what stands beside them.
Texts = dict[str, list[tuple[str, str]]]


def fill(store: Store) -> None:
    for name, documents in DOCUMENTS.items():
        for document in documents:
            store.load(document, name, author="ann", message="as it is")


def texts(store: Store) -> Texts:
    """Every document of a store, with what stands beside it."""
    found = {}
    for revision in store.revisions():
        numbers = range(1, revision.number + 1)
        rulesets = [store.ruleset(f"{revision.name}@{number}") for number in numbers]
        found[revision.name] = [(each.export(), each.export_beside()) for each in rulesets]
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Texts]:
    """The bytes of a store's file, and the documents in it."""
    path = tmp_path_factory.mktemp("sound") / "store.db"
    with Store.open(f"sqlite:///{path}") as store:
        fill(store)
        expected = texts(store)
    return path.read_bytes(), expected


def exported(store: Store, _: Path) -> Texts:
    return texts(store)


def bundled(store: Store, directory: Path) -> Texts:
    store.exchange.create_bundle(directory / "all.ggnb")
    with Store.open(f"sqlite:///{directory / EMPTY}") as other:
        other.exchange.load_bundle(directory / "all.ggnb")
        return texts(other)


def pushed(store: Store, directory: Path) -> Texts:
    with Store.open(f"sqlite:///{directory / EMPTY}") as other:
        store.exchange.push(other)
        return texts(other)


WAYS_OUT: tuple[Callable[[Store, Path], Texts], ...] = (exported, bundled, pushed)


def leaves_unaltered(address: str, directory: Path, expected: Texts) -> int:
    """Let documents leave on every way; on how many of them an error kept them."""
    kept = 0
    for way in WAYS_OUT:
        place = directory / way.__name__
        place.mkdir()
        shutil.copyfile(directory / EMPTY, place / EMPTY)
        try:
            with Store.open(address, create=False) as store:
                found = way(store, place)
        except GgnStoreError:
            kept += 1
        else:
            for name, documents in found.items():
                # A name is part of no document.
                known = [expected[name]] if name in expected else [*expected.values()]
                assert documents in known, (way.__name__, name)
        shutil.rmtree(place)
    return kept


def flip(content: bytes, bit: int) -> bytes:
    byte, place = divmod(bit, 8)
    return content[:byte] + bytes([content[byte] ^ 1 << place]) + content[byte + 1 :]


def flips(sound: tuple[bytes, Texts], directory: Path, count: int) -> None:
    content, expected = sound
    path = directory / "store.db"
    with Store.open(f"sqlite:///{directory / EMPTY}"):  # what comes in is copied from here
        pass
    kept = 0
    for _ in range(count):
        bit = random.randrange(len(content) * 8)
        path.write_bytes(flip(content, bit))
        try:
            kept += leaves_unaltered(f"sqlite:///{path}", directory, expected) > 0
        except BaseException as error:
            error.add_note(f"bit {bit} of {len(content) * 8}")
            raise
    print(f"{count} flips, {kept} of which kept something from leaving")


def test_no_flipped_bit_leaves_a_file_in_a_document(sound: tuple[bytes, Texts], tmp_path: Path) -> None:
    flips(sound, tmp_path, 3)


@pytest.mark.long
def test_none_of_a_thousand_flipped_bits_leaves_a_file_in_a_document(
    sound: tuple[bytes, Texts], tmp_path: Path
) -> None:
    flips(sound, tmp_path, 1_000)


# What a row says, changed so that it is still one that the tables take.
CHANGES = (
    "UPDATE condition SET state = 'C:Z' WHERE state = 'enemy'",
    "UPDATE condition SET polarity = 'deny' WHERE state = 'empty'",
    "UPDATE hand_effect SET delta = 2 WHERE delta = 1",
    "UPDATE destination SET square = 0 WHERE ordinal = 0",
    "UPDATE source SET square = 9999",
    "UPDATE piece SET identifier = 'C:X' WHERE identifier = 'C:P'",
    "UPDATE piece SET digest = 'no digest ' || id",
    "UPDATE square SET label = label || 'x'",
    "UPDATE board SET shape = '3x3'",
    "UPDATE revision SET digest = 'no digest'",
    """UPDATE revision SET envelope = '{"title": "another"}'""",
    "UPDATE revision_piece SET ordinal = 9 - ordinal",
    "DELETE FROM revision_piece WHERE ordinal = 0",
)


@pytest.mark.parametrize(
    ("address", "change"),
    [
        *sampled((("sqlite", change) for change in CHANGES), 2),
        *sampled((("postgres", change) for change in CHANGES), 4),
    ],
    indirect=["address"],
)
def test_what_was_changed_past_the_store_does_not_leave_it(
    store: Store, address: str, change: str, tmp_path: Path
) -> None:
    store.load(DIFF, "game")
    with raw(address) as connection:
        drop_guards(connection)
        connection.execute(text(change))
    run = CliRunner().invoke
    other = f"sqlite:///{tmp_path / 'other.db'}"
    Store.open(other).close()
    outputs = [tmp_path / name for name in ("game.json", "game.ggnb", "game.csv")]
    for arguments in (
        ["export", "game", "-o", str(outputs[0])],
        ["bundle", "create", str(outputs[1]), "game"],
        ["export", "--format", "csv", str(outputs[2])],
        ["export", "game"],
        ["show", "game", "--piece", "C:P"],
        ["push", "--remote", other, "game"],
    ):
        done = run(group, ["--db", address, *arguments])
        assert done.exit_code == 1, (arguments, done.output)
        assert isinstance(done.exception, (GgnStoreError, SystemExit)), (arguments, done.exception)
    assert [each for each in outputs if each.exists()] == []


def test_a_damaged_piece_is_named_with_what_to_do(store: Store, address: str) -> None:
    store.load(DIFF, "game")
    with raw(address) as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE hand_effect SET delta = 2 WHERE delta = 1"))
    with pytest.raises(StoreError) as caught:
        store.ruleset("game").export()
    digest = store.ruleset("game").piece_summaries()[0]["digest"]
    assert str(caught.value) == (
        f'game: the piece "C:P" is damaged, its rows do not give its digest {digest}: restore the store from a backup '
        "(`ggn-store db check` lists all that is damaged)"
    )


@pytest.mark.parametrize("change", ["hand_effect SET delta = 2 WHERE delta = 1", "destination SET square = 99"])
def test_a_damaged_piece_is_not_drawn(store: Store, address: str, change: str) -> None:
    store.load(DIFF, "game")
    with raw(address) as connection:
        drop_guards(connection)
        connection.execute(text(f"UPDATE {change}"))
    with pytest.raises(StoreError, match="is damaged"):
        store.ruleset("game").pictures.draw(piece="C:P")
    if "square" in change:
        with pytest.raises(StoreError, match="is damaged"):
            _ = store.ruleset("game").select("C:P").sources


def test_a_board_that_lost_its_digest_is_told_in_one_sentence(store: Store, address: str, tmp_path: Path) -> None:
    store.load(DIFF, "game")
    with raw(address) as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE board SET digest = 'no digest'"))
    with pytest.raises(StoreError, match=r"`ggn-store db check`"):
        store.exchange.create_bundle(tmp_path / "game.ggnb")


COMMANDS = (
    ["list"],
    ["show", "game"],
    ["show", "game", "--piece", "C:P"],
    ["moves", "game", "--side", "first", "--board", '{"e2": "C:P", "d3": "c:r"}'],
    ["log", "game", "--format", "json"],
    ["diff", "game@1", "game"],
    ["blame", "game"],
    ["tag", "game", "--log"],
    ["state", "game"],
    ["export", "game"],
    ["proposals", "--all"],
    ["policy", "log"],
    ["audit"],
    ["stats", "game"],
    ["verify"],
    ["db", "check"],
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a store's file that has rows in most of its tables."""
    path = tmp_path_factory.mktemp("told") / "store.db"
    with Store.open(f"sqlite:///{path}") as store:
        fill(store)
        store.tags.set("game@1", "old", author="ann")
        store.states.set("game", "deprecated", author="ann")
        store.policies.set("other", review=2, author="ann")
        store.reviews.propose(DIFF, "other", author="ann")
        store.reviews.approve("other#1", author="bob")
        with Store.open("sqlite://") as elsewhere:
            elsewhere.exchange.pull(store, "game")
            elsewhere.reviews.propose(DIFF, "game", author="ann")
            store.exchange.pull(elsewhere, "game", reviews=True)
    return path.read_bytes()


def put(path: Path, table: str, column: str, value: object) -> int:
    """Put a value into a column of every row of a file, whatever the table allows; how many rows that are."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        guards = drop_guards_of_file(connection)
        [made] = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    lax = re.sub("(?<!IS )NOT NULL", "", made)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (lax, table))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        try:
            rows = connection.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ?', (value,)).rowcount
        except sqlite3.IntegrityError:  # of the key of a table, which SQLite numbers the rows by
            return 0
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (made, table))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(";".join(["BEGIN", *guards, "COMMIT"]))
    return rows


def asked(content: bytes, directory: Path, table: str, column: str, value: object) -> dict[str, str]:
    """What commands say of a store with a value that is not of its column's type; none may end in a traceback."""
    path = directory / f"{table}-{column}-{type(value).__name__}.db"
    path.write_bytes(content)
    if not put(path, table, column, value):
        return {}
    said = {}
    for arguments in COMMANDS:
        done = CliRunner().invoke(group, ["--db", f"sqlite:///{path}", *arguments])
        assert isinstance(done.exception, (GgnStoreError, SystemExit, type(None))), (arguments, done.exception)
        said[" ".join(arguments)] = done.stdout + str(done.exception or "")
    path.unlink()
    return said


@pytest.mark.parametrize(
    ("table", "column", "value", "kind", "wanted"),
    [
        ("revision", "created_at", None, "null", "text"),
        ("revision", "number", b"\x00", "blob", "integer"),
        pytest.param("revision", "author", b"\x00", "blob", "text", marks=pytest.mark.long),
        pytest.param("tag", "created_at", None, "null", "text", marks=pytest.mark.long),
        ("audit", "at", 7.5, "real", "text"),
        ("destination", "source", b"\x00", "blob", "integer"),
    ],
)
def test_a_value_of_another_type_is_named_with_its_table_and_column(
    told: bytes, tmp_path: Path, table: str, column: str, value: object, kind: str, wanted: str
) -> None:
    said = asked(told, tmp_path, table, column, value)
    misfit = re.compile(f"table {table}: {column} of the row .* is {kind}, not {wanted}")
    assert misfit.search(said["db check"])
    # Nothing but the row can be wrong, so the first command that stumbles over it names it.
    assert [each for each, text in said.items() if misfit.search(text) and each not in ("db check", "verify")]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_an_error_that_is_kept_does_not_keep_others_from_writing(
    told: bytes, tmp_path: Path, arguments: list[str]
) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(told)
    put(path, "revision", "created_at", None)
    done = CliRunner().invoke(group, ["--db", f"sqlite:///{path}", *arguments])
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as other:
        other.execute("BEGIN EXCLUSIVE")
    assert done.exc_info is not None


@pytest.mark.long
def test_no_value_of_another_type_ends_in_a_traceback(told: bytes, tmp_path: Path) -> None:
    count = 0
    for table in metadata.tables.values():
        for column in table.columns:
            for value in (None, b"\x00\xff", 7.5):
                if value is not None or not column.nullable:
                    count += bool(asked(told, tmp_path, table.description, column.name, value))
    print(count, "columns")
    assert count > 100


def test_a_sound_store_has_no_value_of_another_type(told: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(told)
    with Store.open(f"sqlite:///{path}") as store:
        assert isinstance(store.session.database, SQLite)
        assert store.session.database.misfits() == []


@pytest.mark.parametrize("error", [AttributeError, TypeError])
def test_an_error_of_the_program_is_not_blamed_on_a_sound_store(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    store.load(DIFF, "game")

    def fails(row: object) -> None:
        raise error("of the program")

    monkeypatch.setattr(catalog, "revision_of", fails)
    with pytest.raises(error, match="of the program"):
        store.ruleset("game")


@pytest.mark.parametrize("text_of_envelope", ["[]", "{", '{"another": "key"}', '{"title": 1}', "null"])
def test_an_envelope_that_the_program_does_not_write_is_told(store: Store, address: str, text_of_envelope: str) -> None:
    store.load(DIFF, "game")
    with raw(address) as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE revision SET envelope = :envelope"), {"envelope": text_of_envelope})
    with pytest.raises(DamagedError, match="the envelope of a revision or proposal is not as this program writes it"):
        store.ruleset("game")
