"""The page opened from a disk: without a server it has the game, hints and autoplay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect
from tests.server.browser.visiting import Arrive, Player, arriving

from py2048.core.board import Board
from py2048.core.rules import COURSE_PRESETS, list_rules
from py2048.server.site.pages import NETWORKS

MAKE_SITE = Path(__file__).parents[3] / "scripts" / "make_site.py"
DRAWS = """crypto.getRandomValues = function (words) {
    for (let i = 0; i < words.length; i++) {
        globalThis.drawn = (Math.imul(globalThis.drawn ?? 2, 1664525) + 1013904223) >>> 0;
        words[i] = globalThis.drawn;
    }
    return words;
}"""
"""Replaces the browser's random numbers by a fixed sequence."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of the page on the disk."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, MAKE_SITE, folder], check=True)
    return folder.as_uri()


async def opened(
    arrive: Arrive, site: str, size: str = "desktop", page: str = "/index.html"
) -> Player:
    """Open the page from the disk."""
    player = await arrive(site, size)
    await player.page.add_init_script(DRAWS)
    await player.visit(page)
    await player.page.wait_for_selector(".tile")
    return player


async def game_of(player: Player) -> dict[str, Any]:
    """Return the game as the page has it."""
    found: dict[str, Any] = await player.page.evaluate("window.py2048.game")
    return found


@pytest.mark.parametrize("size", ["desktop", "phone"])
async def test_a_game_is_played_from_a_disk(browser, site, size):
    """Keys, undo and redo work; the game survives a reload, and it ends."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site, size)
        await player.look("alone")
        boards = [await player.board()]
        for _ in range(6):
            direction = (await game_of(player))["legal"][0]
            await player.press(f"Arrow{direction.title()}")
            boards.append((await game_of(player))["board"])
        assert len({str(board) for board in boards}) == 7
        await player.settle()
        assert await player.board() == await player.cells() == boards[-1]
        await player.press("u", "u", "r")
        await player.settle()
        assert await player.board() == boards[-2]
        await player.said("Undone: ")
        await player.page.reload()
        await player.page.wait_for_selector(".tile")
        assert await player.board() == boards[-2]
        assert (await game_of(player))["ply"] == 5
        await player.page.evaluate(
            "while (py2048.game.outcome === 'playing') py2048.move(py2048.game.legal[0])"
        )
        await expect(player.page.locator("dialog.result h2")).to_have_text("Game over")
        await player.look("alone-over")
        await player.page.click("dialog.result >> text=Undo the last move")
        assert (await game_of(player))["outcome"] == "playing"
        await player.press("n")
        await player.status("")
        await player.page.click("#new-play")
        assert (await game_of(player))["ply"] == 0


async def test_other_rules_are_played_too(browser, site):
    """Every preset can be played; without a network for it, a hint says so."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        for rules in list_rules():
            name, is_course = rules.name, rules.name in COURSE_PRESETS
            await player.press("m")
            await player.page.select_option("#rules", "courses" if is_course else name)
            if is_course:
                await player.page.select_option("#course", name)
            await player.page.click("#new-play")
            game = await game_of(player)
            assert game["rules"]["name"] == name
            assert len(game["board"]) == len(await player.board())
            await player.press("?")
            if name in NETWORKS:
                await player.page.wait_for_selector("#board[data-best]")
            else:
                await player.status("There are no hints on this board.")


async def test_a_hint_counts_games(browser, site):
    """A hint gives each move's chance; the page answers keys while the games are played."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.press("?")
        await player.page.wait_for_selector("#board[data-best]")
        await player.press("u")  # the page listens
        board = Board.from_rows((await game_of(player))["board"])
        rows = await player.page.locator("#losses li").all_inner_texts()
        assert len(rows) == len(board.legal_directions())
        chances = [int(row.split()[-2]) for row in rows]
        assert chances == sorted(chances, reverse=True)
        await expect(player.page.locator("#outlook")).to_contain_text("200 games after each move")


async def test_a_finished_game_is_reviewed(browser, site):
    """The page itself reviews a game for a level, shows lines, drills, and plays on."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.press("m")
        await player.page.select_option("#rules", "2x4")
        await player.page.click("#new-play")
        await player.page.evaluate(
            "while (py2048.game.outcome === 'playing') py2048.move(py2048.game.legal.at(-1))"
        )
        await player.page.click("dialog.result >> text=Review this game")
        level = player.page.locator("#level select")
        await expect(level).to_have_value("practised", timeout=240_000)
        await expect(player.page.locator(".measured")).to_contain_text("in fewer games")
        await player.page.click("#show-me")
        await player.page.wait_for_selector("#headline:has-text('After ')")
        await player.page.wait_for_selector("#show-me[aria-pressed=false]")
        await player.page.click("#habits .drill")
        await player.page.wait_for_selector("#tries:visible")
        await player.page.click("#critical summary")
        await player.page.locator(".mistakes [aria-current] .show").click()
        await player.look("alone-reviewed")
        await player.page.click("#play-on")
        await player.page.wait_for_url("**/index.html")
        assert (await game_of(player))["category"] == "position"
        await player.page.evaluate("py2048.do('more')")
        await player.page.select_option("#level-choice", "expert")
        assert await player.page.evaluate("localStorage.getItem('py2048.level')") == "expert"


async def test_the_coach_is_silent_after_the_best_move(browser, site):
    """The coach looks at the board, and comments only on mistakes."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.press("c", "?")
        best = await player.page.locator("#board[data-best]").get_attribute("data-best")
        await player.press(f"Arrow{str(best).title()}")
        await player.reads("coach-word", "A word after each mistake")


async def test_the_computer_makes_2048_before_the_visitors_eyes(browser, site):
    """Autoplay starts with one button and stops at 2048; any move goes on."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.press("x", "+", "+", "+", "+")
        await player.page.click(".daily [data-do=auto]")
        await expect(player.page.locator("dialog.result h2")).to_have_text(
            "2048 is made", timeout=120_000
        )
        assert max(max(row) for row in await player.board()) == 2048
        await player.look("alone-watched")
        await player.page.click("dialog.result >> text=Keep playing")
        ply = (await game_of(player))["ply"]
        await player.press(f"Arrow{(await game_of(player))['legal'][0].title()}")
        assert (await game_of(player))["ply"] == ply + 1
        await player.page.evaluate("window.py2048.do('auto')")
        await player.page.wait_for_function("ply => window.py2048.game.ply > ply + 5", arg=ply)
        await player.press("u")
        await player.settle()
        await expect(player.page.locator("#stop")).to_be_hidden()


async def test_the_page_speaks_portuguese(browser, site):
    """There is a page for each language, and they link to each other."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.page.click("footer >> text=Português")
        await player.page.wait_for_url("**/pt.html")
        await player.page.wait_for_selector(".tile")
        await player.press("?")
        await player.page.wait_for_selector("#board[data-best]")
        assert "de 100 jogos como o seu" in await player.text("#reason")
