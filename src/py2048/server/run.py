"""Running the server: one process or several, until somebody asks it to stop."""

from __future__ import annotations

import ipaddress
import json
import logging
import resource
import signal
import socket
import sys
from datetime import UTC, datetime
from functools import partial

import uvicorn

from py2048.server.app import make_app
from py2048.server.connections import Connections, HttpConnection, socket_connection
from py2048.server.schema import MOST_CHARACTERS
from py2048.server.settings import Network, ServerError, Settings

_BACKLOG = 2048
_SHUTDOWN = 20  # seconds for open requests
_BESIDE_SOCKETS = 500  # connections for pages, in all
_BESIDE_SOCKETS_EACH = 100  # and of one address
_OTHER_FILES = 100  # the database, the log, files of the page


def run(settings: Settings, log_level: str = "info") -> None:
    """Serve until the process is asked to stop by SIGINT or SIGTERM.

    Raises:
        ServerError: if the address cannot be listened on.
    """
    listener = _listen(settings)
    _set_up_logs(log_level)
    server = uvicorn.Server(_config(settings))

    def stop(*_: object) -> None:
        server.should_exit = True

    # uvicorn hears these signals only once it runs, and raises them again when it has stopped.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    host, port = listener.getsockname()[:2]
    print(f"py2048 serves on http://{_shown(host)}:{port}", flush=True)
    server.run(sockets=[listener])


def _config(settings: Settings) -> uvicorn.Config:
    connections = Connections(
        _most_connections(settings.sockets + _BESIDE_SOCKETS),
        settings.sockets_per_address + _BESIDE_SOCKETS_EACH,
        partial(_is_among, settings.proxies),
    )
    return uvicorn.Config(
        lambda: make_app(settings),
        factory=True,
        # Both are called like classes.
        http=partial(HttpConnection, connections, settings.head_patience),  # type: ignore[arg-type]
        ws=partial(socket_connection, connections, settings.head_patience),  # type: ignore[arg-type]
        ws_max_size=4 * MOST_CHARACTERS,
        ws_per_message_deflate=False,
        ws_ping_interval=settings.ping,
        ws_ping_timeout=settings.ping,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_SHUTDOWN,
        h11_max_incomplete_event_size=16 * 1024,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=[str(network) for network in settings.proxies],
        server_header=False,
        access_log=False,
        log_config=None,
    )


def _most_connections(wanted: int) -> int:
    """Return how many connections there may be, after asking the system for as many files."""
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _OTHER_FILES
    if 0 <= files < needed:  # less than 0 means as many as one likes
        files = min(needed, most) if most >= 0 else needed
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return wanted if files < 0 else min(wanted, max(1, files - _OTHER_FILES))


def _is_among(networks: tuple[Network, ...], host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in networks)


def _listen(settings: Settings) -> socket.socket:
    """Return a listening socket, before anything slow is loaded."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        place = f"{settings.host}:{settings.port}"
        raise ServerError(
            f"cannot listen on {place} ({error.strerror}): choose another --port"
        ) from None
    return listener


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


# Logs: one JSON object a line on standard error, and no secrets in it

_USUAL = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "color_message"}


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
        line |= {key: value for key, value in vars(record).items() if key not in _USUAL}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def _set_up_logs(level: str) -> None:
    """Send all logs of the server to standard error.

    Args:
        level: the least level to write, such as ``info``.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
