"""Playing in the terminal application: keys, games, rules, records, and the way out."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from tests.ui.terminal.playing import SEED, shown, table, until
from textual import events
from textual.widgets import Input, OptionList, Static

from py2048.board import Board
from py2048.direction import Direction
from py2048.game import Game, Record
from py2048.rules import get_rules, list_rules
from py2048.session import StorageFailed, autosave, open_session
from py2048.ui.shared.actions import ACTIONS, BY_NAME, MOVE
from py2048.ui.terminal.app import GameApp
from py2048.ui.terminal.screens import ConfirmDialog, HelpScreen, ListScreen

HISTORY = ("undo", "redo")
NEARLY_WON = "1024 1024 2 4\n2 4 8 16\n. . . .\n. . . ."
NEARLY_OVER = "4 4 2 8\n8 16 32 64\n2 4 8 16\n32 64 128 256"


async def test_every_move_key_slides() -> None:
    """Arrows, WASD and hjkl slide in their direction, in capitals too."""
    board = Board.parse(". . . .\n. 2 . .\n. . . .\n. . . .")
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        for action in ACTIONS:
            for key in action.keys if action.menu == MOVE and action.label not in HISTORY else ():
                app.controller.presenter.show(session.start(board=board))
                await pilot.press(key)
                assert str(session.game.turns[0].direction) == action.name, key
                assert app.view.board.board == session.game.board


async def test_a_merge_shows_its_tile_its_points_and_the_new_best() -> None:
    """After a merge the screen has the new tile, the score, the best and the points gained."""
    session = table("64 64 . .\n. . . .\n. . . .\n. . . .")
    async with GameApp(session, reduced_motion=True).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, GameApp)
        await pilot.press("left")
        picture = shown(app)
        assert picture.count("128") >= 3  # the tile, the score, the best
        assert "+128" in picture
        assert app.view.status.score == app.view.status.best == 128
        await until(pilot, lambda: "+128" not in shown(app))


@pytest.mark.parametrize("animated", [True, False])
async def test_forty_keys_at_once_all_count(animated: bool) -> None:
    """Keys that come faster than the animation are all played, and the picture keeps up."""
    session, expected = table(), Game(get_rules("classic"), seed=SEED)
    keys = ["left", "up", "d", "j"] * 10
    for key in keys:
        expected.attempt(
            {"d": Direction.RIGHT, "j": Direction.DOWN}.get(key) or Direction.parse(key)
        )
    app = GameApp(session, reduced_motion=not animated)
    async with app.run_test() as pilot:
        for key in keys:
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: session.game.ply == expected.ply)
        assert session.game.board == expected.board
        assert app.view.board.board == expected.board
        await until(pilot, lambda: not app.view.board.is_moving)
        assert app.view.status.moves == expected.ply


async def test_a_new_key_finishes_the_running_animation() -> None:
    """While tiles slide, the next move starts from the finished board at once."""
    session = table()
    app = GameApp(session)
    async with app.run_test() as pilot:
        for key in ("left", "up"):
            app.post_message(events.Key(key, None))
        await until(pilot, lambda: session.game.ply == 2)
        assert app.view.board.board == session.game.board
        await until(pilot, lambda: not app.view.board.is_moving)


async def test_animation_can_be_switched_off_and_is_remembered() -> None:
    """X stops tiles from sliding, now and in the next session on the same store."""
    session = open_session()
    app = GameApp(session)
    async with app.run_test() as pilot:
        await pilot.press("x", "left", "up", "right")
        assert not app.view.board.is_moving
    session.close()
    again = open_session()
    assert not GameApp(again).controller.presenter.is_animated
    again.close()


async def test_undo_and_redo() -> None:
    """U takes moves back to the start, r plays them again; both say when there is nothing."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        start = session.game.board
        await pilot.press("left", "up", "right")
        end = session.game.board
        await pilot.press("u", "u", "u")
        assert app.view.board.board == session.game.board == start
        await pilot.press("u")
        assert app.view.note == "There is nothing to take back."
        await pilot.press("r", "r", "r")
        assert app.view.board.board == session.game.board == end
        await pilot.press("r")
        assert app.view.note == "There is no move to play again."


