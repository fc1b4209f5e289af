"""Compute the bundled best moves, whose format `py2048.players.solving.distilled` defines.

Usage: make_best_moves.py SIZE FILE

Solves the classic rules on a board of SIZE, such as 2x4, and writes the best move of every position
to FILE. The script created the files in ``src/py2048/players/solving/data``. The script takes a few
minutes for 3x3.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import SolvingError
from py2048.core.rules import Merging
from py2048.engine._bits_kernels import ONE, popcount, trailing_zeros
from py2048.engine._board_kernels import NIBBLE, RANKS, ZERO, Int, Word
from py2048.engine.boards import mix64
from py2048.engine.jit import kernel
from py2048.players.solving import Solution, solve
from py2048.players.solving._solver_kernels import Lookup, SolverSpec, board_of, slide, worth
from py2048.players.solving.distilled import (
    ALWAYS_RIGHT,
    BATCH_BOARDS,
    GAINS,
    MAGIC,
    QUESTIONS,
    SPREAD,
    WINDOW,
    Arrays,
    Bits,
    Bytes,
    DistilledMoves,
    FilterPlan,
    Leads,
    Order,
    Predictor,
    Retrieval,
    Words,
    equations,
    images,
    part_of,
    passes,
)

Vector = NDArray[np.float32]
Places = NDArray[np.int64]

LEARNING_RATE = np.float32(0.3)
ORDER_SEED = 1
"""Seed of the random order in which boards are used for training."""

PART = 4096
"""Approximate number of keys per part of a `Retrieval`; each part is solved separately."""

SURE = np.float32(0.001)
"""Weights are not updated if the gradient is smaller than this."""

SEEDS = 6
"""Number of hash seeds to try before a part of a `Retrieval` gets more bits."""

BLOCK = 1 << 20
"""Boards per training call."""

BUCKETS = 64
"""Number of ranges of the predictor's lead. Filters use more bits for larger leads."""

MAX_BITS = 14


@dataclass(frozen=True)
class Training:
    """Training settings of a predictor.

    Attributes:
        tuples: Cells of each tuple.
        step: Quantisation step of the weights.
        passes: Approximate number of times that each board is used.
    """

    tuples: tuple[tuple[int, ...], ...]
    step: float
    passes: float = 1.0


TRAININGS = {
    (2, 4): Training(((0, 1, 2, 4, 5, 6),), step=0.5),
    (3, 3): Training(((0, 1, 2, 3, 4, 5),), step=0.4),
}
"""Settings by board shape."""

COVERED = {(3, 3): 1150}
"""Boards with a larger tile sum are not stored: perfect play almost never reaches them."""


def distil(solution: Solution) -> DistilledMoves:
    """Extract the best move for each position of a solution, up to symmetry."""
    rules, most = solution.rules, solution.layers[-1].total
    covered = min(most, COVERED.get(rules.shape, most))
    boards, masks = map(np.concatenate, zip(*best_moves(solution, covered), strict=True))
    is_asked = masks & 15 != masks >> 4
    boards, masks = boards[is_asked], masks[is_asked]
    predictor = trained(solution, most.bit_length(), boards, masks)
    order = _ordered(predictor, boards, *rules.shape)
    return DistilledMoves(rules, most, covered, predictor, *_stored(order, masks))


def best_moves(solution: Solution, covered: int) -> Iterator[tuple[Words, Bytes]]:
    """Yield boards and masks of their best moves, for each tile sum up to `covered`."""
    for layer in solution.layers:
        if layer.total > covered:
            break
        keys = solution.layer(layer.total).keys
        afters = solution.afterstates(keys, layer.total)
        boards, masks = np.empty(len(keys), np.uint64), np.empty(len(keys), np.uint8)
        find_best(keys, solution.problem.spec, afters, 2 * solution.error, boards, masks)
        yield boards, masks


# --- the predictor -------------------------------------------------------------------------------


