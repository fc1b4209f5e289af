"""A casual game goes on without the server, which verifies the moves afterwards."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.async_api import WebSocketRoute, expect
from tests.server.browser.visiting import ONLINE, Line, Player, arriving, claim, log_in

KEPT = """async () => {
  const [name] = await caches.keys();
  const cache = await caches.open(name);
  const kept = await cache.keys();
  return kept.map(({ url }) => new URL(url).pathname);
}"""


REASONS = ("storage", "busy", "rate", "gap")
"""Reasons for which the server refuses moves for the moment."""


async def play_alone(player: Player, count: int) -> None:
    """Make moves while the server is away."""
    for _ in range(count):
        legal = await player.page.evaluate("() => window.py2048.game.legal")
        await player.press(f"Arrow{legal[0].title()}")
        await player.page.wait_for_function("() => !window.py2048.scene.view.isMoving")


async def reload_alone(player: Player) -> None:
    """Reload the page while the server is away."""
    await player.page.reload()
    await player.page.wait_for_selector(".tile")


async def test_a_casual_game_goes_on_without_the_server(browser, own_server):
    """Moves made while the server is away are saved when it is back; only undo leaves a mark."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url)
        await player.deal("classic")
        await player.press("ArrowDown", "ArrowLeft", "ArrowRight")
        await player.settle()
        before = await player.state()
        own_server.stop()
        await player.said("Cannot reach the server; retrying. You can play on.")
        await play_alone(player, 6)
        await player.status("6 moves not sent yet.")
        board, score = await player.board(), await player.text("#score")
        assert board == await player.cells()
        await player.press("u")
        await player.status("5 moves not sent yet.")
        assert await player.text("#category") == "assisted"
        await player.press("r")
        await player.status("6 moves not sent yet.")
        await player.settle()
        own_server.start()
        await player.page.evaluate(ONLINE)
        await player.status("Connected again: 6 moves saved.")
        await player.settle()
        state = await player.state()
        assert (state["game"], state["ply"]) == (before["game"], before["ply"] + 6)
        assert state["board"] == board == await player.board()
        assert f"{state['score']:,}" == score
        assert state["category"] == "assisted"
        legal = state["legal"]
        await player.press(f"Arrow{legal[0].title()}")
        await player.settle()
        assert (await player.state())["ply"] == before["ply"] + 7


async def test_help_goes_on_without_the_server(guest):
    """Hints and autoplay work after one hint from the server; moves made alone can be undone.

    No move is lost when the server's store fails or the server is busy afterwards.
    """
    line = Line()
    await line.lay(guest.page)
    await guest.deal("classic")
    await guest.ask()
    await line.cut()
    await guest.said("You can play on.")
    away = await guest.text("#status")
    await guest.press("?")
    await guest.reads("outlook", "in your browser")
    await expect(guest.page.locator("#status")).not_to_have_text(away)
    await line.tried()
    assert await guest.text("#status") != away  # more games may have changed the best move
    await guest.page.evaluate("window.py2048.do('auto')")
    await guest.page.wait_for_function("() => window.py2048.offline.length > 4")
    await guest.page.evaluate("window.py2048.do('auto')")
    count = await guest.page.evaluate("window.py2048.offline.length")
    await guest.press("u", "u", "u")
    await guest.status(f"{count - 3} moves not sent yet.")
    refused = [(of, reason) for of in ("open", "offline") for reason in REASONS]

    def disturb(message: dict[str, Any]) -> dict[str, Any] | None:
        if not refused or refused[0][0] != message["type"]:
            return None
        of, reason = refused.pop(0)
        known = {"type": "refused", "of": of, "reason": reason, "state": None}
        return {**known, "message": "Not now.", "retry_ms": 10}

    line.disturb = disturb
    await line.mend()
    await guest.status(f"Connected again: {count - 3} moves saved.")
    assert not refused
    await guest.settle()
    assert (await guest.state())["board"] == await guest.board()


