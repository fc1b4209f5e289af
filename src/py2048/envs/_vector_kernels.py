"""What a step of a batch looks like to an agent: boards, masks, rewards, ends and scores.

A batch keeps its boards by cells, uint8 `[cells, padded]`, so that one instruction serves many; an
agent wants them one after another, `[padded, cells]`. Four cells at a time are put together to a
32-bit word, in loops that become vector code, and the words are laid side by side.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._batch_kernels import BatchState
from py2048.compiled._bits_kernels import trailing_zeros
from py2048.compiled._simd_kernels import (
    DONE,
    ILLEGAL,
    LANES,
    LEGAL,
    SCORE,
    WIDTH,
    Bytes,
    Halves,
    Int,
    Words,
)
from py2048.compiled.jit import kernel, prefetch

LEGAL_ROW, DONE_ROW, ILLEGAL_ROW = (np.uint64(row // WIDTH) for row in (LEGAL, DONE, ILLEGAL))
SCORE_ROW = np.uint64(SCORE // WIDTH)

BYTE_MASK = np.uint64(0xFF)
LATE = np.uint8(2)
"""Marks an episode that ended while its game did not."""
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(value) for value in range(5))
BYTE, SHORT, TRIPLE = np.uint32(8), np.uint32(16), np.uint32(24)
SPREAD, LOW_BITS = np.uint32(0x00204081), np.uint32(0x01010101)
"""A product with `SPREAD` puts bit ``d`` of a number below 16 at the bottom of byte ``d``."""


class Target(NamedTuple):
    """Where agents find a step, padded to whole blocks of the batch."""

    boards: Bytes
    """The boards, uint8 `[padded, cells]`."""
    quads: Halves
    """The same memory as words of four cells; without rows if `cells` is not a multiple of four."""
    masks: Halves
    """The legal actions, a byte for each."""
    scores: NDArray[np.int64]
    """The scores."""
    rewards: NDArray[np.float64]
    """The rewards."""
    over: Bytes
    """Whether each episode is over."""
    over_words: Words
    """The same memory in words of eight."""


def show_arguments() -> tuple[object, ...]:
    """Return arguments of `show`, to compile it for."""
    state, words = BatchState.empty(1, 16), np.zeros(1, np.uint64)
    halves, quads, rewards = words.view(np.uint32), np.zeros((1, 1), np.uint32), np.zeros(1)
    over = words.view(np.uint8)
    target = Target(state.cells, quads, halves, state.last_scores, rewards, over, words)
    return 0, 1, 1, state, words, 0.0, False, False, target, target, halves


@kernel(example=show_arguments, borrows=True)
def show(
    first: Int,
    end: Int,
    games: Int,
    state: BatchState,
    done: Words,
    penalty: float,
    is_log: bool,
    is_terminal: bool,
    target: Target,
    final: Target,
    scratch: Halves,
) -> np.int64:
    """Write what an agent is given of the blocks from `first` to before `end`.

    Args:
        first: the first block.
        end: the block after the last.
        games: the number of games, without the padding.
        state: the batch.
        done: its flags of games that ended, in words of eight.
        penalty: what is added to the reward of an illegal action.
        is_log: whether the reward is the logarithm of the points.
        is_terminal: whether an illegal action ends the episode.
        target: receives the step.
        final: receives the last positions of games that ended; empty if they are not asked for.
        scratch: uint32 `[4 * LANES]`.

    Returns:
        how many last positions there are.
    """
    count, flags = np.int64(0), state.flags
    for block in range(first, end):
        base, here = np.uint64(block) * WIDTH, slice(block * LANES, (block + 1) * LANES)
        if len(final.over_words):
            fetch_final(base >> THREE, state, done, final)
        illegal = flags[ILLEGAL_ROW, here]
        show_boards(base, state.cells, target.boards, target.quads, scratch)
        show_masks(flags[LEGAL_ROW, here], target.masks[here])
        show_rewards(state.rewards[here], illegal, penalty, is_log, target.rewards[here])
        show_ends(flags[DONE_ROW, here], illegal, is_terminal, target.over[here])
        show_scores(state.words[SCORE_ROW, here], target.scores[here])
        if len(final.over_words):
            count += show_final(base >> THREE, np.uint64(games), state, done, final)
    return count


@kernel(borrows=True)
def fetch_final(first: np.uint64, state: BatchState, done: Words, final: Target) -> None:
    """Prefetch what `show_final` reads and writes: the few games lie far apart."""
    cells = np.uint64(final.boards.shape[1])
    for word in range(first, first + (WIDTH >> THREE)):
        changed = done[word] | final.over_words[word]
        while changed != ZERO:
            byte = trailing_zeros(changed) >> THREE
            changed &= ~(BYTE_MASK << (byte << THREE))
            game = (word << THREE) + byte
            prefetch(state.last_cells, game * cells)
            prefetch(state.last_scores, game)
            prefetch(final.boards, game * cells)
            prefetch(final.scores, game)


@kernel(borrows=True)
def show_final(
    first: np.uint64, games: np.uint64, state: BatchState, done: Words, final: Target
) -> np.int64:
    """Write the last board and score of each game of a block that ended, and 0 for the others.

    No move is legal there. Only what is not 0 from the last time is cleared: ``final.over`` says
    where. Returns how many ended.
    """
    count, over = np.int64(0), final.over_words
    for word in range(first, first + (WIDTH >> THREE)):
        changed = done[word] | over[word]
        while changed != ZERO:
            byte = trailing_zeros(changed) >> THREE
            changed &= ~(BYTE_MASK << (byte << THREE))
            game = (word << THREE) + byte
            is_done = state.flags[DONE_ROW, game] != 0
            for cell in range(np.uint64(final.boards.shape[1])):
                final.boards[game, cell] = state.last_cells[game, cell] if is_done else 0
            final.scores[game] = state.last_scores[game] if is_done else 0
            if final.over[game] == LATE:
                final.masks[game] = 0
            count += np.int64(is_done and game < games)
        over[word] = done[word]
    return count


@kernel(borrows=True)
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


@kernel(inline=True, borrows=True)
def join(base: np.uint64, cells: Bytes, cell: np.uint64, out: Halves, start: np.uint64) -> None:
    """Write four cells of each board as one word to `out`, from `start` on."""
    for lane in range(WIDTH):
        word = np.uint32(cells[cell, base + lane])
        word |= np.uint32(cells[cell + ONE, base + lane]) << BYTE
        word |= np.uint32(cells[cell + TWO, base + lane]) << SHORT
        word |= np.uint32(cells[cell + THREE, base + lane]) << TRIPLE
        out[start + lane] = word


@kernel(borrows=True)
def show_masks(legal: Bytes, masks: Halves) -> None:
    """Write each board's legal directions as four bytes."""
    for lane in range(WIDTH):
        masks[lane] = (np.uint32(legal[lane]) * SPREAD) & LOW_BITS


@kernel(borrows=True)
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


@kernel(borrows=True)
def show_ends(done: Bytes, illegal: Bytes, is_terminal: bool, ended: Bytes) -> None:
    """Write which episodes are over."""
    for lane in range(WIDTH):
        ended[lane] = done[lane]
    if is_terminal:
        for lane in range(WIDTH):
            ended[lane] |= illegal[lane]


@kernel(borrows=True)
def show_scores(words: Words, scores: NDArray[np.int64]) -> None:
    """Write the scores."""
    for lane in range(WIDTH):
        scores[lane] = np.int64(words[lane])
