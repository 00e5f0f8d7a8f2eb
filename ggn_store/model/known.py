"""A function's values, kept by its argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Known(dict[Any, Any]):
    """What a function says of each key, kept."""

    def __init__(self, of: Callable[[Any], Any]) -> None:
        self._of = of

    def __missing__(self, key: Any) -> Any:
        found = self[key] = self._of(key)
        return found
