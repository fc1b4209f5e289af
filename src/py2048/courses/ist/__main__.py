"""Play in the terminal: ``python -m py2048.courses.ist``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from py2048.courses import OneLineParser
from py2048.courses.ist.adt import game_2048
from py2048.courses.windows import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Play until the game or the input ends, and return the exit status."""
    OneLineParser("python -m py2048.courses.ist", description=__doc__).parse_args(arguments)
    return run(game_2048)


if __name__ == "__main__":
    sys.exit(main())
