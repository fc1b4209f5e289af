"""Play the game: ``python -m py2048.courses.comp1127``."""

from __future__ import annotations

import runpy
import sys

from py2048.errors import CourseError, MissingExtraError

try:
    runpy.run_module("py2048.courses.comp1127.main", run_name="__main__")
except (CourseError, MissingExtraError) as error:
    print(error, file=sys.stderr)
    sys.exit(2)
