"""The random number generator for start tiles and spawns, specified bit for bit.

The generator is counter-based: each random number (*draw*) is a pure function of the seed and a
counter. Any machine can therefore reproduce any turn without replaying the game, and compiled
batches draw exactly the same tiles. The mixing function is the SplitMix64 finaliser (Steele, Lea &
Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).

=============================  ===========================================================
draw                           value (all arithmetic modulo 2**64)
=============================  ===========================================================
key of a seed                  ``mix64(seed + GOLDEN)``
draw `counter` of a key        ``mix64(key + (counter + 1) * GOLDEN)``
counter of a turn              its ply: 0 for the first
counter of the start           ``2**63`` for the number of start tiles, ``2**63 + 1 + k`` for
                               the k-th of them
counter of a derived seed      ``2**62 + i`` for game number i of a batch or series
tile of a draw                 `pick_high` among the integer weights
cell of a draw                 `pick_low` among the empty cells, row-major
=============================  ===========================================================

If a 32-bit number is scaled to `n` values, the probability of each value differs from ``1 / n`` by
less than ``1 / 2**32``.
"""

from __future__ import annotations

from contextlib import suppress
from os import urandom

from py2048.core.errors import SeedError, shown
from py2048.core.rules import Weights, whole_number

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
START = 2**63
"""Counter of the first start draw."""
SERIES = 2**62
"""Counter of the first derived seed."""


def mix64(value: int) -> int:
    """Return the SplitMix64 finaliser of `value`, a bijection on 64-bit numbers."""
    value &= MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def key_of(seed: int) -> int:
    """Return the generator key for a game's seed."""
    return mix64(seed + GOLDEN)


def draw(key: int, counter: int) -> int:
    """Return the 64-bit random number for a generator key and a counter."""
    return mix64(key + (counter + 1) * GOLDEN)


def pick_high(word: int, choices: int) -> int:
    """Scale the high 32 bits of a random number to a whole number below `choices`."""
    return ((word >> 32) * choices) >> 32


def pick_low(word: int, choices: int) -> int:
    """Scale the low 32 bits of a random number to a whole number below `choices`."""
    return ((word & 0xFFFFFFFF) * choices) >> 32


def pick_tile(weights: Weights, word: int) -> int:
    """Return the tile selected by the high 32 bits of a random number."""
    integers = weights.integers
    remaining = pick_high(word, sum(integers))
    for tile, weight in zip(weights.tiles, integers, strict=True):
        if remaining < weight:
            return tile
        remaining -= weight
    raise AssertionError("unreachable: pick is below the sum of the weights")


def derive_seed(seed: int, index: int) -> int:
    """Return the seed of game number `index` in a batch or series seeded with `seed`."""
    return draw(key_of(seed), SERIES + index)


def checked_seed(seed: object) -> int:
    """Return `seed` as an int.

    Raises:
        SeedError: If the seed is not a whole number from 0 to 2**64 - 1.
    """
    number = whole_number(seed)
    if number is None or not 0 <= number <= MASK:
        raise SeedError(f"{shown(seed)} is not a seed: give a whole number from 0 to {MASK}")
    return number


def parse_seed(text: str) -> int:
    """Parse a seed from text.

    Raises:
        SeedError: If the seed is not a whole number from 0 to 2**64 - 1.
    """
    number: object = text
    with suppress(ValueError):
        number = int(text)
    return checked_seed(number)


def random_seed() -> int:
    """Return a random seed below 2**53, so that every JSON reader represents it exactly."""
    return int.from_bytes(urandom(7)) >> 3
