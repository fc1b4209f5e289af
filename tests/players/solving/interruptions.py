"""What may happen to a solver and its files."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from py2048.players.solving.solution import SolvingProgress


class Killed(Exception):  # noqa: N818 - what happens to a process
    """The process ended here."""


def ending_after(layers: int) -> Any:
    """Return a progress that ends solving after a number of layers."""
    left = itertools.count(layers, -1)

    def tell(_: SolvingProgress) -> None:
        if next(left) == 0:
            raise Killed

    return tell


def flip(path: Path, place: int) -> None:
    """Change a bit of a file."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
