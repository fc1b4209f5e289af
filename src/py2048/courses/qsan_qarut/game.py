"""The program: ``python3 game.py [N]`` opens the window with an N by N board."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from py2048.core.errors import CourseError
from py2048.courses.windows import opened, run

MAX_GRID = 90
"""Largest N for which the cells are large enough to be distinguished."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play until the window is closed, and return the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run(lambda: open_game(grid_size(given)))


def grid_size(arguments: Sequence[str]) -> int | None:
    """Return the N given on the command line, or `None`.

    Raises:
        CourseError: If the arguments are not a single whole number from 2 to `MAX_GRID`.
    """
    if not arguments:
        return None
    text = " ".join(arguments)
    if not text.isdecimal() or not 2 <= int(text) <= MAX_GRID:
        raise CourseError(
            f"the size {text!r} is not valid: give one whole number from 2 to {MAX_GRID}, such as 4"
        )
    return int(text)


def open_game(grid: int | None) -> None:
    """Show the window until it is closed.

    Raises:
        CourseError: If no window can be opened.
    """
    module = f"{__package__}.controller" if __package__ else "controller"  # if copied elsewhere
    opened(lambda: import_module(module).Controller(grid)).view.window.mainloop()


if __name__ == "__main__":
    sys.exit(main())
