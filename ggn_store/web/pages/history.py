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
    first, most = asked.number("offset"), asked.number("limit")
    found = asked.site.store.history.log(asked.reference, first + most + 1)
    entries, has_more = found[first : first + most], len(found) > first + most
    data: dict[str, Any] = {"revisions": [each.data() for each in entries], "offset": first}
    shown = {
        "ruleset": ruleset,
        "entries": [_entry(each) for each in entries],
        "before": links.to("/log", asked.reference, offset=max(0, first - most), limit=most) if first else None,
        "after": links.to("/log", asked.reference, offset=first + most, limit=most) if has_more else None,
    }
    return Answer(data, shown)


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
    first, most = asked.number("offset"), asked.number("limit")
    page = found[first : first + most]
    data: dict[str, Any] = {"entries": [each.data() for each in page], "count": len(found), "offset": first}
    kept: dict[str, links.Value] = {"limit": most}
    kept |= zip(("piece", "source", "destination"), place, strict=True)
    shown = {
        "ruleset": ruleset,
        "found": page,
        "before": links.to("/blame", asked.reference, offset=max(0, first - most), **kept) if first else None,
        "after": links.to("/blame", asked.reference, offset=first + most, **kept)
        if first + most < len(found)
        else None,
    }
    return Answer(data, shown, fixed=asked.site.is_fixed(asked.reference, ruleset.revision))


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
