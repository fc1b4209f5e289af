"""One turn of a block of boards under any rules, made of the parts in ``_lane_kernels.py``.

The rules come as `RuleArrays`, the block as a `Workspace`: see `py2048.compiled.rule_arrays` and
`py2048.compiled.batch_state`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import GOLDEN, HALF, mix64
from py2048.compiled._classic_kernels import legal_classic, slide_classic
from py2048.compiled._lane_kernels import (
    BANK,
    BOARD_SUM,
    CHANCE,
    EMPTY,
    LEGAL,
    SCORE,
    STATE,
    WIDTH,
    ZERO,
    count_empty,
    draw_spawns,
    forbid_won,
    judge,
    legal_from,
    place,
    place_on_edge,
    reward,
    start_board,
    sum_of,
)
from py2048.compiled._lines_kernels import legal_any, slide_any
from py2048.compiled.batch_state import Workspace
from py2048.compiled.jit import kernel
from py2048.compiled.rule_arrays import (
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


@kernel(inline=True, borrows=True)
def begin(space: Workspace, lane: np.uint64, key: np.uint64, rules: RuleArrays) -> None:
    """Begin the game with this key in one lane of a block."""
    low, high, placed = rules.numbers[LOW], rules.numbers[HIGH], space.scratch
    count = start_board(
        space.board, lane, key, low, high, rules.start_ranks, rules.start_thresholds, placed
    )
    legal = EMPTY
    for number in range(count):
        legal |= legal_from(space.board, lane, np.int64(placed[number]), rules.neighbours)
    set_start(space, lane, key, legal, rules)


@kernel(inline=True, borrows=True)
def enter(space: Workspace, lane: np.uint64, key: np.uint64, rules: RuleArrays) -> None:
    """Take the position in one lane as the start of the game with this key."""
    legal = EMPTY
    for cell in range(len(rules.neighbours)):
        legal |= legal_from(space.board, lane, cell, rules.neighbours)
    set_start(space, lane, key, legal, rules)


@kernel(inline=True, borrows=True)
def set_start(
    space: Workspace, lane: np.uint64, key: np.uint64, legal: np.uint8, rules: RuleArrays
) -> None:
    """Set what else belongs to the start of a game whose board stands in one lane."""
    board, words, numbers = space.board, space.words, rules.numbers
    words[STATE + lane] = key + GOLDEN
    words[SCORE + lane] = ZERO
    words[BANK + lane] = sum_of(board, lane) if numbers[SCORING] == BOARD_SUM else ZERO
    space.halves[CHANCE + lane] = np.uint32(mix64(key) >> HALF)
    if numbers[TARGET]:
        for cell in range(lane, np.uint64(len(board)), WIDTH):
            if board[cell] >= numbers[TARGET]:
                legal = EMPTY
    space.flags[LEGAL + lane] = legal


@kernel(borrows=True)
def spawn(space: Workspace, rules: RuleArrays) -> None:
    """Let a tile appear on each board that moved."""
    count_empty(space.board, space.flags)
    draw_spawns(space.words, space.flags, space.halves, rules.ranks, rules.thresholds)
    if rules.numbers[EDGE]:
        place_on_edge(space.board, space.flags, rules.edges)
    else:
        place(space.board, space.flags)


def make_turn(slide: Callable[..., None], legal: Callable[..., None]) -> Any:
    """Return the kernel of a turn with this way to slide and to find the legal moves."""

    @kernel(borrows=True)
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
