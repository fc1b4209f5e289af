"""Shared fixtures: a running server and a fresh browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The games of the store's tests serve the server's too.
sys.path.append(str(Path(__file__).resolve().parents[1] / "app" / "storage"))

from web_server import GENEROUS, Browser, WebServer, elsewhere, serving


@pytest.fixture(scope="session")
def web_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """A server shared by all tests that do not change its settings."""
    with serving(tmp_path_factory.mktemp("web"), *GENEROUS) as server:
        yield server


@pytest.fixture
def browser(web_server: WebServer) -> Browser:
    """A browser without cookies."""
    return Browser(web_server, address=elsewhere())
