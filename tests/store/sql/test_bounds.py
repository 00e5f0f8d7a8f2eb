"""Queries in bounds: nobody who writes waits for them, what they spill has a cap, and nothing of it is left."""

from __future__ import annotations

import fcntl
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from ggn_store import QueryError, Store, StoreError
from ggn_store.store.database import copying, spill
from ggn_store.store.sql import child, processes
from tests.support.program import Program, child_environment
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run

DOCUMENT: dict[str, Any] = {"C:N": {"b1": {"c3": [{"must": {"c3": "empty"}}]}}}
ENDLESS = "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a, v_moves"
# 30 MB in an index, which SQLite puts into a file of which it keeps 2 MB in memory.
LARGE = (
    "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 100000) "
    f"SELECT count(DISTINCT n || replace(hex(n + 10000000), '3', '{'x' * 32}')) FROM a"
)
EIGHT_MB = "WITH RECURSIVE a(n, x) AS (SELECT 0, 'x' UNION ALL SELECT n + 1, x || x FROM a WHERE n < 23) SELECT max(x)"
LONG = f"({EIGHT_MB} FROM a)"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the directories of queries are."""
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.delenv("SQLITE_TMPDIR", raising=False)
    monkeypatch.setenv("TMPDIR", str(found))
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A SQLite file with a ruleset."""
    found = tmp_path / "store.db"
    with Store.open(str(found)) as store:
        store.load(DOCUMENT, "game")
    return found


