"""Playing in the browser: every way to move, and every button."""

from __future__ import annotations

import asyncio
import re

from playwright.async_api import WebSocketRoute, expect
from tests.server.browser.test_browser_access import ONE_MOVE
from tests.server.browser.test_browser_review import add_review, finished
from tests.server.browser.visiting import Player

from py2048.core.board import Board
from py2048.core.rules import COURSE_PRESETS, get_rules, list_boards
from py2048.presentation.words import percent

WORDS_ON = """async () => {
  const { wordOn } = await import("/static/js/computer.js");
  const hint = { direction: "left", goal: 512, options: [
    { direction: "left", text: "62 %", grade: "best" },
    { direction: "up", text: "61 %", grade: "good" },
    { direction: "down", text: "30 %", grade: "blunder" },
  ] };
  return ["down", "up", "left"].map((way) => wordOn(way, hint));
}"""
WON_AT_ONCE = "won:size=1x2,start=2x2:1,spawn=2:1,target=4,end=target"
CATEGORIES = '"category":"plain"', '"category":"computer"'
WON_AND_ON = "on:size=1x6,start=2x2:1,spawn=2:1,target=4"


async def test_letter_keys_can_be_switched_off(guest):
    """The menu switches letter keys off for this browser; arrows still slide."""
    await guest.visit()
    await guest.page.click("#more")
    await guest.page.click("#letters-line")
    assert await guest.page.get_attribute("#letters-line", "aria-pressed") == "false"
    await guest.visit()
    await guest.press("a", "d", "?", "ArrowDown", "m", "ArrowUp")
    await guest.settle()
    assert guest.moves() == ["down", "up"]


async def test_buttons_of_the_pad_move(guest):
    """The menu shows four buttons that move the tiles."""
    await guest.visit()
    assert not await guest.page.locator(".pad").is_visible()
    await guest.page.click("#more")
    await guest.page.click("#pad-line")
    await guest.press("Escape")
    for direction in ("left", "up", "right", "down"):
        await guest.page.click(f".pad [data-direction={direction}]")
    await guest.settle()
    assert guest.moves() == ["left", "up", "right", "down"]


async def test_swipes_on_the_board_only(arrive):
    """A swipe on the board moves the tiles; a swipe beside it scrolls the page."""
    player = await arrive("phone")
    await player.visit()
    box = await player.page.locator("#board").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for way in ((60, 5), (-60, 5), (5, 60), (5, -60)):
        await swipe(player, middle, way)
    await player.settle()
    assert player.moves() == ["right", "left", "down", "up"]
    await swipe(player, middle, (4, -6))
    assert await player.page.evaluate("() => scrollY") == 0
    await swipe(player, (middle[0], box["y"] - 20), (0, -60))
    assert len(player.moves()) == 4
    await player.page.wait_for_function("() => scrollY > 20")


async def swipe(player: Player, start: tuple[float, float], way: tuple[float, float]) -> None:
    """Swipe with one finger."""
    session = await player.page.context.new_cdp_session(player.page)
    steps = [(start[0] + way[0] * k / 4, start[1] + way[1] * k / 4) for k in range(5)]
    for index, (x, y) in enumerate(steps):
        kind = "touchStart" if index == 0 else "touchMove"
        await session.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]}
        )
    await session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    await session.detach()


async def test_a_click_near_a_side_moves(guest):
    """A mouse click near a side of the board moves the tiles; one in the middle does not."""
    await guest.visit()
    box = await guest.page.locator("#board").bounding_box()
    x, y = box["width"] / 2, box["height"] / 2
    for place in ((x, 20), (20, y), (x + 3, y + 3)):
        await guest.page.mouse.click(box["x"] + place[0], box["y"] + place[1])
    await guest.settle()
    assert guest.moves() == ["up", "left"]


async def test_undo_and_redo(guest):
    """Undo and redo work by key and button; with nothing to undo, the page says so."""
    await guest.visit()
    first = await guest.board()
    await guest.press("ArrowDown", "ArrowLeft", "ArrowUp", "ArrowRight")
    await guest.settle()
    last = await guest.board()
    await guest.press("u", *("u" for _ in guest.events("moved")))
    await guest.status("nothing to undo")
    assert await guest.board() == first
    for _ in guest.events("undone"):
        await guest.page.click("#more")
        await guest.page.click("#redo")
    await guest.settle()
    assert await guest.board() == last == await guest.cells()
    assert await guest.text("#category") == "assisted"


