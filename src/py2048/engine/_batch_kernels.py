"""Kernels that step batches of games block by block, and play random games to their end.

Threads copy each block of a batch to a small workspace, play its turns there, and copy the block
back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import BoardError
from py2048.core.rules import Rules
from py2048.engine._bits_kernels import (
    GOLDEN,
    HALF,
    SERIES,
    derive_seed,
    draw,
    key_of,
    mix64,
    unmix64,
)
from py2048.engine._board_kernels import slide_cells
from py2048.engine._show_kernels import (
    FINAL_LEGAL,
    GAMES,
    IS_TERMINAL,
    IS_TERMINATED,
    IS_TRUNCATED,
    LIMIT,
    OBSERVATIONS,
    ORDERS,
    RANDOM,
    RESET,
    STEPS,
    to_board_order,
    to_cell_order,
    write_observations,
)
from py2048.engine._simd_kernels import (
    B1,
    BONUS,
    CHANCE,
    DIRECTION,
    DONE,
    EMPTY,
    FOUND,
    ILLEGAL,
    LANES,
    LEGAL,
    SCORE,
    STATE,
    STORED_FLAGS,
    WAS_OVER,
    WIDTH,
    WORD_ROWS,
    Bytes,
    Int,
    Legal,
    Longs,
    Turn,
    Words,
    Workspace,
    choose,
    find_legal_any,
    find_legal_classic,
    find_over,
    start_from_position,
    start_game,
    turn_any,
    turn_classic,
)
from py2048.engine.crew import (
    LINE,
    MAX_IDLE_POLLS,
    finish_block,
    is_round_done,
    mark_idle,
    open_round,
    take_block,
)
from py2048.engine.jit import kernel
from py2048.engine.jit.numba_parts import pause, select
from py2048.engine.rules import CompiledRules, RuleArrays

SAME_STEP, NEXT_STEP, DISABLED = range(3)
ONE = np.uint64(1)

EPISODE, SLOT_KEY, LENGTH = range(WORD_ROWS, WORD_ROWS + 3)
"""Additional rows of `BatchState.words`.

`EPISODE` is the number of each slot's current game. `SLOT_KEY` is the generator key from which the
seeds of the slot's games are drawn. `LENGTH` counts the steps of the current episode if episodes
have a step limit.
"""


class Tally(NamedTuple):
    """Totals over a number of steps.

    Attributes:
        steps: Total number of steps played.
        games: Games that ended.
        score: Sum of the final scores of the games that ended.
    """

    steps: int
    games: int
    score: int


class BatchState(NamedTuple):
    """The complete state of a batch of `n` games.

    Attributes:
        cells: The ranks, uint8 `[cells, padded]`; `padded` is `n` rounded up to whole blocks.
        flags: uint8 `[STORED_FLAGS, padded]`, with rows as in ``_simd_kernels.py``.
        words: uint64 `[WORD_ROWS + 3, padded]`, with rows as in ``_simd_kernels.py``, followed by
            `EPISODE`, `SLOT_KEY` and `LENGTH`.
        rewards: Points gained in the last step, int32 `[padded]`.
        last_cells: Final board of each slot's last finished game, uint8 `[padded, cells]`.
        last_scores: Score of each slot's last finished game, int64 `[padded]`.
    """

    cells: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    words: NDArray[np.uint64]
    rewards: NDArray[np.int32]
    last_cells: NDArray[np.uint8]
    last_scores: NDArray[np.int64]

    @classmethod
    def empty(cls, blocks: int, cells: int) -> BatchState:
        """Return a state filled with zeros. `cells` is the number of cells per board."""
        padded = blocks * LANES
        return cls(
            np.zeros((cells, padded), np.uint8),
            np.zeros((STORED_FLAGS, padded), np.uint8),
            np.zeros((WORD_ROWS + 3, padded), np.uint64),
            np.zeros(padded, np.int32),
            np.zeros((padded, cells), np.uint8),
            np.zeros(padded, np.int64),
        )

    def copy(self) -> BatchState:
        """Return an independent copy."""
        return BatchState._make(array.copy() for array in self)

    def assign(self, other: BatchState) -> None:
        """Copy the contents of another state.

        Raises:
            BoardError: If the states have different numbers of games or board sizes.
        """
        pairs: list[tuple[np.ndarray, np.ndarray]] = list(zip(self, other, strict=True))
        for own, saved in pairs:
            if own.shape != saved.shape:
                raise BoardError(f"a state of {saved.shape} does not fit a batch of {own.shape}")
        for own, saved in pairs:
            own[...] = saved


@kernel(inline=True, borrows=True)
def episode_key(words: Words, game: np.uint64) -> np.uint64:
    """Return the generator key of a slot's current game."""
    return key_of(draw(words[SLOT_KEY, game], SERIES + words[EPISODE, game]))


