"""One turn of a block of boards under any rules, made of the parts in ``_lane_kernels.py``.

The rules come as `RuleArrays`, the block as a `Workspace`: see `py2048.engine.rule_arrays` and
`py2048.engine.batch_state`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048._jit import kernel
from py2048.engine._bits_kernels import GOLDEN, HALF, mix64, trailing_zeros
from py2048.engine._classic_kernels import legal_classic, slide_classic
from py2048.engine._lane_kernels import (
    BANK,
    BOARD_SUM,
    CHANCE,
    EMPTY,
    LANES,
    LEGAL,
    SCORE,
    STATE,
    WIDTH,
    ZERO,
    Int,
    Words,
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
from py2048.engine.batch_state import Workspace
from py2048.engine.rule_arrays import (
    CASCADE,
    COLUMNS,
    EDGE,
    HIGH,
    ILLEGAL_POINTS,
    LEGAL_POINTS,
    LOW,
    ROWS,
    SCORING,
    TARGET,
    RuleArrays,
)

TOPS, BELOW_TOPS = np.uint64(0x8080808080808080), np.uint64(0x7F7F7F7F7F7F7F7F)
EIGHTS = LANES // 8
"""How many words a row of bytes makes."""


@kernel
def begin(space: Workspace, lane: np.uint64, key: np.uint64, rules: RuleArrays) -> None:
    """Begin the game with this key in one lane of a block."""
    low, high = rules.numbers[LOW], rules.numbers[HIGH]
    start_board(space.board, lane, key, low, high, rules.start_ranks, rules.start_thresholds)
    enter(space, lane, key, rules)


@kernel
def enter(space: Workspace, lane: np.uint64, key: np.uint64, rules: RuleArrays) -> None:
    """Take the position in one lane as the start of the game with this key."""
    board, words, numbers = space.board, space.words, rules.numbers
    words[STATE + lane] = key + GOLDEN
    words[SCORE + lane] = ZERO
    words[BANK + lane] = sum_of(board, lane) if numbers[SCORING] == BOARD_SUM else ZERO
    space.halves[CHANCE + lane] = np.uint32(mix64(key) >> HALF)
    legal = legal_of(board, lane, numbers[ROWS], numbers[COLUMNS])
    if numbers[TARGET]:
        for cell in range(lane, np.uint64(len(board)), WIDTH):
            if board[cell] >= numbers[TARGET]:
                legal = EMPTY
    space.flags[LEGAL + lane] = legal


@kernel
def spawn(space: Workspace, rules: RuleArrays) -> None:
    """Let a tile appear on each board that moved."""
    count_empty(space.board, space.flags)
    draw_spawns(space.words, space.flags, space.halves, rules.ranks, rules.thresholds)
    if rules.numbers[EDGE]:
        place_on_edge(space.board, space.flags, rules.edges)
    else:
        place(space.board, space.flags)


@kernel(inline=True)
def over_lanes(legal: Words, index: Int) -> np.uint64:
    """Return the games that are over among eight: a bit at the top of each one's byte.

    Args:
        legal: the row ``LEGAL`` as words; its bytes are below 128, so that no sum carries over.
        index: which word.
    """
    return np.uint64(~(legal[index] + BELOW_TOPS) & TOPS)


@kernel(inline=True)
def lane_of(over: np.uint64, index: Int) -> np.uint64:
    """Return the lane of the lowest bit of `over_lanes`."""
    return np.uint64(8 * index) + (trailing_zeros(over) >> np.uint64(3))


def make_turn(slide: Callable[..., None], legal: Callable[..., None]) -> Any:
    """Return the kernel of a turn with this way to slide and to find the legal moves."""

    @kernel
    def turn(space: Workspace, rewards: NDArray[np.int32], rules: RuleArrays) -> None:
        """Move every board in its direction, let a tile appear, and see what is legal next."""
        board, flags, halves, numbers = space.board, space.flags, space.halves, rules.numbers
        rows, columns = numbers[ROWS], numbers[COLUMNS]
        judge(flags)
        slide(board, flags, halves, space.scratch, rows, columns, numbers[CASCADE] != 0)
        spawn(space, rules)
        points = numbers[LEGAL_POINTS], numbers[ILLEGAL_POINTS]
        reward(space.words, flags, halves, rewards, numbers[SCORING], points[0], points[1])
        legal(board, flags, rows, columns)
        if numbers[TARGET]:
            forbid_won(board, flags, np.uint8(numbers[TARGET]))

    return turn


turn_classic = make_turn(slide_classic, legal_classic)
turn_any = make_turn(slide_any, legal_any)
