"""Pages of stores that no test changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from ggn_store import Store
from tests.support.web import client


@pytest.fixture
def pages(filled: str) -> Iterator[TestClient]:
    """The pages of a store of small games."""
    with Store.open(filled) as store, client(store) as found:
        yield found


@pytest.fixture
def chess(library: str) -> Iterator[TestClient]:
    """The pages of a store with chess."""
    with Store.open(library) as store, client(store) as found:
        yield found
