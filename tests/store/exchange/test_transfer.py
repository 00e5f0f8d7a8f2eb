"""Push and pull between any two stores: what travels, what is refused, what becomes of histories that went apart.

Documents are tiny and made by hand; what a store holds is asked of its tables in plain SQL.
"""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from ggn_store import InputError, Store, StoreError, UnknownNameError
from ggn_store.errors import GateError, StoreVersionError
from ggn_store.model.teams.ancestry import Step, relate
from ggn_store.model.teams.revision import Revision
from ggn_store.model.teams.transfer import DivergedError, Transferred
from tests.support.databases import DATABASES, new_store_address
from tests.support.exchanged import BOTH, Asked, Json, exports, game, history, holds, sound, tag, tags
from tests.support.guards import drop_guards

# Two of one database are for the long run: beside each of the other each says what it does.
PAIRS = [
    pytest.param((mine, theirs), marks=[pytest.mark.long] * (mine == theirs))
    for mine in DATABASES
    for theirs in DATABASES
]


def new_stores(
    request: pytest.FixtureRequest, directory: Path, databases: Sequence[str], stack: ExitStack
) -> list[Store]:
    stores = []
    for number, database in enumerate(databases):
        own = directory / f"store-{number}"
        own.mkdir()
        address = stack.enter_context(new_store_address(database, own, request))
        stores.append(stack.enter_context(Store.open(address)))
    return stores


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two new stores, in every combination of databases."""
    with ExitStack() as stack:
        mine, theirs = new_stores(request, tmp_path, request.param, stack)
        yield mine, theirs


@pytest.fixture(params=DATABASES)
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two new stores, of which the second is once SQLite and once Postgres."""
    with ExitStack() as stack:
        mine, theirs = new_stores(request, tmp_path, ("sqlite", request.param), stack)
        yield mine, theirs


def lineages(store: Store, name: str) -> list[str]:
    return [row[1] for row in history(store, name)]


# --- what travels ---


def test_a_ruleset_is_the_same_in_both_stores_after_a_push(pair: tuple[Store, Store]) -> None:
    mine, theirs = pair
    mine.load(game(**BOTH, N="b1c3"), "team/game", author="Ann", message="begin")
    mine.load({"$schema": "https://example.org/ä", **game(**BOTH, N="b1a3")}, "team/game", author=None)
    mine.load({"CHESS:P": {"x": {"y": [{"perform": {"x": None, "y": "CHESS:P"}}]}}}, "team/game", author="Béa")
    mine.load({"C:R": {"*": {"a3": [{"must": {"a2": "empty"}, "deny": {"a1": "C:R"}}]}}}, "other")
    results = mine.exchange.push(theirs)
    assert [(each.name, each.status, each.revisions, each.pieces, each.listed) for each in results] == [
        ("other", "new", 1, 1, 1),
        ("team/game", "new", 3, 5, 5),
    ]
    for name in ("team/game", "other"):
        assert history(theirs, name) == history(mine, name)
        assert exports(theirs, name) == exports(mine, name)
        assert [theirs.ruleset(f"{name}@{row[0]}").revision.created_at for row in history(theirs, name)] == [
            mine.ruleset(f"{name}@{row[0]}").revision.created_at for row in history(mine, name)
        ]
    assert sound(mine, theirs)


def test_what_was_pulled_answers_as_it_does_where_it_came_from(pair: tuple[Store, Store]) -> None:
    mine, theirs = pair
    theirs.load_library("gardner")
    [result] = mine.exchange.pull(theirs, "gardner")
    assert (result.status, result.head) == ("new", 1)
    ours, other = mine.ruleset("gardner"), theirs.ruleset("gardner")
    assert [move.data() for move in ours.moves(ours.start)] == [move.data() for move in other.moves(ours.start)]
    assert len(list(ours.moves(ours.start))) == 7
    assert sound(mine, theirs)


def test_only_what_is_missing_travels(pair: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs = pair
    pieces = {"N": "b1c3", "B": "c1f4", "R": "a1a4"}
    mine.load(game(**BOTH, **pieces), "game")
    theirs.load(game(**BOTH, B="c1f4"), "apart")  # the pieces that both have heard of
    asked = Asked(monkeypatch)
    [result] = mine.exchange.push(theirs)
    assert (result.pieces, result.listed) == (2, 5)
    assert (len(asked.pieces), len(asked.revisions), asked.boards) == (2, 1, [])
    new = mine.load(game(**BOTH, **pieces | {"N": "b1a3"}), "game")
    asked.clear()
    [result] = mine.exchange.push(theirs, "game")
    assert (result.status, result.revisions, result.pieces, result.listed, result.head) == ("forwarded", 1, 1, 5, 2)
    assert asked.revisions == [new.lineage]
    assert len(asked.pieces) == 1
    asked.clear()
    assert mine.exchange.push(theirs, "game")[0].status == "unchanged"
    assert theirs.exchange.push(mine, "game")[0].status == "unchanged"
    assert (asked.revisions, asked.pieces) == ([], [])
    assert sound(mine, theirs)


def statements(store: Store, work: Callable[[], object]) -> list[str]:
    """The statements that a store's database gets while `work` is done."""
    found: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, _p: Any, _x: Any, _m: Any) -> None:
        found.append(statement)

    event.listen(store.session.database.engine, "before_cursor_execute", note)
    try:
        work()
    finally:
        event.remove(store.session.database.engine, "before_cursor_execute", note)
    return found


