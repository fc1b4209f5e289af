"""The parts of a running server, and how they start and stop together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from py2048.errors import StorageError
from py2048.server.advisers import Advisers
from py2048.server.house import House, open_house
from py2048.server.limits import Backoff, Buckets, Seats
from py2048.server.metrics import Metrics
from py2048.server.settings import Settings
from py2048.server.table import RefusedError

if TYPE_CHECKING:
    from py2048.server.hub import Hub

_log = logging.getLogger("py2048.web")
_SWEEP = 60.0
_LEFT_BEHIND = timedelta(minutes=10)
_UNUSED = timedelta(days=400)
_LISTEN = 1.0
_STORE_PATIENCE = 5.0
"""Seconds to wait for another program that holds the store, before players are told."""
_HEAD_START = 0.3
"""Seconds for the first page, before the store opens unasked."""


class Limits:
    """All that is limited by rate.

    Args:
        settings: how the server is run.
    """

    def __init__(self, settings: Settings) -> None:
        self.moves = Buckets(settings.moves_rate, settings.moves_rate * 3)
        self.messages = Buckets(settings.address_rate, settings.address_rate * 3)
        self.requests = Buckets(settings.requests_rate, settings.requests_rate * 5)
        self.logins = Backoff()
        self.password_addresses = Buckets(1.0, 60)  # a class signs in together
        self._deals = Buckets(0.5, 20)
        self._deals_from = Buckets(20.0, max(200.0, settings.sockets_per_address))
        self._thoughts = Buckets(2.0, 10)
        self.sockets = Seats(settings.sockets_per_address, settings.sockets)

    def check_deal(self, account: str, address: str) -> None:
        """Refuse new games that come too fast.

        Raises:
            RefusedError: reason ``busy``.
        """
        if self._deals.take(account) or self._deals_from.take(address):
            raise RefusedError("busy", "too many new games: wait a moment")

    def check_thought(self, account: str) -> None:
        """Refuse hints that come too fast.

        Raises:
            RefusedError: reason ``busy``.
        """
        if self._thoughts.take(account):
            raise RefusedError("busy", "too many hints: wait a moment")


class Services:
    """The parts of a server. The store opens in the background, so that the first page is fast.

    Args:
        settings: how the server is run.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.limits = Limits(settings)
        self.advisers = Advisers(settings.players)
        self.trouble: StorageError | None = None
        self._wanted = asyncio.Event()
        self._ready = asyncio.Event()
        self._hub: Hub | None = None

    @property
    def hub(self) -> Hub:
        """The hub, which is there when `ready` has returned.

        Raises:
            StorageError: if the store is not open.
        """
        if self._hub is None:
            raise self.trouble or StorageError("the store is not open yet", "starting")
        return self._hub

    @property
    def is_ready(self) -> bool:
        """Whether the store is open."""
        return self._hub is not None

    async def ready(self) -> Hub:
        """Wait until the store is open, or cannot be opened.

        Raises:
            StorageError: if it cannot be opened.
        """
        self._wanted.set()
        await self._ready.wait()
        return self.hub

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Services]:
        """Start everything, and stop it in the right order."""
        tasks = [asyncio.create_task(self._open()), asyncio.create_task(self._keep_house())]
        try:
            yield self
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.advisers.close()
            if self._hub is not None:
                await self._hub.close()

    async def _open(self) -> None:
        """Open the store; where it cannot be opened, say so and try again."""
        with suppress(TimeoutError):  # loading the database's libraries would delay the first page
            await asyncio.wait_for(self._wanted.wait(), _HEAD_START)
        wait = 0.5
        while self._hub is None:
            try:
                house = await asyncio.to_thread(_open_house, self.settings)
            except StorageError as error:
                self.trouble = error
                _log.error("the store cannot be opened", extra={"fault": str(error)})
                self._ready.set()
                await asyncio.sleep(wait)
                wait = min(2 * wait, 10.0)
                continue
            from py2048.server.hub import Hub

            self._hub = Hub(house, self.settings, self.metrics)
            self._ready.set()
        await self._listen(self._hub)

    async def _listen(self, hub: Hub) -> None:
        """Hear what other processes do, for ever, where the store can tell."""
        loop = asyncio.get_running_loop()
        if not hub.house.store.can_listen:
            return
        while True:
            queue: asyncio.Queue[tuple[str, int] | None] = asyncio.Queue()
            listening = asyncio.create_task(
                asyncio.to_thread(_listen, hub.house, hub.origin, queue, loop)
            )
            try:
                while not listening.done():
                    with suppress(TimeoutError):
                        news = await asyncio.wait_for(queue.get(), _LISTEN)
                        await (hub.hear(*news) if news else hub.look_around())
            except StorageError as error:
                _log.warning("cannot follow a game", extra={"fault": str(error)})
            with suppress(StorageError):
                await listening
            await asyncio.sleep(1)

    async def _keep_house(self) -> None:
        """Now and then finish games that were over when their process ended, and sweep."""
        while self._hub is None:
            await asyncio.sleep(_LISTEN)
        hub, age = self._hub, timedelta(0)
        while True:
            try:
                for game in await hub.in_thread(hub.house.finish_left_behind, age):
                    _log.error("a game was not counted", extra={"game": game})
                await hub.in_thread(hub.house.sweep, frozenset(hub.places))
                unused = (datetime.now(UTC) - _UNUSED).isoformat()
                await hub.in_thread(hub.house.store.forget_sessions, unused)
            except StorageError as error:
                hub.note_fault(error, "keeping house failed")
            await asyncio.sleep(_SWEEP)
            age = _LEFT_BEHIND


def _open_house(settings: Settings) -> House:
    return open_house(settings.database, settings.durability, _STORE_PATIENCE)


def _listen(
    house: House,
    origin: str,
    queue: asyncio.Queue[tuple[str, int] | None],
    loop: asyncio.AbstractEventLoop,
) -> None:
    """Pass on what other processes tell, until the store is closed; first that it is heard."""
    notices = house.store.listen(_LISTEN)
    next(notices)
    loop.call_soon_threadsafe(queue.put_nowait, None)
    for notice in notices:
        if notice is not None and notice.origin != origin:
            for game, revision in notice.games:
                loop.call_soon_threadsafe(queue.put_nowait, (game, revision))
