"""A command run once for each fault, and what is wrong afterwards."""

from __future__ import annotations

import itertools
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from ggn_store import GgnStoreError, Store
from ggn_store.store.database.engine import Database
from tests.support.fault_injection.commands import Command
from tests.support.fault_injection.faults import POWER, Kind
from tests.support.fault_injection.settings import Content, Place, Setting

# How often a loss of power is played at each place: it leaves nothing, or some, of what was not yet synced.
LOSSES = 2

# Which of so many operations are to fail, counted from 1.
Choice = Callable[[int], Iterable[int]]


def every(_: int) -> Iterable[int]:
    """All of them, until there is none left to fail; the count of one run says nothing of the next."""
    return itertools.count(1)


@dataclass
class Sweep:
    """What came of all faults of a command on a database."""

    command: str
    database: str
    counts: Counter[str] = field(default_factory=Counter)
    deviations: list[str] = field(default_factory=list)
    errors: set[str] = field(default_factory=set)

    @property
    def faults(self) -> int:
        return self.counts.total()


@dataclass(frozen=True)
class _State:
    """What the stores hold at some time, and which files there are."""

    contents: list[Content | None]
    files: dict[str, str]


def sweep(setting: Setting, command: Command, choice: Choice) -> Sweep:
    """Let chosen operations of a command fail, each in a run of its own."""
    result = Sweep(command.name, setting.name)
    with setting.prepared(command.names, command.prepare):
        course = _course(setting, command)
        for kind in setting.kinds:
            for number in choice(_count(setting, command, kind)):
                was_struck = False
                for loss in range(LOSSES if kind is POWER else 1):
                    with setting.place() as place:
                        was_struck = _run(setting, command, course, place, kind, number, loss, result) or was_struck
                if not was_struck:
                    break
    return result


def _state(setting: Setting, place: Place) -> _State:
    return _State(setting.contents(place), place.files())


def _course(setting: Setting, command: Command) -> list[_State]:
    """What a command does without faults: the state before it, after each of its transactions, and at its end."""
    with setting.place() as place:
        states = [_state(setting, place)]
        original, original_upgrade = Database.writing, Store.upgrade

        @contextmanager
        def writing(database: Database) -> Iterator[Any]:
            with original(database) as connection:
                yield connection
            states.append(_state(setting, place))

        def upgrade(store: Store, *arguments: Any) -> Any:
            found = original_upgrade(store, *arguments)
            states.append(_state(setting, place))  # a new file is filled in another place
            return found

        with mock.patch.object(Database, "writing", writing), mock.patch.object(Store, "upgrade", upgrade):
            command.act(place)
        place.close()
        states.append(_state(setting, place))
        return [each for each, _ in itertools.groupby(states)]


def _count(setting: Setting, command: Command, kind: Kind) -> int:
    """How many operations a fault of this kind can strike."""
    with setting.place() as place:
        with setting.failing(kind, 0):
            command.act(place)
            place.close()
        return setting.faults.count


def _run(
    setting: Setting,
    command: Command,
    course: list[_State],
    place: Place,
    kind: Kind,
    number: int,
    loss: int,
    result: Sweep,
) -> bool:
    """Run the command with one fault; whether there was an operation left to fail."""
    found: list[str] = []
    error: BaseException | None = None
    with setting.failing(kind, number):
        try:
            command.act(place)
        except Exception as raised:
            error = raised
        if kind is POWER:
            place.close()
        struck = setting.faults.struck
    if error is not None:
        result.errors.add(str(error))
    if error is not None and not isinstance(error, GgnStoreError):
        found += ["the error is none of the package's", *traceback.format_exception(error)]
    if error is not None and struck is None:
        found += ["it fails without a fault", *traceback.format_exception(error)]
    setting.recover(place, kind, number * LOSSES + loss)
    try:
        found += _faults_of(setting, course, place, kind, error)
        found += _faults_of_another_run(setting, command, course, place)
    except Exception as raised:
        found += ["the store cannot be used afterwards", *traceback.format_exception(raised)]
    if struck is not None or kind is POWER:
        result.counts[kind.name] += 1
    if found:
        said = "" if error is None else f" ({type(error).__name__}: {error})"
        result.deviations.append(
            f"{command.name} on {setting.name}, {kind.name} {number}, {struck}{said}: " + "\n".join(found)
        )
    return struck is not None


def _faults_of(
    setting: Setting, course: list[_State], place: Place, kind: Kind, error: BaseException | None
) -> Iterator[str]:
    """What is wrong after a fault, seen over a connection of its own."""
    found = _state(setting, place)
    reached = [at for at, each in enumerate(course) if each.contents == found.contents]
    if not reached:
        yield f"half of it is there: {_difference(course[-1].contents, found.contents)}"
        return
    promised = place.acknowledged if error is not None else len(course) - 1
    if reached[-1] < promised:
        yield f"{promised - reached[-1]} acknowledged transactions are lost"
    if error is not None and len(course) == 2 and 0 not in reached and "as a whole or not at all" not in str(error):
        yield "the error does not say that it may be done, and it is"
    # After a loss of power there may be files that nobody could remove.
    allowed = [course[at].files for at in reached]
    if kind is not POWER and found.files not in allowed:
        yield f"files: {_difference([course[reached[0]].files], [found.files])}"
    yield from setting.complaints(place)


def _faults_of_another_run(setting: Setting, command: Command, course: list[_State], place: Place) -> Iterator[str]:
    """What is wrong when the same is tried again, on the same connections where there still are any."""
    if _state(setting, place) == course[-1]:
        return
    command.act(place)
    place.close()
    found = _state(setting, place)
    if found.contents != course[-1].contents:
        yield f"run again, it does something else: {_difference(course[-1].contents, found.contents)}"
    if found.files != course[-1].files:
        yield f"files after another run: {_difference([course[-1].files], [found.files])}"


def _difference(expected: list[Any], found: list[Any]) -> str:
    """What differs, by name."""
    said = []
    for one, other in zip(expected, found, strict=True):
        for name in sorted({*(one or {}), *(other or {})}):
            here, there = (one or {}).get(name), (other or {}).get(name)
            if here != there:
                said.append(f"{name}: {str(there)[:300]} instead of {str(here)[:300]}")
    return "; ".join(said) or "one store is there and should not be, or the other way round"
