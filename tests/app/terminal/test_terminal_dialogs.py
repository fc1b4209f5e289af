"""The terminal's dialogs: double input, narrow terminals and files."""

from __future__ import annotations

import pytest
from tests.app.terminal.playing import new_session, playing, until
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList

from py2048.app.session import Session, open_session
from py2048.core.direction import Direction

DIALOG_KEYS = ("m", "p", "n", "g", "ctrl+s", "ctrl+o", "f1")


async def double_enter(pilot: Pilot[None]) -> None:
    await pilot.press("enter", "enter")


async def escape_and_enter(pilot: Pilot[None]) -> None:
    await pilot.press("escape", "enter", "escape")


async def double_choice(pilot: Pilot[None]) -> None:
    """Choose twice before the first choice closes the dialog."""
    screen = pilot.app.screen
    for options in screen.query(OptionList):
        options.action_select()
        options.action_select()
    for field in screen.query(Input):
        field.value = "nonsense"
        await field.action_submit()
        await field.action_submit()


def session_with_two_games() -> Session:
    """Return a session with a current game and another saved game."""
    session = open_session("sqlite://")
    for seed in (1, 2):
        session.start(seed=seed)
        for direction in Direction:
            session.move(direction)
    return session


@pytest.mark.parametrize("respond", [double_enter, escape_and_enter, double_choice])
async def test_a_dialog_only_takes_the_first_answer(respond, tmp_path, monkeypatch):
    """Input after the first answer closes neither another screen nor the application."""
    monkeypatch.chdir(tmp_path)  # one of the dialogs writes a file
    session = session_with_two_games()
    async with playing(session, size=(100, 30)) as (app, pilot):
        for key in DIALOG_KEYS:
            for direction in Direction:  # an answer may have started a new game
                app.controller.do(str(direction))
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, ModalScreen))
            await respond(pilot)
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
        await pilot.press("left", "up", "right")
        assert app.is_running
    session.close()


async def test_dialogs_work_on_very_narrow_terminals():
    """Resizing the terminal to a single column does not crash an open dialog."""
    session = session_with_two_games()
    async with playing(session, size=(40, 12)) as (app, pilot):
        for key in (*DIALOG_KEYS, "b", "f", "v"):
            await pilot.press(key)
            for width in (5, 1, 40):
                await pilot.resize_terminal(width, 12)
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
        assert app.is_running
    session.close()


async def test_a_double_click_in_a_dialog_does_not_reach_the_board():
    """The second click, which arrives after the dialog has closed, moves no tile."""
    session = new_session()
    async with playing(session, size=(100, 30)) as (app, pilot):
        await pilot.press("p")
        await pilot.pause()
        place = app.screen.query_one(OptionList).region
        for _ in range(2):
            await pilot.click(offset=(place.x + 2, place.y + 2))
        assert len(app.screen_stack) == 1
        assert session.game.ply == 0
        await pilot.pause(app.CLICK_CHAIN_TIME_THRESHOLD)
        for y in (place.y + 2, app.view.board.region.bottom - 2):
            await pilot.click(offset=(place.x + 2, y))
        assert session.game.ply > 0
