"""The error of what was asked."""

from __future__ import annotations

from ggn_store.errors import GgnStoreError


class AskedError(GgnStoreError, ValueError):
    """A request asks for something in a way that no page understands; `status` is what HTTP calls that."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
