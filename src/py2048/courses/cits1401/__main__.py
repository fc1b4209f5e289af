"""Open the game: ``python -m py2048.courses.cits1401``."""

from __future__ import annotations

import sys
from importlib import import_module

from py2048.courses.windows import opened, run

# `opened` reports a missing tkinter before the import needs it.
sys.exit(run(lambda: opened(lambda: import_module("py2048.courses.cits1401.app")).main()))
