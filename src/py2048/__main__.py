"""Run the command ``py2048`` as ``python -m py2048``."""

from __future__ import annotations

import sys

from py2048.cli import main

if __name__ == "__main__":
    sys.exit(main())
