"""Webhooks: each change of a store as a signed HTTP POST, as https://www.standardwebhooks.com describes them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ggn_store.api.session.patience import ONCE, Patience
from ggn_store.errors import GgnStoreError, InputError
from ggn_store.model.teams.event import Event
from ggn_store.render.records import compact

_PREFIX: Final = "whsec_"
_LEAST: Final = 16
_PORTS: Final = {"https": 443, "http": 80}
# A receiver that is busy, or restarts, may take it later.
_PASSING: Final = frozenset((408, 425, 429))


class DeliveryError(GgnStoreError):
    """A receiver did not take a change; `passes` says whether it may take it later."""

    def __init__(self, message: str, passes: bool = True) -> None:
        super().__init__(message)
        self.passes = passes


def read_secret(text: str) -> bytes:
    """The key in a secret: base64 after `whsec_`, else the text itself; raises InputError, which never quotes it."""
    text = text.strip()
    try:
        key = base64.b64decode(text.removeprefix(_PREFIX), validate=True) if text.startswith(_PREFIX) else text.encode()
    except (binascii.Error, ValueError):
        raise InputError(f"the secret of the webhook begins with {_PREFIX}, and base64 must follow") from None
    if len(key) < _LEAST:
        raise InputError(f"the secret of the webhook has {len(key)} bytes, and needs at least {_LEAST}")
    return key


def signature(key: bytes, identity: str, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`: HMAC-SHA256 over identity, timestamp and body."""
    signed = b".".join((identity.encode(), str(timestamp).encode(), body))
    return f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A receiver of changes at a URL, which knows the key of their signatures; `timeout` in seconds is for one try.

    Plain http is for this machine, unless `allow_http`. Redirects are not followed.
    """

    url: str = field(repr=False)
    key: bytes = field(repr=False)
    patience: Patience = ONCE
    timeout: float = 10.0
    allow_http: bool = False
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        parts = self._parts()
        if parts.scheme not in _PORTS or not parts.hostname:
            raise InputError("the URL of a webhook begins with https:// and a host")
        if parts.username is not None or parts.password is not None:
            raise InputError("the URL of a webhook holds no password: receivers check the signature")
        if parts.scheme == "http" and not self.allow_http and not _is_here(parts.hostname):
            raise InputError(f"{self}: http sends changes unencrypted: use https, or pass --allow-http")

    def __str__(self) -> str:
        """Scheme and host: a path may be a secret."""
        parts = self._parts()
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def deliver(self, event: Event) -> None:
        """Send a change until the receiver takes it; raises DeliveryError where it does not in time, or never will."""
        self.patience.run(lambda: self._send(event), lambda error: isinstance(error, DeliveryError) and error.passes)

    def _parts(self) -> SplitResult:
        try:
            if not self.url.isascii() or not self.url.isprintable() or " " in self.url:
                raise ValueError
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError:
            raise InputError("the URL of a webhook is no URL: write it in ASCII, as https://example.org/path") from None
        return parts

    def _send(self, event: Event) -> None:
        data = {name: value for name, value in event.data().items() if name != "since"}
        body = compact(data).encode("utf-8", "backslashreplace")
        identity, timestamp = str(event.id), int(self.clock())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "ggn-store",
            "webhook-id": identity,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(self.key, identity, timestamp, body),
        }
        status = self._post(body, headers)
        if not 200 <= status < 300:
            moved = " (redirects are not followed)" if 300 <= status < 400 else ""
            raise DeliveryError(
                f"{self}: the change {event.id} was answered with {status}{moved}", status >= 500 or status in _PASSING
            )

    def _post(self, body: bytes, headers: dict[str, str]) -> int:
        """The status of the answer, of which nothing more is read."""
        parts = self._parts()
        host, port = str(parts.hostname), parts.port or _PORTS[parts.scheme]
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(host, port, timeout=self.timeout)
        # The timeout is of one read: a receiver that sends byte after byte is cut off.
        watchdog = threading.Timer(2 * self.timeout, _cut, (connection,))
        watchdog.daemon = True
        watchdog.start()
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body, headers)
            return connection.getresponse().status
        except TimeoutError:
            raise DeliveryError(f"{self}: no answer in {self.timeout:g} s") from None
        except ssl.SSLCertVerificationError as error:
            raise DeliveryError(
                f"{self}: its certificate is not trusted: {error.verify_message} (one of your own: name its file in "
                "$SSL_CERT_FILE)",
                passes=False,
            ) from None
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            raise DeliveryError(f"{self}: {getattr(error, 'strerror', None) or type(error).__name__}") from None
        finally:
            watchdog.cancel()
            connection.close()


def _cut(connection: http.client.HTTPConnection) -> None:
    with suppress(OSError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
