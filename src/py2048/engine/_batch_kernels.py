"""Whole turns for all games of a batch, block by block, and random games from given boards.

The state of a batch of `n` games, padded to a multiple of `LANES`:

* `cells`, uint8 `[cells, padded]`: the ranks;
* `flags`, uint8 `[STORED_FLAGS, padded]`: the rows named in ``_lane_kernels.py``;
* `words`, uint64 `[STORED_WORDS, padded]`: the rows below;
* `rewards`, int32 `[padded]`: the points of the last step;
* `last_cells`, uint8 `[padded, cells]`: the final boards of the episodes that ended;
* `last_scores`, int64 `[padded]`: their scores.

A block is copied to a workspace that fits the first-level cache, stepped there, and copied back.
The rules come as `numbers`, int64, and a few tables, as `py2048.engine.lanes.RuleTables` makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048._jit import kernel
from py2048.engine._bits_kernels import GOLDEN, HALF, key_of, mix64
from py2048.engine._cells_kernels import slide as slide_cells
from py2048.engine._classic_kernels import legal_classic, slide_classic
from py2048.engine._lane_kernels import (
    BANK,
    BOARD_SUM,
    CHANCE,
    DONE,
    EMPTY,
    LANES,
    LEGAL,
    OVER,
    SCORE,
    STATE,
    WIDTH,
    WORD_ROWS,
    Bytes,
    Halves,
    Int,
    Words,
    choose,
    count_empty,
    draw_spawns,
    forbid_won,
    judge,
    legal_of,
    place,
    place_on_edge,
    reward,
    start_board,
    sum_of,
)
from py2048.engine._lines_kernels import legal_any, slide_any

Longs = NDArray[np.int64]

# Rows of the stored words; the first ones are those of a block.
EPISODE = WORD_ROWS
SLOT_KEY = WORD_ROWS + 1  # key_of(the seed of this slot)
STORED_WORDS = WORD_ROWS + 2

# Places in `numbers`.
ROWS, COLUMNS, CASCADE, SCORING, LEGAL_POINTS, ILLEGAL_POINTS, TARGET, EDGE, LOW, HIGH = range(10)
NUMBERS = 10

SAME_STEP, NEXT_STEP, DISABLED = range(3)


# --- starting ------------------------------------------------------------------------------------


@kernel
def begin(
    board: Bytes,
    flags: Bytes,
    words: Words,
    lane: np.uint64,
    key: np.uint64,
    numbers: Longs,
    start_ranks: Bytes,
    start_thresholds: Words,
) -> None:
    """Begin the game with this key in one lane of a block."""
    start_board(board, lane, key, numbers[LOW], numbers[HIGH], start_ranks, start_thresholds)
    enter(board, flags, words, lane, key, numbers)


@kernel
def enter(
    board: Bytes, flags: Bytes, words: Words, lane: np.uint64, key: np.uint64, numbers: Longs
) -> None:
    """Take over the position in one lane as the start of the game with this key."""
    words[STATE + lane] = key + GOLDEN
    words[SCORE + lane] = np.uint64(0)
    banked = numbers[SCORING] == BOARD_SUM
    words[BANK + lane] = sum_of(board, lane) if banked else np.uint64(0)
    legal = legal_of(board, lane, numbers[ROWS], numbers[COLUMNS])
    if numbers[TARGET]:
        for cell in range(lane, np.uint64(len(board)), WIDTH):
            if board[cell] >= numbers[TARGET]:
                legal = EMPTY
    flags[LEGAL + lane] = legal


@kernel
def episode_key(slot_key: np.uint64, episode: np.uint64) -> np.uint64:
    """Return the key of a slot's game number `episode`."""
    return key_of(mix64(slot_key ^ mix64(episode + GOLDEN)))


# --- a block in and out --------------------------------------------------------------------------


@kernel
def load(
    base: np.uint64,
    cells: Bytes,
    flags: Bytes,
    words: Words,
    board: Bytes,
    block_flags: Bytes,
    block_words: Words,
    halves: Halves,
) -> None:
    """Copy the block at `base` into the workspace and recall the high halves of its last draws."""
    copy_in(board, cells, base)
    copy_in(block_flags, flags, base)
    for row in range(WORD_ROWS):
        start = np.uint64(row) * WIDTH
        for lane in range(WIDTH):
            block_words[start + lane] = words[row, base + lane]
    for lane in range(WIDTH):
        halves[CHANCE + lane] = np.uint32(mix64(block_words[STATE + lane] - GOLDEN) >> HALF)


