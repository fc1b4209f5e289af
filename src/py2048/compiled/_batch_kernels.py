"""Whole turns for all games of a batch, block by block; whole random games.

The state of a batch is a `BatchState`. A block is copied to a workspace that fits the first-level
cache, stepped there, and copied back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import (
    GOLDEN,
    HALF,
    SERIES,
    derive_seed,
    draw,
    key_of,
    mix64,
)
from py2048.compiled._board_kernels import slide_cells
from py2048.compiled._simd_kernels import (
    B1,
    CHANCE,
    DIRECTION,
    DONE,
    EMPTY,
    FOUND,
    LANES,
    LEGAL,
    OVER,
    SCORE,
    STATE,
    STORED_FLAGS,
    WIDTH,
    WORD_ROWS,
    Bytes,
    Int,
    Longs,
    Turn,
    Words,
    Workspace,
    begin,
    choose,
    enter,
    find_over,
    turn_any,
    turn_classic,
)
from py2048.compiled.jit import kernel, select
from py2048.compiled.rules import CompiledRules, RuleArrays
from py2048.errors import BoardError
from py2048.rules import Rules

SAME_STEP, NEXT_STEP, DISABLED = range(3)
ONE = np.uint64(1)

EPISODE, SLOT_KEY = WORD_ROWS, WORD_ROWS + 1
"""Rows of `BatchState.words` after those of a block: the number of the game in each slot, and the
key of the seed that the slot's games take theirs from."""


class Tally(NamedTuple):
    """What happened in a number of steps.

    Attributes:
        steps: steps played, all games together.
        games: games that ended.
        score: the sum of their scores.
    """

    steps: int
    games: int
    score: int


class BatchState(NamedTuple):
    """Everything that decides how a batch of `n` games continues.

    Attributes:
        cells: the ranks, uint8 `[cells, padded]`, with `n` padded to whole blocks.
        flags: uint8 `[STORED_FLAGS, padded]`, the rows named in ``_simd_kernels.py``.
        words: uint64 `[WORD_ROWS + 2, padded]`, the rows named there and above.
        rewards: the points of the last step, int32 `[padded]`.
        last_cells: the final boards of the games that ended last, uint8 `[padded, cells]`.
        last_scores: their scores, int64 `[padded]`.
    """

    cells: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    words: NDArray[np.uint64]
    rewards: NDArray[np.int32]
    last_cells: NDArray[np.uint8]
    last_scores: NDArray[np.int64]

    @classmethod
    def empty(cls, blocks: int, cells: int) -> BatchState:
        """Return the state of `blocks` blocks of boards of `cells` cells, all zero."""
        padded = blocks * LANES
        return cls(
            np.zeros((cells, padded), np.uint8),
            np.zeros((STORED_FLAGS, padded), np.uint8),
            np.zeros((WORD_ROWS + 2, padded), np.uint64),
            np.zeros(padded, np.int32),
            np.zeros((padded, cells), np.uint8),
            np.zeros(padded, np.int64),
        )

    def copy(self) -> BatchState:
        """Return a state of its own."""
        return BatchState._make(array.copy() for array in self)

    def assign(self, other: BatchState) -> None:
        """Take over the content of another state.

        Raises:
            BoardError: if it belongs to another number of games or other boards.
        """
        pairs: list[tuple[np.ndarray, np.ndarray]] = list(zip(self, other, strict=True))
        for own, saved in pairs:
            if own.shape != saved.shape:
                raise BoardError(f"a state of {saved.shape} does not fit a batch of {own.shape}")
        for own, saved in pairs:
            own[...] = saved


@kernel(inline=True, borrows=True)
def episode_key(words: Words, game: np.uint64) -> np.uint64:
    """Return the key of the game that a slot has come to."""
    return key_of(draw(words[SLOT_KEY, game], SERIES + words[EPISODE, game]))


# --- a block in and out --------------------------------------------------------------------------


@kernel(borrows=True)
def load(base: np.uint64, state: BatchState, space: Workspace) -> None:
    """Copy the block at `base` into the workspace and recall the high halves of its last draws."""
    copy_in(space.board, state.cells, base)
    copy_in(space.flags, state.flags, base)
    copy_in(space.words, state.words[:WORD_ROWS], base)
    words, halves = space.words, space.halves
    for lane in range(WIDTH):
        halves[CHANCE + lane] = np.uint32(mix64(words[STATE + lane] - GOLDEN) >> HALF)


