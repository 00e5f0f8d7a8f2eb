"""Roles on a Postgres server: what each of them may do, and what is refused, by rights or by guards."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from ggn_store import Document, GateError, Position, Store, StoreError, parse, read_definition
from ggn_store.cli import group
from ggn_store.errors import HeadMovedError
from ggn_store.model.document import (
    Destination,
    Dialect,
    Envelope,
    Piece,
    Possibility,
    Source,
    revision_digest,
)
from ggn_store.model.revision import Revision, lineage
from ggn_store.notation.stn import Transition
from ggn_store.store import engine, load, masks, views
from ggn_store.store import roles as server_roles
from ggn_store.store import tables as t
from tests.postgres import Server
from tests.strategies import DIALECTS, documents

ROLES = ("reader", "author", "admin")

KNIGHT: dict[str, Any] = {
    "C:N": {"b1": {"c3": [{"must": {"c3": "empty"}, "diff": {"board": {"b1": None, "c3": "C:N"}}}]}}
}
BISHOP: dict[str, Any] = {
    "C:B": {"b1": {"c3": [{"must": {"c3": "enemy"}, "diff": {"board": {"b1": None, "c3": "C:B"}, "toggle": False}}]}}
}
ROOK: dict[str, Any] = {
    "C:R": {"a1": {"a2": [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:R"}}}]}}
}


@dataclass(frozen=True)
class House:
    """A server's database with a store in it, whose tables belong to somebody who is not a superuser."""

    url: str
    """The superuser's."""
    superuser: str
    owner: str
    addresses: Mapping[str, str]
    """Of the owner and of a login in each of the roles."""
    head: Revision

    def dump(self) -> dict[str, Any]:
        """Everything that an attempt could have changed."""
        with psycopg.connect(self.url) as connection:
            rows: dict[str, Any] = {
                table: sorted(map(str, connection.execute(f'SELECT * FROM "{table}"').fetchall()))
                for table in server_roles.RIGHTS
            }
            for name, query in CATALOG.items():
                rows[name] = connection.execute(query.encode()).fetchall()
        return rows


CATALOG = {
    "relations": "SELECT n.nspname, c.relname, c.relkind, c.relacl::text, pg_get_userbyid(c.relowner) FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^(pg_|information_schema)' ORDER BY 1, 2",
    "columns": "SELECT attrelid::regclass::text, attname, attacl::text FROM pg_attribute WHERE attacl IS NOT NULL "
    "ORDER BY 1, 2",
    "functions": "SELECT proname, prosrc, proacl::text, pg_get_userbyid(proowner) FROM pg_proc "
    "WHERE pronamespace = 'public'::regnamespace ORDER BY 1, 2",
    "triggers": "SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal "
    "ORDER BY 1, 2",
    "schemas": "SELECT nspname, nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp' ORDER BY 1",
    "members": "SELECT roleid::regrole::text, member::regrole::text, admin_option FROM pg_auth_members ORDER BY 1, 2",
    "roles": "SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolcanlogin FROM pg_roles "
    "WHERE rolname ^@ 'ggn_' ORDER BY 1",
    "database": "SELECT datacl::text, pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()",
    "settings": "SELECT setdatabase, setrole, setconfig FROM pg_db_role_setting ORDER BY 1, 2",
    "objects": "SELECT oid FROM pg_largeobject_metadata ORDER BY 1",
}


def as_user(url: str, user: str) -> str:
    """The URL for another user, whose password is his name."""
    return re.sub("^postgresql://(?:[^@/]*@)?", f"postgresql://{user}:{user}@", url)


@pytest.fixture(scope="module")
def house(postgres_server: Server) -> Iterator[House]:
    """Made once: an attempt that is refused leaves nothing, and one that is allowed is taken back."""
    url = postgres_server.create_database()
    mark = uuid.uuid4().hex[:12]
    names = {who: f"ggn_test_{who}_{mark}" for who in ("owner", *ROLES, "stranger")}
    with psycopg.connect(url, autocommit=True) as server, ExitStack() as stack:
        for name in names.values():
            server.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{name}'".encode())
            stack.callback(server.execute, f"DROP ROLE {name}".encode())
        stack.callback(server.execute, f"DROP OWNED BY {names['owner']}".encode())
        stack.callback(server.execute, f"REASSIGN OWNED BY {names['owner']} TO CURRENT_USER".encode())
        database = server.info.dbname
        server.execute(f"ALTER DATABASE {database} OWNER TO {names['owner']}".encode())
        addresses = {who: as_user(url, name) for who, name in names.items()}
        with Store.open(addresses["owner"], upgrade=True):
            pass
        with Store.open(url) as store:
            assert store.init_roles().deviations == ()
        for role in ROLES:
            server.execute(f"GRANT ggn_{role} TO {names[role]}".encode())
        with Store.open(addresses["author"]) as store:
            for document in (KNIGHT, ROOK):
                head = store.load(document, "game", message="change")
            store.load(BISHOP | KNIGHT, "old")
            store.load(ROOK, "gone")
        with Store.open(addresses["admin"]) as store, store._database.writing() as connection:
            for statement in (tag(1, 1), tag(2, 2), state("old", "retired")):
                connection.execute(text(statement))
            connection.execute(text("UPDATE ruleset SET deleted_at = now() WHERE name = 'gone'"))
        yield House(url, server.info.user, names["owner"], addresses, head)
    postgres_server.drop_database(url)


# --- statements that the attempts are made of ---

GAME = "(SELECT id FROM ruleset WHERE name = 'game')"
FIRST = f"(SELECT id FROM revision WHERE number = 1 AND ruleset_id = {GAME})"
HEAD = f"(SELECT id FROM revision WHERE number = 2 AND ruleset_id = {GAME})"
OLD_PIECE = "(SELECT id FROM piece WHERE identifier = 'C:N')"
OLD_BOARD = f"(SELECT board_id FROM piece WHERE id = {OLD_PIECE})"


def tag(number: int, revision: int, ruleset: str = "game") -> str:
    """A move of the tag `stable` of game to this revision."""
    return (
        f"INSERT INTO tag (ruleset_id, name, number, revision_id, created_at) SELECT {GAME}, 'stable', {number}, v.id, "
        "now() FROM revision v JOIN ruleset r ON r.id = v.ruleset_id "
        f"WHERE r.name = '{ruleset}' AND v.number = {revision}"
    )


def state(ruleset: str, word: str, number: int = 1) -> str:
    return (
        f"INSERT INTO ruleset_state (ruleset_id, number, state, created_at) "
        f"SELECT id, {number}, '{word}', now() FROM ruleset WHERE name = '{ruleset}'"
    )


