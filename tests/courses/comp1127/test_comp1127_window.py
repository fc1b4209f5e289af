"""The real window: drawing, real keys, and closing during an animation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from comp1127_recorders import Rows, set_rows
from PIL import Image, ImageColor, ImageGrab

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
