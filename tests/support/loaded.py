"""Rulesets of small documents that are loaded for one question."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store import Ruleset, Store
from tests.support.databases import DATABASES
from tests.support.strategies import DIALECTS
from tests.support.unhurried import unhurried

Json = dict[str, Any]
NAMES = itertools.count()


def loaded(store: Store, document: Json) -> Ruleset:
    name = f"game-{next(NAMES)}"
    store.load(document, name)
    return store.ruleset(name)


def in_random_documents(few: int, many: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a test of a property that draws from `data`: of few documents a dialect, and of many in the long sweeps.

    If it has a store, few are tried on one of the databases.
    """

    def make(test: Callable[..., None]) -> Callable[..., None]:
        def run(examples: int, **fixtures: Any) -> None:
            unhurried(examples)(given(data=st.data())(test))(**fixtures)

        own = inspect.signature(test)
        others = [each for name, each in own.parameters.items() if name != "data"]
        examples = inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = own.replace(parameters=[*others, examples])  # type: ignore[attr-defined]
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        store = ["module_store"] if "module_store" in own.parameters else []
        cases = [
            pytest.param(
                *place, dialect, count, id="-".join((*place, dialect, *kind)), marks=[pytest.mark.long] * later
            )
            for place in ([(each,) for each in DATABASES] if store else [()])
            for number, dialect in enumerate(DIALECTS)
            for count, kind, later in (
                (few, (), place not in ((), (DATABASES[number % 2],))),
                (many, ("many",), True),
            )
        ]
        by_cases = pytest.mark.parametrize((*store, "dialect", "examples"), cases, indirect=store)
        made: Callable[..., None] = by_cases(run)
        return made

    return make