# --- loading and storing blocks ------------------------------------------------------------------


@kernel(borrows=True)
def load(base: np.uint64, state: BatchState, space: Workspace) -> None:
    """Copy a block of games from the batch to the workspace.

    The batch does not store ``CHANCE``, so it is recomputed from the generator state.
    """
    copy_in(space.board, state.cells, base)
    copy_in(space.flags, state.flags, base)
    copy_in(space.words, state.words[:WORD_ROWS], base)
    words, halves = space.words, space.halves
    for lane in range(WIDTH):
        halves[CHANCE + lane] = np.uint32(mix64(words[STATE + lane] - GOLDEN) >> HALF)


@kernel(borrows=True)
def store(base: np.uint64, state: BatchState, space: Workspace) -> None:
    """Copy the workspace back to the batch."""
    copy_out(space.board, state.cells, base)
    copy_out(space.flags, state.flags, base)
    copy_out(space.words, state.words[:WORD_ROWS], base)


@kernel(borrows=True)
def copy_in(block: Bytes | Words, rows: Bytes | Words, base: np.uint64) -> None:
    """Copy the columns of a state array that belong to one block."""
    for row in range(rows.shape[0]):
        start = np.uint64(row) * WIDTH
        for lane in range(WIDTH):
            block[start + lane] = rows[row, base + lane]


@kernel(borrows=True)
def copy_out(block: Bytes | Words, rows: Bytes | Words, base: np.uint64) -> None:
    """Copy a block back to its columns of a state array."""
    for row in range(rows.shape[0]):
        start = np.uint64(row) * WIDTH
        for lane in range(WIDTH):
            rows[row, base + lane] = block[start + lane]


@kernel("(int64[::1], uint8[::1])", "(uint8[::1], uint8[::1])", borrows=True)
def enter_directions(numbers: Bytes | Longs, out: Bytes) -> bool:
    """Copy directions to `out`; return False if any of them is not a number from 0 to 3."""
    seen = np.uint64(0)
    for game in range(np.uint64(len(out))):
        seen |= np.uint64(numbers[game])
    if seen > np.uint64(3):
        return False
    for game in range(np.uint64(len(out))):
        out[game] = np.uint8(numbers[game])
    return True


# --- steps ---------------------------------------------------------------------------------------


@kernel(borrows=True)
def save_was_over(flags: Bytes, reset: Int) -> None:
    """Move ``DONE`` to ``WAS_OVER``; if games restart immediately, clear both."""
    kept = np.uint8(reset != SAME_STEP)
    for lane in range(WIDTH):
        flags[WAS_OVER + lane] = flags[DONE + lane] & kept
        flags[DONE + lane] = EMPTY


@kernel(borrows=True)
def clear_finished(flags: Bytes) -> None:
    """Clear the legal directions of truncated and terminated episodes."""
    for lane in range(WIDTH):
        over = flags[WAS_OVER + lane] != EMPTY
        flags[LEGAL + lane] = select(over, EMPTY, flags[LEGAL + lane])


@kernel(inline=True, borrows=True)
def finish(
    base: np.uint64,
    count: Int,
    orders: Longs,
    state: BatchState,
    space: Workspace,
    rules: RuleArrays,
) -> tuple[np.int64, np.int64]:
    """Store the results of `count` finished games; start new games if the reset mode requires it.

    Returns:
        The number of games that ended and the sum of their scores.
    """
    ended, total, flags = np.int64(0), np.int64(0), space.flags
    reset, games = orders[RESET], np.uint64(orders[GAMES])
    for index in range(np.uint64(count)):
        lane = np.uint64(space.halves[FOUND + index])
        was_over = flags[WAS_OVER + lane] != EMPTY
        if not was_over:
            score = np.int64(space.words[SCORE + lane])
            if base + lane < games:
                ended += np.int64(1)
                total += score
            save_final(base, lane, score, state, space)
        elif reset == DISABLED:
            restore_final(base, lane, state, space)
        flags[DONE + lane] = np.uint8(not was_over or reset == DISABLED)
        if reset == SAME_STEP or (reset == NEXT_STEP and was_over):
            state.words[EPISODE, base + lane] += ONE
            start_game(space, lane, episode_key(state.words, base + lane), rules)
    return ended, total