def literal(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


NEW = "currval('piece_id_seq')"


def new_piece(document: Mapping[str, Any] = BISHOP | {}, name: str = "C:Q", **columns: Any) -> list[str]:
    """The statements that store a piece of its own on the knight's board; `columns` are forged ones of its row."""
    made: Document = parse({name: next(iter(document.values()))})
    [piece] = made.pieces
    row = {
        "digest": piece.digest(made.dialect, made.board),
        "identifier": name,
        "style": "C",
        "letter": "Q",
        "side": "first",
        "state": "",
        "terminal": False,
        "derived": False,
        "dialect": made.dialect,
        "words": 1,
    } | columns
    statements = [
        f"INSERT INTO piece (board_id, {', '.join(row)}) VALUES ({OLD_BOARD}, {', '.join(map(literal, row.values()))})"
    ]
    for table, rows in zip(t.PIECE_TABLES, load.flatten(0, piece, made.board), strict=True):
        for _, *values in rows:
            statements.append(f'INSERT INTO "{table.name}" VALUES ({", ".join([NEW, *map(literal, values)])})')
    for _, *values in masks.flatten(0, piece, made.board):
        names = [column.name for column in masks.columns(1)]
        listed = ", ".join([f"{NEW} * 1024", *map(literal, values)])
        statements.append(f"INSERT INTO mask ({', '.join(names)}) VALUES ({listed})")
    return statements


@dataclass(frozen=True)
class Attempt:
    """What is tried, and what becomes of it for reader, author and admin.

    + is allowed; - refused, for want of a right; x refused by a guard, which says `because`; 0 passes and does nothing.
    """

    name: str
    outcomes: str
    statements: str | Callable[[House], Sequence[str]] | Sequence[str]
    because: str = ""


def new_revision(house: House, pieces: bool = True, **forged: Any) -> list[str]:
    """The statements that make the next revision of game, with the content of its head; `forged` columns are wrong."""
    head = house.head
    at = forged.pop("at", datetime.now(UTC))
    author = forged.pop("author", "Ann")
    parent = forged.pop("parent", head.lineage)
    digest = forged.pop("content", head.digest)
    row = {
        "ruleset_id": GAME,
        "number": "3",
        "digest": literal(digest),
        "parent_id": HEAD,
        "dialect": literal(head.dialect),
        "board_id": f"(SELECT board_id FROM revision WHERE id = {HEAD})",
        "envelope": f"(SELECT envelope FROM revision WHERE id = {HEAD})",
        "author": literal(author),
        "message": "NULL",
        "created_at": literal(at.isoformat()),
        "lineage": literal(lineage(parent, None, digest, author, None, at)),
    } | forged
    listed = (
        "INSERT INTO revision_piece SELECT currval('revision_id_seq'), ordinal, piece_id FROM revision_piece "
        f"WHERE revision_id = {HEAD}"
    )
    made = f"INSERT INTO revision ({', '.join(row)}) VALUES ({', '.join(row.values())})"
    return [made, listed] if pieces else [made]


def foreign_piece(house: House) -> list[str]:
    """The statements that make a revision of the rook's board with the knight, whose board is another."""
    knight, rook = parse(KNIGHT), parse(ROOK)
    content = revision_digest(rook.dialect, rook.board, rook.envelope, knight.piece_digests)
    listed = f"INSERT INTO revision_piece VALUES (currval('revision_id_seq'), 0, {OLD_PIECE})"
    return [*new_revision(house, pieces=False, content=content), listed]


def without(statements: Sequence[str], word: str) -> list[str]:
    return [each for each in statements if word not in each]


EXTRA_CONDITION = f"INSERT INTO condition VALUES ({NEW}, 0, 'deny', 0, 'enemy')"
ANOTHER = "INSERT INTO condition SELECT id, 0, 'deny', 0, 'enemy' FROM piece WHERE identifier = 'C:N'"

ATTEMPTS: tuple[Attempt, ...] = (
    Attempt(
        "read rules", "+++", "SELECT count(*) FROM moves_flat JOIN conditions_flat USING (ruleset, revision, piece)"
    ),
    Attempt("read masks", "+++", "SELECT * FROM mask"),
    Attempt("read the audit", "+++", "SELECT role, action FROM audit"),
    Attempt("read the version", "+++", "SELECT version_num FROM ggn_store_version"),
    # writing what a load writes
    Attempt("store a piece", "-++", new_piece()),
    Attempt(
        "store a piece within a savepoint", "-++", ["SAVEPOINT a", *new_piece()[:2], "SAVEPOINT b", *new_piece()[2:]]
    ),
    Attempt("store a revision", "-++", lambda house: new_revision(house)),
    Attempt("name another author", "-++", lambda house: new_revision(house, author="Eve")),
    Attempt(
        "bring a revision of last year", "-++", lambda house: new_revision(house, at=datetime(2025, 1, 1, tzinfo=UTC))
    ),
    Attempt(
        "make a ruleset without revisions", "-xx", "INSERT INTO ruleset (name) VALUES ('empty')", "has no revision"
    ),
    Attempt("make a ruleset that is hidden", "---", "INSERT INTO ruleset (name, deleted_at) VALUES ('empty', now())"),
    Attempt("choose a key", "---", f"INSERT INTO piece (id, board_id) VALUES (99, {OLD_BOARD})"),
    Attempt("set a sequence back", "---", "SELECT setval('piece_id_seq', 1)"),
    Attempt(
        "store a revision of a retired ruleset",
        "-xx",
        lambda house: new_revision(
            house, ruleset_id="(SELECT id FROM ruleset WHERE name = 'old')", number="2", parent_id="NULL"
        ),
        "is retired",
    ),
    # forging
    Attempt("forge a piece's digest", "-xx", new_piece(digest="f" * 64), "do not give its digest"),
    Attempt("forge a piece's rows", "-xx", without(new_piece(), '"condition"'), "do not give its digest"),
    Attempt(
        "add a row to a piece that gives its digest", "-xx", [*new_piece(), EXTRA_CONDITION], "do not give its digest"
    ),
    Attempt(
        "add a row after the check",
        "-xx",
        [*new_piece(), "SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL DEFERRED", EXTRA_CONDITION],
        "do not give its digest",
    ),
    Attempt(
        "forge a piece's masks",
        "-xx",
        [
            *without(new_piece(), "INTO mask"),
            f"INSERT INTO mask (start, number, exact, not_empty_0, not_enemy_0, not_own_0, twin_0) "
            f"VALUES ({NEW} * 1024, 0, false, 0, 0, 0, 0)",
        ],
        "masks are not those of its rows",
    ),
    Attempt("store a piece without masks", "-xx", without(new_piece(), "INTO mask"), "masks are not those"),
    Attempt("say that a piece has no masks", "-xx", new_piece(words=None), "masks are not as long"),
    Attempt(
        "tell two states of one square",
        "-xx",
        [*new_piece(), f"INSERT INTO condition VALUES ({NEW}, 0, 'must', 5, 'empty')"],
        "rows are not those of a document",
    ),
    Attempt(
        "start from the hand twice",
        "-xx",
        [*new_piece(), f"INSERT INTO source VALUES ({NEW}, 1, NULL), ({NEW}, 2, NULL)"],
        "rows are not those of a document",
    ),
    Attempt(
        "lead to one square twice",
        "-xx",
        [*new_piece(), f"INSERT INTO destination VALUES ({NEW}, 0, 1, 5)"],
        "rows are not those of a document",
    ),
    Attempt(
        "name a piece that is none",
        "-xx",
        [*new_piece(), f"INSERT INTO condition VALUES ({NEW}, 0, 'deny', 0, 'nobody')"],
        "rows are not those of a document|masks are not those of its rows",  # both are true
    ),
    *(
        Attempt(
            f"plant a row of {table} in a piece of a dialect that has none",
            "-xx",
            [*new_piece(), f"INSERT INTO {table} VALUES ({NEW}, 0, {values})"],
            "rows are not those of a document",
        )
        for table, values in (
            ("guard", "'ep', '3'"),
            ("state_effect", "'ep', '3'"),
            ("variant_origin", "'jump', 1, true"),
        )
    ),
    Attempt(
        "guard a piece that is there",
        "-xx",
        "INSERT INTO guard SELECT id, 0, 'ep', '3' FROM piece WHERE identifier = 'C:N'",
        "rows are only added to a piece that the same transaction makes",
    ),
    Attempt(
        "declare state variables in a dialect that has none",
        "-xx",
        lambda house: new_revision(
            house,
            envelope="""'{"variables": "{\\"ep\\":{\\"values\\":[\\"3\\"],\\"initial\\":\\"3\\"}}"}'""",
        ),
        "its state variables are not as this program writes them",
    ),
    Attempt(
        "say something twice in a revision's envelope",
        "-xx",
        lambda house: new_revision(house, envelope="""'{"title": "A", "title": "A"}'"""),
        "not as this program writes it",
    ),
    Attempt("list a piece of another board", "-xx", foreign_piece, "pieces are not those of a document"),
    Attempt(
        "list pieces with a gap",
        "-xx",
        lambda house: [each.replace("ordinal, piece_id", "ordinal + 1, piece_id") for each in new_revision(house)],
        "pieces are not those of a document",
    ),
    Attempt("forge a piece's columns", "-xx", new_piece(letter="K"), "identifier is not what its columns say"),
    Attempt(
        "forge a board's digest",
        "-xx",
        [
            "INSERT INTO board (digest) VALUES (repeat('a', 64))",
            "INSERT INTO square VALUES (currval('board_id_seq'), 0, 'a1')",
        ],
        "squares and shape do not give",
    ),
    Attempt(
        "forge a lineage",
        "-xx",
        lambda house: new_revision(house, lineage=literal("f" * 64)),
        "do not give its lineage",
    ),
    Attempt(
        "forge a lineage's author",
        "-xx",
        lambda house: new_revision(house, lineage=literal(house.head.lineage)),
        "do not give its lineage",
    ),
    Attempt(
        "forge a revision's digest",
        "-xx",
        lambda house: new_revision(house, digest=literal("f" * 64)),
        "pieces and envelope do not give",
    ),
    Attempt(
        "forge a revision's envelope",
        "-xx",
        lambda house: new_revision(house, envelope='\'{"title": "Chess"}\''),
        "pieces and envelope do not give",
    ),
    Attempt(
        "forge the time",
        "-xx",
        lambda house: new_revision(house, at=datetime.now(UTC) + timedelta(days=3)),
        "in the future",
    ),
    Attempt("leave a number out", "-xx", lambda house: new_revision(house, number="9"), "does not follow the newest"),
    Attempt(
        "follow a revision of another ruleset",
        "-xx",
        lambda house: new_revision(
            house, parent_id="(SELECT v.id FROM revision v JOIN ruleset r ON r.id = v.ruleset_id WHERE r.name = 'old')"
        ),
        "not an earlier revision of its ruleset",
    ),
    Attempt(
        "store a revision without its pieces",
        "-xx",
        lambda house: new_revision(house, pieces=False),
        "do not give its digest",
    ),
    # adding to what is there
    Attempt("add a condition to an old piece", "-xx", ANOTHER, "only added to a piece"),
    Attempt(
        "add a possibility to an old piece",
        "-xx",
        f"INSERT INTO variant SELECT id, 0, 0, 1, 1 FROM piece WHERE id = {OLD_PIECE}",
        "only added to a piece",
    ),
    Attempt(
        "add a mask to an old piece",
        "-xx",
        f"INSERT INTO mask (start, number, exact) SELECT {OLD_PIECE} * 1024, 9, false",
        "only added to a piece|masks are not those",
    ),
    Attempt(
        "add a mask to a piece to come",
        "-xx",
        "INSERT INTO mask (start, number, exact) VALUES (999 * 1024, 0, false)",
        "only added to a piece|its piece is not there",
    ),
    Attempt(
        "add a square to an old board",
        "-xx",
        f"INSERT INTO square VALUES ({OLD_BOARD}, 99, 'z9')",
        "only added to a board",
    ),
    Attempt(
        "add a piece to an old revision",
        "-xx",
        f"INSERT INTO revision_piece VALUES ({HEAD}, 1, {OLD_PIECE})",
        "only added to a revision",
    ),
    Attempt(
        "add a parent to an old revision",
        "-xx",
        f"INSERT INTO revision_merge VALUES ({HEAD}, {FIRST})",
        "only added to a revision",
    ),
    # rewriting
    Attempt("change a message", "---", "UPDATE revision SET message = 'nothing happened'"),
    Attempt("change an author", "---", "UPDATE revision SET author = 'Eve'"),
    Attempt("change a lineage", "---", f"UPDATE revision SET lineage = digest WHERE id = {HEAD}"),
    Attempt(
        "change a revision in passing",
        "---",
        lambda house: [
            new_revision(house, number="2")[0] + " ON CONFLICT (ruleset_id, number) DO UPDATE SET author = 'Eve'"
        ],
    ),
    Attempt("change a digest", "---", "UPDATE piece SET digest = repeat('a', 64)"),
    Attempt("change a condition", "---", "UPDATE condition SET state = 'enemy'"),
    Attempt("change a name", "---", "UPDATE ruleset SET name = 'other' WHERE name = 'game'"),
    Attempt(
        "change a name within a query",
        "---",
        "WITH changed AS (UPDATE ruleset SET name = 'other' WHERE name = 'game' RETURNING 1) SELECT * FROM changed",
    ),
    Attempt("lock a row", "---", "SELECT * FROM revision FOR UPDATE"),
    Attempt("remove revisions", "---", "DELETE FROM revision"),
    Attempt("remove a piece from a revision", "---", "DELETE FROM revision_piece"),
    Attempt("remove rows that a revision needs", "--x", "DELETE FROM condition", "never removed"),
    Attempt(
        "remove squares that a piece needs", "--x", "DELETE FROM square", "squares and shape do not give its digest"
    ),
    Attempt(
        "remove some rows of an unlisted piece",
        "-xx",
        lambda house: [*new_piece(), "SET CONSTRAINTS ALL IMMEDIATE", "DELETE FROM effect WHERE piece_id = " + NEW],
        "permission denied|do not give its digest",
    ),
    Attempt("remove pieces that a revision lists", "--x", "DELETE FROM piece", "foreign key"),
    Attempt("remove a ruleset with revisions", "--x", "DELETE FROM ruleset", "foreign key"),
    Attempt("remove all masks", "--x", "DELETE FROM mask", "its masks are not those of its rows"),
    Attempt("empty a table", "---", "TRUNCATE mask"),
    Attempt("empty the history", "---", "TRUNCATE revision CASCADE"),
    # administering
    Attempt("move a tag", "--+", tag(3, 2)),
    Attempt("move a tag back", "--+", tag(3, 1)),
    Attempt("move a tag back without a trace", "---", f"UPDATE tag SET revision_id = {FIRST} WHERE number = 2"),
    Attempt("take a tag's last move away", "---", "DELETE FROM tag WHERE number = 2"),
    Attempt("leave out a move of a tag", "--x", tag(9, 1), "comes after what was written last"),
    Attempt("point a tag to another ruleset", "--x", tag(3, 1, "old"), "its own ruleset"),
    Attempt("retire a ruleset", "--+", state("game", "retired")),
    Attempt("revive a retired ruleset without a trace", "---", "DELETE FROM ruleset_state"),
    Attempt("hide a ruleset", "--+", "UPDATE ruleset SET deleted_at = now() WHERE name = 'game'"),
    Attempt("bring a ruleset back", "--+", "UPDATE ruleset SET deleted_at = NULL WHERE name = 'gone'"),
    Attempt("say that masks are not made yet", "--x", "UPDATE piece SET words = NULL", "masks are not as long"),
    # the audit
    Attempt(
        "write the audit", "---", "INSERT INTO audit (id, at, action, detail) VALUES (999, now(), 'revision', '{}')"
    ),
    Attempt("change the audit", "---", "UPDATE audit SET role = 'nobody'"),
    Attempt("remove the audit", "---", "DELETE FROM audit"),
    Attempt(
        "have the audit written by a table of one's own",
        "---",
        [
            "CREATE TEMPORARY TABLE mine (name text, deleted_at timestamptz)",
            "CREATE TRIGGER forged AFTER UPDATE ON mine FOR EACH ROW EXECUTE FUNCTION ggn_ruleset_audit_update()",
        ],
    ),
    Attempt("take a note of the guards away", "---", "DELETE FROM ggn_unchecked"),
    # what belongs to the owner
    Attempt("drop a table", "---", "DROP TABLE audit"),
    Attempt("drop a guard", "---", "DROP TRIGGER revision_sealed ON revision"),
    Attempt("drop a guard's function", "---", "DROP FUNCTION ggn_check() CASCADE"),
    Attempt(
        "replace a guard's function",
        "---",
        "CREATE OR REPLACE FUNCTION ggn_check() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    ),
    Attempt("switch triggers off", "---", "ALTER TABLE revision DISABLE TRIGGER ALL"),
    Attempt("switch triggers off for the session", "---", "SET session_replication_role = replica"),
    Attempt("change a table", "---", "ALTER TABLE revision ADD COLUMN forged text"),
    Attempt("take a table over", "---", "ALTER TABLE revision OWNER TO CURRENT_USER"),
    Attempt(
        "add a trigger",
        "---",
        "CREATE TRIGGER mine BEFORE INSERT ON revision EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ),
    Attempt("add a rule", "---", "CREATE RULE mine AS ON INSERT TO audit DO INSTEAD NOTHING"),
    Attempt("add a policy", "---", "CREATE POLICY mine ON revision USING (false)"),
    Attempt("add an index", "---", "CREATE INDEX mine ON revision (author)"),
    Attempt("comment on a table", "---", "COMMENT ON TABLE revision IS 'mine'"),
    Attempt("make a table", "---", "CREATE TABLE mine (x int)"),
    Attempt("make a view", "---", "CREATE VIEW mine AS SELECT 1"),
    Attempt("make a function", "---", "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'"),
    Attempt(
        "make an operator",
        "---",
        "CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = int, FUNCTION = pg_catalog.texteq)",
    ),
    Attempt("make a schema", "---", "CREATE SCHEMA mine"),
    Attempt("make a publication", "---", "CREATE PUBLICATION mine"),
    Attempt("keep a table locked", "--+", "LOCK TABLE piece IN ACCESS EXCLUSIVE MODE"),
    Attempt("keep the history locked", "---", "LOCK TABLE revision IN ACCESS EXCLUSIVE MODE"),
    Attempt("pass a right on", "000", "GRANT SELECT ON revision TO PUBLIC"),
    Attempt("take a right away", "000", "REVOKE SELECT ON revision FROM ggn_reader"),
    # other users
    Attempt("become the owner", "---", lambda house: [f"SET ROLE {house.owner}"]),
    Attempt("become a superuser", "---", lambda house: [f"SET SESSION AUTHORIZATION {house.superuser}"]),
    Attempt("become an admin", "--+", "SET ROLE ggn_admin"),
    Attempt("become an author", "-+-", "SET ROLE ggn_author"),
    Attempt("make oneself an admin", "---", "GRANT ggn_admin TO CURRENT_USER"),
    Attempt("make oneself a superuser", "---", "ALTER ROLE CURRENT_USER SUPERUSER"),
    Attempt("make a user", "---", "CREATE ROLE ggn_test_mine LOGIN"),
    Attempt("change the roles", "---", "ALTER ROLE ggn_reader LOGIN"),
    Attempt("take over what the owner has", "---", lambda house: [f"REASSIGN OWNED BY {house.owner} TO CURRENT_USER"]),
    Attempt(
        "end another's session",
        "---",
        lambda house: ["SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> session_user"],
    ),
    Attempt(
        "change the database",
        "---",
        lambda house: [f"ALTER DATABASE {house.url.split('?')[0].rsplit('/', 1)[1]} SET search_path = pg_temp"],
    ),
    # the server
    Attempt("run a program on the server", "---", "COPY (SELECT 1) TO PROGRAM 'true'"),
    Attempt("read from a program on the server", "---", "COPY square FROM PROGRAM 'true'"),
    Attempt("write a file of the server", "---", "COPY (SELECT 1) TO '/tmp/ggn_test_roles'"),
    Attempt("read a file of the server", "---", "SELECT pg_read_file('/etc/hostname')"),
    Attempt("list files of the server", "---", "SELECT pg_ls_dir('/')"),
    Attempt("take a file of the server in", "---", "SELECT lo_import('/etc/hostname')"),
    Attempt("make the server read its settings", "---", "SELECT pg_reload_conf()"),
    # what a session has of its own
    Attempt("make a temporary table", "-++", "CREATE TEMPORARY TABLE mine (x int)"),
    Attempt(
        "hide a ruleset's state behind a temporary table",
        "-xx",
        lambda house: [
            "CREATE TEMPORARY TABLE ruleset_state (ruleset_id bigint, number int, state text)",
            "SET LOCAL search_path = pg_temp, public",
            *new_revision(
                house, ruleset_id="(SELECT id FROM ruleset WHERE name = 'old')", number="2", parent_id="NULL"
            ),
        ],
        "is retired",
    ),
    Attempt(
        "hide the notes of the guards behind a temporary table",
        "-xx",
        [
            "CREATE TEMPORARY TABLE ggn_unchecked (kind text, id bigint)",
            "SET LOCAL search_path = pg_temp, public",
            *new_piece(digest="f" * 64),
        ],
        "do not give its digest",
    ),
    Attempt(
        "hide SHA-256 behind a function of one's own",
        "-xx",
        [
            "CREATE FUNCTION pg_temp.encode(bytea, text) RETURNS text LANGUAGE sql AS $$ SELECT repeat('f', 64) $$",
            "SET LOCAL search_path = pg_temp, pg_catalog, public",
            *new_piece(digest="f" * 64),
        ],
        "do not give its digest",
    ),
    # what Postgres lets everybody do: it changes nothing in the store
    Attempt("listen", "+++", "LISTEN ggn_store"),
    Attempt("notify", "+++", "NOTIFY ggn_store"),
    Attempt("take an advisory lock", "+++", "SELECT pg_advisory_xact_lock(1)"),
)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=[each.name.replace(" ", "-") for each in ATTEMPTS])
def test_each_role_may_do_what_is_documented(house: House, attempt: Attempt, role: str) -> None:
    outcome, given = attempt.outcomes[ROLES.index(role)], attempt.statements
    statements = [given] if isinstance(given, str) else given(house) if callable(given) else given
    before = house.dump()
    with psycopg.connect(house.addresses[role]) as connection:
        if outcome in "+0":
            for statement in statements:
                connection.execute(statement.encode())
            connection.execute(b"SET CONSTRAINTS ALL IMMEDIATE")
            if outcome == "0":
                connection.commit()
            connection.rollback()
        else:
            with pytest.raises(psycopg.Error) as refused:
                run(connection, statements)
            if outcome == "-":
                assert refused.value.sqlstate == "42501", refused.value
            else:
                assert attempt.because
                assert re.search(attempt.because, str(refused.value)), refused.value
    assert house.dump() == before


def run(connection: psycopg.Connection[Any], statements: Sequence[str]) -> None:
    for statement in statements:
        connection.execute(statement.encode())
    connection.commit()


def test_the_store_is_sound_after_all_attempts(house: House) -> None:
    for role in ROLES:
        with Store.open(house.addresses[role]) as store:
            assert store.check() == []


# --- what works ---


def test_a_reader_asks_everything(house: House) -> None:
    with Store.open(house.addresses["reader"]) as store:
        assert {"game", "old"} <= {each.name for each in store.revisions()}
        game = store.ruleset("game")
        position = Position({"a1": "C:R"}, side="first")
        assert [move.destination for move in game.moves(position)] == ["a2"]
        assert [[move.destination for move in each] for each in game.moves_batch([position, position])] == [["a2"]] * 2
        assert [store.ruleset("game@1").document().data(), game.document().data()] == [KNIGHT, ROOK]
        assert {each.revision.name: each.counts["pieces"] for each in store.list()}["old"] == 2
        assert store.ruleset("game:stable").revision == game.revision
        assert store.info().rulesets is not None
        assert store.check() == []
        assert len(store.roles().roles) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["show", "game"],
        ["export", "game"],
        ["db", "check"],
        ["db", "info"],
        ["db", "roles", "show"],
        ["moves", "game", "--board", '{"a1": "C:R"}'],
    ],
)
def test_the_commands_of_a_reader_work(house: House, arguments: list[str]) -> None:
    done = CliRunner().invoke(group, ["--db", house.addresses["reader"], *arguments])
    assert (done.exit_code, done.exception) == (0, None)
    assert done.output


