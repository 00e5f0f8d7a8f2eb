"""The views: they are as they are documented, and say what the documents say, read in plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Boolean, Connection, DateTime, Integer, Text, inspect, text

from ggn_store import Store, parse, read_definition
from ggn_store.model.documents.document import Document, Envelope
from ggn_store.movement.facts import Counts, Deriver
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.pieces import read_piece
from ggn_store.store.schema import tables as t
from ggn_store.store.schema.views import VIEWS
from tests.oracles import analyses, concepts
from tests.oracles import facts as oracle
from tests.support.migrations import connected
from tests.support.strategies import DIALECTS, documents
from tests.support.views import GAMES, PLAY, Row, played, rows

AXES = ("file", "rank", "layer")
TYPES = {"text": Text, "integer": Integer, "boolean": Boolean, "time": DateTime}


FIELDS = {"title": "A game: 'quoted', \"and\" \\ again", "source": "nobody", "start": "2/2 / C/c"}


def execute(store: Store, *statements: str) -> None:
    with store.session.writing() as connection:
        for statement in statements:
            connection.execute(text(statement))


# --- a document, read in plain Python ---


def pieces(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from ((name, value) for name, value in document.items() if not name.startswith("$"))


def side_of(piece: str) -> str:
    return "first" if piece.partition(":")[0].isupper() else "second"


def possibilities(document: dict[str, Any]) -> Iterator[tuple[Row, Any]]:
    """Every possibility of a document, with the columns that name it."""
    for piece, sources in pieces(document):
        number = 0
        for source, destinations in sources.items():
            for destination, array in destinations.items():
                for ordinal, possibility in enumerate(array):
                    place = {"piece": piece, "source": source, "destination": destination, "ordinal": ordinal}
                    yield place | {"possibility": number}, possibility
                    number += 1


def plain_points(document: dict[str, Any]) -> dict[str, Row]:
    """File, rank and layer of each square of the board."""
    board = parse(document).board
    at = {} if board.extent is None else analyses.points(board.squares)
    nowhere: Row = dict.fromkeys(AXES)
    return {square: nowhere | dict(zip(AXES, at.get(square, ()), strict=False)) for square in board.squares}


def plain_squares(document: dict[str, Any]) -> list[Row]:
    found = plain_points(document).items() if document else ()
    return [{"square": square, "number": number} | point for number, (square, point) in enumerate(found)]


def plain_moves(document: dict[str, Any], dialect: str) -> list[Row]:
    found = []
    at = plain_points(document) | {"*": dict.fromkeys(AXES)} if document else {}
    board = parse(document).board if document else None
    points = None if board is None or board.extent is None else analyses.points(board.squares)
    for place, possibility in possibilities(document):
        start, end = at[place["source"]], at[place["destination"]]
        steps = {
            f"d{name}": None if None in (start[axis], end[axis]) else end[axis] - start[axis]
            for name, axis in zip("xyz", AXES, strict=True)
        }
        must = possibility.get("must", possibility.get("require", {}))
        toggle = None if dialect == "must-deny" else possibility.get("diff", {}).get("toggle", True)
        said = {
            "side": side_of(place["piece"]),
            "requires": must.get(place["destination"]),
            "toggle": toggle,
            "capture": oracle.capture(place["piece"], place["source"], place["destination"], possibility),
            "promotes": oracle.promotes(place["piece"], place["destination"], possibility),
            "castles": oracle.castles(place["piece"], place["source"], place["destination"], possibility),
            "squares_off_path": oracle.off_path(place["source"], place["destination"], possibility, points),
            "is_drop": place["source"] == "*",
            "action": None,
            "step": None,
            "chainable": None,
        }
        if "action" in possibility:
            action = possibility["action"]
            said |= {"action": action["name"], "step": action["step"], "chainable": action.get("chainable", False)}
        found.append(place | said | start | steps)
    return found


def plain_conditions(document: dict[str, Any]) -> list[Row]:
    return [
        place | {"polarity": polarity, "square": square, "state": state}
        for place, possibility in possibilities(document)
        for polarity, other in (("must", "require"), ("deny", "prevent"))
        for square, state in possibility.get(polarity, possibility.get(other, {})).items()
    ]


def plain_effects(document: dict[str, Any]) -> list[Row]:
    found = []
    for place, possibility in possibilities(document):
        diff = possibility.get("diff", {"board": possibility.get("perform", {})})
        of_hand: Row = {"kind": "hand", "square": None, "becomes": None}
        of_square: Row = {"kind": "square", "held": None, "delta": None}
        found += [
            place | of_square | {"square": square, "becomes": becomes}
            for square, becomes in diff.get("board", {}).items()
        ]
        found += [place | of_hand | {"held": held, "delta": delta} for held, delta in diff.get("hands", {}).items()]
    return found


def plain_guards(document: dict[str, Any]) -> list[Row]:
    return [
        place | {"variable": variable, "value": value}
        for place, possibility in possibilities(document)
        for variable, values in possibility.get("when", {}).items()
        for value in values
    ]


def plain_state_effects(document: dict[str, Any]) -> list[Row]:
    return [
        place | {"variable": variable, "value": value}
        for place, possibility in possibilities(document)
        for variable, value in possibility.get("diff", {}).get("state", {}).items()
    ]


def plain_facts(document: dict[str, Any]) -> dict[str, Row]:
    board = parse(document).board
    at = None if board.extent is None else analyses.points(board.squares)
    counts, mobility = oracle.counts(document, at), oracle.mobility(document, at)
    ways = {} if at is None else oracle.ways(document, at)
    found: dict[str, Row] = {}
    for piece, _ in pieces(document):
        squares, total, _, _, quiet, _, _, capture, _, _, reach, colours = mobility.get(piece, (None,) * 12)
        row: Row = {name: counts[piece][name] for name in Counts._fields}
        row |= zip(("rides", "leaps", "hops"), (None,) * 3 if at is None else ways[piece], strict=True)
        row |= {"squares": squares, "total": total, "quiet": quiet, "capturing": capture}
        found[piece] = row | {"reach": reach, "colours": colours, "layout": None, "name": None}
    return found


def plain_pieces(document: dict[str, Any]) -> list[Row]:
    found = []
    facts = plain_facts(document) if document else {}
    for ordinal, (piece, sources) in enumerate(pieces(document)):
        style, _, rest = piece.partition(":")
        named = {
            "piece": piece,
            "side": side_of(piece),
            "style": style.upper(),
            "letter": rest.strip("+-^'").upper(),
        }
        marks = {
            "state": rest[0] if rest[0] in "+-" else "",
            "terminal": "^" in rest,
            "derived": rest.endswith("'"),
        }
        counts = {
            "sources": len(sources),
            "destinations": sum(map(len, sources.values())),
            "possibilities": sum(len(array) for destinations in sources.values() for array in destinations.values()),
            "conditions": sum(1 for each in plain_conditions({piece: sources})),
        }
        found.append({"ordinal": ordinal} | named | marks | counts | facts[piece])
    return found


def plain_concepts(document: dict[str, Any], played: dict[str, list[Row]]) -> list[Row]:
    pieces, squares = plain_pieces(document), plain_squares(document)
    return [{**concepts.of_document(document, pieces, squares, played)}] if document else []


def plain(document: dict[str, Any], dialect: str) -> dict[str, list[Row]]:
    return {
        "v_pieces": plain_pieces(document),
        "v_squares": plain_squares(document),
        "v_concepts": plain_concepts(document, {}),
        "v_moves": plain_moves(document, dialect),
        "v_conditions": plain_conditions(document),
        "v_effects": plain_effects(document),
        "v_guards": plain_guards(document),
        "v_state_effects": plain_state_effects(document),
    }


def alike(found: list[Row]) -> list[str]:
    """Rows as texts in one order; truth values are 0 and 1, as SQLite has them, and keys of the store are left out."""
    of_movement = ("movement", "whole_movement", "words", "movements", "unequal_sides")
    left_out = ("ruleset", "revision", "piece_id", "digest", *of_movement)
    kept = [{name: value for name, value in row.items() if name not in left_out} for row in found]
    return sorted(
        json.dumps(
            {key: int(value) if isinstance(value, bool) else value for key, value in row.items()}, sort_keys=True
        )
        for row in kept
    )


def require_alike(store: Store, views: str, name: str, number: int, content: dict[str, list[Row]]) -> None:
    """What views of a suffix say of a revision is this content."""
    for view, expected in content.items():
        query = f"SELECT * FROM {view}{views} WHERE ruleset = :name AND revision = :number"
        assert alike(rows(store, query, name=name, number=number)) == alike(expected), view


# --- as documented ---


def test_the_views_of_the_database_are_those_that_are_documented(store: Store, address: str) -> None:
    documented = {view.name for view in VIEWS} | {view.every for view in VIEWS if view.every is not None}
    with connected(address) as connection:
        found = inspect(connection)
        assert {name for name in found.get_view_names() if name.startswith("v_")} == documented
        for view in VIEWS:
            for name in filter(None, (view.name, view.every)):
                columns = found.get_columns(name)
                assert [column["name"] for column in columns] == list(view.names), name
                require_types(connection, name, {each.name: each.type for each in view.columns}, columns)


def require_types(connection: Connection, view: str, documented: dict[str, Any], columns: list[Any]) -> None:
    for column in columns:
        # SQLite knows no type of what is made by an expression.
        if connection.dialect.name == "postgresql":
            assert isinstance(column["type"], TYPES[documented[column["name"]]]), (view, column)


def test_every_view_and_column_says_what_it_means() -> None:
    for view in VIEWS:
        assert len(set(view.names)) == len(view.names)
        assert view.row
        for column in view.columns:
            assert column.meaning, column
            assert not column.meaning.endswith("."), column


def test_every_column_can_be_asked_for_without_quotes(store: Store) -> None:
    for view in VIEWS:
        assert rows(store, f"SELECT {', '.join(view.names)} FROM {view.name}") == []


# --- what they hold ---


def test_views_hold_what_documents_say(store: Store) -> None:
    for dialect, document in GAMES.items():
        store.load(document, dialect)
    for dialect, document in GAMES.items():
        require_alike(store, "", dialect, 1, plain(document, dialect))
        require_alike(store, "_all", dialect, 1, plain(document, dialect))
    counts = {view: len(rows(store, f"SELECT * FROM {view}")) for view in plain({}, "diff")}
    of_state = {"v_guards": 3, "v_state_effects": 1, "v_squares": 12, "v_concepts": 4}
    assert counts == {"v_pieces": 6, "v_moves": 13, "v_conditions": 11, "v_effects": 11} | of_state
    [declared] = rows(store, "SELECT variables FROM v_rulesets WHERE ruleset = 'gdl'")
    assert json.loads(declared["variables"]) == GAMES["gdl"]["$state"]
    assert rows(store, "SELECT ruleset FROM v_rulesets WHERE variables IS NOT NULL") == [{"ruleset": "gdl"}]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), dialect=st.sampled_from(DIALECTS))
def test_views_hold_what_random_documents_say(module_store: Store, data: st.DataObject, dialect: str) -> None:
    document = data.draw(documents(dialect))
    name = f"random-{dialect}"
    revision = module_store.load(document, name, dialect=dialect)  # type: ignore[arg-type]
    exported = json.loads(module_store.ruleset(name).export())
    require_alike(module_store, "", name, revision.number, plain(exported, dialect))
    require_alike(module_store, "_all", name, revision.number, plain(exported, dialect))


def points(store: Store, name: str) -> dict[str, tuple[int | None, ...]]:
    found = rows(store, "SELECT * FROM v_squares WHERE ruleset = :name ORDER BY number", name=name)
    return {row["square"]: tuple(row[axis] for axis in AXES) for row in found}


def test_squares_of_every_kind_of_board_have_their_coordinates(store: Store) -> None:
    def load(*squares: str) -> dict[str, tuple[int | None, ...]]:
        name = "-".join(squares).lower()
        possibility = {"action": {"name": "go", "step": 1}, "diff": {"toggle": True}}  # a dialect for all labels
        store.load({"C:P": {squares[0]: {square: [possibility] for square in squares[1:]}}}, name)
        return points(store, name)

    assert load("e3", "e4") == {"e3": (5, 3, None), "e4": (5, 4, None)}
    assert load("z1", "ab1") == {"z1": (26, 1, None), "aa1": (27, 1, None), "ab1": (28, 1, None)}
    assert load("a1A", "a1B") == {"a1A": (1, 1, 1), "a1B": (1, 1, 2)}
    assert load("c", "d") == {"c": (3, None, None), "d": (4, None, None)}
    # The board around these would be too large: they are listed, as they are.
    assert load("a1", "zz9999") == {"a1": (1, 1, None), "zz9999": (702, 9999, None)}
    # No coordinates: of different dimensions, of four, no CELL, and words, of which CELL makes files such as 7,341,613.
    for squares in (("a1", "a1A"), ("a1Aa", "a1Ab"), ("a1", "x-1"), ("A1", "A2"), ("altar", "paris")):
        assert set(load(*squares).values()) == {(None, None, None)}, squares
    assert set(load("crxn", "crxo").values()) == {(65_534, None, None), (65_535, None, None)}
    assert set(load("crxp", "crxq").values()) == {(None, None, None)}
    assert store.upkeep.check() == []


def test_steps_of_knights_are_those_of_knights(store: Store) -> None:
    store.load_library("chess")
    assert len(points(store, "chess")) == 64
    knight = "SELECT DISTINCT abs(dx) AS x, abs(dy) AS y, dz FROM v_moves WHERE ruleset = 'chess' AND piece = 'C:N'"
    assert {tuple(row.values()) for row in rows(store, knight)} == {(1, 2, None), (2, 1, None)}


def test_current_views_hold_the_newest_revision_and_the_others_all(store: Store) -> None:
    first = GAMES["must-deny"]
    second = {"C:P": first["C:P"] | {"b2": {"a1": [{}]}}}
    for number, document in enumerate((first, second), 1):
        assert store.load(document, "game", message=f"the {number}.", author="Ann").number == number
    for number, document in ((1, first), (2, second)):
        require_alike(store, "_all", "game", number, plain(document, "must-deny"))
    require_alike(store, "", "game", 2, plain(second, "must-deny"))
    for view in VIEWS[:-1]:
        assert {row["revision"] for row in rows(store, f"SELECT * FROM {view.name}")} <= {2}
    # The same content again is no revision, and the older content again is the third.
    store.load(first, "game")
    require_alike(store, "", "game", 3, plain(first, "must-deny"))
    listed = rows(store, "SELECT revision, revisions, pieces, possibilities, message FROM v_rulesets_all ORDER BY 1")
    assert [tuple(row.values()) for row in listed] == [
        (1, 3, 1, 3, "the 1."),
        (2, 3, 1, 4, "the 2."),
        (3, 3, 1, 3, None),
    ]


def test_a_piece_that_revisions_share_is_shown_for_each(store: Store) -> None:
    document = GAMES["must-deny"]
    for name in ("one", "two"):
        store.load(document, name)
    found = rows(store, "SELECT ruleset, piece_id, possibility FROM v_moves ORDER BY ruleset, possibility")
    assert [row["ruleset"] for row in found] == ["one"] * 3 + ["two"] * 3
    assert len({row["piece_id"] for row in found}) == 1


def test_deleted_rulesets_are_not_shown(store: Store) -> None:
    for name in ("kept", "gone"):
        store.load(played(), name)
    store.delete("gone")
    for view in VIEWS:
        for name in filter(None, (view.name, view.every)):
            assert {row["ruleset"] for row in rows(store, f"SELECT * FROM {name}")} == {"kept"}, name
    store.load(played(), "gone")
    assert {row["ruleset"] for row in rows(store, "SELECT * FROM v_moves")} == {"kept", "gone"}


def plain_play() -> dict[str, list[Row]]:
    flags: Row = dict.fromkeys(("in_check", "safe", "answered", "other", "perpetual", "edges", "ways"))
    nothing: Row = {"side": None, "pieces": None, "squares": None, "count": None} | flags
    return {
        "v_duties": [
            *(
                {"duty": each.name, "piece": piece, "is_left": False}
                for each in PLAY.duties
                for piece in each.pieces or (None,)
            ),
            *({"duty": name, "piece": None, "is_left": True} for name in PLAY.host),
        ],
        "v_reverts": [{"marked": marked, "plain": plain} for marked, plain in PLAY.reverts.items()],
        "v_crossings": [
            {"piece": each.piece, "source": each.source, "destination": each.destination}
            | {"ordinal": ordinal, "square": square}
            for each in PLAY.crossing
            for ordinal, square in enumerate(each.through)
        ],
        "v_outcomes": [
            nothing | {"ordinal": 0, "decided_by": "no-move", "verdict": "draw", "in_check": False},
            nothing
            | {"ordinal": 1, "decided_by": "goal", "verdict": "win", "side": "first", "pieces": "D:M"}
            | {"squares": "Alaska,x", "count": 2, "safe": True, "answered": True},
            nothing | {"ordinal": 2, "decided_by": "extinct", "verdict": "majority", "count": 0, "other": 2},
            nothing | {"ordinal": 3, "decided_by": "repetition", "verdict": "draw", "count": 4, "perpetual": True},
            nothing
            | {"ordinal": 4, "decided_by": "connection", "verdict": "win"}
            | {"edges": "Alaska,x Alaska", "ways": "0 1,1 -1"},
        ],
    }


def test_views_hold_how_a_game_is_played(store: Store) -> None:
    store.load(GAMES["gdl"], "game")
    for view in plain_play():
        assert rows(store, f"SELECT * FROM {view}_all") == [], view
    store.load(played(), "game")
    of_game = {"v_concepts": plain_concepts(GAMES["gdl"], plain_play())}
    for suffix in ("", "_all"):
        require_alike(store, suffix, "game", 2, plain_play() | of_game)
    assert [row["host_duties"] for row in rows(store, "SELECT host_duties FROM v_rulesets")] == [",".join(PLAY.host)]
    store.load(GAMES["gdl"], "game")
    for view, expected in plain_play().items():
        assert rows(store, f"SELECT * FROM {view}") == []
        assert len(rows(store, f"SELECT * FROM {view}_all")) == len(expected)


@pytest.mark.parametrize(
    ("line", "tier"),
    [
        ('tier = "A"', "A"),
        ("\t tier='D'\r", "D"),
        ('tier  =  "B"  # the frontier = "C"', "B"),
        ("", None),
        ("notes = \"a tier = 'C'\"", None),
    ],
)
def test_the_tier_of_a_ruleset_is_that_of_its_definition(store: Store, line: str, tier: str | None) -> None:
    store.load(read_definition(f'title = "T"\n{line}\nboard = "2x2"\nstyle = "C"\n[pieces.P]\nbetza = "W"\n'), "made")
    definition = store.ruleset("made").definition
    assert definition is not None
    assert definition.tier == tier
    assert [row["tier"] for row in rows(store, "SELECT tier FROM v_rulesets_all")] == [tier]


def test_a_ruleset_that_was_only_proposed_is_not_shown(store: Store) -> None:
    store.reviews.propose(GAMES["diff"], "idea", author="Ann")
    for view in VIEWS:
        assert rows(store, f"SELECT * FROM {view.name}") == []


def test_rulesets_tell_title_source_start_and_board(store: Store) -> None:
    store.load(GAMES["diff"], "bare", message="say 'why'", author="Ann")
    [row] = rows(store, "SELECT * FROM v_rulesets")
    revision = store.ruleset("bare").revision
    assert row["created_at"] is not None
    expected = revision.data() | {"ruleset": "bare", "pieces": 2, "possibilities": 6, "revisions": 1}
    expected |= {
        "variables": None,
        "conditions": len(plain_conditions(GAMES["diff"])),
        "host_duties": None,
        "tier": None,
    }
    assert {key: row[key] for key in row if key != "created_at"} == {
        key: expected[key] for key in row if key != "created_at"
    }
    assert row["author"] == "Ann"
    assert row["board"] == "2x2"


def test_states_are_the_newest(store: Store) -> None:
    for name in ("old", "new"):
        store.load(GAMES["diff"], name)
    store.states.set("old", "deprecated", author="Ann")
    store.states.set("old", "retired", use="new", author="Ann")
    found = rows(store, "SELECT ruleset, state, successor FROM v_rulesets ORDER BY ruleset")
    assert [tuple(row.values()) for row in found] == [("new", "active", None), ("old", "retired", "new")]


def test_history_tells_parents_and_the_tags_of_now(store: Store) -> None:
    for dialect in ("diff", "must-deny", "perform"):
        store.load(GAMES[dialect], "game", author="Ann")
    keys = {row["number"]: row["id"] for row in rows(store, "SELECT id, number FROM revision")}
    moved = [("b", 1, 1), ("a", 1, 3), ("b", 2, 3), ("gone", 1, 2), ("gone", 2, None), ("two", 1, 2)]
    with store.session.writing() as connection:
        [owner] = connection.execute(text("SELECT id FROM ruleset")).scalars()
        for name, number, at in moved:
            values = {"ruleset_id": owner, "name": name, "number": number, "revision_id": at and keys[at]}
            connection.execute(t.tag.insert().values(**values, created_at=store.ruleset("game").revision.created_at))
        connection.execute(t.revision_merge.insert().values(revision_id=keys[3], parent_id=keys[1]))
    found = rows(store, "SELECT revision, parent, merged, tags FROM v_history WHERE ruleset = 'game' ORDER BY revision")
    assert [tuple(row.values()) for row in found] == [(1, None, None, None), (2, 1, None, "two"), (3, 2, 1, "a,b")]
    for row in rows(store, "SELECT * FROM v_history"):
        revision = store.ruleset(f"game@{row['revision']}").revision
        assert (row["digest"], row["lineage"], row["author"]) == (revision.digest, revision.lineage, "Ann")


def test_titles_come_out_of_the_envelope_as_they_went_in(store: Store, tmp_path: Any) -> None:
    entry = FIELDS | {"name": "told", "document": GAMES["must-deny"]}
    (tmp_path / "told.ndjson").write_text(json.dumps(entry), encoding="utf-8")
    [loaded] = store.load_all([tmp_path / "told.ndjson"])
    assert loaded.error is None
    [row] = rows(store, "SELECT title, source, start FROM v_rulesets")
    assert row == FIELDS


# --- plans: what a question begins with ---


def steps(store: Store, query: str) -> list[str]:
    """SQLite's plan: the tables that are searched or scanned, in order."""
    with store.session.database.reading() as connection:
        lines = [str(row[-1]) for row in connection.execute(text(f"EXPLAIN QUERY PLAN {query}"))]
    return [line for line in lines if line.startswith(("SEARCH ", "SCAN "))]


