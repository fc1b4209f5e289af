"""A server in the test's process, and visitors that need no network."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
import sqlalchemy as sa
from store_games import add_record
from web_server import SERVER_MESSAGES, Browser

from py2048.app.storage import Account, RecordSummary, Store
from py2048.app.storage.schema import rounds
from py2048.core.game import Game, Record
from py2048.server.admission import Caller
from py2048.server.app import Server
from py2048.server.play.games import GameService, new_account_id
from py2048.server.settings import ServerSettings
from py2048.server.site.reviews import Reviewer
from py2048.server.websocket import ClientConnection

Json = dict[str, Any]
RULES = "classic:size=2x3"
_visitors: WeakKeyDictionary[Server, list[Visitor]] = WeakKeyDictionary()


def record_of(games: GameService, game_id: str) -> tuple[RecordSummary, Record] | None:
    """Return a finished game's summary and record, or None."""
    summary = games.store.records.summary(game_id)
    return summary and (summary, Record.from_json(games.record_text(game_id)))


def add_game(store: Store, seed: int = 1, *, mode: str = "ranked", day: str | None = None,
             owner: str = "ada", rules: str = RULES, **facts: object) -> str:  # fmt: skip
    """Add an account's finished game and return its id."""
    game = Game(rules, seed=seed)
    while not game.is_over:
        game.play(game.legal_directions()[0])
    found = {"record": game.record().to_json(), "score": game.score, "plies": game.ply,
             "rules": str(game.rules), "category": mode}  # fmt: skip
    game_id = secrets.token_hex(8)
    row = {"game_id": game_id, "owner": owner, "mode": mode, "day": day, "secret": "daily-aa"}
    with store.write() as connection:
        connection.execute(sa.insert(rounds), row)
    return add_record(store, game_id, owner=owner, **(found | facts))


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def until_shown(browser: Browser, path: str, text: str) -> None:
    """Wait until a page contains a text; a list may be a second old."""
    await until(lambda: text in browser.get(path).text)


@asynccontextmanager
async def running(
    url: str, reviewer: Reviewer | None = None, **settings: Any
) -> AsyncIterator[Server]:
    """Run a server on a store; the default limits are never reached."""
    generous = {"moves_rate": 1e6, "address_rate": 1e6, "players": ("random",)}
    server = Server(ServerSettings(key="k" * 16, database=url, **(generous | settings)))
    if reviewer:
        server.reviews.reviewer = reviewer
    async with server.running():
        await server.backend.ready()
        yield server
        for visitor in _visitors.get(server, ()):
            visitor.leave()


class Visitor:
    """A browser without a network. It leaves when the server ends."""

    def __init__(
        self, server: Server, account: Account | None = None, *, address: str = "127.0.0.1"
    ) -> None:
        self.account = account or Account(new_account_id(), None, None, 0, "")
        self.connection = ClientConnection(
            self.account.id, site=server, rooms=server.backend.rooms, owner=self.account,
            caller=Caller(address, self.account.id),
        )  # fmt: skip
        self.state: Json = {}
        self._frames: asyncio.Queue[bytes] = asyncio.Queue()
        self._sending = asyncio.create_task(self.connection.run(self._frames.put))
        _visitors.setdefault(server, []).append(self)

    async def receive(self, *, pongs: bool = False) -> Json:
        """Return the next message, without the pongs that are sent while a request takes long."""
        message: Json = {"type": "pong"}
        while message["type"] == "pong":
            frame = await asyncio.wait_for(self._frames.get(), 30)
            msgspec.json.decode(frame, type=SERVER_MESSAGES)  # each is as described
            message = json.loads(frame)
            if pongs:
                break
        self.state |= message.get("state") or message
        return message

    async def ask(self, kind: str, **fields: Any) -> Json:
        """Send a message and return the next one."""
        await self.connection.on_message(json.dumps({"type": kind, **fields}))
        return await self.receive(pongs=kind == "ping")

    async def new(self, rules: str = "long:size=5x5", mode: str = "casual") -> Json:
        return await self.ask("new", rules=rules, mode=mode)

    async def move(self) -> Json:
        """Make the first legal move."""
        number = self.state["version"] + 1
        return await self.ask("move", number=number, direction=self.state["legal"][0])

    def leave(self) -> None:
        self.connection.end()
        self._sending.cancel()