async def test_hint(guest):
    """A hint marks the best direction and lists every direction's chance until the next move."""
    await guest.visit()
    await guest.ask()
    best = guest.page.locator("#losses .best")
    await guest.page.locator("#losses .loss", has_text="%").first.wait_for()
    hint = [message for message in guest.heard if message["type"] == "hint"][-1]
    shown = {}
    for row in await guest.page.locator("#losses li").all():
        shown[await row.get_attribute("data-direction")] = await row.locator(".loss").text_content()
    assert shown == {name: percent(value) for name, value in hint["values"].items()}
    board = Board.from_rows(await guest.board())
    assert set(shown) == {str(direction) for direction in board.legal_directions()}
    assert await best.get_attribute("data-direction") == hint["direction"]
    name = hint["direction"].capitalize()
    await guest.said(f"{name}. ")
    assert await guest.text("#status") == f"{name} is best."
    assert await guest.page.get_attribute("#board", "data-best") == hint["direction"]
    await guest.press(f"Arrow{hint['direction'].capitalize()}")
    await guest.settle()
    assert not await best.is_visible()
    assert await guest.page.get_attribute("#board", "data-best") is None
    assert await guest.text("#category") == "assisted"
    assert guest.moves() == [hint["direction"]]


async def test_the_first_moves_are_taught(guest):
    """A line explains the game until three moves are made, and never again in this browser."""
    await guest.deal("classic:size=1x8,start=3")
    line = guest.page.locator("#teach")
    await expect(line).to_be_visible()
    assert "Equal tiles join" in await line.inner_text()
    while (made := len(guest.events("moved"))) < 3:
        await expect(line).to_be_visible()
        await guest.press("ArrowRight" if made % 2 else "ArrowLeft")
        await guest.settle()
    await expect(line).to_be_hidden()
    await guest.visit()
    await expect(line).to_be_hidden()


async def test_the_coach_has_a_word_after_each_mistake(guest):
    """The coach looks at the board while the player thinks; good moves get no comment."""
    await guest.deal("classic:size=3x3")
    await guest.choose("greedy")
    await guest.page.click("#coach")
    await guest.page.wait_for_function("() => window.py2048.queue.version > 0")
    while not (told := [message for message in guest.heard if message["type"] == "hint"]):
        await asyncio.sleep(0.05)
    best = told[0]["direction"]
    assert not await guest.page.locator("#hint-card").is_visible()
    await guest.press(f"Arrow{best.capitalize()}")
    await guest.settle()
    assert await guest.text("#coach-word") == "Comments on each mistake"
    said = await guest.page.evaluate(WORDS_ON)
    assert said == ["A blunder: Left was far better. Your chance is 30 % instead of 62 %.", "", ""]


async def test_what_there_is_to_do_today(guest):
    """Beside the board are the day's challenge, its puzzle and the player's statistics."""
    await guest.visit()
    puzzle = guest.page.locator("#today .mini")
    await expect(puzzle.locator("[class]").first).to_be_visible()
    rules = "classic:size=1x2,start=2x2:1,spawn=2:1"
    for played in (1, 2):
        await guest.deal(rules, "ranked")
        await guest.press("ArrowLeft")
        await guest.page.wait_for_selector(".result[open]")
        await guest.deal(rules)
        await expect(guest.page.locator(".games h2")).to_contain_text(f"{played} played")
    assert await guest.page.locator(".games .spark path").count() == 1


async def test_autoplay(guest):
    """The computer plays at the chosen speed until the player moves."""
    await guest.visit()
    await guest.choose("corner")
    await guest.press("+", "+", "+")
    await guest.status("32 moves a second")
    await guest.page.click("#more")
    await guest.page.click("#auto")
    await guest.page.wait_for_function("() => +document.getElementById('moves')?.textContent >= 10")
    assert await guest.page.locator("#stop").is_visible()
    assert await guest.text("#category") == "with the computer"
    before = len(guest.events("moved")) + len(guest.events("nothing_moved"))
    await guest.press("ArrowLeft")
    await guest.page.wait_for_selector("#stop", state="hidden")
    await guest.settle()
    assert len(guest.events("moved")) + len(guest.events("nothing_moved")) > before
    state = await guest.state()
    assert (state["autoplay"], state["board"]) == (None, await guest.board())
    watched = await guest.page.context.request.get(f"{guest.url}/game/{state['game']}")
    assert "with the computer" in await watched.text()


