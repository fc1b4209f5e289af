"""Create the parts of a server, and its ASGI application."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache, partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from py2048.app.storage.values import utc_text
from py2048.core.errors import GameOverError, Py2048Error, StorageError
from py2048.core.installation import install_line
from py2048.core.language import _
from py2048.players.ntuple.weights import shipped_files, shipped_folders
from py2048.server.admission import WORKERS, Caller
from py2048.server.api.api import STATUS, Api, api_routes
from py2048.server.bounds import MAX_REVIEWS
from py2048.server.http.middleware import SOCKET_PATH, SecurityMiddleware, refusal
from py2048.server.http.monitoring import redacted_path
from py2048.server.play import battles
from py2048.server.play.messages import trouble_of
from py2048.server.play.rooms import Rooms
from py2048.server.schema import ActionRejected
from py2048.server.site import accounts, challenges, games, pages, scores
from py2048.server.site.auth import UserRequest
from py2048.server.websocket import play

_log = logging.getLogger("py2048.web")

MAX_SESSION_AGE = timedelta(days=400)  # Unused login sessions are deleted after this time.


class Server(Api):
    """A server: its parts, its routes and its background tasks."""

    def asgi(self) -> ASGIApp:
        """Return the ASGI application with all routes, behind the security middleware."""
        site_modules = pages, games, scores, challenges, accounts
        routes = [
            *(page.route(self) for module in site_modules for page in module.PAGES),
            *api_routes(self),
            Route("/static/{path:path}", pages.assets().file),
            Route("/healthz", alive),
            Route("/readyz", self.ready),
            Route("/metrics", self.show_metrics),
            Route("/{path:path}/", without_slash),
        ]
        handlers = dict.fromkeys((HTTPException, Py2048Error, Exception), self.explain)
        app = Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)
        app.router.redirect_slashes = False

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "websocket" and scope["path"] == SOCKET_PATH:
                # Bypass Starlette, whose middleware would use memory as long as the connection is
                # open.
                await play(self, WebSocket(scope, receive, send))
            else:
                await app(scope, receive, send)

        is_known_token = self.auth.is_known_token
        return SecurityMiddleware(serve, self.settings, self.limits, self.metrics, is_known_token)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        if parent := multiprocessing.parent_process():  # a worker must not outlive its parent
            loop = asyncio.get_running_loop()
            loop.add_reader(parent.sentinel, os.kill, os.getpid(), signal.SIGTERM)
        async with self.running():
            yield

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the background tasks within the block, then close the store."""
        tasks = [asyncio.create_task(self._run()), asyncio.create_task(self.metrics.keep_current())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.admission.close()
            await asyncio.to_thread(self.reviews.close)
            await self.backend.close()

    async def _run(self) -> None:
        if names := strong_networks():
            _log.info("strong networks", extra={"networks": names})
        else:
            advice = {"install": install_line("strong")}
            _log.warning("no strong networks: hints are weaker", extra=advice)
        rooms = await self.backend.open()
        self.reviews.start(rooms.games.store)
        await asyncio.gather(
            rooms.follow_others(),
            self._maintain(rooms),
            self.auth.watch_sessions(),
            self.hints.prepare(),
            *map(self._start_worker, range(WORKERS)),
        )

    async def _start_worker(self, number: int) -> None:
        """Start a worker process in advance, so that the first visitors need not wait for it."""
        with suppress(Py2048Error):
            await self.read("list", Caller(f"start {number}", ""), pages.load_templates)

    async def _maintain(self, rooms: Rooms) -> None:
        """Periodically finish orphaned games, and delete expired rows of the store."""
        service, store = rooms.games, rooms.games.store
        while True:
            for step in (
                service.finalize_orphans,
                partial(service.sweep, frozenset(rooms.open)),
                partial(battles.maintain, service),
                partial(store.sessions.forget, utc_text(datetime.now(UTC) - MAX_SESSION_AGE)),
                partial(store.reviews.forget, MAX_REVIEWS),
            ):
                try:
                    await asyncio.to_thread(step)
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
        if "user" not in request.scope:
            await self.auth.identify(identified, wait=False)
        sentence = pages.sentence(message)
        response = pages.render(identified, "error.html", status, message=sentence)
        identified.set_cookies(response)
        return response

    # Monitoring endpoints

    async def ready(self, _request: Request) -> Response:
        """Report whether the process is ready. Status 503 makes the proxy use another process."""
        try:
            await self.backend.check_store()
        except StorageError as error:
            reason = {"reason": error.kind or "other", "message": trouble_of(error)}
            return JSONResponse({"status": "not ready", **reason}, 503)
        facts: dict[str, object] = {"status": "ready", "networks": strong_networks()}
        if self.backend.is_deaf:
            # A process that receives no notices can still serve games. Requests must not go to
            # other processes instead, because they would not receive notices either.
            fault = "PostgreSQL's notices"
            late = f"{fault} cannot be heard: watchers on other processes see moves up to 2 s late"
            facts |= {"degraded": fault, "message": late}
        return JSONResponse(facts)

    async def show_metrics(self, _request: Request) -> Response:
        """Return the metrics of all workers, in the Prometheus text format."""
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
    """Report that the process responds."""
    return JSONResponse({"status": "alive"})


@cache
def strong_networks() -> list[str]:
    """Return the names of the strong n-tuple networks that are installed."""
    others = shipped_folders()[1:]
    return [path.stem for path in shipped_files() if path.parent in others]


async def without_slash(request: Request) -> Response:
    """Redirect to the path without its trailing slash, never to another host."""
    path = "/" + request.path_params["path"].strip("/")
    return RedirectResponse(f"{path}?{request.url.query}".rstrip("?"))
