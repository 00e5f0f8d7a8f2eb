"""A real browser, if one is here: a Chromium that is told what to do by pipes, with no package for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

_NAMES = ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome", "google-chrome-stable", "chrome")
# What keys are to a page: the code of Windows, and the text that they type.
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r")}


def _browser() -> str | None:
    """A Chromium that is here: $CHROMIUM, one on the path, or Playwright's."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        place = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", Path.home() / ".cache" / "ms-playwright"))
        files = sorted((*place.glob("chromium*/*/chrome"), *place.glob("chromium*/*/*headless*shell")))
        found = str(files[-1]) if files else None
    return found


CHROMIUM = _browser()
in_a_browser = pytest.mark.skipif(
    CHROMIUM is None,
    reason="no Chromium here: install one, name it with CHROMIUM, or `playwright install chromium`",
)
# Pipes have the numbers 3 and 4 in the browser, which a child has on POSIX only.
by_pipes = pytest.mark.skipif(sys.platform == "win32", reason="the browser is driven by pipes of POSIX")


def command(profile: Path, *options: str) -> list[str]:
    """The command of a browser without windows, and with a profile of its own."""
    return [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *(f"--user-data-dir={profile}", *options),
    ]


@dataclass
class Page:
    """A page of a browser, asked and told by the DevTools protocol: JSON that ends with a zero."""

    _in: IO[bytes]
    _out: IO[bytes]
    _session: str = ""
    _sent: int = 0
    _loads: int = 0

    def tell(self, method: str, **parameters: Any) -> Any:
        """What the browser answers; raises AssertionError where it cannot."""
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        self._in.write(json.dumps(message).encode() + b"\0")
        self._in.flush()
        while (found := self._read()).get("id") != self._sent:
            pass
        assert "error" not in found, (method, found)
        return found["result"]

    def _read(self) -> Any:
        data = bytearray()
        while (byte := self._out.read(1)) != b"\0":
            assert byte, "the browser has ended"
            data += byte
        found = json.loads(data)
        self._loads += found.get("method") == "Page.loadEventFired"
        return found

    def go(self, address: str) -> None:
        """Open an address, and wait until it is there."""
        before = self._loads
        assert "errorText" not in self.tell("Page.navigate", url=address), address
        self.wait(before)

    def wait(self, before: int) -> None:
        """Wait until a page is loaded that was not before."""
        while self._loads == before:
            self._read()

    @contextmanager
    def drawn(self, width: int, *, scripts: bool = True) -> Iterator[None]:
        """Pages are so wide, and their own scripts run or do not."""
        size = {"height": 844, "deviceScaleFactor": 1, "mobile": False}
        self.tell("Emulation.setDeviceMetricsOverride", width=width, **size)
        self.let_scripts(scripts)
        try:
            yield
        finally:
            self.tell("Emulation.setDeviceMetricsOverride", width=390, **size)
            self.let_scripts(True)

    def let_scripts(self, run: bool) -> None:
        """Let the scripts of pages run from now on, or not."""
        self.tell("Emulation.setScriptExecutionDisabled", value=not run)

    def ask(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page, also where its own scripts are off."""
        found = self.tell("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key."""
        code, text = _KEYS[key]
        same = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self.tell("Input.dispatchKeyEvent", **same, **down)
        self.tell("Input.dispatchKeyEvent", **same, type="keyUp")

    def follow(self) -> None:
        """Press Enter where the focus is, and wait for the page that this leads to."""
        before = self._loads
        self.press("Enter")
        self.wait(before)

    def click(self, selector: str) -> None:
        """Click in the middle of something, and wait for the page that this leads to."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.ask(f"{element}.scrollIntoView({{block: 'center', inline: 'center'}})")
        middle = "(b => [b.left + b.width / 2, b.top + b.height / 2])"
        x, y = self.ask(f"{middle}({element}.getBoundingClientRect())")
        assert self.ask(f"{element}.contains(document.elementFromPoint({x}, {y}))"), selector
        before = self._loads
        for kind in ("mousePressed", "mouseReleased"):
            self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.wait(before)

    def tab_to(self, selector: str) -> None:
        """Press Tab until something has the focus; raises AssertionError where the keyboard does not get there."""
        for _ in range(200):
            self.press("Tab")
            if self.ask(f"document.activeElement.matches({json.dumps(selector)})"):
                return
        raise AssertionError(f"Tab does not lead to {selector}")


@contextmanager
def opened(directory: Path) -> Iterator[Page]:
    """An empty page of a new browser."""
    import fcntl  # which Windows has not

    (here_in, there_out), (there_in, here_out) = os.pipe(), os.pipe()
    # Beyond 3 and 4, which the one that is moved last would else be moved over.
    there = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for each in (there_in, there_out)]
    options = ("--remote-debugging-pipe", "--no-first-run", "--window-size=390,844", "about:blank")
    with (
        os.fdopen(here_out, "wb") as to,
        os.fdopen(here_in, "rb") as of,
        subprocess.Popen(
            command(directory / "profile", *options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,  # all others are closed by themselves
            preexec_fn=lambda: [os.dup2(each, number) for number, each in enumerate(there, 3)],
        ) as process,
    ):
        for each in (there_in, there_out, *there):
            os.close(each)
        page = Page(to, of)
        try:
            target = page.tell("Target.createTarget", url="about:blank")["targetId"]
            page._session = page.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            page.tell("Page.enable")
            yield page
        finally:
            process.kill()
