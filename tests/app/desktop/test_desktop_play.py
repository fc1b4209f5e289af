"""Playing in a real window: keys, mouse, animation, results and players."""

from __future__ import annotations

import tkinter as tk

import pytest

from py2048.core.direction import Direction
from py2048.core.game import Game
from py2048.core.rules import get_rules
from py2048.presentation import motion
from py2048.presentation.actions import ACTIONS, MENUS
from py2048.presentation.events import SavingChanged, StorageFailed
from py2048.presentation.themes import MOTION_MS

pytestmark = pytest.mark.gui

OPEN = ". . . ./. 2 . ./. . . ./. . . ."


# Moving


def test_drags_and_clicks_near_a_side_move(desk):
    """Drags and clicks near a side move in their direction; tiny drags in the centre do not."""
    cells = desk.board.cells
    x, y = cells.centre
    top = x, y - cells.height / 2 + 8
    for start, end, direction in (
        ((x, y), (x + cells.cell, y), Direction.RIGHT),
        (top, top, Direction.UP),
        ((x, y), (x + 5, y), None),
    ):
        desk.put(OPEN)
        desk.drag(start, end)
        moved = [turn.direction for turn in desk.session.game.turns]
        assert moved == ([direction] if direction else [])


def test_no_key_is_lost_during_animations(desk):
    """All of 40 keys pressed at once count, and the final board is shown."""
    twin = Game(get_rules("classic"), seed=1)
    keys = [("Down", "Left", "Right", "Down", "Up")[index % 5] for index in range(40)]
    for key in keys:
        twin.attempt(Direction.parse(key))
        desk.board.event_generate(f"<KeyPress-{key}>")
    desk.root.update()
    assert desk.session.game.board == twin.board
    desk.settle()
    assert desk.board.board == twin.board


def test_a_move_is_animated_for_250_ms(desk, clock):
    """A move takes 15 frames of 1/60 s."""
    board = desk.board
    desk.put("2 2 . ./. . . ./. . . ./. . . .")
    frames = board.frames
    clock.perf_counter = lambda: (board.frames - frames) / 60
    desk.key("Left")
    desk.settle()
    assert 16 <= board.frames - frames <= 17


def test_points_are_shown_and_vanish(desk):
    """The points of a merge appear in the corner of the score and disappear again."""
    desk.put("4 4 . ./. . . ./. . . ./. . . .")
    gain, shown = desk.window.header.gain, list[str]()
    gain.bind("<Map>", lambda _: shown.append(gain["text"]))
    desk.key("Left")
    desk.until(lambda: shown and not gain.winfo_ismapped())
    assert shown == ["+8"]


# Players


def test_a_hint_points_and_says_why(desk):
    """A hint marks the best side and lists the losses; a move removes the mark."""
    desk.put("2 . . ./2 . . ./. . . ./. . . .")
    desk.app.controller.players.set_player("greedy")
    desk.key("question")
    desk.until(lambda: desk.board.find_withtag("hint"))
    assert len(desk.board.find_withtag("hint")) == 1
    assert desk.message == "Up is best\nDown as good · Right \N{MINUS SIGN}4"
    desk.play(1)
    assert not desk.board.find_withtag("hint")


def test_a_closed_window_ends_its_loop_although_another_one_stays_open(desk):
    """Closing a window ends its main loop, even if the process has other windows."""
    other, late = tk.Tk(), list[bool]()
    other.after(60_000, lambda: (late.append(True), other.quit()))
    desk.root.after(1, desk.running.close)
    desk.root.mainloop()
    other.destroy()
    assert not late


def test_warnings_stay_until_they_are_dismissed(desk):
    """A warning can be dismissed; the reason for unsaved changes stays until they are saved."""
    desk.show([SavingChanged("held by another program"), StorageFailed("the disk is full")])
    desk.play(1)
    assert desk.dialog is None
    assert desk.message == "Not saved: held by another program\nWarning: the disk is full"
    (button,) = [each for each in desk.window.notice.winfo_children() if "button" in str(each)]
    desk.until(lambda: button.winfo_viewable() and button.winfo_width() > 10)
    button.invoke()
    assert desk.message == "Not saved: held by another program"
    desk.show([SavingChanged("")])
    assert not desk.window.notice.text


