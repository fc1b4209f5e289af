"""Connections of WebSockets: what a stranger sends is metered here, before it is read.

A module of its own, as uvicorn's part is loaded with the first WebSocket, after the first page.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from py2048.server.http.connections import SOCKET, Connections
from py2048.server.http.limits import Buckets

_SLICE = 512
"""The bytes that are parsed at a time, less than a hundred of the shortest frames."""

_MIN_PAUSE_S = 0.05
"""Many sockets of one address that wait for its meter look at it no more often than this."""


class SocketConnection(WebSocketsSansIOProtocol):
    """A WebSocket that counts as a connection, and whose frames count for its address.

    Each frame and each 512 bytes cost a token of the address: pings, pongs and fragments too.
    What comes faster than the tokens waits unread, and so does its sender. The connection ends if
    there is no handshake in time.

    Args:
        connections: where it counts.
        meter: the frames that each address may send.
        timeout_s: within which the handshake must come.
        given: what uvicorn gives each of its connections.
    """

    def __init__(
        self, connections: Connections, meter: Buckets, timeout_s: float, **given: Any
    ) -> None:
        super().__init__(**given)
        self._places = connections
        self._meter = meter
        self._address = ""
        self._unread = bytearray()
        self._frames = 0
        self._is_held = False
        self._timer = self.loop.call_later(timeout_s, self._give_up)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the place of the connection that brought the handshake."""
        super().connection_made(transport)
        self._places.enter(self, self.client[0] if self.client else "")
        self._places.works(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._timer.cancel()
        self._places.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a client that sends before the handshake is answered is dropped."""
        if not self.handshake_initiated:
            super().data_received(data)
        elif not self.handshake_complete:  # browsers wait, and uvicorn fails at some of it
            self.drop()
        else:
            self._unread += data
            if self._is_held:
                self.transport.pause_reading()
            else:
                self._read()

    def _read(self) -> None:
        """Parse what has come, as far as the address has tokens for it."""
        was_held, self._is_held = self._is_held, False
        while self._unread and not self.transport.is_closing():
            if wait_s := self._meter.take(self._address):
                self._is_held = True
                self.transport.pause_reading()
                # By chance, so that sockets of one address take turns.
                pause_s = random.uniform(1, 2) * max(wait_s, _MIN_PAUSE_S)
                self._timer = self.loop.call_later(pause_s, self._read)
                return
            some = bytes(self._unread[:_SLICE])
            del self._unread[:_SLICE]
            self._frames = 0
            super().data_received(some)
            self._meter.owe(self._address, max(0, self._frames - 1))
        if was_held and not (self.read_paused or self.transport.is_closing()):
            self.transport.resume_reading()

    def handle_events(self) -> None:
        """Count the frames that are handled."""
        self._frames = len(self.conn.events)
        super().handle_events()

    def handle_connect(self, event: Any) -> None:
        """Have the handshake answered."""
        super().handle_connect(event)
        if not self.close_sent:  # else it was not a handshake, and is refused
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[SOCKET] = self

    def count_for(self, address: str) -> None:
        """Count the frames for an address, which a proxy may have told."""
        self._address = address

    def write_now(self, frame: bytes) -> bool:
        """Send a text frame at once if that is possible; return whether it is."""
        is_open = self.conn.state.name == "OPEN" and not self.transport.is_closing()
        if not (is_open and self.writable.is_set()):
            return False
        self.conn.send_text(frame)
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    def drop(self) -> None:
        """End the connection without a word."""
        self.transport.abort()

    def _give_up(self) -> None:
        if not self.handshake_complete:
            self.drop()
