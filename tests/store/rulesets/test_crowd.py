"""Sixteen write and sixteen read the same eight rulesets: nothing is lost, seen half, or refused without a reason.

`GGN_SECONDS=120 pytest -m long tests/store/rulesets/test_crowd.py` lets them for two minutes on each database.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from typing import Any

import pytest

from ggn_store import Store, parse
from tests.support.crowd import RULESETS, document, entries, start, values

SECONDS = float(os.environ.get("GGN_SECONDS", "120"))
SEED = int(os.environ.get("GGN_SEED", random.randrange(2**20)))


def crowd(address: str, seconds: float, writers: int, readers: int) -> Counter[str]:
    """Let so many write and read for that long, judge what they did, and count it."""
    print(f"GGN_SEED={SEED}")
    with Store.open(address) as store:
        for name in RULESETS:
            store.load(document({}), name, author="nobody")
    workers = [start("writer", address, seconds, SEED, i) for i in range(writers)]
    workers += [start("reader", address, seconds, SEED, writers + i) for i in range(readers)]
    said = [worker.communicate()[0] for worker in workers]
    for worker, text in zip(workers, said, strict=True):
        assert worker.returncode == 0, text[-3000:]
    told = [[json.loads(line) for line in text.splitlines()] for text in said]
    for reads in told[writers:]:
        judge_reads(reads)
    writes = [each for writer in told[:writers] for each in writer]
    with Store.open(address) as store:
        judge_writes(store, writes)
        assert store.upkeep.check() == []
    counts = Counter("conflict" if "conflict" in each else each["status"] for each in writes)
    counts["read"] = sum(map(len, told[writers:]))
    print(dict(counts))
    return counts


def judge_reads(reads: list[dict[str, Any]]) -> None:
    """No reader sees a head go back."""
    seen: dict[str, int] = {}
    for each in reads:
        assert each["revision"] >= seen.get(each["name"], 1)
        seen[each["name"]] = each["revision"]


def judge_writes(store: Store, writes: list[dict[str, Any]]) -> None:
    """What was acknowledged is there and nothing else is; whoever was refused had a reason."""
    for name in RULESETS:
        done = {each["revision"]: each for each in writes if each["name"] == name and "revision" in each}
        assert len(done) == sum(each["name"] == name and "revision" in each for each in writes)
        head = store.ruleset(name).revision.number
        assert sorted(done) == list(range(2, head + 1))
        history = {1: values(parse(document({})).canonical())}
        for number in range(2, head + 1):
            each = done[number]
            revision = store.ruleset(f"{name}@{number}").revision
            assert (revision.parent, revision.merged) == (number - 1, None)
            assert str(each["value"]) in (revision.message or "")
            assert each["merge"] or each["base"] == number - 1
            # What somebody wrote stands on all that others had written before.
            history[number] = history[number - 1] | {tuple(each["entry"]): each["value"]}
            assert values(store.ruleset(f"{name}@{number}").export()) == history[number]
            # And what was merged was changed by nobody since the base.
            assert len({history[at][tuple(each["entry"])] for at in range(each["base"], number)}) == 1
        for each in writes:
            if each["name"] == name and "conflict" in each:
                later = [history[at][tuple(each["entry"])] for at in range(each["base"], head + 1)]
                assert len(later) > 1
                assert not each["merge"] or len(set(later)) > 1


@pytest.mark.parametrize("writers", [2, *(pytest.param(each, marks=pytest.mark.long) for each in (3, 4))])
def test_a_few_who_write_and_read_lose_nothing(address: str, writers: int) -> None:
    Store.open(address).close()
    counts = crowd(address, 0, writers, 2)
    assert counts["new"] + counts["merged"] > 10
    assert counts["read"] > 10


@pytest.mark.long
def test_sixteen_who_write_and_sixteen_who_read_lose_nothing(address: str) -> None:
    Store.open(address).close()
    counts = crowd(address, SECONDS, 16, 16)
    assert counts["new"] > 100
    assert counts["merged"] > 10
    assert counts["conflict"] > 10
    assert len(entries()) == 44