@kernel(borrows=True)
def store(base: np.uint64, state: BatchState, space: Workspace) -> None:
    """Copy the workspace back to the block at `base`."""
    copy_out(space.board, state.cells, base)
    copy_out(space.flags, state.flags, base)
    copy_out(space.words, state.words[:WORD_ROWS], base)


@kernel(borrows=True)
def copy_in(block: Bytes | Words, rows: Bytes | Words, base: np.uint64) -> None:
    """Copy the lanes from `base` on of all rows into a block."""
    for row in range(rows.shape[0]):
        start = np.uint64(row) * WIDTH
        for lane in range(WIDTH):
            block[start + lane] = rows[row, base + lane]


@kernel(borrows=True)
def copy_out(block: Bytes | Words, rows: Bytes | Words, base: np.uint64) -> None:
    """Copy a block to the lanes from `base` on of all rows."""
    for row in range(rows.shape[0]):
        start = np.uint64(row) * WIDTH
        for lane in range(WIDTH):
            rows[row, base + lane] = block[start + lane]


@kernel("(int64[::1], uint8[::1])", "(uint8[::1], uint8[::1])", borrows=True)
def enter_directions(numbers: Bytes | Longs, out: Bytes) -> np.bool_:
    """Copy directions to bytes; return whether all of them are numbers from 0 to 3."""
    seen = np.uint64(0)
    for game in range(np.uint64(len(out))):
        number = np.uint64(numbers[game])
        seen |= number
        out[game] = np.uint8(number)
    return seen <= np.uint64(3)


# --- steps ---------------------------------------------------------------------------------------


@kernel(borrows=True)
def note_over(flags: Bytes, reset: Int) -> None:
    """Clear ``DONE``, and keep it in ``OVER`` where the game does not begin anew at once."""
    kept = np.uint8(reset != SAME_STEP)
    for lane in range(WIDTH):
        flags[OVER + lane] = flags[DONE + lane] & kept
        flags[DONE + lane] = EMPTY


@kernel(inline=True, borrows=True)
def finish(
    base: np.uint64,
    count: Int,
    reset: Int,
    state: BatchState,
    space: Workspace,
    rules: RuleArrays,
) -> tuple[np.int64, np.int64]:
    """Note the `count` games found to be over, and begin new ones as `reset` says.

    Returns the number of games that ended and the sum of their scores.
    """
    ended, total, flags = np.int64(0), np.int64(0), space.flags
    for index in range(np.uint64(count)):
        lane = np.uint64(space.halves[FOUND + index])
        was_over = flags[OVER + lane] != EMPTY
        if not was_over:
            score = np.int64(space.words[SCORE + lane])
            ended += np.int64(1)
            total += score
            keep_last(base, lane, score, state, space)
        elif reset == DISABLED:
            restore_last(base, lane, state, space)
        flags[DONE + lane] = np.uint8(not was_over or reset == DISABLED)
        if reset == SAME_STEP or (reset == NEXT_STEP and was_over):
            state.words[EPISODE, base + lane] += ONE
            begin(space, lane, episode_key(state.words, base + lane), rules)
    return ended, total


@kernel(inline=True, borrows=True)
def keep_last(
    base: np.uint64, lane: np.uint64, score: np.int64, state: BatchState, space: Workspace
) -> None:
    """Keep the final board and score of a game."""
    state.last_scores[base + lane] = score
    for cell in range(np.uint64(state.last_cells.shape[1])):
        state.last_cells[base + lane, cell] = space.board[cell * WIDTH + lane]


@kernel(inline=True, borrows=True)
def restore_last(base: np.uint64, lane: np.uint64, state: BatchState, space: Workspace) -> None:
    """Put back the final board of a game: a board that was won could slide again, and did."""
    for cell in range(np.uint64(state.last_cells.shape[1])):
        space.board[cell * WIDTH + lane] = state.last_cells[base + lane, cell]


def advance_arguments() -> tuple[object, ...]:
    """Return arguments of `advance`, to compile it for."""
    rules = Rules("classic")
    arrays = BatchState.empty(1, rules.cells), CompiledRules.of(rules).arrays, Workspace.of(rules)
    return 0, 1, 1, True, SAME_STEP, *arrays


