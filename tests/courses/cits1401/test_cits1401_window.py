"""The window of cits1401 on a real display, with mouse and key events."""

from __future__ import annotations

import contextlib
import time
import tkinter as tk
from collections.abc import Iterator

import pytest

from py2048 import Board
from py2048.courses.cits1401.app import App

pytestmark = pytest.mark.gui

MIDDLE = Board.empty(5, 5).with_tile((2, 2), 2)


@pytest.fixture
def app(display: str) -> Iterator[App]:
    window = App(seed=1)
    window.update()
    window.focus_force()
    window.update()
    yield window
    with contextlib.suppress(tk.TclError):  # the test may have closed it
        window.quit_game()


def click(app: App, widget: tk.Misc, x: float = 8, y: float = 8) -> None:
    widget.event_generate("<Enter>")
    widget.event_generate("<Button-1>", x=x, y=y)
    widget.event_generate("<ButtonRelease-1>", x=x, y=y)
    app.update()


def click_square(app: App, cell: tuple[int, int]) -> None:
    _, number = app.board.squares[cell]
    click(app, app.board, *map(int, app.board.coords(number)))


@pytest.mark.parametrize("key", ["Up", "Down", "Left", "Right", "w", "s", "a", "d"])
def test_keys_move_too(app, key):
    """Keys also make moves; on a board two squares wide, no border square takes clicks."""
    click(app, app.panel.human)
    app.presenter.board = MIDDLE
    app.event_generate(f"<KeyPress-{key}>")
    app.update()
    assert app.score["text"] == "Score: 1"


def test_keys_do_not_play_while_the_question_is_open(app):
    """Keys do nothing while the window asks who plays."""
    click(app, app.panel.human)
    app.presenter.new_game()
    app.event_generate("<Left>")
    app.update()
    assert app.status["text"] == "Choose who plays"


def test_a_move_is_seen_on_the_squares_and_the_panels(app):
    """A move updates the squares, their rings and the status panel."""
    click(app, app.panel.human)
    app.presenter.board = MIDDLE
    click_square(app, (0, 0))
    click_square(app, (2, 2))
    assert app.presenter.board == MIDDLE
    click_square(app, (0, 2))
    texts = {
        cell: app.board.itemcget(number, "text") for cell, (_, number) in app.board.squares.items()
    }
    assert {cell for cell, text in texts.items() if text} == {(0, 2), (4, 4)}
    rings = {app.board.itemcget(square, "outline") for square, _ in app.board.squares.values()}
    assert len(rings) == 3  # moved, new and other squares
    assert app.status["text"] == "Up movement is successful"


def test_the_options_of_the_panel_reach_the_game(app):
    """The game uses the options chosen in the panel."""
    app.panel.rows.set(2)
    app.panel.columns.set(3)
    app.panel.speed.set("rapid")
    click(app, app.panel.computer)
    assert len(app.board.squares) == 6
    assert not app.panel.winfo_ismapped()
    end = time.monotonic() + 60
    while not app.status["text"].startswith("Game over, final score"):
        assert time.monotonic() < end, app.status["text"]
        app.update()
