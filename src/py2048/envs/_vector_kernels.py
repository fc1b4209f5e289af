"""What a step of a batch looks like to an agent: boards, masks, rewards, ends and scores.

A batch keeps its boards by cells, uint8 `[cells, padded]`, so that one instruction serves many; an
agent wants them one after another, `[padded, cells]`. Four cells at a time are put together to a
32-bit word, in loops that become vector code, and the words are laid side by side.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._simd_kernels import DONE, ILLEGAL, LANES, LEGAL, SCORE, WIDTH
from py2048.compiled.jit import kernel

Bytes = NDArray[np.uint8]
Halves = NDArray[np.uint32]
Words = NDArray[np.uint64]

LEGAL_ROW, DONE_ROW, ILLEGAL_ROW = (np.uint64(row // WIDTH) for row in (LEGAL, DONE, ILLEGAL))
SCORE_ROW = np.uint64(SCORE // WIDTH)

ZERO, ONE, TWO, THREE, FOUR = (np.uint64(value) for value in range(5))
BYTE, SHORT, TRIPLE = np.uint32(8), np.uint32(16), np.uint32(24)
SPREAD, LOW_BITS = np.uint32(0x00204081), np.uint32(0x01010101)
"""A product with `SPREAD` puts bit ``d`` of a number below 16 at the bottom of byte ``d``."""


@kernel(
    "(int64, int64, uint8[:, ::1], uint8[:, ::1], uint64[:, ::1], int32[::1], float64, boolean,"
    " boolean, uint8[:, ::1], uint32[:, ::1], uint32[::1], float64[::1], uint8[::1], int64[::1],"
    " uint32[::1])"
)
def show(
    first: int,
    end: int,
    cells: Bytes,
    flags: Bytes,
    words: Words,
    points: NDArray[np.int32],
    penalty: float,
    is_log: bool,
    is_terminal: bool,
    boards: Bytes,
    quads: Halves,
    masks: Halves,
    rewards: NDArray[np.float64],
    ended: Bytes,
    scores: NDArray[np.int64],
    scratch: Halves,
) -> None:
    """Write what an agent is given of the blocks from `first` to before `end`.

    Args:
        first: the first block.
        end: the block after the last.
        cells: the boards of the batch.
        flags: its flags.
        words: its words.
        points: the points of the step.
        penalty: what is added to the reward of an illegal action.
        is_log: whether the reward is the logarithm of the points.
        is_terminal: whether an illegal action ends the episode.
        boards: receives the boards, uint8 `[padded, cells]`.
        quads: the same memory as words of four cells, `[padded, cells / 4]`; without rows if the
            number of cells is no multiple of four.
        masks: receives the action masks, a byte for each direction.
        rewards: receives the rewards.
        ended: receives whether the episode is over.
        scores: receives the scores.
        scratch: uint32 `[4 * LANES]`.
    """
    for block in range(first, end):
        here = slice(block * LANES, (block + 1) * LANES)
        show_boards(np.uint64(block) * WIDTH, cells, boards, quads, scratch)
        show_masks(flags[LEGAL_ROW, here], masks[here])
        show_rewards(points[here], flags[ILLEGAL_ROW, here], penalty, is_log, rewards[here])
        show_ends(flags[DONE_ROW, here], flags[ILLEGAL_ROW, here], is_terminal, ended[here])
        show_scores(words[SCORE_ROW, here], scores[here])


@kernel(
    "(uint8[::1], uint8[::1], uint64[::1], uint8[:, ::1], uint8[:, ::1], int64[::1],"
    " uint8[:, ::1], uint32[::1], int64[::1], uint8[:, ::1], uint32[::1], int64[::1])"
)
def show_final(
    over: Bytes,
    used: Bytes,
    used_words: Words,
    flags: Bytes,
    last_boards: Bytes,
    last_scores: NDArray[np.int64],
    boards: Bytes,
    masks: Halves,
    scores: NDArray[np.int64],
    final_boards: Bytes,
    final_masks: Halves,
    final_scores: NDArray[np.int64],
) -> None:
    """Write the last board, mask and score of each episode that is over, and 0 for the others.

    Where the game itself ended they are those that the batch kept, and no move is legal; an
    episode that was cut short has them among what is shown.

    Args:
        over: which episodes are over, uint8 `[n]`.
        used: which rows are not 0 before; receives `over`: uint8 `[padded]`.
        used_words: the same in words of eight: uint64 `[padded / 8]`.
        flags: the flags of the batch.
        last_boards: its final boards, uint8 `[padded, cells]`.
        last_scores: its final scores.
        boards: the boards shown, uint8 `[padded, cells]`.
        masks: the masks shown.
        scores: the scores shown.
        final_boards: receives the last boards, uint8 `[padded, cells]`.
        final_masks: receives their masks.
        final_scores: receives their scores.
    """
    clear_rows(used, used_words, final_boards, final_masks, final_scores)
    for game in range(np.uint64(len(over))):
        used[game] = over[game]
    for word in range(np.uint64(len(used_words))):
        if used_words[word] == ZERO:
            continue
        for game in range(word << THREE, (word + ONE) << THREE):
            if used[game] != 0:
                is_done = flags[DONE_ROW, game] != 0
                board = last_boards if is_done else boards
                for cell in range(np.uint64(boards.shape[1])):
                    final_boards[game, cell] = board[game, cell]
                final_masks[game] = np.uint32(0) if is_done else masks[game]
                final_scores[game] = last_scores[game] if is_done else scores[game]


@kernel
def clear_rows(
    used: Bytes, used_words: Words, boards: Bytes, masks: Halves, scores: NDArray[np.int64]
) -> None:
    """Set the rows of `used` games to 0."""
    for word in range(np.uint64(len(used_words))):
        if used_words[word] == ZERO:
            continue
        for game in range(word << THREE, (word + ONE) << THREE):
            if used[game] != 0:
                for cell in range(np.uint64(boards.shape[1])):
                    boards[game, cell] = 0
                masks[game] = 0
                scores[game] = 0


@kernel
def show_boards(
    base: np.uint64, cells: Bytes, boards: Bytes, quads: Halves, scratch: Halves
) -> None:
    """Write the boards of one block."""
    count = np.uint64(quads.shape[1])
    if len(quads) == 0:
        for lane in range(WIDTH):
            for cell in range(np.uint64(cells.shape[0])):
                boards[base + lane, cell] = cells[cell, base + lane]
    elif count == FOUR:
        for quad in range(FOUR):
            join(base, cells, FOUR * quad, scratch, quad * WIDTH)
        for lane in range(WIDTH):
            quads[base + lane, ZERO] = scratch[lane]
            quads[base + lane, ONE] = scratch[WIDTH + lane]
            quads[base + lane, TWO] = scratch[TWO * WIDTH + lane]
            quads[base + lane, THREE] = scratch[THREE * WIDTH + lane]
    else:
        for quad in range(count):
            join(base, cells, FOUR * quad, scratch, ZERO)
            for lane in range(WIDTH):
                quads[base + lane, quad] = scratch[lane]


@kernel(inline=True)
def join(base: np.uint64, cells: Bytes, cell: np.uint64, out: Halves, start: np.uint64) -> None:
    """Write four cells of each board as one word to `out`, from `start` on."""
    for lane in range(WIDTH):
        word = np.uint32(cells[cell, base + lane])
        word |= np.uint32(cells[cell + ONE, base + lane]) << BYTE
        word |= np.uint32(cells[cell + TWO, base + lane]) << SHORT
        word |= np.uint32(cells[cell + THREE, base + lane]) << TRIPLE
        out[start + lane] = word


@kernel
def show_masks(legal: Bytes, masks: Halves) -> None:
    """Write each board's legal directions as four bytes."""
    for lane in range(WIDTH):
        masks[lane] = (np.uint32(legal[lane]) * SPREAD) & LOW_BITS


@kernel
def show_rewards(
    points: NDArray[np.int32],
    illegal: Bytes,
    penalty: float,
    is_log: bool,
    rewards: NDArray[np.float64],
) -> None:
    """Write the rewards."""
    for lane in range(WIDTH):
        rewards[lane] = np.float64(points[lane])
    if is_log:
        for lane in range(WIDTH):
            size = math.log2(1.0 + math.fabs(rewards[lane]))
            rewards[lane] = math.copysign(size, rewards[lane])
    if penalty != 0.0:
        for lane in range(WIDTH):
            rewards[lane] += penalty * np.float64(illegal[lane])


@kernel
def show_ends(done: Bytes, illegal: Bytes, is_terminal: bool, ended: Bytes) -> None:
    """Write which episodes are over."""
    for lane in range(WIDTH):
        ended[lane] = done[lane]
    if is_terminal:
        for lane in range(WIDTH):
            ended[lane] |= illegal[lane]


@kernel
def show_scores(words: Words, scores: NDArray[np.int64]) -> None:
    """Write the scores."""
    for lane in range(WIDTH):
        scores[lane] = np.int64(words[lane])
