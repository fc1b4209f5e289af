"""What the server counts, for Prometheus."""

from __future__ import annotations

import resource
from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)  # seconds


class Metrics:
    """Counters of one process since it started."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = CollectorRegistry()

        def counter(name: str, meaning: str) -> Counter:
            return Counter(f"py2048_{name}", meaning, registry=registry)

        self.moves = counter("moves", "Turns written to the store")
        self.commits = counter("commits", "Transactions of the group commit")
        self.finished = counter("finished", "Games verified and counted")
        self.unverified = counter("unverified", "Games that failed the verification")
        self.refused = counter("refused", "Requests of players that were not granted")
        self.limited = counter("limited", "Requests that came too fast")
        self.storage_faults = counter("storage_faults", "Changes that could not be written")
        self.slow_readers = counter(
            "slow_readers", "Sockets closed because the browser read too slowly"
        )
        self.reviews = counter("reviews", "Reviews of finished games")
        self.failed_reviews = counter("failed_reviews", "Reviews that could not be computed")
        self._responses = Counter(
            "py2048_http_responses", "HTTP responses by class", ["status"], registry=registry
        )
        self.move_seconds = Histogram(
            "py2048_move_seconds",
            "From an action to its acknowledgement, when it is written",
            buckets=_BUCKETS,
            registry=registry,
        )
        ProcessCollector(registry=registry)
        self.gauge("process_max_resident_memory_bytes", "Most memory in use", _most_memory)

    def gauge(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        """Show a value that is read when it is asked for."""
        Gauge(name, meaning, registry=self._registry).set_function(value)

    def count_response(self, status: int) -> None:
        """Count an HTTP response."""
        self._responses.labels(f"{status // 100}xx").inc()

    def text(self) -> bytes:
        """Return everything as Prometheus reads it."""
        return generate_latest(self._registry)


def _most_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
