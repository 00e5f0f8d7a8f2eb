"""The roles of a Postgres server: who may do what with a store, the script that says so, and what deviates from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, text

from ggn_store.errors import StoreError, printable
from ggn_store.store.database.definitions import ROLES_INIT, UPGRADE
from ggn_store.store.database.engine import ADMIN, AUTHOR, ROLES, UNCHECKED, Database
from ggn_store.store.database.postgres import Postgres
from ggn_store.store.database.session import VERSION_TABLE
from ggn_store.store.schema import tables as t
from ggn_store.store.schema import views
from ggn_store.store.server import guards, seals

_EVERYBODY = "PUBLIC"

_WRITERS = (AUTHOR, ADMIN)

# Which rights beside SELECT the roles have on each table. A right on some columns only names them; INSERT of what a
# sequence numbers leaves the number out, so that nobody takes one that is still to come.
RIGHTS: dict[str, dict[str, tuple[str, ...]]] = {
    **{
        table: {"INSERT": _WRITERS, "DELETE": (ADMIN,)}
        for table in ("board", "square", "piece", "mask", *(table.name for table in t.PIECE_TABLES))
    },
    "ruleset": {"INSERT (name)": _WRITERS, "UPDATE (deleted_at)": (ADMIN,), "DELETE": (ADMIN,)},
    **{table: {"INSERT": _WRITERS} for table in ("revision", "revision_piece", "revision_merge")},
    **{table: {"INSERT": _WRITERS} for table in ("proposal", "proposal_piece", "verdict")},
    **{table: {"INSERT": (ADMIN,)} for table in ("tag", "ruleset_state", "policy")},
    "audit": {},
    VERSION_TABLE: {},
    UNCHECKED: {"INSERT": _WRITERS},
    "moves_flat": {},
    "conditions_flat": {},
    **{name: {} for view in views.VIEWS for name in (view.name, view.every) if name is not None},
}
RIGHTS["piece"]["UPDATE (words)"] = (ADMIN,)

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


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the tables are, and whose."""

    database: str
    schema: str
    owner: str
    is_superuser: bool
    sequences: tuple[str, ...]
    functions: tuple[str, ...]


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