@pytest.fixture(scope="module")
def sqlite_store() -> Iterator[Store]:
    """Postgres plans by what is in the tables, which the benchmark of views looks at; SQLite by the query."""
    with Store.open("sqlite://") as store:
        yield store


@pytest.mark.parametrize("view", [view.name for view in VIEWS if "piece_id" in view.names])
def test_sqlite_begins_with_what_is_asked_for(sqlite_store: Store, view: str) -> None:
    for condition, index in (("piece = 'C:N'", "ix_piece_identifier"), ("ruleset = 'chess'", "ruleset_1 (name=?)")):
        found = steps(sqlite_store, f"SELECT * FROM {view} WHERE {condition}")
        # But for the two kinds of effects, which are no table.
        found = [each for each in found if "CONSTANT ROW" not in each and each != "SCAN k"]
        assert index in found[0]
        assert not [each for each in found if each.startswith("SCAN")]


@pytest.mark.parametrize("view", ["v_guards", "v_state_effects"])
def test_sqlite_finds_the_state_of_a_possibility_by_its_key(sqlite_store: Store, view: str) -> None:
    joined = f"SELECT * FROM v_moves m JOIN {view} USING (piece_id, possibility) WHERE m.ruleset = 'chess'"
    assert any("g USING PRIMARY KEY (piece_id=? AND variant=?" in each for each in steps(sqlite_store, joined))


