"""What hostile files take until they are refused: processor time, memory, message.

`python -m tests.benchmarks.limits` prints the table; each file is made, read by the program in a process of its own
that the system ends after ten seconds of processor time, and removed.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.program import child_environment

_SECONDS: Final = 10


@dataclass(frozen=True)
class Case:
    """A hostile file: its name, what is in it, in parts, and what is said of it."""

    name: str
    file: str
    parts: Callable[[], Iterable[str]]
    said: str
    command: tuple[str, ...] = ("validate",)
    is_large: bool = False


@dataclass(frozen=True)
class Measured:
    """What a case took."""

    seconds: float
    megabytes: float
    code: int
    message: str


def _definition(betza: str, board: str = "8x8") -> Callable[[], Iterable[str]]:
    return lambda: [f'title = "x"\nboard = "{board}"\nstyle = "C"\n[pieces.A]\nbetza = "{betza}"\n']


def _joined(first: str, each: Callable[[int], str], count: int, last: str) -> Callable[[], Iterable[str]]:
    def parts() -> Iterable[str]:
        yield first
        for start in range(0, count, 10_000):
            yield ("," if start else "") + ",".join(map(each, range(start, min(count, start + 10_000))))
        yield last

    return parts


def _bad_pieces(count: int) -> Callable[[], Iterable[str]]:
    return _joined("{", lambda n: f'"not a piece {n}": 1', count, "}")


def _bad_possibilities(pieces: int) -> Callable[[], Iterable[str]]:
    return _joined("{", lambda n: f'"C{n}:P":{{"a1":{{"a2":[{",".join(["7"] * 50)}]}}}}', pieces, "}")


def _one_list(what: str, count: int) -> Callable[[], Iterable[str]]:
    return _joined('{"C:P":{"a1":{"a2":[', lambda n: what, count, "]}}}")


def _repeated(text: str, count: int, before: str = "", after: str = "") -> Callable[[], Iterable[str]]:
    def parts() -> Iterable[str]:
        yield before
        for start in range(0, count, 100_000):
            yield text * min(100_000, count - start)
        yield after

    return parts


def _sections() -> Iterable[str]:
    return (f"[v{n}]\n" for n in range(300_000))


_MEMBERS: Final = "too many members"
_BYTES: Final = "the file has more than 67,108,864 bytes"
CASES: Final = (
    Case("aaaK", "a.toml", _definition("aaaK"), "2,744 ways"),
    Case("aaaaK", "a.toml", _definition("aaaaK"), "19,208 ways"),
    Case("40 legs", "a.toml", _definition("a" * 40 + "K"), "at most 6 legs"),
    Case("400 legs", "a.toml", _definition("a" * 400 + "K"), "at most 6 legs"),
    Case("crossing hurdles on 50x50", "a.toml", _definition("pQ", "50x50"), "too many possibilities"),
    Case("hook mover on 36x36", "a.toml", _definition("mRaR", "36x36"), "too many possibilities"),
    Case("key of 20,000 parts", "a.toml", _repeated("a.", 20_000, "", "a = 1"), "more than 32 parts"),
    Case("key of 200,000 parts", "a.toml", _repeated("a.", 200_000, "", "a = 1"), "more than 32 parts"),
    Case("header of 200,000 parts", "a.toml", _repeated("a.", 200_000, "[", "a]"), "more than 32 parts"),
    Case("arrays in 400,000 levels", "a.toml", _repeated("[", 400_000, "a = "), "nested too deeply"),
    Case("500,000 bad pieces in 12 MB", "a.json", _bad_pieces(500_000), _MEMBERS),
    Case("500,000 bad possibilities", "a.json", _bad_possibilities(10_000), "and at least 19,001 more"),
    Case("10 MB in one list", "a.json", _one_list("{}", 3_500_000), _MEMBERS),
    Case("60 MB in one list of numbers", "a.json", _one_list("0", 30_000_000), _MEMBERS, is_large=True),
    Case("60 MB of brackets", "a.json", _repeated("[", 60_000_000, '{"a":'), "nested too deeply", is_large=True),
    Case("60 MB of quotes", "a.json", _repeated('"', 60_000_000, "{}"), "text goes on after", is_large=True),
    Case("60 MB that begin no document", "a.json", _repeated("[", 60_000_000), "this is no JSON", is_large=True),
    Case("60 MB of new lines", "a.json", _repeated("\n", 60_000_000), "the text ends too early", is_large=True),
    Case("100 MB in one list", "a.json", _one_list("{}", 34_000_000), _BYTES, is_large=True),
    Case("1 GB in one list", "a.json", _one_list("{}", 340_000_000), _BYTES, is_large=True),
    Case("5,000,000 bad pieces in 120 MB", "a.json", _bad_pieces(5_000_000), _BYTES, is_large=True),
    Case("1 GB of blanks in gzip", "a.json.gz", _repeated(" ", 1_000_000_000), _BYTES, is_large=True),
    Case("40,000,000 lines", "a.ndjson", _repeated("\n", 40_000_000), "more than 1,000,000 lines", is_large=True),
    Case(
        "300,000 sections",
        "a.ini",
        _sections,
        "too many sections",
        ("import", "-o", "out"),
    ),
    Case("1,000,000 lines of an ini", "a.ini", _repeated("x\n", 1_000_000), "at least 19,001", ("import", "-o", "out")),
    Case("400 MB of an ini", "a.ini", _repeated("x\n", 200_000_000), "5,000,000", ("import", "-o", "out"), True),
)


def measured(case: Case, directory: Path) -> Measured:
    """Make the file of a case, and let the program read it."""
    path = directory / case.file
    with gzip.open(path, "wt", compresslevel=1) if case.file.endswith(".gz") else path.open("w") as stream:
        for part in case.parts():
            stream.write(part)
    # Between the two stands a small process: what a large one starts has had the memory of the large one.
    command = [sys.executable, "-IS", "-c", _MEASURE, sys.executable, "-m", "ggn_store", *case.command, str(path)]
    done = subprocess.run(
        command,
        cwd=directory,
        env=child_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    path.unlink()
    message, _, used = done.stdout.rstrip("\n").rpartition("\n")
    seconds, kilobytes, code = map(float, used.split())
    return Measured(seconds, kilobytes / 1024, int(code), message)


_MEASURE: Final = f"""
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))
code = subprocess.call(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(flush=True)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, code)
"""


def main() -> None:
    """Print the table."""
    print("| input | seconds | MB | code | message |\n|---|---|---|---|---|")
    for case in CASES:
        with tempfile.TemporaryDirectory() as directory:
            found = measured(case, Path(directory))
        lines = [each for each in found.message.splitlines() if case.said in each] or ["?"]
        message = lines[0].replace(f"{directory}/", "")[:200].replace("|", "\\|")
        print(f"| {case.name} | {found.seconds:.2f} | {found.megabytes:.0f} | {found.code} | {message} |", flush=True)


if __name__ == "__main__":
    main()
