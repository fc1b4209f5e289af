"""Running the server: one process or several, until somebody asks it to stop."""

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
from py2048.server.http.limits import Buckets
from py2048.server.http.monitoring import WORKERS_FOLDER, log_config
from py2048.server.schema import MAX_CHARACTERS
from py2048.server.settings import Network, ServerError, Settings

_BACKLOG = 2048
_OF_PORTS = errno.EADDRINUSE, errno.EACCES
_SHUTDOWN_S = 20  # for open requests
_WORKER_TIMEOUT_S = 20
"""After this a worker that gives no sign of life is replaced."""

BESIDE_SOCKETS = 500
"""Connections for pages, in all."""
BESIDE_SOCKETS_EACH = 100
"""Connections for pages, of one address."""
_OTHER_FILES = 100  # the database, the log, files of the page


def run(settings: Settings, log_level: str = "info") -> None:
    """Serve until the process is asked to stop by SIGINT or SIGTERM.

    Raises:
        ServerError: if the address cannot be listened on, or workers cannot share the store.
        StorageError: if what is named is not a database; one that is away is waited for.
    """
    if not load_store(settings.database) and settings.workers > 1:
        raise ServerError("SQLite is for one process: give --database a PostgreSQL, or --workers 1")
    listener = listen(settings.host, settings.port)
    config = _config(settings, log_level)
    if settings.workers == 1:
        server = uvicorn.Server(config)

        def stop(*_: object) -> None:
            server.should_exit = True

        # uvicorn hears these signals only once it runs, and raises them again when it has stopped.
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


def _app(settings: Settings) -> ASGIApp:
    """Return the application, in the process that serves it.

    There, Python looks for garbage in cycles less often than after every 700 new objects: each
    move leaves some that live as long as their game, and no cycle.
    """
    app = make_app(settings)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 10)
    return app


def _config(settings: Settings, log_level: str) -> uvicorn.Config:
    """Return what uvicorn is to do; it is sent to workers, so all of it can be pickled."""
    connections = Connections(
        _max_connections(settings.sockets + BESIDE_SOCKETS),
        settings.sockets_per_address + BESIDE_SOCKETS_EACH,
        partial(_is_among, settings.proxies),
    )
    meter = Buckets(settings.address_rate, settings.address_rate * 3)
    socket = partial(_socket_connection, connections, meter, HEAD_TIMEOUT_S)
    return uvicorn.Config(
        partial(_app, settings),
        factory=True,
        workers=settings.workers,
        timeout_worker_healthcheck=_WORKER_TIMEOUT_S,
        # Both are called like classes.
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
    connections: Connections, meter: Buckets, timeout_s: float, **given: Any
) -> asyncio.Protocol:
    # Loaded for the first one, after the first page.
    from py2048.server.http.sockets import SocketConnection

    return SocketConnection(connections, meter, timeout_s, **given)


def _max_connections(wanted: int) -> int:
    """Return how many connections there may be, after asking the system for as many files."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted + _OTHER_FILES if most == resource.RLIM_INFINITY else most
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return min(wanted, max(1, files - _OTHER_FILES))


def _is_among(networks: tuple[Network, ...], host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in networks)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, before anything slow is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        why, _, _ = (error.strerror or "").partition(" (while")
        remedy = f"choose another {'--port' if error.errno in _OF_PORTS else '--host'}"
        raise ServerError(f"cannot listen on {host}:{port} ({why}): {remedy}") from None