async def test_tabs_play_the_same_game_without_the_server(guest):
    """A tab shows what another tab plays alone, and both see it saved."""
    line = Line()
    await line.lay(guest.page)
    game = await guest.deal("classic")
    other = Player(await guest.page.context.new_page(), guest.url)
    await line.lay(other.page)
    await other.visit(f"/?game={game}")
    await line.cut()
    for each in (guest, other):
        await each.said("You can play on.")
    for mover, watcher in [(guest, other), (other, guest)]:
        await play_alone(mover, 2)
        board = await mover.board()
        await watcher.page.wait_for_function(
            "board => JSON.stringify(window.py2048.scene.view.board) === JSON.stringify(board)",
            arg=board,
        )
    await line.mend()
    for each in (guest, other):
        await each.status("Connected again: 4 moves saved.")
        assert await each.board() == board
    assert (await guest.state())["board"] == board


async def test_moves_wait_for_whoever_made_them(arrive):
    """Unsent moves of a session that ended wait until its player logs in again."""
    here, there = await arrive(), await arrive()
    line = Line()
    await line.lay(here.page)
    name = await claim(here)
    game = await here.deal("classic")
    await line.cut()
    await here.said("You can play on.")
    await play_alone(here, 3)
    await log_in(there, name)
    await there.page.click("form[action='/account/everywhere'] button")
    await line.mend()
    veil = here.page.locator(".result[open]")
    await expect(veil).to_contain_text("3 moves not sent yet: log in to keep them.")
    await veil.get_by_role("button", name="Continue as a guest").click()
    await here.page.wait_for_selector(".tile")
    await expect(here.page.locator("#moves")).to_have_text("0")
    await log_in(here, name)
    await here.visit()
    await here.status("Connected again: 3 moves saved.")
    assert (await here.state())["game"] == game


MALFORMED = {
    "own-rules": "{",
    "puzzles": "[",
    "game one": '{"game": 7}',
    "theme": "none of ours",
    "mode": "none of ours",
    "speed": "fast",
    "player": "nobody",
}


async def test_malformed_storage_leaves_a_page_that_works(guest):
    """Malformed storage leaves a board to play on and a puzzle to solve."""
    await guest.page.goto(guest.url + "/about")
    await guest.page.evaluate(
        """values => {
             for (const [name, value] of Object.entries(values)) {
               localStorage.setItem(name, value);
               localStorage.setItem(`py2048.${name}`, value);
             }
           }""",
        MALFORMED,
    )
    await guest.visit()
    await guest.press("ArrowDown", "ArrowLeft", "ArrowUp", "ArrowRight")
    await guest.settle()
    assert (await guest.state())["ply"] > 0
    await guest.press("m", "Enter")
    await guest.page.wait_for_selector("#new-dialog", state="hidden")
    await guest.page.goto(guest.url + "/puzzle")
    await guest.press("ArrowLeft", "ArrowDown", "ArrowUp", "ArrowRight")
    await guest.page.wait_for_selector("#answer")


async def test_a_server_that_says_nothing_keeps_nobody_waiting(arrive):
    """A silent server delays nothing: the kept game can be played until the server answers."""
    player = await arrive()
    kept = await player.deal("classic", "casual")
    current = await player.deal("classic", "ranked")
    silent: list[WebSocketRoute] = []

    def take(opened: WebSocketRoute) -> None:
        silent.append(opened)

    await player.page.route_web_socket("**/ws", take)
    await player.page.add_init_script("patience = []")
    await player.page.clock.install()
    shown = "() => window.py2048?.game?.game"
    await player.page.goto(f"{player.url}/?game={current}")
    await player.page.clock.run_for(6000)
    assert await player.page.evaluate(shown) is None  # who wants one game gets no other
    await player.page.goto(player.url)
    await player.page.clock.run_for(6000)
    await player.page.wait_for_function(f"game => ({shown})() === game", arg=kept)
    await player.status("Cannot reach the server; retrying. You can play on.")
    for socket_route in silent:
        socket_route.connect_to_server()
    await player.page.wait_for_function(f"game => ({shown})() === game", arg=current)


