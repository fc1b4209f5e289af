"""The WebSocket endpoint: who comes in, and the two ways of a connection."""

from __future__ import annotations

import asyncio
import logging

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from py2048.errors import StorageError
from py2048.ui.web.conversation import Conversation
from py2048.ui.web.cookies import Cookies
from py2048.ui.web.outbox import Outbox
from py2048.ui.web.security import address_of
from py2048.ui.web.services import Services

_log = logging.getLogger("py2048.web")
CROWDED = 1013


class SocketEndpoint:
    """The ASGI application at ``/ws``.

    Args:
        services: the server's parts.
        cookies: tells who comes.
    """

    def __init__(self, services: Services, cookies: Cookies) -> None:
        self._services = services
        self._cookies = cookies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Talk with one browser until it goes."""
        await receive()  # websocket.connect
        headers: list[tuple[bytes, bytes]] = []
        found = self._cookies.read(Headers(scope=scope).get("cookie"))
        if found is None:
            found = self._cookies.new()
            cookie = self._cookies.write(found.account, found.generation)
            headers.append((b"set-cookie", cookie.encode()))
        address = address_of(scope)
        with self._services.limits.sockets.held(address) as is_free:
            await send({"type": "websocket.accept", "headers": headers})
            if not is_free:
                await send({"type": "websocket.close", "code": CROWDED, "reason": "full"})
                return
            try:
                hub = await self._services.ready()
                account, current = await hub.in_thread(hub.house.greet, found.account)
            except StorageError:
                await send({"type": "websocket.close", "code": 1012, "reason": "no store"})
                return
            if account.generation != found.generation:
                await send({"type": "websocket.close", "code": 1008, "reason": "sign in again"})
                return
            outbox = Outbox()
            conversation = Conversation(self._services, account, address, outbox)
            conversation.begin(current)
            await self._talk(conversation, outbox, receive, send)

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


async def _read(conversation: Conversation, receive: Receive) -> None:
    while (message := await receive())["type"] == "websocket.receive":
        await conversation.hear(message.get("text"))
