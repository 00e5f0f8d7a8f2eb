"""Who moves alike, what differs between games, and whether sides are mirror images: by hand, or in plain Python."""

from __future__ import annotations

import cmath
import functools
import itertools
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import strategies as st

from ggn_store import Document, Ruleset, Store, UnknownNameError, find_game, generate
from ggn_store.analysis.movers import Movers
from ggn_store.games import definition
from ggn_store.model.documents.geometry import symmetries
from tests.oracles import analyses as oracle
from tests.oracles import movement, reference
from tests.support.databases import MOSTLY_SQLITE, new_store
from tests.support.games import Games
from tests.support.loaded import in_random_documents, loaded
from tests.support.sampled import sampled
from tests.support.strategies import documents, stateless

GAMES = ("chess", "almost", "capablanca", "loop", "minishogi", "xiangqi", "horde", "connect-four")
# Of games that are large, less.
SMALLER = {
    "loop": """
like = "microchess"
title = "Loop microchess"
[hands]
captures = true
[pieces.P]
drop.zone = "a2:d4"
""",
    "minishogi": """
like = "minishogi"
title = "Minishogi without bishops and silvers"
start = "r2gk^/4p/5/P4/K^G2R / S/s"
without = ["pieces.B", 'pieces."+B"', "pieces.S", 'pieces."+S"']
""",
}
Json = dict[str, Any]


@functools.cache
def generated(game: str) -> Document:
    """A game's document, generated once for the store and for plain Python."""
    return generate(definition.read(SMALLER[game]) if game in SMALLER else find_game(game))


