"""Who is meant by the names of a list: on a server roles and their members, in a file just these names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table, Text, select, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from ggn_store.resources import sql


def members(connection: Connection, names: Sequence[str]) -> dict[str, bool]:
    """Everybody whom these names mean, each with whether they can connect."""
    found: dict[str, bool] = json.loads(connection.execute(select(_members(json.dumps(names)))).scalar_one())
    return found


def able(connection: Connection, names: Sequence[str], table: Table) -> set[str]:
    """Those of these roles who may add rows to a table; in a file everybody may."""
    if connection.dialect.name != "postgresql":
        return set(names)
    listed = "SELECT name FROM unnest(CAST(:names AS text[])) AS of (name)"
    asked = text(f"{listed} WHERE has_any_column_privilege(name, :table, 'INSERT')")
    return {*connection.execute(asked, {"names": [*names], "table": table.name}).scalars()}


class _members(FunctionElement[str]):  # noqa: N801  (as functions of SQL are written)
    type = Text()
    inherit_cache = True


@compiles(_members, "sqlite")
def _of_sqlite(element: _members, compiler: Any, **options: Any) -> str:
    names = compiler.process(element.clauses, **options)
    return f"(SELECT json_group_object(value, json('true')) FROM json_each({names}))"  # noqa: S608  (names are bound)


@compiles(_members, "postgresql")
def _of_postgres(element: _members, compiler: Any, **options: Any) -> str:
    names = compiler.process(element.clauses, **options)
    return "(" + sql(__package__, "members", names=names) + ")"
