"""Who is named as the author of a change."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

from ggn_store.errors import UNSTORABLE, NotationError, quote
from ggn_store.store.database.engine import Database


def author(database: Database, given: str | None = None) -> str | None:
    """The author that was given, else $GGN_AUTHOR, else the user of the database, else the one that git knows."""
    return given or os.environ.get("GGN_AUTHOR") or database.role or _of_git(os.getcwd())


def signed(database: Database, given: str | None, message: str | None) -> str | None:
    """Like `author`; raises NotationError where its name or the message has characters that cannot be stored."""
    found = author(database, given)
    for what, text in (("author", found), ("message", message)):
        if text is not None and not isinstance(text, str):
            raise NotationError(f"the {what} is a text, not {quote(text)}")
        if text is not None and UNSTORABLE.search(text):
            raise NotationError(f"the {what} {quote(text)} has characters that no database can keep")
    return found


@functools.lru_cache(maxsize=8)
def _of_git(_directory: str) -> str | None:
    """`user.name <user.email>` of git's configuration, which may be the directory's own."""
    git = shutil.which("git")
    if git is None:
        return None
    found = {}
    for key in ("user.name", "user.email"):
        command = [git, "config", "--get", key]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)  # noqa: S603
        found[key] = done.stdout.strip() if done.returncode == 0 else ""
    name, email = found["user.name"], found["user.email"]
    return f"{name} <{email}>" if name and email else name or email or None
