"""A store on a Postgres server with a login in each role, and statements that whoever logs in may try on it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from sqlalchemy import text

from ggn_store import Document, Store, parse
from ggn_store.model.teams.revision import Revision
from ggn_store.movement import facts
from ggn_store.store.rulesets import lanes, load
from ggn_store.store.schema import tables as t
from ggn_store.store.server import roles as server_roles
from tests.support.postgres import Server
from tests.support.stored import KNIGHT, ROOK

ROLES = ("reader", "author", "admin")

BISHOP: dict[str, Any] = {
    "C:B": {"b1": {"c3": [{"must": {"c3": "enemy"}, "diff": {"board": {"b1": None, "c3": "C:B"}, "toggle": False}}]}}
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
    server: psycopg.Connection[Any]
    """The superuser's, with autocommit: a new one takes several times as long to read as many tables."""

    def dump(self) -> dict[str, Any]:
        """Everything that an attempt could have changed."""
        rows: dict[str, Any] = dumped(self.server)
        for name, query in CATALOG.items():
            rows[name] = self.server.execute(query.encode()).fetchall()
        return rows


def dumped(server: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """All rows of the tables of a store."""
    return {
        table: sorted(map(str, server.execute(f'SELECT * FROM "{table}"').fetchall())) for table in server_roles.RIGHTS
    }


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


@contextmanager
def logins(url: str, roles: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The addresses of a store for people who have these roles, which are made there; and for its `owner`."""
    mark = uuid.uuid4().hex[:12]
    with ExitStack() as stack:
        with Store.open(url) as owner:
            assert owner.server.init_roles().deviations == ()
        # Connected elsewhere: nobody may be, in the store's own database, when that is dropped or taken away.
        server = stack.enter_context(psycopg.connect(make_conninfo(url, dbname="postgres"), autocommit=True))
        addresses = {"owner": url}
        for name, role in roles.items():
            login = f"ggn_test_{name}_{mark}"
            server.execute(f"CREATE ROLE {login} LOGIN PASSWORD '{login}' IN ROLE {role}".encode())
            stack.callback(server.execute, f"DROP ROLE {login}".encode())
            addresses[name] = as_user(url, login)
        yield addresses


@pytest.fixture(scope="session")
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
            assert store.server.init_roles().deviations == ()
        for role in ROLES:
            server.execute(f"GRANT ggn_{role} TO {names[role]}".encode())
        with Store.open(addresses["author"]) as store:
            for document in (KNIGHT, ROOK):
                head = store.load(document, "game", message="change")
            store.load(BISHOP | KNIGHT, "old")
            store.load(ROOK, "gone")
        with Store.open(addresses["admin"]) as store, store.session.database.writing() as connection:
            for statement in (tag(1, 1), tag(2, 2), state("old", "retired")):
                connection.execute(text(statement))
            connection.execute(text("UPDATE ruleset SET deleted_at = now() WHERE name = 'gone'"))
        yield House(url, server.info.user, names["owner"], addresses, head, server)
    postgres_server.drop_database(url)


GAME = "(SELECT id FROM ruleset WHERE name = 'game')"


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


def counts(piece: str) -> dict[str, str]:
    """What the columns of a piece's summary are, each a query."""
    tables = {"sources": "source", "destinations": "destination", "possibilities": "variant"}
    tables |= {"conditions": "condition", "effects": "effect", "hand_effects": "hand_effect"}
    counted = {name: f"SELECT count(*) FROM {table} WHERE piece_id = {piece}" for name, table in tables.items()}
    of_variants = counted["possibilities"]
    hand = f"SELECT ordinal FROM source WHERE piece_id = {piece} AND square IS NULL"
    counted["drops"] = f"{of_variants} AND source IN ({hand})"
    counted["keeps_turn"] = f"{of_variants} AND toggle IS FALSE"
    return {name: counted[name] for name in t.COUNTS}


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
        "lanes": lanes.VERSION,
    } | columns
    statements = [
        f"INSERT INTO piece (board_id, {', '.join(row)}) VALUES ({OLD_BOARD}, {', '.join(map(literal, row.values()))})"
    ]
    for table, rows in zip(t.PIECE_TABLES, load.flatten(0, piece, made.board), strict=True):
        for _, *values in rows:
            statements.append(f'INSERT INTO "{table.name}" VALUES ({", ".join([NEW, *map(literal, values)])})')
    for key, *values in lanes.Encoder(made.board).rows(piece):
        listed = ", ".join([f"({NEW} << {lanes.OF_PIECE}) + {key}", *map(literal, values)])
        statements.append(f"INSERT INTO lane VALUES ({listed})")
    derived = facts.Deriver(made.board).of(piece).row()
    statements.append(f"INSERT INTO piece_facts VALUES ({', '.join([NEW, *map(literal, derived)])})")
    statements.append(
        f"INSERT INTO piece_summary SELECT {NEW}, {', '.join(f'({each})' for each in counts(NEW).values())}"
    )
    return statements


ANOTHER = "INSERT INTO condition SELECT id, 0, 'deny', 0, 'enemy' FROM piece WHERE identifier = 'C:N'"


def run(connection: psycopg.Connection[Any], statements: Sequence[str]) -> None:
    for statement in statements:
        connection.execute(statement.encode())
    connection.commit()


@pytest.fixture(scope="module")
def used(house: House) -> Iterator[House]:
    """The store, for tests that leave more in it under names of their own: sound when a module of them ends."""
    yield house
    with Store.open(house.addresses["reader"]) as store:
        assert store.upkeep.check() == []
