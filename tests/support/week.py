"""A week of a team: people change, share and release definitions, meet in conflicts, an outage and a bad release.

What everybody must have in the end is said by plain dictionaries of what was decided. Nothing here is imported from the
program but the command line, which is run as people do.
"""

from __future__ import annotations

import random
import re
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

NAMES: Final = ("ann", "bob", "carl", "dora", "emil")
PIECES: Final = "ABCDEF"
MOVES: Final = ("W", "F", "D", "N", "A", "K", "WD", "FA", "ND", "R", "B", "Q", "H", "C", "Z", "WN", "FD", "R2", "B3")
MOST_LINES = 10
"""Lines of output for one conflict."""
_CONFLICT = re.compile(r"(?m)^ +! ")
_MARKED = re.compile(r"(?ms)^<<<<<<< .*?^>>>>>>> [^\n]*\n")

Game = dict[str, str]


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    printed: str


@dataclass
class Person:
    """Somebody with a store of their own; `synced` is what each game was when they last had the shared one."""

    name: str
    store: str
    remote: str
    synced: dict[str, Game] = field(default_factory=dict)


@dataclass
class Week:
    """What is needed for it, and what has happened so far."""

    run: Callable[..., Ended]
    people: list[Person]
    admin: str
    """The address at which the shared store is administered."""
    directory: Path
    outage: Callable[[], AbstractContextManager[None]]
    """While it lasts, nobody reaches the shared store."""
    dice: random.Random
    shared: dict[str, Game] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    mine: tuple[str, str] = ("", "")
    """The piece that was changed last, and its moves."""
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def play(self, games: int, changes: int, conflicts: int) -> None:
        """Play it, and assert that nothing of it was lost or made up."""
        self._begin(games)
        kinds = ["conflict"] * conflicts + ["change"] * (changes - conflicts - games)
        self.dice.shuffle(kinds)
        outage, release = len(kinds) // 2, 3 * len(kinds) // 4
        for number, kind in enumerate(kinds):
            if number == outage:
                self._outage()
            if number == release:
                self._bad_release()
            person, game = self.dice.choice(self.people), self.dice.choice([*self.shared])
            if kind == "conflict":
                self._conflict(person, game)
            else:
                self._change(person, game)
                assert self._push(person, game).code == 0
                self._is_shared(person, game)
        self._end()

    # --- what happens ---

    def _begin(self, games: int) -> None:
        first = self.people[0]
        for number in range(games):
            name = f"team/game{number}"
            self.shared[name] = {piece: self.dice.choice(MOVES) for piece in PIECES}
            self._load(first, name, definition(name, self.shared[name]))
            assert self._push(first, name).code == 0
        for person in self.people:
            self._pull_all(person)

    def _change(self, person: Person, game: str, piece: str | None = None) -> str:
        """Give a piece other moves in a person's own store; nobody else has changed this piece unless it is given."""
        if piece is None:
            untouched = [each for each in PIECES if self.shared[game][each] == person.synced[game][each]]
            if not untouched:
                self._pull(person, game)
            piece = self.dice.choice(untouched or PIECES)
        taken = {self.shared[game][piece], person.synced[game][piece]}
        moves = self.dice.choice([each for each in MOVES if each not in taken])
        exported = self._ok(person, "export", game, "--definition").printed
        changed = re.sub(rf"(?m)^({piece} = ).*$", rf'\g<1>{{ betza = "{moves}" }}', exported)
        assert changed != exported
        self._load(person, game, changed)
        person.synced[game] |= {piece: moves}
        self.mine = piece, moves
        return piece

    def _conflict(self, person: Person, game: str) -> None:
        """Somebody changes what another has just changed; then it is decided, each time in another way."""
        other = self.dice.choice([each for each in self.people if each is not person])
        self._pull(person, game)
        self._pull(other, game)
        piece = self._change(other, game)
        assert self._push(other, game).code == 0
        self._is_shared(other, game)
        self._change(person, game, piece)
        before = self._ok(self.admin, "log", game).printed
        refused = self._push(person, game)
        assert refused.code == 3, refused
        assert len(_CONFLICT.findall(refused.printed)) == 1, refused
        assert len(refused.printed.splitlines()) <= MOST_LINES + 4, refused
        assert self._ok(self.admin, "log", game).printed == before
        way = ("resolve", "ours", "theirs")[self.seen["conflict"] % 3]
        getattr(self, f"_decide_{way}")(person, game)
        self.seen["conflict"] += 1
        self._is_shared(person, game)

    def _decide_ours(self, person: Person, game: str) -> None:
        self._ok(person, "push", game, "--remote", person.remote, "--merge", "--ours", "--author", person.name)

    def _decide_theirs(self, person: Person, game: str) -> None:
        self._ok(person, "push", game, "--remote", person.remote, "--merge", "--theirs", "--author", person.name)
        self.mine = self.mine[0], self.shared[game][self.mine[0]]

    def _decide_resolve(self, person: Person, game: str) -> None:
        """Write what neither has written between the marks."""
        path = self.directory / "conflicts.toml"
        address = ("--remote", person.remote)
        assert self._command(person, "push", game, *address, "--merge", "--conflicts", path).code == 3
        piece, mine = self.mine
        decided = self.dice.choice([each for each in MOVES if each not in (mine, self.shared[game][piece])])
        text, count = _MARKED.subn(f'{piece} = {{ betza = "{decided}" }}\n', path.read_text())
        assert count == 1
        path.write_text(text)
        self._ok(person, "resolve", path, *address, "--author", person.name, "-m", "decided together")
        self.mine = piece, decided

    def _outage(self) -> None:
        person, game = self.people[1], next(iter(self.shared))
        self._pull(person, game)
        self._change(person, game)
        with self.outage():
            failed = self._push(person, game)
        assert failed.code == 1, failed
        assert self._push(person, game).code == 0
        self._is_shared(person, game)
        self.seen["outage"] += 1

    def _bad_release(self) -> None:
        """A change is released and turns out to be bad: the revision before it is the newest one again."""
        game = next(iter(self.shared))
        good = dict(self.shared[game])
        head = self._head(game)
        self._ok(self.admin, "tag", game, "stable", "-m", "a good one")
        person = self.people[2]
        self._pull(person, game)
        self._change(person, game)
        assert self._push(person, game).code == 0
        self._is_shared(person, game)
        self._ok(self.admin, "tag", game, "stable", "-m", "a bad one")
        self._ok(self.admin, "restore", f"{game}@{head}", "--author", "eve", "-m", "take it back")
        self._ok(self.admin, "tag", game, "stable", "--expect", str(self._head(game) - 1), "-m", "as it was")
        self.shared[game] = good
        self.seen["release"] += 1

    def _end(self) -> None:
        for person in self.people:
            self._pull_all(person)
            for game, pieces in self.shared.items():
                assert moves_of(self._ok(person, "export", game, "--definition").printed) == pieces, (person, game)
            self._ok(person, "verify")
            self._ok(person, "verify", "--remote", person.remote)
        for game, pieces in self.shared.items():
            assert moves_of(self._ok(self.admin, "export", game, "--definition").printed) == pieces
        self._ok(self.admin, "verify")
        self._ok(self.admin, "db", "check", "--full")

    # --- commands ---

    def _load(self, person: Person, game: str, text: str) -> None:
        path = self.directory / f"{person.name}.toml"
        path.write_text(text)
        self._ok(person, "load", path, "--name", game, "--author", person.name, "-m", f"by {person.name}")
        self.seen["change"] += 1

    def _push(self, person: Person, game: str) -> Ended:
        return self._command(person, "push", game, "--remote", person.remote, "--merge", "--author", person.name)

    def _pull(self, person: Person, game: str) -> None:
        self._ok(person, "pull", game, "--remote", person.remote)
        person.synced[game] = dict(self.shared[game])

    def _pull_all(self, person: Person) -> None:
        for game in self.shared:
            self._pull(person, game)

    def _is_shared(self, person: Person, game: str) -> None:
        piece, moves = self.mine
        self.shared[game][piece] = moves
        self._pull(person, game)

    def _head(self, game: str) -> int:
        return int(re.findall(rf"{game}@(\d+)", self._ok(self.admin, "log", game, "--format", "text").printed)[0])

    def _ok(self, who: Person | str, *arguments: str | Path) -> Ended:
        ended = self._command(who, *arguments)
        assert ended.code == 0, (arguments, ended)
        return ended

    def _command(self, who: Person | str, *arguments: str | Path) -> Ended:
        began = time.perf_counter()
        ended = self.run("--db", who if isinstance(who, str) else who.store, *arguments)
        self.times[str(arguments[0])].append(time.perf_counter() - began)
        assert "Traceback" not in ended.printed, ended
        return ended


def definition(title: str, pieces: Mapping[str, str]) -> str:
    """A small game, a line a piece."""
    size = len(PIECES)
    start = "/".join([PIECES.lower(), *[str(size)] * (size - 2), PIECES])
    lines = [
        f'title = "{title}"',
        f'board = "{size}x{size}"',
        'style = "G"',
        f'start = "{start} / G/g"',
        "",
        "[pieces]",
    ]
    return "\n".join([*lines, *(f'{piece} = {{ betza = "{moves}" }}' for piece, moves in pieces.items()), ""])


def moves_of(text: str) -> Game:
    """The moves of each piece that a definition says."""
    return {piece: each["betza"] for piece, each in tomllib.loads(text)["pieces"].items()}
