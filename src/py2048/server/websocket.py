"""The WebSocket: who connects, what a page asks for, and what is sent back."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType
from starlette.websockets import WebSocket, WebSocketState

from py2048.app.session import Hint
from py2048.app.storage import Account
from py2048.core.direction import Direction
from py2048.core.errors import PlayerError, StorageError
from py2048.core.language import _
from py2048.server import schema
from py2048.server.http.connections import SOCKET
from py2048.server.http.middleware import address_of
from py2048.server.play import messages
from py2048.server.play.games import guest_name, is_known, played_offline
from py2048.server.play.rooms import SIGN_IN, TOO_SLOW, Client, Room, RoomState, until_one_ends
from py2048.server.schema import BOT, DAILY, RANKED, ActionRejected
from py2048.server.services import Services
from py2048.server.site.auth import connecting, services_of

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling
    from py2048.server.http.sockets import SocketConnection
    from py2048.server.play.games import OnlineGame

_log = logging.getLogger("py2048.web")
RESTART, CROWDED, VIOLATION = 1012, 1013, 4429  # the last as HTTP has it: 429
_MAX_OFFENCES = 50
"""After more malformed or hasty messages than this the connection is closed."""


async def talk(websocket: WebSocket) -> None:
    """Talk with one browser until it goes."""
    services, scope = services_of(websocket), websocket.scope
    address = address_of(scope)
    socket: SocketConnection | None = scope.get("extensions", {}).get(SOCKET)
    if socket is not None:
        socket.count_for(address)
    with services.limits.sockets.held(address) as is_free:
        if not is_free:
            await _refuse(websocket, CROWDED, "full")
            return
        try:
            rooms = await services.ready()
            user = await connecting(services, websocket.headers)
            if user is None:
                await _refuse(websocket, SIGN_IN, "sign in again")
                return
            account, current = await rooms.in_thread(rooms.games.sign_in_state, user.account)
        except StorageError:
            await _refuse(websocket, RESTART, "no store")
            return
        await websocket.accept(headers=[(b"set-cookie", each.encode()) for each in user.cookies])
        connection = ClientConnection(services, account, address, user.session)
        if socket:
            connection.write_now = socket.write_now
        connection.begin(current)
        await _converse(connection, websocket)


async def _refuse(websocket: WebSocket, code: int, reason: str) -> None:
    """Accept a connection only to say why it is refused: browsers tell nothing else."""
    await websocket.accept()
    await websocket.close(code, reason)


async def _converse(connection: ClientConnection, websocket: WebSocket) -> None:
    """Read and send until either ends."""

    async def read() -> None:
        while (message := await websocket.receive())["type"] == "websocket.receive":
            await connection.on_message(message.get("text"))

    async def send(frame: bytes) -> None:
        await websocket.send_text(frame.decode())

    try:
        await until_one_ends(read(), connection.run(send))
        is_connected = websocket.client_state is WebSocketState.CONNECTED
        if is_connected and connection.closed not in (None, TOO_SLOW):
            await websocket.close(connection.closed)
    finally:
        connection.end()


class ClientConnection(Client):
    """One browser and its messages, in the order in which they come.

    Its page may send a chain of actions without waiting for answers. The first action of a chain
    carries its number. Those after it take the next number, whatever they carry: an attempt that
    changes nothing takes none, and the page cannot know it ahead. They are done only if nothing
    else has happened in the game since, so no move is made on a board that its player has not seen.
    The first one that is rejected breaks the chain: the rest of it is dropped without an answer.

    Args:
        services: the server's parts.
        account: who it is.
        address: where it comes from.
        session: the session that opened it, None for a guest.
    """

    def __init__(
        self, services: Services, account: Account, address: str, session: str | None = None
    ) -> None:
        super().__init__(account.id, session)
        self._services = services
        self._rooms = services.rooms
        self._owner = account
        self._address = address
        self._offences = 0
        self._told_to_wait = 0.0
        self._chain: int | UnsetType = UNSET
        self._broken_chain: int | UnsetType = UNSET
        self._chained: tuple[OnlineGame, int] | None = None  # the game, and its version
        self._later_hint: asyncio.Task[None] | None = None

    def begin(self, current: str | None) -> None:
        """Say who is who, and which game to continue."""
        self._rooms.clients.add(self)
        name = self._owner.name or guest_name(self.account)
        me = schema.Me(name, self._owner.name is None)
        self._reply(schema.HelloMessage(me, current, self._services.hints.specs))

    def end(self) -> None:
        """Leave."""
        if self._later_hint:
            self._later_hint.cancel()
        if self.closed == TOO_SLOW:
            self._services.metrics.slow_readers.inc()
        self._services.battles.leave(self)
        self._rooms.clients.discard(self)
        self._rooms.leave(self)

    async def on_message(self, frame: str | None) -> None:
        """Answer one message; never fails because of what it says."""
        arrived = time.monotonic()
        chain: int | UnsetType = UNSET
        try:
            message = schema.parse_message(frame)
            if isinstance(message, schema.NumberedRequest):
                chain = message.chain
            is_program = self._owner.bot_of is not None
            await self._services.limits.pace(self.account, is_program=is_program)
            if chain is UNSET or chain != self._broken_chain:
                await self._do(message, arrived)
        except ActionRejected as error:
            self._reject(error, frame, chain)
        except PlayerError as error:
            self._reject(ActionRejected("player", str(error)), frame, chain)
        except StorageError as error:
            self._rooms.note_fault(error, "the store failed")
            text = _("{trouble}: try again in a moment.")
            fault = ActionRejected("storage", text.format(trouble=messages.trouble_of(error)))
            self._reject(fault, frame, chain)

    async def _do(self, message: schema.PageMessage, arrived: float) -> None:
        """Do what a message asks for.

        Raises:
            ActionRejected, PlayerError, StorageError: if it cannot be done.
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
                await self._visit(message)

    async def _visit(self, message: schema.PageMessage) -> None:
        """Do what a message asks for besides actions in a game."""
        match message:
            case schema.OpenRequest():
                game = schema.checked_game_id(message.game)
                await self._enter(await self._rooms.find_own(game, self.account))
            case schema.WatchRequest():
                await self._watch(schema.checked_game_id(message.game))
            case schema.LeaveRequest():
                self._rooms.leave(self)
            case schema.BattleRequest():
                await self._services.battles.enter(self, message.battle, message.game)
            case schema.GamesRequest():
                await self._list_games()
            case schema.PingRequest():
                self._reply(schema.PongMessage())

    async def _play(
        self, message: schema.MoveRequest | schema.UndoRequest | schema.RedoRequest, arrived: float
    ) -> None:
        room = await self._my_room()
        room.end_autoplay()
        game, number = room.game, self._number(message, room.game)
        match message:
            case schema.MoveRequest():
                if self._owner.bot_of:
                    self._rooms.keep(room)
                events = game.move(number, Direction.parse(message.direction), arrived)
            case schema.UndoRequest():
                events = game.undo(number)
            case schema.RedoRequest():
                events = game.redo(number)
        self._note_done(message, game)
        room.broadcast(events, self)

    def _reject(
        self, error: ActionRejected, frame: str | None, chain: int | UnsetType = UNSET
    ) -> None:
        self._services.metrics.refused.inc()
        if chain is not UNSET:
            self._broken_chain = chain
        # A client that waits as it was told may be refused as often as it likes.
        now = time.monotonic()
        if error.reason == "malformed" or (error.reason == "rate" and now < self._told_to_wait):
            self._offences += 1
            if self._offences > _MAX_OFFENCES:
                self.close(VIOLATION)
        if error.reason == "rate":
            self._told_to_wait = now + error.wait
        room, kind = self.room, schema.type_of(frame)[:20]
        # What is shown while the game is loaded again may not be in the store.
        state = (
            room.state_for(self.account) if room and room.state is not RoomState.LOADING else None
        )
        message = messages.rejection(error, kind, state, chain)
        if room:
            room.send(lambda: message, self)
        else:
            self._reply(message)

    def _reply(self, message: schema.Answer) -> None:
        self.send(schema.encode(message))

    async def _my_room(self) -> Room:
        """Return the room in which this browser plays, when it is ready for an action."""
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
            ActionRejected: if the game is not as the page expects it (``gap``).
        """
        if action.chain is UNSET:
            return action.number
        if action.chain != self._chain:
            is_expected = game.version == action.number - 1
        else:
            is_expected = self._chained == (game, game.version)
        if not is_expected:
            raise ActionRejected("gap", _("the game has changed since the action before"))
        return game.version + 1

    def _note_done(self, action: schema.NumberedRequest, game: OnlineGame) -> None:
        self._chain, self._chained = action.chain, (game, game.version)

    # What can be asked for

    async def _new(self, message: schema.NewGame) -> None:
        mode = message.mode
        if mode is UNSET:
            mode = BOT if self._owner.bot_of else RANKED
        limits = self._services.limits
        limits.check(new_games=self.account, new_games_from=self._address)
        if mode == DAILY and not await self._rooms.in_thread(self._rooms.games.daily, self.account):
            kind = "known_dailies" if is_known(self._owner) else "new_dailies"
            limits.check(**{kind: self._address})
        room = await self._rooms.create(self, message.rules, mode)
        room.send_state(self)

    async def _enter(self, room: Room) -> None:
        self._rooms.enter(self, room)
        await room.ready()
        room.send_state(self)

    async def _watch(self, game: str) -> None:
        await self._rooms.in_thread(self._rooms.games.check_visible, game, self.account)
        await self._enter(await self._rooms.find(game))

    async def _hint(self, message: schema.HintRequest) -> None:
        room = await self._my_room()
        session = room.game.session
        spec = self._services.hints.checked(message.player, session.rules, session.game.board)
        room.game.check_help()
        if room.game.is_over:
            raise ActionRejected("over", _("the game is over: there is nothing to advise"))
        number = self._number(message, room.game)
        if number <= room.game.version:
            room.send_state(self)
            return
        self._services.limits.check(hints=self.account)
        answers = self._services.hints.advise(spec, session.snapshot())
        hint = await anext(answers)
        assert isinstance(hint, Hint)  # the first answer always is
        room = await self._my_room()
        room.game.show_hint(number, hint)
        self._note_done(message, room.game)
        room.send(partial(messages.hint_message, room.game, hint), self)
        if self._later_hint:
            self._later_hint.cancel()
        if hint.instead_of:
            later = self._send_later_hint(room, hint.instead_of, answers)
            self._later_hint = self._rooms.start(later)

    async def _send_later_hint(
        self, room: Room, spec: str, answers: AsyncIterator[Hint | Compiling]
    ) -> None:
        """Say, after a quick hint, how far the compiler is; then give the hint asked for."""
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
        room, hints = await self._my_room(), self._services.hints
        if message.player is None:
            room.set_autoplay(None)
        else:
            session = room.game.session
            spec = hints.checked(message.player, session.rules, session.game.board)
            delay = message.delay / 1000
            hints.start_autoplay(self._rooms, room, spec, delay, self._address)

    async def _take_offline(self, message: schema.OfflineRequest) -> None:
        """Take over turns that a thread has played in a copy: that would hold up all others."""
        room = await self._my_room()
        room.end_autoplay()
        await room.ready()  # a copy does not learn what of it is written
        limits, game = self._services.limits, room.game
        game.check_offline(message.number)
        limits.check(offline=self._address)
        played = await limits.replaying.do(
            self._address, played_offline, game.tracked.copy(), message.turns
        )
        turns = played.revision + 1 - message.number
        limits.buckets["offline"].owe(self._address, turns * played.game.rules.cells)
        room = await self._my_room()
        if not room.game.leads_where(game):  # it was loaded again
            raise ActionRejected("gap", _("the game has changed since the action before"))
        room.game.take_offline(message.number, played)
        for client in room.clients:
            room.send_state(client)

    async def _list_games(self) -> None:
        online = self._rooms.games.store.online
        games = [
            schema.OpenGameInfo(
                game.id, messages.rules_info(game.rules), game.mode, game.score, game.position,
                game.updated,
            )
            for game in await self._rooms.in_thread(online.open_games, self.account)
        ]  # fmt: skip
        self._reply(schema.GamesMessage(games))
