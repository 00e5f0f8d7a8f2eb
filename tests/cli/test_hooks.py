"""`watch --exec` and `watch --webhook`: what is done after each change."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ggn_store import Store
from ggn_store.api.hooks import DeliveryError, Webhook, read_secret
from ggn_store.api.session.patience import Patience
from ggn_store.cli import hooks
from ggn_store.errors import InputError
from tests.support.people import People
from tests.support.people import people as people
from tests.support.program import QUICK, QUICKER, Command, child_environment, write

SECRET = "the tests know this secret"
_CLOCK = 1_750_000_000


class Receiver:
    """An HTTP server on this machine that answers with the next of `answers`, and then with 204."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.answers: list[int] = []
        self.got: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
                self.send_header("Location", f"{receiver.url}elsewhere")
                self.end_headers()
                with suppress(OSError):  # the sender need not wait for more than the status
                    self.wfile.write(b"x" * 100_000)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if certificate is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def ids(self) -> list[int]:
        return [int(headers["webhook-id"]) for headers, _ in self.got]

    @property
    def changes(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with closing(Receiver()) as running:
        yield running


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between the tries of a webhook, which take no time."""
    found: list[float] = []
    monkeypatch.setattr(hooks, "_PATIENCE", lambda tell: Patience(4, tell=tell, sleep=found.append))
    monkeypatch.setenv(hooks.SECRET, SECRET)
    return found


@pytest.fixture
def changed(ggn: Command, people: People) -> Command:
    """The program on a store with a revision, a tag, a state and a merge of a proposal."""
    people.load("ann", QUICK, "game")
    people.store("ann").tags.set("game", "stable", author="ann")
    people.store("ann").states.set("game", "deprecated", author="ann")
    people.approve("bob", people.propose("ann", QUICKER, "game"))
    return ggn


def test_each_change_is_posted_once_in_order_and_signed(
    changed: Command, receiver: Receiver, pauses: list[float]
) -> None:
    told = changed("watch", "--since", "0", "--webhook", receiver.url, "--timeout", "0").records()
    assert told == []
    told = changed("watch", "--since", "0", "--webhook", receiver.url, "--timeout", "60", "--count", "7").records()
    assert len(told) == 7
    assert receiver.changes == [{name: value for name, value in each.items() if name != "since"} for each in told]
    assert [each["action"] for each in receiver.changes[:3]] == ["revision", "tag", "state"]
    assert "merge" in {each["action"] for each in receiver.changes}
    assert receiver.ids == [each["id"] for each in told] == sorted(receiver.ids)
    for headers, body in receiver.got:
        # As any receiver checks it.
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.digest(SECRET.encode(), signed, hashlib.sha256)).decode()
        assert headers["webhook-signature"] == f"v1,{expected}"
        assert headers["content-type"] == "application/json"
    assert pauses == []


def test_only_the_kinds_and_rulesets_that_are_asked_for_are_posted(
    changed: Command, receiver: Receiver, pauses: list[float]
) -> None:
    asked = ("--only", "merge,tag,state", "--count", "3", "--timeout", "60")
    assert changed("watch", "g*", "--since", "0", "--webhook", receiver.url, *asked).code == 0
    assert [each["action"] for each in receiver.changes] == ["tag", "state", "merge"]
    assert pauses == []


def test_what_is_not_taken_is_sent_again_with_growing_pauses_before_anything_else(
    changed: Command, receiver: Receiver, pauses: list[float]
) -> None:
    receiver.answers = [500, 429, 503]
    result = changed("watch", "--since", "0", "--webhook", receiver.url, "--count", "2", "--timeout", "60")
    assert result.code == 0
    first, *_ = receiver.ids
    assert receiver.ids[:4] == [first] * 4
    assert len({body for _, body in receiver.got[:4]}) == 1
    assert pauses == [1, 2, 4]
    assert result.err.count("trying again") == 3


@pytest.mark.parametrize(("status", "tries"), [(400, 1), (302, 1), (500, 4)])
def test_a_webhook_that_fails_ends_the_watch_and_the_next_one_loses_nothing(
    changed: Command, receiver: Receiver, pauses: list[float], status: int, tries: int
) -> None:
    receiver.answers = [204, *[status] * tries]
    asked = ("watch", "--since", "0", "--webhook", receiver.url, "--state", "sent", "--timeout", "60")
    result = changed(*asked)
    assert result.code == 1
    assert f"http://{receiver.url.split('/')[2]}: the change {receiver.ids[1]} was answered with {status}" in result.err
    assert "Traceback" not in result.err
    before = receiver.ids
    assert len(before) == 1 + tries
    assert Path("sent").read_text() == f"{before[0]}\n"
    assert changed(*asked, "--count", "2").code == 0
    assert receiver.ids[len(before) :] == [before[1], before[1] + 1]
    assert SECRET not in result.err + result.out


def test_what_happens_while_nothing_watches_is_posted_later(
    address: str, ggn: Command, receiver: Receiver, pauses: list[float]
) -> None:
    with Store.open(address) as store:
        store.load(QUICK, "old")
        asked = ("watch", "--webhook", receiver.url, "--state", "sent")
        assert ggn(*asked, "--timeout", "0").code == 0
        store.load(QUICK, "new")
    assert ggn(*asked, "--timeout", "60", "--count", "1").code == 0
    assert [each["subject"] for each in receiver.changes] == ["new"]
    assert pauses == []


def test_a_receiver_that_is_not_there_is_tried_again(changed: Command, pauses: list[float]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/secret-path"
        result = changed("watch", "--since", "0", "--webhook", url, "--timeout", "60")
    assert result.code == 1
    assert pauses == [1, 2, 4]
    assert "Connection refused" in result.err
    assert "secret-path" not in result.err


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_certificate_of_one_s_own_is_refused_unless_it_is_trusted(
    changed: Command, tmp_path: Path, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = tmp_path / "certificate.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=receiver -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", str(certificate), "-out", str(tmp_path / "public.pem")]
    subprocess.run([*command.split(), *files], capture_output=True, check=True)
    public = (tmp_path / "public.pem").read_text()
    certificate.write_text(certificate.read_text() + public)
    with closing(Receiver(certificate)) as receiver:
        asked = ("watch", "--since", "0", "--webhook", receiver.url, "--count", "2", "--timeout", "60")
        refused = changed(*asked)
        place = receiver.url.removesuffix("/")
        assert (refused.code, receiver.got, pauses) == (1, [], [])
        assert refused.err.startswith(f"Error: {place}: its certificate is not trusted: self-signed certificate (")
        assert refused.err.count("\n") == 1
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "public.pem"))
        assert changed(*asked).code == 0
        assert len(receiver.changes) == 2


def test_a_receiver_that_never_answers_is_given_up() -> None:
    event = next(_events())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hook = Webhook(f"http://127.0.0.1:{silent.getsockname()[1]}/", SECRET.encode(), Patience(1), timeout=0.05)
        with pytest.raises(DeliveryError, match=r"no answer in 0\.05 s"):
            hook.deliver(event)


def test_a_receiver_that_answers_byte_by_byte_is_cut_off() -> None:
    event = next(_events())
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as slow:

        def drip() -> None:
            connection, _ = slow.accept()
            with connection:
                try:
                    while not stop.wait(0.01):
                        connection.sendall(b"x")
                except OSError:
                    pass

        thread = threading.Thread(target=drip)
        thread.start()
        hook = Webhook(f"http://127.0.0.1:{slow.getsockname()[1]}/", SECRET.encode(), Patience(1), timeout=0.2)
        with pytest.raises(DeliveryError):
            hook.deliver(event)
        stop.set()
        thread.join()


def _events() -> Iterator[Any]:
    with Store.open(":memory:") as store:
        store.load(QUICK, "game")
        yield from store.upkeep.audit()


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("http://example.org/hook", "http sends changes unencrypted"),
        ("ftp://example.org/", "begins with https://"),
        ("https:///path", "begins with https://"),
        ("nothing", "begins with https://"),
        ("https://me:hidden@example.org/", "holds no password"),
        ("https://example.org:port/", "is no URL"),
        ("https://example.org/a b", "is no URL"),
        ("https://example.org/\r\nX: y", "is no URL"),
        ("http://127.0.0.1.example.org/", "http sends changes unencrypted"),
        ("http://[::1", "is no URL"),
    ],
)
def test_a_url_that_is_not_safe_is_refused(ggn: Command, pauses: list[float], url: str, wrong: str) -> None:
    result = ggn("watch", "--webhook", url, "--timeout", "0")
    assert (result.code, wrong in result.err, "hidden" in result.err) == (1, True, False), result.err
    assert pauses == []


@pytest.mark.parametrize("url", ["http://localhost:1/", "http://127.9.9.9/", "http://[::1]:80/x?y", "https://a.b/"])
def test_plain_http_is_for_this_machine(url: str) -> None:
    assert Webhook(url, SECRET.encode())
    assert Webhook("http://example.org", SECRET.encode(), allow_http=True)


def test_the_secret_comes_from_the_environment_or_a_file_and_is_never_shown(
    ggn: Command, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(hooks.SECRET, raising=False)
    result = ggn("watch", "--webhook", receiver.url, "--timeout", "0")
    assert (result.code, hooks.SECRET in result.err) == (2, True)
    write("short", "short")
    result = ggn("watch", "--webhook", receiver.url, "--timeout", "0", "--secret-file", "short")
    assert (result.code, "needs at least 16" in result.err) == (1, True)
    write("secret", f"{SECRET}\n")
    assert ggn("watch", "--webhook", receiver.url, "--timeout", "0", "--secret-file", "secret").code == 0
    result = ggn("watch", "--webhook", receiver.url, "--timeout", "0", "--secret-file", "gone")
    assert (result.code, "gone: cannot be read" in result.err) == (1, True)
    assert ggn("watch", "--secret-file", "secret").code == 2


def test_a_secret_may_be_base64_as_receivers_write_it() -> None:
    key = bytes(range(24))
    assert read_secret(f"whsec_{base64.b64encode(key).decode()}\n") == key
    with pytest.raises(InputError, match="base64 must follow") as error:
        read_secret("whsec_!!!not base64!!!")
    assert "not base64" not in str(error.value)


def test_the_signature_is_that_of_the_scheme() -> None:
    from ggn_store.api.hooks import signature

    # The example of the scheme's description.
    key = read_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    said = signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b'{"test": 2432232314}')
    assert said == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("text", ["", "x", "-1", "1" * 30, "१"])
def test_a_state_file_that_is_none_is_an_error(ggn: Command, text: str) -> None:
    write("sent", text)
    result = ggn("watch", "--state", "sent", "--timeout", "0")
    assert (result.code, "this is not the id of a change" in result.err) == (1, True)
    assert Path("sent").read_text() == text


_TELL = (
    "import json, os, sys; said = {name: os.environ[name] for name in os.environ if name.startswith('GGN_EVENT')}; "
    "open('told', 'a').write(json.dumps([sys.argv[1:], json.loads(sys.stdin.read()), said]) + chr(10))"
)


def test_a_command_runs_after_each_change_with_its_json_and_no_shell(
    changed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(hooks.SECRET, SECRET)
    write("tell.py", _TELL)
    command = f"{sys.executable} tell.py '$HOME; touch hacked' \"`touch hacked`\""
    result = changed("watch", "--since", "0", "--exec", command, "--count", "3", "--timeout", "60")
    assert (result.code, result.err) == (0, "")
    told = [json.loads(line) for line in Path("told").read_text().splitlines()]
    assert [change for _, change, _ in told] == result.records()
    for arguments, change, environment in told:
        assert arguments == ["$HOME; touch hacked", "`touch hacked`"]
        assert environment["GGN_EVENT_ID"] == str(change["id"])
        assert (environment["GGN_EVENT_ACTION"], environment["GGN_EVENT_RULESET"]) == (change["action"], "game")
    assert told[1][2]["GGN_EVENT_ABOUT"] == "game:stable"
    assert not Path("hacked").exists()


def test_a_command_that_fails_is_reported_and_the_watch_goes_on(changed: Command) -> None:
    write("fail.py", "import sys; sys.stdin.read(); open('told', 'a').write('x'); print('noise'); sys.exit(7)")
    result = changed(
        *("watch", "--since", "0", "--exec", f"{sys.executable} fail.py", "--count", "3", "--timeout", "60"),
        *("--state", "sent"),
    )
    assert result.code == 0
    assert result.err.count("ended with exit code 7") == 3
    assert Path("told").read_text() == "xxx"
    assert len(result.records()) == 3
    assert "noise" not in result.out
    assert int(Path("sent").read_text()) == result.records()[-1]["since"]


def test_a_command_that_reads_nothing_and_dies_by_a_signal_is_reported(changed: Command) -> None:
    write("die.py", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    result = changed("watch", "--since", "0", "--exec", f"{sys.executable} die.py", "--count", "1", "--timeout", "60")
    assert (result.code, "ended with signal 9" in result.err) == (0, True)


@pytest.mark.parametrize("command", ["", "no-such-command-at-all", "sh -c 'unclosed"])
def test_a_command_that_is_none_is_a_usage_error(ggn: Command, command: str) -> None:
    result = ggn("watch", "--exec", command, "--timeout", "0")
    assert (result.code, "--exec" in result.err) == (2, True)


def test_a_watch_that_is_terminated_keeps_what_it_has_sent(address: str, receiver: Receiver) -> None:
    with Store.open(address) as store:
        arguments = ["--db", address, "watch", "--since", "0", "--webhook", receiver.url, "--state", "sent"]
        command = [sys.executable, "-m", "ggn_store", *arguments, "--interval", "0.01"]
        environment = child_environment(**{hooks.SECRET: SECRET})
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as running:
            assert running.stdout is not None
            store.load(QUICK, "one")
            assert json.loads(running.stdout.readline())["subject"] == "one"
            store.load(QUICK, "two")
            assert json.loads(running.stdout.readline())["subject"] == "two"
            running.send_signal(signal.SIGTERM)
            assert running.wait() == 0
        store.load(QUICK, "three")
        left = len([*store.upkeep.audit(since=int(Path("sent").read_text()))])
        with subprocess.Popen([*command, "--count", str(left)], stdout=subprocess.PIPE, env=environment) as again:
            again.communicate()
            assert again.returncode == 0
    # What was being sent when the signal came is sent again: receivers know it by its id.
    assert [each["subject"] for each in receiver.changes if each["subject"] != "two"] == ["one", "three"]
    assert "two" in [each["subject"] for each in receiver.changes]
