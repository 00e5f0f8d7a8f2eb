"""`/openapi.json`: the pages as OpenAPI describes them, made of the table of routes."""

from __future__ import annotations

import json
from typing import Any, Final

import ggn_store
from ggn_store.web.guard import FORM
from ggn_store.web.page import REFERENCE, Answer, Page, Parameter

_ERROR: Final = {
    "type": "object",
    "required": ["error", "status"],
    "properties": {"error": {"type": "string"}, "status": {"type": "integer"}},
}
_TEXT: Final = {"type": "string"}
_REF: Final = {"$ref": "#/components/schemas/Error"}


def description(pages: tuple[Page, ...]) -> dict[str, Any]:
    """The OpenAPI description of pages."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ggn_store",
            "version": ggn_store.__version__,
            "description": "A store of the rules of board games. Every page has JSON beside it: at an address that "
            "ends with .json, or by the header Accept: application/json. Only what is sent by POST changes something, "
            "where the server lets people write.",
        },
        "paths": {_path(page): _operations(page) for page in pages},
        "components": {"schemas": {"Error": _ERROR}},
    }


def _path(page: Page) -> str:
    if page.template is None:
        return page.path
    return "/index.json" if page.path == "/" else f"{page.path}.json"


def _operations(page: Page) -> dict[str, Any]:
    found = {"get": _operation(page)}
    if page.act is None:
        return found
    # An operation like the other one, but for what is sent.
    form = {"type": "object", "properties": {each.name: _schema_of(each) for each in page.fields}}
    post = {
        **found["get"],
        "operationId": f"{page.name}-post",
        "parameters": [each for each in found["get"]["parameters"] if each["in"] == "path"],
        "requestBody": {"required": True, "content": {FORM: {"schema": form}}},
    }
    return {**found, "post": post}


def _operation(page: Page) -> dict[str, Any]:
    media = page.media if page.template is None else "application/json"
    reference = [_parameter(REFERENCE) | {"in": "path", "required": True}] if page.has_reference else []
    content = {each: {"schema": _schema(each, page)} for each in (media, *page.also)}
    # Whoever asks for a text is told as a text what is wrong.
    wrong = {media: {"schema": _REF}} if media == "application/json" else {"text/plain": {"schema": _TEXT}}
    return {
        "operationId": page.name,
        "summary": page.about,
        "parameters": [*reference, *map(_parameter, page.parameters)],
        "responses": {
            "200": {"description": page.about, "content": content},
            "default": {"description": "What is wrong, and how to mend it.", "content": wrong},
        },
    }


def _schema(media: str, page: Page) -> dict[str, Any]:
    if media != "application/json":
        return _TEXT
    return {"type": ["object", "array"] if page.also else "object"}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.about,
        "schema": _schema_of(parameter),
    }


def _schema_of(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any]
    if parameter.kind == "number":
        schema = {"type": "integer", "minimum": parameter.least, "maximum": parameter.most}
        schema |= {} if parameter.default is None else {"default": int(parameter.default)}
    elif parameter.kind == "flag":
        schema = {"type": "string", "enum": ["0", "1"]}
    else:
        schema = {"type": "string", "maxLength": parameter.most}
        schema |= {"enum": [*parameter.choices]} if parameter.choices else {}
    if parameter.several:
        schema = {"type": "array", "items": schema, "maxItems": parameter.several}
    return schema


def page(others: tuple[Page, ...]) -> Page:
    """The page that describes other pages."""
    text = json.dumps(description(others), indent=1) + "\n"
    answer = Answer(text=text, media="application/json")
    return Page("openapi", "/openapi.json", "This description.", lambda _: answer, media="application/json")