class BadGateway(BaseHTTPRequestHandler):
    """A proxy whose server is away."""

    def do_GET(self) -> None:
        self.send_error(502)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def answering_badly(port: int) -> Iterator[None]:
    """Serve a port like a proxy whose server is away."""
    with ThreadingHTTPServer(("127.0.0.1", port), BadGateway) as gateway:
        threading.Thread(target=gateway.serve_forever, daemon=True).start()
        yield
        gateway.shutdown()


@contextmanager
def answering_never(port: int) -> Iterator[None]:
    """Accept connections at a port without answering."""
    with socket.create_server(("127.0.0.1", port), backlog=100):
        yield


async def installed(player: Player) -> list[str]:
    """Wait until the service worker has cached the page; return the cached paths."""
    await player.page.wait_for_function("() => navigator.serviceWorker.controller")
    await player.until(f"async () => (await ({KEPT})()).includes('/')")
    kept: list[str] = await player.page.evaluate(KEPT)
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("answering", [nullcontext, answering_badly, answering_never])
async def test_the_page_opens_without_the_server(browser, own_server, answering):
    """After one visit the page opens offline, and the casual game can be played on and kept.

    The same goes for a proxy without its server, and for a network that answers nothing.
    """
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url, service_workers="allow")
        await player.page.add_init_script("patience = []")
        await player.deal()
        board = await player.board()
        kept = await installed(player)
        assert len({*re.findall(r"/static/(\w+)/", " ".join(kept))}) == 1
        own_server.stop()
        with answering(own_server.port):
            await reload_alone(player)
            assert await player.board() == board
            await play_alone(player, 3)
            board = await player.board()
            await reload_alone(player)
            assert await player.board() == board
        player.faults.clear()  # what the browser says of a server that is away
        own_server.start()
        await player.page.evaluate(ONLINE)
        await player.status("Connected again: 3 moves saved.")
        assert (await player.state())["board"] == board


@pytest.mark.slow
async def test_an_update_leaves_nothing_old(browser, own_server):
    """A new version's service worker deletes the caches of old versions."""
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
        await player.until("async () => !(await caches.keys()).includes('py2048-000000000000')")
        assert "somebody-else" in await player.page.evaluate("() => caches.keys()")


@pytest.mark.slow
async def test_no_file_of_another_version_is_kept(browser, own_server):
    """A file of another server version, served during an update, is not cached."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url, service_workers="allow")
        await player.visit()
        found = re.search(r"/static/(\w+)/", " ".join(await installed(player)))
        version = found[1]
        other, good = (f"/static/{each}/js/battle.js" for each in ("0" * 12, version))
        await player.page.evaluate(
            """files => files.forEach(
                 file => navigator.serviceWorker.controller.postMessage([file]))""",
            [other, good],
        )
        await player.until(f"async good => (await ({KEPT})()).includes(good)", good)
        kept = await player.page.evaluate(KEPT)
        assert other not in kept


async def check_installable(player: Player, start: str) -> None:
    """Check that browsers install the page, which then starts at a path, and that icons exist."""
    session = await player.page.context.new_cdp_session(player.page)
    found = await session.send("Page.getInstallabilityErrors")  # the headless shell finds none
    manifest = (await session.send("Page.getAppManifest"))["manifest"]
    assert (found["installabilityErrors"], manifest["display"]) == ([], "kStandalone")
    assert (manifest["startUrl"], manifest["scope"]) == (player.url + start, player.url + "/")
    assert [icon["sizes"] for icon in manifest["icons"]] == ["192x192", "512x512"]
    for icon in manifest["icons"]:
        body = await (await player.page.context.request.get(icon["url"])).body()
        size = int.from_bytes(body[16:20]), int.from_bytes(body[20:24])
        assert "x".join(map(str, size)) == icon["sizes"]


async def test_the_page_can_be_installed(browser, server):
    """The manifest has what systems require, and its icons exist."""
    async with arriving(browser) as arrive:
        player = await arrive(server.url)
        await player.visit()
        await check_installable(player, "/")
