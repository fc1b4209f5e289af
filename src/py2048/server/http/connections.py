"""HTTP connections, limited in number and protected from slow clients.

A connection is idle while the server waits for the head of its next request. An attacker can keep
many idle connections at low cost, so idle connections never block other clients. If an address or
the server reaches its limit, the connection that has been idle longest is closed.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from py2048.server.http.middleware import network_of

SHUTDOWN_HOOK = "py2048.shutdown"
"""ASGI scope key for a function that ends an endless response on shutdown."""
SOCKET = "py2048.socket"
"""ASGI scope key for a WebSocket's `SocketConnection`."""

WRITE_TIMEOUT_S = 30.0
MAX_HEAD = 16 * 1024  # bytes
HEAD_TIMEOUT_S = 10.0


class _Droppable(Protocol):
    def drop(self) -> None:
        """Abort the connection, and remove it from `Connections` immediately."""


class Connections:
    """Limits the number of connections, and closes idle connections when the limit is reached.

    Args:
        max_connections: Maximum total number.
        max_each: Maximum number per address, except for trusted proxies.
        is_proxy: Function that returns whether a host is a trusted proxy.
    """

    def __init__(
        self, max_connections: int, max_each: int, is_proxy: Callable[[str], bool],
        head_timeout_s: float = HEAD_TIMEOUT_S,
    ) -> None:  # fmt: skip
        self.head_timeout_s = head_timeout_s
        self._max = max_connections
        self._max_each = max_each
        self._is_proxy = is_proxy
        self._networks: dict[_Droppable, str] = {}
        self._counts: Counter[str] = Counter()
        self._idle: OrderedDict[_Droppable, str] = OrderedDict()  # longest idle first

    def enter(self, connection: _Droppable, host: str) -> bool:
        """Register an idle connection; if a limit is reached, drop another idle connection.

        Returns False if there is no idle connection to drop.
        """
        network = network_of(host)
        is_crowded = self._counts[network] >= self._max_each and not self._is_proxy(host)
        if is_crowded or len(self._networks) >= self._max:
            idle = (each for each, its in self._idle.items() if its == network or not is_crowded)
            if (longest_idle := next(idle, None)) is None:
                return False
            longest_idle.drop()
        self._networks[connection] = self._idle[connection] = network
        self._counts[network] += 1
        return True

    def mark_idle(self, connection: _Droppable) -> None:
        """Mark a connection as idle."""
        if connection in self._networks:
            self._idle[connection] = self._networks[connection]

    def mark_busy(self, connection: _Droppable) -> None:
        """Mark a connection as busy, so that it is not closed to make room."""
        self._idle.pop(connection, None)

    def leave(self, connection: _Droppable) -> None:
        """Remove a connection."""
        self.mark_busy(connection)
        if network := self._networks.pop(connection, None):
            self._counts[network] -= 1
            if not self._counts[network]:
                del self._counts[network]


class HttpConnection(H11Protocol):
    """An HTTP connection that is closed if the client sends heads or reads responses too slowly.

    Args:
        connections: The registry that limits connections.
        uvicorn_args: Arguments for uvicorn's protocol class.
    """

    def __init__(self, connections: Connections, **uvicorn_args: Any) -> None:
        super().__init__(**uvicorn_args)
        self._connections = connections
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection, or drop it if the limit is reached."""
        super().connection_made(transport)
        if self._connections.enter(self, self.client[0] if self.client else ""):
            self._become_idle()
        else:
            self.drop()

    def data_received(self, data: bytes) -> None:
        """Parse the data in chunks, so that h11 detects heads that are too large."""
        for first in range(0, len(data), MAX_HEAD):
            if not self.transport.is_closing():
                super().data_received(data[first : first + MAX_HEAD])
        cycle: RequestResponseCycle | None = self.cycle
        if self._timer and cycle is not None and not cycle.response_complete:
            self._timer.cancel()
            self._timer = None
            self._connections.mark_busy(self)

    def on_response_complete(self) -> None:
        """Wait for the next request. If the client pipelines requests, close the connection.

        Browsers and proxies never pipeline requests, but an attacker could pipeline thousands.
        """
        self._become_idle()
        if self.conn.their_state is h11.DONE and self.conn.trailing_data[0]:
            self.transport.close()
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over to the WebSocket protocol."""
        self._unregister()
        super().handle_websocket_upgrade(event)

    def shutdown(self) -> None:
        """Close the connection after the current response. An endless response is ended."""
        super().shutdown()
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and callable(end := cycle.scope.get(SHUTDOWN_HOOK)):
            end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        self._unregister()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Drop the connection if the client reads no data for `WRITE_TIMEOUT_S` seconds."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(WRITE_TIMEOUT_S, self.drop)

    def resume_writing(self) -> None:
        """Cancel the write timeout."""
        super().resume_writing()
        if self._write_timer:
            self._write_timer.cancel()

    def drop(self) -> None:
        """Abort the connection without a response."""
        self._unregister()
        self.transport.abort()

    def _become_idle(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self.loop.call_later(self._connections.head_timeout_s, self.drop)
        self._connections.mark_idle(self)

    def _unregister(self) -> None:
        for timer in (self._timer, self._write_timer):
            if timer:
                timer.cancel()
        self._timer = None
        self._connections.leave(self)
