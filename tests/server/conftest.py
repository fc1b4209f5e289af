"""Shared fixtures: a running server and a fresh browser."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

# The games of the store's tests serve the server's too.
sys.path.append(str(Path(__file__).resolve().parents[1] / "app" / "storage"))

from inside import running
from web_server import GENEROUS, Browser, WebServer, elsewhere, serving

from py2048.app.storage import Store, open_store
from py2048.server.app import Server
from py2048.server.play.games import GameService


@pytest.fixture(scope="session")
def web_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """A server shared by all tests that do not change its settings."""
    with serving(tmp_path_factory.mktemp("web"), *GENEROUS) as server:
        yield server


@pytest.fixture
def browser(web_server: WebServer) -> Browser:
    """A browser without cookies."""
    return Browser(web_server, address=elsewhere())


@pytest.fixture
def store(web_server: WebServer) -> Iterator[Store]:
    """The store of the shared server."""
    with open_store(web_server.home / "py2048.sqlite3") as opened:
        yield opened


@pytest.fixture
async def server(sqlite_url: str) -> AsyncIterator[Server]:
    """A server in the test's process, on an empty store."""
    async with running(sqlite_url) as server:
        yield server


@pytest.fixture
def games(sqlite_url: str) -> Iterator[GameService]:
    """The games of an empty store."""
    with open_store(sqlite_url) as store:
        yield GameService(store)
