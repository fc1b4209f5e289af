"""Requests for pages: where they are rendered, and when they are rejected."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import httpx
import jinja2
import pytest
from inside import add_game, running

from py2048.app.storage import open_store
from py2048.server.http import middleware


@pytest.mark.timeout(120)
async def test_pages_of_lists_are_rendered_by_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page costs the process that plays little, so visitors do not delay moves."""
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    with closing(open_store(url)) as store:
        store.accounts.claim_name("ada", "Ada", "hash")
        game = add_game(store)

    def render_error(template: jinja2.Template, **values: object) -> str:
        """Render no other page in this process."""
        assert template.name == "error.html"
        return str(values["message"])

    async with running(url) as server:
        pages = httpx.AsyncClient(
            transport=httpx.ASGITransport(server.asgi()), base_url="http://test"
        )
        monkeypatch.setattr(jinja2.Template, "render", render_error)
        for path in (
            "/today", "/daily", "/leaderboards",
            "/live", "/player/Ada", "/puzzle", "/battle", "/account", f"/game/{game}",
            f"/game/{game}/share",
        ):  # fmt: skip
            page = await pages.get(path)
            assert page.status_code == 200, page.text
        await pages.aclose()


async def test_too_many_requests_are_rejected_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that ignores the limit waits for each rejection, and nobody else does.

    Static files and health checks have a higher limit.
    """
    monkeypatch.setattr(middleware, "REFUSAL_DELAY_S", 3600)
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    async with running(url, requests_rate=0.1) as server:
        app = server.asgi()
        hasty, other = (
            httpx.AsyncClient(transport=httpx.ASGITransport(app, client=(address, 1)))
            for address in ("192.0.2.1", "192.0.2.2")
        )
        assert (await hasty.get("http://test/about")).status_code == 200
        second = asyncio.create_task(hasty.get("http://test/about"))
        assert (await other.get("http://test/about")).status_code == 200
        assert not second.done()
        monkeypatch.setattr(middleware, "REFUSAL_DELAY_S", 0)
        rejected = await hasty.get("http://test/about")
        assert (rejected.status_code, int(rejected.headers["retry-after"]) >= 1) == (429, True)
        for path in ("healthz", "static/css/themes.css"):
            assert (await hasty.get(f"http://test/{path}")).status_code == 200
        second.cancel()
        await hasty.aclose()
        await other.aclose()
