"""Who somebody is who writes: by a session that begins with a password, or by the word of a proxy."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers

from ggn_store.errors import InputError, printable, quote
from ggn_store.web.guard import IpAddress, Rate, address_of, client_at
from ggn_store.web.refusal import AskedError

MOST_NAME: Final = 200
MOST_PASSWORD: Final = 1_000
LASTING: Final = 8 * 3600  # seconds of a session, whatever is done in it
_SESSIONS: Final = 1_000
# Logins in so many seconds from one address: with one name, and with any. A proxy is one, for a whole team.
_BY_NAME: Final = (10, 300.0)
_BY_CLIENT: Final = (60, 300.0)
# What OWASP asks of scrypt with 16 MiB: about 0.2 s of a processor.
_COST: Final = {"n": 1 << 14, "r": 8, "p": 5}
_LINE: Final = re.compile(r"(?P<name>[^\n]+):scrypt:(?P<salt>[0-9a-f]{32}):(?P<hash>[0-9a-f]{64})", re.ASCII)
# A name with __Host- is one that browsers take from this host alone, and over HTTPS.
_COOKIES: Final = ("ggn-store", "__Host-ggn-store")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks: the address of the other end, and the headers."""

    host: str
    headers: Headers


def asking(client: Client, proxies: frozenset[IpAddress]) -> str:
    """The address that asks: of what one of these proxies hands on, the last in X-Forwarded-For that is none of them.

    Anybody may write what stands before that.
    """
    if address_of(client.host) not in proxies:
        return client.host
    named = ",".join(client.headers.getlist("x-forwarded-for")).split(",")
    found = (address_of(each.strip()) for each in reversed(named))
    last = next((each for each in found if each not in proxies), None)
    return client.host if last is None else str(last)


class Sessions:
    """People with passwords, and their sessions, which are in the memory of this process only.

    `proxies` are those that say from where logins come, so that each client has attempts of its own.
    """

    def __init__(
        self,
        hashes: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
        proxies: frozenset[IpAddress] = frozenset(),
    ) -> None:
        self._hashes = hashes
        self.proxies = proxies
        self._clock = clock
        self._lock = threading.Lock()
        # By digests, so that how long it takes to look one up says nothing of the others.
        self._open: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._by_name, self._by_client = Rate(*_BY_NAME, clock), Rate(*_BY_CLIENT, clock)
        self._nobody = hashed(secrets.token_hex())

    def who(self, client: Client) -> str:
        """Whose session a request is of; raises AskedError where it is of none."""
        with self._lock:
            for key in _keys(client):
                name, end = self._open.get(key, ("", 0.0))
                if name and self._clock() < end:
                    return name
                self._open.pop(key, None)
        raise AskedError("log in first: you are not, or that was too long ago", 403)

    def begin(self, client: Client, name: str, password: str) -> str:
        """The cookie of a new session; raises AskedError for another password, and for too many attempts."""
        at = client_at(asking(client, self.proxies))
        self._by_client.take(at)
        # By both: guesses from elsewhere keep nobody out.
        self._by_name.take((at, name))
        # A name that nobody has takes as long.
        is_right = _is_of(password, self._hashes.get(name, self._nobody))
        if not is_right or name not in self._hashes:
            raise AskedError("nobody has this name and this password here", 403)
        # A token is never one that the browser brought: nobody can make others use a session of theirs.
        self.end(client)
        token = secrets.token_urlsafe(32)
        is_https = client.headers.get("origin", "").startswith("https://")
        cookie = _COOKIES[is_https]
        with self._lock:
            self._open[_key(cookie, token)] = name, self._clock() + LASTING
            while len(self._open) > _SESSIONS:
                self._open.popitem(last=False)
        return _set(cookie, token, LASTING)

    def end(self, client: Client) -> tuple[str, ...]:
        """End the session; the cookies that take back those of the browser."""
        with self._lock:
            for key in _keys(client):
                self._open.pop(key, None)
        return tuple(_set(cookie, "", 0) for cookie in _COOKIES)


