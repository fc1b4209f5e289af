"""Kernels that write step results for agents: observations, action masks, rewards and scores.

A block of boards is stored by cell, so that kernels can use vector instructions, but agents receive
each board as a contiguous array. To convert boards with vector instructions, kernels pack four
cells of each board into a 32-bit word, and then write the words board by board.

The output arrays can change with every step, but a worker thread receives no new arguments while it
polls for steps. Worker threads therefore read the addresses of the output arrays from shared
memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.engine._bits_kernels import trailing_zeros
from py2048.engine._simd_kernels import (
    BELOW_TOPS,
    ILLEGAL,
    INDEX,
    LANES,
    LEGAL,
    MOVED,
    RANK,
    SCORE,
    WIDTH,
    Bytes,
    Halves,
    Int,
    Longs,
    Word,
    Words,
    Workspace,
)
from py2048.engine.jit import kernel
from py2048.engine.jit.numba_parts import address_of, memory_at, prefetch, select

BatchState = Any
"""An alias of `Any`, because importing the class from ``_batch_kernels.py`` would be circular."""

(
    STEPS,  # number of steps
    RANDOM,  # whether directions are random
    RESET,  # reset mode
    GAMES,  # number of games
    IS_TERMINAL,  # whether an illegal direction terminates an episode
    LIMIT,  # maximum number of steps per episode, or 0
    OBSERVATION,  # kind of observation
    LEVELS,  # number of one-hot planes, or divisor of normalised exponents
    SIZE,  # bytes per observation
    RECORD,  # bytes per final-position record
    IS_LOG,  # whether rewards are logarithmic
    # The remaining parameters are memory addresses. If OBSERVATIONS is 0, no results for agents are
    # written. If LAST is 0, final positions are not written.
    OBSERVATIONS,
    REWARDS,
    MASKS,
    SCORES,
    TERMINATED,
    TRUNCATED,
    LAST,
    LAST_OVER,
    PENALTY,
) = range(20)
"""Indices into the parameters of a round, int64 `[20]`."""

ORDERS = 20

MASK_AT, SHOWN_AT = 8, 12
"""Byte offsets of the action mask and the observation in a final-position record. The score has
offset 0.
"""

EXPONENTS, ONEHOT, NORMALISED = range(3)
SQUARE = 16
"""Number of cells on a 4x4 board."""
MAX_PLANES = 32
"""Maximum number of one-hot planes."""

IS_TERMINATED, IS_TRUNCATED, FINAL_LEGAL = MOVED, INDEX, RANK
"""Rows of `flags` that are reused for other data after a turn.

