"""The program: ``python3 game.py [N]`` opens the window with a board of N by N."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from py2048.core.errors import CourseError
from py2048.courses.windows import opened, run

if TYPE_CHECKING:
    from py2048.courses.qsan_qarut.controller import Controller

MAX_GRID = 90
"""The largest N whose squares can still be told apart in the window."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play until the window is closed; return the exit status, 2 for a request in vain."""
    given = sys.argv[1:] if arguments is None else arguments
    return run(lambda: open_game(grid_size(given)))


def grid_size(arguments: Sequence[str]) -> int | None:
    """Return the N that the command line names, `None` if it names none.

    Raises:
        CourseError: if it is not a whole number from 2 to `MAX_GRID`, or there is more than one.
    """
    if not arguments:
        return None
    text = " ".join(arguments)
    if not text.isdecimal() or not 2 <= int(text) <= MAX_GRID:
        raise CourseError(
            f"the size {text!r} does not make a board: "
            f"give one whole number from 2 to {MAX_GRID}, such as 4"
        )
    return int(text)


def open_game(grid: int | None) -> None:
    """Open the window and stay until it is closed.

    Raises:
        CourseError: if no window can be opened.
    """

    def open_window() -> Controller:
        if __package__:
            from py2048.courses.qsan_qarut.controller import Controller
        else:  # copied out of the package: the file beside this one
            from controller import Controller  # type: ignore[import-not-found, no-redef]

        return Controller(grid)

    opened(open_window).view.window.mainloop()


if __name__ == "__main__":
    sys.exit(main())
