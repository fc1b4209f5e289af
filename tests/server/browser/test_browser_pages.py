"""The other pages: watching, replays, leaderboards, players and accounts."""

from __future__ import annotations

import asyncio
import secrets
from urllib.parse import parse_qs, urlsplit

from inside import add_game
from playwright.async_api import Route
from tests.server.browser.visiting import Player

from py2048.core.game import Record

SHORT = "classic:size=2x2"


async def test_a_form_is_sent_once(guest):
    """A double press on the button changes nothing: the recovery codes appear."""
    page, posts = guest.page, []
    page.on("request", lambda request: posts.append(request.url) if request.post_data else None)
    await page.goto(guest.url + "/account")
    form = page.locator("form[action='/account/claim']")
    await form.locator("[name=name]").fill(f"double {secrets.token_hex(4)}")
    await form.locator("[name=password]").fill("correct horse battery")
    twice = "button => { button.click(); setTimeout(() => button.click(), 50); }"
    await form.locator("button").evaluate(twice)
    await page.get_by_text("Your recovery codes").wait_for()
    assert posts == [guest.url + "/account/claim"]


async def play_to_the_end(player: Player, mode: str = "ranked") -> str:
    """Play a short game to its end; return its id."""
    game = await player.deal(SHORT, mode)
    await player.play_out()
    return game


async def test_watching_live(arrive):
    """The page of a game in progress shows each move as it is made, and the end."""
    one, other = await arrive(), await arrive("phone")
    game = await one.deal(SHORT, "ranked")
    await other.watch(game)
    assert await other.page.locator(".badge.live").count() == 1
    assert await other.page.get_by_role("link", name="Play on", exact=True).count() == 0
    await one.press("ArrowLeft", "ArrowDown")
    await one.settle()
    state = await one.state()
    await other.page.wait_for_function(
        "ply => document.getElementById('moves')?.textContent === String(ply)", arg=state["ply"]
    )
    drawn = await other.page.locator("#board [role=gridcell]").all_text_contents()
    tiles = [tile for row in state["board"] for tile in row]
    assert [0 if cell == "empty" else int(cell) for cell in drawn] == tiles
    await other.press("ArrowLeft")
    await one.play_out()
    # Who had to ask for the position again finds the game over, and comes to its replay at once.
    offered = other.page.locator("text=Watch the replay")
    await offered.or_(other.page.locator("#place")).first.wait_for()
    if await offered.count():
        await offered.click()
    await other.page.wait_for_selector("#place")


async def test_replay(guest):
    """The page of a finished game has a slider, buttons, keys, the record and the proof."""
    game = await play_to_the_end(guest)
    state = await guest.state()
    assert state["secret"]
    await guest.watch(game)
    await guest.page.click("#first")  # a reviewed game opens at its first mistake
    await moves_say(guest, 0)
    total = int(await guest.page.get_attribute("#place", "max") or 0)
    assert total == state["ply"]
    assert await guest.text("#final") == f"{state['score']:,} after {total} moves"
    start = await cells(guest)
    await guest.page.click("#forward")
    await guest.page.click("#forward")
    await moves_say(guest, 2)
    await guest.page.click("#back")
    await moves_say(guest, 1)
    await guest.press("Home")
    await moves_say(guest, 0)
    assert await cells(guest) == start
    await guest.page.locator("#place").fill(str(total - 1))
    await moves_say(guest, total - 1)
    await guest.page.evaluate("() => document.activeElement.blur()")
    await guest.press("ArrowRight")
    await moves_say(guest, total)
    assert await cells(guest) == [tile for row in state["board"] for tile in row]
    assert await guest.text("#score") == f"{state['score']:,}"
    await guest.page.get_by_text("Proof", exact=True).click()
    await guest.page.wait_for_selector("#proof.good")
    assert "matches the commitment" in await guest.text("#proof")
    async with guest.page.expect_download() as downloading:
        await guest.page.click("text=Download the record")
    record = Record.load(await (await downloading.value).path())
    record.verify()
    assert record.score == state["score"]


