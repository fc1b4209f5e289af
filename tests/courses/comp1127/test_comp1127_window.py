"""The real window: drawing, real keys, and closing during an animation."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from comp1127_recorders import Rows, new_copy, set_rows
from PIL import Image, ImageColor, ImageGrab
from tests.processes import until, xdotool

from py2048.courses import get_course
from py2048.courses.comp1127 import gui
from py2048.courses.comp1127 import gui_window as window

pytestmark = pytest.mark.gui


@pytest.fixture
def opened(display: str) -> Iterator[tuple[Any, Any]]:
    """A window; errors in callbacks fail the test."""
    frame, board = gui.setup()
    errors: list[BaseException] = []
    frame.report_callback_exception = lambda _type, error, _trace: errors.append(error)
    frame.geometry("+0+0")
    frame.update()
    frame.focus_force()
    frame.update()
    yield frame, board
    frame.destroy()
    assert errors == []


def read(image: Image.Image) -> Rows:
    """Read the numbers on a screenshot from the colours of their tiles."""
    numbers = {ImageColor.getrgb(colour): value for value, (colour, _) in window.COLOURS.items()}
    numbers[ImageColor.getrgb(window.EMPTY)] = 0
    edge = window.GAP + 8
    return [
        [
            numbers[image.getpixel((edge + column * gui.CELL, edge + 14 + row * gui.CELL))]
            for column in range(4)
        ]
        for row in range(4)
    ]


@pytest.mark.parametrize("winner", [True, False])
def test_the_window_shows_tiles_score_and_end(opened, display, main, winner):
    """The window shows every number in its colours, the score and the final message."""
    frame, board = opened
    rows = [[2, 4, 8, 16], [32, 64, 128, 256], [512, 1024, 0, 0], [0, 0, 2048, 4]]
    set_rows(main, board, rows)
    board.score = 1234
    gui.update_score(board)
    frame.update()
    left, top = frame.winfo_rootx(), frame.winfo_rooty()
    box = (left, top, left + frame.winfo_width(), top + frame.winfo_height())
    assert read(ImageGrab.grab(box, xdisplay=display).convert("RGB")) == rows
    gui.game_over(board, winner)
    canvas = board.canvas
    texts = [canvas.itemcget(i, "text") for i in canvas.find_all() if canvas.type(i) == "text"]
    assert texts == ["Score: 1234", gui.WON if winner else gui.LOST]


def test_a_new_board_is_empty_with_cells_of_140_pixels(opened):
    """A new window has a title, a fixed size, an empty board and cells of 140 pixels."""
    frame, board = opened
    assert (board.score, board.numbers) == (0, {})
    assert frame.title() == "2048"
    assert frame.resizable() == (False, False)
    gui.put(board, "1", gui.find_number(2), 0, 0)
    gui.put(board, "2", gui.find_number(2), 1, 2)
    first, second = (board.canvas.coords(item) for item in board.canvas.find_withtag("tile"))
    assert [b - a for a, b in zip(first, second, strict=True)] == [280, 140]


@pytest.mark.parametrize("way", ["window manager", "program", "display"])
def test_the_window_may_close_during_an_animation(opened, main, way):
    """If the window closes during an animation, the turn still finishes without errors."""
    frame, board = opened
    set_rows(main, board, [[2, 2, 0, 4], *[[0] * 4] * 3])
    main.bind(frame, board)
    step, steps = board.shift_tile, 0
    close = {
        "window manager": lambda: frame.tk.eval(frame.protocol("WM_DELETE_WINDOW")),
        "program": frame.destroy,
        "display": lambda: frame.tk.eval("destroy ."),  # bypasses Python's destroy
    }

    def closing(*arguments: Any) -> None:
        nonlocal steps
        steps += 1
        if steps == 5:
            frame.after_idle(close[way])
        step(*arguments)

    board.shift_tile = closing
    frame.event_generate("<Left>")
    assert frame.closed
    assert steps == 5
    assert main.grid[0][0] == 8  # the new number may be anywhere else
    assert board.score == 4 + 8
    gui.start(frame)  # returns at once
    gui.update_score(board)
    gui.game_over(board, True)


def look(display: str) -> Rows | None:
    """Read the board in the corner of the screen; None while tiles move."""
    image = ImageGrab.grab((0, 0, 574, 574), xdisplay=display).convert("RGB")
    try:
        return read(image)
    except KeyError:
        return None


def steady(display: str) -> Rows | None:
    """Read the board once two screenshots agree."""
    first = look(display)
    time.sleep(0.15)
    return first if first == look(display) and first and any(map(any, first)) else None


@pytest.mark.skipif(not shutil.which("xdotool"), reason="no xdotool to press real keys")
def test_real_keys_play_in_a_students_folder(display, tmp_path):
    """In a student's folder, the program starts with two numbers and reacts to real keys."""
    get_course("comp1127").hand_out(tmp_path)
    source = Path(str(new_copy("main").__file__)).read_text()
    source = source.replace("from py2048.courses.comp1127 import gui", "import gui")
    (tmp_path / "main.py").write_text(source)
    program = subprocess.Popen([sys.executable, "main.py"], cwd=tmp_path)
    try:
        window = until(lambda: xdotool("search", "--onlyvisible", "--name", "^2048$"))
        window = window.splitlines()[-1]
        xdotool("windowmove", "--sync", window, "0", "0")
        xdotool("windowfocus", "--sync", window)
        before = until(lambda: steady(display))
        assert sum(value > 0 for row in before for value in row) == 2
        xdotool("key", "--window", window, "Left", "Down", "Right", "Up")
        until(lambda: sum(map(sum, steady(display) or [])) >= sum(map(sum, before)) + 2)
        assert program.poll() is None
    finally:
        program.kill()
        program.wait()
