"""The ASGI application: every route of the server, behind the security middleware."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from py2048.core.errors import GameOverError, Py2048Error, StorageError
from py2048.core.language import _
from py2048.server import schema
from py2048.server.api import api
from py2048.server.http.middleware import SecurityMiddleware, refusal
from py2048.server.http.monitoring import shown_path
from py2048.server.play.messages import trouble_of
from py2048.server.services import Services
from py2048.server.settings import Settings
from py2048.server.site import accounts, challenges, games, pages, scores
from py2048.server.site.auth import Visit, greet_user, services_of
from py2048.server.websocket import talk

_log = logging.getLogger("py2048.web")


def make_app(settings: Settings) -> ASGIApp:
    """Return the server as an ASGI application; it must be made within an event loop.

    Args:
        settings: how the server is run.
    """
    services = Services(settings)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        if parent := multiprocessing.parent_process():  # no worker serves on without it
            loop = asyncio.get_running_loop()
            loop.add_reader(parent.sentinel, os.kill, os.getpid(), signal.SIGTERM)
        async with services.running():
            yield

    app = Starlette(
        routes=[
            *pages.ROUTES,
            *games.ROUTES,
            *scores.ROUTES,
            *challenges.ROUTES,
            *accounts.ROUTES,
            *api.ROUTES,
            Route("/healthz", alive),
            Route("/readyz", ready),
            Route("/metrics", metrics),
            WebSocketRoute("/ws", talk),
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
            status, message = 503, _("{fault}. Try again soon.").format(fault=trouble_of(error))
        case GameOverError():
            status = 409
        case Py2048Error() if isinstance(error, ValueError):  # no rules, no board, no record
            status = 422
        case _:
            _log.error(
                "a request failed", exc_info=error, extra={"path": shown_path(request.url.path)}
            )
            status, message = 500, _("Something went wrong here. It is written down.")
    if is_api:
        rejected = error if isinstance(error, schema.ActionRejected) else None
        why = (rejected.reason, rejected.wait) if rejected else ("", 0.0)
        return refusal(status, message, *why, **(getattr(error, "headers", None) or {}))
    visit = Visit(request.scope)
    await greet_user(visit, wait=False)
    response = pages.render(visit, "error.html", status, message=pages.sentence(message))
    visit.remember(response)
    return response


# For those who run the server


async def alive(_request: Request) -> Response:
    """Say that the process answers."""
    return JSONResponse({"status": "alive"})


async def ready(request: Request) -> Response:
    """Say whether the store can be written; if not, a proxy should send requests elsewhere."""
    services = services_of(request)
    try:
        await services.check_store()
    except StorageError as error:
        reason = {"reason": error.kind or "other", "message": trouble_of(error)}
        return JSONResponse({"status": "not ready", **reason}, 503)
    if not services.is_deaf:
        return JSONResponse({"status": "ready"})
    # Play continues, and every other process has the same fault: requests stay here.
    fault = "PostgreSQL's notices"
    late = f"{fault} cannot be heard: watchers on other processes see moves up to 2 s late"
    return JSONResponse({"status": "ready", "degraded": fault, "message": late})


async def metrics(request: Request) -> Response:
    """Send the counters and gauges of all workers in the text format of Prometheus."""
    return Response(services_of(request).metrics.text(), media_type="text/plain; version=0.0.4")
