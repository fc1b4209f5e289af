"""Puzzles: the one of the day, and others without end."""

from __future__ import annotations

import re
from datetime import date

from playwright.async_api import expect
from tests.server.browser.test_browser_access import violations
from tests.server.browser.test_browser_play import swipe

from py2048 import Direction
from py2048.review.puzzles import Puzzle, daily_puzzle, get_puzzle

WAYS = dict(zip(map(str, Direction), ((0, -60), (0, 60), (-60, 0), (60, 0)), strict=True))


def worst(puzzle: Puzzle) -> Direction:
    """Return the worst move."""
    return min(puzzle.values, key=puzzle.values.__getitem__)


async def test_the_puzzle_of_the_day(arrive):
    """A wrong answer shows every move's value and lowers the rating; Enter goes on."""
    player = await arrive("phone")
    await player.page.goto(player.url + "/puzzle?day=2026-11-20")
    puzzle = daily_puzzle(date(2026, 11, 20))
    assert await violations(player) == []
    illegal = set(Direction) - set(puzzle.values)
    assert await player.page.locator("#puzzle button[disabled]").count() == len(illegal)
    await player.press(f"Arrow{str(worst(puzzle)).capitalize()}")
    await player.page.wait_for_selector("#answer")
    assert await player.text("#verdict") == f"Not {worst(puzzle)}: {puzzle.best} is best."
    assert re.search(r"Your rating: 1,[34]\d\d \(.\d+\)\.", await player.text("#answer"))
    assert await violations(player) == []
    rows = await player.page.locator("#answer .options li").all_text_contents()
    assert len(rows) == len(puzzle.values)
    assert [str(puzzle.best).capitalize() in rows[0], "best" in rows[0]] == [True, True]
    await player.page.get_by_text("In points").click()
    points = await player.page.locator("#answer details").inner_text()
    assert f"{puzzle.values[puzzle.best]:,.0f}" in points
    await player.page.reload()
    await player.page.wait_for_function("document.activeElement.id == 'next'")
    await player.press("Enter")
    await player.page.wait_for_url(re.compile(r"id=\d"))
    assert await player.page.locator("#answer").count() == 0


async def test_swipes_answer_and_go_on(arrive):
    """A swipe on the board answers, the next one asks another puzzle, without end."""
    guest = await arrive("phone")
    await guest.page.goto(guest.url + "/puzzle?id=next")
    seen = []
    for _ in range(3):
        number = re.search(r"id=(\d+)$", guest.page.url)
        seen.append(puzzle := get_puzzle(int(number[1])))
        box = await guest.page.locator(".puzzle > .mini").bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        await swipe(guest, middle, WAYS[str(puzzle.best)])
        await guest.page.wait_for_selector(f"text=Right: {puzzle.best} is best.")
        await swipe(guest, middle, (60, 0))
        await guest.page.wait_for_selector("#puzzle")
    assert len({puzzle.id for puzzle in seen}) == 3
    assert seen[2].rating > seen[0].rating


async def test_a_puzzle_without_scripts(arrive):
    """Without JavaScript, buttons send a form, and a link leads to another puzzle."""
    guest = await arrive(java_script_enabled=False)
    await guest.page.goto(guest.url + "/puzzle")
    board = await guest.page.get_by_role("img").get_attribute("aria-label")
    button = guest.page.locator("#puzzle button:enabled").first
    await button.focus()
    await guest.press("Enter")
    await guest.page.wait_for_selector("#answer")
    assert await guest.page.get_by_role("img").get_attribute("aria-label") == board
    for link in ("[rel=prev]", "#next"):
        if link == "#next":
            await button.click()
        await guest.page.click(link)
        await expect(guest.page.get_by_role("img")).not_to_have_attribute("aria-label", board)
        await expect(guest.page.locator("#answer")).to_have_count(0)
