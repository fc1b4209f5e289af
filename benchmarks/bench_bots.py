"""How long programs wait for a move on the web server, and what a move costs its processor.

Starts ``py2048 serve`` on loopback, on a temporary SQLite file or another database, and makes many
moves without thinking: by requests on one connection (`py2048.client`) and over the WebSocket. The
last column is what the server's clock takes for thinking: the network's part, and the least that a
program can reach.

Run ``python benchmarks/bench_bots.py --help`` for other numbers and databases.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from typing import Any

from py2048.client import BotClient
from py2048.core.direction import Direction

RULES = "long:size=8x8"  # no game ends too soon
Move = Callable[[], int]
"""Makes a move and returns the milliseconds of all moves by the server's clock."""


@contextmanager
def serving(database: str | None, durability: str) -> Iterator[tuple[str, int]]:
    """Serve within the block; yield the address and the process."""
    much = "1000000"
    limits = ("--requests-rate", "--address-rate", "--bot-moves-rate", "--bots-rate")
    options = [word for name in limits for word in (name, much)]
    options += ["--database", database] if database else []
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [sys.executable, "-m", "py2048", "serve", "--port", "0", "--log-level", "error",
             "--durability", durability, *options],
            env=os.environ | {"PY2048_HOME": home}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1], process.pid
        finally:
            process.terminate()
            process.wait(30)


def make_token(server: str) -> str:
    """Return the token of a new program."""
    jar = urllib.request.HTTPCookieProcessor(CookieJar())
    opener = urllib.request.build_opener(jar)
    page = ""
    name = f"Bench {time.time_ns()}"[:24]
    for form, fields in (
        ("claim", {"name": name, "password": "a long enough secret"}),
        ("bot", {"name": f"{name[5:]}b"}),
    ):
        body = urllib.parse.urlencode(fields).encode()
        page = opener.open(f"{server}/account/{form}", body).read().decode()
    found = re.search(r'<code id="token">([^<]+)</code>', page)
    assert found, page
    return found[1]


@contextmanager
def by_requests(server: str, token: str) -> Iterator[Move]:
    """Yield what makes a move by a request."""
    with BotClient(server, token) as client:
        game = client.new_game(RULES)

        def move() -> int:
            legal = game.state["legal"]
            game.play(Direction.parse(legal[game.ply % len(legal)]))
            return game.think_ms

        yield move


@contextmanager
def by_socket(server: str, token: str) -> Iterator[Move]:
    """Yield what makes a move over the WebSocket."""
    client: Any = importlib.import_module("websockets.sync.client")
    headers = {"Authorization": f"Bearer {token}"}
    address = f"{server.replace('http', 'ws', 1)}/ws"
    with client.connect(address, additional_headers=headers) as socket:
        socket.recv()  # hello
        socket.send(json.dumps({"type": "new", "rules": RULES}))
        state = json.loads(socket.recv())

        def move() -> int:
            nonlocal state
            legal, number = state["legal"], state["version"] + 1
            chosen = legal[number % len(legal)]
            socket.send(json.dumps({"type": "move", "number": number, "direction": chosen}))
            state = json.loads(socket.recv())
            return int(state["think_ms"])

        yield move


def processor(process: int) -> float:
    """Return the processor seconds that a process has used."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:  # noqa: PTH123
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(move: Move, process: int, moves: int) -> str:
    """Return a row of the table: milliseconds a move."""
    for _ in range(moves // 10):
        before = move()
    used, times = processor(process), []
    for _ in range(moves):
        began = time.perf_counter()
        after = move()
        times.append(1000 * (time.perf_counter() - began))
    used, times = 1000 * (processor(process) - used) / moves, sorted(times)
    middle, late = times[moves // 2], times[moves * 99 // 100]
    return f"{used:9.2f} {middle:8.2f} {late:8.2f} {(after - before) / moves:8.2f}"


def main() -> None:
    """Measure both ways, in turn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--moves", type=int, default=2000, help="moves of each way and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--database", help="a URL; by default a temporary SQLite file")
    parser.add_argument("--durability", choices=("disk", "process"), default="disk")
    given = parser.parse_args()
    print("milliseconds a move  processor   median     p99    clock")
    with serving(given.database, given.durability) as (server, process):
        token = make_token(server)
        for _ in range(given.rounds):
            for name, way in (("requests", by_requests), ("WebSocket", by_socket)):
                with way(server, token) as move:
                    print(f"{name:20}{measure(move, process, given.moves)}", flush=True)


if __name__ == "__main__":
    main()
