"""Running the server: one process or several, until somebody asks it to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from typing import Any

import uvicorn

from py2048.ui.web import logs
from py2048.ui.web.app import make_app
from py2048.ui.web.requests import MOST_CHARACTERS
from py2048.ui.web.settings import ServerError, Settings

_BACKLOG = 2048
_SHUTDOWN = 20  # seconds for open requests


def run(settings: Settings, log_level: str = "info") -> None:
    """Serve until the process is asked to stop by SIGINT or SIGTERM.

    Raises:
        ServerError: if the address cannot be listened on.
    """
    listener = _listen(settings)
    logs.set_up(log_level)
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
    return uvicorn.Config(
        lambda: make_app(settings),
        factory=True,
        ws=_socket_protocol,  # type: ignore[arg-type]  # it is called like a class
        ws_max_size=4 * MOST_CHARACTERS,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_SHUTDOWN,
        h11_max_incomplete_event_size=16 * 1024,
        limit_concurrency=settings.sockets + 500,
        proxy_headers=settings.public_url is not None,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1"),
        server_header=False,
        access_log=False,
        log_config=None,
    )


def _socket_protocol(**connection: Any) -> asyncio.Protocol:
    """Return what speaks with a browser; loaded for the first one, after the first page."""
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    return WebSocketsSansIOProtocol(**connection)


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
