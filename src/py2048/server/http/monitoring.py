"""What those who run the server see of it: logs, and what is counted for Prometheus.

Logs are one JSON object a line on standard error, each request under an id, and have no secrets.
What is counted is that of one process, or of all workers together.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import prometheus_client as prometheus
from prometheus_client import Counter, Gauge
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

WORKERS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Names the folder by which workers share their counts; it must be set before this is loaded."""

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)  # seconds
_PERIOD_S = 1.0

_USUAL = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "color_message"}
_PLAIN = re.compile(r"[a-z0-9_.-]{0,32}")
_request: ContextVar[str | None] = ContextVar("request", default=None)


def begin_request() -> str:
    """Return a new id, under which all that this request writes down will be found."""
    name = secrets.token_hex(8)
    _request.set(name)
    return name


def shown_path(path: str) -> str:
    """Return a path as it is written down: without parts that could be a name or a secret.

    Those that a page has, and the ids of games, stay.
    """
    parts = path.split("/")
    return "/".join(
        part if _PLAIN.fullmatch(part) and before != "player" else "…"
        for before, part in itertools.pairwise(["", *parts])
    )


class JsonFormatter(logging.Formatter):
    """Writes a log record, with what was given as ``extra``, as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request := _request.get():
            line["request"] = request
        line |= {key: value for key, value in vars(record).items() if key not in _USUAL}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def log_config(level: str) -> dict[str, Any]:
    """Return how logs are written, for `logging.config.dictConfig`: all to standard error.

    Args:
        level: the least level to write, such as ``info``. What libraries write to find their own
            faults, cookies and messages included, is left out.
    """
    least = logging.getLevelNamesMapping()[level.upper()]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": max(least, logging.INFO)},
        "loggers": {"py2048": {"level": least}, "uvicorn.error": {"filters": [is_our_fault]}},
    }


def is_our_fault(record: logging.LogRecord) -> bool:
    """Return whether a fault that uvicorn writes down is not a client's alone."""
    return "Invalid UTF-8" not in str(record.msg)


class Metrics:
    """Counters of this process since it started, and gauges, which are set when they are read."""

    def __init__(self) -> None:
        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = prometheus.CollectorRegistry()
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
        self.responses = Counter(
            "py2048_http_responses", "HTTP responses by class", ["status"], registry=registry
        )
        self.move_seconds = prometheus.Histogram(
            "py2048_move_seconds",
            "From an action to its acknowledgement, when it is written",
            buckets=_BUCKETS,
            registry=registry,
        )
        self.gauge("py2048_processes", "Processes that serve together", lambda: 1)
        # As gauges: the library's own collector cannot tell of several processes.
        self._process = prometheus.ProcessCollector(registry=None)
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
            "process_start_time_seconds": "livemax",
            "py2048_bus_up": "livemin",
        }
        mode = modes.get(name, "livesum")
        return Gauge(name, meaning, registry=self._registry, multiprocess_mode=mode)

    def text(self) -> bytes:
        """Return everything as Prometheus reads it, of all workers."""
        self._set_gauges()
        folder = os.environ.get(WORKERS_FOLDER)
        if not folder:
            return prometheus.generate_latest(self._registry)
        for file in Path(folder).glob("gauge_live*.db"):
            pid = int(file.stem.rpartition("_")[2])
            if not Path(f"/proc/{pid}").exists():
                mark_process_dead(pid)  # type: ignore[no-untyped-call]
        shared = prometheus.CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return prometheus.generate_latest(shared)

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
