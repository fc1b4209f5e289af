"""What distilling a solution does board by board, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import ONE, draw, popcount, trailing_zeros
from py2048.compiled._board_kernels import (
    NIBBLE,
    RANKS,
    ZERO,
    Int,
    Longs,
    Word,
    Words,
    slide_small,
    spawn_packed,
)
from py2048.compiled.jit import kernel
from py2048.solving import predictor
from py2048.solving._solver_kernels import (
    Known,
    SolverSpec,
    _example_known,
    _example_spec,
    board_of,
    slide,
    worth,
)

Bytes = NDArray[np.uint8]
Vector = NDArray[np.float32]
Places = NDArray[np.int64]

GAINS = np.int64(predictor.GAINS)

SURE = np.float32(0.001)
"""The least slope that is worth a step."""


# --- best moves ----------------------------------------------------------------------------------


def _best_example() -> tuple[object, ...]:
    keys = np.zeros(1, np.uint64)
    return keys, _example_spec(), _example_known(), 0.5, keys, np.zeros(1, np.uint8)


@kernel(example=_best_example, borrows=True)
def find_best(
    keys: Words, spec: SolverSpec, afters: Known, error: float, boards: Words, masks: Bytes
) -> None:
    """Find the best moves of each board.

    Args:
        keys: the keys of the boards.
        spec: the rules.
        afters: the afterstates.
        error: moves whose values differ by no more are equally good.
        boards: the boards, overwritten.
        masks: bit ``d`` where direction ``d`` is best, and bit ``d + 4`` where it is legal:
            uint8 like `keys`, overwritten.
    """
    for at in range(len(keys)):
        boards[at] = board_of(keys[at], spec)
        best, mask = -np.inf, 0
        for direction in range(4):
            value = worth(boards[at], direction, spec, afters)
            if value > -np.inf:
                mask |= 16 << direction
                best = max(best, value)
        for direction in range(4):
            if mask >> (4 + direction) & 1:
                value = worth(boards[at], direction, spec, afters)
                mask |= (value >= best - error) << direction
        masks[at] = mask


# --- systems of equations ------------------------------------------------------------------------


@kernel("(uint64[::1], uint64[::1], boolean[::1], int64, int64, uint64[::1])")
def solve_part(
    starts: Words, picks: Words, bits: NDArray[np.bool_], width: Int, first: Int, words: Words
) -> bool:
    """Solve the equations of a part of a retrieval; return whether that is possible.

    Args:
        starts: the first bit that each equation can take.
        picks: which of the 64 bits from there it takes; the first always.
        bits: their exclusive or.
        width: the number of bits.
        first: where the bits of the part begin in `words`.
        words: the table, to which the solution is added.
    """
    rows, right = np.zeros(width, np.uint64), np.zeros(width, np.bool_)
    for at in range(len(starts)):
        row, place, bit = picks[at], np.int64(starts[at]), bits[at]
        while row != ZERO and rows[place] != ZERO:
            row ^= rows[place]
            bit ^= right[place]
            if row != ZERO:
                shift = trailing_zeros(row)
                row >>= shift
                place += np.int64(shift)
        if row != ZERO:
            rows[place], right[place] = row, bit
        elif bit:
            return False
    window = ZERO
    for column in range(width - 1, -1, -1):
        window <<= ONE
        if rows[column] != ZERO:
            is_odd = (popcount(rows[column] & window) & ONE) != ZERO
            if is_odd != right[column]:
                window |= ONE
                target = np.uint64(first + column)
                words[target >> np.uint64(6)] |= ONE << (target & np.uint64(63))
    return True


# --- training ------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def _score(
    board: Word,
    direction: Int,
    spec: SolverSpec,
    places: Places,
    radix: Int,
    weights: Vector,
    chosen: Places,
) -> np.float32:
    """Return the score of a move; note the weights that it selects."""
    after, points = slide(board, direction, spec)
    gain = len(weights) - GAINS + min(points >> 2, GAINS - 1)
    chosen[direction, len(places)] = gain
    score = weights[gain]
    for number in range(len(places)):
        pattern: Int = 0
        for at in range(1, places.shape[1]):
            shift = NIBBLE * np.uint64(places[number, at])
            pattern = pattern * radix + np.int64((after >> shift) & RANKS)
        chosen[direction, number] = places[number, 0] + pattern
        score += weights[chosen[direction, number]]
    return np.float32(score)


@kernel(inline=True, borrows=True)
def _compare(mask: Int, scores: Vector, slopes: Vector) -> bool:
    """Set the slopes of the scores; return whether the first of the highest is best."""
    top, choice = np.float32(-np.inf), 0
    for k in range(4):
        if mask >> (4 + k) & 1 and scores[k] > top:
            top, choice = scores[k], k
    total, good = np.float32(0), np.float32(1e-20)
    for k in range(4):
        slopes[k] = np.exp(scores[k] - top) if mask >> (4 + k) & 1 else np.float32(0)
        total += slopes[k]
        good += slopes[k] * np.float32(mask >> k & 1)
    for k in range(4):
        slopes[k] *= np.float32(1) / total - np.float32(mask >> k & 1) / good
    return (mask >> choice & 1) == 1


def _train_example() -> tuple[object, ...]:
    boards, masks, places = (
        np.zeros(1, np.uint64),
        np.zeros(1, np.uint8),
        np.zeros((1, 2), np.int64),
    )
    one = np.zeros(int(GAINS), np.float32)
    return boards, masks, _example_spec(), places, 11, one, one, np.float32(0.1)


@kernel(example=_train_example)
def train(
    boards: Words,
    masks: Bytes,
    spec: SolverSpec,
    places: Places,
    radix: Int,
    weights: Vector,
    squares: Vector,
    rate: np.float32,
) -> Int:
    """Learn from boards, one by one, by the cross-entropy of their best moves.

    Steps are those of AdaGrad (Duchi, Hazan & Singer, "Adaptive subgradient methods", 2011).

    Args:
        boards: the boards.
        masks: as `find_best` makes them.
        spec: the rules.
        places: for each tuple in each image the first of its weights, and its cells: int64
            `[tuples * images, 1 + cells]`.
        radix: the number of ranks.
        weights: those of tuples and, last, of gains: float32, changed.
        squares: the sum of the squared gradients of each weight, float32, changed.
        rate: the learning rate.

    Returns:
        the number of boards whose best move was predicted.
    """
    scores, slopes = np.zeros(4, np.float32), np.zeros(4, np.float32)
    chosen = np.zeros((4, len(places) + 1), np.int64)
    hits = 0
    for at in range(len(boards)):
        mask = np.int64(masks[at])
        for direction in range(4):
            if mask >> (4 + direction) & 1:
                scores[direction] = _score(
                    boards[at], direction, spec, places, radix, weights, chosen
                )
        hits += _compare(mask, scores, slopes)
        for direction in range(4):
            slope = slopes[direction]
            if abs(slope) > SURE:
                for place in chosen[direction]:
                    squares[place] += slope * slope
                    weights[place] -= rate * slope / np.sqrt(squares[place] + np.float32(1))
    return hits


# --- games ---------------------------------------------------------------------------------------


def _turn_example() -> tuple[object, ...]:
    words, ranks, table = np.zeros(1, np.uint64), np.zeros(1, np.uint8), np.zeros(1, np.uint64)
    table.setflags(write=False)  # as that of rules is
    shape = ONE, ONE, ONE
    return words, ranks, words, words.view(np.int64), ONE, *shape, table, table, ranks, words


@kernel(example=_turn_example, borrows=True)
def play_turns(
    boards: Words,
    directions: Bytes,
    keys: Words,
    points: Longs,
    ply: Word,
    rows: Word,
    columns: Word,
    cells: Word,
    across: Words,
    down: Words,
    ranks: Bytes,
    cumulative: Words,
) -> None:
    """Make a legal move in each of many games, and let a tile appear.

    Args:
        boards: the boards, overwritten.
        directions: the moves.
        keys: those of the games' seeds.
        points: those of the merges, overwritten.
        ply: the number of turns made before.
        rows: the number of rows.
        columns: the number of columns.
        cells: the mask of all cells.
        across: the line table of a row.
        down: the line table of a column.
        ranks: the ranks that can appear, ascending.
        cumulative: the running sums of their integer weights.
    """
    for game in range(len(boards)):
        direction = np.int64(directions[game])
        after, points[game] = slide_small(boards[game], direction, rows, columns, across, down)
        word = draw(keys[game], ply)
        boards[game], _ = spawn_packed(after, ZERO, cells, word, ranks, cumulative)
