"""Whole games of a searcher, compiled: the same games as `Game` with that player, much faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048 import rng
from py2048.game.turn import draw_start
from py2048.rules import MergePoints, MovePoints, Rules
from py2048.search import _play_kernels as kernels
from py2048.search.searcher import Searcher

ROOM = 1 << 15
"""How many moves of a game are played at once."""


class Games(NamedTuple):
    """What came of games.

    Attributes:
        scores: int64 `[games]`, by the rules' scoring.
        plies: int64 `[games]`, how many moves were made.
        tiles: int64 `[games]`, the largest tile of each last board.
        boards: uint8 `[games, rows, columns]`, the last boards as exponents.
        directions: uint8 `[plies]` for each game, if they were asked for.
    """

    scores: NDArray[np.int64]
    plies: NDArray[np.int64]
    tiles: NDArray[np.int64]
    boards: NDArray[np.uint8]
    directions: tuple[NDArray[np.uint8], ...] | None


def play_games(
    searcher: Searcher,
    seeds: Sequence[int],
    *,
    directions: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Games:
    """Play one game with each seed to its end, on this thread, without holding the GIL for long.

    The games are those that `py2048.game.Game` makes of these rules and seeds when the best
    direction of `Searcher.rate` is played.

    Args:
        searcher: the player, used by one call at a time.
        seeds: whole numbers from 0 to 2**64 - 1.
        directions: whether to return the moves, uint8 0 to 3 as in `Direction`.
        progress: called with the number of finished games after each.
    """
    rules, count = searcher.rules, len(seeds)
    scores, plies, tiles = (np.zeros(count, np.int64) for _ in range(3))
    boards = np.zeros((count, rules.cells), np.uint8)
    made = []
    for number, seed in enumerate(seeds):
        moves, points = play_game(searcher, seed, boards[number])
        plies[number] = len(moves)
        tiles[number] = 1 << int(boards[number].max())
        scores[number] = score_of(rules, points, len(moves), boards[number])
        if directions:
            made.append(moves)
        if progress is not None:
            progress(number + 1)
    shaped = boards.reshape(count, *rules.shape)
    return Games(scores, plies, tiles, shaped, tuple(made) if directions else None)


def play_game(
    searcher: Searcher, seed: int, cells: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], int]:
    """Play one game; write its last board to `cells`; return its moves and points of merges."""
    key = rng.key_of(rng.checked_seed(seed))
    cells[:] = searcher.cells_of(draw_start(searcher.rules, key))
    state = np.zeros(kernels.STATE, np.int64)
    pieces = []
    while not state[kernels.OVER]:
        pieces.append(searcher.play_on(cells, state, key, ROOM))
    return np.concatenate(pieces), int(state[kernels.SCORE])


def score_of(rules: Rules, points: int, plies: int, cells: NDArray[np.uint8]) -> int:
    """Return the score of a game by the rules, given its points of merges."""
    match rules.scoring:
        case MergePoints():
            return points
        case MovePoints(legal, _):
            return plies * legal
        case _:
            return sum(1 << int(rank) for rank in cells if rank) if plies else 0
