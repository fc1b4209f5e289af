"""Run the benchmarks: the arguments are those of ``py2048 bench``, which does it."""

from __future__ import annotations

import sys

from py2048.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
