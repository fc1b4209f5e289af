"""How the processes of one server hear of each other's moves: PostgreSQL's notices.

A game has no owner: any process may play a move in any game, and the database takes a change only
from a process that has seen the last revision (see ``docs/decisions/no-owner.md``). So nothing
depends on a notice for being right. It says that games are at a revision; whoever has one of them
open reads the rest from the store. A notice that is lost is found there, a little later.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from py2048.errors import StorageError

if TYPE_CHECKING:
    from py2048.storage import Store

_log = logging.getLogger("py2048.web")
_CHANNEL = "py2048_games"
_GATHER_S = 0.02
"""While this lasts, revisions gather for one transaction."""

_HELLO_S = 10.0
"""Between two notices of a process that has nothing to tell."""

_ALONE_S = 30.0
"""A process that has heard no other for this long tells nothing: it is alone."""

_RETRY_S = 1.0
_LISTEN_S = 0.5
_MAX_GAMES = 150
"""Games in one notice: PostgreSQL takes less than 8,000 bytes."""

NAME = "PostgreSQL's notices"

Hear = Callable[[Mapping[str, int]], None]
"""Takes the revisions of games that another process has changed, in the event loop."""


class Notices:
    """Tells the other processes what is written here, and hears what they write.

    Args:
        store: a store on PostgreSQL.

    Attributes:
        fault: why nothing is heard now, None while all is well.
    """

    def __init__(self, store: Store) -> None:
        self.fault: str | None = None
        self._store = store
        self._origin = secrets.token_hex(4)
        self._revisions: dict[str, int] = {}
        self._heard_until = 0.0
        self._is_wanted = asyncio.Event()

    def tell(self, game_id: str, revision: int) -> None:
        """Tell the others soon that a game is at a revision, if there are any."""
        if time.monotonic() < self._heard_until:
            self._revisions[game_id] = revision
            self._is_wanted.set()

    async def run(self, hear: Hear, connected: Callable[[], None]) -> None:
        """Tell and hear until cancelled.

        Args:
            hear: takes what the others changed.
            connected: is called when they are heard from now on; what they did before may be lost.
        """
        telling = asyncio.create_task(self._tell())
        try:
            while not self._store.is_closed:
                try:
                    await asyncio.to_thread(
                        self._listen, asyncio.get_running_loop(), hear, connected
                    )
                except StorageError as error:
                    self._note(str(error))
                await asyncio.sleep(_RETRY_S)
        finally:
            telling.cancel()

    async def _tell(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_wanted.wait(), _HELLO_S)
            await asyncio.sleep(_GATHER_S)
            self._is_wanted.clear()
            revisions, self._revisions = self._revisions, {}
            notices = [(_CHANNEL, text) for text in _written(self._origin, revisions)]
            try:
                await asyncio.to_thread(self._store.notices.send, notices)
            except StorageError as error:
                _log.warning("notices were not sent", extra={"fault": str(error)})

    def _listen(
        self, loop: asyncio.AbstractEventLoop, hear: Hear, connected: Callable[[], None]
    ) -> None:
        """Listen until the connection is lost, in a thread.

        Raises:
            StorageError: when it is.
        """

        def begin() -> None:
            self._note(None)
            self._is_wanted.set()  # says hello
            connected()

        def take(games: Mapping[str, int]) -> None:
            now = time.monotonic()
            if now >= self._heard_until:
                self._is_wanted.set()  # the other one may be new: it hears of this one
            self._heard_until = now + _ALONE_S
            hear(games)

        notices = self._store.notices.listen(lambda: (_CHANNEL,), _LISTEN_S)
        with suppress(RuntimeError):  # the loop is closed
            next(notices)
            loop.call_soon_threadsafe(begin)
            for notice in filter(None, notices):
                origin, *games = notice[1].split()
                if origin != self._origin:
                    pairs = (game.partition(":") for game in games)
                    found = {game: int(revision) for game, _, revision in pairs}
                    loop.call_soon_threadsafe(take, found)

    def _note(self, fault: str | None) -> None:
        """Note whether the others are heard, and log the change."""
        if fault and not self.fault:
            _log.error("other processes cannot be heard", extra={"fault": fault})
        elif self.fault and not fault:
            _log.info("other processes can be heard again")
        self.fault = fault


def _written(origin: str, revisions: Mapping[str, int]) -> Iterator[str]:
    """Yield the texts of notices: who sends them, and each game with its revision, if any."""
    games = [f"{game}:{revision}" for game, revision in revisions.items()]
    for first in range(0, len(games) or 1, _MAX_GAMES):
        yield " ".join((origin, *games[first : first + _MAX_GAMES]))