def _set(cookie: str, token: str, seconds: int) -> str:
    secure = "; Secure" if cookie.startswith("__Host-") else ""
    return f"{cookie}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def _key(cookie: str, token: str) -> bytes:
    # With the name: a session that began over HTTPS is not taken from a cookie that others could have set.
    return hashlib.sha256(f"{cookie}={token}".encode()).digest()


def _keys(client: Client) -> list[bytes]:
    pairs = [each.strip().partition("=") for line in client.headers.getlist("cookie") for each in line.split(";")]
    return [_key(name, token) for name, _, token in pairs if name in _COOKIES and token][:4]


# --- passwords ---


def hashed(password: str) -> str:
    """What stands behind a name in a file of logins."""
    salt = secrets.token_bytes(16)
    return f"scrypt:{salt.hex()}:{_scrypt(password, salt).hex()}"


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, maxmem=1 << 26, dklen=32, **_COST)


def _is_of(password: str, kept: str) -> bool:
    _, salt, found = kept.split(":")
    return hmac.compare_digest(_scrypt(password, bytes.fromhex(salt)), bytes.fromhex(found))


def read_logins(path: str | os.PathLike[str]) -> dict[str, str]:
    """The hashes of a file of logins by names; raises InputError, saying which line is wrong."""
    shown = printable(os.fspath(path))
    try:
        with Path(path).open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            lines = file.read(1_000_000).splitlines()
    except (OSError, UnicodeError) as error:
        raise InputError(f"{shown} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    if os.name == "posix" and mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(f"{shown} can be written by others, who could let themselves in: chmod go-w {shown}")
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None or match["name"] in found:
            raise InputError(f"{shown}:{number}: not what `ggn-store password NAME` prints, or a name of before")
        found[check_name(match["name"])] = f"scrypt:{match['salt']}:{match['hash']}"
    if not found:
        raise InputError(f"{shown} names nobody: `ggn-store password NAME` prints a line for it")
    return found


def check_name(name: str) -> str:
    """The name of somebody; raises InputError for what is none."""
    if not name.isprintable() or name != name.strip() or not 0 < len(name) <= MOST_NAME:
        raise InputError(f"{quote(name)} is nobody's name: at most {MOST_NAME} characters that can be printed")
    return name


# --- proxies ---


def proxies_at(addresses: Iterable[str]) -> frozenset[IpAddress]:
    """Addresses of proxies; raises InputError for what is none."""
    found = {each: address_of(each) for each in addresses}
    for text, address in found.items():
        if address is None:
            raise InputError(f"{quote(text)} is no address of a proxy: write it in figures, as 127.0.0.1")
    return frozenset(filter(None, found.values()))


@dataclass(frozen=True, slots=True)
class Proxy:
    """The header in which a proxy says who asks, and the addresses that it is believed from."""

    header: str
    addresses: frozenset[IpAddress]

    @classmethod
    def of(cls, header: str, addresses: Iterable[str]) -> Proxy:
        """Such a proxy; raises InputError for what is no header, or no address."""
        if not _HEADER.fullmatch(header):
            raise InputError(f"{quote(header)} is no name of a header: write it as X-Remote-User")
        return cls(header, proxies_at(addresses))

    @property
    def proxies(self) -> frozenset[IpAddress]:
        """The proxies before the server."""
        return self.addresses

    def who(self, client: Client) -> str:
        """Who asks; raises AskedError where the proxy does not say so, or somebody else does."""
        if address_of(client.host) not in self.addresses:
            raise AskedError("only what comes through the proxy that knows you can write here", 403)
        names = client.headers.getlist(self.header)
        try:
            [name] = names
            # Headers are bytes, which most send as UTF-8; one with a comma may be two that were joined.
            name = check_name(name.encode("latin-1").decode("utf-8"))
            if "," in name:
                raise ValueError
        except (ValueError, InputError):
            raise AskedError(f"the proxy does not say who you are in the one header {self.header}", 403) from None
        return name


People = Sessions | Proxy
