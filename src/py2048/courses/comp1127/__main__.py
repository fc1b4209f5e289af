"""Play the game: ``python -m py2048.courses.comp1127``."""

from __future__ import annotations

import runpy
import sys

from py2048.courses.windows import run

sys.exit(run(lambda: runpy.run_module("py2048.courses.comp1127.main", run_name="__main__")))
