"""Logs: one JSON object a line on standard error, each request under an id, and no secrets."""

from __future__ import annotations

import itertools
import json
import logging
import re
import secrets
import sys
from contextvars import ContextVar
from datetime import UTC, datetime

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


def set_up_logs(level: str) -> None:
    """Send all logs of the server to standard error.

    Args:
        level: the least level to write, such as ``info``. What libraries write to find their own
            faults, cookies and messages included, is left out.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    least = logging.getLevelNamesMapping()[level.upper()]
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(least, logging.INFO))
    logging.getLogger("py2048").setLevel(least)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.error").addFilter(is_our_fault)


def is_our_fault(record: logging.LogRecord) -> bool:
    """Return whether a fault that uvicorn writes down is not a client's alone."""
    return "Invalid UTF-8" not in str(record.msg)
