"""Triggers, functions and views that were neutered, replaced or switched off: named, and put right."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import Connection

from ggn_store import Store
from ggn_store.cli import group
from ggn_store.store.database.definitions import ROLES_INIT, UPGRADE, SchemaObject
from ggn_store.store.database.engine import Database
from ggn_store.store.server import guards, roles
from tests.support.guards import drop_guards
from tests.support.house import House
from tests.support.program import MINI
from tests.support.stored import raw

Way = tuple[SchemaObject, str, str]

SOME = 8
NOTHING = "CREATE FUNCTION do_nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"


@contextmanager
def undone(database: Database) -> Iterator[Connection]:
    """A transaction of which nothing stays."""
    with database.engine.connect() as connection:
        change = connection.begin()
        try:
            yield connection
        finally:
            change.rollback()


def run(connection: Connection, *statements: str) -> None:
    for statement in statements:
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})


def expected(database: Database, connection: Connection) -> list[SchemaObject]:
    """What can be neutered: all but tables, which hold rows."""
    return [each for each in guards.definitions(database, connection).expected.values() if each.kind != "table"]


def alone(found: list[SchemaObject]) -> list[SchemaObject]:
    """Those that are no part of a table."""
    return [each for each in found if each.kind not in ("column", "constraint")]


def told(database: Database, connection: Connection) -> list[str]:
    return [str(each) for each in guards.deviations(database, connection)]


def ways_of_sqlite(each: SchemaObject) -> Iterator[tuple[list[str], str]]:
    """How something may be neutered in a file, and what is then told of it."""
    yield [f'DROP {each.kind} "{each.name}"'], "is missing"
    [making] = each.making
    replaced = {
        "trigger": [making.partition(" BEGIN ")[0] + " BEGIN SELECT 1; END", making.replace("BEFORE ", "AFTER ", 1)],
        "view": [f"CREATE VIEW {each.name} AS SELECT * FROM (SELECT * FROM piece) WHERE 1"],
        "index": [f"{making} WHERE 0"],
    }[each.kind]
    if each.kind == "trigger" and " WHEN " not in making:
        replaced.append(making.replace(" BEGIN ", " WHEN 0 BEGIN ", 1))
    for statement in replaced:
        if statement != making:
            yield [f'DROP {each.kind} "{each.name}"', statement], "is not this program's"


def ways_of_postgres(each: SchemaObject) -> Iterator[tuple[list[str], str]]:
    """How something may be neutered on a server, and what is then told of it."""
    name, table = each.name, f'"{each.table}"'
    kinds = {
        "trigger": _triggers,
        "function": _functions,
        "view": _views,
        "constraint": _constraints,
        "column": _columns,
    }
    yield from kinds[each.kind](each, name, table)


def _triggers(each: SchemaObject, name: str, table: str) -> Iterator[tuple[list[str], str]]:
    fixed: Any = each.text
    timing, events, level = fixed[1], " OR ".join(fixed[2]), fixed[5]
    made = f"CREATE TRIGGER {name} {timing} {events} ON {table} FOR EACH {level}"
    drop = f"DROP TRIGGER {name} ON {table}"
    yield [drop], "is missing"
    yield [f"ALTER TABLE {table} DISABLE TRIGGER {name}"], "is switched off"
    yield [f"ALTER TABLE {table} ENABLE REPLICA TRIGGER {name}"], "is switched off"
    yield [drop, NOTHING, f"{made} EXECUTE FUNCTION do_nothing()"], "is not this program's"
    arguments = fixed[-1]
    yield [drop, f"{made} WHEN (false) EXECUTE FUNCTION {fixed[-2]}({arguments})"], "is not this program's"
    other = "AFTER" if timing == "BEFORE" else "BEFORE"
    yield (
        [drop, f"CREATE TRIGGER {name} {other} {events} ON {table} FOR EACH {level} EXECUTE FUNCTION {fixed[-2]}()"],
        "is not this program's",
    )


def _functions(each: SchemaObject, name: str, table: str) -> Iterator[tuple[list[str], str]]:
    fixed: Any = each.text
    returns, language, _, _, is_definer, _, body = fixed
    yield [f"DROP FUNCTION {name} CASCADE"], "is missing"
    yield [f"ALTER FUNCTION {name} RENAME TO ggn_other"], "is missing"
    nothing = "BEGIN RETURN NEW; END" if returns == "trigger" else "BEGIN RETURN NULL; END"
    made = f"CREATE OR REPLACE FUNCTION {name} RETURNS {returns} LANGUAGE"
    # Names of parameters cannot be taken away.
    before = [] if name.endswith("()") else [f"DROP FUNCTION {name} CASCADE"]
    yield [*before, f"{made} plpgsql AS '{nothing}'"], "is not this program's"
    if name.endswith("()"):
        yield [f"{made} {language} AS $never${body} $never$"], "is not this program's"
    yield [f"ALTER FUNCTION {name} RESET ALL"], "is not this program's"
    yield [f"ALTER FUNCTION {name} SET search_path = pg_temp"], "is not this program's"
    yield [f"ALTER FUNCTION {name} SECURITY {'INVOKER' if is_definer else 'DEFINER'}"], "is not this program's"
    yield [f"ALTER FUNCTION {name} OWNER TO pg_monitor"], "belongs to pg_monitor, and the tables to "


def _views(each: SchemaObject, name: str, table: str) -> Iterator[tuple[list[str], str]]:
    query = each.making[0].partition(" AS")[2].strip()
    yield [f"DROP VIEW {name} CASCADE"], "is missing"
    yield [f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM ({query}) AS v LIMIT 1"], "is not this program's"
    yield [f"DROP VIEW {name} CASCADE", f"CREATE VIEW {name} AS SELECT 1 AS ruleset"], "is not this program's"
    yield [f"ALTER VIEW {name} SET (security_barrier = true)"], "is not this program's"
    yield [f"ALTER VIEW {name} OWNER TO pg_monitor"], ""


def _constraints(each: SchemaObject, name: str, table: str) -> Iterator[tuple[list[str], str]]:
    drop = f"ALTER TABLE {table} DROP CONSTRAINT {name} CASCADE"
    yield [drop], "is missing"
    if "CHECK" in each.making[0]:
        yield [drop, f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK (true)"], "is not this program's"
        yield [drop, f"{each.making[0]} NOT VALID"], "is not this program's"


def _columns(each: SchemaObject, name: str, table: str) -> Iterator[tuple[list[str], str]]:
    fixed: Any = each.text
    key = f"ALTER TABLE {table} DROP CONSTRAINT pk_{each.table} CASCADE"
    if fixed[2] and each.table not in ("ggn_store_version", "ggn_unchecked"):
        yield [key, f"ALTER TABLE {table} ALTER COLUMN {name} DROP NOT NULL"], "is not this program's"


def ways(database: Database, connection: Connection) -> list[tuple[SchemaObject, list[str], str]]:
    """Everything that a store has beside its tables, with every way to neuter it."""
    find = ways_of_postgres if database.is_server else ways_of_sqlite
    return [(each, *way) for each in expected(database, connection) for way in find(each)]


def neuter_and_mend(database: Database, connection: Connection, way: tuple[SchemaObject, list[str], str]) -> None:
    """Do it, see it named, put it right, and see it named no more."""
    each, statements, what = way
    attempt = connection.begin_nested()
    run(connection, *statements)
    found = told(database, connection)
    assert any(said.startswith(f"{each} {what}") for said in found), (statements, found)
    if each.maker == UPGRADE:
        assert any(said.startswith(f"{each} {what}") for said in guards.mend(database, connection))
    else:
        roles.initialise(database, connection)
    assert told(database, connection) == [], statements
    if database.is_server and each.maker == ROLES_INIT:
        assert roles.find_roles(database, connection).deviations == ()
    attempt.rollback()


def in_turn(database: Database, is_some: bool) -> None:
    with undone(database) as connection:
        assert told(database, connection) == []
        found = ways(database, connection)
        for way in random.sample(found, SOME) if is_some else found:
            neuter_and_mend(database, connection, way)


def test_whatever_is_neutered_is_named_and_put_right(module_store: Store) -> None:
    in_turn(module_store.session.database, is_some=True)


@pytest.mark.long
def test_everything_that_may_be_neutered_is_named_and_put_right(module_store: Store) -> None:
    in_turn(module_store.session.database, is_some=False)


def test_whatever_is_neutered_on_a_server_with_roles_is_named_and_put_right(house: House) -> None:
    with Store.open(house.url) as store:
        in_turn(store.session.database, is_some=True)


@pytest.mark.long
def test_everything_that_may_be_neutered_on_a_server_with_roles_is_named_and_put_right(house: House) -> None:
    with Store.open(house.url) as store:
        in_turn(store.session.database, is_some=False)


def test_all_that_was_removed_at_once_is_named_and_put_right(store: Store) -> None:
    database = store.session.database
    with undone(database) as connection:
        found = alone(expected(database, connection))
        for each in found:
            if database.is_server:
                on = f' ON "{each.table}"' if each.table else ""
                run(connection, f"DROP {each.kind} IF EXISTS {each.name}{on} CASCADE")
            else:
                run(connection, f'DROP {each.kind} "{each.name}"')
        missing = [f"{each} is missing" for each in found]
        assert told(database, connection) == missing
        assert guards.mend(database, connection) == missing
        assert told(database, connection) == []


ADDED = {
    "sqlite": (
        (
            "CREATE TRIGGER quiet BEFORE INSERT ON revision BEGIN SELECT RAISE(IGNORE); END",
            "the trigger quiet on revision is not this program's",
        ),
        (
            "CREATE TRIGGER quiet INSTEAD OF INSERT ON v_moves BEGIN SELECT 1; END",
            "the trigger quiet on v_moves is not this program's",
        ),
    ),
    "postgres": (
        (
            "CREATE TRIGGER quiet BEFORE INSERT ON revision FOR EACH ROW EXECUTE FUNCTION do_nothing()",
            "the trigger quiet on revision is not this program's",
        ),
        (
            "CREATE RULE quiet AS ON INSERT TO tag DO INSTEAD NOTHING",
            "the rule quiet on tag is not this program's",
        ),
        ("ALTER TABLE audit ENABLE ROW LEVEL SECURITY", "the row security on audit is not this program's"),
        ("CREATE TABLE more () INHERITS (piece)", "the heir more on piece is not this program's"),
        ("ALTER TABLE effect DISABLE TRIGGER ALL", "the foreign key fk_effect_piece_id_variant on effect is switched"),
        (
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET session_replication_role = replica', "
            "current_database()); END $$",
            "the setting session_replication_role=replica on ",
        ),
    ),
}


def test_what_others_hang_on_the_tables_is_named_and_taken_away(module_store: Store) -> None:
    database = module_store.session.database
    with undone(database) as connection:
        if database.is_server:
            run(connection, NOTHING)
        for statement, sentence in ADDED[database.name]:
            attempt = connection.begin_nested()
            run(connection, statement)
            assert [each for each in told(database, connection) if each.startswith(sentence)]
            guards.mend(database, connection)
            assert told(database, connection) == []
            attempt.rollback()


def test_a_table_that_lost_its_checks_is_named_and_not_mended(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    with Store.open(address) as store:
        store.load(MINI, "mini")
    with raw(address) as connection:
        run(connection, "PRAGMA writable_schema = ON")
        run(connection, "UPDATE sqlite_master SET sql = replace(sql, 'CHECK (delta <> 0)', 'CHECK (1)')")
    with Store.open(address) as store:
        assert store.upkeep.check() == [
            "the table hand_effect is not this program's: restore the store from a backup, or bundle its rulesets and "
            "load them into a new one"
        ]
        store.upgrade()


def test_check_names_what_upgrade_puts_right(store: Store, address: str) -> None:
    with raw(address) as connection:
        drop_guards(connection, for_good=True)
    checked = CliRunner().invoke(group, ["--db", address, "db", "check"])
    assert checked.exit_code == 1
    assert "the trigger revision_kept on revision is missing: run `ggn-store db upgrade`" in checked.output
    upgraded = CliRunner().invoke(group, ["--db", address, "db", "upgrade"])
    assert upgraded.exit_code == 0
    assert "put right: the trigger revision_kept on revision is missing\n" in upgraded.output
    assert CliRunner().invoke(group, ["--db", address, "db", "check"]).exit_code == 0
    assert "put right" not in CliRunner().invoke(group, ["--db", address, "db", "upgrade"]).output


def test_functions_that_do_nothing_and_triggers_that_are_off_are_mended_together(house: House) -> None:
    with Store.open(house.url) as store, undone(store.session.database) as connection:
        database = store.session.database
        found = alone(expected(database, connection))
        for each in found:
            fixed: Any = each.text
            if each.kind == "function" and fixed[0] == "trigger":
                made = f"CREATE OR REPLACE FUNCTION {each.name} RETURNS trigger LANGUAGE plpgsql"
                run(connection, f"{made} AS 'BEGIN RETURN NEW; END'")
            elif each.kind == "trigger":
                run(connection, f'ALTER TABLE "{each.table}" DISABLE TRIGGER {each.name}')
        said = told(database, connection)
        assert {f"{each} is switched off" for each in found if each.kind == "trigger"} <= {*said}
        guards.mend(database, connection)
        roles.initialise(database, connection)
        assert told(database, connection) == []
        assert roles.find_roles(database, connection).deviations == ()
