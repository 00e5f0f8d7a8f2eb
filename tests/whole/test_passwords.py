"""Passwords: whatever the spelling of an address, and wherever it is given, nothing that is printed holds any of it."""

from __future__ import annotations

import re
import string
import traceback
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ggn_store import GgnStoreError, Store, passwords
from tests.support.program import MINI, Program, write
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run

SHAPES = (
    # the scheme forgotten, or misspelt
    "u:{}@h/x",
    "u:{}@h",
    ":{}@h/x",
    "u:{}@h:5432/x?sslmode=require",
    "user.name:{}@h/x",
    "//u:{}@h/x",
    "://u:{}@h/x",
    "postgresql:u:{}@h/x",
    "postgresql:/u:{}@h/x",
    "postgresql//u:{}@h/x",
    "postgres//u:{}@h/x",
    "postgresql;//u:{}@h/x",
    "psql postgresql://u:{}@h/x",
    "jdbc:postgresql://h/x?user=u&password={}",
    "mysql://u:{}@h/x",
    "http://u:{}@h/x",
    "file:u:{}@h/x",
    "sqlite://u:{}@h/x",
    "sqlite:///u:{}@h/x",
    "sqlite:////u:{}@h/x",
    "sqlite:///x?password={}",
    # as it ought to be, or nearly
    "postgresql://u:{}@127.0.0.1:1/x",
    "postgres://u:{}@127.0.0.1:1",
    "postgresql+psycopg://:{}@127.0.0.1:1/x",
    "postgresql://u:{}@/x?host=127.0.0.1&port=1",
    "postgresql://u:{}@127.0.0.1:port/x",
    "postgresql://u:{}@[::1/x",
    "postgresql://u%3A{}@127.0.0.1:1/x",
    "postgresql:///u:{}@127.0.0.1:1/x?host=127.0.0.1&port=1",
    "postgresql://127.0.0.1:1/u:{}@h",
    # in a setting
    "postgresql://127.0.0.1:1/x?password={}",
    "postgresql+psycopg://127.0.0.1:1/x?user=u&password={}",
    "postgresql://127.0.0.1:1/x?user=u&sslpassword={}",
    "postgresql://127.0.0.1:1/x?pasword={}",
    "postgresql://127.0.0.1:1/x?user=u:{}",
    "postgresql://127.0.0.1:1/x?user=u:{}@h",
    "postgresql://127.0.0.1:1/x?port={}",
    "postgresql://127.0.0.1:1/x?sslmode={}",
    "postgresql://127.0.0.1:1/x?password=y&password={}",
    "host=127.0.0.1 port=1 user=u password={} dbname=x",
    "host=127.0.0.1 password='{}' dbname=x",
    "user=u sslpassword = {}",
    "Server=h;Uid=u;Pwd={};",
    "postgresql:///host=127.0.0.1 port=1 password={}",
)
# Where an address belongs, and where it does not.
PLACES: tuple[tuple[str, ...], ...] = (
    ("--db", "{}", "list"),
    ("--db={}", "load", "mini.json"),
    ("--db", "{}", "db", "info"),
    ("--db", "{}", "db", "info", "--format", "json"),
    ("--db", "{}", "db", "upgrade"),
    ("--db", "{}", "sql", "SELECT 1"),
    ("--db", "{}", "moves", "mini", "--explain"),
    ("--db", "{}", "pull", "--remote", "store.db", "mini", "--tries", "1"),
    ("--db", "{}", "push", "--remote", "store.db", "--all", "--tries", "1"),
    ("--db", "store.db", "push", "--remote", "{}", "mini", "--tries", "1"),
    ("--db", "store.db", "pull", "--remote", "{}", "--all", "--tries", "1"),
    ("--db", "store.db", "push", "--remote", "{}", "mini", "--format", "json", "--tries", "1"),
    ("--db", "store.db", "push", "--remote", "other.db", "{}"),
    ("--db", "store.db", "pull", "--remote", "store.db", "{}"),
    ("--db", "store.db", "push", "{}"),
    ("--db", "store.db", "verify", "--against", "{}"),
    ("--db", "store.db", "verify", "{}"),
    ("--db", "store.db", "show", "{}"),
    ("--db", "store.db", "tag", "{}"),
    ("--db", "store.db", "list", "{}"),
    ("--db", "store.db", "list", "--db", "{}"),
    ("--db", "store.db", "export", "mini", "-o", "missing/{}"),
    ("--bd", "{}", "list"),
    ("{}", "list"),
    ("list", "{}"),
    ("load", "{}"),
    ("validate", "{}"),
    ("bundle", "verify", "{}"),
)


def spellings(password: str) -> dict[str, str]:
    return {
        "raw": password,
        "encoded": quote(password, ""),
        "twice": quote(quote(password, ""), ""),
        "with plus": quote_plus(password),
        "quoted": password.replace("\\", "\\\\").replace("'", "\\'"),
    }


def pieces(password: str) -> list[str]:
    """The parts of a password that say something about it on their own."""
    return [part for part in re.split("[^A-Za-z0-9]+", password) if len(part) >= 6]


def require_secret(text: str, password: str) -> None:
    for each in (text, unquote(text), text.encode().decode("unicode_escape", "replace")):
        assert not [part for part in pieces(password) if part in each], text


