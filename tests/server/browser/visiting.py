"""A visitor with a browser, and the server they visit."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.free_ports import free_port
from tests.processes import until
from web_server import GENEROUS, WebServer
from web_server import Browser as Visitor

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, WebSocketRoute

SIZES = {"desktop": (1280, 800), "phone": (360, 740)}
TIMEOUT_MS = 60_000
"""Timeout of everything that a test waits for."""

ONLINE = "() => dispatchEvent(new Event('online'))"
"""Lets a page connect at once, as when a device is online again."""

_BEGIN = """wish => new Promise((resolve, reject) => {
    const socket = new WebSocket(location.origin.replace("http", "ws") + "/ws");
    socket.onopen = () => socket.send(JSON.stringify(wish));
    socket.onerror = () => reject(Error("no socket"));
    socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.type === "state") { socket.close(); resolve(message.game); }
        if (message.type === "refused") reject(Error(message.message));
    };
})"""


PATIENT = """(() => {
    const begin = setTimeout;
    globalThis.patience = location.pathname === "/" ? [1500, 4000, 5000] : [];
    globalThis.setTimeout = (act, ms, ...more) =>
      (patience.includes(ms) ? 0 : begin(act, ms, ...more));
})()"""
"""Keeps the page for playing from giving up on a server that a busy machine slows down."""


class Server:
    """A running `py2048 serve` that can be stopped, killed and restarted.

    Args:
        home: Data folder.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self.store = home / "py2048.sqlite3"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        options = ("--port", str(self.port), *GENEROUS, "--log-level", "error")
        self._running = WebServer(self._home, *options)
        ready = Visitor(self._running)
        until(lambda: ready.get("/readyz").status == 200)  # it listens before its store is open

    def stop(self) -> None:
        """Stop the server."""
        self._running.stop()


