"""Addresses of pages."""

from __future__ import annotations

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
    query = urlencode([pair for name, value in parameters.items() for pair in _pairs(name.rstrip("_"), value)])
    return f"{path}?{query}" if query else path


def _pairs(name: str, value: Value) -> list[tuple[str, str]]:
    if isinstance(value, tuple):
        return [(name, each) for each in value]
    if value is True:
        return [(name, "1")]
    return [] if value in (None, False, "") else [(name, str(value))]
