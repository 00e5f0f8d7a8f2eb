"""The guards of a Postgres server let every document through and see every damage: SQL's digests are Python's."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ggn_store import Document, Store, StoreError, parse, read_definition
from ggn_store.model.documents.document import Destination, Dialect, Envelope, Piece, Possibility, Source
from ggn_store.notation.stn import Transition
from ggn_store.store.rulesets import lanes
from ggn_store.store.schema import tables as t
from tests.support.house import House
from tests.support.stored import KNIGHT, ROOK
from tests.support.strategies import DIALECTS, documents


@pytest.mark.parametrize("examples", [8, pytest.param(20, marks=pytest.mark.long)])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_guards_let_every_document_through(used: House, dialect: Dialect, examples: int) -> None:
    with Store.open(used.addresses["author"]) as store:

        @settings(max_examples=examples)
        @given(documents(dialect))
        def loads(document: dict[str, Any]) -> None:
            content = parse(document, dialect)
            revision = store.load(content, f"random/{dialect}")
            assert store.ruleset(str(revision)).document().data() == content.data()

        loads()


GUARDED = Document(
    "gdl",
    (
        Piece(
            "D:M",
            (Source("x", (Destination("y", (Possibility(effects=Transition({"x": None}), guards={"ep": ("3",)}),)),)),),
        ),
    ),
)
EP = '{"values":["3","none"],"initial":"none"}'
UNDECLARED = "its pieces name a state that it does not declare"
UNWRITTEN = "its state variables are not as this program writes them"
ROOKS = '{"values":["no","yes"],"initial":"no","square":"x","pieces":["D:R","d:r"]}'
ABOUT_SQUARES = (
    ROOKS.replace("no", "none"),
    ROOKS.replace('"x"', '""'),
    ROOKS.replace('"x"', "3"),
    ROOKS.replace('"x"', "null"),
    ROOKS.replace('"square":"x",', ""),
    ROOKS.replace(',"pieces":["D:R","d:r"]', ""),
    ROOKS.replace('"D:R","d:r"', ""),
    ROOKS.replace('"D:R"', '""'),
    ROOKS.replace('"D:R","d:r"', '"d:r","D:R"'),
    ROOKS.replace('"no","yes"', '"yes"'),
)


@pytest.mark.parametrize(
    ("declared", "refusal"),
    [
        (f'{{"ep":{EP}}}', None),
        (None, UNDECLARED),
        ('{"ep":{"values":["none"],"initial":"none"}}', UNDECLARED),
        (f'{{"eq":{EP}}}', UNDECLARED),
        (f'{{"ep": {EP}}}', UNWRITTEN),
        (f'{{"ep":{EP},"a":{EP}}}', UNWRITTEN),
        (f'{{"ep":{EP},"ep":{EP}}}', UNWRITTEN),
        ('{"ep":{"values":["none","3"],"initial":"none"}}', UNWRITTEN),
        ('{"ep":{"values":["3","3"],"initial":"3"}}', UNWRITTEN),
        ('{"ep":{"values":["3"],"initial":"none"}}', UNWRITTEN),
        ('{"ep":{"values":["","3"],"initial":"3"}}', UNWRITTEN),
        ('{"ep":{"values":[3],"initial":"3"}}', UNWRITTEN),
        ('{"ep":{"values":["3"]}}', UNWRITTEN),
        (f'{{"":{EP},"ep":{EP}}}', UNWRITTEN),
        (f'{{"ep":{EP},"rook":{ROOKS}}}', None),
        *((f'{{"ep":{EP},"rook":{about}}}', UNWRITTEN) for about in ABOUT_SQUARES),
        ("{}", UNWRITTEN),
        ("[]", None),
        ("no JSON", None),
    ],
)
def test_an_author_declares_every_state_that_pieces_name(
    used: House, declared: str | None, refusal: str | None
) -> None:
    # As this program would never send it: what it reads, it has checked.
    document = replace(GUARDED, envelope=Envelope(variables=declared))
    is_sound = declared in (f'{{"ep":{EP}}}', f'{{"ep":{EP},"rook":{ROOKS}}}')
    with Store.open(used.addresses["author"]) as store:
        if is_sound:
            assert store.load(document, "state/declared").dialect == "gdl"
            return
        with pytest.raises(StoreError, match=refusal):
            store.load(document, "state/forged")
        assert "state/forged" not in [each.name for each in store.revisions()]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20) | st.sampled_from(
    ["\x01\x1f\x7f\x80\u2028", '"\\\b\f\n\r\t/', "🙂é\U0010ffff", "</script>", "'"]
)


def test_the_guards_let_every_author_message_and_title_through(used: House) -> None:
    with Store.open(used.addresses["author"]) as store:
        turns = itertools.cycle((KNIGHT, ROOK))

        @settings(max_examples=40)
        @given(TEXTS, TEXTS, st.fixed_dictionaries({}, optional={"title": TEXTS, "source": TEXTS, "schema": TEXTS}))
        def loads(author: str, message: str, envelope: dict[str, str]) -> None:
            content = parse(next(turns))
            content = replace(content, envelope=replace(content.envelope, **envelope))
            assert store.load(content, "random/texts", author=author, message=message).status in ("new", "unchanged")

        loads()


ONE = "ctid = (SELECT ctid FROM {table} WHERE piece_id = {piece} LIMIT 1)"
ONE_LANE = f"ctid = (SELECT ctid FROM lane WHERE key >> {lanes.OF_PIECE} = {{piece}} LIMIT 1)"
CHANGES = (
    ("condition", "state = CASE state WHEN 'empty' THEN 'enemy' ELSE 'empty' END"),
    ("condition", "polarity = CASE polarity WHEN 'must' THEN 'deny' ELSE 'must' END"),
    ("condition", "square = square + 1"),
    ("condition", "square = square + 1000"),
    ("effect", "becomes = CASE WHEN becomes IS NULL THEN 'C:P' END"),
    ("effect", "square = square + 1"),
    ("hand_effect", "delta = -delta"),
    ("variant", "toggle = CASE WHEN toggle THEN false ELSE true END"),
    ("variant", "toggle = CASE WHEN toggle IS NULL THEN true END"),
    ("variant", "number = number + 1000"),
    ("variant", "ordinal = ordinal + 7"),
    ("destination", "square = CASE WHEN square IS NULL THEN 0 END"),
    ("destination", "ordinal = ordinal + 7"),
    ("source", "square = CASE WHEN square IS NULL THEN 0 END"),
    ("source", "ordinal = ordinal + 7"),
    ("variant_origin", "action = action || 'x'"),
    ("variant_origin", "action = ''"),
    ("variant_origin", "step = step + 1"),
    ("variant_origin", "step = 1000001"),
    ("variant_origin", "chainable = NOT chainable"),
    ("guard", "value = value || 'x'"),
    ("guard", "variable = variable || 'x'"),
    ("state_effect", "value = value || 'x'"),
    ("state_effect", "variable = ''"),
)
OF_PIECES = (
    "identifier = identifier || ''''",
    "side = CASE side WHEN 'first' THEN 'second' ELSE 'first' END",
    "terminal = NOT terminal",
    "derived = NOT derived",
    "state = CASE state WHEN '' THEN '+' ELSE '' END",
    "lanes = lanes + 1",
    "digest = repeat('0', 64)",
)
OF_LANES = (
    f"key = key + {1 << lanes.OF_SOURCE}",
    "each = each + 1",
    "path = path # 1",
    "passed = passed # 1",
    "first = first # 1",
    "first = first # 2",
    "target = target # 1",
    "target = target | 1::bigint << 62",
    "path = path | 1::bigint << 62",
    "statements = '[\"C:Z\"]'",
    "statements = '[\"empty|enemy\"]'",
    "statements = '[]'",
    "statements = '['",
    "facts = facts || ' 0'",
    "facts = '999' || facts",
    "facts = 'x'",
    "facts = ''",
    "numbers = numbers || ' 0'",
    "numbers = '999' || numbers",
    "numbers = ''",
)


def update(table: str, change: str, where: str) -> str:
    """A change of rows; of none where it would change nothing, and is no damage."""
    column, _, value = change.partition(" = ")
    return f"UPDATE {table} SET {change} WHERE {where} AND {column} IS DISTINCT FROM ({value})"


DAMAGES = (
    *(f"DELETE FROM {table.name} WHERE {ONE}".replace("{table}", table.name) for table in t.PIECE_TABLES),
    *(update(table, change, ONE.replace("{table}", table)) for table, change in CHANGES),
    *(update("piece", change, "id = {piece}") for change in OF_PIECES),
    *(update("lane", change, ONE_LANE) for change in OF_LANES),
    f"DELETE FROM lane WHERE {ONE_LANE}",
    *(f"UPDATE piece_summary SET {name} = {name} + 1 WHERE piece_id = {{piece}}" for name in t.COUNTS),
    "DELETE FROM piece_summary WHERE piece_id = {piece}",
    "DELETE FROM piece_facts WHERE piece_id = {piece}",
    "UPDATE piece_facts SET version = version + 1 WHERE piece_id = {piece}",
    "UPDATE piece_facts SET moves = 'x' WHERE piece_id = {piece}",
    "UPDATE piece_facts SET displacing = 1000000 WHERE piece_id = {piece}",
    "INSERT INTO hand_effect SELECT piece_id, number, 'C:Z', 1 FROM variant WHERE piece_id = {piece} LIMIT 1",
    "INSERT INTO effect SELECT piece_id, number, 0, 'C:Z' FROM variant WHERE piece_id = {piece} LIMIT 1",
    "INSERT INTO condition SELECT piece_id, variant, polarity, square, state || 'x' FROM condition "
    "WHERE piece_id = {piece} LIMIT 1",
    "INSERT INTO variant_origin SELECT piece_id, number, 'planted', 1, false FROM variant WHERE piece_id = {piece} "
    "AND number NOT IN (SELECT variant FROM variant_origin AS o WHERE o.piece_id = {piece}) LIMIT 1",
    "INSERT INTO guard SELECT piece_id, number, 'planted', '1' FROM variant WHERE piece_id = {piece} LIMIT 1",
    "INSERT INTO state_effect SELECT piece_id, number, 'planted', '1' FROM variant WHERE piece_id = {piece} LIMIT 1",
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_guards_see_every_damage_to_a_piece(used: House, dialect: Dialect) -> None:
    with Store.open(used.addresses["author"]) as store, psycopg.connect(used.url, autocommit=True) as server:
        server.execute("SET session_replication_role = replica")  # without triggers
        seen: Counter[str] = Counter()

        @settings(max_examples=12)
        @given(documents(dialect))
        def sees(document: dict[str, Any]) -> None:
            revision = store.load(parse(document, dialect), f"damaged/{dialect}")
            listed = "SELECT piece_id FROM revision_piece WHERE revision_id = %s ORDER BY ordinal"
            [piece, *_] = server.execute(listed, [revision.id]).fetchall()[0]
            kinds = ("piece", "lane", "summary", "facts")
            faults = f"SELECT coalesce({', '.join(f'ggn_fault_of_{kind}({piece})' for kind in kinds)})".encode()
            assert server.execute(faults).fetchone() == (None,)
            for damage in DAMAGES:
                with contextlib.suppress(psycopg.errors.IntegrityError), server.transaction(force_rollback=True):
                    if server.execute(damage.format(piece=piece).encode()).rowcount:
                        assert server.execute(faults).fetchone() != (None,), damage
                        seen[damage] += 1

        sees()
        others = sum("variant_origin" in each or "guard" in each or "state_effect" in each for each in DAMAGES)
        possible = len(DAMAGES) if dialect == "gdl" else len(DAMAGES) - others
        assert len(seen) > possible * 2 / 3


def test_nobody_but_the_owner_says_that_a_damaged_piece_was_found_sound(used: House) -> None:
    with Store.open(used.addresses["author"]) as store, psycopg.connect(used.url, autocommit=True) as server:
        revision = store.load(KNIGHT | {"C:W": KNIGHT["C:N"]}, "damaged/checked")
        listed = server.execute("SELECT piece_id FROM revision_piece WHERE revision_id = %s", [revision.id]).fetchall()
        piece = max(key for (key,) in listed)
        hurt = f"UPDATE condition SET polarity = CASE polarity WHEN '{{}}' THEN '{{}}' END WHERE piece_id = {piece}"
        said = f"INSERT INTO piece_check VALUES ({piece}, 1, now(), '')"
        server.execute("SET session_replication_role = replica")
        server.execute(hurt.format("must", "deny").encode())
        with psycopg.connect(used.addresses["admin"], autocommit=True) as admin:
            with pytest.raises(psycopg.errors.IntegrityError, match="its rows do not give its digest"):
                admin.execute(said.encode())
            server.execute(hurt.format("deny", "must").encode())
            admin.execute(said.encode())
            admin.execute("DELETE FROM piece_check")


@pytest.mark.parametrize("sizes", [("8x8", "9x9", "23x23"), pytest.param(("36x36",), marks=pytest.mark.long)])
def test_the_guards_know_the_lanes_of_boards_of_every_size(used: House, sizes: tuple[str, ...]) -> None:
    with Store.open(used.addresses["author"]) as store, psycopg.connect(used.url) as server:
        for size in sizes:
            game = f'title = "Big"\nboard = "{size}"\nstyle = "B"\n[pieces.P]\nbetza = "mfWcfFmfnD"\n'
            revision = store.load(read_definition(game), f"big/{size}")
            faults = "SELECT ggn_fault_of_lane(piece_id) FROM revision_piece WHERE revision_id = %s"
            assert set(server.execute(faults, [revision.id]).fetchall()) == {(None,)}
