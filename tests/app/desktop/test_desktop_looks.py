"""Screenshots: every tile has its colours in each theme and size."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import ImageColor

from py2048.app.desktop.window import MIN_HEIGHT, MIN_WIDTH
from py2048.presentation.themes import THEMES

pytestmark = pytest.mark.gui

SIZES = ((350, 420), (480, 640), (1240, 980), (900, 400))
BOARDS = {
    "2x4": "2 4 8 16/131072 65536 4096 .",
    "4x4": "2 4 8 16/32 64 128 256/512 1024 2048 4096/. 8192 16384 131072",
    "8x8": "/".join(["2 4 8 16 32 64 128 256", ". 2048 131072 . 512 1024 2 2"] * 4),
    "1x5": "2 4 . 131072 2048",
}


LOOKS = [(theme, SIZES[1]) for theme in THEMES] + [
    (theme, size) for theme, size in zip(THEMES, SIZES, strict=True) if size != SIZES[1]
]


@pytest.mark.parametrize(
    ("theme", "size"), LOOKS, ids=[f"{theme.name}-{size[0]}x{size[1]}" for theme, size in LOOKS]
)
def test_all_cells_have_their_colours_on_the_screen(open_desk, theme, size):
    """Each cell has its tile's colour on the screen and is inside the window."""
    desk = open_desk(theme=theme.name, reduced_motion=True)
    desk.root.geometry(f"{size[0]}x{size[1]}+0+0")
    desk.until(lambda: (desk.root.winfo_width(), desk.root.winfo_height()) == size)
    for rows in BOARDS.values():
        desk.put(rows)
        check_screen(desk, theme)


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
            assert place[0] < desk.root.winfo_rootx() + desk.root.winfo_width()
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
