"""How processes of one server reach each other: short messages on channels, which may get lost.

Nothing depends on a message for being right: the store has every acknowledged move, and whoever
missed a message finds out there (see `py2048.server.play.sharing`). A bus only makes it soon.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from py2048.errors import StorageError

if TYPE_CHECKING:
    from py2048.storage import Store

_log = logging.getLogger("py2048.web")
_PATIENCE = 0.2
"""Seconds within which PostgreSQL is asked for a new channel."""

_PAUSE = 0.02
"""Seconds in which messages gather for one transaction."""

_RETRY = 1.0
_LONGEST_MESSAGE = 2**16

Receiver = Callable[[str, bytes], None]
"""Takes the channel and the text of a message, in the event loop."""


class Bus(Protocol):
    """Messages on channels to the other processes; a process may hear its own, too.

    Attributes:
        name: what carries the messages, for people.
        fault: why messages are lost now, None while they are not.
    """

    name: str
    fault: str | None

    def publish(self, channel: str, message: bytes) -> None:
        """Send a message soon, or lose it."""

    def subscribe(self, *channels: str) -> None:
        """Hear channels from about now on."""

    def unsubscribe(self, channel: str) -> None:
        """Hear a channel no more."""

    async def run(self, receive: Receiver, connected: Callable[[], None]) -> None:
        """Carry messages until cancelled; `connected` is called whenever some may have been lost.

        Args:
            receive: takes the messages of others.
            connected: is called when messages are heard from now on, first or again.
        """


def note_fault(bus: Bus, fault: str | None) -> None:
    """Set why a bus loses messages, and log the change."""
    if fault and not bus.fault:
        _log.error("other processes cannot be reached", extra={"bus": bus.name, "fault": fault})
    elif bus.fault and not fault:
        _log.info("other processes can be reached again", extra={"bus": bus.name})
    bus.fault = fault


class MailboxBus:
    """Between the workers of one supervisor: a Unix socket for each, which all of them inherit.

    A worker whose mailbox is full, because it does not run, misses messages.

    Args:
        mailboxes: where each worker is written to, by number.
        inbox: where this one reads.
        number: this worker's number.
    """

    name = "sockets between the workers"

    def __init__(
        self, mailboxes: Mapping[int, socket.socket], inbox: socket.socket, number: int
    ) -> None:
        self.fault: str | None = None
        self._others = [box for other, box in mailboxes.items() if other != number]
        self._inbox = inbox
        self._channels: set[str] = set()

    def publish(self, channel: str, message: bytes) -> None:
        """Send a message to all others; they choose by its channel."""
        frame = channel.encode() + b"\n" + message
        for mailbox in self._others:
            with suppress(OSError):  # full
                mailbox.send(frame)

    def subscribe(self, *channels: str) -> None:
        """Hear channels."""
        self._channels.update(channels)

    def unsubscribe(self, channel: str) -> None:
        """Hear a channel no more."""
        self._channels.discard(channel)

    async def run(self, receive: Receiver, connected: Callable[[], None]) -> None:
        """Read the mailbox until cancelled."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            with suppress(BlockingIOError):
                channel, _, message = self._inbox.recv(_LONGEST_MESSAGE).partition(b"\n")
                if channel.decode() in self._channels:
                    receive(channel.decode(), message)

        loop.add_reader(self._inbox, read)
        try:
            connected()
            await asyncio.Event().wait()
        finally:
            loop.remove_reader(self._inbox)


class NoticeBus:
    """Between processes that share a PostgreSQL: NOTIFY, and LISTEN for each channel.

    Args:
        store: the store.
    """

    name = "PostgreSQL"

    def __init__(self, store: Store) -> None:
        self.fault: str | None = None
        self._store = store
        self._channels: frozenset[str] = frozenset()  # another thread reads it
        self._waiting: list[tuple[str, str]] = []
        self._is_wanted = asyncio.Event()

    def publish(self, channel: str, message: bytes) -> None:
        """Send a message with the others of the moment."""
        if not self.fault:
            self._waiting.append((channel, message.decode()))
            self._is_wanted.set()

    def subscribe(self, *channels: str) -> None:
        """Hear channels in a moment."""
        self._channels |= set(channels)

    def unsubscribe(self, channel: str) -> None:
        """Hear a channel no more."""
        self._channels -= {channel}

    async def run(self, receive: Receiver, connected: Callable[[], None]) -> None:
        """Listen and send until cancelled."""
        loop = asyncio.get_running_loop()
        sending = asyncio.create_task(self._send())

        def begin() -> None:
            note_fault(self, None)
            connected()

        def take(channel: str, message: str) -> None:
            receive(channel, message.encode())

        def listen() -> None:
            notices = self._store.notices.listen(lambda: self._channels, _PATIENCE)
            with suppress(RuntimeError):  # the loop is closed
                next(notices)
                loop.call_soon_threadsafe(begin)
                for notice in notices:
                    if notice:
                        loop.call_soon_threadsafe(take, *notice)

        try:
            while not self._store.is_closed:
                try:
                    await asyncio.to_thread(listen)
                except StorageError as error:
                    note_fault(self, str(error))
                await asyncio.sleep(_RETRY)
        finally:
            sending.cancel()

    async def _send(self) -> None:
        while True:
            await self._is_wanted.wait()
            await asyncio.sleep(_PAUSE)
            self._is_wanted.clear()
            messages, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._store.notices.send, messages)
            except StorageError as error:
                _log.warning("messages were not sent", extra={"fault": str(error)})
