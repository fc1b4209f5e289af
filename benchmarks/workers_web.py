"""What several workers, on one or two machines, make of faults under load.

Starts ``py2048 serve --workers N`` once or twice on loopback, on one temporary
PostgreSQL. Players make one move after another, and watchers follow some of their games.
Meanwhile one worker is killed (SIGKILL), or one is paused (SIGSTOP). Players
who lose their connection, or hear nothing for two seconds, come back as the page does, and go on
with their games.

Prints moves a second, processor time a move of all processes of the server, and how long players
and watchers were without the game. Exit status 1 if an acknowledged move is not in the store, a
player was told less than what was acknowledged, or a watcher is left behind.

``python benchmarks/workers_web.py --help`` lists the options.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench_web import Player, connect, database

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

PATIENCE = 2.0
_COME_BACK = 0.5  # the page waits about so long
_CATCH_UP = 10.0
_TICKS = os.sysconf("SC_CLK_TCK")
_CUT = (OSError, EOFError, TimeoutError, ConnectionError)
FAULTS = ("none", "kill", "pause")


class Machine:
    """A supervisor with its workers."""

    def __init__(self, url: str, folder: Path, workers: int, port: int) -> None:
        command = [
            *(sys.executable, "-m", "py2048", "serve", "--port", str(port), "--database", url),
            *("--moves-rate", "100000", "--address-rate", "1000000", "--requests-rate", "100000"),
            *("--sockets", "5000", "--sockets-per-address", "5000"),
            *("--workers", str(workers)),
        ]
        folder.mkdir()
        self.log = folder / "log"
        key = {"PY2048_SECRET_KEY": "the same for all machines"}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                env=os.environ | {"PY2048_HOME": str(folder)} | key,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def workers(self) -> list[int]:
        """Return the processes of the workers; a single one is its own supervisor."""
        pid = self.process.pid
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        spawned = (
            each for each in found if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()
        )
        return [int(each) for each in spawned] or [pid]

    def cpu(self) -> dict[int, float]:
        """Return the processor time of each process, in seconds."""
        times = {}
        for pid in {self.process.pid, *self.workers()}:
            with suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                times[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
        return times

    def memory(self) -> list[int]:
        """Return what each worker has for itself, in MB."""
        texts = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in self.workers())
        found = (re.findall(r"Private_\w+:\s+(\d+)", text) for text in texts)
        return [sum(map(int, each)) // 1024 for each in found]

    def stop(self) -> None:
        """End it kindly."""
        self.process.terminate()
        try:
            self.process.wait(90)
        finally:
            self.process.kill()
            assert self.process.stdout is not None
            self.process.stdout.close()


@dataclass
class Game:
    """A player who comes back, and those who watch."""

    ports: Sequence[int]
    player: Player
    pace: float
    outages: list[float] = field(default_factory=list)
    surprises: int = 0
    moved: dict[tuple[str, int], float] = field(default_factory=dict)
    seen: dict[int, dict[tuple[str, int], float]] = field(default_factory=dict)  # by watcher

    async def keep_playing(self, until: float) -> None:
        """Move until the time is over, however often the connection is lost."""
        lost = 0.0
        while time.perf_counter() < until:
            try:
                if lost:
                    await self._come_back()
                    await self._move()
                    self.outages.append(time.perf_counter() - lost)
                    lost = 0.0
                while time.perf_counter() < until:
                    await self._move()
                    await asyncio.sleep(self.pace)
            except _CUT:
                lost = lost or time.perf_counter()
                self.player.writer.close()
                self.ports = [*self.ports[1:], self.ports[0]]
                await asyncio.sleep(_COME_BACK)

    async def _move(self) -> None:
        player = self.player
        legal = json.loads(player.state).get("legal")
        if not legal:  # over, or refused: see what is in the store
            await self._open()
            if not json.loads(player.state).get("legal"):
                player.state = await asyncio.wait_for(player.begin(), PATIENCE)
            return
        number, began = player.version + 1, time.perf_counter()
        await player.send(f'{{"type":"move","number":{number},"direction":"{legal[0]}"}}')
        state = await asyncio.wait_for(player.receive(), PATIENCE)
        player.state = state
        if json.loads(state).get("version") == number and b'"type":"events"' in state[:40]:
            player.version = number
            self.moved[player.game, number] = time.perf_counter()
            player.times.append(time.perf_counter() - began)

    async def _come_back(self) -> None:
        old = self.player
        new = await asyncio.wait_for(connect(self.ports[0], old.cookie), PATIENCE)
        new.game, new.version, new.times = old.game, old.version, old.times
        self.player = new
        await self._open()

    async def _open(self) -> None:
        """Ask for the game, which must have all that was acknowledged."""
        player = self.player
        await player.send(f'{{"type":"open","game":"{player.game}"}}')
        while True:
            state = await asyncio.wait_for(player.receive(), PATIENCE)
            if json.loads(state)["type"] == "state":
                break
        version = json.loads(state)["version"]
        self.surprises += version < player.version
        player.state, player.version = state, version

    async def watch(self, number: int, over: asyncio.Event) -> None:
        """Follow the game as somebody else until it is `over`; note when each version is seen."""
        port, seen = self.ports[number % len(self.ports)], self.seen.setdefault(number, {})
        while not (over.is_set() and self.is_seen(number)):
            try:
                watcher = await asyncio.wait_for(connect(port), PATIENCE)
                game = self.player.game
                await watcher.send(f'{{"type":"watch","game":"{game}"}}')
                while True:
                    frame = await asyncio.wait_for(watcher.receive(), 2 * PATIENCE)
                    seen.setdefault(
                        (game, json.loads(frame).get("version", 0)), time.perf_counter()
                    )
                    if over.is_set() and self.is_seen(number):
                        return
            except _CUT:  # or the game is over
                await asyncio.sleep(_COME_BACK)

    def is_seen(self, number: int) -> bool:
        """Return whether a watcher has seen all moves."""
        game, version = self.player.game, self.player.version
        return any(each == game and seen >= version for each, seen in self.seen[number])

    def lags(self) -> list[float]:
        """Return for each move how much later than its player each watcher knew of it."""
        found = []
        for seen in self.seen.values():
            first: dict[str, int] = {}
            for game, version in sorted(seen):
                first.setdefault(game, version)
            known: tuple[str, float] | None = None
            for game, version in sorted(self.moved, reverse=True):
                when = seen.get((game, version))
                known = (game, when) if when else known
                if known and known[0] == game and version > first[game]:
                    found.append(max(known[1] - self.moved[game, version], 0.0))
        return found


def damage(fault: str, machines: Sequence[Machine]) -> None:
    """Do something bad to the server."""
    victim = machines[0].workers()[-1]
    if fault == "kill":
        os.kill(victim, signal.SIGKILL)
    elif fault == "pause":
        os.kill(victim, signal.SIGSTOP)


async def play(machines: Sequence[Machine], chosen: argparse.Namespace, fault: str) -> list[Game]:
    """Let everybody play and watch, do damage in the middle, and return the games."""
    ports = [machine.port for machine in machines]
    games: list[Game] = []
    for number in range(chosen.players):
        shifted = ports[number % len(ports) :] + ports[: number % len(ports)]
        player = await connect(shifted[0])
        player.state = await player.begin()
        games.append(Game(shifted, player, chosen.pace))
    before = {pid: used for machine in machines for pid, used in machine.cpu().items()}
    began, until = time.perf_counter(), time.perf_counter() + chosen.seconds
    over = asyncio.Event()
    watching = [
        asyncio.create_task(games[number % len(games)].watch(number + 1, over))
        for number in range(chosen.watchers)
    ]
    playing = [asyncio.create_task(game.keep_playing(until)) for game in games]
    await asyncio.sleep(chosen.seconds / 3)
    await asyncio.to_thread(damage, fault, machines)
    await asyncio.gather(*playing)
    seconds = time.perf_counter() - began
    after = {pid: used for machine in machines for pid, used in machine.cpu().items()}
    cpu = sum(used - before.get(pid, 0.0) for pid, used in after.items())
    moves = sum(len(game.player.times) for game in games)
    print(
        f"  {fault:<6} {moves:>8,} moves {moves / seconds:>7,.0f}/s"
        f" {cpu / max(moves, 1) * 1e6:>6,.0f} us of processor a move"
        f" {'' if fault == 'none' else '(without the lost worker)'}",
        flush=True,
    )
    over.set()
    await asyncio.wait(watching, timeout=_CATCH_UP)
    for task in watching:
        task.cancel()
    return games


def missing_moves(url: str, games: Sequence[Game]) -> int:
    """Return how many acknowledged moves are not in the store."""
    from py2048.app.storage import open_store

    missing = 0
    with open_store(url) as store:
        for game in games:
            saved = store.games.find(game.player.game)
            if saved or not store.records.summary(game.player.game):  # else it is finished
                missing += max(game.player.version - (saved.revision if saved else 0), 0)
    return missing


def judge(url: str, games: Sequence[Game], watchers: int) -> int:
    """Print what the fault did to players and watchers; return how many were wronged."""
    outages = [each for game in games for each in game.outages]
    missing, surprises = missing_moves(url, games), sum(game.surprises for game in games)
    behind = sum(not games[number % len(games)].is_seen(number + 1) for number in range(watchers))
    _describe("players were cut off and moved again after", outages)
    _describe("moves were acknowledged after", [t for game in games for t in game.player.times])
    _describe("moves came to a watcher", [lag for game in games for lag in game.lags()])
    print(
        f"         {missing} acknowledged moves missing, {surprises} players set back,"
        f" {behind} of {watchers} watchers behind",
        flush=True,
    )
    return missing + surprises + behind


def _describe(what: str, seconds: Sequence[float]) -> None:
    if seconds:
        times = sorted(seconds)
        middle, most = times[len(times) // 2], times[len(times) * 99 // 100]
        print(
            f"         {len(times):,} {what} {middle:.3f} s (median),"
            f" {most:.3f} s (99 of 100), {times[-1]:.3f} s (longest)"
        )


def trial(chosen: argparse.Namespace, fault: str) -> int:
    """Run one fault on fresh machines; return how many were wronged."""
    with database(chosen.database) as (url, folder), ExitStack() as running:
        machines = []
        for number in range(chosen.machines):
            machine = Machine(url, folder / str(number), chosen.workers, chosen.port)
            running.callback(machine.stop)
            machines.append(machine)
        games = asyncio.run(play(machines, chosen, fault))
        if fault == "none":
            print(f"         workers have {[machine.memory() for machine in machines]} MB each")
        wronged = judge(url, games, chosen.watchers)
        if wronged:
            for machine in machines:
                lines = machine.log.read_text().splitlines()
                print(*(line for line in lines if '"level": "info"' not in line), sep="\n")
        return wronged


def main() -> None:
    """Try the faults that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--players", type=int, default=40)
    parser.add_argument("--watchers", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--pace", type=float, default=0.0, help="seconds a player thinks")
    parser.add_argument("--workers", type=int, default=2, help="of each machine")
    parser.add_argument("--machines", type=int, default=1, help="supervisors on one database")
    parser.add_argument("--database", default="postgresql", choices=("postgresql",))
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=["none", "kill"])
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    print(
        f"{chosen.machines} x {chosen.workers} workers, {chosen.database}"
        f": {chosen.players} players,"
        f" {chosen.watchers} watchers"
    )
    sys.exit(1 if sum([trial(chosen, fault) for fault in chosen.faults]) else 0)


if __name__ == "__main__":
    main()
