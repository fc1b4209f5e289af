"""Whole random games from given boards, as many at a time as a block has lanes.

Each *job* is one game. A lane whose game ends takes the next job, so the block stays full until
the jobs run out. The result of a job depends on its number alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import GOLDEN, derive_seed, key_of
from py2048.compiled._lane_kernels import (
    B1,
    DIRECTION,
    EMPTY,
    FOUND,
    LANES,
    LEGAL,
    OVER,
    SCORE,
    STATE,
    WIDTH,
    Bytes,
    Int,
    choose,
    find_over,
)
from py2048.compiled._turn_kernels import (
    enter,
    turn_any,
    turn_classic,
)
from py2048.compiled.batch_state import Workspace
from py2048.compiled.jit import kernel, select
from py2048.compiled.rule_arrays import RuleArrays
from py2048.rules import Rules

Longs = NDArray[np.int64]

FORCED = OVER
"""The row of flags that holds one more than the direction that a game must begin with, or 0."""

INVERSE = np.uint64(pow(int(GOLDEN), -1, 2**64))
IDLE = np.int64(-1)
ENDLESS = np.int64(2**62)
"""More turns than any game has."""


@kernel(inline=True, borrows=True)
def take_job(
    lane: np.uint64,
    job: Int,
    end: Int,
    count: Int,
    seed: np.uint64,
    boards: Bytes,
    firsts: Bytes,
    space: Workspace,
    rules: RuleArrays,
) -> Int:
    """Begin the next job in one lane, passing over boards without a legal move.

    Returns the number of the job that began, or `end` if none was left.
    """
    while job < end:
        number = np.uint64(job // count)
        for cell in range(np.uint64(boards.shape[1])):
            space.board[cell * WIDTH + lane] = boards[number, cell]
        enter(space, lane, key_of(derive_seed(seed, np.uint64(job))), rules)
        space.flags[FORCED + lane] = firsts[number]
        if space.flags[LEGAL + lane] != EMPTY:
            return job
        job += 1
    return job


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
def note_result(
    lane: np.uint64, job: Int, seed: np.uint64, scores: Longs, plies: Longs, space: Workspace
) -> None:
    """Write the points and the number of turns of a game that ended."""
    key = key_of(derive_seed(seed, np.uint64(job)))
    scores[job] = np.int64(space.words[SCORE + lane])
    plies[job] = np.int64((space.words[STATE + lane] - key) * INVERSE) - 1


def rollout_arguments() -> tuple[Any, ...]:
    """Return arguments of `rollout`, to compile it for."""
    rules = Rules("classic")
    boards, numbers = np.zeros((1, rules.cells), np.uint8), np.zeros(LANES, np.int64)
    given = (np.uint64(0), boards, boards[0], numbers, numbers, numbers, numbers)
    arrays = np.zeros(LANES, np.int32), Workspace.of(rules), RuleArrays.of(rules)
    return 0, 1, 1, ENDLESS, *given, *arrays


def make_rollout(turn: Callable[..., None]) -> Any:
    """Return the kernel that plays random games made of these turns."""

    @kernel(example=rollout_arguments, borrows=True)
    def rollout(
        first: Int,
        end: Int,
        count: Int,
        moves: Int,
        seed: np.uint64,
        boards: Bytes,
        firsts: Bytes,
        scores: Longs,
        plies: Longs,
        jobs: Longs,
        ends: Longs,
        rewards: NDArray[np.int32],
        space: Workspace,
        rules: RuleArrays,
    ) -> None:
        """Play the jobs from `first` to before `end`.

        Args:
            first: the first job.
            end: the job after the last.
            count: how many games to play from each board; job ``j`` plays from ``j // count``.
            moves: how many turns a game has at most, or `ENDLESS`.
            seed: the seed of the series; job ``j`` has the seed ``derive_seed(seed, j)``.
            boards: uint8 `[m, cells]`.
            firsts: one more than the first direction from each board, 0 for a random one.
            scores: int64 `[m * count]`, receives the points gained.
            plies: int64 `[m * count]`, receives the number of turns.
            jobs: int64 `[LANES]`, room for the job of each lane.
            ends: int64 `[LANES]`, room for the turn of this call after which each game stops.
            rewards: int32 `[LANES]`, room for the points of a turn.
            space: a workspace.
            rules: the rules.
        """
        following, playing = np.int64(first), np.int64(0)
        space.flags[:] = EMPTY
        clock, due = np.int64(0), np.int64(moves)
        for number in range(WIDTH):
            lane = np.uint64(number)
            job = take_job(lane, following, end, count, seed, boards, firsts, space, rules)
            jobs[lane], ends[lane] = job if job < end else IDLE, moves
            playing += np.int64(job < end)
            following = np.int64(min(job + 1, end))
        while playing:
            choose(space.flags, space.halves)
            force_first(space.flags)
            turn(space, rewards, rules)
            clock += 1
            if clock >= due:
                due = stop_due(space.flags, ends, clock, moves)
            over = find_over(space.legal, space.halves)
            for index in range(np.uint64(over)):
                lane = np.uint64(space.halves[FOUND + index])
                if jobs[lane] == IDLE:
                    continue
                note_result(lane, jobs[lane], seed, scores, plies, space)
                job = take_job(lane, following, end, count, seed, boards, firsts, space, rules)
                jobs[lane], ends[lane] = job if job < end else IDLE, clock + moves
                playing -= np.int64(job >= end)
                following = np.int64(min(job + 1, end))

    return rollout


rollout_classic = make_rollout(turn_classic)
rollout_any = make_rollout(turn_any)
