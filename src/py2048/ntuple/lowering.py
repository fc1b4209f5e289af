"""Tile-downgrading: how a board looks to those who know tiles up to some size only.

The tiles of a board are renamed until the largest is known. What was equal stays equal, what was
larger stays larger, and no cell becomes empty, so a position looks like one of half the size, which
is played alike [1].

[1] Guei, Chen & Wu, "Optimistic temporal difference learning for 2048", IEEE Transactions on Games,
    2021.
"""

from __future__ import annotations

from collections.abc import Sequence


def lowered(ranks: Sequence[int], known: int) -> list[int]:
    """Return the ranks of a board as those who know none above `known` see it.

    The largest rank below the top that no tile has is taken out of the count: what is larger
    becomes one rank smaller. That is done until the largest is known; where no rank is missing,
    the largest count as `known`.
    """
    ranks = list(ranks)
    while max(ranks) > known:
        missing = [rank for rank in range(1, max(ranks)) if rank not in ranks]
        if not missing:
            return [min(rank, known) for rank in ranks]
        ranks = [rank - (rank > missing[-1]) for rank in ranks]
    return ranks
