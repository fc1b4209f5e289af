"""The WebSocket endpoint: connects players and handles their messages."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from py2048.app.session import Hint
from py2048.app.session.levels import ME, own_level
from py2048.app.storage import Account
from py2048.core.direction import Direction
from py2048.core.errors import PlayerError, StorageError
from py2048.core.language import _
from py2048.core.rules import Rules
from py2048.review.levels import Level, parse_level
from py2048.server import schema
from py2048.server.api.hints import HintService
from py2048.server.http.connections import SOCKET
from py2048.server.http.limits import RateLimits
from py2048.server.http.middleware import address_of
from py2048.server.play import messages
from py2048.server.play.backend import Backend
from py2048.server.play.battles import BattleFeeds
from py2048.server.play.games import guest_name, is_known, replay_offline
from py2048.server.play.rooms import SIGN_IN, TOO_SLOW, Client, Room, Rooms, RoomState
from py2048.server.schema import BOT, DAILY, RANKED, ActionRejected
from py2048.server.site.auth import Authenticator

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling
    from py2048.server.http.sockets import SocketConnection
    from py2048.server.play.games import OnlineGame

_log = logging.getLogger("py2048.web")
RESTART, CROWDED, VIOLATION = 1012, 1013, 4429  # Close codes; 4429 is modelled on HTTP's 429.
_DISCONNECTED = OSError, WebSocketDisconnect
_MAX_OFFENCES = 50  # More malformed or premature messages close the connection.


@dataclass(eq=False)
class PlayEndpoint:
    """Accepts WebSocket connections.

    Args:
        backend: The store and the open games.
        auth: Identifies users.
        limits: Rate limits.
        hints: Computer players.
        battles: Sends the standings of battles.
    """

    backend: Backend
    auth: Authenticator
    limits: RateLimits
    hints: HintService
    battles: BattleFeeds

    async def serve(self, websocket: WebSocket) -> None:
        """Serve one connection until it closes."""
        address = address_of(websocket.scope)
        socket: SocketConnection | None = websocket.scope.get("extensions", {}).get(SOCKET)
        if socket is not None:
            socket.count_for(address)
        with self.limits.sockets.held(address) as is_free:
            if not is_free:
                await _reject(websocket, CROWDED, "full")
                return
            try:
                rooms = await self.backend.ready()
                user = await self.auth.socket_user(websocket.headers)
                if user is None:
                    await _reject(websocket, SIGN_IN, "sign in again")
                    return
                account, current = await rooms.in_thread(rooms.games.sign_in_state, user.account)
            except StorageError:
                await _reject(websocket, RESTART, "no store")
                return
            cookies = [(b"set-cookie", each.encode()) for each in user.cookies]
            await websocket.accept(headers=cookies)
            connection = ClientConnection(
                account.id, user.session, rooms=rooms, limits=self.limits, hints=self.hints,
                battles=self.battles, owner=account, address=address,
            )  # fmt: skip
            if socket:
                connection.write_now = socket.write_now
            connection.begin(current)
            await _exchange_messages(connection, websocket)


async def _reject(websocket: WebSocket, code: int, reason: str) -> None:
    # Browsers hide the reason of a rejected handshake, but not that of a closed connection.
    await websocket.accept()
    await websocket.close(code, reason)


async def _exchange_messages(connection: ClientConnection, websocket: WebSocket) -> None:
    """Receive and send messages until either side ends."""

    async def read() -> None:
        while (message := await websocket.receive())["type"] == "websocket.receive":
            await connection.on_message(message.get("text"))

    async def send(frame: bytes) -> None:
        await websocket.send_text(frame.decode())

    try:
        await _run_until_first(read(), connection.run(send))
        is_connected = websocket.client_state is WebSocketState.CONNECTED
        if is_connected and connection.close_code not in (None, TOO_SLOW):
            await websocket.close(connection.close_code)
    finally:
        connection.end()


async def _run_until_first(*works: Coroutine[object, object, object]) -> None:
    """Run coroutines concurrently until the first finishes; log exceptions."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception) and not isinstance(result, _DISCONNECTED):
                _log.error("a connection failed", exc_info=result)


