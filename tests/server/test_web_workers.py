"""``py2048 serve --workers``: several processes that are killed, paused and stopped."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from pathlib import Path

import pytest
from tests.processes import until
from web_server import GENEROUS, Browser, Socket, WebServer, serving
from websockets.exceptions import ConnectionClosed

from py2048.app.session.tracked_game import TrackedGame
from py2048.app.storage import open_store
from py2048.server.run import run
from py2048.server.settings import ServerError, ServerSettings

TWO = (*GENEROUS, "--workers", "2")
pytestmark = pytest.mark.postgres


def workers_of(server: WebServer, workers: int = 2, but: int = 0) -> list[int]:
    """Wait for all workers and return their process ids, without the killed one."""
    found: list[int] = []

    def have_started() -> bool:
        found[:] = [
            pid
            for line in server.logged()
            if line["message"].startswith("Started server process")
            and is_running(pid := int(re.findall(r"\d+", line["message"])[0]))
            and pid != but
        ]
        return len(found) == workers

    until(have_started)
    return found


def counted_moves(server: WebServer) -> float:
    """Return the number of moves that all workers have counted."""
    text = Browser(server).get("/metrics").text
    assert text.count("# TYPE py2048_moves_total counter") == 1
    return float(re.findall(r"^py2048_moves_total (\S+)", text, re.MULTILINE)[0])


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def until_gone(pids: list[int]) -> None:
    until(lambda: not any(map(is_running, pids)))


class Tab:
    """A player's page that reconnects when its connection is lost."""

    def __init__(self, server: WebServer) -> None:
        self.browser = Browser(server)
        self.game = ""
        self.acknowledged = 0
        self.moves: dict[int, str] = {}
        """Acknowledged moves by number."""
        self.returns = 0

    async def play(self, moves: int, begun: asyncio.Event) -> None:
        """Make `moves` moves and check that all acknowledged ones are there."""
        while self.acknowledged < moves:
            try:
                async with self.browser.socket() as socket:
                    await self._enter(socket)
                    while self.acknowledged < moves:
                        direction = socket.state["legal"][0]
                        moved = await socket.move(direction)
                        self.acknowledged = moved["version"]
                        self.moves[self.acknowledged] = direction
                        if self.acknowledged >= moves // 3:
                            begun.set()
                        await asyncio.sleep(0.01)
            except (OSError, EOFError, ConnectionClosed):
                await asyncio.sleep(0.1)

    async def _enter(self, socket: Socket) -> None:
        if not self.game:
            self.game = (await socket.new("long:size=5x5", "ranked"))["game"]
            return
        self.returns += 1
        assert socket.hello["current"] == self.game
        state = await socket.ask("open", "state", game=self.game)
        assert state["version"] >= self.acknowledged


async def test_a_killed_worker_loses_no_move_and_its_games_go_on(
    tmp_path: Path, postgresql_url: str
) -> None:
    """When a worker is killed, every acknowledged move is in the store and games continue.

    The moves that it had counted stay in the total.
    """
    with serving(tmp_path, *TWO, database=postgresql_url) as server:
        tabs = [Tab(server) for _ in range(6)]
        begun = [asyncio.Event() for _ in tabs]
        playing = [
            asyncio.create_task(tab.play(30, event))
            for tab, event in zip(tabs, begun, strict=True)
        ]  # fmt: skip
        await asyncio.gather(*(event.wait() for event in begun))
        survivor, killed = workers_of(server)
        os.kill(killed, signal.SIGKILL)
        await asyncio.gather(*playing)
        await asyncio.to_thread(workers_of, server, but=killed)
        counted = counted_moves(server)
        os.kill(survivor, signal.SIGKILL)
        pids = await asyncio.to_thread(workers_of, server, but=survivor)
        assert counted_moves(server) >= counted > 0
    assert server.process.returncode == 0
    until_gone(pids)
    with open_store(postgresql_url) as store:
        for tab in tabs:
            saved = store.games.find(tab.game)
            assert saved is not None
            turns = TrackedGame.from_saved(saved).game.turns
            assert len(tab.moves) >= 30 - tab.returns
            for number, direction in tab.moves.items():
                assert str(turns[number - 1].direction) == direction


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_supervisor(
    tmp_path: Path, postgresql_url: str, how: signal.Signals
) -> None:
    """Workers exit when their supervisor is killed."""
    server = WebServer(tmp_path, *TWO, database=postgresql_url)
    pids = workers_of(server)
    assert (server.stop(how) == 0) == (how is signal.SIGINT)
    until_gone(pids)


def test_workers_share_no_sqlite(tmp_path: Path) -> None:
    """Several workers on SQLite are rejected in one line, before anything listens."""
    with pytest.raises(ServerError, match="SQLite supports one process only: use --database"):
        run(
            ServerSettings(key="k" * 16, port=0, workers=2, database=f"sqlite:///{tmp_path}/shared")
        )