@kernel
def copy_in(block: Bytes, rows: Bytes, base: np.uint64) -> None:
    """Copy the lanes from `base` on of all rows into a block."""
    for row in range(rows.shape[0]):
        start = np.uint64(row) * WIDTH
        for lane in range(WIDTH):
            block[start + lane] = rows[row, base + lane]


@kernel
def copy_out(block: Bytes, rows: Bytes, base: np.uint64) -> None:
    """Copy a block to the lanes from `base` on of all rows."""
    for row in range(rows.shape[0]):
        start = np.uint64(row) * WIDTH
        for lane in range(WIDTH):
            rows[row, base + lane] = block[start + lane]


@kernel
def store(
    base: np.uint64,
    cells: Bytes,
    flags: Bytes,
    words: Words,
    board: Bytes,
    block_flags: Bytes,
    block_words: Words,
) -> None:
    """Copy the workspace back to the block at `base`."""
    copy_out(board, cells, base)
    copy_out(block_flags, flags, base)
    for row in range(WORD_ROWS):
        start = np.uint64(row) * WIDTH
        for lane in range(WIDTH):
            words[row, base + lane] = block_words[start + lane]


# --- a turn --------------------------------------------------------------------------------------


@kernel
def spawn(
    board: Bytes,
    flags: Bytes,
    words: Words,
    halves: Halves,
    numbers: Longs,
    ranks: Bytes,
    thresholds: Words,
    edges: Longs,
) -> None:
    """Let a tile appear on each board that moved."""
    count_empty(board, flags)
    draw_spawns(words, flags, halves, ranks, thresholds)
    if numbers[EDGE]:
        place_on_edge(board, flags, edges)
    else:
        place(board, flags)


@kernel
def note_over(flags: Bytes, reset: Int) -> None:
    """Clear ``DONE``, and keep it in ``OVER`` where the game does not begin anew at once."""
    kept = np.uint8(reset != SAME_STEP)
    for lane in range(WIDTH):
        flags[OVER + lane] = flags[DONE + lane] & kept
        flags[DONE + lane] = EMPTY


@kernel
def any_over(flags: Bytes) -> bool:
    """Return whether any game of the block is over."""
    over = np.uint8(0)
    for lane in range(WIDTH):
        over |= np.uint8(flags[LEGAL + lane] == EMPTY)
    return bool(over != EMPTY)


@kernel
def finish(
    base: np.uint64,
    reset: Int,
    board: Bytes,
    block_flags: Bytes,
    block_words: Words,
    halves: Halves,
    words: Words,
    last_cells: Bytes,
    last_scores: Longs,
    numbers: Longs,
    start_ranks: Bytes,
    start_thresholds: Words,
) -> tuple[np.int64, np.int64]:
    """Note the games of the block that ended, and begin new ones as `reset` says.

    Returns the number of games that ended and the sum of their scores.
    """
    ended, total = np.int64(0), np.int64(0)
    for lane in range(WIDTH):
        if block_flags[LEGAL + lane] != EMPTY:
            continue
        fresh = block_flags[OVER + lane] != EMPTY
        if not fresh:
            score = np.int64(block_words[SCORE + lane])
            ended += np.int64(1)
            total += score
            last_scores[base + lane] = score
            for cell in range(last_cells.shape[1]):
                last_cells[base + lane, cell] = board[np.uint64(cell) * WIDTH + lane]
        elif reset == DISABLED:
            # A board that was won can still slide, and did; it must not.
            for cell in range(last_cells.shape[1]):
                board[np.uint64(cell) * WIDTH + lane] = last_cells[base + lane, cell]
        block_flags[DONE + lane] = np.uint8(not fresh or reset == DISABLED)
        if reset == SAME_STEP or (reset == NEXT_STEP and fresh):
            words[EPISODE, base + lane] += np.uint64(1)
            key = episode_key(words[SLOT_KEY, base + lane], words[EPISODE, base + lane])
            begin(
                board,
                block_flags,
                block_words,
                np.uint64(lane),
                key,
                numbers,
                start_ranks,
                start_thresholds,
            )
            halves[CHANCE + lane] = np.uint32(mix64(key) >> HALF)
    return ended, total