@dataclass(eq=False, kw_only=True)
class ClientConnection(Client):
    """A player's connection, which handles its messages in order.

    A page may send a chain of actions without waiting for responses. The first action of a chain
    must have the game's next number. Later actions are numbered by the server, because the page
    cannot know which moves will change nothing and so use up no number. A later action is played
    only if nothing else has happened in the game since the previous action, so no move is made on a
    board that the player has not seen. A rejected action breaks the chain, and the rest of the
    chain is dropped silently.

    Attributes:
        rooms: The open games.
        limits: Rate limits.
        hints: Computer players.
        battles: Sends the standings of battles.
        owner: The player's account.
        address: The client's network address.
    """

    rooms: Rooms
    limits: RateLimits
    hints: HintService
    battles: BattleFeeds
    owner: Account
    address: str
    _offences: int = field(default=0, init=False)
    _retry_after: float = field(default=0.0, init=False)
    _chain: int | UnsetType = field(default=UNSET, init=False)
    _broken_chain: int | UnsetType = field(default=UNSET, init=False)
    _last_chained: tuple[OnlineGame, int] | None = field(default=None, init=False)
    _second_hint: asyncio.Task[None] | None = field(default=None, init=False)
    _own_levels: dict[Rules, Level] = field(default_factory=dict, init=False)

    def begin(self, current: str | None) -> None:
        """Register the connection and send the hello message."""
        self.rooms.clients.add(self)
        name = self.owner.name or guest_name(self.account)
        me = schema.Me(name, self.owner.name is None)
        self._reply(schema.HelloMessage(me, current, self.hints.specs))

    def end(self) -> None:
        """Leave the room and unregister the connection."""
        if self._second_hint:
            self._second_hint.cancel()
        if self.close_code == TOO_SLOW:
            self.rooms.metrics.slow_readers.inc()
        self.battles.unfollow(self)
        self.rooms.clients.discard(self)
        self.rooms.leave(self)

    async def on_message(self, frame: str | None) -> None:
        """Handle one message, valid or not."""
        arrived = time.monotonic()
        chain: int | UnsetType = UNSET
        try:
            message = schema.parse_message(frame)
            if isinstance(message, schema.NumberedRequest):
                chain = message.chain
            is_program = self.owner.bot_of is not None
            await self.limits.pace(self.account, is_program=is_program)
            if chain is UNSET or chain != self._broken_chain:
                await self._handle(message, arrived)
        except ActionRejected as error:
            self._reject(error, frame, chain)
        except PlayerError as error:
            self._reject(ActionRejected("player", str(error)), frame, chain)
        except StorageError as error:
            self.rooms.note_fault(error, "the store failed")
            text = _("{trouble}: try again in a moment.")
            fault = ActionRejected("storage", text.format(trouble=messages.trouble_of(error)))
            self._reject(fault, frame, chain)

    async def _handle(self, message: schema.PageMessage, arrived: float) -> None:
        """Dispatch a message.

        Raises:
            ActionRejected, PlayerError, StorageError: If the action fails.
        """
        match message:
            case schema.MoveRequest() | schema.UndoRequest() | schema.RedoRequest():
                await self._play(message, arrived)
            case schema.OfflineRequest():
                await self._take_offline(message)
            case schema.HintRequest():
                await self._hint(message)
            case schema.AutoplayRequest():
                await self._autoplay(message)
            case schema.NewGame():
                await self._new(message)
            case _:
                await self._handle_other(message)

    async def _handle_other(self, message: schema.PageMessage) -> None:
        """Dispatch a message that is not an action in the open game."""
        match message:
            case schema.OpenRequest():
                game = schema.checked_game_id(message.game)
                await self._enter(await self.rooms.find_own(game, self.account))
            case schema.WatchRequest():
                await self._watch(schema.checked_game_id(message.game))
            case schema.LeaveRequest():
                self.rooms.leave(self)
            case schema.BattleRequest():
                await self.battles.follow(self.rooms, self, message.battle, message.game)
            case schema.GamesRequest():
                await self._list_games()
            case schema.PingRequest():
                self._reply(schema.PongMessage())

    async def _play(
        self, message: schema.MoveRequest | schema.UndoRequest | schema.RedoRequest, arrived: float
    ) -> None:
        room = await self._own_room()
        room.end_autoplay()
        game, number = room.game, self._number(message, room.game)
        match message:
            case schema.MoveRequest():
                if self.owner.bot_of:
                    self.rooms.keep(room)
                events = game.move(number, Direction[message.direction.upper()], arrived)
            case schema.UndoRequest():
                events = game.undo(number)
            case schema.RedoRequest():
                events = game.redo(number)
        self._continue_chain(message, game)
        room.broadcast(events, self)

    def _reject(
        self, error: ActionRejected, frame: str | None, chain: int | UnsetType = UNSET
    ) -> None:
        self.rooms.metrics.refused.inc()
        if chain is not UNSET:
            self._broken_chain = chain
        # Exceeding the rate is an offence only if the client did not wait as long as it was told
        # to.
        now = time.monotonic()
        if error.reason == "malformed" or (error.reason == "rate" and now < self._retry_after):
            self._offences += 1
            if self._offences > _MAX_OFFENCES:
                self.close(VIOLATION)
        if error.reason == "rate":
            self._retry_after = now + error.wait_s
        room, kind = self.room, schema.type_of(frame)[:20]
        # While the game is reloaded, its state in memory may differ from the store.
        state = (
            room.state_for(self.account) if room and room.state is not RoomState.LOADING else None
        )
        message = messages.rejection(error, kind, state, chain)
        if room:
            room.send(lambda: message, self)
        else:
            self._reply(message)

    def _reply(self, message: schema.Reply) -> None:
        self.send(schema.encode(message))

    async def _own_room(self) -> Room:
        """Return the room of the player's own game once it is loaded.

        Raises:
            ActionRejected: If no game is open (``no_game``) or it is another player's
                (``not_yours``).
        """
        room = self.room
        if room is None:
            raise ActionRejected("no_game", _("no game is open here: open one"))
        if room.game.info.owner != self.account:
            raise ActionRejected("not_yours", _("this is somebody else's game: you may watch it"))
        await room.loaded()
        return room

    def _number(self, action: schema.NumberedRequest, game: OnlineGame) -> int:
        """Return the number of an action in the game.

        Raises:
            ActionRejected: If the chain does not fit the game (``gap``).
        """
        if action.chain is UNSET:
            return action.number
        if action.chain != self._chain:
            is_expected = game.version == action.number - 1
        else:
            is_expected = self._last_chained == (game, game.version)
        if not is_expected:
            raise ActionRejected("gap", _("the game has changed since the previous action"))
        return game.version + 1

    def _continue_chain(self, action: schema.NumberedRequest, game: OnlineGame) -> None:
        self._chain, self._last_chained = action.chain, (game, game.tracked.revision)

    async def _new(self, message: schema.NewGame) -> None:
        mode = message.mode
        if mode is UNSET:
            mode = BOT if self.owner.bot_of else RANKED
        self.limits.check(new_games=self.account, new_games_from=self.address)
        if mode == DAILY and not await self.rooms.in_thread(self.rooms.games.daily, self.account):
            limit = "known_dailies" if is_known(self.owner) else "new_dailies"
            self.limits.check(**{limit: self.address})
        room = await self.rooms.create(self, message.rules, mode)
        room.send_state(self)

    async def _enter(self, room: Room) -> None:
        self.rooms.enter(self, room)
        await room.ready()
        room.send_state(self)

    async def _watch(self, game: str) -> None:
        await self.rooms.in_thread(self.rooms.games.check_visible, game, self.account)
        await self._enter(await self.rooms.find(game))

    async def _hint(self, message: schema.HintRequest) -> None:
        room = await self._own_room()
        session = room.game.session
        spec = self.hints.checked(message.player, session.rules, session.game.board)
        room.game.check_help()
        if room.game.is_over:
            raise ActionRejected("over", _("the game is over: there is nothing to advise"))
        number = self._number(message, room.game)
        if number <= room.game.version:
            room.send_state(self)
            return
        self.limits.check(hints=self.account)
        level = await self._level(session.rules, message.level)
        answers = self.hints.advise(spec, session.snapshot(), level)
        hint = await anext(answers)
        assert isinstance(hint, Hint)  # the first answer always is
        room = await self._own_room()
        room.game.show_hint(number, hint)
        self._continue_chain(message, room.game)
        room.send(partial(messages.hint_message, room.game, hint), self)
        if self._second_hint:
            self._second_hint.cancel()
        if hint.instead_of:
            sending = self._send_second_hint(room, hint.instead_of, answers)
            self._second_hint = self.rooms.start(sending)

    async def _level(self, rules: Rules, text: str) -> Level | None:
        """Return the level that a text names; the player's own is fitted once a connection."""
        if text != ME:
            return parse_level(text)
        if rules not in self._own_levels:
            store = self.rooms.games.store
            fitted = await self.rooms.in_thread(own_level, store, self.account, rules)
            self._own_levels[rules] = fitted
        return self._own_levels[rules]

    async def _send_second_hint(
        self, room: Room, spec: str, answers: AsyncIterator[Hint | Compiling]
    ) -> None:
        """After a hint from a fast substitute, send compile progress and the requested hint."""
        version = room.game.version
        try:
            async for answer in answers:
                if room.game.version != version or self.room is not room:
                    return
                if isinstance(answer, Hint):
                    room.send(partial(messages.hint_message, room.game, answer), self)
                else:
                    room.send(partial(messages.compiling_message, room.game, spec, answer), self)
        except (ActionRejected, PlayerError) as error:
            _log.info("no hint after the quick one", extra={"fault": str(error)})

    async def _autoplay(self, message: schema.AutoplayRequest) -> None:
        room = await self._own_room()
        if message.player is None:
            room.set_autoplay(None)
        else:
            session = room.game.session
            spec = self.hints.checked(message.player, session.rules, session.game.board)
            delay_s = message.delay / 1000
            self.hints.start_autoplay(self.rooms, room, spec, delay_s, self.address)

    async def _take_offline(self, message: schema.OfflineRequest) -> None:
        """Append turns that were played offline; a thread replays them in a copy of the game."""
        room = await self._own_room()
        room.end_autoplay()
        await room.ready()  # the copy must not contain changes that are still being saved
        limits, game = self.limits, room.game
        game.check_offline(message.number)
        limits.check(offline=self.address)
        played = await limits.replaying.do(
            self.address, replay_offline, game.tracked.copy(), message.turns, message.category
        )
        turns = played.revision + 1 - message.number
        limits.buckets["offline"].charge(self.address, turns * played.game.rules.cells)
        room = await self._own_room()
        if not room.game.has_same_turns(game):  # it was reloaded
            raise ActionRejected("gap", _("the game has changed since the previous action"))
        room.game.take_offline(message.number, played)
        for client in room.clients:
            room.send_state(client)

    async def _list_games(self) -> None:
        online = self.rooms.games.store.online
        games = [
            schema.OpenGameInfo(
                game.id, messages.rules_info(game.rules), game.mode, game.score, game.position,
                game.updated,
            )
            for game in await self.rooms.in_thread(online.open_games, self.account)
        ]  # fmt: skip
        self._reply(schema.GamesMessage(games))