@pytest.fixture(scope="module", params=MOSTLY_SQLITE)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with games of the library that no test changes."""
    with new_store(request.param, tmp_path_factory.mktemp("games"), request) as store:
        for game in GAMES:
            store.load(generated(game), game)
        yield store


def moves(*steps: tuple[str, str], piece: str = "C:P", **conditions: Json) -> Json:
    """A document in which a piece moves so."""
    document: Json = {piece: {}}
    for source, destination in steps:
        effects = {"diff": {"board": {source: None, destination: piece}}}
        document[piece].setdefault(source, {})[destination] = [conditions | effects]
    return document


def named(group: Movers) -> set[str]:
    return {str(mover) for mover in group.movers}


# --- who moves alike ---


@functools.cache
def leaps(game: str) -> tuple[dict[str, tuple[int, ...]], dict[str, set[tuple[str, str, str]]]]:
    """The points of a game's board, and the leaps of each piece that asks nothing but what is at its destination.

    Read once, for all offsets and databases.
    """
    document = generated(game).data()
    leaping = {}
    for piece in document:
        told: set[tuple[str, str, str]] = set()
        is_plain = True
        for each, source, destination, _, possibility in reference.possibilities({piece: document[piece]}):
            if source == "*":
                continue
            must, deny = reference.conditions(possibility)
            is_plain &= [*must] == [destination] and not deny
            state = must.get(destination, "")
            own = reference.side_of(each) == reference.side_of(state) if ":" in state else False
            is_plain &= not own
            if not is_plain:
                break
            told.add((source, destination, "empty" if state == "empty" else "enemy"))
        if is_plain and told:
            leaping[piece] = told
    return oracle.points([*generated(game).board.squares]), leaping


def leapers(game: str, offsets: set[tuple[int, int]]) -> set[str]:
    """The pieces of a game that go by these offsets from all of their squares, so far as the board goes.

    To an empty square or to an enemy, and nothing else is asked.
    """
    points, leaping = leaps(game)
    there = {point: square for square, point in points.items()}
    return {
        f"{game} {piece}"
        for piece, told in leaping.items()
        if told
        == {
            (source, there[point], state)
            for source, _, _ in told
            for offset in offsets
            for point in [tuple(a + b for a, b in zip(points[source], offset, strict=True))]
            if point in there
            for state in ("empty", "enemy")
        }
    }


KNIGHT = {(a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)}
KING = {(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)} - {(0, 0)}


@pytest.mark.parametrize(("piece", "offsets"), sampled([("C:N", KNIGHT), ("C:K^", KING)]))
def test_all_that_move_like_a_piece_are_found_on_boards_of_any_size(
    library: Store, piece: str, offsets: set[tuple[int, int]]
) -> None:
    [group] = library.analysis().same_movers(piece=piece, ruleset="chess").groups
    assert named(group) == set().union(*(leapers(game, offsets) for game in GAMES))
    assert str(group.movers[0]) == f"chess {piece}"
    assert {mover.relation for mover in group.movers} == {"equal"}


def test_knights_are_knights_in_four_games_but_not_in_xiangqi_and_shogi(library: Store) -> None:
    [group] = library.analysis().same_movers(piece="C:N", ruleset="chess").groups
    both = {f"{game} {piece}" for game in ("chess", "almost", "capablanca", "loop", "horde") for piece in "nN"}
    both = {each.replace(" N", " C:N").replace(" n", " c:n") for each in both}
    assert named(group) == both
    assert group.moves == ("knight leaps",)
    [horse] = library.analysis().same_movers(piece="X:N").groups
    assert (named(horse), horse.moves) == ({"xiangqi X:N", "xiangqi x:n"}, ("knight leaps if (0,1) is empty",))


def test_riders_are_the_same_on_boards_of_any_size_and_not_square_by_square(library: Store) -> None:
    analysis = library.analysis()
    [rooks] = analysis.same_movers(piece="C:R", ruleset="capablanca").groups
    assert {"chess C:R", "chess c:r", "capablanca C:R", "xiangqi X:R", "minishogi S:R"} <= named(rooks)
    assert rooks.moves == ("slides orthogonally",)
    [exact] = analysis.same_movers(piece="C:R", ruleset="capablanca", exact=True).groups
    assert named(exact) == {"capablanca C:R", "capablanca c:r"}
    assert "xiangqi X:C" not in named(rooks)


def test_what_moves_change_is_compared_if_it_is_asked_for(library: Store) -> None:
    [group] = library.analysis().same_movers(piece="C:R", ruleset="chess", whole=True).groups
    # In loop chess and shogi, what it takes goes into the hand.
    assert named(group) >= {"chess C:R", "almost C:R", "capablanca c:r", "xiangqi X:R"}
    assert not any(each.startswith(("loop", "minishogi")) for each in named(group))


def test_groups_have_two_pieces_or_more_and_the_largest_is_first(library: Store) -> None:
    groups = library.analysis().same_movers(["chess"]).groups
    assert [named(group) for group in groups if len(group.movers) != 2] == []
    assert {frozenset(named(group)) for group in groups} == {
        frozenset({f"chess {piece}", f"chess {piece.lower()}"}) for piece in library.ruleset("chess").pieces[:9]
    }
    sizes = [len(group.movers) for group in library.analysis().same_movers().groups]
    assert sizes == sorted(sizes, reverse=True)
    with pytest.raises(UnknownNameError, match=r'none of these rulesets has rules for "C:X"'):
        library.analysis().same_movers(["minishogi", "connect-four"], piece="C:X")
    offered = ", ".join(map(re.escape, library.ruleset("chess").pieces[:8]))
    with pytest.raises(UnknownNameError, match=rf'chess@1 has no rules for "X:N"; it has {offered} and '):
        library.analysis().same_movers(piece="X:N", ruleset="chess")


def test_a_mirrored_piece_is_told_as_such(store: Store) -> None:
    board = dict.fromkeys(("a1", "c3"), "empty")
    hook = [("b2", "b3"), ("b2", "c3")]
    names = {
        "equal": hook,
        "mirrored left to right": [("b2", "b3"), ("b2", "a3")],
        "mirrored top to bottom": [("b2", "b1"), ("b2", "c1")],
        "turned by 180 degrees": [("b2", "b1"), ("b2", "a1")],
        "turned by 90 degrees": [("b2", "c2"), ("b2", "c1")],
        "turned by 270 degrees": [("b2", "a2"), ("b2", "a3")],
        "mirrored on the diagonal": [("b2", "c2"), ("b2", "c3")],
        "mirrored on the other diagonal": [("b2", "a2"), ("b2", "a1")],
    }
    for name, steps in names.items():
        store.load(moves(*steps, must=board), name.replace(" ", "-"))
    [group] = store.analysis().same_movers(piece="C:P", ruleset="equal", exact=True).groups
    # The squares that have to be empty are on one diagonal, which not every symmetry keeps in place.
    assert {mover.ruleset.replace("-", " ") for mover in group.movers} == {
        "equal", "turned by 180 degrees", "mirrored on the diagonal", "mirrored on the other diagonal",
    }  # fmt: skip
    for name, steps in names.items():
        store.load(moves(*steps), name.replace(" ", "-"))
    for exact in (False, True):
        [group] = store.analysis().same_movers(piece="C:P", ruleset="equal", exact=exact).groups
        assert {mover.ruleset.replace("-", " "): mover.relation for mover in group.movers} == {
            name: name for name in names
        }
        [alone] = store.analysis().same_movers(piece="C:P", ruleset="equal", mirrored=False, exact=exact).groups
        assert named(alone) == {"equal C:P"}


def test_there_are_2_8_and_48_symmetries_that_all_differ() -> None:
    for dimensions, count in ((1, 2), (2, 8), (3, 48)):
        found = symmetries(dimensions)
        vector = tuple(range(1, dimensions + 1))
        assert len({each(vector) for each in found}) == len({each.name for each in found}) == count
        assert found[0].name == "equal"
        assert found[0](vector) == vector


def test_a_fingerprint_is_the_same_in_any_store(library: Store, store: Store) -> None:
    store.load_library("chess")
    mine = {str(group.movers[0]): group.fingerprint for group in store.analysis().same_movers().groups}
    its = {str(group.movers[0]): group.fingerprint for group in library.analysis().same_movers(["chess"]).groups}
    assert mine == its
    assert mine["chess C:N"] == "2093bd9479"


def test_squares_without_coordinates_are_left_out_and_told(store: Store) -> None:
    document = {"CHESS:P": {"the left": {"the right": [{"perform": {"the left": None, "the right": "CHESS:P"}}]}}}
    store.load(document, "labels")
    found = store.analysis().same_movers()
    assert (found.groups, found.left_out) == ((), ("labels@1",))
    [difference] = store.ruleset("labels").analysis().symmetries()
    assert (difference.of, difference.symmetry, difference.holds) == ("sides", "equal", False)
    store.load({"CHESS:N": document["CHESS:P"]}, "others")
    assert [(each.change, each.piece, each.other) for each in store.analysis().compare("labels", "others")] == [
        ("removed", "CHESS:P", None), ("added", None, "CHESS:N"),
    ]  # fmt: skip


@in_random_documents(few=2, many=100)
def test_mirrored_and_renamed_rules_have_the_same_fingerprint(module_store: Store, dialect: str, data: Any) -> None:
    document = data.draw(rules_of(dialect))
    original = loaded(module_store, document)
    axes = data.draw(
        st.sets(st.sampled_from(range(len(oracle.points(original.board.squares)[original.board.squares[0]]))))
    )
    swaps = data.draw(st.booleans())
    image = loaded(module_store, oracle.mirrored(document, oracle.reversal(original.board.squares, axes), swaps))
    assert {*image.board.squares} == {*original.board.squares}
    for whole, exact in itertools.product((False, True), repeat=2):
        found = module_store.analysis().same_movers([original.name, image.name], whole=whole, exact=exact).groups
        of_piece = {str(mover): group.fingerprint for group in found for mover in group.movers}
        for piece in original.pieces:
            other = piece.swapcase() if swaps else piece
            one, two = of_piece.get(f"{original.name} {piece}"), of_piece.get(f"{image.name} {other}")
            assert one == two
            # Only what never moves, but comes from the hand, has no fingerprint.
            assert one is not None or (not whole and not on_board(document, piece))


@in_random_documents(few=2, many=200)
def test_pieces_have_one_fingerprint_exactly_if_they_move_alike_by_plain_python(
    module_store: Store, dialect: str, data: Any
) -> None:
    document = data.draw(rules_of(dialect))
    original = loaded(module_store, document)
    dimensions = len(next(iter(oracle.points(original.board.squares).values())))
    axes = data.draw(st.sets(st.integers(0, dimensions - 1)))
    image = oracle.mirrored(document, oracle.reversal(original.board.squares, axes), data.draw(st.booleans()))
    games = {original.name: document, loaded(module_store, image).name: image}
    moving = {
        (name, piece): movement.motions(game, piece, original.board.squares)
        for name, game in games.items()
        for piece in game
        if not piece.startswith("$")
    }
    wanted = movement.groups(moving.items())
    stored: dict[str, set[tuple[str, str]]] = {}
    pieces = module_store.views.rows("v_pieces", [*games])
    for row in (dict(zip(pieces.columns, values, strict=True)) for values in pieces):
        place = row["ruleset"], row["piece"]
        assert (row["movement"] is not None) == bool(moving[place])
        if row["movement"] is not None:
            stored.setdefault(row["movement"], set()).add(place)
    assert {frozenset(each) for each in stored.values()} == wanted
    found = module_store.analysis().same_movers([*games]).groups
    assert {frozenset((each.ruleset, each.piece) for each in group.movers) for group in found} == {
        each for each in wanted if len(each) > 1
    }
    equal = module_store.analysis().same_movers([*games], mirrored=False).groups
    by_motions: dict[movement.Motions, set[tuple[str, str]]] = {}
    for each, motions in moving.items():
        by_motions.setdefault(motions, set()).add(each)
    assert {frozenset((each.ruleset, each.piece) for each in group.movers) for group in equal} == {
        frozenset(each) for motions, each in by_motions.items() if motions and len(each) > 1
    }


def rules_of(dialect: str) -> st.SearchStrategy[Json]:
    """Documents whose squares have coordinates; without state variables, which these analyses leave out."""
    return documents(dialect).map(stateless).filter(has_coordinates)


def has_coordinates(document: Json) -> bool:
    squares, _ = squares_of(document)
    try:
        return len({len(each) for each in oracle.points(squares).values()}) == 1
    except AssertionError:
        return False


def squares_of(document: Json) -> tuple[set[str], set[str]]:
    found: set[str] = set()
    for _, source, destination, _, possibility in reference.possibilities(document):
        must, deny = reference.conditions(possibility)
        board = possibility.get("perform") or possibility.get("diff", {}).get("board", {})
        found |= {source, destination, *must, *deny, *board}
    return found - {"*"}, found


def on_board(document: Json, piece: str) -> bool:
    return any(
        each == piece and "*" not in (source, destination)
        for each, source, destination, _, _ in reference.possibilities(document)
    )


@in_random_documents(few=2, many=100)
def test_rules_with_one_possibility_less_are_told_apart(module_store: Store, dialect: str, data: Any) -> None:
    document = data.draw(rules_of(dialect))
    original = loaded(module_store, document)
    array = data.draw(st.sampled_from([
        array for key, sources in document.items() if not key.startswith("$") for to in sources.values()
        for array in to.values() if len(array) > 1
    ] or [None]))  # fmt: skip
    if array is None:
        return
    piece = next(
        piece for piece, sources in document.items() if not piece.startswith("$")
        for to in sources.values() for each in to.values() if each is array
    )  # fmt: skip
    del array[data.draw(st.integers(0, len(array) - 1))]
    name = f"{original.name}-less"
    module_store.load(document, name)
    if module_store.ruleset(name).board != original.board:
        return
    found = module_store.analysis().same_movers([original.name, name], whole=True, exact=True, mirrored=False).groups
    groups = [{mover.ruleset for mover in group.movers if mover.piece == piece} for group in found]
    assert all(len(group) < 2 for group in groups)


# --- are the sides mirror images? ---


def told(ruleset: Ruleset) -> dict[tuple[str, str], tuple[int, int]]:
    return {(each.of, each.symmetry): (each.entries, each.possibilities) for each in ruleset.analysis().symmetries()}


def test_the_sides_of_chess_are_mirrored_top_to_bottom_since_the_kings_face_each_other(library: Store) -> None:
    found = {(each.of, each.symmetry): each for each in library.ruleset("chess").analysis().symmetries()}
    assert [key for key, each in found.items() if each.holds] == [("sides", "mirrored top to bottom")]
    assert found["sides", "mirrored top to bottom"].start is True
    # A king that has not moved: five steps, quiet and capturing, and two ways to castle, for each side.
    turned, first = found["sides", "turned by 180 degrees"], found["first", "mirrored left to right"]
    assert (turned.entries, turned.possibilities, turned.start) == (2 * 7, 2 * (5 * 2 + 2), False)
    assert (first.entries, first.possibilities, first.start) == (7, 12, False)
    listed = library.ruleset("chess").analysis().asymmetries()
    assert {(each.of, each.piece, each.source) for each in listed if each.of != "second"} == {("first", "C:+K^", "e1")}
    assert {each.destination for each in listed if each.of == "first"} == {"c1", "d1", "d2", "e2", "f1", "f2", "g1"}
    assert listed[0].what == "there is no C:+K^ d1-d2"


def test_shogi_and_xiangqi_hold_turned_and_mirrored(library: Store) -> None:
    for game, mirrored_start in (("minishogi", False), ("xiangqi", True)):
        found = {(each.of, each.symmetry): each for each in library.ruleset(game).analysis().symmetries()}
        assert {key for key, each in found.items() if each.holds} == {
            ("sides", "mirrored top to bottom"), ("sides", "turned by 180 degrees"),
            ("first", "mirrored left to right"), ("second", "mirrored left to right"),
        }  # fmt: skip
        assert found["sides", "turned by 180 degrees"].start
        assert found["sides", "mirrored top to bottom"].start is mirrored_start


@pytest.mark.long
def test_the_sides_of_raumschach_are_mirrored_in_ranks_and_layers(games: Games) -> None:
    found = games["raumschach"].analysis().symmetries()
    assert len(found) == 8 + 2
    assert [(each.of, each.symmetry) for each in found if each.holds] == [
        ("sides", "ranks and layers reversed"),
        ("sides", "files, ranks and layers reversed"),
        ("first", "files reversed"),
        ("second", "files reversed"),
    ]


def test_where_both_sides_drop_they_are_equal_in_place(library: Store) -> None:
    assert [each for each, (entries, _) in told(library.ruleset("connect-four")).items() if not entries] == [
        ("sides", "equal"), ("sides", "mirrored left to right"),
        ("first", "mirrored left to right"), ("second", "mirrored left to right"),
    ]  # fmt: skip


def test_a_horde_steps_twice_from_the_first_rank_and_nobody_else_does(library: Store) -> None:
    listed = library.ruleset("horde").analysis().asymmetries()
    of_sides = [each for each in listed if each.of == "sides"]
    assert {(each.piece, each.source, each.destination) for each in of_sides} == {
        ("C:P", f"{file}1", f"{file}3") for file in "abcdefgh"
    }
    assert {(each.symmetry, each.possibilities, each.other_possibilities) for each in of_sides} == {
        ("mirrored top to bottom", 1, 0)
    }
    assert of_sides[0].what == "there is no c:p a8-a6"


def test_what_differs_is_told(store: Store) -> None:
    document: Json = {
        "C:P": {
            "a1": {
                "a2": [{"must": {"a2": "empty"}}],
                "b1": [{"must": {"b1": "enemy"}, "deny": {"a2": "C:P"}}, {"must": {"b2": "empty"}}],
                "b2": [{"must": {"a2": "empty"}}],
            }
        },
        "c:p": {
            "a2": {
                "a1": [{"must": {"a1": "enemy"}}],
                "b2": [{"must": {"b2": "enemy"}, "deny": {"a1": "c:p"}}],
                "a2": [{"must": {"b1": "empty"}}],
            }
        },
        "C:N": {"a1": {"b1": [{"must": {"b1": "empty"}}]}},
    }
    found = loaded(store, document).analysis().asymmetries("mirrored top to bottom")
    assert [
        (each.piece, each.source, each.destination, each.possibilities, each.other_possibilities, each.what)
        for each in found
        if each.of == "sides"
    ] == [
        ("C:P", "a1", "a2", 1, 1, "c:p a2-a1 has must a1 enemy, not empty"),
        ("C:P", "a1", "b1", 1, 0, "c:p a2-b2 has none with must b1 empty"),
        ("C:P", "a1", "b2", 1, 0, "there is no c:p a2-b1"),
        ("C:P", "a1", "a1", 0, 1, "only c:p a2-a2 is there"),
        ("C:N", "a1", "b1", 1, 0, "there are no rules for c:n"),
    ]
    with pytest.raises(UnknownNameError, match="is not a symmetry of the board"):
        loaded(store, document).analysis().asymmetries("turned by 90 degrees")


@in_random_documents(few=2, many=100)
def test_symmetries_agree_with_mirroring_the_document(module_store: Store, dialect: str, data: Any) -> None:
    document = data.draw(rules_of(dialect))
    ruleset = loaded(module_store, document)
    squares = ruleset.board.squares
    dimensions = len(oracle.points(squares)[squares[0]])
    subsets = [axes for size in range(dimensions + 1) for axes in itertools.combinations(range(dimensions), size)]
    answers = ruleset.analysis().symmetries()
    assert len(answers) == len(subsets) + (2 if dimensions > 1 else 0)
    for axes, answer in zip(subsets, answers, strict=False):
        assert answer.of == "sides"
        check(ruleset, answer, oracle.without_image(document, oracle.reversal(squares, axes)))
    if dimensions > 1:
        alone = oracle.without_image(document, oracle.reversal(squares, [0]), swaps=False)
        for side, answer in zip(("first", "second"), answers[-2:], strict=True):
            assert answer.of == side
            check(ruleset, answer, {key: n for key, n in alone.items() if reference.side_of(key[0]) == side})
    # With its mirror image beside it, a document is symmetric.
    axes = data.draw(st.sampled_from(subsets))
    both = united(document, oracle.mirrored(document, oracle.reversal(squares, axes)))
    again = loaded(module_store, both).analysis().symmetries()
    assert again[subsets.index(axes)].holds


def check(ruleset: Ruleset, answer: Any, expected: dict[tuple[str, str, str], int]) -> None:
    assert (answer.holds, answer.possibilities) == (not expected, sum(expected.values()))
    listed = [each for each in ruleset.analysis().asymmetries(answer.symmetry) if each.of == answer.of]
    assert len(listed) == answer.entries
    counts: dict[tuple[str, str, str], int] = {}
    for each in listed:
        here, there = (
            (each.piece, each.source, each.destination),
            (each.other_piece, each.other_source, each.other_destination),
        )
        assert here not in counts
        counts[here] = each.possibilities
        if there != here:
            assert there not in counts
            counts[there] = each.other_possibilities
    assert {key: count for key, count in counts.items() if count} == expected


def united(one: Json, other: Json) -> Json:
    result: Json = {}
    for document in (one, other):
        for piece, source, destination, _, possibility in reference.possibilities(document):
            array = result.setdefault(piece, {}).setdefault(source, {}).setdefault(destination, [])
            array.append(possibility)
    return result


# --- hexagons ---


HEXAGONS = """
title = "Hexagons"
style = "C"
squares = ["a1:a3", "b1:b4", "c1:c5", "d1:d4", "e1:e3"]
hexagons = "files-bent"

