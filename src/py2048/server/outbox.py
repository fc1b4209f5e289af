"""The outbox of a socket: what is still to be sent to one browser, and never too much of it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

MOST_FRAMES = 256
MOST_CHARACTERS = 1_000_000
TOO_SLOW = 1013

Sender = Callable[[str], Awaitable[None]]


class Outbox:
    """Frames on their way to one browser. A reader that is too slow loses its connection.

    Nobody waits for a slow reader: `post` returns at once.

    Attributes:
        closed: the code to close the connection with, once there is one.
        overflowed: set when the browser reads too slowly; the frame on its way may never end.
    """

    def __init__(self) -> None:
        self.overflowed = asyncio.Event()
        self._frames: deque[str] = deque()
        self._size = 0
        self._awake = asyncio.Event()
        self.closed: int | None = None

    def post(self, frame: str) -> None:
        """Send a frame soon, after those before it."""
        if self.closed is not None:
            return
        self._frames.append(frame)
        self._size += len(frame)
        if len(self._frames) > MOST_FRAMES or self._size > MOST_CHARACTERS:
            self.close(TOO_SLOW)
        self._awake.set()

    def close(self, code: int) -> None:
        """Send what waits (nothing to a slow reader), then close with `code`."""
        if self.closed is None:
            self.closed = code
        if code == TOO_SLOW:
            self._frames.clear()
            self.overflowed.set()
        self._awake.set()

    async def run(self, send: Sender) -> int:
        """Send frames until the outbox is closed; return the code to close with."""
        while True:
            while self._frames:
                frame = self._frames.popleft()
                self._size -= len(frame)
                await send(frame)
            if self.closed is not None:
                return self.closed
            self._awake.clear()
            await self._awake.wait()

    async def first(self) -> str:
        """Return the first frame, when there is one: for an answer to a single request."""
        while not self._frames:
            self._awake.clear()
            await self._awake.wait()
        return self._frames[0]
