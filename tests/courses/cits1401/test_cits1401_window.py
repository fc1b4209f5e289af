"""The window of cits1401 on a real display, driven with mouse and key events."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import time
import tkinter as tk
from collections.abc import Callable, Iterator
from tkinter.font import Font

import pytest

from py2048 import Board, Game
from py2048.courses.cits1401.app import App
from py2048.courses.cits1401.board_view import FONT
from py2048.courses.cits1401.presenter import SPEEDS, PlayerKind

pytestmark = pytest.mark.gui

MODULE = "py2048.courses.cits1401"
Cell = tuple[int, int]


@pytest.fixture
def app(display: str) -> Iterator[App]:
    window = App(seed=1)
    window.update()
    window.focus_force()
    window.update()
    yield window
    with contextlib.suppress(tk.TclError):  # the test may have closed it
        window.quit_game()


def wait(app: App, done: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, app.status["text"]
        app.update()
        time.sleep(0.002)


def begin(app: App, player_kind: PlayerKind = PlayerKind.HUMAN, **options: str) -> None:
    """Answer the question for a new game as a person would."""
    for name, value in options.items():
        getattr(app.panel, name).set(value)
    if player_kind.is_computer:
        app.panel.skill.set("random" if player_kind is PlayerKind.RANDOM else "intelligent")
    answer = app.panel.computer if player_kind.is_computer else app.panel.human
    press(answer, 8, 8)
    app.update()


def press(widget: tk.Misc, x: int, y: int) -> None:
    widget.event_generate("<Enter>")
    widget.event_generate("<Button-1>", x=x, y=y)
    widget.event_generate("<ButtonRelease-1>", x=x, y=y)


def click(app: App, cell: Cell) -> None:
    x, y = app.board.middle(cell)
    press(app.board, x, y)
    app.update()


def lay(app: App, text: str) -> None:
    board = Board.parse(text)
    app.presenter.game = Game(app.presenter.settings.rules, board=board)


def settled(app: App) -> bool:
    """Return whether no tile is moving."""
    return not app.board.is_moving


@pytest.mark.parametrize("key", ["Up", "Down", "Left", "Right", "w", "s", "a", "d"])
def test_keys_move_too(app: App, key: str) -> None:
    begin(app)
    lay(app, ". . . . . / . . . . . / . . 2 . . / . . . . . / . . . . .")
    app.event_generate(f"<KeyPress-{key}>")
    app.update()
    assert app.score.text == "1"


def test_an_arrow_on_the_frame_moves_where_no_border_square_can_be_clicked(app: App) -> None:
    begin(app, rows="2", columns="2")
    lay(app, ". 2 / . .")
    x, y = app.board.middle((0, 0))
    press(app.board, x - app.board.tile // 2 - app.board.gap - 12, y)
    app.update()
    assert app.status["text"] == "Left movement is successful"


def test_the_mouse_over_a_border_square_shows_what_a_click_does(app: App) -> None:
    """By the pointer and the arrow on the frame; no number is covered."""
    begin(app)
    for cell, cursor in (((2, 4), "hand2"), ((2, 2), "")):
        x, y = app.board.middle(cell)
        app.board.event_generate("<Motion>", x=x, y=y)
        app.update()
        assert app.board["cursor"] == cursor
    begin(app, PlayerKind.RANDOM, speed="slow")
    x, y = app.board.middle((2, 4))
    app.board.event_generate("<Motion>", x=x, y=y)
    app.update()
    assert app.board["cursor"] == ""


def test_a_click_during_an_animation_is_not_lost(app: App) -> None:
    begin(app)
    lay(app, ". . . . . / . . . . . / . . 2 . . / . . . . . / . . . . .")
    app.board.slide_ms = 100_000
    for cell in ((0, 2), (2, 0), (4, 2)):
        click(app, cell)
    assert app.score.text == "3"
    assert not settled(app)


def test_the_end_is_shown_on_the_status_panel_and_over_the_board(app: App) -> None:
    begin(app, rows="3", columns="3")
    lay(app, "4 2 4 / 2 4 8 / . 8 16")
    click(app, (1, 0))
    assert app.status["text"] == "Game over, final score 1"
    wait(app, lambda: settled(app))
    texts = [app.board.itemcget(i, "text") for i in app.board.find_withtag("veil")[1:]]
    assert texts == ["Game over", "Final score 1"]


@pytest.mark.parametrize("value", ["", "1", "99", "five"])
def test_a_bad_size_is_refused_in_the_panel(app: App, value: str) -> None:
    begin(app, rows=value)
    assert app.panel.is_open
    assert repr(value) in app.panel.complaint["text"]
    begin(app, rows="4")
    assert not app.panel.is_open
    assert app.board.shape == (4, 5)


def test_keys_typed_into_the_question_do_not_play(app: App) -> None:
    app.event_generate("<KeyPress-q>")
    app.event_generate("<KeyPress-n>")
    app.event_generate("<Left>")
    app.update()
    assert app.panel.is_open


@pytest.mark.parametrize("speed", [speed for speed in SPEEDS if speed.burst == 1])
def test_animations_end_before_the_computer_moves_again(app: App, speed) -> None:
    begin(app, PlayerKind.RANDOM, speed=speed.name)
    assert 2 * app.board.slide_ms <= speed.pause


@pytest.mark.parametrize("side", [24, 31, 60, 97, 250])
def test_the_digits_of_every_tile_stay_inside_it(app: App, side: int) -> None:
    """Every number fits its tile and fills it, in whatever font stands in for Helvetica."""
    for rank in range(1, 41):
        height = app.board.digit_height(2**rank, side)
        wide = Font(app, family=FONT, size=-height, weight="bold").measure(str(2**rank))
        assert wide <= side * 0.92
        assert height <= side / 2
        assert height >= side * 0.4 or wide > side * 0.6 or height < 4


@pytest.mark.skipif(not shutil.which("xdotool"), reason="xdotool moves the mouse")
def test_the_program_is_played_with_a_real_mouse(display: str) -> None:
    program = subprocess.Popen([sys.executable, "-m", MODULE])
    try:
        find = ["xdotool", "search", "--sync", "--onlyvisible", "--name", "^CITS1401"]
        window = subprocess.run(find, capture_output=True, text=True, check=True).stdout.split()[0]
        time.sleep(0.5)
        size = subprocess.run(
            ["xdotool", "getwindowgeometry", "--shell", window],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        values = dict(line.split("=") for line in size.split())
        x, y = int(values["WIDTH"]) - 60, int(values["HEIGHT"]) - 36
        move = ["xdotool", "mousemove", "--sync", "--window", window, str(x), str(y), "click", "1"]
        subprocess.run(move, check=True)
        assert program.wait(timeout=20) == 0
    finally:
        program.kill()
        program.wait()
