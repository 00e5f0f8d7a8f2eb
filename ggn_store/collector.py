"""Python's collector of cyclic garbage, held off while documents are loaded or checked, or moves are read.

A document is hundreds of thousands of objects without a cycle among them. The collector would look through all of
them again and again, for nothing, and take a third of the time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_holders = 0
_was_enabled = False


@contextmanager
def held_off() -> Iterator[None]:
    """Hold the collector off until the last of all threads that do is done; then it is as it was before the first."""
    global _holders, _was_enabled
    with _lock:
        if not _holders:
            _was_enabled = gc.isenabled()
            gc.disable()
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if not _holders and _was_enabled:
                gc.enable()
