"""Addresses of pages."""

from __future__ import annotations

import functools
from urllib.parse import quote, urlencode

# What stands for itself in a path: it is of names, revisions, tags, digests.
_SAFE = "/@:+,"
Value = str | int | bool | None | tuple[str, ...]


def to(page: str, reference: str | None = None, /, **parameters: Value) -> str:
    """The address of a page, of what a reference names; parameters that say nothing are left out."""
    path = page if reference is None else f"{page}/{quote(reference, safe=_SAFE)}"
    # What ends so is asked for as JSON.
    if reference is not None and reference.endswith(".json"):
        path = f"{path[: -len('.json')]}%2Ejson"
    pairs = [_written(name.rstrip("_"), value) for name, value in parameters.items() if value not in (None, False, "")]
    query = "&".join(filter(None, pairs))
    return f"{path}?{query}" if query else path


@functools.lru_cache(maxsize=1_024)  # of a page, most addresses differ in one of their parameters
def _written(name: str, value: Value) -> str:
    values = value if isinstance(value, tuple) else ("1" if value is True else str(value),)
    return urlencode([(name, each) for each in values])
