"""WebSocket connections that meter incoming frames before parsing them.

This module is imported when the first WebSocket is opened, so that the import of uvicorn's
WebSocket protocol does not delay the first page.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from py2048.server.http.connections import SOCKET, Connections
from py2048.server.http.limits import TokenBuckets

_CHUNK = 512  # Bytes parsed per token.
_TEXT = 0x81  # First byte of an unfragmented text frame.
_MASKED = 0x80  # This bit of the second byte must be set in frames from clients.
_HEAD = 6  # Size of a client's frame without its text, if the text is shorter than 126 bytes.
_MIN_PAUSE_S = 0.05  # Limits how often an address's sockets poll for tokens.


class SocketConnection(WebSocketsSansIOProtocol):
    """A WebSocket connection with backpressure for clients that send too much.

    Every frame (including pings, pongs and fragments) and every 512 bytes costs the client's
    address one token. The connection stops reading while the address has no tokens. The connection
    is dropped if the head of the handshake takes too long.

    Args:
        connections: The registry that limits connections.
        meter: Token buckets by address.
        uvicorn_args: Arguments for uvicorn's protocol class.

    Attributes:
        take_now: Function that tries to handle a text message without waiting, and returns whether
            it succeeded. For speed, it bypasses uvicorn's parser, so it gets only short frames. To
            keep messages in order, it is called only while uvicorn's queue is empty.
    """

    take_now: Callable[[bytes], bool] = staticmethod(lambda _message: False)

    def __init__(self, connections: Connections, meter: TokenBuckets, **uvicorn_args: Any) -> None:
        super().__init__(**uvicorn_args)
        self._connections = connections
        self._meter = meter
        self._address = ""
        self._unread = bytearray()
        self._frames = 0
        self._has_simple_frames = True  # until a frame is long, or arrives in parts
        self._is_throttled = False
        self._timer = self.loop.call_later(connections.head_timeout_s, self.drop)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection in place of the HTTP connection that was upgraded."""
        super().connection_made(transport)
        self._connections.enter(self, self.client[0] if self.client else "")
        self._connections.mark_busy(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        self._timer.cancel()
        self._connections.leave(self)
        super().connection_lost(exc)
        self.take_now = SocketConnection.take_now  # breaks a reference cycle

    def data_received(self, data: bytes) -> None:
        """Parse data while tokens are left. Drop clients that send data during the handshake."""
        if not self.handshake_initiated:
            super().data_received(data)
        elif not self.handshake_complete:
            # Browsers wait for the handshake, and uvicorn mishandles data that arrives earlier.
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
                # Without a random pause, the same socket could win every token of its address.
                pause_s = random.uniform(1, 2) * max(wait_s, _MIN_PAUSE_S)
                self._timer = self.loop.call_later(pause_s, self._parse)
                return
            size = _frame_size(self._unread) if self._has_simple_frames else 0
            self._has_simple_frames = size > 0
            chunk = bytes(self._unread[: size or _CHUNK])
            del self._unread[: size or _CHUNK]
            is_text = size and chunk[0] == _TEXT
            if is_text and self.queue.empty() and self.take_now(_unmasked(chunk)):
                continue
            self._frames = 0
            super().data_received(chunk)
            if self._frames > 1:
                self._meter.charge(self._address, self._frames - 1)
        if was_throttled and not (self.read_paused or self.transport.is_closing()):
            self.transport.resume_reading()

    def handle_events(self) -> None:
        """Count the parsed frames, then handle them."""
        self._frames = len(self.conn.events)
        super().handle_events()

    def handle_connect(self, event: Any) -> None:
        """Make this connection available in the ASGI scope if the handshake is valid.

        The handshake timer is cancelled, because the client has sent the complete request.
        """
        self._timer.cancel()
        super().handle_connect(event)
        if not self.close_sent:  # set if the handshake was invalid
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[SOCKET] = self

    def count_for(self, address: str) -> None:
        """Set the address that future frames are charged to.

        Behind a trusted proxy, this is the client's address as reported by the proxy.
        """
        self._address = address

    def forget_head(self) -> None:
        """Free the handshake's head, which would occupy 3 kB until the connection closes."""
        del self.request, self.response
        list.clear(self.scope["headers"])  # type: ignore[arg-type]

    def write_now(self, frame: bytes) -> bool:
        """Write a text frame if the socket is ready. Return whether the frame was written."""
        size = len(frame)
        is_open = self.conn.state.name == "OPEN" and not self.transport.is_closing()
        if not (is_open and self.writable.is_set() and size < 1 << 16):
            return False
        # A text frame that a server sends without compression consists of an opcode, a length and
        # the text.
        head = bytes((_TEXT, size)) if size < 126 else bytes((_TEXT, 126)) + size.to_bytes(2)
        self.transport.write(head + frame)
        return True

    def drop(self) -> None:
        """Abort the connection without sending a close frame."""
        self.transport.abort()


def _unmasked(frame: bytes) -> bytes:
    size = len(frame) - _HEAD
    mask = (frame[2:_HEAD] * (size // 4 + 1))[:size]
    return (int.from_bytes(frame[_HEAD:]) ^ int.from_bytes(mask)).to_bytes(size)


def _frame_size(data: bytearray) -> int:
    """Return the size of the first frame, or 0 if it is long, incomplete or not masked."""
    size = _HEAD + (data[1] ^ _MASKED) if len(data) > 1 else 0
    return size if size < _HEAD + 126 and size <= len(data) else 0
