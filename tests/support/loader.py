"""Processes that load documents, for the tests that crowd them, starve them and kill them.

`Worker` starts one; it is this file run as a script, which reads one JSON command a line and answers each with one
line. The documents are numbered, and each carries its number in its `$schema`: so whatever is found in a store can
be judged on its own.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from ggn_store import GgnStoreError, Store, parse
from ggn_store.model.documents.layout import PLAIN
from ggn_store.store.rulesets import load
from ggn_store.store.upkeep import collect

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = "https://example.org/"
PIECES = ("C:K^", "C:+R", "c:p", "C:P")

Json = dict[str, Any]


@functools.cache
def document(content: int) -> Json:
    """The document of that number, with 512 or 640 possibilities.

    Its neighbours share some of its pieces, every second one its board, and no two are equal; the pieces come in one
    order or the other, so that loads of two meet the same pieces from both ends.
    """
    squares = [f"{file}{rank}" for rank in range(1, 5 + content % 2) for file in "abcd"]
    rules: Json = {"$schema": f"{SCHEMA}{content}"}
    for index, piece in list(enumerate(PIECES))[:: -1 if content % 4 > 1 else 1]:
        hands = {"C:P": 1 + content // (1, 2, 4, 100)[index]}
        rules[piece] = {
            source: {
                destination: [
                    {
                        "must": {destination: state},
                        "diff": {"board": {source: None, destination: piece}, "hands": hands},
                    }
                    for state in ("empty", "enemy")
                ]
                for destination in squares[index : index + 4]
            }
            for source in squares[::3]
        }
    return rules


@functools.cache
def canonical(content: int) -> str:
    """The canonical text of the document of that number."""
    return parse(document(content)).canonical()


def judge(export: str) -> int:
    """The number of the document that `export` is, wholly and exactly."""
    content = int(json.loads(export)["$schema"].removeprefix(SCHEMA))
    assert export == canonical(content), f"this is not document {content}, whole:\n{export[:2000]}"
    return content


def contents(store: Store) -> dict[str, list[int]]:
    """The numbers of the documents that each ruleset's revisions hold, once the store is found to be sound."""
    assert store.upkeep.check() == []
    return {
        (name := summary.revision.name): [
            judge(store.ruleset(f"{name}@{number}").export()) for number in range(1, summary.revision.number + 1)
        ]
        for summary in store.list()
    }


def store_unlisted(store: Store, numbers: Iterable[int]) -> None:
    """Store the pieces of the documents of these numbers, and no revision that lists them."""
    database = store.session.database
    for number in numbers:
        parsed = parse(document(number))
        with database.writing() as connection:
            database.lock_pieces(connection, alone=False)
            board_id = load.store_board(database, connection, parsed.board)
            load._pieces(database, connection, parsed, board_id, PLAIN)


