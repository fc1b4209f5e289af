"""Builds the parts of a server, wires them together and makes the ASGI application."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from py2048.app.storage.values import utc_text
from py2048.core.errors import GameOverError, Py2048Error, StorageError
from py2048.core.language import _
from py2048.server import schema
from py2048.server.api.api import STATUS, Api
from py2048.server.api.hints import HintService
from py2048.server.cache import TimedCache
from py2048.server.http.limits import RateLimits
from py2048.server.http.middleware import SecurityMiddleware, refusal
from py2048.server.http.monitoring import WORKERS_FOLDER, Metrics, redacted_path
from py2048.server.play import battles
from py2048.server.play.backend import Backend
from py2048.server.play.battles import BattleFeeds
from py2048.server.play.messages import trouble_of
from py2048.server.play.rooms import Rooms
from py2048.server.settings import ServerSettings
from py2048.server.site import pages
from py2048.server.site.accounts import AccountPages
from py2048.server.site.auth import Authenticator, Cookies, UserRequest
from py2048.server.site.challenges import ChallengePages
from py2048.server.site.games import GamePages
from py2048.server.site.pages import CommonPages
from py2048.server.site.reviews import MAX_KEPT, Reviewer, ReviewQueue, ReviewRequests
from py2048.server.site.scores import LEADERBOARD_TTL_S, PLOTS_TTL_S, ScorePages
from py2048.server.websocket import PlayEndpoint

_log = logging.getLogger("py2048.web")

MAX_SESSION_AGE = timedelta(days=400)  # since its last use


class Server:
    """The parts of a server. Must be created within an event loop.

    Args:
        settings: How the server is run.
        reviewer: Replaces the review of a game, for tests.
    """

    def __init__(self, settings: ServerSettings, reviewer: Reviewer | None = None) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.limits = RateLimits(settings, self.metrics)
        self.backend = Backend(settings, self.metrics)
        cookies = Cookies(settings.key, secure=settings.is_secure)
        self.auth = Authenticator(self.backend, cookies)
        self.hints = HintService(settings.players)
        review_workers = settings.reviews if _claim_reviewing() else 0
        self.reviews = ReviewQueue(review_workers, self.metrics, reviewer)
        self.review_requests = ReviewRequests(
            self.backend, self.limits, self.reviews, is_enabled=settings.reviews > 0
        )
        self.socket = PlayEndpoint(self.backend, self.auth, self.limits, self.hints, BattleFeeds())
        gauge, sockets = self.metrics.gauge, self.limits.sockets
        gauge("py2048_sockets", "Connected players", lambda: sockets.taken)
        gauge("py2048_sockets_limit", "Most connected players", lambda: settings.sockets)
        gauge("py2048_review_backlog", "Reviews to be computed", lambda: self.reviews.backlog)

    def asgi(self) -> ASGIApp:
        """Return the ASGI application with all routes, behind the security middleware."""
        auth, backend, limits, origin = self.auth, self.backend, self.limits, self.settings.origin
        leaderboards, plots = TimedCache(LEADERBOARD_TTL_S), TimedCache(PLOTS_TTL_S)
        routes = [
            *CommonPages(auth, self.settings.players).routes(),
            *GamePages(auth, backend, limits, self.review_requests, origin).routes(),
            *ScorePages(auth, backend, limits, leaderboards, plots).routes(),
            *ChallengePages(auth, backend, limits, leaderboards, origin).routes(),
            *AccountPages(auth, backend, limits, leaderboards).routes(),
            *Api(auth, backend, limits, self.hints, self.review_requests).routes(),
            Route("/healthz", alive),
            Route("/readyz", self.ready),
            Route("/metrics", self.show_metrics),
            WebSocketRoute("/ws", self.socket.serve),
        ]
        kinds = HTTPException, Py2048Error, Exception
        app = Starlette(
            routes=routes,
            exception_handlers=dict.fromkeys(kinds, self.explain),
            lifespan=self._lifespan,
        )
        return SecurityMiddleware(app, self.settings, limits, self.metrics, auth.is_known_token)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        if parent := multiprocessing.parent_process():  # a worker must not outlive it
            loop = asyncio.get_running_loop()
            loop.add_reader(parent.sentinel, os.kill, os.getpid(), signal.SIGTERM)
        async with self.running():
            yield

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start the background tasks; stop everything in the right order at the end."""
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
        games, store = rooms.games, rooms.games.store
        while True:
            for step in (
                games.finalize_orphans,
                partial(games.sweep, frozenset(rooms.open)),
                partial(battles.maintain, games),
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
        is_api = request.url.path.startswith("/api/")
        message = str(error)
        match error:
            case HTTPException():
                status, message = error.status_code, error.detail
            case schema.ActionRejected():
                is_action = is_api or request.method == "POST"
                status = STATUS.get(error.reason, 422 if is_action else 404)
            case StorageError():
                _log.error("the store failed", extra={"fault": message})
                status, message = 503, _("{fault}. Try again soon.").format(fault=trouble_of(error))
            case GameOverError():
                status = 409
            case Py2048Error() if isinstance(error, ValueError):  # invalid rules, board or record
                status = 422
            case _:
                path = redacted_path(request.url.path)
                _log.error("a request failed", exc_info=error, extra={"path": path})
                status, message = (
                    500,
                    _("Something went wrong on the server. The error has been logged."),
                )
        if is_api:
            rejected = error if isinstance(error, schema.ActionRejected) else None
            why = (rejected.reason, rejected.wait_s) if rejected else ("", 0.0)
            return refusal(status, message, *why, **(getattr(error, "headers", None) or {}))
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
        # Games can still be played, and the other processes have the same problem.
        fault = "PostgreSQL's notices"
        late = f"{fault} cannot be heard: watchers on other processes see moves up to 2 s late"
        return JSONResponse({"status": "ready", "degraded": fault, "message": late})

    async def show_metrics(self, _request: Request) -> Response:
        """Metrics of all workers in the Prometheus text format."""
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4")


async def alive(_request: Request) -> Response:
    """Liveness: the process answers."""
    return JSONResponse({"status": "alive"})


def make_app(settings: ServerSettings) -> ASGIApp:
    """Return a server as an ASGI application. Must be called within an event loop."""
    return Server(settings).asgi()


def _claim_reviewing() -> bool:
    """Whether this process computes reviews; with several workers, only one does at a time."""
    folder = os.environ.get(WORKERS_FOLDER)
    if not folder:
        return True
    lock = os.open(Path(folder) / "reviewer", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    return True
