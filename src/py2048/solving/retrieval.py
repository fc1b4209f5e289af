"""`Retrieval`: a static function from keys to single bits that does not store the keys.

Each key selects 64 neighbouring bits of a table, and some of these: the exclusive or of those is
its bit. The table solves the system of linear equations that the keys make [1], in parts of some
thousand keys, so that it is a few percent larger than the number of keys, however many there are. A
key that was not among them gets a bit that is as good as random.

[1] Dillinger & Walzer, "Ribbon filter: practically smaller than Bloom and Xor", 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.boards import mix64
from py2048.errors import SolvingError

Keys = NDArray[np.uint64]
Bits = NDArray[np.bool_]

WINDOW = 64
PART = 4096
"""About so many keys share a system of equations."""

SEEDS = 6
"""So many seeds are tried before a part gets more columns."""

MOST_COLUMNS = 2**16 - 1

PARTS = "words", "columns", "seeds"

_SPREAD = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_MASK = np.uint64(63)


@dataclass(frozen=True)
class Retrieval:
    """Bits by keys.

    Attributes:
        words: the table, 64 bits to a word, the lowest first, and one word more.
        columns: how many bits each part has, uint16.
        seeds: the seed of each part, uint8.
    """

    words: NDArray[np.uint64]
    columns: NDArray[np.uint16]
    seeds: NDArray[np.uint8]

    @classmethod
    def of(cls, keys: Keys, bits: Bits) -> Retrieval:
        """Return the function that has these bits at these keys, which differ.

        Raises:
            SolvingError: if keys are given twice, with different bits.
        """
        from py2048.solving._distil_kernels import solve_part

        parts = -(-len(keys) // PART)
        hashes = mix64(keys * _SPREAD)
        owners = _part_of(hashes, parts)
        order = np.argsort(owners, kind="stable")
        ends = np.cumsum(np.bincount(owners, minlength=parts))
        words = np.zeros(len(keys) // 32 + 32 * parts + 2, np.uint64)
        columns, seeds = np.zeros(parts, np.uint16), np.zeros(parts, np.uint8)
        first = 0
        for part, chosen in enumerate(np.split(order, ends[:-1]) if parts else ()):
            for width, seed in _attempts(len(chosen)):
                starts, picks = _equations(
                    hashes[chosen], np.array([seed], np.uint64), np.array([width], np.uint64)
                )
                if solve_part(starts, picks, bits[chosen], width, first, words):
                    break
            else:
                raise SolvingError("keys of a retrieval must differ")
            columns[part], seeds[part] = width, seed
            first += width
        return cls(words[: (first >> 6) + 2].copy(), columns, seeds)

    def arrays(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        """Return the parts by their names, for a file."""
        return {f"{prefix}{part}": getattr(self, part) for part in PARTS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> Retrieval:
        """Return the function whose parts `arrays` returned.

        Raises:
            KeyError: if one is missing.
        """
        return cls(*(arrays[f"{prefix}{part}"] for part in PARTS))

    @cached_property
    def _firsts(self) -> NDArray[np.uint64]:
        """Where the bits of each part begin."""
        ends = np.cumsum(self.columns, dtype=np.uint64)
        return ends - self.columns

    @cached_property
    def _widths(self) -> NDArray[np.uint64]:
        return self.columns.astype(np.uint64)

    @cached_property
    def _seeds(self) -> NDArray[np.uint64]:
        return self.seeds.astype(np.uint64)

    def get(self, keys: Keys) -> Bits:
        """Return the bits of keys."""
        if not len(self.columns):
            return np.zeros(len(keys), np.bool_)
        hashes = mix64(keys * _SPREAD)
        owners = _part_of(hashes, len(self.columns))
        starts, picks = _equations(hashes, self._seeds[owners], self._widths[owners])
        places = starts + self._firsts[owners]
        at, shift = (places >> _SIX).astype(np.int64), places & _MASK
        window = self.words[at] >> shift | (self.words[at + 1] << _ONE) << (_MASK - shift)
        bits: Bits = (np.bitwise_count(window & picks) & 1).astype(np.bool_)
        return bits


def _part_of(hashes: Keys, parts: int) -> NDArray[np.int64]:
    return ((hashes >> _HALF) * np.uint64(parts) >> _HALF).astype(np.int64)


def _equations(hashes: Keys, seeds: Keys, widths: Keys) -> tuple[Keys, Keys]:
    """Return where the 64 bits begin that each key selects, and which of them it takes."""
    mixed = mix64(hashes + seeds * _SPREAD)
    starts = (mixed & _LOW) * (widths - np.uint64(WINDOW - 1)) >> _HALF
    return starts, mix64(mixed) | _ONE


def _attempts(keys: int) -> list[tuple[int, int]]:
    """Return the numbers of columns and the seeds to try for a part, the smallest first."""
    widths = [max(WINDOW, keys + 32 + keys * more // 256) for more in range(2, 256, 2)]
    return [(width, seed) for width in widths if width <= MOST_COLUMNS for seed in range(SEEDS)]
