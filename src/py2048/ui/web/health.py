"""For those who run the server: is it alive, is it ready, what does it do."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from py2048.errors import StorageError
from py2048.ui.web.services import Services


class Health:
    """The endpoints of those who run the server.

    Args:
        services: the server's parts.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

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
        """The store answers too; without it nobody should be sent here."""
        try:
            hub = self._services.hub
            await hub.in_thread(hub.house.store.get_setting, "ready")
        except StorageError as error:
            return JSONResponse({"status": "not ready", "reason": str(error)}, 503)
        return JSONResponse({"status": "ready"})

    async def metrics(self, _request: Request) -> Response:
        """Counters and gauges in the text format of Prometheus."""
        gauges = {"py2048_sockets": float(self._services.limits.sockets.taken)}
        if self._services.is_ready:
            hub = self._services.hub
            gauges["py2048_tables"] = len(hub.places)
            gauges["py2048_writer_backlog"] = hub.writer.backlog
        text = self._services.metrics.text(gauges)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")
