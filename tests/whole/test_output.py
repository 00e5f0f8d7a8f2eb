"""What is written: every command that writes a file or a directory, into each kind of target.

The commands are those of the command line that have -o, and three that name their target in another way.
"""

from __future__ import annotations

import ctypes
import errno
import os
import pwd
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from ggn_store import InputError, Store, output
from ggn_store.cli import group
from tests.support.gdl_tiny import tiny
from tests.support.program import MINI, MINI_START, QUICK, QUICKER, Program, Result, write
from tests.support.program import run as run

OLD = b"what was there before"
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@dataclass(frozen=True)
class Writer:
    """A command that writes: its words, in which {} is the target, and what it reads.

    `ending` is what the target's name must end with; `replaces` whether it writes over a file that is there.
    """

    words: str
    stdin: str = ""
    ending: str = ""
    replaces: bool = True


FILES = {
    "new": Writer("new mine --like micro -o {}", replaces=False),
    "generate": Writer("generate micro -o {}"),
    "convert": Writer("convert mini.json --to diff -o {}"),
    "gdl compile": Writer("gdl compile tiny.json -o {}"),
    "draw": Writer("draw mini -o {}", ending=".svg"),
    "sql": Writer("sql -o {} --format csv SELECT(piece)FROM(v_pieces)"),
    "export": Writer("export mini -o {}"),
    "proposal": Writer("proposal mine#1 --document -o {}"),
    "schema": Writer("schema diff -o {}"),
}
OTHERS = {
    "bundle create": Writer("bundle create {} mini"),
    "sql as Parquet": Writer("sql -o {} --format parquet SELECT(piece)FROM(v_pieces)"),
    "play": Writer("play mini --moves -", stdin="* c1\nsave {}\nquit\n", replaces=False),
    "draw as PNG": Writer("draw mini -o {}", ending=".png"),
}
DIRECTORIES = {
    "site": Writer("site -o {}"),
    "compile": Writer("compile mini -o {}"),
    "import": Writer("import mine.ini -o {}"),
}
OTHER_DIRECTORIES = {
    f"export --format {form}": Writer(f"export --format {form} {{}}") for form in ("csv", "sqlite", "parquet", "duckdb")
} | {
    "compile --positions": Writer("compile mini --positions positions.ndjson -o {}"),
    "diff --pictures": Writer("diff mini --pictures {}"),
    "proposal --pictures": Writer("proposal mine#1 --pictures {}"),
}
ALL = FILES | OTHERS
ALL_DIRECTORIES = DIRECTORIES | OTHER_DIRECTORIES


def options_of(command: click.Command, name: str = "") -> Iterator[str]:
    """The names of the commands that have -o."""
    if isinstance(command, click.Group):
        with click.Context(command) as ctx:
            for each in command.list_commands(ctx):
                found = command.get_command(ctx, each)
                assert found is not None
                yield from options_of(found, f"{name} {each}".strip())
    elif any("-o" in parameter.opts for parameter in command.params):
        yield name


def test_every_command_with_an_output_is_in_the_table() -> None:
    # What `moves` writes, Spark's executors do: see the tests of Spark.
    assert set(options_of(group)) - {"moves"} == set(FILES) | set(DIRECTORIES)


