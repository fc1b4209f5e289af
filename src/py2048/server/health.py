"""For those who run the server: health, readiness and metrics."""

from __future__ import annotations

import asyncio
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from py2048.errors import StorageError
from py2048.server.messages import trouble_of
from py2048.server.services import Services

_PAUSE = 1.0
_PATIENCE = 1.5
"""Seconds for the store to answer: whoever asks waits 2 or 3 (see deploy/)."""


class Health:
    """The endpoints of those who run the server.

    Args:
        services: the server's parts.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._checking: asyncio.Future[None] | None = None
        self._checked = 0.0

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/healthz", self.alive),
            Route("/readyz", self.ready),
            Route("/metrics", self.metrics),
        ]

    async def alive(self, _request: Request) -> Response:
        """The process answers."""
        return JSONResponse({"status": "alive"})

    async def ready(self, _request: Request) -> Response:
        """Whether the store can be written; otherwise a proxy should send nobody here."""
        try:
            await self._check()
        except StorageError as error:
            reason = {"reason": error.kind or "other", "message": trouble_of(error)}
            return JSONResponse({"status": "not ready", **reason}, 503)
        return JSONResponse({"status": "ready"})

    async def _check(self) -> None:
        """Write to the store, at most once a second however many ask.

        Raises:
            StorageError: if that fails, or a move could not be written a moment ago.
        """
        rooms = self._services.rooms
        rooms.check_faults()
        now = time.monotonic()
        if self._checking is None or (self._checking.done() and now - self._checked > _PAUSE):
            check = rooms.games.store.settings.check_writable
            self._checking = asyncio.ensure_future(rooms.in_thread(check))
            self._checked = now
        done, _ = await asyncio.wait((self._checking,), timeout=_PATIENCE)
        if not done:
            raise StorageError("the store does not answer", "slow")
        self._checking.result()

    async def metrics(self, _request: Request) -> Response:
        """Counters and gauges in the text format of Prometheus."""
        text = self._services.metrics.text()
        return Response(text, media_type="text/plain; version=0.0.4")
