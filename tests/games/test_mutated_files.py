"""Definitions and files of variants with accidents: each is read, or refused with a message."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ggn_store import GgnStoreError
from ggn_store.games import library
from ggn_store.games.definition import Definition, read
from ggn_store.games.fairy.variants import read_variants

BUILT_IN = Path(__file__).parents[2] / "data" / "fairy.ini"
MARKS = 'abcKQRBNPp+-*/[]{}(),0123456789"=.#^~ \té\n'


def typed(text: str, chance: random.Random) -> str:
    """A text with a few characters gone, added or changed."""
    letters = list(text)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(letters) + 1)
        letters[at : at + chance.randrange(4)] = chance.choices(MARKS, k=chance.randrange(3))
    return "".join(letters)


def edited(lines: list[str], others: list[str], chance: random.Random) -> str:
    """Lines of which a few are gone, or others' lines."""
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(lines) + 1)
        lines[at : at + chance.randrange(2)] = chance.choices([*others, typed(chance.choice(others), chance)], k=1)
    return "\n".join(lines)


def definitions(chance: random.Random, texts: list[str]) -> Callable[[], object]:
    text, lines = chance.choice(texts), [line for each in texts for line in each.splitlines()]
    mutant = typed(text, chance) if chance.random() < 0.5 else edited(text.splitlines(), lines, chance)
    return lambda: read_again(read(mutant, "mine.toml"))


def read_again(made: Definition) -> None:
    """What is stored of a definition, which may be like another one, says the same."""
    assert replace(read(str(made.text)), text=None) == replace(made, text=None)


def variants(chance: random.Random, sections: list[str]) -> Callable[[], object]:
    section = chance.choice(sections)
    options = [line for each in sections for line in each.splitlines() if "=" in line]
    name = re.split(r"[\[:\]]", section)[1]
    lines = [f"[mine:{name}]", *section.splitlines()[1:]]
    mutant = edited(lines, options, chance)
    return lambda: read_variants(mutant.encode(), "mine.ini", (), allow_host_rules=True)


def trial(make: Callable[[random.Random, list[str]], Callable[[], object]], texts: list[str], count: int) -> int:
    """How many of so many mutants were refused."""
    told = []
    for number in range(count):
        attempt = make(random.Random(number), texts)
        try:
            attempt()
        except GgnStoreError as error:
            told.append(str(error))
    assert all(told)
    return len(told)


def texts_of(kind: str) -> list[str]:
    if kind == "definitions":
        return [library.path_of(name).read_text("utf-8") for name in library.names()]
    given = Path(os.environ.get("GGN_VARIANTS_INI", BUILT_IN)).read_text("utf-8")
    return re.split(r"(?m)^(?=\[)", BUILT_IN.read_text("utf-8") + "\n" + given)[1:]


@pytest.mark.parametrize(("kind", "make"), [("definitions", definitions), ("variants", variants)])
def test_an_accident_is_refused_or_read(
    kind: str, make: Callable[[random.Random, list[str]], Callable[[], object]]
) -> None:
    refused = trial(make, texts_of(kind), 60)
    assert refused > 0 or kind == "variants"  # in variants it is sections that are refused, and the file is read
    assert refused < 60


@pytest.mark.long
@pytest.mark.parametrize(("kind", "make"), [("definitions", definitions), ("variants", variants)])
def test_thousands_of_accidents(kind: str, make: Callable[[random.Random, list[str]], Callable[[], object]]) -> None:
    trial(make, texts_of(kind), int(os.environ.get("GGN_MUTANTS", "10000")))
