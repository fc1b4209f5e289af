"""Themes, terminal sizes and the mouse."""

from __future__ import annotations

import pytest
from tests.app.terminal.playing import SEED, colours, new_session, playing, shown, strips, until
from textual import events

from py2048.app.session import Hint, open_session
from py2048.app.terminal.app import GameApp
from py2048.app.terminal.board import Arrangement
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.presentation.themes import THEMES, in_sixteen_colours

TITLES = ("Score", "Best", "Goal", "Hint", "Coach", "Classic 4")
LONG = "Saved as /a/folder/that/is/very/" + "deep/" * 40


async def test_themes_are_applied_immediately_and_saved():
    """T chooses the next theme, recolours board and page, and saves the choice."""
    session = open_session()
    session.start(seed=SEED, board=Board.parse("2 . . .\n. . . .\n. . . .\n. . . 8"))
    async with playing(session) as (app, pilot):
        theme = THEMES[1]
        await pilot.press("t")
        assert app.theme == theme.name
        wanted = {theme.page, theme.tile(2).background, theme.empty}
        await until(pilot, lambda: wanted <= colours(app))
    session.close()
    again = open_session()
    assert GameApp(again).theme == theme.name
    again.close()


async def test_themes_on_terminals_with_sixteen_colours(monkeypatch):
    """On a 16-colour terminal, all themes only use exact terminal colours, and no bold text."""
    monkeypatch.delenv("COLORTERM")
    monkeypatch.setenv("TERM", "xterm")
    session = new_session("2 4 8 16\n32 64 128 256\n. . . .\n512 1024 2048 .")
    async with playing(session) as (app, pilot):
        for theme in (*THEMES[1:], THEMES[0]):
            await pilot.press("t")
            plain = in_sixteen_colours(theme)
            seen = {plain.tile(2**rank).background for rank in range(1, 12)}
            await until(pilot, lambda wanted=seen | {plain.empty}: wanted <= colours(app))
            assert colours(app) <= seen | {plain.page, plain.board, plain.empty}
        for key in ("m", "escape", "f1"):
            await pilot.press(key)
            await pilot.pause()
            pieces = [segment for line in strips(app) for segment in line]
            assert not any(piece.style and piece.style.bold for piece in pieces), key


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (40, 20), (100, 30), (200, 60)])
async def test_messages_do_not_move_anything(size):
    """Board, key bar and titles keep their positions; long messages appear as a single toast."""
    session = new_session("2 2 4 8\n. . . .\n. . . .\n. . . .")
    async with playing(session, size, notifications=True) as (app, pilot):

        def places() -> list[object]:
            lines = shown(app).splitlines()
            titles = [(y, word) for y, line in enumerate(lines) for word in TITLES if word in line]
            return [app.view.board.region, lines[-1], titles]

        await pilot.press("left")
        await pilot.pause()
        before = places()
        app.say("Theme: Light.")
        app.show_hint(Hint(Direction.LEFT, {Direction.LEFT: 9000.0, Direction.UP: 7796.0}, "x", 1))
        await pilot.pause()
        assert "Theme: Light." in shown(app)
        assert places() == before
        app.say("")
        await pilot.pause()
        assert "\N{MINUS SIGN}1,204" in shown(app)
        app.say(LONG)
        app.say(LONG)
        await until(pilot, lambda: "deep" in shown(app))
        assert len(app.screen.query("Toast")) <= 1
        if size[0] >= 80:
            assert app.screen.query_one("Toast").region.x >= app.view.board.region.right


async def test_a_tiny_terminal_shows_a_message_and_recovers():
    """A terminal that is too small shows a message; enlarging it shows the game."""
    async with playing(new_session(), size=(6, 3)) as (app, pilot):
        assert shown(app).split() == ["Too", "small"]
        assert app.view.arrangement is Arrangement.NONE
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert app.view.arrangement is Arrangement.WIDE
        assert "Score" in shown(app)


MIDDLE = (20, 10)
ONE_TILE = Board.parse(". . . .\n. 2 . .\n. . . .\n. . . .")


async def test_clicks_near_a_side_and_drags_move():
    """A click near a side and a drag move in their direction; a central click does not move."""
    session = new_session()
    async with playing(session) as (app, pilot):
        await pilot.click(app.view.board, offset=MIDDLE)
        assert session.game.ply == 0
        clicks = ((2, 10), "left"), ((39, 10), "right"), ((20, 1), "up"), ((20, 19), "down")
        ends = ((8, 10), "left"), ((32, 11), "right"), ((22, 4), "up"), ((19, 16), "down")
        drags = [(MIDDLE, end, way) for end, way in ends]
        for start, end, way in [*((place, place, side) for place, side in clicks), *drags]:
            app.controller.presenter.show(session.start(board=ONE_TILE))
            await pilot.mouse_down(app.view.board, offset=start)
            await pilot.mouse_up(app.view.board, offset=end)
            await pilot.pause()
            assert str(session.game.turns[0].direction) == way


async def test_a_click_that_ends_on_a_hidden_board_moves_nothing():
    """A click has no effect if the terminal shrinks to nothing while the button is down."""
    session = new_session()
    async with playing(session, size=(100, 30)) as (app, pilot):
        await pilot.mouse_down(app.view.board, offset=MIDDLE)
        await pilot.resize_terminal(1, 1)
        await until(pilot, lambda: not app.view.board.size)
        app.view.board.on_mouse_up(
            events.MouseUp(app.view.board, 20, 10, 0, 0, 1, False, False, False)
        )
        await pilot.pause()
        assert session.game.ply == 0


async def test_keys_in_the_bar_can_be_clicked():
    """Clicking a label in the key bar performs its action."""
    session = new_session()
    async with playing(session) as (app, pilot):
        await pilot.press("left", "up")
        ply = session.game.ply
        await pilot.click("#bar", offset=(shown(app).splitlines()[-1].index("undo"), 0))
        await pilot.pause()
        assert session.game.ply == ply - 1
