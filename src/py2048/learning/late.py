"""Late positions: boards to begin a game with that are seldom reached in play.

A network values what it has never met at nothing, so a player that could make a larger tile than
ever before avoids it: its score stops at a full chain, each tile half of the one before, which it
does not merge. Games that begin where such a chain has begun to collapse teach what comes after.
Games from late positions are known as carousel shaping [1]; there they have been reached before.

[1] Jaśkowski, "Mastering 2048 with delayed temporal coherence learning", 2016.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LATE_BOARDS = 1 << 14
"""How many different ones a training begins games with."""
SMALL_TILES = 3
"""How many small tiles there are at most beside the chain."""


def late_boards(rows: int, columns: int, largest: int, count: int, seed: int) -> NDArray[np.uint8]:
    """Return late positions as ranks, uint8 `[count, rows * columns]`.

    Each has a chain of falling ranks that winds through the rows from the first corner, with two
    equal ranks at its end, or one left out, or neither; and up to `SMALL_TILES` small tiles.

    Args:
        rows: the number of rows.
        columns: the number of columns.
        largest: the largest rank; half of the chains or so begin with the one below.
        count: how many positions.
        seed: which ones.
    """
    chance = np.random.default_rng(seed)
    path = np.arange(rows * columns).reshape(rows, columns)
    path[1::2] = path[1::2, ::-1]
    winding = path.reshape(-1)
    boards = np.zeros((count, rows * columns), np.uint8)
    for board in boards:
        ranks = _chain(chance, largest, max(len(winding) - SMALL_TILES - 1, 1))
        board[winding[: len(ranks)]] = ranks
        free = winding[len(ranks) : len(ranks) + int(chance.integers(1, SMALL_TILES + 1))]
        board[free] = chance.integers(1, min(max(ranks[-1] - 1, 1), 4) + 1, len(free))
    return boards


def _chain(chance: np.random.Generator, largest: int, longest: int) -> list[int]:
    """Return the ranks of a chain, at most `longest` of them and one more."""
    top = max(largest - int(chance.random() < 0.7), 1)
    length = int(chance.integers(1, min(longest, top) + 1))
    ranks = [top - place for place in range(length)]
    kind = chance.random()
    if kind < 0.7:
        ranks.append(ranks[-1])
    elif kind < 0.85 and length > 1:
        ranks.pop(int(chance.integers(1, length)))
    return ranks
