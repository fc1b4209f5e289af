"""Whole random games from given positions, for players that learn a position's worth by playing.

>>> from py2048.rules import get_rules
>>> start = [[[0, 0, 0, 1], [0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]]]
>>> played = rollouts(get_rules("classic"), start, count=100, seed=7)
>>> round(float(played.scores.mean()))  # points still to come in random play
1142
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from py2048 import rng
from py2048.compiled._bits_kernels import GOLDEN, derive_seed, key_of
from py2048.compiled._simd_kernels import (
    B1,
    DIRECTION,
    EMPTY,
    FOUND,
    LANES,
    LEGAL,
    MAX_CELLS,
    OVER,
    SCORE,
    STATE,
    WIDTH,
    Bytes,
    Int,
    Longs,
    Turn,
    Workspace,
    choose,
    enter,
    find_over,
    turn_any,
    turn_classic,
)
from py2048.compiled.boards import checked_boards, checked_directions
from py2048.compiled.jit import kernel, select
from py2048.compiled.rules import SHORT_RANK, CompiledRules, RuleArrays
from py2048.compiled.threads import available_threads, shares, together
from py2048.errors import BoardError
from py2048.rules import Merging, Rules

JOBS_PER_THREAD = 2 * LANES
"""Another thread pays from about this many games on."""

FORCED = OVER
"""The row of flags that holds one more than the direction that a game must begin with, or 0."""

INVERSE = np.uint64(pow(int(GOLDEN), -1, 2**64))
IDLE = np.int64(-1)
ENDLESS = np.int64(2**62)
"""More turns than any game has."""


class Rollouts(NamedTuple):
    """The results of random games.

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
        RulesError: if a tile that appears is too large.
        DirectionError: if `directions` are not directions.
        ValueError: if `count` is negative, or `moves` less than 1.
    """
    exponents = checked_boards(boards, rules)
    if exponents.ndim != 3:
        raise BoardError(f"give boards [m, rows, columns], not of {exponents.ndim} dimensions")
    if rules.cells > MAX_CELLS:
        shape = f"{rules.rows}x{rules.columns}"
        raise BoardError(f"random games are played on at most {MAX_CELLS} cells, not on {shape}")
    if count < 0:
        raise ValueError(f"count must be 0 or more, not {count}")
    if moves is not None and moves < 1:
        raise ValueError(f"moves must be 1 or more, not {moves}")
    CompiledRules.of(rules).check_growth(SHORT_RANK)
    flat = np.ascontiguousarray(exponents.reshape(-1, rules.cells))
    firsts = np.zeros(len(flat), np.uint8)
    if directions is not None:
        firsts[:] = checked_directions(directions, len(flat)) + 1
    jobs = len(flat) * count
    most = ENDLESS if moves is None else np.int64(min(moves, int(ENDLESS)))
    results = np.zeros(jobs, np.int64), np.zeros(jobs, np.int64)
    series = Series(count, most, np.uint64(rng.checked_seed(seed)), flat, firsts, *results)
    _play(rules, series, jobs, threads or available_threads())
    return Rollouts(*(result.reshape(len(flat), count) for result in results))


def _play(rules: Rules, series: Series, jobs: int, threads: int) -> None:
    """Play all jobs of a series, each thread its share."""
    is_classic = rules.shape == (4, 4) and rules.merging is Merging.ONCE
    kernel = rollout_classic if is_classic else rollout_any
    workers = min(threads, max(1, jobs // JOBS_PER_THREAD))
    arrays = CompiledRules.of(rules).arrays
    given = [
        (*part, series, Lanes.empty(), Workspace.of(rules), arrays)
        for part in shares(jobs, workers)
    ]
    together(kernel, given)


# --- kernels --------------------------------------------------------------------------------------
#
# Each *job* is one game. A lane whose game ends takes the next job, so the block stays full until
# the jobs run out. The result of a job depends on its number alone.


class Series(NamedTuple):
    """Games to play, and their results."""

    games: Int
    """How many games to play from each board; job ``j`` plays from board ``j // games``."""
    moves: Int
    """How many turns a game has at most, or `ENDLESS`."""
    seed: np.uint64
    """The seed of the series; job ``j`` has the seed ``derive_seed(seed, j)``."""
    boards: Bytes
    """uint8 `[m, cells]`."""
    firsts: Bytes
    """One more than the first direction from each board, 0 for a random one."""
    scores: Longs
    """int64 `[m * count]`, receives the points gained."""
    plies: Longs
    """int64 `[m * count]`, receives the number of turns."""


