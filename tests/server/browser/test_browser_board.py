"""The board on the screen: its animations and the look of each tile."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from tests.server.browser.conftest import CHROMIUMS
from tests.server.browser.visiting import SIZES, Player, arriving

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import Merging
from py2048.presentation.themes import DARK, HIGH_CONTRAST, LIGHT, MOTION_MS, THEMES

WIDTHS = (320, 360, 768, 1280)
STAGE = """async () => {
  const { BoardView } = await import("/static/js/board.js");
  const place = document.getElementById("board");
  place.replaceChildren();
  window.stage = new BoardView(place);
  window.running = () => document.getElementById("board").getAnimations({ subtree: true })
    .filter(each => each.playState !== "finished")
    .map(each => {
      const { duration, delay } = each.effect.getComputedTiming();
      const frames = each.effect.getKeyframes();
      const moving = frames.filter((frame, n) => [frames[n - 1], frames[n + 1]].some(next =>
        next && ["scale", "translate", "opacity"].some(name => next[name] !== frame[name])));
      const [first, last] = [moving[0], moving.at(-1)].map(f => Math.round(f.offset * duration));
      return { duration: last - first, delay: delay + first, easing: moving[0].easing,
               scales: moving.map(f => f.scale), value: +each.effect.target.dataset.value,
               moves: frames.some(f => f.translate), whole: delay + duration };
    });
}"""


async def stage(guest: Player) -> None:
    """Show a board that no server knows."""
    await guest.visit()
    await guest.page.evaluate(STAGE)


def turn(board: Board, direction: Direction, **more: Any) -> dict[str, Any]:
    """Return the message of a slide as the server sends it."""
    slide = board.slide(direction, more.pop("merging", Merging.ONCE))
    spawn = more.get("spawn")
    after = slide.board.with_tile(tuple(spawn["cell"]), spawn["tile"]) if spawn else slide.board
    motions = [{"source": m.source, "target": m.target, "merged": m.merged} for m in slide.motions]
    return {"event": {"motions": motions, "spawn": spawn}, "board": after.rows}


async def test_the_timings_are_the_one_tables(guest):
    """Tiles slide, then merged tiles pop and a new tile grows; all animations end together."""
    await stage(guest)
    board = Board.parse("2 2 . . / 4 . . . / . . . . / . . . 8")
    told = turn(board, Direction.RIGHT, spawn={"tile": 2, "cell": [2, 0]})
    found = await guest.page.evaluate(
        """async ([before, { event, board }]) => {
             stage.show(before);
             stage.move(event, board);
             return running();
           }""",
        [board.rows, told],
    )
    slides = [each for each in found if each["moves"]]
    assert sorted(each["value"] for each in slides) == [2, 2, 4]
    slide = MOTION_MS["slide"]
    eased = (slide, 0, "cubic-bezier(0.3, 0, 0.2, 1)")
    assert {(s["duration"], s["delay"], s["easing"]) for s in slides} == {eased}
    (pop,) = (each for each in found if each["scales"] == ["1", "1", "1.12", "1"])
    assert (pop["value"], pop["duration"], pop["delay"]) == (4, MOTION_MS["pop"], slide)
    (grow,) = (each for each in found if each["scales"] == ["0.3", "1"])
    assert (grow["value"], grow["duration"], grow["delay"]) == (2, MOTION_MS["spawn"], slide)
    assert [each["whole"] for each in found] == [slide + MOTION_MS["pop"]] * 5


async def test_a_new_move_ends_the_motion_at_once(guest):
    """The next move, like `finish`, ends all running animations at once."""
    await stage(guest)
    board = Board.parse("2 2 . . / 4 4 8 . / . . . . / 2 . . 2")
    first = turn(board, Direction.LEFT, spawn={"tile": 4, "cell": [2, 2]})
    second = turn(Board.from_rows(first["board"]), Direction.DOWN)
    shown = await guest.page.evaluate(
        """([before, first, second]) => {
             stage.show(before);
             stage.move(first.event, first.board);
             stage.finish();
             const one = [stage.board, stage.isMoving];
             stage.move(first.event, first.board);  // does not follow: the board is taken as it is
             stage.show(first.board);
             stage.move(second.event, second.board);
             stage.move({ motions: [], spawn: null }, second.board);
             return [one, [stage.board, stage.isMoving]];
           }""",
        [board.rows, first, second],
    )
    assert shown[0] == [[list(row) for row in first["board"]], False]
    assert shown[1] == [[list(row) for row in second["board"]], False]


@pytest.mark.parametrize("merging", list(Merging))
async def test_slides_and_their_undo_end_on_the_servers_board(guest, merging):
    """Applying the motions leads to the server's board, forwards and backwards."""
    await stage(guest)
    boards = [
        Board.parse("2 2 2 2 / 4 2 2 . / 8 8 4 4 / 2 . . 2"),
        Board.parse("2 2 4 8 16 32 / 64 . 64 128 . ."),
        Board.parse("65536 65536 131072 / . 2 ."),
    ]
    for board in boards:
        for direction in board.legal_directions():
            told = turn(board, direction, merging=merging)
            ends = await guest.page.evaluate(
                """([before, { event, board }]) => {
                     stage.show(before);
                     stage.move(event, board);
                     const count = document.querySelectorAll(".tile").length;
                     stage.finish();
                     const after = [stage.board, document.querySelectorAll(".tile").length];
                     stage.unmove(event, before);
                     stage.finish();
                     return [count, after, stage.board];
                   }""",
                [board.rows, told],
            )
            slid = board.slide(direction, merging).board
            tiles = sum(1 for row in slid.rows for tile in row if tile)
            rows = [list(row) for row in slid.rows]
            assert ends[1] == [rows, tiles]
            assert ends[0] > tiles or ends[0] == sum(1 for r in board.rows for t in r if t)
            assert ends[2] == [list(row) for row in board.rows]


