"""`/health` and `/metrics`: pages for programs that look after servers."""

from __future__ import annotations

from ggn_store.errors import GgnStoreError, StoreVersionError
from ggn_store.web import metrics
from ggn_store.web.page import Answer, Asked, Page


def _health(asked: Asked) -> Answer:
    try:
        found = asked.site.store.info()
        if found.version != found.needed:
            raise StoreVersionError(f"the store is of version {found.version}, and {found.needed} is needed")
    except GgnStoreError as error:
        return Answer(text=f"{asked.site.clean(str(error))}\n", status=503)
    return Answer(text="ok\n")


HEALTH = Page(
    "health",
    "/health",
    "Whether the server has a store to answer from: 200 or 503.",
    _health,
    media="text/plain",
    is_watch=True,
)
METRICS = Page(
    "metrics",
    "/metrics",
    "Requests by page and status, and how long they took, for Prometheus.",
    lambda asked: Answer(text=asked.site.metrics.text(), media=metrics.MEDIA),
    media="text/plain",
    is_watch=True,
)
