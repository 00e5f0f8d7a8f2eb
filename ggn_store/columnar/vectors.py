"""Vectors of integers as arrays of numpy: see `store.bulk.vectors`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from ggn_store.columnar.compile import EXTRA
from ggn_store.columnar.extras import need
from ggn_store.errors import GgnStoreError
from ggn_store.store.bulk.vectors import LISTS, Vectors, coded, require_places

# Numbers that lie no farther apart are told apart without sorting them.
_FEW: Final = 1 << 16


class Arrays(Vectors):
    """Vectors as arrays of numpy."""

    def __init__(self) -> None:
        self._np = need("numpy", EXTRA)
        self._pa = need("pyarrow", EXTRA)
        self._compute = need("pyarrow.compute", EXTRA)

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
        if "\\" in text or text == "[]":
            at, different = coded(json.loads(text))
            return self._np.array(at, self._np.int64), different
        members = self._compute.split_pattern(self._pa.array([text[1:-1]]), ",").values.dictionary_encode()
        try:
            values = [json.loads(member) for member in members.dictionary.to_pylist()]
        except ValueError:  # of a comma within a text
            at, different = coded(json.loads(text))
            return self._np.array(at, self._np.int64), different
        known, different = coded(values)
        return self.take(known, members.indices.to_numpy()), different

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

    def joined(self, *vectors: Any) -> Any:
        return self._np.concatenate(vectors)

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

    def bounds(self, vector: Any, members: Any) -> Any:
        return self._np.searchsorted(vector, members)

    def spread(self, members: Sequence[int], counts: Sequence[int]) -> Any:
        return self._np.repeat(*(self._np.asarray(each, self._np.int64) for each in (members, counts)))

    def plain(self, vector: Any) -> list[int]:
        found: list[int] = vector.tolist()
        return found

    def different(self, vector: Any) -> tuple[list[int], Any]:
        np = self._np
        low, high = vector.min(), vector.max()
        if high - low > len(vector) + _FEW:
            members, at = np.unique(vector, return_inverse=True)
            return members.tolist(), at
        is_there = np.zeros(high - low + 1, bool)
        is_there[vector - low] = True
        return (np.flatnonzero(is_there) + low).tolist(), (np.cumsum(is_there) - 1)[vector - low]

    def rows(self, *vectors: Any) -> Any:
        return self._np.stack(vectors, axis=1).ravel()

    def texts(self, parts: Sequence[str], at: Any, bounds: Sequence[int]) -> list[bytes]:
        # The values of an array lie one after another.
        found = self._pa.array(parts, self._pa.large_string()).take(self._pa.array(at))
        _, offsets, values = found.buffers()
        places = (
            self._np.frombuffer(offsets, self._np.int64)[self._np.asarray(bounds)].tolist()
            if values
            else [0] * len(bounds)
        )
        text = memoryview(values or b"")
        return [bytes(text[first:last]) for first, last in pairwise(places)]


def fastest() -> Vectors:
    """Arrays where there is numpy, else lists."""
    try:
        return Arrays()
    except GgnStoreError:
        return LISTS
