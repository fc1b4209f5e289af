"""Without a connection: a casual game goes on, and the server verifies it when it is back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.server.browser.visiting import Player, Server, arriving

from py2048.server.assets import STATIC

KEPT = """async () => {
  const [name] = await caches.keys();
  const cache = await caches.open(name);
  const kept = await cache.keys();
  return kept.map(({ url }) => new URL(url).pathname);
}"""


MOVE = """game => new Promise(resolve => {
    const socket = new WebSocket(location.origin.replace("http", "ws") + "/ws");
    socket.onopen = () => socket.send(JSON.stringify({ type: "open", game }));
    socket.onmessage = ({ data }) => {
        const { type, legal, version } = JSON.parse(data);
        const move = { type: "move", number: 1, direction: legal?.[0] };
        if (type === "state") socket.send(JSON.stringify(move));
        if (type === "events") { socket.close(); resolve(version); }
    };
})"""


async def play_alone(player: Player, count: int) -> None:
    """Make moves while the server is away."""
    for _ in range(count):
        legal = await player.page.evaluate("() => window.py2048.game.legal")
        await player.press(f"Arrow{legal[0].title()}")
        await player.page.wait_for_function("() => !window.py2048.scene.view.isMoving")


async def test_a_casual_game_goes_on_without_the_server(
    browser: Browser, own_server: Server
) -> None:
    """Moves made while the server is away are kept there when it is back, and marked."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url)
        await player.deal("classic")
        await player.press("ArrowDown", "ArrowLeft", "ArrowRight")
        await player.settle()
        before = await player.state()
        own_server.stop()
        await player.said("The server is away; trying again. You can play on.")
        await play_alone(player, 6)
        await player.status("6 moves to be sent.")
        board, score = await player.board(), await player.text("#score")
        assert board == await player.cells()
        assert await player.text("#category") == "offline"
        await player.press("u")
        await player.status("Undo, hints and autoplay need it.")
        await player.look("offline")
        own_server.start()
        await player.status("Connected again: 6 moves saved.")
        await player.settle()
        state = await player.state()
        assert (state["game"], state["ply"]) == (before["game"], before["ply"] + 6)
        assert state["board"] == board == await player.board()
        assert f"{state['score']:,}" == score
        assert state["category"] == "offline"
        legal = state["legal"]
        await player.press(f"Arrow{legal[0].title()}")
        await player.settle()
        assert (await player.state())["ply"] == before["ply"] + 7


@pytest.mark.slow
async def test_many_moves_are_sent_in_pieces(browser: Browser, own_server: Server) -> None:
    """More moves than one message holds are all taken over."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url)
        await player.deal("8x8")
        own_server.stop()
        await player.said("You can play on.")
        board = await player.page.evaluate(
            """() => {
                 const { offline } = window.py2048;
                 for (let n = 0; n < 420; n++) {
                   const { legal } = offline.game;
                   offline.play(legal[n % 2] ?? legal[0]);
                 }
                 return offline.game.board;
               }"""
        )
        count = await player.page.evaluate("() => window.py2048.offline.length")
        assert count > 350  # each is three characters
        own_server.start()
        await player.status(f"Connected again: {count} moves saved.")
        state = await player.state()
        assert (state["ply"], state["board"]) == (count, board)
        assert await player.board() == board
        assert len([each for each in player.sent if each["type"] == "offline"]) == 2


async def begin_alone(player: Player, server: Server) -> str:
    """Begin a game, stop the server and make three moves without it; return the game's id."""
    game = await player.deal("classic")
    server.stop()
    await player.said("You can play on.")
    await play_alone(player, 3)
    return game


async def come_back(player: Player, server: Server, game: str) -> None:
    """Start the server, make the first legal move of the game elsewhere, and open the page."""
    await player.page.goto("about:blank")
    server.start()
    await player.page.goto(server.url + "/about")
    await player.page.evaluate(MOVE, game)
    await player.visit()


