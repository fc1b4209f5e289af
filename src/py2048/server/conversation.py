"""A conversation: what one browser asks for over its WebSocket, and what comes of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from py2048.errors import PlayerError, StorageError
from py2048.server import autoplay, messages, requests
from py2048.server.daily import check_shown
from py2048.server.house import guest_name
from py2048.server.outbox import Outbox
from py2048.server.places import Place, Seat
from py2048.server.services import Services
from py2048.server.table import BOT, RANKED, Action, RefusedError
from py2048.session import Hint
from py2048.storage import Account

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling

_log = logging.getLogger("py2048.web")
_MOST_OFFENCES = 50
"""After so many malformed or hasty messages the connection is closed."""

VIOLATION = 1008


class Conversation:
    """One browser and its requests, in the order in which they come.

    Args:
        services: the server's parts.
        account: who it is.
        address: where it comes from.
        outbox: the way back.
    """

    def __init__(self, services: Services, account: Account, address: str, outbox: Outbox) -> None:
        self._services = services
        self._hub = services.hub
        self._account = account
        self._address = address
        self._outbox = outbox
        self._seat = Seat(account.id, outbox)
        self._offences = 0
        self._following: asyncio.Task[None] | None = None

    def begin(self, current: str | None) -> None:
        """Say who is who, and which game to go on with."""
        self._hub.seats.add(self._seat)
        name = self._account.name or guest_name(self._account.id)
        hello = {
            "type": "hello",
            "me": {"name": name, "is_guest": self._account.name is None},
            "current": current,
            "players": list(self._services.advisers.specs),
        }
        self._outbox.post(messages.encode(hello))

    def end(self) -> None:
        """Leave the table."""
        if self._following:
            self._following.cancel()
        self._hub.seats.discard(self._seat)
        self._hub.leave(self._seat)

    async def hear(self, frame: str | None) -> None:
        """Answer one message; never fails because of what it says."""
        kind = ""
        try:
            message = requests.parse(frame)
            kind = message["type"]
            handler = _HANDLERS.get(kind)
            if handler is None:
                raise requests.malformed(f"no message has the type {kind[:20]!r}")
            self._pace()
            await handler(self, message)
        except RefusedError as error:
            self._refuse(error, kind)
        except PlayerError as error:
            self._refuse(RefusedError("player", str(error)), kind)
        except StorageError as error:
            self._hub.note_fault(error, "the store failed")
            text = f"{messages.trouble_of(error)}: try again in a moment."
            self._refuse(RefusedError("storage", text), kind)

    def _pace(self) -> None:
        limits = self._services.limits
        wait = limits.moves.take(self._account.id) or limits.messages.take(self._address)
        if wait:
            self._hub.metrics.limited += 1
            raise _TooFastError(wait)

    def _refuse(self, error: RefusedError, of: str) -> None:
        self._hub.metrics.refused += 1
        if error.reason in ("malformed", "rate"):
            self._offences += 1
            if self._offences > _MOST_OFFENCES:
                self._outbox.close(VIOLATION)
        more = {"retry_ms": round(error.wait * 1000)} if isinstance(error, _TooFastError) else {}
        place = self._seat.place
        # What is on the table while it is read again may not be on the disk.
        state = place.state_for(self._seat) if place and not place.is_reloading else None
        frame = messages.encode(messages.refused_message(error, of[:20], state, **more))
        if place:
            place.post(frame, self._seat)
        else:
            self._outbox.post(frame)

    # What can be asked for

    async def _new(self, message: requests.Json) -> None:
        rules = requests.text(message, "rules", "classic")
        mode = requests.text(message, "mode", BOT if self._account.bot_of else RANKED)
        self._services.limits.check_deal(self._account.id, self._address)
        place = await self._hub.deal(self._seat, rules, mode)
        place.post_state(self._seat)

    async def _open(self, message: requests.Json) -> None:
        place = await self._hub.find(requests.game_id_of(message))
        if place.table.round.owner != self._account.id:
            self._hub.release(place)
            raise RefusedError("not_yours", "this is somebody else's game: you may watch it")
        self._hub.sit(self._seat, place)
        await place.ready()
        place.post_state(self._seat)

    async def _watch(self, message: requests.Json) -> None:
        game = requests.game_id_of(message)
        await self._hub.in_thread(check_shown, self._hub.house.store, game, self._account.id)
        place = await self._hub.open(self._seat, game)
        await place.ready()
        place.post_state(self._seat)

    async def _leave(self, _message: requests.Json) -> None:
        self._hub.leave(self._seat)

    async def _move(self, message: requests.Json) -> None:
        number, direction = requests.number_of(message), requests.direction_of(message)
        place = await self._my_place()
        autoplay.stop(place)
        place.tell(place.table.move(number, direction), self._seat)

    async def _undo(self, message: requests.Json) -> None:
        number, place = requests.number_of(message), await self._my_place()
        autoplay.stop(place)
        place.tell(place.table.undo(number), self._seat)

    async def _redo(self, message: requests.Json) -> None:
        number, place = requests.number_of(message), await self._my_place()
        autoplay.stop(place)
        place.tell(place.table.redo(number), self._seat)

    async def _hint(self, message: requests.Json) -> None:
        number, place = requests.number_of(message), await self._my_place()
        spec = self._services.advisers.checked(requests.spec_of(message))
        place.table.check_help()
        if place.table.is_over:
            raise RefusedError("over", "the game is over: there is nothing to advise")
        if number <= place.table.version:
            place.post_state(self._seat)
            return
        self._services.limits.check_thought(self._account.id)
        answers = self._services.advisers.advise(spec, place.table.session.snapshot())
        hint = await anext(answers)
        assert isinstance(hint, Hint)  # the first answer always is
        place = await self._my_place()
        place.table.show_hint(number, hint)
        place.post(messages.encode(messages.hint_message(place.table, hint)), self._seat)
        place.tell(Action(place.table.version, ()))
        if self._following:
            self._following.cancel()
        if hint.instead_of:
            self._following = self._hub.start(self._follow(place, hint.instead_of, answers))

    async def _follow(
        self, place: Place, spec: str, answers: AsyncIterator[Hint | Compiling]
    ) -> None:
        """After a quick hint, say how far the compiler is; then give the hint asked for."""
        version = place.table.version
        try:
            async for answer in answers:
                if place.table.version != version or self._seat.place is not place:
                    return
                if isinstance(answer, Hint):
                    message = messages.hint_message(place.table, answer)
                else:
                    message = messages.compiling_message(place.table, spec, answer)
                place.post(messages.encode(message), self._seat)
        except (RefusedError, PlayerError) as error:
            _log.info("no hint after the quick one", extra={"fault": str(error)})

    async def _autoplay(self, message: requests.Json) -> None:
        place = await self._my_place()
        if message.get("player") is None:
            autoplay.stop(place)
            return
        spec = self._services.advisers.checked(requests.spec_of(message))
        autoplay.start(self._services, place, spec, requests.delay_of(message))

    async def _games(self, _message: requests.Json) -> None:
        rows = await self._hub.in_thread(self._hub.house.open_games, self._account.id)
        games = [
            {
                "game": row.id,
                "rules": messages.rules_value(row.rules),
                "mode": row.mode,
                "score": row.score,
                "ply": row.position,
                "updated": row.updated,
            }
            for row in rows
        ]
        self._outbox.post(messages.encode({"type": "games", "games": games}))

    async def _ping(self, _message: requests.Json) -> None:
        self._outbox.post('{"type":"pong"}')

    async def _my_place(self) -> Place:
        """Return the table at which this browser plays, when it is ready for an action."""
        place = self._seat.place
        if place is None:
            raise RefusedError("no_game", "no game is on the table: open one")
        if place.table.round.owner != self._account.id:
            raise RefusedError("not_yours", "this is somebody else's game: you may watch it")
        if place.is_reloading:
            await place.ready()
        return place


class _TooFastError(RefusedError):
    """A message that comes too soon after others."""

    def __init__(self, wait: float) -> None:
        super().__init__("rate", "too fast: wait a moment")
        self.wait = wait


_Handler = Callable[[Conversation, requests.Json], Awaitable[None]]
_HANDLERS: dict[str, _Handler] = {
    "new": Conversation._new,
    "open": Conversation._open,
    "watch": Conversation._watch,
    "leave": Conversation._leave,
    "move": Conversation._move,
    "undo": Conversation._undo,
    "redo": Conversation._redo,
    "hint": Conversation._hint,
    "autoplay": Conversation._autoplay,
    "games": Conversation._games,
    "ping": Conversation._ping,
}
