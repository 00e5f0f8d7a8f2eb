"""The users' pages as tests: the blocks of the README and the guides, run in order, with what they show compared.

A ```console block holds commands behind `$ ` and what they print: `...` stands for anything, and nothing shown means
that nothing is compared; a comment says which exit code is expected, if not 0. A ```python block with `>>>` is a
doctest, another one is run. A block of any other language is a file where the line before it ends with the file's name,
as in "`giraffes.toml`:".
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any, TextIO
from unittest.mock import patch

from ggn_store import guides
from ggn_store.cli import main

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
GUIDES = Path(guides.__file__).parent
PAGES = {"README": README} | {topic: GUIDES / f"{topic}.md" for topic in guides.TOPICS}

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w.-]+)`:$")
_COMMENT = re.compile(r"(^|\s+)# .*$", re.MULTILINE)
_CODE = re.compile(r"# .*exit code (\d+)")
_SHELL = re.compile(r"[|<>&;()*]|\$\(")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `file` is the name that the page gives it."""

    language: str
    text: str
    line: int
    file: str | None

    @property
    def installs(self) -> bool:
        """Whether it is one of the README's blocks that install the package, which `.ci/run` runs."""
        return self.language == "console" and not self.text.startswith("$ ")


@dataclass(frozen=True)
class Step:
    """A command of a ```console block, and what the page shows of its output."""

    command: str
    shown: str
    code: int = 0

    def agrees(self, printed: str) -> bool:
        """Whether the command has printed what the page shows, where it shows something."""
        pattern = "".join(
            r"(?:.*\n)*?" if line == "..." else re.escape(line.rstrip()).replace(r"\.\.\.", ".*?") + r"\n"
            for line in self.shown.splitlines()
        )
        found = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
        return not pattern or re.fullmatch(pattern, found) is not None


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    found = []
    for match in _BLOCK.finditer(text):
        before = text[: match.start()].rstrip().rpartition("\n")[2]
        name = _FILE.search(before)
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match[1], match[2], line, name[1] if name else None))
    return found


def script(page: Path) -> str:
    """The Python of a page as a file of a user's: the blocks that are no doctests."""
    found = blocks(page.read_text(encoding="utf-8"))
    return "\n".join(block.text for block in found if block.language == "python" and ">>>" not in block.text)


def steps(block: Block) -> Iterator[Step]:
    """The commands of a ```console block; one whose quotes are open, or that ends with a backslash, goes on."""
    command: list[str] = []
    shown: list[str] = []
    for line in [*block.text.splitlines(), "$ "]:
        if command and _goes_on("\n".join(command)):
            command.append(line)
        elif line.startswith("$ "):
            if command:
                text = "\n".join(command)
                code = _CODE.search(text)
                yield Step(_COMMENT.sub("", text), "\n".join(shown), int(code[1]) if code else 0)
            command, shown = [line[2:]], []
        else:
            shown.append(line)


def _goes_on(command: str) -> bool:
    if command.endswith("\\"):
        return True
    try:
        shlex.split(_COMMENT.sub("", command))
    except ValueError:
        return True
    return False


@dataclass
class Page:
    """A page as it is run, in the present directory: in this process, or `installed` and so by processes alone.

    What `environment` holds at the beginning is not changed by the page's own `export`.
    """

    path: Path
    environment: dict[str, str]
    installed: bool = False
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def run(self) -> None:
        """Run all blocks; the first that does something else than the page says is an AssertionError."""
        with patch.dict(os.environ, self.environment):
            self._blocks()

    def _blocks(self) -> None:
        for block in blocks(self.path.read_text(encoding="utf-8")):
            at = f"{self.path.name}:{block.line}"
            if block.language == "console" and not block.installs:
                for step in steps(block):
                    self._command(step, at)
            elif block.language == "python":
                self._python(block, at)
            elif block.file is not None:
                Path(block.file).write_text(block.text, encoding="utf-8")

    def close(self) -> None:
        """Close what the Python of the page has left open."""
        for value in self.names.values():
            if hasattr(value, "close") and not isinstance(value, type):
                value.close()
        self.names.clear()

    def _command(self, step: Step, at: str) -> None:
        words = shlex.split(Template(step.command).safe_substitute(self.environment).replace("\\\n", " "))
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            os.environ[name] = self.environment.setdefault(name, value)
            return
        quoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", step.command)
        if words[0] == "ggn-store" and not self.installed and not _SHELL.search(quoted):
            code, printed = in_process(words[1:])
        else:
            code, printed = self.process(["bash", "-c", f"set -o pipefail\n{step.command}"])
        assert step.agrees(printed), f"{at}: {step.command}\nshown:\n{step.shown}\nprinted:\n{printed}"
        assert code == step.code, f"{at}: {step.command}\nexit code {code}\n{printed}"

    def _python(self, block: Block, at: str) -> None:
        if self.installed:
            code, printed = self.process([sys.executable, "-c", _SCRIPT, at], block.text)
            assert code == 0, f"{at}: {printed}"
        else:
            run_python(block.text, self.names, at)

    def process(self, command: list[str], stdin: str = "") -> tuple[int, str]:
        done = subprocess.run(
            command,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout


_SCRIPT = "import sys; exec(compile(sys.stdin.read(), sys.argv[1], 'exec'))"


def run_python(text: str, names: dict[str, Any], at: str) -> None:
    """Run a ```python block with the names of those before it: as a doctest where it has prompts."""
    if ">>>" not in text:
        exec(compile(text, at, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(text, names, at, None, None)
    test.globs = names  # the parser makes a copy
    written: list[str] = []
    runner = doctest.DocTestRunner(optionflags=_FLAGS)
    runner.run(test, out=written.append, clear_globs=False)
    assert not runner.failures, "".join(written)


def _opened(number: int) -> TextIO:
    return open(number, "w", encoding="utf-8", closefd=False)


def in_process(words: list[str]) -> tuple[int, str]:
    """Run the program here; its exit code, and what it wrote to standard output and standard error as they came."""
    before, streams, argv = (os.dup(1), os.dup(2)), (sys.stdin, sys.stdout, sys.stderr), sys.argv
    with tempfile.TemporaryFile() as file, open(os.devnull, encoding="utf-8") as nothing:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            sys.stdin, sys.argv = nothing, ["ggn-store", *words]
            sys.stdout, sys.stderr = map(_opened, (1, 2))
            main()
        except SystemExit as end:
            code = end.code
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.close()
            (sys.stdin, sys.stdout, sys.stderr), sys.argv = streams, argv
            for number in (1, 2):
                os.dup2(before[number - 1], number)
                os.close(before[number - 1])
        file.seek(0)
        printed = file.read().decode()
    assert isinstance(code, int)
    return code, printed
