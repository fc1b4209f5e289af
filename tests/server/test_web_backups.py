"""Backups of a server that people play on, restored for real."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from postgresql_server import PostgresqlServer
from web_server import GENEROUS, Browser, WebServer, serving

from py2048.server.settings import KEY_FILE

pytestmark = pytest.mark.slow
PLAYERS = 12
PASSWORD = "correct horse battery"


class Player:
    """Somebody who moves all the time and remembers what was acknowledged."""

    def __init__(self, server: WebServer) -> None:
        self.browser = Browser(server)
        self.game = ""
        self.states: list[dict[str, object]] = []

    async def play(self, enough: asyncio.Event) -> None:
        async with self.browser.socket() as socket:
            self.game = (await socket.new("long:size=12x12"))["game"]
            while not enough.is_set() and socket.state["outcome"] == "playing":
                moved = await socket.move()
                events = {name: moved[name] for name in ("version", "score", "board")}
                self.states.append(events)
                await asyncio.sleep(0.03)


def command(*words: str) -> str:
    """Run py2048, and return what it says."""
    run = [sys.executable, "-m", "py2048", *words]
    return subprocess.run(run, capture_output=True, text=True, check=True, timeout=120).stdout


async def backed_up(players: list[Player], url: str, folder: Path) -> tuple[Path, list[int]]:
    """Make three backups while everybody plays; return the last, and the moves before it."""
    enough = asyncio.Event()
    playing = asyncio.gather(*(player.play(enough) for player in players))
    while not all(player.states for player in players):
        await asyncio.sleep(0.1)
    for _ in range(3):
        before = [len(player.states) for player in players]
        words = ("backup", str(folder), "--keep", "2", "--database", url)
        said = await asyncio.to_thread(command, *words)
        await asyncio.sleep(1.1)
    enough.set()
    await playing
    assert len(list(folder.iterdir())) == 2
    return Path(said.partition(": ")[0]), before


@pytest.mark.postgres
def test_a_backup_under_load_is_a_server_again(
    url: str, tmp_path: Path, web_postgresql: PostgresqlServer
) -> None:
    """Everything acknowledged before it is there, games go on, and people log in as before.

    On the other kind of database.
    """
    first, second, folder = (tmp_path / name for name in ("first", "second", "backups"))
    folder.mkdir()
    with serving(first, *GENEROUS, database=url) as server:
        players = [Player(server) for _ in range(PLAYERS)]
        owner = players[0].browser
        owner.form("/account/claim", name="Ada", password=PASSWORD)
        path, before = asyncio.run(backed_up(players, url, folder))
    other = f"sqlite:///{tmp_path / 'other.sqlite3'}"
    if url.startswith("sqlite"):
        schema = f"restored_{secrets.token_hex(4)}"
        web_postgresql.create_schema(schema)
        other = web_postgresql.url(schema=schema)
    assert "rows of" in command("restore", str(path), "--database", other)
    second.mkdir()
    (second / KEY_FILE).write_bytes((first / KEY_FILE).read_bytes())
    with serving(second, *GENEROUS, database=other) as server:
        asyncio.run(continue_all(server, players, before))
        again = Browser(server)
        assert again.form("/account/login", name="ada", password=PASSWORD).status == 303


async def continue_all(server: WebServer, players: list[Player], before: list[int]) -> None:
    for player, least in zip(players, before, strict=True):
        player.browser.server = server
        async with player.browser.socket() as socket:
            state = await socket.ask("open", "state", game=player.game)
            version = state["version"]
            assert version >= least
            known = player.states[version - 1]
            assert {name: state[name] for name in known} == known
            assert (await socket.move())["version"] == version + 1