@pytest.mark.parametrize("view", ["v_conditions", "v_effects"])
def test_sqlite_finds_a_possibility_of_another_view_by_its_key(sqlite_store: Store, view: str) -> None:
    joined = f"SELECT * FROM v_moves m JOIN {view} USING (piece_id, possibility) WHERE m.ruleset = 'chess'"
    assert any(each.endswith("(piece_id=? AND number=?)") for each in steps(sqlite_store, joined))


def test_sqlite_looks_at_the_source_before_it_reads_possibilities(sqlite_store: Store) -> None:
    found = [each.split()[1] for each in steps(sqlite_store, "SELECT * FROM v_moves WHERE source = 'e4'")]
    assert found.index("s") < found.index("sl") < found.index("d") < found.index("m")


# --- boards with holes, hexagons, networks ---


def said(document: Document, definition: str) -> Document:
    """A document that says what it was made from."""
    return replace(document, envelope=Envelope(definition=definition), made_from=definition)


def test_squares_and_layouts_are_those_that_the_definition_says_also_when_derived_again(store: Store) -> None:
    ring = ["a1", "b1", "c1", "c2", "c3", "b3", "a3", "a2"]
    steps = {a: {b: [{"must": {b: "empty"}}]} for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)}
    for name, definition, layout in (
        ("plain", None, None),
        ("holes", "squares = ['a1:c1']", None),
        ("hexagons", "hexagons = 'rows-left'", "rows-left"),
        ("network", json.dumps({"topology": {"type": "network", "lines": ["a1 b1 c1"]}}), "network"),
    ):
        letter = name[2].upper()  # pieces of one letter would be one piece
        document = parse({f"C:{letter}": steps}, "must-deny")
        store.load(document if definition is None else said(document, definition), name)
        expected = sorted(ring) if definition else sorted([*ring, "b2"])
        for _ in range(2):
            found = rows(store, "SELECT square FROM v_squares WHERE ruleset = :name ORDER BY square", name=name)
            assert [row["square"] for row in found] == expected
            assert store.analysis().stats([name])[0]["squares"] == len(expected)
            [row] = rows(store, "SELECT layout, reach FROM v_pieces WHERE ruleset = :name", name=name)
            assert row == {"layout": layout, "reach": 8}
            [concepts] = rows(
                store,
                "SELECT board_squares, files, rectangular, network, confined FROM v_concepts WHERE ruleset = :name",
                name=name,
            )
            assert tuple(map(int, concepts.values())) == (
                *(len(expected), 3, definition is None),
                *(layout == "network", definition is None),
            )
            assert store.upkeep.check() == []
            store.upkeep.rebuild()


