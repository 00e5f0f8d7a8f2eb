"""How many requests were answered, and how long that took, in the text format of Prometheus."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MEDIA: Final = "text/plain; version=0.0.4"


class Metrics:
    """Counts of requests by page and status, and of seconds by page; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._within: Counter[tuple[str, float]] = Counter()
        self._begun = time.time()

    def count(self, page: str, status: int, seconds: float) -> None:
        """Count an answer. Pages are those of the table of routes, so that there are only so many names."""
        with self._lock:
            self._requests[page, status] += 1
            self._seconds[page] += seconds  # type: ignore[assignment]
            for bound in _BOUNDS:
                if seconds <= bound:
                    self._within[page, bound] += 1

    def text(self) -> str:
        """All of them."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield "# HELP ggn_store_start_time_seconds When the server began, in seconds since 1970."
        yield "# TYPE ggn_store_start_time_seconds gauge"
        yield f"ggn_store_start_time_seconds {self._begun:.3f}"
        yield "# HELP ggn_store_requests_total Requests that were answered."
        yield "# TYPE ggn_store_requests_total counter"
        totals: Counter[str] = Counter()
        for (page, status), count in sorted(self._requests.items()):
            totals[page] += count
            yield f'ggn_store_requests_total{{page="{page}",status="{status}"}} {count}'
        yield "# HELP ggn_store_request_seconds How long requests took."
        yield "# TYPE ggn_store_request_seconds histogram"
        for page, total in sorted(totals.items()):
            for bound in _BOUNDS:
                count = self._within[page, bound]
                yield f'ggn_store_request_seconds_bucket{{page="{page}",le="{bound}"}} {count}'
            yield f'ggn_store_request_seconds_bucket{{page="{page}",le="+Inf"}} {total}'
            yield f'ggn_store_request_seconds_sum{{page="{page}"}} {self._seconds[page]:.6f}'
            yield f'ggn_store_request_seconds_count{{page="{page}"}} {total}'
