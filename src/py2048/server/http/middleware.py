"""What every request passes first, and the headers that every answer carries."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import logging
import math
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import UNSET
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from py2048.core.language import _, first_supported, language_of_header, use_language
from py2048.server.http.assets import WORKER
from py2048.server.http.monitoring import begin_request, shown_path
from py2048.server.schema import ErrorAnswer, encode

if TYPE_CHECKING:
    from py2048.server.services import Services

_log = logging.getLogger("py2048.access")

MAX_BODY = 8 * 1024
MAX_RECORD = 512 * 1024
RECORDS_PATH = "/api/records/verify"
BODY_TIMEOUT_S = 10.0
"""Seconds within which a request's body must have come."""

_MAX_ADDRESS = 64
FILES = "/static/"
_CHEAP = ("/healthz", "/readyz", FILES)
"""Cheap to answer, and a class that opens the page at once asks for many of them."""

_PRIVATE = "/account"
"""Not compressed: beside a stranger's text the length of a page would tell a secret on it."""

_SAFE = ("GET", "HEAD", "OPTIONS")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

LANGUAGE_COOKIE = "py2048_language"
_LANGUAGE = re.compile(rf"\b{LANGUAGE_COOKIE}=(\w+)")
_FILE_HEADERS = (
    "x-content-type-options",
    "cross-origin-resource-policy",
    "strict-transport-security",
)
"""Scripts and styles need no more: the policies are those of the page that loads them. A worker
has its own."""


class SecurityMiddleware:
    """Refuses what comes from other sites, too fast or too large, and adds the headers.

    Args:
        app: the server behind it.
        services: the server's parts.
    """

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._compressed = GZipMiddleware(app, compresslevel=6)
        self._services = services
        extra = {"strict-transport-security": "max-age=31536000"}
        headers = _HEADERS | (extra if services.settings.is_secure else {})
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._file_headers = [each for each in self._headers if each[0].decode() in _FILE_HEADERS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may pass."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        answer = self._request if scope["type"] == "http" else self._socket
        with use_language(_language_of(Headers(scope=scope))):
            await answer(scope, receive, send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a handshake, unless it is of another site: cookies would speak for the player."""
        begin_request()
        began = time.perf_counter()
        try:
            await self._checked(scope, is_bot_move=False)(scope, receive, send)
        finally:
            facts = {"seconds": round(time.perf_counter() - began, 1)}
            _log.info("connection", extra={**facts, "address": address_of(scope)})

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status, path = time.perf_counter(), 500, scope["path"]
        name = (b"x-request-id", begin_request().encode())

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                is_file = status == 200 and path.startswith(FILES) and not path.endswith(WORKER)
                extra = self._file_headers if is_file else self._headers
                message = {**message, "headers": [*message["headers"], *extra, name]}
            await send(message)

        is_bot_move = self._is_bot_move(scope)
        try:
            app = self._checked(scope, is_bot_move=is_bot_move)
            await app(scope, _bounded(receive, max_body(path)), answer)
        finally:
            self._services.metrics.responses.labels(f"{status // 100}xx").inc()
            facts = {"method": scope["method"], "path": shown_path(path), "status": status}
            facts["ms"] = round((time.perf_counter() - began) * 1000, 1)
            level = logging.DEBUG if is_bot_move else logging.INFO
            _log.log(level, "request", extra={**facts, "address": address_of(scope)})

    def _checked(self, scope: Scope, *, is_bot_move: bool) -> ASGIApp:
        """Return who shall answer: the server, or a refusal."""
        headers, path = Headers(scope=scope), scope["path"]
        if not is_bot_move:
            limit = "files" if path.startswith(_CHEAP) else "requests"
            if wait := self._services.limits.take(limit, address_of(scope)):
                return refusal(429, _("too many requests: wait a moment"), "rate", wait)
        if scope.get("method") not in _SAFE and (fault := self._foreign(headers)):
            return refusal(403, fault)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > max_body(path):
            return refusal(413, f"the body is too large: at most {max_body(path)} bytes")
        return self._app if path.startswith(_PRIVATE) else self._compressed

    def _is_bot_move(self, scope: Scope) -> bool:
        """Say whether a request is a move of a known program, which has limits of its own."""
        path: str = scope["path"]
        if not (path.startswith("/api/games/") and path.endswith("/moves")):
            return False
        return self._services.tokens.find(token_in(Headers(scope=scope))) is not None

    def _foreign(self, headers: Headers) -> str | None:
        """Return why a request comes from another site, None if it does not.

        Browsers say where a request comes from and pages cannot change that. Programs that are
        not browsers say nothing, and carry only their own cookies.
        """
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "this request comes from another site"
        origin, host = headers.get("origin"), headers.get("host")
        public = self._services.settings.origin
        own = (public,) if public else (f"http://{host}", f"https://{host}")
        if origin is None or origin in own:
            return None
        return f"this server does not answer pages of {origin[:100]}"


def _bounded(receive: Receive, most: int) -> Receive:
    """Return what receives a request's body, no longer than allowed and not slower."""
    until, left, has_ended = time.monotonic() + BODY_TIMEOUT_S, most, False

    async def bounded() -> Message:
        nonlocal left, has_ended
        if has_ended:  # what comes now is the news that the browser has gone
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, until - time.monotonic()))
        except TimeoutError:
            return {"type": "http.disconnect"}
        left -= len(message.get("body", b""))
        has_ended = not message.get("more_body", False)
        return message if left >= 0 else {"type": "http.disconnect"}

    return bounded


def max_body(path: str) -> int:
    """Return how many bytes a request to `path` may carry."""
    return MAX_RECORD if path == RECORDS_PATH else MAX_BODY


def address_of(scope: Scope) -> str:
    """Return where a request comes from, as `network_of`."""
    return network_of((scope.get("client") or ("", 0))[0])


def token_in(headers: Mapping[str, str]) -> str | None:
    """Return the token that a request carries, None if it carries none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


@functools.lru_cache(maxsize=4096)
def network_of(host: str) -> str:
    """Return what counts as one address: an IPv4 address, an IPv6 network of 64 bits."""
    try:
        address = ipaddress.ip_address(host[:_MAX_ADDRESS].partition("%")[0])
    except ValueError:
        return host[:_MAX_ADDRESS] or "unknown"
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address) >> 64 << 64, 64)).network_address)


def _language_of(headers: Headers) -> str:
    """Return the language of an answer: the one chosen here before, else the browser's."""
    if chosen := _LANGUAGE.search(headers.get("cookie", "")):
        return first_supported([chosen[1]])
    return language_of_header(headers.get("accept-language", ""))


def refusal(
    status: int, message: str, reason: str = "", wait: float = 0.0, **headers: str
) -> Response:
    """Return what a program is told of an error.

    Args:
        status: the HTTP status.
        message: one line.
        reason: one word, empty where there is none.
        wait: seconds after which to try again, 0.0 if that would not help.
        headers: further headers.
    """
    if wait:
        headers["retry-after"] = str(math.ceil(wait))
    answer = ErrorAnswer(message, reason or UNSET, math.ceil(wait * 1000) if wait else UNSET)
    return Response(encode(answer), status, headers, "application/json")
