"""Answers as HTML, with what stands around every page."""

from __future__ import annotations

from typing import Any

import ggn_store
from ggn_store import limits
from ggn_store.web import views
from ggn_store.web.page import Answer, Asked
from ggn_store.web.people import Sessions
from ggn_store.web.routes import MENU
from ggn_store.web.site import Site


def html(asked: Asked, answer: Answer) -> str:
    """The page of an answer; of a file, without what asks a server for more."""
    json = None if asked.is_file else asked.json
    values: dict[str, Any] = {"asked": asked.values, "reference": asked.reference, "json": json}
    values["is_file"] = asked.is_file
    values |= {"person": asked.person, "comparable": limits.COMPARED.most, **_server(asked.site)}
    return _page(str(asked.page.template), asked.page.name, {**values, **answer.data, **answer.shown})


def error(
    message: str,
    status: int,
    site: Site,
    ahead: tuple[str, str] | None = None,
    again: tuple[str, list[tuple[str, str]]] | None = None,
    person: str | None = None,
) -> str:
    """The page that says what is wrong, to `person`, and leads `ahead`: an address, and what it is called.

    To ask `again` there are an address and its parameters.
    """
    said = {"message": message, "status": status, "json": None, "is_file": False, "ahead": ahead, "again": again}
    return _page("error.html", "error", said | _server(site) | {"person": person})


def _server(site: Site) -> dict[str, Any]:
    """What the server lets people do."""
    return {"can_write": site.people is not None, "has_login": isinstance(site.people, Sessions)}


def _page(template: str, name: str, values: dict[str, Any]) -> str:
    around = {"page": name, "menu": MENU, "version": ggn_store.__version__}
    of_nobody: dict[str, Any] = {"person": None, "refused": None, "typed": {}}
    return views.html(template, of_nobody | around | values)
