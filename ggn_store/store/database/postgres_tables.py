"""The columns and constraints of a Postgres database's tables, as recorded statements make them and as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import Connection, text

from ggn_store.resources import sql
from ggn_store.store.database.definitions import ObjectKey, SchemaObject, tokens
from ggn_store.store.database.engine import quoted

_TABLE = re.compile(r"CREATE TABLE (?P<name>\w+) \((?P<parts>.*)\)", re.DOTALL)
_DROPPED = re.compile(r"DROP TABLE (\w+)")
_ALTERED = re.compile(r"ALTER TABLE (\w+) (ADD COLUMN|DROP COLUMN|ADD|DROP) (.*)", re.DOTALL)
_COLUMN = re.compile(r'"?(\w+)"? ([A-Z]+(?: WITH TIME ZONE|\(\d+\))?)( COLLATE "C")?(?: DEFAULT .*?)?( NOT NULL)?$')
_CONSTRAINT = re.compile(r"CONSTRAINT (\w+)(?: (.*))?$", re.DOTALL)
# As Postgres calls the types that are written otherwise.
_TYPES: Final = {"BIGSERIAL": "bigint", "VARCHAR(32)": "character varying(32)"}


def expected(statements: Iterable[str]) -> dict[ObjectKey, SchemaObject]:
    """Columns and constraints after these statements."""
    found: dict[ObjectKey, SchemaObject] = {}
    for statement in statements:
        if match := _TABLE.match(statement):
            for part in match["parts"].strip().split(", \n\t"):
                each = _part(match["name"], part.strip())
                found[each.key] = each
        elif match := _DROPPED.match(statement):
            found = {key: each for key, each in found.items() if each.table != match[1]}
        elif (match := _ALTERED.match(statement)) and "TRIGGER" not in match[2]:
            if match[2].startswith("ADD"):
                each = _part(match[1], match[3])
                found[each.key] = each
            else:
                kind, name = ("column", match[3]) if "COLUMN" in match[2] else ("constraint", match[3].split()[-1])
                found.pop((kind, match[1], name), None)
    return found


def _part(table: str, part: str) -> SchemaObject:
    if match := _CONSTRAINT.match(part):
        making = f'ALTER TABLE "{table}" ADD {part}'
        return SchemaObject("constraint", match[1], tokens(match[2]), table, (making,))
    column = _COLUMN.match(part)
    if column is None:
        raise ValueError(f"the table {table} has a part that cannot be compared: {part}")
    name, kind, collation, required = column.groups()
    content = _TYPES.get(kind, kind.lower()), bool(collation), bool(required)
    return SchemaObject("column", name, content, table)


# Of a table and two expressions of its columns, whether they are one to the server.
Same = Callable[[str, str, str], bool]


def found(
    connection: Connection, names: Mapping[str, Any], wanted: Mapping[ObjectKey, SchemaObject], is_same: Same
) -> Iterator[SchemaObject]:
    """Columns that are wanted, and all constraints; a condition in other words that say the same is as it is wanted."""
    for kind, name, table, written, required, in_c in connection.execute(text(sql(__package__, "found_tables")), names):
        each = wanted.get((kind, table, name))
        if kind == "constraint":
            yield _constraint(name, table, written, each, is_same)
        elif each is not None:
            to_be: Any = each.text
            change = f'ALTER TABLE "{table}" ALTER COLUMN "{name}" {"DROP" if required else "SET"} NOT NULL'
            # Whatever else a column is, rows are stored as it.
            removal = (change,) if (written, bool(in_c)) == to_be[:2] else ()
            yield SchemaObject(kind, name, (written, bool(in_c), required), table, removal=removal)


def _constraint(name: str, table: str, written: str, wanted: SchemaObject | None, is_same: Same) -> SchemaObject:
    content: Hashable = tokens(written)
    if wanted is not None and written.startswith("CHECK "):
        to_be = wanted.making[0].partition(" CHECK ")[2]
        content = wanted.text if is_same(table, to_be, written.removeprefix("CHECK ")) else content
    removal = (f'ALTER TABLE "{table}" DROP CONSTRAINT IF EXISTS {quoted(name)} CASCADE',)
    return SchemaObject("constraint", name, content, table, removal=removal)
