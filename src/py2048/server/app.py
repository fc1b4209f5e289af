"""The ASGI application: every route of the server, behind the security middleware."""

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
from py2048.server.accounts import AccountPages
from py2048.server.api import Api
from py2048.server.auth import Auth, Cookies, User
from py2048.server.health import Health
from py2048.server.messages import trouble_of
from py2048.server.middleware import SecurityMiddleware
from py2048.server.pages import Pages
from py2048.server.services import Services
from py2048.server.settings import Settings
from py2048.server.websocket import WebSocketEndpoint

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
    auth = Auth(services, cookies)
    pages = Pages(services, auth)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with services.running():
            yield

    async def explain(request: Request, error: Exception) -> Response:
        return await _explained(pages, auth, request, error)

    app = Starlette(
        routes=[
            *pages.routes(),
            *AccountPages(services, auth, pages).routes(),
            *Api(services, auth).routes(),
            *Health(services).routes(),
            WebSocketRoute("/ws", WebSocketEndpoint(services, auth)),
            Mount("/static", _Static(directory=STATIC)),
        ],
        exception_handlers={HTTPException: explain, StorageError: explain, Exception: explain},
        lifespan=lifespan,
    )
    return SecurityMiddleware(app, services)


async def _explained(pages: Pages, auth: Auth, request: Request, error: Exception) -> Response:
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
        user = await auth.user(request, wait=False)
    except StorageError:
        user = User("0000", 0)
    return pages.render(request, user, "error.html", status, message=message)
