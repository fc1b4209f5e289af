"""Open the game: ``python -m py2048.courses.cits1401``."""

from __future__ import annotations

import importlib.util
import sys

if importlib.util.find_spec("_tkinter") is None:
    print(
        "this Python has no tkinter, which draws the window; "
        "on Debian and Ubuntu install it with: sudo apt install python3-tk",
        file=sys.stderr,
    )
    sys.exit(2)

from py2048.courses.cits1401.app import main

sys.exit(main())
