"""The page of SQL: answers in all formats, counted, narrowed and plotted."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from ggn_store import Store
from tests.support.program import Program, run
from tests.support.web import client, looked_at, own

__all__ = ["run"]

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


def test_the_columnar_copy_is_asked_where_one_is_kept(filled: str) -> None:
    with Store.open(filled) as store, client(store) as pages:
        address = f"/sql?{urlencode({'query': PIECES, 'engine': 'duckdb'})}"
        none = pages.get(address)
        assert none.status_code == 400
        assert "no columnar copy of this store is kept" in none.text
        assert "columnar copy</option>" not in pages.get("/sql").text
        rows = store.sql(PIECES, engine="duckdb").data()
        page = pages.get(address).text
        assert "columnar copy</option>" in page
        assert "engine=duckdb&amp;format=csv" in page
        assert data_of(pages, query=PIECES, engine="duckdb")["rows"] == [[*row.values()] for row in rows]


def test_examples_come_with_values_and_messages_name_what_the_page_takes(
    found: tuple[TestClient, list[dict[str, Any]]],
) -> None:
    pages, _ = found
    page = looked_at(pages.get("/sql").text)
    assert "--" not in page.text
    links = [link for link in page.links if "param=" in link]
    assert sum("param=piece%3DC%3AN&param=source%3Da1" in link for link in links) == 1
    assert all("=&" not in link and not link.endswith("%3D") for link in links)
    cut = data_of(pages, query="SELECT number FROM v_squares", limit=2)["cut"]
    assert cut.endswith("raise the limit (limit, at most 20,000)")


def data_of(pages: TestClient, **asked: Any) -> Any:
    return pages.get(f"/sql.json?{urlencode(asked, doseq=True)}").json()


@pytest.mark.both
def test_values_of_a_column_are_counted_and_lead_to_their_rows(found: tuple[TestClient, list[dict[str, Any]]]) -> None:
    pages, rows = found
    for query in (PIECES, f"{PIECES}; ", f"{PIECES} -- all of them", f"{PIECES}; -- all of them"):
        facets = data_of(pages, query=query, facet=["side", "possibilities"])["facets"]
        assert {*facets} == {"side", "possibilities"}
        for column, counts in facets.items():
            expected = Counter(row[column] for row in rows)
            assert {each["value"]: each["count"] for each in counts} == expected
            assert [each["count"] for each in counts] == sorted(expected.values(), reverse=True)
    page = looked_at(pages.get(f"/sql?{urlencode({'query': PIECES, 'facet': 'possibilities'})}").text)
    narrowed = [own(link, "/") for link in page.links if "only=" in link]
    assert len(narrowed) == len({row["possibilities"] for row in rows})
    for link in narrowed:
        answer = pages.get(link.replace("/sql?", "/sql.json?")).json()
        [count] = {row[3] for row in answer["rows"]}
        assert answer["rows"] == [[*row.values()] for row in rows if row["possibilities"] == count]
        back = next(each for each in looked_at(pages.get(link).text).links if "facet=" in each and "only=" not in each)
        assert pages.get(own(back, "/")).status_code == 200


@pytest.mark.both
def test_values_of_every_kind_narrow_an_answer(found: tuple[TestClient, list[dict[str, Any]]]) -> None:
    pages, _ = found
    query = 'SELECT 1 AS "a ""b=", \'x="y\' AS t, NULL AS n, 1.5 AS f, 0 < 1 AS truth'
    answer = data_of(pages, query=query)
    for column, value in zip(answer["columns"], answer["rows"][0], strict=True):
        only = json.dumps([column, value])
        assert data_of(pages, query=query, only=only)["rows"] == answer["rows"], only
    assert data_of(pages, query=query, only='["t", "z"]')["rows"] == []


def test_what_narrows_nothing_is_a_clear_message(found: tuple[TestClient, list[dict[str, Any]]]) -> None:
    pages, _ = found
    for wrong in ("side=first", '["side"]', '["side", {}]', '[1, "a"]', "[" * 400, '["x\\" OR 1=1 --", 1]'):
        answer = pages.get(f"/sql?{urlencode({'query': PIECES, 'only': wrong})}")
        assert answer.status_code == 400, wrong
        looked_at(answer.text)
    assert pages.get(f"/sql?{urlencode({'query': PIECES, 'facet': 'no such'})}").status_code == 400


def test_numbers_that_json_cannot_say_are_null(pages: TestClient, filled: str, run: Program) -> None:
    much = "CAST('Infinity' AS float)" if filled.startswith("postgres") else "1e308 * 10"
    query = f"SELECT {much} AS much, -{much} AS less, CAST(1.5 AS float) AS half"
    found = pages.get("/sql.json", params={"query": query})
    assert json.loads(found.text, parse_constant=refuse)["rows"] == [[None, None, 1.5]]
    counted = pages.get("/sql.json", params={"query": query, "facet": "much"})
    assert json.loads(counted.text, parse_constant=refuse)["facets"] == {"much": [{"value": None, "count": 1}]}
    assert pages.get("/sql", params={"query": query, "facet": "much"}).status_code == 200
    for form in ("json", "ndjson"):
        texts = [pages.get("/sql", params={"query": query, "format": form}).text]
        texts.append(run("--db", filled, "sql", query, "--format", form).out)
        for text in texts:
            values = json.loads(text, parse_constant=refuse)
            assert (values[0] if form == "json" else values) == {"much": None, "less": None, "half": 1.5}


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def test_two_columns_are_plotted(found: tuple[TestClient, list[dict[str, Any]]]) -> None:
    pages, rows = found
    page = pages.get(f"/sql?{urlencode({'query': 'SELECT piece, possibilities FROM v_pieces'})}").text
    looked_at(page)
    widths = [float(each) for each in re.findall(r'width="([0-9.]+)" height="16" class="value"', page)]
    numbers = [row["possibilities"] for row in rows]
    assert len(widths) == len(numbers)
    assert [round(each / max(widths), 2) for each in widths] == [round(each / max(numbers), 2) for each in numbers]
    points = pages.get(f"/sql?{urlencode({'query': 'SELECT number, file FROM v_squares'})}").text
    assert points.count("<circle") == len(data_of(pages, query="SELECT * FROM v_squares WHERE file > 0")["rows"])
    assert "<figure" not in pages.get(f"/sql?{urlencode({'query': 'SELECT ruleset, piece FROM v_pieces'})}").text
