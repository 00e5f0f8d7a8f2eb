"""Addresses and files of stores: what cannot be used is one clear error, which never shows a password."""

from __future__ import annotations

import sqlite3
import traceback
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url, text

import ggn_store
from ggn_store import Store, StoreError
from tests.support.postgres import Server
from tests.support.stored import BOARD, DIFF, MUST_DENY, changed, raw, text_of


def use(address: str, *, upgrade: bool = False) -> None:
    """Open a store and ask it something."""
    with Store.open(address, upgrade=upgrade) as store:
        store.list()


def test_moves_need_no_right_to_write(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(DIFF, "game")
        expected = store.ruleset("game").moves(BOARD)
    before = path.read_bytes()
    path.chmod(0o444)
    # Whoever is root may write nevertheless: what opens the file must not.
    with Store.open(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        game = store.ruleset("game")
        assert game.moves(BOARD) == expected
        assert game.moves_batch([BOARD] * 3) == [expected] * 3
        assert game.export() == text_of(DIFF)
        assert store.upkeep.check() == []
        for write in (lambda: store.load(MUST_DENY, "other"), lambda: store.delete("game")):
            with pytest.raises(StoreError, match="read-only for you; nothing was stored"):
                write()
        assert store.load(DIFF, "game").status == "unchanged"  # which writes nothing
        assert game.moves(BOARD) == expected
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["store.db"]


SECRET = "tOp-sEcret"
ADDRESSES_WITH_PASSWORDS = (
    f"postgresql://ann:{SECRET}@127.0.0.1:1/db",
    f"postgres://ann:{SECRET}@no-such-host.invalid/db",
    f"postgresql+psycopg2://ann:{SECRET}@127.0.0.1:1/db?application_name=x",
    f"postgresql://ann@127.0.0.1:1/db?password={SECRET}",
    f"postgresql://127.0.0.1:1/db?user=ann&password={SECRET}&passfile=/none",
    f"postgresql://ann:{SECRET}@127.0.0.1:1/db?nonsense=1",
    f"postgresql://ann:{SECRET}@127.0.0.1:port/db",
    f"postgresql://ann:with:{SECRET}@127.0.0.1:{SECRET}/db",
    f"postgresql://ann:{SECRET}@[::1/db",
    f"mysql://ann:{SECRET}@127.0.0.1/db",
    f"nonsense+{SECRET}://ann:{SECRET}@127.0.0.1/db",
    f"://ann:{SECRET}@127.0.0.1/db",
)


def check_error(error: StoreError) -> str:
    """Assert that an error is one clear line without the password, and that nothing below it knows it either."""
    message = str(error)
    assert "\n" not in message
    assert message
    assert SECRET not in message
    # What Python prints of an uncaught error also quotes the lines of code, which a user's program wrote.
    below = [error, error.__cause__] if error.__suppress_context__ else [error, error.__cause__, error.__context__]
    assert all(SECRET not in "".join(traceback.format_exception_only(each)) for each in below if each)
    return message


@pytest.mark.parametrize("address", ADDRESSES_WITH_PASSWORDS)
def test_a_password_is_never_shown(address: str) -> None:
    with pytest.raises(StoreError) as caught:
        use(address)
    check_error(caught.value)
    try:
        store = Store.at(address)  # connects to nothing
    except StoreError as error:
        check_error(error)
    else:
        assert SECRET not in repr(store)
        assert SECRET not in str(store.session.database)
        with pytest.raises(StoreError) as caught:
            store.info()
        check_error(caught.value)


def with_password(address: str) -> str:
    return make_url(address).set(password=SECRET).render_as_string(hide_password=False)


def test_a_password_is_not_shown_by_a_store_that_works(postgres_server: Server) -> None:
    address = postgres_server.create_database()
    secret = with_password(address)
    with pytest.raises(StoreError, match="empty") as caught:
        use(secret)
    check_error(caught.value)
    with Store.open(secret, upgrade=True) as store:
        rules = ggn_store.ruleset(DIFF)
        store.load(DIFF, "game")
        rules = store.ruleset("game")
        assert SECRET not in f"{store!r} {store} {rules!r} {rules} {store.info()}"
        with raw(address) as connection:
            connection.execute(text("DROP VIEW moves_flat CASCADE"))
            connection.execute(text("DROP TABLE hand_effect CASCADE"))
        for ask in (lambda: rules.export(), lambda: store.load(changed(DIFF), "game"), lambda: store.upkeep.check()):
            with pytest.raises(StoreError, match="a table is missing") as caught:
                ask()
            check_error(caught.value)
    postgres_server.drop_database(address)


def test_a_server_that_cannot_be_reached_is_a_clear_error() -> None:
    with pytest.raises(StoreError, match=r"^postgresql://ann@127\.0\.0\.1:1/db: .* refused") as caught:
        use("postgresql://ann@127.0.0.1:1/db")
    check_error(caught.value)


def test_a_missing_database_is_a_clear_error(postgres_server: Server) -> None:
    url = make_url(postgres_server.url).set(database="ggn_test_of_nobody", password=SECRET)
    with pytest.raises(StoreError, match=r"ggn_test_of_nobody.* does not exist") as caught:
        use(url.render_as_string(hide_password=False))
    assert "cannot be reached" not in check_error(caught.value)


def test_an_unknown_user_is_a_clear_error(postgres_server: Server) -> None:
    url = make_url(postgres_server.url).set(username="ggn_test_nobody", password=SECRET)
    with pytest.raises(StoreError, match=r"ggn_test_nobody.* does not exist") as caught:
        use(url.render_as_string(hide_password=False))
    check_error(caught.value)


def test_what_is_no_sqlite_database_is_a_clear_error_and_left_alone(tmp_path: Path) -> None:
    for name, content in (("text.db", b"Dear diary,\n" * 1000), ("short.db", b"chess")):
        path = tmp_path / name
        path.write_bytes(content)
        for upgrade in (False, True):
            with pytest.raises(StoreError, match="is not a SQLite database") as caught:
                use(str(path), upgrade=upgrade)
            check_error(caught.value)
        assert path.read_bytes() == content


def test_a_damaged_file_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(DIFF, "game")
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(StoreError, match="damaged: restore it") as caught, Store.open(str(path)) as store:
        store.ruleset("game").export()
    check_error(caught.value)


@pytest.mark.parametrize("upgrade", [False, True])
def test_the_database_of_another_program_is_named_and_left_alone(tmp_path: Path, upgrade: bool) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE piece (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("INSERT INTO piece VALUES (1, 'rook')")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"tables of something else|already exists") as caught:
        use(str(path), upgrade=upgrade)
    check_error(caught.value)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["other.db"]


@pytest.mark.parametrize("upgrade", [False, True])
def test_a_missing_directory_is_a_clear_error(tmp_path: Path, upgrade: bool) -> None:
    with pytest.raises(StoreError, match="directory") as caught:
        use(f"sqlite:///{tmp_path}/missing/store.db", upgrade=upgrade)
    check_error(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_as_a_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"directory|cannot be opened") as caught:
        use(str(tmp_path))
    check_error(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "address",
    [
        "",
        "mysql://a@b/c",
        "postgresql:/a",
        "sqlite://host/x.db",
        "://",
        "sqlite:///x.db?nonsense=1",
        "a\0b.db",
        "http://x/y",
    ],
)
def test_what_is_no_address_of_a_store_is_a_clear_error(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError) as caught:
        use(address)
    check_error(caught.value)
    assert list(tmp_path.iterdir()) == []
