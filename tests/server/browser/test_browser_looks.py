"""Every page fits the screen, is legible and does not jump."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect
from tests.server.browser.test_browser_access import ONE_MOVE, violations
from tests.server.browser.test_browser_pages import play_to_the_end
from tests.server.browser.test_browser_review import add_review, finished
from tests.server.browser.visiting import Player, claim

from py2048.presentation.themes import THEMES

PAGES = (
    "/", "/daily", "/puzzle", "/leaderboards", "/live", "/battle",
    "/account", "/about", "/api/docs", "{battle}", "/player/{name}", "/game/{over}",
    "/game/{over}/share", "/game/{going}", "/no/such/page",
)  # fmt: skip
FITS = """() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const box = (name) => document.querySelector(name)?.getBoundingClientRect();
  return scrollWidth <= clientWidth && !(box(".brand").right > box("#theme")?.left);
}"""
"""Whether nothing is wider than the window, and the brand leaves room for the themes."""
SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) {
      const moved = each.sources.map(({ node: at }) => at?.id || at?.className || at?.textContent);
      window.shifts.push([each.value, moved.join(" ")]);
    }
  }).observe({ type: "layout-shift" });
}"""
"""Records layout shifts as the browser measures them, including those right after a key."""
TWO_FRAMES_LATER = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(shifts))));
})"""
"""Reads the layout shifts when the last change has been drawn."""
SMALL_TARGETS = """least => [...document.querySelectorAll(
    "button, select, input, summary, a[href], [role=button], [role=menuitem]")]
  .filter(each => each.checkVisibility({ visibilityProperty: true }))
  .filter(each => !each.closest("dialog, p, .skip, footer"))
  .map(each => [each.id || each.textContent.trim(), each.closest("label") ?? each])
  .map(([name, each]) => [name, each.getBoundingClientRect()])
  .filter(([, box]) => box.width && Math.min(box.width, box.height) < least - 0.5)
  .map(([name, box]) => `${name}: ${Math.round(box.width)} x ${Math.round(box.height)}`)"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def places(browser: Any, server: Any) -> dict[str, Any]:
    """Return the parts of addresses of pages about a player and their games, and cookies."""
    context = await browser.new_context(service_workers="block")
    player = Player(await context.new_page(), server.url)
    name = secrets.token_hex(12).translate(str.maketrans("0123456789abcdef", "WM" * 8))
    await claim(player, name)  # the longest name, of the widest letters
    over = await play_to_the_end(player)
    going = await player.deal("classic", "ranked")
    await player.press("ArrowLeft", "ArrowDown")
    await player.settle()
    await player.page.goto(f"{player.url}/battle")
    await player.page.locator("form[action='/battle'] button").click()
    await player.page.wait_for_url("**/battle/*")
    battle = player.page.url.removeprefix(player.url)
    cookies = await context.storage_state()
    await context.close()
    return {"name": name, "over": over, "going": going, "battle": battle, "cookies": cookies}


@pytest.mark.parametrize("path", PAGES)
async def test_every_page(arrive, path, places):
    """Nothing jumps or is cut off from 320 pixels on; axe finds no faults in any theme."""
    owner = {"storage_state": places["cookies"]} if "name" in path else {}
    player = await arrive("phone", **owner)
    await player.page.set_viewport_size({"width": 320, "height": 568})
    await player.page.add_init_script(f"({SHIFTS})()")
    await player.page.goto(player.url + path.format(**places))
    await player.page.wait_for_load_state("networkidle")
    assert await player.page.evaluate("window.shifts") == []
    assert await violations(player) == []
    for width in (320, 360, 768, 1366):
        await player.page.set_viewport_size({"width": width, "height": 768})
        assert await player.page.evaluate(FITS), width
    assert await violations(player) == []
    for theme in (each for each in THEMES if each.name != "light"):  # which was looked at above
        await player.page.evaluate(
            "name => document.documentElement.dataset.theme = name", theme.name
        )
        assert await violations(player, ["color-contrast"]) == [], theme.name
    if "such" in path:
        player.faults.clear()


async def test_targets_of_the_page_for_playing(player):
    """Targets measure 44 pixels for fingers and 36 for a mouse; axe checks links within texts."""
    await player.visit()
    is_phone = await player.page.evaluate("matchMedia('(pointer: coarse)').matches")
    small = await player.page.evaluate(SMALL_TARGETS, 44 if is_phone else 36)
    assert not small, small


async def test_nothing_jumps_while_playing(player, store):
    """Cards, hints, announcements, moves and a result cause no layout shift."""
    await player.visit()
    await player.choose("greedy")  # which is quick; in a dialog, so the page comes anew
    await player.visit()
    await player.page.wait_for_load_state("networkidle")
    await player.page.evaluate(SHIFTS)
    await player.press("ArrowLeft", "ArrowUp", "ArrowUp", "ArrowUp", "?")
    await player.page.wait_for_selector("#board[data-best]")
    await player.press("ArrowDown", "c", "u", "r", "x", "x")
    await player.settle()
    for words in ("Nothing moves that way.", ""):
        await player.page.evaluate("words => window.py2048.scene.note(words)", words)
    assert await player.page.evaluate(TWO_FRAMES_LATER) == []
    game = await player.deal(ONE_MOVE)
    add_review(store, game, None)
    await player.page.wait_for_load_state("networkidle")
    await player.page.evaluate(SHIFTS)
    await player.press("ArrowLeft")
    await player.page.wait_for_selector(".result-figures[data-pending]")
    add_review(store, game, finished(store)[1])
    await expect(player.page.locator(".result-figures[data-pending]")).to_have_count(0)
    assert await player.page.evaluate("window.shifts") == []
