"""Computer players on the server: hints and autoplay, computed in threads."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import TYPE_CHECKING

from py2048 import Board, Rules, make_player
from py2048.app.session import Hint, PositionSnapshot, advise, hint_player
from py2048.core.errors import PlayerError, Py2048Error, did_you_mean
from py2048.core.language import _
from py2048.review.advice import PROGRESS_PERIOD_S
from py2048.review.levels import Level
from py2048.server.http.limits import WorkQueue
from py2048.server.play import messages
from py2048.server.play.games import preset_of
from py2048.server.play.rooms import Autoplay, Room, Rooms
from py2048.server.schema import ActionRejected

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling

_log = logging.getLogger("py2048.web")
_THREADS = 2
MAX_QUEUE = 32
_MIN_DELAY_S = 0.05  # Minimum time between two autoplay moves.
MAX_AUTOPLAYS = 8  # Maximum number of games on autoplay.
MAX_AUTOPLAYS_EACH = 2  # The same, per account.
_MAX_ADDRESS_SHARE = 0.5  # Maximum share of `MAX_AUTOPLAYS` per address.


class HintService:
    """Computer players for hints and autoplay, created on demand.

    Args:
        specs: Specs of the allowed players; other players could think for hours.
    """

    def __init__(self, specs: tuple[str, ...]) -> None:
        self.specs = specs
        self._player = functools.cache(make_player)
        self._locks = {spec: threading.Lock() for spec in specs}
        self._queue = WorkQueue(_THREADS, MAX_QUEUE, MAX_QUEUE)

    def checked(self, spec: str | None, rules: Rules, board: Board) -> str:
        """Validate a player's spec and return it; None selects the default player for the board.

        Raises:
            ActionRejected: If the player is not available, or if the rules differ from all presets
                in more than the board's size (``player``). Players keep tables for each set of
                rules, so arbitrary rules could exhaust memory.
        """
        if preset_of(rules) is None:
            text = _("computer players are only available for presets, in any size")
            raise ActionRejected("player", text)
        usual = hint_player(rules, board)
        wanted = spec or (usual if usual in self.specs else self.specs[0])
        if wanted not in self.specs:
            hint = did_you_mean(wanted, self.specs)
            text = _("player {name} is not available on this server")
            raise ActionRejected("player", f"{text.format(name=repr(wanted))}{hint}")
        return wanted

    async def advise(
        self, spec: str, snapshot: PositionSnapshot, level: Level | None = None, *,
        only_move: bool = False,
    ) -> AsyncIterator[Hint | Compiling]:  # fmt: skip
        """Yield hints and compile progress, as `py2048.app.session.advise` does.

        Raises:
            ActionRejected: If the queue is full (``busy``).
            PlayerError: If the player fails.
        """
        answers = self._answers(spec, snapshot, level, only_move)
        while (answer := await self._queue.do("", self._answer, spec, answers)) is not None:
            yield answer
            if not isinstance(answer, Hint):
                await asyncio.sleep(PROGRESS_PERIOD_S)

    def _answer(self, spec: str, answers: Iterator[Hint | Compiling]) -> Hint | Compiling | None:
        with self._locks[spec]:
            try:
                return next(answers, None)
            except Py2048Error as error:  # not every player supports all rules
                raise PlayerError(str(error)) from None

    def _answers(
        self, spec: str, snapshot: PositionSnapshot, level: Level | None, only_move: bool
    ) -> Iterator[Hint | Compiling]:
        player = self._player(spec)  # in the thread, because creating a player may be slow
        yield from advise(snapshot, player, level, only_move=only_move)

    # Autoplay

    def start_autoplay(
        self, rooms: Rooms, room: Room, spec: str, delay_s: float, address: str
    ) -> None:
        """Let a computer player make the moves.

        Autoplay ends when the game is over, when it is stopped, or when all clients have left.

        Args:
            rooms: The open games.
            room: The game's room.
            spec: The player.
            delay_s: Seconds between two moves.
            address: Network address of the client.

        Raises:
            ActionRejected: If the mode forbids it (``mode``), the game is over (``over``) or too
                many games are on autoplay (``busy``).
        """
        room.game.check_help()
        if room.game.is_over:
            raise room.game.over()
        if room.autoplay is None:
            self._check_autoplays(rooms, room.game.info.owner, address)
        moving = self._autoplay(rooms, room, spec, max(delay_s, _MIN_DELAY_S))
        room.set_autoplay(Autoplay(spec, rooms.start(moving), address))

    def _check_autoplays(self, rooms: Rooms, owner: str, address: str) -> None:
        """Enforce the limits on autoplay: per account, per address and in total."""
        played = [(room.game, room.autoplay) for room in rooms.open.values() if room.autoplay]
        mine = sum(game.info.owner == owner for game, _ in played)
        if mine >= MAX_AUTOPLAYS_EACH:
            text = _("autoplay is already running in {n} of your games: stop one first")
            raise ActionRejected("busy", text.format(n=MAX_AUTOPLAYS_EACH))
        from_address = sum(autoplay.address == address for _, autoplay in played)
        share = max(round(_MAX_ADDRESS_SHARE * MAX_AUTOPLAYS), MAX_AUTOPLAYS_EACH)
        if from_address >= share or len(played) >= MAX_AUTOPLAYS:
            text = _("autoplay is running in too many games: try again later")
            raise ActionRejected("busy", text)

    async def _autoplay(self, rooms: Rooms, room: Room, spec: str, delay_s: float) -> None:
        try:
            while not room.game.is_over:
                await room.ready()
                snapshot = room.game.session.snapshot()
                async for answer in self.advise(spec, snapshot, only_move=True):
                    if isinstance(answer, Hint):
                        await room.ready()
                        room.broadcast(room.game.play_hint(answer))
                    else:
                        room.send(partial(messages.compiling_message, room.game, spec, answer))
                await asyncio.sleep(delay_s)
        except Py2048Error as error:
            _log.warning("autoplay stopped", extra={"fault": str(error)})
        if room.autoplay is not None and room.autoplay.task is asyncio.current_task():
            room.autoplay = None
            room.set_autoplay(None)
            rooms.release(room)
