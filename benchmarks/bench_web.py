"""Measure the web server and a trivial server: CPU time, latency, starting games and memory.

The script starts ``py2048 serve`` and `echo.py` on loopback, each with a temporary SQLite file or
PostgreSQL cluster and the same number of players. Then the servers take turns. In a server's turn,
its players move as soon as their previous move is acknowledged, while all other players wait. The
last line compares the servers in the median turn. ``--against PATH`` adds another checkout:

    python benchmarks/bench_web.py --players 500 --against ../py2048-before

CPU time is that of the server's process without PostgreSQL, so it hardly depends on other programs.
Latency is the time from the moment when a move is due until its acknowledgement. With ``--rate``,
moves are due at regular intervals, and latency includes the delay of moves that are sent late. With
``--storm 5000``, the script instead opens 5,000 sockets at once, while the server may use only a
tenth of a core.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import platform
import random
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

ECHO = "echo"
_VERSION = re.compile(rb'"version":(\d+)')
_PONG = b'{"type":"pong"}'
_LEGAL = re.compile(rb'"legal":\[(".*?)\]')
_WAYS = "down", "left", "right", "up"  # preferred in this order, which gives games of 200 moves


@dataclass
class Player:
    """A player's connection and the latencies of its moves."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    version: int = 0
    times: list[float] = field(default_factory=list)
    state: bytes = b""

    def send(self, text: str) -> None:
        """Send a text frame, masked with zeros."""
        data = text.encode()  # always short
        self.writer.write(bytes([0x81, 0x80 | len(data)]) + b"\0\0\0\0" + data)

    async def receive(self) -> bytes:
        """Return the next text frame; answer pings."""
        while True:
            kind, data = await self._frame()
            if kind == 1 and data != _PONG:
                return data
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

    async def begin(self) -> None:
        """Start a game."""
        self.send('{"type":"new","rules":"classic","mode":"casual"}')
        self.state = await self.receive()
        self.version = 0
        assert _LEGAL.search(self.state), self.state

    async def play(self, until: float, rate: float) -> None:
        """Make moves until a given time; start a new game when one is over.

        Args:
            until: The time at which to stop.
            rate: Moves per second, or 0 to move immediately after each acknowledgement.
        """
        due = time.perf_counter() + (random.random() / rate if rate else 0.0)
        while due < until:
            legal = _LEGAL.search(self.state)
            if legal is None:
                await self.begin()
                continue
            number, direction = self.version + 1, next(filter(legal[1].decode().count, _WAYS))
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            self.send(f'{{"type":"move","number":{number},"direction":"{direction}"}}')
            self.state = await self.receive()
            now = time.perf_counter()
            self.times.append(now - due)
            due = due + 1 / rate if rate else now
            found = _VERSION.search(self.state)
            self.version = int(found[1]) if found else -1
            assert self.version == number, self.state


async def connect(port: int) -> Player:
    """Open a WebSocket as a new guest and wait for the greeting."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    writer.write(
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 101 " in head.split(b"\r\n")[0], head
    player = Player(reader, writer)
    await player.receive()
    return player


class Contestant:
    """A server and its players.

    Attributes:
        server: The server.
        costs: CPU time per move in each turn, in microseconds.
        p99s: 99th percentile of the latency in each turn, in milliseconds.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.costs: list[float] = []
        self.p99s: list[float] = []
        self._players: list[Player] = []
        self._resting: list[asyncio.Task[bytes]] = []

    async def seat(self, count: int) -> None:
        """Connect players, a few at a time, start a game for each player, and print the costs."""
        gate, server = asyncio.Semaphore(50), self.server

        async def enter(player: Player | None = None) -> Player:
            async with gate:
                if player is None:
                    return await connect(server.port)
                await player.begin()
            self._resting.append(asyncio.create_task(player.receive()))  # answers pings
            return player

        warm = [await enter() for _ in range(50)]
        memory, before, began = server.memory(), server.seconds(), time.perf_counter()
        self._players = await asyncio.gather(*(enter() for _ in range(count)))
        idle = (server.memory() - memory) / count
        await asyncio.gather(*map(enter, self._players))
        cost, took = (server.seconds() - before) / count * 1e6, time.perf_counter() - began
        print(
            f"{server.name:<8}{count:>6} seated in {took:5.1f} s, {cost:,.0f} us of processor each;"
            f" an idle socket takes {idle:.1f} kB",
            flush=True,
        )
        for player in warm:
            player.writer.close()

    async def play(self, seconds: float, rate: float) -> None:
        """Let all players play for `seconds` seconds, and print the result."""
        for task in self._resting:
            task.cancel()
        await asyncio.gather(*self._resting, return_exceptions=True)
        before, until = self.server.seconds(), time.perf_counter() + seconds
        await asyncio.gather(*(player.play(until, rate) for player in self._players))
        used = self.server.seconds() - before
        times = sorted(time for player in self._players for time in player.times)
        for player in self._players:
            player.times.clear()
        self._resting = [asyncio.create_task(player.receive()) for player in self._players]
        self.costs.append(used / len(times) * 1e6)
        self.p99s.append(times[int(len(times) * 0.99)] * 1000)
        print(
            f"{self.server.name:<8}{len(self._players):>6} players"
            f" {len(times) / seconds:>8,.0f} moves/s  p50 {statistics.median(times) * 1000:7.1f} ms"
            f"  p99 {self.p99s[-1]:7.1f} ms  {self.costs[-1]:5.0f} us of processor a move ="
            f" {1e6 / self.costs[-1]:6,.0f} moves a processor second",
            flush=True,
        )


