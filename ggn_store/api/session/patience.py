"""Trying again after an outage: a bounded number of times, with growing pauses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

Result = TypeVar("Result")
TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Patience:
    """How often something is tried that an outage ends: `tries`, with pauses in seconds that double from `first` on.

    `tell` gets the reason and the pause before each of them; `sleep` is what waits.
    """

    tries: int = TRIES
    first: float = 1.0
    longest: float = 30.0
    tell: Callable[[str], None] = lambda _: None
    sleep: Callable[[float], None] = time.sleep

    def pauses(self) -> Iterator[float]:
        """The pauses between the tries."""
        pause = self.first
        for _ in range(self.tries - 1):
            yield min(pause, self.longest)
            pause *= 2

    def run(self, work: Callable[[], Result], is_passing: Callable[[Exception], bool]) -> Result:
        """The result of `work`, or its last error; only errors that are passing are worth another try."""
        for pause in self.pauses():
            try:
                return work()
            except Exception as error:
                if not is_passing(error):
                    raise
                self.tell(f"{error}; trying again in {pause:g} s")
            self.sleep(pause)
        return work()


ONCE = Patience(tries=1)
