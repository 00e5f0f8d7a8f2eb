"""Looking after a store: tags, what is unused, what is wrong, what happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from ggn_store.api import authors
from ggn_store.errors import UNSTORABLE, NotationError, UnknownNameError, quote
from ggn_store.model.care import Collected, Comparison, Verification
from ggn_store.model.event import Event
from ggn_store.model.revision import Reference, check_name, parse_reference
from ggn_store.model.tag import Tag
from ggn_store.store import audit, check, collect, compare, rulesets, tags
from ggn_store.store.engine import Database
from ggn_store.store.versions import Gate

Progress = Callable[[str], None]


def _quiet(_: str) -> None:
    pass


def tag(
    database: Database,
    gate: Gate,
    reference: str,
    name: str,
    author: str | None,
    message: str | None,
    expect: str | None,
    *,
    remove: bool = False,
) -> Tag:
    """Let a tag point to the revision that `reference` names, or remove it."""
    named = parse_reference(reference)
    if remove and not named.is_newest:
        raise NotationError(f"{quote(reference)}: name the ruleset only, to remove a tag of it")
    author = authors.author(database, author)
    for what, text in (("author", author), ("message", message)):
        if text is not None and UNSTORABLE.search(text):
            raise NotationError(f"the {what} {quote(text)} has characters that no database can keep")
    with gate.writing() as connection:
        target = None if remove else rulesets.find(connection, named)
        expected = tags.expected(connection, named.name, expect)
        return tags.move(
            database, connection, named.name, name, target, author=author, message=message, expect=expected
        )


def listed_tags(gate: Gate, reference: str) -> tuple[Tag, ...]:
    """Where tags point."""
    with gate.reading() as connection:
        return tuple(tags.listed(connection, parse_reference(reference)))


def tag_log(gate: Gate, ruleset: str, name: str | None) -> tuple[Tag, ...]:
    """The moves of tags, newest first."""
    with gate.reading() as connection:
        return tuple(tags.log(connection, check_name(ruleset), name))


def gc(database: Database, gate: Gate, *, dry_run: bool, vacuum: bool, progress: Progress | None) -> Collected:
    """Remove what nothing refers to, or only tell what that is."""
    if dry_run:
        with gate.reading() as connection:
            return Collected(tuple(collect.unused(connection)))
    removed = tuple(collect.collect(database, gate.writing, progress or _quiet))
    if vacuum:
        database.vacuum()
    with gate.reading() as connection:
        return Collected(removed, database.free(connection))


def verify(database: Database, gate: Gate, names: Sequence[str], progress: Progress | None) -> Verification:
    """Walk the store, or what some rulesets need of it."""
    return check.verify(database, gate.reading, [check_name(name) for name in names], progress)


def compared(here: Gate, there: Gate, names: Sequence[str], progress: Progress | None) -> tuple[Comparison, ...]:
    """Two stores side by side."""
    outlines = []
    for where, gate in (("here", here), ("there", there)):
        with gate.reading() as connection:
            outlines.append(
                compare.outlines(connection, names, lambda name, where=where: (progress or _quiet)(f"{name} {where}"))  # type: ignore[misc]
            )
    for name in names:
        if all(check_name(name) not in outline for outline in outlines):
            raise UnknownNameError(f"neither store has a ruleset {quote(name)}")
    return tuple(compare.compare(*outlines))


def events(
    gate: Gate, ruleset: str | None, since: int | datetime | None, limit: int | None, only: Iterable[str]
) -> Iterator[Event]:
    """The audit, oldest first."""
    wanted = audit.Wanted(() if ruleset is None else (ruleset,), tuple(only))
    with gate.reading() as connection:
        ids = audit.found(connection, wanted, since, limit)
        if not ids and ruleset is not None and not ruleset.endswith("/"):
            rulesets.find(connection, Reference(check_name(ruleset)))
    return audit.read(gate.reading, ids)


def watch(
    database: Database,
    gate: Gate,
    names: Iterable[str],
    *,
    since: int | None,
    only: Iterable[str],
    interval: float | None,
    timeout: float | None,
    on_turn: Callable[[], bool] | None,
    on_loss: Progress | None,
) -> Iterator[Event]:
    """The audit as it grows."""
    end = None if timeout is None else time.monotonic() + timeout

    def goes_on() -> bool:
        return (end is None or time.monotonic() < end) and (on_turn is None or on_turn())

    wanted = audit.Wanted(tuple(names), tuple(only))
    if interval is None:
        interval = 10.0 if database.is_server else 0.5
    return audit.watch(
        database,
        gate.reading,
        wanted,
        audit.begin(database, gate.reading, wanted, since),
        interval=interval,
        on_turn=goes_on,
        on_loss=on_loss or _quiet,
    )
