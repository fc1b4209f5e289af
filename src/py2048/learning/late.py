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
FIRST_BELOW = 0.2, 0.6, 0.2
"""How likely a chain is to begin with the largest rank, with the next and with the one after."""
PAIRS = 0.3
"""The share of chains that end with two equal ranks."""
SMALL_TILES = 3
"""How many small tiles there are at most beside the chain."""


def late_boards(rows: int, columns: int, largest: int, count: int, seed: int) -> NDArray[np.uint8]:
    """Return late positions as ranks, uint8 `[count, rows * columns]`.

    Each has a chain of falling ranks that winds through the rows from the first corner. Where a
    player keeps all in order the tiles are the binary digits of their sum; so each rank below the
    first is there or not, by the toss of a coin. Some chains end with two equal ranks, whose merge
    may go through all of the chain; and there are up to `SMALL_TILES` small tiles.

    Args:
        rows: the number of rows.
        columns: the number of columns.
        largest: the largest rank; most chains begin with the one below, some with the next.
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
    top = max(largest - int(chance.choice(3, p=FIRST_BELOW)), 1)
    ranks = [top, *(rank for rank in range(top - 1, 1, -1) if chance.random() < 0.5)][:longest]
    if chance.random() < PAIRS:
        ranks.append(ranks[-1])
    return ranks