@kernel(borrows=True)
def mark_episode_ends(base: np.uint64, state: BatchState, flags: Bytes, orders: Longs) -> None:
    """Mark the episodes that this step terminated or truncated, and count their steps."""
    for lane in range(WIDTH):
        flags[IS_TERMINATED + lane] = flags[DONE + lane]
        flags[IS_TRUNCATED + lane] = EMPTY
        flags[FINAL_LEGAL + lane] = EMPTY
    if orders[IS_TERMINAL]:
        for lane in range(WIDTH):
            flags[IS_TERMINATED + lane] |= flags[ILLEGAL + lane]
    limit, kept = np.uint64(orders[LIMIT]), np.uint8(orders[RESET] != SAME_STEP)
    if limit:
        lengths = state.words[LENGTH, base : base + WIDTH]
        for lane in range(WIDTH):
            length = select(flags[WAS_OVER + lane] != EMPTY, np.uint64(0), lengths[lane] + ONE)
            cut = np.uint8(length >= limit)
            goes_on = kept | np.uint8((cut | flags[IS_TERMINATED + lane]) == EMPTY)
            lengths[lane] = select(goes_on != EMPTY, length, np.uint64(0))
            flags[IS_TRUNCATED + lane] = cut


@kernel(inline=True, borrows=True)
def end_unfinished(
    base: np.uint64,
    orders: Longs,
    state: BatchState,
    space: Workspace,
    rules: RuleArrays,
) -> tuple[np.int64, np.int64]:
    """End unfinished games whose episodes were terminated or truncated.

    Returns:
        The number of games that ended and the sum of their scores.
    """
    ended, total, flags, games = np.int64(0), np.int64(0), space.flags, np.uint64(orders[GAMES])
    for number in range(WIDTH):
        lane = np.uint64(number)
        ends = flags[IS_TERMINATED + lane] | flags[IS_TRUNCATED + lane]
        if ends == EMPTY or flags[DONE + lane] != EMPTY:
            continue
        score = np.int64(space.words[SCORE + lane])
        if base + lane < games:
            ended += np.int64(1)
            total += score
        save_final(base, lane, score, state, space)
        flags[DONE + lane], flags[FINAL_LEGAL + lane] = B1, flags[LEGAL + lane]
        if orders[RESET] == SAME_STEP:
            state.words[EPISODE, base + lane] += ONE
            start_game(space, lane, episode_key(state.words, base + lane), rules)
    return ended, total


@kernel(inline=True, borrows=True)
def save_final(
    base: np.uint64, lane: np.uint64, score: np.int64, state: BatchState, space: Workspace
) -> None:
    """Save the final board and score of a game."""
    state.last_scores[base + lane] = score
    for cell in range(np.uint64(state.last_cells.shape[1])):
        state.last_cells[base + lane, cell] = space.board[cell * WIDTH + lane]


@kernel(inline=True, borrows=True)
def restore_final(base: np.uint64, lane: np.uint64, state: BatchState, space: Workspace) -> None:
    """Restore the final board of a game that was over before this step."""
    for cell in range(np.uint64(state.last_cells.shape[1])):
        space.board[cell * WIDTH + lane] = state.last_cells[base + lane, cell]


def play_arguments() -> tuple[object, ...]:
    """Return example arguments for compiling `play`."""
    rules, orders = Rules("classic"), np.zeros(ORDERS, np.int64)
    arrays = BatchState.empty(1, rules.cells), CompiledRules.of(rules).arrays, Workspace.of(rules)
    return 0, True, np.zeros(2 * LINE, np.int64), orders, *arrays


def enter_arguments() -> tuple[object, ...]:
    """Return example arguments for compiling `enter_boards`."""
    return np.zeros(1, np.int64), np.zeros((0, 16), np.uint8), *play_arguments()[4:]


Play = Callable[[Int, bool, Longs, Longs, BatchState, RuleArrays, Workspace], bool]


Step = Callable[[np.int64, Longs, BatchState, RuleArrays, Workspace], tuple[np.int64, np.int64]]


