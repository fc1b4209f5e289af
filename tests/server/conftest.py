"""Servers for the tests: one that many share, on a database of its own."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The PostgreSQL of the store's tests serves the server's too.
sys.path.append(str(Path(__file__).resolve().parents[1] / "storage"))

from postgresql_server import PostgresqlServer, find_binaries
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


@pytest.fixture(scope="session")
def web_postgresql() -> Iterator[PostgresqlServer]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL programs (initdb, pg_ctl): install postgresql")
    server = PostgresqlServer(binaries)
    yield server
    server.remove()


@pytest.fixture
def postgresql_url(web_postgresql: PostgresqlServer) -> Iterator[str]:
    """The URL of an empty PostgreSQL."""
    schema = f"web_{secrets.token_hex(4)}"
    web_postgresql.create_schema(schema)
    yield web_postgresql.url(schema=schema)
    web_postgresql.drop_schema(schema)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite3'}"
    return request.getfixturevalue("postgresql_url")