async def test_help_that_was_taken_is_shown() -> None:
    """After an undo the game is marked as assisted, after a player's move as played by one."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left", "up")
        assert "2 moves" in shown(app)
        assert "assisted" not in shown(app)
        await pilot.press("u")
        assert "1 move, assisted" in shown(app)
        app.controller.presenter.show(session.autoplay_step("corner"))
        await pilot.pause()
        assert "2 moves, by a player" in shown(app)


async def test_new_asks_while_a_game_is_in_progress() -> None:
    """N starts over at once at the start of a game, and asks after a move; Escape keeps it."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("n")
        assert not isinstance(app.screen, ConfirmDialog)
        await pilot.press("left", "up")
        board = session.game.board
        for refusal in ("n", "escape"):
            await pilot.press("n")
            assert isinstance(app.screen, ConfirmDialog)
            await pilot.press(refusal)
            assert session.game.board == board
        await pilot.press("n", "y")
        await pilot.pause()
        assert session.game.ply == 0


async def test_keys_do_not_move_tiles_behind_a_dialog() -> None:
    """While a question is open, the game does not hear the keys."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left", "up", "n", "right", "down", "u")
        assert session.game.ply == len(session.game.turns) == 2
        assert isinstance(app.screen, ConfirmDialog)


async def test_the_game_is_resumed_on_start() -> None:
    """A game left in the middle is there again the next time, with its undo."""
    first = open_session()
    async with GameApp(first, reduced_motion=True).run_test() as pilot:
        await pilot.press("left", "up", "right")
        board, score, ply = first.game.board, first.game.score, first.game.ply
        assert ply > 0
    first.close()
    second = open_session()
    app = GameApp(second, reduced_motion=True)
    async with app.run_test() as pilot:
        assert (second.game.board, second.game.score, second.game.ply) == (board, score, ply)
        assert app.view.board.board == board
        assert app.view.note == "Game resumed"
        await pilot.press("u")
        assert second.game.ply == ply - 1
    second.close()


async def test_a_game_already_on_the_table_is_left_there() -> None:
    """The application does not replace a game that its caller has started."""
    session = table(rules="3x4")
    board = session.game.board
    app = GameApp(session, reduced_motion=True)
    async with app.run_test():
        assert session.game.board == board == app.view.board.board
        assert "3x4" in shown(app)


async def test_the_rules_menu_lists_every_preset() -> None:
    """M shows all presets; choosing one starts its game, with a board of its size."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("m")
        options = app.screen.query_one(OptionList)
        assert options.option_count == len(list_rules())
        await pilot.press("j", "down", "j", "enter")
        await pilot.pause()
        assert session.rules == list_rules()[3]
        assert app.view.grid is not None
        assert (app.view.grid.rows, app.view.grid.columns) == session.rules.shape


async def test_rules_of_ones_own_are_checked() -> None:
    """A text of one's own makes rules; a mistake is explained and nothing is lost."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("m", "tab")
        app.screen.query_one(Input).value = "clasic"
        await pilot.press("enter")
        trouble = app.screen.query_one(".fault", Static)
        assert "did you mean 'classic'" in str(trouble.render())
        app.screen.query_one(Input).value = "classic:size=5x6"
        await pilot.press("enter")
        await pilot.pause()
        assert session.rules.shape == (5, 6)
        assert not isinstance(app.screen, ListScreen)


async def test_leaving_an_unkept_game_for_other_rules_asks() -> None:
    """A game that cannot be saved is not thrown away without a question."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left", "up", "m", "down", "enter")
        await pilot.pause()
        assert isinstance(app.screen, ConfirmDialog)
        await pilot.press("n")
        assert session.rules.name == "classic"


