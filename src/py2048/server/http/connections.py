"""Connections: how many there may be, and how long one may keep the server waiting.

A connection *waits* until the head of its next request is there. A client that holds many such
connections, or sends heads a byte at a time, takes no one's place: when all places are taken, of
one address or in all, the connection that has waited longest makes room for the next.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from py2048.server.http.middleware import network_of

END = "py2048.end"
"""In the scope of a request: what ends an answer without an end when the server ends."""
SOCKET = "py2048.socket"
"""The extension of a WebSocket's scope: its `SocketConnection`."""

WRITE_TIMEOUT_S = 30.0
"""Seconds within which a browser must take something of an answer."""


MAX_HEAD = 16 * 1024
"""The bytes of a request's head."""

HEAD_TIMEOUT_S = 10.0
"""Within which the head of a request must come."""


class _Droppable(Protocol):
    def drop(self) -> None:
        """End, and leave the connections at once."""


class Connections:
    """Counts the connections, and ends those that wait where there are too many.

    Args:
        max_connections: in all.
        max_each: of one address.
        is_proxy: says of a host whether it stands for many addresses.
    """

    def __init__(
        self, max_connections: int, max_each: int, is_proxy: Callable[[str], bool]
    ) -> None:
        self._max = max_connections
        self._max_each = max_each
        self._is_proxy = is_proxy
        self._networks: dict[_Droppable, str] = {}
        self._counts: Counter[str] = Counter()
        self._waiting: OrderedDict[_Droppable, str] = OrderedDict()  # the longest first

    def enter(self, connection: _Droppable, host: str) -> bool:
        """Let a connection in, which waits; return whether there was room for it."""
        network = network_of(host)
        is_crowded = self._counts[network] >= self._max_each and not self._is_proxy(host)
        if is_crowded or len(self._networks) >= self._max:
            waiting = self._waiting.items()
            longest = (each for each, its in waiting if its == network or not is_crowded)
            if (first := next(longest, None)) is None:
                return False
            first.drop()
        self._networks[connection] = self._waiting[connection] = network
        self._counts[network] += 1
        return True

    def waits(self, connection: _Droppable) -> None:
        """Note that a connection waits from now on."""
        if connection in self._networks:
            self._waiting[connection] = self._networks[connection]

    def works(self, connection: _Droppable) -> None:
        """Note that a connection does not wait any more."""
        self._waiting.pop(connection, None)

    def leave(self, connection: _Droppable) -> None:
        """Note that a connection has ended."""
        self.works(connection)
        if network := self._networks.pop(connection, None):
            self._counts[network] -= 1
            if not self._counts[network]:
                del self._counts[network]


class HttpConnection(H11Protocol):
    """A connection that ends if the head of a request, or the reader of an answer, is slow.

    Args:
        connections: where it counts.
        timeout_s: within which the head of a request must come.
        given: what uvicorn gives each of its connections.
    """

    def __init__(self, connections: Connections, timeout_s: float, **given: Any) -> None:
        super().__init__(**given)
        self._connections = connections
        self._timeout_s = timeout_s
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request, if there is room."""
        super().connection_made(transport)
        if self._connections.enter(self, self.client[0] if self.client else ""):
            self._wait()
        else:
            self.drop()

    def data_received(self, data: bytes) -> None:
        """Read on, in pieces that show where a head is too large; one that is complete has come."""
        for first in range(0, len(data), MAX_HEAD):
            if not self.transport.is_closing():
                super().data_received(data[first : first + MAX_HEAD])
        cycle: RequestResponseCycle | None = self.cycle
        if self._timer and cycle is not None and not cycle.response_complete:
            self._timer.cancel()
            self._timer = None
            self._connections.works(self)

    def on_response_complete(self) -> None:
        """Wait for the next request; close where it has come before this answer.

        No browser and no proxy sends requests ahead. A burst of thousands that somebody sends so
        costs one answer, not thousands.
        """
        self._wait()
        if self.conn.their_state is h11.DONE and self.conn.trailing_data[0]:
            self.transport.close()
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Pass the connection on."""
        self._rest()
        super().handle_websocket_upgrade(event)

    def shutdown(self) -> None:
        """Let the answer be the last; one without an end ends now."""
        super().shutdown()
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and callable(end := cycle.scope.get(END)):
            end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._rest()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Give a slow reader some time."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(WRITE_TIMEOUT_S, self.drop)

    def resume_writing(self) -> None:
        """Continue: the reader has read."""
        super().resume_writing()
        if self._write_timer:
            self._write_timer.cancel()

    def drop(self) -> None:
        """End the connection without a word."""
        self._rest()
        self.transport.abort()

    def _wait(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self.loop.call_later(self._timeout_s, self.drop)
        self._connections.waits(self)

    def _rest(self) -> None:
        for timer in (self._timer, self._write_timer):
            if timer:
                timer.cancel()
        self._timer = None
        self._connections.leave(self)
