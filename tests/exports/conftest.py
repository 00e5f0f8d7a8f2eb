"""A store whose rows are exported, and the program in a directory of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from ggn_store import Store
from tests.support.exported import fill
from tests.support.program import Program


@pytest.fixture
def filled(store: Store) -> Store:
    fill(store)
    return store


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Program:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Program(capfd, monkeypatch)
