"""The WebSocket endpoint: who comes in, and the two ways of a connection."""

from __future__ import annotations

import asyncio
import logging

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from py2048.errors import StorageError
from py2048.server.conversation import Conversation
from py2048.server.identity import Identity
from py2048.server.outbox import Outbox
from py2048.server.security import address_of
from py2048.server.services import Services

_log = logging.getLogger("py2048.web")
RESTART, CROWDED, SIGN_IN = 1012, 1013, 1008
_WATCH = 15.0
"""After so many seconds a session that ended in another process has no connection left."""


class SocketEndpoint:
    """The ASGI application at ``/ws``.

    Args:
        services: the server's parts.
        identity: tells who comes.
    """

    def __init__(self, services: Services, identity: Identity) -> None:
        self._services = services
        self._identity = identity
        self._watch: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Talk with one browser until it goes."""
        await receive()  # websocket.connect
        address = address_of(scope)
        with self._services.limits.sockets.held(address) as is_free:
            if not is_free:
                await _close(send, CROWDED, "full")
                return
            try:
                hub = await self._services.ready()
                visitor = await self._identity.arrival(Headers(scope=scope))
                if visitor is None:
                    await _close(send, SIGN_IN, "sign in again")
                    return
                account, current = await hub.in_thread(hub.house.greet, visitor.account)
            except StorageError:
                await _close(send, RESTART, "no store")
                return
            cookies = [(b"set-cookie", cookie.encode()) for cookie in visitor.cookies]
            await send({"type": "websocket.accept", "headers": cookies})
            outbox = Outbox()
            conversation = Conversation(self._services, account, address, outbox)
            conversation.begin(current)
            self._identity.enter(outbox, visitor)
            if self._watch is None:
                self._watch = hub.start(self._dismiss_ended())
            try:
                await self._talk(conversation, outbox, receive, send)
            finally:
                self._identity.leave(outbox)

    async def _dismiss_ended(self) -> None:
        """Close connections whose sessions ended in another process, for ever."""
        while True:
            await asyncio.sleep(_WATCH)
            try:
                await self._identity.dismiss_ended()
            except StorageError as error:
                _log.warning("sessions cannot be read", extra={"fault": str(error)})

    async def _talk(
        self, conversation: Conversation, outbox: Outbox, receive: Receive, send: Send
    ) -> None:
        async def forward(frame: str) -> None:
            await send({"type": "websocket.send", "text": frame})

        reading = asyncio.create_task(_read(conversation, receive))
        sending = asyncio.create_task(outbox.run(forward))
        overflow = asyncio.create_task(outbox.overflowed.wait())
        tasks = (reading, sending, overflow)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if sending.done() and not reading.done() and sending.exception() is None:
                await send({"type": "websocket.close", "code": sending.result()})
        finally:
            conversation.end()
            self._services.metrics.slow_readers += outbox.overflowed.is_set()
            for task in tasks:
                task.cancel()
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(result, Exception) and not isinstance(result, OSError):
                    _log.error("a connection failed", exc_info=result)


async def _close(send: Send, code: int, reason: str) -> None:
    """Accept a connection only to say why it is not wanted: browsers tell nothing else."""
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.close", "code": code, "reason": reason})


async def _read(conversation: Conversation, receive: Receive) -> None:
    while (message := await receive())["type"] == "websocket.receive":
        await conversation.hear(message.get("text"))
