"""For those who run the server: is it alive, is it ready, what does it do."""

from __future__ import annotations

import asyncio
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
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
        """The store can be read and written; otherwise nobody should be sent here."""
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
        hub = self._services.hub
        hub.check_faults()
        now = time.monotonic()
        if self._checking is None or (self._checking.done() and now - self._checked > _PAUSE):
            self._checking = asyncio.ensure_future(hub.in_thread(hub.house.store.check_writable))
            self._checked = now
        done, _ = await asyncio.wait((self._checking,), timeout=_PATIENCE)
        if not done:
            raise StorageError("the store does not answer", "slow")
        self._checking.result()

    async def metrics(self, _request: Request) -> Response:
        """Counters and gauges in the text format of Prometheus."""
        gauges = {"py2048_sockets": float(self._services.limits.sockets.taken)}
        if self._services.is_ready:
            hub = self._services.hub
            gauges["py2048_tables"] = len(hub.places)
            gauges["py2048_writer_backlog"] = hub.writer.backlog
        text = self._services.metrics.text(gauges)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")
