"""Answers compressed for browsers that take it."""

from __future__ import annotations

import gzip

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SHORT = 500
"""An answer of fewer bytes is not worth compressing."""

_PRIVATE = "/account"
"""Not compressed: beside a stranger's text the length of a page would tell a secret on it."""


def takes_gzip(headers: Headers) -> bool:
    """Whether a browser takes answers compressed by gzip."""
    return "gzip" in headers.get("accept-encoding", "")


class Compression:
    """Compresses pages and answers that are sent as a whole; streams pass as they are.

    Args:
        app: the server behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and compress what comes back."""
        is_open = scope["type"] == "http" and not scope["path"].startswith(_PRIVATE)
        if is_open and takes_gzip(Headers(scope=scope)):
            await self._app(scope, receive, _Compressor(send).send)
        else:
            await self._app(scope, receive, send)


class _Compressor:
    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        """Hold the start of an answer that comes as a whole until its length is known."""
        if message["type"] == "http.response.start":
            if _is_whole_text(MutableHeaders(scope=message)):
                self._start = message
                return
        elif self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body", False):
                body = gzip.compress(message.get("body", b""), 6, mtime=0)
                headers = MutableHeaders(scope=start)
                headers["content-encoding"] = "gzip"
                headers["content-length"] = str(len(body))
                headers.add_vary_header("accept-encoding")
                message = {**message, "body": body}
            await self._send(start)
        await self._send(message)


def _is_whole_text(headers: Headers) -> bool:
    """Whether an answer is worth compressing: a text of known length, longer than a few lines."""
    kind = headers.get("content-type", "").partition(";")[0]
    is_text = kind.startswith("text/") or kind == "application/json"
    is_long = int(headers.get("content-length", "0")) >= _SHORT
    return is_text and is_long and "content-encoding" not in headers
