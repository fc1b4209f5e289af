"""Files that may be kept for ever, and answers that come compressed."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message
from web_server import Browser

from py2048.server.http.assets import STATIC
from py2048.server.http.compression import Compression


def test_files_have_the_version_of_their_contents(browser: Browser) -> None:
    """A page names files of one version; that address is kept for ever, any other is not."""
    page = browser.get("/").text
    versions = set(re.findall(r"/static/([^/]+)/", page))
    assert len(versions) == 1
    (version,) = versions
    assert re.fullmatch("[0-9a-f]{12}", version)
    for path, lasts in (
        (f"/static/{version}/js/play.js", True),
        ("/static/js/play.js", False),
        ("/static/0123456789ab/js/play.js", False),
    ):
        answer = browser.get(path)
        assert answer.status == 200
        assert ("immutable" in answer.headers["cache-control"]) is lasts
        assert ("no-cache" in answer.headers["cache-control"]) is not lasts
        assert "import" in answer.text
    for path in ("/static/", f"/static/{version}/", "/static/js/../app.py", "/static/js/none.js"):
        assert browser.get(path).status == 404


def test_scripts_are_sent_without_comments(browser: Browser) -> None:
    """A first visit need not carry them; every line of code has the number that it has here."""
    for path in STATIC.glob("js/*.js"):
        sent = browser.get(f"/static/js/{path.name}").text.splitlines()
        lines = path.read_text().splitlines()
        pairs = list(zip(sent, lines, strict=True))
        assert all(line in ("", there) for line, there in pairs)
        assert all(re.match(r"\s*(//|/\*\*|\*)", there) for line, there in pairs if line != there)
        assert not any(re.match(r"\s*(//|/\*\*)", line) for line in sent)


def test_answers_are_compressed_for_those_who_take_it(browser: Browser) -> None:
    """A file, a page and an answer of the API are the same, compressed or not."""
    style = re.search(r"/static/[^/]+/css/themes\.css", browser.get("/").text)
    assert style is not None
    for path in (style[0], "/about", "/api/rules"):
        plain, packed = browser.get(path), browser.get(path, Accept_Encoding="br, gzip")
        assert plain.headers["content-encoding"] is None
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == plain.body
        assert len(packed.body) < len(plain.body) / 2
        assert packed.headers["vary"] == "accept-encoding"


def test_pages_with_secrets_are_not_compressed(browser: Browser) -> None:
    """The length of a page that may show a code or a token tells nothing about it."""
    answer = browser.get("/account", Accept_Encoding="gzip")
    assert answer.status == 200
    assert answer.headers["content-encoding"] is None


async def test_streams_pass_as_they_are() -> None:
    """What is sent in pieces is neither held back nor compressed."""
    sent: list[Any] = []

    async def answer(request: Request) -> Response:
        async def lines() -> AsyncIterator[str]:
            for _ in range(2):
                yield "x" * 1000
                assert len(sent) in (2, 3)  # the head, and each piece that was there

        return StreamingResponse(lines(), media_type="application/json")

    app = Compression(Starlette(routes=[Route("/", answer)]))
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "root_path": ""}

    async def receive() -> Message:
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await app({**scope, "headers": [(b"accept-encoding", b"gzip")]}, receive, send)
    assert b"content-encoding" not in dict(sent[0]["headers"])
    assert b"".join(message["body"] for message in sent[1:]) == b"x" * 2000