async def test_win_and_play_on(guest):
    """The page celebrates the target tile, and any move goes on unless the game ends."""
    await guest.deal(WON_AND_ON)
    await guest.press("ArrowLeft")
    await guest.said("You made 4: you win. Play on if you like.")
    await guest.page.wait_for_selector(".result.won[open]")
    assert await guest.text("#result-title") == "You made 4"
    await guest.press("ArrowRight")
    await guest.settle()
    assert await guest.page.locator(".result[open]").count() == 0
    assert (await guest.state())["outcome"] == "playing"
    await guest.deal(WON_AT_ONCE)
    await guest.press("ArrowRight")
    await expect(guest.page.locator(".result > p").first).to_have_text(re.compile("You win$"))


async def test_a_game_of_a_computer_player_is_not_reviewed(guest):
    """A game with a computer player's moves has no accuracy."""

    def make_computers(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda message: route.send(str(message).replace(*CATEGORIES)))

    await guest.page.route_web_socket("**/ws", make_computers)
    await guest.deal(ONE_MOVE)
    await guest.press("ArrowLeft")
    assert await guest.page.locator(".result-figures dd").nth(1).text_content() == "\N{EN DASH}"


async def test_the_end(guest):
    """The end shows the score, and in a casual game the last move can be undone."""
    game = await guest.deal(ONE_MOVE)
    await guest.press("ArrowLeft")
    await guest.ended()
    assert "Game over" in await guest.text("#live > :last-child")  # after the move
    assert await guest.text("#result-title") == "4 points. A first score to beat."
    replay = guest.page.get_by_role("link", name="Watch it again")
    assert await replay.get_attribute("href") == f"/game/{game}"
    await guest.press("ArrowLeft")
    await guest.page.get_by_role("button", name="Undo the last move").click()
    await guest.settle()
    assert await guest.board() == [[2, 2]]
    assert await guest.page.locator(".result[open]").count() == 0
    assert guest.moves() == ["left"]
    await guest.press("ArrowRight")
    await guest.page.wait_for_selector(".result[open]")
    await replay.click()
    await guest.page.wait_for_selector("#place")  # the replay: what is left is a record
    assert all("404" in fault for fault in guest.faults)  # asked about the end, answered after undo
    guest.faults.clear()


async def test_the_review_comes_into_its_place(guest, store):
    """The page asks for it, and shows the figures that another server computes."""
    game = await guest.deal("2x2")
    add_review(store, game, None)
    async with guest.page.expect_request(
        lambda sent: sent.method == "POST" and sent.url.endswith(f"/game/{game}/result")
    ):
        await guest.play_out()
    pending = guest.page.locator(".result-figures[data-pending]")
    await expect(pending).to_have_count(1)
    await expect(guest.page.locator(".games h2")).to_contain_text("1 played")
    add_review(store, game, finished(store)[1])
    await expect(pending).to_have_count(0)
    figures = await guest.page.locator(".result-figures dd").all_text_contents()
    assert re.fullmatch(r"\d+ %", figures[1])
    assert re.fullmatch(r"average|(very )?(good|bad)", figures[2])
    assert "Review" in await guest.text(".result [data-review]")


async def test_closing_the_result_leaves_the_board_readable(guest):
    """Closing the result focuses the board; a move shows it again, and N starts a game."""
    game = await guest.deal(ONE_MOVE)
    await guest.press("ArrowLeft")
    result = guest.page.locator(".result[open]")
    for close in ("Escape", "button"):
        await result.wait_for()
        if close == "Escape":
            await guest.press("Escape")
        else:
            await guest.page.get_by_role("button", name="Close").click()
        await expect(result).to_have_count(0)
        await expect(guest.page.locator("#board")).to_be_focused()
        await guest.press("ArrowLeft")
    await result.wait_for()
    assert (await guest.state())["ply"] == 1
    await guest.press("n")
    await guest.page.wait_for_function("game => window.py2048?.game?.game !== game", arg=game)
    await expect(result).to_have_count(0)


async def test_the_device_is_given_picture_and_text(guest):
    """The device is given the picture, if it takes files, and a text that explains itself."""
    await guest.page.add_init_script("""
        window.given = null;
        navigator.canShare = () => true;
        navigator.share = async ({ text, files }) => { window.given = [text, files?.[0].size]; };
    """)
    await guest.deal(ONE_MOVE)
    await guest.press("ArrowLeft")
    await guest.page.get_by_role("button", name="Share").click()
    await guest.page.wait_for_function("() => window.given")
    text, size = await guest.page.evaluate("() => window.given")
    assert "4 points in 1 move" in text
    assert size > 1000


