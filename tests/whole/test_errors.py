"""Errors as values: what a pool of processes sends back says what was raised."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from ggn_store import errors, parse
from ggn_store.errors import GgnStoreError, Problem

RAISED: list[GgnStoreError] = [
    errors.UnknownNameError("no such thing"),
    errors.UnknownRulesetError("no such ruleset", "chess"),
    errors.ConversionError("some is lost", ["effects"]),
    errors.DamagedError("a row is missing"),
    errors.ConflictError("both changed it", {"merge": 1}, ["apart"]),
    errors.GateError("it breaks the rules", [Problem("one", "/a"), Problem("two")]),
    errors.DocumentError([Problem("one", "/a"), Problem("two")]),
]


@pytest.mark.parametrize("raised", RAISED, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("again", [copy.copy, lambda each: pickle.loads(pickle.dumps(each))], ids=["copied", "pickled"])
def test_an_error_stays_what_it_is(raised: GgnStoreError, again: Callable[[GgnStoreError], GgnStoreError]) -> None:
    made = again(raised)
    assert (type(made), str(made), made.args, vars(made)) == (type(raised), str(raised), raised.args, vars(raised))


def test_an_error_that_was_raised_can_be_pickled() -> None:
    with pytest.raises(errors.DocumentError) as caught:
        parse('{"C:P": 1}')
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.problems == caught.value.problems
    assert str(again) == str(caught.value)
