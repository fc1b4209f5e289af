"""Weights out of packed files, whose zeros are left out: see ``weights.py``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.jit import kernel

Bytes = NDArray[np.uint8]
Steps = NDArray[np.int16]
Weights = NDArray[np.float32]

BITS = 8


@kernel("(uint8[::1], uint8[::1], uint8[::1], int16[::1])", borrows=True)
def add_changes(used: Bytes, low: Bytes, high: Bytes, steps: Steps) -> None:
    """Add changes to whole numbers of 16 bits, which wrap around.

    Args:
        used: a bit for each number, the first one highest: whether it changes.
        low: the low bytes of the changes, as zigzag numbers.
        high: their high bytes.
        steps: the numbers.
    """
    size, place = len(steps), np.uint64(0)
    for byte in range(len(used)):
        bits = used[byte]
        if bits == 0:
            continue
        for bit in range(BITS):
            index = BITS * byte + bit
            if index < size and bits & (128 >> bit):
                zigzag = np.int32(low[place]) | np.int32(high[place]) << 8
                change = (zigzag >> 1) ^ -(zigzag & 1)
                steps[np.uint64(index)] = np.int16((np.int32(steps[index]) + change) & 0xFFFF)
                place += np.uint64(1)


@kernel("(int16[::1], float32, float32[::1])", borrows=True)
def write_points(steps: Steps, step: np.float32, weights: Weights) -> None:
    """Write numbers of steps as points."""
    for index in range(len(steps)):
        weights[index] = np.float32(steps[index]) * step
