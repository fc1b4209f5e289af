"""Open the game: ``python -m py2048.courses.cits1401``."""

from __future__ import annotations

import sys

from py2048.courses.windows import opened, run


def play() -> int:
    """Play until the window is closed; say so where Python has no tkinter."""
    opened(lambda: None)
    from py2048.courses.cits1401.app import main

    return main()


sys.exit(run(play))
