"""Rulesets of small documents that are loaded for one question."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from ggn_store import Ruleset, Store
from tests.support.strategies import DIALECTS
from tests.support.unhurried import UNHURRIED

Json = dict[str, Any]
NAMES = itertools.count()


def loaded(store: Store, document: Json) -> Ruleset:
    name = f"game-{next(NAMES)}"
    store.load(document, name)
    return store.ruleset(name)


def in_random_documents(test: Callable[..., None]) -> Callable[..., None]:
    unhurried = settings(
        UNHURRIED,
        max_examples=25,
        suppress_health_check=[*UNHURRIED.suppress_health_check, HealthCheck.function_scoped_fixture],
    )
    made: Callable[..., None] = pytest.mark.parametrize("dialect", DIALECTS)(unhurried(test))
    return made
