"""Concepts: those of games by their rules, those of stores by plain Python; and what is found and likened by them."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from ggn_store import Store
from ggn_store.store.schema import concepts
from tests.oracles.concepts import DESCRIBED, JUDGED, LARGE, SMALL
from tests.support.databases import DATABASES, new_store
from tests.support.views import GAMES, played, rows

ROOT = Path(__file__).parents[3]
OTHERS = ("diff", "must-deny", "perform")


@pytest.fixture(scope="module", params=DATABASES)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with small games and a document of each dialect, that no test changes."""
    with new_store(request.param, tmp_path_factory.mktemp("games"), request) as store:
        store.load_library(*SMALL)
        for dialect in OTHERS:
            store.load(GAMES[dialect], dialect)
        store.load(played(), "gdl")
        yield store


# Descriptions that take long to load, of which SQLite tries one on every change.
LATER = {"sqlite": ("nine-mens-morris",), "postgres": ("nine-mens-morris", "hexguard")}


def judge(store: Store, name: str, board: tuple[int, int, int], expected: set[str]) -> None:
    found = {each.concept: each.values[f"{name}@1"] for each in store.analysis().concepts([name])}
    assert tuple(found[axis] for axis in ("files", "ranks", "layers")) == board
    assert {concept for concept in JUDGED if found[concept]} == expected


# --- what games have ---


def test_at_least_forty_concepts_are_said_and_judged() -> None:
    assert len(concepts.CONCEPTS) >= 40
    assert len({*SMALL, *LARGE, *DESCRIBED}) >= 25
    assert {each.name for each in concepts.CONCEPTS} > JUDGED
    rows_of_table = [has for table in (SMALL, LARGE, DESCRIBED) for _, has in table.values()]
    # Of each concept of the table some game has it, and some has not.
    assert set().union(*rows_of_table) == JUDGED
    assert set.intersection(*rows_of_table) == set()


@pytest.mark.parametrize("name", SMALL)
def test_small_games_have_the_concepts_of_their_rules(library: Store, name: str) -> None:
    judge(library, name, *SMALL[name])


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_games_have_the_concepts_of_their_rules(store: Store, name: str) -> None:
    store.load_library(name)
    judge(store, name, *LARGE[name])


@pytest.mark.parametrize(
    ("address", "name"),
    [
        pytest.param(database, name, marks=[pytest.mark.long] * (name in LATER[database]))
        for database in DATABASES
        for name in DESCRIBED
    ],
    indirect=["address"],
)
def test_described_games_have_the_concepts_of_their_rules(store: Store, name: str) -> None:
    store.load(ROOT / "data" / "gdl" / f"{name}.json", name)
    judge(store, name, *DESCRIBED[name])


# --- their SQL ---


def test_the_statement_of_each_concept_finds_what_the_view_says(library: Store) -> None:
    with library.session.reading() as connection:
        of_view = connection.execute(text("SELECT * FROM v_concepts ORDER BY ruleset")).mappings().all()
        assert [each["ruleset"] for each in of_view] == sorted([*SMALL, *OTHERS, "gdl"])
        for concept in concepts.CONCEPTS:
            found = connection.execute(text(f"{concept.query} ORDER BY 1")).all()
            assert [row[1] for row in found] == [row[concept.name] for row in of_view], concept.name


def test_older_revisions_keep_their_concepts(store: Store) -> None:
    store.load(GAMES["must-deny"], "game")
    store.load(played(), "game")
    before, after = ({each.concept: each.values for each in store.analysis().concepts([f"game@{n}"])} for n in (1, 2))
    assert (before["pass"], after["pass"]) == ({"game@1": False}, {"game@2": True})
    assert {each.concept: each.values for each in store.analysis().concepts()} == after
    newest = rows(store, "SELECT revision, pass, drops, pieces FROM v_concepts")
    assert [tuple(row.values()) for row in newest] == [(2, True, 0, 1)]


# --- find ---


