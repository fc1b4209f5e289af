"""Connections of WebSockets, where strangers say what they like.

A module of its own, as uvicorn's part is loaded with the first WebSocket, after the first page.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from py2048.server.http.connections import WRITE, Connections


class SocketConnection(WebSocketsSansIOProtocol):
    """A connection that speaks with a browser over a WebSocket, and counts as one too.

    It ends if there is no handshake in time: one that cannot be read is not answered.

    Args:
        connections: where it counts.
        patience: seconds within which the handshake must come.
        given: what uvicorn gives each of its connections.
    """

    def __init__(self, connections: Connections, patience: float, **given: Any) -> None:
        super().__init__(**given)
        self._places = connections
        self._timer = self.loop.call_later(patience, self._give_up)

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
        """Read on; who speaks before the handshake is answered has spoken."""
        # Browsers wait, and uvicorn fails at some of what may come.
        if self.handshake_initiated and not self.handshake_complete:
            self.drop()
        else:
            super().data_received(data)

    def handle_connect(self, event: Any) -> None:
        """Have the handshake answered."""
        super().handle_connect(event)
        if not self.close_sent:  # else it was no handshake, and is refused
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[WRITE] = self.write_now

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
