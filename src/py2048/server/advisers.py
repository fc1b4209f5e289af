"""Computer players on the server: asked in threads of their own, a few at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from py2048.errors import did_you_mean
from py2048.players import Player, make_player
from py2048.server.table import RefusedError
from py2048.session import HINT_PLAYER, Hint, PositionSnapshot, advise
from py2048.session.advice import PERIOD

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling

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

    async def advise(
        self, spec: str, snapshot: PositionSnapshot, *, only_move: bool = False
    ) -> AsyncIterator[Hint | Compiling]:
        """Yield what a player would do, as `py2048.session.advise`, at the pace of a reader.

        Raises:
            RefusedError: if too many wait already.
            PlayerError: if the player fails.
        """
        answers = self._answers(spec, snapshot, only_move=only_move)
        while (answer := await self._next(spec, answers)) is not None:
            yield answer
            if not isinstance(answer, Hint):
                await asyncio.sleep(PERIOD)

    async def _next(
        self, spec: str, answers: Iterator[Hint | Compiling]
    ) -> Hint | Compiling | None:
        if self._asked >= _LONGEST_LINE:
            raise RefusedError("busy", "too many ask the computer players: try again in a moment")
        self._asked += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, self._answer, spec, answers)
        finally:
            self._asked -= 1

    def _answer(self, spec: str, answers: Iterator[Hint | Compiling]) -> Hint | Compiling | None:
        with self._locks[spec]:
            return next(answers, None)

    def _answers(
        self, spec: str, snapshot: PositionSnapshot, *, only_move: bool
    ) -> Iterator[Hint | Compiling]:
        yield from advise(snapshot, self._player(spec), only_move=only_move)

    def _player(self, spec: str) -> Player:
        if spec not in self._players:
            self._players[spec] = make_player(spec)
        return self._players[spec]

    def close(self) -> None:
        """Ask no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
