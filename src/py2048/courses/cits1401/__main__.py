"""Open the game: ``python -m py2048.courses.cits1401``."""

from __future__ import annotations

import sys

from py2048.courses.windows import opened, run


def play() -> int:
    """Check that a window can be opened, then show the game until the window is closed."""
    opened(lambda: None)
    from py2048.courses.cits1401.app import main

    return main()


sys.exit(run(play))
