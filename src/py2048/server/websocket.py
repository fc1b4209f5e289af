"""The WebSocket endpoint, which connects players and handles their messages."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from py2048.app.session import Hint
from py2048.app.session.levels import ME
from py2048.app.storage import Account
from py2048.core.direction import Direction
from py2048.core.errors import PlayerError, Py2048Error, StorageError
from py2048.core.language import _
from py2048.core.rules import Rules
from py2048.engine.jit.progress import Compiling
from py2048.review.levels import Level, parse_level
from py2048.server import schema
from py2048.server.admission import Caller
from py2048.server.hints import level_of
from py2048.server.http.connections import SOCKET
from py2048.server.http.middleware import address_of
from py2048.server.play import messages
from py2048.server.play.games import GameService, guest_name, is_known, replay_offline
from py2048.server.play.rooms import SIGN_IN, TOO_SLOW, Client, Room, Rooms, RoomState
from py2048.server.schema import BOT, DAILY, RANKED, ActionRejected
from py2048.server.site.pages import Site

if TYPE_CHECKING:
    from py2048.server.http.sockets import SocketConnection
    from py2048.server.play.games import OnlineGame

_log = logging.getLogger("py2048.web")
FAILED, RESTART, CROWDED = 1011, 1012, 1013  # close codes
_FAULTS = ActionRejected, PlayerError, StorageError
_DISCONNECTED = OSError, WebSocketDisconnect
PONG_PERIOD_S = 2.0  # Pages wait 5 s for a pong.
_SLOW = schema.HintRequest, schema.OfflineRequest


async def play(site: Site, websocket: WebSocket) -> None:
    """Serve one WebSocket connection until it closes."""
    address = address_of(websocket.scope)
    socket: SocketConnection | None = websocket.scope.get("extensions", {}).pop(SOCKET, None)
    if socket is not None:
        socket.count_for(address)
    with site.limits.sockets.held(address) as is_free:
        if not is_free:
            await _reject(websocket, CROWDED, "full")
            return
        try:
            rooms = await site.backend.ready()
            user = await site.auth.socket_user(websocket.headers)
            if user is None:
                await _reject(websocket, SIGN_IN, "sign in again")
                return
            account, current = await asyncio.to_thread(rooms.games.sign_in_state, user.account)
        except StorageError:
            await _reject(websocket, RESTART, "no store")
            return
        cookies = [(b"set-cookie", each.encode()) for each in user.cookies]
        await websocket.accept(headers=cookies)
        caller = Caller(address, account.id)
        connection = ClientConnection(
            account.id, user.session, site=site, rooms=rooms, owner=account, caller=caller
        )
        if socket:
            connection.write_now = socket.write_now
            socket.forget_head()
            context = copy_context()  # with the language of this request
            socket.take_now = lambda frame: context.run(connection.play_now, frame)
        connection.begin(current)
        await _exchange_messages(connection, websocket)


async def _reject(websocket: WebSocket, code: int, reason: str) -> None:
    # Browsers hide why a handshake was rejected, but not why a connection was closed.
    await websocket.accept()
    await websocket.close(code, reason)


async def _exchange_messages(connection: ClientConnection, websocket: WebSocket) -> None:
    """Receive and send messages until the client or the server ends the connection."""

    async def read() -> None:
        try:
            while (message := await websocket.receive())["type"] == "websocket.receive":
                await connection.on_message(message.get("text"))
        finally:
            connection.close(FAILED)  # makes `run` return

    async def send(frame: bytes) -> None:
        await websocket.send_text(frame.decode())

    reading = asyncio.create_task(read())
    try:
        await connection.run(send)
        is_connected = websocket.client_state is WebSocketState.CONNECTED
        if is_connected and connection.close_code is not None:
            await websocket.close(connection.close_code)
    except asyncio.CancelledError:
        if connection.close_code != TOO_SLOW:
            raise
    except _DISCONNECTED:
        pass
    finally:
        reading.cancel()
        for result in await asyncio.gather(reading, return_exceptions=True):
            if isinstance(result, Exception) and not isinstance(result, _DISCONNECTED):
                _log.error("a connection failed", exc_info=result)
        connection.end()


@dataclass(eq=False, kw_only=True)
class ClientConnection(Client):
    """A player's connection. Messages are handled in order.

    A page may send a chain of actions without waiting for responses. Only the first action of a
    chain needs the correct number. The page cannot know the numbers of the later actions, because a
    move that changes nothing does not get a number. If something else changes the game during a
    chain, the next action is rejected, because the player has not seen the new board. After a
    rejected action, the server drops the rest of the chain without further messages.

    Attributes:
        site: The parts of the server.
        rooms: The open games.
        owner: The player's account.
        caller: Who is charged for expensive requests.
    """

    site: Site
    rooms: Rooms
    owner: Account
    caller: Caller
    _is_busy: bool = field(default=False, init=False)
    _arrived: float = field(default=0.0, init=False)
    _chain: int | UnsetType = field(default=UNSET, init=False)
    _broken_chain: int | UnsetType = field(default=UNSET, init=False)
    _last_chained: tuple[OnlineGame, int] | None = field(default=None, init=False)
    _second_hint: asyncio.Task[None] | None = field(default=None, init=False)
    _own_level: tuple[Rules, Level | None] | None = field(default=None, init=False)

    def begin(self, current: str | None) -> None:
        """Register the connection, and send the hello message."""
        self.rooms.clients.add(self)
        name = self.owner.name or guest_name(self.account)
        me = schema.Me(name, self.owner.name is None)
        self._reply(schema.HelloMessage(me, current, self.site.hints.specs))

    def end(self) -> None:
        """Leave the room, and unregister the connection."""
        if self._second_hint:
            self._second_hint.cancel()
        if self.close_code == TOO_SLOW:
            self.rooms.metrics.slow_readers.inc()
        self.site.battles.unfollow(self)
        self.rooms.clients.discard(self)
        self.rooms.leave(self)

    def play_now(self, frame: bytes) -> bool:
        """Play a person's move if this is possible without waiting.

        Returns whether the frame was handled.
        """
        self._arrived, room = time.monotonic(), self.room
        if self._is_busy or self.close_code or room is None or room.state is RoomState.LOADING:
            return False
        message = schema.parse_move(frame)
        if message is None or room.game.info.owner != self.account or self.owner.bot_of:
            return False
        try:
            self.site.limits.check("moves", self.account)
            if message.chain is UNSET or message.chain != self._broken_chain:
                self._play(room, message)
        except _FAULTS as error:
            self._fail(error, frame, message.chain)
        return True

    async def on_message(self, frame: str | None) -> None:
        """Handle one message, valid or not."""
        self._arrived = time.monotonic()
        chain: int | UnsetType = UNSET
        self._is_busy = True
        try:
            message = schema.parse_message(frame)
            if isinstance(message, schema.NumberedRequest):
                chain = message.chain
            is_program = self.owner.bot_of is not None
            await self.site.limits.pace(self.account, is_program=is_program)
            if chain is UNSET or chain != self._broken_chain:
                work = getattr(self, f"_on_{message.__struct_config__.tag}")(message)
                await (self._with_pongs(work) if type(message) in _SLOW else work)
        except _FAULTS as error:
            self._fail(error, frame, chain)
        finally:
            self._is_busy = False

    async def _with_pongs(self, work: Coroutine[object, object, None]) -> None:
        """Handle a message that may take a long time, and send pongs in the meantime.

        The connection handles one message at a time, so it cannot answer pings during a long
        request. Without pongs, the page would reconnect and lose the response.
        """
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait([task], timeout=PONG_PERIOD_S))[0]:
                self._reply(schema.PongMessage())
        finally:
            task.cancel()
        await task

    def _play(self, room: Room, message: schema.NumberedRequest) -> None:
        room.end_autoplay()
        game, number = room.game, self._number(message, room.game)
        match message:
            case schema.MoveRequest():
                if self.owner.bot_of:
                    self.rooms.keep(room)
                events = game.move(number, Direction[message.direction.upper()], self._arrived)
            case schema.UndoRequest():
                events = game.undo(number)
            case schema.RedoRequest():
                events = game.redo(number)
        self._continue_chain(message, game)
        room.broadcast(events, self)

    def _fail(self, error: Py2048Error, frame: str | bytes | None, chain: int | UnsetType) -> None:
        """Reject a message."""
        match error:
            case PlayerError():
                error = ActionRejected("player", str(error))
            case StorageError():
                self.rooms.note_fault(error, "the store failed")
                text = _("{trouble}: try again in a moment.")
                error = ActionRejected("storage", text.format(trouble=messages.trouble_of(error)))
        assert isinstance(error, ActionRejected)
        self.rooms.metrics.refused.inc()
        if chain is not UNSET:
            self._broken_chain = chain
        rejected, kind = error, schema.type_of(frame)[:20]
        if self.room:
            self.room.reject(lambda: rejected, self, of=kind, chain=chain)
        else:
            self._reply(messages.rejection(rejected, kind, None, chain))

    def _reply(self, message: schema.Reply) -> None:
        self.send(schema.encode(message))

    async def _own_room(self) -> Room:
        """Wait until the player's own game has been loaded, and return its room.

        Raises:
            ActionRejected: If no game is open (``no_game``), or the open game belongs to another
                player (``not_yours``).
        """
        room = self.room
        if room is None:
            raise ActionRejected("no_game", _("no game is open: open one first"))
        if room.game.info.owner != self.account:
            raise ActionRejected("not_yours", _("this is someone else's game: you can watch it"))
        await room.loaded()
        return room

    def _number(self, action: schema.NumberedRequest, game: OnlineGame) -> int:
        """Return the number of an action, which may be part of a chain.

        Raises:
            ActionRejected: If the game has changed since the previous action (``gap``).
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

    # Message handlers; each is named after the type of its message

    async def _on_move(self, message: schema.NumberedRequest) -> None:
        self._play(await self._own_room(), message)

    _on_undo = _on_redo = _on_move

    async def _on_new(self, message: schema.NewGame) -> None:
        mode = message.mode
        if mode is UNSET:
            mode = BOT if self.owner.bot_of else RANKED
        self.site.limits.check("new_games", self.account)
        if mode == DAILY and not await asyncio.to_thread(self.rooms.games.daily, self.account):
            limit = "known_dailies" if is_known(self.owner) else "new_dailies"
            self.site.limits.check(limit, self.caller.address)
        await self.rooms.wait_for_records(self.account)  # for an up-to-date best score
        facts = self.account, message.rules, mode
        game = await self.site.write("game", self.caller, GameService.begin_game, *facts)
        await self._enter(self.rooms.room_of(game))

    async def _enter(self, room: Room) -> None:
        self.rooms.enter(self, room)
        await room.ready()
        room.send_state(self)

    async def _on_open(self, message: schema.OpenRequest) -> None:
        game = schema.checked_game_id(message.game)
        await self._enter(await self.rooms.find_own(game, self.caller))

    async def _on_watch(self, message: schema.WatchRequest) -> None:
        game = schema.checked_game_id(message.game)
        await asyncio.to_thread(self.rooms.games.check_visible, game, self.account)
        await self._enter(await self.rooms.find(game, self.caller))

    async def _on_leave(self, _message: schema.LeaveRequest) -> None:
        self.rooms.leave(self)

    async def _on_battle(self, message: schema.BattleRequest) -> None:
        await self.site.battles.follow(self.rooms, self, message.battle, message.game)

    async def _on_ping(self, _message: schema.PingRequest) -> None:
        self._reply(schema.PongMessage())

    async def _on_hint(self, message: schema.HintRequest) -> None:
        room = await self._own_room()
        session = room.game.session
        spec = self.site.hints.checked(message.player, session.rules, session.game.board)
        room.game.check_help()
        if room.game.is_over:
            raise ActionRejected("over", _("the game is over: no hint is possible"))
        number = self._number(message, room.game)
        if number <= room.game.version:
            room.send_state(self)
            return
        level = await self._level(session.rules, message.level)
        answers = self.site.hints.advise("hint", self.caller, spec, session.snapshot(), level)
        hint = await anext(answers)
        assert isinstance(hint, Hint)  # `advise` yields a hint first
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
        """Return the named level. The player's own level is estimated once and then reused."""
        if text != ME:
            return parse_level(text)
        if self._own_level is None or self._own_level[0] != rules:
            own = await self.site.read("hint", self.caller, level_of, self.account, rules)
            self._own_level = rules, own
        return self._own_level[1]

    async def _send_second_hint(
        self, room: Room, spec: str, answers: AsyncIterator[Hint | Compiling]
    ) -> None:
        """Send compilation progress, and then the requested player's hint.

        The client already has a hint from a faster player.
        """
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

    async def _on_autoplay(self, message: schema.AutoplayRequest) -> None:
        room = await self._own_room()
        if message.player is None:
            room.set_autoplay(None)
        else:
            session = room.game.session
            spec = self.site.hints.checked(message.player, session.rules, session.game.board)
            delay_s = message.delay / 1000
            self.site.hints.start_autoplay(self.rooms, room, spec, delay_s, self.caller)

    async def _on_offline(self, message: schema.OfflineRequest) -> None:
        """Replay offline turns in a copy of the game, then append them."""
        room = await self._own_room()
        room.end_autoplay()
        await room.ready()  # the copy must not contain unsaved changes
        game = room.game
        game.check_offline(message.number)
        facts = game.tracked.copy(), message.turns, message.category
        played = await self.site.admission.do_here("offline", self.caller, replay_offline, *facts)
        room = await self._own_room()
        if not room.game.has_same_turns(game):  # it was reloaded
            raise ActionRejected("gap", _("the game has changed since the previous action"))
        room.game.take_offline(message.number, played)
        for client in room.clients:
            room.send_state(client)

    async def _on_games(self, _message: schema.GamesRequest) -> None:
        online = self.rooms.games.store.online
        games = [
            schema.OpenGameInfo(
                game.id, messages.rules_info(game.rules), game.mode, game.score, game.position,
                game.updated,
            )
            for game in await asyncio.to_thread(online.open_games, self.account)
        ]  # fmt: skip
        self._reply(schema.GamesMessage(games))