def make_step(turn: Turn) -> Step:
    """Build the kernel that steps the games of a block, using the turn kernel `turn`."""

    @kernel(inline=True, borrows=True)
    def step(
        block: np.int64, orders: Longs, state: BatchState, rules: RuleArrays, space: Workspace
    ) -> tuple[np.int64, np.int64]:
        """Step the games of a block; return how many ended, and the sum of their scores."""
        base, flags = np.uint64(block) * WIDTH, space.flags
        can_end_early = orders[IS_TERMINAL] != 0 or orders[LIMIT] != 0
        save_was_over(flags, orders[RESET])
        if can_end_early:
            clear_finished(flags)
        if orders[RANDOM]:
            choose(flags, space.halves)
        turn(space, state.rewards[block * LANES : (block + 1) * LANES], rules)
        if can_end_early:
            clear_finished(flags)
        count = find_over(space.legal, space.halves)
        ended, total = finish(base, count, orders, state, space, rules)
        if orders[OBSERVATIONS]:
            mark_episode_ends(base, state, flags, orders)
        if can_end_early:
            more, scores = end_unfinished(base, orders, state, space, rules)
            ended, total = ended + more, total + scores
        return ended, total

    return step


def make_play(turn: Turn) -> Play:
    """Build the kernel that threads run to play steps, using the turn kernel `turn`."""
    step = make_step(turn)

    @kernel(example=play_arguments, borrows=True)
    def play(
        thread: Int,
        opens: bool,
        words: Longs,
        orders: Longs,
        state: BatchState,
        rules: RuleArrays,
        space: Workspace,
    ) -> bool:
        """Process blocks of the batch until the round is complete or polling times out.

        Args:
            thread: Number of the thread. Thread 0 returns after one round, and the other threads
                wait for the next round.
            opens: Whether to start the round.
            words: The counters shared by the threads.
            orders: The round's parameters. ``_show_kernels.py`` defines their indices.
            state: The batch.
            rules: The rules of the batch.
            space: A workspace.

        Returns:
            Whether the round is complete.
        """
        if opens:
            open_round(words)
        idle_polls = 0
        while idle_polls < MAX_IDLE_POLLS:
            block = take_block(words, thread)
            if block >= 0:
                idle_polls, base = 0, np.uint64(block) * WIDTH
                ended, total = np.int64(0), np.int64(0)
                load(base, state, space)
                for _ in range(orders[STEPS]):
                    more, scores = step(block, orders, state, rules, space)
                    ended, total = ended + more, total + scores
                if orders[OBSERVATIONS]:
                    write_observations(block, state, space, orders)
                store(base, state, space)
                finish_block(words, thread, ended, total)
            elif thread == 0 and is_round_done(words):
                return True
            else:
                pause()
                idle_polls += 1
        if thread != 0:
            mark_idle(words, thread)
        return False

    return play


play_classic = make_play(turn_classic)
play_any = make_play(turn_any)


def boards_arguments() -> tuple[object, ...]:
    """Return example arguments for compiling `turn_boards`."""
    boards, points = np.zeros(16 * LANES, np.uint8), np.zeros(LANES, np.int32)
    words = np.zeros(LANES, np.uint64)
    return 0, 1, boards, boards[:LANES], words, points, boards[:LANES], *play_arguments()[5:]


def make_turn_boards(turn: Turn, find_legal: Legal) -> Callable[..., None]:
    """Build the kernel for single turns on independent boards."""

    @kernel(example=boards_arguments, borrows=True)
    def turn_boards(
        first: Int,
        end: Int,
        boards: Bytes,
        directions: Bytes,
        draws: Words,
        points: NDArray[np.int32],
        over: Bytes,
        rules: RuleArrays,
        space: Workspace,
    ) -> None:
        """Play one turn on each board in blocks `first` to `end` (exclusive).

        Args:
            first: First block.
            end: Block after the last block.
            boards: uint8 `[blocks * LANES * cells]`, updated in place.
            directions: uint8 `[blocks * LANES]`.
            draws: A random number for each board's spawn, uint64.
            points: Receives the points of each turn.
            over: Receives 1 for each game that is over, otherwise 0; uint8.
            rules: The rules.
            space: A workspace.
        """
        size, flags, words = len(space.board), space.flags, space.words
        for block in range(first, end):
            base, block_boards = np.uint64(block) * WIDTH, boards[block * size : (block + 1) * size]
            to_cell_order(block_boards, space.board)
            for lane in range(WIDTH):
                flags[DIRECTION + lane] = directions[base + lane]
            for lane in range(WIDTH):
                words[STATE + lane] = unmix64(draws[base + lane])
                words[BONUS + lane] = np.uint64(0)
            find_legal(space.board, flags, rules.numbers)
            turn(space, points[block * LANES : (block + 1) * LANES], rules)
            to_board_order(space.board, block_boards, space.halves)
            for lane in range(WIDTH):
                over[base + lane] = np.uint8(flags[LEGAL + lane] == EMPTY)

    return turn_boards


