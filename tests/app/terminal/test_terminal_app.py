"""Playing in the terminal application: keys, rules, results, help, files and quitting."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.terminal.playing import LAST_MOVE, new_session, playing, shown, until
from textual import events
from textual.widgets import Input, OptionList, Static

from py2048.app.terminal.screens import ConfirmDialog, ListScreen, MoreScreen
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.game import Record
from py2048.core.rules import list_boards
from py2048.presentation.actions import ACTIONS, BY_NAME


async def test_every_move_key_slides():
    """Arrows, WASD and hjkl, in both cases, slide in their direction."""
    board = Board.parse(". . . .\n. 2 . .\n. . . .\n. . . .")
    session = new_session()
    async with playing(session) as (app, pilot):
        for action in ACTIONS:
            for key in action.keys if action.name in map(str, Direction) else ():
                app.controller.presenter.show(session.start(board=board))
                await pilot.press(key)
                assert str(session.game.turns[0].direction) == action.name, key
                assert app.view.board.board == session.game.board


async def test_a_merge_shows_its_tile_its_points_and_the_new_best():
    """A merge updates tile, score and best score, and briefly shows the points gained."""
    session = new_session("64 64 . .\n. . . .\n. . . .\n. . . .")
    async with playing(session) as (app, pilot):
        await pilot.press("left")
        await pilot.pause()
        assert "+128" in shown(app)
        assert "Best 128" in shown(app)
        assert app.view.board.board.max_tile == 128
        assert app.view.status.score == app.view.status.best == 128
        await until(pilot, lambda: "+128" not in shown(app))


async def test_boards_are_chosen_and_rules_are_typed():
    """M lists all boards and the way to the courses; errors in typed rules are explained."""
    session = new_session()
    async with playing(session) as (app, pilot):
        await pilot.press("m")
        options = app.screen.query_one(OptionList)
        assert options.option_count == len(list_boards()) + 1
        await pilot.press("j", "down", "j", "enter")
        await pilot.pause()
        assert session.rules == list_boards()[3]
        assert (app.view.grid.rows, app.view.grid.columns) == session.rules.shape
        await pilot.press("m", "tab")
        app.screen.query_one(Input).value = "clasic"
        await pilot.press("enter")
        fault = app.screen.query_one(".fault", Static)
        assert "did you mean 'classic'" in str(fault.render())
        app.screen.query_one(Input).value = "classic:size=5x6"
        await pilot.press("enter")
        await pilot.pause()
        assert session.rules.shape == (5, 6)
        assert not isinstance(app.screen, ListScreen)


async def test_a_finished_game_shows_its_result_and_can_be_undone():
    """A finished game shows its score and can be shared; undo removes the result."""
    session = new_session(LAST_MOVE)
    async with playing(session) as (app, pilot):
        await pilot.press("right", "left")
        await pilot.pause()
        assert session.game.is_over
        assert "u to undo." in shown(app)  # in the panel, where the next message replaces it
        assert "0 points." in shown(app)
        assert "b review" in shown(app)
        await pilot.press("y")
        assert app.clipboard.startswith("2048 · Classic 4\N{MULTIPLICATION SIGN}4: 0")
        await pilot.press("u")
        await pilot.pause()
        assert "b review" not in shown(app)
        assert not session.game.is_over


@pytest.mark.parametrize("key", BY_NAME["help"].keys)
async def test_the_help_lists_every_action_and_performs_it(key):
    """The help lists all actions and performs a chosen one; its own key closes it."""
    async with playing(new_session(), size=(90, 70)) as (app, pilot):
        await pilot.press(key)
        assert isinstance(app.screen, MoreScreen)
        await pilot.pause()
        picture = shown(app)
        for action in ACTIONS:
            assert not action.label or action.help in picture
        await pilot.press(key)
        assert not isinstance(app.screen, MoreScreen)
        await pilot.press(key, "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, ListScreen))


async def test_a_saved_game_is_only_replaced_after_confirmation(tmp_path, monkeypatch):
    """An unused name is suggested; an existing file is only replaced after a question."""
    monkeypatch.chdir(tmp_path)
    first, second = Path("classic-0.2048.json"), Path("classic-0-2.2048.json")
    session = new_session("2 4 . .\n. . . .\n. . . .\n. . . .")
    async with playing(session, size=(100, 30)) as (app, pilot):
        for path in (first, second):
            await pilot.press("ctrl+s", "enter")
            await until(pilot, path.exists)
        await pilot.press("right", "ctrl+s")
        app.screen.query_one(Input).value = str(first)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert Record.load(first).plies == 0
        await pilot.press("y")
        await until(pilot, lambda: Record.load(first).plies == 1)


@pytest.mark.parametrize("key", ["q", "Q", "ctrl+c", "ctrl+q"])
async def test_quitting_needs_one_key(key):
    """Q, Ctrl+C and Ctrl+Q exit immediately."""
    async with playing(new_session()) as (app, pilot):
        await pilot.press(key)
        await pilot.pause()
        assert not app.is_running


async def test_a_board_is_pasted():
    """A pasted board starts a game."""
    session = new_session()
    async with playing(session) as (app, pilot):
        app.post_message(events.Paste("2 2 4 / . . 8"))
        await until(pilot, lambda: session.game.board.shape == (2, 3))


async def test_a_hint_names_the_direction_and_every_loss():
    """A hint shows the best move and the losses of all others, until the next move."""
    session = new_session("2 2 4 8\n. . . .\n. . . .\n. . . .")
    async with playing(session) as (app, pilot):
        session.set_setting("player", "greedy")
        await pilot.press("question_mark")
        await until(pilot, lambda: app.view.hint is not None)
        await pilot.pause()
        lines = [line[54:].split() for line in shown(app).splitlines()]
        assert ["←", "left", "best"] in lines
        assert ["→", "right", "as", "good"] in lines
        assert ["↓", "down", "\N{MINUS SIGN}4"] in lines
        assert session.game.ply == 0
        await pilot.press("left")
        await pilot.pause()
        assert app.view.hint is None
