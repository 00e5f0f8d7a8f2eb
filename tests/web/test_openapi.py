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


def test_answers_are_of_the_types_that_are_described(pages: TestClient) -> None:
    needs = {"proposal", "login", "source"}  # of what this store has not, whose errors are asked for alone
    for path, each in pages.get("/openapi.json").json()["paths"].items():
        operation = each["get"]
        address = path.replace("{ruleset}", "mini")
        asked = [(f"{address}?no=1", "default")] + ([] if operation["operationId"] in needs else [(address, "200")])
        if path == "/sql.json":
            [forms] = [one["schema"]["enum"] for one in operation["parameters"] if one["name"] == "format"]
            asked += [(f"{address}?query=SELECT+1&format={form}", "200") for form in forms]
        for name, status in asked:
            answer = pages.get(name)
            assert (answer.status_code == 200) == (status == "200"), (name, answer.text)
            content = operation["responses"][status]["content"]
            media = answer.headers["content-type"].partition(";")[0]
            assert media in content, name
            kind = "string"
            if media == "application/json":
                kind = "array" if isinstance(answer.json(), list) else "object"
            assert kind in content[media]["schema"].get("type", "object"), name