@pytest.fixture(scope="module")
def filled() -> Iterator[Path]:
    """A directory that everybody can come to, with a store and files to read."""
    directory = Path(tempfile.mkdtemp(prefix="ggn-output-"))
    before = Path.cwd()
    os.chdir(directory)
    directory.chmod(0o755)
    write("mini.json", MINI)
    write("mini.toml", f'start = "{MINI_START}"\nboard = "3x3"\n')
    write("tiny.json", tiny())
    write("mine.ini", "[mine:chess]\n[other:chess]\n")
    write("positions.ndjson", f'"{MINI_START}"\n')
    with Store.open("store.db") as store:
        [*store.load_all(["mini.json"])]
        store.load(QUICK, "mine")
        store.reviews.propose(QUICKER, "mine", author="Ann")
    Path("store.db").chmod(0o644)
    os.chdir(before)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def place(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory to work in, in which `out` is for what is written."""
    monkeypatch.chdir(filled)
    monkeypatch.setenv("HOME", str(filled))
    out = filled / "out"
    out.mkdir()
    yield out
    out.chmod(0o755)
    shutil.rmtree(out)


Do = Callable[[Writer, Path | str], Result]


@pytest.fixture
def do(run: Program, place: Path) -> Do:
    """Run a writer into a target."""

    def done(writer: Writer, target: Path | str) -> Result:
        words = [word.format(target).replace("(", " ").replace(")", " ") for word in writer.words.split()]
        return run("--db", "store.db", *words, stdin=writer.stdin.format(target))

    return done


@pytest.fixture
def expected(do: Do, place: Path) -> Callable[[Writer], bytes]:
    """What a writer writes."""

    def written(writer: Writer) -> bytes:
        plain = place / f"plain{writer.ending}"
        result = do(writer, plain)
        assert result.code == 0, result.err
        data = plain.read_bytes()
        assert data
        for each in place.iterdir():
            each.unlink()
        return data

    return written


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


every_writer = pytest.mark.parametrize("name", ALL)
every_replacing_writer = pytest.mark.parametrize("name", [name for name, each in ALL.items() if each.replaces])
every_directory = pytest.mark.parametrize("name", ALL_DIRECTORIES)


# --- regular files ---


@every_writer
def test_a_new_file_has_the_usual_mode(do: Do, place: Path, name: str) -> None:
    target = place / f"new{ALL[name].ending}"
    for mask in (0o022, 0o077):
        before = os.umask(mask)
        try:
            assert do(ALL[name], target).code == 0
        finally:
            os.umask(before)
        assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask
        assert names(place) == [target.name]
        target.unlink()


@every_replacing_writer
def test_a_file_is_replaced_and_keeps_its_mode_and_owner(
    do: Do, expected: Callable[[Writer], bytes], place: Path, name: str
) -> None:
    data = expected(ALL[name])
    target, other = place / f"old{ALL[name].ending}", place / "other"
    for mode in (0o600, 0o777):
        target.write_bytes(OLD)
        target.chmod(mode)
        if IS_ROOT:
            os.chown(target, 65534, 65533)
        os.link(target, other)
        assert do(ALL[name], target).code == 0
        status = target.stat()
        assert (target.read_bytes(), stat.S_IMODE(status.st_mode)) == (data, mode)
        if IS_ROOT:
            assert (status.st_uid, status.st_gid) == (65534, 65533)
        assert other.read_bytes() == OLD, "its other name has what it had: never half of what is new"
        other.unlink()
    assert names(place) == [target.name]


@every_writer
@pytest.mark.parametrize("kind", ["relative", "absolute", "of a link", "to nothing"])
def test_a_link_stays_a_link_and_what_it_names_is_written(
    do: Do, expected: Callable[[Writer], bytes], place: Path, name: str, kind: str
) -> None:
    writer = ALL[name]
    if not writer.replaces and kind != "to nothing":
        pytest.skip("it writes over nothing")
    if kind in ("relative", "absolute") and name not in ("generate", "draw as PNG"):
        pytest.skip("a link of a link is both")
    data = expected(writer)
    (place / "below").mkdir()
    aim, link = place / "below" / "aim", place / f"link{writer.ending}"
    if kind != "to nothing":
        aim.write_bytes(OLD)
        aim.chmod(0o600)
    link.symlink_to(aim if kind == "absolute" else "again" if kind == "of a link" else "below/aim")
    (place / "again").symlink_to("below/aim")
    before = link.readlink()
    assert do(writer, link).code == 0
    assert (link.readlink(), aim.read_bytes()) == (before, data)
    if kind != "to nothing":
        assert stat.S_IMODE(aim.stat().st_mode) == 0o600
    assert names(place / "below") == ["aim"]
    assert names(place) == sorted(["again", "below", link.name])


# --- what is written into as it is ---


@contextmanager
def read_along(fifo: Path, into: list[bytes]) -> Iterator[None]:
    """Read a FIFO to its end meanwhile."""
    reader = threading.Thread(target=lambda: into.append(fifo.read_bytes()), daemon=True)
    reader.start()
    yield
    with suppress(OSError):  # where nobody wrote, the reader still waits for it
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    reader.join()


@every_writer
@pytest.mark.parametrize("linked", [False, True])
def test_a_fifo_gets_the_bytes_and_stays_one(
    do: Do, expected: Callable[[Writer], bytes], place: Path, name: str, linked: bool
) -> None:
    data = expected(ALL[name])
    fifo = target = place / f"fifo{ALL[name].ending}"
    os.mkfifo(fifo)
    if linked:
        target = place / f"link{ALL[name].ending}"
        target.symlink_to(fifo.name)
    found: list[bytes] = []
    with read_along(fifo, found):
        assert do(ALL[name], target).code == 0
    assert found == [data]
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    assert names(place) == sorted({fifo.name, target.name})


@every_writer
def test_an_open_file_gets_the_bytes_where_it_is(
    do: Do, expected: Callable[[Writer], bytes], place: Path, name: str
) -> None:
    writer = ALL[name]
    data = expected(writer)
    with open(place / "log", "wb") as stream:
        stream.write(OLD)
        stream.flush()
        for directory in ("/dev/fd", "/proc/self/fd", f"/proc/{os.getpid()}/fd"):
            link = place / f"link{writer.ending}"
            link.symlink_to(f"{directory}/{stream.fileno()}")
            assert do(writer, link).code == 0
            if name != "draw as PNG":
                assert do(writer, f"{directory}/{stream.fileno()}").code == 0
            link.unlink()
    assert (place / "log").read_bytes() == OLD + data * (3 if name == "draw as PNG" else 6)
    assert names(place) == ["log"]


@pytest.mark.parametrize(
    "name", [name for name in ALL if name not in ("bundle create", "sql as Parquet", "draw as PNG")]
)
def test_standard_output_and_error_get_the_bytes(
    do: Do, expected: Callable[[Writer], bytes], place: Path, name: str
) -> None:
    data = expected(ALL[name]).decode()
    said = do(ALL[name], "/dev/stdout")
    assert (said.code, said.out.count(data)) == (0, 1)
    said = do(ALL[name], "/dev/stderr")
    assert (said.code, said.err.count(data)) == (0, 1)
    assert names(place) == []


@every_writer
def test_a_socket_that_is_open_gets_the_bytes(
    do: Do, expected: Callable[[Writer], bytes], place: Path, name: str
) -> None:
    data = expected(ALL[name])
    ours, theirs = socket.socketpair()
    found: list[bytes] = []

    def read() -> None:
        with ours.makefile("rb") as stream:
            found.append(stream.read())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    link = place / f"link{ALL[name].ending}"
    link.symlink_to(f"/dev/fd/{theirs.fileno()}")
    result = do(ALL[name], link)
    theirs.close()
    reader.join()
    ours.close()
    assert (result.code, found) == (0, [data])


def device(place: Path, name: str, minor: int) -> Path:
    """A device of the machine, or as root a copy: what fails must not take the machine's away."""
    if not IS_ROOT:
        return Path("/dev") / name
    made = place / name
    try:
        os.mknod(made, stat.S_IFCHR, os.makedev(1, minor))
        made.chmod(0o666)
        made.open("wb").close()
    except OSError as error:
        pytest.skip(f"no devices can be made here: {error}")
    return made


@every_writer
@pytest.mark.parametrize(("kind", "minor", "code"), [("null", 3, 0), ("full", 7, 1)])
def test_a_device_is_written_into(do: Do, place: Path, name: str, kind: str, minor: int, code: int) -> None:
    made = device(place, kind, minor)
    link = place / f"link{ALL[name].ending}"
    link.symlink_to(made)
    for target in (made, link)[1 if ALL[name].ending == ".png" else 0 :]:
        before = made.lstat()
        result = do(ALL[name], target)
        assert result.code == (code if ALL[name].replaces else 1 if kind == "full" else 0), result.err
        if kind == "full":
            assert f"{target}: cannot be written: No space left on device" in result.err
        after = made.lstat()
        assert (after.st_mode, after.st_rdev, after.st_ino) == (before.st_mode, before.st_rdev, before.st_ino)


# --- what cannot be written ---


def bad_targets(place: Path, ending: str) -> dict[str, tuple[str, str]]:
    """Kinds of targets that cannot be written: the target, and what is said."""
    (place / f"directory{ending}").mkdir(exist_ok=True)
    (place / f"loop{ending}").symlink_to(f"loop{ending}")
    (place / "file").write_bytes(OLD)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place / f"socket{ending}"))
    return {
        "a directory": (f"{place}/directory{ending}", "Is a directory"),
        "a missing directory": (f"{place}/missing/out{ending}", "No such file or directory"),
        "below a file": (f"{place}/file/out{ending}", "Not a directory"),
        "a loop": (f"{place}/loop{ending}", "Too many levels of symbolic links"),
        "a long name": (f"{place}/{'x' * 300}{ending}", "File name too long"),
        "a socket": (f"{place}/socket{ending}", "No such device or address"),
        "a closed file": ("/dev/fd/9999", "Bad file descriptor"),
    }