def test_layouts_come_with_what_is_received(store: Store, tmp_path: Path) -> None:
    document = said(parse({"C:N": {"a1": {"b3": [{}]}}}, "must-deny"), "hexagons = 'rows'")
    store.load(document, "game")
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        store.exchange.push(other, ["game"])
        for each in (store, other):
            assert rows(each, "SELECT layout FROM v_pieces") == [{"layout": "rows"}]
            assert len(rows(each, "SELECT square FROM v_squares")) == 2
        assert other.upkeep.check() == []


# File b is the middle one, which the others are half a hexagon above: b2 touches a1, a2, c1 and c2.
BENT = """
title = "Bent files"
style = "G"
board = "3x3"
hexagons = "files-bent"

[pieces.W]
name = "walker"
betza = "W"

[pieces.J]
name = "jumper"
betza = "D"
"""


def test_steps_among_hexagons_are_those_of_hexagons(store: Store) -> None:
    store.load(read_definition(BENT), "hexes")
    query = "SELECT destination, dx, dy, dz, squares_off_path FROM v_moves WHERE piece = 'G:W' AND source = 'b2'"
    found = {row["destination"]: tuple(row.values())[1:] for row in rows(store, query)}
    steps = {"b3": (0, 1), "c2": (1, 0), "c1": (1, -1), "b1": (0, -1), "a1": (-1, 0), "a2": (-1, 1)}
    assert found == {square: (*step, None, 0) for square, step in steps.items()}
    assert store.upkeep.check() == []


