"""`/audit`, `/proposals` and `/proposal/NAME#NUMBER`: who changed what, what is proposed, and what is said of it."""

from __future__ import annotations

from typing import Any, Final

from ggn_store.errors import GgnStoreError
from ggn_store.model.teams.event import ACTIONS
from ggn_store.model.teams.proposal import Proposal
from ggn_store.web import links
from ggn_store.web.page import OFFSET, Answer, Asked, Page, Parameter, limit
from ggn_store.web.pages.diff import compare, lines_of, pictures_of, sizes_of, told_of, verdicts_of
from ggn_store.web.refusal import AskedError
from ggn_store.web.site import Site

_WAITING: Final = ("open", "stale")
_NAME: Final = Parameter("ruleset", "of this ruleset, of a namespace (team/), or of a glob", most=400)


def _audit(asked: Asked) -> Answer:
    most, before = asked.number("limit"), asked.number("before")
    events = [
        *asked.site.store.upkeep.audit(
            asked.text("ruleset"), before=before or None, limit=most + 1, only=asked.texts("only")
        )
    ]
    # The newest of them come last; people want them first.
    page = events[::-1][:most]
    kept: dict[str, links.Value] = {"ruleset": asked.text("ruleset"), "only": asked.texts("only"), "limit": most}
    shown = {
        "events": page,
        "actions": ACTIONS,
        "after": links.to("/audit", before=page[-1].id, **kept) if len(events) > most else None,
    }
    return Answer({"events": [each.data() for each in page]}, shown)


AUDIT = Page(
    "audit",
    "/audit",
    "What was changed in the store, when and by which user of the database, newest first.",
    _audit,
    "audit.html",
    (
        _NAME,
        Parameter("only", "only such changes; repeatable", several=len(ACTIONS), choices=ACTIONS),
        Parameter("before", "only what came before the change of this id", "number", "0", 0, (1 << 62)),
        limit(100, 2_000),
    ),
)


def _proposals(asked: Asked) -> Answer:
    wanted = [name for name in (asked.text("ruleset"),) if name is not None]
    found = asked.site.store.reviews.list(*wanted, closed=asked.flag("closed") or asked.is_file)
    page, around = asked.part(found)
    data = {"proposals": [each.data() for each in page], "count": len(found), "offset": asked.number("offset")}
    return Answer(data, {"found": page, **around})


PROPOSALS = Page(
    "proposals",
    "/proposals",
    "The proposals that wait for approvals, or all that there were.",
    _proposals,
    "proposals.html",
    (_NAME, Parameter("closed", "also what was merged, rejected or withdrawn", "flag"), OFFSET, limit(100, 1_000)),
)


def _proposal(asked: Asked) -> Answer:
    reviews = asked.site.store.reviews
    found = reviews.get(asked.reference)
    rounds = reviews.rounds(asked.reference)
    shown: dict[str, Any] = {"proposal": found, "rounds": rounds, "said": _said(found, rounds), "fault": None}
    shown |= {"rows": [], "has_more": False, "pictures": [], "sizes": [], "told": []}
    shown |= {"verdicts": verdicts_of(found, asked.person)}
    shown |= {"has_board": not asked.is_file or has_board(asked.site, asked.reference)}
    try:
        key = (asked.reference, found.base_id, found.round, found.digest)
        older = None if found.base is None else f"{found.name}@{found.base}"
        compared, data = compare(asked, key, asked.reference, older=older)
        rows, has_more = lines_of(compared.difference, 0, asked.number("limit"))
        pictures, _ = pictures_of(asked, compared, (asked.reference, None), 0, key)
        shown |= {"rows": rows, "has_more": has_more, "pictures": pictures, **sizes_of(asked, compared)}
        shown |= told_of(asked, compared, older)
        data = {"proposal": found.data(), **data, "lines": [line for _, line in rows]}
    except GgnStoreError as error:
        shown |= {"fault": asked.site.told(error)}
        data = {"proposal": found.data(), "fault": shown["fault"]}
    return Answer(data, shown)


def has_board(site: Site, reference: str) -> bool:
    """Whether a proposal waits, and is whole: it can be tried on a board."""
    try:
        return site.store.reviews.get(reference).state in _WAITING and bool(site.ruleset(reference).pieces)
    except GgnStoreError:
        return False


def _judge(asked: Asked) -> Answer:
    """Say of a proposal what the form says, as who has sent it."""
    person, done, message = asked.require_person(), asked.text("do"), asked.text("message")
    place = {name: asked.text(name) for name in ("piece", "source", "destination")}
    if done != "comment" and any(place.values()):
        raise AskedError("only a comment is on a piece or an entry: leave piece, source and destination empty")
    with asked.site.acting(person) as store:
        reviews, said = store.reviews, {"author": person, "message": message}
        match done:
            case "comment":
                found = reviews.comment(asked.reference, message or "", author=person, **place)
            case "approve":
                digest = asked.text("digest")
                if digest is None:  # of what was read, not of what somebody has just made of it
                    raise AskedError("an approval is of a digest: send that of the proposal that was read")
                found = reviews.approve(asked.reference, digest=digest, **said)
            case "reject":
                found = reviews.reject(asked.reference, **said)
            case "withdraw":
                found = reviews.withdraw(asked.reference, **said)
            case _:
                raise AskedError("say what to do: do=comment, approve, reject or withdraw")
    return Answer({"proposal": found.data()}, see=links.to("/proposal", asked.reference))


def _said(proposal: Proposal, rounds: tuple[Proposal, ...]) -> list[dict[str, Any]]:
    """What was said of it, in the order of time; rounds but the first are said, too."""
    said: list[dict[str, Any]] = [
        {"at": each.created_at, "what": "amended", "by": each, "round": each.round, "entry": "", "counts": True}
        for each in rounds[1:]
    ]
    said += [
        {
            "at": each.created_at,
            "what": each.verdict,
            "by": each,
            "round": each.round,
            "entry": each.entry,
            "counts": not (each.verdict == "approved" and each.who in proposal.strangers),
        }
        for each in proposal.verdicts
    ]
    return sorted(said, key=lambda each: str(each["at"] or ""))


PROPOSAL = Page(
    "proposal",
    "/proposal/{ruleset}",
    "A proposal: what it changes, as text and as boards, and what was said of it.",
    _proposal,
    "proposal.html",
    (limit(600, 5_000),),
    long=True,
    fields=(
        Parameter("do", "what to do", choices=("comment", "approve", "reject", "withdraw")),
        Parameter("message", "the comment, or why", most=20_000),
        Parameter("digest", "that of the proposal that was read, which an approval is of", most=71),
        Parameter("piece", "comment on this piece of the proposal or its base", most=255),
        Parameter("source", "with a piece: on what it can do from here; * is the hand", most=255),
        Parameter("destination", "with a source: on the entry to there", most=255),
    ),
    act=_judge,
)
