"""Computer players on the server: hints and autoplay, computed in worker processes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import lru_cache, partial

from py2048 import Board, Game, Rules, make_player
from py2048.app.session import Hint, PositionSnapshot, advise, hint_player
from py2048.app.session.levels import own_level
from py2048.core.errors import PlayerError, Py2048Error, did_you_mean
from py2048.core.language import _
from py2048.core.rules import preset_of
from py2048.engine.jit.progress import Compiling
from py2048.review.advice import PROGRESS_PERIOD_S
from py2048.review.levels import LEVELS, Level
from py2048.server.admission import SERVER, Admission, Caller
from py2048.server.bounds import MAX_PLAYERS
from py2048.server.play import messages
from py2048.server.play.games import DAILY_RULES, GameService
from py2048.server.play.rooms import Room, Rooms
from py2048.server.schema import ActionRejected

_log = logging.getLogger("py2048.web")
PREPARE_DELAY_S = 10.0  # Compilation must not delay the first pages.
_MIN_DELAY_S = 0.05  # Minimum time between two autoplay moves.

player_of = lru_cache(MAX_PLAYERS)(make_player)


class HintService:
    """Computer players for hints and autoplay.

    Args:
        specs: Specs of the allowed players. Arbitrary players could take hours for a move.
        admission: Runs the players in worker processes.
    """

    def __init__(self, specs: tuple[str, ...], admission: Admission) -> None:
        self.specs = specs
        self._admission = admission

    def checked(self, spec: str | None, rules: Rules, board: Board) -> str:
        """Validate a player's spec and return it. None selects the default player for the board.

        Raises:
            ActionRejected: If the player is not available, or if the rules are not a preset
                (``player``). The board may have any size. Players keep tables for each set of
                rules, so arbitrary rules could exhaust the memory.
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
        self, door: str, caller: Caller, spec: str, snapshot: PositionSnapshot,
        level: Level | None = None,
    ) -> AsyncIterator[Hint | Compiling]:  # fmt: skip
        """Yield hints and the compiler's progress, as `py2048.app.session.advise` does.

        Args:
            door: ``hint``, or ``autoplay`` for a move without values.
            caller: Who is charged.
            spec: The player.
            snapshot: The position.
            level: Level of the players whose chances are computed, or None.

        Raises:
            ActionRejected: If the server is too busy (``busy``).
            PlayerError: If the player fails.
        """
        facts, has_quick = (spec, snapshot, level, door == "autoplay"), False
        while True:
            for answer in await self._admission.do(door, caller, answers_of, *facts):
                is_quick = isinstance(answer, Hint) and bool(answer.instead_of)
                if not (is_quick and has_quick):
                    yield answer
                has_quick |= is_quick
            if isinstance(answer, Hint) and not is_quick:
                return
            await asyncio.sleep(PROGRESS_PERIOD_S)

    async def prepare(self) -> None:
        """Compile the kernels that hints, autoplay and the coach need for classic games."""
        await asyncio.sleep(PREPARE_DELAY_S)
        board = Game(DAILY_RULES, seed=0).board
        position, usual = PositionSnapshot(DAILY_RULES, board, 0), hint_player(DAILY_RULES, board)
        for level in (None, LEVELS[0]) if usual in self.specs else ():
            with suppress(Py2048Error):
                async for _ in self.advise("hint", SERVER, usual, position, level):
                    pass

    # Autoplay

    def start_autoplay(
        self, rooms: Rooms, room: Room, spec: str, delay_s: float, caller: Caller
    ) -> None:
        """Let a computer player make the moves in a room.

        Autoplay ends when the game is over, when a client stops it, or when all clients have left.

        Args:
            rooms: The open games.
            room: The game's room.
            spec: The player.
            delay_s: Seconds between two moves.
            caller: Who is charged for the moves.

        Raises:
            ActionRejected: If the mode forbids it (``mode``) or the game is over (``over``).
        """
        room.game.check_help()
        if room.game.is_over:
            raise room.game.over()
        moving = self._autoplay(rooms, room, spec, max(delay_s, _MIN_DELAY_S), caller)
        room.set_autoplay(rooms.start(moving, spec))

    async def _autoplay(
        self, rooms: Rooms, room: Room, spec: str, delay_s: float, caller: Caller
    ) -> None:
        try:
            while not room.game.is_over:
                await room.ready()
                snapshot, wait_s = room.game.session.snapshot(), delay_s
                try:
                    async for answer in self.advise("autoplay", caller, spec, snapshot):
                        if isinstance(answer, Hint):
                            await room.ready()
                            room.broadcast(room.game.play_hint(answer))
                        else:
                            room.send(partial(messages.compiling_message, room.game, spec, answer))
                except ActionRejected as error:
                    if error.reason != "busy":
                        raise
                    wait_s = max(error.wait_s, delay_s)
                await asyncio.sleep(wait_s)
        except Py2048Error as error:
            _log.warning("autoplay stopped", extra={"fault": str(error)})
        if room.autoplay is not None and room.autoplay is asyncio.current_task():
            room.autoplay = None
            room.set_autoplay(None)
            rooms.release(room)


def level_of(games: GameService, account: str, rules: Rules) -> Level | None:
    """Return the player level that an account's games fit best."""
    return own_level(games.store, account, rules)


def answers_of(
    spec: str, snapshot: PositionSnapshot, level: Level | None, only_move: bool
) -> list[Hint | Compiling]:
    """Return a player's hint or, during compilation, a quick hint and the progress.

    Raises:
        PlayerError: If the player fails.
    """
    try:
        answers = advise(snapshot, player_of(spec), level, only_move=only_move)
        first = next(answers)
        is_quick = isinstance(first, Hint) and first.instead_of
        return [first, next(answers)] if is_quick else [first]  # The second starts compilation.
    except Py2048Error as error:  # Not every player supports all rules.
        raise PlayerError(str(error)) from None