class Worker:
    """A loader in a process of its own, and the pipes to it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.loader"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._commands = self.process.stdin
        self._answers = self.process.stdout.fileno()
        self._pending = b""

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def send(self, *commands: Json) -> None:
        """Give commands, which are carried out one after the other."""
        self._commands.write("".join(json.dumps(command) + "\n" for command in commands).encode())
        self._commands.flush()

    def answer(self) -> Json:
        """The next answer; raises where the process ended instead, with what it said."""
        while b"\n" not in self._pending:
            if not self._read():
                raise AssertionError(f"the loader ended with {self.process.wait()}: {self._pending.decode()}")
        line, _, self._pending = self._pending.partition(b"\n")
        if not line.startswith(b"{"):
            self.process.wait()
            while self._read():
                pass
            raise AssertionError(f"the loader failed:\n{(line + self._pending).decode()}")
        answer: Json = json.loads(line)
        return answer

    def ask(self, **command: Any) -> Json:
        """Give one command and wait for its answer."""
        self.send(command)
        return self.answer()

    def kill(self, seconds: float) -> list[Json]:
        """Kill the process at that time from now; all the answers that it had still given."""
        end = time.monotonic() + seconds
        while select.select([self._answers], [], [], max(0.0, end - time.monotonic()))[0] and self._read():
            pass
        self.process.kill()
        return self.rest()

    def rest(self) -> list[Json]:
        """All answers that are left, when the process has ended."""
        while self._read():
            pass
        self.process.wait()
        *lines, _ = self._pending.split(b"\n")
        return [json.loads(line) for line in lines]

    def has_answered(self) -> bool:
        """Whether there is an answer, or an end, that has not been read."""
        return b"\n" in self._pending or bool(select.select([self._answers], [], [], 0)[0])

    def _read(self) -> bool:
        data = os.read(self._answers, 65536)
        self._pending += data
        return bool(data)


def load_command(name: str, content: int) -> Json:
    """The command that loads the document `content` as the ruleset `name`."""
    return {"do": "load", "name": name, "content": content}


def survivors(sent: list[tuple[str, int]], acknowledged: int, found: dict[str, list[int]]) -> list[tuple[str, int]]:
    """Those of the loads `sent`, in order, that `found` holds: all acknowledged ones, and perhaps the next one."""
    for count in (acknowledged, acknowledged + 1):
        rulesets: dict[str, list[int]] = {}
        for name, content in sent[:count]:
            rulesets.setdefault(name, []).append(content)
        if rulesets == found:
            return sent[:count]
    raise AssertionError(f"{acknowledged} of these loads were acknowledged: {sent}; the store holds {found}")


def main() -> None:
    """Carry out the commands on standard input."""
    store: Store | None = None
    print('{"ready":true}', flush=True)
    for line in sys.stdin:
        command: Json = json.loads(line)
        answer: Json = {}
        try:
            match command.pop("do"):
                case "open":
                    store = Store.open(command["address"], upgrade=command.get("upgrade", False))
                case "load":
                    assert store is not None
                    revision = store.load(parse(document(command["content"])), command["name"])
                    answer = {"number": revision.number, "status": revision.status, "content": command["content"]}
                case "push" | "pull" | "load_bundle" as work:
                    assert store is not None
                    results = getattr(store.exchange, work)(command["with"], merge=command.get("merge", False))
                    answer = {"statuses": [each.status for each in results]}
                case "propose":
                    assert store is not None
                    answer = {
                        "proposal": str(store.reviews.propose(parse(document(command["content"])), command["name"]))
                    }
                case "approve":
                    assert store is not None
                    answer = {"state": store.reviews.approve(command["proposal"]).state}
                case "load_all":
                    assert store is not None
                    answer = _load_all(store, command["paths"])
                case "tag":
                    assert store is not None
                    tag = store.tags.set(
                        command["reference"], command["name"], expect=command.get("expect"), author="Ann"
                    )
                    answer = {"status": tag.status, "move": tag.number, "revision": tag.revision}
                case "gc":
                    assert store is not None
                    answer = {"removed": len(store.upkeep.collect().unused)}
                case "batches":
                    collect._ROWS_A_BATCH = command["rows"]  # type: ignore[misc]
                case "check":
                    assert store is not None
                    answer = {"contents": contents(store)}
                case "limit":
                    _limit(command["bytes"], deadly=command.get("deadly", False))
        except GgnStoreError as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        print(json.dumps(answer), flush=True)


def _load_all(store: Store, paths: list[str]) -> Json:
    """Load files; what became of them, the peak of memory after each in MiB, and the seconds that they took."""
    begin = time.monotonic()
    statuses: Counter[str] = Counter()
    peaks = []
    for loaded in store.load_all(paths):
        statuses[str(loaded.error or (loaded.revision and loaded.revision.status))] += 1
        peaks.append(_peak())
    return {"statuses": statuses, "peaks": peaks, "seconds": time.monotonic() - begin}


def _peak() -> float:
    """The most memory that this process has had, in MiB."""
    try:
        # The kernel's ru_maxrss also counts what the parent had when it started this process.
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def _limit(size: int | None, *, deadly: bool) -> None:
    """Let no file grow beyond `size` bytes; `deadly`: the first write that tries to kills the process."""
    if deadly:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))


if __name__ == "__main__":
    main()
