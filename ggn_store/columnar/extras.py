"""The packages of this room, which not every installation has."""

from __future__ import annotations

import importlib
from typing import Any

from ggn_store.errors import GgnStoreError


def need(module: str, extra: str) -> Any:
    """The module, imported now; raises GgnStoreError, naming the extra to install, where it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise GgnStoreError(
            f"this needs {module.partition('.')[0]}, which cannot be imported ({error}): "
            f"pip install 'ggn-store[{extra}]'"
        ) from None
