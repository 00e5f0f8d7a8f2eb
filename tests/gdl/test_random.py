"""Random game descriptions: what they are compiled to plays as the interpreter does, or is refused with a reason.

GGN_GDL_RANDOM is how many descriptions a long run takes.
"""

import itertools
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ggn_store
from ggn_store.errors import SpecificationError
from ggn_store.gdl.check import check_specification
from ggn_store.limits import allow
from tests.oracles.gdl_interpreter import Game, Kind, Piece, Position
from tests.support.gdl_agreement import Json, Rules, chain_differences, compiled, differences, expected, of_document
from tests.support.gdl_random import PHASES, PLAYERS, RANKS, specification
from tests.support.sampled import sampled

GROUP = 10
# Those from here on are compiled in a few seconds, others in half a minute.
SOON = 30
MANY = int(os.environ.get("GGN_GDL_RANDOM", "2000"))
POSITIONS = 30
# What is read from an empty place is null, which only the compiler knows to happen.
MISSING = re.compile(r"would set (?!.* to null,)|would make a (?!.*=null)")
MOST_CHAINS = 100
# What is larger is refused: most descriptions take a second then, and none takes minutes.
SMALL = {"grounding": 10_000, "grounded-entry": 200}


def small(text: str) -> tuple[Json, dict[str, Kind]]:
    with allow(SMALL):
        return compiled(text)


def disagreement(seed: int) -> list[str] | None:
    """What the compiled description does otherwise than the interpreter; None where it is refused."""
    spec = specification(seed)
    game, chance = Game(spec), random.Random(seed)
    positions = list(itertools.islice(placements(game, chance), POSITIONS))
    try:
        document, kinds = small(json.dumps(spec))
    except ggn_store.DocumentError:
        return None
    except ggn_store.InputError:  # nothing can ever be done
        return [f"{seed}: {position} has moves" for position in positions if game.moves(position)]
    rules = Rules(str(seed), Path(), game, document, kinds)
    found: list[str] = []
    for position in positions:
        words = rules.words(position)
        found += differences((seed, words), expected(rules, position), of_document(document, *words))
    return found + chain_differences(
        rules, [each for each in positions[: POSITIONS // 3] if has_few_chains(game, each)]
    )


def has_few_chains(game: Game, position: Position) -> bool:
    """Whether they can be compared: where pieces go round in circles there are millions."""
    return len(list(itertools.islice(game.paths(position), MOST_CHAINS + 1))) <= MOST_CHAINS


def placements(game: Game, chance: random.Random) -> Iterator[Position]:
    """Positions by chance, whatever can come about in play."""
    initial = game.start()
    while True:
        board = {label: some_piece(game, chance) for label in game.topology.nodes if chance.random() < 0.6}
        state = {
            "open": chance.choice((True, False)),
            "count": chance.choice((0, 1, 2)),
            "who": chance.choice((None, *PLAYERS)),
            "mode": chance.choice(RANKS),
            "phase": chance.choice(PHASES),
            **{f"used_{player}": chance.choice((True, False)) for player in PLAYERS},
            **{f"points_{player}": chance.choice((0, 1, 2)) for player in PLAYERS},
            **{f"ally_{player}": chance.choice((None, *PLAYERS)) for player in PLAYERS},
        }
        assert state.keys() == initial.state.keys()
        # Of one kind for each player, so that the place it comes to tells what comes from the hand.
        hands = {some_piece(game, chance, player): chance.choice((1, 2)) for player in PLAYERS if chance.random() < 0.6}
        yield Position(board, state, chance.choice(PLAYERS), hands)


def some_piece(game: Game, chance: random.Random, player: str | None = None) -> Piece:
    attributes = (
        ("moved", chance.choice((True, False))),
        ("owner", player or chance.choice(PLAYERS)),
        ("rank", chance.choice(RANKS)),
    )
    return Piece(chance.choice([*game.schemas]), attributes)


def check(seeds: range) -> None:
    found = [disagreement(seed) for seed in seeds]
    assert [each for each in found if each] == []
    assert sum(each is not None for each in found) > len(found) / 2


def undeclared(seed: int) -> str:
    """A description that does not say which values its variables and attributes have.

    Each text of an effect stands nowhere else: what does not find that effect does not find its value.
    """
    spec = specification(seed)
    numbers = itertools.count()
    for action in spec["interactions"]["list"].values():
        action["effects"] = [
            re.sub(r", '(man|king)'\)", lambda found: f", '{found[1]}_{next(numbers)}')", effect)
            for effect in action["effects"]
        ]
    variables = spec["state_schema"]["global"]
    ranks = [each["attributes"]["rank"] for each in spec["entity_schemas"]["types"].values()]
    for declared in (variables["count"], variables["mode"], *ranks):
        for key in ("values", "min", "max"):
            declared.pop(key, None)
    return json.dumps(spec)


def lacking(seed: int) -> list[str]:
    """The values that the check did not find, and that actions come to when they are compiled."""
    try:
        small(undeclared(seed))
    except SpecificationError as error:
        return [f"{seed}: {each.message}" for each in error.problems if MISSING.search(each.message)]
    except ggn_store.InputError:  # nothing can ever be done
        return []
    return []


def groups(count: int) -> list[int]:
    return sorted(range(0, count * GROUP, GROUP), key=lambda first: first != SOON)


@pytest.mark.parametrize("first", sampled(groups(5), one_in=5))
def test_random_descriptions_play_as_the_interpreter_does(first: int) -> None:
    check(range(first, first + GROUP))


@pytest.mark.parametrize("first", sampled(groups(10), one_in=10))
def test_the_check_finds_each_value_that_an_action_comes_to(first: int) -> None:
    seeds = range(first, first + GROUP)
    assert all(check_specification(undeclared(seed)).is_valid for seed in seeds)
    assert [each for seed in seeds for each in lacking(seed)] == []


@pytest.mark.long
def test_many_random_descriptions_play_as_the_interpreter_does() -> None:
    check(range(MANY))
