"""Perft: count reachable boards to check the whole engine.

The counts are those of the Markov decision process of 2048: all boards reachable from start
positions of two tiles (2 or 4) by any moves and spawns of 2 or 4. Symmetric boards count once, and
boards that contain the target or cannot move are left out. Published counts: J. D. L. Miller, "The
Mathematics of 2048: Counting States by Exhaustive Enumeration", 2017 (``jdlm.info``).

A slide keeps the sum of the board and a spawn adds 2 or 4, so the search proceeds in layers of
equal sum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from py2048.core import board as oracle
from py2048.core.board import Rows

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
