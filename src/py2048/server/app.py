"""Create the parts of a server and the ASGI application."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from py2048.app.storage.values import utc_text
from py2048.core.errors import GameOverError, Py2048Error, StorageError
from py2048.core.language import _
from py2048.server.api.api import STATUS, Api, api_routes
from py2048.server.api.hints import HintService
from py2048.server.cache import TimedCache
from py2048.server.http.limits import RateLimits
from py2048.server.http.middleware import SecurityMiddleware, refusal
from py2048.server.http.monitoring import Metrics, redacted_path
from py2048.server.play import battles
from py2048.server.play.backend import Backend
from py2048.server.play.battles import BattleFeeds
from py2048.server.play.messages import trouble_of
from py2048.server.play.rooms import Rooms
from py2048.server.schema import ActionRejected
from py2048.server.settings import ServerSettings
from py2048.server.site import accounts, challenges, games, pages, scores
from py2048.server.site.auth import Authenticator, Cookies, UserRequest
from py2048.server.site.reviews import MAX_KEPT, Reviewer, ReviewQueue
from py2048.server.websocket import PlayEndpoint

_log = logging.getLogger("py2048.web")

MAX_SESSION_AGE = timedelta(days=400)  # since the last use of the session


class Server:
    """The parts of a server. Must be created within an event loop.

    Args:
        settings: How the server is run.
        reviewer: Replacement for the function that reviews a game, for tests.
    """

    def __init__(self, settings: ServerSettings, reviewer: Reviewer | None = None) -> None:
        self.settings = settings
        self.metrics = metrics = Metrics()
        self.limits = limits = RateLimits(settings, metrics)
        self.backend = Backend(settings, metrics)
        self.auth = Authenticator(self.backend, Cookies(settings.key, secure=settings.is_secure))
        self.hints = HintService(settings.players)
        self.reviews = ReviewQueue(settings, self.backend, limits, metrics, reviewer)
        self.socket = PlayEndpoint(self.backend, self.auth, limits, self.hints, BattleFeeds())
        gauge = metrics.gauge
        gauge("py2048_sockets", "Connected players", lambda: limits.sockets.taken)
        gauge("py2048_sockets_limit", "Most connected players", lambda: settings.sockets)
        gauge("py2048_review_backlog", "Reviews to be computed", lambda: self.reviews.backlog)

    def asgi(self) -> ASGIApp:
        """Return the ASGI application with all routes, behind the security middleware."""
        caches = TimedCache(scores.LEADERBOARD_TTL_S), TimedCache(scores.PLOTS_TTL_S)
        parts = self.settings, self.auth, self.backend, self.limits, self.reviews, *caches
        api = Api(*parts, self.hints)
        site_modules = pages, games, scores, challenges, accounts
        routes = [
            *(page.route(api) for module in site_modules for page in module.PAGES),
            *api_routes(api),
            Route("/static/{path:path}", pages.show_file),
            Route("/healthz", alive),
            Route("/readyz", self.ready),
            Route("/metrics", self.show_metrics),
            WebSocketRoute("/ws", self.socket.serve),
        ]
        handlers = dict.fromkeys((HTTPException, Py2048Error, Exception), self.explain)
        app = Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)
        is_known_token = self.auth.is_known_token
        return SecurityMiddleware(app, self.settings, self.limits, self.metrics, is_known_token)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        if parent := multiprocessing.parent_process():  # a worker must not outlive it
            loop = asyncio.get_running_loop()
            loop.add_reader(parent.sentinel, os.kill, os.getpid(), signal.SIGTERM)
        async with self.running():
            yield

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the background tasks until the block ends, then close the store."""
        tasks = [asyncio.create_task(self._run()), asyncio.create_task(self.metrics.keep_current())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(self.reviews.close)
            await self.backend.close()

    async def _run(self) -> None:
        rooms = await self.backend.open()
        self.reviews.start(rooms.games.store)
        await asyncio.gather(
            rooms.follow_others(), self._maintain(rooms), self.auth.watch_sessions()
        )

    async def _maintain(self, rooms: Rooms) -> None:
        """Periodically finish orphaned games and delete expired rows."""
        service, store = rooms.games, rooms.games.store
        while True:
            for step in (
                service.finalize_orphans,
                partial(service.sweep, frozenset(rooms.open)),
                partial(battles.maintain, service),
                partial(store.sessions.forget, utc_text(datetime.now(UTC) - MAX_SESSION_AGE)),
                partial(store.reviews.forget, MAX_KEPT),
            ):
                try:
                    await rooms.in_thread(step)
                except StorageError as error:
                    rooms.note_fault(error, "maintenance failed")
                except Exception:  # noqa: BLE001 - the other steps must still run
                    _log.exception("maintenance failed")
            await asyncio.sleep(self.settings.sweep_s)

    async def explain(self, request: Request, error: Exception) -> Response:
        """Turn an exception into an error response without internal details."""
        path = request.url.path
        is_api = path.startswith("/api/")
        status, message = _status_of(error, is_action=is_api or request.method == "POST")
        if status == 500:
            _log.error("a request failed", exc_info=error, extra={"path": redacted_path(path)})
        if is_api:
            rejected = error if isinstance(error, ActionRejected) else ActionRejected("", "")
            headers = getattr(error, "headers", None) or {}
            return refusal(status, message, rejected.reason, rejected.wait_s, **headers)
        identified = UserRequest(request.scope)
        await self.auth.identify(identified, wait=False)
        sentence = pages.sentence(message)
        response = pages.render(identified, "error.html", status, message=sentence)
        identified.set_cookies(response)
        return response

    # Monitoring endpoints

    async def ready(self, _request: Request) -> Response:
        """Readiness: 503 tells the proxy to send requests to another process."""
        try:
            await self.backend.check_store()
        except StorageError as error:
            reason = {"reason": error.kind or "other", "message": trouble_of(error)}
            return JSONResponse({"status": "not ready", **reason}, 503)
        if not self.backend.is_deaf:
            return JSONResponse({"status": "ready"})
        # Not a reason for 503: games can still be played, and all processes share the problem.
        fault = "PostgreSQL's notices"
        late = f"{fault} cannot be heard: watchers on other processes see moves up to 2 s late"
        return JSONResponse({"status": "ready", "degraded": fault, "message": late})

    async def show_metrics(self, _request: Request) -> Response:
        """Metrics of all workers in the Prometheus text format."""
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4")


def _status_of(error: Exception, *, is_action: bool) -> tuple[int, str]:
    """Return the HTTP status and the message for an exception."""
    match error:
        case HTTPException():
            return error.status_code, error.detail
        case ActionRejected():
            return STATUS.get(error.reason, 422 if is_action else 404), str(error)
        case StorageError():
            _log.error("the store failed", extra={"fault": str(error)})
            return 503, _("{fault}. Try again soon.").format(fault=trouble_of(error))
        case GameOverError():
            return 409, str(error)
        case Py2048Error() if isinstance(error, ValueError):  # invalid rules, board or record
            return 422, str(error)
    return 500, _("Something went wrong on the server. The error has been logged.")


async def alive(_request: Request) -> Response:
    """Liveness: the process answers."""
    return JSONResponse({"status": "alive"})


def make_app(settings: ServerSettings) -> ASGIApp:
    """Create the ASGI application of a server. Must be called within an event loop."""
    return Server(settings).asgi()