turn_boards_classic = make_turn_boards(turn_classic, find_legal_classic)
turn_boards_any = make_turn_boards(turn_any, find_legal_any)


# --- positions -----------------------------------------------------------------------------------


@kernel("(uint8[:,::1], uint8[::1], int64, int64, boolean, int64[::1])", borrows=True)
def slide_boards(
    boards: Bytes, directions: Bytes, rows: Int, columns: Int, cascade: bool, points: Longs
) -> None:
    """Slide boards (uint8 `[n, cells]`) in place; write the points, or -1 for illegal slides."""
    for game in range(len(boards)):
        way = np.int64(directions[game])
        points[game] = slide_cells(boards[game], way, rows, columns, cascade)


@kernel(example=enter_arguments, borrows=True)
def enter_boards(
    games: Longs, boards: Bytes, state: BatchState, rules: RuleArrays, space: Workspace
) -> None:
    """Start the next episode in some slots, from given boards or random start positions.

    Args:
        games: int64 `[k]`, slot numbers.
        boards: uint8 `[k, cells]`, or `[0, cells]` to draw random start positions.
        state: The batch.
        rules: The rules.
        space: A workspace.
    """
    lane = np.uint64(0)
    for index in range(len(games)):
        game = np.uint64(games[index])
        state.words[EPISODE, game] += ONE
        key = episode_key(state.words, game)
        if len(boards):
            for cell in range(boards.shape[1]):
                space.board[cell * LANES] = boards[index, cell]
            start_from_position(space, lane, key, rules)
        else:
            start_game(space, lane, key, rules)
        space.flags[DONE] = np.uint8(space.flags[LEGAL] == EMPTY)
        state.words[LENGTH, game] = np.uint64(0)
        store_first(game, state, space)


@kernel(borrows=True)
def store_first(game: np.uint64, state: BatchState, space: Workspace) -> None:
    """Copy a new game from the first lane of the workspace to its slot in the batch."""
    for cell in range(state.cells.shape[0]):
        state.cells[cell, game] = space.board[cell * LANES]
        state.last_cells[game, cell] = space.board[cell * LANES]
    for row in range(STORED_FLAGS):
        is_kept = row * LANES == LEGAL or row * LANES == DONE
        state.flags[row, game] = space.flags[row * LANES] if is_kept else EMPTY
    for row in range(WORD_ROWS):
        state.words[row, game] = space.words[row * LANES]


@kernel("(uint8[:,::1], int64, int64, boolean, uint8[:,:,::1], int64[:,::1])", borrows=True)
def slide_each(
    boards: Bytes, rows: Int, columns: Int, cascade: bool, after: Bytes, points: NDArray[np.int64]
) -> None:
    """Slide each board in all four directions; write afterstates and points (-1 if illegal)."""
    for game in range(len(boards)):
        for way in range(4):
            for cell in range(boards.shape[1]):
                after[game, way, cell] = boards[game, cell]
            points[game, way] = slide_cells(after[game, way], way, rows, columns, cascade)


# --- whole games from given positions -------------------------------------------------------------

# Each lane of a block plays one game at a time. When the game ends, the lane starts the next game
# (*job*), so all lanes stay busy until no jobs are left. The result of a job does not depend on its
# lane or thread.


FORCED = WAS_OVER
"""Row of `flags` that prescribes each game's first move: the direction plus 1, or 0 to allow any
move.
"""

INVERSE = np.uint64(pow(int(GOLDEN), -1, 2**64))
IDLE = np.int64(-1)
ENDLESS = np.int64(2**62)
"""A turn limit that no game reaches."""


class Series(NamedTuple):
    """Random games from given boards, with their results."""

    games: Int
    """Games per board; job ``j`` starts from board ``j // games``."""
    moves: Int
    """Maximum number of turns per game, or `ENDLESS`."""
    seed: np.uint64
    """Seed of the series; job ``j`` has the seed ``derive_seed(seed, j)``."""
    boards: Bytes
    """uint8 `[m, cells]`."""
    firsts: Bytes
    """The first move from each board, as direction plus one, or 0 for a random direction."""
    scores: Longs
    """The points gained in each game, int64 `[m * count]`."""
    plies: Longs
    """The number of turns in each game, int64 `[m * count]`."""


