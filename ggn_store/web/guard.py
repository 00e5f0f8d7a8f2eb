"""Which requests are let in: from whom, to which name of this server, and how large; and what browsers may do."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ggn_store.errors import quote
from ggn_store.web.refusal import AskedError

MAX_TARGET: Final = 16_000
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

    @classmethod
    def of(cls, host: str, others: Iterable[str] = ()) -> Guard:
        """The guard of a server that is bound to a host, and has other names."""
        names = {_name(each) for each in (host, *others)}
        if is_loopback(host) or _is_everywhere(host):
            names.update(_LOOPBACK)
        return cls(frozenset(names), _is_everywhere(host))

    def check(self, method: str, target: bytes, headers: Mapping[str, str]) -> None:
        """Raise AskedError for what is not let in."""
        host = headers.get("host", "")
        if not self._is_own(host):
            raise AskedError(
                f"this server is not called {quote(host)}: name it with --allow-host when you start the server", 421
            )
        if len(target) > MAX_TARGET:
            raise AskedError(f"an address has at most {MAX_TARGET:,} characters, and this one {len(target):,}", 414)
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            raise AskedError("requests to this server have no body", 413)
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


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
