"""Watching, sharing and battles."""

from __future__ import annotations

import pytest
from playwright.async_api import Route, expect
from tests.server.browser.test_browser_access import ONE_MOVE, violations
from tests.server.browser.test_browser_pages import play_to_the_end
from tests.server.browser.visiting import ONLINE, Line, arriving

WHOLE = """() => [...document.querySelectorAll('.mini')].every(
    board => board.scrollWidth <= board.clientWidth)"""

IN_VIEW = """chosen => {
    const { top, bottom } = document.querySelector(chosen).getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
}"""


async def test_a_watcher_whom_the_server_turns_away_comes_again(arrive):
    """If the server is busy, the page asks again and then shows the game."""
    one, other = await arrive(), await arrive()
    game = await one.deal("classic", "ranked")
    line = Line()
    await line.lay(other.page)
    refused = {"type": "refused", "of": "watch", "state": None, "retry_ms": 10, "message": "Wait."}
    answers = [{**refused, "reason": reason} for reason in ("rate", "storage")]
    line.disturb = lambda _: answers.pop() if answers else None
    await other.watch(game)
    assert not answers


@pytest.mark.slow
async def test_sharing_a_game(player):
    """One press copies the text and offers the picture, after a game and on its page."""
    await player.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await play_to_the_end(player)
    for place in (".result [role=status]", "#shared"):
        await player.page.get_by_role("button", name="Share").click()
        await expect(player.page.locator(place)).to_contain_text("Text copied.")
        copied = await player.page.evaluate("() => navigator.clipboard.readText()")
        assert "points in" in copied
        assert copied.endswith("/share")
        assert await violations(player) == []
        await player.page.goto(copied.splitlines()[-1])
    assert await player.page.evaluate("() => document.querySelector('.share-card').naturalWidth")


async def test_a_late_result_replaces_the_page_s_own(guest):
    """The page itself shows the end and the points until the server's result arrives."""
    await guest.page.add_init_script("patience = []")

    async def delay(route: Route) -> None:
        await guest.page.locator("#result-title", has_text="Game over").wait_for()
        assert "4 points." in await guest.text(".result")
        await route.continue_()

    await guest.page.route("**/game/*/result*", delay)
    await guest.deal(ONE_MOVE)
    await guest.press("ArrowLeft")
    await expect(guest.page.get_by_role("button", name="Share")).to_be_visible()


async def test_a_battle_outlives_a_restart(browser, own_server):
    """The battle's page says that the server is away until it is back."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url)
        await player.page.goto(f"{player.url}/battle")
        await player.page.click("button:has-text('Create')")
        await player.page.wait_for_selector("#players li")
        await player.page.wait_for_load_state()  # the list comes before the scripts
        own_server.stop()
        await player.status("Cannot reach the server")
        own_server.start()
        await player.page.evaluate(ONLINE)
        await player.page.wait_for_function("() => !document.getElementById('status').textContent")
        await player.page.click("button:has-text('Leave')")
        await player.page.wait_for_url("**/battle")


@pytest.mark.slow
async def test_a_battle(arrive):
    """Players offer, join by link, start together, see each other, leave and play again."""
    one, two = await arrive(), await arrive("phone")
    await one.page.goto(f"{one.url}/battle")
    assert await violations(one) == []
    await one.page.select_option("[name=rules]", "8x8")
    await one.page.check("[name=minutes][value='1']")
    await one.page.click("button:has-text('Create')")
    link = await one.page.locator("#link").input_value()
    assert await violations(one) == []
    await two.page.goto(link)
    await two.page.click("button:has-text('Join')")
    await one.page.wait_for_selector("#players li:nth-child(2)")
    await expect(one.page.locator("#lonely")).to_be_hidden()
    assert await violations(two) == []
    await one.page.click("#start:enabled")
    for player in (one, two):
        await player.page.wait_for_selector("#rivals .mini", timeout=20_000)
    await one.reads("live", "Play.")
    for _ in range(3):
        await one.press("ArrowLeft", "ArrowDown", "ArrowRight")
        await one.settle()
    state = await one.state()
    assert state["mode"] == "battle"
    shown = "score => document.querySelector('.rivals-list li .rival-score').textContent === score"
    await two.page.wait_for_function(shown, arg=f"{state['score']:,}")
    for player in (one, two):
        assert await violations(player) == []
        assert await player.page.evaluate(WHOLE)
        for seen in ("#board", "#rivals .mini"):
            assert await player.page.evaluate(IN_VIEW, seen)
        width = await player.page.evaluate(
            "() => document.documentElement.scrollWidth - innerWidth"
        )
        assert width <= 0
    for player in (one, two):
        await player.page.goto(link)
        await player.page.wait_for_selector("#rivals .me .mini")
        assert await violations(player) == []
        assert await player.page.evaluate(WHOLE)
        await player.page.click("button:has-text('Leave')")
    await one.page.wait_for_selector("h2:has-text('You won by')")
    await two.page.wait_for_selector("h2:has-text('Guest'):has-text('won by')")
    await two.reads("proof", "matches the commitment")
    assert await violations(two) == []
    await two.page.click("button:has-text('Rematch')")
    await one.page.click("a:has-text('Join the rematch')")
    await one.page.click("button:has-text('Join')")
    await two.page.wait_for_selector("#players li:nth-child(2)")