async def test_each_rule_set_keeps_its_own_game() -> None:
    """Going to other rules and back takes the first game up where it was left."""
    session = open_session()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left", "up", "right")
        board = session.game.board
        await pilot.press("m", "down", "enter")
        await pilot.pause()
        assert session.rules.name == list_rules()[1].name
        await pilot.press("m", "up", "enter")
        await pilot.pause()
        assert session.game.board == board
    session.close()


async def test_games_in_progress_can_be_taken_up() -> None:
    """G lists the games that were left, and takes one up."""
    session = open_session()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("g")
        assert app.view.note == "There are no games in progress."
        await pilot.press("left", "up", "right")
        board = session.game.board
        await pilot.press("n", "y")
        await pilot.pause()
        assert session.game.board != board
        await pilot.press("g", "enter")
        await pilot.pause()
        assert session.game.board == board
    session.close()


async def test_play_goes_on_after_the_target() -> None:
    """Reaching 2048 is celebrated, and the next move simply goes on."""
    session = table(NEARLY_WON)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left")
        assert "You made 2048!" in shown(app)
        await pilot.press("down")
        assert session.game.ply == 2
        assert "You made 2048!" not in shown(app)


async def test_a_target_that_a_computer_made_is_not_celebrated() -> None:
    """What is said below the board is enough."""
    session = table(NEARLY_WON)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        app.controller.presenter.show(session.autoplay_step("greedy"))
        await pilot.pause()
        assert app.view.note == "2048 is made."
        assert "You made 2048!" not in shown(app)


async def test_the_end_has_a_panel_and_can_be_undone() -> None:
    """A stuck game shows its score and what can be done; undo brings the game back."""
    session = table(NEARLY_OVER)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("right")
        over = session.game.is_over
        assert over == ("Game over" in shown(app))
        while not session.game.is_over:
            await pilot.press("left", "right", "up", "down")
        assert "Game over" in shown(app)
        assert f"{session.game.score:,}" in shown(app)
        await pilot.press("left")
        assert app.view.note.startswith("The game is over")
        await pilot.press("u")
        assert "Game over" not in shown(app)
        assert not session.game.is_over


async def test_a_finished_game_is_shown_as_finished() -> None:
    """An application that opens on a game that is over says so."""
    session = table("2 4 2\n4 2 4", "classic:size=2x3")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "Game over" in app.view.note
        await pilot.press("n")
        assert not session.game.is_over


async def test_rules_that_end_at_the_target_end_in_triumph() -> None:
    """Under comp1127 the target ends the game: the panel says that a person has won it."""
    session = table(NEARLY_WON, "comp1127")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left")
        assert "You win!" in shown(app)
        await pilot.press("u")
        app.controller.presenter.show(session.autoplay_step("greedy"))
        await pilot.pause()
        assert "Game over!" in shown(app)


async def test_a_penalty_is_shown() -> None:
    """Under cits1401 an illegal move costs a point, which the screen says."""
    session = table(". . . . .\n2 . . . .\n. . . . .\n. . . . .\n. . . . .", "cits1401")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("left")
        assert session.game.score == -1
        assert app.view.note == "Left: nothing moves, minus 1. Score -1."
        assert "-1" in shown(app)


@pytest.mark.parametrize("key", BY_NAME["help"].keys)
async def test_help_names_every_key(key: str) -> None:
    """It shows all keys with what they do; its own key closes it, too."""
    app = GameApp(table(), reduced_motion=True)
    async with app.run_test(size=(90, 44)) as pilot:
        await pilot.press(key)
        assert isinstance(app.screen, HelpScreen)
        picture = shown(app)
        for action in ACTIONS:
            assert not action.label or action.help in picture
        await pilot.press(key)
        assert not isinstance(app.screen, HelpScreen)


