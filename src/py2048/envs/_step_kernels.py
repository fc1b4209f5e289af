"""Kernels that play a single game under any rules, with one compiled call per step.

A game is an int64 array of rules, state and tables. Rules and state share an array, because each
array argument of a kernel costs 0.1 µs per call. Each step writes its outputs to a row of `rows`
(uint8 `[n + 1, record]`), in the layout of ``engine/_show_kernels.py``. The current board is kept
in an extra row after the outputs.

All kernels in this module borrow their arrays, because reference counting would take two thirds of
the time of a step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from py2048.engine import rules
from py2048.engine._bits_kernels import draw, key_of
from py2048.engine._board_kernels import (
    WHOLE,
    Cells,
    Int,
    legal_cells,
    place_cells,
    place_fixed_cells,
    slide_cells,
    start_cells,
    sum_cells,
)
from py2048.engine._show_kernels import MASK_AT, SHOWN_AT, encode
from py2048.engine.jit import kernel

# Indices into the array of a game. The array starts with `RuleArrays.numbers`.
(
    FIXED_CELLS,
    REWARD,
    ILLEGAL,
    START_TILES,
    SPAWN_TILES,
    OBSERVATION,
    LEVELS,
    SIZE,
    # The next five elements, `KEY` to `STATUS`, are the state of the game.
    KEY,
    PLY,
    SCORE,
    LEGAL,
    STATUS,
    # From this index on, the array contains lookup tables. The first four tables list the ranks and
    # cumulative weights of start tiles and of spawns. If spawns are deterministic, the last table
    # lists the cells on which a tile may spawn after a move in each direction.
    TABLES,
) = range(11, 25)

# Values of REWARD, ILLEGAL and STATUS.
POINTS, LOG = range(2)
NOOP, TERMINATE, REFUSE = range(3)
PLAYING, OVER, ENDED = range(3)
"""Status of a game. A finished game is `OVER` until a step reports its end, and then `ENDED`."""

# Bit flags that `advance` returns.
IS_ENDED = 1
IS_ILLEGAL = 2
IS_AFTER_THE_END = 4
IS_NO_ACTION = 8

Game = NDArray[np.int64]
Rows = NDArray[np.uint8]


@kernel("(int64[::1], uint8[:, ::1], int64, int64)", borrows=True)
def advance(game: Game, rows: Rows, row: int, action: int) -> tuple[float, int]:
    """Play `action` and write the outputs to a row; return the reward and the flags."""
    flags = 0
    points: Int = np.int64(0)
    if action < 0 or action > 3:
        return 0.0, IS_NO_ACTION
    if game[STATUS] == ENDED:
        return 0.0, IS_AFTER_THE_END
    cells = rows[-1, SHOWN_AT : SHOWN_AT + game[rules.ROWS] * game[rules.COLUMNS]]
    if game[STATUS] == PLAYING:
        if game[LEGAL] >> action & WHOLE:
            points = _turn(game, cells, action)
        else:
            flags = IS_ILLEGAL
            if game[ILLEGAL] == REFUSE:
                return 0.0, flags
            points = game[rules.ILLEGAL_POINTS]
            if game[ILLEGAL] == TERMINATE:
                game[STATUS] = OVER
    game[SCORE] += points
    if game[STATUS] == OVER:
        game[STATUS] = ENDED
        flags |= IS_ENDED
    show(game, rows, row)
    return reward_of(points, game[REWARD]), flags


@kernel("(int64[::1], uint8[:, ::1], int64, uint64)", borrows=True)
def begin(game: Game, rows: Rows, row: int, seed: np.uint64) -> None:
    """Start the game with this seed, and write its outputs to a row."""
    words = game.view(np.uint64)
    cells = rows[-1, SHOWN_AT : SHOWN_AT + game[rules.ROWS] * game[rules.COLUMNS]]
    key = key_of(seed)
    words[KEY] = key
    game[PLY] = 0
    game[SCORE] = 0
    cells[:] = 0
    tiles = game[START_TILES]
    ranks, sums = words[TABLES : TABLES + tiles], words[TABLES + tiles : TABLES + 2 * tiles]
    start_cells(cells, key, game[rules.START_LOW], game[rules.START_HIGH], ranks, sums)
    look(game, rows, row)


@kernel("(int64[::1], uint8[:, ::1], int64)", borrows=True)
def look(game: Game, rows: Rows, row: int) -> None:
    """Update a game after its board was replaced, and write its outputs to a row."""
    cells = rows[-1, SHOWN_AT : SHOWN_AT + game[rules.ROWS] * game[rules.COLUMNS]]
    _judge(game, cells)
    show(game, rows, row)


@kernel(borrows=True)
def show(game: Game, rows: Rows, row: int) -> None:
    """Write the score, action mask and observation of a game to a row."""
    rows[row, :MASK_AT].view(np.int64)[0] = game[SCORE]
    for direction in range(4):
        rows[row, MASK_AT + direction] = game[LEGAL] >> direction & WHOLE
    shown = rows[row, SHOWN_AT : SHOWN_AT + game[SIZE]]
    encode(
        rows[-1, SHOWN_AT : SHOWN_AT + game[rules.ROWS] * game[rules.COLUMNS]],
        game[OBSERVATION],
        game[LEVELS],
        shown,
    )


@kernel(borrows=True)
def reward_of(points: Int, kind: Int) -> float:
    """Return the reward for `points`: the points themselves or their signed logarithm."""
    if kind == LOG:
        return math.copysign(math.log2(1.0 + math.fabs(points)), points)
    return float(points)


@kernel(borrows=True)
def _turn(game: Game, cells: Cells, direction: int) -> Int:
    """Play a legal move, and return its points."""
    words, cascade = game.view(np.uint64), game[rules.CASCADE] != 0
    merged = slide_cells(cells, direction, game[rules.ROWS], game[rules.COLUMNS], cascade)
    start, count = TABLES + 2 * game[START_TILES], game[SPAWN_TILES]
    ranks, sums = words[start : start + count], words[start + count : start + 2 * count]
    if game[rules.FIXED]:
        first = start + 2 * count + direction * game[FIXED_CELLS]
        place_fixed_cells(cells, game[first : first + game[FIXED_CELLS]], ranks[0])
    else:
        place_cells(cells, draw(words[KEY], words[PLY]), ranks, sums)
    game[PLY] += 1
    _judge(game, cells)
    points: Int = game[rules.MERGE_POINTS] * merged + game[rules.LEGAL_POINTS]
    if game[rules.SUM_POINTS]:
        points += sum_cells(cells) - game[SCORE]
    return points


@kernel(borrows=True)
def _judge(game: Game, cells: Cells) -> None:
    """Update the legal directions and the status of the game."""
    game[LEGAL] = legal_cells(cells, game[rules.ROWS], game[rules.COLUMNS], game[rules.TARGET])
    game[STATUS] = PLAYING if game[LEGAL] else OVER
