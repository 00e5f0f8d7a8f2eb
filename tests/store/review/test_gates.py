"""Gates: what policies refuse, on every way into a ruleset: findings of lint, and moves that are to stay."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store import Position, Store, StoreError, UnknownNameError, parse, read_definition
from ggn_store.api.loading import ahead, gates
from ggn_store.documents import files
from ggn_store.documents.lint import CODES, lint
from ggn_store.errors import GateError
from ggn_store.model.teams.policy import PositionSet
from ggn_store.store.rulesets import load
from tests.oracles import reference
from tests.support.edits import Draft, drafts, edited
from tests.support.loaded import NAMES
from tests.support.people import AT_B1, DOUBTFUL, KNIGHT, OTHER, ROOK, Json, moving, rows
from tests.support.program import _own_place as _own_place
from tests.support.program import write
from tests.support.strategies import DIALECTS, Plain, positions
from tests.support.unhurried import unhurried

GAME = """
title = "Hops"
style = "C"
board = "4x4"
[pieces.K]
betza = "K"
"""


# --- lint ---


def test_every_code_of_lint_is_one_that_a_policy_can_name() -> None:
    told = "".join(file.read_text(encoding="utf-8") for file in Path(files.__file__).parent.glob("*.py"))
    made = set(re.findall(r'finding\(\s*"([a-z-]+)"', told))
    assert made == set(CODES)


@pytest.mark.parametrize(
    ("codes", "refused"),
    [
        ((), []),
        (("duplicate-possibility",), []),
        (("never-holds",), ["never-holds"]),
        (("no-rules",), ["no-rules"]),
        (("no-rules", "never-holds"), ["never-holds", "no-rules"]),
        (("all",), [each.code for each in lint(parse(DOUBTFUL))]),
    ],
)
def test_findings_of_the_classes_of_a_policy_are_refused_and_all_listed(
    store: Store, codes: tuple[str, ...], refused: list[str]
) -> None:
    store.policies.set("team", lint=codes)
    if not refused:
        assert store.load(DOUBTFUL, "team/rook").number == 1
        return
    assert refused == [each for each in ("never-holds", "no-rules") if each in codes or "all" in codes]
    with pytest.raises(GateError) as caught:
        store.load(DOUBTFUL, "team/rook")
    assert [each.code for each in caught.value.problems] == refused
    first, *lines = str(caught.value).split("\n")
    assert first.startswith(f"team/rook: refused by the policy of team, {len(refused)} finding")
    assert lines == [str(each) for each in caught.value.problems]
    assert store.list() == ()
    assert rows(store, "SELECT * FROM piece") == []
    assert store.load(ROOK, "team/rook").number == 1


def from_file(store: Store) -> object:
    [loaded] = store.load_all([write("rook.json", DOUBTFUL)], name="team/rook")
    raise loaded.error or AssertionError("it was loaded")


def from_stream(store: Store) -> object:
    text_of_lines = "".join(
        json.dumps({"name": name, "document": document}) + "\n"
        for name, document in (("team/knight", KNIGHT), ("team/rook", DOUBTFUL), ("team/last", ROOK))
    )
    first, second, third = store.load_all([write("all.ndjson", text_of_lines)])
    assert (first.error, third.error) == (None, None)
    raise second.error or AssertionError("it was loaded")


def ahead_of_time(store: Store) -> object:
    """Read by another process meanwhile, however little there is to read."""
    taken = []

    def take(self: ahead.Ahead, file: files.File) -> load.Ready | None:
        taken.append(real(self, file))
        return taken[-1]

    real = ahead.Ahead.take
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "_ENOUGH", 0)
        patch.setattr(ahead, "_MEANWHILE", 0)
        patch.setattr(ahead.Ahead, "take", take)
        write("some/team/rook.json", DOUBTFUL)
        [loaded] = store.load_all(["some"], processes=1)
    assert isinstance(taken[0], load.Ready)
    raise loaded.error or AssertionError("it was loaded")


WAYS_IN: tuple[Callable[[Store], object], ...] = (
    lambda store: store.load(DOUBTFUL, "team/rook"),
    lambda store: store.load(parse(DOUBTFUL), "team/rook"),
    lambda store: store.reviews.propose(DOUBTFUL, "team/rook", author="Ann"),
    from_file,
    from_stream,
    ahead_of_time,
)


@pytest.mark.parametrize("way", range(len(WAYS_IN)))
def test_every_way_in_leads_through_the_gate(store: Store, way: int) -> None:
    store.policies.set("team", lint=["never-holds"])
    with pytest.raises(GateError, match="refused by the policy of team, 1 finding"):
        WAYS_IN[way](store)
    with pytest.raises(UnknownNameError):
        store.ruleset("team/rook")


def test_a_game_that_is_generated_on_the_way_goes_through_the_gate(store: Store) -> None:
    definition = read_definition(GAME)
    assert store.load(definition, "hops").number == 1
    piece = store.ruleset("hops").pieces[0]
    kept = PositionSet("corner", (Position({"a1": piece}),))
    store.policies.set("*", compatible=kept)
    slower = read_definition(GAME.replace('"K"', '"W"'))
    with pytest.raises(GateError, match="1 finding;") as caught:
        store.load(slower, "hops")
    assert [each.pointer for each in caught.value.problems] == [f"/{piece}/a1/b2"]
    with pytest.raises(GateError, match="1 finding;"):
        store.reviews.propose(slower, "hops", author="Ann")
    assert store.ruleset("hops").revision.number == 1


def test_what_came_another_way_is_held_to_the_policy_by_one_call(store: Store) -> None:
    first = store.load(KNIGHT, "team/knight")
    second = store.load(OTHER, "team/knight")
    store.policies.set("team", compatible=AT_B1)
    with store.session.database.reading() as connection:
        gates.require(connection, None, second)
        gates.require(connection, second, second)
        with pytest.raises(GateError, match="team/knight: refused by the policy of team, 3 findings"):
            gates.require(connection, first, second)


def test_whatever_comes_in_a_block_is_held_to_the_policy(store: Store) -> None:
    store.load(KNIGHT, "team/knight")
    store.policies.set("team", compatible=AT_B1, lint=["never-holds"])

    def come(document: Json, name: str) -> None:
        with store.session.database.writing() as connection, gates.holding(connection, name):
            load.load(store.session.database, connection, parse(document), name)

    with pytest.raises(GateError, match="team/knight: refused by the policy of team, 3 findings"):
        come(OTHER, "team/knight")
    with pytest.raises(GateError, match="team/new: refused by the policy of team, 1 finding"):
        come(DOUBTFUL, "team/new")
    come(KNIGHT, "team/knight")
    assert store.ruleset("team/knight").revision.number == 1
    come({**KNIGHT, **ROOK}, "team/knight")
    come(OTHER, "elsewhere")
    assert store.ruleset("team/knight").revision.number == 2
    store.policies.set("team", review=1)
    with pytest.raises(StoreError, match="takes only revisions that were proposed and approved"):
        come(KNIGHT, "team/knight")


def test_old_contents_and_merges_go_through_the_gate(store: Store) -> None:
    store.load({**KNIGHT, **ROOK}, "team/game")
    store.load({**OTHER, **ROOK}, "team/game")
    store.policies.set("team", compatible=AT_B1)
    with pytest.raises(GateError, match="3 findings"):
        store.history.restore("team/game@1")
    beside = {**KNIGHT, **moving("C:R", "a1", "a3")}
    with pytest.raises(GateError, match="2 findings"):
        store.load({**moving("C:N", "b1", "c3", "d2"), **ROOK}, "team/game", base="1", merge=True)
    assert store.ruleset("team/game").revision.number == 2
    merged = store.load(beside, "team/game", base="1", merge=True)
    assert (merged.number, merged.status) == (3, "merged")
    store.policies.set("team", review=1)
    with pytest.raises(GateError, match="takes only what was proposed"):
        store.history.restore("team/game@1")
    with pytest.raises(GateError, match="takes only what was proposed"):
        store.load({**beside, **moving("C:B", "c1", "d2")}, "team/game", base="1", merge=True)
    store.states.set("team/game", "retired")
    with pytest.raises(GateError, match="is retired"):
        store.history.restore("team/game@1")


# --- moves that are to stay ---


def refusal(store: Store, document: Json, name: str) -> list[tuple[str, str]]:
    """Pointers and messages of what the policy has against a document."""
    with pytest.raises(GateError) as caught:
        store.load(document, name)
    assert {each.code for each in caught.value.problems} == {"compatible"}
    return [(each.pointer, each.message) for each in caught.value.problems]


def test_moves_that_are_lost_new_or_other_are_listed_by_position(store: Store) -> None:
    store.load(KNIGHT, "team/knight")
    store.policies.set("team", compatible=AT_B1)
    # The knight stands on b1 in both positions, and c3 is taken in the second.
    assert refusal(store, OTHER, "team/knight") == [
        ("/C:N/b1/c3", "openings:1: the move is lost: it was a move of this position"),
        ("/C:N/b1/a3", "openings:1: the move is new: it was no move of this position"),
        ("/C:N/b1/a3", "openings:2: the move is new: it was no move of this position"),
    ]
    captures = json.loads(json.dumps(KNIGHT))
    captures["C:N"]["b1"]["c3"][0]["diff"]["board"]["d5"] = "C:R"
    assert refusal(store, captures, "team/knight") == [("/C:N/b1/c3", "openings:1: the move has other effects")]
    twice = json.loads(json.dumps(KNIGHT))
    twice["C:N"]["b1"]["c3"] *= 2
    assert refusal(store, twice, "team/knight") == [("/C:N/b1/c3", "openings:1: the move has other effects")]
    assert refusal(store, ROOK, "team/knight") == [
        ("/C:N/b1/c3", "openings:1: the move is lost: it was a move of this position")
    ]
    assert store.ruleset("team/knight").revision.number == 1


def test_what_changes_no_move_of_the_positions_passes(store: Store) -> None:
    store.load(KNIGHT, "team/knight")
    store.policies.set("team", compatible=AT_B1)
    assert store.load({**KNIGHT, **ROOK}, "team/knight").number == 2
    assert store.load({**ROOK, **KNIGHT}, "team/knight").number == 3
    farther = {**KNIGHT, **ROOK}
    farther["C:N"] = {**KNIGHT["C:N"], **moving("C:N", "g1", "f3")["C:N"]}
    found = store.load(farther, "team/knight")
    assert (found.number, found.message) == (4, None)


def test_a_new_ruleset_has_no_moves_to_keep(store: Store) -> None:
    store.policies.set("*", compatible=AT_B1)
    assert store.load(KNIGHT, "knight").number == 1


def test_changes_that_are_accepted_are_listed_in_the_message(store: Store) -> None:
    store.load(KNIGHT, "team/knight")
    store.policies.set("team", compatible=AT_B1)
    listing = (
        "Accepted changes of moves:\n- openings:1: lost C:N b1 c3\n- openings:1: new C:N b1 a3\n"
        "- openings:2: new C:N b1 a3"
    )
    first = store.load(OTHER, "team/knight", message="go left", accept_changes=True)
    assert (first.number, first.message) == (2, f"go left\n\n{listing}")
    back = store.load(KNIGHT, "team/knight", accept_changes=True)
    assert (back.message or "").startswith("Accepted changes of moves:\n- openings:1: lost C:N b1 a3\n")
    unchanged = store.load({**KNIGHT, **ROOK}, "team/knight", message="more", accept_changes=True)
    assert unchanged.message == "more"
    details = rows(store, "SELECT detail FROM audit WHERE action = 'revision' ORDER BY id")
    assert json.loads(details[1][0])["message"] == f"go left\n\n{listing}"
    assert store.upkeep.check() == []


def test_findings_of_lint_are_never_accepted(store: Store) -> None:
    store.load(ROOK, "rook")
    store.policies.set("*", lint=["never-holds"], compatible=PositionSet("corner", (Position({"a1": "C:R"}),)))
    with pytest.raises(GateError, match="3 findings; --accept-changes") as caught:
        store.load(DOUBTFUL, "rook")
    assert [each.code for each in caught.value.problems] == ["never-holds", "compatible", "compatible"]
    with pytest.raises(GateError, match="1 finding\n") as caught:
        store.load(DOUBTFUL, "rook", accept_changes=True)
    assert [each.code for each in caught.value.problems] == ["never-holds"]


def test_a_long_list_of_changes_is_cut_in_the_message_and_whole_in_the_refusal(store: Store) -> None:
    squares = [f"{file}{rank}" for file in "cdefgh" for rank in range(1, 11)]
    store.load(moving("C:N", "b1", "a1"), "knight")
    store.policies.set("*", compatible=AT_B1)
    with pytest.raises(GateError, match="121 findings") as caught:  # c3 is taken in the second position
        store.load(moving("C:N", "b1", *squares), "knight")
    assert len(caught.value.problems) == 2 + 60 + 59
    message = store.load(moving("C:N", "b1", *squares), "knight", accept_changes=True).message or ""
    assert len(message.splitlines()) == 1 + 50 + 1
    assert message.endswith("\n- and 71 more")


BOARDS: tuple[tuple[str | None, str | None, int], ...] = (
    # Of a knight on h8 and a board before and after the change: how many findings there are.
    (None, None, 0),
    ("8x8", "8x8", 0),
    ("4x4", "4x4", 0),
    ("8x8", "4x4", 1),
    ("4x4", "8x8", 1),
    ("8x8", None, 0),
)


@pytest.mark.parametrize(("before", "after", "count"), BOARDS)
def test_positions_that_do_not_fit_a_board_have_no_moves_on_it(
    store: Store, before: str | None, after: str | None, count: int
) -> None:
    for board, path in ((before, "before"), (after, "after")):
        write(f"{path}.json", KNIGHT)
        if board is not None:
            write(f"{path}.toml", f'board = "{board}"\n')
        else:
            write(f"{path}.toml", f'title = "{path}"\n')
    store.load(Path("before.json"), "knight")
    store.policies.set("*", compatible=PositionSet("far", (Position({"b1": "C:N", "h8": "C:R"}),)))
    if count:
        with pytest.raises(GateError) as caught:
            store.load(Path("after.json"), "knight")
        assert len(caught.value.problems) == count
    else:
        assert store.load(Path("after.json"), "knight").number == (1 if before == after is not None else 2)


Case = tuple[Draft, Draft, list[Plain]]


@st.composite
def changes(draw: st.DrawFn) -> Case:
    before = draw(drafts(draw(st.sampled_from(DIALECTS))))
    after = draw(edited(before))
    given_positions = [draw(positions(draw(st.sampled_from((before, after))).content)) for _ in range(3)]
    return before, after, given_positions


def counted(document: Json, position: Plain) -> dict[tuple[str, str, str], Counter[str]]:
    """By piece, source and destination, how many moves have which effects: in plain Python."""
    found: dict[tuple[str, str, str], Counter[str]] = {}
    is_open = reference.detect(document) == "must-deny"
    for piece, source, destination, ordinal in reference.moves(document, *position):
        told = () if is_open else reference.effects(document, piece, source, destination, ordinal)
        found.setdefault((piece, source, destination), Counter())[repr([*map(_sorted, told)])] += 1
    return found


def _sorted(value: object) -> object:
    return sorted(value.items()) if isinstance(value, dict) else value


@pytest.fixture(scope="module")
def memory() -> Iterator[Store]:
    """A store for all examples, each with a ruleset of its own: to make one takes longer than an example."""
    with Store.open("sqlite://") as opened:
        yield opened


@pytest.mark.parametrize("examples", [pytest.param(40, id="few"), pytest.param(400, id="many", marks=pytest.mark.long)])
def test_the_listing_is_what_plain_python_finds(memory: Store, examples: int) -> None:
    @unhurried(examples)
    @given(case=changes())
    def agree(case: Case) -> None:
        before, after, given_positions = case
        expected = []
        for line, position in enumerate(given_positions, start=1):
            old, new = counted(before.content, position), counted(after.content, position)
            for move in {**old, **new}:
                if old.get(move) != new.get(move):
                    kind = "lost" if move not in new else "new" if move not in old else "changed"
                    expected.append(f"random:{line}: {kind} {' '.join(move)}")
        kept = tuple(Position(board, hands=hands, side=side) for board, hands, side in given_positions)
        name = f"game-{next(NAMES)}"
        memory.load(parse(before.content), name)
        memory.policies.set("*", compatible=PositionSet("random", kept))
        found = memory.load(parse(after.content), name, accept_changes=True)
        if found.status == "unchanged":
            assert expected == []
            return
        lines = (found.message or "").split("\n")[1:]
        listed = [line.removeprefix("- ") for line in lines]
        assert sorted(listed) == sorted(expected) or (len(expected) > 50 and len(listed) == 51)

    agree()
