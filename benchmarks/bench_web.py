"""How many moves a second the web server takes, and how soon it acknowledges them.

Starts ``py2048 serve`` on loopback, on a temporary SQLite file or PostgreSQL cluster, and
connects players who move, wait for the acknowledgement, and move again. Players and server share
the machine. At the end the server is killed in the middle of it (SIGKILL), started again, and
every acknowledged move is looked for.

Run ``python benchmarks/bench_web.py --help`` for smaller and larger runs.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "storage"))

MANY = 500
MOST_PLAYERS = 4000
MOST_SECONDS = 120.0
_VERSION = re.compile(rb'"version":(\d+)')
_LEGAL = re.compile(rb'"legal":\["(\w+)"')


@dataclass
class Player:
    """One connection that plays, with what was acknowledged to it."""

    port: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    game: str = ""
    version: int = 0
    times: list[float] = field(default_factory=list)
    state: bytes = b""
    coming: asyncio.Task[tuple[int, bytes]] | None = None

    async def send(self, text: str) -> None:
        """Send a masked text frame; the mask is zero, which changes nothing."""
        data = text.encode()
        head = bytes([0x81, 0x80 | len(data)]) if len(data) < 126 else None
        assert head, "the benchmark sends short messages only"
        self.writer.write(head + b"\0\0\0\0" + data)
        await self.writer.drain()

    async def receive(self) -> bytes:
        """Return the next text frame; pings are answered."""
        while True:
            kind, data = await (self.coming or self._frame())
            self.coming = None
            if kind == 1:
                return data
            self._answer(kind, data)

    async def wait(self, start: asyncio.Event) -> None:
        """Wait until all are there, and answer pings meanwhile, as a browser does."""
        waiting = asyncio.create_task(start.wait())
        while not start.is_set():
            self.coming = self.coming or asyncio.create_task(self._frame())
            await asyncio.wait((waiting, self.coming), return_when=asyncio.FIRST_COMPLETED)
            if self.coming.done():
                self._answer(*self.coming.result())
                self.coming = None

    def _answer(self, kind: int, data: bytes) -> None:
        if kind == 8:
            raise ConnectionError(f"the server has closed the connection: {data!r}")
        if kind == 9:
            self.writer.write(bytes([0x8A, 0x80 | len(data)]) + b"\0\0\0\0" + data)

    async def _frame(self) -> tuple[int, bytes]:
        first, second = await self.reader.readexactly(2)
        length = second & 127
        if length == 126:
            length = int.from_bytes(await self.reader.readexactly(2))
        elif length == 127:
            length = int.from_bytes(await self.reader.readexactly(8))
        return first & 15, await self.reader.readexactly(length)

    async def begin(self) -> bytes:
        """Ask for a game and return its state; whoever has begun too many goes on as another."""
        await self.send('{"type":"new","rules":"classic","mode":"casual"}')
        state = await self.receive()
        if b'"reason":"busy"' in state:
            self.writer.close()
            other = await connect(self.port)
            self.reader, self.writer = other.reader, other.writer
            return await self.begin()
        self.game = json.loads(state)["game"]
        self.version = 0
        return state

    async def play(self, until: float) -> None:
        """Move until the time is over; a finished game is followed by the next."""
        state = self.state
        while time.perf_counter() < until:
            legal = _LEGAL.search(state)
            if legal is None:
                state = await self.begin()
                continue
            number, direction = self.version + 1, legal[1].decode()
            began = time.perf_counter()
            await self.send(f'{{"type":"move","number":{number},"direction":"{direction}"}}')
            state = await self.receive()
            self.times.append(time.perf_counter() - began)
            found = _VERSION.search(state)
            self.version = int(found[1]) if found else -1
            assert self.version == number, state


async def connect(port: int) -> Player:
    """Open a WebSocket and wait for the greeting."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    writer.write(
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 101 " in head.split(b"\r\n")[0], head
    player = Player(port, reader, writer)
    await player.receive()
    return player


async def enter(port: int, count: int) -> list[Player]:
    """Connect `count` players, some at a time, each with a game on the table."""
    gate, start = asyncio.Semaphore(50), asyncio.Event()
    players: list[Player] = []

    async def one() -> None:
        async with gate:
            player = await connect(port)
            player.state = await player.begin()
        players.append(player)
        if len(players) == count:
            start.set()
        await player.wait(start)

    await asyncio.gather(*(one() for _ in range(count)))
    return players


async def play(players: list[Player], seconds: float) -> None:
    """Let all players play for some seconds."""
    until = time.perf_counter() + seconds
    results = await asyncio.gather(
        *(player.play(until) for player in players), return_exceptions=True
    )
    failures = [result for result in results if isinstance(result, BaseException)]
    for player in players:
        player.writer.close()
    if failures:
        print(f"  {len(failures)} players were cut off: {failures[0]!r}")


async def measure(port: int, count: int, seconds: float) -> list[Player]:
    """Let `count` players play for some seconds and return them."""
    began = time.perf_counter()
    players = await enter(port, count)
    if count >= MANY:
        print(f"  {count} players came in within {time.perf_counter() - began:.1f} s")
    await play(players, seconds)
    return players


