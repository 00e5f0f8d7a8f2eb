"""The triggers, functions and views of a Postgres database, as the migrations make them and as they are.

What the migrations do is recorded, and the statements read: so nobody needs the right to make anything in order to
compare, and a reader can. A body is compared with `pg_proc.prosrc`, a trigger with what `pg_get_triggerdef` writes, a
view by how the server plans it, since of a view it keeps no text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, StaticPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from ggn_store.resources import sql
from ggn_store.store.database import migrate, postgres_tables
from ggn_store.store.database.definitions import (
    ROLES_INIT,
    UPGRADE,
    Definitions,
    ObjectKey,
    SchemaObject,
    Seals,
    by_key,
)
from ggn_store.store.database.engine import ROLES, UNCHECKED, quoted

# Of two functions that are missing, the one that is made first may call the other.
_UNREAD: Final = "SET LOCAL check_function_bodies = off"
# Statistics may come in between.
_PLANS: Final = 3
# How a query of the migrations was planned like a view is not asked again: with how the server writes the view.
_SOUND: Final[set[tuple[Hashable, str]]] = set()


def definitions(connection: Connection, seals: Seals) -> Definitions:
    """What the database is to have, and what it has; of what others have put into it, what acts on our tables."""
    home = find_home(connection)
    expected = by_key(_read(recorded(), home, UPGRADE))
    if home.has_roles:
        expected |= by_key(_read(seals(home.schema), home, ROLES_INIT))
    views = [each for each in expected.values() if each.kind == "view"]
    tables = {*_tables(), *(each.name for each in views), *(each.table for each in expected.values())}
    names = {"schema": home.schema, "tables": [*tables], "functions": [each.name for each in expected.values()]}
    found = [*_found_functions(connection, names), *_found_triggers(connection, names)]
    of_tables = postgres_tables.expected(recorded())
    found += postgres_tables.found(connection, names, of_tables, functools.partial(_is_same, connection))
    expected = {**of_tables, **expected}
    for view in views:
        planned, is_there = _planned_view(connection, view, home)
        expected[view.key] = planned
        found += is_there
    return Definitions(expected, by_key([*found, *_found_beside(connection, names)]))


def restore_rights(connection: Connection) -> None:
    """Let the roles, where there are any, do with functions and views that were made again what they might before."""
    home = find_home(connection)
    if not home.has_roles:
        return
    for each in _read(recorded(), home, UPGRADE):
        if each.kind == "function":
            connection.execute(text(f"REVOKE ALL ON FUNCTION {each.name} FROM PUBLIC"))
        elif each.kind == "view":
            connection.execute(text(f"GRANT SELECT ON {each.name} TO {', '.join(ROLES)}"))


@dataclass(frozen=True, slots=True)
class Home:
    """Where the tables are, whose, and whether `db roles init` has been there."""

    database: str
    schema: str
    owner: str
    owner_is_superuser: bool
    has_roles: bool


def find_home(connection: Connection) -> Home:
    """Where the tables are that this connection finds first."""
    names = {"unchecked": UNCHECKED, "roles": [*ROLES]}
    return Home(*connection.execute(text(sql(__package__, "found_home")), names).one())


# --- what the migrations make ---


class _Recorder:
    """What the driver would be: notes statements, and answers that there are no rows."""

    arraysize = rowcount = 1
    autocommit = False
    description: Sequence[Any] | None = None

    def __init__(self, statements: list[str]) -> None:
        self.statements = statements

    def cursor(self, *_: Any, **__: Any) -> _Recorder:
        return _Recorder(self.statements)

    def execute(self, statement: str, parameters: Any = None, **_: Any) -> None:
        # Where there may be values, a percent sign is written twice.
        self.statements.append((statement if parameters is None else statement.replace("%%", "%")).strip())
        has_rows = re.match("SELECT|WITH|SHOW", statement.strip()) or " RETURNING " in statement
        self.description = [("nothing", 25, None, None, None, None, None)] if has_rows else None

    def fetchone(self) -> None:
        return None

    def fetchall(self) -> list[Any]:
        return []

    def nothing(self) -> None:
        """To be committed, rolled back or closed."""

    commit = rollback = close = nothing


@functools.cache
def recorded() -> tuple[str, ...]:
    """The statements that make a new store."""
    statements: list[str] = []
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: _Recorder(statements), poolclass=StaticPool, _initialize=False
    )
    with engine.connect() as connection:
        migrate.run(connection)
    return tuple(statements)


def _tables() -> Iterator[str]:
    return (table for _, table, _ in postgres_tables.expected(recorded()))


_FUNCTION = re.compile(
    r"CREATE (?:OR REPLACE )?FUNCTION (?P<name>\w+\([^)]*\))\s+RETURNS\s+(?P<returns>[\w\[\]]+)(?P<before>.*?)\s+"
    r"AS\s+(?P<quote>\$\w*\$)(?P<body>.*)(?P=quote)(?P<after>.*)",
    re.DOTALL,
)
_SETTING = re.compile(
    r"\bSET (\w+) (?:=|TO) (.*?)(?=\s+(?:SET|LANGUAGE|STABLE|IMMUTABLE|VOLATILE|STRICT|SECURITY)\b|$)"
)
_PIN = re.compile(r"ALTER FUNCTION (\w+\([^)]*\)) (SET [^']*)'")
_VIEW = re.compile(r"CREATE (?:OR REPLACE )?VIEW (?P<name>\w+) AS\s+(?P<query>.*)", re.DOTALL)
_TRIGGER = re.compile(
    r'CREATE (?:OR REPLACE )?(?P<constraint>CONSTRAINT )?TRIGGER (?P<name>"[^"]+"|\w+)\s+'
    r'(?P<timing>BEFORE|AFTER|INSTEAD OF)\s+(?P<events>.+?)\s+ON\s+(?P<table>[\w".]+)\s+'
    r"(?P<deferral>(?:NOT )?DEFERRABLE(?: INITIALLY \w+)?\s+)?(?P<named>REFERENCING\s.*?\s)?"
    r"FOR EACH (?P<level>ROW|STATEMENT)\s+(?:WHEN\s+(?P<condition>\(.*\))\s+)?"
    r'EXECUTE FUNCTION (?P<function>[\w".]+)\((?P<arguments>.*)\)\s*;?$',
    re.DOTALL,
)
_REVOKED = re.compile(r"REVOKE \w+ ON FUNCTION (\w+\([^)]*\))")
_REMOVED = re.compile(r'DROP (FUNCTION|VIEW|TRIGGER|TABLE) (?:IF EXISTS )?(\w+(?:\([^)]*\))?)(?: ON "?(\w+)"?)?')


def _read(statements: Iterable[str], home: Home, maker: str) -> Iterator[SchemaObject]:
    """What is there after these statements, in the order in which it is made."""
    found: dict[ObjectKey, SchemaObject] = {}
    for statement in statements:
        if match := _FUNCTION.match(statement):
            each = _function(match, home, maker)
        elif match := _TRIGGER.match(statement):
            content = _trigger_text(match, match["function"])
            name, table = _plain(match["name"]), _plain(match["table"])
            each = SchemaObject("trigger", name, content, table, (statement,) * (maker == UPGRADE), maker=maker)
        elif match := _VIEW.match(statement):
            making = (statement, f"ALTER VIEW {match['name']} OWNER TO {quoted(home.owner)}")
            each = SchemaObject("view", match["name"], match["query"], "", making, owner=home.owner, maker=maker)
        elif match := _PIN.search(statement):
            each = _pinned(found["function", "", _signature(match[1])], match[2].replace("%I", home.schema), statement)
        elif match := _REVOKED.match(statement):
            each = found["function", "", _signature(match[1])]
            each = replace(each, making=(*each.making, statement))
        elif match := _REMOVED.match(statement):
            found = {key: each for key, each in found.items() if not _goes(each, match)}
            continue
        else:
            continue
        found[each.key] = each
    yield from found.values()


def _goes(each: SchemaObject, removed: re.Match[str]) -> bool:
    """Whether what a statement removes is this, or what this cannot be without."""
    kind, table = removed[1].lower(), removed[3] or ""
    name = _signature(removed[2]) if kind == "function" else removed[2]
    if each.key == (kind, table, name):
        return True
    needed: Any = each.text
    return each.kind == "trigger" and (
        (kind == "table" and each.table == name)
        or (kind == "function" and "CASCADE" in removed.string and needed[-2] == name.partition("(")[0])
    )


# Of a function: what it returns, language, volatility, whether it is strict and whose rights it has, settings, body.
_FunctionText = tuple[str, str, str, bool, bool, tuple[str, ...], str]


def _function(match: re.Match[str], home: Home, maker: str) -> SchemaObject:
    said = f"{match['before']} {match['after'].rstrip(';')}".strip()
    settings = tuple(sorted(_setting(*each) for each in _SETTING.findall(said)))
    words = _SETTING.sub("", said).split()
    volatility = next((each[0].lower() for each in ("IMMUTABLE", "STABLE") if each in words), "v")
    language = words[words.index("LANGUAGE") + 1]
    content: _FunctionText = (
        *(match["returns"], language, volatility, "STRICT" in words, "DEFINER" in words, settings, match["body"]),
    )
    name = _signature(match["name"])
    making = (_UNREAD, match.string, f"ALTER FUNCTION {name} OWNER TO {quoted(home.owner)}")
    return SchemaObject("function", name, content, "", making * (maker == UPGRADE), owner=home.owner, maker=maker)


def _signature(declared: str) -> str:
    """A function with the types of its arguments, without their names."""
    name, _, arguments = declared.rstrip(")").partition("(")
    types = (
        re.sub(r"^\s*(?!double|timestamp|time|character|bit)\w+ +(?=\w)", "", each) for each in arguments.split(",")
    )
    return f"{name}({', '.join(each.strip() for each in types)})"


def _pinned(function: SchemaObject, said: str, statement: str) -> SchemaObject:
    """A function with settings that were given to it later."""
    content: Any = function.text
    settings = dict(each.split("=", 1) for each in content[5])
    settings |= dict(_setting(*each).split("=", 1) for each in _SETTING.findall(said))
    joined = tuple(sorted("=".join(each) for each in settings.items()))
    return replace(function, text=(*content[:5], joined, content[6]), making=(*function.making, statement))


def _setting(name: str, value: str) -> str:
    return f"{name}={_plain(value.strip()).replace(chr(39), '')}"


def _plain(name: str) -> str:
    return name.replace('"', "")


def _trigger_text(match: re.Match[str], function: str) -> Hashable:
    """What a trigger does, whatever order and spelling it was written in."""
    events = sorted(" ".join(_plain(each).split()) for each in re.split(r"\s+OR\s+", match["events"]))
    deferral = " ".join((match["deferral"] or "").split())
    if match["constraint"] and not deferral:
        deferral = "NOT DEFERRABLE INITIALLY IMMEDIATE"
    condition = re.sub(r"::\w+|[\s()\"]", "", match["condition"] or "").lower()
    named = " ".join(_plain(match["named"] or "").split())
    fixed = bool(match["constraint"]), match["timing"], tuple(events), deferral, named, match["level"], condition
    return (*fixed, _plain(function), match["arguments"].strip())


# --- what is there ---


def _found_functions(connection: Connection, names: Mapping[str, Any]) -> Iterator[SchemaObject]:
    for name, *fixed, settings, body, owner in connection.execute(text(sql(__package__, "found_functions")), names):
        content = (*fixed, tuple(sorted(map(_plain, settings))), body)
        yield SchemaObject("function", name, content, removal=(f"DROP ROUTINE IF EXISTS {name} CASCADE",), owner=owner)


def _found_triggers(connection: Connection, names: Mapping[str, Any]) -> Iterator[SchemaObject]:
    for table, name, statement, is_on, function in connection.execute(text(sql(__package__, "found_triggers")), names):
        match = _TRIGGER.match(statement)
        content = statement if match is None else _trigger_text(match, function)
        removal = (f"DROP TRIGGER IF EXISTS {quoted(name)} ON {quoted(table)}",)
        yield SchemaObject("trigger", name, content, table, removal=removal, is_on=is_on)


def _found_beside(connection: Connection, names: Mapping[str, Any]) -> Iterator[SchemaObject]:
    for kind, name, table, removal, is_on in connection.execute(text(sql(__package__, "found_beside")), names):
        yield SchemaObject(kind, name, None, table, removal=(removal,), is_on=is_on)


def _planned_view(connection: Connection, view: SchemaObject, home: Home) -> tuple[SchemaObject, list[SchemaObject]]:
    """A view as it is to be and as it is, so that they can be compared."""
    name = view.name
    row = connection.execute(text(sql(__package__, "found_relation")), {"schema": home.schema, "name": name}).first()
    if row is None:
        return view, []
    is_view, options, owner, written, columns = row
    if not is_view:
        return view, [replace(view, text=None, removal=(), owner=owner)]
    if (view.text, written) in _SOUND and not options:
        found = SchemaObject("view", name, view.text, owner=owner)
        return view, [replace(found, removal=(f"ALTER VIEW IF EXISTS {name} OWNER TO {quoted(home.owner)}",))]
    for _ in range(_PLANS):
        to_be, as_it_is = _plan(connection, f"({view.text}) AS {name}"), _plan(connection, name)
        if to_be == as_it_is:
            _SOUND.add((view.text, written))
            break
    removal = [f"DROP VIEW IF EXISTS {name} CASCADE"]
    if [*to_be[0]] == columns and not options:  # who reads it, or has made a view on it, goes on
        change = view.making[0].replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1)
        removal = [f"ALTER VIEW IF EXISTS {name} OWNER TO {quoted(home.owner)}", change]
    found = SchemaObject("view", name, (*as_it_is, *options), removal=tuple(removal), owner=owner)
    return replace(view, text=to_be), [found]


def _is_same(connection: Connection, table: str, to_be: str, as_it_is: str) -> bool:
    """Whether two expressions of a table's columns are one."""
    if (f"{table} {to_be}", as_it_is) not in _SOUND:
        # Identifiers and expressions of the migrations', and what the server writes of its own.
        plans = [_plan(connection, f'(SELECT {each} AS x FROM "{table}") AS y') for each in (to_be, as_it_is)]  # noqa: S608
        if plans[0] != plans[1]:
            return False
        _SOUND.add((f"{table} {to_be}", as_it_is))
    return True


def _plan(connection: Connection, relation: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of a relation with their types, and how the server would read it."""
    run = functools.partial(connection.exec_driver_sql, execution_options={"no_parameters": True})
    attempt = connection.begin_nested()
    try:
        # As it is written: which way is the shortest does not matter here, and to look for it takes long.
        run("SELECT set_config(name, '1', true) FROM unnest(ARRAY['join_collapse_limit', 'from_collapse_limit']) name")
        # A name or a query of the migrations'.
        described: Any = run(f"SELECT * FROM {relation} LIMIT 0").cursor.description  # noqa: S608
        plan = run(f"EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM {relation}").scalars()  # noqa: S608
        columns = tuple(f"{each.name} {each.type_code}" for each in described)
        return columns, tuple(line for line in plan if not line.startswith("Query Identifier"))
    except DBAPIError as error:
        return (), (str(error.orig),)
    finally:
        attempt.rollback()