def _find_place(connection: Connection) -> _Place:
    """Where the store is: the tables that this connection finds first."""
    row = connection.execute(
        text(
            "SELECT current_database() AS database, n.nspname AS schema, r.rolname AS owner, "
            "r.rolsuper AS is_superuser FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "JOIN pg_roles r ON r.oid = c.relowner "
            "WHERE c.oid = 'revision'::regclass"
        )
    ).one()
    sequences = connection.execute(
        text(
            "SELECT s.relname FROM pg_class s JOIN pg_depend d ON d.objid = s.oid AND d.deptype IN ('a', 'i') "
            "JOIN pg_class c ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE s.relkind = 'S' AND n.nspname = :schema AND c.relname = ANY(:tables) AND c.relname <> 'audit' "
            "ORDER BY s.relname"
        ),
        {"schema": row.schema, "tables": [*t.metadata.tables]},
    ).scalars()
    functions = connection.execute(
        text(
            "SELECT p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' FROM pg_proc p "
            "JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = :schema AND p.proname ^@ 'ggn_' "
            "ORDER BY 1"
        ),
        {"schema": row.schema},
    ).scalars()
    return _Place(**row._mapping, sequences=tuple(sequences), functions=tuple(functions))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def script(connection: Connection) -> str:
    """The SQL that makes the roles, or brings them to this program's version; to be run in one transaction."""
    place = _find_place(connection)
    database, schema, owner = _quoted(place.database), _quoted(place.schema), _quoted(place.owner)
    everybody = ", ".join(ROLES)
    own = {each.signature for each in seals.FUNCTIONS}
    functions = [*(each for each in place.functions if each not in own), *sorted(own)]
    parts = [
        _HEAD.format(**{name: printable(getattr(place, name)) for name in ("database", "schema", "owner")}),
        "SET LOCAL client_min_messages = warning;\n"
        f"SELECT pg_advisory_xact_lock({Postgres._SCHEMA_LOCK});\n"
        f"SET LOCAL search_path = {schema};",
        _MAKE_ROLES,
        "-- Who may connect makes nothing for that reason alone: no temporary tables, nothing in the schema.\n"
        f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC;\n"
        f"REVOKE CREATE ON DATABASE {database} FROM PUBLIC;\n"
        f"REVOKE ALL ON DATABASE {database} FROM {everybody};\n"
        + "\n".join(f"GRANT {right} ON DATABASE {database} TO {', '.join(to)};" for right, to in ON_DATABASE.items())
        + f"\nGRANT CONNECT, TEMPORARY ON DATABASE {database} TO {owner};",
        f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC;\n"
        f"REVOKE ALL ON SCHEMA {schema} FROM {everybody};\n"
        + "\n".join(f"GRANT {right} ON SCHEMA {schema} TO {', '.join(to)};" for right, to in ON_SCHEMA.items())
        + f"\nGRANT USAGE, CREATE ON SCHEMA {schema} TO {owner};",
        f"-- From here on as the owner of the tables, whose the guards are.\nSET LOCAL ROLE {owner};",
        seals.script(schema),
        "-- First nothing, then what the roles are for: whatever was granted by hand is gone.\n"
        + "\n".join(f"REVOKE ALL ON {_quoted(table)} FROM PUBLIC, {everybody};" for table in RIGHTS)
        + "".join(f"\nREVOKE ALL ON SEQUENCE {_quoted(each)} FROM PUBLIC, {everybody};" for each in place.sequences)
        + f"\nREVOKE ALL ON SEQUENCE {_quoted('audit_id_seq')} FROM PUBLIC, {everybody};",
        "\n".join(_grants()),
        "\n".join(
            f"GRANT {right} ON SEQUENCE {', '.join(map(_quoted, place.sequences))} TO {', '.join(to)};"
            for right, to in ON_SEQUENCE.items()
        ),
        "-- Who may call a function that writes the audit could hang it on a temporary table of his own.\n"
        + "\n".join(f"REVOKE ALL ON FUNCTION {each} FROM PUBLIC, {everybody};" for each in functions)
        + "".join(
            f"\nGRANT EXECUTE ON FUNCTION {each.signature} TO {', '.join(each.may_call)};"
            for each in seals.FUNCTIONS
            if each.may_call
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _grants() -> Iterator[str]:
    for table in RIGHTS:
        granted: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for right, column, roles in rights(table):
            columns = granted.setdefault((right, roles), [])
            if column is not None:
                columns.append(column)
        for (right, roles), columns in granted.items():
            of = f" ({', '.join(map(_quoted, columns))})" if columns else ""
            yield f"GRANT {right}{of} ON {_quoted(table)} TO {', '.join(roles)};"


_HEAD = """\
-- The roles of the ggn_store in the database {database}, schema {schema}, whose tables belong to {owner}.
-- `ggn-store db roles init` runs the same text. Whoever runs it is a superuser, or has CREATEROLE (or finds the roles
-- made already), owns the database and is {owner} or a member of it. In one transaction, and again at will."""

_MAKE_ROLES = f"""\
-- Groups: logins become members (GRANT {AUTHOR} TO ann). They are of the whole server, as all its roles are.
DO $ggn$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY{[*ROLES]} LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I {" ".join(f"NO{each}" for each in ATTRIBUTES)}', role);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;  -- made meanwhile, for another database of the server
      END;
    END IF;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = role AND (rolcanlogin OR rolsuper OR rolcreatedb OR rolcreaterole
        OR rolreplication OR rolbypassrls)) THEN
      RAISE EXCEPTION 'ggn_store: the server has a role % already, which may do more than these roles may: '
        'ALTER ROLE % {" ".join(f"NO{each}" for each in ATTRIBUTES)}', role, role;
    END IF;
  END LOOP;
END
$ggn$;"""

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
    place = _find_place(connection)
    found = {
        row.rolname: row
        for row in connection.execute(
            text(
                "SELECT rolname, rolcanlogin, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, "
                "ARRAY(SELECT DISTINCT m.rolname::text FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member "
                "WHERE a.roleid = r.oid ORDER BY 1) AS members, "
                "ARRAY(SELECT DISTINCT g.rolname::text FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid "
                "WHERE a.member = r.oid ORDER BY 1) AS groups FROM pg_roles r WHERE rolname = ANY(:names)"
            ),
            {"names": [*ROLES]},
        )
    }
    deviations = [f"there is no role {name}" for name in ROLES if name not in found]
    for name, row in found.items():
        deviations += [f"{name} has {what}" for what, has in zip(ATTRIBUTES, row[1:7], strict=True) if has]
        deviations += [f"{name} is a member of {group}, and has its rights" for group in row.groups]
    granted = _granted(connection, place)
    if any(role in ROLES for *_, role in granted):
        deviations += _differences(set(_expected(place)), granted)
        deviations += map(str, guards.deviations(database, connection))
    elif found:
        deviations.append("the roles have no rights on this store yet")
    roles = tuple(
        Role(name, name in found, tuple(found[name].members) if name in found else (), tuple(_listed(granted, name)))
        for name in ROLES
    )
    return Roles(place.database, place.schema, place.owner, place.is_superuser, roles, tuple(deviations))


def _expected(place: _Place) -> Iterator[Grant]:
    """Kind and name of an object, column or "", right and role of everything that the script grants."""
    for right, roles in ON_DATABASE.items():
        yield from (("database", place.database, "", right, role) for role in roles)
    for right, roles in ON_SCHEMA.items():
        yield from (("schema", place.schema, "", right, role) for role in roles)
    for table in RIGHTS:
        for right, column, roles in rights(table):
            yield from (("table", table, column or "", right, role) for role in roles)
    for right, roles in ON_SEQUENCE.items():
        yield from (("sequence", each, "", right, role) for each in place.sequences for role in roles)
    for each in seals.FUNCTIONS:
        yield from (("function", each.signature, "", "EXECUTE", role) for role in each.may_call)


_GRANTED = """
WITH acl (kind, name, col, owner, entry) AS (
  SELECT 'database', d.datname::text, '', d.datdba, e
  FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) e WHERE d.datname = current_database()
  UNION ALL
  SELECT 'schema', n.nspname::text, '', n.nspowner, e
  FROM pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) e WHERE n.nspname = :schema
  UNION ALL
  SELECT CASE c.relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, c.relname::text, '', c.relowner, e
  FROM pg_class c, aclexplode(c.relacl) e WHERE c.relnamespace = to_regnamespace(:quoted) AND c.relname = ANY(:names)
  UNION ALL
  SELECT 'table', c.relname::text, a.attname::text, c.relowner, e
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(a.attacl) e
  WHERE c.relnamespace = to_regnamespace(:quoted) AND c.relname = ANY(:names)
  UNION ALL
  SELECT 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', '', p.proowner, e
  FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) e
  WHERE p.pronamespace = to_regnamespace(:quoted) AND p.proname ^@ 'ggn_'
)
SELECT kind, name, col, (entry).privilege_type || CASE WHEN (entry).is_grantable THEN ' WITH GRANT OPTION' ELSE '' END,
  coalesce(r.rolname::text, 'PUBLIC')
FROM acl LEFT JOIN pg_roles r ON r.oid = (entry).grantee
WHERE (entry).grantee <> owner AND coalesce(r.rolname, '') <> :owner
ORDER BY 1, 2, 3, 4, 5
"""


def _granted(connection: Connection, place: _Place) -> set[Grant]:
    """What anybody but the owner may do with the store's objects, and with the database and the schema."""
    names = [*RIGHTS, *place.sequences, "audit_id_seq"]
    values = {"schema": place.schema, "quoted": _quoted(place.schema), "names": names, "owner": place.owner}
    rows = connection.execute(text(_GRANTED), values)
    return {(kind, name, column, right, role) for kind, name, column, right, role in rows}


def _differences(expected: set[Grant], granted: set[Grant]) -> list[str]:
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
