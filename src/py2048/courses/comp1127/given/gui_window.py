"""The grader's window: it draws nothing and remembers its keys.

It is handed to submissions beside `gui`, and imports nothing but the standard library, because a
submission can reach nothing else. ``frame.bound`` is what is bound, by key.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from typing import Any

draw_tile = "the picture of {}".format


class CheckedFrame(tk.Tk):
    """The window frame; `bound` maps what is bound to its function."""

    def __init__(self) -> None:
        super().__init__()
        self.title("2048")
        self.bound: dict[str, Callable[[Any], object]] = {}

    def bind(self, sequence: Any = None, func: Any = None, add: Any = None) -> Any:
        """Bind a key and remember it."""
        if func is not None:
            self.bound[sequence] = func
        return super().bind(sequence, func, add)

    def unbind(self, sequence: str, funcid: str | None = None) -> None:
        """Unbind a key and forget it."""
        self.bound.pop(sequence, None)
        super().unbind(sequence, funcid)


class CheckedBoard(tk.Frame):
    """A board without a picture, which is all that `gui` needs to play on."""

    def __init__(self, frame: CheckedFrame) -> None:
        super().__init__(frame)
        self.numbers: dict[str, tuple[int, int]] = {}
        self.score = 0


opened: list[tuple[CheckedFrame, CheckedBoard]] = []


def open_window() -> tuple[CheckedFrame, CheckedBoard]:
    """Return the window, its keys unbound, with a new board."""
    frame = opened.pop()[0] if opened else CheckedFrame()
    for key in list(frame.bound):
        frame.unbind(key)
    opened.append((frame, CheckedBoard(frame)))
    return opened[0]
