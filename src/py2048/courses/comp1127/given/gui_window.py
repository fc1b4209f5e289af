"""The grader's window, which draws nothing and records the bound keys.

Submissions import this module in place of the real ``gui_window``. The module uses only the
standard library, because a submission's process cannot import anything else.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from typing import Any

draw_tile = "the picture of {}".format


class CheckedFrame(tk.Tk):
    """The window frame.

    Attributes:
        bound: The function that is bound to each key.
    """

    def __init__(self) -> None:
        super().__init__()
        self.title("2048")
        self.bound: dict[str, Callable[[Any], object]] = {}

    def bind(self, sequence: Any = None, func: Any = None, add: Any = None) -> Any:
        """Bind a key and record it."""
        if func is not None:
            self.bound[sequence] = func
        return super().bind(sequence, func, add)

    def unbind(self, sequence: str, funcid: str | None = None) -> None:
        """Unbind a key and forget it."""
        self.bound.pop(sequence, None)
        super().unbind(sequence, funcid)


class CheckedBoard(tk.Frame):
    """A board that is never drawn, with the two attributes that `gui` needs."""

    def __init__(self, frame: CheckedFrame) -> None:
        super().__init__(frame)
        self.numbers: dict[str, tuple[int, int]] = {}
        self.score = 0


opened: list[tuple[CheckedFrame, CheckedBoard]] = []


def open_window() -> tuple[CheckedFrame, CheckedBoard]:
    """Return the window and a new board, and unbind all keys."""
    frame = opened.pop()[0] if opened else CheckedFrame()
    for key in list(frame.bound):
        frame.unbind(key)
    opened.append((frame, CheckedBoard(frame)))
    return opened[0]
