"""Network latency for tests: a TCP proxy on loopback that delays everything."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def far_away(port: int, round_trip: float = 0.0) -> Iterator[Way]:
    """Run a proxy to a port on loopback with a round trip time in seconds."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="far-away", daemon=True)
    thread.start()
    way = Way(port, round_trip)
    try:
        asyncio.run_coroutine_threadsafe(way.open(), loop).result(10)
        yield way
    finally:
        asyncio.run_coroutine_threadsafe(way.close(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


class Way:
    """A delaying proxy.

    Attributes:
        url: Address of the proxy.
        round_trip: Round trip time in seconds; may be changed at any time.
        is_held: Whether delivery is paused in both directions.
        asked: First lines of the forwarded requests.
        brought: Number of bytes forwarded to the client.
    """

    def __init__(self, port: int, round_trip: float) -> None:
        self._port = port
        self.round_trip = round_trip
        self.is_held = False
        self.url = ""
        self.asked: list[str] = []
        self.brought = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Start to listen."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Close all connections."""
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.close()
            return
        for source, target, note in (
            (reader, far_writer, self._note_request),
            (far_reader, writer, self._note_answer),
        ):
            task = asyncio.create_task(self._carry(source, target, note))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _note_request(self, data: bytes) -> None:
        line = data.partition(b"\r\n")[0]
        if line.endswith(b" HTTP/1.1"):
            self.asked.append(line.decode())

    def _note_answer(self, data: bytes) -> None:
        self.brought += len(data)

    async def _carry(
        self,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        note: Callable[[bytes], None],
    ) -> None:
        """Forward one direction with delay; an empty chunk ends it."""
        loop, pieces = asyncio.get_running_loop(), asyncio.Queue[tuple[float, bytes]]()

        async def deliver() -> None:
            data = b"-"
            while data:
                due, data = await pieces.get()
                await asyncio.sleep(due - loop.time())
                while self.is_held:
                    await asyncio.sleep(0.01)
                target.write(data)
            target.close()

        delivering = asyncio.create_task(deliver())
        try:
            data = b"-"
            while data:
                with contextlib.suppress(OSError):
                    data = b""
                    data = await source.read(65536)
                note(data)
                pieces.put_nowait((loop.time() + self.round_trip / 2, data))
            await delivering
        finally:
            delivering.cancel()
            target.close()
