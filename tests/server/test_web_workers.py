"""``py2048 serve --workers``: several processes, which are killed, paused and stopped."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket as sockets
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis_server import find_redis
from tests.free_ports import free_port
from web_server import GENEROUS, Browser, Socket, WebServer, serving
from websockets.exceptions import ConnectionClosed

from py2048.server.run import run
from py2048.server.settings import ServerError, Settings
from py2048.server.supervisor import Supervisor
from py2048.storage import open_store

ROOT = Path(__file__).resolve().parents[2]


def workers_of(server: WebServer, workers: int) -> dict[int, int]:
    """Return the process of each worker, by number, as the log tells once all have started."""
    return _wait_for(server, lambda pids: len(pids) == workers)


def wait_for_worker(server: WebServer, number: int, old: int) -> int:
    """Return the process that has replaced another."""
    return _wait_for(server, lambda pids: pids[number] != old)[number]


def _wait_for(server: WebServer, is_reached: Callable[[dict[int, int]], bool]) -> dict[int, int]:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        pids = {
            int(line["worker"]): int(re.findall(r"\d+", line["message"])[0])
            for line in server.logged()
            if line["message"].startswith("Started server process")
        }
        if is_reached(pids):
            return pids
        time.sleep(0.05)
    raise AssertionError(f"the workers are {pids}")


def _metrics_of(server: WebServer, workers: set[str]) -> str:
    """Return the metrics, when each worker has told its own."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        text = Browser(server).get("/metrics").text
        if set(re.findall(r'py2048_sockets\{worker="(\d)"\}', text)) == workers:
            return text
        time.sleep(0.05)
    raise AssertionError(text)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Tab:
    """A player in a page that comes back when its connection is lost."""

    def __init__(self, server: WebServer) -> None:
        self.browser = Browser(server)
        self.game = ""
        self.acknowledged = 0
        self.returns = 0

    async def play(self, moves: int, begun: asyncio.Event) -> None:
        """Make so many moves, wherever the connection leads; all that was acknowledged is there."""
        while self.acknowledged < moves:
            try:
                async with self.browser.socket() as socket:
                    await self._enter(socket)
                    while self.acknowledged < moves:
                        moved = await socket.move()
                        self.acknowledged = moved["version"]
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


async def test_a_killed_worker_loses_no_move_and_its_games_go_on(tmp_path: Path) -> None:
    """Players whose worker dies go on elsewhere; every acknowledged move is in the store."""
    database = f"sqlite:///{tmp_path / 'shared.sqlite3'}"
    with serving(tmp_path / "home", *GENEROUS, "--workers", "2", database=database) as server:
        tabs = [Tab(server) for _ in range(6)]
        begun = [asyncio.Event() for _ in tabs]
        playing = [
            asyncio.create_task(tab.play(30, event))
            for tab, event in zip(tabs, begun, strict=True)
        ]  # fmt: skip
        await asyncio.gather(*(event.wait() for event in begun))
        old = workers_of(server, 2)[1]
        os.kill(old, signal.SIGKILL)
        await asyncio.gather(*playing)
        new = await asyncio.to_thread(wait_for_worker, server, 1, old)
        assert {line["worker"] for line in server.logged() if "worker" in line} == {0, 1}
        text = await asyncio.to_thread(_metrics_of, server, {"0", "1"})
        assert text.count("# TYPE py2048_moves_total counter") == 1
        pids = [*workers_of(server, 2).values(), new]
    assert server.process.returncode == 0
    assert not any(map(is_running, pids))
    with open_store(database) as store:
        for tab in tabs:
            assert store.games.find(tab.game).revision >= tab.acknowledged >= 30


@pytest.mark.slow
async def test_each_worker_can_have_a_port_of_its_own(tmp_path: Path) -> None:
    """A proxy chooses the worker, and a watcher of one sees the moves made by another."""
    port = free_port(beside=1)
    command = (sys.executable, "-m", "py2048", "serve", "--port", str(port))
    options = (*GENEROUS, "--workers", "2", "--separate-ports")
    one = WebServer(tmp_path / "home", *options, command=command)
    try:
        one.port, one.url = port, f"http://127.0.0.1:{port}"
        two = Browser(one)
        two.server = _Beside(one)  # type: ignore[assignment]
        async with Browser(one).socket() as player, two.socket() as watcher:
            game = (await player.new("long:size=5x5", "ranked"))["game"]
            await watcher.ask("watch", "state", game=game)
            for _ in range(5):
                moved = await player.move()
                while watcher.state["version"] < moved["version"]:
                    await watcher.receive()
                assert watcher.state["board"] == moved["board"]
    finally:
        assert one.stop() == 0