@pytest.fixture
def used(house: House) -> Iterator[House]:
    """The store, for a test that leaves more in it under names of its own."""
    yield house
    with Store.open(house.addresses["reader"]) as store:
        assert store.check() == []


def test_an_author_loads_documents_streams_and_games(used: House, tmp_path: Path) -> None:
    lines = [{"name": f"team/{number}", "document": document} for number, document in enumerate((KNIGHT, ROOK, BISHOP))]
    (tmp_path / "some.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Store.open(used.addresses["author"]) as store:
        loaded = [each.revision for each in store.load_all([tmp_path / "some.ndjson"])]
        assert [each.name for each in loaded if each is not None] == ["team/0", "team/1", "team/2"]
        [game] = store.load_library("tic-tac-toe")
        assert store.ruleset(str(game)).document().possibilities == 18
        assert store.load(KNIGHT, "team/0").status == "unchanged"
        second = store.load(ROOK, "team/0", base="1")
        assert (second.number, second.author) == (2, store._database.role)
        with pytest.raises(HeadMovedError):
            store.load(BISHOP, "team/0", base="1")
        played = store.ruleset("tic-tac-toe")
        assert played.perft(played.position(), 2).count == 9 * 8


def test_the_owner_is_not_held_up(house: House) -> None:
    for statement in (ANOTHER, "INSERT INTO ruleset (name) VALUES ('empty')", tag(9, 1)):
        with psycopg.connect(house.addresses["owner"]) as connection:
            connection.execute(statement.encode())
            connection.execute(b"SET CONSTRAINTS ALL IMMEDIATE")
            connection.rollback()


def test_several_authors_share_pieces_at_once(used: House) -> None:
    contents = [{f"C:{letter}": next(iter(KNIGHT.values()))} | KNIGHT for letter in "ABDEF"]

    def work(number: int) -> set[str]:
        with Store.open(used.addresses["author"]) as store:
            turned = contents[number:] + contents[:number]
            return {str(store.load(each, f"shared/{number % 2}", author=str(number))) for each in turned * 2}

    with ThreadPoolExecutor(4) as pool:
        loaded = set().union(*pool.map(work, range(4)))
    with psycopg.connect(used.url) as server:
        listed = server.execute(
            "SELECT r.name || '@' || v.number FROM revision v JOIN ruleset r ON r.id = v.ruleset_id "
            "WHERE r.name ^@ 'shared/'"
        )
        assert {row[0] for row in listed} == loaded
        assert server.execute("SELECT count(*) FROM ggn_unchecked").fetchone() == (0,)


def test_an_admin_hides_brings_back_rebuilds_and_removes(used: House) -> None:
    with Store.open(used.addresses["author"]) as store:
        store.load(KNIGHT, "admin/hidden")
    with Store.open(used.addresses["admin"]) as store:
        store.delete("admin/hidden")
        assert store.load(KNIGHT, "admin/hidden").status == "restored"
        with store._database.reading() as connection:
            count = connection.execute(text("SELECT count(*) FROM piece")).scalar_one()
        assert store.rebuild() == count
    with psycopg.connect(used.addresses["author"]) as author:
        run(author, new_piece())
    with psycopg.connect(used.addresses["admin"]) as admin:
        unused = "(SELECT id FROM piece WHERE identifier = 'C:Q')"
        tables = [f'DELETE FROM "{table.name}" WHERE piece_id = {unused}' for table in reversed(t.PIECE_TABLES)]
        gone = f"DELETE FROM mask WHERE start / 1024 = {unused}"
        run(admin, [gone, *tables, "DELETE FROM piece WHERE identifier = 'C:Q'"])
        newest = admin.execute("SELECT action, role FROM audit ORDER BY id DESC LIMIT 1").fetchone()
        assert newest == ("gc", admin.info.user)


# --- what is told to whom may not ---


@pytest.mark.parametrize(
    ("role", "attempt", "said"),
    [
        (
            "stranger",
            lambda store: store.revisions(),
            "in none of the roles .* ask .* GRANT ggn_reader TO ggn_test_str",
        ),
        (
            "reader",
            lambda store: store.load(KNIGHT, "mine"),
            "in ggn_reader, which only reads; .* GRANT ggn_author TO ",
        ),
        (
            "author",
            lambda store: store.delete("game"),
            r"permission denied for table ruleset\).* takes ggn_admin, or the owner of the tables$",
        ),
        ("author", lambda store: store.load(ROOK, "gone"), "gone was deleted, and to bring it back takes ggn_admin"),
        ("author", lambda store: store.load(KNIGHT, "gone"), "gone was deleted, and to bring it back takes ggn_admin"),
        ("author", lambda store: store.rebuild(), "takes ggn_admin"),
        ("author", lambda store: store.load(ROOK, "old"), "old is retired and takes no revisions"),
        ("admin", lambda store: store.init_roles(), "for the owner of the tables only, not for members of ggn_admin"),
    ],
)
def test_who_lacks_a_right_is_told_which_role_has_it(
    house: House, role: str, attempt: Callable[[Store], object], said: str
) -> None:
    before = house.dump()
    with pytest.raises((StoreError, GateError), match=said), Store.open(house.addresses[role]) as store:
        attempt(store)
    assert house.dump() == before


# --- the table of rights, the script, and what deviates ---


def test_every_table_has_its_line_in_the_table_of_rights() -> None:
    assert t.metadata.tables.keys() <= server_roles.RIGHTS.keys()
    assert {view.name for view in views.VIEWS} <= server_roles.RIGHTS.keys()


OF_COLUMNS = ("SELECT", "INSERT", "UPDATE", "REFERENCES")
OF_TABLES = ("DELETE", "TRUNCATE", "TRIGGER")


def test_the_rights_of_the_catalogue_are_those_of_the_table(house: House) -> None:
    listed = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
    of_column = "SELECT has_column_privilege(%s, %s, %s, %s)"
    of_table = "SELECT has_table_privilege(%s, %s, %s)"
    with psycopg.connect(house.url) as connection:
        for table in server_roles.RIGHTS:
            name = f'"{table}"'
            columns = [row[0] for row in connection.execute(listed, [name]).fetchall()]
            granted = [*server_roles.rights(table)]
            for role in engine.ROLES:
                for privilege in OF_COLUMNS:
                    for column in columns:
                        expected = any(
                            right == privilege and of in (None, column) and role in to for right, of, to in granted
                        )
                        found = connection.execute(of_column, [role, name, column, privilege]).fetchone()
                        assert found == (expected,), (role, privilege, table, column)
                for privilege in OF_TABLES:
                    expected = any(right == privilege and role in to for right, _, to in granted)
                    found = connection.execute(of_table, [role, name, privilege]).fetchone()
                    assert found == (expected,), (role, privilege, table)


def test_an_author_s_rights_are_to_insert_and_nothing_else() -> None:
    for table in server_roles.RIGHTS:
        for right, column, to in server_roles.rights(table):
            assert right in ("SELECT", "INSERT") or to == ("ggn_admin",)
            assert right == "SELECT" or "ggn_reader" not in to
            assert right == "SELECT" or table not in ("audit", "ggn_store_version")
            assert right == "SELECT" or column != "id"


DEVIATIONS = (
    ("GRANT UPDATE ON revision TO ggn_author", "ggn_author has UPDATE on revision"),
    ("GRANT UPDATE (author, message) ON revision TO ggn_author", "ggn_author has UPDATE on revision (author, message)"),
    ("GRANT SELECT ON piece TO ggn_reader WITH GRANT OPTION", "ggn_reader has SELECT WITH GRANT OPTION on piece"),
    ("REVOKE INSERT ON condition FROM ggn_author", "ggn_author lacks INSERT on condition"),
    ("REVOKE USAGE ON SEQUENCE piece_id_seq FROM ggn_admin", "ggn_admin lacks USAGE on sequence piece_id_seq"),
    ("GRANT USAGE ON SEQUENCE audit_id_seq TO ggn_author", "ggn_author has USAGE on sequence audit_id_seq"),
    ("GRANT CREATE ON SCHEMA public TO PUBLIC", "PUBLIC has CREATE on schema public"),
    (
        "GRANT EXECUTE ON FUNCTION ggn_tag_audit_insert() TO PUBLIC",
        "PUBLIC has EXECUTE on function ggn_tag_audit_insert()",
    ),
    ("ALTER TABLE revision DISABLE TRIGGER revision_sealed", "the trigger revision_sealed on revision is switched off"),
    ("ALTER TABLE audit DISABLE TRIGGER audit_kept", "the trigger audit_kept on audit is switched off"),
    ("DROP TRIGGER piece_sealed ON piece", "the trigger piece_sealed on piece is missing"),
    (
        "CREATE OR REPLACE FUNCTION ggn_check() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "the function ggn_check() is not this program's",
    ),
    ("ALTER FUNCTION ggn_check() RESET ALL", "the function ggn_check() is not this program's"),
    ("DROP FUNCTION ggn_number_next() CASCADE", "the function ggn_number_next() is missing"),
    ("ALTER FUNCTION ggn_check() OWNER TO CURRENT_USER", "the function ggn_check() belongs to "),
    ("ALTER ROLE ggn_author CREATEROLE", "ggn_author has CREATEROLE"),
    ("GRANT pg_read_server_files TO ggn_reader", "ggn_reader is a member of pg_read_server_files, and has its rights"),
)
NOT_OURS_TO_MEND = (
    "ALTER ROLE",
    "GRANT pg_read",
    "ALTER TABLE audit",
    "ALTER TABLE revision",
    "ALTER FUNCTION ggn_check() O",
)


@pytest.mark.parametrize(("statement", "sentence"), DEVIATIONS)
def test_what_was_changed_by_hand_is_told_and_mended(house: House, statement: str, sentence: str) -> None:
    with Store.open(house.url) as store, store._database.engine.connect() as connection:
        change = connection.begin()
        assert server_roles.find_roles(connection).deviations == ()
        connection.execute(text(statement))
        assert any(each.startswith(sentence) for each in server_roles.find_roles(connection).deviations)
        if not statement.startswith(NOT_OURS_TO_MEND):
            server_roles.initialise(connection)
            assert server_roles.find_roles(connection).deviations == ()
        change.rollback()


def test_a_role_that_may_do_more_is_not_taken_for_ours(house: House) -> None:
    with Store.open(house.url) as store, store._database.engine.connect() as connection:
        change = connection.begin()
        connection.execute(text("ALTER ROLE ggn_author CREATEROLE"))
        with pytest.raises(psycopg.Error, match="the server has a role ggn_author already, which may do more"):
            server_roles.initialise(connection)
        change.rollback()


def test_the_printed_script_does_what_init_does(postgres_server: Server) -> None:
    url = postgres_server.create_database()
    with Store.open(url, upgrade=True) as store:
        assert store.roles().deviations[-1] in (
            "the roles have no rights on this store yet",
            "there is no role ggn_admin",
        )
        shown = CliRunner().invoke(group, ["--db", url, "db", "roles", "show"])
        assert (shown.exit_code, "run `ggn-store db roles init`" in shown.stderr) == (1, True)
        script = CliRunner().invoke(group, ["--db", url, "db", "roles", "init", "--sql"]).stdout
        assert store.roles().deviations != ()
        assert script == f"BEGIN;\n\n{store.roles_script()}\nCOMMIT;\n"
        for _ in range(2):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(script.encode())
            assert store.roles().deviations == ()
        done = CliRunner().invoke(group, ["--db", url, "db", "roles", "init"])
        assert (done.exit_code, "the roles are ready" in done.stdout) == (0, True)
        told = json.loads(CliRunner().invoke(group, ["--db", url, "db", "roles", "show", "--format", "json"]).stdout)
        assert [(role["name"], role["exists"]) for role in told["roles"]] == [
            ("ggn_reader", True),
            ("ggn_author", True),
            ("ggn_admin", True),
        ]
        assert told["deviations"] == []
    postgres_server.drop_database(url)


def test_show_tells_members_and_owner(house: House) -> None:
    shown = CliRunner().invoke(group, ["--db", house.addresses["reader"], "db", "roles", "show"]).stdout
    assert f"owner       {house.owner}\n" in shown
    [line] = [line for line in shown.splitlines() if line.startswith("ggn_author")]
    assert house.addresses["author"].split("//")[1].split(":")[0] in line
    assert "  UPDATE on piece (words), ruleset (deleted_at)" in shown


def test_the_owner_without_rights_over_roles_renews_what_a_superuser_has_made(house: House) -> None:
    with Store.open(house.addresses["owner"], upgrade=True) as store:
        assert store.roles().deviations == ()
        assert store.init_roles().deviations == ()


def test_a_file_has_no_roles(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    with Store.open(address) as store:
        for ask in (store.roles, store.init_roles, store.roles_script):
            with pytest.raises(StoreError, match=r"roles are of Postgres.*\(chmod\)"):
                ask()
    done = CliRunner().invoke(group, ["--db", address, "db", "roles", "show"])
    assert isinstance(done.exception, StoreError)


# --- SQL's digests are Python's ---


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_guards_let_every_document_through(used: House, dialect: Dialect) -> None:
    with Store.open(used.addresses["author"]) as store:

        @settings(max_examples=40, deadline=None)
        @given(documents(dialect))
        def loads(document: dict[str, Any]) -> None:
            content = parse(document, dialect)
            revision = store.load(content, f"random/{dialect}")
            assert store.ruleset(str(revision)).document().data() == content.data()

        loads()


GUARDED = Document(
    "gdl",
    (
        Piece(
            "D:M",
            (Source("x", (Destination("y", (Possibility(effects=Transition({"x": None}), guards={"ep": ("3",)}),)),)),),
        ),
    ),
)
EP = '{"values":["3","none"],"initial":"none"}'
UNDECLARED = "its pieces name a state that it does not declare"
UNWRITTEN = "its state variables are not as this program writes them"


@pytest.mark.parametrize(
    ("declared", "refusal"),
    [
        (f'{{"ep":{EP}}}', None),
        (None, UNDECLARED),
        ('{"ep":{"values":["none"],"initial":"none"}}', UNDECLARED),
        (f'{{"eq":{EP}}}', UNDECLARED),
        (f'{{"ep": {EP}}}', UNWRITTEN),
        (f'{{"ep":{EP},"a":{EP}}}', UNWRITTEN),
        (f'{{"ep":{EP},"ep":{EP}}}', UNWRITTEN),
        ('{"ep":{"values":["none","3"],"initial":"none"}}', UNWRITTEN),
        ('{"ep":{"values":["3","3"],"initial":"3"}}', UNWRITTEN),
        ('{"ep":{"values":["3"],"initial":"none"}}', UNWRITTEN),
        ('{"ep":{"values":["","3"],"initial":"3"}}', UNWRITTEN),
        ('{"ep":{"values":[3],"initial":"3"}}', UNWRITTEN),
        ('{"ep":{"values":["3"]}}', UNWRITTEN),
        (f'{{"":{EP},"ep":{EP}}}', UNWRITTEN),
        ("{}", UNWRITTEN),
        ("[]", None),
        ("no JSON", None),
    ],
)
def test_an_author_declares_every_state_that_pieces_name(
    used: House, declared: str | None, refusal: str | None
) -> None:
    # As this program would never send it: what it reads, it has checked.
    document = replace(GUARDED, envelope=Envelope(variables=declared))
    is_sound = declared == f'{{"ep":{EP}}}'
    with Store.open(used.addresses["author"]) as store:
        if is_sound:
            assert store.load(document, "state/declared").dialect == "gdl"
            return
        with pytest.raises(StoreError, match=refusal):
            store.load(document, "state/forged")
        assert "state/forged" not in [each.name for each in store.revisions()]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20) | st.sampled_from(
    ["\x01\x1f\x7f\x80\u2028", '"\\\b\f\n\r\t/', "🙂é\U0010ffff", "</script>", "'"]
)


def test_the_guards_let_every_author_message_and_title_through(used: House) -> None:
    with Store.open(used.addresses["author"]) as store:
        turns = itertools.cycle((KNIGHT, ROOK))

        @settings(max_examples=80, deadline=None)
        @given(TEXTS, TEXTS, st.fixed_dictionaries({}, optional={"title": TEXTS, "source": TEXTS, "schema": TEXTS}))
        def loads(author: str, message: str, envelope: dict[str, str]) -> None:
            content = parse(next(turns))
            content = replace(content, envelope=replace(content.envelope, **envelope))
            assert store.load(content, "random/texts", author=author, message=message).status in ("new", "unchanged")

        loads()


ONE = "ctid = (SELECT ctid FROM {table} WHERE piece_id = {piece} LIMIT 1)"
ONE_MASK = "ctid = (SELECT ctid FROM mask WHERE start / 1024 = {piece} LIMIT 1)"
CHANGES = (
    ("condition", "state = CASE state WHEN 'empty' THEN 'enemy' ELSE 'empty' END"),
    ("condition", "polarity = CASE polarity WHEN 'must' THEN 'deny' ELSE 'must' END"),
    ("condition", "square = square + 1"),
    ("condition", "square = square + 1000"),
    ("effect", "becomes = CASE WHEN becomes IS NULL THEN 'C:P' END"),
    ("effect", "square = square + 1"),
    ("hand_effect", "delta = -delta"),
    ("variant", "toggle = CASE WHEN toggle THEN false ELSE true END"),
    ("variant", "toggle = CASE WHEN toggle IS NULL THEN true END"),
    ("variant", "number = number + 1000"),
    ("variant", "ordinal = ordinal + 7"),
    ("destination", "square = CASE WHEN square IS NULL THEN 0 END"),
    ("destination", "ordinal = ordinal + 7"),
    ("source", "square = CASE WHEN square IS NULL THEN 0 END"),
    ("source", "ordinal = ordinal + 7"),
    ("variant_origin", "action = action || 'x'"),
    ("variant_origin", "action = ''"),
    ("variant_origin", "step = step + 1"),
    ("variant_origin", "step = 1000001"),
    ("variant_origin", "chainable = NOT chainable"),
    ("guard", "value = value || 'x'"),
    ("guard", "variable = variable || 'x'"),
    ("state_effect", "value = value || 'x'"),
    ("state_effect", "variable = ''"),
)
OF_PIECES = (
    "identifier = identifier || ''''",
    "side = CASE side WHEN 'first' THEN 'second' ELSE 'first' END",
    "terminal = NOT terminal",
    "derived = NOT derived",
    "state = CASE state WHEN '' THEN '+' ELSE '' END",
    "words = words + 1",
    "digest = repeat('0', 64)",
)
OF_MASKS = (
    "number = number + 1000",
    "start = start + 1",
    "exact = NOT exact",
    "not_empty_0 = not_empty_0 # 1",
    "not_enemy_0 = not_enemy_0 # 2",
    "not_own_0 = not_own_0 # 4",
    "twin_0 = twin_0 # 1",
    "not_own_7 = 0",
    "not_own_0 = NULL",
)
DAMAGES = (
    *(f"DELETE FROM {table.name} WHERE {ONE}".replace("{table}", table.name) for table in t.PIECE_TABLES),
    *(f"UPDATE {table} SET {change} WHERE {ONE}".replace("{table}", table) for table, change in CHANGES),
    *(f"UPDATE piece SET {change} WHERE id = {{piece}}" for change in OF_PIECES),
    *(f"UPDATE mask SET {change} WHERE {ONE_MASK}" for change in OF_MASKS),
    f"DELETE FROM mask WHERE {ONE_MASK}",
    "INSERT INTO hand_effect SELECT piece_id, number, 'C:Z', 1 FROM variant WHERE piece_id = {piece} LIMIT 1",
    "INSERT INTO effect SELECT piece_id, number, 0, 'C:Z' FROM variant WHERE piece_id = {piece} LIMIT 1",
    "INSERT INTO condition SELECT piece_id, variant, polarity, square, state || 'x' FROM condition "
    "WHERE piece_id = {piece} LIMIT 1",
    "INSERT INTO variant_origin SELECT piece_id, number, 'planted', 1, false FROM variant WHERE piece_id = {piece} "
    "AND number NOT IN (SELECT variant FROM variant_origin AS o WHERE o.piece_id = {piece}) LIMIT 1",
    "INSERT INTO guard SELECT piece_id, number, 'planted', '1' FROM variant WHERE piece_id = {piece} LIMIT 1",
    "INSERT INTO state_effect SELECT piece_id, number, 'planted', '1' FROM variant WHERE piece_id = {piece} LIMIT 1",
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_guards_see_every_damage_to_a_piece(used: House, dialect: Dialect) -> None:
    with Store.open(used.addresses["author"]) as store, psycopg.connect(used.url, autocommit=True) as server:
        server.execute("SET session_replication_role = replica")  # without triggers
        seen: Counter[str] = Counter()

        @settings(max_examples=25, deadline=None)
        @given(documents(dialect))
        def sees(document: dict[str, Any]) -> None:
            revision = store.load(parse(document, dialect), f"damaged/{dialect}")
            listed = "SELECT piece_id FROM revision_piece WHERE revision_id = %s ORDER BY ordinal"
            [piece, *_] = server.execute(listed, [revision.id]).fetchall()[0]
            faults = f"SELECT coalesce(ggn_fault_of_piece({piece}), ggn_fault_of_mask({piece}))".encode()
            assert server.execute(faults).fetchone() == (None,)
            for damage in DAMAGES:
                with contextlib.suppress(psycopg.errors.IntegrityError), server.transaction(force_rollback=True):
                    if server.execute(damage.format(piece=piece).encode()).rowcount:
                        assert server.execute(faults).fetchone() != (None,), damage
                        seen[damage] += 1

        sees()
        others = sum("variant_origin" in each or "guard" in each or "state_effect" in each for each in DAMAGES)
        possible = len(DAMAGES) if dialect == "gdl" else len(DAMAGES) - others
        assert len(seen) > possible * 2 / 3


def test_the_guards_know_the_masks_of_boards_of_every_size(used: House) -> None:
    with Store.open(used.addresses["author"]) as store, psycopg.connect(used.url) as server:
        for size in ("8x8", "9x9", "22x22", "23x23"):
            game = f'title = "Big"\nboard = "{size}"\nstyle = "B"\n[pieces.P]\nbetza = "mfWcfFmfnD"\n'
            revision = store.load(read_definition(game), f"big/{size}")
            faults = "SELECT ggn_fault_of_mask(piece_id) FROM revision_piece WHERE revision_id = %s"
            assert set(server.execute(faults, [revision.id]).fetchall()) == {(None,)}
