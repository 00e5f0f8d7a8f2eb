"""Which pages there are: the one table of which routes, the menu and the OpenAPI description are made."""

from __future__ import annotations

from typing import Final

from ggn_store.web.page import Page
from ggn_store.web.pages import (
    diff,
    gallery,
    game,
    history,
    login,
    machine,
    openapi,
    picture,
    piece,
    rules,
    source,
    sql,
    team,
)

_PAGES: Final[tuple[Page, ...]] = (
    gallery.PAGE,
    game.PAGE,
    piece.PAGE,
    source.PAGE,
    picture.PAGE,
    history.LOG,
    history.BLAME,
    diff.PAGE,
    rules.OF_RULESET,
    rules.OF_STORE,
    sql.PAGE,
    team.PROPOSALS,
    team.PROPOSAL,
    team.AUDIT,
    login.PAGE,
    machine.HEALTH,
    machine.METRICS,
)
PAGES: Final[tuple[Page, ...]] = (*_PAGES, openapi.page(_PAGES))

# What is above every page: the name of a page, its address, and what it is called.
MENU: Final = (
    ("gallery", "/", "Games"),
    ("analyses", "/analyses", "Analyses"),
    ("sql", "/sql", "SQL"),
    ("proposals", "/proposals", "Proposals"),
    ("audit", "/audit", "Audit"),
)
