"""What the server counts, in the text format of Prometheus."""

from __future__ import annotations

import bisect
import resource
import time
from dataclasses import dataclass, field

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Upper bounds of the latency histogram, in seconds."""


class Histogram:
    """How long something took, counted by upper bounds."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self._counts[bisect.bisect_left(_BOUNDS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str) -> list[str]:
        """Return the samples."""
        lines, total = [], 0
        for bound, count in zip((*_BOUNDS, "+Inf"), self._counts, strict=True):
            total += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{name}_sum {self._sum:.6f}", f"{name}_count {total}"]


@dataclass
class Metrics:
    """Counters of one process since it started.

    Attributes:
        moves: turns written to the store.
        commits: transactions of the writer.
        finished: games that were verified and counted.
        unverified: games that were over and failed the verification.
        refused: requests of players that were not granted.
        limited: requests that came too fast.
        storage_faults: changes that could not be written.
        slow_readers: sockets closed because the browser read too slowly.
        requests: HTTP responses by class of status.
    """

    moves: int = 0
    commits: int = 0
    finished: int = 0
    unverified: int = 0
    refused: int = 0
    limited: int = 0
    storage_faults: int = 0
    slow_readers: int = 0
    requests: dict[str, int] = field(default_factory=dict)
    latency: Histogram = field(default_factory=Histogram)
    started: float = field(default_factory=time.time)

    def count_request(self, status: int) -> None:
        """Count a response."""
        kind = f"{status // 100}xx"
        self.requests[kind] = self.requests.get(kind, 0) + 1

    def text(self, gauges: dict[str, float]) -> str:
        """Return everything as Prometheus reads it."""
        lines = []
        for name, meaning in _COUNTERS.items():
            full = f"py2048_{name}_total"
            lines += [f"# HELP {full} {meaning}", f"# TYPE {full} counter"]
            lines.append(f"{full} {getattr(self, name)}")
        lines.append("# TYPE py2048_http_responses_total counter")
        lines += [
            f'py2048_http_responses_total{{status="{kind}"}} {count}'
            for kind, count in sorted(self.requests.items())
        ]
        lines.append(
            "# HELP py2048_move_seconds From an action to its acknowledgement, when it is written"
        )
        lines.append("# TYPE py2048_move_seconds histogram")
        lines += self.latency.lines("py2048_move_seconds")
        usage = resource.getrusage(resource.RUSAGE_SELF)
        process = {
            "process_start_time_seconds": self.started,
            "process_cpu_seconds_total": usage.ru_utime + usage.ru_stime,
            "process_max_resident_memory_bytes": usage.ru_maxrss * 1024,
        }
        for name, value in {**gauges, **process}.items():
            lines += [f"# TYPE {name} gauge", f"{name} {value:.10g}"]
        return "\n".join(lines) + "\n"


_COUNTERS = {
    "moves": "Turns written to the store",
    "commits": "Transactions of the writer",
    "finished": "Games verified and counted",
    "unverified": "Games that failed the verification",
    "refused": "Requests of players that were not granted",
    "limited": "Requests that came too fast",
    "storage_faults": "Changes that could not be written",
    "slow_readers": "Sockets closed because the browser read too slowly",
}
