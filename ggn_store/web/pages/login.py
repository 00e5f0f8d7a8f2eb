"""`/login`: a session begins with a name and a password, and ends."""

from __future__ import annotations

import re
from typing import Final

from ggn_store.web.page import Answer, Asked, Page, Parameter
from ggn_store.web.people import MOST_NAME, MOST_PASSWORD, Client, Sessions
from ggn_store.web.refusal import AskedError

# A page of this server and nothing else: what begins with two slashes is another host.
_OWN: Final = re.compile(r"/(?:[A-Za-z0-9._~%@:+,&=?#-][A-Za-z0-9._~%@:+,&=?#/-]*)?", re.ASCII)
_TO: Final = Parameter("to", "the page to go on with, a path of this server", most=2_000)


def _sessions(asked: Asked) -> tuple[Sessions, Client]:
    people = asked.site.people
    if not isinstance(people, Sessions) or asked.client is None:
        raise AskedError("this server has no login", 404)
    return people, asked.client


def _next(asked: Asked) -> str:
    to = asked.text("to") or "/"
    if not _OWN.fullmatch(to):
        raise AskedError("to= is no page of this server")
    return to


def _show(asked: Asked) -> Answer:
    _sessions(asked)
    return Answer({"person": asked.person}, {"to": _next(asked)})


def _act(asked: Asked) -> Answer:
    sessions, client = _sessions(asked)
    to = _next(asked)
    if asked.text("do") == "log-out":
        return Answer({"person": None}, see="/", cookies=sessions.end(client))
    name = asked.text("name") or ""
    cookie = sessions.begin(client, name, asked.text("password") or "")
    return Answer({"person": name}, see=to, cookies=(cookie,))


PAGE = Page(
    "login",
    "/login",
    "Who has logged in; where the server has a login.",
    _show,
    "login.html",
    (_TO,),
    fields=(
        Parameter("do", "what to do", choices=("log-in", "log-out")),
        Parameter("name", "the name", most=MOST_NAME),
        Parameter("password", "the password", most=MOST_PASSWORD),
        _TO,
    ),
    act=_act,
)