[pieces]
R.betza = "mR"
K.betza = "m(0,+1)c(+1,0)c(-1,+1)"
"""
# By how much a turn is to the right, or to which line a mirror is parallel; ranks rise to the right by 30 degrees.
TURNS = {"equal": 0, **{f"turned by {degrees} degrees": degrees for degrees in range(60, 360, 60)}}
MIRRORS = {
    "mirrored left to right": 90,
    "mirrored top to bottom": 0,
    "mirrored, ranks in place": 120,
    "mirrored, ranks reversed": 30,
    "mirrored, slopes in place": 60,
    "mirrored, slopes reversed": 150,
}


def hexagons(text: str) -> Any:
    return generate(definition.read(text))


def where_hexagons_lie(squares: tuple[str, ...]) -> dict[str, complex]:
    """The middles of the hexagons in the plane: files are columns, whose ranks fall to the third one and then rise."""
    places = {square: (ord(square[0]) - ord("a"), int(square[1:])) for square in squares}
    return {square: complex((x - 2) * 3**0.5 / 2, y - 3 + abs(x - 2) / 2) for square, (x, y) in places.items()}


def turned(squares: tuple[str, ...], name: str, *, back: bool = False) -> dict[str, str]:
    """Where hexagons come to."""
    at = {square: middle for square, middle in where_hexagons_lie(squares).items() if abs(middle) < 2.1}
    degrees = TURNS.get(name, 0) * (1 if back else -1)
    images = {}
    for square, middle in at.items():
        if name in MIRRORS:
            image = cmath.rect(1, math.radians(2 * MIRRORS[name])) * middle.conjugate()
        else:
            image = middle * cmath.rect(1, math.radians(degrees))
        [images[square]] = [other for other, there in at.items() if abs(there - image) < 1e-6]
    return images


def test_hexagons_have_twelve_symmetries(store: Store) -> None:
    made = hexagons(HEXAGONS)
    store.load(made, "hexagons")
    ruleset, document = store.ruleset("hexagons"), made.data()
    squares = ruleset.board.squares
    answers = ruleset.analysis().symmetries()
    assert {each.symmetry for each in answers if each.of == "sides"} == {*TURNS, *MIRRORS}
    for answer in answers:
        if answer.of == "sides":
            there, back = (
                oracle.without_image(document, turned(squares, answer.symmetry, back=way)) for way in (False, True)
            )
            # What the first side does comes to the second one, and what that does, back.
            expected = {key: n for key, n in back.items() if reference.side_of(key[0]) == "first"}
            expected |= {key: n for key, n in there.items() if reference.side_of(key[0]) == "second"}
        else:
            found = oracle.without_image(document, turned(squares, answer.symmetry), swaps=False)
            expected = {key: n for key, n in found.items() if reference.side_of(key[0]) == answer.of}
        check(ruleset, answer, expected)
    assert [(each.of, each.symmetry) for each in answers if each.holds] == [
        *(("sides", "turned by 180 degrees"), ("sides", "mirrored top to bottom")),
        *(("first", "mirrored left to right"), ("second", "mirrored left to right")),
    ]
    store.load(hexagons(HEXAGONS.replace('"e1:e3"', '"e1:e2"')), "broken")
    # The line through the corner that is left out stays.
    broken = store.ruleset("broken").analysis().symmetries()
    assert [each.symmetry for each in broken] == ["equal", "mirrored, ranks reversed"]
    store.load(hexagons(HEXAGONS.replace('"c1:c5"', '"c2:c4"')), "narrow")
    assert len(store.ruleset("narrow").analysis().symmetries()) == 6


def test_hexagons_are_compared_as_they_lie(store: Store) -> None:
    store.load(hexagons(HEXAGONS), "hexagons")
    store.load(hexagons(HEXAGONS.replace('"mR"', '"mW"').replace("c(+1,0)", "")), "others")
    rook, king = store.analysis().compare("hexagons", "others")
    # On 19 hexagons 84 steps lead to a neighbour, and of 16 lines of 3 to 5 come 84 further ones.
    assert (rook.sides, rook.piece, rook.gained, rook.lost) == ("both", "C:R", 0, 84)
    assert (
        rook.what
        == "lost 84 moves: slides orthogonally without capturing; now: one step orthogonally without capturing"
    )
    assert (king.sides, king.piece, king.gained, king.lost) == ("both", "C:K", 0, 14)
    leaning = HEXAGONS.replace('"files-bent"', '"files-down"').replace(
        '"a1:a3", "b1:b4", "c1:c5", "d1:d4", "e1:e3"', '"a1:a3", "b1:b4", "c1:c5", "d2:d5", "e3:e5"'
    )
    store.load(hexagons(leaning), "leaning")
    alike = store.analysis().same_movers(["hexagons", "leaning"], exact=True).groups
    assert {str(each) for group in alike for each in group.movers if "R" in each.piece.upper()} >= {
        *("hexagons C:R", "hexagons c:r", "leaning C:R", "leaning c:r")
    }


# --- two games compared ---


def compared(
    store: Store, before: str, after: str, pieces: list[str] | None = None
) -> dict[tuple[str | None, str | None], tuple[Any, ...]]:
    return {
        (each.piece, each.other): (each.change, each.sides, each.gained, each.lost, each.what)
        for each in store.analysis().compare(before, after, pieces)
    }


@pytest.mark.parametrize("pieces", [None, ["C:Q", "C:P", "c:q", "c:p", "C:C", "c:c"]], ids=["all", "those that differ"])
def test_almost_chess_has_a_chancellor_in_place_of_the_queen(library: Store, pieces: list[str] | None) -> None:
    # 1456 moves of a queen; 896 of a rook and 336 of a knight. A pawn may become it.
    assert compared(library, "chess", "almost", pieces) == {
        ("C:Q", None): ("removed", "both", None, 1456, "slides orthogonally; slides diagonally"),
        ("C:P", "C:P"): ("changed", "both", 0, 0, "becomes C; no longer becomes Q"),
        (None, "C:C"): ("added", "both", 896 + 336, None, "slides orthogonally; knight leaps"),
    }


def test_drops_and_conditions_are_compared_where_documents_tell_no_effects(store: Store) -> None:
    step = {"must": {"a2": "empty"}}
    dropped = {"a1": [{"must": {"a1": "empty"}}]}
    effects = {"diff": {"board": {"a1": None, "a2": "C:P"}}}
    for name, rules in {
        "step": {"a1": {"a2": [step]}},
        "drop": {"a1": {"a2": [step]}, "*": dropped},
        "elsewhere": {"a1": {"a2": [step]}, "*": {"a2": [step]}},
        "effects": {"a1": {"a2": [step | effects]}},
    }.items():
        store.load({"C:P": rules}, name)
    differ = {
        ("step", "drop"): "dropped on 1 square",
        ("drop", "step"): "no drops any more",
        ("drop", "elsewhere"): "conditions or effects of its moves differ",
        ("drop", "effects"): "no drops any more",
    }
    for (before, after), what in differ.items():
        assert compared(store, before, after) == {("C:P", "C:P"): ("changed", "first", 0, 0, what)}
    assert compared(store, "step", "effects") == {}  # only one of them tells effects


def test_loop_chess_adds_drops_and_prisoners_to_chess(library: Store) -> None:
    library.load_library("microchess")
    found = compared(library, "microchess", "loop")
    assert found["C:N", "C:N"][4] == "dropped on 20 squares; captures go into the hand"
    assert found["C:P", "C:P"][4] == "dropped on 12 squares; captures go into the hand"
    assert {change for change, *_ in found.values()} == {"changed"}
    assert compared(library, "loop", "microchess")["C:N", "C:N"][4] == (
        "no drops any more; captures no longer go into the hand"
    )


def test_on_another_board_movement_is_compared_and_not_counted(library: Store) -> None:
    found = compared(library, "chess", "capablanca")
    assert found[None, None] == ("board", None, None, None, "8x8 became 10x8")
    assert found[None, "C:A"] == ("added", "both", None, None, "slides diagonally; knight leaps")
    assert found[None, "C:C"] == ("added", "both", None, None, "slides orthogonally; knight leaps")
    # The king goes three squares to castle; all other pieces move as they did.
    assert {one for one, other in found if one and other} == {"C:+K^", "C:P"}
    assert found["C:P", "C:P"][4] == "becomes A, C"


def test_styles_are_no_difference_and_pieces_that_move_alike_are_renamed(library: Store) -> None:
    assert compared(library, "chess", "chess") == {}
    found = compared(library, "chess", "xiangqi")
    assert found["C:N", "X:N"][4] == "gained: knight leaps if (0,1) is empty; lost: knight leaps"
    assert ("C:R", "X:R") not in found
    back = compared(library, "chess", "minishogi")
    assert back["C:N", None][0] == "removed"
    assert back["C:R", "S:R"][4].startswith("dropped on 25 squares; becomes +R")


@pytest.mark.parametrize("address", MOSTLY_SQLITE, indirect=True)
def test_a_bishop_that_also_steps_orthogonally_has_gained_224_moves(store: Store) -> None:
    document = generate(find_game("chess")).data()
    store.load(document, "game")
    bishop = document["C:B"]
    files = "abcdefgh"
    for x, y in itertools.product(range(8), repeat=2):
        for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            if 0 <= x + dx < 8 and 0 <= y + dy < 8:
                source, to = f"{files[x]}{y + 1}", f"{files[x + dx]}{y + dy + 1}"
                bishop[source][to] = [
                    {"must": {to: state}, "diff": {"board": {source: None, to: "C:B"}}} for state in ("empty", "enemy")
                ]
    # One knight's leap less, for the other side; and a rook is called a wizard.
    del document["c:n"]["b8"]["c6"]
    document["c:w"] = json.loads(json.dumps(document.pop("c:r")).replace("c:r", "c:w"))
    store.load(document, "game")
    assert compared(store, "game@1", "game@2") == {
        ("C:B", "C:B"): ("changed", "first", 2 * 7 * 8 * 2, 0, "gained 224 moves: one step orthogonally"),
        # From its own side, that leap is to the right and forward.
        ("c:n", "c:n"): (
            *("changed", "second", 0, 1),
            "lost 1 move: knight leaps; now: knight leaps by (-1,-2), (-1,2), (-2,-1), (-2,1), (1,-2), (2,-1) and "
            "(2,1), knight leaps by (1,2) from some squares",
        ),
        ("c:r", "c:w"): ("renamed", "second", 0, 0, "slides orthogonally"),
    }
