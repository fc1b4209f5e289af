"""What the server counts, for Prometheus: of one process, or of all workers together."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

WORKERS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Names the folder by which workers share their counts; it must be set before this is loaded."""

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)  # seconds
_PERIOD_S = 1.0


class Metrics:
    """Counters of this process since it started, and gauges, which are set when they are read."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = CollectorRegistry()
        self._gauges: list[tuple[Gauge, Callable[[], float]]] = []

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
        self.gauge("py2048_processes", "Processes that serve together", lambda: 1)
        self.gauge("process_max_resident_memory_bytes", "Most memory in use", _most_memory)
        # As gauges: the library's own collector cannot tell of several processes.
        self._process = ProcessCollector(registry=None)
        self._of_process = {
            each.name: self._gauge(each.name, metric.documentation)
            for metric in self._process.collect()
            for each in metric.samples
        }

    def gauge(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        """Show a value that is read when it is asked for; workers' values are added up."""
        self._gauges.append((self._gauge(name, meaning), value))

    def _gauge(self, name: str, meaning: str) -> Gauge:
        modes: dict[str, Literal["livemax", "livemin", "livesum"]] = {
            "process_start_time_seconds": "livemax", "py2048_bus_up": "livemin",
        }  # fmt: skip
        mode = modes.get(name, "livesum")
        return Gauge(name, meaning, registry=self._registry, multiprocess_mode=mode)

    def count_response(self, status: int) -> None:
        """Count an HTTP response."""
        self._responses.labels(f"{status // 100}xx").inc()

    def text(self) -> bytes:
        """Return everything as Prometheus reads it, of all workers."""
        self._set_gauges()
        folder = os.environ.get(WORKERS_FOLDER)
        if not folder:
            return generate_latest(self._registry)
        for file in Path(folder).glob("gauge_live*.db"):
            pid = int(file.stem.rpartition("_")[2])
            if not Path(f"/proc/{pid}").exists():
                mark_process_dead(pid)  # type: ignore[no-untyped-call]
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared)

    async def keep_current(self) -> None:
        """Set the gauges for other workers, which may be asked for them, until cancelled."""
        while os.environ.get(WORKERS_FOLDER):
            self._set_gauges()
            await asyncio.sleep(_PERIOD_S)

    def _set_gauges(self) -> None:
        for gauge, value in self._gauges:
            gauge.set(value())
        for metric in self._process.collect():
            for sample in metric.samples:
                self._of_process[sample.name].set(sample.value)


def _most_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
