"""The README is true: its command-line reference is what --help says, and its Python runs.

`python -m tests.whole.test_readme` writes the reference.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

from ggn_store import VIEWS, Store, limits, read_definition
from ggn_store.cli import group

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BEGIN = "<!-- made by `python -m tests.whole.test_readme`; do not edit by hand -->\n"
END = "<!-- end -->"
VIEWS_BEGIN = "<!-- views, made by `python -m tests.whole.test_readme` -->\n"
VIEWS_END = "<!-- end of views -->"
LIMITS_BEGIN = "<!-- limits, made by `python -m tests.whole.test_readme` -->\n"
LIMITS_END = "<!-- end of limits -->"
WIDTH = 100


def reference() -> str:
    """The help of the program and of each of its commands, as Markdown."""
    parts: list[str] = []

    def describe(command: click.Command, name: str, parent: click.Context | None) -> None:
        context = click.Context(
            command, info_name=name, parent=parent, terminal_width=WIDTH, help_option_names=["-h", "--help"]
        )
        parts.append(f"### {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n")
        if isinstance(command, click.Group):
            for child in command.list_commands(context):
                found = command.get_command(context, child)
                assert found is not None
                describe(found, child, context)

    describe(group, "ggn-store", None)
    return "\n".join(parts)


def views() -> str:
    """What views there are, with the names of their columns, as a Markdown table."""
    rows = [f"| `{view.name}` | {view.row} | {', '.join(f'`{name}`' for name in view.names)} |" for view in VIEWS]
    return "\n".join(["| view | a row is | columns |", "|---|---|---|", *rows])


def table_of_limits() -> str:
    """Every limit with what it bounds, as a Markdown table."""
    rows = [
        f"| `{each.name}` | {each.default:,} {each.unit} | {each.bounds} | "
        f"{'fixed' if each.fixed else f'`--limit {each.name}=N`'} |"
        for each in limits.TABLE.values()
    ]
    return "\n".join(["| limit | at most | what it bounds | to change it |", "|---|---|---|---|", *rows])


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def paste(block: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a block as one that pastes it into a shell, in a directory of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GGN_", "PG"))}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "XDG_DATA_HOME": str(directory / "data"),
    }
    return subprocess.run(
        ["bash", "-c", f"set -e\n{block}"],
        cwd=directory,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_reference_is_what_help_says() -> None:
    text = README.read_text(encoding="utf-8")
    written = text.split(BEGIN)[1].split(END)[0].strip()
    assert written == reference().strip(), "the README is stale: run `python -m tests.whole.test_readme`"


def test_the_tour_of_a_team_can_be_pasted(tmp_path: Path) -> None:
    giraffes = next(block for block in blocks("toml") if "Giraffes" in block)
    (tmp_path / "giraffes.toml").write_text(giraffes, encoding="utf-8")
    done = paste(next(block for block in blocks("bash") if "giraffes" in block), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for said in (
        "team/giraffes: 1 revision, 2 of 6 pieces sent, head team/giraffes@2",
        "refused: exit code 3",
        "team/giraffes: 2 revisions (the last one a merge), 2 of 6 pieces sent, head team/giraffes@4",
        "Merge:   team/giraffes@3 team/giraffes@2",
        "team/giraffes:stable: moved, team/giraffes@4",
        "team/giraffes: 4 revisions, 12 of 12 pieces taken, head team/giraffes@4, tag stable",
        "refused: exit code 1",
        "a2 must be empty, too",
    ):
        assert said in done.stdout, f"{said}\n{done.stdout}\n{done.stderr}"
    assert done.stderr.count(": all sound") == 1
    assert "1 ruleset compared: 1 equal" in done.stderr
    assert "ours: 2 pieces, 2 entries: 2 possibilities changed\n" in done.stderr


def test_the_tour_of_a_described_game_can_be_pasted(tmp_path: Path) -> None:
    described = next(block for block in blocks("json") if "Leapfrog" in block)
    (tmp_path / "leapfrog.json").write_text(described, encoding="utf-8")
    done = paste(next(block for block in blocks("bash") if "leapfrog" in block), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "c1      leap    yes      leaper=White|null  a3 c3 e3\n" in done.stdout
    assert "LEAPFROG:F c1 c3 c5[c2= c4= leaper:=White] (leap)\nleapfrog@1: no moves and 1 chain" in done.stdout
    assert '{"board":{"a1":"LEAPFROG:F","c5":"LEAPFROG:F"},"hands":null,"side":"second"' in done.stdout
    assert "leapfrog@1: 4 moves and no chains for first" in done.stdout
    assert done.stdout.count("refused: exit code 1") == 2
    assert "c1 c3 e5: step 2, c3 e5, is not possible" in done.stderr
    assert (tmp_path / "rules.json").is_file()


def test_the_views_are_those_of_the_store() -> None:
    text = README.read_text(encoding="utf-8")
    written = text.split(VIEWS_BEGIN)[1].split(VIEWS_END)[0].strip()
    assert written == views(), "the README is stale: run `python -m tests.whole.test_readme`"
    for view in VIEWS:  # what a column means is in the reference, perhaps on several lines
        for column in view.columns:
            assert f"{column.name} {column.type}: {column.meaning}" in " ".join(text.split())


def test_the_limits_are_those_of_the_program() -> None:
    written = README.read_text(encoding="utf-8").split(LIMITS_BEGIN)[1].split(LIMITS_END)[0].strip()
    assert written == table_of_limits(), "the README is stale: run `python -m tests.whole.test_readme`"


def test_the_python_of_the_tour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)
    assert names["after"] != names["position"]
    # The horse of xiangqi can be hobbled. A knight has 336 moves on 8x8, and 4 x (9 x 6 + 8 x 7) on 10x8.
    assert names["knights"] == [(game, piece) for game in ("capablanca", "chess") for piece in ("C:N", "c:n")]
    mobility = {letter: means for letter, *means in names["mobility"]}
    assert list(mobility) == ["B", "K", "N", "Q", "R"]
    assert (mobility["N"], mobility["R"]) == ([336 / 64, 440 / 80], [14, 16])
    castling = {("capablanca", "f1", "c1"), ("capablanca", "f1", "i1"), ("chess", "e1", "c1"), ("chess", "e1", "g1")}
    assert {(game, source, destination) for game, _, source, destination in names["castling"]} == castling
    assert len(names["frame"]) == names["chess"].document().possibilities


def test_the_sidecar_of_the_tour_is_chess_s_own() -> None:
    example = tomllib.loads(blocks("toml")[0])
    shipped = tomllib.loads((ROOT / "data" / "chess.toml").read_text(encoding="utf-8"))
    assert {key: example[key] for key in ("title", "start", "board")} == {
        key: shipped[key] for key in ("title", "start", "board")
    }


def test_the_game_of_the_tour_is_one() -> None:
    [game] = blocks("toml")[1:]
    assert len(game.splitlines()) < 30
    with Store.open("sqlite://") as store:
        store.load(read_definition(game), "giraffes")
        giraffes = store.ruleset("giraffes")
        assert f"{giraffes.document().possibilities:,} possibilities" in README.read_text(encoding="utf-8")
        assert [move.destination for move in giraffes.moves(giraffes.position(), source="a1")] == ["b5"]


if __name__ == "__main__":
    before, rest = README.read_text(encoding="utf-8").split(VIEWS_BEGIN)
    made = f"{before}{VIEWS_BEGIN}{views()}\n{VIEWS_END}{rest.split(VIEWS_END)[1]}"
    before, rest = made.split(LIMITS_BEGIN)
    made = f"{before}{LIMITS_BEGIN}{table_of_limits()}\n{LIMITS_END}{rest.split(LIMITS_END)[1]}"
    before, rest = made.split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n{reference()}\n{END}{rest.split(END)[1]}", encoding="utf-8")
