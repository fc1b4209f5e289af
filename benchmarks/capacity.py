"""What a move costs in processor time, rows and bytes, and what that makes for many players.

Starts two one-worker servers on a temporary PostgreSQL with a Redis. Players play on one, and
watchers sit on the other. Prints the costs measured, then the arithmetic for ``--target`` players
who move once a second. ``docs/explanation/many-players.md`` explains the lines.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import math
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa
from bench_web import Player, connect, database, enter, play
from workers_web import Machine, start_redis

from py2048.board import Board
from py2048.direction import Direction
from py2048.server.play.games import GameService
from py2048.server.play.sharing import Changed
from py2048.storage import GameChange, Store, open_store

_TICKS = os.sysconf("SC_CLK_TCK")
_LONG_GAME = 2000  # turns, about a game to the tile 2048
_UTILISATION = 0.5
"""Of a core: beyond it those who play wait for each other."""


@dataclass
class Costs:
    """What was measured, for one move where nothing else is said."""

    server: float  # seconds of processor
    database: float
    rows: float
    log: float  # bytes
    disk: float
    sent: float
    received: float
    memory: float  # bytes a player
    followed: float  # seconds for a move of a game that is watched in another process
    delivered: float  # seconds for each watcher
    redis: float
    message: float  # bytes
    loading: float  # seconds for a long game
    listening: float  # seconds a second of a process in which nobody plays


def processor(pid: int, *, children: bool = False) -> float:
    """Return the seconds that a process has used; with those of its children if asked for."""
    used = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if path.parent.name == str(pid):
            used += sum(map(int, fields[11:15] if children else fields[11:13])) / _TICKS
        elif children and fields[1] == str(pid):
            used += sum(map(int, fields[11:13])) / _TICKS
    return used


def postmaster_of(store: Store) -> int:
    """Return the process of the PostgreSQL server of a store."""
    with store.read() as connection:
        folder = connection.scalar(sa.text("SHOW data_directory"))
    return int((Path(folder) / "postmaster.pid").read_text().split()[0])


def facts_of(store: Store) -> dict[str, float]:
    """Return what PostgreSQL has counted so far."""
    queries = {
        "log": "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')",
        "turns": "SELECT count(*) FROM turns",
        "disk": "SELECT pg_total_relation_size('turns')",
        "rows": "SELECT sum(n_tup_ins + n_tup_upd) FROM pg_stat_user_tables"
        " WHERE relname IN ('games', 'turns')",
    }
    time.sleep(1.5)  # statistics come late
    with store.write() as connection:
        return {name: float(connection.scalar(sa.text(text))) for name, text in queries.items()}


@dataclass
class Servers:
    """Two servers on one store: players are on the first."""

    store: Store
    playing: Machine
    watching: Machine
    redis: Any

    def seconds(self) -> dict[str, float]:
        """Return the processor time that each part has used."""
        return {
            "server": processor(self.playing.process.pid),
            "watching": processor(self.watching.process.pid),
            "database": processor(postmaster_of(self.store), children=True),
            "redis": processor(self.redis.process.pid),
        }


async def _play(servers: Servers, count: int, seconds: float) -> list[Player]:
    players = await enter([servers.playing.port], count)
    await play(players, seconds)
    return players


def measure_play(servers: Servers, count: int, seconds: float) -> dict[str, float]:
    """Return what a move costs that nobody watches."""
    asyncio.run(_play(servers, 10, 1.0))  # warm
    facts, before = facts_of(servers.store), servers.seconds()
    players = asyncio.run(_play(servers, count, seconds))
    moves = sum(len(player.times) for player in players)
    after = servers.seconds()
    now = facts_of(servers.store)
    state = players[0].state
    found = {name: (after[name] - before[name]) / moves for name in ("server", "database")}
    found |= {name: (now[name] - facts[name]) / moves for name in ("rows", "log", "disk")}
    found["sent"] = len(state) + 4
    found["received"] = len('{"type":"move","number":1000,"direction":"right"}') + 6
    found["listening"] = (after["watching"] - before["watching"]) / seconds
    return found


async def _watch(port: int, game: str) -> Player:
    watcher = await connect(port)
    await watcher.send(f'{{"type":"watch","game":"{game}"}}')
    await watcher.receive()
    return watcher


async def _drain(watcher: Player) -> None:
    while True:
        await watcher.receive()


async def _play_watched(servers: Servers, games: int, watchers: int, seconds: float) -> int:
    players = []
    for _ in range(games):
        player = await connect(servers.playing.port)
        player.state = await player.begin()
        players.append(player)
    seats = [
        await _watch(servers.watching.port, player.game)
        for player in players
        for _ in range(watchers)
    ]
    draining = [asyncio.create_task(_drain(seat)) for seat in seats]
    await asyncio.sleep(1.0)
    until = time.perf_counter() + seconds
    await asyncio.gather(*(player.play(until, 0.0) for player in players))
    await asyncio.sleep(0.5)
    for task in draining:
        task.cancel()
    for each in (*players, *seats):
        each.writer.close()
    return sum(len(player.times) for player in players)


def measure_watching(servers: Servers, seconds: float) -> dict[str, float]:
    """Return what a move costs in another process where it is watched."""
    costs = {}
    for watchers in (1, 11):
        before = servers.seconds()
        moves = asyncio.run(_play_watched(servers, 8, watchers, seconds))
        after = servers.seconds()
        costs[watchers] = {name: (after[name] - before[name]) / moves for name in before}
    delivered = max(costs[11]["watching"] - costs[1]["watching"], 0.0) / 10
    change = GameChange("f" * 16, 999, 1000, 1000, 1000, 9999, False, 0, 0, {"computer": False,
                        "max_tile": 1024}, ((999, "l2a", 345),))  # fmt: skip
    message = len(msgspec.json.encode(Changed("f" * 8, change)))
    return {
        "delivered": delivered,
        "followed": max(costs[1]["watching"] - delivered, 0.0),
        "redis": costs[1]["redis"],
        "message": message,
    }


def measure_loading(store: Store) -> float:
    """Return the seconds to load a long game from the store, as when its worker has died."""
    service = GameService(store)
    game, new = service.plan_game("f" * 32, "long:size=5x5", "casual")
    assert new is not None
    store.changes.write([new])
    order = (Direction.LEFT, Direction.DOWN, Direction.RIGHT, Direction.UP)
    while game.version < _LONG_GAME and not game.is_over:
        board: Board = game.session.game.board
        chosen = next(each for each in order if board.slide(each).board != board)
        game.move(game.version + 1, chosen)
    store.changes.write([game.changes.take()])
    gc.collect()
    began = time.process_time()
    for _ in range(3):
        service.load(game.id)
    return (time.process_time() - began) / 3 * _LONG_GAME / game.version


def measure_memory(servers: Servers, count: int) -> float:
    """Return the bytes that a player who is connected and has begun a game costs the server."""

    async def enter() -> float:
        before = _resident(servers.playing.process.pid)
        players = []
        for _ in range(count):
            player = await connect(servers.playing.port)
            player.state = await player.begin()
            players.append(player)
        grown = _resident(servers.playing.process.pid) - before
        for player in players:
            player.writer.close()
        return grown / count

    return asyncio.run(enter())


def _resident(pid: int) -> int:
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def measured(count: int, seconds: float) -> Costs:
    """Measure everything."""
    with database("postgresql") as (url, folder), ExitStack() as running:
        redis = start_redis(running, folder)
        machines = []
        for name in ("playing", "watching"):
            machine = Machine(url, folder / name, 1, redis.url, 0)
            running.callback(machine.stop)
            machines.append(machine)
        with open_store(url) as store:
            servers = Servers(store, machines[0], machines[1], redis)
            found = measure_play(servers, count, seconds)
            found |= measure_watching(servers, seconds)
            return Costs(
                **found, loading=measure_loading(store), memory=measure_memory(servers, 300)
            )


def report(costs: Costs, target: int, watched: float, watchers: int) -> None:
    """Print what was measured, and what it makes for `target` players."""
    lines: Sequence[tuple[str, float, str]] = (
        ("server, processor a move", costs.server * 1e6, "us"),
        ("PostgreSQL, processor a move", costs.database * 1e6, "us"),
        ("rows written a move", costs.rows, ""),
        ("write-ahead log a move", costs.log, "bytes"),
        ("table of turns a move", costs.disk, "bytes"),
        ("frame to the player a move", costs.sent, "bytes"),
        ("frame from the player a move", costs.received, "bytes"),
        ("memory of the server a player", costs.memory / 1024, "KiB"),
        ("following a move in another process", costs.followed * 1e6, "us"),
        ("and for each watcher there", costs.delivered * 1e6, "us"),
        ("Redis, processor a message", costs.redis * 1e6, "us"),
        ("message between processes", costs.message, "bytes"),
        (f"loading a game of {_LONG_GAME} turns", costs.loading * 1e3, "ms"),
        ("process in which nobody plays", costs.listening * 1e3, "ms/s"),
    )
    print("measured")
    for name, value, unit in lines:
        print(f"  {name:<38}{value:>10,.1f} {unit}")
    moves = target  # one a second each
    shared = moves * watched
    serving = moves * costs.server + shared * (costs.followed + watchers * costs.delivered)
    workers = math.ceil(serving / _UTILISATION)
    print(f"computed for {target:,} players who move once a second,")
    print(f"  {watched:.1%} of whose games have {watchers} watchers in one other process")
    for name, text in (
        ("workers, at half a core each", f"{workers:,}"),
        ("players of a worker", f"{target / workers:,.0f}"),
        ("memory of a worker's players", f"{target / workers * costs.memory / 2**20:,.0f} MiB"),
        ("cores of PostgreSQL, fully used", f"{moves * costs.database:,.1f}"),
        ("rows a second", f"{moves * costs.rows:,.0f}"),
        ("write-ahead log", f"{moves * costs.log / 2**20:,.1f} MiB/s"),
        ("turns of games in progress", f"{moves * costs.disk * 3600 / 2**30:,.0f} GiB an hour"),
        ("to players", f"{moves * costs.sent * 8 / 1e6:,.0f} Mbit/s"),
        ("messages by Redis", f"{shared:,.0f} a second, {shared * costs.redis:.2f} cores"),
        (
            "all games of a dead worker are loaded in",
            f"{target / workers * costs.loading / workers:,.2f} s by the others, if all are long",
        ),
    ):
        print(f"  {name:<42}{text}")


def main() -> None:
    """Measure and compute as the command line asks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--players", type=int, default=100, help="who play while it is measured")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--target", type=int, default=100_000, help="players to compute for")
    parser.add_argument("--watched", type=float, default=0.01, help="share of games watched")
    parser.add_argument("--watchers", type=int, default=5, help="of a game that is watched")
    chosen = parser.parse_args()
    report(
        measured(chosen.players, chosen.seconds), chosen.target, chosen.watched, chosen.watchers
    )  # fmt: skip


if __name__ == "__main__":
    main()
