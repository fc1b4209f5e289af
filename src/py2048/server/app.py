"""The ASGI application: every route of the server, behind the security middleware."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from py2048.errors import GameOverError, Py2048Error, StorageError
from py2048.server import schema
from py2048.server.api import api
from py2048.server.http.logs import shown_path
from py2048.server.http.middleware import SecurityMiddleware
from py2048.server.play.messages import trouble_of
from py2048.server.services import Services
from py2048.server.settings import Settings
from py2048.server.site import accounts, battles, cards, daily, games, leaderboards, pages, profiles
from py2048.server.site.auth import remember, user_of
from py2048.server.websocket import WebSocketEndpoint

_log = logging.getLogger("py2048.web")
_CHECK_S = 1.0
"""Between two writes to the store that only show whether it can be written."""
_CHECK_TIMEOUT_S = 1.5
"""For the store to answer: proxies wait 2 or 3 seconds (see deploy/)."""


def make_app(settings: Settings) -> ASGIApp:
    """Return the server as an ASGI application; it must be made within an event loop.

    Args:
        settings: how the server is run.
    """
    services = Services(settings)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        counting = asyncio.create_task(services.metrics.keep_current())
        if parent := multiprocessing.parent_process():  # no worker serves on without it
            loop = asyncio.get_running_loop()
            loop.add_reader(parent.sentinel, os.kill, os.getpid(), signal.SIGTERM)
        async with services.running():
            yield
        counting.cancel()

    app = Starlette(
        routes=[
            *pages.ROUTES,
            *games.ROUTES,
            *leaderboards.ROUTES,
            *daily.ROUTES,
            *profiles.ROUTES,
            *accounts.ROUTES,
            *cards.ROUTES,
            *battles.ROUTES,
            *api.ROUTES,
            *Health(services).routes(),
            WebSocketRoute("/ws", WebSocketEndpoint(services)),
        ],
        exception_handlers={HTTPException: _explain, Py2048Error: _explain, Exception: _explain},
        lifespan=lifespan,
    )
    app.state.services = services
    return SecurityMiddleware(app, services)


async def _explain(request: Request, error: Exception) -> Response:
    """Return an answer that says what went wrong, and not more than is good."""
    is_api = request.url.path.startswith("/api/")
    message = str(error)
    match error:
        case HTTPException():
            status, message = error.status_code, error.detail
        case schema.ActionRejected():
            is_asked = is_api or request.method == "POST"
            status = api.STATUS.get(error.reason, 422 if is_asked else 404)
        case StorageError():
            _log.error("the store failed", extra={"fault": message})
            status, message = 503, f"{trouble_of(error)}. Try again soon."
        case GameOverError():
            status = 409
        case Py2048Error() if isinstance(error, ValueError):  # no rules, no board, no record
            status = 422
        case _:
            _log.error(
                "a request failed", exc_info=error, extra={"path": shown_path(request.url.path)}
            )
            status, message = 500, "Something went wrong here. It is written down."
    if is_api:
        rejected = error if isinstance(error, schema.ActionRejected) else None
        answer, headers = schema.error_answer(
            message, *((rejected.reason, rejected.wait) if rejected else ())
        )
        headers |= getattr(error, "headers", None) or {}
        return Response(answer, status, headers, "application/json")
    user = await user_of(request, wait=False)
    sentence = f"{message[:1].upper()}{message[1:].removesuffix('.')}."
    response = pages.render(request, user, "error.html", status, message=sentence)
    remember(request, response)
    return response


class Health:
    """For those who run the server: health, readiness and metrics.

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
        fault = self._services.bus_fault
        if fault is None:
            return JSONResponse({"status": "ready"})
        # Play goes on, and every other process has the same fault: nobody is sent elsewhere.
        late = f"{fault} cannot be heard: watchers on other processes see moves up to 2 s late"
        return JSONResponse({"status": "ready", "degraded": fault, "message": late})

    async def _check(self) -> None:
        """Write to the store, at most once a second however many ask.

        Raises:
            StorageError: if that fails, or a move could not be written a moment ago.
        """
        rooms = self._services.rooms
        rooms.check_faults()
        now = time.monotonic()
        if self._checking is None or (self._checking.done() and now - self._checked > _CHECK_S):
            check = rooms.games.store.settings.check_writable
            self._checking = asyncio.ensure_future(rooms.in_thread(check))
            self._checked = now
        done, _ = await asyncio.wait((self._checking,), timeout=_CHECK_TIMEOUT_S)
        if not done:
            raise StorageError("the store does not answer", "slow")
        self._checking.result()

    async def metrics(self, _request: Request) -> Response:
        """Counters and gauges in the text format of Prometheus, of all workers."""
        return Response(self._services.metrics.text(), media_type="text/plain; version=0.0.4")
