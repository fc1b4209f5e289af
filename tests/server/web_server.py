"""A real server process, and clients for it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import operator
import os
import re
import signal
import subprocess
import sys
import urllib.parse
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect

from py2048.server import schema

Json = dict[str, Any]
HERE = "127.0.0.1"
SERVER_MESSAGES = functools.reduce(
    operator.or_,
    [*schema.ServerMessage.__subclasses__(), schema.StateMessage, schema.EventsMessage,
     schema.HintMessage],
)  # fmt: skip
"""Every message that a page may get."""

GENEROUS = ("--moves-rate", "1000", "--address-rate", "10000", "--requests-rate", "1000")


class WebServer:
    """``py2048 serve`` on a free port on loopback."""

    def __init__(
        self,
        home: Path,
        *options: str,
        database: str | None = None,
    ) -> None:
        self.home = home
        self.log = home / "server.log"
        home.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "py2048", "serve", "--port", "0", *options]
        command += ["--database", database] if database else []
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                env=os.environ | {"PY2048_HOME": str(home)},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"(http://\S+:(\d+))", line)
        assert found, f"{line!r}\n{self.log.read_text()}"
        self.url, self.port = found[1], int(found[2])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stop the process and return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        status = self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status

    def logged(self) -> list[Json]:
        """Return the JSON lines that the server has logged."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def serving(home: Path, *options: str, database: str | None = None) -> Iterator[WebServer]:
    """Run a server within the block."""
    server = WebServer(home, *options, database=database)
    try:
        yield server
    finally:
        server.stop()


@dataclass
class Answer:
    """An HTTP response."""

    status: int
    headers: Any
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


_ELSEWHERE = itertools.count(1)


def elsewhere() -> str:
    """Return an unused loopback address, for limits by address."""
    number = next(_ELSEWHERE)
    return f"127.1.{number // 200}.{number % 200 + 1}" if sys.platform == "linux" else HERE


@dataclass
class Browser:
    """Sends requests and keeps cookies, as a browser does."""

    server: WebServer
    cookie: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    address: str = HERE

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {**self.headers, **named}
        if self.cookie:
            sent["Cookie"] = self.cookie
        place = ("127.0.0.1", self.server.port)
        connection = HTTPConnection(*place, timeout=120, source_address=(self.address, 0))
        with closing(connection):
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            answer = Answer(response.status, response.headers, response.read())
        for header in answer.headers.get_all("Set-Cookie") or ():
            self.keep(header)
        return answer

    def keep(self, header: str) -> None:
        kept = SimpleCookie(self.cookie)
        kept.load(header)
        self.cookie = "; ".join(f"{name}={cookie.value}" for name, cookie in kept.items())

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, **headers)

    def post(self, path: str, value: Any, **headers: str) -> Answer:
        headers.setdefault("Content_Type", "application/json")
        return self.request("POST", path, json.dumps(value).encode(), **headers)

    def form(self, path: str, **fields: str) -> Answer:
        body = urllib.parse.urlencode(fields).encode()
        return self.request("POST", path, body)

    @asynccontextmanager
    async def socket(self, **headers: str) -> AsyncIterator[Socket]:
        """Open the WebSocket and read the hello message."""
        sent = {**self.headers, **headers} | ({"Cookie": self.cookie} if self.cookie else {})
        address = f"ws://127.0.0.1:{self.server.port}/ws"
        async with connect(address, additional_headers=sent, max_size=2**22) as connection:
            assert connection.response is not None
            for header in connection.response.headers.get_all("Set-Cookie"):
                self.keep(header)
            socket = Socket(connection)
            socket.hello = await socket.receive("hello")
            yield socket


PASSWORD = "correct horse battery"


def claimed(server: WebServer, name: str) -> Browser:
    """Return a browser whose guest has claimed a name."""
    browser = Browser(server, address=elsewhere())
    answer = browser.form("/account/claim", name=name, password=PASSWORD)
    assert answer.status == 200, answer.text
    return browser


class Socket:
    """A WebSocket with a game."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.hello: Json = {}
        self.state: Json = {}

    async def send(self, kind: str, **fields: Any) -> None:
        await self.connection.send(json.dumps({"type": kind, **fields}))

    async def receive(self, kind: str | None = None) -> Json:
        """Return the next message, which must have the given type."""
        frame = await asyncio.wait_for(self.connection.recv(), 30)
        msgspec.json.decode(frame, type=SERVER_MESSAGES)  # each is as described
        message: Json = json.loads(frame)
        if message["type"] == "pong" != kind:  # sent while a request takes long
            return await self.receive(kind)
        assert kind in (None, message["type"]), message
        if message["type"] in ("state", "events"):
            self.state = {**self.state, **message}
        return message

    async def ask(self, kind: str, answer: str | None = None, **fields: Any) -> Json:
        await self.send(kind, **fields)
        return await self.receive(answer)

    async def new(self, rules: str = "classic", mode: str = "casual") -> Json:
        return await self.ask("new", "state", rules=rules, mode=mode)

    async def move(self, direction: str | None = None) -> Json:
        """Make a move, by default in the first legal direction."""
        number = self.state["version"] + 1
        chosen = direction or self.state["legal"][0]
        return await self.ask("move", "events", number=number, direction=chosen)

    async def play_out(self) -> Json:
        """Play until the game is over and return the last message."""
        turn = 0
        while self.state["outcome"] == "playing":
            legal = self.state["legal"]
            await self.move(legal[turn % len(legal)])
            turn += 1
        return self.state

    async def closed(self) -> int:
        """Return the close code after all remaining messages."""
        with contextlib.suppress(Exception):
            while True:
                await asyncio.wait_for(self.connection.recv(), 30)
        assert self.connection.close_code is not None
        return self.connection.close_code