async def race(servers: Sequence[Server], count: int, chosen: argparse.Namespace) -> None:
    """Measure servers in turn, and compare each with the first. Their first turns are a warm-up."""
    contestants = [Contestant(server) for server in servers]
    await asyncio.gather(*(each.seat(count) for each in contestants))
    for each in contestants * (chosen.rounds + 1):
        await each.play(chosen.seconds, chosen.rate)
    for each in contestants[1:]:
        cost, late = (
            statistics.median(mine[1:]) / statistics.median(its[1:])
            for mine, its in ((each.costs, contestants[0].costs), (each.p99s, contestants[0].p99s))
        )
        print(
            f"{each.server.name} beside {servers[0].name}: {1 / cost:.2f} times the moves a"
            f" processor second, {late:.2f} times its p99",
            flush=True,
        )


async def storm(server: Server, count: int) -> None:
    """Open sockets at once while the server gets a tenth of a core; print how many it accepts.

    A client gives up after two minutes.
    """
    process, began = server.process, time.perf_counter()

    async def slow_down() -> None:
        while True:
            process.send_signal(signal.SIGCONT)
            used = server.seconds()
            while server.seconds() < used + 0.02:
                await asyncio.sleep(0.01)
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(0.18)

    async def visit() -> float:
        async with asyncio.timeout(120):
            await connect(server.port)
        return time.perf_counter() - began

    await connect(server.port)  # warms up
    slowing = asyncio.create_task(slow_down())
    found = await asyncio.gather(*(visit() for _ in range(count)), return_exceptions=True)
    slowing.cancel()
    process.send_signal(signal.SIGCONT)
    times = [each for each in found if isinstance(each, float)]
    last = max(times, default=0.0)
    print(f"{server.name}: {len(times)} of {count} sockets served, the last after {last:.0f} s")


class Server:
    """A server process.

    Args:
        name: ``echo``, or the name of a checkout.
        url: URL of the database.
        folder: Folder with the server's key.
        source: The checkout.
    """

    def __init__(self, name: str, url: str, folder: Path, source: Path) -> None:
        self.name = name
        command = [
            sys.executable, "-m", "py2048", "serve", "--port", "0", "--database", url,
            "--moves-rate", "100000", "--address-rate", "1000000", "--requests-rate", "100000",
            "--sockets", "6000", "--sockets-per-address", "6000", "--log-level", "error",
        ]  # fmt: skip
        if name == ECHO:
            command = [sys.executable, str(Path(__file__).with_name("echo.py")), url]
        environment = os.environ | {"PY2048_HOME": str(folder), "PYTHONPATH": str(source / "src")}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.port = int(line.rsplit(":", 1)[1])

    def seconds(self) -> float:
        """Return the CPU seconds used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:13])) / float(os.sysconf("SC_CLK_TCK"))

    def memory(self) -> float:
        """Return the resident memory in kB."""
        text = Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1000

    def stop(self) -> None:
        """Stop the server; kill it if it does not stop within a minute."""
        self.process.terminate()
        try:
            self.process.communicate(timeout=60)
        finally:
            self.process.kill()


@contextmanager
def database(kind: str) -> Iterator[tuple[str, Path]]:
    """Provide an empty database of the given kind, and a folder."""
    with tempfile.TemporaryDirectory(prefix="py2048-bench-") as name:
        if kind == "sqlite":
            yield f"sqlite:///{name}/bench.sqlite3", Path(name)
            return
        postgresql = importlib.import_module("tests.app.storage.postgresql_server")
        binaries = postgresql.find_binaries()
        if binaries is None:
            sys.exit("no PostgreSQL programs (initdb, pg_ctl): install postgresql")
        server = postgresql.PostgresqlServer(binaries, fsync=True)
        try:
            yield server.url(), Path(name)
        finally:
            server.remove()


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--players", type=int, nargs="+", default=[500])
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a turn")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each server")
    parser.add_argument(
        "--rate", type=float, default=0.0, help="moves a second of a player; 0: at once"
    )
    parser.add_argument("--database", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--storm", type=int, default=0, help="sockets to open at once")
    parser.add_argument("--against", type=Path, help="another checkout")
    chosen = parser.parse_args()
    if chosen.against and not (chosen.against / "src" / "py2048").is_dir():
        sys.exit(f"{chosen.against} is not a checkout of py2048")
    return chosen


def main() -> None:
    """Run the measurements."""
    chosen = parse_arguments()
    sources = {ECHO: ROOT, "now": ROOT} | ({"before": chosen.against} if chosen.against else {})
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    for kind in chosen.database:
        for count in chosen.players:
            load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
            print(f"{kind}, {os.cpu_count()} cores ({platform.machine()}), load {load}")
            with ExitStack() as stack:
                servers = []
                for name, source in sources.items():
                    url, folder = stack.enter_context(database(kind))
                    servers.append(Server(name, url, folder, source))
                    stack.callback(servers[-1].stop)
                loop = importlib.import_module("uvloop").new_event_loop  # costs players less
                with asyncio.Runner(loop_factory=loop) as runner:
                    for server in servers if chosen.storm else ():
                        runner.run(storm(server, chosen.storm))
                    if not chosen.storm:
                        runner.run(race(servers, count, chosen))


if __name__ == "__main__":
    main()
