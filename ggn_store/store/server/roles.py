"""The roles of a Postgres server: who may do what with a store, the script that says so, and what deviates from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, text

from ggn_store.errors import StoreError, printable
from ggn_store.resources import sql
from ggn_store.store.database.definitions import ROLES_INIT, UPGRADE
from ggn_store.store.database.engine import ADMIN, AUTHOR, ROLES, UNCHECKED, Database, quoted
from ggn_store.store.database.postgres import Postgres
from ggn_store.store.database.postgres_definitions import Home, find_home
from ggn_store.store.database.session import VERSION_TABLE
from ggn_store.store.schema import tables as t
from ggn_store.store.schema import views
from ggn_store.store.server import guards, seals

_EVERYBODY = "PUBLIC"

_WRITERS = (AUTHOR, ADMIN)

_DERIVED = ("piece_summary", "piece_facts", "piece_name")

# Which rights beside SELECT the roles have on each table. A right on some columns only names them; INSERT of what a
# sequence numbers leaves the number out, so that nobody takes one that is still to come.
RIGHTS: dict[str, dict[str, tuple[str, ...]]] = {
    **{
        table: {"INSERT": _WRITERS, "DELETE": (ADMIN,)}
        for table in ("board", "square", "piece", "lane", *_DERIVED, *(table.name for table in t.PIECE_TABLES))
    },
    "piece_check": {"INSERT": (ADMIN,), "DELETE": (ADMIN,)},
    "ruleset": {"INSERT (name)": _WRITERS, "UPDATE (deleted_at)": (ADMIN,), "DELETE": (ADMIN,)},
    **{table: {"INSERT": _WRITERS} for table in ("revision", "revision_piece", "revision_merge")},
    **{table: {"INSERT": _WRITERS} for table in ("proposal", "proposal_piece", "verdict", "review_record")},
    # Of authors only those whom a policy names.
    **{table: {"INSERT": _WRITERS} for table in ("tag", "ruleset_state")},
    **{table: {"INSERT": (ADMIN,)} for table in ("policy", "ruleset_rename")},
    "audit": {},
    VERSION_TABLE: {},
    UNCHECKED: {"INSERT": _WRITERS},
    "moves_flat": {},
    "conditions_flat": {},
    **{name: {} for view in views.VIEWS for name in (view.name, view.every) if name is not None},
}
RIGHTS["piece"]["UPDATE (lanes)"] = (ADMIN,)

ON_DATABASE = {"CONNECT": ROLES, "TEMPORARY": _WRITERS}
ON_SCHEMA = {"USAGE": ROLES}
ON_SEQUENCE = {"USAGE": _WRITERS}
ATTRIBUTES = ("LOGIN", "SUPERUSER", "CREATEDB", "CREATEROLE", "REPLICATION", "BYPASSRLS")


@dataclass(frozen=True, slots=True)
class Role:
    """A group of the server. `members` are those who are in it directly; `grants` what it may do, an object each."""

    name: str
    exists: bool
    members: tuple[str, ...]
    grants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a store's database; `deviations` say how it differs from the script, one sentence each."""

    database: str
    schema: str
    owner: str
    owner_is_superuser: bool
    roles: tuple[Role, ...]
    deviations: tuple[str, ...]


def _serial(table: Table) -> str | None:
    """The column that a sequence numbers."""
    [*keys] = table.primary_key.columns
    return keys[0].name if len(keys) == 1 and keys[0].name == "id" else None


def rights(table: str) -> Iterator[tuple[str, str | None, tuple[str, ...]]]:
    """What is granted on a table: the right, the column where it is only of that one, and the roles."""
    yield "SELECT", None, ROLES
    serial = _serial(t.metadata.tables[table]) if table in t.metadata.tables else None
    for right, roles in RIGHTS[table].items():
        kind, _, column = right.partition(" ")
        if column:
            yield kind, column.strip("()"), roles
        elif kind == "INSERT" and serial is not None:
            for each in t.metadata.tables[table].columns:
                if each.name != serial:
                    yield kind, each.name, roles
        else:
            yield kind, None, roles