async def test_less_motion(arrive):
    """Nothing moves if the system asks for reduced motion; X toggles it, and that choice lasts."""
    player = await arrive(reduced_motion="reduce")
    moving = "document.getAnimations().length"
    await player.deal("short:size=1x3,start=2x2:1,spawn=2:1")
    await player.press("ArrowLeft")
    await player.page.wait_for_function("() => window.py2048?.queue.length === 0")
    assert await player.page.evaluate(moving) == 0
    await player.press("x")
    await player.said("Animation on.")
    appearing = "window.py2048.scene.view.appear([[2, 4, 8]])"
    assert await player.page.evaluate(f"{appearing}; {moving}") == 3
    await player.page.reload()
    await player.page.wait_for_function("() => window.py2048?.game")
    await player.press("x")
    await player.said("Animation off.")


async def test_themes_are_the_one_table(guest):
    """Every tile has the colours of terminal and desktop, and the chosen theme lasts."""
    await guest.visit()
    values = [2**rank for rank in range(1, 25)]
    rows = [values[start : start + 6] for start in range(0, 24, 6)]
    await guest.page.evaluate("rows => window.py2048.scene.view.show(rows)", rows)
    for theme in THEMES:
        await guest.page.select_option("#theme", theme.name)
        page, colours = await guest.page.evaluate(
            """() => [
                 getComputedStyle(document.documentElement).backgroundColor,
                 [...document.querySelectorAll(".tile")].map(tile => {
                   const { backgroundColor, color } = getComputedStyle(tile);
                   return [+tile.textContent, backgroundColor, color];
                 })]"""
        )
        assert page == _rgb(theme.page)
        assert len(colours) == len(values)
        for value, face, text in colours:
            style = theme.tile(value)
            assert (face, text) == (_rgb(style.background), _rgb(style.text)), value
    await guest.page.goto(guest.url + "/about")
    assert await guest.page.input_value("#theme") == THEMES[-1].name
    shown = await guest.page.evaluate("() => document.documentElement.dataset.theme")
    assert shown == THEMES[-1].name


async def test_numbers_fit_their_tiles_in_a_wide_font(browser, server, only_dejavu):
    """The font size of a number follows from the width of the digits, also on narrow tiles."""
    path = next(filter(None, map(shutil.which, CHROMIUMS)))
    wide = await browser.browser_type.launch(
        executable_path=path, args=["--no-sandbox"], env=only_dejavu
    )
    async with arriving(wide) as arrive:
        for size in SIZES:
            player = await arrive(server.url, size)
            await player.visit()
            tiles = [[2**rank for rank in range(start, start + 6)] for start in range(1, 60, 6)]
            await player.page.evaluate("rows => window.py2048.scene.view.show(rows)", tiles)
            over = await player.page.evaluate(
                """() => [...document.querySelectorAll(".tile")].filter(
                       tile => tile.scrollWidth > tile.clientWidth).map(tile => tile.textContent)"""
            )
            assert over == []
    await wide.close()


async def test_the_systems_theme_is_the_default(guest):
    """Until a theme is chosen, the page follows the system's colour scheme and contrast."""
    wishes = {"color_scheme": "light"}, {"color_scheme": "dark"}, {"contrast": "more"}
    await guest.visit("/about")
    for wish, theme in zip(wishes, (LIGHT, DARK, HIGH_CONTRAST), strict=True):
        await guest.page.emulate_media(**wish)
        page = "() => getComputedStyle(document.documentElement).backgroundColor"
        assert await guest.page.evaluate(page) == _rgb(theme.page)


def _rgb(colour: str) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"


async def test_the_whole_board_is_visible(guest):
    """A phone on its side also shows the buttons; a result may be wider than a narrow board."""
    sides = (844, 390), (667, 375), (568, 320)
    windows = [*((width, 640) for width in WIDTHS), *sides]
    await guest.visit()
    await guest.ask()
    for size in ("4x4", "8x2", "16x4", "16x1", "3x1"):
        if size != "4x4":
            await guest.deal(f"wide:size={size}")
        for width, height in windows if size == "4x4" else windows[3::3]:
            await guest.page.set_viewport_size({"width": width, "height": height})
            parts = "#new", "#undo", "#more", "#score", ".log-in"
            for part in ("#board", *(parts if (width, height) in sides else ())):
                box = await guest.page.locator(part).bounding_box()
                assert 0 <= box["x"] <= box["x"] + box["width"] <= width, (part, size)
                assert 0 <= box["y"] <= box["y"] + box["height"] <= height, (part, size)
            board = await guest.page.locator("#board").bounding_box()
            assert size != "4x4" or board["width"] >= 240
    await guest.press(*["ArrowDown", "ArrowUp"] * 20)  # no two tiles are left that merge
    await guest.page.wait_for_selector(".result[open]")
    box = await guest.page.locator(".result").bounding_box()
    assert box["x"] >= 0
    assert box["width"] >= 240


async def test_zoom(arrive):
    """At 400 % zoom (a window of 320 by 200) everything can be reached."""
    player = await arrive(viewport={"width": 320, "height": 200})
    await player.visit()
    for selector in ("#new", "#undo", "#hint", "#more", "#coach", "footer a"):
        await player.page.locator(selector).first.scroll_into_view_if_needed()
        box = await player.page.locator(selector).first.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
    await player.press("m")
    await player.page.click("#new-play")
    await player.page.wait_for_function("() => !document.querySelector('dialog[open]')")
