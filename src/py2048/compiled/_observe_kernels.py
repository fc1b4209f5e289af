"""From the batch's layout, cell by cell, to arrays game by game.

Boards of 16 cells are turned over in squares of eight cells by eight games: each is eight words,
transposed in three rounds of exchanges between words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.jit import kernel

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Word = np.uint64
Int = int | np.int64

BYTES, PAIRS, QUADS = np.uint64(8), np.uint64(16), np.uint64(32)
LOW_BYTES = np.uint64(0x00FF00FF00FF00FF)
LOW_PAIRS = np.uint64(0x0000FFFF0000FFFF)
LOW_QUADS = np.uint64(0x00000000FFFFFFFF)


@kernel("(int64, int64, uint8[:,::1], uint8[:,::1])", borrows=True)
def write_boards(first: Int, end: Int, cells: Bytes, out: Bytes) -> None:
    """Copy the boards of games `first` to before `end` to `out`, uint8 `[n, cells]`."""
    for game in range(np.uint64(first), np.uint64(end)):
        for cell in range(np.uint64(out.shape[1])):
            out[game, cell] = cells[cell, game]


@kernel("(int64, int64, uint64[:,::1], uint64[:,::1])", borrows=True)
def write_classic(first: Int, end: Int, cells: Words, out: Words) -> None:
    """Copy the boards of 16 cells of the games in groups of eight, from `first` to before `end`.

    Args:
        first: the first group.
        end: the group after the last.
        cells: the cells as words of eight games: uint64 `[16, padded / 8]`.
        out: the boards as words of eight cells: uint64 `[n, 2]`.
    """
    for group in range(np.uint64(first), np.uint64(end)):
        game = group * BYTES
        for half in range(np.uint64(2)):
            cell = half * BYTES
            a, b = cells[cell, group], cells[cell + np.uint64(1), group]
            c, d = cells[cell + np.uint64(2), group], cells[cell + np.uint64(3), group]
            e, f = cells[cell + np.uint64(4), group], cells[cell + np.uint64(5), group]
            g, h = cells[cell + np.uint64(6), group], cells[cell + np.uint64(7), group]
            a, b = exchange(a, b, BYTES, LOW_BYTES)
            c, d = exchange(c, d, BYTES, LOW_BYTES)
            e, f = exchange(e, f, BYTES, LOW_BYTES)
            g, h = exchange(g, h, BYTES, LOW_BYTES)
            a, c = exchange(a, c, PAIRS, LOW_PAIRS)
            b, d = exchange(b, d, PAIRS, LOW_PAIRS)
            e, g = exchange(e, g, PAIRS, LOW_PAIRS)
            f, h = exchange(f, h, PAIRS, LOW_PAIRS)
            a, e = exchange(a, e, QUADS, LOW_QUADS)
            b, f = exchange(b, f, QUADS, LOW_QUADS)
            c, g = exchange(c, g, QUADS, LOW_QUADS)
            d, h = exchange(d, h, QUADS, LOW_QUADS)
            out[game, half], out[game + np.uint64(1), half] = a, b
            out[game + np.uint64(2), half], out[game + np.uint64(3), half] = c, d
            out[game + np.uint64(4), half], out[game + np.uint64(5), half] = e, f
            out[game + np.uint64(6), half], out[game + np.uint64(7), half] = g, h


@kernel(inline=True)
def exchange(x: Word, y: Word, shift: Word, low: Word) -> tuple[Word, Word]:
    """Exchange the high parts of `x` with the low parts of `y`."""
    return (x & low) | ((y & low) << shift), ((x >> shift) & low) | (y & ~low)


@kernel("(uint8[::1], uint32[::1])", borrows=True)
def write_masks(bits: Bytes, out: NDArray[np.uint32]) -> None:
    """Spread the legal directions of each game, bits 0 to 3, to four bytes."""
    for game in range(np.uint64(len(out))):
        spread = np.uint32(bits[game]) * np.uint32(0x00204081)
        out[game] = np.uint32(spread & np.uint32(0x01010101))
