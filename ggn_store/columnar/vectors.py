"""Vectors of integers as arrays of numpy: see `store.sql.vectors`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ggn_store.columnar.compile import EXTRA
from ggn_store.columnar.extras import need
from ggn_store.errors import GgnStoreError
from ggn_store.store.sql.vectors import LISTS, Vectors, coded, require_places


class Arrays(Vectors):
    """Vectors as arrays of numpy."""

    def __init__(self) -> None:
        self._np = need("numpy", EXTRA)

    def numbers(self, text: str) -> Any:
        if text == "[]":
            return self.up_to(0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return self._np.fromstring(text[1:-1], self._np.int64, sep=",")
            except DeprecationWarning:
                raise ValueError("not all are whole numbers") from None

    def coded(self, text: str) -> tuple[Any, list[Any]]:
        at, different = coded(json.loads(text))
        return self._np.array(at, self._np.int64), different

    def up_to(self, count: int) -> Any:
        return self._np.arange(count)

    def each(self, function: Callable[..., Any], *vectors: Any) -> Any:
        return function(*vectors)

    def take(self, table: Sequence[int], at: Any) -> Any:
        if len(at):
            require_places(at.min(), at.max(), len(table))
        return self._np.asarray(table, self._np.int64)[at]

    def chosen(self, vector: Any, mask: Any) -> Any:
        return vector[mask != 0]

    def joined(self, first: Any, second: Any) -> Any:
        return self._np.concatenate((first, second))

    def sorted(self, vector: Any) -> Any:
        return vector if (vector[1:] >= vector[:-1]).all() else self._np.sort(vector, kind="stable")

    def same(self, first: Any, second: Any) -> bool:
        return bool(self._np.array_equal(first, second))

    def found(self, keys: Any, values: Any, wanted: Any, missing: int) -> Any:
        np = self._np
        if not len(keys):
            return np.full(len(wanted), missing)
        if not (keys[1:] > keys[:-1]).all():
            order = np.argsort(keys, kind="stable")
            keys, values = keys[order], values[order]
            if not (keys[1:] > keys[:-1]).all():
                raise ValueError("two keys are the same")
        at = np.searchsorted(keys, wanted)
        at[at == len(keys)] = 0
        return np.where(keys[at] == wanted, values[at], missing)

    def least(self, at: Any, values: Any, count: int, missing: int) -> Any:
        np = self._np
        found = np.full(count, missing)
        if len(at):
            starts = np.flatnonzero(np.concatenate(([True], at[1:] != at[:-1])))
            found[at[starts]] = np.minimum(np.minimum.reduceat(values, starts), missing)
        return found

    def bounds(self, at: Any, count: int) -> list[int]:
        found: list[int] = self._np.searchsorted(at, self._np.arange(count + 1)).tolist()
        return found

    def plain(self, vector: Any) -> list[int]:
        found: list[int] = vector.tolist()
        return found


def fastest() -> Vectors:
    """Arrays where there is numpy, else lists."""
    try:
        return Arrays()
    except GgnStoreError:
        return LISTS
