"""Where the files that ship with the package are: migrations and the library of documents."""

from __future__ import annotations

from pathlib import Path

from ggn_store.errors import GgnStoreError

_PACKAGE = Path(__file__).resolve().parent


def directory(name: str) -> Path:
    """The directory `name` (migrations or data): inside an installed package, else beside it in a checkout."""
    for candidate in (_PACKAGE / f"_{name}", _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise GgnStoreError(f"the package's own {name} directory is missing: install ggn-store again")
