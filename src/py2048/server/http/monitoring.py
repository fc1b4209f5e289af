"""Logs and metrics for operators.

Logs are JSON lines on standard error. Log lines contain request ids but no secrets. If there are
several workers, the metrics cover all of them.
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
from prometheus_client import Counter, Gauge, Summary
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

WORKERS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable for the folder of shared metrics. This module reads it on import."""

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)  # seconds
_UPDATE_PERIOD_S = 1.0

_STANDARD_FIELDS = {*vars(logging.makeLogRecord({})), "message", "asctime", "color_message"}
_PLAIN = re.compile(r"[a-z0-9_.-]{0,32}")
_request: ContextVar[str | None] = ContextVar("request", default=None)


def begin_request() -> str:
    """Start the log context of a request, and return the request's id."""
    name = secrets.token_hex(8)
    _request.set(name)
    return name


def redacted_path(path: str) -> str:
    """Return a URL path without the parts that could be a name or a secret.

    Game ids and the fixed parts of routes are not redacted.
    """
    parts = path.split("/")
    return "/".join(
        part if _PLAIN.fullmatch(part) and before != "player" else "…"
        for before, part in itertools.pairwise(["", *parts])
    )


class JsonFormatter(logging.Formatter):
    """Formats a log record and its ``extra`` fields as one line of JSON."""

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
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD_FIELDS}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def log_config(level: str) -> dict[str, Any]:
    """Return the configuration for `logging.config.dictConfig`. All logs go to standard error.

    Args:
        level: Minimum level of py2048's own log messages, such as ``info``. Debug logs of libraries
            are always disabled, because they contain cookies and messages.
    """
    minimum = logging.getLevelNamesMapping()[level.upper()]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": max(minimum, logging.INFO)},
        "loggers": {"py2048": {"level": minimum}, "uvicorn.error": {"filters": [is_our_fault]}},
    }


def is_our_fault(record: logging.LogRecord) -> bool:
    """Filter out the errors in uvicorn's log that are caused by clients."""
    return "Invalid UTF-8" not in str(record.msg)


class Metrics:
    """Counters of this process, and gauges that are read when metrics are requested."""

    def __init__(self) -> None:
        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = prometheus.CollectorRegistry()
        self._gauges: list[tuple[Gauge, Callable[[], float]]] = []

        def counter(name: str, meaning: str, *labels: str) -> Counter:
            return Counter(f"py2048_{name}", meaning, labels, registry=registry)

        self.moves = counter("moves", "Turns written to the store")
        self.commits = counter("commits", "Transactions of the group commit")
        self.finished = counter("finished", "Games verified and counted")
        self.unverified = counter("unverified", "Games that failed the verification")
        self.refused = counter("refused", "Rejected actions of players")
        self.limited = counter("limited", "Requests that came too fast", "limit")
        time = "Processor time of expensive requests"
        self.door_seconds = Summary("py2048_door_seconds", time, ["door"], registry=registry)
        self.storage_faults = counter("storage_faults", "Changes that could not be written")
        slow = "Sockets closed because the browser read too slowly"
        self.slow_readers = counter("slow_readers", slow)
        self.reviews = counter("reviews", "Reviews of finished games")
        self.failed_reviews = counter("failed_reviews", "Reviews that could not be computed")
        self.responses = counter("http_responses", "HTTP responses by class", "status")
        latency = "py2048_move_seconds", "Time from an action to its acknowledgement"
        self.move_seconds = prometheus.Histogram(*latency, buckets=_BUCKETS, registry=registry)
        self.gauge("py2048_processes", "Processes that serve together", lambda: 1)
        # The library's `ProcessCollector` does not support several processes.
        self._process = prometheus.ProcessCollector(registry=None)
        self._of_process = {
            each.name: self._gauge(each.name, metric.documentation)
            for metric in self._process.collect()
            for each in metric.samples
        }

    def gauge(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        """Register a gauge. The values of all workers are summed."""
        self._gauges.append((self._gauge(name, meaning), value))

    def _gauge(self, name: str, meaning: str) -> Gauge:
        modes: dict[str, Literal["livemax", "livemin", "livesum"]] = {
            "process_start_time_seconds": "livemax",
            "py2048_bus_up": "livemin",
        }
        mode = modes.get(name, "livesum")
        return Gauge(name, meaning, registry=self._registry, multiprocess_mode=mode)

    def text(self) -> bytes:
        """Return the metrics of all workers in the Prometheus text format."""
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
        """Periodically publish the gauges of this worker to the other workers, until cancelled."""
        while os.environ.get(WORKERS_FOLDER):
            self._set_gauges()
            await asyncio.sleep(_UPDATE_PERIOD_S)

    def _set_gauges(self) -> None:
        for gauge, value in self._gauges:
            gauge.set(value())
        for metric in self._process.collect():
            for sample in metric.samples:
                self._of_process[sample.name].set(sample.value)
