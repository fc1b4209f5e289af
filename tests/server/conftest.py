"""Servers for the tests: one that many share, on a database of its own."""

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
    """One server for all tests that leave it as it is."""
    with serving(tmp_path_factory.mktemp("web"), *GENEROUS) as server:
        yield server


@pytest.fixture
def browser(web_server: WebServer) -> Browser:
    """A visitor who was never there."""
    return Browser(web_server, address=elsewhere())
