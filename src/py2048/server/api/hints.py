"""Computer players on the server: hints and autoplay, asked in threads, a few at a time."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import TYPE_CHECKING

from py2048.app.session import Hint, PositionSnapshot, advise, hint_player
from py2048.core.board import Board
from py2048.core.errors import PlayerError, Py2048Error, did_you_mean
from py2048.core.language import _
from py2048.core.rules import Rules
from py2048.players import make_player
from py2048.review.advice import PROGRESS_PERIOD_S
from py2048.server.http.limits import Queue
from py2048.server.play import messages
from py2048.server.play.games import preset_of
from py2048.server.play.rooms import Autoplay, Room, Rooms
from py2048.server.schema import ActionRejected

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling

_log = logging.getLogger("py2048.web")
_THREADS = 2
MAX_QUEUE = 32
_MIN_DELAY_S = 0.05
"""Seconds between two moves of autoplay, at the least."""

MAX_AUTOPLAYS = 8
"""The most games in which computer players make the moves."""

MAX_AUTOPLAYS_EACH = 2
"""The most games of one account in which computer players make the moves."""

_SHARE = 0.5
"""The share of the games in which computer players make the moves that one address may have."""


class HintService:
    """The players that may be asked, each made when it is first needed.

    Args:
        specs: which there are; strangers cannot ask for others, which might think for hours.
    """

    def __init__(self, specs: tuple[str, ...]) -> None:
        self.specs = specs
        self._made = functools.cache(make_player)
        self._locks = {spec: threading.Lock() for spec in specs}
        self._queue = Queue(_THREADS, MAX_QUEUE, MAX_QUEUE)

    def checked(self, spec: str | None, rules: Rules, board: Board) -> str:
        """Return a spec that may be asked for; none means the usual one for the board.

        Raises:
            ActionRejected: if there is no such player here, or the rules are not those of a preset
                in some size: a player keeps tables for each rule set that it was asked about.
        """
        if preset_of(rules) is None:
            raise ActionRejected("player", _("computer players know the presets here, in any size"))
        usual = hint_player(rules, board)
        wanted = spec or (usual if usual in self.specs else self.specs[0])
        if wanted not in self.specs:
            hint = did_you_mean(wanted, self.specs)
            text = _("no player {name} is on this server")
            raise ActionRejected("player", f"{text.format(name=repr(wanted))}{hint}")
        return wanted

    async def advise(
        self, spec: str, snapshot: PositionSnapshot, *, only_move: bool = False
    ) -> AsyncIterator[Hint | Compiling]:
        """Yield what a player would do, as `py2048.app.session.advise`, as fast as it is read.

        Raises:
            ActionRejected: if too many wait already.
            PlayerError: if the player fails.
        """
        answers = self._answers(spec, snapshot, only_move)
        while (answer := await self._queue.do("", self._answer, spec, answers)) is not None:
            yield answer
            if not isinstance(answer, Hint):
                await asyncio.sleep(PROGRESS_PERIOD_S)

    def _answer(self, spec: str, answers: Iterator[Hint | Compiling]) -> Hint | Compiling | None:
        with self._locks[spec]:
            try:
                return next(answers, None)
            except Py2048Error as error:  # of the rules, too: some players refuse some
                raise PlayerError(str(error)) from None

    def _answers(
        self, spec: str, snapshot: PositionSnapshot, only_move: bool
    ) -> Iterator[Hint | Compiling]:
        player = self._made(spec)  # it may take long: it is the thread that makes it
        yield from advise(snapshot, player, only_move=only_move)

    # Autoplay

    def start_autoplay(
        self, rooms: Rooms, room: Room, spec: str, delay: float, address: str
    ) -> None:
        """Let a player make the moves until the game is over, it is stopped, or all have left.

        Args:
            rooms: where the room is.
            room: the room of the game.
            spec: the player.
            delay: seconds between two moves.
            address: who asks comes from there.

        Raises:
            ActionRejected: if the mode forbids it, or too many games are played so.
        """
        room.game.check_help()
        if room.game.is_over:
            raise room.game.over()
        if room.autoplay is None:
            self._check_autoplays(rooms, room.game.info.owner, address)
        moving = self._autoplay(rooms, room, spec, max(delay, _MIN_DELAY_S))
        room.set_autoplay(Autoplay(spec, rooms.start(moving), address))

    def _check_autoplays(self, rooms: Rooms, owner: str, address: str) -> None:
        """Refuse one more game of an account, from an address, in which computer players move."""
        played = [(room.game, room.autoplay) for room in rooms.open.values() if room.autoplay]
        mine = sum(game.info.owner == owner for game, _ in played)
        if mine >= MAX_AUTOPLAYS_EACH:
            text = _("computer players make the moves in {n} of your games")
            raise ActionRejected("busy", text.format(n=MAX_AUTOPLAYS_EACH))
        near = sum(autoplay.address == address for _, autoplay in played)
        share = max(round(_SHARE * MAX_AUTOPLAYS), MAX_AUTOPLAYS_EACH)
        if near >= share or len(played) >= MAX_AUTOPLAYS:
            raise ActionRejected(
                "busy", _("computer players make the moves in too many games: try later")
            )

    async def _autoplay(self, rooms: Rooms, room: Room, spec: str, delay: float) -> None:
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
                await asyncio.sleep(delay)
        except Py2048Error as error:
            _log.warning("autoplay stopped", extra={"fault": str(error)})
        if room.autoplay is not None and room.autoplay.task is asyncio.current_task():
            room.autoplay = None
            room.set_autoplay(None)
            rooms.release(room)
