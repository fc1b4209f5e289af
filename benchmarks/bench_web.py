"""Measure the web server's throughput and latency.

Starts ``py2048 serve`` on loopback with a temporary SQLite file or PostgreSQL cluster, and connects
players who each move as soon as the previous move is acknowledged. Players and server share the
machine.

``--against PATH`` measures this and another checkout alternately, and compares the two:

    python benchmarks/bench_web.py --players 1000 --rate 1 --against ../py2048-before

CPU time is counted once all players are connected, and excludes PostgreSQL's. Latency is the time
from when a move is due to its acknowledgement; with ``--rate``, a move may be due before it is
sent.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

OURS, THEIRS = "now", "before"
T = TypeVar("T")
WRITER = "writer and other threads"
_VERSION = re.compile(rb'"version":(\d+)')
_LEGAL = re.compile(rb'"legal":\["(\w+)"')


@dataclass
class Player:
    """A player's connection, and the latency of its moves."""

    port: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    game: str = ""
    version: int = 0
    times: list[float] = field(default_factory=list)
    state: bytes = b""
    coming: asyncio.Task[tuple[int, bytes]] | None = None

    async def send(self, text: str) -> None:
        """Send a text frame, masked with zeros."""
        data = text.encode()
        head = bytes([0x81, 0x80 | len(data)]) if len(data) < 126 else None
        assert head, "the benchmark sends short messages only"
        self.writer.write(head + b"\0\0\0\0" + data)
        await self.writer.drain()

    async def receive(self) -> bytes:
        """Return the next text frame; answer pings."""
        while True:
            kind, data = await (self.coming or self._frame())
            self.coming = None
            if kind == 1:
                return data
            self._answer(kind, data)

    async def wait(self, start: asyncio.Event) -> None:
        """Wait until all players are connected, answering pings meanwhile."""
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
        """Start a game and return its state; reconnect as another guest if the server is busy."""
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

    async def play(self, until: float, rate: float) -> None:
        """Make moves until a given time; start a new game when one is over.

        Args:
            until: When to stop.
            rate: Moves per second; 0 to move immediately after each acknowledgement.
        """
        state, due = self.state, time.perf_counter()
        due += random.random() / rate if rate else 0.0
        while due < until:
            legal = _LEGAL.search(state)
            if legal is None:
                state = await self.begin()
                continue
            number, direction = self.version + 1, legal[1].decode()
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            await self.send(f'{{"type":"move","number":{number},"direction":"{direction}"}}')
            state = await self.receive()
            now = time.perf_counter()
            self.times.append(now - due)
            due = due + 1 / rate if rate else now
            found = _VERSION.search(state)
            self.version = int(found[1]) if found else -1
            assert self.version == number, state


async def connect(port: int) -> Player:
    """Open a WebSocket as a new guest and wait for the greeting."""
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


async def enter(ports: Sequence[int], count: int) -> list[Player]:
    """Connect `count` players, a few at a time, and start a game for each."""
    gate, start = asyncio.Semaphore(50), asyncio.Event()
    players: list[Player] = []

    async def one(port: int) -> None:
        async with gate:
            player = await connect(port)
            player.state = await player.begin()
        players.append(player)
        if len(players) == count:
            start.set()
        await player.wait(start)

    await asyncio.gather(*(one(ports[index % len(ports)]) for index in range(count)))
    return players


async def play(players: list[Player], seconds: float, rate: float = 0.0) -> None:
    """Let all players play for `seconds` seconds."""
    until = time.perf_counter() + seconds
    results = await asyncio.gather(
        *(player.play(until, rate) for player in players), return_exceptions=True
    )
    failures = [result for result in results if isinstance(result, BaseException)]
    for player in players:
        player.writer.close()
    if failures:
        print(f"  {len(failures)} players were cut off: {failures[0]!r}")


@dataclass
class Result:
    """Measurements of one run.

    Attributes:
        tree: The measured checkout.
        players: Number of players.
        seconds: Duration.
        times: Latency of each move in seconds, ascending.
        processor: CPU seconds of the servers, by kind of thread.
    """

    tree: str
    players: int
    seconds: float
    times: list[float]
    processor: dict[str, float]

    @property
    def cost(self) -> float:
        """CPU time of the servers per move, in microseconds."""
        return sum(self.processor.values()) / len(self.times) * 1e6

    def print(self) -> None:
        """Print the results, with one line per kind of thread."""
        moves = len(self.times)
        print(
            f"{self.tree:<8}{self.players:>6} players {moves / self.seconds:>8,.0f} moves/s"
            f"  p50 {statistics.median(self.times) * 1000:8.2f} ms"
            f"  p99 {self.times[int(moves * 0.99)] * 1000:8.2f} ms"
            f"  {self.cost:6.0f} us of processor a move"
            f" = {1e6 / self.cost:6,.0f} moves a processor second",
            flush=True,
        )
        for part, seconds in self.processor.items():
            print(f"{'':<8}{seconds / moves * 1e6:>8.0f} us  {part}")