def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lines: str) -> None:
    """Have the process that asks run these lines first; `child` is its module."""
    script = tmp_path / "child.py"
    script.write_text(
        "import importlib.util, os, pathlib, sqlite3, threading\n"
        f"spec = importlib.util.spec_from_file_location('sql_child', {child.__file__!r})\n"
        "child = importlib.util.module_from_spec(spec)\n"
        f"spec.loader.exec_module(child)\n{lines}\nmain = child.main\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(child, "__file__", str(script))


# What a query on the file itself finds, it never gets to tell; one on a copy does.
STUCK = """
shares = child.Watch.shares
def shared(self, file):
    shares(self, file)
    child._of_sqlite = lambda _: pathlib.Path("asked").write_text("") and None or threading.Event().wait()
child.Watch.shares = shared
"""


def wait_for(file: Path) -> None:
    while not file.exists():
        threading.Event().wait(0.01)


class Asking(threading.Thread):
    """A query in a thread of its own, and what became of it."""

    def __init__(self, file: Path, query: str, **bounds: Any) -> None:
        super().__init__(daemon=True)
        self._asked = str(file), query, bounds
        self.result: Any = None
        self.start()

    def run(self) -> None:
        file, query, bounds = self._asked
        with Store.open(file) as store:
            try:
                self.result = store.sql(query, **bounds).rows
            except Exception as error:
                self.result = error


def test_a_writer_commits_while_a_query_reads_and_the_answer_is_of_one_state(
    file: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    play(monkeypatch, tmp_path, STUCK)
    count = "(SELECT count(*) FROM v_rulesets)"
    asking = Asking(file, f"SELECT {count}, {count}", timeout=600)
    wait_for(tmp_path / "asked")
    with Store.open(str(file)) as store:
        store.load(DOCUMENT, "other")
        assert [each.name for each in store.revisions()] == ["game", "other"]
    asking.join()
    # The writer had the lock before the query let go of it, so that the copy has what was written.
    assert asking.result == ((2, 2),)
    assert list(place.iterdir()) == []


def test_a_query_that_nobody_waits_for_is_asked_once(
    file: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(monkeypatch, tmp_path, "child._copy = None\nchild._PATIENCE = 0\n")
    with Store.open(str(file)) as store:
        assert store.sql(LARGE, timeout=600).rows == ((100000,),)


def test_without_locks_to_look_at_a_query_gives_way_after_a_while(
    file: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(monkeypatch, tmp_path, f"child.fcntl = None\n{STUCK}")
    monkeypatch.chdir(tmp_path)
    with Store.open(str(file)) as store:
        assert store.sql("SELECT count(*) FROM v_moves", timeout=600).rows == ((1,),)


def test_a_copy_without_room_says_so(file: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = "error = sqlite3.OperationalError('full')\nerror.sqlite_errorcode = sqlite3.SQLITE_FULL\n"
    fails = "def copied(*_):\n    raise error\n"
    replaces = (
        f"import sys\nsys.path += {sys.path!r}\nfrom ggn_store.store.database import copying\ncopying.copied = copied\n"
    )
    play(monkeypatch, tmp_path, f"child.fcntl = None\n{STUCK}{full}{fails}{replaces}")
    monkeypatch.chdir(tmp_path)
    with Store.open(str(file)) as store, pytest.raises(QueryError) as caught:
        store.sql("SELECT count(*) FROM v_moves", timeout=600)
    assert f"no room for a copy of the store in {place}: make room, name another directory (TMPDIR)" in str(
        caught.value
    )


@pytest.mark.parametrize("overtaken", [False, True])
def test_a_copy_is_one_state_whatever_is_written_meanwhile(
    tmp_path: Path, overtaken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tables of several pages, each change of which is in both; the copy is made page by page."""
    monkeypatch.setattr(copying, "_PAGES", 1)
    monkeypatch.setattr(copying, "_LOOK", 0)
    name = str(tmp_path / "file.db")
    with closing(sqlite3.connect(name, isolation_level=None)) as writer:
        numbers = "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 999)"
        writer.execute(f"CREATE TABLE one AS {numbers} SELECT 0 AS x, hex(n) || 'a long text' AS y FROM a")
        writer.execute("CREATE TABLE other AS SELECT * FROM one")
        changes = 0

        class Source(sqlite3.Connection):
            def backup(self, target: Any, **options: Any) -> None:
                def look(*said: int) -> None:
                    nonlocal changes
                    options["progress"](*said)
                    if options["pages"] > 0 and (overtaken or changes < 3):
                        changes += 1
                        writer.executescript("BEGIN; UPDATE one SET x = x + 1; UPDATE other SET x = x + 1; COMMIT")

                super().backup(target, **{**options, "progress": look})

        with closing(sqlite3.connect(name, factory=Source)) as source:
            copy = copying.copied(source, float("inf"))
    with closing(copy):
        states = copy.execute("SELECT x, count(*) FROM (SELECT x FROM one UNION ALL SELECT x FROM other) GROUP BY x")
        assert states.fetchall() == [(changes, 2 * 999)]
        assert changes >= 3
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# --- what it may take ---


def test_temporary_results_spill_up_to_a_cap(file: Path, place: Path) -> None:
    with Store.open(str(file)) as store:
        assert store.sql(LARGE, memory=16, timeout=600).rows == ((100000,),)
        with pytest.raises(QueryError, match=r"needs more than 3 MiB of disk: .* \(--disk\)"):
            store.sql(LARGE, memory=16, disk=3, timeout=600)
        with pytest.raises(QueryError, match=r"needs more than 16 MiB of memory: .* \(--memory\)"):
            store.sql(LARGE, memory=16, disk=0, timeout=600)
    assert list(place.iterdir()) == []


def test_memory_is_what_was_allowed(file: Path) -> None:
    query = f"SELECT length(max({', '.join([LONG] * 3)}))"
    with Store.open(str(file)) as store:
        with pytest.raises(QueryError, match=r"needs more than 24 MiB of memory: .* \(--memory\)"):
            store.sql(query, memory=24, timeout=600)
        assert store.sql(query, memory=256, timeout=600).rows == ((2**23,),)


def test_temporary_results_stay_in_memory_where_nothing_can_be_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "_made", lambda *_: spill.Spill(None, None))
    with Store.open(str(file)) as store:
        assert store.sql(LARGE, timeout=600).rows == ((100000,),)


def test_bounds_have_bounds(file: Path, run: Program) -> None:
    with Store.open(str(file)) as store:
        with pytest.raises(QueryError, match="from 16 to 65,536 MiB of memory; found 1"):
            store.sql("SELECT 1", memory=1)
        with pytest.raises(QueryError, match="up to 1,048,576 MiB of disk; found -1"):
            store.sql("SELECT 1", disk=-1)
        with pytest.raises(QueryError, match="up to 3600 seconds; found 0"):
            store.sql("SELECT 1", timeout=0)
    assert run("--db", str(file), "sql", "--memory", "1", "SELECT 1").code == 2
    assert run("--db", str(file), "sql", "--memory", "16", "--disk", "0", "--timeout", "60", "SELECT 1 AS x").out == (
        '{"x":1}\n'
    )
    found = run("--db", str(file), "sql", "--timeout", "0.1", ENDLESS)
    assert (found.code, "cut off after 0.1 seconds: ask for less, or allow more time (--timeout)" in found.err) == (
        1,
        True,
    )


# --- nothing is left ---


def test_the_directory_is_private_and_goes_with_the_query(place: Path) -> None:
    with spill.directory() as made:
        assert made.path is not None
        assert Path(made.path).parent == place
        assert stat.S_IMODE(os.stat(made.path).st_mode) == 0o700
        (Path(made.path) / "file").touch()
    assert list(place.iterdir()) == []


def test_directories_of_killed_processes_are_removed_and_those_in_use_kept(place: Path) -> None:
    for name in ("ggn-store-sql-dead", "ggn-store-sql-used", "ggn-store-sql-", "other"):
        (place / name).mkdir()
        (place / name / "file").touch()
    (place / "ggn-store-sql-link").symlink_to(place / "other")
    used = os.open(place / "ggn-store-sql-used", os.O_RDONLY)
    fcntl.flock(used, fcntl.LOCK_EX)
    with spill.directory() as made, spill.directory() as another:
        left = {each.name for each in place.iterdir()} - {Path(str(each.path)).name for each in (made, another)}
        assert left == {"ggn-store-sql-used", "ggn-store-sql-link", "other"}
        assert os.path.isdir(str(made.path))
    os.close(used)
    assert (place / "other" / "file").exists()


def test_nothing_is_left_of_a_query_whose_process_is_killed(
    file: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(monkeypatch, tmp_path, "pathlib.Path('pid').write_text(str(os.getpid()))")
    monkeypatch.chdir(tmp_path)
    asking = Asking(file, ENDLESS, timeout=600)
    while not ((pid := tmp_path / "pid").exists() and pid.read_text()):
        threading.Event().wait(0.01)
    assert len(list(place.iterdir())) == 1
    os.kill(int(pid.read_text()), signal.SIGKILL)
    asking.join()
    assert isinstance(asking.result, QueryError)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_query_whose_program_is_ended(
    file: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    asked = tmp_path / "asked"
    play(monkeypatch, tmp_path, f"child.Watch.shares = lambda *_: pathlib.Path({str(asked)!r}).touch()")
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"from ggn_store.store.sql import child; child.__file__ = {child.__file__!r}\n"
        "from ggn_store.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "--db", str(file), "sql", "--timeout", "600", ENDLESS]
    with subprocess.Popen(command, env=child_environment(), stderr=subprocess.DEVNULL) as program:
        wait_for(asked)
        assert len(list(place.iterdir())) == 1
        program.send_signal(how)
    while list(place.iterdir()):  # the process that asks sees to that, and lets go of the file
        threading.Event().wait(0.01)
    with Store.open(str(file)) as store:
        store.load(DOCUMENT, "other")


# --- processes that wait for the next question ---


def waiting_in(store: Store) -> processes.Process:
    """The process that waits for the next question, once it has been started."""
    assert store._processes._next is not None
    store._processes._next.join()
    assert store._processes._next.process is not None
    return store._processes._next.process


def test_the_process_of_the_next_question_waits_until_the_store_is_closed(file: Path, place: Path) -> None:
    with Store.open(str(file)) as store:
        assert store.sql("SELECT 1").rows == ((1,),)
        assert list(place.iterdir()) == []
        for number in range(3):
            assert store.sql("SELECT :n", {"n": number}, ahead=True).rows == ((number,),)
            waiting = waiting_in(store)
            (directory,) = place.iterdir()
        assert store.sql("SELECT 4").rows == ((4,),)
        assert waiting.popen.returncode is not None
        assert list(place.iterdir()) == []
        store.sql("SELECT 5", ahead=True)
        waiting_in(store)
        assert list(place.iterdir()) != [directory]
        store.sql("SELECT 6", ahead=True)
    assert list(place.iterdir()) == []


def has_open(process: int, file: Path) -> bool:
    """Whether a process has a file open; what it closes while its files are listed is not it."""
    for each in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            if os.path.samefile(each, file):
                return True
    return False


@pytest.mark.parametrize("how", ["written", "upgraded", "replaced", "removed"])
def test_a_process_that_waits_has_read_nothing_yet(file: Path, tmp_path: Path, how: str) -> None:
    query = "SELECT ruleset FROM v_rulesets"
    with Store.open(str(file)) as store, Store.open(str(file)) as writer:
        for _ in range(2):
            assert store.sql(query, ahead=True).rows == (("game",),)
        waiting = waiting_in(store)
        while not has_open(waiting.popen.pid, file):
            threading.Event().wait(0.01)
        if how == "written":
            writer.load(DOCUMENT, "other")
        elif how == "upgraded":
            with closing(sqlite3.connect(file)) as connection:
                connection.executescript("DROP VIEW v_rulesets; CREATE VIEW v_rulesets AS SELECT 'other' AS ruleset")
        else:
            file.unlink()
        if how == "removed":
            with pytest.raises(StoreError, match="unable to open"):
                store.sql(query)
            return
        if how == "replaced":
            with Store.open(str(file)) as another:
                another.load(DOCUMENT, "other")
        assert store.sql(query).rows[-1:] == (("other",),)
        assert waiting.popen.returncode is not None


def test_ten_queries_at_once_have_a_process_each_and_leave_one(file: Path, place: Path) -> None:
    with Store.open(str(file)) as store:
        for count in (3, 10):
            with ThreadPoolExecutor(count) as threads:
                asked = [threads.submit(store.sql, "SELECT :n", {"n": n}, ahead=True) for n in range(count)]
            assert [each.result().rows for each in asked] == [((n,),) for n in range(count)]
            waiting_in(store)
            assert len(list(place.iterdir())) == 1
    assert list(place.iterdir()) == []


def test_a_process_that_has_gone_is_waited_for_by_no_question(file: Path, place: Path) -> None:
    with Store.open(str(file)) as store:
        store.sql("SELECT 1", ahead=True)
        gone = waiting_in(store)
        gone.popen.kill()
        gone.popen.wait()
        assert store.sql("SELECT 2").rows == ((2,),)
        assert list(place.iterdir()) == []


def test_a_process_that_waits_goes_with_its_program(file: Path, place: Path) -> None:
    code = (
        "import os, signal; from ggn_store import Store\n"
        f"store = Store.open({str(file)!r}); store.sql('SELECT 1', ahead=True); store._processes._next.join()\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], env=child_environment(), check=False)
    while list(place.iterdir()):
        threading.Event().wait(0.01)