class Lanes(NamedTuple):
    """The random games that a thread is playing, one per lane of its block."""

    jobs: Longs
    """The job that each lane is playing, or `IDLE`."""
    ends: Longs
    """Turn at which each lane's game reaches its limit, counted from the start of `rollout`."""
    rewards: NDArray[np.int32]
    """Points of the last turn."""

    @classmethod
    def empty(cls) -> Lanes:
        """Allocate the arrays for one block of games."""
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
    """Start the next job in one lane, skipping boards without a legal move.

    Returns:
        The number of the job that was started, or `end` if no job is left.
    """
    lanes.jobs[lane], lanes.ends[lane] = IDLE, clock + series.moves
    while job < end:
        number = np.uint64(job // series.games)
        for cell in range(np.uint64(series.boards.shape[1])):
            space.board[cell * WIDTH + lane] = series.boards[number, cell]
        start_from_position(space, lane, key_of(derive_seed(series.seed, np.uint64(job))), rules)
        space.flags[FORCED + lane] = series.firsts[number]
        if space.flags[LEGAL + lane] != EMPTY:
            lanes.jobs[lane] = job
            break
        job += 1
    return np.int64(job)


@kernel(borrows=True)
def force_first(flags: Bytes) -> None:
    """Replace the random direction in games with a prescribed first move."""
    for lane in range(WIDTH):
        forced = flags[FORCED + lane]
        direction = np.uint8(forced - B1)
        flags[DIRECTION + lane] = select(forced != EMPTY, direction, flags[DIRECTION + lane])
        flags[FORCED + lane] = EMPTY


@kernel(borrows=True)
def stop_at_limit(flags: Bytes, ends: Longs, clock: Int, moves: Int) -> np.int64:
    """End games that have reached their turn limit.

    Returns: The earliest turn limit of the remaining games.
    """
    due = np.int64(clock + moves)
    for number in range(WIDTH):
        lane = np.uint64(number)
        if ends[lane] <= clock:
            flags[LEGAL + lane] = EMPTY
        else:
            due = min(due, ends[lane])
    return np.int64(due)


@kernel(inline=True, borrows=True)
def store_result(lane: np.uint64, job: Int, series: Series, space: Workspace) -> None:
    """Store the points and the number of turns of a finished game."""
    key = key_of(derive_seed(series.seed, np.uint64(job)))
    series.scores[job] = np.int64(space.words[SCORE + lane])
    series.plies[job] = np.int64((space.words[STATE + lane] - key) * INVERSE) - 1


def rollout_arguments() -> tuple[object, ...]:
    """Return example arguments for compiling `rollout`."""
    rules = Rules("classic")
    boards, lanes = np.zeros((1, rules.cells), np.uint8), Lanes.empty()
    series = Series(1, ENDLESS, np.uint64(0), boards, boards[0], lanes.jobs, lanes.jobs)
    return 0, 1, series, lanes, Workspace.of(rules), CompiledRules.of(rules).arrays


Rollout = Callable[[Int, Int, Series, Lanes, Workspace, RuleArrays], None]


def make_rollout(turn: Turn) -> Rollout:
    """Build the kernel that plays random games, using the turn kernel `turn`."""

    @kernel(example=rollout_arguments, borrows=True)
    def rollout(
        first: Int, end: Int, series: Series, lanes: Lanes, space: Workspace, rules: RuleArrays
    ) -> None:
        """Play the jobs from `first` to `end` (exclusive)."""
        next_job, playing = np.int64(first), np.int64(0)
        space.flags[:] = EMPTY
        clock, due = np.int64(0), np.int64(series.moves)
        for number in range(WIDTH):
            lane = np.uint64(number)
            job = take_job(lane, next_job, end, clock, series, lanes, space, rules)
            playing += np.int64(job < end)
            next_job = np.int64(min(job + 1, end))
        while playing:
            choose(space.flags, space.halves)
            force_first(space.flags)
            turn(space, lanes.rewards, rules)
            clock += 1
            if clock >= due:
                due = stop_at_limit(space.flags, lanes.ends, clock, series.moves)
            over = find_over(space.legal, space.halves)
            for index in range(np.uint64(over)):
                lane = np.uint64(space.halves[FOUND + index])
                if lanes.jobs[lane] == IDLE:
                    continue
                store_result(lane, lanes.jobs[lane], series, space)
                job = take_job(lane, next_job, end, clock, series, lanes, space, rules)
                playing -= np.int64(job >= end)
                next_job = np.int64(min(job + 1, end))

    return rollout


rollout_classic = make_rollout(turn_classic)
rollout_any = make_rollout(turn_any)