async def test_new_game_asks_if_one_is_in_progress(guest):
    """N starts at once before the first move and asks after it; no game is thrown away."""
    await guest.visit()
    first = await guest.state()
    await guest.press("n")
    await guest.page.wait_for_function(
        "game => (window.py2048?.game?.game ?? game) !== game", arg=first["game"]
    )
    assert not await guest.page.locator("#new-dialog").is_visible()
    await guest.press("ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp")
    await guest.settle()
    old = await guest.state()
    await guest.press("n")
    warning = guest.page.locator("#new-warning", has_text="in progress")
    await warning.wait_for(state="visible")
    await guest.press("Escape", "n", "Enter")
    await guest.page.wait_for_function(
        "game => (window.py2048?.game?.game ?? game) !== game", arg=old["game"]
    )
    assert (await guest.state())["ply"] == 0
    await guest.press("g")
    await guest.page.click(f"#games-list button[aria-label*='{old['ply']} moves']")
    await guest.page.wait_for_function(
        "game => window.py2048?.game?.game === game", arg=old["game"]
    )
    assert await guest.board() == old["board"]


async def test_all_presets_are_offered(guest):
    """The dialog has every board, and the courses' rules on request; a chosen one is played."""
    await guest.visit()
    options = await guest.page.locator("#rules option").evaluate_all(
        "options => options.map(option => option.value)"
    )
    assert options == [*(rules.name for rules in list_boards()), "courses", "own"]
    await guest.press("m")
    assert not await guest.page.locator("#course").is_visible()
    await guest.page.select_option("#rules", "courses")
    courses = guest.page.locator("#course option")
    assert await courses.evaluate_all("all => all.map(one => one.value)") == [*COURSE_PRESETS]
    await guest.page.select_option("#course", "cits1401")
    await guest.page.click("#new-play")
    await guest.page.wait_for_function("() => window.py2048?.game?.rules.name === 'cits1401'")
    assert len(await guest.board()) == get_rules("cits1401").rows


async def test_rules_of_ones_own(guest):
    """The form reports errors at once; valid rules can be played and are remembered."""
    await guest.visit()
    await guest.press("m")
    await guest.page.select_option("#rules", "own")
    await guest.page.fill("#own-spawn", "3:1")
    said = guest.page.locator("#rules-said")
    await said.filter(has_text="3 is not a tile").wait_for()
    guest.faults.clear()  # the browser's note of the status 422
    assert await guest.page.locator("#new-play").is_disabled()
    await guest.page.fill("#own-spawn", "2:1+8:1")
    await guest.page.fill("#own-rows", "3")
    await guest.page.fill("#own-columns", "5")
    await guest.page.fill("#own-name", "mine")
    await guest.page.wait_for_selector("#new-play:enabled")
    await guest.page.click("#new-play")
    await guest.page.wait_for_function("() => window.py2048?.game?.rules.name === 'mine'")
    board = await guest.board()
    assert (len(board), len(board[0])) == (3, 5)
    assert "spawn=2:1+8:1" in (await guest.state())["rules"]["text"]
    await guest.page.reload()
    await guest.page.wait_for_selector(".tile")
    await guest.press("m")
    await guest.page.wait_for_selector("#new-dialog[open]")  # the dialog's script loads on demand
    assert await guest.page.input_value("#own-spawn") == "2:1+8:1"


async def test_ranked_games_have_no_help(guest):
    """In a ranked game, undo, hint and autoplay say that they need a casual game."""
    await guest.deal("classic", "ranked")
    await guest.press("ArrowDown", "ArrowLeft")
    await guest.settle()
    sent = [each for each in guest.sent if each["type"] != "ping"]
    for key in ("u", "?", "Space"):
        await guest.press(key)
        await guest.status("need a casual game")
    for button in ("undo", "redo", "hint", "auto"):
        assert await guest.page.get_attribute(f"#{button}", "aria-disabled") == "true"
    assert [each for each in guest.sent if each["type"] != "ping"] == sent
    link = await guest.page.get_attribute("#permanent", "href")
    assert link == f"/game/{(await guest.state())['game']}"  # where the commitment stands
