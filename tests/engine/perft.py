"""Perft: count reachable boards to check the whole engine.

The counts are those of the Markov decision process of 2048: all boards reachable from start
positions of two tiles (2 or 4) by any moves and spawns of 2 or 4. Symmetric boards count once, and
boards that contain the target or cannot move are left out. Published counts: J. D. L. Miller, "The
Mathematics of 2048: Counting States by Exhaustive Enumeration", 2017 (``jdlm.info``).

A slide keeps the sum of the board and a spawn adds 2 or 4, so the search proceeds in layers of
equal sum and keeps only three layers in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from py2048.core import board as oracle
from py2048.core.board import Rows
from py2048.core.rules import get_rules
from py2048.engine import _board_kernels as kernels
from py2048.engine._bits_kernels import ONE
from py2048.engine.jit import kernel
from py2048.engine.rules import CompiledRules

Words = NDArray[np.uint64]

GOLDEN = {
    (2, 8): 15,
    (2, 16): 35,
    (2, 32): 57,
    (2, 64): 74,
    (3, 8): 1_186,
    (3, 16): 16_834,
    (3, 32): 124_372,
    (3, 1024): 25_179_012,
}
"""Published counts by ``(side, target)``."""


def perft(rows: int, columns: int, target: int) -> int:
    """Return the number of reachable boards, computed in plain Python."""
    empty = tuple((0,) * columns for _ in range(rows))
    layers: dict[int, set[Rows]] = defaultdict(set)
    for one, board in _spawns(empty):
        for two, start in _spawns(board):
            layers[one + two].add(oracle.canonical(start))
    total = 0
    while layers:
        boards = layers.pop(least := min(layers))
        for board in boards:
            legal = oracle.legal_directions(board)
            if max(map(max, board)) >= target or not legal:
                continue
            total += 1
            for direction in legal:
                for tile, spawned in _spawns(oracle.slide(board, direction)[0]):
                    layers[least + tile].add(oracle.canonical(spawned))
    return total


def _spawns(board: Rows) -> Iterator[tuple[int, Rows]]:
    for r, row in enumerate(board):
        for c, tile in enumerate(row):
            if not tile:
                for new in (2, 4):
                    line = (*row[:c], new, *row[c + 1 :])
                    yield new, (*board[:r], line, *board[r + 1 :])


def compiled_perft(rows: int, columns: int, target: int) -> int:
    """Return the number of reachable boards, computed by kernels on packed boards."""
    rules = CompiledRules.of(get_rules("classic", rows=rows, columns=columns))
    shape, cells = (np.uint64(rows), np.uint64(columns)), range(rows * columns)
    tables = rules.mask, rules.across, rules.down
    layers: dict[int, list[Words]] = defaultdict(list)
    for first in cells:
        for second in set(cells) - {first}:
            for one in (1, 2):
                for two in (1, 2):
                    start = np.uint64(one << 4 * first | two << 4 * second)
                    layers[2 * (one + two)].append(np.array([kernels.canonical(start, *shape)]))
    total = 0
    while layers:
        boards = np.unique(np.concatenate(layers.pop(least := min(layers))).astype(np.uint64))
        out = np.zeros((2, 4 * len(boards) * len(cells)), np.uint64)
        playable, count = expand(boards, *shape, *tables, np.uint64(target.bit_length() - 1), out)
        total += playable
        if count:
            layers[least + 2].append(np.unique(out[0, :count]))
            layers[least + 4].append(np.unique(out[1, :count]))
    return total


@kernel
def expand(
    boards: Words,
    rows: np.uint64,
    columns: np.uint64,
    cells: np.uint64,
    across: Words,
    down: Words,
    target: np.uint64,
    out: NDArray[np.uint64],
) -> tuple[int, int]:
    """Write the successors of the playable boards by a 2 and by a 4 to the rows of `out`.

    Returns:
        The number of playable boards, and of successors.
    """
    playable, count = 0, 0
    for board in boards:
        if kernels.ranks_packed(board, kernels.ZERO, np.int64(rows * columns)) >= ONE << target:
            continue
        can_move = False
        for direction in range(4):
            after, _ = kernels.slide_small(board, direction, rows, columns, across, down)
            if after == board:
                continue
            can_move = True
            free = kernels.empty_cells(after, cells)
            while free != kernels.ZERO:
                one = free & (kernels.ZERO - free)
                free ^= one
                out[0, count] = kernels.canonical(after | one, rows, columns)
                out[1, count] = kernels.canonical(after | one + one, rows, columns)
                count += 1
        playable += can_move
    return playable, count