def report(players: list[Player], seconds: float, database: str, cpu: float) -> None:
    """Print one line of results; `cpu` is what the server used, in seconds."""
    times = sorted(time for player in players for time in player.times)
    if len(times) < 2:
        print(f"{database:<11} {len(players):>6} players: no moves")
        return
    p99 = times[int(len(times) * 0.99)]
    print(
        f"{database:<11} {len(players):>6} players {len(times) / seconds:>8,.0f} moves/s"
        f"  p50 {statistics.median(times) * 1000:8.2f} ms  p99 {p99 * 1000:8.2f} ms"
        f"  server {cpu / len(times) * 1e6:6.0f} us of CPU a move",
        flush=True,
    )


class Server:
    """The server in a process of its own."""

    def __init__(self, url: str, folder: Path, durability: str) -> None:
        command = [
            sys.executable, "-m", "py2048", "serve", "--port", "0", "--database", url,
            "--moves-rate", "100000", "--address-rate", "1000000", "--requests-rate", "100000",
            "--sockets", "5000", "--sockets-per-address", "5000", "--log-level", "error",
            "--durability", durability,
        ]  # fmt: skip
        environment = os.environ | {"PY2048_HOME": str(folder)}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.port = int(line.rsplit(":", 1)[1])

    def cpu(self) -> float:
        """Return the seconds of CPU that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it, kindly or not."""
        self.process.send_signal(how)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()  # if it hangs, nothing is left of it
            assert self.process.stdout is not None
            self.process.stdout.close()


def survey_after_kill(url: str, folder: Path, count: int, seconds: float, durability: str) -> None:
    """Kill the server in the middle of play and look for every acknowledged move."""
    from py2048.storage import open_store

    server = Server(url, folder, durability)

    async def play_and_kill() -> list[Player]:
        players = await enter(server.port, count)
        playing = asyncio.create_task(play(players, seconds * 10))
        await asyncio.sleep(seconds)
        await asyncio.to_thread(server.stop, signal.SIGKILL)
        await playing
        return players

    players = asyncio.run(play_and_kill())
    again = Server(url, folder, durability)
    again.stop()
    missing = 0
    with open_store(url) as store:
        for player in players:
            saved = store.games.find(player.game)
            missing += player.version - saved.revision if saved else 0
            missing = max(missing, 0)
    moves = sum(len(player.times) for player in players)
    print(f"killed after {moves:,} acknowledged moves of {count} players: {missing} missing")
    assert not missing


@contextmanager
def database(kind: str) -> Iterator[tuple[str, Path]]:
    """Offer an empty database of a kind, and a folder."""
    with tempfile.TemporaryDirectory(prefix="py2048-bench-") as name:
        if kind == "sqlite":
            yield f"sqlite:///{name}/bench.sqlite3", Path(name)
            return
        postgresql = importlib.import_module("postgresql_server")  # of the store's tests
        binaries = postgresql.find_binaries()
        if binaries is None:
            sys.exit("no PostgreSQL programs (initdb, pg_ctl): install postgresql")
        server = postgresql.PostgresqlServer(binaries, fsync=True)
        try:
            yield server.url(), Path(name)
        finally:
            server.remove()


def calibrate() -> None:
    """Say how fast this machine is just now: others may use its cores."""
    began = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number
    took = (time.process_time() - began) * 1000
    print(f"a million additions take {took:.0f} ms of CPU here (about 40 on a quiet core)")


def first_response() -> None:
    """Measure from the start of the process to the first page, with the CPU that it took."""
    walls, cpus = [], []
    for _ in range(5):
        with database("sqlite") as (url, folder):
            began = time.perf_counter()
            server = Server(url, folder, "disk")
            address = f"http://127.0.0.1:{server.port}/"
            with urllib.request.urlopen(address) as response:
                response.read()
            walls.append(time.perf_counter() - began)
            cpus.append(server.cpu())
            server.stop()
    print(f"first response after {min(walls) * 1000:.0f} ms ({min(cpus) * 1000:.0f} ms of CPU)")


def main() -> None:
    """Measure as the command line asks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--players", type=int, nargs="+", default=[1, 50, 500, 2000])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--database", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--durability", default="disk", help="disk, or process: see serve --help")
    parser.add_argument("--no-kill", action="store_true", help="leave out the kill")
    chosen = parser.parse_args()
    if max(chosen.players) > MOST_PLAYERS or chosen.seconds > MOST_SECONDS:
        sys.exit(f"at most {MOST_PLAYERS} players for {MOST_SECONDS:.0f} seconds")
    calibrate()
    first_response()
    for kind in chosen.database:
        for count in chosen.players:
            with database(kind) as (url, folder):
                server = Server(url, folder, chosen.durability)
                asyncio.run(measure(server.port, min(count, 10), 1.0))  # warm
                before = server.cpu()
                players = asyncio.run(measure(server.port, count, chosen.seconds))
                report(players, chosen.seconds, kind, server.cpu() - before)
                server.stop()
        if not chosen.no_kill:
            with database(kind) as (url, folder):
                survey_after_kill(url, folder, 50, min(chosen.seconds, 3.0), chosen.durability)


if __name__ == "__main__":
    main()
