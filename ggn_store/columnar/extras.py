"""The packages of this room, which not every installation has."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from ggn_store.errors import GgnStoreError


def need(module: str, extra: str) -> Any:
    """The module, imported now; raises GgnStoreError, naming the extra to install, where it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(module, extra, str(error)) from None


def require(module: str, extra: str) -> None:
    """Raise the same where the module is not installed; it is not imported, which may take half a second."""
    if importlib.util.find_spec(module) is None:
        raise _missing(module, extra, f"No module named {module!r}")


def silent(connection: Any) -> Any:
    """A connection of DuckDB, which in a process without a script would write to standard output how far it is."""
    connection.execute("SET enable_progress_bar = false")
    return connection


def _missing(module: str, extra: str, why: str) -> GgnStoreError:
    return GgnStoreError(
        f"this needs {module.partition('.')[0]}, which cannot be imported ({why}): pip install 'ggn-store[{extra}]'"
    )
