"""Interruptions and damage that a solver must survive."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from py2048.players.solving.solution import SolvingProgress


class Killed(Exception):  # noqa: N818 - what happens to a process
    """Stands for the end of the process."""


def ending_after(layers: int) -> Any:
    """Return a progress callback that stops the solver after some layers."""
    left = itertools.count(layers, -1)

    def tell(_: SolvingProgress) -> None:
        if next(left) == 0:
            raise Killed

    return tell


def flip(path: Path, place: int) -> None:
    """Flip a bit of a file."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