async def test_replay_runs_by_itself(guest, store):
    """Space starts the replay, which stops by itself at the end or when its button is pressed."""
    game = add_game(store, rules=SHORT)
    await guest.watch(game)
    await guest.page.select_option("#pace", "60")
    await guest.page.evaluate("() => document.activeElement.blur()")
    await guest.press("Space")
    total = int(await guest.page.get_attribute("#place", "max") or 0)
    await moves_say(guest, total)
    await guest.page.wait_for_selector("#run[aria-pressed=false]")
    await guest.page.select_option("#pace", "1")
    await guest.page.click("#run")
    assert await guest.text("#run") == "Pause"
    await guest.page.wait_for_function(
        "total => ![0, total].includes(+document.getElementById('moves').textContent)", arg=total
    )
    await guest.page.click("#run")
    assert await guest.text("#run") == "Play"


async def test_a_dragged_slider_asks_only_for_where_it_is(guest, store):
    """While turns are fetched, only the last wanted place counts; a 429 is retried."""
    game, asked = add_game(store, rules=SHORT), list[int]()

    async def slow(route: Route) -> None:
        """Act as a server with a game of 10,000 turns that is busy once."""
        first = int(parse_qs(urlsplit(route.request.url).query)["from"][0])
        asked.append(first)
        if len(asked) == 2:
            await route.fulfill(status=429, headers={"Retry-After": "0.1"})
            return
        board = [[2, 0], [0, 0]]
        turns = [{"board": board, "score": first + n} for n in range(256)]
        page = {"start": board, "total": 10_000, "turns": turns, "times": []}
        await route.fulfill(json=page)

    await guest.page.route("**/turns?*", slow)
    await guest.watch(game)
    await guest.page.evaluate(
        """() => { const slider = document.getElementById("place");
                   for (let place = 300; place <= 9000; place += 300) {
                     slider.value = place; slider.dispatchEvent(new Event("input"));
                   } }"""
    )
    await guest.page.wait_for_function(
        "() => document.getElementById('score')?.textContent === '8,999'"
    )
    assert asked == [0, 256, 256, 8960]
    assert all("429" in fault for fault in guest.faults)
    guest.faults.clear()


async def test_held_keys_skip_no_turn_of_a_replay(guest, store):
    """While turns are fetched, the board belongs to the number beside it."""
    game = add_game(store, rules=SHORT)
    is_fast = asyncio.Event()
    is_fast.set()

    async def slow(route: Route) -> None:
        first = int(parse_qs(urlsplit(route.request.url).query)["from"][0])
        turns = [{"board": [[2, 0], [0, 0]], "score": first + n + 1} for n in range(256)]
        page = {"start": [[2, 2], [0, 0]], "total": 600, "turns": turns[: 600 - first], "times": []}
        await is_fast.wait()
        if is_failing and first:
            await route.abort()
        else:
            await route.fulfill(json=page)

    is_failing = False
    await guest.page.route("**/turns?*", slow)
    await guest.watch(game)
    is_failing = True
    await guest.page.locator("#place").fill("300")
    await guest.page.locator("#status", has_text="Cannot reach the server").wait_for()
    assert await guest.page.input_value("#place") == "0"
    await guest.page.evaluate("() => document.activeElement.blur()")
    await guest.press("PageDown")
    await moves_say(guest, 10)
    is_failing = False
    for there, key in ((515, "ArrowLeft"), (255, "ArrowRight")):
        await guest.page.reload()
        await guest.page.wait_for_selector(".tile")
        await guest.page.locator("#place").fill(str(there))
        await moves_say(guest, there)
        await guest.page.evaluate("() => document.activeElement.blur()")
        is_fast.clear()
        await guest.press(*[key] * 6)
        is_fast.set()
        end = there - 3 if key == "ArrowLeft" else there + 2  # beyond what was fetched before
        await moves_say(guest, end)
        told = "() => ['score', 'moves'].map(id => document.getElementById(id).textContent)"
        score, moves = await guest.page.evaluate(told)
        assert score == moves
    guest.faults.clear()


async def moves_say(player: Player, number: int) -> None:
    """Wait until a number of moves is shown."""
    await player.page.wait_for_function(
        "number => document.getElementById('moves')?.textContent === String(number)", arg=number
    )


async def cells(player: Player) -> list[int]:
    """Return the board's rows."""
    found = await player.page.locator("#board [role=gridcell]").all_text_contents()
    return [0 if cell == "empty" else int(cell) for cell in found]