`IS_TERMINATED` and `IS_TRUNCATED` mark the episodes that the step ended. `FINAL_LEGAL` contains the
legal directions at the end of an episode.
"""

BYTE_MASK, ONES = np.uint64(0xFF), np.uint64(0x0101010101010101)
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(value) for value in range(5))
SEVEN, PLANES = np.uint64(7), np.repeat(np.arange(MAX_PLANES, dtype=np.uint64) * ONES, 2)
"""`PLANES` repeats the number of each one-hot plane in all 16 bytes of two 64-bit words."""
BYTE, SHORT, TRIPLE = np.uint32(8), np.uint32(16), np.uint32(24)
SPREAD, LOW_BITS = np.uint32(0x00204081), np.uint32(0x01010101)
"""Multiplying a 4-bit number by `SPREAD` puts bit ``d`` at the bottom of byte ``d``."""


@kernel(borrows=True)
def write_observations(block: Int, state: BatchState, space: Workspace, orders: Longs) -> None:
    """Write all results for the games of a block."""
    first, flags = np.int64(block) * LANES, space.flags
    ends = memory_at(np.uint8, orders[TERMINATED] + first, LANES)
    cuts = memory_at(np.uint8, orders[TRUNCATED] + first, LANES)
    for lane in range(WIDTH):
        ends[lane] = flags[IS_TERMINATED + lane]
    for lane in range(WIDTH):
        cuts[lane] = flags[IS_TRUNCATED + lane]
    if orders[LAST]:
        prefetch_final_positions(first, orders)
    write_board_observations(first, space, orders)
    masks = memory_at(np.uint32, orders[MASKS] + 4 * first, LANES)
    for lane in range(WIDTH):
        masks[lane] = (np.uint32(flags[LEGAL + lane]) * SPREAD) & LOW_BITS
    points = state.rewards[first : first + LANES]
    write_rewards(points, flags[ILLEGAL : ILLEGAL + WIDTH], first, orders)
    scores = memory_at(np.uint64, orders[SCORES] + 8 * first, LANES)
    for lane in range(WIDTH):
        scores[lane] = space.words[SCORE + lane]
    if orders[LAST]:
        write_final_positions(first, state, flags, orders)


@kernel(borrows=True)
def write_rewards(points: NDArray[np.int32], illegal: Bytes, first: Int, orders: Longs) -> None:
    """Write the reward of each game: its points or their logarithm, plus any penalty."""
    rewards = memory_at(np.float64, orders[REWARDS] + 8 * first, LANES)
    for lane in range(WIDTH):
        rewards[lane] = np.float64(points[lane])
    if orders[IS_LOG]:
        for lane in range(WIDTH):
            size = math.log2(1.0 + math.fabs(rewards[lane]))
            rewards[lane] = math.copysign(size, rewards[lane])
    penalty = memory_at(np.float64, orders[PENALTY], 1)[0] if orders[PENALTY] else 0.0
    if penalty != 0.0:
        for lane in range(WIDTH):
            rewards[lane] += penalty * np.float64(illegal[lane])


# --- observations --------------------------------------------------------------------------------


@kernel(borrows=True)
def write_board_observations(first: Int, space: Workspace, orders: Longs) -> None:
    """Write the observations of all games in a block."""
    cells, size = np.int64(len(space.board)) // LANES, orders[SIZE]
    kind, levels, start = orders[OBSERVATION], orders[LEVELS], orders[OBSERVATIONS] + first * size
    if kind == EXPONENTS:
        to_board_order(space.board, memory_at(np.uint8, start, cells * LANES), space.halves)
        return
    to_board_order(space.board, space.scratch, space.halves)
    for lane in range(LANES):
        board = space.scratch[lane * cells : (lane + 1) * cells]
        encode(board, kind, levels, memory_at(np.uint8, start + lane * size, size))


@kernel(inline=True, borrows=True)
def encode(board: Bytes, kind: Int, levels: Int, out: Bytes) -> None:
    """Write the observation of a single board (uint8 `[cells]`)."""
    if kind == ONEHOT and len(board) == SQUARE and levels < MAX_PLANES:
        square = memory_at(np.uint64, address_of(board), len(board) >> 3)
        write_square_planes(square, memory_at(np.uint64, address_of(out), len(out) >> 3))
    elif kind == ONEHOT:
        write_planes(board, levels, out)
    elif kind == NORMALISED:
        parts = memory_at(np.float32, address_of(out), len(out) >> 2)
        for cell in range(np.uint64(len(board))):
            parts[cell] = np.float32(board[cell]) / np.float32(levels)
    else:
        for cell in range(np.uint64(len(board))):
            out[cell] = board[cell]


@kernel(borrows=True)
def write_planes(board: Bytes, levels: Int, planes: Bytes) -> None:
    """Write one-hot planes; the last plane also contains all larger exponents."""
    start, last = ZERO, np.uint8(levels - 1)
    for level in range(np.uint64(levels)):
        for cell in range(np.uint64(len(board))):
            exponent = select(board[cell] > last, last, board[cell])
            planes[start + cell] = np.uint8(exponent == np.uint8(level))
        start += np.uint64(len(board))


@kernel(inline=True, borrows=True)
def write_square_planes(board: Words, planes: Words) -> None:
    """Write a 4x4 board's one-hot planes, one per exponent, eight cells at a time."""
    a, b = board[0], board[1]
    for place in range(np.uint64(len(planes))):
        other = select(place & ONE != ZERO, b, a) ^ PLANES[place]
        # Adding 127 to a byte below 128 sets the top bit unless the byte is 0, and never overflows.
        planes[place] = ~(other + BELOW_TOPS) >> SEVEN & ONES


@kernel(borrows=True)
def to_board_order(board: Bytes, boards: Bytes, scratch: Halves) -> None:
    """Copy a block of boards to contiguous memory, four cells at a time if possible."""
    cells = np.uint64(len(board)) // WIDTH
    quads, words = cells >> TWO, memory_at(np.uint32, address_of(boards), len(boards) >> 2)
    if cells & (FOUR - ONE):
        for lane in range(WIDTH):
            for cell in range(cells):
                boards[lane * cells + cell] = board[cell * WIDTH + lane]
    elif quads == FOUR:
        for quad in range(FOUR):
            join(board, FOUR * quad * WIDTH, scratch, quad * WIDTH)
        for lane in range(WIDTH):
            words[FOUR * lane] = scratch[lane]
            words[FOUR * lane + ONE] = scratch[WIDTH + lane]
            words[FOUR * lane + TWO] = scratch[TWO * WIDTH + lane]
            words[FOUR * lane + THREE] = scratch[THREE * WIDTH + lane]
    else:
        for quad in range(quads):
            join(board, FOUR * quad * WIDTH, scratch, ZERO)
            for lane in range(WIDTH):
                words[quads * lane + quad] = scratch[lane]