def make_advance(slide: Callable[..., None], legal: Callable[..., None]) -> Any:
    """Return the kernel that plays steps with this way to slide and to find the legal moves."""

    @kernel
    def advance(
        first: Int,
        end: Int,
        steps: Int,
        is_random: bool,
        reset: Int,
        state: tuple[Bytes, Bytes, Words, NDArray[np.int32], Bytes, Longs],
        rules: tuple[Longs, Bytes, Words, Bytes, Words, Longs],
        space: tuple[Bytes, Bytes, Words, Halves, Bytes],
    ) -> tuple[np.int64, np.int64]:
        """Play `steps` steps of the blocks from `first` to before `end`.

        The directions are those in the flags or, if `is_random`, random legal ones. Returns the
        number of games that ended and the sum of their scores.
        """
        cells, flags, words, rewards, last_cells, last_scores = state
        numbers, ranks, thresholds, start_ranks, start_thresholds, edges = rules
        board, block_flags, block_words, halves, scratch = space
        rows, columns, cascade = numbers[ROWS], numbers[COLUMNS], numbers[CASCADE] != 0
        ended, total = np.int64(0), np.int64(0)
        for block in range(first, end):
            base = np.uint64(block) * WIDTH
            load(base, cells, flags, words, board, block_flags, block_words, halves)
            for _ in range(steps):
                note_over(block_flags, reset)
                if is_random:
                    choose(block_flags, halves)
                judge(block_flags)
                slide(board, block_flags, halves, scratch, rows, columns, cascade)
                spawn(board, block_flags, block_words, halves, numbers, ranks, thresholds, edges)
                reward(
                    block_words,
                    block_flags,
                    halves,
                    rewards[block * LANES : (block + 1) * LANES],
                    numbers[SCORING],
                    numbers[LEGAL_POINTS],
                    numbers[ILLEGAL_POINTS],
                )
                legal(board, block_flags, rows, columns)
                if numbers[TARGET]:
                    forbid_won(board, block_flags, np.uint8(numbers[TARGET]))
                if any_over(block_flags):
                    more, scores = finish(
                        base,
                        reset,
                        board,
                        block_flags,
                        block_words,
                        halves,
                        words,
                        last_cells,
                        last_scores,
                        numbers,
                        start_ranks,
                        start_thresholds,
                    )
                    ended, total = ended + more, total + scores
            store(base, cells, flags, words, board, block_flags, block_words)
        return ended, total

    return advance


advance_classic = make_advance(slide_classic, legal_classic)
advance_any = make_advance(slide_any, legal_any)


# --- results and positions -----------------------------------------------------------------------


@kernel("(int64, int64, uint8[:,::1], uint8[:,::1])")
def write_boards(first: Int, end: Int, cells: Bytes, out: Bytes) -> None:
    """Copy the boards of games `first` to before `end` to `out`, uint8 `[n, cells]`."""
    for game in range(np.uint64(first), np.uint64(end)):
        for cell in range(np.uint64(out.shape[1])):
            out[game, cell] = cells[cell, game]


@kernel("(uint8[:,::1], uint8[::1], int64, int64, boolean, int64[::1])")
def slide_boards(
    boards: Bytes, directions: Bytes, rows: Int, columns: Int, cascade: bool, points: Longs
) -> None:
    """Slide boards, uint8 `[n, cells]`, in place; set their points, -1 where nothing moved."""
    for game in range(len(boards)):
        way = np.int64(directions[game])
        points[game] = slide_cells(boards[game], way, rows, columns, cascade)


@kernel
def enter_boards(
    games: Longs,
    boards: Bytes,
    state: tuple[Bytes, Bytes, Words, NDArray[np.int32], Bytes, Longs],
    rules: tuple[Longs, Bytes, Words, Bytes, Words, Longs],
    space: tuple[Bytes, Bytes, Words, Halves, Bytes],
) -> None:
    """Begin the next episode of each of `games`: from its row of `boards`, or afresh if none.

    Args:
        games: int64 `[k]`, numbers of games.
        boards: uint8 `[k, cells]`, or `[0, cells]` to draw the starts.
        state: the batch.
        rules: the rules.
        space: a workspace.
    """
    cells, flags, words, _, last_cells, _ = state
    numbers, _, _, start_ranks, start_thresholds, _ = rules
    board, block_flags, block_words, _, _ = space
    for index in range(len(games)):
        game, lane = games[index], np.uint64(0)
        words[EPISODE, game] += np.uint64(1)
        key = episode_key(words[SLOT_KEY, game], words[EPISODE, game])
        if len(boards):
            for cell in range(cells.shape[0]):
                board[cell * LANES] = boards[index, cell]
            enter(board, block_flags, block_words, lane, key, numbers)
        else:
            begin(
                board, block_flags, block_words, lane, key, numbers, start_ranks, start_thresholds
            )
        for cell in range(cells.shape[0]):
            cells[cell, game] = board[cell * LANES]
            last_cells[game, cell] = board[cell * LANES]
        flags[0, game], flags[3, game] = EMPTY, EMPTY
        flags[1, game] = block_flags[LEGAL]
        flags[2, game] = np.uint8(block_flags[LEGAL] == EMPTY)
        for row in range(WORD_ROWS):
            words[row, game] = block_words[row * LANES]
