"""The page of SQL: answers in all formats."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from ggn_store import Store
from tests.support.web import client

PIECES = "SELECT ruleset, piece, side, possibilities FROM v_pieces"


@pytest.fixture
def found(filled: str) -> Iterator[tuple[TestClient, list[dict[str, Any]]]]:
    """The pages, and the rows that the query answers."""
    with Store.open(filled) as store, client(store) as pages:
        yield pages, store.sql(PIECES).data()


def test_an_answer_is_a_parquet_file_where_the_extra_is_installed(
    found: tuple[TestClient, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, rows = found
    answer = pages.get(f"/sql?{urlencode({'query': PIECES, 'format': 'parquet'})}")
    assert pq.read_table(BytesIO(answer.content)).to_pylist() == rows
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    assert answer.headers["content-disposition"] == 'attachment; filename="answer.parquet"'
    page = f"/sql?{urlencode({'query': PIECES})}"
    assert "format=parquet" in pages.get(page).text
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find_spec(name))
    assert "format=parquet" not in pages.get(page).text
