"""Play in the terminal: ``python -m py2048.courses.ist``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from py2048.courses import OneLineParser
from py2048.courses.ist.adt import game_2048


def main(arguments: Sequence[str] | None = None) -> int:
    """Play a game; return the exit status. End of input ends the game."""
    OneLineParser("python -m py2048.courses.ist", description=__doc__).parse_args(arguments)
    try:
        game_2048()
    except EOFError:
        print()
    except KeyboardInterrupt:
        print()
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