class Lanes(NamedTuple):
    """What is played in each lane of a block."""

    jobs: Longs
    """The job, or `IDLE`."""
    ends: Longs
    """The turn of the block after which the game stops."""
    rewards: NDArray[np.int32]
    """The points of a turn."""

    @classmethod
    def empty(cls) -> Lanes:
        """Return room for a block."""
        longs = np.zeros((2, LANES), np.int64)
        return cls(longs[0], longs[1], np.zeros(LANES, np.int32))


@kernel(inline=True, borrows=True)
def take_job(
    lane: np.uint64,
    job: Int,
    end: Int,
    clock: Int,
    series: Series,
    lanes: Lanes,
    space: Workspace,
    rules: RuleArrays,
) -> np.int64:
    """Begin the next job in one lane, passing over boards without a legal move.

    Returns the number of the job that began, or `end` if none was left.
    """
    lanes.jobs[lane], lanes.ends[lane] = IDLE, clock + series.moves
    while job < end:
        number = np.uint64(job // series.games)
        for cell in range(np.uint64(series.boards.shape[1])):
            space.board[cell * WIDTH + lane] = series.boards[number, cell]
        enter(space, lane, key_of(derive_seed(series.seed, np.uint64(job))), rules)
        space.flags[FORCED + lane] = series.firsts[number]
        if space.flags[LEGAL + lane] != EMPTY:
            lanes.jobs[lane] = job
            break
        job += 1
    return np.int64(job)


@kernel(borrows=True)
def force_first(flags: Bytes) -> None:
    """Replace the random direction of games that must begin with another."""
    for lane in range(WIDTH):
        forced = flags[FORCED + lane]
        direction = np.uint8(forced - B1)
        flags[DIRECTION + lane] = select(forced != EMPTY, direction, flags[DIRECTION + lane])
        flags[FORCED + lane] = EMPTY


@kernel(borrows=True)
def stop_due(flags: Bytes, ends: Longs, clock: Int, moves: Int) -> np.int64:
    """End the games that have had all their turns; return after which turn the next ones end."""
    due = np.int64(clock + moves)
    for number in range(WIDTH):
        lane = np.uint64(number)
        if ends[lane] <= clock:
            flags[LEGAL + lane] = EMPTY
        else:
            due = min(due, ends[lane])
    return np.int64(due)


@kernel(inline=True, borrows=True)
def note_result(lane: np.uint64, job: Int, series: Series, space: Workspace) -> None:
    """Write the points and the number of turns of a game that ended."""
    key = key_of(derive_seed(series.seed, np.uint64(job)))
    series.scores[job] = np.int64(space.words[SCORE + lane])
    series.plies[job] = np.int64((space.words[STATE + lane] - key) * INVERSE) - 1


def rollout_arguments() -> tuple[object, ...]:
    """Return arguments of `rollout`, to compile it for."""
    rules = Rules("classic")
    boards, lanes = np.zeros((1, rules.cells), np.uint8), Lanes.empty()
    series = Series(1, ENDLESS, np.uint64(0), boards, boards[0], lanes.jobs, lanes.jobs)
    return 0, 1, series, lanes, Workspace.of(rules), CompiledRules.of(rules).arrays


Rollout = Callable[[Int, Int, Series, Lanes, Workspace, RuleArrays], None]


def make_rollout(turn: Turn) -> Rollout:
    """Return the kernel that plays random games made of these turns."""

    @kernel(example=rollout_arguments, borrows=True)
    def rollout(
        first: Int, end: Int, series: Series, lanes: Lanes, space: Workspace, rules: RuleArrays
    ) -> None:
        """Play the jobs from `first` to before `end`."""
        following, playing = np.int64(first), np.int64(0)
        space.flags[:] = EMPTY
        clock, due = np.int64(0), np.int64(series.moves)
        for number in range(WIDTH):
            lane = np.uint64(number)
            job = take_job(lane, following, end, clock, series, lanes, space, rules)
            playing += np.int64(job < end)
            following = np.int64(min(job + 1, end))
        while playing:
            choose(space.flags, space.halves)
            force_first(space.flags)
            turn(space, lanes.rewards, rules)
            clock += 1
            if clock >= due:
                due = stop_due(space.flags, lanes.ends, clock, series.moves)
            over = find_over(space.legal, space.halves)
            for index in range(np.uint64(over)):
                lane = np.uint64(space.halves[FOUND + index])
                if lanes.jobs[lane] == IDLE:
                    continue
                note_result(lane, lanes.jobs[lane], series, space)
                job = take_job(lane, following, end, clock, series, lanes, space, rules)
                playing -= np.int64(job >= end)
                following = np.int64(min(job + 1, end))

    return rollout


rollout_classic = make_rollout(turn_classic)
rollout_any = make_rollout(turn_any)
