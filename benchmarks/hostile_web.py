"""Whether hostile visitors cost honest players a move.

Starts ``py2048 serve`` on loopback, on a temporary SQLite file or PostgreSQL cluster. Honest
players make one move after another, while hostile guests of the same address begin games under
the worst rules and send the worst messages. Every honest move has to be acknowledged, and to be in
the store at the end.

Run ``python benchmarks/hostile_web.py --help`` for smaller and larger runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from typing import Any

from bench_web import Server, database
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from py2048.app.storage import open_store

WORST_RULES = (
    f"a:size=16x16,start=256x{2**60}:1,spawn={2**60}:1",
    f"a:size=2x2,start=4x{2**62}:1,spawn={2**62}:1,merging=cascade",
    f"a:size=4x4,start=16x{2**20}:1,spawn={2**20}:1,merging=cascade",
    f"a:size=1x16,start=1x{2**100}:1,spawn=edge:{2**100}",
    f"a:scoring=moves:{2**62}:{-(2**62)}",
    "a:scoring=moves:1000000:-1000000",
    f"a:scoring=sum,start=1x{2**62}:1,spawn={2**62}:1",
    f"a:target={2**300}",
    "a:spawn=2:1e99999999",
    "\ud800:size=2x2",
    "a\0b:size=2x2",
    "\u202ea:size=2x2",
    f"{'x' * 330}:size=16x16",
)
_DIRECTIONS = ("left", "up", "right", "down")
Json = dict[str, Any]


async def ask(socket: ClientConnection, **message: Any) -> Json:
    """Send a message and return what comes next."""
    await socket.send(json.dumps(message))
    answer: Json = json.loads(await asyncio.wait_for(socket.recv(), 30))
    return answer


async def play(port: int, until: float, moves: dict[str, tuple[int, int]]) -> None:
    """Move until the time is over; write down for each game what was sent and acknowledged."""
    async with connect(f"ws://127.0.0.1:{port}/ws") as socket:
        await socket.recv()
        state = await ask(socket, type="new", rules="long:size=5x5", mode="casual")
        game, version, acknowledged = state["game"], 0, 0
        while time.perf_counter() < until and state["legal"]:
            move = {"number": version + 1, "direction": state["legal"][0]}
            moves[game] = moves.get(game, (0, 0))[0] + 1, acknowledged
            answer = await ask(socket, type="move", **move)
            acknowledged += answer["type"] == "events" and answer["version"] == version + 1
            moves[game] = moves[game][0], acknowledged
            state = answer.get("state") or answer
            version = state["version"]
            await asyncio.sleep(0.05)


async def harm(port: int, until: float, number: int) -> None:
    """Misbehave under one worst set of rules after another until the time is over."""
    chance = random.Random(number)
    while time.perf_counter() < until:
        try:
            async with connect(f"ws://127.0.0.1:{port}/ws") as socket:
                await socket.recv()
                await misbehave(socket, until, chance)
        except (OSError, TimeoutError, WebSocketException):
            await asyncio.sleep(0.1)


async def misbehave(socket: ClientConnection, until: float, chance: random.Random) -> None:
    """Begin a game under the worst rules, and send the worst messages."""
    answer = await ask(socket, type="new", rules=chance.choice(WORST_RULES), mode="casual")
    for _ in range(30):
        number = (answer.get("state") or answer).get("version", 0) + 1
        worst: list[Json] = [
            {"type": "move", "number": number, "direction": chance.choice(_DIRECTIONS)},
            {"type": "undo", "number": number},
            {"type": "\ud800", "number": 2**31 - 1},
        ]
        answer = await ask(socket, **chance.choices(worst, (8, 1, 1))[0])
        if time.perf_counter() > until:
            return
        await asyncio.sleep(0.03)


async def besiege(port: int, honest: int, hostile: int, seconds: float) -> dict[str, int]:
    """Print how many honest moves were lost; return how many were acknowledged in each game."""
    until = time.perf_counter() + seconds
    moves: dict[str, tuple[int, int]] = {}
    results = await asyncio.gather(
        *(play(port, until, moves) for _ in range(honest)),
        *(harm(port, until, number) for number in range(hostile)),
        return_exceptions=True,
    )
    failures = [result for result in results if isinstance(result, BaseException)]
    sent = sum(each for each, _ in moves.values())
    lost = sent - sum(each for _, each in moves.values())
    print(f"  {honest} honest players beside {hostile} hostile guests:", end=" ")
    print(f"{sent:,} moves sent, {lost:,} lost, {len(failures)} cut off", *failures[:1], flush=True)
    return {game: each for game, (_, each) in moves.items()}


def main() -> None:
    """Measure as the command line asks; exit status 1 if an acknowledged move is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--honest", type=int, default=40)
    parser.add_argument("--hostile", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--database", nargs="+", default=["sqlite", "postgresql"])
    chosen = parser.parse_args()
    missing = 0
    for kind in chosen.database:
        with database(kind) as (url, folder):
            print(kind)
            server = Server(url, folder, "disk")
            moves = asyncio.run(besiege(server.port, chosen.honest, chosen.hostile, chosen.seconds))
            server.stop()
            with open_store(url) as store:
                for game, acknowledged in moves.items():
                    saved = store.games.find(game)
                    missing += max(acknowledged - (saved.revision if saved else 0), 0)
    sys.exit(f"{missing} acknowledged moves are not in the store" if missing else 0)


if __name__ == "__main__":
    main()
