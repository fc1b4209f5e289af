"""The terminal's dialogs: each closes once, whatever comes twice."""

from __future__ import annotations

import os
import sys

import pytest
from tests.app.terminal.playing import shown, table, until
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList

from py2048.app.session import Session, open_session
from py2048.app.terminal.app import GameApp
from py2048.core.direction import Direction

OPENING = ("m", "p", "n", "g", "ctrl+s", "ctrl+o", "f1")
"""The keys that open a dialog while a game is in progress."""


async def double_enter(pilot: Pilot[None]) -> None:
    """Enter twice, before the first has been answered."""
    await pilot.press("enter", "enter")


async def escape_and_enter(pilot: Pilot[None]) -> None:
    await pilot.press("escape", "enter", "escape")


async def chosen_twice(pilot: Pilot[None]) -> None:
    """Two choices that are both on their way when the first closes the dialog."""
    screen = pilot.app.screen
    for lists in screen.query(OptionList):
        lists.action_select()
        lists.action_select()
    for line in screen.query(Input):
        line.value = "nonsense"
        await line.action_submit()
        await line.action_submit()


def kept() -> Session:
    """A session with a game in progress and another one to take up."""
    session = open_session("sqlite://")
    for seed in (1, 2):
        session.start(seed=seed)
        for direction in Direction:
            session.move(direction)
    return session


@pytest.mark.parametrize("deed", [double_enter, escape_and_enter, chosen_twice])
async def test_a_dialog_closes_once(deed, tmp_path, monkeypatch):
    """What comes after the answer is too late; it ends neither the game nor another screen."""
    monkeypatch.chdir(tmp_path)  # one of the dialogs writes a file
    session = kept()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(100, 30)) as pilot:
        for key in OPENING:
            for direction in Direction:  # a new game begins where that was the answer
                app.controller.do(str(direction))
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, ModalScreen))
            await deed(pilot)
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
        await pilot.press("left", "up", "right")
        assert app.is_running
    session.close()


async def test_a_dialog_stays_where_it_has_no_room():
    """A terminal that becomes a few columns wide cuts a dialog and ends nothing."""
    session = kept()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(40, 12)) as pilot:
        for key in (*OPENING, "b", "f", "v"):
            await pilot.press(key)
            for width in (5, 1, 40):
                await pilot.resize_terminal(width, 12)
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
        assert app.is_running
    session.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pipe", "it exists and is not a regular file"),
        ("/dev/zero", "it exists and is not a regular file"),
        ("-", "No such file or directory"),
    ],
)
async def test_a_game_is_opened_from_an_ordinary_file(name, reason, tmp_path, monkeypatch):
    """A screen waits neither for a pipe nor for the keyboard that it reads itself."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    app = GameApp(table(), reduced_motion=True)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, ModalScreen))
        app.screen.query_one(Input).value = name
        await pilot.press("enter")
        await until(pilot, lambda: "cannot read" in shown(app))
        assert all(word in shown(app) for word in reason.split())


async def test_a_double_click_in_a_dialog_is_no_click_on_the_board():
    """The second click of a double click, which finds the dialog gone, moves no tile."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(100, 30)) as pilot:
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