@every_writer
def test_what_cannot_be_written_is_said_with_its_own_error(do: Do, place: Path, name: str) -> None:
    writer = ALL[name]
    for kind, (target, said) in bad_targets(place, writer.ending).items():
        if kind == "a closed file" and writer.ending == ".png":
            continue
        before = names(place)
        result = do(writer, target)
        assert result.code == 1, kind
        if writer.replaces or "such a file" not in result.err:
            assert result.err.endswith(f"{target}: cannot be written: {said}\n"), kind
        assert result.err.count("\n") == 1, kind
        assert names(place) == before, kind
    assert (place / "file").read_bytes() == OLD


@every_replacing_writer
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_late_error_leaves_the_old_file_and_is_not_hidden_by_what_follows(
    do: Do, place: Path, name: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = place / f"old{ALL[name].ending}"
    target.write_bytes(OLD)

    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    def refuse(_: Path, *__: object, **___: object) -> None:
        raise OSError(errno.EPERM, "the clean-up")

    monkeypatch.setattr(os, "fsync", fail)
    result = do(ALL[name], target)
    assert (result.code, result.err) == (1, f"Error: {target}: cannot be written: {os.strerror(number)}\n")
    assert (target.read_bytes(), names(place)) == (OLD, [target.name])
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        assert do(ALL[name], target).err == result.err
    assert target.read_bytes() == OLD


@every_writer
def test_an_interrupt_leaves_nothing(do: Do, place: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    assert do(ALL[name], place / f"new{ALL[name].ending}").code == 130
    assert names(place) == []


# --- as an ordinary user ---


# What lets root pass over the rights of files: CAP_CHOWN, _DAC_OVERRIDE, _DAC_READ_SEARCH, _FOWNER and _FSETID.
_PASSING_OVER = 0b11111


@contextmanager
def ordinary() -> Iterator[None]:
    """Let the rights of files hold for this thread, where it is root's, too."""
    if not IS_ROOT:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable, twice 32 of them
    assert libc.capget(header, sets) == 0
    before = sets[0]
    sets[0] = before & ~_PASSING_OVER
    assert libc.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = before
        assert libc.capset(header, sets) == 0


@every_replacing_writer
def test_rights_that_lack_are_said_and_nothing_is_changed(
    do: Do, expected: Callable[[Writer], bytes], place: Path, name: str
) -> None:
    writer = ALL[name]
    data = expected(writer)
    old, closed = place / f"old{writer.ending}", place / "closed"
    closed.mkdir()
    inside = closed / f"old{writer.ending}"
    for each in (old, inside):
        each.write_bytes(OLD)
    with ordinary():
        old.chmod(0o444)
        closed.chmod(0o555)
        denied = [do(writer, target) for target in (old, closed / f"new{writer.ending}", inside)]
        old.chmod(0o640)
        assert do(writer, old).code == 0
    assert [each.code for each in denied] == [1, 1, 1]
    for result in denied:
        assert result.err.count("\n") == 1
        assert result.err.endswith(": Permission denied\n")
    assert f"{inside}: cannot be written: no new file" in denied[2].err
    assert (old.read_bytes(), stat.S_IMODE(old.stat().st_mode)) == (data, 0o640)
    assert (inside.read_bytes(), names(closed)) == (OLD, [inside.name])
    closed.chmod(0o755)


@pytest.mark.skipif(not IS_ROOT, reason="only root makes files of others")
def test_a_file_of_somebody_else_s_keeps_its_group_where_it_can_and_its_mode(place: Path) -> None:
    target = place / "shared"
    target.write_bytes(OLD)
    nobody = pwd.getpwnam("nobody")
    os.chown(target, nobody.pw_uid, nobody.pw_gid)
    target.chmod(0o6666)
    with ordinary(), output.new_file(target) as stream:
        stream.write(b"new")
    status = target.stat()
    assert (target.read_bytes(), status.st_uid) == (b"new", 0)
    assert stat.S_IMODE(status.st_mode) == 0o666, "but nobody's program becomes another user's"


@pytest.mark.parametrize("name", ["null", "full"])
def test_an_ordinary_user_writes_into_devices(place: Path, name: str) -> None:
    made = device(place, name, {"null": 3, "full": 7}[name])
    with ordinary():
        if name == "full":
            with pytest.raises(InputError, match=r"full: cannot be written: No space left on device$"):
                _put(made)
        else:
            _put(made)
    assert stat.S_ISCHR(made.lstat().st_mode)


def _put(target: Path) -> None:
    with output.new_file(target) as stream:
        stream.write(b"x" * 100_000)


# --- directories ---


@every_directory
def test_a_directory_is_new_or_takes_the_place_of_an_empty_one(do: Do, place: Path, name: str) -> None:
    (place / "empty").mkdir(mode=0o700)
    (place / "link").symlink_to("empty")
    assert do(ALL_DIRECTORIES[name], place / "new" / "below").code == 0
    assert do(ALL_DIRECTORIES[name], place / "link").code == 0
    assert (place / "link").is_symlink()
    assert names(place / "empty") == names(place / "new" / "below")
    assert len(names(place / "empty")) >= 2
    assert stat.S_IMODE((place / "empty").stat().st_mode) == 0o700
    assert names(place) == ["empty", "link", "new"]


@every_directory
def test_a_directory_does_not_go_into_a_stream_or_a_file(do: Do, place: Path, name: str) -> None:
    os.mkfifo(place / "fifo")
    (place / "file").write_bytes(OLD)
    null = device(place, "null", 3)
    before = names(place)
    for target in (place / "fifo", null, "/dev/stdout", "/dev/fd/1", "-"):
        result = do(ALL_DIRECTORIES[name], target)
        assert (result.code, result.out) == (1, ""), target
        assert result.err.startswith(f"Error: {target}: a directory of files is written"), target
    for target in (place / "file", place / "file" / "below"):
        result = do(ALL_DIRECTORIES[name], target)
        assert result.code == 1
        assert str(target) in result.err
    assert names(place) == before
    assert (place / "file").read_bytes() == OLD


@every_directory
def test_rights_that_lack_for_a_directory_are_said(do: Do, place: Path, name: str) -> None:
    (place / "closed").mkdir()
    (place / "open").mkdir()
    with ordinary():
        (place / "closed").chmod(0o555)
        denied = [do(ALL_DIRECTORIES[name], place / "closed" / "new"), do(ALL_DIRECTORIES[name], place / "closed")]
        fine = do(ALL_DIRECTORIES[name], place / "open")
    assert fine.code == 0
    assert [each.code for each in denied] == [1, 1]
    for each in denied:
        assert each.err.endswith(": Permission denied\n")
        assert each.err.count("\n") == 1
    assert names(place) == ["closed", "open"]
    assert names(place / "closed") == []


@every_directory
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))])
def test_a_directory_that_is_not_finished_leaves_nothing(
    do: Do, place: Path, name: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    result = do(ALL_DIRECTORIES[name], place / "new" / "below")
    assert result.code == (1 if isinstance(error, OSError) else 130)
    if isinstance(error, OSError):
        assert result.err == f"Error: {place}/new/below: cannot be written: No space left on device\n"
    assert names(place) == []


# --- names ---


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "No such file or directory"),
        ("new/", "No such file or directory"),
        (".", "Is a directory"),
        ("..", "Is a directory"),
        ("/", "Is a directory"),
        ("a\0b", "no name has a NUL in it"),
        ("a\x1b[31m/b", "No such file or directory"),
    ],
)
def test_names_that_no_file_has_are_refused(place: Path, name: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    with pytest.raises(InputError) as caught, output.new_file(name):
        pass
    assert str(caught.value).endswith(f": cannot be written: {said}")
    assert str(caught.value).isprintable()
    assert names(place) == []


def test_a_name_as_long_as_a_name_can_be_is_written(place: Path) -> None:
    with output.new_file(place / ("x" * 255)) as stream:
        stream.write(b"new")
    assert names(place) == ["x" * 255]


def test_an_error_inside_stays_what_it_is(place: Path) -> None:
    fifo = place / "fifo"
    os.mkfifo(fifo)
    found: list[bytes] = []
    with read_along(fifo, found), pytest.raises(LookupError):
        _fail(fifo)
    with pytest.raises(LookupError):
        _fail(place / "new")
    assert names(place) == ["fifo"]


def _fail(target: Path) -> None:
    with output.new_file(target) as stream:
        stream.write(b"begun")
        raise LookupError


@pytest.mark.parametrize("name", ["generate", "draw as PNG", "bundle create"])
def test_a_reader_of_a_fifo_may_stop(do: Do, place: Path, name: str) -> None:
    fifo = place / f"fifo{ALL[name].ending}"
    os.mkfifo(fifo)
    filled = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        while os.write(filled, b"x" * 4096):
            pass

    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    def stop() -> None:
        writing.wait()
        os.close(filled)
        os.close(reading)

    writing = threading.Event()
    reader = threading.Thread(target=stop)
    reader.start()
    with pytest.MonkeyPatch.context() as patch:
        whole = os.open

        def opened(path: object, flags: int, *more: int, **named: object) -> int:
            number: int = whole(path, flags, *more, **named)  # type: ignore[arg-type]
            if path in (fifo, str(fifo)):
                writing.set()
            return number

        patch.setattr(os, "open", opened)
        result = do(ALL[name], fifo)
    reader.join()
    assert (result.code, "Error" in result.err) == (0, False), result.err
    assert stat.S_ISFIFO(fifo.lstat().st_mode)


def test_a_reader_of_standard_output_may_stop(place: Path) -> None:
    reading, writing = os.pipe()
    kept = os.dup(1)
    sys.stdout.flush()
    os.dup2(writing, 1)
    os.close(writing)
    os.close(reading)
    try:
        with pytest.raises(BrokenPipeError), output.new_file("/dev/stdout") as stream:
            stream.write(b"x" * 100_000)
    finally:
        os.dup2(kept, 1)
        os.close(kept)


# --- file systems that take nothing ---


@contextmanager
def mounted(place: Path, *, full: bool) -> Iterator[Path]:
    """A file system of memory that is full, or read-only; with a file `old` and an empty directory in it."""
    where = place / "mounted"
    where.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(where)]
    if not IS_ROOT or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        for ending in ("", ".svg", ".png"):
            (where / f"old{ending}").write_bytes(OLD)
        (where / "empty").mkdir()
        if full:
            with suppress(OSError), open(where / "filler", "wb", buffering=0) as stream:
                while stream.write(b"x" * 4096):
                    pass
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(where)], check=True)
        yield where
    finally:
        subprocess.run(["umount", str(where)], check=True)


@pytest.mark.parametrize(("full", "said"), [(True, "No space left on device"), (False, "Read-only file system")])
def test_a_full_and_a_read_only_file_system_are_said_as_such(do: Do, place: Path, full: bool, said: str) -> None:
    with mounted(place, full=full) as where:
        before = names(where)
        for name, writer in (ALL | ALL_DIRECTORIES).items():
            kinds = ["old", "new"] if name in ALL and writer.replaces else ["new"] if name in ALL else ["new", "empty"]
            for kind in kinds:
                target = f"{where}/{kind}{writer.ending}"
                result = do(writer, target)
                assert result.code == 1, (name, kind)
                last = result.err.splitlines()[-1]
                assert (target in last, last.endswith(f": cannot be written: {said}")) == (True, True), (name, kind)
                assert names(where) == before, (name, kind)
        assert (where / "old").read_bytes() == OLD
