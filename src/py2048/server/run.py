"""Run the server in one process, or in several worker processes."""

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
from py2048.server.app import Server
from py2048.server.http.connections import MAX_HEAD, Connections, HttpConnection
from py2048.server.http.limits import TokenBuckets
from py2048.server.http.monitoring import WORKERS_FOLDER, log_config
from py2048.server.schema import MAX_CHARACTERS
from py2048.server.settings import Network, ServerError, ServerSettings

_BACKLOG = 2048
_PORT_ERRORS = errno.EADDRINUSE, errno.EACCES
_SHUTDOWN_S = 20  # Time limit for pending requests.
_WORKER_TIMEOUT_S = 20  # Workers that do not respond for this long are replaced.
BESIDE_SOCKETS = 500  # Number of HTTP connections in addition to WebSockets.
BESIDE_SOCKETS_EACH = 100  # HTTP connections per address, in addition to WebSockets.
_OTHER_FILES = 100  # Number of file descriptors for the database, logs and static files.


def run(settings: ServerSettings, log_level: str = "info") -> None:
    """Run the server until the process receives SIGINT or SIGTERM.

    Raises:
        ServerError: If the address is not available, or several workers would share an SQLite file.
        StorageError: If the database URL is invalid. If the database is unavailable, the server
            retries.
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

        # Uvicorn handles SIGINT and SIGTERM while it runs, and raises them again after it has
        # stopped.
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
    """Create the application in the process that will serve it.

    The garbage collector runs less often than Python's default of every 700 new objects. Moves
    create no reference cycles, and most new objects live as long as their game, so there is little
    garbage to collect.
    """
    app = Server(settings).asgi()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 100, 10)
    return app


def _config(settings: ServerSettings, log_level: str) -> uvicorn.Config:
    """Return uvicorn's configuration, which must be picklable because workers receive it."""
    most = _max_connections(settings.sockets + BESIDE_SOCKETS)
    most_each = settings.sockets_per_address + BESIDE_SOCKETS_EACH
    connections = Connections(most, most_each, partial(_is_in, settings.proxies))
    meter = TokenBuckets(settings.address_rate, settings.address_rate * 3)
    socket = partial(_socket_connection, connections, meter)
    return uvicorn.Config(
        partial(_app, settings),
        factory=True,
        workers=settings.workers,
        timeout_worker_healthcheck=_WORKER_TIMEOUT_S,
        # uvicorn instantiates both.
        http=partial(HttpConnection, connections),  # type: ignore[arg-type]
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
    connections: Connections, meter: TokenBuckets, **uvicorn_args: Any
) -> asyncio.Protocol:
    # Imported here, because uvicorn's WebSocket module would delay the first page.
    from py2048.server.http.sockets import SocketConnection

    return SocketConnection(connections, meter, **uvicorn_args)


def _max_connections(wanted: int) -> int:
    """Raise the open-file limit to allow `wanted` connections. Return how many are possible."""
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
