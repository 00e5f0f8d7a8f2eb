"""Which requests are let in: from whom, to which name of this server, and how large; and what browsers may do."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ggn_store.errors import quote
from ggn_store.web.refusal import AskedError

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
MAX_TARGET: Final = 16_000
MAX_BODY: Final = 64_000
FORM: Final = "application/x-www-form-urlencoded"
READING: Final = ("GET", "HEAD")
_SAME: Final = ("same-origin", "none")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

# A page is its own server's files and links, nothing else: no script in it, no style, nothing from elsewhere.
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True, slots=True)
class Guard:
    """Lets requests in whose Host is one of `names`; any address in figures, too, with `any_address`.

    A page elsewhere whose own name leads to this server (DNS rebinding) has another Host.
    """

    names: frozenset[str]
    any_address: bool = False
    takes_posts: bool = False

    @classmethod
    def of(cls, host: str, others: Iterable[str] = (), *, takes_posts: bool = False) -> Guard:
        """The guard of a server that is bound to a host, and has other names; forms only with `takes_posts`."""
        names = {_name(each) for each in (host, *others)}
        if is_loopback(host) or _is_everywhere(host):
            names.update(_LOOPBACK)
        return cls(frozenset(names), _is_everywhere(host), takes_posts)

    def check(self, method: str, target: bytes, headers: Mapping[str, str]) -> None:
        """Raise AskedError for what is not let in."""
        host = headers.get("host", "")
        if not self._is_own(host):
            raise AskedError(
                f"this server is not called {quote(host)}: name it with --allow-host when you start the server", 421
            )
        if len(target) > MAX_TARGET:
            raise AskedError(f"an address has at most {MAX_TARGET:,} characters, and this one {len(target):,}", 414)
        if method == "POST" and self.takes_posts:
            _check_form(headers)
            _check_sender(host, headers)
            return
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            raise AskedError("this request to this server has no body", 413)
        self._check_origin(method, host, headers)
        if method not in READING:
            raise AskedError(f"{quote(method)}: this server only shows what is there (GET, HEAD)", 405)

    def _is_own(self, host: str) -> bool:
        name = _without_port(host)
        if name in self.names:
            return True
        return self.any_address and _address(name) is not None

    def _check_origin(self, method: str, host: str, headers: Mapping[str, str]) -> None:
        """Refuse what pages of other servers ask for: all but links to this one that a person follows."""
        site = headers.get("sec-fetch-site")
        if site is None:  # no browser, or an old one
            origin = headers.get("origin")
            is_other = origin is not None and origin.rpartition("//")[2] != host
        else:
            is_other = site not in _SAME
        is_visit = (
            method in READING
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest", "document") == "document"
        )
        if is_other and not is_visit:
            raise AskedError("this server answers its own pages only, not those of others", 403)


def _check_form(headers: Mapping[str, str]) -> None:
    """Refuse what is no form of a size that is known before it comes."""
    length = headers.get("content-length", "")
    if "transfer-encoding" in headers or not (length.isascii() and length.isdigit()):
        raise AskedError("what is sent here says how long it is (Content-Length)", 411)
    if len(length) > 9 or int(length) > MAX_BODY:
        raise AskedError(f"what is sent here has at most {MAX_BODY:,} bytes", 413)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise AskedError(f"what is sent here is a form: Content-Type: {FORM}", 415)


def _check_sender(host: str, headers: Mapping[str, str]) -> None:
    """Refuse forms but those of this server's own pages, which alone may use somebody's session (CSRF).

    Browsers say which page sends a form, in headers that no script can set; what says neither may be anything. A page
    of another port of this host is `same-site`, and somebody else's.
    """
    site = headers.get("sec-fetch-site")
    # Old browsers send an Origin only, and so do all over plain HTTP; programs can say theirs themselves.
    is_from_here = headers.get("origin", "null").partition("://")[2] == host
    if not (is_from_here if site is None else site == "same-origin"):
        raise AskedError("only a form of this server's own pages can do that, which Sec-Fetch-Site or Origin says", 403)


class Rate:
    """So many of something in so many seconds by each who asks for it; safe to use from several threads."""

    _MOST_KEYS: Final = 10_000

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._taken: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: Hashable) -> None:
        """Take one; raises AskedError where there is none left until the time is over."""
        now = self._clock()
        with self._lock:
            end, count = self._taken.get(key, (now + self._seconds, 0))
            if end <= now:
                self._taken.pop(key)
                end, count = now + self._seconds, 0
            if count >= self._most:
                raise AskedError(f"too many of these: try again in {end - now:.0f} seconds", 429)
            self._taken[key] = end, count + 1
            if len(self._taken) > self._MOST_KEYS:
                self._taken.popitem(last=False)


class Connections:
    """Connections of one server: each client may have so many at once, those at `unbounded` addresses any number."""

    def __init__(self, most: int, unbounded: Iterable[IpAddress] = ()) -> None:
        self._most, self._unbounded = most, frozenset(unbounded)
        self._taken: Counter[str] = Counter()

    def take(self, host: str) -> bool:
        """Take a place for a client; whether there is one."""
        client = client_at(host)
        if self._taken[client] >= self._most and address_of(host) not in self._unbounded:
            return False
        self._taken[client] += 1
        return True

    def give_back(self, host: str) -> None:
        """A place that was taken is free."""
        client = client_at(host)
        self._taken[client] -= 1
        if not self._taken[client]:
            del self._taken[client]


def address_of(text: str) -> IpAddress | None:
    """An address in figures; None for what is none."""
    found = _address(text)
    # How a socket for both writes an address of IPv4.
    return getattr(found, "ipv4_mapped", None) or found


def client_at(host: str) -> str:
    """What is taken for one client: an address, of IPv6 the network of 64 bits that one household has."""
    found = address_of(host)
    if not isinstance(found, ipaddress.IPv6Address):
        return host if found is None else str(found)
    return str(ipaddress.ip_network((found, 64), strict=False))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, and nobody else can reach it."""
    found = _address(_name(host))
    return _name(host) == "localhost" or (found is not None and found.is_loopback)


def _is_everywhere(host: str) -> bool:
    found = _address(_name(host))
    return found is not None and found.is_unspecified


def _name(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").lower()


def _without_port(host: str) -> str:
    """The name in `name:port`, or the address in `[::1]:port`."""
    if host.startswith("["):
        return _name(host.partition("]")[0])
    return _name(host.partition(":")[0])


def _address(name: str) -> IpAddress | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
