"""Screenshots and sizes: tiles have their colours, and every text its place."""

from __future__ import annotations

import json
import tkinter as tk
from collections.abc import Iterator
from contextlib import closing
from operator import gt
from typing import Any

import pytest
from PIL import ImageColor, ImageGrab
from tests.app.desktop.conftest import Desk
from tests.processes import until

from py2048.app.desktop.launch import GameWindow
from py2048.app.desktop.style import text_width
from py2048.app.session import Session, open_session
from py2048.core.board import Board
from py2048.core.language import use_language
from py2048.presentation.themes import Theme, next_theme

pytestmark = pytest.mark.gui

TILES = "2 4 8 16/32 64 128 256/512 1024 2048 4096/. 8192 16384 131072"


def faces(root: tk.Tk, view: Any) -> list[Any]:
    """Return the colour of each cell on the screen, below its upper edge."""
    root.update()
    root.winfo_pointerx()  # a round trip
    screen = ImageGrab.grab(xdisplay=root.winfo_screen().rpartition(".")[0])
    left, top = view.winfo_rootx(), view.winfo_rooty() - 0.38 * view.cells.cell
    places = (view.cells.middle(row, column) for row in range(4) for column in range(4))
    return [screen.getpixel((round(left + x), round(top + y))) for x, y in places]


def expected(board: Board, theme: Theme) -> list[Any]:
    """Return the colours of the cells in the theme."""
    tiles = (tile for row in board.rows for tile in row)
    colours = (theme.tile(tile).background if tile else theme.empty for tile in tiles)
    return [*map(ImageColor.getrgb, colours)]


def cut(widget: tk.Misc) -> Iterator[str]:
    """Yield the visible texts that do not fit, or that only an icon replaces."""
    if widget.winfo_ismapped() and "text" in widget.keys():  # noqa: SIM118 - of Tk
        text, sides = str(widget["text"]), ("width", "height")
        least = [getattr(widget, f"winfo_req{side}")() for side in sides]
        given = [getattr(widget, f"winfo_{side}")() for side in sides]
        is_icon = "compound" in widget.keys() and str(widget["compound"]) == "image"  # noqa: SIM118
        if text and (is_icon or text.endswith("…") or any(map(gt, least, given))):
            yield text
    for child in widget.winfo_children():
        yield from cut(child)


@pytest.mark.parametrize("language", ["en", "pt"])
def test_no_window_is_too_small_for_a_word(open_desk, language):
    """In windows of all shapes, every word of the strip is visible, and the board stays inside."""
    with use_language(language):
        desk = open_desk(reduced_motion=True)
        for size in ((320, 378), (480, 560), (560, 540), (760, 480), (1152, 888)):
            desk.window.show_status(desk.window.header.status, is_playing=True)
            desk.root.geometry("{}x{}+0+0".format(*size))
            desk.until(
                lambda size=size: (desk.root.winfo_width(), desk.root.winfo_height()) == size
            )
            desk.window.show_status(desk.window.header.status, is_playing=False)
            for text in ("", "Right is best\n94 of 100 games like yours make 1,024; Left 93."):
                desk.window.say(text)
                desk.pump()
                assert not [*cut(desk.window.strip)], size
            board = desk.board
            assert board.winfo_x() >= 0 <= board.winfo_y()
            assert board.winfo_x() + board.winfo_width() <= size[0]
            assert board.winfo_y() + board.winfo_height() <= size[1]


def test_the_window_opens_at_85_percent_of_the_screen_and_the_board_fills_it(desk):
    """With its menu, the window is 0.85 as high as the screen, and the board is nearly as high."""
    screen = desk.root.winfo_screenheight()
    desk.until(lambda: desk.board.cells and desk.board.cells.height > 0.78 * screen)
    assert desk.root.winfo_rooty() + desk.root.winfo_height() == pytest.approx(0.85 * screen, abs=4)


@pytest.mark.parametrize("width", [320, 1100])
def test_points_gained_do_not_cover_the_word_score(desk, width):
    """The largest gain is beside the word "Score", not on it."""
    desk.root.geometry(f"{width}x700+0+0")
    desk.until(lambda: desk.root.winfo_width() == width)
    desk.window.header.show_gain(65_536)
    desk.pump()
    gain = desk.window.header.gain
    (word,) = [each for each in gain.master.winfo_children() if str(each["text"]) == "Score"]
    assert text_width(desk.root, "Score", "caption") < gain.winfo_x() - word.winfo_x()
    assert gain.winfo_x() >= word.winfo_x()


@pytest.mark.usefixtures("display")
def test_the_first_frame_shows_the_last_game(tmp_path):
    """The saved game's tiles are visible before the session is open, and then stay in place.

    All have the colours of the theme that was chosen.
    """
    url, state = f"sqlite:///{tmp_path / 'store.sqlite3'}", tmp_path / "desktop.json"
    with closing(open_session(url)) as session:
        session.start(seed=1, board=Board.parse(TILES))
        desk = Desk(GameWindow(lambda: session, state_file=state))
        desk.play(1)
        board, theme = session.game.board, next_theme(desk.app.controller.theme.name)
        desk.settle()
        desk.key("t")
        assert faces(desk.root, desk.board) == expected(board, theme)
        assert desk.app.menus.theme.get() == theme.name
        desk.running.close()
    window = GameWindow(lambda: open_session(url), state_file=state)
    window.first_frame()
    colours = expected(board, theme)
    until(lambda: faces(window.root, window.window.board) == colours)
    desk = Desk(window)
    with closing(desk.session):
        assert desk.session.game.board == board
        desk.settle()
        assert not desk.board.is_animated
        assert faces(desk.root, desk.board) == colours
        desk.running.close()


def test_a_damaged_state_file_shows_no_board(open_desk, tmp_path):
    """A damaged last board is ignored."""
    state = tmp_path / "desktop.json"
    for last in ("", "7", "[]", "[[], []]", '[["a"], ["classic"]]', "[[[2, 4]], [1, {}, 2]]"):
        state.write_text(json.dumps({"last": last}))
        session = Session()
        open_desk(session, state_file=state).running.close()
