"""Running the server: one process or several, until somebody asks it to stop."""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import logging
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import uvicorn

from py2048.errors import MissingExtraError
from py2048.server.app import make_app
from py2048.server.http.connections import Connections, HttpConnection
from py2048.server.http.limits import Buckets
from py2048.server.http.logs import set_up_logs
from py2048.server.schema import MOST_CHARACTERS
from py2048.server.settings import Network, ServerError, Settings
from py2048.server.supervisor import Supervisor
from py2048.server.worker import Worker
from py2048.storage import load_store, names_store

_BACKLOG = 2048
_SHUTDOWN = 20  # seconds for open requests
_BESIDE_SOCKETS = 500  # connections for pages, in all
_BESIDE_SOCKETS_EACH = 100  # and of one address
_BALANCES = sys.platform == "linux"
_OTHER_FILES = 100  # the database, the log, files of the page


def run(settings: Settings, log_level: str = "info") -> None:
    """Serve until the process is asked to stop by SIGINT or SIGTERM.

    Raises:
        ServerError: if an address cannot be listened on, or what is asked for cannot be shared.
        MissingExtraError: if Redis is asked for without the extra ``redis``.
        StorageError: if what is named is no database; one that is away is waited for.
    """
    _check_redis(settings)
    if settings.workers > 1:
        _supervise(settings, log_level)
        return
    if names_store(settings.database):  # one's own is right, and loading it delays the first page
        load_store(settings.database)
    listener = _listen(settings)
    set_up_logs(log_level)
    _serve(settings, listener)


def _supervise(settings: Settings, log_level: str) -> None:
    """Serve by several workers."""
    if not load_store(settings.database):  # loaded once, and not by each worker
        raise ServerError(
            "workers cannot share a store in memory: give --database a file, or --workers 1"
        )
    ports = settings.workers if settings.separate_ports else 1
    listeners = [_listen(settings, number) for number in range(ports)]
    set_up_logs(log_level)
    if _BALANCES and not settings.separate_ports:
        listeners = [_keep_address(listeners[0])]
        listen = partial(_listen_beside, listeners[0])
    else:
        listen = partial(_share, listeners)
    serve = partial(_serve_as_worker, settings)
    supervisor = Supervisor(listen, serve, settings.workers, settings.worker_patience)
    supervisor.start()
    _announce(listeners)
    supervisor.run()


def _check_redis(settings: Settings) -> None:
    """See before anything starts that Redis can be used, if it is asked for."""
    if settings.redis:
        try:
            from py2048.server.play.redis_bus import RedisBus
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"--redis needs {error.name}, which is not installed: pip install 'py2048[redis]'"
            ) from None
        RedisBus(settings.redis)


def _share(listeners: Sequence[socket.socket], worker: int) -> socket.socket:
    return listeners[worker % len(listeners)].dup()


def _serve_as_worker(settings: Settings, listener: socket.socket, worker: Worker) -> None:
    for handler in logging.getLogger().handlers:
        handler.addFilter(partial(_name_worker, worker.number))
    _serve(settings, listener, worker)


def _name_worker(number: int, record: logging.LogRecord) -> bool:
    record.worker = number
    return True


def _serve(settings: Settings, listener: socket.socket, worker: Worker | None = None) -> None:
    server = uvicorn.Server(_config(settings, worker))

    def stop(*_: object) -> None:
        server.should_exit = True

    # uvicorn hears these signals only once it runs, and raises them again when it has stopped.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    if worker is None:
        _announce([listener])
    _collect_rarely()
    server.run(sockets=[listener])


def _announce(listeners: Sequence[socket.socket]) -> None:
    places = (listener.getsockname()[:2] for listener in listeners)
    addresses = ", ".join(f"http://{_shown(host)}:{port}" for host, port in places)
    print(f"py2048 serves on {addresses}", flush=True)


def _collect_rarely() -> None:
    """Let Python look for garbage in cycles less often than after every 700 new objects.

    Each move leaves some that live as long as their game, and no cycle: almost every look would be
    in vain.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 10)


def _config(settings: Settings, worker: Worker | None) -> uvicorn.Config:
    connections = Connections(
        _most_connections(settings.sockets + _BESIDE_SOCKETS),
        settings.sockets_per_address + _BESIDE_SOCKETS_EACH,
        partial(_is_among, settings.proxies),
    )
    meter = Buckets(settings.address_rate, settings.address_rate * 3)
    socket = partial(_socket_connection, connections, meter, settings.head_patience)
    return uvicorn.Config(
        lambda: make_app(settings, worker),
        factory=True,
        # Both are called like classes.
        http=partial(HttpConnection, connections, settings.head_patience),  # type: ignore[arg-type]
        ws=socket,  # type: ignore[arg-type]
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


def _socket_connection(
    connections: Connections, meter: Buckets, timeout_s: float, **given: Any
) -> asyncio.Protocol:
    # Loaded for the first one, after the first page.
    from py2048.server.http.sockets import SocketConnection

    return SocketConnection(connections, meter, timeout_s, **given)


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


def _listen(settings: Settings, number: int = 0) -> socket.socket:
    """Return a listening socket, before anything slow is loaded.

    Args:
        settings: how the server is run.
        number: how many ports after the first one.
    """
    port = settings.port + number if settings.port else 0
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = _bind(family, (settings.host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        place = f"{settings.host}:{port}"
        is_host = isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL
        remedy = f"choose another {'--host' if is_host else '--port'}"
        raise ServerError(f"cannot listen on {place} ({error.strerror}): {remedy}") from None
    return listener


def _keep_address(listener: socket.socket) -> socket.socket:
    """Close a listener, which has shown that nobody else listens there, but keep its address."""
    address = listener.getsockname()
    listener.close()
    return _bind(listener.family, address, socket.SO_REUSEPORT)


def _listen_beside(keeper: socket.socket, _worker: int) -> socket.socket:
    """Return a listener for one worker of an address that all of them share.

    Linux spreads connections evenly over such listeners; of a single one, an idle worker would
    take nearly all. When a worker dies its listener is gone at once, and the others get all.
    """
    listener = _bind(keeper.family, keeper.getsockname(), socket.SO_REUSEPORT)
    listener.listen(_BACKLOG)
    return listener


def _bind(family: int, address: Any, *options: int) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        for option in (socket.SO_REUSEADDR, *options):
            bound.setsockopt(socket.SOL_SOCKET, option, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
