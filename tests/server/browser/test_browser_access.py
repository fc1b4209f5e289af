"""Playing without a mouse and without sight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect
from tests.server.browser.visiting import Player

ONE_MOVE = "short:size=1x2,start=2x2:1,spawn=2:1"
"""Two equal tiles side by side: one move ends the game."""
GUIDELINES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
"""The rules that axe checks: WCAG up to level AA, and its best practices."""


def axe_script() -> str:
    """Return the source of axe-core."""
    axe = pytest.importorskip("axe_playwright_python", reason="make test installs it")
    return (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


async def violations(player: Player, rules: list[str] | None = None) -> list[Any]:
    """Return axe's findings on the current page, by all rules or by some."""
    if not await player.page.evaluate("() => 'axe' in window"):
        await player.page.evaluate(axe_script())
    await player.page.wait_for_function(
        "() => document.getAnimations().every(({ playState }) => playState !== 'running')"
    )
    found = await player.page.evaluate(
        "async rules => (await axe.run(document, rules)).violations",
        {"runOnly": rules or GUIDELINES},
    )
    return [
        (each["id"], [(node["html"][:120], node.get("failureSummary")) for node in each["nodes"]])
        for each in found
    ]


async def test_axe_on_the_board(guest):
    """axe-core finds no faults during and after a game, nor in the dialogs."""
    await guest.visit()
    await guest.ask()
    assert await violations(guest) == []
    await guest.press("m")
    await guest.page.select_option("#rules", "own")
    await guest.page.wait_for_function(
        "() => document.getElementById('rules-said')?.textContent.includes('4')"
    )
    assert await violations(guest) == []
    await guest.press("Escape", "g")
    await guest.page.wait_for_selector("#games-dialog[open]")
    assert await violations(guest) == []
    await guest.deal(ONE_MOVE)
    await guest.press("ArrowLeft")
    await guest.ended()
    assert await violations(guest) == []


async def test_the_board_is_a_grid(guest):
    """Assistive technology finds a grid of rows and cells that contain the tiles."""
    await guest.deal("classic:size=3x5")
    tree = await guest.page.locator("#board").aria_snapshot()
    assert tree.count("- row") == 3
    assert tree.count("- gridcell") == 15
    grid = guest.page.get_by_role("grid", name="Board, 3 by 5")
    assert await grid.get_by_role("row").count() == 3
    assert await grid.get_attribute("aria-colcount") == "5"
    await guest.press("ArrowLeft", "ArrowDown")
    await guest.settle()
    assert await guest.cells() == (await guest.state())["board"]


async def test_what_is_said(guest):
    """A live region announces merges, points, new tiles, scores, illegal moves and the end."""
    await guest.deal("talk:size=1x4,start=2x2:1,spawn=2:1,target=4")
    await guest.said("New game, 1 by 4.")
    await guest.press("ArrowLeft")
    await guest.settle()
    await guest.said("Left: merged 2 and 2 into 4, plus 4.")
    await guest.said("A 2 at row 1, column")
    await guest.said("Score 4.")
    await guest.said("You made 4: you win.")
    region = guest.page.locator("#live")
    assert await region.get_attribute("aria-live") == "polite"
    await guest.deal("stuck:size=1x3,start=1,spawn=2:1")
    await guest.press("ArrowUp")
    await guest.said("Up: nothing moves.")
    await guest.press("b")
    await guest.said("Row 1:")
    await guest.deal(ONE_MOVE)
    await guest.press("ArrowLeft")
    await guest.said("Game over: no move is left.")


async def test_cells_by_keyboard(guest):
    """Tab enters the board at one cell; Shift with an arrow goes from cell to cell."""
    await guest.visit()
    place = """() => {
      const cell = document.activeElement;
      return [cell.getAttribute("role"), +cell.parentElement.getAttribute("aria-rowindex"),
              +cell.getAttribute("aria-colindex")];
    }"""
    await guest.page.focus(".account-link")
    await guest.press("Tab")
    assert await guest.page.evaluate(place) == ["gridcell", 1, 1]
    for arrow in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp"):
        await guest.press(f"Shift+{arrow}")
    assert await guest.page.evaluate(place) == ["gridcell", 1, 3]
    assert guest.moves() == []
    await guest.press("ArrowDown")
    await guest.settle()
    assert guest.moves() == ["down"]
    assert await guest.page.evaluate(place) == ["gridcell", 1, 3]
    await guest.press("Shift+Tab", "Tab")
    assert await guest.page.evaluate(place) == ["gridcell", 1, 3]


async def test_everything_by_keyboard(guest):
    """Tab reaches every control in page order, and each shows a focus ring."""
    await guest.visit()
    reached = []
    for _ in range(60):
        await guest.press("Tab")
        name, ring = await guest.page.evaluate(
            """() => {
                 const at = document.activeElement;
                 const style = getComputedStyle(at);
                 const after = getComputedStyle(at, "::after");
                 const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2
                   || after.borderTopStyle === "solid";
                 const name = at === document.body ? "BODY" : at.id || at.dataset.direction;
                 return [name || at.className || at.textContent.trim(), ring];
               }"""
        )
        if name == "BODY":
            break
        assert ring, name
        reached.append(name)
    wanted = ["skip", "brand", "theme", "account-link", "cell", "undo", "hint", "new", "more",
              "coach"]  # fmt: skip
    assert [name for name in reached if name in wanted] == wanted


async def test_dialogs_keep_the_focus_and_give_it_to_the_board(guest):
    """An open dialog keeps the keyboard; when it closes, the focus returns to the board."""
    await guest.visit()
    board = guest.page.locator("#board")
    for button, dialog in (("new", "new-dialog"), ("more", "menu-dialog")):
        await guest.page.focus(f"#{button}")
        await guest.press("Enter")
        await guest.page.wait_for_selector(f"#{dialog}[open]")
        await expect(board).not_to_be_focused()
        await guest.press("ArrowLeft", "KeyS")
        assert guest.moves() == []
        await guest.press("Escape")
        await expect(board).to_be_focused()
    await guest.press("g")
    await guest.page.wait_for_selector("#games-dialog[open]")
    await guest.press("Escape")
    await expect(board).to_be_focused()
    await guest.page.click("#new")
    await guest.page.click("#new-play")
    await expect(board).to_be_focused()


async def test_a_page_without_scripts(arrive):
    """Without JavaScript the page for playing says what is missing, and leaderboards work."""
    player = await arrive(java_script_enabled=False)
    await player.page.goto(player.url + "/")
    assert "needs JavaScript" in (await player.page.text_content("noscript") or "")
    await player.page.goto(player.url + "/leaderboards?board=computer&period=week")
    assert await player.page.locator("h1").text_content() == "Ranks"
