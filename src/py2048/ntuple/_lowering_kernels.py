"""Tile-downgrading, compiled; `lowering.lowered` is its plain reference.

All ranks that are to be taken out of the count are found at once, as a word with a bit for each; a
rank then falls by the number of those below it.
"""

from __future__ import annotations

import numpy as np

from py2048.compiled._bits_kernels import ONE, popcount
from py2048.compiled._board_kernels import NIBBLE, ZERO, rank_at
from py2048.compiled.jit import kernel

Int = int | np.int64
Word = np.uint64

PACKED_CELLS = 16
EVEN, TOPS = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x8080808080808080)
BYTES, FULL = np.uint64(0x0101010101010101), np.uint64(0x7F)


@kernel(borrows=True)
def taken_out(seen: Word, known: Word) -> Word:
    """Return the ranks that leave the count so that the largest is known, a bit for each.

    Args:
        seen: a bit for each rank on the board; that of the empty cells means nothing.
        known: the largest rank that is known.
    """
    if (seen >> known) <= ONE:
        return ZERO
    rank = np.int64(63)
    while rank > 0 and (seen >> np.uint64(rank)) & ONE == ZERO:
        rank -= 1
    taken, excess = ZERO, rank - np.int64(known)
    while excess > 0 and rank > 1:
        rank -= 1
        if (seen >> np.uint64(rank)) & ONE == ZERO:
            taken |= ONE << np.uint64(rank)
            excess -= 1
    return taken


@kernel(inline=True, borrows=True)
def lowered_rank(rank: Word, taken: Word, known: Word) -> Word:
    """Return what becomes of a rank."""
    return min(rank - popcount(taken & ((ONE << rank) - ONE)), known)


@kernel(borrows=True)
def lowered_word(low: Word, high: Word, known: Word) -> Word:
    """Return a packed board, two words, as those see it in one who know ranks up to `known`."""
    seen, word = ZERO, ZERO
    for cell in range(PACKED_CELLS):
        seen |= ONE << np.uint64(rank_at(low, high, cell))
    taken = taken_out(seen, known)
    for cell in range(PACKED_CELLS):
        rank = lowered_rank(np.uint64(rank_at(low, high, cell)), taken, known)
        word |= rank << np.uint64(4 * cell)
    return word


@kernel(inline=True, borrows=True)
def known_word(low: Word, high: Word, known: Word) -> Word:
    """Return `lowered_word`, which is the first word of a board that has no larger tiles."""
    # In each byte the highest bit tells whether its nibble is above `known`.
    add = (FULL - known) * BYTES
    above = (((low & EVEN) + add) | (((low >> NIBBLE) & EVEN) + add)) & TOPS
    if (above | high) != ZERO:
        return lowered_word(low, high, known)
    return low
