"""What a step of a block looks like to agents: boards, masks, rewards, ends and scores.

A block keeps its boards by cells, so that one instruction serves many; an agent wants them one
after another. Four cells at a time are put together to a 32-bit word, in loops that become vector
code, and the words are laid side by side. The memory of agents is given by addresses, because it is
another at each step, and threads that wait for the next one have no other way to hear of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import trailing_zeros
from py2048.compiled._simd_kernels import (
    B1,
    EMPTY,
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
    Workspace,
)
from py2048.compiled.jit import kernel, memory_at, prefetch

BatchState = Any
"""That of ``_batch_kernels.py``, which imports this module."""

(
    STEPS,
    RANDOM,
    RESET,
    GAMES,
    IS_TERMINAL,
    LIMIT,
    OBSERVATION,
    LEVELS,
    SIZE,
    IS_LOG,
    # Then addresses, that of the penalty last. Without one of observations nothing is shown, and
    # without one of last observations no last positions are.
    OBSERVATIONS,
    REWARDS,
    MASKS,
    SCORES,
    TERMINATED,
    TRUNCATED,
    LAST_OBSERVATIONS,
    LAST_MASKS,
    LAST_SCORES,
    LAST_OVER,
    PENALTY,
) = range(21)
"""Places in the orders of a round, int64 `[21]`: the steps; whether directions are random; what
follows an end; the number of games; whether an illegal direction ends an episode, and after how
many steps it is cut, or 0; how a board is observed, how many planes there are or by what is
divided, and the bytes of an observation; whether rewards are logarithms; addresses."""

ORDERS = 21

EXPONENTS, ONEHOT, NORMALISED = range(3)

ENDS, CUTS, LEGAL_AT_END = MOVED, INDEX, RANK
"""Rows of `flags` after a turn: which episodes it ended, which it cut, and what was legal then."""

BYTE_MASK = np.uint64(0xFF)
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(value) for value in range(5))
BYTE, SHORT, TRIPLE = np.uint32(8), np.uint32(16), np.uint32(24)
SPREAD, LOW_BITS = np.uint32(0x00204081), np.uint32(0x01010101)
"""A product with `SPREAD` puts bit ``d`` of a number below 16 at the bottom of byte ``d``."""


@kernel(borrows=True)
def show(block: Int, state: BatchState, space: Workspace, orders: Longs) -> None:
    """Write what agents are given of a block."""
    first, flags = np.int64(block) * LANES, space.flags
    ends = memory_at(np.uint8, orders[TERMINATED] + first, LANES)
    cuts = memory_at(np.uint8, orders[TRUNCATED] + first, LANES)
    for lane in range(WIDTH):
        ends[lane] = flags[ENDS + lane]
    for lane in range(WIDTH):
        cuts[lane] = flags[CUTS + lane]
    if orders[LAST_OBSERVATIONS]:
        fetch_last(first, orders)
    show_boards(first, space, orders)
    masks = memory_at(np.uint32, orders[MASKS] + 4 * first, LANES)
    for lane in range(WIDTH):
        masks[lane] = (np.uint32(flags[LEGAL + lane]) * SPREAD) & LOW_BITS
    points = state.rewards[first : first + LANES]
    show_rewards(points, flags[ILLEGAL : ILLEGAL + WIDTH], first, orders)
    scores = memory_at(np.uint64, orders[SCORES] + 8 * first, LANES)
    for lane in range(WIDTH):
        scores[lane] = space.words[SCORE + lane]
    if orders[LAST_OBSERVATIONS]:
        show_last(first, state, flags, orders)


@kernel(borrows=True)
def show_rewards(points: NDArray[np.int32], illegal: Bytes, first: Int, orders: Longs) -> None:
    """Write the rewards: points or their logarithms, and the penalties."""
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
def show_boards(first: Int, space: Workspace, orders: Longs) -> None:
    """Write the observations of a block."""
    cells = np.int64(len(space.board)) // LANES
    kind, levels, start = orders[OBSERVATION], orders[LEVELS], orders[OBSERVATIONS]
    if kind == ONEHOT:
        planes = memory_at(np.uint8, start + first * orders[SIZE], orders[SIZE] * LANES)
        scatter(space.board, planes, np.uint64(cells), np.uint64(levels))
    elif kind == NORMALISED:
        parts = memory_at(np.float32, start + 4 * first * cells, cells * LANES)
        divide(space.board, parts, np.uint64(cells), np.float32(levels))
    else:
        boards = memory_at(np.uint8, start + first * cells, cells * LANES)
        if cells % 4 == 0:
            words = memory_at(np.uint32, start + first * cells, (cells >> 2) * LANES)
            lay_out(space.board, words, np.uint64(cells >> 2), space.halves)
        else:
            for lane in range(WIDTH):
                for cell in range(np.uint64(cells)):
                    boards[lane * np.uint64(cells) + cell] = space.board[cell * WIDTH + lane]


@kernel(borrows=True)
def lay_out(board: Bytes, boards: Halves, quads: Word, scratch: Halves) -> None:
    """Write the boards of a block one after another, as words of four cells."""
    if quads == FOUR:
        for quad in range(FOUR):
            join(board, FOUR * quad * WIDTH, scratch, quad * WIDTH)
        for lane in range(WIDTH):
            boards[FOUR * lane] = scratch[lane]
            boards[FOUR * lane + ONE] = scratch[WIDTH + lane]
            boards[FOUR * lane + TWO] = scratch[TWO * WIDTH + lane]
            boards[FOUR * lane + THREE] = scratch[THREE * WIDTH + lane]
    else:
        for quad in range(quads):
            join(board, FOUR * quad * WIDTH, scratch, ZERO)
            for lane in range(WIDTH):
                boards[quads * lane + quad] = scratch[lane]


@kernel(inline=True, borrows=True)
def join(board: Bytes, row: Word, out: Halves, start: Word) -> None:
    """Write four cells of each board, from `row` on, as one word to `out`, from `start` on."""
    for lane in range(WIDTH):
        word = np.uint32(board[row + lane])
        word |= np.uint32(board[row + WIDTH + lane]) << BYTE
        word |= np.uint32(board[row + TWO * WIDTH + lane]) << SHORT
        word |= np.uint32(board[row + THREE * WIDTH + lane]) << TRIPLE
        out[start + lane] = word


@kernel(borrows=True)
def scatter(board: Bytes, planes: Bytes, cells: Word, levels: Word) -> None:
    """Write a one for each cell to the plane of its exponent; large ones share the last plane."""
    size, most, start = levels * cells, levels - ONE, ZERO
    for place in range(np.uint64(len(planes))):
        planes[place] = EMPTY
    for lane in range(WIDTH):
        for cell in range(cells):
            level = min(np.uint64(board[cell * WIDTH + lane]), most)
            planes[start + level * cells + cell] = B1
        start += size


@kernel(borrows=True)
def divide(board: Bytes, parts: NDArray[np.float32], cells: Word, largest: np.float32) -> None:
    """Write the exponents as parts of the largest."""
    for cell in range(cells):
        for lane in range(WIDTH):
            parts[lane * cells + cell] = np.float32(board[cell * WIDTH + lane]) / largest


# --- last positions ------------------------------------------------------------------------------


@kernel(borrows=True)
def fetch_last(first: Int, orders: Longs) -> None:
    """Prefetch what `show_last` writes: the few games lie far apart."""
    were = memory_at(np.uint64, orders[LAST_OVER] + first, LANES // 8)
    end_words = memory_at(np.uint64, orders[TERMINATED] + first, LANES // 8)
    cut_words = memory_at(np.uint64, orders[TRUNCATED] + first, LANES // 8)
    start, size = orders[LAST_OBSERVATIONS], orders[SIZE]
    masks, scores = orders[LAST_MASKS], orders[LAST_SCORES]
    for word in range(WIDTH >> THREE):
        changed = were[word] | end_words[word] | cut_words[word]
        while changed != ZERO:
            byte = trailing_zeros(changed) >> THREE
            changed &= ~(BYTE_MASK << (byte << THREE))
            game = first + np.int64((word << THREE) + byte)
            prefetch(memory_at(np.uint8, start + game * size, 1), 0)
            prefetch(memory_at(np.uint8, masks + game * 4, 1), 0)
            prefetch(memory_at(np.uint8, scores + game * 8, 1), 0)


@kernel(borrows=True)
def show_last(first: Int, state: BatchState, flags: Bytes, orders: Longs) -> None:
    """Write the last position of each episode of a block that is over, and 0 for the others.

    Only what is not 0 from the last time is cleared: ``LAST_OVER`` says where.
    """
    were = memory_at(np.uint64, orders[LAST_OVER] + first, LANES // 8)
    end_words = memory_at(np.uint64, orders[TERMINATED] + first, LANES // 8)
    cut_words = memory_at(np.uint64, orders[TRUNCATED] + first, LANES // 8)
    masks = memory_at(np.uint32, orders[LAST_MASKS] + 4 * first, LANES)
    scores = memory_at(np.int64, orders[LAST_SCORES] + 8 * first, LANES)
    for word in range(WIDTH >> THREE):
        over = end_words[word] | cut_words[word]
        changed = over | were[word]
        while changed != ZERO:
            byte = trailing_zeros(changed) >> THREE
            changed &= ~(BYTE_MASK << (byte << THREE))
            lane = (word << THREE) + byte
            game, is_over = np.uint64(first) + lane, over >> (byte << THREE) & BYTE_MASK != ZERO
            show_last_board(game, is_over, state.last_cells, orders)
            scores[lane] = state.last_scores[game] if is_over else 0
            legal = np.uint32(flags[LEGAL_AT_END + lane]) if is_over else np.uint32(0)
            masks[lane] = (legal * SPREAD) & LOW_BITS
        were[word] = over


@kernel(borrows=True)
def show_last_board(game: Word, is_over: bool, boards: Bytes, orders: Longs) -> None:
    """Write the observation of a last board, or zeros."""
    kind, start = orders[OBSERVATION], orders[LAST_OBSERVATIONS]
    cells, levels = np.uint64(boards.shape[1]), np.uint64(orders[LEVELS])
    place = start + np.int64(game) * orders[SIZE]
    shown = memory_at(np.uint8, place, orders[SIZE])
    for byte in range(np.uint64(len(shown))):
        shown[byte] = EMPTY
    if not is_over:
        return
    parts = memory_at(np.float32, place, np.int64(cells))
    for cell in range(cells):
        exponent = boards[game, cell]
        if kind == ONEHOT:
            shown[min(np.uint64(exponent), levels - ONE) * cells + cell] = B1
        elif kind == NORMALISED:
            parts[cell] = np.float32(exponent) / np.float32(levels)
        else:
            shown[cell] = exponent
