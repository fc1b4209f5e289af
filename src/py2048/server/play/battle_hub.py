"""The hub of battles: tells everybody at a battle how it goes, while it changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

import msgspec

from py2048.errors import StorageError
from py2048.server import schema
from py2048.server.play.battles import battle_message, find, settle
from py2048.server.play.games import GameService, OnlineGame
from py2048.server.play.messages import rejection
from py2048.server.play.rooms import Client, Rooms
from py2048.server.schema import ActionRejected
from py2048.storage import Battle

_log = logging.getLogger("py2048.web")
_Facts = tuple[str, str | None, list[schema.BattlePlayerInfo]]
_PERIOD = 0.5
"""Seconds between two looks at the boards of a battle."""


class BattleHub:
    """Those who are at battles in this process.

    Args:
        rooms: gives the rooms, when the store is open.
    """

    def __init__(self, rooms: Callable[[], Rooms]) -> None:
        self._rooms = rooms
        self._at: dict[Client, str] = {}
        self._heard: dict[str, dict[Client, _Facts | None]] = {}
        self._changed: dict[str, asyncio.Event] = {}

    async def enter(self, client: Client, battle: str | None, game: str | None) -> None:
        """Let a client hear how a battle goes, named by itself or by a game; None: no longer.

        Raises:
            ActionRejected: if there is no such battle.
        """
        self.leave(client)
        rooms = self._rooms()
        if game is not None:
            battle = await rooms.in_thread(rooms.games.store.battles.of_game, game)
        if battle is None:
            return
        battle = (await rooms.in_thread(find, rooms.games, battle)).id
        self._at[client] = battle
        is_new = battle not in self._heard
        self._heard.setdefault(battle, {})[client] = None
        if is_new:
            self._changed[battle] = asyncio.Event()
            rooms.start(self._tell(battle))
        self.wake(battle)

    def leave(self, client: Client) -> None:
        """Let a client hear no more."""
        battle = self._at.pop(client, None)
        if battle is not None:
            self._heard[battle].pop(client, None)
            self.wake(battle)

    def wake(self, battle: str) -> None:
        """Look at a battle now: something has changed."""
        if battle in self._changed:
            self._changed[battle].set()

    async def _tell(self, battle: str) -> None:
        """Tell how a battle goes for as long as somebody hears it."""
        opened: set[str] = set()
        try:
            while self._heard[battle]:
                self._changed[battle].clear()
                with suppress(StorageError):
                    await self._look(battle, opened)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed[battle].wait(), _PERIOD)
        except ActionRejected as error:  # the last player has gone before the start
            _log.info("a battle is gone", extra={"fault": str(error)})
            for client in self._heard[battle]:
                client.send(schema.encode_frame(rejection(error, "battle", None)))
        finally:
            del self._changed[battle]
            for client in self._heard.pop(battle):
                self._at.pop(client, None)
            for game in opened.intersection(self._rooms().open):
                self._rooms().release(self._rooms().open[game])

    async def _look(self, battle_id: str, opened: set[str]) -> None:
        """Tell everybody at a battle what they have not heard."""
        rooms = self._rooms()
        battle = await rooms.in_thread(_settled, rooms.games, battle_id)
        for player in battle.players:
            room = rooms.open.get(player.game_id or "")
            if room and player.score is not None and not room.game.is_finished:
                rooms.reload(room, None)  # it was made a record
        live = {} if battle.is_settled else await self._live(rooms, battle)
        opened.update(live)
        message = await rooms.in_thread(battle_message, rooms.games, battle, live)
        facts = message.stage, message.rematch, message.players
        for client, heard in tuple(self._heard[battle_id].items()):
            if heard != facts:
                self._heard[battle_id][client] = facts
                mine = battle.seat_of(client.account)
                told = msgspec.structs.replace(message, you=mine and mine.seat)
                client.send(schema.encode_frame(told))

    async def _live(self, rooms: Rooms, battle: Battle) -> dict[str, OnlineGame]:
        """Return the games of a battle, opened here."""
        live = {}
        for game in filter(None, (player.game_id for player in battle.players)):
            with suppress(ActionRejected):
                room = rooms.open.get(game) or await rooms.find(game)
                if room.settled.is_set():  # what is not written may be taken back
                    live[game] = room.game
        return live


def _settled(games: GameService, battle_id: str) -> Battle:
    return settle(games, find(games, battle_id))
