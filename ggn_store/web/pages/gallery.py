"""`/`: every ruleset of the store with a picture of its start, to be searched and filtered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ggn_store.api.loading.games import library_games
from ggn_store.api.questions.analysis import StoreAnalysis
from ggn_store.api.store import Store
from ggn_store.games.definition import TIERS
from ggn_store.model.teams.revision import Summary
from ggn_store.web import links
from ggn_store.web.page import OFFSET, Answer, Asked, Page, Parameter, limit

# Concepts that people look for; the page of `find` takes any of them.
CONCEPTS: Final = {
    "drops": "drops from the hand",
    "hoppers": "pieces that jump over others to take",
    "promotion": "promotion",
    "castlers": "castling",
}
_STATES: Final = ("active", "deprecated", "retired", "all")


def _show(asked: Asked) -> Answer:
    store = asked.site.store
    summaries = store.list()
    if not summaries:
        games = [game.data() for game in library_games()]
        return Answer({"rulesets": [], "count": 0}, {"is_empty": True, "games": games})
    found = [each for each in summaries if _fits(asked, each)]
    called = (asked.text("piece") or "").casefold().split()
    if called and found:
        names = names_of_pieces(store, found)
        found = [each for each in found if _has(called, names.get(each.revision.name, ()))]
    tier = asked.text("tier")
    if tier is not None and found:
        rows = store.views.rows("v_rulesets", [each.revision.name for each in found])
        place = rows.columns.index("tier")
        kept = {row[0] for row in rows if row[place] == tier}
        found = [each for each in found if each.revision.name in kept]
    concepts = asked.texts("with")
    if concepts and found:
        analysis: StoreAnalysis = store.analysis()
        kept = {record["ruleset"] for record in analysis.find((), having=concepts).records}
        found = [each for each in found if each.revision.name in kept]
    first, most = asked.number("offset"), asked.number("limit")
    page = found[first : first + most]
    data = {"rulesets": [each.data() for each in page], "count": len(found), "offset": first}
    return Answer(
        data, {"is_empty": False, "found": page, "total": len(summaries)} | _choices(asked, summaries, len(found))
    )


def _fits(asked: Asked, summary: Summary) -> bool:
    revision, words = summary.revision, (asked.text("text") or "").casefold().split()
    text = f"{revision.name} {revision.envelope.title or ''} {revision.envelope.source or ''}".casefold()
    board, state, dialect = asked.text("board"), asked.text("state") or "active", asked.text("dialect")
    return (
        all(word in text for word in words)
        and board in (None, revision.shape or "other")
        and dialect in (None, revision.dialect)
        and (state == "all" or revision.state == state or (state == "active" and is_shown(summary)))
    )


def _has(words: list[str], names: Iterable[str]) -> bool:
    """Whether some name has all these words."""
    return any(all(word in name.casefold() for word in words) for name in names)


def names_of_pieces(store: Store, summaries: Sequence[Summary]) -> dict[str, set[str]]:
    """What rulesets call their pieces, by the rulesets' names."""
    found: dict[str, set[str]] = {}
    rows = store.views.rows("v_pieces", [each.revision.name for each in summaries])
    place = rows.columns.index("name")
    for row in rows:
        if row[place] is not None:
            found.setdefault(row[0], set()).add(row[place])
    return found


def is_shown(summary: Summary) -> bool:
    """Whether a ruleset is shown to who does not ask for others, too."""
    return summary.revision.state in ("active", "deprecated")


def _choices(asked: Asked, summaries: tuple[Summary, ...], count: int) -> dict[str, Any]:
    """What the form offers, and where the pages before and after are."""
    first, most = asked.number("offset"), asked.number("limit")
    names = ("text", "board", "tier", "piece", "dialect", "state", "with")
    kept: dict[str, links.Value] = {name: asked.values[name] for name in names if asked.values[name]}
    if most != _DEFAULT:
        kept["limit"] = most
    return {
        "boards": sorted({each.revision.shape or "other" for each in summaries}, key=lambda shape: (len(shape), shape)),
        "tiers": TIERS,
        "dialects": sorted({each.revision.dialect for each in summaries}),
        "concepts": CONCEPTS,
        "states": _STATES,
        "before": links.to("/", offset=max(0, first - most), **kept) if first else None,
        "after": links.to("/", offset=first + most, **kept) if first + most < count else None,
    }


_DEFAULT: Final = 24
PAGE = Page(
    "gallery",
    "/",
    "The rulesets of the store, each in its newest revision, with their starts.",
    _show,
    "gallery.html",
    (
        Parameter("text", "words that the name, the title or the source of the ruleset has"),
        Parameter("board", "the shape of the board, such as 8x8; other: no such board", most=60),
        Parameter("tier", "how much of the game a document can say, by its definition; A: all of it", choices=TIERS),
        Parameter("piece", "words that the name of one of its pieces has, such as knight"),
        Parameter("dialect", "the dialect of its document", choices=("perform", "must-deny", "diff", "gdl")),
        Parameter("state", "active: also deprecated ones, which is the default", choices=_STATES),
        Parameter("with", "a concept that it has, such as drops or riders>=4; repeatable", several=10),
        OFFSET,
        limit(_DEFAULT, 200),
    ),
    long=("with",),
)
