"""`ggn-store serve` as a process: its address, its end, and what it says where it cannot begin."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from ggn_store import Store
from ggn_store.web.guard import FORM
from tests.support.people import KNIGHT, WIDER, People, people
from tests.support.program import QUICK, Program, child_environment, run, write
from tests.support.web import served

__all__ = ["people", "run"]


def asked(connection: HTTPConnection, path: str) -> tuple[int, bytes]:
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_server_answers_until_a_signal_ends_it(address: str, number: int, code: int) -> None:
    with Store.open(address) as store:
        store.load(QUICK, "quick")
    with served(address) as (process, connection):
        assert asked(connection, "/health") == (200, b"ok\n")
        status, body = asked(connection, "/index.json")
        assert (status, [each["name"] for each in json.loads(body)["rulesets"]]) == (200, ["quick"])
        process.send_signal(number)
        assert process.wait(60) == code
        assert process.stderr is not None
        said = process.stderr.read()
    assert "GET /index.json 200" in said
    assert "Traceback" not in said


def test_a_new_store_is_served_and_leaves_no_file_behind(tmp_path: Path) -> None:
    with served(f"sqlite:///{tmp_path / 'new.db'}", "--quiet") as (process, connection):
        status, body = asked(connection, "/")
        assert status == 200
        assert b"load --library" in body
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert not (tmp_path / "new.db").exists()


def test_half_a_request_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    with served(f"sqlite:///{tmp_path / 'new.db'}") as (process, connection):
        slow = [socket.create_connection((connection.host, connection.port), timeout=30) for _ in range(50)]
        try:
            for each in slow:
                each.sendall(b"GET / HTTP/1.1\r\nHost: ")
            assert asked(connection, "/health") == (200, b"ok\n")
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            for each in slow:
                each.close()


def test_one_client_cannot_take_all_connections(tmp_path: Path) -> None:
    with served(f"sqlite:///{tmp_path / 'new.db'}") as (_, connection):
        place = (connection.host, connection.port)
        many = [socket.create_connection(place, timeout=30) for _ in range(300)]
        try:
            for each in many[:128]:
                each.sendall(b"GET / HTTP/1.1\r\nHost: ")
            assert many[-1].recv(12) == b"HTTP/1.1 503"
            other = socket.create_connection(place, timeout=30, source_address=("127.0.0.2", 0))
            with other:
                other.sendall(f"GET /health HTTP/1.1\r\nHost: {place[0]}:{place[1]}\r\n\r\n".encode())
                assert other.recv(12) == b"HTTP/1.1 200"
        finally:
            for each in many:
                each.close()


def test_a_port_that_is_taken_is_named(run: Program, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("--db", tmp_path / "new.db", "serve", "--port", str(port))
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        f"Error: port {port} of 127.0.0.1 is taken by another program: choose another one with --port, or --port 0 for "
        "any that is free\n"
    )
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--host", "no.such.host.invalid"), "no.such.host.invalid is no host of this machine"),
        (("--host", "192.0.2.1"), "cannot be listened on"),
        (("--allow-host", "http://games.example.org"), "is no name of a server: write it as games.example.org"),
    ],
)
def test_a_place_that_is_none_is_named(run: Program, tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    result = run("--db", tmp_path / "new.db", "serve", "--port", "0", *options)
    assert (result.code, result.out) == (1, "")
    assert said in result.err


def test_without_the_packages_the_program_says_what_to_install(tmp_path: Path) -> None:
    for name in ("starlette", "uvicorn", "jinja2"):
        write(tmp_path / "stubs" / f"{name}.py", f"raise ModuleNotFoundError('none', name='{name}')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'stubs')!r}); from ggn_store.cli import main; main()"
    command = [sys.executable, "-c", code, "--db", str(tmp_path / "new.db"), "serve", "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, env=child_environment(), check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install 'ggn-store[web]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "new.db").exists()


def test_one_person_writes_with_the_password_that_is_printed_which_no_line_repeats(
    people: People, address: str
) -> None:
    people.load("ann", KNIGHT, "knight")
    people.propose("ann", WIDER, "knight")
    bob = people.who("bob")
    with served(address, "--author", bob) as (process, connection):
        assert process.stdout is not None
        assert process.stderr is not None
        before, _, password = process.stdout.readline().strip().rpartition(" ")
        assert before == f"password of {bob} until this ends:"
        headers = {"Content-Type": FORM, "Origin": f"http://{connection.host}:{connection.port}"}
        connection.request("POST", "/login", urlencode({"name": bob, "password": password}), headers)
        answer = connection.getresponse()
        answer.read()
        cookie = str(answer.headers["Set-Cookie"]).partition(";")[0]
        assert (answer.status, cookie.partition("=")[0]) == (303, "ggn-store")
        body = urlencode({"do": "comment", "message": "hello"})
        connection.request("POST", "/proposal/knight%231", body, {**headers, "Cookie": cookie})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (303, b"")
        metrics = asked(connection, "/metrics")[1].decode()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        said = process.stderr.read()
    assert "POST /proposal/knight#1 303" in said
    assert [each for each in (password, cookie.partition("=")[2]) if each in said + metrics] == []
    assert [each.author for each in people.admin.reviews.get("knight#1").comments] == [bob]
