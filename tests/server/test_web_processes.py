"""Several server processes on one PostgreSQL, which is all that they share."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from postgresql_server import PostgresqlServer
from web_server import GENEROUS, Browser, WebServer, serving

from py2048.storage import open_store

pytestmark = pytest.mark.postgres
KEY = "the same key for all processes"


@pytest.fixture(scope="module")
def database(web_postgresql: PostgresqlServer) -> Iterator[str]:
    schema = f"web_{secrets.token_hex(4)}"
    web_postgresql.create_schema(schema)
    yield web_postgresql.url(schema=schema)
    web_postgresql.drop_schema(schema)


@pytest.fixture(scope="module")
def two_servers(
    tmp_path_factory: pytest.TempPathFactory, database: str
) -> Iterator[tuple[WebServer, WebServer]]:
    with (
        pytest.MonkeyPatch.context() as environment,
        ExitStack() as running,
    ):
        environment.setenv("PY2048_SECRET_KEY", KEY)
        folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
        one, two = (
            running.enter_context(serving(folder, *GENEROUS, database=database))
            for folder in folders
        )
        for server in (one, two):
            Browser(server).get("/account")  # the store is open
        yield one, two


async def test_two_tabs_on_two_processes_stay_consistent(
    two_servers: tuple[WebServer, WebServer],
) -> None:
    """Of two moves with one number exactly one is done, whichever processes they reach."""
    one, two = two_servers
    browser = Browser(one)
    async with browser.socket() as first:
        game = (await first.new("long:size=5x5"))["game"]
        async with Browser(two, cookie=browser.cookie).socket() as second:
            state = await second.ask("open", "state", game=game)
            boards: dict[int, object] = {0: state["board"]}
            tabs = (first, second)
            for _ in range(25):
                number = max(tab.state["version"] for tab in tabs) + 1
                for tab, direction in zip(tabs, ("left", "right"), strict=True):
                    await tab.send("move", number=number, direction=direction)
                for tab in tabs:
                    while tab.state["version"] < number:
                        if (await tab.receive())["type"] == "refused":
                            await tab.send("open", game=game)
                    tab.state |= await settled(tab, game)
                assert first.state["version"] == second.state["version"]
                assert first.state["board"] == second.state["board"]
                boards[number] = first.state["board"]
    assert len(boards) > 20


async def settled(tab, game: str):  # type: ignore[no-untyped-def]
    """Return how the game stands after everything that was on its way has come."""
    await tab.send("open", game=game)
    await tab.send("ping")
    state = tab.state
    while (message := await tab.receive())["type"] != "pong":
        state = message.get("state") or message
    return state


def test_a_name_that_the_database_cannot_hold_is_nobodys(
    two_servers: tuple[WebServer, WebServer],
) -> None:
    """PostgreSQL has no NUL in texts; a page of such a player is not found, and no fault."""
    assert Browser(two_servers[0]).get("/player/a%00b").status == 404


async def test_a_paused_process_writes_nothing_when_it_wakes(
    two_servers: tuple[WebServer, WebServer], database: str
) -> None:
    """What others played meanwhile stays; whoever waited for the paused one is shown it."""
    one, two = two_servers
    browser = Browser(one)
    async with browser.socket() as asleep:
        game = (await asleep.new("long:size=5x5"))["game"]
        moved = await asleep.move()
        left, right = moved["legal"][0], moved["legal"][-1]
        one.process.send_signal(signal.SIGSTOP)
        try:
            await asleep.send("move", number=2, direction=left)
            async with Browser(two, cookie=browser.cookie).socket() as awake:
                await awake.ask("open", "state", game=game)
                played = await awake.move(right)
        finally:
            one.process.send_signal(signal.SIGCONT)
        while asleep.state["version"] < 2:
            await asleep.receive()
        assert (await settled(asleep, game))["board"] == played["board"]
    with open_store(database) as store:
        assert len(store.games.find(game).turns) == 2


async def test_a_store_that_goes_away_loses_no_acknowledged_move(
    two_servers: tuple[WebServer, WebServer], web_postgresql: PostgresqlServer
) -> None:
    """While PostgreSQL is down players and pages are told; when it is back, play goes on."""
    server = two_servers[0]
    browser = Browser(server)
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
            assert browser.get("/healthz").status == 200
            page = browser.get("/leaderboards")
            assert page.status == 503
            assert "tester" not in page.text + ready.text + refused["message"]
            for path in ("/", "/about", "/puzzle"):  # they need no store
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
    two_servers: tuple[WebServer, WebServer], web_postgresql: PostgresqlServer
) -> None:
    """After the database was away a process looks for what it has missed, and hears again."""
    one, two = two_servers
    async with Browser(one).socket() as player, Browser(two).socket() as watcher:
        game = (await player.new("long:size=5x5"))["game"]
        await watcher.ask("watch", "state", game=game)
        web_postgresql.stop()
        web_postgresql.start()
        while Browser(one).get("/readyz").status != 200:
            await asyncio.sleep(0.1)
        for _ in range(2):
            moved = await player.move()
            while watcher.state["version"] < moved["version"]:
                await watcher.receive()
            assert watcher.state["board"] == moved["board"]
            await asyncio.sleep(2.5)
