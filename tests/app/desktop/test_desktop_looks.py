"""Screenshots: every tile has its colours in each theme."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import ImageColor

from py2048.app.desktop.window import MIN_HEIGHT, MIN_WIDTH
from py2048.presentation.themes import THEMES

pytestmark = pytest.mark.gui

TILES = "2 4 8 16/32 64 128 256/512 1024 2048 4096/. 8192 16384 131072"


def check_screen(desk: Any, theme: Any) -> None:
    """Compare pixels of the screen with the expected colours."""
    desk.until(lambda: desk.board.winfo_width() > 100)
    cells, board = desk.board.cells, desk.session.game.board
    left, top = desk.board.winfo_rootx(), desk.board.winfo_rooty()
    screen = desk.look()
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            tile = board[row, column]
            x, y = cells.middle(row, column)
            place = (round(left + x), round(top + y - cells.cell * 0.38))
            style = theme.tile(tile) if tile else None
            wanted = ImageColor.getrgb(style.background if style else theme.empty)
            assert screen.getpixel(place) == wanted, (row, column, tile)
            if style:
                half = cells.cell * 0.4
                box = [round(n) for n in (left + x - half, top + y - half * 0.4)]
                box += [round(n) for n in (left + x + half, top + y + half * 0.4)]
                inks = {colour for _, colour in screen.crop(box).getcolors(1 << 20)}
                ink = ImageColor.getrgb(style.text)
                assert min(distance(ink, each) for each in inks) < 60, (row, column, tile)


def distance(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    return sum(abs(a - b) for a, b in zip(first, second, strict=True))


def test_changing_the_theme_recolours_everything(desk):
    """T cycles through the themes, recolours everything and saves the choice."""
    desk.app.controller.do("animation")
    desk.put(TILES)
    for _ in THEMES:
        desk.key("t")
        check_screen(desk, desk.app.controller.theme)
        assert desk.session.get_setting("theme") == desk.app.controller.theme.name
        assert desk.app.menus.theme.get() == desk.app.controller.theme.name


def test_no_label_is_cut_in_the_least_window(open_desk):
    """All button labels, including "Pause", fit into the smallest window."""
    desk = open_desk(reduced_motion=True)
    desk.key("space")
    desk.root.geometry(f"{MIN_WIDTH}x{MIN_HEIGHT}+0+0")
    desk.until(lambda: desk.root.winfo_width() == MIN_WIDTH)
    buttons = desk.window.buttons.values()
    desk.until(lambda: all(each.winfo_reqwidth() <= each.winfo_width() for each in buttons))
