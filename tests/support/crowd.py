"""Writers and readers of the same rulesets, each a process of its own, for the test that crowds a store.

This file run as a script is one of them: `python -m tests.support.crowd writer|reader ADDRESS SECONDS SEED INDEX`. It
prints one JSON object for each thing that it did. A document of a crowd is a few pieces whose entries each hold one
possibility, which carries who wrote it last; so whatever is found in a store can be judged entry by entry.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from typing import Any

from ggn_store import ConflictError, Position, Store, parse
from tests.support.loader import ROOT

RULESETS = tuple(f"team/game{number}" for number in range(8))
PIECES = ("C:K^", "C:R", "C:P", "c:p")
SQUARES = tuple(f"{file}{rank}" for rank in range(1, 4) for file in "abcd")
SCHEMA = "https://example.org/crowd"
LEAST = 10  # times that each of a crowd writes or reads

Json = dict[str, Any]
Entry = tuple[str, str, str]


def entries() -> list[Entry]:
    """Every entry of a document: piece, source, destination."""
    return [(piece, source, SQUARES[-1]) for piece in PIECES for source in SQUARES[:-1]]


def document(values: dict[Entry, int]) -> Json:
    """The document whose entries hold these numbers."""
    rules: Json = {"$schema": SCHEMA}
    for piece, source, destination in entries():
        diff = {
            "board": {source: None, destination: piece},
            "hands": {"C:P": values.get((piece, source, destination), 0) + 1},
        }
        rules.setdefault(piece, {}).setdefault(source, {})[destination] = [
            {"must": {destination: "empty"}, "diff": diff}
        ]
    return rules


def values(export: str) -> dict[Entry, int]:
    """The numbers that the entries of a document hold."""
    rules = json.loads(export)
    return {
        (piece, source, destination): rules[piece][source][destination][0]["diff"]["hands"]["C:P"] - 1
        for piece, source, destination in entries()
    }


def start(kind: str, address: str, seconds: float, seed: int, index: int) -> subprocess.Popen[str]:
    """Start one of a crowd."""
    command = [sys.executable, "-m", "tests.support.crowd", kind, address, str(seconds), str(seed), str(index)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")


def write(store: Store, dice: random.Random, number: int) -> Json:
    """Change one entry of one ruleset from the revision that is read first, and tell what became of it."""
    name = dice.choice(RULESETS)
    head = store.ruleset(name)
    found = values(head.export())
    entry = dice.choice(entries()[:6] if dice.random() < 0.5 else entries())  # some are in great demand
    merge = dice.random() < 0.5
    # Others work meanwhile, as they do while somebody edits a file.
    time.sleep(dice.uniform(0, 0.05))
    did = {"name": name, "base": head.revision.number, "entry": entry, "value": number, "merge": merge}
    try:
        revision = store.load(
            parse(document(found | {entry: number})), name, base=str(did["base"]), merge=merge, message=str(number)
        )
    except ConflictError as error:
        return did | {"conflict": str(error).split("\n")[0]}
    return did | {"revision": revision.number, "status": revision.status}


def read(store: Store, dice: random.Random) -> Json:
    """Read one ruleset and tell which revision it was, once it is found to be whole."""
    name = dice.choice(RULESETS)
    ruleset = store.ruleset(name)
    whole = parse(ruleset.export())
    assert whole.digest == ruleset.revision.digest, f"{ruleset.revision} is not what it says"
    moves = ruleset.moves(Position({SQUARES[0]: "C:R", SQUARES[1]: "c:p"}, side="first"))
    assert len(moves) == 1, moves
    return {"name": name, "revision": ruleset.revision.number}


def main() -> None:
    """Write or read until the time is over, but some times in any case: how many does not depend on the machine."""
    kind, address, seconds, seed, index = sys.argv[1:]
    dice = random.Random(f"{seed} {index}")
    end = time.monotonic() + float(seconds)
    first = int(index) * 20_000  # no two write the same
    number = first
    with Store.open(address) as store:
        while time.monotonic() < end or number < first + LEAST:
            number += 1
            print(json.dumps(write(store, dice, number) if kind == "writer" else read(store, dice)), flush=True)


if __name__ == "__main__":
    main()
