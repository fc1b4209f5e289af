"""Compiled bit arithmetic on 64-bit words, and the generator of `py2048.core.rng`."""

from __future__ import annotations

import numpy as np

from py2048.core import rng
from py2048.engine.jit import kernel

GOLDEN = np.uint64(rng.GOLDEN)
START = np.uint64(rng.START)
SERIES = np.uint64(rng.SERIES)
ONE = np.uint64(1)
LOW_HALF = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)

MIX_A, MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
UNMIX_A, UNMIX_B = (np.uint64(pow(int(factor), -1, 2**64)) for factor in (MIX_A, MIX_B))
_PAIRS = np.uint64(0x5555555555555555)
_QUADS = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM = np.uint64(0x0101010101010101)


@kernel(inline=True)
def popcount(word: np.uint64) -> np.uint64:
    """Return the number of set bits in `word`.

    LLVM recognises this algorithm and compiles it to a single instruction.
    """
    word = word - ((word >> ONE) & _PAIRS)
    word = (word & _QUADS) + ((word >> np.uint64(2)) & _QUADS)
    word = (word + (word >> np.uint64(4))) & _BYTES
    return (word * _SUM) >> np.uint64(56)


@kernel(inline=True)
def trailing_zeros(word: np.uint64) -> np.uint64:
    """Return the index of the lowest set bit in `word`, which must not be zero."""
    return popcount(~word & (word - ONE))


@kernel(inline=True)
def mix64(word: np.uint64) -> np.uint64:
    """Return the SplitMix64 finaliser of `word`."""
    word = (word ^ (word >> np.uint64(30))) * MIX_A
    word = (word ^ (word >> np.uint64(27))) * MIX_B
    return word ^ (word >> np.uint64(31))


@kernel(inline=True)
def key_of(seed: np.uint64) -> np.uint64:
    """Return the generator key for a game's seed."""
    return mix64(seed + GOLDEN)


@kernel(inline=True)
def draw(key: np.uint64, counter: np.uint64) -> np.uint64:
    """Return the 64-bit random number for a generator key and a counter."""
    return mix64(key + (counter + ONE) * GOLDEN)


@kernel(inline=True)
def derive_seed(seed: np.uint64, index: np.uint64) -> np.uint64:
    """Return the seed of game number `index` in a batch or series seeded with `seed`."""
    return draw(key_of(seed), SERIES + index)


@kernel(inline=True)
def pick_high(word: np.uint64, choices: np.uint64) -> np.uint64:
    """Scale the high half of a random number to a whole number below `choices` (at most 2**32)."""
    return ((word >> HALF) * choices) >> HALF


@kernel(inline=True)
def pick_low(word: np.uint64, choices: np.uint64) -> np.uint64:
    """Scale the low half of a random number to a whole number below `choices` (at most 2**32)."""
    return ((word & LOW_HALF) * choices) >> HALF


@kernel(inline=True)
def pick_rank(word: np.uint64, ranks: np.ndarray, cumulative: np.ndarray) -> np.uint64:
    """Return the rank selected by the high 32 bits of a random number.

    Args:
        word: The draw.
        ranks: uint8 `[k]`, ascending.
        cumulative: uint64 `[k]`, running sums of the integer weights.
    """
    choice = pick_high(word, cumulative[-1])
    index = 0
    while cumulative[index] <= choice:
        index += 1
    return np.uint64(ranks[index])


@kernel(inline=True, borrows=True)
def unmix64(word: np.uint64) -> np.uint64:
    """Return the inverse of `mix64`."""
    word = (word ^ (word >> np.uint64(31)) ^ (word >> np.uint64(62))) * UNMIX_B
    word = (word ^ (word >> np.uint64(27)) ^ (word >> np.uint64(54))) * UNMIX_A
    return word ^ (word >> np.uint64(30)) ^ (word >> np.uint64(60))
