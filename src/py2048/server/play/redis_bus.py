"""The door to Redis, or Valkey, which carries messages between machines; the extra ``redis``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from py2048.server.play.bus import Receiver, note_fault
from py2048.server.settings import ServerError

_PATIENCE = 3.0
"""Seconds after which a Redis that does not answer counts as gone."""

_PING = 1.0
_RETRY = 0.5
_MOST_WAITING = 10_000
"""So many messages wait for a slow Redis; more are lost."""


class RedisBus:
    """Publish and subscribe by Redis.

    Args:
        url: where Redis is, such as ``redis://host:6379/0``, ``rediss://`` or ``unix://``.

    Raises:
        ServerError: if the URL is none.
    """

    name = "Redis"

    def __init__(self, url: str) -> None:
        self.fault: str | None = None
        try:
            # Retries would hide that messages were lost.
            self._redis = Redis.from_url(
                url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE,
                retry=Retry(NoBackoff(), 0),
            )  # fmt: skip
        except ValueError:  # which may quote the password
            raise ServerError(
                "this is no URL of a Redis: write such as redis://localhost:6379/0"
            ) from None
        self._channels: set[str] = set()
        self._changes: asyncio.Queue[tuple[bool, tuple[str, ...]]] = asyncio.Queue()
        self._waiting: list[tuple[str, bytes]] = []
        self._is_wanted = asyncio.Event()

    def publish(self, channel: str, message: bytes) -> None:
        """Send a message with the others of the moment."""
        if len(self._waiting) < _MOST_WAITING and not self.fault:
            self._waiting.append((channel, message))
            self._is_wanted.set()

    def subscribe(self, *channels: str) -> None:
        """Hear channels from about now on."""
        self._channels.update(channels)
        self._changes.put_nowait((True, channels))

    def unsubscribe(self, channel: str) -> None:
        """Hear a channel no more."""
        self._channels.discard(channel)
        self._changes.put_nowait((False, (channel,)))

    async def run(self, receive: Receiver, connected: Callable[[], None]) -> None:
        """Subscribe and publish until cancelled."""
        try:
            while True:
                try:
                    await self._connect(receive, connected)
                except* Exception as group:  # noqa: BLE001 - a cut connection has many names
                    note_fault(self, str(group.exceptions[0]) or repr(group.exceptions[0]))
                self._waiting.clear()
                await self._redis.connection_pool.disconnect()
                await asyncio.sleep(_RETRY)
        finally:
            await self._redis.aclose()

    async def _connect(self, receive: Receiver, connected: Callable[[], None]) -> None:
        """Carry messages until the connection fails.

        Raises:
            ExceptionGroup: with why.
        """
        async with self._redis.pubsub(ignore_subscribe_messages=True) as pubsub:
            while not self._changes.empty():
                self._changes.get_nowait()
            await pubsub.subscribe(*self._channels)
            note_fault(self, None)
            connected()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listen(pubsub, receive))
                group.create_task(self._change(pubsub))
                group.create_task(self._send())

    async def _listen(self, pubsub: PubSub, receive: Receiver) -> None:
        async for message in pubsub.listen():
            receive(message["channel"].decode(), message["data"])

    async def _change(self, pubsub: PubSub) -> None:
        while True:
            is_wanted, channels = await self._changes.get()
            await (pubsub.subscribe if is_wanted else pubsub.unsubscribe)(*channels)

    async def _send(self) -> None:
        """Send what waits in one round trip; with nothing to send, see that Redis answers."""
        while True:
            try:
                await asyncio.wait_for(self._is_wanted.wait(), _PING)
            except TimeoutError:
                await self._redis.ping()
                continue
            self._is_wanted.clear()
            messages, self._waiting = self._waiting, []
            async with self._redis.pipeline(transaction=False) as pipeline:
                for channel, message in messages:
                    pipeline.publish(channel, message)
                await pipeline.execute()
