"""Rendering of environments: text, images and a window."""

from __future__ import annotations

import tkinter

import gymnasium
import numpy as np
import pytest
from tests.envs.following import exponents_of
from tests.processes import python

from py2048 import Board
from py2048.envs import GameEnv, GameState
from py2048.envs.rendering import picture_of, text_of, tile_colours, tile_picture

BOARD = Board.from_rows([[0, 2, 4, 8], [16, 32, 64, 128], [0, 0, 1024, 2048], [0, 0, 0, 131072]])


def showing(board: Board, mode: str, score: int = 0) -> GameEnv:
    """Return an environment in the position `board`."""
    env = GameEnv("classic", render_mode=mode)
    env.restore(GameState.of(board, score=score))
    return env


def test_text_shows_score_and_tiles() -> None:
    """``ansi`` shows the score above aligned rows of tiles."""
    assert showing(BOARD, "ansi", 1234).render() == (
        "score 1234\n"
        "     .      2      4      8\n"
        "    16     32     64    128\n"
        "     .      .   1024   2048\n"
        "     .      .      . 131072\n"
    )


def test_a_picture_shows_every_tile_where_it_is() -> None:
    """Cells of 90 pixels are 8 apart in an ``rgb_array``, below a header of 40."""
    shown = np.array(showing(BOARD, "rgb_array").render())
    assert (shown.dtype, shown.shape) == (np.uint8, (432, 400, 3))
    for (row, column), exponent in np.ndenumerate(exponents_of(BOARD)):
        top, left = 40 + 98 * row, 8 + 98 * column
        cell = np.asarray(tile_picture(int(exponent), 90))
        assert np.array_equal(shown[top : top + 90, left : left + 90], cell)
        shown[top : top + 90, left : left + 90] = shown[-1, 0]
    assert (shown[40:] == (0x17, 0x15, 0x12)).all()


@pytest.mark.parametrize(
    ("shape", "size"),
    [((2, 4), (400, 236)), ((4, 2), (204, 432)), ((8, 8), (400, 432)), ((64, 64), (1288, 1320))],
)
def test_boards_of_every_size_have_a_picture(shape: tuple[int, int], size: tuple[int, int]) -> None:
    """The longer side has about 400 pixels, but no cell has fewer than 12."""
    assert picture_of(np.full(shape, 11, np.uint8), 5).size == size


def test_all_tiles_look_different() -> None:
    """All tiles up to 2**31 look different, and consecutive ones differ in colour."""
    pictures = {tile_picture(exponent, 90).tobytes() for exponent in range(32)}
    assert len(pictures) == 32
    faces = [tile_colours(exponent)[0] for exponent in range(19)]
    assert len(set(faces)) == len(faces)
    assert [tile_colours(exponent) for exponent in (0, 1, 2, 11)] == [
        *(("#38332e", "#ece4d8"), ("#ceb43b", "#000000")),
        *(("#438321", "#ffffff"), ("#217e83", "#ffffff")),
    ]


def test_nothing_is_rendered_unless_asked() -> None:
    """Without a render mode, `render` returns None."""
    env = GameEnv()
    env.reset(seed=1)
    assert env.render() is None
    assert text_of(np.ones((1, 2), np.uint8), 3) == "score 3\n2 2\n"


@pytest.fixture
def windows(display: str, monkeypatch: pytest.MonkeyPatch) -> list[tkinter.Tk]:
    """Collect the windows that a test opens."""
    opened: list[tkinter.Tk] = []

    class Window(tkinter.Tk):
        def __init__(self, **options: str) -> None:
            super().__init__(**options)
            opened.append(self)

    monkeypatch.setattr(tkinter, "Tk", Window)
    return opened


@pytest.mark.gui
def test_a_window_shows_each_step(windows: list[tkinter.Tk]) -> None:
    """``human``, offered with a display, opens a window at reset and repaints it at each step."""
    env = gymnasium.make("py2048/2x4-v0", render_mode="human")
    assert env.metadata["render_modes"] == ["human", "rgb_array", "ansi"]
    env.reset(seed=1)
    (label,) = windows[0].winfo_children()
    shown = label["image"]
    env.step(int(env.unwrapped.action_masks().argmax()))
    assert label["image"] != shown
    assert label.winfo_reqwidth() == picture_of(np.zeros((2, 4), np.uint8), 0).width
    env.close()
    with pytest.raises(tkinter.TclError, match="destroyed"):
        label.winfo_exists()
    env.close()
    assert len(windows) == 1


@pytest.mark.gui
def test_a_closed_window_does_not_stop_the_program(windows: list[tkinter.Tk]) -> None:
    """After the user closes the window, the environment continues without it."""
    env = GameEnv("2x4", render_mode="human")
    env.reset(seed=1)
    windows[0].tk.call(windows[0].protocol("WM_DELETE_WINDOW"))
    for _ in range(3):
        env.step(int(env.action_masks().argmax()))
    env.close()
    assert len(windows) == 1


def test_without_a_display_the_error_says_what_to_do() -> None:
    """Without a display, the error names modes that need none."""
    code = "import gymnasium, py2048.envs as e; e.GameEnv(render_mode='human').reset()"
    last = python("-c", code, DISPLAY="").stderr.splitlines()[-1]
    assert "render_mode='human' needs a display" in last
    assert "use 'rgb_array' or 'ansi'" in last