class Player:
    """A visitor with their own browser window.

    Attributes:
        page: The page in the window.
        sent: Messages that the page has sent.
        heard: Messages that the page has received.
        faults: Script errors and failed requests.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.sent: list[dict[str, Any]] = []
        self.heard: list[dict[str, Any]] = []
        self.faults: list[str] = []
        page.set_default_timeout(TIMEOUT_MS)
        page.on("websocket", self._listen)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._note)

    def _listen(self, socket: Any) -> None:
        socket.on("framesent", lambda frame: self.sent.append(json.loads(frame)))
        socket.on("framereceived", lambda frame: self.heard.append(json.loads(frame)))

    def _note(self, message: Any) -> None:
        if message.type == "error" and "WebSocket connection" not in message.text:
            self.faults.append(f"{message.text} {message.location['url']}")

    async def visit(self, path: str = "/") -> None:
        """Open a page; on the page for playing, wait for the board."""
        await self.page.goto(self.url + path)
        if path.partition("?")[0] == "/":
            await self.page.wait_for_selector(".tile")
            await self.page.wait_for_selector("#rules-summary:not(:empty)", state="attached")

    async def watch(self, game: str) -> None:
        """Open a game's own page and wait for the board."""
        await self.visit(f"/game/{game}")
        await self.page.wait_for_selector(".tile")

    async def deal(self, rules: str = "classic", mode: str = "casual") -> str:
        """Begin a game over a socket and open its board; return the game's id."""
        await self.page.goto(self.url + "/readyz")
        wish = {"type": "new", "rules": rules, "mode": mode}
        game = str(await self.page.evaluate(_BEGIN, wish))
        await self.visit(f"/?game={game}")
        return game

    async def press(self, *keys: str) -> None:
        """Press keys without waiting for anything."""
        for key in keys:
            await self.page.keyboard.press(key)

    async def ask(self) -> None:
        """Ask a player that needs no compilation for a hint, and wait for it."""
        await self.choose("greedy")
        await self.press("?")
        await self.page.wait_for_selector("#board[data-best]")

    async def choose(self, player: str) -> None:
        """Choose a computer player by its spec in the menu."""
        await self.press("p")
        await self.page.click("#menu-dialog summary:has-text('Advanced')")
        await self.page.select_option("#player", player)
        await self.press("Escape")
        await self.page.wait_for_selector("#menu-dialog", state="hidden")

    async def settle(self) -> None:
        """Wait until every action is answered and no animation runs."""
        await self.page.wait_for_function(
            "() => window.py2048?.queue.length === 0 && !window.py2048.scene.view.isMoving"
        )

    async def online(self) -> None:
        """Wait until actions go to the server."""
        await self.page.wait_for_function("() => window.py2048?.session.phase === 'online'")

    async def ended(self) -> None:
        """Wait until the server's result of the game is shown."""
        await self.page.wait_for_selector(".result[open] .result-figures")

    async def play_out(self) -> None:
        """Play until the game is over."""
        while await self.page.evaluate("() => window.py2048.game.outcome === 'playing'"):
            await self.press("ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp")
            await self.settle()

    async def text(self, selector: str) -> str:
        """Return the text of an element."""
        return (await self.page.text_content(selector) or "").strip()

    async def board(self) -> list[list[int]]:
        """Return the tiles on the screen."""
        found: list[list[int]] = await self.page.evaluate("window.py2048.scene.view.board")
        return found

    async def cells(self) -> list[list[int]]:
        """Return the tiles that a screen reader finds."""
        rows: list[list[str]] = await self.page.evaluate(
            """[...document.querySelectorAll('#board [role=row]')].map(
                 row => [...row.querySelectorAll('[role=gridcell]')].map(c => c.textContent))"""
        )
        return [[0 if cell == "empty" else int(cell) for cell in row] for row in rows]

    async def state(self) -> dict[str, Any]:
        """Return the game as the server has it."""
        game = await self.page.evaluate("window.py2048.game.game")
        answer = await self.page.context.request.get(f"{self.url}/api/games/{game}")
        found: dict[str, Any] = await answer.json()
        return found

    async def status(self, text: str) -> None:
        """Wait until the status line contains a text."""
        await self.reads("status", text)

    async def said(self, text: str) -> None:
        """Wait until screen readers have been told a text."""
        await self.reads("live", text)

    async def reads(self, name: str, text: str) -> None:
        """Wait until the element with an id contains a text."""
        await self.page.wait_for_function(
            "([name, text]) => document.getElementById(name)?.textContent.includes(text)",
            arg=[name, text],
        )

    async def until(self, condition: str, arg: Any = None) -> None:
        """Wait until an async function in the page returns true."""
        async with asyncio.timeout(TIMEOUT_MS / 1000):
            while not await self.page.evaluate(condition, arg):
                await asyncio.sleep(0.05)

    def moves(self) -> list[str]:
        """Return the directions that the page has sent."""
        return [each["direction"] for each in self.sent if each["type"] == "move"]

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the received events of some kinds."""
        messages = [each for each in self.heard if each["type"] == "events"]
        return [e for message in messages for e in message["events"] if e["kind"] in kinds]

    def answers(self) -> list[dict[str, Any]]:
        """Return the events that answer moves."""
        return self.events("moved", "nothing_moved")


async def claim(player: Player, name: str = "") -> str:
    """Claim a name, by default a random one; return it."""
    name = name or f"visitor {secrets.token_hex(4)}"
    await log_in(player, name, "claim")
    return name


async def log_in(player: Player, name: str, how: str = "login") -> None:
    """Log in with a name claimed here, or claim it."""
    await player.page.goto(player.url + "/account")
    form = player.page.locator(f"form[action='/account/{how}']")
    await form.locator("[name=name]").fill(name)
    await form.locator("[name=password]").fill("correct horse battery")
    await form.locator("button").click()
    await player.page.locator("h1", has_text=name).wait_for()


class Line:
    """The line between pages and their server, which tests can cut and disturb.

    Attributes:
        is_cut: Whether sockets fail to open and the server's messages are dropped.
        refused: How many sockets have failed to open.
        sent: Messages that the pages have sent.
        disturb: Called with a page's message; may return an answer in place of the server's.
    """

    def __init__(self) -> None:
        self.is_cut = False
        self.refused = 0
        self.sent: list[dict[str, Any]] = []
        self.disturb: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda _: None
        self._open: list[WebSocketRoute] = []
        self._pages: list[Page] = []

    async def lay(self, page: Page) -> None:
        """Route a page's sockets over this line from its next visit on."""
        self._pages.append(page)
        await page.route_web_socket("**/ws", self._connect)

    async def cut(self) -> None:
        """Cut the line."""
        self.is_cut = True
        await asyncio.gather(*(socket.close() for socket in self._open))
        self._open.clear()

    async def tried(self, count: int = 2) -> None:
        """Wait until `count` more sockets have failed to open."""
        enough = self.refused + count
        while self.refused < enough:
            await asyncio.sleep(0.05)

    async def mend(self) -> None:
        """Restore the line, and let the pages know."""
        self.is_cut = False
        for page in self._pages:
            await page.evaluate(ONLINE)

    async def _connect(self, socket: WebSocketRoute) -> None:
        if self.is_cut:
            await socket.close()
            self.refused += 1
            return
        server = socket.connect_to_server()

        def forward(frame: str | bytes) -> None:
            message = json.loads(frame)
            self.sent.append(message)
            answer = self.disturb(message)
            if answer is None:
                server.send(frame)
            else:
                socket.send(json.dumps(answer))

        socket.on_message(forward)
        server.on_message(lambda frame: None if self.is_cut else socket.send(frame))
        self._open.append(socket)


Arrive = Callable[..., Awaitable[Player]]


@asynccontextmanager
async def arriving(browser: Browser) -> AsyncIterator[Arrive]:
    """Yield a function that opens windows; at the end, close them and fail on script errors."""
    players: list[Player] = []

    async def arrive(url: str, size: str = "desktop", **options: Any) -> Player:
        width, height = SIZES[size]
        options.setdefault("viewport", {"width": width, "height": height})
        options.setdefault("has_touch", size == "phone")
        # The worker that keeps the page has tests of its own; in others it would only cost time.
        options.setdefault("service_workers", "block")
        context = await browser.new_context(**options)
        await context.add_init_script(PATIENT)
        player = Player(await context.new_page(), url)
        players.append(player)
        return player

    yield arrive
    for player in players:
        await player.page.context.close()
    faults = [fault for player in players for fault in player.faults]
    assert not faults, faults
