"""Open the game: ``python -m py2048.courses.qsan_qarut [N]``."""

from __future__ import annotations

import sys

from py2048.courses.qsan_qarut.game import main

sys.exit(main())