def test_what_is_off_the_path_is_told_by_how_squares_lie(store: Store) -> None:
    """Among bent files the way from a2 to c1 is over b2, that to c2 is not, and none is from a1 to c1."""
    asked = {("a2", "c1"): ["b2"], ("a2", "c2"): ["b2"], ("a1", "c1"): ["b1", "b2"]}
    off = {None: [1, 0, 1], "files-bent": [0, 1, 2]}
    for layout, letter in ((None, "P"), ("files-bent", "Q")):  # pieces of one letter would be one piece
        sources: dict[str, Any] = {}
        for (source, destination), squares in asked.items():
            possibility = {"must": dict.fromkeys(squares, "empty")}
            sources.setdefault(source, {})[destination] = [possibility]
        document = parse({f"C:{letter}": sources}, "must-deny")
        store.load(document if layout is None else said(document, f"hexagons = {layout!r}"), letter)
        query = "SELECT squares_off_path FROM v_moves WHERE ruleset = :name ORDER BY possibility"
        moves = rows(store, query, name=letter)
        assert [row["squares_off_path"] for row in moves] == off[layout]
        [row] = rows(store, "SELECT off_path FROM v_pieces WHERE ruleset = :name", name=letter)
        assert row["off_path"] == sum(off[layout])


# --- names ---