def test_games_are_found_by_what_they_have(library: Store) -> None:
    analysis = library.analysis()
    values = {each.concept: each.values for each in analysis.concepts()}
    everything = {key for of in values.values() for key in of}
    compared = {">=": operator.ge, "<=": operator.le, "!=": operator.ne, "=": operator.eq}
    compared |= {">": operator.gt, "<": operator.lt}

    def found(*having: str, lacking: tuple[str, ...] = (), board: str | None = None) -> set[str]:
        told = analysis.find(having=having, lacking=lacking, board=board).records
        return {f"{each['ruleset']}@{each['revision']}" for each in told}

    for concept, of in values.items():
        has = {key for key, value in of.items() if value}
        assert found(concept) == has, concept
        assert found(lacking=(concept,)) == everything - has, concept
        if not any(isinstance(value, bool) for value in of.values()):
            for sign, compare in compared.items():
                assert found(f"{concept}{sign}2") == {key for key, value in of.items() if compare(value, 2)}
    assert found("drops", "promotion", lacking=("riders",), board="3x4") == {"dobutsu@1"}
    assert found("drops >= 2", "drops < 3", "non_capturers") == {"connect-four@1", "tic-tac-toe@1"}
    assert found(board="5x5") == {"gardner@1", "kyotoshogi@1"}
    looked = analysis.find(["dobutsu", "gardner"], having=["drops"], lacking=["castlers"])
    assert looked.concepts == ("drops", "castlers")
    [dobutsu] = looked.records
    assert dobutsu == {"ruleset": "dobutsu", "revision": 1, "board": "3x4", "drops": 8, "castlers": 0}  # lions, too


# --- similar ---


def test_likeness_is_the_mean_of_the_shares_of_movements_and_concepts(library: Store) -> None:
    values = {each.concept: each.values for each in library.analysis().concepts()}
    movements: dict[str, set[str]] = {}
    for row in rows(library, "SELECT ruleset, movement FROM v_pieces"):
        movements.setdefault(row["ruleset"], set()).update({row["movement"]} - {None})
    for name in ("gardner", "dobutsu", "perform"):
        told = library.analysis().similar(name)
        assert {each.ruleset for each in told} == movements.keys() - {name}
        assert [each.likeness for each in told] == sorted((each.likeness for each in told), reverse=True)
        for each in told:
            both, either = movements[name] & movements[each.ruleset], movements[name] | movements[each.ruleset]
            assert (len(each.movements), each.other_movements) == (len(both), len(either - both))
            pairs = {concept: (of[f"{name}@1"], of[f"{each.ruleset}@1"]) for concept, of in values.items()}
            agreed = {
                concept
                for concept, (one, other) in pairs.items()
                if (one == other if concept in concepts.SIZES else one and other)
            }
            differ = {
                concept
                for concept, (one, other) in pairs.items()
                if concept not in agreed and (concept in concepts.SIZES or one or other)
            }
            assert {*each.concepts} == agreed
            assert {text.strip("+-").partition("=")[0] for text in each.differs} == differ
            share = len(agreed) / (len(agreed) + len(differ))
            assert each.likeness == round(100 * ((len(both) / len(either) + share) / 2 if either else share))


def test_what_is_most_alike_is_known(library: Store) -> None:
    assert library.analysis().similar("micro")[0].ruleset == "kyotoshogi"
    assert library.analysis().similar("gardner")[0].ruleset == "losalamos"
    assert library.analysis().similar("tic-tac-toe")[0].ruleset == "connect-four"
    [four] = (each for each in library.analysis().similar("tic-tac-toe") if each.ruleset == "connect-four")
    assert {"files=7", "ranks=6", "board_squares=42"} <= {*four.differs}


def test_a_copy_is_wholly_alike_and_older_revisions_can_be_compared(store: Store) -> None:
    for name in ("one", "two"):
        store.load(GAMES["diff"], name)
    store.load(played(), "two")
    [copy] = store.analysis().similar("two@1")
    assert (copy.ruleset, copy.likeness, copy.differs) == ("one", 100, ())
    [other] = store.analysis().similar("one")
    assert (other.revision, other.likeness < 60) == (2, True)
    assert "+pass" in other.differs