async def measure(servers: Sequence[Server], count: int, chosen: argparse.Namespace) -> Result:
    """Let `count` players play, with the options from the command line."""
    await play(await enter([servers[0].port], min(count, 10)), 1.0)  # warm
    players = await enter([server.port for server in servers], count)
    before = [processor_seconds(server.process.pid) for server in servers]
    await play(players, chosen.seconds, chosen.rate)
    used: defaultdict[str, float] = defaultdict(float)
    for server, then in zip(servers, before, strict=True):
        for thread, seconds in processor_seconds(server.process.pid).items():
            part = "event loop" if int(thread) == server.process.pid else WRITER
            used[part] += seconds - then.get(thread, 0.0)
    processor = {"event loop": used["event loop"], WRITER: used[WRITER]}
    times = sorted(time for player in players for time in player.times)
    return Result(servers[0].tree, count, chosen.seconds, times, processor)


def compare(results: Sequence[Result]) -> None:
    """Print the median costs of two checkouts and their ratio."""
    costs: dict[str, list[float]] = {}
    for result in results:
        costs.setdefault(result.tree, []).append(result.cost)
    ours, theirs = statistics.median(costs[OURS]), statistics.median(costs[THEIRS])
    print(
        f"        in the median {theirs:.0f} us before, {ours:.0f} us now:"
        f" {theirs / ours:.2f} times the moves a processor second",
        flush=True,
    )


def processor_seconds(pid: int) -> dict[str, float]:
    """Return the CPU seconds that each thread of a process has used."""
    ticks = os.sysconf("SC_CLK_TCK")
    seconds = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # the thread has just ended
            continue
        seconds[task.name] = (int(fields[11]) + int(fields[12])) / ticks
    return seconds


class Server:
    """A server process.

    Args:
        url: Its database.
        folder: Folder of its key.
        durability: The value of ``--durability``.
        other: Another checkout to run instead of this one.
    """

    def __init__(self, url: str, folder: Path, durability: str, other: Path | None = None) -> None:
        self.tree = THEIRS if other else OURS
        command = [
            sys.executable, "-m", "py2048", "serve", "--port", "0", "--database", url,
            "--moves-rate", "100000", "--address-rate", "1000000", "--requests-rate", "100000",
            "--sockets", "5000", "--sockets-per-address", "5000", "--log-level", "error",
            "--durability", durability,
        ]  # fmt: skip
        source = (other or Path(__file__).resolve().parent.parent) / "src"
        environment = os.environ | {"PY2048_HOME": str(folder), "PYTHONPATH": str(source)}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.port = int(line.rsplit(":", 1)[1])

    def stop(self) -> None:
        """Stop the server; kill it if it does not stop within a minute."""
        self.process.terminate()
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            assert self.process.stdout is not None
            self.process.stdout.close()


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


def run_players(players: Coroutine[object, object, T]) -> T:
    """Run players on uvloop, which leaves more CPU time to the server."""
    with asyncio.Runner(loop_factory=importlib.import_module("uvloop").new_event_loop) as runner:
        return runner.run(players)


def run(kind: str, count: int, chosen: argparse.Namespace, other: Path | None) -> Result:
    """Measure a checkout on a new database and print the result."""
    with database(kind) as (url, folder):
        servers = [Server(url, folder, chosen.durability, other) for _ in range(chosen.processes)]
        try:
            result = run_players(measure(servers, count, chosen))
        finally:
            for server in servers:
                server.stop()
    result.print()
    return result


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--players", type=int, nargs="+", default=[1, 50, 500, 2000])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument(
        "--rate", type=float, default=0.0, help="moves a second of a player; 0: at once"
    )
    parser.add_argument("--database", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--processes", type=int, default=1, help="servers that share the players")
    parser.add_argument("--durability", default="disk", help="disk, or process: see serve --help")
    parser.add_argument("--against", type=Path, help="another checkout, measured in turns")
    parser.add_argument("--rounds", type=int, default=1, help="the number of runs of each checkout")
    chosen = parser.parse_args()
    if chosen.against and not (chosen.against / "src" / "py2048").is_dir():
        sys.exit(f"{chosen.against} is not a checkout of py2048")
    return chosen


def main() -> None:
    """Run the measurements."""
    chosen = parse_arguments()
    for kind in chosen.database:
        for count in chosen.players:
            print(f"{kind}, {chosen.processes} process(es)")
            trees = [chosen.against, None] if chosen.against else [None]
            results = []
            for number in range(chosen.rounds):
                # Alternate the order between rounds.
                ordered = trees if number % 2 == 0 else trees[::-1]
                results += [run(kind, count, chosen, tree) for tree in ordered]
            if chosen.against:
                compare(results)


if __name__ == "__main__":
    main()