def test_one_change_takes_as_many_statements_after_a_long_history_as_after_a_short_one(
    two: tuple[Store, Store],
) -> None:
    mine, theirs = two
    moves = [f"{file}{rank}" for file in "bcdefg" for rank in range(2, 8)]
    counts = []
    for name, length in (("short", 2), ("long", 30)):
        for number in range(length):
            mine.load(game(**BOTH, N=f"b1{moves[number]}"), name)
        mine.exchange.push(theirs, name)
        mine.load(game(**BOTH, N=f"b1{moves[-1]}", Q=f"a1{moves[length]}"), name)
        there: list[str] = []

        def push(name: str = name, there: list[str] = there) -> None:
            there += statements(theirs, lambda: mine.exchange.push(theirs, name))

        here = statements(mine, push)
        counts.append((len(here), len(there)))
    assert counts[0] == counts[1]


def test_a_ruleset_can_get_another_name(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    mine.load(game(N="b1c3"), "game")
    [result] = mine.exchange.push(theirs, "game", to="team/game")
    assert (result.name, result.to, result.status) == ("game", "team/game", "new")
    assert lineages(theirs, "team/game") == lineages(mine, "game")
    assert [each.name for each in theirs.revisions()] == ["team/game"]
    [result] = mine.exchange.pull(theirs, "team/game", to="game")
    assert result.status == "unchanged"
    mine.load(game(N="b1c3"), "other")
    with pytest.raises(InputError, match="a new name is for one ruleset, and there are 2"):
        mine.exchange.push(theirs, ["game", "other"], to="team/game")


def test_a_dry_run_says_what_would_travel_and_stores_nothing(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    mine.load(game(**BOTH, N="b1c3"), "game")
    before = holds(theirs)
    [planned] = mine.exchange.push(theirs, dry_run=True)
    assert holds(theirs) == before
    assert mine.exchange.push(theirs) == (planned,)
    mine.load(game(**BOTH, N="b1a3"), "game")
    [planned] = mine.exchange.push(theirs, dry_run=True)
    assert (planned.status, planned.revisions, planned.pieces, planned.listed, planned.head) == (
        "forwarded",
        1,
        1,
        3,
        2,
    )
    assert mine.exchange.push(theirs) == (planned,)
    mine.load(game(**BOTH, N="b1d2"), "game")
    theirs.load(game(**BOTH, N="b1c3"), "game")
    with pytest.raises(DivergedError, match="gone apart"):
        mine.exchange.push(theirs, dry_run=True)
    [planned] = mine.exchange.push(theirs, dry_run=True, merge=True)
    assert (planned.status, planned.revisions, planned.head) == ("merged", 2, 5)


def test_progress_is_told_of_every_piece(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    mine.load(game(**BOTH, N="b1c3"), "game")
    told: list[tuple[str, int, int]] = []
    mine.exchange.push(theirs, progress=lambda *each: told.append(each))
    assert {name for name, _, _ in told} == {"game"}
    assert sum(come for _, come, _ in told) == sum(to_come for _, _, to_come in told) == 3


# --- histories that went apart ---


Parents = dict[str, tuple[str, ...]]


def steps(parents: Parents, names: Sequence[str]) -> list[Step]:
    result = []
    for number, name in enumerate(names, start=1):
        parent, merged = (*parents[name], None, None)[:2]
        result.append(Step(name, f"d{name}", parent, merged, number))
    return result


def back(parents: Parents, name: str) -> set[str]:
    return {name}.union(*(back(parents, parent) for parent in parents[name]))


def two_histories(dice: random.Random) -> tuple[Parents, list[str], list[str]]:
    """Two that grow and now and then take what the other has, as far as it does not have it."""
    parents: Parents = {}
    sides: list[list[str]] = [[], []]
    for number in range(dice.randint(1, 12)):
        name, side = f"r{number}", dice.randrange(2)
        own, other = sides[side], sides[1 - side]
        if other and dice.random() < 0.5:
            head, theirs = own[-1:], dice.choice(other[-2:])  # their head, or what it was a little before
            own += [each for each in other if each in back(parents, theirs) and each not in own]
            if not head or head[0] in back(parents, theirs) or theirs in back(parents, head[0]):
                own.sort(key=lambda each: len(back(parents, each)))
                continue
            parents[name] = (head[0], theirs)
        else:
            parents[name] = tuple(own[-1:])
        own.append(name)
    return parents, sides[0], sides[1]


def test_how_two_histories_stand_to_each_other_is_seen_from_their_lineages() -> None:
    dice = random.Random(5)
    kinds: Counter[str] = Counter()
    for _ in range(1000):
        parents, here, coming = two_histories(dice)
        if not coming:
            continue
        relation = relate(steps(parents, here), steps(parents, coming))
        head = coming[-1]
        kinds[relation.kind] += 1
        kinds["crosswise"] += len(relation.bases) > 1
        if head in here:
            assert relation.kind == "same"
            continue
        missing = [name for name in coming if name in back(parents, head) - set(here)]
        assert [step.lineage for step in relation.missing] == missing
        assert relation.needed == ()
        if not here or here[-1] in back(parents, head):
            assert relation.kind == "forward"
        else:
            common = back(parents, head) & back(parents, here[-1])
            newest = {name for name in common if not any(name in back(parents, each) - {each} for each in common)}
            assert relation.kind == "apart"
            assert {step.lineage for step in relation.bases} == newest
            assert not relation.by_content
    assert min(kinds[kind] for kind in ("same", "forward", "apart", "crosswise")) > 0, kinds


def test_what_a_history_goes_back_to_and_nobody_has_is_needed() -> None:
    coming = [Step("c", "1", "a", "b", 1), Step("d", "2", "c", None, 2)]
    assert relate([], coming).needed == ("a", "b")
    here = [Step("a", "3", None, None, 1)]
    assert relate(here, coming).needed == ("b",)
    relation = relate([*here, Step("b", "4", "a", None, 2)], coming)
    assert (relation.kind, relation.needed, [step.lineage for step in relation.missing]) == ("forward", (), ["c", "d"])


def went_apart(mine: Store, theirs: Store, ours: Json, other: Json) -> tuple[Revision, Revision, Revision]:
    base = mine.load(game(**BOTH, N="b1c3", B="c1f4", R="a1a4"), "game", author="Ann")
    mine.exchange.push(theirs)
    return base, mine.load(ours, "game", author="Ann"), theirs.load(other, "game", author="Bob")


def test_histories_that_went_apart_are_refused_with_what_each_side_changed(pair: tuple[Store, Store]) -> None:
    mine, theirs = pair
    went_apart(
        mine,
        theirs,
        game(**BOTH, N="b1a3", B="c1f4", R="a1a4"),
        game(**BOTH, N="b1c3", B="c1f4", R="a1a5"),
    )
    before = holds(mine), holds(theirs)
    for is_push in (True, False):
        with pytest.raises(DivergedError, match="gone apart since game@1; nothing was stored: --merge makes") as caught:
            (mine.exchange.push if is_push else mine.exchange.pull)(theirs)
        assert caught.value.exit_code == 3
        merge = caught.value.merge
        assert merge is not None
        assert [change.piece for change in merge.ours.pieces] == ["C:N"]
        assert [change.piece for change in merge.theirs.pieces] == ["C:R"]
    assert (holds(mine), holds(theirs)) == before
    assert sound(mine, theirs)


@pytest.mark.parametrize("way", ["push", "pull"])
def test_what_both_sides_changed_elsewhere_is_merged_if_it_is_asked_for(pair: tuple[Store, Store], way: str) -> None:
    mine, theirs = pair
    base, ours, other = went_apart(
        mine,
        theirs,
        game(**BOTH, N="b1a3", B="c1f4", R="a1a4"),
        game(**BOTH, N="b1c3", B="c1f4", R="a1a5", Q="d1d4"),
    )
    [result] = (
        mine.exchange.push(theirs, merge=True, author="Cy", message="both")
        if way == "push"
        else mine.exchange.pull(theirs, merge=True, author="Cy", message="both")
    )
    assert (result.status, result.revisions, result.pieces, result.head) == ("merged", 2, 1 if way == "push" else 2, 4)
    where, lagging = (theirs, mine) if way == "push" else (mine, theirs)
    made = where.ruleset("game").revision
    assert (made.number, made.author, made.message) == (4, "Cy", "both")
    # The head that was there is the parent, the one that came is merged with it.
    assert [row[8:] for row in history(where, "game")][-1] == (
        (other.lineage, ours.lineage) if way == "push" else (ours.lineage, other.lineage)
    )
    assert where.ruleset("game").document().data() == game(**BOTH, N="b1a3", B="c1f4", R="a1a5", Q="d1d4")
    # Now the other one follows, and both have one history.
    [result] = mine.exchange.pull(theirs) if way == "push" else mine.exchange.push(theirs)
    assert result.status == "forwarded"
    assert lagging.ruleset("game").revision.lineage == made.lineage
    assert set(lineages(mine, "game")) == set(lineages(theirs, "game")) >= {base.lineage, ours.lineage, other.lineage}
    assert mine.exchange.push(theirs)[0].status == mine.exchange.pull(theirs)[0].status == "unchanged"
    assert sound(mine, theirs)


def test_an_entry_that_was_changed_in_two_ways_is_never_merged(pair: tuple[Store, Store]) -> None:
    mine, theirs = pair
    old = game(**BOTH, N="b1c3")
    mine.load(old, "game")
    mine.exchange.push(theirs)
    entries = {}
    for store, state in ((mine, "enemy"), (theirs, "C:A")):
        changed = json.loads(json.dumps(old))
        changed["C:N"]["b1"]["c3"][0]["must"]["c3"] = state
        entries[state] = store.load(changed, "game")
    before = holds(mine), holds(theirs)
    for is_push in (True, False):
        with pytest.raises(DivergedError, match="game: 1 conflict between the two histories") as caught:
            (mine.exchange.push if is_push else mine.exchange.pull)(theirs, merge=True)
        assert caught.value.merge is not None
        [conflict] = caught.value.merge.conflicts
        assert conflict.path == ("C:N", "b1", "c3")
        assert [dict(side[0].must) for side in (conflict.ours, conflict.theirs) if isinstance(side, tuple)] == [
            {"c3": "enemy"},
            {"c3": "C:A"},
        ]
    with pytest.raises(DivergedError, match="1 conflict: --merge cannot make one of both"):
        mine.exchange.push(theirs)
    assert (holds(mine), holds(theirs)) == before
    # The cure that the message tells.
    mine.load(theirs.ruleset("game").document(), "game")
    assert mine.exchange.push(theirs)[0].status == "merged"
    mine.exchange.pull(theirs)
    mine.load(old | game(Q="d1d4"), "game")
    assert mine.exchange.push(theirs)[0].status == "forwarded"
    assert sound(mine, theirs)


def test_two_that_loaded_the_same_get_one_history_by_themselves(pair: tuple[Store, Store]) -> None:
    mine, theirs = pair
    mine.load(game(**BOTH), "game", author="Ann")
    theirs.load(game(**BOTH), "game", author="Bob")
    [result] = mine.exchange.push(theirs)
    assert (result.status, result.revisions, result.pieces) == ("merged", 2, 0)
    assert theirs.ruleset("game").revision.message is not None
    assert exports(theirs, "game") == [mine.ruleset("game@1").export()] * 3
    assert mine.exchange.pull(theirs)[0].status == "forwarded"
    assert sound(mine, theirs)


@pytest.mark.parametrize("changed", ["source", "destination"])
def test_where_one_side_has_changed_nothing_since_the_content_that_both_had_nothing_is_asked(
    two: tuple[Store, Store], changed: str
) -> None:
    mine, theirs = two
    for store, author in ((mine, "Ann"), (theirs, "Bob")):
        store.load(game(**BOTH, N="b1c3"), "game", author=author)
    changing = mine if changed == "source" else theirs
    changing.load(game(**BOTH, N="b1a3"), "game")
    [result] = mine.exchange.push(theirs)
    assert result.status == "merged"
    assert theirs.ruleset("game").document().data() == game(**BOTH, N="b1a3")
    mine.exchange.pull(theirs)
    assert mine.ruleset("game").revision.lineage == theirs.ruleset("game").revision.lineage
    assert sound(mine, theirs)


def test_two_that_began_with_the_same_content_are_merged_from_there(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    for store, author, change in ((mine, "Ann", {"N": "b1a3"}), (theirs, "Bob", {"R": "a1a5"})):
        store.load(game(**BOTH, N="b1c3", R="a1a4"), "game", author=author)
        store.load(game(**BOTH, **{"N": "b1c3", "R": "a1a4"} | change), "game", author=author)
    with pytest.raises(DivergedError, match="have only the content of game@1 in common"):
        mine.exchange.push(theirs)
    mine.exchange.push(theirs, merge=True)
    assert theirs.ruleset("game").document().data() == game(**BOTH, N="b1a3", R="a1a5")
    assert sound(theirs)


def test_two_that_have_nothing_in_common_are_merged_only_if_it_is_asked_for(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    mine.load(game(**BOTH, N="b1c3"), "game")
    theirs.load(game(**BOTH, R="a1a4"), "game")
    with pytest.raises(DivergedError, match="have nothing in common"):
        mine.exchange.push(theirs)
    mine.exchange.push(theirs, merge=True)
    assert set(theirs.ruleset("game").document().data()) == {"C:A", "C:Z", "C:N", "C:R"}
    assert sound(theirs)


@pytest.mark.parametrize(("undone", "prefer"), [(False, None), (True, "ours"), (True, "theirs")])
def test_histories_that_were_merged_crosswise_are_merged_where_both_merges_lead_to_the_same_or_one_side_decides(
    two: tuple[Store, Store], undone: bool, prefer: Any
) -> None:
    mine, theirs = two
    ours, other = game(**BOTH, N="b1a3", R="a1a4"), game(**BOTH, N="b1c3", R="a1a5")
    went_apart(mine, theirs, ours, other)
    with Store.open("sqlite://") as mine_before, Store.open("sqlite://") as theirs_before:
        mine_before.exchange.pull(mine)
        theirs_before.exchange.pull(theirs)
        mine.exchange.pull(theirs_before, merge=True)
        theirs.exchange.pull(mine_before, merge=True)
    mine.load(game(**BOTH, N="b1c3" if undone else "b1a3", R="a1a5", B="c1f4"), "game")
    theirs.load(game(**BOTH, N="b1a3", R="a1a5", Q="d1d4"), "game")
    if undone:  # by one of the merges only this side changed the knight, by the other only that side did
        crosswise = "game: 2 conflicts between two histories that were merged crosswise before; nothing was stored: "
        with pytest.raises(DivergedError, match=f"^{crosswise}--ours or --theirs decides them$") as caught:
            mine.exchange.push(theirs, merge=True)
        assert [each.path for each in caught.value.merge.conflicts] == [("C:N", "b1", to) for to in ("a3", "c3")]
        with pytest.raises(
            DivergedError, match=r"2 conflicts: --merge cannot make one of both without --ours or --theirs$"
        ):
            mine.exchange.push(theirs)
        [done] = mine.exchange.push(theirs, merge=True, prefer=prefer)
        assert [each.path for each in done.decided] == [("C:N", "b1", to) for to in ("a3", "c3")]
        assert str(done.note).startswith(f"decided for {prefer}, 2 conflicts: ")
        knight = "b1c3" if prefer == "ours" else "b1a3"
        assert theirs.ruleset("game").document().data().items() == (
            game(**BOTH, N=knight, R="a1a5", Q="d1d4", B="c1f4").items()
        )
    else:
        mine.exchange.push(theirs, merge=True)
        assert theirs.ruleset("game").document().data().items() == (
            game(**BOTH, N="b1a3", R="a1a5", Q="d1d4", B="c1f4").items()
        )
    assert sound(mine, theirs)


def test_what_is_decided_between_crosswise_merges_is_listed_once(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    went_apart(mine, theirs, game(**BOTH, N="b1a3", R="a1a4"), game(**BOTH, N="b1c3", R="a1a5"))
    with Store.open("sqlite://") as mine_before, Store.open("sqlite://") as theirs_before:
        mine_before.exchange.pull(mine)
        theirs_before.exchange.pull(theirs)
        mine.exchange.pull(theirs_before, merge=True)
        theirs.exchange.pull(mine_before, merge=True)
    # Since one of the merges both sides changed the knight's move, since the other only that side did.
    mine.load(game(**BOTH, R="a1a5", B="c1f4"), "game")
    theirs.load(game(**BOTH, R="a1a5") | {"C:N": {"b1": {"a3": [{"must": {"a3": "enemy"}, "diff": {}}]}}}, "game")
    [done] = mine.exchange.push(theirs, merge=True, prefer="ours")
    assert [each.path for each in done.decided] == [("C:N", "b1", "a3")]
    assert done.note == "decided for ours, 1 conflict: C:N b1 a3"
    assert theirs.ruleset("game").document().data().items() == game(**BOTH, R="a1a5", B="c1f4").items()
    assert sound(mine, theirs)


def test_a_merge_of_many_histories_ends_in_one(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    dice = random.Random(11)
    with ExitStack() as stack:
        hub, *laptops = new_stores(request, tmp_path, ("postgres", "sqlite", "sqlite", "sqlite"), stack)
        hub.load(game(**BOTH), "game")
        expected = game(**BOTH)
        for laptop in laptops:
            laptop.exchange.pull(hub)
        for number in range(12):
            laptop = dice.choice(laptops)
            change = game(**{"BCDEFG"[number // 2]: f"b1{'cdefg'[number % 5]}{number // 2 + 2}"})
            expected |= change
            laptop.exchange.pull(hub, merge=True)
            laptop.load(laptop.ruleset("game").document().data() | change, "game")
            if dice.random() < 0.7:
                laptop.exchange.push(hub, merge=True)
        for laptop in (*laptops, *laptops):
            laptop.exchange.pull(hub, merge=True)
            laptop.exchange.push(hub, merge=True)
        for laptop in laptops:
            laptop.exchange.pull(hub)
        heads = {store.ruleset("game").revision.lineage for store in (hub, *laptops)}
        assert len(heads) == 1
        found = hub.ruleset("game").document().data()
        assert found.keys() == expected.keys()
        assert sound(hub, *laptops)


# --- refusals ---


def test_a_ruleset_that_is_hidden_there_is_refused(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    mine.load(game(**BOTH), "game")
    mine.exchange.push(theirs)
    theirs.delete("game")
    before = holds(theirs)
    for document in (BOTH, {**BOTH, "N": "b1c3"}):
        mine.load(game(**document), "game")
        with pytest.raises(StoreError, match=r"game: it was deleted there and is hidden: `ggn-store restore game`"):
            mine.exchange.push(theirs)
    assert holds(theirs) == before
    with pytest.raises(UnknownNameError, match="the ruleset game was deleted"):
        mine.exchange.pull(theirs, "game")
    assert mine.exchange.pull(theirs) == ()


def test_a_ruleset_that_is_retired_there_is_refused(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    mine.load(game(**BOTH), "game")
    mine.exchange.push(theirs)
    theirs.states.set("game", "retired")
    assert mine.exchange.push(theirs)[0].status == "unchanged"
    mine.load(game(**BOTH, N="b1c3"), "game")
    with pytest.raises(StoreError, match="no revisions; nothing was stored: `ggn-store state game active` brings it"):
        mine.exchange.push(theirs)


def test_what_is_pushed_and_pulled_goes_through_the_gate(pair: tuple[Store, Store]) -> None:
    mine, theirs = pair
    mine.load(game(**BOTH), "team/game")
    mine.exchange.push(theirs)
    theirs.policies.set("team", lint=["never-holds"])
    doubtful = game(**BOTH)
    piece, rules = next(iter(doubtful.items()))
    source, destinations = next(iter(rules.items()))
    next(iter(destinations.values()))[0]["must"][source] = "empty"  # where the piece itself stands
    mine.load({piece: rules}, "team/game")
    before = holds(theirs)
    ways: tuple[Callable[[], object], ...] = (lambda: mine.exchange.push(theirs), lambda: theirs.exchange.pull(mine))
    for moved in ways:
        with pytest.raises(GateError, match="team/game: refused by the policy of team, 1 finding"):
            moved()
    assert holds(theirs) == before
    theirs.policies.set("team", review=1)
    with pytest.raises(StoreError, match="approved"):
        mine.exchange.push(theirs)
    theirs.policies.set("team")
    assert mine.exchange.push(theirs)[0].head == 2


def test_a_ruleset_that_is_not_there_is_named_with_its_store(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    mine.load(game(**BOTH), "game")
    with pytest.raises(UnknownNameError, match=f'{theirs.session.database.name}.*the store has no ruleset "game"'):
        mine.exchange.pull(theirs, "game")
    assert [each.status for each in mine.exchange.push_each(theirs, ["none", "game"])] == ["failed", "new"]


def test_a_store_is_no_remote_of_itself(pair: tuple[Store, Store]) -> None:
    mine, _ = pair
    mine.load(game(**BOTH), "game")
    address = mine.session.database.url.render_as_string(hide_password=False)
    for remote in (mine, address):
        with pytest.raises(StoreError, match="this is one store, with itself as the remote"):
            mine.exchange.push(remote)


def test_a_store_that_is_behind_is_told_to_be_upgraded(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    mine.load(game(**BOTH), "game")
    with theirs.session.database.writing() as connection:
        connection.execute(text("UPDATE ggn_store_version SET version_num = '0002'"))
    address = theirs.session.database.url.render_as_string(hide_password=False)
    for attempt in (mine.exchange.push, mine.exchange.pull):
        with pytest.raises(StoreVersionError, match=r"the store is behind.* run `ggn-store --db .* db upgrade`"):
            attempt(address)


def test_a_remote_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with Store.open("sqlite://") as mine:
        mine.load(game(**BOTH), "game")
        with pytest.raises(StoreError, match="there is no store here: see that the address of the remote is right"):
            mine.exchange.push(str(tmp_path / "nothing.db"))
    assert list(tmp_path.iterdir()) == []


TAMPERING: Mapping[str, tuple[str, str]] = {
    "the message": ("UPDATE revision SET message = 'other' WHERE number = 1", "do not give its lineage"),
    "the author": ("UPDATE revision SET author = 'Mallory' WHERE number = 2", "do not give its lineage"),
    "the time": ("UPDATE revision SET created_at = '2020-01-01 00:00:00.000000'", "do not give its lineage"),
    "the lineage": (f"UPDATE revision SET lineage = '{'0' * 64}' WHERE number = 2", "do not give its lineage"),
    "the digest": (f"UPDATE revision SET digest = '{'0' * 64}' WHERE number = 1", "do not give its digest"),
    "the envelope": ('UPDATE revision SET envelope = \'{"title":"x"}\'', "do not give its digest"),
    "the dialect": ("UPDATE revision SET dialect = 'must-deny'", "do not give its digest"),
    "the order of pieces": (
        "UPDATE revision_piece SET ordinal = -ordinal WHERE revision_id = (SELECT max(id) FROM revision)",
        "do not give its digest",
    ),
    "a parent": ("UPDATE revision SET parent_id = NULL", "do not give its lineage"),
    "a condition": ("UPDATE condition SET state = 'enemy'", "do not give its digest"),
    "an effect": ("UPDATE effect SET becomes = 'C:Q' WHERE becomes IS NOT NULL", "do not give its digest"),
    "a destination": ("UPDATE destination SET square = 9", "do not give its digest"),
    "a square": ("UPDATE square SET label = 'z9' WHERE number = 0", "do not give its digest"),
    "an identifier": ("UPDATE piece SET identifier = 'C:X' WHERE identifier = 'C:N'", "do not give its digest"),
}


@pytest.mark.parametrize("what", TAMPERING)
def test_what_does_not_give_its_digest_is_refused_by_name(two: tuple[Store, Store], what: str) -> None:
    theirs, mine = two
    theirs.load(game(N="b1c3", R="a1a4"), "game", message="first")
    theirs.load(game(N="b1c3", R="a1a5"), "game", message="second")
    statement, said = TAMPERING[what]
    with theirs.session.database.writing() as connection:
        drop_guards(connection)
        connection.execute(text(statement))
    with pytest.raises(StoreError, match=said) as caught:
        mine.exchange.pull(theirs)
    assert str(theirs.session.database) in str(caught.value)
    assert "nothing of game was stored" in str(caught.value)
    assert set(holds(mine).values()) == {0}
    assert mine.load(game(N="b1c3"), "game").number == 1


def test_one_ruleset_that_is_refused_does_not_keep_the_others(two: tuple[Store, Store]) -> None:
    theirs, mine = two
    for name in ("a", "b", "c"):
        theirs.load(game(**BOTH, N="b1c3"), name, message=name)
    with theirs.session.database.writing() as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE revision SET author = 'Mallory' WHERE message = 'b'"))
    assert [(each.name, each.status) for each in mine.exchange.pull_each(theirs)] == [
        ("a", "new"),
        ("b", "failed"),
        ("c", "new"),
    ]
    assert [each.name for each in mine.revisions()] == ["a", "c"]
    assert sound(mine)


# --- tags ---


def test_tags_travel_only_if_they_are_asked_for_and_keep_their_history(pair: tuple[Store, Store]) -> None:
    mine, theirs = pair
    mine.load(game(**BOTH, N="b1c3"), "game")
    mine.load(game(**BOTH, N="b1a3"), "game")
    tag(mine, "game", "old", 1)
    tag(mine, "game", "stable", 1)
    tag(mine, "game", "gone", 1)
    tag(mine, "game", "gone", None)
    mine.exchange.push(theirs)
    assert tags(theirs, "game") == []
    [result] = mine.exchange.push(theirs, tags=True)
    assert (result.status, result.tags) == ("unchanged", ("old", "stable"))
    assert tags(theirs, "game") == [("old", 1, 1, "Tess", "tried"), ("stable", 1, 1, "Tess", "tried")]
    tag(mine, "game", "stable", 2)
    tag(theirs, "game", "gone", 2)
    [result] = mine.exchange.push(theirs, tags=True)
    assert result.tags == ("stable",)
    assert tags(theirs, "game")[-1] == ("stable", 2, 2, "Tess", "tried")
    assert theirs.ruleset("game:gone").revision.number == 2
    assert mine.exchange.push(theirs, tags=True)[0].tags == ()
    assert sound(theirs)


def test_a_tag_that_a_pull_moves_back_has_that_move_as_its_newest(two: tuple[Store, Store]) -> None:
    mine, theirs = two
    mine.load(game(**BOTH, N="b1c3"), "game")
    mine.load(game(**BOTH, N="b1a3"), "game")
    theirs.exchange.pull(mine)
    mine.tags.set("game@1", "stable", author="Ann")
    mine.tags.set("game@1", "old", author="Ann")
    theirs.tags.set("game@2", "stable", author="Bob")  # after Ann's
    theirs.exchange.pull(mine, tags=True)
    assert theirs.ruleset("game:stable").revision.number == 1
    assert [(each.author, each.revision) for each in theirs.tags.log("game", "stable")] == [("Ann", 1), ("Bob", 2)]
    assert [(each.name, each.number) for each in theirs.tags.log("game")] == [("old", 1), ("stable", 2), ("stable", 1)]
    assert theirs.tags.log("*") == theirs.tags.log("game")


# --- several at once ---


def test_of_two_that_push_at_once_one_is_first_and_the_other_is_told(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        hub, ann, bob = new_stores(request, tmp_path, ("postgres", "sqlite", "postgres"), stack)
        hub.load(game(**BOTH, N="b1c3", R="a1a4"), "game")
        for store, change in ((ann, {"N": "b1a3", "R": "a1a4"}), (bob, {"N": "b1c3", "R": "a1a5"})):
            store.exchange.pull(hub)
            store.load(game(**BOTH, **change), "game")
        lock, rounds = hub.session.database.lock_pieces, list[str]()

        def let_bob_be_first(connection: Connection, alone: bool) -> None:
            if not rounds:
                rounds.append("Bob")
                assert bob.exchange.push(hub)[0].status == "forwarded"
            lock(connection, alone)

        monkeypatch.setattr(hub.session.database, "lock_pieces", let_bob_be_first)
        with pytest.raises(DivergedError, match="gone apart since game@1"):
            ann.exchange.push(hub)
        assert lineages(hub, "game") == lineages(bob, "game")
        bob.load(game(**BOTH, N="b1c3", R="a1a6"), "game")
        rounds.clear()  # and now Ann finds that out when she has worked out what comes of hers and Bob's first change
        [result] = ann.exchange.push(hub, merge=True)
        assert (result.status, result.head) == ("merged", 5)
        assert hub.ruleset("game").document().data() == game(**BOTH, N="b1a3", R="a1a6")
        assert sound(hub)


def test_who_was_overtaken_once_keeps_others_waiting(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        hub, ann = new_stores(request, tmp_path, ("postgres", "sqlite"), stack)
        hub.load(game(**BOTH), "game")
        ann.exchange.pull(hub)
        ann.load(game(**BOTH, N="b1c3"), "game")
        lock, holders, loaded = hub.session.database.lock_pieces, list[Connection](), list[str]()
        with Store.open(hub.session.database.url.render_as_string(hide_password=False)) as bob:

            def let_bob_be_first(connection: Connection, alone: bool) -> None:
                if connection not in holders and len(loaded) < 5:
                    loaded.append(f"R{len(loaded)}")
                    bob.load(game(**BOTH, R=f"a1a{3 + len(loaded)}"), "game")
                lock(connection, alone)
                holders.append(connection)

            monkeypatch.setattr(hub.session.database, "lock_pieces", let_bob_be_first)
            [result] = ann.exchange.push(hub, merge=True)
        assert (result.status, len(loaded)) == ("merged", 2)
        assert hub.ruleset("game").document().data() == game(**BOTH, N="b1c3", R="a1a5")
        assert sound(hub)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("merge", [False, True])
def test_of_many_that_push_at_once_none_undoes_another(
    database: str, merge: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    letters = "BCDEF"
    with ExitStack() as stack:
        hub, *stores = new_stores(request, tmp_path, (database, *["sqlite"] * len(letters)), stack)
        base = hub.load(game(**BOTH), "game")
        for store, letter in zip(stores, letters, strict=True):
            store.exchange.pull(hub)
            store.load(game(**BOTH, **{letter: "b1c3"}), "game")
        barrier = threading.Barrier(len(stores))
        results: dict[int, Transferred] = {}

        def push(number: int) -> None:
            barrier.wait()
            [results[number]] = stores[number].exchange.push_each(hub, merge=merge)

        threads = [threading.Thread(target=push, args=[number]) for number in range(len(stores))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        done = [number for number, result in results.items() if result.error is None]
        failed = [result.error for result in results.values() if result.error is not None]
        assert all(isinstance(error, DivergedError) for error in failed), failed
        assert len(done) == (len(stores) if merge else 1)
        pieces = set(hub.ruleset("game").document().data())
        assert pieces == {"C:A", "C:Z", *(f"C:{letters[number]}" for number in done)}
        assert {base.lineage, *(lineages(stores[number], "game")[-1] for number in done)} <= set(lineages(hub, "game"))
        assert sound(hub)
