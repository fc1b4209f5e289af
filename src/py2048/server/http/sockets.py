"""WebSocket connections whose incoming frames are metered before they are parsed.

This module is imported when the first WebSocket is opened, so that importing uvicorn's WebSocket
protocol does not delay the first page.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from py2048.server.http.connections import SOCKET, Connections
from py2048.server.http.limits import TokenBuckets

_CHUNK = 512  # Bytes parsed per token; fewer than 100 frames fit into them.
_MIN_PAUSE_S = 0.05  # Limits polling while many sockets of an address wait for tokens.


class SocketConnection(WebSocketsSansIOProtocol):
    """A WebSocket connection with backpressure for clients that send too much.

    Every frame (including pings, pongs and fragments) and every 512 bytes cost one token of the
    client's address. While the address has no tokens, incoming data is not read. The connection is
    dropped if the handshake takes too long.

    Args:
        connections: The registry that limits connections.
        meter: Token buckets by address.
        timeout_s: Time limit for the handshake.
        uvicorn_args: Arguments for uvicorn's protocol class.
    """

    def __init__(
        self, connections: Connections, meter: TokenBuckets, timeout_s: float, **uvicorn_args: Any
    ) -> None:
        super().__init__(**uvicorn_args)
        self._connections = connections
        self._meter = meter
        self._address = ""
        self._unread = bytearray()
        self._frames = 0
        self._is_throttled = False
        self._timer = self.loop.call_later(timeout_s, self._drop_without_handshake)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection, replacing the HTTP connection that was upgraded."""
        super().connection_made(transport)
        self._connections.enter(self, self.client[0] if self.client else "")
        self._connections.mark_busy(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        self._timer.cancel()
        self._connections.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data as far as tokens allow; drop clients that send data during the handshake."""
        if not self.handshake_initiated:
            super().data_received(data)
        elif not self.handshake_complete:  # browsers wait, and uvicorn mishandles early data
            self.drop()
        else:
            self._unread += data
            if self._is_throttled:
                self.transport.pause_reading()
            else:
                self._parse()

    def _parse(self) -> None:
        was_throttled, self._is_throttled = self._is_throttled, False
        while self._unread and not self.transport.is_closing():
            if wait_s := self._meter.take(self._address):
                self._is_throttled = True
                self.transport.pause_reading()
                # The jitter lets sockets of one address take turns.
                pause_s = random.uniform(1, 2) * max(wait_s, _MIN_PAUSE_S)
                self._timer = self.loop.call_later(pause_s, self._parse)
                return
            chunk = bytes(self._unread[:_CHUNK])
            del self._unread[:_CHUNK]
            self._frames = 0
            super().data_received(chunk)
            self._meter.charge(self._address, max(0, self._frames - 1))
        if was_throttled and not (self.read_paused or self.transport.is_closing()):
            self.transport.resume_reading()

    def handle_events(self) -> None:
        """Charge for the parsed frames, then handle them."""
        self._frames = len(self.conn.events)
        super().handle_events()

    def handle_connect(self, event: Any) -> None:
        """Expose this connection in the scope of a valid handshake."""
        super().handle_connect(event)
        if not self.close_sent:  # set if the handshake was invalid
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[SOCKET] = self

    def count_for(self, address: str) -> None:
        """Charge the frames to this address, which may come from a proxy's header."""
        self._address = address

    def write_now(self, frame: bytes) -> bool:
        """Write a text frame if the socket is ready; return whether it was written."""
        is_open = self.conn.state.name == "OPEN" and not self.transport.is_closing()
        if not (is_open and self.writable.is_set()):
            return False
        self.conn.send_text(frame)
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    def drop(self) -> None:
        """Abort the connection without a close frame."""
        self.transport.abort()

    def _drop_without_handshake(self) -> None:
        if not self.handshake_complete:
            self.drop()
