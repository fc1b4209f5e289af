"""A real Chromium that visits a real server."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from tests.server.browser.visiting import SIZES, TIMEOUT_MS, Arrive, Player, Server, arriving

from py2048.app.storage import Store, open_store

if TYPE_CHECKING:
    from playwright.async_api import Browser

CHROMIUMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
"""Executable names, fastest first: Debian's headless Chromium opens pages soonest."""


def find_chromium() -> str | None:
    """Return the path of Chromium, or None."""
    return next((path for name in CHROMIUMS if (path := shutil.which(name))), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run async tests in the session's event loop, which the browser uses."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server that all tests share."""
    running = Server(tmp_path_factory.mktemp("web"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def store(server: Server) -> Iterator[Store]:
    """Open the shared server's store."""
    with open_store(server.store) as opened:
        yield opened


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """Yield a server that the test may stop and kill."""
    running = Server(tmp_path / "web")
    running.start()
    yield running
    running.stop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Yield a browser that all tests share."""
    playwright_api = pytest.importorskip("playwright.async_api", reason="make test installs it")
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium: sudo apt install chromium")
    playwright_api.expect.set_options(timeout=TIMEOUT_MS)
    async with playwright_api.async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        await chromium.close()


@pytest_asyncio.fixture(loop_scope="session")
async def arrive(browser: Browser, server: Server) -> AsyncIterator[Arrive]:
    """Yield a function that opens a window of a given size at the shared server."""
    async with arriving(browser) as arrive_at:

        async def arrive(size: str = "desktop", **options: Any) -> Player:
            return await arrive_at(options.pop("url", server.url), size, **options)

        yield arrive


@pytest_asyncio.fixture(params=list(SIZES), loop_scope="session")
async def player(arrive: Arrive, request: pytest.FixtureRequest) -> Player:
    """Return a visitor on a desktop or a phone."""
    return await arrive(request.param)


@pytest_asyncio.fixture(loop_scope="session")
async def guest(arrive: Arrive) -> Player:
    """Return a visitor on a desktop."""
    return await arrive()
