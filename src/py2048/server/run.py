"""Run the server in one or several processes."""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import os
import resource
import signal
import socket
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from py2048.app.storage import load_store
from py2048.server.app import make_app
from py2048.server.http.connections import HEAD_TIMEOUT_S, MAX_HEAD, Connections, HttpConnection
from py2048.server.http.limits import TokenBuckets
from py2048.server.http.monitoring import WORKERS_FOLDER, log_config
from py2048.server.schema import MAX_CHARACTERS
from py2048.server.settings import Network, ServerError, ServerSettings

_BACKLOG = 2048
_PORT_ERRORS = errno.EADDRINUSE, errno.EACCES
_SHUTDOWN_S = 20  # Time limit for pending requests.
_WORKER_TIMEOUT_S = 20  # Unresponsive workers are replaced after this time.
BESIDE_SOCKETS = 500  # Connections for HTTP, in addition to WebSockets.
BESIDE_SOCKETS_EACH = 100  # The same, per address.
_OTHER_FILES = 100  # File descriptors for the database, logs and static files.


def run(settings: ServerSettings, log_level: str = "info") -> None:
    """Serve until the process receives SIGINT or SIGTERM.

    Raises:
        ServerError: If the address is not available, or several workers would share SQLite.
        StorageError: If the database URL is invalid. An unavailable database is retried instead.
    """
    if not load_store(settings.database) and settings.workers > 1:
        raise ServerError(
            "SQLite supports one process only: use --database with PostgreSQL, or --workers 1"
        )
    listener = listen(settings.host, settings.port)
    config = _config(settings, log_level)
    if settings.workers == 1:
        server = uvicorn.Server(config)

        def stop(*_: object) -> None:
            server.should_exit = True

        # uvicorn handles these signals while it runs, and raises them again when it stops.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        _announce(listener)
        server.run(sockets=[listener])
        return
    with TemporaryDirectory(prefix="py2048-workers-") as folder:
        os.environ[WORKERS_FOLDER] = folder
        supervisor = Multiprocess(config, sockets=[listener])
        _announce(listener)
        supervisor.run()


def _announce(listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    print(f"py2048 serves on http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)


def _app(settings: ServerSettings) -> ASGIApp:
    """Create the application in the process that serves it.

    The garbage collector runs less often than every 700 new objects, the default. Moves create no
    reference cycles, only objects that live as long as their game.
    """
    app = make_app(settings)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 10)
    return app


def _config(settings: ServerSettings, log_level: str) -> uvicorn.Config:
    """Return uvicorn's configuration. It is sent to workers, so it must be picklable."""
    connections = Connections(
        _max_connections(settings.sockets + BESIDE_SOCKETS),
        settings.sockets_per_address + BESIDE_SOCKETS_EACH,
        partial(_is_in, settings.proxies),
    )
    meter = TokenBuckets(settings.address_rate, settings.address_rate * 3)
    socket = partial(_socket_connection, connections, meter, HEAD_TIMEOUT_S)
    return uvicorn.Config(
        partial(_app, settings),
        factory=True,
        workers=settings.workers,
        timeout_worker_healthcheck=_WORKER_TIMEOUT_S,
        # uvicorn instantiates both.
        http=partial(HttpConnection, connections, HEAD_TIMEOUT_S),  # type: ignore[arg-type]
        ws=socket,  # type: ignore[arg-type]
        ws_max_size=4 * MAX_CHARACTERS,
        ws_per_message_deflate=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_SHUTDOWN_S,
        h11_max_incomplete_event_size=MAX_HEAD,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=[str(network) for network in settings.proxies],
        server_header=False,
        access_log=False,
        log_config=log_config(log_level),
    )


def _socket_connection(
    connections: Connections, meter: TokenBuckets, timeout_s: float, **uvicorn_args: Any
) -> asyncio.Protocol:
    # Imported with the first WebSocket, so that the first page is not delayed.
    from py2048.server.http.sockets import SocketConnection

    return SocketConnection(connections, meter, timeout_s, **uvicorn_args)


def _max_connections(wanted: int) -> int:
    """Raise the limit on open files for this many connections; return how many are possible."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted + _OTHER_FILES if hard_limit == resource.RLIM_INFINITY else hard_limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard_limit))
    return min(wanted, max(1, files - _OTHER_FILES))


def _is_in(networks: tuple[Network, ...], host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in networks)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises:
        ServerError: If the address is not available.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        why, _, _ = (error.strerror or "").partition(" (while")
        remedy = f"choose another {'--port' if error.errno in _PORT_ERRORS else '--host'}"
        raise ServerError(f"cannot listen on {host}:{port} ({why}): {remedy}") from None