def require_server(database: Database) -> None:
    """Raise StoreError unless the store is one that has roles."""
    if not isinstance(database, Postgres):
        raise StoreError(
            f"{database}: roles are of Postgres; who may read or write a SQLite file, its permissions say (chmod)"
        )


def _sequences(connection: Connection, home: Home) -> list[str]:
    """The sequences that number the rows of tables which members write."""
    values = {"schema": home.schema, "tables": [*t.metadata.tables]}
    return list(connection.execute(text(sql(__package__, "sequences")), values).scalars())


def script(connection: Connection) -> str:
    """The SQL that makes the roles, or brings them to this program's version; to be run in one transaction."""
    home = find_home(connection)
    names = {name: getattr(home, name) for name in ("database", "schema", "owner")}
    as_written = {name: quoted(each) for name, each in names.items()}
    database, schema = f"DATABASE {as_written['database']}", f"SCHEMA {as_written['schema']}"
    nobody = f"PUBLIC, {', '.join(ROLES)}"
    own = seals.signatures()
    found = connection.execute(text(sql(__package__, "functions")), {"schema": home.schema}).scalars()
    functions = [*(each for each in found if each not in own), *sorted(own)]
    sequences = [quoted(each) for each in _sequences(connection, home)]
    closed = [*map(quoted, RIGHTS), *(f"SEQUENCE {each}" for each in (*sequences, '"audit_id_seq"'))]
    called = [f"GRANT EXECUTE ON FUNCTION {each} TO {', '.join(to)};" for each, to in seals.CALLED.items()]
    return (
        sql(
            __package__,
            "roles",
            **{f"shown_{name}": printable(each) for name, each in names.items()},
            **as_written,
            lock=str(Postgres._SCHEMA_LOCK),
            roles=", ".join(ROLES),
            listed=str([*ROLES]),
            attributes=" ".join(f"NO{each}" for each in ATTRIBUTES),
            on_database=_granting(ON_DATABASE, database),
            on_schema=_granting(ON_SCHEMA, schema),
            seals=seals.script(as_written["schema"]),
            nothing="\n".join(f"REVOKE ALL ON {each} FROM {nobody};" for each in closed),
            on_tables="\n".join(_grants()),
            on_sequences=_granting(ON_SEQUENCE, f"SEQUENCE {', '.join(sequences)}"),
            on_functions="\n".join([*(f"REVOKE ALL ON FUNCTION {each} FROM {nobody};" for each in functions), *called]),
        )
        + "\n"
    )


def _granting(rights: Mapping[str, Sequence[str]], what: str) -> str:
    return "\n".join(f"GRANT {right} ON {what} TO {', '.join(roles)};" for right, roles in rights.items())


def _grants() -> Iterator[str]:
    for table in RIGHTS:
        granted: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for right, column, roles in rights(table):
            columns = granted.setdefault((right, roles), [])
            if column is not None:
                columns.append(column)
        for (right, roles), columns in granted.items():
            of = f" ({', '.join(map(quoted, columns))})" if columns else ""
            yield f"GRANT {right}{of} ON {quoted(table)} TO {', '.join(roles)};"


Grant = tuple[str, str, str, str, str]


def initialise(database: Database, connection: Connection) -> None:
    """Run the script in the transaction that is open, once what was neutered is out of its way."""
    guards.mend(database, connection, (UPGRADE, ROLES_INIT))
    driver: Any = connection.connection.driver_connection
    # Without values, so that many statements may be sent as one.
    driver.execute(script(connection).encode())
    connection.execute(text("RESET ROLE"))


