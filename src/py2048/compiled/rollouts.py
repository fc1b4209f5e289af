"""Whole random games from given positions, for players that learn a position's worth by playing.

>>> from py2048.rules import get_rules
>>> start = [[[0, 0, 0, 1], [0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]]]
>>> played = rollouts(get_rules("classic"), start, count=100, seed=7)
>>> round(float(played.scores.mean()))  # points still to come in random play
1142
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from py2048 import rng
from py2048.compiled import _rollout_kernels as kernels
from py2048.compiled._lane_kernels import LANES, MAX_CELLS
from py2048.compiled.arrays import checked_boards, checked_directions
from py2048.compiled.batch import BatchGames
from py2048.compiled.batch_state import Workspace
from py2048.compiled.rule_arrays import RuleArrays
from py2048.compiled.workers import available_threads, shares, together
from py2048.errors import BoardError
from py2048.rules import Merging, Rules

JOBS_PER_THREAD = 2 * LANES
"""Another thread pays from about this many games on."""


GAMES_AT_ONCE = 65_536


class Rollouts(NamedTuple):
    """What came of random games.

    Attributes:
        scores: the points gained in each game, int64 `[m, count]`.
        plies: its number of turns, int64 `[m, count]`.
    """

    scores: NDArray[np.int64]
    plies: NDArray[np.int64]


def rollouts(
    rules: Rules,
    boards: ArrayLike,
    count: int,
    *,
    seed: int = 0,
    directions: ArrayLike | None = None,
    moves: int | None = None,
    threads: int | None = None,
) -> Rollouts:
    """Play `count` random games from each of `m` positions.

    Each turn is a random legal direction, all equally likely. Game ``k`` from board ``i`` draws
    from the seed ``derive_seed(seed, i * count + k)``, and so does not depend on `threads`. The
    points are those of the rules; a game that cannot move gains none.

    Args:
        rules: the rules; the board has at most 254 cells.
        boards: exponents, `[m, rows, columns]`, with the mover to play.
        count: how many games from each.
        seed: a whole number from 0 to 2**64 - 1.
        directions: the first direction from each board, `[m]`, each legal; by default random.
        moves: after how many turns a game stops; by default at its end, which on large boards is
            far away: games on 6x6 have 4,300 turns, and a few on 8x8 took over 18 minutes.
        threads: how many threads may work; by default one for each processor.

    Raises:
        BoardError: if the boards do not fit the rules.
        DirectionError: if `directions` are no directions.
        ValueError: if `count` is negative, or `moves` less than 1.
    """
    exponents = checked_boards(boards, rules)
    if exponents.ndim != 3 or rules.cells > MAX_CELLS:
        raise BoardError(f"give boards [m, rows, columns] of at most {MAX_CELLS} cells each")
    if count < 0:
        raise ValueError(f"count must be 0 or more, not {count}")
    if moves is not None and moves < 1:
        raise ValueError(f"moves must be 1 or more, not {moves}")
    flat = np.ascontiguousarray(exponents.reshape(-1, rules.cells))
    firsts = np.zeros(len(flat), np.uint8)
    if directions is not None:
        firsts[:] = checked_directions(directions, len(flat)) + 1
    jobs = len(flat) * count
    scores, plies = np.zeros(jobs, np.int64), np.zeros(jobs, np.int64)
    kernel: Any = kernels.rollout_any
    if rules.shape == (4, 4) and rules.merging is Merging.ONCE:
        kernel = kernels.rollout_classic
    workers = min(threads or available_threads(), max(1, jobs // JOBS_PER_THREAD))
    arrays = RuleArrays.of(rules)
    most = kernels.ENDLESS if moves is None else np.int64(moves)
    given = (count, most, np.uint64(rng.checked_seed(seed)), flat, firsts, scores, plies)
    together(
        kernel,
        [
            (
                *(*part, *given, np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)),
                np.zeros(LANES, np.int32),
                *(Workspace.of(rules), arrays),
            )
            for part in shares(jobs, workers)
        ],
    )
    return Rollouts(scores.reshape(len(flat), count), plies.reshape(len(flat), count))


def random_games(
    rules: Rules, count: int, *, seed: int = 0, threads: int | None = None
) -> Rollouts:
    """Play `count` whole random games, each from a start of its own.

    Args:
        rules: the rules; the board has at most 254 cells.
        count: how many games, at least 1.
        seed: a whole number from 0 to 2**64 - 1; starts and games follow from it.
        threads: how many threads may work; by default one for each processor.

    Returns:
        The points and the turns of the games, each `[count, 1]`.

    Raises:
        BoardError: if the board is too big.
        ValueError: if `count` is less than 1.
    """
    if count < 1:
        raise ValueError(f"count must be 1 or more, not {count}")
    parts = [
        _games_from_starts(
            rules, min(GAMES_AT_ONCE, count - first), rng.derive_seed(seed, first), threads
        )
        for first in range(0, count, GAMES_AT_ONCE)
    ]
    return Rollouts(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _games_from_starts(rules: Rules, count: int, seed: int, threads: int | None) -> Rollouts:
    starts = BatchGames(rules, count, seed=seed, threads=threads).observe()
    return rollouts(rules, starts, 1, seed=seed, threads=threads)