def names(store: Store, view: str = "v_pieces") -> list[tuple[int, str, str | None]]:
    found = rows(store, f"SELECT revision, piece, name FROM {view} ORDER BY ruleset, revision, ordinal")
    return [(row["revision"], row["piece"], row["name"]) for row in found]


def test_pieces_have_the_names_that_each_revision_gives_them(store: Store, tmp_path: Path) -> None:
    store.load(read_definition(BENT), "hexes")
    store.load(read_definition(BENT.replace('"walker"', '"wanderer"')), "hexes")  # the same pieces
    store.load(read_definition(BENT.replace('name = "jumper"', "")), "hexes")
    first = [(1, "G:W", "walker"), (1, "G:J", "jumper"), (1, "g:w", "walker"), (1, "g:j", "jumper")]
    second = [(2, piece, name.replace("walker", "wanderer")) for _, piece, name in first]
    third = [(3, piece, name if name == "walker" else None) for _, piece, name in first]
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        store.exchange.push(other, ["hexes"])
        for each in (store, other):
            assert names(each, "v_pieces_all") == [*first, *second, *third]
            assert names(each) == third
            assert each.upkeep.check() == []
            execute(each, "DELETE FROM piece_name WHERE revision_id = (SELECT max(id) FROM revision)")
            [problem] = each.upkeep.check()
            assert problem == (
                "revision hexes@3: the names of its pieces are not those that it gives: run `ggn-store db rebuild`"
            )
            each.upkeep.rebuild()
            assert names(each, "v_pieces_all") == [*first, *second, *third]
            assert each.upkeep.check() == []