def find_roles(database: Database, connection: Connection) -> Roles:
    """The roles as the server has them, and what deviates from the script."""
    home = find_home(connection)
    rows = connection.execute(text(sql(__package__, "found_roles")), {"names": [*ROLES]})
    found = {row.rolname: row for row in rows}
    deviations = [f"there is no role {name}" for name in ROLES if name not in found]
    for name, row in found.items():
        deviations += [f"{name} has {what}" for what, has in zip(ATTRIBUTES, row[1:7], strict=True) if has]
        deviations += [f"{name} is a member of {group}, and has its rights" for group in row.groups]
    sequences = _sequences(connection, home)
    granted = _granted(connection, home, sequences)
    if any(role in ROLES for *_, role in granted):
        deviations += _deviations(set(_expected(home, sequences)), granted)
        deviations += map(str, guards.deviations(database, connection))
    elif found:
        deviations.append("the roles have no rights on this store yet")
    roles = tuple(
        Role(name, name in found, tuple(found[name].members) if name in found else (), tuple(_listed(granted, name)))
        for name in ROLES
    )
    return Roles(home.database, home.schema, home.owner, home.owner_is_superuser, roles, tuple(deviations))


def _expected(home: Home, sequences: Sequence[str]) -> Iterator[Grant]:
    """Kind and name of an object, column or "", right and role of everything that the script grants."""
    for right, roles in ON_DATABASE.items():
        yield from (("database", home.database, "", right, role) for role in roles)
    for right, roles in ON_SCHEMA.items():
        yield from (("schema", home.schema, "", right, role) for role in roles)
    for table in RIGHTS:
        for right, column, roles in rights(table):
            yield from (("table", table, column or "", right, role) for role in roles)
    for right, roles in ON_SEQUENCE.items():
        yield from (("sequence", each, "", right, role) for each in sequences for role in roles)
    for function, roles in seals.CALLED.items():
        yield from (("function", function, "", "EXECUTE", role) for role in roles)


def _granted(connection: Connection, home: Home, sequences: Sequence[str]) -> set[Grant]:
    """What anybody but the owner may do with the store's objects, and with the database and the schema."""
    names = [*RIGHTS, *sequences, "audit_id_seq"]
    values = {"schema": home.schema, "quoted": quoted(home.schema), "names": names, "owner": home.owner}
    rows = connection.execute(text(sql(__package__, "granted")), values)
    return {(kind, name, column, right, role) for kind, name, column, right, role in rows}


def _deviations(expected: set[Grant], granted: set[Grant]) -> list[str]:
    found = [f"{role} lacks {what}" for role, what in _gathered(expected - granted)]
    extra = {grant for grant in granted - expected if _concerns_us(grant)}
    return found + [f"{role} has {what}" for role, what in _gathered(extra)]


def _concerns_us(grant: Grant) -> bool:
    """Whether it is for the script to say who has this right; database and schema may be used for more than a store."""
    kind, _, _, right, role = grant
    if role in ROLES or kind not in ("database", "schema"):
        return True
    return right.startswith("CREATE") if kind == "schema" else role == _EVERYBODY and right != "CONNECT"


def _gathered(grants: set[Grant]) -> Iterator[tuple[str, str]]:
    """Role and `RIGHT on OBJECT (COLUMNS)` of grants."""
    columns: dict[tuple[str, str, str, str], list[str]] = {}
    for kind, name, column, right, role in sorted(grants):
        columns.setdefault((role, right, kind, name), []).append(column)
    for (role, right, kind, name), listed in columns.items():
        what = name if kind == "table" else f"{kind} {name}"
        yield role, f"{right} on {what}" + (f" ({', '.join(listed)})" if listed != [""] else "")


def _listed(granted: set[Grant], role: str) -> Iterator[str]:
    """What a role has, a line for each right."""
    objects: dict[str, list[str]] = {}
    for _, what in _gathered({each for each in granted if each[4] == role}):
        right, _, name = what.partition(" on ")
        objects.setdefault(right, []).append(name)
    for right, names in objects.items():
        yield f"{right} on {', '.join(names)}"
