"""The description of the pages is of every page, and a valid one."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from ggn_store.web.routes import PAGES


def test_every_page_is_described_with_its_parameters(pages: TestClient) -> None:
    found = pages.get("/openapi.json").json()
    assert found["openapi"].startswith("3.1")
    operations = {each["get"]["operationId"]: (path, each["get"]) for path, each in found["paths"].items()}
    assert set(operations) == {page.name for page in PAGES} - {"openapi"}
    for page in PAGES:
        if page.name == "openapi":
            continue
        path, operation = operations[page.name]
        names = [each["name"] for each in operation["parameters"]]
        assert names == [*re.findall(r"{(\w+)}", path), *(each.name for each in page.parameters)]
        assert all(each["description"] for each in operation["parameters"])
        assert operation["responses"]["default"]


def test_numbers_are_as_the_description_bounds_them(pages: TestClient) -> None:
    found = pages.get("/openapi.json").json()["paths"]
    for path, each in found.items():
        if "{" in path or not path.endswith(".json"):
            continue
        for parameter in each["get"]["parameters"]:
            schema = parameter["schema"]
            if schema["type"] == "integer":
                assert pages.get(path, params={parameter["name"]: schema["maximum"] + 1}).status_code == 400
