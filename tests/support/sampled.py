"""Of many games that are tried in the same way, every change tries some, and the long run all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(values: Iterable[Any], one_in: int = 3) -> list[Any]:
    """Values for `parametrize`, of which all but one in so many are left to the long run."""
    return [
        value if number % one_in == 0 or hasattr(value, "marks") else _later(value)
        for number, value in enumerate(values)
    ]


def _later(value: Any) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long)
