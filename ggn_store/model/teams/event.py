"""Events: what a store's audit tells of each change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Final

from ggn_store.model.record import Record, said_time

# What the audit tells of.
ACTIONS: Final = (
    *("revision", "tag", "state", "rename", "delete", "restore", "gc"),
    *("policy", "propose", "amend", "comment", "approve", "reject", "withdraw", "merge", "record"),
)
_ENTRY: Final = ("piece", "source", "destination")


@dataclass(frozen=True, slots=True)
class Event(Record):
    """A change of a store: what was done (`action`) to which ruleset (`subject`), when, by which user of the database.

    `at` is in UTC. `role` is None where the database has no users; `subject` is None where no ruleset was meant.
    `detail` depends on the action. On Postgres an event may become visible after one with a higher `id`. Of an event
    that was watched, `since` is where to go on after an interruption: all events up to that one have been told.
    """

    id: int
    at: datetime
    role: str | None
    action: str
    subject: str | None
    detail: Mapping[str, Any]
    since: int | None = field(default=None, compare=False)
    DATA: ClassVar = "id at role action subject detail"

    @property
    def about(self) -> str:
        """What was changed, as it is named elsewhere: `chess@3`, `chess:stable`, `chess#4`, `piece C:P`."""
        detail = self.detail
        if self.subject is None:
            return f"piece {detail['piece']}" if "piece" in detail else ""
        if detail.get("tag") is not None:
            return f"{self.subject}:{detail['tag']}"
        if detail.get("proposal") is not None:
            amended = detail.get("round") not in (None, 1)
            return f"{self.subject}#{detail['proposal']}" + (f".{detail['round']}" if amended else "")
        if self.action == "revision" and detail.get("revision") is not None:
            return f"{self.subject}@{detail['revision']}"
        return self.subject

    @property
    def what(self) -> str:
        """The rest of it in a few words, for people."""
        detail = self.detail
        said = []
        if self.action == "tag":
            said.append("removed" if detail.get("revision") is None else f"-> {self.subject}@{detail['revision']}")
        if self.action == "merge" and detail.get("revision") is not None:
            said.append(f"-> {self.subject}@{detail['revision']}")
        if self.action == "policy":
            said.append("removed" if detail.get("rules") is None else str(detail["rules"]))
        if self.action == "record":
            said.append(f"{detail.get('verdict')} elsewhere")
        if self.action in ("comment", "record"):
            said += [f"on {detail[key]}" if key == "piece" else str(detail[key]) for key in _ENTRY if detail.get(key)]
        if self.action == "approve" and detail.get("digest") is not None:
            said.append(f"sha256:{detail['digest']}")
        for mark, key in (("", "state"), ("-> ", "successor"), ("was ", "old_name")):
            if detail.get(key) is not None:
                said.append(f"{mark}{detail[key]}")
        if detail.get("author") not in (None, self.role):
            said.append(f"by {detail['author']}")
        text = " ".join(said)
        message = detail.get("message")
        return text if message is None else f"{text}: {message}" if text else str(message)

    def data(self) -> dict[str, Any]:
        """The event as JSON data."""
        data = Record.data(self) | {"at": said_time(self.at, "milliseconds")}
        return data if self.since is None else data | {"since": self.since}
