"""Postgres: a server."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from typing import Any, ClassVar

from sqlalchemy import (
    CTE,
    URL,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Integer,
    Select,
    Table,
    Text,
    TextClause,
    bindparam,
    cast,
    column,
    create_engine,
    event,
    func,
    literal,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError

from ggn_store.errors import UNSTORABLE, GateError, RightError, StoreError, quote
from ggn_store.store.database import postgres_definitions
from ggn_store.store.database.definitions import Definitions, Seals
from ggn_store.store.database.engine import (
    ADMIN,
    AUTHOR,
    READER,
    ChangeSignal,
    Database,
    Rows,
    RowSelect,
    Sender,
    cause,
    quoted_names,
    refusal,
)

_ROWS_A_BLOCK = 2_000
_CHANNEL = "ggn_store"  # which the triggers of the audit notify
_IS_REPLICA = "25006"
# A question is a few seeks in an index. The planner does not know how few, and on its own reads whole tables.
_SEEKING = "; ".join(f"SET {name} = off" for name in ("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"))


# What an answer looks like must depend neither on variables (PGTZ, PGDATESTYLE, PGCLIENTENCODING) nor on the server's
# own defaults for a user or a database.
SESSION = ("client_encoding = 'UTF8'", "DateStyle = 'ISO, YMD'", "TimeZone = 'UTC'")

_NO_RIGHT = "42501"
# Who is connected, and whether that is somebody whom no guard of a store would stop.
_USER = text(
    "SELECT session_user::text, r.rolsuper OR coalesce(pg_has_role(session_user, c.relowner, 'MEMBER'), true) "
    "FROM pg_roles AS r LEFT JOIN pg_class AS c ON c.oid = to_regclass('revision') WHERE r.rolname = session_user"
)


class Postgres(Database):
    """A server; loads go through COPY."""

    name = "postgres"
    insert = staticmethod(postgresql.insert)
    is_server = True
    _reading_options: ClassVar[dict[str, Any]] = {"isolation_level": "REPEATABLE READ"}
    _SCHEMA_LOCK = 0x67676E73  # any numbers that processes of this program agree on
    _PIECES_LOCK = 0x67676E70

    def _create_engine(self, url: URL) -> Engine:
        engine = create_engine(url, pool_pre_ping=True)
        event.listen(engine, "connect", self._on_connect)
        return engine

    @staticmethod
    def _on_connect(connection: Any, _record: object) -> None:
        connection.autocommit = True  # or a transaction that is rolled back would take the settings with it
        connection.execute("; ".join(f"SET {setting}" for setting in SESSION))
        connection.autocommit = False

    def as_user(self, name: str) -> Postgres:
        """The database through connections of this user's own.

        The triggers of a store go by `session_user`, which nobody but a superuser can set: so each person needs a
        connection. Nothing of this address's password is passed on; libpq finds the user's own, in the password file,
        or the server knows this program by a certificate or the user of its process.

        Raises GateError where nobody gets in so, and for superusers and owners of the tables, whom nothing stops.
        """
        if not name or UNSTORABLE.search(name):
            raise GateError(f"{quote(name)} is no user of a database")
        with self.reading() as connection:
            home = self.identity(connection)
        url = self.url
        if name != self.role:
            settings = {key: value for key, value in url.query.items() if key not in ("user", "password")}
            url = URL.create(url.drivername, name, None, url.host, url.port, url.database, settings)
        found = Postgres(url)
        found.naming = self.naming
        try:
            found._require_person(name, home)
        except BaseException:
            found.close()
            raise
        return found

    def _require_person(self, name: str, home: Hashable) -> None:
        """Raise GateError unless this connects as the user `name`, whom guards stop, to the database `home`."""
        try:
            with self.reading() as connection:
                user, is_unstoppable = connection.execute(_USER).one()
                is_home = self.identity(connection) == home
        except StoreError as error:
            raise GateError(
                f"{quote(name)} cannot connect to the database: what somebody does is done as a user of that name, "
                "whom an administrator of the server makes (see `guide web`)"
            ) from error
        # A pool before the server may connect as somebody else, and the server cuts a long name off.
        if user != name or not is_home:
            raise GateError(f"who connects as {quote(name)} is somebody else, or elsewhere: see `guide web`")
        if is_unstoppable:
            raise GateError(f"{quote(name)} owns the tables, or is a superuser: use a user of your own")

    def _failed(self, error: BaseException | None) -> StoreError:
        failed = super()._failed(error)
        return RightError(*failed.args) if getattr(error, "sqlstate", None) == _NO_RIGHT else failed

    def _settings(self) -> frozenset[str]:
        from psycopg import pq

        known = frozenset(each.keyword.decode() for each in pq.Conninfo.get_defaults())
        return known - {"password", "sslpassword"}

    def _explain_error(self, error: BaseException | None) -> str:
        state = getattr(error, "sqlstate", None) or ""
        known = {
            "28000": "the server refuses this user: see user and password",
            "28P01": "the server refuses this password",
            "3D000": "there is no such database on the server: create it first (createdb)",
            "42P01": "a table is missing: run `ggn-store db info`",
            "25006": "the server is read-only; nothing was stored",
            "53100": "the server's disk is full; nothing was stored",
            "53300": "the server takes no more connections; try again later",
            "40P01": "the server broke a deadlock with another user; nothing was stored: try again",
            "57P01": "the server is shutting down; nothing was stored",
        }.get(state)
        if known is not None:
            return known
        if state == _NO_RIGHT:
            return self._explain_right(error)
        if (refused := refusal(error)) is not None:
            return refused
        detail = next(iter(str(error).strip().splitlines()), type(error).__name__)
        if not state or state.startswith("08"):
            return f"no connection: {detail}"
        return f"Postgres refused ({state}): {detail}"

    def _explain_right(self, error: BaseException | None) -> str:
        """Which role somebody lacks who may not do something; where the server has the roles of a store."""
        said = getattr(getattr(error, "diag", None), "message_primary", None) or "permission denied"
        rights = f"this user may not do that ({said})"
        asked = (
            "SELECT session_user::text, ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY(%(names)s)), "
            "ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY(%(names)s) AND pg_has_role(oid, 'MEMBER'))"
        )
        try:
            handle = self._connect_directly()
            try:
                [(user, roles, own)] = self._run(handle, asked, {"names": [READER, AUTHOR, ADMIN]})
            finally:
                self._give_up(handle)
        except (DBAPIError, self._driver_error):  # not even to connect
            roles = []
        if not roles:
            return f"{rights}: ask for the rights, or connect as another user"
        if ADMIN in own:
            return f"{rights}: it is for the owner of the tables only, not for members of {ADMIN}"
        if AUTHOR in own:
            return f"{rights}: {user} is in {AUTHOR}, and this takes {ADMIN}, or the owner of the tables"
        if READER in own:
            return (
                f"{rights}: {user} is in {READER}, which only reads; ask an administrator of the server for "
                f"GRANT {AUTHOR} TO {user}, to load and review, or GRANT {ADMIN} TO {user}, also to tag and hide"
            )
        return (
            f"{rights}: {user} is in none of the roles {READER} (to read), {AUTHOR} (to load) and {ADMIN}: "
            f"ask an administrator of the server for GRANT {READER} TO {user}"
        )

    def may_restore(self, connection: Connection) -> bool:
        asked = "SELECT has_column_privilege('ruleset', 'deleted_at', 'UPDATE')"
        return bool(connection.execute(text(asked)).scalar_one())

    def may_insert(self, connection: Connection, table: Table) -> bool:
        asked = text("SELECT has_table_privilege(:table, 'INSERT')")
        return bool(connection.execute(asked, {"table": table.name}).scalar_one())

    def _connect_directly(self) -> Any:
        handle = super()._connect_directly()
        handle.connection.autocommit = True
        handle.connection.execute(_SEEKING)
        return handle

    def _handle(self, connection: Any) -> Any:
        # A cursor for all statements: to make one takes as long as to send a short one.
        return connection.cursor(binary=True)

    @staticmethod
    def _give_up(handle: Any) -> None:
        handle.connection.close()

    @functools.cached_property
    def role(self) -> str | None:
        return str(self.fetch("SELECT session_user", {})[0][0])

    @functools.cached_property
    def sender(self) -> Sender | None:
        # No tables are made on a replica, nor without the right to.
        asked = (
            "SELECT current_setting('transaction_read_only') = 'off' "
            "AND has_database_privilege(current_database(), 'TEMP')"
        )
        return None if self.fetch(asked, {})[0][0] else Values()

    def _is_lost(self, connection: Any) -> bool:
        return bool(connection.connection.closed)

    def _run(self, connection: Any, statement: str, values: Any) -> list[Any]:
        connection.execute(statement, values, prepare=True)
        rows: list[Any] = connection.fetchall()
        return rows

    def ask(self, asked: RowSelect, rows: Sequence[tuple[int, ...]], connection: Connection | None = None) -> list[Any]:
        if not rows:
            return []
        # As texts, which the driver hands on as they are; the statement says what they are.
        columns = zip(asked.columns, zip(*rows, strict=True), strict=True)
        values = {name: f"{{{','.join(map(str, column))}}}" for name, column in columns}
        return self._fetched(self._text(asked, 0), values, connection)

    def _relation(self, columns: Sequence[str], count: int) -> FromClause:
        arrays = [bindparam(name, type_=postgresql.ARRAY(BigInteger)) for name in columns]
        listed = func.unnest(*arrays).table_valued(*(Column(name, BigInteger) for name in columns), name="asked")
        return listed.render_derived()

    def _bound(self, columns: Sequence[str], rows: Sequence[tuple[int, ...]]) -> dict[str, Any]:
        return {name: [row[i] for row in rows] for i, name in enumerate(columns)}

    def identity(self, connection: Connection) -> Hashable:
        # Two servers may be copies of one, but do not start at the same time.
        asked = "SELECT pg_postmaster_start_time()::text, current_database(), current_schema()"
        return tuple(connection.execute(text(asked)).one())

    def version(self, connection: Connection) -> str:
        return f"PostgreSQL {connection.execute(text('SHOW server_version')).scalar_one()}"

    def lock_schema(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": self._SCHEMA_LOCK})

    def lock_pieces(self, connection: Connection, alone: bool) -> None:
        lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        connection.execute(text(f"SELECT {lock}(:key)"), {"key": self._PIECES_LOCK})

    def fill(self, connection: Connection, columns: Iterable[Column[Any]], rows: Rows) -> None:
        table, names = quoted_names(columns)
        rows = iter(rows)
        chunk = list(islice(rows, _ROWS_A_BLOCK))
        if not chunk:
            return
        text_of = _Texts().__getitem__
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
            while chunk:
                lines = map("\t".join, zip(*(map(text_of, values) for values in zip(*chunk, strict=True)), strict=True))
                copy.write("\n".join(lines) + "\n")
                chunk = list(islice(rows, _ROWS_A_BLOCK))

    def arrays(self, table: Table, where: ColumnElement[bool]) -> Select[Any]:
        first, *others = select(table).where(where).order_by(*table.primary_key).subquery().columns
        found: list[ColumnElement[Any]] = [cast(func.json_agg(each), Text) for each in others]
        return select(first, func.count(), *found).group_by(first)

    def checksums(self, table: Table, key: ColumnElement[int]) -> list[ColumnElement[Any]]:
        # The hash of a row adds up those of its values: hashed once more, so that rows do not make up for each other.
        row = func.hashint8extended(func.hash_record_extended(table.table_valued(), 0), 0)
        return [func.count(), func.sum(row).cast(Text)]

    def analyze(self, connection: Connection, table: Table) -> None:
        connection.exec_driver_sql(f'ANALYZE "{table.name}"')

    def plan(self, connection: Connection, query: Select[Any] | TextClause) -> list[str]:
        statement = query.compile(self.engine, compile_kwargs={"literal_binds": True})
        return [str(row[0]) for row in connection.exec_driver_sql(f"EXPLAIN {statement}").all()]

    def definitions(self, connection: Connection, seals: Seals) -> Definitions:
        return postgres_definitions.definitions(connection, seals)

    def restore_rights(self, connection: Connection) -> None:
        postgres_definitions.restore_rights(connection)

    def transactions(self, connection: Connection) -> tuple[int, int]:
        snapshot = "pg_snapshot_{}(pg_current_snapshot())::text::bigint"
        row = connection.exec_driver_sql(f"SELECT {snapshot.format('xmin')}, {snapshot.format('xmax')}").one()
        return row[0], row[1]

    def changes(self) -> ChangeSignal:
        with self.explained():
            handle = self._connect_directly()
            try:
                handle.connection.execute(f"LISTEN {_CHANNEL}")
            except self._driver_error as error:
                handle.connection.close()
                if getattr(error, "sqlstate", None) == _IS_REPLICA:
                    return ChangeSignal()
                raise
        return _Notifications(self, handle.connection)

    def is_passing(self, error: StoreError) -> bool:
        said: Any = cause(error)
        state = getattr(said, "sqlstate", None) or "08"
        server = getattr(said, "pgconn", None)
        if server and (server.used_password or server.needs_password) and not self.engine.dialect.server_version_info:
            return False  # a server that asks for a password is there, and has never let this program in
        # No connection, the server's going down or coming up, too many connections, a deadlock.
        return isinstance(said, self._driver_error) and state.startswith(("08", "57P", "53300", "40"))

    def vacuum(self) -> None:
        raise StoreError(f"{self}: Postgres uses the room again by itself (autovacuum), there is nothing to do")


class Values(Sender):
    """Rows as arrays, which the server unnests, and as one JSON object by key."""

    def sent(self, connection: Connection, columns: Sequence[Column[Any]], rows: Rows) -> CTE:
        # A plan for any values expects a handful of rows, and reads what `sent_row` gives anew for each of them.
        connection.execute(text("SET LOCAL plan_cache_mode = force_custom_plan"))
        # Without the collation, which no cast can have.
        types = {each.name: Text() if isinstance(each.type, Text) else each.type for each in columns}
        lists = zip(*rows, strict=True)
        values = (cast(list(next(lists, ())), postgresql.ARRAY(each)) for each in types.values())
        relation = func.unnest(*values).table_valued(*itertools.starmap(column, types.items()))
        return select(relation.render_derived(name="sent")).cte(columns[0].table.description)

    def sent_row(self, table: Table, rows: Rows, key: Sequence[ColumnElement[Any]]) -> FromClause:
        width = len(key)
        found = {" ".join(map(str, row[:width])): row[width:] for row in rows}
        sent = cast(literal(json.dumps(found)), postgresql.JSONB)
        name = func.concat_ws(" ", *key)
        values = (
            sent[name][literal_column(str(place), Integer)].astext.label(each.name)
            for place, each in enumerate(list(table.columns)[width:])
        )
        return select(*values).correlate_except(None).lateral("here")


class _Notifications(ChangeSignal):
    """What a Postgres server tells of changes as soon as they are committed."""

    def __init__(self, database: Postgres, connection: Any) -> None:
        self._database = database
        self._connection = connection

    def wait(self, seconds: float) -> bool:
        with self._database.explained():
            return bool(list(self._connection.notifies(timeout=seconds, stop_after=1)))

    def close(self) -> None:
        self._connection.close()


_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class _Texts(dict[Any, str]):
    """Numbers, truth values and text -> what COPY reads, each made once; True is 1 to Python, and to COPY, too."""

    def __missing__(self, value: Any) -> str:
        text = "\\N" if value is None else value.translate(_ESCAPES) if isinstance(value, str) else str(int(value))
        return self.setdefault(value, text)
