"""The ASGI application: every route of the server, behind the guard."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from py2048.errors import StorageError
from py2048.server.accounts import Accounts
from py2048.server.api import Api
from py2048.server.cookies import Cookies
from py2048.server.health import Health
from py2048.server.identity import Identity, Visitor
from py2048.server.messages import trouble_of
from py2048.server.pages import Pages
from py2048.server.security import Guard
from py2048.server.services import Services
from py2048.server.settings import Settings
from py2048.server.sockets import SocketEndpoint

_log = logging.getLogger("py2048.web")
STATIC = Path(__file__).with_name("static")


class _Static(StaticFiles):
    """The page's files; an address that names a version never changes its meaning."""

    async def get_response(self, path: str, scope) -> Response:  # type: ignore[no-untyped-def]
        response = await super().get_response(path, scope)
        lasting = b"v=" in scope["query_string"]
        response.headers["cache-control"] = "max-age=3600" if lasting else "no-cache"
        return response


def make_app(settings: Settings) -> ASGIApp:
    """Return the server as an ASGI application; it must be made within an event loop."""
    services = Services(settings)
    cookies = Cookies(settings.key, secure=settings.is_secure)
    identity = Identity(services, cookies)
    pages = Pages(services, identity)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with services.running():
            yield

    async def explain(request: Request, error: Exception) -> Response:
        return await _explained(pages, identity, request, error)

    app = Starlette(
        routes=[
            *pages.routes(),
            *Accounts(services, identity, pages).routes(),
            *Api(services, identity).routes(),
            *Health(services).routes(),
            WebSocketRoute("/ws", SocketEndpoint(services, identity)),
            Mount("/static", _Static(directory=STATIC)),
        ],
        exception_handlers={HTTPException: explain, StorageError: explain, Exception: explain},
        lifespan=lifespan,
    )
    return Guard(app, services)


async def _explained(
    pages: Pages, identity: Identity, request: Request, error: Exception
) -> Response:
    """Return an answer that says what went wrong, and not more than is good."""
    match error:
        case HTTPException():
            status, message = error.status_code, error.detail
        case StorageError():
            _log.error("the store failed", extra={"fault": str(error)})
            status, message = 503, f"{trouble_of(error)}. Try again soon."
        case _:
            _log.error("a request failed", exc_info=error, extra={"path": request.url.path})
            status, message = 500, "Something went wrong here. It is written down."
    headers = getattr(error, "headers", None)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": message}, status, headers)
    try:
        visitor = await identity.visitor(request, wait=False)
    except StorageError:
        visitor = Visitor("0000", 0)
    return pages.render(request, visitor, "error.html", status, message=message)