def enter_arguments() -> tuple[object, ...]:
    """Return arguments of `enter_boards`, to compile it for."""
    return np.zeros(1, np.int64), np.zeros((0, 16), np.uint8), *advance_arguments()[5:]


Advance = Callable[
    [Int, Int, Int, bool, Int, BatchState, RuleArrays, Workspace], tuple[np.int64, np.int64]
]


def make_advance(turn: Turn) -> Advance:
    """Return the kernel that plays steps made of these turns."""

    @kernel(example=advance_arguments, borrows=True)
    def advance(
        first: Int,
        end: Int,
        steps: Int,
        is_random: bool,
        reset: Int,
        state: BatchState,
        rules: RuleArrays,
        space: Workspace,
    ) -> tuple[np.int64, np.int64]:
        """Play `steps` steps of the blocks from `first` to before `end`.

        The directions are those in the flags or, if `is_random`, random legal ones. Returns the
        number of games that ended and the sum of their scores.
        """
        ended, total = np.int64(0), np.int64(0)
        for block in range(first, end):
            base = np.uint64(block) * WIDTH
            rewards = state.rewards[block * LANES : (block + 1) * LANES]
            load(base, state, space)
            for _ in range(steps):
                note_over(space.flags, reset)
                if is_random:
                    choose(space.flags, space.halves)
                turn(space, rewards, rules)
                count = find_over(space.legal, space.halves)
                more, scores = finish(base, count, reset, state, space, rules)
                ended, total = ended + more, total + scores
            store(base, state, space)
        return ended, total

    return advance


advance_classic = make_advance(turn_classic)
advance_any = make_advance(turn_any)


# --- positions -----------------------------------------------------------------------------------


@kernel("(uint8[:,::1], uint8[::1], int64, int64, boolean, int64[::1])", borrows=True)
def slide_boards(
    boards: Bytes, directions: Bytes, rows: Int, columns: Int, cascade: bool, points: Longs
) -> None:
    """Slide boards, uint8 `[n, cells]`, in place; set their points, -1 where nothing moved."""
    for game in range(len(boards)):
        way = np.int64(directions[game])
        points[game] = slide_cells(boards[game], way, rows, columns, cascade)


@kernel(example=enter_arguments, borrows=True)
def enter_boards(
    games: Longs, boards: Bytes, state: BatchState, rules: RuleArrays, space: Workspace
) -> None:
    """Begin the next episode of each of `games`: from its row of `boards`, or afresh if none.

    Args:
        games: int64 `[k]`, numbers of games.
        boards: uint8 `[k, cells]`, or `[0, cells]` to draw the starts.
        state: the batch.
        rules: the rules.
        space: a workspace.
    """
    lane = np.uint64(0)
    for index in range(len(games)):
        game = np.uint64(games[index])
        state.words[EPISODE, game] += ONE
        key = episode_key(state.words, game)
        if len(boards):
            for cell in range(boards.shape[1]):
                space.board[cell * LANES] = boards[index, cell]
            enter(space, lane, key, rules)
        else:
            begin(space, lane, key, rules)
        space.flags[DONE] = np.uint8(space.flags[LEGAL] == EMPTY)
        store_first(game, state, space)


@kernel(borrows=True)
def store_first(game: np.uint64, state: BatchState, space: Workspace) -> None:
    """Copy the first lane of the workspace to a fresh game of the batch."""
    for cell in range(state.cells.shape[0]):
        state.cells[cell, game] = space.board[cell * LANES]
        state.last_cells[game, cell] = space.board[cell * LANES]
    for row in range(STORED_FLAGS):
        is_kept = row * LANES == LEGAL or row * LANES == DONE
        state.flags[row, game] = space.flags[row * LANES] if is_kept else EMPTY
    for row in range(WORD_ROWS):
        state.words[row, game] = space.words[row * LANES]


# --- whole games from given positions -------------------------------------------------------------

# Each *job* is one game. A lane whose game ends takes the next job, so the block stays full until
# the jobs run out. The result of a job depends on its number alone.


FORCED = OVER
"""The row of flags that holds one more than the direction that a game must begin with, or 0."""

INVERSE = np.uint64(pow(int(GOLDEN), -1, 2**64))
IDLE = np.int64(-1)
ENDLESS = np.int64(2**62)
"""More turns than any game has."""


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
