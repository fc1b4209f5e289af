"""Security middleware, which rejects unwanted requests and adds security headers."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import logging
import math
import re
import time
from collections.abc import Callable, Mapping

from msgspec import UNSET
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from py2048.core.language import _, first_supported, language_of_header, use_language
from py2048.server.bounds import MAX_NETWORKS
from py2048.server.http.assets import WORKER
from py2048.server.http.limits import RateLimits
from py2048.server.http.monitoring import Metrics, begin_request, redacted_path
from py2048.server.schema import ErrorAnswer, encode
from py2048.server.settings import ServerSettings

_log = logging.getLogger("py2048.access")

MAX_BODY = 8 * 1024  # Bytes.
MAX_RECORD = 512 * 1024  # Bytes.
RECORDS_PATH = "/api/records/verify"
BODY_TIMEOUT_S = 10.0
REFUSAL_DELAY_S = 1.0  # Slows down clients that send requests one after another.

_MAX_ADDRESS = 64  # characters
FILES = "/static/"
_CHEAP = ("/healthz", "/readyz", FILES)  # paths with a higher rate limit

SOCKET_PATH = "/ws"
_UNCOMPRESSED = ("/account", SOCKET_PATH)  # compressed secrets leak through the length (BREACH)

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
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
# Static files need few headers: they are public, and the page's content security policy covers the
# scripts and styles that it loads. Only the service worker gets all headers, because the page's
# policy does not cover it. Short headers matter because a first visit fetches about thirty files.
_FILE_HEADERS = ("x-content-type-options", "strict-transport-security")


class SecurityMiddleware:
    """Rejects cross-site, oversized and too frequent requests, and adds security headers.

    Args:
        app: The application to protect.
        settings: How the server is run.
        limits: Rate limits per address.
        metrics: Counts responses.
        is_known_token: Function that returns whether a bearer token belongs to a program. Programs'
            moves are exempt from the request limit, because `RateLimits.pace` limits them.
    """

    def __init__(
        self, app: ASGIApp, settings: ServerSettings, limits: RateLimits, metrics: Metrics,
        is_known_token: Callable[[str | None], bool],
    ) -> None:  # fmt: skip
        self._app = app
        self._compressed = GZipMiddleware(app, compresslevel=6)
        self._origin = settings.origin
        self._limits = limits
        self._metrics = metrics
        self._is_known_token = is_known_token
        extra = {"strict-transport-security": "max-age=31536000"}
        headers = _HEADERS | (extra if settings.is_secure else {})
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._file_headers = [each for each in self._headers if each[0].decode() in _FILE_HEADERS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request in the client's language."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        handle = self._http if scope["type"] == "http" else self._websocket
        with use_language(_language_of(Headers(scope=scope))):
            await handle(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin_request()
        began = time.perf_counter()
        try:
            app = await self._select_app(scope, is_bot_move=False)
            await app(scope, receive, send)
        finally:
            facts = {"seconds": round(time.perf_counter() - began, 1)}
            _log.info("connection", extra={**facts, "address": address_of(scope)})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status, path = time.perf_counter(), 500, scope["path"]
        request_id = (b"x-request-id", begin_request().encode())

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                is_file = status == 200 and path.startswith(FILES) and not path.endswith(WORKER)
                extra = self._file_headers if is_file else [*self._headers, request_id]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        is_bot_move = self._is_bot_move(scope)
        try:
            app = await self._select_app(scope, is_bot_move=is_bot_move)
            await app(scope, _limit_body(receive, max_body(path)), send_with_headers)
        finally:
            self._metrics.responses.labels(f"{status // 100}xx").inc()
            facts = {"method": scope["method"], "path": redacted_path(path), "status": status}
            facts["ms"] = round((time.perf_counter() - began) * 1000, 1)
            level = logging.DEBUG if is_bot_move else logging.INFO
            _log.log(level, "request", extra={**facts, "address": address_of(scope)})

    async def _select_app(self, scope: Scope, *, is_bot_move: bool) -> ASGIApp:
        """Return the protected application, or a response that rejects the request."""
        headers, path = Headers(scope=scope), scope["path"]
        if not is_bot_move:
            limit = "files" if path.startswith(_CHEAP) else "requests"
            if wait_s := self._limits.take(limit, address_of(scope)):
                await asyncio.sleep(REFUSAL_DELAY_S)
                return refusal(429, _("too many requests: wait a moment"), "rate", wait_s)
        if scope.get("method") not in _SAFE_METHODS and (fault := self._cross_site_fault(headers)):
            return refusal(403, fault)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > max_body(path):
            return refusal(413, f"the body is too large: at most {max_body(path)} bytes")
        return self._app if path.startswith(_UNCOMPRESSED) else self._compressed

    def _is_bot_move(self, scope: Scope) -> bool:
        path: str = scope["path"]
        is_move = path.startswith("/api/games/") and path.endswith("/moves")
        return is_move and self._is_known_token(bearer_token(Headers(scope=scope)))

    def _cross_site_fault(self, headers: Headers) -> str | None:
        """Return why a request counts as cross-site, or None if the request is acceptable.

        Websites cannot forge the ``Origin`` and ``Sec-Fetch-Site`` headers. Clients other than
        browsers may omit the headers, but do not have a visitor's cookies.
        """
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "this request comes from another site"
        origin, host = headers.get("origin"), headers.get("host")
        own = (self._origin,) if self._origin else (f"http://{host}", f"https://{host}")
        if origin is None or origin in own:
            return None
        return f"this server does not accept requests from pages of {origin[:100]}"


def _limit_body(receive: Receive, max_bytes: int) -> Receive:
    """Wrap `receive` so that it disconnects clients whose body is too large or too slow."""
    deadline, left, is_complete = time.monotonic() + BODY_TIMEOUT_S, max_bytes, False

    async def limited() -> Message:
        nonlocal left, is_complete
        if is_complete:  # only the disconnect can follow
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            return {"type": "http.disconnect"}
        left -= len(message.get("body", b""))
        is_complete = not message.get("more_body", False)
        return message if left >= 0 else {"type": "http.disconnect"}

    return limited


def max_body(path: str) -> int:
    """Return the maximum body size in bytes for requests to `path`."""
    return MAX_RECORD if path == RECORDS_PATH else MAX_BODY


def address_of(scope: Scope) -> str:
    """Return the client's network address, as formatted by `network_of`."""
    return network_of((scope.get("client") or ("", 0))[0])


def bearer_token(headers: Mapping[str, str]) -> str | None:
    """Return the bearer token of a request, or None."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


@functools.lru_cache(MAX_NETWORKS)
def network_of(host: str) -> str:
    """Return the key for limits per address: an IPv4 address or a /64 IPv6 network."""
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
    """Return the language in the cookie, or the best match for ``Accept-Language``."""
    if chosen := _LANGUAGE.search(headers.get("cookie", "")):
        return first_supported([chosen[1]])
    return language_of_header(headers.get("accept-language", ""))


def refusal(
    status: int, message: str, reason: str = "", wait_s: float = 0.0, **headers: str
) -> Response:
    """Return a JSON error response.

    Args:
        status: HTTP status.
        message: One line for users.
        reason: Machine-readable word, or empty.
        wait_s: Seconds after which a retry may succeed, or 0 if a retry cannot succeed.
        headers: Additional headers.
    """
    if wait_s:
        headers["retry-after"] = str(math.ceil(wait_s))
    retry_ms = math.ceil(wait_s * 1000) if wait_s else UNSET
    error = ErrorAnswer(message, reason or UNSET, retry_ms)
    return Response(encode(error), status, headers, "application/json")
