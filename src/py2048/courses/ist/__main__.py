"""``python -m py2048.courses.ist`` plays in the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from py2048.courses.ist.adt import game_2048


class _OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one game; return the exit status. End of input ends the game."""
    _OneLineParser("python -m py2048.courses.ist", description=__doc__).parse_args(arguments)
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
