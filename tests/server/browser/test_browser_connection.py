"""Two tabs, lost connections and restarts: no move is lost or made twice."""

from __future__ import annotations

import json

from far_away import far_away
from playwright.async_api import WebSocketRoute, expect
from tests.server.browser.visiting import Line, Player, arriving, claim, log_in

AT_ONCE = """codes => {
  for (const code of codes) document.dispatchEvent(new KeyboardEvent("keydown", { code }));
  return window.py2048.queue.length;
}"""
"""Presses keys before the page can notice that the server is silent."""


async def test_a_refusal_before_the_first_game_is_told(guest):
    """A visitor whose first game is refused reads why, and no script fails."""
    message = "Too many new games; wait a minute."
    refused = {"type": "refused", "of": "new", "reason": "rate", "message": message}

    def serve(socket: WebSocketRoute) -> None:
        socket.on_message(lambda _: socket.send(json.dumps({**refused, "state": None})))
        me = {"name": "guest 4F2A", "is_guest": True}
        socket.send(json.dumps({"type": "hello", "me": me, "current": None, "players": []}))

    await guest.page.route_web_socket("**/ws", serve)
    await guest.page.goto(guest.url)
    await expect(guest.page.locator("#status")).to_have_text(message)
    assert guest.faults == []


async def test_a_session_that_ends_elsewhere(arrive):
    """The page stops and says why, until this browser logs in again or goes on as a guest."""
    here, there = await arrive(), await arrive()
    await here.visit()
    await claim(here, "logged out")
    await here.deal("classic")
    await log_in(there, "logged out")
    async with here.page.expect_websocket() as retry:
        await there.page.click("form[action='/account/everywhere'] button")
    refused = await retry.value  # the page tries only once
    if not refused.is_closed():
        await refused.wait_for_event("close")
    veil = here.page.locator(".result[open]")
    await expect(veil).to_contain_text("You are logged out")
    await here.press("ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp", "u")
    assert (await here.text("#status")).startswith("You are logged out")
    ply = "() => window.py2048.game.ply"
    assert await here.page.evaluate(ply) == 0
    again = Player(await here.page.context.new_page(), here.url)
    await log_in(again, "logged out")
    await here.page.bring_to_front()
    await here.page.evaluate("() => window.py2048.connection.check()")
    await expect(veil).to_have_count(0)
    await here.press("ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp")
    await here.settle()
    assert await here.page.evaluate(ply) > 0
    await log_in(there, "logged out")  # whose log-out gives this browser no new session
    await there.page.click("form[action='/account/everywhere'] button")
    await veil.get_by_role("button", name="Continue as a guest").click()
    await here.page.wait_for_selector(".tile")
    await expect(here.page.locator("#moves")).to_have_text("0")


async def test_a_ranked_game_waits_for_its_server(guest):
    """Keys pressed while the server is away are dropped, and the page says so."""
    line = Line()
    await line.lay(guest.page)
    await guest.deal("classic", "ranked")
    await line.cut()
    await guest.status("Cannot reach the server; retrying.")
    await guest.press("ArrowUp", "ArrowDown", "ArrowLeft")
    await guest.status("Keys pressed until then are ignored.")
    await line.tried()
    await guest.status("Keys pressed until then are ignored.")
    await line.mend()
    await guest.online()
    await expect(guest.page.locator("#status")).to_be_empty()
    await guest.press("ArrowDown", "ArrowUp")
    await guest.settle()
    made = [each["direction"] for each in line.sent if each["type"] == "move"]
    assert made == ["down", "up"]
    assert await guest.board() == (await guest.state())["board"]


async def test_far_from_the_server(browser, server):
    """The slide shows before the answer; ten keys in flight are all played.

    Screen readers hear of a move once, after the server's answer.
    """
    with far_away(server.port) as way:  # closes after the pages, which may still load scripts
        async with arriving(browser) as arrive:
            player = await arrive(way.url)
            await player.deal("wide:size=1x6,start=2x2:1,spawn=2:1,target=none")
            spoken = await player.text("#live")
            way.is_held = True
            await player.press("ArrowLeft")
            assert await player.board() == await player.cells() == [[4, 0, 0, 0, 0, 0]]
            assert await player.text("#score") == "4"
            assert await player.text("#live") == spoken
            keys = ["ArrowRight", "ArrowLeft", "ArrowUp"] * 3
            assert await player.page.evaluate(AT_ONCE, keys) == 1 + len(keys)
            assert player.answers() == []
            way.is_held = False
            await player.settle()
            assert len(player.answers()) == 1 + len(keys)
            assert [each["direction"] for each in player.answers()] == player.moves()
            state = await player.state()
            assert await player.board() == await player.cells() == state["board"]
            assert await player.text("#score") == f"{state['score']:,}"
            said = "Left: merged 2 and 2 into 4, plus 4."
            assert (await player.text("#live")).count(said) == 1


async def test_far_from_the_server_another_tab_moves(browser, server):
    """A slide whose move was not made is undone, and the page says that moves were dropped."""
    with far_away(server.port) as way:  # closes after the pages, which may still load scripts
        async with arriving(browser) as arrive:
            player = await arrive(way.url)
            game = await player.deal("long:size=5x5")
            near = Player(await player.page.context.new_page(), server.url)
            await near.visit(f"/?game={game}")
            legal = (await near.state())["legal"]
            way.is_held = True
            await near.press(f"Arrow{legal[0].title()}")
            await near.settle()
            await player.press(f"Arrow{legal[1].title()}", "ArrowUp", "ArrowDown")
            way.is_held = False
            await player.status("The board has changed. 3 moves were not made.")
            await player.said("3 moves were not made.")
            await player.settle()
            assert (await player.state())["ply"] == 1
            assert await player.board() == await player.cells() == await near.board()
            await player.press("ArrowDown", "ArrowRight")
            await player.settle()
            assert await player.board() == (await player.state())["board"]


async def test_a_burst_into_the_end_of_a_game(guest):
    """Keys pressed after the last move are dropped, and the end is announced."""
    await guest.deal("short:size=1x2,start=2x2:1,spawn=2:1")
    await guest.press("ArrowLeft", "ArrowRight", "ArrowLeft")
    await guest.said("Game over")
    await guest.page.wait_for_selector(".result[open]")
    assert (await guest.state())["ply"] == 1