class _Beside:
    """The worker on the next port."""

    def __init__(self, server: WebServer) -> None:
        self.port = server.port + 1
        self.url = f"http://127.0.0.1:{self.port}"


@pytest.mark.slow
async def test_a_worker_that_hangs_is_replaced(tmp_path: Path) -> None:
    """A paused worker is killed after a while; its players, who had no answer, come back."""
    with serving(tmp_path, *GENEROUS, "--workers", "2") as server:
        async with Browser(server).socket() as first, Browser(server).socket() as second:
            games = [await socket.new() for socket in (first, second)]
            assert len({game["game"] for game in games}) == 2
            old = workers_of(server, 2)[0]
            os.kill(old, signal.SIGSTOP)
            new = await asyncio.to_thread(wait_for_worker, server, 0, old)
            assert is_running(new)
            assert not is_running(old)
        assert "a worker hangs and is killed" in {line["message"] for line in server.logged()}
        async with Browser(server).socket() as socket:
            await socket.new()
            await socket.move()


@pytest.mark.slow
def test_workers_end_with_their_supervisor(tmp_path: Path) -> None:
    """Even if it is killed: nobody serves on without being watched."""
    server = WebServer(tmp_path, *GENEROUS, "--workers", "2")
    pids = workers_of(server, 2).values()
    server.stop(signal.SIGKILL)
    until = time.monotonic() + 30
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(is_running, pids))


@pytest.mark.slow
def test_interrupting_the_supervisor_stops_all(tmp_path: Path) -> None:
    """Ctrl+C, which a terminal sends to the whole group, ends everything with status 0."""
    server = WebServer(tmp_path, *GENEROUS, "--workers", "3")
    pids = workers_of(server, 3).values()
    assert server.stop(signal.SIGINT) == 0
    assert not any(map(is_running, pids))


def test_a_supervisor_that_cannot_fork_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no room for a worker, signals still reach the supervisor."""

    def fork() -> int:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", fork)
    before = {
        each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
    }
    supervisor = Supervisor(lambda _: sockets.socket(), lambda *_: None, 1, 10.0)
    try:
        supervisor.start()
        assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & before.keys()
        os.kill(os.getpid(), signal.SIGTERM)
        supervisor.run()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, before)
        signal.set_wakeup_fd(-1)
        for mailbox in supervisor._mailboxes.values():
            mailbox.read.close()
            mailbox.write.close()
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"workers": 2, "database": "sqlite://"},
            "cannot share a store in memory: give --database",
        ),
        ({"redis": "memcached://here"}, "is no URL of a Redis: write such as redis://"),
    ],
)
def test_what_cannot_be_shared_is_refused(wrong: dict[str, Any], said: str) -> None:
    """One line names the fault and the way out, before anything listens."""
    with pytest.raises(ServerError, match=said):
        run(Settings(key="k" * 16, port=0, **wrong))


@pytest.mark.slow
def test_two_servers_do_not_share_a_port_by_accident(tmp_path: Path) -> None:
    """Workers share an address among themselves, and with nobody else."""
    with serving(tmp_path / "one", "--workers", "2") as server:
        command = [sys.executable, "-m", "py2048", "serve", "--workers", "2"]
        done = subprocess.run(
            [*command, "--port", str(server.port)],
            env=os.environ | {"PY2048_HOME": str(tmp_path / "two")},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "Address already in use" in done.stderr


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("fault", ["kill", "pause", "redis"])
def test_two_machines_survive_faults_under_load(fault: str) -> None:
    """On one PostgreSQL and one Redis: nothing acknowledged is lost, and nobody is left behind."""
    if find_redis() is None:
        pytest.skip("no valkey-server and no redis-server: install redis-server")
    command = [
        *(sys.executable, str(ROOT / "benchmarks" / "workers_web.py")),
        *("--machines", "2", "--database", "postgresql", "--redis", "--faults", fault),
        *("--players", "20", "--watchers", "6", "--seconds", "4"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