# Appearance


def test_every_action_is_in_the_menus_with_its_key(desk):
    """Every action has a command and is listed in its menu with its key."""
    assert {action.name for action in ACTIONS} <= set(desk.app.controller.commands)
    shown = {}
    for name in MENUS:
        menu = desk.app.menus.menus[name]
        for index in range(menu.index("end") + 1):
            if menu.type(index) in ("command", "checkbutton"):
                shown[menu.entrycget(index, "label")] = menu.entrycget(index, "accelerator")
                assert menu.entrycget(index, "command"), "chosen with the mouse, nothing happens"
    assert shown == {action.title: action.shown for action in ACTIONS}


def test_tab_cycles_through_the_buttons_and_the_focus_is_visible(desk):
    """Tab reaches the board and every enabled button; Space presses the focused button."""
    desk.focus(desk.board)
    desk.play(1)
    seen = []
    for _ in range(8):
        desk.key("Tab")
        desk.pump()
        seen.append(desk.root.focus_get())
    buttons = desk.window.buttons
    assert {buttons[name] for name in ("new", "undo", "hint", "autoplay", "more")} <= set(seen)
    assert desk.board in seen
    while desk.root.focus_get() is not desk.board:
        desk.key("Tab")
    assert desk.board.cget("highlightcolor") == desk.app.controller.theme.focus
    desk.key("Down")
    assert desk.board.cget("highlightcolor") == desk.app.controller.theme.page
    desk.focus(buttons["undo"])
    ply = desk.session.game.ply
    desk.key("space")
    desk.root.event_generate("<KeyRelease-space>")
    buttons["undo"].event_generate("<KeyRelease-space>")
    desk.pump()
    assert desk.session.game.ply == ply - 1
    assert not desk.app.controller.players.playing


def test_the_board_leans_on_illegal_moves(desk, clock):
    """An illegal move shifts the board in its direction and back."""
    desk.put("2 . . ./4 . . ./2 . . ./4 . . .")
    still = desk.board.bbox("all")
    desk.key("Left")
    clock.now += MOTION_MS["lean"] / 2000
    desk.until(lambda: desk.board.bbox("all")[0] < still[0])
    clock.now += 1
    desk.until(lambda: not desk.board.is_moving)
    assert desk.board.bbox("all") == still


def test_only_the_first_tile_of_its_value_gets_a_ring(desk, clock):
    """The first 128 tile gets a ring that disappears again; the second gets none."""
    for rows, count in (("64 64 . ./. . . .", 1), ("128 64 64 ./. . . .", 0)):
        desk.put(rows)
        desk.key("Left")
        desk.until(lambda: desk.board.is_moving)
        clock.now += (MOTION_MS["slide"] + MOTION_MS["ring"] / 2) / 1000
        desk.until(lambda: desk.board.find_withtag("ring") or not desk.board.is_moving)
        assert len(desk.board.find_withtag("ring")) == count
        clock.now += 1
        desk.until(lambda: not desk.board.is_moving)
        assert not desk.board.find_withtag("ring")


def test_nothing_moves_under_reduced_motion(open_desk):
    """With reduced motion, neither tiles nor board nor ring are animated."""
    desk = open_desk(reduced_motion=True)
    desk.put("64 64 . ./. . . .")
    for _ in range(2):
        desk.key("Left")
        desk.key("Up")
        desk.pump()
        assert not desk.board.find_withtag("ring")
        assert not desk.board.is_moving


def test_long_play_leaves_no_items_or_images_behind(desk):
    """The number of canvas items and cached images does not grow with the number of moves."""

    def count() -> tuple[int, int]:
        images = desk.root.tk.splitlist(desk.root.tk.eval("image names"))
        return len(desk.board.find_all()), len(images)

    counts = []
    for moves in (60, 165):
        for index in range(moves):
            desk.play(1)
            if desk.session.game.is_over:
                desk.show(desk.session.start())
            elif index % 7 == 0:
                desk.show(desk.session.undo())
            desk.root.update()
        desk.show(desk.session.start())
        desk.settle()
        counts.append(count())
    (items, images), (more_items, more_images) = counts
    assert more_items <= items + 16
    assert more_images <= images + 20 * (round(16 * motion.POP) + 1)  # sizes of tiles, cached
