"""The review of a finished game."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa
import stand_in_review
from inside import add_game
from tests.server.browser.test_browser_access import violations
from tests.server.browser.test_browser_pages import cells, moves_say
from tests.server.browser.visiting import Player

from py2048 import Record
from py2048.app.storage import Store
from py2048.app.storage.schema import reviews
from py2048.app.storage.values import utc_now
from py2048.review import Review, review
from py2048.server.site.reviews import kept, version_for

LINES = """() => {
    const lines = (window.lines = []);
    const headline = document.getElementById("headline");
    const isMarked = () => document.querySelector(".tile.feared") !== null;
    const note = () => lines.push([headline.textContent.slice(0, 15), isMarked()]);
    new MutationObserver(note).observe(headline, { childList: true });
}"""
"""Records the headlines of typical lines, and whether a tile is marked meanwhile."""

QUICK = "{ const begin = setTimeout; globalThis.setTimeout = (act, ms) => begin(act, ms / 10); }"
"""Makes timers ten times as fast."""

JUDGE = "greedy"
"""A judge that needs no compilation."""


def finished(store: Store, **facts: object) -> tuple[str, Record]:
    """Add a finished game with mistakes; return it with its id."""
    game_id = add_game(store, rules="classic:size=3x3", **facts)
    return game_id, Record.from_json(store.records.load(game_id))


def add_review(
    store: Store, game_id: str, record: Record | None, found: Review | None = None
) -> None:
    """Add a game's review; without a record, one that another server is computing."""
    row = {"game_id": game_id, "owner": "ada", "version": version_for("me"), "asked": "9",
           "attempts": 1, "claimed": "9", "done": 3, "finished": None, "summary": None,
           "moves": None}  # fmt: skip
    if record is not None:
        row |= {"finished": utc_now()} | kept(found or review(record, JUDGE))
    with store.write() as connection:
        connection.execute(sa.delete(reviews).where(reviews.c.game_id == game_id))
        connection.execute(sa.insert(reviews), row)


async def reviewed(reader: Player, store: Store, level: str = "") -> tuple[str, Record]:
    """Open the page of a finished game with a review, by default by `JUDGE`; return the game."""
    game, record = finished(store)
    add_review(store, game, record, stand_in_review.judged(record, level) if level else None)
    await reader.page.goto(f"{reader.url}/game/{game}")
    return game, record


async def places(player: Player) -> list[int]:
    """Return the replay's places of the listed mistakes, in order."""
    items = await player.page.locator(".mistakes > li").all()
    return sorted([int(await item.get_attribute("data-turn") or -1) for item in items])


async def test_the_review_comes_while_one_waits(guest, store):
    """Progress is shown, then the review appears without a key press."""
    game, record = finished(store)
    add_review(store, game, None)
    await guest.page.goto(f"{guest.url}/game/{game}")
    assert "3 of" in await guest.text("#review-progress")
    assert await violations(guest) == []
    add_review(store, game, record)
    await guest.page.wait_for_selector("#review-graph svg")
    await guest.said("The review is ready.")
    assert await violations(guest) == []


async def test_a_review_in_portuguese(arrive, store):
    """In Portuguese, the review translates everything and writes decimal commas."""
    reader = await arrive(locale="pt-PT")
    await reviewed(reader, store)
    options = reader.page.locator("#options li")
    await options.first.wait_for()
    assert await options.count() > 1
    assert "melhor" in await reader.text("#options")
    assert re.fullmatch(r"\d+,\d %", await reader.text(".review-figures .figure"))


async def test_stepping_through_mistakes(guest, store):
    """Buttons, keys, the list and the graph lead to the board before the move."""
    _, record = await reviewed(guest, store)
    wanted = await places(guest)
    assert len(wanted) > 2
    boards = [record.start, *(board for board, _, _ in record.replay())]
    first = await guest.page.get_attribute("#review", "data-first")
    await moves_say(guest, int(first or -1))  # it opens at the costliest
    await guest.page.locator("#review-graph").click(position={"x": 2, "y": 20})
    await moves_say(guest, 0)
    if wanted[0]:
        await guest.page.click("#next-mistake")
    await moves_say(guest, wanted[0])
    assert await cells(guest) == [tile for row in boards[wanted[0]].rows for tile in row]
    await guest.page.click("#next-mistake")
    await moves_say(guest, wanted[1])
    await guest.page.wait_for_selector("#options li")
    item = guest.page.locator(f".mistakes > [data-turn='{wanted[1]}'] .verdict")
    assert await guest.text("#headline") in (await item.text_content() or "")
    await guest.page.evaluate("() => document.activeElement.blur()")
    await guest.press("p")
    await moves_say(guest, wanted[0])
    assert await guest.page.locator(".mistakes > [aria-current]").count() == 1
    await guest.press(*("n" for _ in wanted))
    await guest.status("No later mistakes.")
    await moves_say(guest, wanted[-1])
    await guest.page.click("#critical summary")
    first = guest.page.locator(".mistakes .show").first
    item = guest.page.locator(".mistakes > li").first
    await first.focus()
    await guest.press("Enter")
    await moves_say(guest, int(await item.get_attribute("data-turn") or -1))


