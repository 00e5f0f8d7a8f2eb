"""A push into a namespace whose policy asks for reviews: what would have become a revision there is proposed."""

from __future__ import annotations

from ggn_store.api.session import authors
from ggn_store.api.teams.reviews import Reviews
from ggn_store.model.teams.proposal import Proposal
from ggn_store.model.teams.transfer import DivergedError, Transferred
from ggn_store.store.database.session import Session
from ggn_store.store.exchange.offer import StoreSource
from ggn_store.store.review import policies, proposals
from ggn_store.store.rulesets import catalog, load, stored_documents


def propose(
    source: Session, destination: Session, message: str | None, author: str | None, name: str, to: str
) -> Transferred | None:
    """Propose the newest revision of `name` for `to`; as a new round where one's own proposal of an older one is open.

    None where no policy there asks for reviews. Raises DivergedError unless the head there is one of the revisions
    here, and otherwise as `Reviews.propose` does.
    """
    with destination.reading() as connection:
        rules = policies.asked(policies.counting(connection, to))
        head = load.head_of(connection, to)
    if rules is None or not rules.review:
        return None
    with source.reading() as connection:
        revision = catalog.find(connection, name)
        document = stored_documents.document(connection, stored_documents.of_revision(connection, revision))
        steps = StoreSource(source.database, connection).steps(name)
    if head.digest == revision.digest:
        return Transferred(name, to, "unchanged", head=head.number, lineage=head.lineage)
    if head.lineage is not None and head.lineage not in {step.lineage for step in steps}:
        raise DivergedError(
            f"{to}: there are revisions there that this store lacks: `ggn-store pull {to} --merge` brings them; then "
            "push again"
        )
    reviews = Reviews(destination)
    base = "0" if head.lineage is None else f"sha256:{head.lineage}"
    message = revision.message if message is None else message
    mine = _own(destination, to, author, {step.digest for step in steps})
    if mine is None:
        made = reviews.propose(document, to, base=base, message=message, author=author)
    elif (mine.digest, mine.state) == (revision.digest, "open"):
        return Transferred(name, to, "unchanged", head=head.number, lineage=head.lineage, proposal=mine)
    else:
        made = reviews.amend(str(mine), document, base=base, message=message, author=author)
    return Transferred(name, to, "proposed", head=head.number, lineage=head.lineage, proposal=made)


def _own(destination: Session, name: str, author: str | None, digests: set[str]) -> Proposal | None:
    """One's own newest proposal for a ruleset that has not ended, and that a revision here has the content of."""
    who = destination.database.role or authors.signed(destination.database, author, None)
    with destination.reading() as connection:
        listed = proposals.listed(connection, name)
        mine = [each for each in listed if each.who == who and each.digest in digests]
    return next((each for each in mine if each.state in ("open", "stale")), None)
