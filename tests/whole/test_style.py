"""The tools that keep the code in order are part of the tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.guides import PAGES, ROOT, script


def find_no_fault(*command: str) -> None:
    """Run a tool, which ends with 0 where it has nothing to say."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_are_strict_in_the_code_and_in_the_python_of_the_pages(tmp_path: Path) -> None:
    for number, page in enumerate(PAGES.values()):
        (tmp_path / f"page_{number}.py").write_text(script(page), encoding="utf-8")
    pages = sorted(map(str, tmp_path.glob("*.py")))
    find_no_fault(sys.executable, "-m", "mypy", "ggn_store", "migrations", "tests", *pages)


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-m", "ruff", "check", "."],
        [sys.executable, "-m", "ruff", "format", "--check", "."],
        [str(Path(sys.executable).with_name("lint-imports"))],
    ],
    ids=["ruff check", "ruff format", "import-linter"],
)
def test_the_code_is_in_order(command: list[str]) -> None:
    find_no_fault(*command)


def test_no_test_imports_another() -> None:
    """What tests share is in tests/support and tests/oracles; a conftest is for pytest alone."""
    imports = re.compile(r"^\s*(?:from|import) +(tests\.\S*(?:\btest_|\bconftest)\S*.*)$", re.MULTILINE)
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in imports.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def types_of(path: Path) -> Iterator[tuple[str, str]]:
    """The types that a module makes under names of their own, each with what it is; a class is like no other type."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, f"the class of {path.relative_to(ROOT)}"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, ast.unparse(node.value)
            if not name.isupper() and name[0].isupper() and not value.startswith("TypeVar("):
                yield name, value


def test_no_two_modules_give_one_name_to_different_types() -> None:
    known: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / "ggn_store").rglob("*.py")):
        for name, what in types_of(path):
            if not name.startswith("_"):
                known[name].add(what)
    assert len(known) > 100
    assert {name: what for name, what in known.items() if len(what) > 1} == {}
