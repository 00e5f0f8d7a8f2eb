"""What each role on a Postgres server may do, and what is refused, by rights or by guards."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from ggn_store import Store, parse
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import revision_digest
from ggn_store.model.teams.revision import lineage
from ggn_store.movement import facts
from ggn_store.store.rulesets import lanes
from ggn_store.store.schema import tables as t
from tests.support.house import (
    ANOTHER,
    GAME,
    NEW,
    OLD_BOARD,
    OLD_PIECE,
    ROLES,
    House,
    counts,
    literal,
    new_piece,
    run,
    state,
    tag,
)
from tests.support.stored import KNIGHT, ROOK

FIRST = f"(SELECT id FROM revision WHERE number = 1 AND ruleset_id = {GAME})"
FIRST_LANE = f"({{piece}} << {lanes.OF_PIECE})"
HEAD = f"(SELECT id FROM revision WHERE number = 2 AND ruleset_id = {GAME})"


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


FOUND_SOUND = "INSERT INTO piece_check (piece_id, checker, checked_at, fingerprint) VALUES ({piece}, 1, now(), '')"
EXTRA_CONDITION = f"INSERT INTO condition VALUES ({NEW}, 0, 'deny', 0, 'enemy')"


ATTEMPTS: tuple[Attempt, ...] = (
    Attempt(
        "read rules", "+++", "SELECT count(*) FROM moves_flat JOIN conditions_flat USING (ruleset, revision, piece)"
    ),
    Attempt("read lanes", "+++", "SELECT * FROM lane"),
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
        "forge a piece's lanes",
        "-xx",
        [
            *without(new_piece(), "INTO lane"),
            f"INSERT INTO lane VALUES ({FIRST_LANE.format(piece=NEW)}, 1, 0, 0, 1, 1, '[\"empty\"]', '0', '0')",
        ],
        "lanes are not those of its rows",
    ),
    Attempt("store a piece without lanes", "-xx", without(new_piece(), "INTO lane"), "lanes are not those"),
    Attempt(
        "store a piece without a summary", "-xx", without(new_piece(), "INTO piece_summary"), "summary is not the one"
    ),
    Attempt("store a piece without facts", "-xx", without(new_piece(), "INTO piece_facts"), "facts are not those"),
    *(
        Attempt(
            f"forge how many {name} a piece has",
            "-xx",
            [each.replace(f"({counts(NEW)[name]})", "7") for each in new_piece()],
            "summary is not the one of its rows",
        )
        for name in t.COUNTS
    ),
    Attempt("say that a piece has no lanes", "-xx", new_piece(lanes=None), "lanes are of another version"),
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
        "rows are not those of a document|lanes are not those of its rows",  # both are true
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
    *(
        Attempt(
            f"forge the coordinates of a square {place}",
            "-xx",
            [
                f"INSERT INTO board (digest) VALUES ('{Board((label,)).digest}')",
                f"INSERT INTO square VALUES (currval('board_id_seq'), 0, '{label}', {given})",
            ],
            "file, rank and layer of its squares are not those of their labels",
        )
        for place, label, given in (
            ("that has others", "b7C", "2, 7, 4"),
            ("that has them", "b7", "NULL, NULL, NULL"),
            ("on a flat board", "b7", "2, 7, 1"),
            ("without any", "north pole", "1, 1, NULL"),
            ("too far away", "crxq", "65537, NULL, NULL"),
        )
    ),
    Attempt(
        "store a board with its coordinates",
        "-++",
        [
            f"INSERT INTO board (digest) VALUES ('{Board(('ab7C', 'ac7C')).digest}')",
            "INSERT INTO square VALUES (currval('board_id_seq'), 0, 'ab7C', 28, 7, 3)",
            "INSERT INTO square VALUES (currval('board_id_seq'), 1, 'ac7C', 29, 7, 3)",
        ],
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
        "add a lane to an old piece",
        "-xx",
        f"INSERT INTO lane VALUES ({FIRST_LANE.format(piece=OLD_PIECE)} + 9, 1, 0, 0, 1, 1, '[\"\"]', '0', '0')",
        "only added to a piece|lanes are not those",
    ),
    Attempt(
        "add a lane to a piece to come",
        "-xx",
        f"INSERT INTO lane VALUES ({FIRST_LANE.format(piece='999::bigint')}, 1, 0, 0, 1, 1, '[\"\"]', '0', '0')",
        "only added to a piece|its piece is not there",
    ),
    Attempt(
        "add a summary to a piece to come",
        "-xx",
        f"INSERT INTO piece_summary SELECT 999, {', '.join('0' for _ in t.COUNTS)}",
        "only added to a piece|foreign key",
    ),
    Attempt(
        "add facts to a piece to come",
        "-xx",
        f"INSERT INTO piece_facts (piece_id, version) VALUES (999, {facts.VERSION})",
        "only added to a piece|foreign key",
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
        "name a piece of an old revision",
        "-x+",
        f"INSERT INTO piece_name VALUES ({HEAD}, 0, 'knave')",
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
    Attempt("remove all lanes", "--x", "DELETE FROM lane", "its lanes are not those of its rows"),
    Attempt("remove all summaries", "--x", "DELETE FROM piece_summary", "its summary is not the one of its rows"),
    Attempt("remove all facts", "--x", "DELETE FROM piece_facts", "its facts are not those of its rows"),
    Attempt("change a fact", "---", "UPDATE piece_facts SET rides = true"),
    Attempt("change the name of a piece", "---", "UPDATE piece_name SET name = 'knave'"),
    Attempt("change a summary", "---", "UPDATE piece_summary SET conditions = 7"),
    Attempt("empty a table", "---", "TRUNCATE lane"),
    Attempt("say that a piece was found sound", "--+", FOUND_SOUND.format(piece=OLD_PIECE)),
    Attempt("say that a piece to come was found sound", "--x", FOUND_SOUND.format(piece=999), "foreign key"),
    Attempt("say otherwise what a sound piece looked like", "---", "UPDATE piece_check SET fingerprint = ''"),
    Attempt("forget which pieces were found sound", "--+", "DELETE FROM piece_check"),
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
    Attempt("say that lanes are not made yet", "--x", "UPDATE piece SET lanes = NULL", "lanes are of another version"),
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


def test_the_store_is_sound_after_all_attempts(house: House) -> None:
    for role in ROLES:
        with Store.open(house.addresses[role]) as store:
            assert store.upkeep.check() == []
