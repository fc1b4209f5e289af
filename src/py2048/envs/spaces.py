"""Observation spaces, and how boards become observations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from py2048.envs.options import Observation
from py2048.rules import Rules

Exponents = NDArray[np.uint8]
Encoder = Callable[[Exponents], NDArray[Any]]
"""What makes an observation of boards (uint8 `[..., rows, columns]`), in one of the forms below."""

DIRECTIONS = 4
MOST_PLANES = 32


def largest_exponent(rules: Rules) -> int:
    """Return an exponent that no tile can exceed (17 on the classic board: 131072).

    The best that can happen is one tile of each size, doubling along the board, and the largest
    tile that spawns twice.
    """
    tile = max(*rules.spawn_weights.tiles, *rules.start_weights.tiles)
    return min(rules.cells + tile.bit_length() - 2, np.iinfo(np.uint8).max)


def plane_count(rules: Rules) -> int:
    """Return the number of one-hot planes; exponents beyond the last share it."""
    return min(largest_exponent(rules) + 1, MOST_PLANES)


def observation_space(rules: Rules, observation: Observation) -> spaces.Box:
    """Return the space of the observations of one board."""
    match observation:
        case Observation.EXPONENTS:
            return spaces.Box(0, largest_exponent(rules), rules.shape, np.uint8)
        case Observation.ONEHOT:
            return spaces.Box(0, 1, (plane_count(rules), *rules.shape), np.uint8)
        case Observation.NORMALISED:
            return spaces.Box(0.0, 1.0, rules.shape, np.float32)


def encoder(rules: Rules, observation: Observation) -> Encoder:
    """Return what makes observations of exponents."""
    match observation:
        case Observation.EXPONENTS:
            return unchanged
        case Observation.ONEHOT:
            return partial(onehot, plane_count(rules))
        case Observation.NORMALISED:
            return partial(normalised, largest_exponent(rules))


def unchanged(boards: Exponents) -> Exponents:
    """Return the exponents themselves, uint8 `[..., rows, columns]`."""
    return boards


def onehot(planes: int, boards: Exponents) -> NDArray[np.uint8]:
    """Return a plane of zeros and ones for each exponent: uint8 `[..., planes, rows, columns]`."""
    shown = np.minimum(boards, np.uint8(planes - 1))[..., None, :, :]
    exponents = np.arange(planes, dtype=np.uint8)[:, None, None]
    planes_of: NDArray[np.uint8] = (shown == exponents).view(np.uint8)
    return planes_of


def normalised(largest: int, boards: Exponents) -> NDArray[np.float32]:
    """Return the exponents as parts of the `largest`: float32 `[..., rows, columns]`."""
    return boards.astype(np.float32) / np.float32(largest)