def trained(solution: Solution, radix: int, boards: Words, masks: Bytes) -> Predictor:
    """Train a predictor, or return an empty one if the board shape is not in `TRAININGS`.

    Args:
        solution: The solution.
        radix: Number of ranks.
        boards: Boards in canonical form.
        masks: Bit ``d`` is set if direction ``d`` is best, and bit ``d + 4`` if it is legal.
    """
    shape = solution.rules.shape
    plan = TRAININGS.get(shape)
    if plan is None or solution.rules.merging is not Merging.ONCE:
        nothing = np.zeros((0, 1), np.int8)
        return Predictor(nothing.astype(np.int64), 1, nothing, np.zeros(GAINS, np.int8))
    tuples = np.array(plan.tuples, np.int64)
    size = radix ** tuples.shape[1]
    places = np.array(
        [
            [number * size, *(image[cell] for cell in cells)]
            for number, cells in enumerate(plan.tuples)
            for image in images(*shape)
        ],
        np.int64,
    )
    weights, squares = np.zeros((2, len(tuples) * size + GAINS), np.float32)
    generator = np.random.default_rng(ORDER_SEED)
    for _ in range(round(plan.passes * len(boards) / BLOCK) or 1):
        part = generator.integers(len(boards), size=min(BLOCK, len(boards)))
        train(
            *(boards[part], masks[part], solution.problem.spec, places, radix),
            *(weights, squares),
        )
    whole = np.clip(np.rint(weights / plan.step), -127, 127).astype(np.int8)
    tables, gains = whole[:-GAINS].reshape(len(tuples), size), whole[-GAINS:]
    return Predictor(tuples, radix, tables, gains)


# --- corrections ---------------------------------------------------------------------------------


def _ordered(predictor: Predictor, boards: Words, rows: int, columns: int) -> Order:
    firsts = range(0, len(boards), BATCH_BOARDS)
    batches = [boards[first : first + BATCH_BOARDS] for first in firsts]
    parts = [Order.of(predictor, batch, rows, columns) for batch in batches]
    moves = np.concatenate([part.moves.astype(np.int8) for part in parts])
    return Order(boards, moves, np.concatenate([part.scores for part in parts]))


@dataclass(frozen=True)
class _Asked:
    """The boards on which one of the predictor's choices must be checked.

    Attributes:
        places: Indexes of the boards, ascending.
        answers: Whether the predictor's choice is wrong.
        bits: Number of filter bits for each board.
    """

    places: NDArray[np.int64]
    answers: NDArray[np.bool_]
    bits: Bytes


def _stored(order: Order, masks: Bytes) -> tuple[list[FilterPlan], Retrieval, Retrieval]:
    """Return the plan of each filter, the filters, and the decisions."""
    questions, all_asked, keys = [], [], []
    places = np.arange(len(masks))
    for number in range(QUESTIONS):
        # If all remaining moves are best moves, no choice can be wrong, and nothing is stored.
        best, legal = (np.bitwise_count(masks[places] >> shift & 15) for shift in (0, 4))
        places = places[best + np.uint8(number) != legal]
        leads = order.at(places).leads(number)
        answers = masks[places] >> order.moves[places, number].astype(np.uint8) & 1 == 0
        question = _question(leads, answers)
        asked = _Asked(places, answers, question.bits_of(leads))
        wrong = order.at(places[answers])
        bits = asked.bits[answers]
        keys += [wrong.keys(number, bit)[bits > bit] for bit in range(MAX_BITS)]
        questions.append(question)
        all_asked.append(asked)
        places = places[answers]
    equations = np.concatenate(keys)
    filters = retrieval(equations, np.ones(len(equations), np.bool_))
    return questions, filters, _decisions(order, all_asked, filters)


