"""`/rules/RULESET` and `/analyses`: questions about rules as a whole, one at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.errors import did_you_mean, offer, quote
from ggn_store.model.documents.document import EMPTY, ENEMY
from ggn_store.web.boards import names_of
from ggn_store.web.page import OFFSET, Answer, Asked, Page, Parameter, limit
from ggn_store.web.refusal import AskedError


@dataclass(frozen=True, slots=True)
class RulesQuestion:
    """A question: what it is about, its columns, and who answers it; `needs` are the parameters that it cannot lack.

    What `reads_all` that the rules say takes long where these are many.
    """

    about: str
    columns: tuple[str, ...]
    answer: Callable[[Asked], Iterable[Any]]
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    reads_all: bool = False


def _of(asked: Asked) -> Any:
    return asked.site.ruleset(asked.reference).analysis()


def _all(asked: Asked) -> Any:
    return asked.site.store.analysis()


def _similar(asked: Asked) -> Iterable[Any]:
    reference = str(asked.site.ruleset(asked.reference).revision)
    # Files are of all games, one after the other.
    found: Iterable[Any] = (asked.site.profiles if asked.is_file else asked.site.store.analysis()).similar(reference)
    return found


def _concepts_of(asked: Asked) -> Iterable[Any]:
    reference = str(asked.site.ruleset(asked.reference).revision)
    for each in asked.site.store.analysis().concepts([reference]):
        for value in each.values.values():
            if value:
                yield {"concept": each.concept, "value": value, "meaning": each.meaning}


# What can be said of a parameter, each with what it is called.
Choices = Mapping[str, Callable[[], list[tuple[str, str]]]]

# Possibilities of a ruleset of which a file has what reads all of them: a second or two.
_MOST_IN_FILES: Final = 100_000

# Of one ruleset.
RULES: Final = {
    "stats": RulesQuestion(
        "How much is in each piece.",
        ("piece", "side", "sources", "destinations", "possibilities", "drops", "conditions", "effects"),
        lambda asked: _of(asked).stats(),
    ),
    "mobility": RulesQuestion(
        "How many squares each piece can go to, alone on the board.",
        ("piece", "squares", "total", "mean", "min", "max", "reach", "colours"),
        lambda asked: _of(asked).mobility(asked.text("piece")),
        ("piece",),
    ),
    "coverage": RulesQuestion(
        "Which squares each piece can ever stand on.",
        ("piece", "count", "of", "hand", "squares"),
        lambda asked: _of(asked).coverage(asked.text("piece")),
        ("piece",),
        reads_all=True,
    ),
    "who-reaches": RulesQuestion(
        "Which pieces have rules that lead to a square, and from where.",
        ("piece", "source", "quiet", "capture", "possibilities"),
        lambda asked: _of(asked).who_reaches(str(asked.text("square"))),
        ("square",),
        ("square",),
    ),
    "uses": RulesQuestion(
        "How often the rules mention a piece (C:P), empty, enemy, or a state variable.",
        ("piece", "role", "possibilities", "mentions"),
        lambda asked: _of(asked).uses(str(asked.text("state"))),
        ("state",),
        ("state",),
    ),
    "dead": RulesQuestion(
        "Rules that can never apply, or that could be left out.",
        ("kind", "piece", "source", "destination", "ordinal", "by", "square", "state", "possibilities"),
        lambda asked: _of(asked).dead(),
        reads_all=True,
    ),
    "symmetry": RulesQuestion(
        "Whether the two sides are mirror images of one another.",
        ("of", "symmetry", "holds", "entries", "possibilities", "start", "where"),
        lambda asked: _of(asked).symmetries(),
        reads_all=True,
    ),
    "concepts": RulesQuestion("What the game has, and how much of it.", ("concept", "value", "meaning"), _concepts_of),
    "similar": RulesQuestion(
        "Which rulesets of the store are most like it, and why.",
        ("ruleset", "likeness", "movements", "other_movements", "differs"),
        _similar,
    ),
}

# Of all rulesets.
STORE: Final = {
    "stats": RulesQuestion(
        "How much is in each ruleset.",
        ("ruleset", "board", "pieces", "sources", "destinations", "possibilities", "drops", "conditions", "effects"),
        lambda asked: _all(asked).stats(),
    ),
    "concepts": RulesQuestion(
        "What games have, and how many of them.",
        ("concept", "rulesets", "meaning"),
        lambda asked: _all(asked).concepts(),
    ),
    "find": RulesQuestion(
        "Games by what they have: drops, riders>=4, without castlers, on a board 9x9.",
        ("ruleset", "board"),
        lambda asked: (
            _all(asked)
            .find((), having=asked.texts("with"), lacking=asked.texts("without"), board=asked.text("board"))
            .records
        ),
        ("with", "without", "board"),
    ),
    "same-movers": RulesQuestion(
        "Which pieces of all games move alike.",
        ("pieces", "rulesets", "moves", "movers"),
        lambda asked: _all(asked).same_movers((), piece=asked.text("piece"), ruleset=asked.text("ruleset")).groups,
        ("piece", "ruleset"),
    ),
    "compare": RulesQuestion(
        "In words how the pieces of two games differ.",
        ("change", "sides", "piece", "other", "gained", "lost", "what"),
        lambda asked: _all(asked).compare(
            *(str(asked.site.ruleset(str(asked.text(name))).revision) for name in ("a", "b"))
        ),
        ("a", "b"),
        ("a", "b"),
    ),
}


FIRST: Final = "stats"  # which is shown where none is named


def _answered(asked: Asked, questions: dict[str, RulesQuestion], choices: Choices) -> Answer:
    what = asked.text("what") or FIRST
    if what not in questions:
        hint = did_you_mean(what, questions) or f": there are {offer([*questions])}"
        raise AskedError(f"{quote(what)} is no analysis{hint}")
    question = questions[what]
    address = functools.partial(asked.page.address, asked.reference)
    missing = [name for name in question.needs if asked.text(name) is None]
    rows: list[Any] = []
    read = asked.site.ruleset(asked.reference).piece_summaries() if asked.is_file and question.reads_all else ()
    is_left_out = sum(each["possibilities"] for each in read) > _MOST_IN_FILES
    if not missing and not is_left_out:
        rows = [each if isinstance(each, dict) else each.data() for each in question.answer(asked)]
    page, around = asked.part(rows)
    data: dict[str, Any] = {"analysis": what, "rows": page, "count": len(rows), "offset": asked.number("offset")}
    shown = {
        "questions": {name: (each.about, address(what=name)) for name, each in questions.items()},
        "question": question,
        # `find` has a column for each concept that was asked for, too.
        "columns": dict.fromkeys((*question.columns, *(rows[0] if what == "find" and rows else ()))),
        "missing": missing,
        "choices": {name: choose() for name, choose in choices.items() if name in question.takes},
        "is_left_out": is_left_out,
        "action": address(),
        **around,
    }
    return Answer(data, shown)


def _rules(asked: Asked) -> Answer:
    ruleset = asked.site.ruleset(asked.reference)
    handle = ruleset.handle

    def pieces() -> list[tuple[str, str]]:
        return [*names_of(ruleset).items()]

    def states() -> list[tuple[str, str]]:
        return [*((word, word) for word in (EMPTY, ENEMY, *handle.told_variables)), *pieces()]

    found = _answered(asked, RULES, {"piece": pieces, "state": states})
    return Answer(found.data, {**found.shown, "ruleset": ruleset})


def _analyses(asked: Asked) -> Answer:
    def rulesets() -> list[tuple[str, str]]:
        named = {each.revision.name: each.revision.envelope.title for each in asked.site.store.list()}
        return [(name, title or name) for name, title in named.items()]

    return _answered(asked, STORE, dict.fromkeys(("ruleset", "a", "b"), rulesets))


_PAGED: Final = (OFFSET, limit(200, 5_000))
OF_RULESET = Page(
    "rules",
    "/rules/{ruleset}",
    "Analyses of one ruleset: what is in it, mobility, coverage, dead rules, symmetry, what is like it.",
    _rules,
    "analysis.html",
    (
        Parameter("what", f"the analysis: {', '.join(RULES)}"),
        Parameter("piece", "only this piece"),
        Parameter("square", "of who-reaches: the square", most=255),
        Parameter("state", "of uses: a piece, empty, enemy, or a variable"),
        *_PAGED,
    ),
    long=True,
)
OF_STORE = Page(
    "analyses",
    "/analyses",
    "Analyses of all rulesets: what is in them, what they have, which pieces move alike, how two games differ.",
    _analyses,
    "analysis.html",
    (
        Parameter("what", f"the analysis: {', '.join(STORE)}"),
        Parameter("with", "of find: games with this concept; repeatable", several=10),
        Parameter("without", "of find: games without it; repeatable", several=10),
        Parameter("board", "of find: games on such a board", most=60),
        Parameter("piece", "of same-movers: only what moves like this piece"),
        Parameter("ruleset", "of same-movers: whose piece it is", most=400),
        Parameter("a", "of compare: the one ruleset", most=400),
        Parameter("b", "of compare: the other ruleset", most=400),
        *_PAGED,
    ),
    long=True,
)
