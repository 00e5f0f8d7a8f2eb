"""The tools that keep the code in order are part of the tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-m", "ruff", "check", "."],
        [sys.executable, "-m", "ruff", "format", "--check", "."],
        [sys.executable, "-m", "mypy"],
        [str(Path(sys.executable).with_name("lint-imports"))],
    ],
    ids=["ruff check", "ruff format", "mypy --strict", "import-linter"],
)
def test_the_code_is_in_order(command: list[str]) -> None:
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_test_imports_another() -> None:
    """What tests share is in tests/support and tests/oracles; a conftest is for pytest alone."""
    imports = re.compile(r"^\s*(?:from|import) +(tests\.\S*(?:\btest_|\bconftest)\S*.*)$", re.MULTILINE)
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in imports.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == []
