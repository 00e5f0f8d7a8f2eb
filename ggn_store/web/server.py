"""The server: a socket, uvicorn, and an end that is clean."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ggn_store.errors import InputError, printable
from ggn_store.web.app import application
from ggn_store.web.guard import MAX_TARGET, Connections, Guard
from ggn_store.web.site import Site

_CONNECTIONS: Final = 256
_BY_CLIENT: Final = 128  # of them by one client, so that others find a place
_PATIENCE: Final = 15.0  # seconds in which a request has to come
_LONGEST: Final = 120.0  # in which it has to be answered, and the answer to be read
_FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 43\r\n\r\n"
    b"too many connections at once from this host"
)
_GRACE: Final = 5  # seconds in which what is being answered may end


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where a server listens, and by which other names it is called."""

    host: str = "127.0.0.1"
    port: int = 8000
    other_names: tuple[str, ...] = ()


def listen(place: ListenAddress) -> socket.socket:
    """A socket that listens there; raises InputError where that is not possible, saying what to do."""
    at = f"port {place.port} of {printable(place.host)}"
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        found = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        raise InputError(f"{printable(place.host)} is no host of this machine: see --host") from None
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(128)
    except OSError as error:
        found.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"{at} is taken by another program: choose another one with --port, or --port 0 for any that is free"
            ) from None
        raise InputError(f"{at} cannot be listened on: {error.strerror}: see --host and --port") from None
    return found


def address_of(listening: socket.socket, host: str) -> str:
    """The address of the start page."""
    port = listening.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def run(site: Site, listening: socket.socket, place: ListenAddress, say: Callable[[str], None]) -> None:
    """Answer until a signal comes, which is raised again once all that was being answered is, or has been given up."""
    guard = Guard.of(place.host, place.other_names, takes_posts=site.people is not None)
    app = application(site, guard, say)
    _Patient.places = Connections(_BY_CLIENT, () if site.people is None else site.people.proxies)
    config = uvicorn.Config(
        app,
        http=_Patient,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_GRACE,
        timeout_graceful_shutdown=_GRACE,
        h11_max_incomplete_event_size=MAX_TARGET + 16_384,
    )
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    uvicorn.Server(config).run(sockets=[listening])


class _Patient(H11Protocol):
    """HTTP that waits only so long for requests and for readers: slow clients would keep all connections otherwise."""

    places: ClassVar[Connections]
    _end: asyncio.TimerHandle | None = None
    _place: str | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        if self.places.take(host):
            self._place = host
            self._wait()
        else:
            transport.write(_FULL)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._place is not None:
            self.places.give_back(self._place)
            self._place = None
        super().connection_lost(exc)

    def handle_events(self) -> None:
        before = self._whole()
        super().handle_events()
        if self._whole() not in (None, before):
            self._wait(_LONGEST)

    def _whole(self) -> Any:
        """The request that has come with all of its body."""
        return None if self.cycle is None or self.cycle.more_body else self.cycle

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def _wait(self, seconds: float = _PATIENCE) -> None:
        self._stop_waiting()
        self._end = self.loop.call_later(seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None


def names(given: Iterable[str]) -> tuple[str, ...]:
    """Other names of a server, checked; raises InputError."""
    found = tuple(given)
    for name in found:
        if not name or any(char in name for char in "/:@ ") or not name.isascii():
            raise InputError(f"{printable(name)} is no name of a server: write it as games.example.org")
    return found