@kernel(inline=True, borrows=True)
def join(board: Bytes, row: Word, out: Halves, start: Word) -> None:
    """Pack four cells of each board, starting at offset `row`, into a word."""
    for lane in range(WIDTH):
        word = np.uint32(board[row + lane])
        word |= np.uint32(board[row + WIDTH + lane]) << BYTE
        word |= np.uint32(board[row + TWO * WIDTH + lane]) << SHORT
        word |= np.uint32(board[row + THREE * WIDTH + lane]) << TRIPLE
        out[start + lane] = word


@kernel(borrows=True)
def to_cell_order(boards: Bytes, board: Bytes) -> None:
    """Rearrange contiguous boards by cell; the inverse of `to_board_order`."""
    cells = np.uint64(len(board)) // WIDTH
    quads, words = cells >> TWO, memory_at(np.uint32, address_of(boards), len(boards) >> 2)
    if cells & (FOUR - ONE):
        for lane in range(WIDTH):
            for cell in range(cells):
                board[cell * WIDTH + lane] = boards[lane * cells + cell]
    elif quads == FOUR:
        for quad in range(FOUR):
            split(words, FOUR, quad, board)
    else:
        for quad in range(quads):
            split(words, quads, quad, board)


@kernel(inline=True, borrows=True)
def split(words: Halves, quads: Word, quad: Int, board: Bytes) -> None:
    """Unpack four cells of each board from a word; the inverse of `join`."""
    row = FOUR * quad * WIDTH
    for lane in range(WIDTH):
        word = words[quads * lane + quad]
        board[row + lane] = np.uint8(word)
        board[row + WIDTH + lane] = np.uint8(word >> BYTE)
        board[row + TWO * WIDTH + lane] = np.uint8(word >> SHORT)
        board[row + THREE * WIDTH + lane] = np.uint8(word >> TRIPLE)


# --- final positions -----------------------------------------------------------------------------


@kernel(borrows=True)
def prefetch_final_positions(first: Int, orders: Longs) -> None:
    """Prefetch the scattered records that `write_final_positions` will write."""
    was_over = memory_at(np.uint64, orders[LAST_OVER] + first, LANES // 8)
    end_words = memory_at(np.uint64, orders[TERMINATED] + first, LANES // 8)
    cut_words = memory_at(np.uint64, orders[TRUNCATED] + first, LANES // 8)
    start, size = orders[LAST], orders[RECORD]
    for word in range(WIDTH >> THREE):
        changed = was_over[word] | end_words[word] | cut_words[word]
        while changed != ZERO:
            byte = trailing_zeros(changed) >> THREE
            changed &= ~(BYTE_MASK << (byte << THREE))
            game = first + np.int64((word << THREE) + byte)
            record = memory_at(np.uint8, start + game * size, size)
            prefetch(record, 0)
            prefetch(record, size - 1)


@kernel(borrows=True)
def write_final_positions(first: Int, state: BatchState, flags: Bytes, orders: Longs) -> None:
    """Write the final positions of episodes that just ended, and clear older records.

    Non-zero bytes in ``LAST_OVER`` mark the records that the previous step filled.
    """
    was_over = memory_at(np.uint64, orders[LAST_OVER] + first, LANES // 8)
    end_words = memory_at(np.uint64, orders[TERMINATED] + first, LANES // 8)
    cut_words = memory_at(np.uint64, orders[TRUNCATED] + first, LANES // 8)
    for word in range(WIDTH >> THREE):
        over = end_words[word] | cut_words[word]
        changed = over | was_over[word]
        while changed != ZERO:
            byte = trailing_zeros(changed) >> THREE
            changed &= ~(BYTE_MASK << (byte << THREE))
            lane = (word << THREE) + byte
            game = np.uint64(first) + lane
            place = orders[LAST] + np.int64(game) * orders[RECORD]
            words = memory_at(np.int64, place, orders[RECORD] >> 3)
            for part in range(np.uint64(len(words))):
                words[part] = 0
            if over >> (byte << THREE) & BYTE_MASK != ZERO:
                words[0] = state.last_scores[game]
                legal = np.uint32(flags[FINAL_LEGAL + lane])
                memory_at(np.uint32, place + MASK_AT, 1)[0] = (legal * SPREAD) & LOW_BITS
                observation = memory_at(np.uint8, place + SHOWN_AT, orders[SIZE])
                encode(state.last_cells[game], orders[OBSERVATION], orders[LEVELS], observation)
        was_over[word] = over
