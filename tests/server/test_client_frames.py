"""Outgoing frames: sent immediately if possible, always in order, with a limit for slow readers."""

from __future__ import annotations

import asyncio

import pytest

from py2048.server.play.rooms import MAX_QUEUED_BYTES, MAX_QUEUED_FRAMES, TOO_SLOW, Client


class Wire:
    """A connection that accepts frames while it is free; `run` delivers the others."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.free = asyncio.Event()
        self.free.set()

    def write_now(self, frame: bytes) -> bool:
        if self.free.is_set():
            self.taken.append(frame)
        return self.free.is_set()

    async def send(self, frame: bytes) -> None:
        await self.free.wait()
        self.taken.append(frame)


FULL = (MAX_QUEUED_FRAMES, 1), (2, MAX_QUEUED_BYTES // 2)  # frames and the size of each


def connected(wire: Wire) -> tuple[Client, asyncio.Task[None]]:
    client = Client("ada", write_now=wire.write_now)
    return client, asyncio.create_task(client.run(wire.send))


async def test_a_free_connection_takes_a_frame_at_once() -> None:
    """A frame is written without waiting for the event loop if nothing is queued."""
    wire = Wire()
    client, running = connected(wire)
    client.send(b"one")
    assert wire.taken == [b"one"]
    client.close(1000)
    await running
    assert client.close_code == 1000


async def test_frames_keep_their_order() -> None:
    """A frame never overtakes an earlier one that is queued or being sent."""
    wire = Wire()
    client, running = connected(wire)
    await asyncio.sleep(0)
    wire.free.clear()
    client.send(b"one")
    await asyncio.sleep(0)  # `run` has taken it, and waits for the connection
    wire.free.set()
    client.send(b"two")
    await asyncio.sleep(0.01)
    client.send(b"three")
    assert wire.taken == [b"one", b"two", b"three"]
    client.close(1000)
    await running
    assert client.close_code == 1000


@pytest.mark.parametrize(("count", "size"), FULL)
async def test_a_queue_may_be_filled(count: int, size: int) -> None:
    """Frames that were sent make room; a client that is closed first gets what is queued."""
    client = Client("ada")
    for _ in range(count):
        client.send(bytes(size))
    assert await client.next() == bytes(size)
    client.send(bytes(size))
    assert (client.close_code, client.has_sent_all) == (None, False)
    client.close(1000)
    client.send(b"late")
    client.close(TOO_SLOW + 1)
    assert [await client.next() for _ in range(count + 1)] == [bytes(size)] * count + [None]
    assert (client.close_code, client.has_sent_all) == (1000, True)


@pytest.mark.parametrize(("count", "size"), FULL)
async def test_a_slow_reader_is_let_go(count: int, size: int) -> None:
    """A client that does not read is disconnected before its queue fills the memory."""
    wire = Wire()
    client, running = connected(wire)
    await asyncio.sleep(0)
    wire.free.clear()
    for _ in range(count):
        client.send(bytes(size))
    client.send(b"x")
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (client.close_code, client.has_sent_all) == (TOO_SLOW, True)
