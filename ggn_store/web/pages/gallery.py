"""`/`: every ruleset of the store with a picture of its start, to be searched and filtered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ggn_store.api.loading.games import library_games
from ggn_store.api.questions.analysis import StoreAnalysis
from ggn_store.api.store import Store
from ggn_store.games.definition import TIERS
from ggn_store.model.teams.revision import Summary
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
        kept = {name for name, of in names.items() if any(all(w in each.casefold() for w in called) for each in of)}
        found = [each for each in found if each.revision.name in kept]
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
    page, around = asked.part(found)
    data = {"rulesets": [each.data() for each in page], "count": len(found), "offset": asked.number("offset")}
    choices = {
        "boards": sorted({each.revision.shape or "other" for each in summaries}, key=lambda shape: (len(shape), shape)),
        "tiers": TIERS,
        "dialects": sorted({each.revision.dialect for each in summaries}),
        "concepts": CONCEPTS,
        "states": _STATES,
    }
    return Answer(data, {"is_empty": False, "found": page, "total": len(summaries), **around, **choices})


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
        limit(24, 200),
    ),
    long=("with",),
)