@pytest.mark.parametrize("size", [(390, 844), (1366, 768), (1440, 900)], ids=str)
async def test_a_review_opens_with_board_reason_and_buttons(arrive, store, size):
    """On every device the costliest mistake is on the screen, with its reason and its buttons."""
    width, height = size
    reader = await arrive(viewport={"width": width, "height": height})
    await reviewed(reader, store, "casual")
    await reader.page.wait_for_selector("#options li")
    tabs = await reader.page.locator("nav").first.bounding_box()
    below = tabs["y"] if tabs and tabs["y"] > height / 2 else height
    for part in ("#board .board", "#why", "#show-me", "#try", "#play-on", "#next-mistake"):
        box = await reader.page.locator(part).bounding_box()
        assert box, part
        assert box["y"] >= 0, part
        assert box["y"] + box["height"] <= below, part


async def test_typical_lines_are_shown(guest, store):
    """After both moves a line is played, with a tile marked; then the position is back."""
    await guest.page.add_init_script(QUICK)
    await reviewed(guest, store, "casual")
    await guest.page.wait_for_selector("#options li")
    said, before = await guest.text("#headline"), await cells(guest)
    await guest.page.evaluate(LINES)
    await guest.page.click("#show-me")
    await guest.page.wait_for_function("() => window.lines.length === 3")
    played = await guest.page.evaluate("window.lines.slice(0, 2)")
    assert played == [["After Down. Kee", True], ["After Left. Kee", True]]
    assert await guest.page.get_attribute("#show-me", "aria-pressed") == "false"
    assert (await guest.text("#headline"), await cells(guest)) == (said, before)
    await guest.page.click("#show-me")
    await guest.page.click("#try")
    assert await cells(guest) == before
    await guest.press("ArrowDown")
    assert await guest.text("#headline") == "Right: Down is best."


async def test_a_mistake_is_tried_again(guest, store):
    """Trying again hides the best move until an arrow or a button answers; Escape shows it."""
    await reviewed(guest, store)
    await guest.page.wait_for_selector("#options li")
    marks = "#board[data-best][data-played]"
    assert await guest.page.locator(marks).count() == 1
    best = await guest.page.get_attribute("#board", "data-best")
    played = await guest.page.get_attribute("#board", "data-played")
    place = await guest.text("#moves")
    await guest.page.click("#try")
    assert await guest.page.locator("#board[data-best], #options li:visible").count() == 0
    assert await violations(guest) == []
    await guest.press("Escape")
    await guest.page.wait_for_selector(marks)
    for way, said in ((played, "is best"), (best, "Right: ")):
        await guest.page.click("#try")
        await guest.press(f"Arrow{str(way).capitalize()}")
        assert said in await guest.text("#headline")
        assert await guest.page.locator(marks).count() == 1
    await guest.page.click("#try")
    await guest.page.click(f"#tries [data-direction={best}]")
    assert "Right: " in await guest.text("#headline")
    assert await guest.text("#moves") == place


async def test_a_position_of_the_replay_is_played_on(guest, store):
    """A new game starts from the replay's board and says so."""
    game, record = finished(store)
    await guest.watch(game)
    for move in (1, 2, 3):
        await guest.press("ArrowRight")
        await moves_say(guest, move)
    boards = [board for board, _, _ in record.replay()]
    assert await violations(guest) == []
    await guest.page.click("#play-on button")
    await guest.page.wait_for_url("**/?game=*")
    await guest.page.wait_for_selector(".tile")
    assert await cells(guest) == [tile for row in boards[2].rows for tile in row]
    assert await guest.text("#category") == "from a position"


async def test_a_review_without_scripts(arrive, store):
    """Without JavaScript, everything is legible, and a page loads itself until it has a review."""
    guest = await arrive(java_script_enabled=False)
    await reviewed(guest, store)
    assert await guest.page.get_by_role("img", name="Accuracy").count() == 1
    assert await guest.page.locator(".mistakes .mini").count() == len(await places(guest))
    await guest.page.click("#critical summary")
    assert "was best." in await guest.text(".mistakes .verdict")
    assert await guest.page.get_by_role("button", name="Show in the replay").count() == 0
    await guest.page.locator(".mistakes").get_by_role("button", name="Play on").first.click()
    await guest.page.wait_for_url("**/?game=*")
    running, _ = finished(store)
    add_review(store, running, None)
    await guest.page.goto(f"{guest.url}/game/{running}")  # which loads itself anew
    assert await guest.page.locator("meta[http-equiv=refresh][content^='5;']").count() == 1
