"""The trivial server of `bench_web.py`, which knows no rules and only stores each move.

Run as ``python benchmarks/echo.py sqlite:///FILE`` or with the URL of a PostgreSQL database. All
waiting moves are inserted in one transaction, and acknowledged when the transaction is on disk.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from py2048.server.run import listen

Row = tuple[int, int, str]
_TABLE = "CREATE TABLE moves (game int, number int, direction text, PRIMARY KEY (game, number))"


def open_database(url: str) -> Callable[[Sequence[Row]], object]:
    """Create a table of moves; return a function that inserts rows in one transaction."""
    kind, _, path = url.partition(":///")
    if kind == "sqlite":
        lite = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        lite.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; {_TABLE}")

        def insert(rows: Sequence[Row]) -> None:
            with lite:
                lite.execute("BEGIN")
                lite.executemany("INSERT INTO moves VALUES (?, ?, ?)", rows)

        return insert
    post = psycopg.connect(url.replace("+psycopg", ""), autocommit=True)
    post.execute(_TABLE)
    query = "INSERT INTO moves SELECT * FROM unnest(%s::int[], %s::int[], %s::text[])"
    return lambda rows: post.execute(query, list(map(list, zip(*rows, strict=True))))


class Echo:
    """Answers each message with its number when the move has been inserted."""

    def __init__(self, url: str) -> None:
        self._insert = open_database(url)
        self._games = 0
        self._waiting: list[tuple[Row, asyncio.Future[None]]] = []
        self._is_wanted = asyncio.Event()

    async def play(self, socket: WebSocket) -> None:
        """Serve a connection."""
        await socket.accept()
        await socket.send_text("{}")
        self._games += 1
        game = self._games
        async for text in socket.iter_text():
            move = json.loads(text)
            number = move.get("number", 0)
            if number:
                done = asyncio.get_running_loop().create_future()
                self._waiting.append(((game, number, move["direction"]), done))
                self._is_wanted.set()
                await done
            answer = {"game": str(game), "version": number, "legal": ["left"]}
            await socket.send_text(json.dumps(answer, separators=(",", ":")))

    @asynccontextmanager
    async def writing(self, _app: Starlette) -> AsyncIterator[None]:
        """Insert moves while the server runs."""
        task = asyncio.create_task(self._write())
        yield
        task.cancel()

    async def _write(self) -> None:
        while await self._is_wanted.wait():
            self._is_wanted.clear()
            batch, self._waiting = self._waiting, []
            await asyncio.to_thread(self._insert, [row for row, _ in batch])
            for _, done in batch:
                if not done.cancelled():
                    done.set_result(None)


def make_app() -> Starlette:
    """Create the application."""
    echo = Echo(sys.argv[1])
    return Starlette(routes=[WebSocketRoute("/ws", echo.play)], lifespan=echo.writing)


if __name__ == "__main__":
    listener = listen("127.0.0.1", 0)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        make_app, factory=True, ws="websockets-sansio", ws_per_message_deflate=False,
        log_level="critical", access_log=False,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])
