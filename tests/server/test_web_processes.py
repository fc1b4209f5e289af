"""Servers on a PostgreSQL that goes away: nothing acknowledged is lost, nobody is left behind."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from inside import Visitor, running
from postgresql_server import PostgresqlServer
from web_server import GENEROUS, Browser, serving

pytestmark = pytest.mark.postgres


@pytest.fixture
def database(web_postgresql: PostgresqlServer) -> Iterator[str]:
    schema = f"web_{secrets.token_hex(4)}"
    web_postgresql.create_schema(schema)
    yield web_postgresql.url(schema=schema)
    web_postgresql.drop_schema(schema)


async def test_a_store_that_goes_away_loses_no_acknowledged_move(
    tmp_path: Path, database: str, web_postgresql: PostgresqlServer
) -> None:
    """While PostgreSQL is down players and pages are told; when it is back, play continues."""
    with serving(tmp_path, *GENEROUS, database=database) as server:
        browser = Browser(server)
        # PostgreSQL has no NUL in texts; a page of such a player is not found, and not a fault.
        assert browser.get("/player/a%00b").status == 404
        async with browser.socket() as socket:
            await socket.new()
            for _ in range(5):
                moved = await socket.move()
            legal = moved["legal"]
            web_postgresql.stop()
            try:
                for _ in range(2):  # the page tries again, and hears it again
                    refused = await socket.ask("move", "refused", number=6, direction=legal[0])
                    assert refused["reason"] == "storage"
                    assert refused["message"].startswith("The server cannot reach its database")
                    assert refused["state"] is None
                ready = browser.get("/readyz")
                assert (ready.status, ready.json()["reason"]) == (503, "unreachable")
                page = browser.get("/leaderboards")
                assert page.status == 503
                assert "tester" not in page.text + ready.text + refused["message"]
                for path in ("/", "/about", "/puzzle", "/healthz"):  # they need no store
                    assert browser.get(path).status == 200
            finally:
                web_postgresql.start()
            state = await socket.receive("state")  # as soon as the game can be read again
            assert (state["version"], state["board"]) == (5, moved["board"])
            await socket.move()
        for _ in range(600):
            if browser.get("/readyz").status == 200:
                return
            await asyncio.sleep(0.1)
        raise AssertionError("the server does not recover")


async def test_a_watcher_sees_what_was_played_while_nothing_could_be_heard(
    database: str, web_postgresql: PostgresqlServer
) -> None:
    """After the database was away a process looks for what it has missed, and hears again."""
    async with running(database) as one, running(database) as other:
        player, watcher = Visitor(one), Visitor(other)
        game = (await player.new())["game"]
        await watcher.ask("watch", game=game)
        web_postgresql.stop()
        web_postgresql.start()
        for _ in range(2):
            while (moved := await player.move())["type"] == "refused":
                player.state |= await player.receive()  # as soon as the game can be read again
            while watcher.state["version"] < moved["version"]:
                await watcher.receive()
            assert watcher.state["board"] == moved["board"]
            await asyncio.sleep(2.5)