@pytest.mark.slow
async def test_an_answer_that_was_lost_gives_way(browser: Browser, own_server: Server) -> None:
    """A move whose answer never came gives way to the moves that were made without the server."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url)
        game = await begin_alone(player, own_server)
        board = await player.board()
        # As if an answer had been on its way when the connection was lost.
        await player.page.evaluate(
            """() => {
                 const kept = JSON.parse(localStorage.getItem("casual-game"));
                 localStorage.setItem("casual-game", JSON.stringify({ ...kept, unanswered: 1 }));
               }"""
        )
        await come_back(player, own_server, game)
        await player.status("Connected again: 3 moves saved.")
        assert await player.board() == (await player.state())["board"] == board


@pytest.mark.slow
async def test_a_game_that_went_on_elsewhere(browser: Browser, own_server: Server) -> None:
    """Moves made without the server are lost, and that is said, if the game is another by then."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url)
        game = await begin_alone(player, own_server)
        await come_back(player, own_server, game)
        await player.status("The game has changed meanwhile: 3 moves lost.")
        assert await player.board() == (await player.state())["board"]
        assert (await player.state())["ply"] == 1


@pytest.mark.slow
async def test_the_page_opens_without_the_server(browser: Browser, own_server: Server) -> None:
    """Who was there once can open the page offline, play the casual game on, and keep it."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url, service_workers="allow")
        await player.visit()
        await player.press("ArrowDown", "ArrowLeft")
        await player.settle()
        board = await player.board()
        await player.page.wait_for_function("() => navigator.serviceWorker.controller")
        await player.page.wait_for_function(f"async () => (await ({KEPT})()).length > 15")
        kept = await player.page.evaluate(KEPT)
        assert "/" in kept
        assert {*re.findall(r"/static/(\w+)/", " ".join(kept))} == {kept[-1].split("/")[2]}
        own_server.stop()
        await player.page.reload()
        await player.page.wait_for_selector(".tile")
        assert await player.board() == board
        await play_alone(player, 3)
        board = await player.board()
        await player.page.reload()
        await player.page.wait_for_selector(".tile")
        assert await player.board() == board
        player.faults.clear()  # what the browser says of a server that is away
        own_server.start()
        await player.status("Connected again: 3 moves saved.")
        assert (await player.state())["board"] == board


@pytest.mark.slow
async def test_an_update_leaves_nothing_old(browser: Browser, own_server: Server) -> None:
    """The worker of a version deletes what others have kept."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url, service_workers="allow")
        await player.page.goto(own_server.url + "/about")
        await player.page.evaluate(
            """async () => {
                 await (await caches.open("py2048-000000000000")).put("/", new Response("old"));
                 await caches.open("somebody-else");
               }"""
        )
        await player.visit()
        await player.page.wait_for_function(
            "async () => !(await caches.keys()).includes('py2048-000000000000')"
        )
        assert "somebody-else" in await player.page.evaluate("() => caches.keys()")


async def test_the_page_can_be_installed(browser: Browser, server: Server) -> None:
    """The manifest names what systems ask for, and its icons are there."""
    async with arriving(browser) as arrive:
        player = await arrive(server.url)
        await player.visit("/about")
        address = await player.page.get_attribute("link[rel=manifest]", "href")
        request = player.page.context.request
        answer = await request.get(server.url + str(address))
        assert answer.headers["content-type"] == "application/manifest+json"
        manifest = await answer.json()
        assert manifest == json.loads((Path(STATIC) / "manifest.webmanifest").read_text())
        for icon in manifest["icons"]:
            picture = await request.get(server.url + icon["src"])
            assert picture.headers["content-type"] == "image/png"
            body = await picture.body()
            size = int.from_bytes(body[16:20]), int.from_bytes(body[20:24])
            assert "x".join(map(str, size)) == icon["sizes"]
        missing = await request.get(server.url + "/icon-64.png")
        assert missing.status == 404
        await expect(player.page.locator("h1")).to_be_visible()
