"""Computer players on the server: asked in threads of their own, a few at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from py2048.errors import did_you_mean
from py2048.players import Player, make_player
from py2048.session import HINT_PLAYER, Hint, Question
from py2048.session.online import RefusedError

_THREADS = 2
_LONGEST_LINE = 32


class Advisers:
    """The players that may be asked, each made when it is first needed.

    Args:
        specs: which there are; strangers cannot ask for others, which might think for hours.
    """

    def __init__(self, specs: tuple[str, ...]) -> None:
        self.specs = specs
        self._players: dict[str, Player] = {}
        self._locks = {spec: threading.Lock() for spec in specs}
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="py2048-adviser")
        self._asked = 0

    def checked(self, spec: str | None) -> str:
        """Return a spec that may be asked for; None means the usual one for hints.

        Raises:
            RefusedError: if there is no such player here.
        """
        wanted = spec or (HINT_PLAYER if HINT_PLAYER in self.specs else self.specs[0])
        if wanted not in self.specs:
            hint = did_you_mean(wanted, self.specs)
            raise RefusedError("player", f"no player {wanted!r} is on this server{hint}")
        return wanted

    async def ask(self, spec: str, question: Question) -> Hint:
        """Return what a player would do, and what each direction is worth to it.

        Raises:
            RefusedError: if too many wait already.
            PlayerError: if the player fails.
        """
        return await self._run(self._ask, spec, question)

    async def choose(self, spec: str, question: Question) -> Hint:
        """Like `ask`, without the values."""
        return await self._run(self._choose, spec, question)

    async def _run(
        self, call: Callable[[str, Question], Hint], spec: str, question: Question
    ) -> Hint:
        if self._asked >= _LONGEST_LINE:
            raise RefusedError("busy", "too many ask the computer players: try again in a moment")
        self._asked += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, call, spec, question)
        finally:
            self._asked -= 1

    def _ask(self, spec: str, question: Question) -> Hint:
        with self._locks[spec]:
            return question.ask(self._player(spec))

    def _choose(self, spec: str, question: Question) -> Hint:
        with self._locks[spec]:
            return question.choose(self._player(spec))

    def _player(self, spec: str) -> Player:
        if spec not in self._players:
            self._players[spec] = make_player(spec)
        return self._players[spec]

    def close(self) -> None:
        """Ask no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
