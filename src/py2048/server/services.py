"""The parts of a running server, and how they start and stop together."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from py2048.app.storage import open_store
from py2048.app.storage.values import utc_text
from py2048.core.errors import StorageError
from py2048.server.api.hints import HintService
from py2048.server.http.limits import RateLimits
from py2048.server.http.monitoring import WORKERS_FOLDER, Metrics
from py2048.server.play import battles
from py2048.server.play.battles import BattleHub
from py2048.server.play.changes import Notices
from py2048.server.play.games import GameService
from py2048.server.play.rooms import Rooms
from py2048.server.settings import Settings
from py2048.server.site.auth import Cookies, KnownTokens, disconnect_signed_out
from py2048.server.site.reviews import MAX_KEPT, ReviewQueue
from py2048.server.site.scores import HELD_S, PLOTS_HELD_S, RecentParts

_log = logging.getLogger("py2048.web")
_P = ParamSpec("_P")
_T = TypeVar("_T")
UNUSED = timedelta(days=400)
_HEAD_START_S = 0.3
"""For the first page, before the store opens unasked."""

_FIRST_RETRY_S, _MAX_RETRY_S = 0.5, 10.0
"""Between two tries to open the store."""

_WATCH_S = 15.0
"""After this time a session that ended in another process has no connection left."""

_CHECK_S = 1.0
"""Between two writes to the store that only show whether it can be written."""

_CHECK_TIMEOUT_S = 1.5
"""For the store to answer: proxies wait 2 or 3 seconds (see deploy/)."""


class Services:
    """The parts of a server. The store opens in the background, so that the first page is fast.

    Args:
        settings: how the server is run.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.limits = RateLimits(settings, self.metrics)
        self.cookies = Cookies(settings.key, secure=settings.is_secure)
        self.tokens = KnownTokens()
        self.leaderboards = RecentParts(HELD_S)
        self.plots = RecentParts(PLOTS_HELD_S)
        self.hints = HintService(settings.players)
        self.reviews = ReviewQueue(settings.reviews if _may_review() else 0, self.metrics)
        self.battles = BattleHub(self)
        self._fault = StorageError("the store is not open yet", "starting")
        self._wanted = asyncio.Event()
        self._ready = asyncio.Event()
        self._rooms: Rooms | None = None
        self._checks = RecentParts(_CHECK_S)
        gauge, sockets = self.metrics.gauge, self.limits.sockets
        gauge("py2048_sockets", "Connected players", lambda: sockets.taken)
        gauge("py2048_sockets_limit", "Most connected players", lambda: settings.sockets)
        gauge("py2048_tables", "Open games", lambda: len(self._rooms.open) if self._rooms else 0)

        def backlog() -> int:
            return self._rooms.group_commit.backlog if self._rooms else 0

        gauge("py2048_writer_backlog", "Changes that wait to be written", backlog)
        gauge("py2048_review_backlog", "Reviews to be computed", lambda: self.reviews.backlog)
        heard = "1 while other processes can be heard, or there are none"
        gauge("py2048_bus_up", heard, lambda: not self.is_deaf)

    @property
    def rooms(self) -> Rooms:
        """The rooms, which are there when `ready` has returned.

        Raises:
            StorageError: if the store is not open.
        """
        if self._rooms is None:
            raise self._fault
        return self._rooms

    @property
    def is_ready(self) -> bool:
        """Whether the store is open."""
        return self._rooms is not None

    @property
    def is_deaf(self) -> bool:
        """Whether there may be other processes, which cannot be heard."""
        notices = self._rooms.notices if self._rooms else None
        return bool(notices and notices.fault)

    async def ready(self) -> Rooms:
        """Wait until the store is open, or cannot be opened.

        Raises:
            StorageError: if it cannot be opened.
        """
        self._wanted.set()
        await self._ready.wait()
        return self.rooms

    async def do(
        self, call: Callable[Concatenate[GameService, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Do something that blocks with the games, when the store is open.

        Raises:
            StorageError: if it cannot be opened.
        """
        rooms = await self.ready()
        return await rooms.in_thread(call, rooms.games, *args, **kwargs)

    async def check_store(self) -> None:
        """Write to the store, where that succeeds at most once a second however many ask.

        Raises:
            StorageError: if that fails.
        """
        rooms = self.rooms
        check = partial(rooms.in_thread, rooms.games.store.settings.check_writable)
        try:
            await asyncio.wait_for(self._checks.get("writable", check), _CHECK_TIMEOUT_S)
        except TimeoutError:
            raise StorageError("the store does not answer", "slow") from None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Services]:
        """Start everything, and stop it in the right order."""
        tasks = [asyncio.create_task(self._run()), asyncio.create_task(self.metrics.keep_current())]
        try:
            yield self
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(self.reviews.close)
            if self._rooms is not None:
                await self._rooms.close()

    async def _run(self) -> None:
        """Open the store, where that fails again and again; then look after it."""
        with suppress(TimeoutError):  # loading the database's libraries would delay the first page
            await asyncio.wait_for(self._wanted.wait(), _HEAD_START_S)
        wait, settings = _FIRST_RETRY_S, self.settings
        opening = partial(
            open_store,
            settings.database,
            durability=settings.durability,
            timeout_s=settings.store_timeout_s,
        )
        while self._rooms is None:
            try:
                store = await asyncio.to_thread(opening)
            except StorageError as error:
                self._fault = error
                _log.error("the store cannot be opened", extra={"fault": str(error)})
                self._ready.set()
                await asyncio.sleep(wait)
                wait = min(2 * wait, _MAX_RETRY_S)
                continue
            notices = Notices(store) if store.notices.can_listen else None
            self._rooms = Rooms(store, self.metrics, notices)
        self._ready.set()
        self.reviews.start(store)
        await asyncio.gather(
            self._rooms.follow_others(), self._maintain(self._rooms), self._watch_sessions()
        )

    async def _maintain(self, rooms: Rooms) -> None:
        """Finish games that are over and could not be counted, and sweep, every minute."""
        games, store = rooms.games, rooms.games.store
        while True:
            for step in (
                games.finalize_orphans,
                partial(games.sweep, frozenset(rooms.open)),
                partial(battles.maintain, games),
                partial(store.sessions.forget, utc_text(datetime.now(UTC) - UNUSED)),
                partial(store.reviews.forget, MAX_KEPT),
            ):
                try:
                    await rooms.in_thread(step)
                except StorageError as error:
                    rooms.note_fault(error, "maintenance failed")
                except Exception:  # noqa: BLE001 - other steps, and the next minute, still come
                    _log.exception("maintenance failed")
            await asyncio.sleep(self.settings.sweep_s)

    async def _watch_sessions(self) -> None:
        """Close connections whose sessions ended in another process."""
        while True:
            await asyncio.sleep(_WATCH_S)
            try:
                await disconnect_signed_out(self)
            except StorageError as error:
                _log.warning("sessions cannot be read", extra={"fault": str(error)})


def _may_review() -> bool:
    """Say whether this process computes reviews: of several workers one does, while it lives."""
    folder = os.environ.get(WORKERS_FOLDER)
    if not folder:
        return True
    lock = os.open(Path(folder) / "reviewer", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    return True