def _question(leads: Leads, answers: NDArray[np.bool_]) -> FilterPlan:
    """Choose how many filter bits each range of leads gets, to minimise the file size."""
    if not len(leads):
        return FilterPlan(np.zeros(0, np.int32), np.zeros(1, np.uint8))
    cuts = np.unique(np.quantile(leads, np.arange(1, BUCKETS) / BUCKETS, method="nearest"))
    buckets = np.searchsorted(cuts, leads, side="right")
    counts = np.bincount(buckets, minlength=len(cuts) + 1)
    wrong = np.bincount(buckets[answers], minlength=len(cuts) + 1)
    bits = np.arange(MAX_BITS + 1)
    room = wrong[:, None] * (bits + 1) + (counts - wrong)[:, None] * 0.5**bits
    chosen = np.where(wrong == 0, ALWAYS_RIGHT, room.argmin(axis=1))
    return FilterPlan(cuts.astype(np.int32), chosen.astype(np.uint8))


def _decisions(order: Order, all_asked: list[_Asked], filters: Retrieval) -> Retrieval:
    keys, answers = [], []
    for number, asked in enumerate(all_asked):
        for first in range(0, len(asked.places), BATCH_BOARDS):
            part = slice(first, first + BATCH_BOARDS)
            boards = order.at(asked.places[part])
            passed = passes(filters, boards, number, asked.bits[part])
            keys.append(boards.keys(number)[passed])
            answers.append(asked.answers[part][passed])
    return retrieval(np.concatenate(keys), np.concatenate(answers))


# --- bits by keys --------------------------------------------------------------------------------


