"""Game descriptions -> documents: hand counts, single entries, identifiers, envelopes, refusals.

What every compiled entry does is held to the interpreter in test_gdl_agreement.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ggn_store
from ggn_store import Document, InputError, limits
from ggn_store.api.loading.specifications import compile_specification
from ggn_store.errors import NotationError, Problem, SpecificationError
from ggn_store.gdl import compile as compiler
from ggn_store.gdl.check import check_specification, read_specification
from ggn_store.gdl.compile import CompiledDescription, piece_names
from ggn_store.gdl.functions import PURE
from ggn_store.gdl.sections.topology import STRUCTURES
from ggn_store.model.documents.document import Possibility
from ggn_store.model.documents.geometry import Lattice
from tests.support.gdl_tiny import changed, network, tiny
from tests.support.published import published, read

GDL = Path(__file__).parents[2] / "data" / "gdl"
OWN = "eq(entity.owner, state.current_player)"
MOVE = ["set(board[start], null)", "set(board[target], entity)", "set(entity.pos, target)"]

Json = dict[str, Any]


def game(actions: Mapping[str, Json], width: int = 3, height: int = 3, **attributes: Json) -> Json:
    """A game of men on a grid, each side with one; `attributes` are more of theirs than the owner."""
    return {
        "metadata": {"name": "Small"},
        "players": {
            "count": {"min": 2, "max": 2},
            "roles": [{"name": "One", "attributes": {"up": 1}}, {"name": "Two", "attributes": {"up": -1}}],
        },
        "entity_schemas": {"types": {"Man": {"attributes": {"owner": {"type": "player_ref"}, **attributes}}}},
        "topology": {"type": "discrete", "structure": f"grid({width}, {height})"},
        "state_schema": {"global": {"current_player": {"type": "player_ref", "initial": "player('One')"}}},
        "setup": {
            "steps": [
                {
                    "action": "spawn_entity",
                    "schema": "Man",
                    "set_attributes": {"owner": f"player('{player}')"},
                    "at": [f"node({x}, {y})"],
                }
                for player, x, y in (("One", 0, 0), ("Two", width - 1, height - 1))
            ]
        },
        "interactions": {"list": actions},
        "game_flow": {
            "time_model": "turn_based",
            "phases": {"main": {"actors": "current_player", "allowed_actions": list(actions)}},
            "initial_phase": "main",
        },
    }


def variables(data: Json, **declared: Json) -> Json:
    data["state_schema"]["global"] |= declared
    return data


def action(conditions: list[str], effects: list[str], chainable: bool = False) -> Json:
    return {"conditions": conditions, "effects": effects, "chainable": chainable}


def compiled(data: Json) -> Document:
    return compile_specification(data).document


def entry(document: Document, identifier: str, source: str, destination: str) -> list[Json]:
    """The possibilities of an entry as JSON, without what they come from."""
    [piece] = [piece for piece in document.pieces if piece.identifier == identifier]
    found: list[Possibility] = [
        possibility
        for origin, target, _, possibility in piece.entries()
        if (origin.square, target.square) == (source, destination)
    ]
    return [{key: value for key, value in each.data("gdl").items() if key != "action"} for each in found]


def actions_of(document: Document) -> Counter[str]:
    return Counter(
        possibility.origin.action
        for piece in document.pieces
        for *_, possibility in piece.entries()
        if possibility.origin is not None
    )


# --- counts by hand ---


def test_chess_of_the_library_has_the_moves_that_hands_count() -> None:
    document = compiled_of("chess")
    ways = {"rook": 64 * 14, "bishop": 560, "knight": 336, "king": 420}
    # To an empty square or to an enemy, for each side; a rook and a king have two ranks each.
    expected = {
        "rook_move": ways["rook"] * 2 * 2 * 2,
        "bishop_move": ways["bishop"] * 2 * 2,
        "queen_move": (ways["rook"] + ways["bishop"]) * 2 * 2,
        "knight_move": ways["knight"] * 2 * 2,
        "king_move": ways["king"] * 2 * 2 * 2,
        "pawn_step": 7 * 8 * 2,
        "pawn_double_step": 8 * 2,
        "pawn_capture": 7 * 14 * 2,
        "en_passant": 14 * 2,
        "castle_king_side": 2,
        "castle_queen_side": 2,
    }
    assert actions_of(document) == expected


def test_checkers_of_the_library_has_the_moves_that_hands_count() -> None:
    document = compiled_of("checkers")
    steps, jumps = 7 * 7, 6 * 6
    assert actions_of(document) == {
        "man_step": steps * 2 * 2,
        "king_step": steps * 4 * 2,
        "man_jump": jumps * 2 * 2,
        "king_jump": jumps * 4 * 2,
    }
    chainable = [
        possibility
        for piece in document.pieces
        for *_, possibility in piece.entries()
        if possibility.origin is not None and possibility.origin.chainable
    ]
    assert len(chainable) == jumps * 6 * 2


@functools.cache
def compilation_of(name: str) -> CompiledDescription:
    return compile_specification((GDL / f"{name}.json").read_text(encoding="utf-8"))


def compiled_of(name: str) -> Document:
    return compilation_of(name).document


@published
@pytest.mark.parametrize(("name", "possibilities", "promotions"), [("chess", 14_548, 44), ("checkers", 1_020, 52)])
def test_published_descriptions_have_as_many_possibilities_as_were_counted(
    name: str, possibilities: int, promotions: int
) -> None:
    document = compile_specification(read(name)).document
    assert document.possibilities == possibilities
    found = [
        possibility
        for piece in document.pieces
        for *_, possibility in piece.entries()
        if possibility.effects is not None and not {*possibility.effects.board.values()} <= {None, piece.identifier}
    ]
    assert len(found) == promotions


@published
def test_a_published_jump_asks_for_an_enemy_between_and_takes_it() -> None:
    document = compile_specification(read("checkers")).document
    assert entry(document, "CHECKERS:M", "e6", "g8")[0]["diff"]["board"]["g8"] == "CHECKERS:K"
    assert entry(document, "CHECKERS:M", "e5", "g7") == [
        {"must": {"f6": "enemy", "g7": "empty"}, "diff": {"board": {"e5": None, "f6": None, "g7": "CHECKERS:M"}}}
    ]
    assert sum(piece.possibilities for piece in document.pieces) == 1_020


# By structure, sizes and place: what is adjacent to it, drawn on paper.
NEIGHBOURS = {
    ("grid", (3, 3)): {"a1": "a2 b1 b2", "b2": "a1 a2 a3 b1 b3 c1 c2 c3", "c2": "b1 b2 b3 c1 c3"},
    ("grid", (2, 2, 2)): {"b1A": "a1A a1B a2A a2B b1B b2A b2B"},
    ("hex_grid", (3, 3)): {"a1": "a2 b1", "a3": "a2 b2 b3", "b2": "a2 a3 b1 b3 c1 c2", "c2": "b2 b3 c1 c3"},
}


def test_each_structure_has_a_row_of_neighbours() -> None:
    wanted = {(name, count) for name, structure in STRUCTURES.items() for count in structure.sizes}
    assert {(name, len(sizes)) for name, sizes in NEIGHBOURS} == wanted


@pytest.mark.parametrize(("name", "sizes"), NEIGHBOURS)
def test_a_place_is_adjacent_to_those_beside_it(name: str, sizes: tuple[int, ...]) -> None:
    geometry = STRUCTURES[name].topology(sizes).geometry
    assert isinstance(geometry, Lattice)
    for place, beside in NEIGHBOURS[name, sizes].items():
        assert sorted(each for each in geometry.places if geometry.adjacent(place, each)) == beside.split()
        steps = {geometry.step(place, direction) for direction in geometry.directions}
        assert steps - {None, place} == {*beside.split()}


def test_a_man_steps_to_each_of_the_six_neighbours_of_a_hexagon() -> None:
    data = game({"step": action(["adjacent(start, target)", "eq(board[target], null)"], MOVE)})
    data["topology"]["structure"] = "hex_grid(3, 3)"
    for step in data["setup"]["steps"]:
        step["at"] = [step["at"][0].replace("node(", "hex_nodes(").replace(")", f", {step['at'][0][5:]}")]
    document = compiled(data)
    # Rows and columns have 6 pairs of neighbours each, the third axis has 4.
    assert document.possibilities == (6 + 6 + 4) * 2 * 2
    [piece, _] = document.pieces
    [middle] = [source for source in piece.sources if source.square == "b2"]
    assert [each.square for each in middle.destinations] == ["b1", "c1", "a2", "c2", "a3", "b3"]


def test_a_network_has_steps_along_edges_and_special_connections_apart() -> None:
    data = network()
    data["interactions"]["list"] = {
        "walk": action(["adjacent(start, target)", "eq(board[target], null)"], MOVE),
        "sail": action(["special_connection(start, target)", "eq(board[target], null)"], MOVE),
    }
    data["game_flow"]["phases"]["main"]["allowed_actions"] = ["walk", "sail"]
    document = compiled(data)
    ways = {
        (source.square, target.square, possibility.origin.action)
        for piece in document.pieces
        for source, target, _, possibility in piece.entries()
        if possibility.origin is not None
    }
    assert ways == {
        ("Bay", "Hill", "walk"),
        ("Hill", "Bay", "walk"),
        ("Hill", "Mine", "walk"),
        ("Bay", "Mine", "sail"),
        ("Mine", "Bay", "sail"),
    }
    assert document.envelope.board is None
    assert json.loads(document.envelope.start or "") == {
        "board": {"Bay": "TINY:S", "Mine": "tiny:w"},
        "hands": {},
        "side": "first",
    }


# --- entries ---


def test_of_two_actions_that_hold_the_first_one_counts() -> None:
    take = action(["eq(target.y, start.y)", "ne(board[target], null)", "ne(start, target)"], MOVE)
    go = action(["adjacent(start, target)", "ne(board[target].owner, entity.owner)"], MOVE)
    document = compiled(game({"take": take, "go": go}, 2, 2))
    ways = [
        (target.square, possibility.origin and possibility.origin.action, possibility.must, possibility.deny)
        for source, target, _, possibility in document.pieces[0].entries()
        if source.square == "a1"
    ]
    assert ways == [
        ("b1", "take", {}, {"b1": "empty"}),
        ("b1", "go", {"b1": "empty"}, {}),
        ("a2", "go", {}, {"a2": "SMALL:M"}),
        ("b2", "go", {}, {"b2": "SMALL:M"}),
    ]


def test_steps_count_the_possibilities_of_an_action_in_an_entry() -> None:
    go = action(["adjacent(start, target)", "ne(board[target].owner, entity.owner)"], MOVE)
    # With two kinds of their own, an own piece cannot be denied in one condition.
    document = compiled(game({"go": go}, rank={"type": "string", "default": "man", "values": ["man", "king"]}))
    steps = [
        (target.square, possibility.origin and possibility.origin.step)
        for source, target, _, possibility in document.pieces[0].entries()
        if source.square == "a1"
    ]
    assert steps == [("b1", 1), ("b1", 2), ("a2", 1), ("a2", 2), ("b2", 1), ("b2", 2)]


def test_an_entity_is_changed_wherever_it_stands_and_removed_wherever_it_stands() -> None:
    rank = {"type": "string", "default": "man", "values": ["man", "king"]}
    swap = action(
        ["eq(target.y, add(start.y, 1))", "eq(target.x, start.x)", "eq(board[target].rank, 'man')"],
        [
            "set(board[node(2, 0)], board[target])",
            "set(board[target], entity)",
            "set(board[node(2, 0)].rank, 'king')",
            "remove_entity(entity)",
        ],
    )
    data = game({"swap": swap}, rank=rank)
    document = compiled(data)
    assert entry(document, "SMALL:M", "a1", "a2") == [
        {"must": {"a2": "SMALL:M"}, "diff": {"board": {"a1": None, "a2": None, "c1": "SMALL:K"}}},
        {"must": {"a2": "small:m"}, "diff": {"board": {"a1": None, "a2": None, "c1": "small:k"}}},
    ]


def test_an_effect_that_reads_an_unknown_square_is_split_by_what_stands_there() -> None:
    swap = action(
        ["adjacent(start, target)", "eq(start.y, target.y)"],
        ["set(board[start], board[target])", "set(board[target], entity)"],
    )
    document = compiled(game({"swap": swap}))
    assert entry(document, "SMALL:M", "a1", "b1") == [
        {"must": {"b1": "empty"}, "diff": {"board": {"a1": None, "b1": "SMALL:M"}}},
        {"must": {"b1": "SMALL:M"}, "diff": {}},
        {"must": {"b1": "enemy"}, "diff": {"board": {"a1": "small:m", "b1": "SMALL:M"}}},
    ]


def test_variables_are_guards_and_effects_and_what_changes_nothing_is_left_out() -> None:
    go = action(
        ["eq(target, start)", "lt(state.turns, 3)", "ne(state.mode, 'calm')"],
        ["set(state.turns, add(state.turns, 1))", "set(state.mode, 'wild')"],
    )
    data = variables(
        game({"go": go}),
        turns={"type": "int", "initial": 0, "min": 0, "max": 3},
        mode={"type": "string", "initial": "calm", "values": ["calm", "odd", "wild"]},
        unused={"type": "bool", "initial": False},
    )
    document = compiled(data)
    assert json.loads(document.canonical())["$state"] == {
        "mode": {"initial": "calm", "values": ["calm", "odd", "wild"]},
        "turns": {"initial": "0", "values": ["0", "1", "2", "3"]},
    }
    found = entry(document, "SMALL:M", "b2", "b2")
    assert {json.dumps(each["when"]) for each in found} == {
        json.dumps({"mode": ["odd", "wild"], "turns": [str(turns)]}) for turns in range(3)
    }
    assert [each["diff"]["state"] for each in found] == [{"mode": "wild", "turns": str(turns)} for turns in (1, 2, 3)]


def test_phases_are_guards_and_one_phase_is_none() -> None:
    data = game(
        {
            "step": action(["adjacent(start, target)", "eq(board[target], null)"], [*MOVE, "set(state.phase, 'late')"]),
            "stay": action(["eq(start, target)"], ["set(state.phase, 'main')"]),
        }
    )
    data["game_flow"]["phases"] = {
        "main": {"actors": "current_player", "allowed_actions": ["step"]},
        "late": {"actors": "current_player", "allowed_actions": ["stay", "step"]},
    }
    document = compiled(data)
    assert entry(document, "SMALL:M", "a1", "a1") == [
        {"when": {"phase": ["late"]}, "diff": {"state": {"phase": "main"}}}
    ]
    [step] = entry(document, "SMALL:M", "a1", "a2")
    # In both phases, so there is nothing to guard.
    assert step == {
        "must": {"a2": "empty"},
        "diff": {"board": {"a1": None, "a2": "SMALL:M"}, "state": {"phase": "late"}},
    }
    single = compiled(
        game({"stay": action(["eq(start, target)", "eq(state.phase, 'main')"], ["set(state.phase, 'main')"])})
    )
    assert single.envelope.variables is None
    assert entry(single, "SMALL:M", "a1", "a1") == [{"diff": {}}]


@pytest.mark.parametrize(
    ("effect", "toggle"),
    [
        ("set(state.current_player, entity.owner)", False),
        ("set(state.current_player, state.current_player)", False),
        ("set(state.current_player, other_player(entity.owner))", True),
        ("if(eq(start.x, 9), set(state.current_player, entity.owner))", True),
    ],
)
def test_the_turn_passes_unless_an_effect_says_whose_it_is(effect: str, toggle: bool) -> None:
    document = compiled(game({"stay": action(["eq(start, target)"], [effect])}))
    assert entry(document, "SMALL:M", "a1", "a1") == [{"diff": {} if toggle else {"toggle": False}}]


def test_a_turn_that_depends_on_a_square_is_split() -> None:
    again = action(["eq(start, target)"], ["if(eq(board[node(2, 2)], null), set(state.current_player, entity.owner))"])
    document = compiled(game({"stay": again}))
    assert entry(document, "SMALL:M", "a1", "a1") == [
        {"must": {"c3": "empty"}, "diff": {"toggle": False}},
        {"deny": {"c3": "empty"}, "diff": {}},
    ]


@pytest.mark.parametrize(
    "names", [("checkers", "contraband"), pytest.param(("checkers", "contraband", "hexguard"), marks=pytest.mark.long)]
)
def test_the_same_description_compiles_to_the_same_bytes_whatever_the_hashes(names: tuple[str, ...]) -> None:
    code = (
        "import sys\nfrom ggn_store.api.loading import specifications\n"
        "for path in sys.argv[1:]:\n"
        "    sys.stdout.write(specifications.compile_specification(open(path, 'rb').read()).document.canonical())\n"
    )
    paths = [str(GDL / f"{name}.json") for name in names]
    texts = {
        subprocess.run(
            [sys.executable, "-c", code, *paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
    assert len(texts.pop()) > 100_000


def test_a_compiled_document_is_a_valid_one() -> None:
    for name in ("checkers", "contraband", "hexguard"):
        document = compiled_of(name)
        again = ggn_store.parse(document.canonical())
        assert (again.dialect, again.pieces) == ("gdl", document.pieces)


@pytest.mark.parametrize(("name", "values", "result"), [
    ("eq", (1, True), False),
    ("ne", (0, False), True),
    ("eq", (None, None), True),
    ("lt", (None, 1), False),
    ("gte", (True, 0), False),
    ("add", (1, None, 2), None),
    ("mod", (-1, 4), 3),
    ("mod", (1, 0), None),
    ("abs", (None,), None),
    ("not", (None,), True),
])  # fmt: skip
def test_functions_of_values_know_null_and_tell_numbers_from_truth(
    name: str, values: tuple[object, ...], result: object
) -> None:
    assert PURE[name](*values) is result


# --- identifiers ---


def identifiers(data: Json, **options: Any) -> list[str]:
    return list(compile_specification(data, **options).kinds)


def test_letters_come_from_the_presentation_where_its_case_is_the_player() -> None:
    data = tiny()
    del data["entity_schemas"]["types"]["Piece"]["attributes"]["moved"]
    for step in data["setup"]["steps"]:
        step["set_attributes"].pop("moved", None)
    data["interactions"]["list"]["step"]["effects"].remove("set(entity.moved, true)")
    data["interactions"]["list"]["slide"]["conditions"].pop()
    profile = data["presentation"]["profiles"]["ascii"]
    profile["entity_assets"] = [
        {"conditions": f"and(eq(entity.rank, '{rank}'), eq(entity.owner.name, '{player}'))", "asset": asset}
        for rank, player, asset in (
            ("stone", "Light", "X"),
            ("wheel", "Light", "O"),
            ("stone", "Dark", "x"),
            ("wheel", "Dark", "o"),
        )
    ]
    assert identifiers(data) == ["TINY:X", "TINY:O", "tiny:x", "tiny:o"]
    # Case as the rank, not the player: then the letters are those of the ranks.
    for asset, letter in zip(profile["entity_assets"], "xXoO", strict=True):
        asset["asset"] = letter
    assert identifiers(data) == ["TINY:S", "TINY:W", "tiny:s", "tiny:w"]


def test_the_profile_ggn_says_the_pieces_before_all_others() -> None:
    data = tiny()
    data["presentation"]["profiles"]["ggn"] = {
        "entity_assets": [
            {
                "conditions": f"and(eq(entity.owner.name, '{owner}'), eq(entity.rank, '{rank}'), "
                f"{'entity.moved' if is_moved else 'not(entity.moved)'})",
                "asset": f"{'-' if is_moved else '+'}{letter}",
            }
            for owner, rank, letter in (
                *(("Light", "stone", "A"), ("Light", "wheel", "K^")),
                *(("Dark", "stone", "a"), ("Dark", "wheel", "k^")),
            )
            for is_moved in (True, False)
        ]
    }
    kinds = compile_specification(data).kinds
    assert kinds["TINY:+K^"].attributes == {"rank": "wheel", "moved": False}
    assert kinds["tiny:-k^"].owner == "Dark"


@pytest.mark.parametrize(
    ("asset", "message"),
    [
        ("g", 'has the asset "g": upper case is the first player\'s'),
        ("??", 'has the asset "??", which is no piece'),
        ("R", "have the same asset"),
    ],
)
def test_a_profile_ggn_that_cannot_be_is_refused(asset: str, message: str) -> None:
    data = json.loads((GDL / "hexguard.json").read_text(encoding="utf-8"))
    data["presentation"]["profiles"]["ggn"]["entity_assets"][0]["asset"] = asset
    with pytest.raises(SpecificationError, match=message.replace("?", r"\?")) as caught:
        compile_specification(json.dumps(data))
    assert {problem.pointer for problem in caught.value.problems} == {"/presentation/profiles/ggn"}


@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("checkers", {"CHECKERS:M": "man", "checkers:k": "king"}),
        ("chess", {"CHESS:N": "knight", "chess:+k^": "unmoved king"}),
        ("jungle", {"JUNGLE:P": "leopard", "jungle:r": "rat"}),  # by its profile `names`
        ("konane", {"KONANE:+S": "stone"}),
    ],
)
def test_pieces_are_called_what_their_description_calls_them(game: str, names: dict[str, str]) -> None:
    found = piece_names(read_specification((GDL / f"{game}.json").read_text("utf-8"), game))
    assert names.items() <= found.items()


def test_a_name_that_several_letters_have_tells_nothing() -> None:
    data = json.loads((GDL / "jungle.json").read_text(encoding="utf-8"))
    del data["presentation"]["profiles"]["names"]
    assert piece_names(read_specification(json.dumps(data), "jungle")) == {}


def test_kinds_of_one_name_are_told_apart_by_states() -> None:
    assert identifiers(tiny())[:4] == ["TINY:S", "TINY:+S", "TINY:W", "TINY:+W"]


def test_a_map_says_the_pieces_and_the_more_exact_word_counts() -> None:
    pieces = {"stone": "P", "wheel": "R", "wheel,moved=true": "-R", "stone,moved=true": "+P"}
    assert identifiers(tiny(), piece_map=pieces, style="x") == [
        *("X:P", "X:+P", "X:R", "X:-R"),
        *("x:p", "x:+p", "x:r", "x:-r"),
    ]


@pytest.mark.parametrize(
    ("pieces", "style", "message"),
    [
        ({"stone": "P"}, None, "would both be TINY:P"),
        ({"stnoe": "P"}, None, 'no kind of piece is called "stnoe"'),
        ({"stone": "PP"}, None, '"PP" is not a code of pieces'),
        ({"": "P"}, None, "is not a kind of piece"),
        ({}, "1A", '"1A" is not a style'),
    ],
)
def test_a_map_or_a_style_that_does_not_fit_is_said_so(pieces: dict[str, str], style: str | None, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        compile_specification(tiny(), piece_map=pieces, style=style)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("title", "style"),
    [("Checkers (American)", "CHECKERS"), ("3-fold Chess", "FOLD"), ("棋", "GAME"), ("Ölbild x", "LBILD")],
)
def test_the_style_is_the_first_word_of_the_title(title: str, style: str) -> None:
    data = tiny()
    data["metadata"]["name"] = title
    assert identifiers(data)[0] == f"{style}:S"


# --- the envelope ---


def test_setup_title_and_board_are_in_the_envelope_and_so_is_the_description() -> None:
    text = json.dumps(tiny())
    envelope = compile_specification(text).document.envelope
    assert envelope.start == "+w2+w/4/4/SSSS / TINY/tiny"
    assert (envelope.title, envelope.board, envelope.definition) == ("Tiny", "4x4", text)
    assert json.loads(str(compile_specification(tiny()).document.envelope.definition)) == tiny()


def test_the_second_player_may_begin() -> None:
    data = tiny()
    data["state_schema"]["global"]["current_player"]["initial"] = "player('Dark')"
    assert compiled(data).envelope.start == "+w2+w/4/4/SSSS / tiny/TINY"


def test_the_start_position_of_a_board_of_one_row_is_json_as_feen_has_none() -> None:
    document = compiled(game({"step": action(["adjacent(start, target)", "eq(board[target], null)"], MOVE)}, 4, 1))
    assert document.envelope.board == "4x1"
    assert json.loads(document.envelope.start or "") == {
        "board": {"a1": "SMALL:M", "d1": "small:m"},
        "hands": {},
        "side": "first",
    }
    assert document.possibilities == 2 * 3 * 2


# --- refusals ---


def refused(data: Json) -> Problem:
    with pytest.raises(SpecificationError) as caught:
        compile_specification(json.dumps(data, indent=1), file="small.json")
    [problem] = caught.value.problems
    assert isinstance(problem, Problem)
    assert problem.file == "small.json"
    return problem


def test_a_value_that_a_variable_has_not_is_refused_at_its_assignment() -> None:
    count = {"type": "int", "initial": 0, "min": 0, "max": 2}
    data = variables(
        game({"go": action(["eq(start, target)"], ["if(true, set(state.turns, add(state.turns, 1)))"])}), turns=count
    )
    problem = refused(data)
    assert problem.message == "the action go would set state.turns to 3, which is not one of its values"
    assert (problem.pointer, problem.action) == ("/interactions/list/go/effects/0", "go")
    assert problem.expression is not None
    assert problem.expression[problem.at :].startswith("set(state.turns")
    assert problem.found == "One's Man from a1 to a1"
    # Where a condition is around it, it never comes to that.
    data["interactions"]["list"]["go"]["conditions"].append("lt(state.turns, 2)")
    assert compiled(data).possibilities == 9 * 2 * 2


def test_a_place_that_an_entity_is_not_on_is_refused() -> None:
    go = action(
        ["adjacent(start, target)"], ["set(board[start], null)", "set(board[target], entity)", "set(entity.pos, start)"]
    )
    problem = refused(game({"go": go}))
    assert problem.message == "the action go sets pos of an entity to another place than the board has it on"
    assert problem.expression == "set(entity.pos, start)"


def test_a_turn_of_nobody_is_refused() -> None:
    go = action(["eq(start, target)"], ["set(state.current_player, board[node(1, 1)].owner)"])
    problem = refused(game({"go": go}))
    assert problem.message == "the action go would set state.current_player to null"


def test_what_depends_on_too_much_is_refused_at_once() -> None:
    level = {"type": "int", "default": 0, "values": [0, 1, 2]}
    squares = [f"board[node({x}, {y})].level" for x in range(3) for y in range(3)]
    odd = action([f"eq(mod(add({', '.join(squares)}), 2), 1)"], ["set(board[start], null)"])
    problem = refused(game({"odd": odd}, level=level))
    assert "possibilities; 10,000 are the most" in problem.message
    every = action(["eq(start, target)"], [f"if(eq({square}, 1), set({square}, 2))" for square in squares * 2])
    assert "in more ways than can be followed" in refused(game({"every": every}, 4, 4, level=level)).message


def test_too_many_attributes_are_refused() -> None:
    with limits.allow({"description-kinds": 3}):
        assert "combinations of attributes, each of which is a piece" in refused(tiny()).message


def test_a_game_without_moves_is_refused() -> None:
    data = changed("/interactions/list/step/conditions/-", "eq(1, 2)", tiny())
    data["interactions"]["list"]["slide"]["conditions"].append("eq(1, 2)")
    with pytest.raises(InputError, match="no action of this game can ever be done"):
        compile_specification(data)


def test_memory_is_let_go_of_where_nodes_become_many(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiled_of("checkers").canonical()
    monkeypatch.setattr(compiler, "_MAX_KEPT", 10)
    assert compiled(json.loads((GDL / "checkers.json").read_text("utf-8"))).canonical() == before


def test_what_is_in_the_hand_is_placed_and_is_no_more_in_it() -> None:
    data = game({"place": {"from_hand": True, "conditions": [OWN, "eq(board[target], null)"], "effects": [MOVE[1]]}})
    hand = {"action": "spawn_entity", "schema": "Man", "count": 3, "at": ["hand"]}
    data["setup"]["steps"].append({**hand, "set_attributes": {"owner": "player('Two')"}})
    document = compile_specification(json.dumps(data)).document
    assert document.envelope.start == "2m/3/M2 /3m SMALL/small"
    [first, second] = document.pieces
    [source] = second.sources
    assert (source.square, len(source.destinations)) == ("*", 9)
    [only] = source.destinations[0].possibilities
    assert only.effects is not None
    assert (dict(only.must), only.effects.data()) == (
        {"a1": "empty"},
        {"board": {"a1": "small:m"}, "hands": {"small:m": -1}},
    )
    assert [each.square for each in first.sources] == ["*"]


@pytest.mark.parametrize(
    "condition", ["eq(entity.pos, null)", "eq(board[entity.pos], null)", "not(adjacent(entity.pos, target))"]
)
def test_what_is_in_the_hand_has_no_place(condition: str) -> None:
    """As a condition of an action and as one of its effects, for the compiler and for the check."""
    effects = [f"if({condition}, set(board[target], entity))"]
    data = game({"place": {"from_hand": True, "conditions": [condition], "effects": effects}})

    def never() -> list[str | None]:
        return [each.expression for each in check_specification(json.dumps(data)).findings if "never" in each.message]

    pieces = compile_specification(json.dumps(data)).document.pieces
    assert {(each.square, len(each.destinations)) for piece in pieces for each in piece.sources} == {("*", 9)}
    assert never() == []
    data["interactions"]["list"]["place"]["conditions"].append("eq(1, 2)")
    assert [each for each in never() if each] == ["eq(1, 2)"]


def test_a_row_is_of_one_kind() -> None:
    """Not of men of both sides, and not of those who differ in what they have."""
    condition = [OWN, "eq(board[target].owner, other_player(entity.owner))", "in_row(target, 3)"]
    data = game({"take": {"conditions": condition, "effects": ["remove_entity(board[target])"]}}, width=3, height=1)
    data["entity_schemas"]["types"]["Man"]["attributes"]["big"] = {"type": "bool", "default": False}
    data["topology"] = {"type": "network", "nodes": {name: {} for name in "ABCD"}, "lines": ["A B C"], "edges": []}
    for step, name in zip(data["setup"]["steps"], "AB", strict=True):
        step["at"] = [f"node('{name}')"]
    document = compile_specification(json.dumps(data)).document
    found = {
        (source.square, to.square, tuple(sorted(each.must.items())))
        for source in document.pieces[0].sources
        for to in source.destinations
        for each in to.possibilities
    }
    kinds = {piece.identifier for piece in document.pieces if piece.identifier.islower()}
    assert len(kinds) == 2
    assert found == {("D", to, (("A", kind), ("B", kind), ("C", kind))) for to in "ABC" for kind in kinds}