async def test_records_are_saved_and_opened(tmp_path: Path) -> None:
    """ctrl+s writes a record that ctrl+o goes on from; a bad path is explained."""
    path, session = tmp_path / "game.2048.json", table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(notifications=True, size=(100, 30)) as pilot:
        await pilot.press("left", "up", "ctrl+s")
        assert isinstance(app.screen, ListScreen)
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await pilot.pause()
        assert path.exists()
        board = session.game.board
        await pilot.press("n", "y", "ctrl+o")
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await pilot.pause()
        assert session.game.board == board
        await pilot.press("ctrl+o")
        app.screen.query_one(Input).value = str(tmp_path / "none")
        await pilot.press("enter", "y")
        await until(pilot, lambda: "none" in shown(app))
        assert session.game.board == board


async def test_a_saved_game_is_not_replaced_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name is proposed that is free; one that is not is replaced after a question."""
    monkeypatch.chdir(tmp_path)
    first, second = Path("classic-0.2048.json"), Path("classic-0-2.2048.json")
    app = GameApp(table("2 4 . .\n. . . .\n. . . .\n. . . ."), reduced_motion=True)
    async with app.run_test(size=(100, 30)) as pilot:
        for path in (first, second):
            await pilot.press("ctrl+s", "enter")
            await until(pilot, path.exists)
        await pilot.press("right")
        for answer, moves in (("n", 0), ("y", 1)):
            await pilot.press("ctrl+s")
            app.screen.query_one(Input).value = str(first)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
            await pilot.press(answer)
            await until(pilot, lambda: len(app.screen_stack) == 1)
            assert Record.load(first).plies == moves
    assert Record.load(second).plies == 0


async def test_trouble_with_the_store_is_shown() -> None:
    """A failing store is announced and the game goes on."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(notifications=True) as pilot:
        app.controller.presenter.show([StorageFailed("the disk is full: free some space")])
        await until(pilot, lambda: "the disk is full" in shown(app))
        await pilot.press("left")
        assert session.game.ply == 1


async def test_what_is_not_saved_is_shown_until_it_is(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another program holds the store play goes on, the screen says so, quitting asks."""
    monkeypatch.setattr(autosave, "WRITE_WAIT_S", 0.15)
    session = open_session()
    session.start(seed=1)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("left", "up")
        with closing(
            sqlite3.connect(data_folder / "py2048.sqlite3", isolation_level=None)
        ) as rival:
            rival.execute("BEGIN IMMEDIATE")
            await pilot.press("right", "down", "left")
            assert session.game.ply >= 3
            await until(pilot, lambda: "held by another program" in " ".join(shown(app).split()))
            assert "Not saved: " in shown(app)
            await pilot.press("q")
            assert isinstance(app.screen, ConfirmDialog)
            await pilot.press("n")
            assert app.is_running
        await until(pilot, lambda: "Not saved" not in shown(app))
        await pilot.press("q")
    assert not app.is_running
    session.close()


async def test_quitting_waits_for_a_store_that_is_slow(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who quits while the last move is being written is not asked whether to lose it."""
    monkeypatch.setattr(autosave, "WRITE_WAIT_S", 0.0)
    session = open_session()
    session.start(seed=1)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        with closing(
            sqlite3.connect(
                data_folder / "py2048.sqlite3", isolation_level=None, check_same_thread=False
            )
        ) as rival:
            rival.execute("BEGIN IMMEDIATE")
            threading.Timer(0.5, rival.execute, ["ROLLBACK"]).start()
            await pilot.press("left")
            assert session.unsaved
            await pilot.press("q")
            assert not isinstance(app.screen, ConfirmDialog)
    assert not app.is_running
    session.close()


@pytest.mark.parametrize("key", ["q", "Q", "ctrl+c", "ctrl+q"])
async def test_quitting_needs_one_key(key: str) -> None:
    """Q and ctrl+c leave at once; the game is kept anyway."""
    app = GameApp(table(), reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert not app.is_running