def retrieval(keys: Words, bits: Bits) -> Retrieval:
    """Build a static function that maps each key to its bit.

    Raises:
        SolvingError: If the keys are not distinct.
    """
    parts = -(-len(keys) // PART)
    hashes = mix64(keys * SPREAD)
    owners = part_of(hashes, parts)
    order = np.argsort(owners, kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=parts))
    words = np.zeros(len(keys) // 32 + 32 * parts + 2, np.uint64)
    columns, seeds = np.zeros(parts, np.uint16), np.zeros(parts, np.uint8)
    first = 0
    for part, chosen in enumerate(np.split(order, ends[:-1]) if parts else ()):
        for width, seed in _attempts(len(chosen)):
            starts, picks = equations(
                hashes[chosen], np.array([seed], np.uint64), np.array([width], np.uint64)
            )
            if solve_part(starts, picks, bits[chosen], width, first, words):
                break
        else:
            raise SolvingError("keys of a retrieval must differ")
        columns[part], seeds[part] = width, seed
        first += width
    return Retrieval(words[: (first >> 6) + 2].copy(), columns, seeds)


def _attempts(keys: int) -> list[tuple[int, int]]:
    """Return pairs of a size in bits and a hash seed to try for a part, smallest size first."""
    widths = [max(WINDOW, keys + 32 + keys * more // 256) for more in range(2, 256, 2)]
    return list(product(widths, range(SEEDS)))


# --- the file ------------------------------------------------------------------------------------


def write_moves(moves: DistilledMoves, path: Path) -> None:
    """Write best moves to a file."""
    predictor = moves.predictor
    arrays: Arrays = {name: getattr(predictor, name) for name in ("tuples", "weights", "gains")}
    for number, question in enumerate(moves.questions):
        arrays |= {f"leads{number}": question.leads, f"bits{number}": question.bits}
    for kind, bits in (("filters", moves.filters), ("decisions", moves.decisions)):
        arrays |= {f"{kind}.{part}": getattr(bits, part) for part in ("words", "columns", "seeds")}
    little = {name: a.astype(a.dtype.newbyteorder("<"), copy=False) for name, a in arrays.items()}
    packed = [zlib.compress(array.tobytes(), 9) for array in little.values()]
    about: dict[str, Any] = {
        "rules": str(moves.rules),
        "most": moves.most,
        "covered": moves.covered,
        "radix": predictor.radix,
        "arrays": [
            [name, array.dtype.str, array.shape, len(data)]
            for (name, array), data in zip(little.items(), packed, strict=True)
        ],
    }
    text = json.dumps(about).encode()
    rest = len(text).to_bytes(4, "little") + text + b"".join(packed)
    path.write_bytes(MAGIC + zlib.crc32(rest).to_bytes(4, "little") + rest)


# --- best moves ----------------------------------------------------------------------------------


@kernel
def find_best(
    keys: Words, spec: SolverSpec, afters: Lookup, error: float, boards: Words, masks: Bytes
) -> None:
    """Find the best moves of each board.

    Args:
        keys: Keys of the boards.
        spec: The rules.
        afters: The afterstates.
        error: Moves whose values differ by at most this amount are equally good.
        boards: Receives the boards.
        masks: Receives uint8 masks: bit ``d`` if direction ``d`` is best, bit ``d + 4`` if it is
            legal.
    """
    values = np.empty(4)
    for at in range(len(keys)):
        boards[at] = board_of(keys[at], spec)
        for direction in range(4):
            values[direction] = worth(boards[at], direction, spec, afters)
        least, mask = values.max() - error, 0
        for direction in range(4):
            if values[direction] > -np.inf:
                mask |= (17 if values[direction] >= least else 16) << direction
        masks[at] = mask


# --- systems of equations ------------------------------------------------------------------------


@kernel
def solve_part(
    starts: Words, picks: Words, bits: NDArray[np.bool_], width: Int, first: Int, words: Words
) -> bool:
    """Solve a part's system of linear equations over GF(2); return whether it is solvable.

    Args:
        starts: Index of the first variable in each equation.
        picks: Coefficients of the 64 variables from there, as bits; the first bit is always set.
        bits: Right-hand side of each equation.
        width: Number of variables.
        first: Offset of the solution in `words`, in bits.
        words: Receives the solution.
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
    """Return the score of a move, and store the indices of its weights in `chosen`."""
    after, points = slide(board, direction, spec)
    gain = len(weights) - GAINS + np.int64(min(points >> 2, np.int64(GAINS - 1)))
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
def _compare(mask: Int, scores: Vector, slopes: Vector) -> None:
    """Compute the gradient of the loss for each score."""
    top = np.float32(-np.inf)
    for k in range(4):
        if mask >> (4 + k) & 1:
            top = max(top, scores[k])
    total, good = np.float32(0), np.float32(1e-20)
    for k in range(4):
        slopes[k] = np.exp(scores[k] - top) if mask >> (4 + k) & 1 else np.float32(0)
        total += slopes[k]
        good += slopes[k] * np.float32(mask >> k & 1)
    for k in range(4):
        slopes[k] *= np.float32(1) / total - np.float32(mask >> k & 1) / good


@kernel
def train(
    boards: Words,
    masks: Bytes,
    spec: SolverSpec,
    places: Places,
    radix: Int,
    weights: Vector,
    squares: Vector,
) -> None:
    """Train on each board once, minimising the cross-entropy of the best moves.

    Steps follow AdaGrad (Duchi, Hazan & Singer, "Adaptive subgradient methods", 2011).

    Args:
        boards: The boards.
        masks: As computed by `find_best`.
        spec: The rules.
        places: For each tuple in each symmetry, the index of its first weight and its cells: int64
            `[tuples * images, 1 + cells]`.
        radix: Number of ranks.
        weights: Trainable weights of the tuples and, last, of the gains: float32, updated.
        squares: Sums of squared gradients per weight: float32, updated.
    """
    scores, slopes = np.zeros(4, np.float32), np.zeros(4, np.float32)
    chosen = np.zeros((4, len(places) + 1), np.int64)
    for at in range(len(boards)):
        mask = np.int64(masks[at])
        for direction in range(4):
            if mask >> (4 + direction) & 1:
                scores[direction] = _score(
                    boards[at], direction, spec, places, radix, weights, chosen
                )
        _compare(mask, scores, slopes)
        for direction in range(4):
            slope = slopes[direction]
            if abs(slope) > SURE:
                for place in chosen[direction]:
                    squares[place] += slope * slope
                    weights[place] -= (
                        LEARNING_RATE * slope / np.sqrt(squares[place] + np.float32(1))
                    )


if __name__ == "__main__":
    solved = solve(f"classic:size={sys.argv[1]}")
    write_moves(distil(solved), Path(sys.argv[2]))
