"""Each test of the store runs on both databases."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgresql_server import PostgresqlServer, find_binaries

from py2048.storage import Store, open_store


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL programs (initdb, pg_ctl): install postgresql")
    server = PostgresqlServer(binaries)
    yield server
    server.remove()


@pytest.fixture
def postgresql_url(postgresql: PostgresqlServer) -> Iterator[str]:
    """The URL of an empty place on the server."""
    schema = f"test_{secrets.token_hex(6)}"
    postgresql.create_schema(schema)
    yield postgresql.url(schema=schema)
    postgresql.drop_schema(schema)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.sqlite3'}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database, once of each kind."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened
