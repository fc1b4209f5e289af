"""`Screen`: where an environment is shown. Pictures and windows are loaded when they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from py2048.envs.options import OptionError

if TYPE_CHECKING:
    from py2048.envs.window import Window

RENDER_FPS = 8
MODES = (None, "human", "rgb_array", "ansi")


class Screen:
    """Where an environment is shown.

    Args:
        mode: a render mode of `GameEnv`.
        shape: ``(rows, columns)`` of the boards.

    Raises:
        OptionError: if there is no such mode.
    """

    def __init__(self, mode: str | None, shape: tuple[int, int]) -> None:
        if mode not in MODES:
            raise OptionError(f"render_mode={mode!r} is unknown; known: human, rgb_array, ansi")
        self._mode = mode
        self._shape = shape
        self._window: Window | None = None

    def show(self, board: NDArray[np.uint8], score: int) -> NDArray[np.uint8] | str | None:
        """Return or show the board (exponents) as the mode asks."""
        if self._mode == "ansi":
            return text_of(board, score)
        if self._mode is None:
            return None
        from py2048.envs.rendering import picture_of

        picture = picture_of(board, score)
        if self._mode == "rgb_array":
            return np.asarray(picture)
        if self._window is None:
            from py2048.envs.window import Window

            self._window = Window(RENDER_FPS)
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None


def text_of(board: NDArray[np.uint8], score: int) -> str:
    """Return the board as lines of right-aligned tiles under the score."""
    tiles = [[str(1 << int(e)) if e else "." for e in row] for row in board]
    width = max(len(tile) for row in tiles for tile in row)
    lines = [" ".join(tile.rjust(width) for tile in row) for row in tiles]
    return "\n".join([f"score {score}", *lines]) + "\n"