@pytest.fixture
def place(run: Program) -> Program:
    write("mini.json", MINI)
    assert run("--db", "store.db", "load", "mini.json").code == 0
    return run


@pytest.mark.parametrize("shape", SHAPES)
def test_no_spelling_of_an_address_shows_its_password(place: Program, shape: str) -> None:
    for password in ("sEkret4Marker", "sEkret4@Mar8er/x", "p/sEkret4?Mar8er#:y", "sEkret4 &Mar8er='%41"):
        for spelled in {*spellings(password).values()}:
            said = place("--db", shape.format(spelled), *(("load", "mini.json") if spelled == password else ("list",)))
            assert said.code == 1
            require_secret(said.out + said.err, password)
    assert {path.name for path in Path().iterdir()} == {"mini.json", "store.db"}


@pytest.mark.parametrize("words", PLACES, ids=[" ".join(each) for each in PLACES])
def test_no_place_of_an_address_shows_its_password(place: Program, words: tuple[str, ...]) -> None:
    for shape in ("u:{}@h/x", "postgresql://u:{}@127.0.0.1:1/x", "host=h password={}", "sqlite:///u:{}@h/x"):
        for password in ("sEkret4%40Mar8er/x", "sEkret4Marker" * 9):
            said = place(*(word.format(shape.format(password)) for word in words))
            assert said.code in (1, 2)
            require_secret(said.out + said.err, password)


@pytest.mark.parametrize("name", ["GGN_STORE_URL", "DATABASE_URL", "GGN_STORE_REMOTE"])
@pytest.mark.parametrize("shape", SHAPES[::6])
def test_the_environment_s_address_shows_no_password(
    place: Program, monkeypatch: pytest.MonkeyPatch, name: str, shape: str
) -> None:
    monkeypatch.setenv(name, shape.format("sEkret4Marker"))
    of_remote = tuple(("--db", "store.db", each, "mini", "--tries", "1") for each in ("push", "pull"))
    of_store = (("list",), ("db", "info"))
    for command in of_remote if name == "GGN_STORE_REMOTE" else of_store:
        said = place(*command)
        require_secret(said.out + said.err, "sEkret4Marker")


letters = st.text(string.ascii_letters + string.digits, min_size=6, max_size=12)
marks = st.text("@/:?#%&= +'\"\\;,.-_$\u00e9", max_size=3)
chosen = st.builds(lambda one, mark, other: f"sE{one}{mark}kR{other}", letters, marks, letters)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SHAPES), chosen, st.sampled_from(("raw", "encoded", "twice", "with plus", "quoted")))
@example("postgresql://127.0.0.1:1/x?password={}", "sEabcdef&kRghijkl", "raw")
def test_no_error_in_python_shows_a_password(shape: str, password: str, how: str) -> None:
    address = shape.format(spellings(password)[how])
    try:
        store = Store.at(address)
    except GgnStoreError as error:
        require_secret("".join(traceback.format_exception_only(error)), password)
        return
    require_secret(f"{store!r} {store.session.database}", password)
    with pytest.raises(GgnStoreError) as caught, store:
        Store.open(address, create=False)
    below: BaseException | None = caught.value
    while below is not None:
        require_secret("".join(traceback.format_exception_only(below)), password)
        below = below.__cause__ or (None if below.__suppress_context__ else below.__context__)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("postgresql://u:p@h/x", "postgresql://u:***@h/x"),
        ("postgresql://u@h:5432/x", "postgresql://u@h:5432/x"),
        ("host=h password='a b' dbname=x", "host=h password=*** dbname=x"),
        ("/home/ann/store.db", "/home/ann/store.db"),
        ("ann@home.db", "ann@home.db"),
        ("chess@2", "chess@2"),
        ("C:P e2 e4", "C:P e2 e4"),
    ],
)
def test_only_what_may_be_a_password_is_hidden(text: str, said: str) -> None:
    assert passwords.shown(text) == said


@pytest.mark.parametrize("name", ["ann@home.db", "a=b.db", "a b.db", "./x.db", "pass.db"])
def test_names_of_files_are_still_names_of_files(run: Program, name: str) -> None:
    write("mini.json", MINI)
    assert run("--db", name, "load", "mini.json").code == 0
    assert Path(name).is_file()
    assert f"sqlite:///{name}" in unquote(run("--db", name, "db", "info").out)


def test_a_file_with_a_strange_name_that_is_there_is_used(run: Program) -> None:
    write("mini.json", MINI)
    assert run("--db", "sqlite:///a:b@c.db", "load", "mini.json").code == 1
    assert run("--db", "x.db", "load", "mini.json").code == 0
    Path("x.db").rename("a:b@c.db")
    shown = run("--db", "./a:b@c.db", "db", "info")
    assert (shown.code, "a:***@c.db" in unquote(shown.out)) == (0, True)


def test_a_password_that_is_shown_elsewhere_hides_nothing(run: Program) -> None:
    said = run("--db", "postgresql://postgres:postgres@127.0.0.1:1/postgres", "list")
    assert "postgresql://postgres:***@127.0.0.1:1/postgres: no connection" in said.err