def test_pieces_of_a_game_description_have_names_and_those_of_a_document_none(store: Store) -> None:
    store.load_library("gdl/hex13")
    assert names(store) == [(1, "HEX13:S", "stone"), (1, "hex13:s", "stone")]
    store.load(GAMES["must-deny"], "document")
    assert {row["name"] for row in rows(store, "SELECT name FROM v_pieces WHERE ruleset = 'document'")} == {None}
    assert store.upkeep.check() == []


def test_an_upgrade_makes_the_names_that_are_missing(store: Store) -> None:
    store.load(read_definition(BENT), "hexes")
    before = names(store)
    execute(store, "DELETE FROM piece_name")
    assert {name for *_, name in names(store)} == {None}
    store.upgrade()
    assert names(store) == before


def test_check_finds_a_layout_that_no_revision_says(store: Store) -> None:
    store.load(read_definition(BENT), "hexes")
    text = "DELETE FROM piece_facts WHERE piece_id IN (SELECT id FROM piece WHERE identifier = 'G:W')"
    [piece] = rows(store, "SELECT piece_id FROM v_pieces WHERE piece = 'G:W'")
    with store.session.reading() as connection:
        board = catalog.read_board(connection, catalog.find(connection, "hexes").board_id)
        stored = read_piece(connection, piece["piece_id"], board)
    plain = Deriver(board).of(stored).row()
    execute(store, text)
    with store.session.writing() as connection:
        store.session.database.fill(connection, t.piece_facts.columns, [(piece["piece_id"], *plain)])
    [problem] = store.upkeep.check(full=True)
    assert problem == (
        "revision hexes@1: the facts of G:W are of a board that lies as nothing says that lists it: run `ggn-store db "
        "rebuild`"
    )
    store.upkeep.rebuild()
    assert store.upkeep.check(full=True) == []
