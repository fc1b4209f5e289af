"""Access to the store and the rooms, which are opened in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Concatenate, ParamSpec, TypeVar

from py2048.app.storage import open_store
from py2048.core.errors import StorageError
from py2048.server.admission import Admission, Caller
from py2048.server.cache import TimedCache
from py2048.server.http.monitoring import Metrics
from py2048.server.play.changes import GameNotices
from py2048.server.play.games import GameService
from py2048.server.play.rooms import Rooms
from py2048.server.settings import ServerSettings

_log = logging.getLogger("py2048.web")
_P = ParamSpec("_P")
_T = TypeVar("_T")

_OPEN_DELAY_S = 0.3  # Loading the database libraries must not delay the first page.
_FIRST_RETRY_S, _MAX_RETRY_S = 0.5, 10.0
_CHECK_TTL_S = 1.0
_CHECK_TIMEOUT_S = 1.5  # The health check in deploy/Dockerfile times out after 2 seconds.


class Backend:
    """The store of a server, and the rooms of its games.

    The store is opened in the background, so that the first page does not wait for the database.
    """

    def __init__(self, settings: ServerSettings, metrics: Metrics, admission: Admission) -> None:
        self._metrics, self._admission, self._settings = metrics, admission, settings
        self._fault = StorageError("the store is not open yet", "starting")
        self._wanted = asyncio.Event()
        self._opened_or_failed = asyncio.Event()
        self._rooms: Rooms | None = None
        self._checks = TimedCache(_CHECK_TTL_S, 1)
        self._late_fault = StorageError("the store does not answer", "slow")
        gauge = metrics.gauge
        gauge("py2048_tables", "Open games", lambda: len(self._rooms.open) if self._rooms else 0)

        def backlog() -> int:
            return self._rooms.group_commit.backlog if self._rooms else 0

        gauge("py2048_writer_backlog", "Changes that wait to be written", backlog)
        heard = "1 while other processes can be heard, or there are none"
        gauge("py2048_bus_up", heard, lambda: not self.is_deaf)

    @property
    def rooms(self) -> Rooms:
        """The rooms.

        Raises:
            StorageError: If the store is not open.
        """
        if self._rooms is None:
            raise self._fault
        return self._rooms

    @property
    def is_open(self) -> bool:
        """Whether the store is open."""
        return self._rooms is not None

    @property
    def is_deaf(self) -> bool:
        """Whether notices from other processes are currently unavailable."""
        notices = self._rooms.notices if self._rooms else None
        return bool(notices and notices.fault)

    async def ready(self) -> Rooms:
        """Wait until the store is open, and return the rooms.

        Raises:
            StorageError: If the store cannot be opened.
        """
        self._wanted.set()
        await self._opened_or_failed.wait()
        return self.rooms

    async def do(
        self, call: Callable[Concatenate[GameService, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Call a blocking method of the game service in a thread, once the store is open.

        Raises:
            StorageError: If the store cannot be opened.
        """
        rooms = await self.ready()
        return await asyncio.to_thread(call, rooms.games, *args, **kwargs)

    async def read(self, door: str, caller: Caller, call: Callable[..., _T], *args: object) -> _T:
        """Run a read-only call with the game service in a worker process.

        The call sees a single snapshot of the store.

        Raises:
            ActionRejected: If the server is too busy (``busy``).
        """
        facts = self._settings.database, call, *args
        return await self._admission.do(door, caller, _with_games, *facts)

    async def write(self, door: str, caller: Caller, call: Callable[..., _T], *args: object) -> _T:
        """Call a function with the game service, in a thread of this process.

        Raises:
            ActionRejected: If the address has used up its processor time (``busy``).
        """
        games = (await self.ready()).games
        return await self._admission.do_here(door, caller, call, games, *args)

    async def check_store(self) -> None:
        """Check that the store works by writing to it, at most once a second.

        Raises:
            StorageError: If the write fails or takes too long. A timeout is reported as ``slow``,
                or as the error of the previous check if that check failed.
        """
        try:
            await asyncio.wait_for(self._checks.get("writable", self._check), _CHECK_TIMEOUT_S)
        except TimeoutError:
            raise self._late_fault from None

    async def _check(self) -> None:
        rooms = self.rooms
        try:
            await asyncio.to_thread(rooms.games.store.settings.check_writable)
        except StorageError as error:
            self._late_fault = error
            raise
        self._late_fault = StorageError("the store does not answer", "slow")

    async def open(self) -> Rooms:
        """Open the store, and retry until the store is open."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), _OPEN_DELAY_S)
        wait_s, how = _FIRST_RETRY_S, self._settings
        opened = partial(open_store, durability=how.durability, timeout_s=how.store_timeout_s)
        while self._rooms is None:
            try:
                store = await asyncio.to_thread(opened, how.database)
            except StorageError as error:
                self._fault = error
                _log.error("the store cannot be opened", extra={"fault": str(error)})
                self._opened_or_failed.set()
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, _MAX_RETRY_S)
            else:
                notices = None if store.is_sqlite else GameNotices(store)
                self._rooms = Rooms(store, self._metrics, self._admission, notices)
        self._opened_or_failed.set()
        return self._rooms

    async def close(self) -> None:
        """Write all pending changes, and close the store."""
        if self._rooms is not None:
            await self._rooms.close()


@lru_cache(maxsize=1)
def _games(database: str | None) -> GameService:
    return GameService(open_store(database))


def _with_games(database: str | None, call: Callable[..., _T], *args: object) -> _T:
    """Call a function with a database's game service. The worker keeps the database open."""
    games = _games(database)
    with games.store.snapshot():
        return call(games, *args)
