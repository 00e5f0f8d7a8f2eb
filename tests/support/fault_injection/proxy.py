"""A proxy of a Postgres server that cuts the connection instead of passing the N-th message on."""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

from tests.support.fault_injection.faults import Faults, Operation, Outcome

_BLOCK = 65536
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends RST


class Proxy:
    """Passes messages on between clients and the server of `url`, as long as no fault is set."""

    def __init__(self, url: str) -> None:
        self.faults = Faults()
        self._server = _place(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def address(self, url: str) -> str:
        """The address of a database of the server by way of this proxy."""
        parts = urlsplit(url)
        port = self._listener.getsockname()[1]
        name, user = parts.path.lstrip("/"), parts.username or "postgres"
        password = f":{parts.password}" if parts.password else ""
        return f"postgresql://{user}{password}@127.0.0.1:{port}/{name}?sslmode=disable&gssencmode=disable"

    def close(self) -> None:
        """Take no connections any longer."""
        self._is_closed = True
        self._listener.close()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.faults.is_gone:
                client.close()
                continue
            _Passage(self.faults, client, _connected(self._server)).begin()


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    """A proxy of a server, as long as the block runs."""
    running = Proxy(url)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(interval / 10)  # its threads wait for the client's, at each message
    try:
        yield running
    finally:
        sys.setswitchinterval(interval)
        running.close()


class _Passage:
    """One connection: two threads, one for each direction."""

    def __init__(self, faults: Faults, client: socket.socket, server: socket.socket) -> None:
        self._faults = faults
        self._client = client
        self._server = server
        for each in (client, server):
            if each.family == socket.AF_INET:
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def begin(self) -> None:
        for arguments in (("request", self._client, self._server, False), ("reply", self._server, self._client, True)):
            threading.Thread(target=self._pass_on, args=arguments, daemon=True).start()

    def _pass_on(self, operation: Operation, source: socket.socket, target: socket.socket, is_typed: bool) -> None:
        waiting = b""
        with suppress(OSError):
            while block := source.recv(_BLOCK):
                waiting += block
                passed = 0
                while end := _end(waiting, passed, is_typed):
                    outcome = self._faults.outcome(operation, _name(waiting, passed, is_typed))
                    is_typed = True
                    if outcome is not None:
                        target.sendall(waiting[:passed])
                        self._cut(outcome)
                        return
                    passed = end
                target.sendall(waiting[:passed])
                waiting = waiting[passed:]
        self._cut("gone")

    def _cut(self, outcome: Outcome) -> None:
        """End both connections: an error resets the client's, and a server that is gone closes it in order."""
        if outcome == "error":
            with suppress(OSError):
                self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                # The other thread still reads from it, and would keep it open.
                self._client.shutdown(socket.SHUT_RD)
        for each in (self._client, self._server):
            if each is self._server or outcome != "error":
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            each.close()


def _end(data: bytes, start: int, is_typed: bool) -> int:
    """Where the message that begins at `start` ends; 0 where it is not there as a whole."""
    head = start + is_typed
    if len(data) < head + 4:
        return 0
    end = head + int.from_bytes(data[head : head + 4], "big")
    return end if end <= len(data) else 0


def _name(data: bytes, start: int, is_typed: bool) -> str:
    return f"message {data[start : start + 1].decode('ascii', 'replace')}" if is_typed else "the first message"


def _place(url: str) -> tuple[str, int]:
    """The host (or the directory of its socket) and the port of a URL."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    host = parts.hostname or query.get("host", ["127.0.0.1"])[0]
    return host, int(parts.port or query.get("port", ["5432"])[0])


def _connected(place: tuple[str, int]) -> socket.socket:
    host, port = place
    if not host.startswith("/"):
        return socket.create_connection(place)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(f"{host}/.s.PGSQL.{port}")
    return connection
