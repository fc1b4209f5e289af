"""Logs: one JSON object a line on standard error, each request under an id, and no secrets."""

from __future__ import annotations

import itertools
import json
import logging
import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

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
        "filters": {"ours": {"()": _find_our_faults}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": max(least, logging.INFO)},
        "loggers": {"py2048": {"level": least}, "uvicorn.error": {"filters": ["ours"]}},
    }


def _find_our_faults() -> Callable[[logging.LogRecord], bool]:
    return is_our_fault


def is_our_fault(record: logging.LogRecord) -> bool:
    """Return whether a fault that uvicorn writes down is not a client's alone."""
    return "Invalid UTF-8" not in str(record.msg)
