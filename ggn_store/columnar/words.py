"""Words of lanes and of sights: for each start of many positions which of its facts are true, a bit for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

# The bytes of the words that bits are packed into.
_SIZES: Final = (1, 2, 4, 8)
# Tests of facts that are made at once, each a bit of a byte.
_BITS: Final = 8


class Words:
    """Makes the words of lanes: those of a start follow each other, and of each its facts are given by number."""

    def __init__(self, np: Any, facts: FactTable, starts: tuple[Any, int], lanes: tuple[Any, Any]) -> None:
        """Of facts of which the last is filler, the start of each lane and how many there are, facts and their lanes.

        Lanes are in the order of starts, facts in that of lanes.
        """
        self._np = np
        self._facts = facts
        of_lane, count = starts
        begins = np.searchsorted(of_lane, np.arange(count + 1))
        self._first_lane = begins[:-1].astype(np.int32)
        self._lanes = np.diff(begins)
        self._fact, of_fact = lanes
        self._first_fact = np.searchsorted(of_fact, np.arange(len(of_lane) + 1))
        self._looks = _Padded(np, np.diff(self._first_fact), self._fact, facts.count - 1)

    def of(self, position: Any, start: Any, codes: Any) -> tuple[Any, Any, Any]:
        """The positions and lanes of starts, with the words of these; see `FactTable.of` for the codes."""
        np = self._np
        parts = [(position, self._first_lane[start])]
        more = np.flatnonzero(self._lanes[start] > 1)
        while len(more):
            parts.append((position[more], self._first_lane[start[more]] + np.int32(len(parts))))
            more = more[self._lanes[start[more]] > len(parts)]
        position, lane = map(np.concatenate, zip(*parts, strict=True)) if len(parts) > 1 else parts[0]
        words = np.zeros(len(lane), np.int64)
        board = position * np.int32(self._facts.count)
        facts = self._facts.of(codes).reshape(-1)
        for rows, size in self._looks.by_size(lane):
            asked = self._looks.take(lane[rows], size)
            asked += board[rows, None]
            # All are packed at once, since numpy packs row by row slowly.
            words[rows] = np.packbits(facts.take(asked).reshape(-1), bitorder="little").view(f"<u{size}")
        return position, lane, words

    def place(self, lane: Any, bit: Any) -> Any:
        """The squares of facts about one."""
        return self._facts.places[self._fact[self._first_fact[lane] + bit]]


class _Padded:
    """Lists of numbers, one for each key, filled up to 8, 16, 32 or 64; a table for those of each size."""

    def __init__(self, np: Any, lengths: Any, values: Any, filler: int) -> None:
        self._np = np
        self._bytes = np.array([0, 1, 2, 4, 4, 8, 8, 8, 8], np.uint8)[-(-lengths // 8)]
        self._rows = np.zeros(len(lengths), np.int64)
        self._tables = {}
        ends = np.cumsum(lengths)
        for keys, size in self.by_size(np.arange(len(lengths))):
            table = np.full((len(keys), 8 * size), filler, np.int32)
            for row, key in enumerate(keys.tolist()):
                table[row, : lengths[key]] = values[ends[key] - lengths[key] : ends[key]]
            self._rows[keys] = np.arange(len(keys))
            self._tables[size] = table

    def take(self, keys: Any, size: int) -> Any:
        """The lists of some keys, which have so many bytes, as rows."""
        return self._tables[size].take(self._rows[keys], axis=0)

    def by_size(self, keys: Any) -> Iterator[tuple[Any, int]]:
        """The places of the keys whose lists have as many bytes as each other, and how many, not 0, these are."""
        np, sizes = self._np, self._bytes[keys]
        for size in _SIZES:
            places = np.flatnonzero(sizes == size)
            if len(places):
                yield places, size


class FactTable:
    """The facts of a ruleset, and which of them codes of places make true.

    Each fact is a list of tests, all of which have to be met: a place, and the codes of it that do, as bits.
    """

    def __init__(self, np: Any, facts: Sequence[Sequence[tuple[int, int]]], codes: int, places: int) -> None:
        tests = [test for fact in facts for test in fact]
        known = {passed: number for number, passed in enumerate(dict.fromkeys(passed for _, passed in tests))}
        self._np = np
        # For each code which of eight tests it passes; of each fact which byte of a position has its test, and where.
        self._passed = np.zeros((-(-len(known) // _BITS), codes), np.uint8)
        for passed, number in known.items():
            some = [code for code in range(codes) if passed >> code & 1]
            self._passed[number // _BITS, some] |= 1 << number % _BITS
        self._bytes = np.array([known[passed] // _BITS * places + place for place, passed in tests], np.int64)
        self._bit = np.array([1 << known[passed] % _BITS for _, passed in tests], np.uint8)
        self._firsts = None
        if len(tests) > len(facts):
            self._firsts = np.cumsum([0, *map(len, facts[:-1])])
        self.count = len(facts)
        self.size = max(len(tests), places * len(self._passed))
        # Of facts about one square its number.
        self.places = np.array([fact[0][0] for fact in facts], np.int64)

    def of(self, codes: Any) -> Any:
        """For each position, which has the codes of its places as a row, and each fact whether it is true: not 0."""
        np = self._np
        passed = [each.take(codes) for each in self._passed]
        found = (passed[0] if len(passed) == 1 else np.concatenate(passed, axis=1)).take(self._bytes, axis=1)
        found &= self._bit
        return found if self._firsts is None else np.logical_and.reduceat(found, self._firsts, axis=1)
