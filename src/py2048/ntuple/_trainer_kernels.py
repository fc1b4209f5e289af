"""The kernels that train, built for each kind of board and each kind of weight record.

They are built when first asked for: on 4x4 boards for one network, else one of four for all.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._board_kernels import tile_sum
from py2048.compiled.jit import kernel
from py2048.ntuple import _cell_ntuple_kernels as cells
from py2048.ntuple import _ntuple_kernels as packed
from py2048.ntuple._ntuple_kernels import Code
from py2048.ntuple._td_kernels import gamer, starter, trainer, updater
from py2048.ntuple._value_kernels import rater, value_at

_ONE = np.int64(1)


@kernel(inline=True, borrows=True)
def sum_packed(boards: NDArray[np.uint64], slot: int) -> np.int64:
    """Return the sum of the tiles of a packed board."""
    low, high = boards[slot, 0], boards[slot, 1]
    # A rank above 15 stands in `low` as itself less 16.
    total, cell = np.int64(tile_sum(low)), 0
    while high != 0:
        if high & 1:
            nibble = np.int64((low >> np.uint64(4 * cell)) & np.uint64(15))
            total += (_ONE << (nibble + 16)) - ((_ONE << nibble) if nibble else 0)
        high >>= np.uint64(4)
        cell += 1
    return total


@kernel(inline=True, borrows=True)
def sum_cells(boards: NDArray[np.uint8], slot: int) -> np.int64:
    """Return the sum of the tiles of a board of cells."""
    total = np.int64(0)
    for rank in boards[slot]:
        if rank != 0:
            total += _ONE << np.int64(rank)
    return total


_PARTS: dict[str, tuple[Any, ...]] = {
    "4x4": (
        *(packed.slides_4x4, packed.indices_4x4),
        *(packed.presence, packed.spawn_board, packed.copy_board, sum_packed),
    ),
    "small": (
        *(packed.slides_small, packed.indices_small),
        *(packed.presence, packed.spawn_board, packed.copy_board, sum_packed),
    ),
    "cells": (
        *(cells.slides_cells, cells.indices_cells),
        *(cells.presence_cells, cells.spawn_cells, cells.copy_cells, sum_cells),
    ),
}


@cache
def kernel_for(kind: str, stride: int, code: Code = ()) -> Any:
    """Return `_td_kernels.trainer` for boards of a kind and records of `stride` numbers.

    With the `code` of a network it is made for that network alone, which is faster.
    """
    step = np.uint64(stride)
    slide, indices, seen, spawn, copy, total = _PARTS[kind]
    if code:
        indices = packed.indexer_4x4(code)
    rate = rater(slide, seen, indices, value_at, step)
    learn, begin = updater(indices, step), starter(spawn, copy)
    play_game = gamer(rate, learn, begin, spawn, copy, seen, total)
    return trainer(play_game, f"{kind}_{stride}")
