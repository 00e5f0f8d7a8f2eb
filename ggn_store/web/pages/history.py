"""`/log/RULESET` and `/blame/RULESET`: what became of a ruleset, and which revision gave each entry."""

from __future__ import annotations

from typing import Any, Final

from ggn_store.model.teams.history import LogEntry
from ggn_store.web import links
from ggn_store.web.page import OFFSET, Answer, Asked, Page, Parameter, limit
from ggn_store.web.site import lasting

_MOST: Final = 500


def _log(asked: Asked) -> Answer:
    ruleset = asked.site.ruleset(asked.reference)
    first = asked.number("offset")
    entries, around = asked.part(asked.site.store.history.log(asked.reference, first + asked.number("limit") + 1))
    data: dict[str, Any] = {"revisions": [each.data() for each in entries], "offset": first}
    return Answer(data, {"ruleset": ruleset, "entries": [_entry(each) for each in entries], **around})


def _entry(entry: LogEntry) -> dict[str, Any]:
    """A revision with the addresses that belong to it."""
    revision = entry.revision
    name = str(revision)
    return {
        "entry": entry,
        "revision": revision,
        "address": links.to("/g", name),
        "changes": links.to("/diff", a=name),
        "lasting": links.to("/g", lasting(revision)),
        "parents": [
            (f"{revision.name}@{number}", links.to("/g", f"{revision.name}@{number}")) for number in revision.parents
        ],
    }


LOG = Page(
    "log",
    "/log/{ruleset}",
    "The revisions of a ruleset, newest first, and what each changed.",
    _log,
    "log.html",
    (OFFSET, limit(50, _MOST)),
)


def _blame(asked: Asked) -> Answer:
    ruleset = asked.site.ruleset(asked.reference)
    place = [asked.text(name) for name in ("piece", "source", "destination")]
    found = asked.site.store.history.blame(asked.reference, *place)
    page, around = asked.part(found)
    data = {"entries": [each.data() for each in page], "count": len(found), "offset": asked.number("offset")}
    fixed = asked.site.is_fixed(asked.reference, ruleset.revision)
    return Answer(data, {"ruleset": ruleset, "found": page, **around}, fixed=fixed)


BLAME = Page(
    "blame",
    "/blame/{ruleset}",
    "Which revision gave each entry of the rules, and each field, the value that it has.",
    _blame,
    "blame.html",
    (
        Parameter("piece", "only of this piece"),
        Parameter("source", "only from this square", most=255),
        Parameter("destination", "only to this square", most=255),
        OFFSET,
        limit(200, 5_000),
    ),
    long=True,
)
