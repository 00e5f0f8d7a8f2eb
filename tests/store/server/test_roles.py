"""Roles on a Postgres server at work: what they are for, what is told to whom may not, and what deviates."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from sqlalchemy import text

from ggn_store import Position, Store, StoreError
from ggn_store.cli import group
from ggn_store.errors import GateError, HeadMovedError
from ggn_store.store.database import engine
from ggn_store.store.rulesets import lanes
from ggn_store.store.schema import tables as t
from ggn_store.store.schema import views
from ggn_store.store.server import roles as server_roles
from tests.support.house import ANOTHER, BISHOP, House, new_piece, run
from tests.support.postgres import Server
from tests.support.stored import KNIGHT, ROOK

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
        assert store.upkeep.check() == []
        assert len(store.server.roles().roles) == 3


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
        assert (second.number, second.author) == (2, store.session.database.role)
        with pytest.raises(HeadMovedError):
            store.load(BISHOP, "team/0", base="1")
        played = store.ruleset("tic-tac-toe")
        assert played.perft(played.position(), 2).count == 9 * 8


def test_the_owner_is_not_held_up(house: House) -> None:
    for statement in (ANOTHER, "INSERT INTO ruleset (name) VALUES ('empty')"):
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
        with store.session.database.reading() as connection:
            count = connection.execute(text("SELECT count(*) FROM piece")).scalar_one()
        assert store.upkeep.rebuild() == count
    with psycopg.connect(used.addresses["author"]) as author:
        run(author, new_piece())
    with psycopg.connect(used.addresses["admin"]) as admin:
        unused = "(SELECT id FROM piece WHERE identifier = 'C:Q')"
        own = (*t.PIECE_TABLES, *t.ABOUT_PIECES)
        tables = [f'DELETE FROM "{table.name}" WHERE piece_id = {unused}' for table in reversed(own)]
        gone = f"DELETE FROM lane WHERE key >> {lanes.OF_PIECE} = {unused}"
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
        ("author", lambda store: store.upkeep.rebuild(), "takes ggn_admin"),
        ("author", lambda store: store.load(ROOK, "old"), "old is retired and takes no revisions"),
        (
            "admin",
            lambda store: store.server.init_roles(),
            "for the owner of the tables only, not for members of ggn_admin",
        ),
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
    listed = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
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
    ("DROP FUNCTION ggn_note_lane() CASCADE", "the function ggn_note_lane() is missing"),
    ("ALTER FUNCTION ggn_check() OWNER TO CURRENT_USER", "the function ggn_check() belongs to "),
    ("ALTER ROLE ggn_author CREATEROLE", "ggn_author has CREATEROLE"),
    ("GRANT pg_read_server_files TO ggn_reader", "ggn_reader is a member of pg_read_server_files, and has its rights"),
)
NOT_OURS_TO_MEND = ("ALTER ROLE", "GRANT pg_read")


@pytest.mark.parametrize(("statement", "sentence"), DEVIATIONS)
def test_what_was_changed_by_hand_is_told_and_mended(house: House, statement: str, sentence: str) -> None:
    with Store.open(house.url) as store, store.session.database.engine.connect() as connection:
        change = connection.begin()
        assert server_roles.find_roles(store.session.database, connection).deviations == ()
        connection.execute(text(statement))
        assert any(
            each.startswith(sentence) for each in server_roles.find_roles(store.session.database, connection).deviations
        )
        if not statement.startswith(NOT_OURS_TO_MEND):
            server_roles.initialise(store.session.database, connection)
            assert server_roles.find_roles(store.session.database, connection).deviations == ()
        change.rollback()


def test_a_role_that_may_do_more_is_not_taken_for_ours(house: House) -> None:
    with Store.open(house.url) as store, store.session.database.engine.connect() as connection:
        change = connection.begin()
        connection.execute(text("ALTER ROLE ggn_author CREATEROLE"))
        with pytest.raises(psycopg.Error, match="the server has a role ggn_author already, which may do more"):
            server_roles.initialise(store.session.database, connection)
        change.rollback()


def test_the_printed_script_does_what_init_does(postgres_server: Server) -> None:
    url = postgres_server.create_store()
    with Store.open(url) as store:
        assert store.server.roles().deviations[-1] in (
            "the roles have no rights on this store yet",
            "there is no role ggn_admin",
        )
        shown = CliRunner().invoke(group, ["--db", url, "db", "roles", "show"])
        assert (shown.exit_code, "run `ggn-store db roles init`" in shown.stderr) == (1, True)
        script = CliRunner().invoke(group, ["--db", url, "db", "roles", "init", "--sql"]).stdout
        assert store.server.roles().deviations != ()
        assert script == f"BEGIN;\n\n{store.server.roles_script()}\nCOMMIT;\n"
        for _ in range(2):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(script.encode())
            assert store.server.roles().deviations == ()
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
    assert "  - UPDATE on piece (lanes), ruleset (deleted_at)" in shown


def test_the_owner_without_rights_over_roles_renews_what_a_superuser_has_made(house: House) -> None:
    with Store.open(house.addresses["owner"], upgrade=True) as store:
        assert store.server.roles().deviations == ()
        assert store.server.init_roles().deviations == ()


def test_a_file_has_no_roles(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    with Store.open(address) as store:
        for ask in (store.server.roles, store.server.init_roles, store.server.roles_script):
            with pytest.raises(StoreError, match=r"roles are of Postgres.*\(chmod\)"):
                ask()
    done = CliRunner().invoke(group, ["--db", address, "db", "roles", "show"])
    assert isinstance(done.exception, StoreError)
